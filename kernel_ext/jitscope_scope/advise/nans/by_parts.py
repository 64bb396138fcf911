"""The hunt in a program of another library, which cannot be compiled with flags: it is run equation by equation, and each bad value
remembers from which equation it came."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from jitscope.backend.hunt import BadInput, Finding, Iteration, Step
from jitscope.core import call_sites
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Var, subjaxprs, subpath, walk
from jitscope.core.source import Position

from ...observe.ledger import Row
from ...observe.stacks import Stacks
from ...observe.values import MEMORY, SECONDS, Evaluable
from ...observe.values.evaluation import Evaluation, EvaluationStop, Follower
from ...observe.values.summary import numbers
from . import causes
from .fused_parts import first_together
from .report import Answer, Ran, came_with_zero, where_around


Test = Callable[[np.ndarray], Any]
Again = Callable[[], Sequence[Any]]


class _Origin(NamedTuple):
    """Where a bad value comes from: an equation, an argument or a captured value (None: it is not known), the infinity that it was made
    of, the equations that carried it since, the latest first, linked, and how many equations had run when it was made (where it is not
    known: at least). `hidden`: it is of a backward pass that came to it with 0."""

    made: Finding | BadInput | None
    infinity: Finding | BadInput | None = None
    carried: tuple[Step, Any] | None = None
    after: int = 0
    hidden: bool = False


def _earliest(origins: Iterable[_Origin | None]) -> _Origin:
    """The first one of what came together."""
    return min((one for one in origins if one is not None), key=lambda one: one.after, default=_Origin(None))


class _Trail(Follower):
    """Follows values that have a bad element."""

    def __init__(self, jaxpr: Jaxpr, test: Test, evaluation: Evaluation, infinities: _Trail | None = None):
        self._eqns, self._test, self._infinities = dict(walk(jaxpr)), test, infinities
        self._makers = {v: eqn for eqn in self._eqns.values() for v in eqn.outvars}
        self._evaluation, self._stacks = evaluation, Stacks()
        self._known: dict[int, tuple[Any, _Origin]] = {}
        self._runs: dict[str, list[list[_Origin | None]]] = {}
        self._ended: dict[str, int] = {}  # by the path of what holds an equation: when its latest one ended
        self._now = 0
        self._names = {f"in{i}": jaxpr.debug.argument(i) for i in range(len(jaxpr.invars))}
        self._names |= {f"const{i}": f"captured value {i}" for i in range(len(jaxpr.constvars))}

    def of(self, value: Any) -> _Origin | None:
        """Where a bad value comes from."""
        known = self._known.get(id(value))
        return known[1] if known is not None else None

    def bad(self, value: Any) -> bool:
        found = numbers(value)
        return found is not None and found.dtype.kind in "fc" and bool(self._test(found).any())

    def keep(self, value: Any, origin: _Origin) -> None:
        self._known[id(value)] = (value, origin)

    # --- what it is told ------------------------------------------------------------------------------------------------

    def made(self, path: str, result: int, value: Any, iterations: tuple[int, ...]) -> None:
        if path in self._names and self.bad(value):
            self.keep(value, _Origin(BadInput(self._names[path], value)))

    def equation(
        self, eqn: JaxprEqn, path: str, operands: list[Any], values: list[Any], iterations: tuple[int, ...]
    ) -> None:
        level = path.rpartition("/")[0]
        begun, self._now = self._ended.get(level, 0), self._now + 1
        self._ended[level] = self._now
        inner = {segment: self._runs.pop(subpath(path, segment), []) for segment, _ in subjaxprs(eqn.params)}
        for number, value in enumerate(values):
            if self.of(value) is None and self.bad(value):
                step = Step(path, eqn.primitive.name, *self.written(path), self._iterations(path, iterations))
                if eqn.primitive.name in ("scan", "while"):
                    origin = self._of_loop(eqn, path, inner, number) or _Origin(None, after=begun)
                else:
                    origin = self._of_equation(eqn, step, operands, values)
                self.keep(value, origin._replace(carried=(step, origin.carried)))

    def ran(self, prefix: str, outs: list[Any]) -> None:
        self._runs.setdefault(prefix, []).append([self.of(out) for out in outs])

    def part(self, whole: Any, part: Any) -> None:
        origin = self.of(whole)
        if origin is not None and self.bad(part):
            self.keep(part, origin)

    # --- where a value comes from ----------------------------------------------------------------------------------------

    def _of_loop(self, eqn: JaxprEqn, path: str, runs: dict[str, Any], number: int) -> _Origin | None:
        """That of the last iteration for the carry, the earliest of all for what is stacked; only where all were looked at."""
        if (loop := self._evaluation.loops.get(path)) is None or loop.looked != "all":
            return None
        found = [one for segment, each in runs.items() if "cond" not in segment for one in each]
        if eqn.primitive.name == "while" or number < eqn.params["num_carry"]:
            found = found[-1:]
        known = [origin for one in found if number < len(one) and (origin := one[number]) is not None]
        return _earliest(known) if known else None

    def _of_equation(self, eqn: JaxprEqn, step: Step, operands: list[Any], values: list[Any]) -> _Origin:
        read = self._chosen(operands, values[0]) if step.primitive == "select_n" else operands
        known = [origin for x in read if self.bad(x) and (origin := self.of(x)) is not None]
        if known:
            return _earliest(known)
        given = [(i, x) for i, operand in enumerate(operands) if (x := numbers(operand)) is not None]
        results = tuple(found for found in map(numbers, values) if found is not None)
        places, shown = tuple(i for i, _ in given), tuple(x for _, x in given)
        finding = Finding(*step, shown, results, places, eqn.params, ())
        infinity = None
        if self._infinities is not None:
            before = (self._infinities.of(x) for x in operands)
            infinity = next((one.made for one in before if one is not None and one.made is not None), None)
        return _Origin(finding, infinity, after=self._now, hidden=self.hides(finding))

    def _chosen(self, operands: list[Any], value: Any) -> list[Any]:
        """The operand of a select that its first bad element is of."""
        which, found = np.asarray(operands[0]), numbers(value)
        if found is None:
            return operands
        at = tuple(np.argwhere(self._test(found))[0])
        return [operands[1 + int(which[at] if which.ndim else which)]]

    def hides(self, finding: Finding) -> bool:
        """Whether the backward pass came to a bad value with 0."""
        invars = self._eqns[finding.path].invars
        return came_with_zero(finding, [self._is_of_backward_pass(finding.path, invars[i]) for i in finding.places])

    def _is_of_backward_pass(self, path: str, atom: Any) -> bool:
        """Whether the backward pass computed an operand of the equation at a path, in it or in what holds it."""
        maker = self._makers.get(atom)
        if maker is not None:
            return "transpose" in call_sites.transforms_of(maker.traceback)
        for outer in list(_outwards(path))[1:]:
            eqn = self._eqns.get(outer)
            if eqn is None:
                return False
            for _, inner in subjaxprs(eqn.params):
                if atom in inner.jaxpr.invars and len(inner.jaxpr.invars) == len(eqn.invars):
                    return self._is_of_backward_pass(outer, eqn.invars[inner.jaxpr.invars.index(atom)])
        return False

    def written(self, path: str) -> tuple[Position | None, tuple[str, ...]]:
        """The user's line of an equation, or of the one that holds it, and what made the equation from it."""
        outwards = [self._eqns[outer] for outer in _outwards(path) if outer in self._eqns]
        transforms = call_sites.in_order(
            tuple(one for eqn in outwards for one in call_sites.transforms_of(eqn.traceback))
        )
        if not self._evaluation.is_derived(outwards[0]):
            transforms = tuple(one for one in transforms if one != "jvp")
        for outer in _outwards(path):
            eqn = self._eqns.get(outer)
            frame = self._stacks.innermost(eqn.traceback) if eqn is not None else None
            if frame is not None:
                return frame.position, transforms
        return None, transforms

    def _iterations(self, path: str, numbers: tuple[int, ...]) -> tuple[Iteration, ...]:
        loops = [outer for outer in reversed(list(_outwards(path))[1:]) if self._is_loop(outer)]
        return tuple(Iteration(n, self._count(loop), self.written(loop)[0]) for n, loop in zip(numbers, loops))

    def _is_loop(self, path: str) -> bool:
        return path in self._eqns and self._eqns[path].primitive.name in ("scan", "while")

    def _count(self, path: str) -> int | None:
        length = self._eqns[path].params.get("length")
        return int(length) if length is not None else None


