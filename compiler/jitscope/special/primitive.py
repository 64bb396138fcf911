"""Special functions as primitives: elementwise operations that are a program over other primitives.

Each appears as one equation, is mapped like any elementwise operation, and has derivatives of every order in both
modes, though its program may have loops, which have no reverse mode: its slope is a special function as well, evaluated
together with the value in forward mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..core.config import disable_jit, settings
from ..core.forgetful_caches import RecencyCache
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.staging import trace_to_jaxpr
from ..core.zeros import is_zero, zero_of
from ..ops.families import Elementwise, Partial, add_tangents
from ..ops.linear import convert, full, instantiate, mul_p
from ..transforms.jvp import jvp_flat
from .approximations import spread


MAX_PROGRAMS = 64


class Special(Elementwise):
    """result[i] = fun(x[i], y[i], …), where `fun` is written with other primitives and the operators of arrays.

    `fun` gets operands of one shape and one dtype: float32, float64 or, where `accepts` has "c", a complex one.
    Narrower floats are computed as float32. `partials` as for `Elementwise`, but all operands come in the shape of the
    result; for a missing one (`DERIVED`) the slope is found by differentiating `fun`, whose loops must then go on until
    the tangents have converged, too. `weak`: whether results of numbers are weakly typed.
    """

    def __init__(self, name: str, fun: Callable[..., Any], *partials: Partial, accepts: str = "f", weak: bool = False):
        super().__init__(name, *partials, accepts=accepts)
        self.fun, self.weak = fun, weak
        self.slopes: dict[int, Special] = {}
        self.programs = RecencyCache(MAX_PROGRAMS)

    def abstract(self, /, *avals, **params):
        out, effects = super().abstract(*avals, **params)
        return out if self.weak or not out.weak_type else ShapedArray(out.shape, out.dtype), effects

    def lower(self, ctx, /, *values):
        return ctx.inline_jaxpr(self.program(ctx.avals_in), *values)[0]

    def program(self, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
        """The program for operands of these avals."""
        key = (*avals, settings())
        found = self.programs.get(key) or self.programs.again(key)
        if found is None:
            with disable_jit(False):
                found = trace_to_jaxpr(lambda *xs: [self.evaluate(*xs)], avals, DebugInfo(self.name))
            self.programs.keep(key, found)
        return found

    def evaluate(self, *operands: Any) -> Any:
        """The result in wide enough floats, rounded to the dtype of the operands."""
        avals = [aval_of(x) for x in operands]
        dtype = avals[0].dtype
        wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
        shape = next((a.shape for a in avals if a.shape), ())
        args = [spread(convert(x, wide), shape) for x in operands]
        return convert(self.fun(*args), dtype)

    def jvp(self, primals, tangents, /, **params):
        out = self.bind(*primals)
        args = [spread(x, aval_of(out).shape) for x in primals]
        total: Any = zero_of(out)
        for partial, t in zip(self.partials, tangents):
            if partial is not None and not is_zero(t):
                total = add_tangents(total, partial(t, out, *args))
        return out, total

    def slope(self, i: int, name: str = "") -> Special:
        """The derivative with respect to operand `i`, as a function of the same operands."""
        if i not in self.slopes:
            own = name or f"{self.name}_grad_{i}"
            self.slopes[i] = differentiated(own, self.fun, i, len(self.partials), self.accepts, self.weak)
        return self.slopes[i]


def differentiated(
    name: str, fun: Callable[..., Any], i: int, count: int, accepts: str = "f", weak: bool = True
) -> Special:
    """The special function whose program is the tangent of `fun`, a function of `count` operands, with respect to
    operand `i`."""

    def slope(*args: Any) -> Any:
        tangents = [full(aval_of(x).shape, 1, aval_of(x).dtype) if j == i else zero_of(x) for j, x in enumerate(args)]
        _, (t,) = jvp_flat(lambda *xs: [fun(*xs)], args, tangents)
        return instantiate(t)

    found = Special(name, slope, accepts=accepts, weak=weak)
    found.partials = tuple(derived(found, j) for j in range(count))
    return found


def derived(primitive: Special, i: int) -> Partial:
    """The partial that is found by differentiating the program of a function."""
    return lambda t, out, *args: mul_p(t, primitive.slope(i)(*args))


def special(
    name: str, *partials: Any, accepts: str = "f", weak: bool = False
) -> Callable[[Callable[..., Any]], Special]:
    """Decorator: the program of a special function becomes a primitive. `partials`: a rule for each operand, or
    `DERIVED`."""

    def decorate(fun: Callable[..., Any]) -> Special:
        found = Special(name, fun, accepts=accepts, weak=weak)
        found.partials = tuple(derived(found, i) if p is DERIVED else p for i, p in enumerate(partials))
        return found

    return decorate


DERIVED: Any = object()
"""Stands for a partial that is found by differentiating the program."""
