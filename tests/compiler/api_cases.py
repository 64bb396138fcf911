"""Programs over the transformations, each a function of (jax, jnp, lax). `record_api.py` writes down what JAX answers;
`test_jacobians` and `test_api` compare."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np


F32 = np.float32
V = np.array([0.5, -1.25, 2.0], F32)
W = np.array([[1.0, 2.0, -0.5], [0.25, -1.0, 3.0]], F32)
Z = np.array([1.0 + 2j, -0.5 + 0.25j], np.complex64)
N = np.array([3, -4], np.int32)
Pair = namedtuple("Pair", "u v")


def quad(jnp: Any):
    return lambda x, y: jnp.sin(x) * y


JACOBIANS = {
    "jacfwd vector": lambda jax, jnp, lax: jax.jacfwd(lambda x: jnp.sin(x) * x[0])(V),
    "jacrev vector": lambda jax, jnp, lax: jax.jacrev(lambda x: jnp.sin(x) * x[0])(V),
    "jacobian is jacrev": lambda jax, jnp, lax: jax.jacobian(lambda x: W @ x)(V),
    "jacfwd scalar": lambda jax, jnp, lax: jax.jacfwd(lambda x: jnp.sin(x))(2.0),
    "jacrev scalar": lambda jax, jnp, lax: jax.jacrev(lambda x: jnp.sin(x))(2.0),
    "jacfwd weak to strong": lambda jax, jnp, lax: jax.jacfwd(lambda x: x * V)(2.0),
    "jacrev weak to strong": lambda jax, jnp, lax: jax.jacrev(lambda x: x * V)(2.0),
    "jacfwd two argnums": lambda jax, jnp, lax: jax.jacfwd(lambda x, y: {"o": x * y}, argnums=(0, 1))(V, 3.0),
    "jacrev two argnums": lambda jax, jnp, lax: jax.jacrev(lambda x, y: {"o": x * y}, argnums=(0, 1))(V, 3.0),
    "jacfwd negative argnum": lambda jax, jnp, lax: jax.jacfwd(lambda x, y: x * y, argnums=-1)(V, 3.0),
    "jacrev list of argnums": lambda jax, jnp, lax: jax.jacrev(lambda x, y: x * y, argnums=[1, 0])(V, 3.0),
    "jacfwd one in a tuple": lambda jax, jnp, lax: jax.jacfwd(lambda x: x * 2, argnums=(0,))(V),
    "jacfwd tree in": lambda jax, jnp, lax: jax.jacfwd(lambda d: d["a"] * d["b"])({"a": V, "b": F32(2)}),
    "jacrev tree in": lambda jax, jnp, lax: jax.jacrev(lambda d: d["a"] * d["b"])({"a": V, "b": F32(2)}),
    "jacfwd tree out": lambda jax, jnp, lax: jax.jacfwd(lambda x: Pair(x * 2, [x[0], None, (x @ x,)]))(V),
    "jacrev tree out": lambda jax, jnp, lax: jax.jacrev(lambda x: Pair(x * 2, [x[0], None, (x @ x,)]))(V),
    "jacfwd trees both": lambda jax, jnp, lax: jax.jacfwd(lambda p: (p.u @ p.v, {"s": p.u}))(Pair(W, V)),
    "jacrev trees both": lambda jax, jnp, lax: jax.jacrev(lambda p: (p.u @ p.v, {"s": p.u}))(Pair(W, V)),
    "jacfwd aux": lambda jax, jnp, lax: jax.jacfwd(lambda x: (x * x, {"kept": x + 1}), has_aux=True)(V),
    "jacrev aux": lambda jax, jnp, lax: jax.jacrev(lambda x: (x * x, {"kept": x + 1}), has_aux=True)(V),
    "jacfwd keyword": lambda jax, jnp, lax: jax.jacfwd(lambda x, *, k: x * k)(V, k=2.0),
    "jacfwd matrix": lambda jax, jnp, lax: jax.jacfwd(lambda w: w @ V)(W),
    "jacrev matrix": lambda jax, jnp, lax: jax.jacrev(lambda w: jnp.tanh(w))(W),
    "jacfwd mixed floats": lambda jax, jnp, lax: jax.jacfwd(lambda t: t[0].astype(F32) * t[1])(
        (jnp.ones(2, "bfloat16"), F32(3))
    ),
    "jacrev mixed floats": lambda jax, jnp, lax: jax.jacrev(lambda t: t[0].astype(F32) * t[1])(
        (jnp.ones(2, "bfloat16"), F32(3))
    ),
    "jacfwd half": lambda jax, jnp, lax: jax.jacfwd(lambda x: x * x)(jnp.asarray(V, "float16")),
    "jacfwd to complex": lambda jax, jnp, lax: jax.jacfwd(lambda x: x * 1j)(V),
    "jacfwd holomorphic": lambda jax, jnp, lax: jax.jacfwd(lambda z: z * z, holomorphic=True)(Z),
    "jacrev holomorphic": lambda jax, jnp, lax: jax.jacrev(lambda z: z * z, holomorphic=True)(Z),
    "jacrev of complex": lambda jax, jnp, lax: jax.jacrev(lambda z: (z * jnp.conj(z)).real)(Z),
    "jacrev of ints": lambda jax, jnp, lax: jax.jacrev(lambda x, y: x * y, argnums=(0, 1), allow_int=True)(N, V[:2]),
    "jacfwd integer result": lambda jax, jnp, lax: jax.jacfwd(lambda x: (2, x.astype("int32"), x))(V),
    "jacfwd constant": lambda jax, jnp, lax: jax.jacfwd(lambda x: 2.0)(V),
    "jacrev constant": lambda jax, jnp, lax: jax.jacrev(lambda x: 2.0)(V),
    "jacfwd empty": lambda jax, jnp, lax: jax.jacfwd(lambda x: x * 2)(np.zeros((0,), F32)),
    "jacrev empty": lambda jax, jnp, lax: jax.jacrev(lambda x: x * 2)(np.zeros((2, 0), F32)),
    "jacfwd None": lambda jax, jnp, lax: jax.jacfwd(lambda t: (t[1], None))((None, V)),
    "hessian": lambda jax, jnp, lax: jax.hessian(lambda x: jnp.sum(jnp.sin(x) * x[0]))(V),
    "hessian scalar": lambda jax, jnp, lax: jax.hessian(lambda x: x**3)(2.0),
    "hessian tree": lambda jax, jnp, lax: jax.hessian(lambda d: d["a"] @ d["a"] * d["b"])({"a": V, "b": 2.0}),
    "hessian argnums": lambda jax, jnp, lax: jax.hessian(lambda x, y: x @ y, argnums=(0, 1))(V, V),
    "hessian aux": lambda jax, jnp, lax: jax.hessian(lambda x: (x @ x, x), has_aux=True)(V),
    "hessian holomorphic": lambda jax, jnp, lax: jax.hessian(lambda z: jnp.sum(z**3), holomorphic=True)(Z),
    "jit of hessian": lambda jax, jnp, lax: jax.jit(jax.hessian(lambda x: jnp.sum(x**3)))(V),
    "hessian of jit": lambda jax, jnp, lax: jax.hessian(jax.jit(lambda x: jnp.sum(x**3)))(V),
    "vmap of jacrev": lambda jax, jnp, lax: jax.vmap(jax.jacrev(lambda x: jnp.sin(x)))(W),
    "vmap of jacfwd": lambda jax, jnp, lax: jax.vmap(jax.jacfwd(lambda x: x * x[1]))(W),
    "jacfwd of jacfwd": lambda jax, jnp, lax: jax.jacfwd(jax.jacfwd(lambda x: x**3))(V),
    "jacrev of jacrev": lambda jax, jnp, lax: jax.jacrev(jax.jacrev(lambda x: x**3))(V),
    "jacrev of jacfwd": lambda jax, jnp, lax: jax.jacrev(jax.jacfwd(lambda x: x**3))(V),
    "grad of trace of hessian": lambda jax, jnp, lax: jax.grad(
        lambda x: jnp.trace(jax.hessian(lambda y: jnp.sum(y**4))(x))
    )(V),
}

GRADIENTS = {
    "grad argnums tuple": lambda jax, jnp, lax: jax.grad(quad(jnp), (0, 1))(2.0, 3.0),
    "grad argnums one tuple": lambda jax, jnp, lax: jax.grad(quad(jnp), (1,))(2.0, 3.0),
    "grad argnums list": lambda jax, jnp, lax: jax.grad(quad(jnp), [0])(2.0, 3.0),
    "grad negative": lambda jax, jnp, lax: jax.grad(quad(jnp), (-1, 0))(2.0, 3.0),
    "value_and_grad aux": lambda jax, jnp, lax: jax.value_and_grad(lambda x: (x @ x, {"x": x, "n": 3}), has_aux=True)(
        V
    ),
    "grad aux of jit": lambda jax, jnp, lax: jax.grad(jax.jit(lambda x: (x @ x, {"x": x, "n": 3})), has_aux=True)(V),
    "jit of grad aux": lambda jax, jnp, lax: jax.jit(jax.grad(lambda x: (x @ x, {"x": x, "n": 3}), has_aux=True))(V),
    "grad tree": lambda jax, jnp, lax: jax.grad(lambda p: p.u.sum() * p.v[0] + 0.0 * p.v[1])(Pair(W, [2.0, F32(1)])),
    "grad holomorphic": lambda jax, jnp, lax: jax.grad(lambda z: z**2, holomorphic=True)(np.complex64(1 + 2j)),
    "grad real of complex": lambda jax, jnp, lax: jax.grad(lambda z: jnp.abs(z) ** 2)(np.complex64(1 + 2j)),
    "grad int": lambda jax, jnp, lax: jax.grad(lambda n, x: (n * x).sum(), argnums=(0, 1), allow_int=True)(N, V[:2]),
    "grad int alone": lambda jax, jnp, lax: jax.grad(lambda n: n * 1.0, allow_int=True)(3),
    "grad bool": lambda jax, jnp, lax: jax.grad(lambda b, x: jnp.where(b, x, 0.0), (0, 1), allow_int=True)(True, 2.0),
    "grad keyword": lambda jax, jnp, lax: jax.grad(lambda x, k: x * k)(2.0, k=3.0),
    "grad empty tree": lambda jax, jnp, lax: jax.grad(lambda t, x: x, argnums=0)({}, 1.0),
    "grad no dependence": lambda jax, jnp, lax: jax.grad(lambda x: 2.0)(V),
    "grad bf16": lambda jax, jnp, lax: jax.grad(lambda x: (x * x).sum())(jnp.asarray(V, "bfloat16")),
    "grad weak": lambda jax, jnp, lax: jax.grad(lambda x, y: x * y, (0, 1))(2.0, F32(3)),
    "third derivative": lambda jax, jnp, lax: jax.grad(jax.grad(jax.grad(lambda x: x**4)))(2.0),
    "vjp tree": lambda jax, jnp, lax: (lambda out, f: (out, f({"o": (V, F32(2))})))(
        *jax.vjp(lambda p: {"o": (p.u * 2, p.v @ p.v)}, Pair(V, V))
    ),
    "vjp aux": lambda jax, jnp, lax: (lambda out, f, aux: (out, f(V), aux))(
        *jax.vjp(lambda x: (x * x, {"aux": x + 1}), V, has_aux=True)
    ),
    "vjp int result": lambda jax, jnp, lax: jax.vjp(lambda x: (x, x.astype("int32")), V)[1](
        (V, np.zeros(3, jax.float0))
    ),
    "vjp int argument": lambda jax, jnp, lax: jax.vjp(lambda n, x: n * x, N, V[:2])[1](V[:2]),
    "vjp twice": lambda jax, jnp, lax: (lambda f: (f(V), f(2 * V)))(jax.vjp(lambda x: jnp.sin(x), V)[1]),
    "vmap of pullback": lambda jax, jnp, lax: jax.vmap(jax.vjp(lambda x: jnp.sin(x) * x[0], V)[1])(
        np.eye(3, dtype=F32)
    ),
    "linearize": lambda jax, jnp, lax: (lambda out, f: (out, f(V), f(2 * V)))(
        *jax.linearize(lambda x: jnp.sin(x) * x[0], V)
    ),
    "linearize aux": lambda jax, jnp, lax: (lambda out, f, aux: (out, f(1.0), aux))(
        *jax.linearize(lambda x: (x * x, {"aux": x}), 3.0, has_aux=True)
    ),
    "linearize trees": lambda jax, jnp, lax: (lambda out, f: (out, f(Pair(V, 1.0), V)))(
        *jax.linearize(lambda p, y: {"a": p.u * p.v, "b": y @ p.u}, Pair(V, 2.0), V)
    ),
    "linearize int": lambda jax, jnp, lax: jax.linearize(lambda n, x: (n * x, n), 3, 2.0)[1](
        np.zeros((), jax.float0), 1.0
    ),
    "jvp trees": lambda jax, jnp, lax: jax.jvp(lambda p: [p.u * p.v], (Pair(V, 2.0),), (Pair(V, 1.0),)),
    "jvp lists": lambda jax, jnp, lax: jax.jvp(lambda x, y: x * y, [V, 2.0], [V, 1.0]),
    "jvp aux": lambda jax, jnp, lax: jax.jvp(lambda x: (x * x, (x, 3)), (2.0,), (1.0,), has_aux=True),
    "jvp int": lambda jax, jnp, lax: jax.jvp(lambda n, x: (n, n * x), (3, 2.0), (np.zeros((), jax.float0), 1.0)),
    "fwd_and_bwd": lambda jax, jnp, lax: (lambda fwd, bwd: (lambda out, res: (out, bwd(res, 1.0)))(*fwd(2.0, 3.0)))(
        *jax.fwd_and_bwd(lambda x, y: x * jnp.sin(y), argnums=(0, 1))
    ),
    "fwd_and_bwd aux": lambda jax, jnp, lax: (
        lambda fwd, bwd: (lambda out, res, aux: (out, bwd(res, V), aux))(*fwd(V))
    )(*jax.fwd_and_bwd(lambda x: (x * x, x[0]), argnums=0, has_aux=True, jitted=False)),
}

VMAPS = {
    "dict in_axes": lambda jax, jnp, lax: jax.vmap(lambda d: d["a"] * d["b"], in_axes=({"a": 0, "b": None},))(
        {"a": V, "b": V[:2]}
    ),
    "list in_axes": lambda jax, jnp, lax: jax.vmap(lambda x, y: x * y, in_axes=[0, None])(V, 2.0),
    "tree in_axes": lambda jax, jnp, lax: jax.vmap(lambda t, x: t[0] + t[1][0] * x, in_axes=((0, (None,)), 1))(
        (W[:, 0], (2.0,)), W.T
    ),
    "negative axes": lambda jax, jnp, lax: jax.vmap(lambda x: (x, x * 2), in_axes=-1, out_axes=(-1, 0))(W),
    "prefix None": lambda jax, jnp, lax: jax.vmap(lambda p, x: p["w"] @ x + p["b"], in_axes=(None, 0))(
        {"w": W, "b": V[:2]}, np.ones((4, 3), F32)
    ),
    "out None": lambda jax, jnp, lax: jax.vmap(lambda x: (x, V), out_axes=(0, None))(V),
    "out tree": lambda jax, jnp, lax: jax.vmap(lambda x: {"a": x, "b": x[0]}, out_axes={"a": 1, "b": 0})(W),
    "unmapped result": lambda jax, jnp, lax: jax.vmap(lambda x: 2.0)(V),
    "no result": lambda jax, jnp, lax: jax.vmap(lambda x: None)(V),
    "no arguments": lambda jax, jnp, lax: jax.vmap(lambda: 1.0, axis_size=3)(),
    "axis_size beside": lambda jax, jnp, lax: jax.vmap(lambda x: x + 1, in_axes=None, axis_size=2)(V),
    "keywords": lambda jax, jnp, lax: jax.vmap(lambda x, *, y: x * y, in_axes=None)(2.0, y=V),
    "spmd_axis_name": lambda jax, jnp, lax: jax.vmap(lambda x: x + 1, spmd_axis_name="d")(V),
    "sum_match": lambda jax, jnp, lax: jax.vmap(lambda x: (x, x), out_axes=(None, 0), sum_match=True)(V),
    "weak examples": lambda jax, jnp, lax: jax.vmap(lambda x, y: x * y, in_axes=(0, None))(jnp.arange(3), 2.0),
    "nested": lambda jax, jnp, lax: jax.vmap(jax.vmap(lambda x, y: x * y, in_axes=(None, 0)), in_axes=(0, None))(V, V),
    "vmap of jit": lambda jax, jnp, lax: jax.vmap(jax.jit(lambda x, y: x @ y), in_axes=(0, None))(W, V),
    "vmap of grad": lambda jax, jnp, lax: jax.vmap(jax.grad(lambda x: jnp.sin(x) ** 2))(V),
    "vmap of vmap of grad": lambda jax, jnp, lax: jax.vmap(jax.vmap(jax.grad(lambda x: jnp.sin(x) ** 2)))(W),
    "grad of vmap": lambda jax, jnp, lax: jax.grad(lambda x: jax.vmap(lambda y: jnp.sin(y) * x[0])(x).sum())(V),
}


def over(name: str, body: Any, *args: Any, **options: Any) -> Any:
    return lambda jax, jnp, lax: jax.vmap(lambda *xs: body(jnp, lax, *xs), axis_name=name, **options)(*args)


SQUARE = np.arange(9, dtype=F32).reshape(3, 3)
COLLECTIVES = {
    "psum": over("i", lambda jnp, lax, x: lax.psum(x, "i"), V),
    "psum tree": over("i", lambda jnp, lax, x: lax.psum({"a": x, "b": (x * 2,)}, "i"), V),
    "psum bool": over("i", lambda jnp, lax, x: lax.psum(x > 0, "i"), V),
    "psum of one": over("i", lambda jnp, lax, x: (lax.psum(1, "i"), x), V),
    "psum of a float": over("i", lambda jnp, lax, x: (x, lax.psum(1.5, "i") + 0 * x), V),
    "psum int": over("i", lambda jnp, lax, x: lax.psum(x, "i"), N),
    "pmean": over("i", lambda jnp, lax, x: lax.pmean(x, "i"), V),
    "pmean int": over("i", lambda jnp, lax, x: lax.pmean(x, "i"), N),
    "pmean tree": over("i", lambda jnp, lax, x: lax.pmean([x, x[0]], "i"), W),
    "pmax": over("i", lambda jnp, lax, x: lax.pmax(x, "i"), V),
    "pmin": over("i", lambda jnp, lax, x: lax.pmin(x, "i"), V),
    "normalised": over("i", lambda jnp, lax, x: jnp.exp(x) / lax.psum(jnp.exp(x), "i"), V),
    "all_gather": over("i", lambda jnp, lax, x: lax.all_gather(x, "i"), W),
    "all_gather axis": over("i", lambda jnp, lax, x: lax.all_gather(x, "i", axis=1), W),
    "all_gather tiled": over("i", lambda jnp, lax, x: lax.all_gather(x, "i", tiled=True), W),
    "all_to_all": over("i", lambda jnp, lax, x: lax.all_to_all(x, "i", 0, 0), SQUARE),
    "all_to_all tiled": over("i", lambda jnp, lax, x: lax.all_to_all(x, "i", 0, 0, tiled=True), SQUARE),
    "all_to_all axes": over(
        "i", lambda jnp, lax, x: lax.all_to_all(x, "i", 1, 0), np.arange(18, dtype=F32).reshape(3, 2, 3)
    ),
    "ppermute": over("i", lambda jnp, lax, x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]), V),
    "pshuffle": over("i", lambda jnp, lax, x: lax.pshuffle(x, "i", [2, 0, 1]), V),
    "axis_index": over("i", lambda jnp, lax, x: lax.axis_index("i") + 0 * x, V),
    "axis_size": over("i", lambda jnp, lax, x: lax.axis_size("i") * x, V),
    "psum_scatter": over("i", lambda jnp, lax, x: lax.psum_scatter(x, "i"), SQUARE),
    "psum_scatter tiled": over("i", lambda jnp, lax, x: lax.psum_scatter(x, "i", tiled=True), SQUARE),
    "psum unmapped": over("i", lambda jnp, lax, x, y: lax.psum(y, "i") + x, V, 2.0, in_axes=(0, None)),
    "two names": lambda jax, jnp, lax: jax.vmap(
        jax.vmap(lambda x: (lax.psum(x, "i"), lax.psum(x, "j"), lax.psum(x, ("i", "j"))), axis_name="j"), axis_name="i"
    )(W),
    "two names pmean": lambda jax, jnp, lax: jax.vmap(
        jax.vmap(lambda x: x - lax.pmean(x, ("i", "j")), axis_name="j"), axis_name="i"
    )(W),
    "index of two": lambda jax, jnp, lax: jax.vmap(
        jax.vmap(lambda x: lax.axis_index("i") * 10 + lax.axis_index("j") + 0 * x, axis_name="j"), axis_name="i"
    )(W),
    "gather outer": lambda jax, jnp, lax: jax.vmap(
        jax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="j"), axis_name="i"
    )(W),
    "inner without a name": lambda jax, jnp, lax: jax.vmap(jax.vmap(lambda x: x * lax.psum(x, "i")), axis_name="i")(W),
    "same name inside": lambda jax, jnp, lax: jax.vmap(
        lambda r: jax.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(r), axis_name="k"
    )(W),
    "grad of psum inside": lambda jax, jnp, lax: jax.vmap(jax.grad(lambda x: lax.psum(x * x, "i")), axis_name="i")(V),
    "grad of psum outside": lambda jax, jnp, lax: jax.grad(
        lambda v: jax.vmap(lambda x: lax.psum(x * x, "i") * x, axis_name="i")(v).sum()
    )(V),
    "grad of pmean outside": lambda jax, jnp, lax: jax.grad(
        lambda v: jax.vmap(lambda x: (x - lax.pmean(x, "i")) ** 2, axis_name="i")(v).sum()
    )(V),
    "grad of all_gather": lambda jax, jnp, lax: jax.grad(
        lambda w: (jax.vmap(lambda x: lax.all_gather(x, "i") * x, axis_name="i")(w) ** 2).sum()
    )(W),
    "grad of ppermute": lambda jax, jnp, lax: jax.grad(
        lambda v: (jax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]) * x, axis_name="i")(v) ** 2).sum()
    )(V),
    "jit inside": lambda jax, jnp, lax: jax.vmap(jax.jit(lambda x: x / lax.psum(x, "i")), axis_name="i")(V),
    "jit outside": lambda jax, jnp, lax: jax.jit(jax.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i"))(V),
    "groups": over("i", lambda jnp, lax, x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2]]), V),
    "groups of all_gather": over("i", lambda jnp, lax, x: lax.all_gather(x, "i", axis_index_groups=[[0, 1], [2]]), V),
    "unbound": lambda jax, jnp, lax: lax.psum(V, "nowhere"),
    "unbound index": lambda jax, jnp, lax: lax.axis_index("nowhere"),
}

SHAPES = {
    "eval_shape": lambda jax, jnp, lax: jax.eval_shape(lambda x, y: {"a": x @ y, "n": 1, "w": 2.0}, W, V),
    "eval_shape of structs": lambda jax, jnp, lax: jax.eval_shape(
        lambda s: (s * 2, s.sum()), jax.ShapeDtypeStruct((2, 3), "float32")
    ),
    "eval_shape int64": lambda jax, jnp, lax: jax.eval_shape(lambda s: s, jax.ShapeDtypeStruct((2,), "int64")),
    "eval_shape key": lambda jax, jnp, lax: jax.eval_shape(lambda: jax.random.key(0)),
    "eval_shape weak struct": lambda jax, jnp, lax: jax.eval_shape(
        lambda s: s * F32(2), jax.ShapeDtypeStruct((), "float32", weak_type=True)
    ),
    "eval_shape grad": lambda jax, jnp, lax: jax.eval_shape(jax.grad(lambda x: (x * x).sum()), W),
    "return_shape": lambda jax, jnp, lax: jax.make_jaxpr(lambda x: {"o": x * 2}, return_shape=True)(V)[1],
}

JAXPRS = {
    "static_argnums": lambda jax, jnp, lax: jax.make_jaxpr(lambda n, x: x * n, static_argnums=0)(2, V),
    "axis_env": lambda jax, jnp, lax: jax.make_jaxpr(lambda x: x * 2.0, axis_env=[("i", 4)])(V),
    "inline": lambda jax, jnp, lax: jax.make_jaxpr(jax.jit(lambda x: lax.sin(x) * 2.0, inline=True))(V),
    "inline in jit": lambda jax, jnp, lax: jax.make_jaxpr(
        lambda x: jax.jit(lambda x: lax.sin(x), inline=True)(jax.jit(lambda y: lax.cos(y), inline=True)(x))
    )(V),
    "jit kept": lambda jax, jnp, lax: jax.make_jaxpr(lambda x: jax.jit(lax.sin)(lax.cos(x)))(V),
    "kwargs": lambda jax, jnp, lax: jax.make_jaxpr(lambda x, *, k: x * k["a"])(V, k={"a": V}),
}

VALUES = {**JACOBIANS, **GRADIENTS, **VMAPS, **COLLECTIVES}


def described(x: Any, as_array: Any) -> Any:
    """A result as JSON: containers by kind, arrays by dtype, weak type, shape and elements."""
    if x is None:
        return None
    if isinstance(x, dict):
        return {"dict": {k: described(v, as_array) for k, v in sorted(x.items())}}
    if isinstance(x, (tuple, list)):
        return {type(x).__name__: [described(v, as_array) for v in x]}
    if type(x).__name__ == "ShapeDtypeStruct":
        return f"{x.dtype.name if hasattr(x.dtype, 'name') else x.dtype}{'*' if x.weak_type else ''}{list(x.shape)}"
    if isinstance(x, (int, float)) and not isinstance(x, bool):  # what is not traced may stay a Python number
        return [f"{'int32' if isinstance(x, int) else 'float32'}*[]", [float(x)]]
    dtype = np.dtype(getattr(x, "dtype", type(x)))
    kind = dtype.name if dtype.names is None else "float0"
    weak = bool(getattr(x, "weak_type", not hasattr(x, "dtype")))
    head = f"{kind}{'*' if weak else ''}{list(np.shape(x))}"
    if kind == "float0":
        return [head, []]
    values = np.asarray(as_array(x))
    flat = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64).ravel()
    return [head, [[z.real, z.imag] for z in flat.tolist()] if values.dtype.kind == "c" else flat.tolist()]


def answers(jax: Any, jnp: Any, lax: Any, cases: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, case in cases.items():
        try:
            found[name] = described(case(jax, jnp, lax), np.asarray)
        except Exception as error:
            found[name] = {"error": type(error).__name__}
    return found
