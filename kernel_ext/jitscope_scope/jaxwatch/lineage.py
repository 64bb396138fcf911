"""From marks in names of operations to the paths of equations.

A name is that of the function, the named scopes and calls around the operation, and its primitive; XLA puts the name of a call in
front of the names inside it. So the marks of a name, from left to right, are equations inside each other. Where XLA dropped the
name of a call, what is left is the end of such a chain: it counts if it is the end of one alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from jitscope.core.jaxpr import Jaxpr, subjaxprs

from . import marks, private
from .translating import Translation


class _Place(NamedTuple):
    """Where an equation is: the marks of the equations it is in and its own, and a piece of its path for each; whether it holds
    inner programs."""

    chain: tuple[int, ...]
    pieces: tuple[str, ...]
    holds: bool


class Lineage:
    """The places of a program's marks."""

    def __init__(self, translation: Translation):
        self._of = translation.number_of
        self._places: dict[int, list[_Place]] = defaultdict(list)
        self._by_chain: dict[tuple[int, ...], list[_Place]] = defaultdict(list)
        self._found: dict[str, str] = {}
        self.own = 0
        self._walk(translation.jaxpr, (), (), "")

    def _walk(self, jaxpr: Jaxpr, chain: tuple[int, ...], pieces: tuple[str, ...], segment: str) -> None:
        for i, eqn in enumerate(jaxpr.eqns):
            number = self._of.get(id(eqn))
            if number is None:
                continue
            inner = subjaxprs(eqn.params)
            place = _Place((*chain, number), (*pieces, f"{segment}e{i}"), bool(inner))
            self._places[number].append(place)
            self._by_chain[place.chain].append(place)
            for name, program in inner:
                self._walk(program.jaxpr, place.chain, place.pieces, f"{name}/" if name else "")

    def whole(self, name: str) -> str:
        """The paths in a name of the optimised program, joined by semicolons; "" where none is certain."""
        if name not in self._found:
            self._found[name] = self._whole(name)
        return self._found[name]

    def _whole(self, name: str) -> str:
        paths, first = [], ()
        for piece in name.split(";"):
            chain = self._chain(piece)
            self.own += bool(chain)
            place = self._certain(chain, first) if chain else None
            if place is not None:
                first = first or place.chain
                paths.append("/".join(place.pieces))
        return ";".join(f"{path}/op" for path in dict.fromkeys(paths))

    def _certain(self, chain: tuple[int, ...], first: tuple[int, ...]) -> _Place | None:
        """The one place of a chain; of names that were merged, that nearest to the first."""
        exact = self._by_chain.get(chain)
        if exact is not None:
            return exact[0] if len(exact) == 1 else None
        ending = [p for p in self._places.get(chain[-1], ()) if p.chain[-len(chain) :] == chain]
        if len(ending) == 1:
            return ending[0]
        for length in range(len(first) - 1, 0, -1):
            near = [p for p in ending if p.chain[: -len(chain)] == first[:length]]
            if near:
                return near[0] if len(near) == 1 else None
        return None

    def relative(self, name: str) -> str:
        """A name in the program before optimisation, where names in a called function are relative to the call."""
        return ";".join(filter(None, map(self._relative, name.split(";"))))

    def _relative(self, piece: str) -> str:
        chain = self._chain(piece)
        if not chain:
            return ""
        ending = [p for p in self._places.get(chain[-1], ()) if p.chain[-len(chain) :] == chain]
        texts = {("/".join(p.pieces[-len(chain) :]), p.holds) for p in ending}
        if len(texts) != 1:
            return ""
        ((path, holds),) = texts
        # a call has a number of its own: XLA would not put "e1" in front of a callee's "e1" or "e10"
        return f"{path}({chain[-1]})" if holds else f"{path}/op"

    def _chain(self, piece: str) -> tuple[int, ...]:
        found = marks.MARK.findall(piece)
        own = [int(number) for token, number in found if token == marks.token() and int(number) in self._places]
        return tuple(own) if len(own) == len(found) else ()


_OP_NAME = re.compile(r'op_name="((?:\\.|[^"\\])*)"')
_LOCATION = re.compile(r'loc\("((?:\\.|[^"\\])*)"')


def optimised(text: str, lineage: Lineage) -> str:
    """The text of an optimised HLO module with paths for names."""
    return _OP_NAME.sub(lambda found: f'op_name="{lineage.whole(found[1])}"', text)


def lowered(text: str, lineage: Lineage) -> str:
    """The text of an MLIR module with paths for names; names of files and arguments stay."""

    def renamed(found: re.Match[str]) -> str:
        name = found[1]
        after = found.string[found.end() : found.end() + 1]
        if after == ":":  # a file
            return found[0]
        return f'loc("{lineage.relative(name)}"' if marks.MARK.search(name) or "/" in name else found[0]

    return _LOCATION.sub(renamed, text)


def without_elided(text: str) -> str:
    """The text of an MLIR module with zeros for the constants that were too large to be printed."""
    return _ELIDED.sub(lambda found: f"dense<{_zero(found[1])}> : {found[0].partition(' : ')[2]}", text)


_ELIDED = re.compile(r"dense_resource<__elided__> : tensor<(?:\d+x)*((?:complex<)?\w+)>?>")


def _zero(kind: str) -> str:
    if kind.startswith("complex"):
        return "(0.0, 0.0)"
    return "false" if kind == "i1" else "0" if re.match(r"[su]?i\d", kind) else "0.0"


def readable(text: str) -> str:
    """A program's text for people: names without marks, and without the tables of the frames that led to each operation, which are
    longer than the program."""
    return _FRAME.sub("", _TABLE.sub("", _SCOPE.sub("", text)))


_TABLE = re.compile(r"^(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d+ .*\n)*\n*", re.MULTILINE)
_FRAME = re.compile(r" stack_frame_id=\d+")
_SCOPE = re.compile(rf"{marks.MARK.pattern}/(?:{private.ELEMENT}/)?")
