"""What the disk had to say about a program, for the ledger."""

from __future__ import annotations

from ...core.words import duration
from ...named_tuple import NamedTuple
from .entry import DamagedEntry, description_of


class Answer(NamedTuple):
    """`before`: the seconds the program took to compile when it was put there, None where that is not known; it took no less, and maybe
    more, where `at_least`. `differs`: (component, there, here) of the
    stored entry of the same program that is nearest. `why`: why it is not kept. `program`: how `jitscope cache explain` calls
    it, where the disk knows no program with these equations."""

    found: bool
    before: float | None = None
    differs: tuple[tuple[str, str, str], ...] = ()
    why: str = ""
    program: str = ""
    at_least: bool = False

    def sentence(self, seconds: float) -> str:
        """In words; `seconds` is what this compilation took."""
        if self.found:
            least = "at least " if self.at_least else ""
            known = f", compiled before in {least}{duration(self.before)}" if self.before is not None else ""
            return f"loaded from disk in {duration(seconds)}{known}"
        if self.why:
            return f"not kept on disk: {self.why}"
        if self.differs:
            parts = [f"{name} {there} (here {here})" for name, there, here in self.differs]
            return f"on disk only for {', '.join(parts)}"
        return f"not on disk yet (program {self.program})"


def short_name(program: bytes) -> str:
    """What people see of a program's hash."""
    return program.hex()[:12]


def differences(text: bytes, parts: dict[str, str]) -> tuple[tuple[str, str, str], ...]:
    """(component, there, here) where the environment in an entry's text is another one."""
    try:
        there = description_of(text)["parts"]
    except DamagedEntry:
        return ()
    names = dict.fromkeys([*parts, *there])
    shown = [(name, str(there.get(name, "unknown")), parts.get(name, "unknown")) for name in names]
    return tuple(part for part in shown if part[1] != part[2])
