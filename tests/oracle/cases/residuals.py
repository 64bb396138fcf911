"""Checkpointed functions with their arguments: which residuals are saved."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.oracle.library import Library
from tests.oracle.programs import Cases
from tests.oracle.results import Plain


MAKERS: dict[str, Callable[[Library], tuple[Callable[..., Any], tuple]]] = {}
X, W1, W2 = (np.full(shape, 0.5, np.float32) for shape in ((2, 3), (3, 4), (4, 5)))


def _network(o: Library, wrap: Callable[[Any], Any] = lambda f: f) -> Callable[..., Any]:
    @wrap
    def layers(x, w1, w2):
        y = o.jnp.sin(x @ w1)
        z = o.ad_checkpoint.checkpoint_name(o.jnp.sin(y * 2.0), "z")
        u = o.ad_checkpoint.checkpoint_name(o.jnp.sin(z @ w2), "u")
        return o.jnp.sin(u)

    return layers


def _with(name: str, make_policy: Callable[[Any], Any]) -> None:
    def make(o: Library, wrap: Any = lambda f: f) -> tuple[Callable[..., Any], tuple]:
        f = o.jx.checkpoint(_network(o, wrap), policy=make_policy(o.jx.checkpoint_policies))
        return lambda *args: f(*args).sum(), (X, W1, W2)

    MAKERS[name] = make
    MAKERS[f"{name}, of a jitted function"] = lambda o: make(o, o.jx.jit)


_with("no policy", lambda p: None)
_with("nothing", lambda p: p.nothing_saveable)
_with("dots", lambda p: p.dots_saveable)
_with("dots without batch dimensions", lambda p: p.dots_with_no_batch_dims_saveable)
_with("only z", lambda p: p.save_only_these_names("z"))
_with("only z and u", lambda p: p.save_only_these_names("z", "u"))
_with("any but z", lambda p: p.save_any_names_but_these("z"))
_with("dots or u", lambda p: p.save_from_both_policies(p.dots_saveable, p.save_only_these_names("u")))


def _batched(o: Library, policy: Any) -> tuple[Callable[..., Any], tuple]:
    f = o.jx.checkpoint(
        lambda x, w: o.jnp.sin(o.lax.dot_general(o.jnp.sin(x), w, (((2,), (1,)), ((0,), (0,))))), policy=policy
    )
    return lambda x, w: f(x, w).sum(), (np.ones((2, 3, 4), np.float32), np.ones((2, 4, 5), np.float32))


MAKERS["batched product, dots"] = lambda o: _batched(o, o.jx.checkpoint_policies.dots_saveable)
MAKERS["batched product, dots without batch dimensions"] = lambda o: _batched(
    o, o.jx.checkpoint_policies.dots_with_no_batch_dims_saveable
)


def _chain(o: Library) -> tuple[Callable[..., Any], tuple]:
    block = o.jx.checkpoint(lambda x: o.jnp.sin(o.jnp.sin(x)))
    return lambda x: block(block(block(x))), (np.float32(0.5),)


MAKERS["a chain of blocks"] = _chain


def _unread(o: Library) -> tuple[Callable[..., Any], tuple]:
    f = o.jx.checkpoint(lambda x, y, n: (o.jnp.sin(x) + y) * 2.0)
    return f, (np.float32(0.5), np.float32(0.5), 3)


MAKERS["arguments that are not needed"] = _unread


def _loop(o: Library, wrap: Any, policy: Any) -> tuple[Callable[..., Any], tuple]:
    def layer(x, w):
        y = o.ad_checkpoint.checkpoint_name(o.jnp.sin(x @ w), "y")
        return o.jnp.sin(y * 2.0), o.jnp.cos(y)

    def layers(x, ws):
        x, ys = o.lax.scan(layer, x, ws)
        return o.jnp.sin(x).sum() + ys.sum()

    return o.jx.checkpoint(wrap(o)(layers), policy=policy(o.jx.checkpoint_policies)), (
        np.full(3, 0.5, np.float32),
        np.full((5, 3, 3), 0.3, np.float32),
    )


for _name, _policy in {
    "no policy": lambda p: None,
    "dots": lambda p: p.dots_saveable,
    "only y": lambda p: p.save_only_these_names("y"),
    "any but y": lambda p: p.save_any_names_but_these("y"),
}.items():
    MAKERS[f"a loop, {_name}, of a jitted function"] = lambda o, policy=_policy: _loop(o, lambda o: o.jx.jit, policy)
    MAKERS[f"a loop, {_name}"] = lambda o, policy=_policy: _loop(o, lambda o: lambda f: f, policy)


def _saved(name: str, o: Library) -> Plain:
    """What is kept: shapes, and where it comes from, without the place in the file."""
    f, args = MAKERS[name](o)
    found = (
        o.ad_checkpoint.saved_residuals(f, *args)
        if o.root != "jax"
        else o.jx._src.ad_checkpoint.saved_residuals(f, *args)
    )
    short = lambda aval: aval.short() if o.root != "jax" else aval.str_short(short_dtypes=True)
    # JAX tells less exactly what comes out of a jitted function, and both of what comes out of a loop.
    whence = not (name.endswith("of a jitted function") or name.startswith("a loop"))
    return Plain(sorted(short(aval) + (f" {where.split(' from /')[0]}" if whence else "") for aval, where in found))


CASES = Cases({name: functools.partial(_saved, name) for name in MAKERS})
