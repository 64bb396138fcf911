"""Sums of floats of 16 bits that a run saw losing digits: running sums, sums by index, and those that a loop carries.

What they came to is compared with the same numbers added in float64. What is added may depend on anything but the sum itself: a mean or
a weight that is corrected by what it is pulls itself back, and has no other sum to be compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Var, equations_in


_SHARE = 1 / 16
"""A sum is told that is off by more than this share of what was added, signs aside: rounding alone loses less in a few additions."""
_SHORT = ("bfloat16", "float16")
Arrays = Sequence[np.ndarray]
Alarm = tuple[str, str, str] | None


class LostDigits:
    """Looks at the equations of a program that is evaluated, in the order in which they run."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self._carried = dict(carried_sums(jaxpr))
        self._sums: dict[str, _Sum] = {}
        self._told = set[int]()

    def concerns(self, eqn: JaxprEqn) -> bool:
        name = eqn.primitive.name
        return id(eqn) in self._carried or (name in _AT_ONCE and str(eqn.outvars[0].aval.dtype) in _SHORT)

    def look(
        self, eqn: JaxprEqn, params: Any, path: str, iterations: tuple[int, ...], operands: Arrays, results: Arrays
    ) -> Alarm:
        """What there is to tell of an equation, once; `params` are the library's whose program it is."""
        if id(eqn) in self._told:
            return None
        found = self._carries(eqn, path, iterations, operands) if id(eqn) in self._carried else None
        if found is None and id(eqn) not in self._carried:
            numbers = [x if x.dtype.kind in "iu" else x.astype(np.float64) for x in operands]
            wide = _AT_ONCE[eqn.primitive.name](numbers, params)
            size = _AT_ONCE[eqn.primitive.name]([x if x.dtype.kind in "iu" else abs(x) for x in numbers], params)
            short = np.dtype(eqn.outvars[0].aval.dtype)
            found = None if wide is None or size is None else _off(results[0], short, wide, size, "")
        if found is not None:
            self._told.add(id(eqn))
        return found

    def _carries(self, eqn: JaxprEqn, path: str, iterations: tuple[int, ...], operands: Arrays) -> Alarm:
        number, short = self._carried[id(eqn)]
        before, added = operands[number].astype(np.float64), operands[1 - number].astype(np.float64)
        *outer, at = iterations
        one = self._sums.get(path)
        if one is None or one.outer != outer or one.next != at:
            one = self._sums[path] = _Sum(outer, at, 0, before, abs(before))
        found = _off(before, short, one.total, one.size, f" after {one.count} additions") if one.count else None
        one.next, one.count, one.total, one.size = at + 1, one.count + 1, one.total + added, one.size + abs(added)
        return found


@dataclass
class _Sum:
    """A sum that a loop carries, in float64: the iterations of the loops around it, the next one of its own, the additions so far,
    their sum, and that of their magnitudes."""

    outer: list[int]
    next: int
    count: int
    total: np.ndarray
    size: np.ndarray


def carried_sums(jaxpr: Jaxpr) -> Iterator[tuple[int, tuple[int, np.dtype[Any]]]]:
    """The additions to 16-bit floats that loops carry, by the identity of the equation: which operand is the sum, and its dtype."""
    for eqn in equations_in(jaxpr):
        if eqn.primitive.name == "scan":
            body, first = eqn.params["jaxpr"].jaxpr, eqn.params["num_consts"]
            count = eqn.params["num_carry"]
        elif eqn.primitive.name == "while":
            body, first = eqn.params["body_jaxpr"].jaxpr, eqn.params["body_nconsts"]
            count = len(body.outvars)
        else:
            continue
        makers = {v: one for one in body.eqns for v in one.outvars}
        for given, made in zip(body.invars[first : first + count], body.outvars[:count]):
            if str(given.aval.dtype) in _SHORT and (adds := _addition(given, made, body, makers)) is not None:
                yield id(adds[0]), (adds[1], np.dtype(given.aval.dtype))


def _addition(given: Var, made: Any, body: Jaxpr, makers: dict[Var, JaxprEqn]) -> tuple[JaxprEqn, int] | None:
    """What adds to a carry something that does not depend on it, and which operand the carry is, through conversions."""
    eqn = makers.get(_before_conversions(made, makers)) if isinstance(made, Var) else None
    if eqn is None or eqn.primitive.name != "add" or eqn.invars[0].aval.shape != eqn.invars[1].aval.shape:
        return None
    on = [_before_conversions(one, makers) is given for one in eqn.invars]
    if on.count(True) != 1:
        return None
    depending: set[Any] = {given}
    for one in body.eqns:
        if not depending.isdisjoint(v for v in one.invars if isinstance(v, Var)):
            depending.update(one.outvars)
    number = on.index(True)
    other = eqn.invars[1 - number]
    return None if isinstance(other, Var) and other in depending else (eqn, number)


def _before_conversions(atom: Any, makers: dict[Var, JaxprEqn]) -> Any:
    while isinstance(atom, Var) and atom in makers and makers[atom].primitive.name == "convert_element_type":
        atom = makers[atom].invars[0]
    return atom


def _off(got: np.ndarray, short: np.dtype[Any], wide: np.ndarray, size: np.ndarray, when: str) -> Alarm:
    given = got.astype(np.float64)
    with np.errstate(all="ignore"):
        wrong = np.argwhere(np.atleast_1d(np.isfinite(given) & np.isfinite(size) & (abs(given - wide) > _SHARE * size)))
    if not len(wrong):
        return None
    at = tuple(wrong[0])
    value, wanted = np.atleast_1d(given)[at], np.atleast_1d(wide)[at]
    bits = ml_dtypes.finfo(short).nmant + 1
    return (
        "low-precision-sum",
        f"This adds up in {short}, which has {bits} significant bits:{when} the sum is {value:.4g}, where the numbers that were added "
        f"make {wanted:.4g}.",
        "Add up in float32: begin with a sum of that dtype, x.astype(jnp.float32), and convert the result.",
    )


# --- sums of one equation -------------------------------------------------------------------------------------------------


def _running(operands: Arrays, params: Any) -> np.ndarray:
    axis = params["axis"]
    (x,) = operands
    return np.flip(np.cumsum(np.flip(x, axis), axis), axis) if params["reverse"] else np.cumsum(x, axis)


def _by_index(operands: Arrays, params: Any) -> np.ndarray | None:
    """`x.at[i].add(y)` along first axes, what is outside left out; None of other forms."""
    x, indices, updates = operands
    numbers = params["dimension_numbers"]
    axes = tuple(numbers.scatter_dims_to_operand_dims)
    window = tuple(range(updates.ndim - x.ndim + len(axes), updates.ndim))
    alike = axes == tuple(range(len(axes))) == tuple(numbers.inserted_window_dims)
    if not alike or tuple(numbers.update_window_dims) != window or getattr(numbers, "operand_batching_dims", ()):
        return None
    rows = indices.reshape(-1, len(axes))
    parts = updates.reshape(len(rows), *x.shape[len(axes) :])
    inside = ((rows >= 0) & (rows < x.shape[: len(axes)])).all(1)
    total = x.copy()
    np.add.at(total, tuple(rows[inside].T), parts[inside])
    return total


_AT_ONCE: dict[str, Callable[[Arrays, Any], np.ndarray | None]] = {
    "cumsum": _running,
    "reduce_sum": lambda operands, params: operands[0].sum(tuple(params["axes"])),
    "scatter-add": _by_index,
    "scatter_add": _by_index,
}
