"""What a hunt found, as values and in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes, source
from ...core.jaxpr import JaxprEqn
from ...core.messages import with_advice
from ...named_tuple import NamedTuple
from ..watching import numbers


@dataclasses.dataclass(frozen=True)
class Iteration:
    """One iteration of a loop: which (from 0, in the order of execution), of how many (None: it is not known), and where the
    loop is."""

    number: int
    count: int | None
    loop: source.Position | None


class Step(NamedTuple):
    """An equation: its path, what it computes, where it was written, what made it of that, and the loops it is in (outer first)."""

    path: str
    primitive: str
    position: source.Position | None
    transforms: tuple[str, ...]
    iterations: tuple[Iteration, ...]


class BadInput(NamedTuple):
    """An argument or a captured value that was bad already."""

    name: str
    value: Any


class Finding(NamedTuple):
    """The first equation that gave a bad value of good ones, with its operands and results (those that have numbers), the handle of
    where it was written, and the equations that carried the value from there to the result of the program."""

    path: str
    primitive: str
    position: source.Position | None
    transforms: tuple[str, ...]
    iterations: tuple[Iteration, ...]
    operands: tuple[np.ndarray, ...]
    results: tuple[np.ndarray, ...]
    places: tuple[int, ...]
    """The number of each of `operands` among the operands of the equation."""
    params: dict[str, Any]
    steps: tuple[Step, ...]

    @classmethod
    def of(
        cls, step: Step, eqn: JaxprEqn, operands: Sequence[Any], results: Sequence[Any], steps: tuple[Step, ...]
    ) -> Finding:
        places = tuple(i for i, x in enumerate(operands) if _has_numbers(x))
        shown = tuple(numbers(operands[i]) for i in places)
        return cls(*step, shown, tuple(numbers(x) for x in results if _has_numbers(x)), places, eqn.params, steps)

    @property
    def backward(self) -> bool:
        """Whether it belongs to the backward pass."""
        return "transpose" in self.transforms


def _has_numbers(x: Any) -> bool:
    aval = getattr(x, "aval", None)
    return aval is None or not dtypes.is_extended(aval.dtype)


# In words ------------------------------------------------------------------------------------------------------------


def message(name: str, finding: Finding | None, what: str, given: Sequence[BadInput] = ()) -> str:
    """What was found, for people; `what` is "NaN", say."""
    if given:
        names = ", ".join(one.name for one in given)
        lines = [f"{name} gave {what}: it was there already, in {names}"]
        return "\n".join([*lines, *(f"  {one.name}: {shown(numbers(one.value))}" for one in given)])
    if finding is None:
        return with_advice(
            f"{name} gave {what}, but run again with a flag for each value it does not: the compiled program computes in another "
            "order or precision (fused operations, sums in parts).",
            "look for numbers close to overflow or for "
            "differences of large numbers; jitscope.disable_jit() runs it in Python's order",
        )
    lines = [f"{name} gave {what}: first made by {finding.primitive}{_place(finding.position)}"]
    if finding.backward:
        lines.append("  in the backward pass of that line")
    for iteration in reversed(finding.iterations):
        of = f" of {iteration.count:,}" if iteration.count is not None else ""
        lines.append(f"  in iteration {iteration.number:,}{of} (from 0) of the loop{_place(iteration.loop)}")
    lines += [f"  operand {i}: {shown(x)}" for i, x in enumerate(finding.operands)]
    lines += [f"  result: {shown(x)}" for x in finding.results]
    return "\n".join(lines)


def _place(where: source.Position | None) -> str:
    if where is None:
        return ""
    where = source.as_typed(where)
    return f" in line {where.line}, columns {where.column + 1}-{where.end_column}, of {where.function}: {where.text.strip()}"


_SHOWN = 6
_AT_ENDS = (3, 3, 2)
"""Elements at each end of an axis, by the number of axes; one where there are more."""


def elements_of(x: np.ndarray) -> str:
    """The elements in one line, of many those at the ends of the axes."""
    at_ends = _AT_ENDS[x.ndim] if x.ndim < len(_AT_ENDS) else 1
    return " ".join(np.array2string(x, threshold=_SHOWN, edgeitems=at_ends, precision=6).split())


def shown(x: np.ndarray) -> str:
    """Dtype and shape, the range of the finite elements, and the elements themselves if they are few, else the first bad
    one's place."""
    kind = f"{dtypes.short_name(x.dtype)}[{','.join(map(str, x.shape))}]"
    if x.dtype.kind not in "fc" and not dtypes.is_inexact(x.dtype):
        return f"{kind} {elements_of(x)}"
    wide = x if x.dtype.kind in "fc" else x.astype(np.float32)
    text = elements_of(wide)
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
