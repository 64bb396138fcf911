"""Calls of Python functions from compiled programs, as primitives.

The parameter `callback` says what is called and how (see `backend.callbacks.HostFunction`): `evaluate(args, avals)` calls it
now, `evaluate_each(args, dims, size, avals)` once for each example, `site(...)` makes the place that a program calls.
"""

from __future__ import annotations

from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..core.effects import debug_effect, io_effect, ordered_debug_effect, ordered_io_effect
from ..core.jaxpr import Jaxpr, jaxprs_in
from ..core.messages import message_here
from ..core.primitive import FunctionCall
from ..core.sums import refuse_terms
from ..core.trace import evaluating
from ..ops.families import pure
from ..ops.linear import broadcast_in_dim_p
from .effects import example_by_example


class Callback(FunctionCall):
    """Calls the function of `callback`; its results have the avals `result_avals`."""

    def abstract(self, /, *avals, result_avals, **params):
        refuse_terms(self.name, avals)
        return pure(list(result_avals))

    def lower(self, ctx, /, *values, callback, **params):
        return ctx.python(callback, values)

    def evaluate(self, args, /, *, callback, result_avals, **params):
        return callback.evaluate(args, result_avals)

    def shown_params(self, params):
        return {name: value for name, value in params.items() if name != "result_avals"}

    def each(self, axis: Any, args: Any, dims: Any, unroll: bool = False, **params: Any) -> tuple[list[Any], list[int]]:
        """One call for each example, in order; the results stacked."""
        avals = params["result_avals"]
        if evaluating():
            return params["callback"].evaluate_each(args, dims, axis.size, avals), [0] * len(avals)
        return example_by_example(self, axis, args, dims, params, unroll)


class PureCallback(Callback):
    """A function without effects: it may be called never, once or several times. `vmap_method`: see `pure_callback`."""

    def jvp(self, primals, tangents, /, *, callback, **params):
        raise ValueError(
            message_here(
                f"pure_callback cannot be differentiated: nothing is known of the derivative of {callback}.",
                "call it in a function with a derivative rule of its own (custom_jvp or custom_vjp), or take "
                "lax.stop_gradient of its arguments if none is meant",
            )
        )

    def transpose(self, cts, /, *args, callback, **params):
        raise ValueError(
            message_here(
                f"pure_callback cannot be transposed: {callback} is not known to be linear.",
                "call it in a function with a rule of its own (custom_vjp)",
            )
        )

    def batch(self, axis, args, dims, /, *, vmap_method, result_avals, **params):
        params["vmap_method"] = vmap_method
        if vmap_method in ("sequential", "sequential_unrolled"):
            unroll = vmap_method == "sequential_unrolled"
            return self.each(axis, args, dims, unroll, result_avals=result_avals, **params)
        if vmap_method not in WHOLE:
            raise NotImplementedError(
                message_here(
                    f"pure_callback without a vmap_method does not know how vmap is to call {params['callback']}.",
                    "pass vmap_method='sequential' (one call for each example), or, if the function "
                    "takes and gives arrays with a further axis in front, 'expand_dims' or 'broadcast_all'",
                )
            )
        whole = [with_examples(axis, x, d, vmap_method) for x, d in zip(args, dims)]
        avals = tuple([ShapedArray((axis.size, *a.shape), a.dtype) for a in result_avals])
        return self.bind(*whole, result_avals=avals, **params), [0] * len(avals)


WHOLE = ("expand_dims", "broadcast_all", "legacy_vectorized")
METHODS = ("sequential", "sequential_unrolled", *WHOLE)
"""How a function that the compiler does not look into is mapped: WHOLE ones get all examples in one call."""


def with_examples(axis: Any, x: Any, dim: int | None, method: str) -> Any:
    """An operand for the call of all examples."""
    if dim is not None or method == "broadcast_all":
        return axis.move(x, dim, 0)
    if method == "legacy_vectorized":
        return x
    shape = aval_of(x).shape
    return broadcast_in_dim_p(x, shape=(1, *shape), broadcast_dimensions=tuple(range(1, len(shape) + 1)))


class IOCallback(Callback):
    """A function with effects on the world: it is called once for each time the program comes by, in order if `ordered`."""

    def abstract(self, /, *avals, result_avals, ordered, **params):
        refuse_terms(self.name, avals)
        return list(result_avals), frozenset([ordered_io_effect if ordered else io_effect])

    def jvp(self, primals, tangents, /, *, callback, **params):
        raise ValueError(
            message_here(
                f"io_callback cannot be differentiated: nothing is known of the derivative of {callback}.",
                "take lax.stop_gradient of its arguments, or call it in a function with a derivative rule of its own "
                "(custom_jvp or custom_vjp)",
            )
        )

    def transpose(self, cts, /, *args, callback, **params):
        raise ValueError(message_here(f"io_callback cannot be transposed: {callback} is not known to be linear."))

    def batch(self, axis, args, dims, /, *, ordered, **params):
        if ordered:
            raise ValueError(
                message_here(
                    "vmap of an ordered io_callback: the examples have no order.",
                    f"ordered=False calls {params['callback']} once for each example; lax.map or lax.scan goes through the examples in order",
                )
            )
        return self.each(axis, args, dims, ordered=ordered, **params)


class DebugCallback(Callback):
    """A function that shows something and gives nothing. Derivatives leave it where it is: it is called with the primals."""

    def abstract(self, /, *avals, ordered, **params):
        refuse_terms(self.name, avals)
        return [], frozenset([ordered_debug_effect if ordered else debug_effect])

    def evaluate(self, args, /, *, callback, **params):
        return callback.evaluate(args, ())

    def jvp(self, primals, tangents, /, **params):
        return self.bind(*primals, **params), []

    def transpose(self, cts, /, *args, **params):
        return [None] * len(args)

    def batch(self, axis, args, dims, /, **params):
        return self.each(axis, args, dims, **params)


def calls_python(jaxpr: Jaxpr) -> bool:
    """Whether the program, or one it holds, calls a Python function."""
    return any([isinstance(eqn.primitive, Callback) for one in jaxprs_in(jaxpr) for eqn in one.eqns])


pure_callback_p = PureCallback("pure_callback")
io_callback_p = IOCallback("io_callback")
debug_callback_p = DebugCallback("debug_callback")
debug_print_p = DebugCallback("debug_print")
