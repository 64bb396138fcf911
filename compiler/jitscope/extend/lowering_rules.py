"""Lowering rules that users register for operations that exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as jnp
from ..api import clear_caches, make_jaxpr
from ..core.primitive import Primitive


Rule = Callable[..., Any]


def register_lowering(
    target: Primitive | Callable[..., Any], rule: Rule | None = None, *, platform: str | None = None
) -> Any:
    """Lower an operation by `rule(ctx, *values, **params)` from now on, in place of its own rule.

    `target` is a primitive, or a function of NumPy or jitscope.numpy that is one operation (np.sinh). `platform` ("cpu",
    "cuda", …): there alone. The rule gets MLIR values and gives one (or a list, for several results), see `Primitive.lower`;
    `ctx.hlo` has StableHLO's builders, `ctx.inline(fn, *values)` lowers a Python function over other operations. With
    `rule=None` this is a decorator. What was compiled before is forgotten. Raises TypeError for other targets, ValueError
    for a function that is more than one operation.

    Gives a function that takes the registration back.
    """
    if rule is None:
        return lambda given: register_lowering(target, given, platform=platform)
    primitive = primitive_of(target)
    before = dict(primitive.lowerings)
    _set_rules(primitive, {**before, platform: rule})

    def take_back() -> None:
        left = {k: v for k, v in primitive.lowerings.items() if k != platform}
        _set_rules(primitive, {**left, platform: before[platform]} if platform in before else left)

    return take_back


def _set_rules(primitive: Primitive, rules: dict[str | None, Rule]) -> None:
    primitive.lower_by(rules)
    primitive.renew()
    clear_caches()


def primitive_of(target: Primitive | Callable[..., Any]) -> Primitive:
    """The operation behind a primitive or a function. Raises TypeError or ValueError as `register_lowering`."""
    if isinstance(target, Primitive):
        return target
    name = getattr(target, "__name__", None)
    function = getattr(jnp, name, None) if name and (isinstance(target, np.ufunc) or callable(target)) else None
    if function is None:
        raise TypeError(
            f"a lowering rule is for a primitive, or a function that NumPy and jitscope.numpy both have; {target!r} is "
            "neither. For an operation that does not exist yet, make a Primitive"
        )
    found = _operations(function, getattr(target, "nin", 1))
    if len(found) != 1:
        names = ", ".join(p.name for p in found) or "none"
        raise ValueError(
            f"{name} is not one operation but {len(found)} ({names}): register a rule for one of those primitives, or write "
            "a Primitive of your own"
        )
    return found[0]


def _operations(function: Any, operands: int) -> list[Primitive]:
    for count in (operands, 1, 2):
        try:
            return [eqn.primitive for eqn in make_jaxpr(function)(*[np.float32(0.5)] * count).eqns]
        except TypeError:
            continue
    return []
