"""The walk from a bad result back to the equation that made it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from ...control.callbacks import calls_python
from ...core import call_sites
from ...core.jaxpr import Atom, ClosedJaxpr, Literal, Var
from ...named_tuple import NamedTuple
from ..array import to_array
from ..watching import WHAT, Test, is_bad, nans
from .finding import BadInput, Finding, Step, message
from .frames import Branch, Frame, Loop, LoopIteration
from .programs import CLEAN, FROM_THE_START, run


MOST_ENTERED, MOST_ITERATIONS = 32, 16
"""Loops and branches that are entered although an operand of theirs was bad, and iterations of a loop that the walk goes back to,
before it goes on by what reads what."""


class HasCallbacks(Exception):
    """A program that calls back into Python is not run again."""


class Origin(NamedTuple):
    """An equation that made bad values of good ones. `order` sorts origins as they ran."""

    order: tuple[int, ...]
    frame: Frame
    index: int


class Search:
    """One walk. `origins` are what it found; `given` the captured values and arguments of the whole program that were bad."""

    def __init__(self, test: Test):
        self.test = test
        self.origins: list[Origin] = []
        self.wanted: dict[Frame, set[Var]] = {}
        self.read_by: dict[tuple[Frame, Var], int] = {}
        self.seen: set[tuple[LoopIteration, Var]] = set()
        self.entered = 0

    def from_within(self, frame: Frame, wanted: Iterable[Var]) -> list[Var]:
        """Walk from values of a frame; the bad inputs of the whole program that it leads to."""
        reached = self.walk(frame, wanted)
        while frame.owner is not None:
            operands = self.out_of(frame.owner, reached)
            frame = frame.owner.frame
            reached = self.walk(frame, operands)
        return reached

    def walk(self, frame: Frame, wanted: Iterable[Var]) -> list[Var]:
        """Walk within a frame; the inputs of the frame that it leads to."""
        known = self.wanted.setdefault(frame, set())
        todo = set(wanted) - known
        frame.look_through(list(todo), self.test)
        for i in range(len(frame.flat.eqns) - 1, -1, -1):
            outs = [v for v in frame.flat.eqns[i].outvars if v in todo]
            if outs:
                for var in self.causes(frame, i, outs):
                    if var not in known:
                        todo.add(var)
                        self.read_by.setdefault((frame, var), i)
        known |= todo
        return [v for v in frame.flat.inputs if v in todo]

    def causes(self, frame: Frame, i: int, outs: list[Var]) -> list[Var]:
        """The operands that made these results of an equation bad. If there are none, it is an origin, or what it holds has one."""
        guilty = frame.guilty(i, self.test)
        if frame.flat.eqns[i].primitive.name in ("scan", "while", "cond") and not (
            guilty and self.entered > MOST_ENTERED
        ):
            self.entered += 1
            before = len(self.origins)
            inner = frame.inside(i)
            reached = self.in_branch(inner, outs) if isinstance(inner, Branch) else self.in_loop(inner, outs)
            if reached or len(self.origins) > before:
                return reached
        if not guilty:
            self.origins.append(Origin((*frame.order, i), frame, i))
        return guilty

    def in_branch(self, branch: Branch, outs: list[Var]) -> list[Var]:
        return self.out_of(branch, self.walk(branch.inner, _results(branch.inner, branch.eqn.outvars, outs)))

    def in_loop(self, loop: Loop, outs: list[Var]) -> list[Var]:
        starts: dict[int, list[Var]] = {}
        reached: list[Var] = []
        for out in outs:
            since = loop.bad_since(loop.eqn.outvars.index(out), self.test)
            if since == FROM_THE_START:
                reached += _variables([loop.initial(loop.eqn.outvars.index(out))])
            elif since != CLEAN:
                starts.setdefault(since, []).append(out)
        for number in sorted(starts)[:MOST_ITERATIONS]:
            iteration = loop.iteration(number, self.test)
            reached += self.in_iteration(iteration, _results(iteration.inner, loop.eqn.outvars, starts[number]))
        return reached

    def in_iteration(self, iteration: LoopIteration, wanted: list[Var]) -> list[Var]:
        fresh = [v for v in wanted if (iteration, v) not in self.seen]
        self.seen.update((iteration, v) for v in fresh)
        return self.out_of(iteration, self.walk(iteration.inner, fresh)) if fresh else []

    def out_of(self, owner: Branch | LoopIteration, reached: list[Var]) -> list[Var]:
        """From inputs of an inner program to operands of the equation that runs it, by way of earlier iterations."""
        inputs = owner.inner.flat.inputs
        places = [inputs.index(v) - len(owner.inner.flat.closed.consts) for v in reached]
        if isinstance(owner, Branch):
            return _variables(owner.operand(p) for p in places if p >= 0)
        found = _variables(owner.loop.operand(p) for p in places if p >= 0)
        for place in places:
            if place >= 0 and owner.loop.operand(place) is None:
                found += self.carried(owner, place - owner.loop.first)
        return found

    def carried(self, iteration: LoopIteration, k: int) -> list[Var]:
        """A part of the carry was bad when an iteration began: from where it had that."""
        loop = iteration.loop
        _, _, since, together = loop.until(iteration.number, self.test)
        if since.get(k, CLEAN) == FROM_THE_START:
            return _variables([loop.initial(k)])
        many = sum(other.loop is loop for other, _ in self.seen) > MOST_ITERATIONS
        number = together if many and together >= 0 else since.get(k, CLEAN)
        if number < 0:
            return []
        earlier = loop.iteration(number, self.test)
        outs = earlier.inner.flat.closed.jaxpr.outvars
        chosen = [v for j, v in enumerate(outs) if (j in since if many else j == k)]
        return self.in_iteration(earlier, [v for v in _variables(chosen) if earlier.inner.is_bad(v, self.test)])

    def steps(self, origin: Origin) -> list[Step]:
        """The equations that carried the bad value from its origin to the result, loops by their own."""
        frame, i, steps = origin.frame, origin.index, []
        while True:
            known = self.wanted.get(frame, set())
            var = next((v for v in frame.flat.eqns[i].outvars if v in known), None)
            following = self.read_by.get((frame, var)) if var is not None else None
            if following is None:
                if frame.owner is None:
                    return steps
                frame, following = frame.owner.frame, frame.owner.index
            i = following
            steps.append(step_of(frame, i))


def _results(frame: Frame, outvars: Sequence[Var], outs: Sequence[Var]) -> list[Var]:
    """The results of an inner program that became results of its equation."""
    return _variables(frame.flat.closed.jaxpr.outvars[outvars.index(v)] for v in outs)


def _variables(atoms: Iterable[Atom | None]) -> list[Var]:
    return [a for a in atoms if isinstance(a, Var)]


def step_of(frame: Frame, i: int) -> Step:
    """Equation `i` of a frame, as people are told of it."""
    eqn = frame.flat.eqns[i]
    transforms = call_sites.transforms_of(eqn.traceback)
    return Step(
        frame.path(i), eqn.primitive.name, call_sites.user_position(eqn.traceback), transforms, frame.iterations
    )


class Hunt:
    """A hunt in one program, for one set of arguments; `results` are those the compiled program gave (run again if they are not given).

    `again` are the results with a bad element as the program with flags computed them: where they are not those of the compiled
    program, that one computes in another order or precision. `given` are the captured values and arguments that were bad already,
    and reach the result; `finding` what made the first bad value of good ones. `thorough`: the program with flags is run although the
    compiled one gave nothing bad. Raises HasCallbacks for a program with effects or
    callbacks, unless `callbacks`: then they run again, several times.
    """

    def __init__(
        self,
        closed: ClosedJaxpr,
        args: Sequence[Any],
        test: Test = nans,
        callbacks: bool = False,
        results: Sequence[Any] | None = None,
        thorough: bool = False,
    ):
        if not callbacks and (closed.effects or calls_python(closed.jaxpr)):
            raise HasCallbacks
        start = time.perf_counter()
        self.closed, self.test, self.whole = closed, test, Frame(closed, [to_array(x) for x in args])
        self.results = list(run(closed, args) if results is None else results)
        self.search, self.given, self.origin = Search(test), list[BadInput](), None
        bad = self.bad_results() or (range(len(self.results)) if thorough else [])
        outs = _variables(self.whole.flat.closed.jaxpr.outvars[i] for i in bad)
        self.again = self.whole.look_through(outs, test, outs) if outs else []
        reached = self.search.walk(self.whole, [v for v in dict.fromkeys(outs) if self.whole.is_bad(v, test)])
        self.given = [self._given(v) for v in dict.fromkeys(reached)]
        self.origin = min(self.search.origins, default=None, key=lambda one: one.order)
        self.finding = self._finding(self.search, self.origin) if self.origin else None
        self.seconds = time.perf_counter() - start

    def bad_results(self) -> list[int]:
        """The numbers of the results of the compiled program that have a bad element."""
        return [i for i, x in enumerate(self.results) if is_bad(to_array(x), self.test)]

    def _given(self, var: Var) -> BadInput:
        flat = self.whole.flat
        captured, place = len(flat.closed.consts), flat.inputs.index(var)
        (value,) = self.whole.values([var])
        if place < captured:
            return BadInput(f"captured value {place}", value)
        return BadInput(flat.closed.jaxpr.debug.argument(place - captured), value)

    def _finding(self, search: Search, origin: Origin) -> Finding:
        frame, i = origin.frame, origin.index
        eqn = frame.flat.eqns[i]
        values = frame.values([*eqn.invars, *eqn.outvars])
        operands, results = values[: len(eqn.invars)], values[len(eqn.invars) :]
        return Finding.of(step_of(frame, i), eqn, operands, results, tuple(search.steps(origin)))

    def cause_of(self, operand: int, test: Test) -> Hunt.Earlier:
        """Where a bad element of the origin's operand comes from, for another test: what made the infinity, say."""
        assert self.origin is not None
        frame, search = self.origin.frame, Search(test)
        atom = frame.flat.eqns[self.origin.index].invars[operand]
        if isinstance(atom, Literal):
            return Hunt.Earlier(None, [])
        reached = search.from_within(frame, [atom])
        origin = min(search.origins, default=None, key=lambda one: one.order)
        return Hunt.Earlier(self._finding(search, origin) if origin else None, [self._given(v) for v in reached])

    class Earlier(NamedTuple):
        finding: Finding | None
        given: list[BadInput]


def find_first(closed: ClosedJaxpr, args: Sequence[Any], test: Test = nans) -> Finding | None:
    """The first equation that made a bad element of the results from good operands; None if there is none.

    Raises HasCallbacks for a program with effects or callbacks.
    """
    return Hunt(closed, args, test).finding


def failure(
    closed: ClosedJaxpr, name: str, args: Sequence[Any], test: Test, results: Sequence[Any]
) -> FloatingPointError:
    """The error for a program that gave bad results; its `hunted` is the hunt with the handle of the line that ran the program."""
    what = WHAT[test]
    try:
        hunt = Hunt(closed, args, test, results=results)
    except HasCallbacks:
        return FloatingPointError(
            f"{name} gave {what}. It calls Python functions, so it was not run again to find out where"
        )
    error = FloatingPointError(message(name, hunt.finding, what, hunt.given))
    error.hunted = hunt, call_sites.capture()  # pyright: ignore[reportAttributeAccessIssue]
    return error
