"""What control flow does with the effects of its inner jaxprs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.effects import debug_effect, no_effects, ordered_debug_effect, ordered_io_effect, python_effects
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, subjaxprs
from ..core.messages import message_here
from ..core.primitive import Primitive
from .scan import scan


_SHOWN = frozenset([debug_effect, ordered_debug_effect])


def has_effects(*programs: ClosedJaxpr) -> bool:
    """Whether one of the programs calls Python for its effects."""
    return any(program.effects & python_effects for program in programs)


def example_by_example(
    primitive: Primitive,
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    params: dict[str, Any],
    unroll: bool = False,
) -> tuple[list[Any], list[int]]:
    """The operation on one example after the other, and its results stacked along axis 0.

    For programs with effects where the examples choose what runs: each has the effects it would have by itself. Raises
    ValueError for effects on the world that are ordered.
    """
    if any(effect is ordered_io_effect for _, program in subjaxprs(params) for effect in program.effects):
        raise ValueError(
            message_here(
                f"vmap of an ordered io_callback in {primitive.name}: the examples have no order.",
                "ordered=False, or lax.map or lax.scan over the examples",
            )
        )
    rows = [axis.move(x, d, 0) for x, d in zip(args, dims) if d is not None]

    def one(_, row):
        given = iter(row)
        return None, primitive.bind(*[x if d is None else next(given) for x, d in zip(args, dims)], **params)

    _, outs = scan(one, None, rows, axis.size, unroll=unroll)
    return list(outs), [0] * len(outs)


def silent(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program without what only shows something: for one that runs a second time what has run before."""
    if not closed.effects & _SHOWN:
        return closed
    if "silent" not in closed.derived:
        old = closed.jaxpr
        eqns = [
            _silent_equation(eqn) for eqn in old.eqns if eqn.outvars or not eqn.effects <= _SHOWN or not eqn.effects
        ]
        effects = no_effects.union(*[eqn.effects for eqn in eqns])
        made = Jaxpr(old.constvars, old.invars, old.outvars, eqns, effects, old.debug)
        closed.derived["silent"] = ClosedJaxpr(made, closed.consts)
    return closed.derived["silent"]


def _silent_equation(eqn: JaxprEqn) -> JaxprEqn:
    if not eqn.effects & _SHOWN:
        return eqn
    params = {name: _silent_param(value) for name, value in eqn.params.items()}
    return eqn.replace(params=params, effects=no_effects.union(*[inner.effects for _, inner in subjaxprs(params)]))


def _silent_param(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_silent_param, value))
    return silent(value) if isinstance(value, ClosedJaxpr) else value
