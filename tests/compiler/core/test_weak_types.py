"""Weak types through loops, branches and derivatives, as real JAX gave them: 0.10.2, for references 0.12.0.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, tree


ONE, A, B = np.float32(1), np.arange(3, dtype=np.float32), np.array([True, False])


def weakness(out: Any) -> str:
    """w for weak results, s for strong ones."""
    return "".join("w" if jnp.asarray(x).weak_type else "s" for x in tree.leaves(out))


def loop(f: Any, init: Any) -> Any:
    return lax.scan(lambda c, _: (f(c), c), init, length=3)


def while_below_3(f: Any, init: Any) -> Any:
    return lax.while_loop(lambda c: c < 3, f, init)


W, MATRIX, IDENTITY = jnp.full(2, 1.0), jnp.full((2, 2), 1.0), jnp.eye(2) * jnp.full((), 1.0)
"""jnp.full of a Python number gives weak arrays."""


CASES = {
    "weak array: constants": (
        lambda: (jnp.degrees(W), jnp.radians(W), jnp.sinc(W), jnp.log10(W), jnp.isreal(W)),
        "sssss",
    ),
    "weak scalar: constants": (lambda: (jnp.degrees(1.0), jnp.radians(W[0]), jnp.sinc(1.0)), "www"),
    "weak array: angles": (lambda: (jnp.angle(W), jnp.angle(W.astype(int)), jnp.angle(1.0)), "wss"),
    "weak array: triangles": (lambda: (jnp.tril(MATRIX), jnp.triu(MATRIX), jnp.diag(W)), "www"),
    "weak array: diagonals": (lambda: (jnp.diag(MATRIX), jnp.diagonal(MATRIX)), "ss"),
    "weak array: edited": (lambda: (jnp.insert(W, 0, 3), jnp.insert(W, B.astype(int), 3), jnp.delete(W, 0)), "www"),
    "weak array: full_like": (lambda: (jnp.full_like(W, 3), jnp.full_like(W, ONE), jnp.full_like(W, A[:2])), "wws"),
    "weak matrix: numpy.linalg": (
        lambda: (jnp.linalg.qr(MATRIX), jnp.linalg.eigh(MATRIX), jnp.linalg.svd(MATRIX)),
        "wwwwwww",
    ),
    "weak matrix: scipy.linalg": (
        lambda: (jx.scipy.linalg.qr(MATRIX), jx.scipy.linalg.eigh(MATRIX), jx.scipy.linalg.lu_factor(MATRIX)),
        "wwwwww",
    ),
    "weak matrix: hessenberg, schur, lu": (
        lambda: (jx.scipy.linalg.hessenberg(MATRIX), jx.scipy.linalg.schur(MATRIX), jx.scipy.linalg.lu(MATRIX)),
        "wwwssw",
    ),
    "weak matrix: triangular solve": (
        lambda: [jx.scipy.linalg.solve_triangular(m, v) for m in (MATRIX, IDENTITY) for v in (W, A[:2])],
        "wsss",
    ),
    "reference": (lambda: (jx.new_ref(1.0)[...], jx.freeze(jx.new_ref(1)), jx.new_ref(ONE)[...]), "sss"),
    "reference: argument": (lambda: jx.jit(lambda r: r[...] * 2)(jx.new_ref(1.0)), "s"),
    "reference: made inside": (lambda: jx.jit(lambda x: jx.new_ref(2.0)[...] * jnp.ones((), "bfloat16"))(1.0), "s"),
    "scan: stays weak": (lambda: loop(lambda c: c * 2, 1.0), "ww"),
    "scan: becomes strong": (lambda: loop(lambda c: c * np.float32(2), 1.0), "sw"),
    "scan: becomes weak": (lambda: loop(lambda c: 1.0, ONE), "ws"),
    "scan: another dtype": (lambda: loop(lambda c: 1.0, 1), "ws"),
    "scan: strong": (lambda: loop(lambda c: c * 2, ONE), "ss"),
    "scan: y of a weak carry": (lambda: lax.scan(lambda c, x: (c + x, c), 0.0, A), "sw"),
    "scan: unrolled": (lambda: lax.scan(lambda c, x: (c + x, c), 0.0, A, unroll=True), "sw"),
    "scan: constant y": (lambda: lax.scan(lambda c, x: (c, 1.0), ONE, length=2), "sw"),
    "scan: mapped": (lambda: jx.vmap(lambda w: lax.scan(lambda c, _: (c * w, c), 1.0, length=2))(A), "sw"),
    "while: stays weak": (lambda: while_below_3(lambda c: c + 1, 0), "w"),
    "while: becomes strong": (lambda: while_below_3(lambda c: c + ONE, 0.0), "s"),
    "while: becomes weak": (lambda: while_below_3(lambda c: 5.0, ONE), "w"),
    "fori_loop: known bounds": (lambda: lax.fori_loop(0, 3, lambda i, c: c + i, 0), "w"),
    "fori_loop: the counter": (lambda: lax.fori_loop(np.int8(0), 3, lambda i, c: i, 0), "w"),
    "fori_loop: float bounds": (lambda: jx.jit(lambda n: lax.fori_loop(0.0, n, lambda i, c: c + i, 0.0))(3.0), "w"),
    "cond: one branch weak": (lambda: lax.cond(True, lambda: 1.0, lambda: np.float32(2)), "s"),
    "cond: mapped, one weak": (lambda: jx.vmap(lambda p: lax.cond(p, lambda: 1.0, lambda: np.float32(2)))(B), "s"),
    "cond: mapped, both weak": (lambda: jx.vmap(lambda p: lax.cond(p, lambda: 1.0, lambda: 2.0))(B), "w"),
    "associative_scan: of weak elements": (lambda: lax.associative_scan(jnp.add, jnp.broadcast_to(2.0, (4,))), "s"),
    "associative_scan: of one": (lambda: lax.associative_scan(jnp.add, jnp.broadcast_to(2.0, (1,))), "w"),
    "jvp: strong tangent of a weak value": (lambda: jx.jvp(lambda x: x * 2, (1.0,), (ONE,)), "ww"),
    "jvp: weak tangent of a strong value": (lambda: jx.jvp(lambda x: -x, (ONE,), (1.0,)), "ss"),
    "jvp: with an array": (lambda: jx.jvp(lambda x: x * A, (1.0,), (ONE,)), "ss"),
    "jvp: of a power": (lambda: jx.jvp(lambda x: x**2.0, (1.0,), (1.0,)), "ws"),
    "jvp: in cond": (lambda: jx.jvp(lambda x: lax.cond(x > 0, lambda: x * 2, lambda: x), (1.0,), (ONE,)), "ww"),
    "linearize": (lambda: jx.linearize(lambda x: x * 2, 1.0)[1](ONE), "s"),
    "vjp: strong cotangent": (lambda: jx.vjp(lambda v: v * 2.0, 3.0)[1](ONE), "s"),
    "vjp: weak cotangent": (lambda: jx.vjp(lambda x: x + x, ONE)[1](1.0), "w"),
    "grad: x**2.": (lambda: jx.grad(lambda v: v**2.0)(3.0), "s"),
    "grad: x**2": (lambda: jx.grad(lambda v: v**2)(3.0), "w"),
    "grad: 2.**x": (lambda: jx.grad(lambda v: 2.0**v)(3.0), "w"),
    "grad: x * x": (lambda: jx.grad(lambda v: v * v)(3.0), "w"),
    "grad: times a strong number": (lambda: jx.grad(lambda v: v * np.float32(2))(3.0), "w"),
    "grad: times an array": (lambda: jx.grad(lambda v: (v * A).sum())(3.0), "w"),
    "grad: of a strong number": (lambda: jx.grad(lambda v: v * 2.0)(ONE), "s"),
    "grad: max": (lambda: jx.grad(lambda v: jnp.maximum(v, 0.0))(3.0), "w"),
    "grad: clip": (lambda: jx.grad(lambda v: jnp.clip(v, 0.0, 5.0))(3.0), "w"),
    "grad: functions": (lambda: jx.grad(lambda v: jnp.sqrt(v) + jnp.log(v) * jnp.tanh(v))(3.0), "w"),
    "grad: twice": (lambda: jx.grad(jx.grad(lambda v: v**3))(3.0), "w"),
    "grad: two arguments": (lambda: jx.grad(lambda a, b: a * b, (0, 1))(3.0, np.float32(2)), "ws"),
    "grad: in a jitted function": (lambda: jx.grad(jx.jit(lambda v: v * np.float32(2)))(3.0), "w"),
    "grad: in a mapped function": (lambda: jx.grad(lambda v: jx.vmap(lambda a: a * v)(A).sum())(2.0), "w"),
}


@pytest.mark.parametrize("name", CASES)
def test_as_in_jax(name: str) -> None:
    run, wanted = CASES[name]
    assert weakness(run()) == wanted
