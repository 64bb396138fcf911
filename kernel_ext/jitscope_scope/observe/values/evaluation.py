"""A program run equation by equation: each value is looked at when it is made, and let go of after its last use."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jitscope.backend.array import Array, to_array
from jitscope.backend.hunt.flat import called_program
from jitscope.backend.hunt.programs import run
from jitscope.core import config, dtypes
from jitscope.core.avals import physical
from jitscope.core.effects import no_effects
from jitscope.core.jaxpr import Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Var, count, last_uses, subjaxprs, subpath
from jitscope.core.staging import literal_value
from jitscope.core.trace import evaluation, using

from ..stacks import program_position


if TYPE_CHECKING:
    from .devices import OnDevices


WHOLE_LOOPS = 20_000
"""Equations that the iterations of one loop may come to, if all of them are to be looked at."""


class EvaluationStop(Exception):
    """The evaluation took too long or too much memory; the message is a sentence."""


def place_of(eqn: JaxprEqn, path: str) -> str:
    """`in line 3`, or the path of an equation that no line of the user's made."""
    where = program_position(eqn.traceback)
    return f"in line {where.line}" if where is not None else f"at {path}"


class _Inside(NamedTuple):
    """An inner program, by which segment its paths begin, and what it is run on."""

    program: ClosedJaxpr
    segment: str
    operands: list[Any]


class Loop(NamedTuple):
    """A loop that was walked through: its path, how many iterations it made (None: more than were looked at), and the numbers of those
    that were looked at, in words."""

    path: str
    count: int | None
    looked: str


class Follower:
    """Follows the values of a program that is evaluated."""

    def made(self, path: str, result: int, value: Any, iterations: tuple[int, ...]) -> None:
        """Each value once: an argument, a captured value, or a result of the equation that makes it."""

    def equation(
        self, eqn: JaxprEqn, path: str, operands: list[Any], values: list[Any], iterations: tuple[int, ...]
    ) -> None:
        """An equation with its operands and results, in an iteration of each loop around it, the outermost first."""

    def ran(self, prefix: str, outs: list[Any]) -> None:
        """The results of one run of an inner program, by the beginning of its paths."""

    def part(self, whole: Any, part: Any) -> None:
        """What an iteration is given of an array."""


