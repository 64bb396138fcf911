"""Call stacks of equations: the user's frames of a traceback, each stack and each position once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import dropwhile, pairwise, takewhile
from types import CodeType
from typing import Any, cast

from jitscope.core import call_sites
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, running, walk
from jitscope.core.source import Position, in_program, is_installed, is_internal, is_stdlib, position_in
from jitscope.named_tuple import NamedTuple

from ..annotations import Transform


class Frame(NamedTuple):
    """A place in a function: its code and the byte offset of the instruction that ran."""

    code: CodeType
    offset: int

    @property
    def position(self) -> Position:
        return position_in(self.code, self.offset)


Stack = tuple[Frame, ...]
"""The user's frames, outermost first."""


class EquationOrigin(NamedTuple):
    """What a handle says: the user's frames, the innermost of them (which may be a comprehension's), what made the equation from the one
    that was written there (any of "jvp", "transpose", "vmap", in this order), whether that is part of a backward pass, and the named
    scopes it is in, outermost first."""

    stack: Stack
    frame: Frame | None
    transforms: tuple[Transform, ...]
    backward: bool
    scopes: tuple[str, ...]
    library: Stack = ()
    """What the innermost of them called in installed libraries, outermost first."""
    own: Stack = ()
    """The innermost of the user's frames, each called by the one before it without a library between."""


class _Around(NamedTuple):
    """The frames and named scopes around a program that was traced without them."""

    stack: Stack
    scopes: tuple[str, ...]


class Stacks:
    """What handles say. That of equal ones is one object, and so are equal stacks: they can be compared by identity."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[EquationOrigin, Any]] = {}  # by identity: to hash a handle takes ten times as long
        self._known: dict[Any, EquationOrigin] = {None: EquationOrigin((), None, (), False, ())}
        self._frames: dict[tuple[int, int], Frame] = {}
        self._shared: dict[Stack, Stack] = {}
        self._levels: dict[tuple[int, bool], tuple[list[EquationOrigin], Any]] = {}

    def of(self, handle: Any) -> Stack:
        """The user's frames of a handle, outermost first. Those of installed libraries are left out unless there are no others;
        comprehensions are part of the function that runs them."""
        return self.found(handle).stack

    def innermost(self, handle: Any) -> Frame | None:
        """The innermost of the user's frames, which may be a comprehension's."""
        return self.found(handle).frame

    def found(self, handle: Any) -> EquationOrigin:
        """All that a handle says."""
        seen = self._seen.get(id(handle))
        if seen is None:
            seen = self._seen[id(handle)] = (self._equal(handle), handle)
        return seen[0]

    def all(self, eqns: Sequence[JaxprEqn], backward: bool = False) -> list[EquationOrigin]:
        """What the handles of a jaxpr's equations say, in their order. jax traces a loop's body without what is around it: what is the
        same in each iteration and was moved out of the loop has the frames and scopes of the loop in front. `backward`: the equation
        that holds them is part of a backward pass; so are they, unless some of them say so themselves."""
        known = self._levels.get((id(eqns), backward))
        if known is None:
            found = self._level(eqns)
            if backward and not any(place.backward for place in found):
                found = [_backward(place) for place in found]
            known = self._levels[id(eqns), backward] = (found, eqns)
        return known[0]

    def _level(self, eqns: Sequence[JaxprEqn]) -> list[EquationOrigin]:
        found = [self.found(eqn.traceback) for eqn in eqns]
        if len({place.stack[0].code for place in found if place.stack}) < 2:
            return found
        loops: dict[CodeType, _Around] = {}  # by the function that what is in them begins with; of several the next one
        for at in reversed(range(len(eqns))):
            place = found[at]
            if place.stack and (around := loops.get(place.stack[0].code)) is not None:
                found[at] = place = self._moved(place, around)
            if place.stack:
                loops.update(self._begun(eqns[at], _Around(place.stack, place.scopes)))
        return found

    def _moved(self, place: EquationOrigin, around: _Around) -> EquationOrigin:
        stack = (*around.stack, *place.stack)
        return place._replace(stack=self._shared.setdefault(stack, stack), scopes=(*around.scopes, *place.scopes))

    def _begun(self, eqn: JaxprEqn, around: _Around) -> Iterator[tuple[CodeType, _Around]]:
        """The functions that the stacks of what an equation holds begin with, if that is not the one its own begins with, and what is
        around them."""
        for _, inner in running(eqn) if eqn.params else ():
            for one in inner.jaxpr.eqns:
                place = self.found(one.traceback)
                if not place.stack:
                    continue
                own = _Around(place.stack, place.scopes)
                if place.stack[0].code is not around.stack[0].code:
                    yield place.stack[0].code, around
                    own = _Around((*around.stack, *own.stack), (*around.scopes, *own.scopes))
                yield from self._begun(one, own)

    def _equal(self, handle: Any) -> EquationOrigin:
        found = self._known.get(handle)  # handles of one stack are equal
        if found is None:
            found = self._known[handle] = self._looked_up(handle)
        return found

    def _looked_up(self, handle: Any) -> EquationOrigin:
        codes, offsets = handle.raw_frames()
        own = [(c, o) for c, o in zip(codes, offsets, strict=True) if not is_internal(c.co_filename)]
        library, own = own, [(c, o) for c, o in own if not is_installed(c.co_filename)] or own
        outer = [code for code, _ in own[1:]] + [None]
        functions = [not _is_part(code, around) for (code, _), around in zip(own, outer)]
        stack = tuple(self._frame(*pair) for pair, one in reversed([*zip(own, functions)]) if one)
        direct = sum(functions[: _direct(codes)])
        transforms = call_sites.in_order((*call_sites.transforms_of(handle), *_transforms(codes)))
        frame = self._frame(*own[0]) if own else None
        stack = self._shared.setdefault(stack, stack)
        known = cast("tuple[Transform, ...]", transforms)
        within = self._library(library[: library.index(own[0])]) if own else ()
        scopes = call_sites.names_of(handle)
        return EquationOrigin(
            stack, frame, known, "transpose" in transforms, scopes, within, stack[len(stack) - direct :]
        )

    def _library(self, pairs: Sequence[tuple[CodeType, int]]) -> Stack:
        """Frames of libraries, innermost first, without those of functions without a name and of Python's own library."""
        named = [pair for pair in pairs if not pair[0].co_name.startswith("<") and not is_stdlib(pair[0].co_filename)]
        within = tuple(self._frame(*pair) for pair in reversed(named))
        return self._shared.setdefault(within, within)

    def _frame(self, code: CodeType, offset: int) -> Frame:
        return self._frames.setdefault((id(code), offset), Frame(code, offset))


