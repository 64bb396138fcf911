"""A function applied to elements at computed places, as often as their indices come."""

from __future__ import annotations

from ..ops.indexing import Scatter


class ScatterApply(Scatter):
    """The program `jaxpr` of one scalar takes the place of each element that the indices name, once for each time they
    do. The updates, of which only the shape counts, say how large slices are."""

    def combine(self, ctx, old, new, /, *, jaxpr):
        return ctx.inline_jaxpr(jaxpr, old)[0]

    def jvp(self, primals, tangents, /, **params):
        raise NotImplementedError(
            "scatter_apply has no derivative: where no index repeats, gather, apply the function and scatter, or "
            "x.at[i].set(f(x[i]))"
        )


scatter_apply_p = ScatterApply("scatter_apply")