class Evaluation:
    """Evaluates programs, and tells its `followers`. After `seconds`, or with more than `memory` bytes of values alive at once, it
    raises `EvaluationStop`. `iteration` is one that must be among those looked at in every loop."""

    def __init__(self, seconds: float, memory: float, iteration: int | None = None):
        self.iteration = iteration
        self.seconds, self.memory = seconds, memory
        self.end = time.perf_counter() + seconds
        self.alive, self.copies = 0, 1
        self.loops: dict[str, Loop] = {}
        self.rows: dict[str, tuple[int, np.ndarray]] = {}
        """Of loops that `vmap` mapped: how many iterations they ran, and how many each row needed."""
        self.whole_at: dict[str, str] = {}
        """The equations whose inner programs were run as a whole, and why, in words."""
        self.followers: list[Follower] = []

    def program(self, closed: ClosedJaxpr, args: Sequence[Any], needed: Sequence[int] | None = None) -> list[Any]:
        """The results of a whole program. Where not all of its equations are `needed`, those alone run, and it gives nothing."""
        with self.around():
            for i, value in enumerate(self.constants(closed)):
                self._made(f"const{i}", 0, value, ())
            for i, value in enumerate(args):
                self._made(f"in{i}", 0, value, ())
            return self.run(closed, args, "", (), needed)

    def run(
        self,
        closed: ClosedJaxpr,
        args: Sequence[Any],
        prefix: str,
        iterations: tuple[int, ...],
        needed: Sequence[int] | None = None,
    ) -> list[Any]:
        """The results of a program, or of an inner one, whose paths begin with `prefix`."""
        jaxpr = closed.jaxpr
        env: dict[Var, Any] = dict(zip(jaxpr.constvars, self.constants(closed)))
        env.update(zip(jaxpr.invars, args))
        last = last_uses(jaxpr)
        own: set[Var] = set()
        for i in range(len(jaxpr.eqns)) if needed is None else needed:
            eqn = jaxpr.eqns[i]
            path = f"{prefix}e{i}"
            self._check(eqn, path)
            operands = [self._read(a, env) for a in eqn.invars]
            inside = self._inside(eqn, operands)
            values = self.equation(eqn, operands, path, iterations, inside)
            for follower in self.followers:
                follower.equation(eqn, path, operands, values, iterations)
            for number, (var, value) in enumerate(zip(eqn.outvars, values)):
                if inside is None or not isinstance(inside.program.jaxpr.outvars[number], Var):
                    self._made(path, number, value, iterations)
                env[var] = value
                own.add(var)
                self.alive += self._size(var)
            for var in last.get(i, ()):
                if var in own:
                    own.discard(var)
                    env.pop(var)
                    self.alive -= self._size(var)
        self.alive -= sum(map(self._size, own))
        outs = [self._read(a, env) for a in jaxpr.outvars] if needed is None else []
        for follower in self.followers:
            follower.ran(prefix, outs)
        return outs

    def _made(self, *what: Any) -> None:
        for follower in self.followers:
            follower.made(*what)

    def _check(self, eqn: JaxprEqn, path: str) -> None:
        if time.perf_counter() > self.end:
            raise EvaluationStop(f"stopped {place_of(eqn, path)}: it took more than {self.seconds:g} s")
        if self.alive > self.memory:
            raise EvaluationStop(
                f"stopped {place_of(eqn, path)}: the values alive at once take more than {self.memory / 1e9:.3g} GB"
            )

    def equation(
        self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[int, ...], inside: _Inside | None
    ) -> list[Any]:
        """The results of an equation; `inside` is the inner program that it runs once."""
        if inside is not None:
            return self.run(inside.program, inside.operands, subpath(path, inside.segment), iterations)
        name = eqn.primitive.name
        if name == "scan":
            return self._scan(eqn, operands, path, iterations)
        if name == "while":
            return self._while(eqn, operands, path, iterations)
        if name == "shard_map":
            return self._shard_map(eqn, operands, path, iterations)
        if name == "cond":
            self.whole_at[path] = "what the branches compute, of which devices take different ones,"
        if subjaxprs(eqn.params):
            return self.whole(eqn, operands)
        return self.apply(eqn, operands)

    def _inside(self, eqn: JaxprEqn, operands: list[Any]) -> _Inside | None:
        """The inner program that an equation runs once, as calls and branches do: its results are the equation's, and are looked at
        where they are made."""
        programs = subjaxprs(eqn.params) if eqn.params else ()
        if eqn.primitive.name == "cond":
            number = self.decided(operands[0])
            if number is None:
                return None
            segment, program = programs[min(max(int(number), 0), len(programs) - 1)]
            return _Inside(program, segment, operands[1:])
        program = self.called(eqn) if programs and eqn.primitive.name != "shard_map" else None
        segment = next((s for s, one in programs if one is program), "")
        return None if program is None else _Inside(program, segment, operands)

    def _scan(self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[int, ...]) -> list[Any]:
        params, body = eqn.params, eqn.params["jaxpr"]
        c, m, length = params["num_consts"], params["num_carry"], int(params["length"])
        consts, xs = operands[:c], operands[c + m :]
        numbers = self.looked_at(length, count(body.jaxpr))
        carry, before = list(operands[c : c + m]), 0
        for number in numbers:
            if number != before:
                carry = self._carry_before(eqn, operands, number)
            at = length - 1 - number if params["reverse"] else number
            outs = self.run(
                body, [*consts, *carry, *[self._part(x, at) for x in xs]], subpath(path, ""), (*iterations, number)
            )
            carry, before = outs[:m], number + 1
        looked = "all" if len(numbers) == length else ", ".join(str(n) for n in numbers)
        self.loops[path] = Loop(path, length, looked)
        return self.whole(eqn, operands)

    def looked_at(self, length: int | None, equations: int) -> Sequence[int]:
        """The iterations to look at of a loop of so many equations: all, or the first, the last and the one that is asked for. Where it
        is not known how many there are, as many of the first ones as may be."""
        most, asked = max(1, WHOLE_LOOPS // max(1, equations)), self.iteration
        if length is None:
            return range(most if asked is None else max(most, asked + 1))
        if length <= most:
            return range(length)
        return sorted({0, length - 1, *([asked] if asked is not None and 0 <= asked < length else [])})

    def _carry_before(self, eqn: JaxprEqn, operands: list[Any], number: int) -> list[Any]:
        """The carry of a scan before an iteration, by a compiled loop that ends there."""
        params = eqn.params
        c, m, length = params["num_consts"], params["num_carry"], int(params["length"])
        span = slice(length - number, length) if params["reverse"] else slice(0, number)
        xs = [self.element(x, span) for x in operands[c + m :]]
        outs = self.other(eqn, [*operands[: c + m], *xs], {**params, "length": number})
        return outs[:m]

    def _while(self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[int, ...]) -> list[Any]:
        params = eqn.params
        condition, body = params["cond_jaxpr"], params["body_jaxpr"]
        c, b = params["cond_nconsts"], params["body_nconsts"]
        carry = list(operands[c + b :])
        most = len(self.looked_at(None, count(body.jaxpr) + count(condition.jaxpr)))
        number, more, decided, needed = 0, True, True, np.zeros((), int)
        while number <= most:
            inside = (*iterations, number)
            (going,) = self.run(condition, [*operands[:c], *carry], subpath(path, "cond_jaxpr"), inside)
            rows = self.going_rows(going, condition, carry)
            decided = self.decided(going) if rows is None else bool(rows.any())
            more = decided is None or bool(decided)
            if decided is None or not more or number == most:
                break
            done = carry
            carry = self.run(body, [*operands[c : c + b], *carry], subpath(path, "body_jaxpr"), inside)
            if rows is not None:
                carry, needed = self.kept(rows, carry, done), needed + rows.astype(int)
            number += 1
        if not more and needed.ndim:
            self.rows[path] = number, needed
        looked = f"the first {number:,}" if more else "all"
        if decided is None:
            looked += ", which all devices make; they make different numbers of them"
        self.loops[path] = Loop(path, None if more else number, looked)
        return self.whole(eqn, operands) if more else carry

    def _shard_map(self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[int, ...]) -> list[Any]:
        inner = self.on_devices(eqn, operands)
        if inner is None:
            self.whole_at[path] = "what each device computes there"
        else:
            closed, specs = eqn.params["jaxpr"], eqn.params["in_specs"]
            inner.run(closed, [inner.cut(x, s) for x, s in zip(operands, specs)], subpath(path, ""), iterations)
        return self.whole(eqn, operands)

    def _size(self, var: Var) -> int:
        below = physical(var.aval)
        return below.size * below.dtype.itemsize * self.copies

    def _part(self, x: Any, at: int) -> Any:
        part = self.element(x, at)
        for follower in self.followers:
            follower.part(x, part)
        return part

    def _read(self, atom: Atom, env: dict[Var, Any]) -> Any:
        return env[atom] if isinstance(atom, Var) else self.literal(atom)

    # --- what runs an equation: another library's programs have these in another way --------------------------------

    def around(self) -> AbstractContextManager[Any]:
        """What holds while a program is evaluated."""
        stack = ExitStack()
        options = {"debug_nans": False, "debug_infs": False, "sharp_bits": False, "debug_key_reuse": False}
        stack.enter_context(using(evaluation()))
        stack.enter_context(config.override(**options))
        return stack

    def constants(self, closed: ClosedJaxpr) -> list[Any]:
        """The captured values of a program, as arrays."""
        return [to_array(x) for x in closed.consts]

    def literal(self, atom: Any) -> Any:
        """A literal as an array."""
        return to_array(literal_value(atom))

    def called(self, eqn: JaxprEqn) -> ClosedJaxpr | None:
        """The program that an equation runs once, on all its operands; None if it does something else."""
        return called_program(eqn)

    def on_devices(self, eqn: JaxprEqn, operands: list[Any]) -> OnDevices | None:
        """What evaluates the program of a `shard_map` for each device; None where that cannot be done by parts."""
        from .devices import OnDevices  # of several devices

        return OnDevices(self, eqn) if OnDevices.can(eqn, operands) else None

    def decided(self, x: Any) -> Any:
        """The number by which a branch or a loop goes on; None where devices go different ways."""
        found = np.asarray(x)
        return bool(found.all()) if found.dtype == np.bool_ else int(found)

    def going_rows(self, going: Any, condition: ClosedJaxpr, carry: list[Any]) -> np.ndarray | None:
        """Which rows of a loop that `vmap` mapped go on; None for other loops. Its condition is whether any of them does."""
        eqns, carried = condition.jaxpr.eqns, condition.jaxpr.invars[len(condition.jaxpr.invars) - len(carry) :]
        if len(eqns) != 1 or eqns[0].primitive.name != "reduce_or" or eqns[0].invars[0] not in carried:
            return None
        return np.asarray(carry[carried.index(eqns[0].invars[0])])  # pyright: ignore[reportArgumentType]

    def kept(self, rows: np.ndarray, new: list[Any], done: list[Any]) -> list[Any]:
        """The carry after an iteration, in which the rows that are done stay as they were (jitscope's own loops choose so themselves)."""
        return new

    def apply(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        """The results of an equation without inner programs."""
        out = evaluation().process(eqn.primitive, tuple(operands), eqn.params)
        return list(out) if eqn.primitive.multiple_results else [out]

    def whole(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        """The results of an equation, compiled by itself."""
        return run(one_equation(eqn), operands)

    def other(self, eqn: JaxprEqn, operands: list[Any], params: dict[str, Any]) -> list[Any]:
        """The results of an equation with other parameters, compiled by itself."""
        return self.whole(changed_equation(eqn, [to_array(x).aval for x in operands], params), operands)

    def is_derived(self, eqn: JaxprEqn) -> bool:
        """Whether an equation that `jvp` made, or left, is no operation of the function but a part of its derivative."""
        return True

    def element(self, x: Any, at: int | slice) -> Any:
        """A part of an array along its first axis."""
        return _element(x, at)


def changed_equation(eqn: JaxprEqn, avals: Sequence[Any], params: dict[str, Any]) -> JaxprEqn:
    """An equation with operands of other avals and other parameters."""
    out, _ = eqn.primitive.abstract(*avals, **params)
    return eqn.replace(invars=[Var(aval) for aval in avals], outvars=[Var(aval) for aval in out], params=params)


def one_equation(eqn: JaxprEqn) -> ClosedJaxpr:
    """An equation as a program of its operands."""
    invars = [Var(a.aval) for a in eqn.invars]
    outvars = [Var(v.aval) for v in eqn.outvars]
    one = eqn.replace(invars=list(invars), outvars=outvars)
    return ClosedJaxpr(Jaxpr([], invars, list(outvars), [one], no_effects, DebugInfo(eqn.primitive.name)))


def _element(x: Any, at: int | slice) -> Any:
    """A part of an array along its first axis."""
    array: Any = x
    if dtypes.is_extended(array.aval.dtype):
        return array[at]
    part = to_array(np.array(np.asarray(array)[at]))  # (a contiguous copy would have an axis at least)
    aval = array.aval.update(shape=part.aval.shape) if hasattr(array.aval, "update") else part.aval
    return Array(part.buf, aval)
