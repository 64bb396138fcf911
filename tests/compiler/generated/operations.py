"""What stands between combinators: operations on small arrays, and which derivatives a value moves under."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Sequence

import numpy as np

from .programs import Statement, Var


Shape = tuple[int, ...]
SIZES = (2, 3, 2, 3, 2, 3, 1)


# Derivatives in the making ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Level:
    """A derivative being taken. `transposed`: a forward one whose linear part runs backward later."""

    number: int
    forward: bool
    transposed: bool = False


View = tuple[Level, ...]
"""The derivatives under which a function runs, outermost first. Functions with rules run under several views."""


def innermost(view: View, active: frozenset[int]) -> Level | None:
    """The derivative that meets an operation on values that move so."""
    return next((level for level in reversed(view) if level.number in active), None)


@dataclasses.dataclass
class Scope:
    """Where statements are being written: what can be read (`own` before `outer`), and the derivatives at work."""

    own: list[Var]
    outer: list[Var]
    views: list[View]
    body: list[Statement] = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.params = list(self.own)

    def floats(self) -> list[Var]:
        return [v for v in self.own if not v.integer]

    def integers(self) -> list[Var]:
        return [v for v in self.own if v.integer]

    def everything(self) -> frozenset[int]:
        return frozenset().union(*[v.active for v in (*self.own, *self.outer)])

    def refuses_forward(self, active: frozenset[int]) -> bool:
        met = [innermost(view, active) for view in self.views]
        return any(level is not None and level.forward for level in met)

    def refuses_reverse(self, active: frozenset[int]) -> bool:
        return any(
            level.number in active and (not level.forward or level.transposed) for v in self.views for level in v
        )

    def known_levels(self) -> frozenset[int]:
        return frozenset(level.number for view in self.views for level in view)


# Operations -------------------------------------------------------------------------------------------------------------

ANY = (
    "jnp.sin({0})",
    "jnp.cos({0})",
    "jnp.tanh({0})",
    "{0} * {c}",
    "{0} + {c}",
    "jnp.exp(-{0} * {0})",
    "{0} / (1.0 + {0} * {0})",
    "jnp.log1p({0} * {0})",
    "jnp.sqrt(1.0 + {0} * {0})",
    "jnp.where({0} > {c}, {0}, {d} * {0})",
    "jnp.maximum({0}, {c})",
    "jnp.abs({0} - {c})",
    "jnp.tanh({0}) ** 3",
    "jnp.exp(1j * {0}).imag",
    "{0}.astype(jnp.complex128).real * {c}",
    "{0} * (jnp.sin({0}) > {c}).astype(jnp.float64) - {0}",
    "{0} * ({0} * 5.0).astype(jnp.int32)",
)
ARRAYS = (
    "{0}[::-1]",
    "jnp.cumsum({0}, axis={axis})",
    "jnp.roll({0}, 1, axis={axis})",
    "jnp.flip({0}, axis={axis})",
    "jnp.sort({0}, axis={axis})",
    "jnp.concatenate([{0}[1:], jnp.cos({0}[:1])])",
    "{0}.at[{i}].set({c})",
    "{0}.at[{i}].multiply({c})",
    "{0} - {c} * jnp.max({0}, axis={axis}, keepdims=True)",
    "{0} - {c} * jnp.mean({0})",
    "{0} * jnp.arange({n})[{i}]",
    "{0} + {K}",
)
VECTORS = ("{M} @ {0}", "{0} @ {M}", "{0} * {0}[{i}]", "lax.dynamic_slice(jnp.concatenate([{0}, {K}]), (1,), ({n},))")
BOTH = (
    "{0} * {1}",
    "{0} + {1}",
    "{0} - {1}",
    "{0} / (2.0 + jnp.sin({1}))",
    "jnp.where({0} < {1}, {0}, {c} * {1})",
    "jnp.maximum({0}, jnp.cos({1}))",
    "jnp.tanh({0} * {1})",
)
COUNTED = ("{0} * {1}", "jnp.where({1} > 1, {0}, jnp.sin({0}))", "{0} / (1.0 + {1} % 3)")
COUNTED_VECTORS = (
    "lax.dynamic_update_slice({0}, jnp.cos({0}[:1]), ({1},))",
    "jnp.where(jnp.arange({n}) < {1}, {0}, -{0})",
    "{0} * lax.dynamic_slice({0}, ({1},), (1,))",
)


class Writer:
    """Writes operations into scopes; the program of a seed is drawn by one of these."""

    def __init__(self, seed: int):
        self.seed, self.random = seed, random.Random(seed)
        self.numbers = itertools.count()
        self.levels = itertools.count(1)
        self.functions = itertools.count()
        self.constants: dict[str, np.ndarray] = {}

    # Small things

    def any_of(self, xs):
        return self.random.choice(xs)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def shape(self, least: int = 0, most: int = 1) -> Shape:
        return tuple(self.any_of(SIZES) for _ in range(self.random.randint(least, most)))

    def number(self) -> str:
        return repr(self.any_of((-1, 1)) * self.random.randint(15, 95) / 100)

    def constant(self, shape: Shape) -> str:
        name = f"K{'x'.join(map(str, shape)) or '0'}"
        if name not in self.constants:
            rng = np.random.default_rng([self.seed, *shape])
            self.constants[name] = np.round(rng.uniform(0.3, 0.9, shape) * rng.choice([-1, 1], shape), 2)
        return name

    def var(self, shape: Shape, active: frozenset[int], integer: bool = False) -> Var:
        return Var(f"{'n' if integer else 'v'}{next(self.numbers)}", shape, integer, active)

    def state(self, scope: Scope, text: str, args: Sequence[Var], shape: Shape, integer: bool = False) -> Var:
        """Write an operation down; the variable it gives."""
        active = frozenset() if integer else frozenset().union(*[a.active for a in args])
        out = self.var(shape, active, integer)
        scope.body.append(Statement([out], text, list(args)))
        scope.own.append(out)
        return out

    # Operations

    def operation(self, scope: Scope, x: Var) -> Var:
        """Something made of `x`, of its shape."""
        templates = list(ANY) + list(ARRAYS) * (x.shape != ()) + list(VECTORS) * (len(x.shape) == 1)
        args = [x]
        if self.chance(0.2) and scope.integers():
            templates, args = (
                list(COUNTED) + list(COUNTED_VECTORS) * (len(x.shape) == 1),
                [x, self.any_of(scope.integers())],
            )
        elif self.chance(0.3):
            others = [v for v in [*scope.own, *scope.outer] if not v.integer and v.shape in (x.shape, ())]
            if others:
                templates, args = list(BOTH), [x, self.any_of(others)]
        text = self.any_of(templates)
        if "{M}" in text:
            text = text.replace("{M}", self.constant(x.shape * 2))
        if "{K}" in text:
            text = text.replace("{K}", self.constant(x.shape))
        axis = self.random.randrange(len(x.shape)) if x.shape else 0
        first = x.shape[0] if x.shape else 1
        filled = {"c": self.number(), "d": self.number(), "axis": axis, "n": first, "i": self.random.randrange(first)}
        for key, value in filled.items():
            text = text.replace("{" + key + "}", str(value))
        return self.state(scope, text, args, x.shape)

    def counter(self, scope: Scope) -> Var:
        """An integer that depends on the values."""
        x = self.any_of(scope.floats())
        text = "jnp.argmax({0})" if x.shape and self.chance(0.5) else f"jnp.sum({{0}} > {self.number()})"
        return self.state(scope, text, [x], (), integer=True)

    def mix(self, scope: Scope, params: Sequence[Var]) -> Var:
        """A first few operations on the arguments; the last value depends on all of them."""
        floats = [p for p in params if not p.integer]
        h = self.operation(scope, floats[0])
        for p in floats[1:]:
            h = self.state(scope, self.any_of(BOTH[:5]).replace("{c}", self.number()),
                           [h, self.fitted(scope, p, h.shape)], h.shape)  # fmt: skip
        if self.chance(0.35):
            h = self.operation(scope, h)
        if self.chance(0.2):
            self.counter(scope)
        return h

    def fitted(self, scope: Scope, x: Var, shape: Shape) -> Var:
        """`x`, or something made of it, of a shape."""
        if x.shape == shape:
            return x
        if shape == ():
            return self.state(scope, self._to_scalar(x), [x], ())
        if x.shape == ():
            text = f"{{0}} * {self.constant(shape)}"
            return self.state(scope, text if self.chance(0.7) else f"jnp.broadcast_to({{0}}, {shape})", [x], shape)
        if len(x.shape) == 2 and x.shape[::-1] == shape:
            return self.state(scope, "{0}.T", [x], shape)
        if len(x.shape) == 1 and len(shape) == 2 and x.shape[0] in shape:
            return self._widened(scope, x, shape)
        if len(x.shape) == 2 and len(shape) == 1 and shape[0] in x.shape:
            axis = 1 - x.shape.index(shape[0])
            reduced = ["jnp.sum({0}, axis=%d)", "jnp.max({0}, axis=%d)", "jnp.mean({0}, axis=%d)"]
            return self.state(scope, self.any_of(reduced) % axis, [x], shape)
        if len(x.shape) == len(shape) == 1:
            return self.state(scope, f"{self.constant((*shape, *x.shape))} @ {{0}}", [x], shape)
        return self.fitted(scope, self.fitted(scope, x, ()), shape)

    def _to_scalar(self, x: Var) -> str:
        options = ["jnp.sum({0})", f"jnp.sum({{0}} * {self.constant(x.shape)})", "jnp.max({0})", "jnp.mean({0})"]
        options += ["{0}[" + ", ".join(str(self.random.randrange(n)) for n in x.shape) + "]"]
        options += ["{0} @ {0}"] * (len(x.shape) == 1)
        return self.any_of(options)

    def _widened(self, scope: Scope, x: Var, shape: Shape) -> Var:
        if shape[1] == x.shape[0]:
            rows = ", ".join(self.any_of(("{0}", "jnp.sin({0})", "{0}[::-1]", "-{0}")) for _ in range(shape[0]))
            return self.state(scope, f"jnp.stack([{rows}])", [x], shape)
        return self.state(scope, f"{{0}}[:, None] * {self.constant(shape)}", [x], shape)

    def blended(self, scope: Scope, found: Var, before: Var) -> Var:
        """What a combinator gave, with what was there before: always if the derivative stopped on the way."""
        if not before.active <= found.active or self.chance(0.4):
            text = self.any_of(BOTH).replace("{c}", self.number())
            return self.state(scope, text, [found, self.fitted(scope, before, found.shape)], found.shape)
        return self.operation(scope, found) if self.chance(0.5) else found

    def argument(self, scope: Scope, shape: Shape) -> Var:
        """A value of a shape, made of one that was computed last, or before, or outside."""
        floats = scope.floats()
        if self.chance(0.35):
            # As it came in: the same for all examples where they share it, or for all iterations.
            floats = [v for v in (*scope.params, *scope.outer) if not v.integer] or floats
            return self.fitted(scope, self.any_of(floats), shape)
        return self.fitted(scope, floats[-1] if self.chance(0.6) else self.any_of(floats), shape)

    def still(self, scope: Scope, x: Var) -> Var:
        """`x` without a derivative."""
        if not x.active:
            return x
        out = Var(f"v{next(self.numbers)}", x.shape)
        scope.body.append(Statement([out], "lax.stop_gradient({0})", [x]))
        return out

    def param(self, like: Var, shape: Shape | None = None, more: frozenset[int] = frozenset()) -> Var:
        return self.var(like.shape if shape is None else shape, like.active | more, like.integer)
