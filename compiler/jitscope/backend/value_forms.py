"""How the values of a program for one device are held while it is lowered: as they are, in parts, along one axis, or written to memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.jaxpr import Atom, Jaxpr, JaxprEqn
from .flat_values import flat_values
from .kept_values import keep, kept_values
from .short_axes import lower_in_parts, plan_of


class ValueForms:
    """The forms of a jaxpr's values."""

    def __init__(self, jaxpr: Jaxpr, platform: str):
        self.parts, self.kept = plan_of(jaxpr, platform), kept_values(jaxpr, platform)
        others = {*(self.parts.variables if self.parts else ()), *self.kept}
        self.flat = flat_values(jaxpr, platform, others)

    def __bool__(self) -> bool:
        return self.parts is not None or self.flat is not None or bool(self.kept)

    def lower(self, ctx: Any, eqn: JaxprEqn, values: Sequence[Any], lower: Callable[..., Any]) -> Any:
        """What an equation gives, in the form in which it is held; `lower` lowers it as it is."""
        if self.parts is not None and self.parts.concerns(eqn):
            return lower_in_parts(ctx, eqn, [self.whole(ctx, a, v) for a, v in zip(eqn.invars, values)], self.parts)
        if self.flat is not None and self.flat.concerns(eqn):
            out = self.flat.lower(ctx, eqn, values, lower)
        else:
            out = lower(eqn, values)
        why = self.kept.get(eqn.outvars[0]) if self.kept else None
        return keep(ctx, eqn, out, why) if why else out

    def whole(self, ctx: Any, atom: Atom, value: Any) -> Any:
        """A value in its own shape, where it may be held along one axis."""
        return value if self.flat is None else self.flat.whole(ctx, atom, value)
