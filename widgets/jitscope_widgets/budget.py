"""Keeping an output within a size: parts that have shorter forms give way, those first that are long for their worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class Part:
    """A piece of text with shorter and shorter forms, each made when it is needed."""

    forms: Sequence[Callable[[], str]]
    worth: float = 1.0
    at: int = 0
    _made: dict[int, str] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The form that stands at present."""
        return self.form(self.at)

    def form(self, at: int) -> str:
        """One of the forms."""
        if at not in self._made:
            self._made[at] = self.forms[at]()
        return self._made[at]

    @property
    def size(self) -> int:
        """The bytes of the form that stands at present."""
        return self.size_of(self.at)

    def size_of(self, at: int) -> int:
        """The bytes of one of the forms."""
        if at not in self._sizes:
            self._sizes[at] = _size(self.form(at))
        return self._sizes[at]

    def shorten(self) -> None:
        """Take the next form that is really shorter."""
        before = self.size
        while self.at + 1 < len(self.forms):
            self.at += 1
            if self.size < before:
                return


def fit(pieces: Sequence[str | Part], room: int) -> str:
    """The pieces together, in at most `room` bytes if their shortest forms allow it."""
    parts = [piece for piece in pieces if isinstance(piece, Part)]
    room -= sum(_size(piece) for piece in pieces if isinstance(piece, str))
    give_way(parts, lambda: room)
    _take_back(parts, room)
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


def give_way(parts: Sequence[Part], room: Callable[[], int]) -> bool:
    """Shorten parts until all together have `room` bytes, which may depend on their forms; whether they do."""
    while sum(part.size for part in parts) > room():
        able = [part for part in parts if part.at + 1 < len(part.forms)]
        if not able:
            return False
        max(able, key=lambda part: part.size / part.worth).shorten()
    return True


def _take_back(parts: list[Part], room: int) -> None:
    """What the last one to give way has left over goes to the parts of the highest worth."""
    left = room - sum(part.size for part in parts)
    for part in sorted(parts, key=lambda part: -part.worth):
        now = part.size
        at = next((at for at in range(part.at) if part.size_of(at) - now <= left), part.at)
        part.at = at
        left -= part.size - now


def _size(text: str) -> int:
    """Its bytes in a file."""
    return len(text.encode(errors="surrogatepass"))
