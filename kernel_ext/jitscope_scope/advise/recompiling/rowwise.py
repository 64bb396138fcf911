"""Whether each row of a program's result is made of the same row of its arguments: then they may be padded, and the result cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jitscope.ops.families import Elementwise


class _NotByRows(Exception):
    """Rows are mixed, or it is not known."""


def result_axis(one: Jaxpr, other: Jaxpr, axes: Sequence[int | None]) -> int | None:
    """The axis of the one result whose rows are made of the rows along `axes` of the arguments (None: an argument without rows);
    None where rows are mixed, where it is not known, or where there are several results.

    `one` and `other` are the program at two numbers of rows: they must not differ in anything else.
    """
    try:
        found = _axes(one, other, axes)
    except _NotByRows:
        return None
    return found[0] if len(found) == 1 else None


def _axes(one: Jaxpr, other: Jaxpr, axes: Sequence[int | None]) -> list[int | None]:
    if one.constvars or other.constvars or len(one.eqns) != len(other.eqns) or len(one.invars) != len(axes):
        raise _NotByRows
    known: dict[Any, int | None] = dict(zip(one.invars, axes))
    counterpart: dict[Any, Any] = dict(zip(one.invars, other.invars))

    def axis_of(atom: Any, its: Any) -> int | None:
        if isinstance(atom, Literal):
            if not isinstance(its, Literal) or str(atom) != str(its):
                raise _NotByRows
            return None
        if counterpart.get(atom) is not its:
            raise _NotByRows
        return known[atom]

    for eqn, its in zip(one.eqns, other.eqns):
        if eqn.primitive is not its.primitive or len(eqn.outvars) != len(its.outvars) or eqn.effects:
            raise _NotByRows
        given = [axis_of(atom, same) for atom, same in zip(eqn.invars, its.invars)]
        for var, same, axis in zip(eqn.outvars, its.outvars, _of_equation(eqn, its, given)):
            _check(var.aval.shape, same.aval.shape, axis)
            known[var], counterpart[var] = axis, same
    return [axis_of(atom, same) for atom, same in zip(one.outvars, other.outvars)]


def _check(shape: Sequence[int], its: Sequence[int], axis: int | None) -> None:
    """Shapes differ along the rows alone."""
    if len(shape) != len(its) or any((a != b) != (i == axis) for i, (a, b) in enumerate(zip(shape, its))):
        raise _NotByRows


def _of_equation(eqn: JaxprEqn, its: JaxprEqn, given: list[int | None]) -> list[int | None]:
    name, params = eqn.primitive.name, eqn.params
    for key in ("jaxpr", "fun", "call_jaxpr"):
        inner, same = params.get(key), its.params.get(key)
        if isinstance(inner, ClosedJaxpr) and isinstance(same, ClosedJaxpr) and name not in ("scan", "while", "cond"):
            return _axes(inner.jaxpr, same.jaxpr, given)
    if isinstance(eqn.primitive, Elementwise) or name in ("select_n", "convert_element_type", "stop_gradient", "copy"):
        return [_of_elements(eqn, given)]
    if name == "broadcast_in_dim":
        return [_of_broadcast(eqn, its, given[0])]
    if all(axis is None for axis in given):
        if str(params) != str(its.params):
            raise _NotByRows
        return [None] * len(eqn.outvars)
    rule = _RULES.get(name)
    if rule is None:
        raise _NotByRows
    return [rule(eqn, given)]


def _of_elements(eqn: JaxprEqn, given: list[int | None]) -> int | None:
    shape = eqn.outvars[0].aval.shape
    found = {axis for axis in given if axis is not None}
    if len(found) > 1 or any(atom.aval.shape not in ((), shape) for atom in eqn.invars):
        raise _NotByRows
    return next(iter(found), None)


def _of_broadcast(eqn: JaxprEqn, its: JaxprEqn, axis: int | None) -> int | None:
    shape, other, places = eqn.params["shape"], its.params["shape"], eqn.params["broadcast_dimensions"]
    if places != its.params["broadcast_dimensions"] or len(shape) != len(other):
        raise _NotByRows
    if axis is not None:
        return places[axis]
    differ = [i for i, (a, b) in enumerate(zip(shape, other)) if a != b]
    if len(differ) > 1 or (differ and differ[0] in places and eqn.invars[0].aval.shape[places.index(differ[0])] != 1):
        raise _NotByRows
    return differ[0] if differ else None


def _without(gone: str) -> Callable[[JaxprEqn, list[int | None]], int]:
    """The rule of what takes axes away, which a parameter names."""

    def rule(eqn: JaxprEqn, given: list[int | None]) -> int:
        axis, axes = given[0], eqn.params[gone]
        if axis is None or axis in axes:
            raise _NotByRows
        return axis - sum(one < axis for one in axes)

    return rule


def _of_product(eqn: JaxprEqn, given: list[int | None]) -> int:
    (left, right), (batch_left, batch_right) = eqn.params["dimension_numbers"]
    a, b = given
    if a is not None and b is not None:
        if a in batch_left and batch_right[batch_left.index(a)] == b:
            return batch_left.index(a)
        raise _NotByRows
    axis, contracting, batch = (a, left, batch_left) if a is not None else (b, right, batch_right)
    if axis is None or axis in contracting or axis in batch:
        raise _NotByRows
    free = [i for i in range(eqn.invars[0 if a is not None else 1].aval.ndim) if i not in (*contracting, *batch)]
    before = 0 if a is not None else eqn.invars[0].aval.ndim - len(left) - len(batch_left)
    return len(batch) + before + free.index(axis)


def _of_transpose(eqn: JaxprEqn, given: list[int | None]) -> int:
    return eqn.params["permutation"].index(given[0])


def _of_reshape(eqn: JaxprEqn, given: list[int | None]) -> int:
    """The first axis stays where the sizes say so."""
    before, after = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    if given[0] != 0 or not after or before[0] != after[0]:
        raise _NotByRows
    return 0


_REDUCTIONS = (
    "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or", "argmax", "argmin",
)  # fmt: skip
_RULES = {
    **dict.fromkeys(_REDUCTIONS, _without("axes")),
    "dot_general": _of_product,
    "transpose": _of_transpose,
    "reshape": _of_reshape,
    "squeeze": _without("dimensions"),
}
