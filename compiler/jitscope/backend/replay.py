"""Replay: a program run again equation by equation, to find the first one that gives a NaN (or an infinity).

Loops are run one iteration after another as compiled bodies until one gives a bad value; that iteration is then run equation by equation; calls,
branches and functions with rules of their own are entered. Programs with callbacks are not run again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..control.call import call
from ..control.callbacks import calls_python
from ..core import config, dtypes, source
from ..core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, subpath
from ..core.staging import literal_value
from ..core.trace import evaluation, using
from .array import Array, to_array
from .watching import WHAT, Test, is_bad, nans


@dataclasses.dataclass(frozen=True)
class Iteration:
    """One iteration of a loop: which (from 0, in the order of execution), of how many (None: it is not known), and where the
    loop is."""

    number: int
    count: int | None
    loop: source.Position | None


class Finding(NamedTuple):
    """The first equation that gave a bad value: its path, what it computes, where it was written, the loops it is in (outer
    ones first), and its operands and results."""

    path: str
    primitive: str
    position: source.Position | None
    iterations: tuple[Iteration, ...]
    operands: tuple[np.ndarray, ...]
    results: tuple[np.ndarray, ...]


class HasCallbacks(Exception):
    """A program that calls back into Python is not run again."""


def find_first(closed: ClosedJaxpr, args: Sequence[Any], test: Test = nans) -> Finding | None:
    """The first equation whose results are bad though its operands are not; None if there is none.

    Raises HasCallbacks for a program with effects or callbacks.
    """
    if closed.effects or calls_python(closed.jaxpr):
        raise HasCallbacks
    with using(evaluation()), config.override(debug_nans=False, debug_infs=False):
        found, _ = _Replay(test).run(closed, [to_array(x) for x in args], "", ())
    return found


class _Replay:
    """Runs programs. Each method gives what it found, or the results."""

    def __init__(self, test: Test):
        self.test = test

    def bad(self, values: Sequence[Any]) -> bool:
        return any(is_bad(x, self.test) for x in values)

    def run(
        self, closed: ClosedJaxpr, args: Sequence[Any], prefix: str, iterations: tuple[Iteration, ...]
    ) -> tuple[Finding | None, list[Any]]:
        env: dict[Any, Any] = dict(zip(closed.jaxpr.constvars, map(to_array, closed.consts)))
        env.update(zip(closed.jaxpr.invars, args))

        def read(atom: Any) -> Any:
            return to_array(literal_value(atom)) if isinstance(atom, Literal) else env[atom]

        for i, eqn in closed.jaxpr.live()[0]:
            operands = [read(a) for a in eqn.invars]
            results = self.apply(eqn, operands)
            if self.bad(results) and not self.bad(operands):
                return self.inside(eqn, operands, results, f"{prefix}e{i}", iterations), []
            env.update(zip(eqn.outvars, results))
        return None, [read(a) for a in closed.jaxpr.outvars]

    def apply(self, eqn: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
        out = evaluation().process(eqn.primitive, tuple(operands), eqn.params)
        return [to_array(x) for x in (out if eqn.primitive.multiple_results else [out])]

    def inside(
        self, eqn: JaxprEqn, operands: list[Any], results: list[Any], path: str, iterations: tuple[Iteration, ...]
    ) -> Finding:
        """What made the results of an equation bad: itself, or an equation of a program it holds."""
        look = getattr(self, f"in_{eqn.primitive.name}", None)
        found = look(eqn, operands, path, iterations) if look else self.in_inner(eqn, operands, path, iterations)
        return found or Finding(
            path,
            eqn.primitive.name,
            source.user_position(eqn.traceback),
            iterations,
            tuple(np.asarray(x) for x in operands if _has_numbers(x)),
            tuple(np.asarray(x) for x in results if _has_numbers(x)),
        )

    def in_inner(
        self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[Iteration, ...]
    ) -> Finding | None:
        """In a program that runs once, on all operands."""
        for name in ("jaxpr", "fun", "call_jaxpr"):
            inner = eqn.params.get(name)
            if isinstance(inner, ClosedJaxpr) and len(inner.in_avals) == len(operands):
                return self.run(inner, operands, subpath(path, ""), iterations)[0]
        return None

    def in_cond(
        self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[Iteration, ...]
    ) -> Finding | None:
        branches = eqn.params["branches"]
        number = min(max(int(operands[0]), 0), len(branches) - 1)
        segment = f"branches{number}" if len(branches) > 1 else ""
        return self.run(branches[number], operands[1:], subpath(path, segment), iterations)[0]

    def in_scan(
        self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[Iteration, ...]
    ) -> Finding | None:
        params, body = eqn.params, eqn.params["jaxpr"]
        c, m = params["num_consts"], params["num_carry"]
        consts, carry, xs = operands[:c], operands[c : c + m], operands[c + m :]
        order = range(params["length"])
        for number, i in enumerate(reversed(order) if params["reverse"] else order):
            args = [*consts, *carry, *[x[i] for x in xs]]
            outs = call(body, args, "iteration")
            if self.bad(outs) and not self.bad(args):
                iteration = Iteration(number, params["length"], source.user_position(eqn.traceback))
                return self.run(body, args, subpath(path, ""), (*iterations, iteration))[0]
            carry = outs[:m]
        return None

    def in_while(
        self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[Iteration, ...]
    ) -> Finding | None:
        params = eqn.params
        c, b = params["cond_nconsts"], params["body_nconsts"]
        conds, consts, carry = operands[:c], operands[c : c + b], operands[c + b :]
        for number in _counting():
            if not bool(call(params["cond_jaxpr"], [*conds, *carry], "cond_fun")[0]):
                return None
            args = [*consts, *carry]
            carry = call(params["body_jaxpr"], args, "iteration")
            if self.bad(carry) and not self.bad(args):
                iteration = Iteration(number, None, source.user_position(eqn.traceback))
                return self.run(params["body_jaxpr"], args, subpath(path, "body_jaxpr"), (*iterations, iteration))[0]
        return None


def _counting() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


def _has_numbers(x: Array) -> bool:
    return not dtypes.is_extended(x.aval.dtype)


def failure(closed: ClosedJaxpr, name: str, args: Sequence[Any], test: Test) -> FloatingPointError:
    """The error for a program that gave bad results."""
    what = WHAT[test]
    try:
        return FloatingPointError(message(name, find_first(closed, args, test), what))
    except HasCallbacks:
        return FloatingPointError(
            f"{name} gave {what}. It calls Python functions, so it was not run again to find out where"
        )


# In words ------------------------------------------------------------------------------------------------------------


def message(name: str, finding: Finding | None, what: str) -> str:
    """What was found, for people; `what` is "NaN", say."""
    if finding is None:
        return (
            f"{name} gave {what}, but run again operation by operation it does not: the compiled program computes in another "
            "order or precision (fused operations, sums in parts).\n  what to do: look for numbers close to overflow or for "
            "differences of large numbers; jitscope.disable_jit() runs it in Python's order"
        )
    lines = [f"{name} gave {what}: first made by {finding.primitive}{_place(finding.position)}"]
    for iteration in reversed(finding.iterations):
        of = f" of {iteration.count}" if iteration.count is not None else ""
        lines.append(f"  in iteration {iteration.number}{of} (from 0) of the loop{_place(iteration.loop)}")
    lines += [f"  operand {i}: {_shown(x)}" for i, x in enumerate(finding.operands)]
    lines += [f"  result: {_shown(x)}" for x in finding.results]
    return "\n".join(lines)


def _place(where: source.Position | None) -> str:
    if where is None:
        return ""
    return (
        f" in line {where.line}, columns {where.column}-{where.end_column}, of {where.function}: {where.text.strip()}"
    )


_SHOWN = 6


def _shown(x: np.ndarray) -> str:
    """Dtype and shape, the range of the finite elements, and the elements themselves if they are few, else the first bad
    one's place."""
    kind = f"{dtypes.short_name(x.dtype)}[{','.join(map(str, x.shape))}]"
    if x.dtype.kind not in "fc" and x.dtype.name != "bfloat16":
        return f"{kind} {np.array2string(x, threshold=_SHOWN)}"
    wide = x if x.dtype.kind in "fc" else x.astype(np.float32)
    text = np.array2string(wide, threshold=_SHOWN, precision=6).replace("\n", " ")
    if wide.size <= _SHOWN:
        return f"{kind} {text}"
    bad = ~np.isfinite(wide)
    parts = [f"{kind} {text}"]
    if wide.dtype.kind == "f" and not bad.all():
        parts.append(f"from {wide[~bad].min():.6g} to {wide[~bad].max():.6g}")
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        parts.append(f"{int(bad.sum())} of {wide.size} not finite, the first at {list(at)}")
    return ", ".join(parts)