def _outwards(path: str) -> Any:
    """The path and those of what holds it, from the inside out."""
    while path:
        yield path
        path = path.rpartition("/")[0]


class PartsReport(Answer):
    """What the hunt found, as `report.Report` has it. `results` are those of the compiled program."""

    def __init__(
        self,
        name: str,
        program: Evaluable,
        results: Sequence[Any],
        again: Again | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.name, self._again, self._seconds = name, again, seconds
        start = time.perf_counter()
        compiled = self._compiled = _numbers(results)
        self.nan = any(np.isnan(x).any() for x in compiled)
        self.found = self.nan or any(np.isinf(x).any() for x in compiled)
        self._origin: _Origin | None = None
        self.jaxpr, self.differs = program.closed.jaxpr, ""
        if self.found:
            self._hunt(program)
        self.hunt = SimpleNamespace(seconds=time.perf_counter() - start)

    def _hunt(self, program: Evaluable) -> None:
        evaluation = program.evaluation(self._seconds, MEMORY)
        jaxpr = program.closed.jaxpr
        infinities = _Trail(jaxpr, np.isinf, evaluation)
        trail = _Trail(jaxpr, np.isnan, evaluation, infinities) if self.nan else infinities
        evaluation.followers = [infinities, trail] if self.nan else [infinities]
        try:
            outs = evaluation.program(program.closed, program.arrays)
        except EvaluationStop as stopped:
            raise Unavailable(f"the hunt {stopped}") from None
        bad = [out for out in outs if trail.bad(out)]
        if not bad:
            self.differs = (
                f"The compiled program gives {self.what}, run equation by equation it does not: XLA computes in another order or "
                "precision where it fuses operations. Look for numbers close to overflow and for differences of large numbers."
            )
            self._origin = self._together(program, trail)
            return
        self._origin = _earliest(map(trail.of, bad))
        if self._origin.made is None:
            raise Unavailable(
                f"{self.name} gives {self.what}; the operation that makes it is in a loop of more iterations than are looked at, or was not "
                "run by itself"
            )

    def _together(self, program: Evaluable, trail: _Trail) -> _Origin | None:
        """Where XLA makes the bad value, of operations that do not make it one by one."""
        jaxpr = program.closed.jaxpr
        wanted = [v for v in dict.fromkeys(jaxpr.outvars) if isinstance(v, Var)]
        if program.compiled is None or not wanted:
            return None
        found = first_together(jaxpr, wanted, program.compiled, trail.bad, self._seconds)
        if found is None:
            return None
        (made, *carrying), operands, results = found
        step, *steps = (
            Step(f"e{i}", jaxpr.eqns[i].primitive.name, *trail.written(f"e{i}"), ()) for i in (made, *carrying)
        )
        given = [(i, x) for i, operand in enumerate(operands) if (x := numbers(operand)) is not None]
        places, shown = tuple(i for i, _ in given), tuple(x for _, x in given)
        finding = Finding(*step, shown, tuple(_numbers(results)), places, jaxpr.eqns[made].params, ())
        carried = None
        for one in (step, *steps):
            carried = one, carried
        return _Origin(finding, None, carried, hidden=trail.hides(finding))

    @property
    def can_run_again(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._again is not None

    def run_again(self) -> Ran | None:
        assert self._again is not None
        return Ran(_numbers(self._again()))

    def ran(self) -> Ran:
        return Ran(self._compiled)

    @property
    def given(self) -> list[BadInput]:
        made = self._origin.made if self._origin else None
        return [made] if isinstance(made, BadInput) else []

    @cached_property
    def finding(self) -> Finding | None:
        made = self._origin.made if self._origin else None
        if not isinstance(made, Finding):
            return None
        assert self._origin is not None
        steps, carried = [], self._origin.carried
        while carried is not None:
            step, carried = carried
            steps.append(step)
        once = {one.path: one for one in reversed(steps[:-1])}  # the iterations of a loop have the same equations
        return made._replace(steps=tuple(once.values()))

    @property
    def infinite(self) -> Finding | BadInput | None:
        return self._origin.infinity if self._origin and self.nan else None

    @property
    def derivative(self) -> bool:
        return self.finding is not None and (self.finding.backward or "jvp" in self.finding.transforms)

    @cached_property
    def where(self) -> Position | None:
        """The `where` around what was differentiated, if it did not take the value."""
        finding = self.finding
        if finding is None or finding.position is None or self._origin is None or not self.derivative:
            return None
        return where_around(finding.position) if self._origin.hidden or not finding.backward else None

    @property
    def why(self) -> str:
        if self.finding is None:
            return ""
        told = causes.why(self.finding, self.nan)
        return told + self.of_infinity


def _compiled(row: Row, program: Evaluable) -> list[Any]:
    """The results of the compiled program. Raises Unavailable where it cannot be run on these arguments."""
    entry = row.entry
    buffers = row.takes.buffers(program.arrays) if row.takes is not None and entry is not None else None
    if entry is None or buffers is None:
        raise Unavailable(f"the program of {row.function} is no longer there: call it once more")
    return entry.executable.run(buffers)


def _numbers(values: Sequence[Any]) -> list[np.ndarray]:
    found = map(numbers, values)
    return [x for x in found if x is not None and x.dtype.kind in "fc"]


def hunt(
    row: Row, given: Any = None, callbacks: bool = False, again: Again | None = None, name: str = ""
) -> PartsReport:
    """Look for the first NaN in the results of a row's program on the arguments `given` (None: those of its call); if they have
    none, for the first infinity. `again` runs the function as its code is now, to check fixes; `name` is what it is called where that is
    not the row's name. Raises Unavailable where these are gone, the program is not run again or the operation was not found."""
    program = row.entry.evaluable(row, given, callbacks)
    return PartsReport(name or row.title, program, _compiled(row, program), again)
