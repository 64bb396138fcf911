"""What a forward pass keeps for the backward pass: of a value that has the elements of a smaller one, the smaller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp


X = np.linspace(-1.5, 2, 12, dtype=np.float32).reshape(3, 4)


def normalized(x: Any) -> Any:
    m = x.mean(-1, keepdims=True)
    return (x - m) * jx.lax.rsqrt(jnp.square(x - m).mean(-1, keepdims=True) + 1e-3)


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], np.ndarray], list[str]]] = {
    "a number for all elements": (
        lambda x: jnp.where(x > 0, x, 0.0),
        lambda x: np.where(x > 0, x, 0),
        ["bool[3,4]"],
    ),
    "a row for many": (
        lambda x: x * jnp.exp(x[0]),
        lambda x: x * np.exp(x[0]),
        ["float32[3,4]", "float32[4]"],
    ),
    "a mask as floats": (
        lambda x: jnp.sin(x) * (x > 0).astype(jnp.float32),
        lambda x: np.sin(x) * (x > 0),
        ["bool[3,4]", "float32[3,4]"],
    ),
    "few bits as many": (
        lambda x: (y := (x.astype(jnp.bfloat16) * 2).astype(jnp.float32)) * y,
        lambda x: (x.astype(jnp.bfloat16).astype(np.float64) * 2) ** 2,
        ["bfloat16[3,4]"],
    ),
}


def kept(f: Callable[[Any], Any]) -> list[str]:
    """The arrays that the pullback of a compiled function holds."""
    jaxpr = jx.make_jaxpr(lambda x: jx.vjp(jx.jit(f), x)[1])(X)
    return sorted(f"{aval.dtype.name}[{','.join(map(str, aval.shape))}]" for aval in jaxpr.out_avals)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_smaller_value_is_kept(name: str) -> None:
    f, _, wanted = PROGRAMS[name]
    assert kept(f) == wanted


@pytest.mark.parametrize(
    "wrap", [jx.jit, jx.checkpoint, lambda f: lambda x: jx.lax.map(f, x)], ids=["jit", "checkpoint", "map"]
)
@pytest.mark.parametrize("name", [*PROGRAMS, "normalized"])
def test_derivatives_are_as_without(name: str, wrap: Callable[..., Any]) -> None:
    f = PROGRAMS[name][0] if name in PROGRAMS else normalized
    by_rows = wrap not in (jx.jit, jx.checkpoint) and name == "a row for many"
    f = (lambda x: x * jnp.exp(x[0])) if by_rows else f
    weights = np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4)
    got = jx.grad(lambda x: (wrap(f)(x) * weights).sum())(X)
    plain = jx.vmap(f) if wrap not in (jx.jit, jx.checkpoint) else f
    np.testing.assert_allclose(got, jx.grad(lambda x: (plain(x) * weights).sum())(X), 1e-6, 1e-6)


def test_derivatives_are_those_of_differences() -> None:
    for name, (f, of_numpy, _) in PROGRAMS.items():
        if name == "few bits as many":
            continue
        got = jx.grad(lambda x, f=f: jx.jit(f)(x).sum())(X)
        x, h = X.astype(np.float64), 1e-6
        steps = [h * np.eye(12)[i].reshape(3, 4) for i in range(12)]
        wanted = [(of_numpy(x + s).sum() - of_numpy(x - s).sum()) / (2 * h) for s in steps]
        np.testing.assert_allclose(np.ravel(got), wanted, 1e-4, 1e-4)


def test_a_loop_stacks_the_smaller_values() -> None:
    ws, x = jnp.ones((5, 4, 4)), jnp.ones((3, 4))

    def loss(ws: Any) -> Any:
        return jx.lax.scan(lambda h, w: (normalized(jnp.where(h > 0, h, 0.0) @ w), None), x, ws)[0].sum()

    (loop, *_) = [eqn for eqn in jx.make_jaxpr(jx.grad(loss))(ws).eqns if eqn.primitive.name == "scan"]
    stacked = sorted(v.aval.shape for v in loop.outvars if v.aval.shape[:1] == (5,))
    assert stacked == [(5, 3, 1), (5, 3, 1), *[(5, 3, 4)] * 4]


def test_what_is_a_result_is_kept_once() -> None:
    def f(x: Any) -> tuple[Any, Any]:
        scale = jnp.broadcast_to(jnp.exp(x[0]), x.shape)
        return x * scale, jx.lax.stop_gradient(scale)

    (_, scale), pull = jx.vjp(jx.jit(f), X)
    np.testing.assert_allclose(scale, np.broadcast_to(np.exp(X[0]), X.shape), 1e-6)
    np.testing.assert_allclose(pull((np.ones_like(X), np.zeros_like(X)))[0][1:], scale[1:], 1e-6)
