"""A program run equation by equation: each value is looked at when it is made, and let go of after its last use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...backend.array import Array, to_array
from ...backend.hunt.flat import called
from ...backend.hunt.programs import run
from ...core import config, dtypes
from ...core.avals import physical
from ...core.effects import no_effects
from ...core.jaxpr import Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Var, count, subjaxprs, subpath
from ...core.staging import literal_value
from ...core.trace import evaluation, using


WHOLE_LOOPS = 20_000
"""Equations that the iterations of one loop may come to, if all of them are to be looked at."""


class Stopped(Exception):
    """The evaluation took too long or too much memory; the message is a sentence."""


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


Look = Callable[[str, int, Any, tuple[int, ...]], None]
"""Is told each value: the path of its equation, the number of the result, the array, and the iterations that it belongs to."""


class Follower(Protocol):
    """Follows values through a program: is told each equation with its operands and results, the results of each run of an inner
    program by the beginning of its paths, and each part of an array that an iteration is given."""

    def equation(
        self, eqn: JaxprEqn, path: str, operands: list[Any], values: list[Any], iterations: tuple[int, ...]
    ) -> None: ...
    def ran(self, prefix: str, outs: list[Any]) -> None: ...
    def part(self, whole: Any, part: Any) -> None: ...


class Evaluation:
    """Evaluates programs. `look` is told every value once, by the equation that makes it; after `seconds`, or with more than `memory` bytes of values alive at once, it
    raises `Stopped`. `iteration` is one that must be among those looked at in every loop."""

    def __init__(self, look: Look, seconds: float, memory: float, iteration: int | None = None):
        self.look, self.iteration = look, iteration
        self.seconds, self.memory = seconds, memory
        self.end = time.perf_counter() + seconds
        self.alive = 0
        self.loops: dict[str, Loop] = {}
        self.followers: list[Follower] = []

    def program(self, closed: ClosedJaxpr, args: Sequence[Any], needed: set[int] | None = None) -> list[Any]:
        """The results of a whole program; of its equations those `needed`, if not all are."""
        with self.around():
            for i, value in enumerate(self.constants(closed)):
                self.look(f"const{i}", 0, value, ())
            for i, value in enumerate(args):
                self.look(f"in{i}", 0, value, ())
            return self.run(closed, args, "", (), needed)

    def run(
        self,
        closed: ClosedJaxpr,
        args: Sequence[Any],
        prefix: str,
        iterations: tuple[int, ...],
        needed: set[int] | None = None,
    ) -> list[Any]:
        jaxpr = closed.jaxpr
        env: dict[Var, Any] = dict(zip(jaxpr.constvars, self.constants(closed)))
        env.update(zip(jaxpr.invars, args))
        last = _last_uses(jaxpr)
        own: set[Var] = set()
        for i, eqn in enumerate(jaxpr.eqns):
            if needed is not None and i not in needed:
                continue
            path = f"{prefix}e{i}"
            self._check(path)
            operands = [self._read(a, env) for a in eqn.invars]
            inside = self._inside(eqn, operands)
            if inside is None:
                values = self.equation(eqn, operands, path, iterations)
            else:
                values = self.run(inside.program, inside.operands, subpath(path, inside.segment), iterations)
            for follower in self.followers:
                follower.equation(eqn, path, operands, values, iterations)
            for number, (var, value) in enumerate(zip(eqn.outvars, values)):
                if inside is None or not isinstance(inside.program.jaxpr.outvars[number], Var):
                    self.look(path, number, value, iterations)
                env[var] = value
                own.add(var)
                self.alive += _size(var)
            for var in last.get(i, ()):
                if var in own:
                    own.discard(var)
                    env.pop(var)
                    self.alive -= _size(var)
        self.alive -= sum(map(_size, own))
        outs = [self._read(a, env) for a in jaxpr.outvars] if needed is None else []
        for follower in self.followers:
            follower.ran(prefix, outs)
        return outs

    def _check(self, path: str) -> None:
        if time.perf_counter() > self.end:
            raise Stopped(f"stopped at {path}: it took more than {self.seconds:g} s")
        if self.alive > self.memory:
            raise Stopped(f"stopped at {path}: the values alive at once take more than {self.memory / 1e9:.3g} GB")

    def equation(self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[int, ...]) -> list[Any]:
        name = eqn.primitive.name
        if name == "scan":
            return self._scan(eqn, operands, path, iterations)
        if name == "while":
            return self._while(eqn, operands, path, iterations)
        if subjaxprs(eqn.params):
            return self.whole(eqn, operands)
        return self.apply(eqn, operands)

    def _inside(self, eqn: JaxprEqn, operands: list[Any]) -> _Inside | None:
        """The inner program that an equation runs once, as calls and branches do: its results are the equation's, and are looked at
        where they are made."""
        programs = subjaxprs(eqn.params) if eqn.params else ()
        if eqn.primitive.name == "cond":
            segment, program = programs[min(max(int(np.asarray(operands[0])), 0), len(programs) - 1)]
            return _Inside(program, segment, operands[1:])
        program = self.called(eqn) if programs else None
        segment = next((s for s, one in programs if one is program), "")
        return None if program is None else _Inside(program, segment, operands)

    def _scan(self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[int, ...]) -> list[Any]:
        params, body = eqn.params, eqn.params["jaxpr"]
        c, m, length = params["num_consts"], params["num_carry"], int(params["length"])
        consts, xs = operands[:c], operands[c + m :]
        numbers = self._numbers(length, count(body.jaxpr))
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

    def _numbers(self, length: int, equations: int) -> list[int]:
        """The iterations to look at: all, or the first, the last and the one that is asked for."""
        if length * max(equations, 1) <= WHOLE_LOOPS:
            return list(range(length))
        asked = {self.iteration} if self.iteration is not None and 0 <= self.iteration < length else set()
        return sorted({0, length - 1, *asked})

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
        most = max(1, WHOLE_LOOPS // max(1, count(body.jaxpr) + count(condition.jaxpr)))
        if self.iteration is not None:
            most = max(most, self.iteration + 1)
        number, more = 0, True
        while number <= most:
            inside = (*iterations, number)
            (going,) = self.run(condition, [*operands[:c], *carry], subpath(path, "cond_jaxpr"), inside)
            more = bool(np.asarray(going).all())
            if not more or number == most:
                break
            carry = self.run(body, [*operands[c : c + b], *carry], subpath(path, "body_jaxpr"), inside)
            number += 1
        self.loops[path] = Loop(path, None if more else number, f"the first {number:,}" if more else "all")
        return self.whole(eqn, operands) if more else carry

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
        return called(eqn)

    def apply(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        """The results of an equation without inner programs."""
        out = evaluation().process(eqn.primitive, tuple(operands), eqn.params)
        return list(out) if eqn.primitive.multiple_results else [out]

    def whole(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        """The results of an equation, compiled by itself."""
        return run(_one(eqn), operands)

    def other(self, eqn: JaxprEqn, operands: list[Any], params: dict[str, Any]) -> list[Any]:
        """The results of an equation with other parameters, compiled by itself."""
        avals = [to_array(x).aval for x in operands]
        out, _ = eqn.primitive.abstract(*avals, **params)
        invars = [Var(aval) for aval in avals]
        outvars = [Var(aval) for aval in out]
        one = eqn.replace(invars=list(invars), outvars=outvars, params=params)
        jaxpr = Jaxpr([], invars, list(outvars), [one], no_effects, DebugInfo(eqn.primitive.name))
        return run(ClosedJaxpr(jaxpr), operands)

    def is_derived(self, eqn: JaxprEqn) -> bool:
        """Whether an equation that `jvp` made, or left, is no operation of the function but a part of its derivative."""
        return True

    def element(self, x: Any, at: int | slice) -> Any:
        """A part of an array along its first axis."""
        return _element(x, at)


def _one(eqn: JaxprEqn) -> ClosedJaxpr:
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


def _size(var: Var) -> int:
    below = physical(var.aval)
    return below.size * below.dtype.itemsize


def _last_uses(jaxpr: Jaxpr) -> dict[int, list[Var]]:
    """Which variables no later equation and no result reads, by the equation that reads (or makes) them last."""
    kept = {a for a in jaxpr.outvars if isinstance(a, Var)}
    last: dict[Var, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for a in (*eqn.outvars, *eqn.invars):
            if isinstance(a, Var):
                last[a] = i
    found: dict[int, list[Var]] = {}
    for var, i in last.items():
        if var not in kept:
            found.setdefault(i, []).append(var)
    return found
