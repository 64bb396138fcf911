"""The greatest elements, found by a search that may miss some."""

from __future__ import annotations

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.errors import XlaError
from ..core.primitive import Primitive
from ..xla.approximate import candidates
from .families import is_zero, pure, zero_of
from .linear import neg_p, reshape
from .reduce import argmax_p, argmin_p
from .sort import take_along, top_k_p


class ApproxTopK(Primitive):
    """The `k` greatest (or least) elements along `reduction_dimension`, best first, and their indices (int32). A search
    that may miss some with the probability 1 - `recall_target`: on the CPU it misses none. Unless `aggregate_to_topk` as
    many candidates are kept as an accelerator would."""

    multiple_results = True

    def abstract(self, x, /, *, k, reduction_dimension, recall_target, is_max_k, reduction_input_size_override,
                 aggregate_to_topk):  # fmt: skip
        if not x.ndim:
            raise TypeError(f"approx_top_k of {x.short()}: a scalar has nothing to choose from")
        if not -x.ndim <= reduction_dimension < x.ndim:
            raise IndexError(f"approx_top_k: {x.short()} has no axis {reduction_dimension}")
        at = reduction_dimension % x.ndim
        if not 0 < k <= x.shape[at]:
            raise ValueError(f"approx_top_k of {x.short()}: k is {k}, it must be from 1 to {x.shape[at]}")
        if dtypes.kind(x.dtype) != "f":
            raise ValueError(f"approx_top_k chooses among floats; it got {x.short()}")
        if not 0 < recall_target <= 1:
            raise XlaError(f"approx_top_k: recall_target is {recall_target}, it must be above 0 and at most 1")
        if 0 <= reduction_input_size_override < x.shape[at]:
            raise XlaError(
                f"approx_top_k: reduction_input_size_override={reduction_input_size_override} is the size of the whole search, "
                f"of which {x.short()} is a part: it is not smaller"
            )
        count = k
        if not aggregate_to_topk:
            count = candidates(x.shape[at], x.ndim, k, recall_target, reduction_input_size_override)
        shape = (*x.shape[:at], count, *x.shape[at + 1 :])
        return pure([ShapedArray(shape, x.dtype, x.weak_type), ShapedArray(shape, dtypes.int32)])

    def lower(self, ctx, x, /, *, reduction_dimension, is_max_k, **_):
        count, axis = ctx.avals_out[0].shape[reduction_dimension], reduction_dimension % ctx.avals_in[0].ndim

        def greatest(x):
            if count == 1:
                indices = (argmax_p if is_max_k else argmin_p)(x, axes=(axis,), index_dtype=dtypes.int32)
                indices = reshape(indices, ctx.avals_out[1].shape)
                return [take_along(x, indices, axis), indices]
            values, indices = top_k_p(x if is_max_k else neg_p(x), k=count, axis=axis)
            return [values if is_max_k else neg_p(values), indices]

        return ctx.inline(greatest, x)

    def jvp(self, primals, tangents, /, *, reduction_dimension, **params):
        (x,), (t,) = primals, tangents
        values, indices = approx_top_k_p(x, reduction_dimension=reduction_dimension, **params)
        axis = reduction_dimension % aval_of(x).ndim
        tangent = zero_of(values) if is_zero(t) else take_along(t, indices, axis)
        return [values, indices], [tangent, zero_of(indices)]

    def batch(self, axis_data, args, dims, /, *, reduction_dimension, **params):
        (x,), (dim,) = args, dims
        at = reduction_dimension % (aval_of(x).ndim - 1)
        return approx_top_k_p(x, reduction_dimension=at + (at >= dim), **params), [dim, dim]


approx_top_k_p = ApproxTopK("approx_top_k")
