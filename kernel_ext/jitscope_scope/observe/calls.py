"""The call tree of a program: which functions of the user's wrote its equations, called from where."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from types import CodeType
from typing import NamedTuple

from jitscope.core.jaxpr import Jaxpr, JaxprEqn, equations_in, running, subpath
from jitscope.core.source import Position

from .groups.names import function_name
from .stacks import EquationOrigin, Frame, Stack, Stacks, is_installed


OFTENEST = 3
"""So often may a function be in a chain of calls; what deeper recursion writes belongs to the last of them."""


class Function(NamedTuple):
    """A function by where its definition starts."""

    file: str
    line: int
    name: str


class FunctionCall(NamedTuple):
    """A call: of which function, in which other call (None: the traced function itself), from which line. The calls of a loop's
    iterations are one."""

    function: int
    parent: int | None
    line: int | None


class Mark(NamedTuple):
    """The paths of the equations that were written in a line of a call, and those of its backward pass."""

    forward: list[str]
    backward: list[str]


class CallTree:
    """`functions` and `calls` in the order in which equations name them; `of` gives the call and line of each equation by path,
    `marks` the equations by call and line, `titles` what people call a function: of a class's `__call__` the class.
    The first call is of the traced function, defined at `defined`; what is not known to be written in it has no call."""

    def __init__(self, jaxpr: Jaxpr | None, defined: Position | None = None, stacks: Stacks | None = None):
        self.functions: list[Function] = []
        self.calls: list[FunctionCall] = []
        self.of: dict[str, tuple[int, int]] = {}
        self.marks: dict[tuple[int, int], Mark] = {}
        self.stacks = stacks or Stacks()
        self._numbers: dict[FunctionCall, int] = {}
        self.titles: dict[Function, str] = {}
        self._indices: dict[Function, int] = {}
        if defined is not None:
            self._call(None, None, Function(defined.file, defined.line, defined.function))
            if jaxpr is not None:
                self._walk(jaxpr, "", None, (), None)

    def _walk(
        self,
        jaxpr: Jaxpr,
        prefix: str,
        around: int | None,
        holder: Stack,
        place: tuple[int, int] | None,
        backward: bool = False,
    ) -> None:
        """`place` is that of the equation that holds the program: those without a stack are there, too. All of them are of the `backward`
        pass if that one is."""
        known: dict[int, tuple[int | None, tuple[int, int] | None, list[str]]] = {}
        for i, (eqn, written) in enumerate(zip(jaxpr.eqns, self.stacks.all(jaxpr.eqns))):
            path, at = f"{prefix}e{i}", known.get(id(written))
            if at is None:
                call = self._find(written, jaxpr, around, holder) if written.stack else None
                own = self._place(written, call, place)
                at = known[id(written)] = (call, own, self._marked(own, written.backward or backward))
            call, own, marked = at
            if own is not None:
                self.of[path] = own
                marked.append(path)
            if eqn.params:
                calling = call if call is not None else around
                self._inside(eqn, path, calling, written.stack or holder, own, written.backward or backward)

    def _place(
        self, written: EquationOrigin, call: int | None, place: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        if not written.stack:
            return place
        if call is None or written.frame is None:
            return None
        return call, written.frame.position.line

    def _marked(self, place: tuple[int, int] | None, backward: bool) -> list[str]:
        """The paths that are marked at a place."""
        if place is None:
            return []
        mark = self.marks.setdefault(place, Mark([], []))
        return mark.backward if backward else mark.forward

    def _inside(
        self, eqn: JaxprEqn, path: str, call: int | None, stack: Stack, place: tuple[int, int] | None, backward: bool
    ) -> None:
        for segment, sub in running(eqn):
            self._walk(sub.jaxpr, subpath(path, segment), call, stack, place, backward)

    def _find(self, written: EquationOrigin, jaxpr: Jaxpr, around: int | None, holder: Stack) -> int | None:
        """The call in which an equation was written; `around` and `holder` are of the equation that holds its program. None: outside of
        the traced function."""
        stack = written.stack
        if around is None:
            at = _first(stack, self.functions[0])
            return None if at is None else self._follow(stack, at, 0)
        if holder and stack[: len(holder)] == holder:
            return self._follow(stack, len(holder) - 1, around)
        # The program was traced where it was called first; it is called here, too.
        defined = jaxpr.debug.defined
        at = None if defined is None else _first(stack, Function(defined.file, defined.line, defined.function))
        # Where a library defined it (a loop's body), what that called wrote it, and was called from here through the library.
        stack, at = (written.own, 0) if at is None else (stack, at)
        if not holder or not stack or stack[at].code.co_name == "<module>":
            return None
        return self._follow(stack, at, self._call(around, holder[-1], self._function(stack[at].code)))

    def _follow(self, stack: Stack, at: int, call: int) -> int:
        """The call that the frames after the one at `at`, which is of `call`, lead to."""
        for caller, called in zip(stack[at:], stack[at + 1 :]):
            call = self._call(call, caller, self._function(called.code))
        return call

    def _function(self, code: CodeType) -> Function:
        function = _function(code)
        self.titles.setdefault(function, function_name(code))
        return function

    def _call(self, parent: int | None, caller: Frame | None, function: Function) -> int:
        same = self._same(parent, function)
        if same and same[0] == parent and caller and caller.position.line == function.line:
            return same[0]  # wrapped in its definition, as by `checkpoint` below `jit`: its lines are there once
        if len(same) >= OFTENEST:
            return same[0]
        index = self._indices.setdefault(function, len(self.functions))
        if index == len(self.functions):
            self.functions.append(function)
        called = FunctionCall(index, parent, caller.position.line if caller else None)
        number = self._numbers.setdefault(called, len(self.calls))
        if number == len(self.calls):
            self.calls.append(called)
        return number

    def _same(self, call: int | None, function: Function) -> list[int]:
        """The calls of a function in a chain of calls, the innermost first."""
        found = []
        while call is not None:
            if self.functions[self.calls[call].function] == function:
                found.append(call)
            call = self.calls[call].parent
        return found


def _function(code: CodeType) -> Function:
    return Function(code.co_filename, code.co_firstlineno, code.co_name)


def _first(stack: Stack, function: Function) -> int | None:
    return next((i for i, frame in enumerate(stack) if _function(frame.code) == function), None)


def root_of(defined: Position | None, jaxpr: Jaxpr | None, stacks: Stacks) -> Position | None:
    """Where the function is defined that the calls of a program begin with. Where a library wrapped the user's function in its own, it is
    the outermost of the user's that most equations have; where the program is of no function (a loop outside of jit), that of the
    equations inside of its operations."""
    if jaxpr is None or (defined is not None and not is_installed(defined.file)):
        return defined
    found: Counter[CodeType] = Counter()
    callers = set(map(id, jaxpr.eqns)) if defined is None else ()
    for eqn in equations_in(jaxpr):
        if id(eqn) in callers:
            continue
        own = (frame.code for frame in stacks.of(eqn.traceback) if frame.code.co_name != "<module>")
        found.update(code for code in islice(own, 1) if not is_installed(code.co_filename))
    if not found:
        return defined
    ((code, _),) = found.most_common(1)
    return Position(code.co_filename, code.co_firstlineno, code.co_firstlineno, 0, 0, code.co_name)
