"""`with_layout_constraint`: in which order the axes of a value lie in memory, inside of a program."""

from __future__ import annotations

from typing import Any

from ..core.avals import aval_of
from ..core.effects import no_effects
from ..core.primitive import Primitive
from ..core.zeros import Zero, is_zero


class LayoutConstraint(Primitive):
    """`x`, whose axes lie as `layout` says; `move` does that to a value that is there."""

    evaluates = True

    def abstract(self, x, /, *, layout, move):
        layout.check(x.shape, "the value of with_layout_constraint")
        return x, no_effects

    def evaluate(self, args, /, *, layout, move):
        return move(args[0], layout)

    def lower(self, ctx, x, /, *, layout, move):
        return ctx.in_order(x, ctx.avals_in[0], layout.major_to_minor)

    def jvp(self, primals, tangents, /, **params):
        (x,), (t,) = primals, tangents
        out = self.bind(x, **params)
        return out, Zero(aval_of(out)) if is_zero(t) else self.bind(t, **params)

    def transpose(self, ct, x, /, **params):
        return [self.bind(ct, **params)]

    def batch(self, axis, args, dims, /, *, layout, move):
        (x,), (d,) = args, dims
        order = [d, *[a + (a >= d) for a in layout.major_to_minor]]
        return self.bind(x, layout=layout.update(major_to_minor=order), move=move), d

    def program_params(self, params):
        return {"layout": params["layout"].mode}

    def shown_params(self, params):
        return {"layout": params["layout"]}


layout_constraint_p: Any = LayoutConstraint("layout_constraint")