def program_position(handle: Any) -> Position | None:
    """Where something was made, as all views tell it: in an installed library only where nothing of the user's called that."""
    frame = Stacks().innermost(handle)
    return frame.position if frame is not None else None


def _backward(place: EquationOrigin) -> EquationOrigin:
    transforms = call_sites.in_order((*place.transforms, "transpose"))
    return place._replace(backward=True, transforms=cast("tuple[Transform, ...]", transforms))


def _transforms(codes: list[CodeType]) -> tuple[str, ...]:
    """Which transformations' rules ran, from the innermost frame outwards."""
    pairs = pairwise(codes)
    return tuple(
        by for inner, code in pairs if (by := call_sites.rules_run_by.get(code)) and inner.co_name not in _PASSED_ON
    )


_PASSED_ON = ("process", "record")


def _direct(codes: Sequence[CodeType]) -> int:
    """How many of the user's frames come after each other, from the innermost one outwards."""
    theirs = dropwhile(lambda own: not own, (in_program(code.co_filename) for code in codes))
    return len(list(takewhile(bool, theirs)))


def _is_part(code: CodeType, around: CodeType | None) -> bool:
    """Whether code is a comprehension in the function that runs it: people see one function."""
    return code.co_name in _COMPREHENSIONS and around is not None and code in around.co_consts


_COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")


def backward_paths(jaxpr: Jaxpr) -> frozenset[str]:
    """The paths of the equations that a backward pass is made of."""
    stacks = Stacks()
    return frozenset(path for path, eqn in walk(jaxpr) if stacks.found(eqn.traceback).backward)
