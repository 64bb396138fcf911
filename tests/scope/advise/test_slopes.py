"""Derivatives that are zero whatever the arguments are, found by looking; each is computed, too."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jitscope as jax
import jitscope.numpy as jnp
from jitscope_scope.advise import look


HEADER = "import jax, jax.numpy as jnp\nfrom jax import lax\n"
FLAT = {
    "round": ("def f(w):\n    return (jnp.round(w) * 2.0).sum()", "jnp.round(w)"),
    "argmax": ("def f(w):\n    best = jnp.argmax(w * 2.0)\n    return best.astype(jnp.float32)", "jnp.argmax(w * 2.0)"),
    "stop_gradient": ("def f(w):\n    return lax.stop_gradient((w ** 2).sum())", "lax.stop_gradient((w ** 2).sum())"),
    "astype": ("def f(w):\n    return (w.astype(jnp.int32).astype(jnp.float32) ** 2).sum()", "w.astype(jnp.int32)"),
    "a comparison": (
        "def f(w):\n    hit = (w * 3 > 0).astype(jnp.float32)\n    hit -= 1.0\n    return hit.mean()",
        "w * 3 > 0",
    ),
    "sign": ("def f(w):\n    return (jnp.sign(w) * 2).sum()", "jnp.sign(w)"),
    "floor division": ("def f(w):\n    return (w // 0.5).sum()", "w // 0.5"),
    "a condition": ("def f(w):\n    return jnp.where(w > 0, 1.0, 2.0).sum()", "w > 0"),
}
STEEP = {
    "beside it": "def f(w):\n    return (w * lax.stop_gradient(w)).sum()",
    "straight through": "def f(w):\n    return (w + lax.stop_gradient(jnp.round(w) - w)).sum()",
    "chosen by a condition": "def f(w):\n    return jnp.where(w > 0, w, 0.0).sum()",
    "an element that was found": "def f(w):\n    return w[jnp.argmax(w)]",
    "given anew": "def f(w):\n    r = jnp.round(w)\n    r = w * 2\n    return r.sum()",
    "only a shape": "def f(w):\n    return w.sum() / w.shape[0]",
    "an axis by a comparison": "def f(w):\n    return w.sum(axis=0 if w.ndim > 0 else None)",
    "a loop": "def f(w):\n    s = jnp.round(w).sum()\n    for _ in range(2):\n        s = s + w.sum()\n    return s",
    "a helper": "def g(w):\n    return w * 2\ndef f(w):\n    return g(w).sum()",
    "a rule of its own": "@jax.custom_vjp\ndef r(w):\n    return jnp.round(w)\nr.defvjp(lambda w: (r(w), None), lambda _, c: (c,))\n"
    "def f(w):\n    return r(w).sum()",
}  # fmt: skip


def slope(program: str) -> np.ndarray:
    scope = {"jax": jax, "jnp": jnp, "lax": jax.lax}
    exec(program, scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(jax.grad(scope["f"])(jnp.array([0.3, 1.7, -2.2])))


@pytest.mark.parametrize("name", FLAT)
def test_a_derivative_that_is_always_zero_is_found(name: str) -> None:
    program, where = FLAT[name]
    text = f"{HEADER}{program}\njax.grad(f)(jnp.ones(3))\n"
    (one,) = look(text, "<program>")
    line = text.splitlines()[one.span.line - 1]
    assert (one.id, line[one.span.column : one.span.end_column]) == ("grad-zero", where)
    assert "`w`" in one.message and not slope(program).any()


@pytest.mark.parametrize("name", STEEP)
def test_a_derivative_that_is_not_is_left_alone(name: str) -> None:
    program = STEEP[name]
    assert look(f"{HEADER}{program}\njax.grad(f)(jnp.ones(3))\n", "<program>") == []
    assert slope(program).any()


@pytest.mark.parametrize(
    "result",
    ["(w > 0).sum()", "jnp.argmax(w)", "w.astype(jnp.int32).sum()", "jnp.isnan(w).any()", "jnp.searchsorted(w, 0.5)"],
)
def test_what_grad_refuses_has_no_derivative(result: str) -> None:
    assert all(
        one.id != "grad-zero"
        for one in look(f"{HEADER}def f(w):\n    return {result}\njax.grad(f)(jnp.ones(3))\n", "<program>")
    )
    with pytest.raises(TypeError):
        slope(f"def f(w):\n    return {result}")


def test_by_which_argument_is_what_counts() -> None:
    text = HEADER + "def f(w, x):\n    return jnp.argmax(x) * 0.5 * w\n"
    assert look(text + "jax.grad(f)(1.0, jnp.ones(3))\n", "<program>") == []
    assert look(text + "jax.grad(f, argnums=0)(1.0, jnp.ones(3))\n", "<program>") == []
    (one,) = look(text + "jax.grad(f, argnums=1)(1.0, jnp.ones(3))\n", "<program>")
    assert one.id == "grad-zero" and "`x`" in one.message
    assert look(text.replace("* w", "* w, x") + "jax.grad(f, has_aux=True)(1.0, jnp.ones(3))\n", "<program>") == []
