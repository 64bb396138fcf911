"""Jacobians, gradients, maps, collectives: what the transformations make of trees, axes and options."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from tests.oracle.library import Library
from tests.oracle.programs import jaxpr, text


F32 = np.float32
V = np.array([0.5, -1.25, 2.0], F32)
W = np.array([[1.0, 2.0, -0.5], [0.25, -1.0, 3.0]], F32)
Z = np.array([1.0 + 2j, -0.5 + 0.25j], np.complex64)
N = np.array([3, -4], np.int32)
Pair = namedtuple("Pair", "u v")


def quad(o: Library) -> Any:
    return lambda x, y: o.jnp.sin(x) * y


JACOBIANS = {
    "jacfwd vector": lambda o: o.jx.jacfwd(lambda x: o.jnp.sin(x) * x[0])(V),
    "jacrev vector": lambda o: o.jx.jacrev(lambda x: o.jnp.sin(x) * x[0])(V),
    "jacobian is jacrev": lambda o: o.jx.jacobian(lambda x: W @ x)(V),
    "jacfwd scalar": lambda o: o.jx.jacfwd(lambda x: o.jnp.sin(x))(2.0),
    "jacrev scalar": lambda o: o.jx.jacrev(lambda x: o.jnp.sin(x))(2.0),
    "jacfwd weak to strong": lambda o: o.jx.jacfwd(lambda x: x * V)(2.0),
    "jacrev weak to strong": lambda o: o.jx.jacrev(lambda x: x * V)(2.0),
    "jacfwd two argnums": lambda o: o.jx.jacfwd(lambda x, y: {"o": x * y}, argnums=(0, 1))(V, 3.0),
    "jacrev two argnums": lambda o: o.jx.jacrev(lambda x, y: {"o": x * y}, argnums=(0, 1))(V, 3.0),
    "jacfwd negative argnum": lambda o: o.jx.jacfwd(lambda x, y: x * y, argnums=-1)(V, 3.0),
    "jacrev list of argnums": lambda o: o.jx.jacrev(lambda x, y: x * y, argnums=[1, 0])(V, 3.0),
    "jacfwd one in a tuple": lambda o: o.jx.jacfwd(lambda x: x * 2, argnums=(0,))(V),
    "jacfwd tree in": lambda o: o.jx.jacfwd(lambda d: d["a"] * d["b"])({"a": V, "b": F32(2)}),
    "jacrev tree in": lambda o: o.jx.jacrev(lambda d: d["a"] * d["b"])({"a": V, "b": F32(2)}),
    "jacfwd tree out": lambda o: o.jx.jacfwd(lambda x: Pair(x * 2, [x[0], None, (x @ x,)]))(V),
    "jacrev tree out": lambda o: o.jx.jacrev(lambda x: Pair(x * 2, [x[0], None, (x @ x,)]))(V),
    "jacfwd trees both": lambda o: o.jx.jacfwd(lambda p: (p.u @ p.v, {"s": p.u}))(Pair(W, V)),
    "jacrev trees both": lambda o: o.jx.jacrev(lambda p: (p.u @ p.v, {"s": p.u}))(Pair(W, V)),
    "jacfwd aux": lambda o: o.jx.jacfwd(lambda x: (x * x, {"kept": x + 1}), has_aux=True)(V),
    "jacrev aux": lambda o: o.jx.jacrev(lambda x: (x * x, {"kept": x + 1}), has_aux=True)(V),
    "jacfwd keyword": lambda o: o.jx.jacfwd(lambda x, *, k: x * k)(V, k=2.0),
    "jacfwd matrix": lambda o: o.jx.jacfwd(lambda w: w @ V)(W),
    "jacrev matrix": lambda o: o.jx.jacrev(lambda w: o.jnp.tanh(w))(W),
    "jacfwd mixed floats": lambda o: o.jx.jacfwd(lambda t: t[0].astype(F32) * t[1])(
        (o.jnp.ones(2, "bfloat16"), F32(3))
    ),
    "jacrev mixed floats": lambda o: o.jx.jacrev(lambda t: t[0].astype(F32) * t[1])(
        (o.jnp.ones(2, "bfloat16"), F32(3))
    ),
    "jacfwd half": lambda o: o.jx.jacfwd(lambda x: x * x)(o.jnp.asarray(V, "float16")),
    "jacfwd to complex": lambda o: o.jx.jacfwd(lambda x: x * 1j)(V),
    "jacfwd holomorphic": lambda o: o.jx.jacfwd(lambda z: z * z, holomorphic=True)(Z),
    "jacrev holomorphic": lambda o: o.jx.jacrev(lambda z: z * z, holomorphic=True)(Z),
    "jacrev of complex": lambda o: o.jx.jacrev(lambda z: (z * o.jnp.conj(z)).real)(Z),
    "jacrev of ints": lambda o: o.jx.jacrev(lambda x, y: x * y, argnums=(0, 1), allow_int=True)(N, V[:2]),
    "jacfwd integer result": lambda o: o.jx.jacfwd(lambda x: (2, x.astype("int32"), x))(V),
    "jacfwd constant": lambda o: o.jx.jacfwd(lambda x: 2.0)(V),
    "jacrev constant": lambda o: o.jx.jacrev(lambda x: 2.0)(V),
    "jacfwd empty": lambda o: o.jx.jacfwd(lambda x: x * 2)(np.zeros((0,), F32)),
    "jacrev empty": lambda o: o.jx.jacrev(lambda x: x * 2)(np.zeros((2, 0), F32)),
    "jacfwd None": lambda o: o.jx.jacfwd(lambda t: (t[1], None))((None, V)),
    "hessian": lambda o: o.jx.hessian(lambda x: o.jnp.sum(o.jnp.sin(x) * x[0]))(V),
    "hessian scalar": lambda o: o.jx.hessian(lambda x: x**3)(2.0),
    "hessian tree": lambda o: o.jx.hessian(lambda d: d["a"] @ d["a"] * d["b"])({"a": V, "b": 2.0}),
    "hessian argnums": lambda o: o.jx.hessian(lambda x, y: x @ y, argnums=(0, 1))(V, V),
    "hessian aux": lambda o: o.jx.hessian(lambda x: (x @ x, x), has_aux=True)(V),
    "hessian holomorphic": lambda o: o.jx.hessian(lambda z: o.jnp.sum(z**3), holomorphic=True)(Z),
    "jit of hessian": lambda o: o.jx.jit(o.jx.hessian(lambda x: o.jnp.sum(x**3)))(V),
    "hessian of jit": lambda o: o.jx.hessian(o.jx.jit(lambda x: o.jnp.sum(x**3)))(V),
    "vmap of jacrev": lambda o: o.jx.vmap(o.jx.jacrev(lambda x: o.jnp.sin(x)))(W),
    "vmap of jacfwd": lambda o: o.jx.vmap(o.jx.jacfwd(lambda x: x * x[1]))(W),
    "jacfwd of jacfwd": lambda o: o.jx.jacfwd(o.jx.jacfwd(lambda x: x**3))(V),
    "jacrev of jacrev": lambda o: o.jx.jacrev(o.jx.jacrev(lambda x: x**3))(V),
    "jacrev of jacfwd": lambda o: o.jx.jacrev(o.jx.jacfwd(lambda x: x**3))(V),
    "grad of trace of hessian": lambda o: o.jx.grad(lambda x: o.jnp.trace(o.jx.hessian(lambda y: o.jnp.sum(y**4))(x)))(
        V
    ),
}

GRADIENTS = {
    "grad argnums tuple": lambda o: o.jx.grad(quad(o), (0, 1))(2.0, 3.0),
    "grad argnums one tuple": lambda o: o.jx.grad(quad(o), (1,))(2.0, 3.0),
    "grad argnums list": lambda o: o.jx.grad(quad(o), [0])(2.0, 3.0),
    "grad negative": lambda o: o.jx.grad(quad(o), (-1, 0))(2.0, 3.0),
    "value_and_grad aux": lambda o: o.jx.value_and_grad(lambda x: (x @ x, {"x": x, "n": 3}), has_aux=True)(V),
    "grad aux of jit": lambda o: o.jx.grad(o.jx.jit(lambda x: (x @ x, {"x": x, "n": 3})), has_aux=True)(V),
    "jit of grad aux": lambda o: o.jx.jit(o.jx.grad(lambda x: (x @ x, {"x": x, "n": 3}), has_aux=True))(V),
    "grad tree": lambda o: o.jx.grad(lambda p: p.u.sum() * p.v[0] + 0.0 * p.v[1])(Pair(W, [2.0, F32(1)])),
    "grad holomorphic": lambda o: o.jx.grad(lambda z: z**2, holomorphic=True)(np.complex64(1 + 2j)),
    "grad real of complex": lambda o: o.jx.grad(lambda z: o.jnp.abs(z) ** 2)(np.complex64(1 + 2j)),
    "grad int": lambda o: o.jx.grad(lambda n, x: (n * x).sum(), argnums=(0, 1), allow_int=True)(N, V[:2]),
    "grad int alone": lambda o: o.jx.grad(lambda n: n * 1.0, allow_int=True)(3),
    "grad bool": lambda o: o.jx.grad(lambda b, x: o.jnp.where(b, x, 0.0), (0, 1), allow_int=True)(True, 2.0),
    "grad keyword": lambda o: o.jx.grad(lambda x, k: x * k)(2.0, k=3.0),
    "grad empty tree": lambda o: o.jx.grad(lambda t, x: x, argnums=0)({}, 1.0),
    "grad no dependence": lambda o: o.jx.grad(lambda x: 2.0)(V),
    "grad bf16": lambda o: o.jx.grad(lambda x: (x * x).sum())(o.jnp.asarray(V, "bfloat16")),
    "grad weak": lambda o: o.jx.grad(lambda x, y: x * y, (0, 1))(2.0, F32(3)),
    "third derivative": lambda o: o.jx.grad(o.jx.grad(o.jx.grad(lambda x: x**4)))(2.0),
    "vjp tree": lambda o: (lambda out, f: (out, f({"o": (V, F32(2))})))(
        *o.jx.vjp(lambda p: {"o": (p.u * 2, p.v @ p.v)}, Pair(V, V))
    ),
    "vjp aux": lambda o: (lambda out, f, aux: (out, f(V), aux))(
        *o.jx.vjp(lambda x: (x * x, {"aux": x + 1}), V, has_aux=True)
    ),
    "vjp int result": lambda o: o.jx.vjp(lambda x: (x, x.astype("int32")), V)[1]((V, np.zeros(3, o.jx.float0))),
    "vjp int argument": lambda o: o.jx.vjp(lambda n, x: n * x, N, V[:2])[1](V[:2]),
    "vjp twice": lambda o: (lambda f: (f(V), f(2 * V)))(o.jx.vjp(lambda x: o.jnp.sin(x), V)[1]),
    "vmap of pullback": lambda o: o.jx.vmap(o.jx.vjp(lambda x: o.jnp.sin(x) * x[0], V)[1])(np.eye(3, dtype=F32)),
    "linearize": lambda o: (lambda out, f: (out, f(V), f(2 * V)))(*o.jx.linearize(lambda x: o.jnp.sin(x) * x[0], V)),
    "linearize aux": lambda o: (lambda out, f, aux: (out, f(1.0), aux))(
        *o.jx.linearize(lambda x: (x * x, {"aux": x}), 3.0, has_aux=True)
    ),
    "linearize trees": lambda o: (lambda out, f: (out, f(Pair(V, 1.0), V)))(
        *o.jx.linearize(lambda p, y: {"a": p.u * p.v, "b": y @ p.u}, Pair(V, 2.0), V)
    ),
    "linearize int": lambda o: o.jx.linearize(lambda n, x: (n * x, n), 3, 2.0)[1](np.zeros((), o.jx.float0), 1.0),
    "jvp trees": lambda o: o.jx.jvp(lambda p: [p.u * p.v], (Pair(V, 2.0),), (Pair(V, 1.0),)),
    "jvp lists": lambda o: o.jx.jvp(lambda x, y: x * y, [V, 2.0], [V, 1.0]),
    "jvp aux": lambda o: o.jx.jvp(lambda x: (x * x, (x, 3)), (2.0,), (1.0,), has_aux=True),
    "jvp int": lambda o: o.jx.jvp(lambda n, x: (n, n * x), (3, 2.0), (np.zeros((), o.jx.float0), 1.0)),
    "fwd_and_bwd": lambda o: (lambda fwd, bwd: (lambda out, res: (out, bwd(res, 1.0)))(*fwd(2.0, 3.0)))(
        *o.jx.fwd_and_bwd(lambda x, y: x * o.jnp.sin(y), argnums=(0, 1))
    ),
    "fwd_and_bwd aux": lambda o: (lambda fwd, bwd: (lambda out, res, aux: (out, bwd(res, V), aux))(*fwd(V)))(
        *o.jx.fwd_and_bwd(lambda x: (x * x, x[0]), argnums=0, has_aux=True, jitted=False)
    ),
}

VMAPS = {
    "dict in_axes": lambda o: o.jx.vmap(lambda d: d["a"] * d["b"], in_axes=({"a": 0, "b": None},))(
        {"a": V, "b": V[:2]}
    ),
    "list in_axes": lambda o: o.jx.vmap(lambda x, y: x * y, in_axes=[0, None])(V, 2.0),
    "tree in_axes": lambda o: o.jx.vmap(lambda t, x: t[0] + t[1][0] * x, in_axes=((0, (None,)), 1))(
        (W[:, 0], (2.0,)), W.T
    ),
    "negative axes": lambda o: o.jx.vmap(lambda x: (x, x * 2), in_axes=-1, out_axes=(-1, 0))(W),
    "prefix None": lambda o: o.jx.vmap(lambda p, x: p["w"] @ x + p["b"], in_axes=(None, 0))(
        {"w": W, "b": V[:2]}, np.ones((4, 3), F32)
    ),
    "out None": lambda o: o.jx.vmap(lambda x: (x, V), out_axes=(0, None))(V),
    "out tree": lambda o: o.jx.vmap(lambda x: {"a": x, "b": x[0]}, out_axes={"a": 1, "b": 0})(W),
    "unmapped result": lambda o: o.jx.vmap(lambda x: 2.0)(V),
    "no result": lambda o: o.jx.vmap(lambda x: None)(V),
    "no arguments": lambda o: o.jx.vmap(lambda: 1.0, axis_size=3)(),
    "axis_size beside": lambda o: o.jx.vmap(lambda x: x + 1, in_axes=None, axis_size=2)(V),
    "keywords": lambda o: o.jx.vmap(lambda x, *, y: x * y, in_axes=None)(2.0, y=V),
    "spmd_axis_name": lambda o: o.jx.vmap(lambda x: x + 1, spmd_axis_name="d")(V),
    "sum_match": lambda o: o.jx.vmap(lambda x: (x, x), out_axes=(None, 0), sum_match=True)(V),
    "weak examples": lambda o: o.jx.vmap(lambda x, y: x * y, in_axes=(0, None))(o.jnp.arange(3), 2.0),
    "nested": lambda o: o.jx.vmap(o.jx.vmap(lambda x, y: x * y, in_axes=(None, 0)), in_axes=(0, None))(V, V),
    "vmap of jit": lambda o: o.jx.vmap(o.jx.jit(lambda x, y: x @ y), in_axes=(0, None))(W, V),
    "vmap of grad": lambda o: o.jx.vmap(o.jx.grad(lambda x: o.jnp.sin(x) ** 2))(V),
    "vmap of vmap of grad": lambda o: o.jx.vmap(o.jx.vmap(o.jx.grad(lambda x: o.jnp.sin(x) ** 2)))(W),
    "grad of vmap": lambda o: o.jx.grad(lambda x: o.jx.vmap(lambda y: o.jnp.sin(y) * x[0])(x).sum())(V),
}


def over(name: str, body: Any, *args: Any, **options: Any) -> Any:
    return lambda o: o.jx.vmap(lambda *xs: body(o, *xs), axis_name=name, **options)(*args)


SQUARE = np.arange(9, dtype=F32).reshape(3, 3)
COLLECTIVES = {
    "psum": over("i", lambda o, x: o.lax.psum(x, "i"), V),
    "psum tree": over("i", lambda o, x: o.lax.psum({"a": x, "b": (x * 2,)}, "i"), V),
    "psum bool": over("i", lambda o, x: o.lax.psum(x > 0, "i"), V),
    "psum of one": over("i", lambda o, x: (o.lax.psum(1, "i"), x), V),
    "psum of a float": over("i", lambda o, x: (x, o.lax.psum(1.5, "i") + 0 * x), V),
    "psum int": over("i", lambda o, x: o.lax.psum(x, "i"), N),
    "pmean": over("i", lambda o, x: o.lax.pmean(x, "i"), V),
    "pmean int": over("i", lambda o, x: o.lax.pmean(x, "i"), N),
    "pmean tree": over("i", lambda o, x: o.lax.pmean([x, x[0]], "i"), W),
    "pmax": over("i", lambda o, x: o.lax.pmax(x, "i"), V),
    "pmin": over("i", lambda o, x: o.lax.pmin(x, "i"), V),
    "normalised": over("i", lambda o, x: o.jnp.exp(x) / o.lax.psum(o.jnp.exp(x), "i"), V),
    "all_gather": over("i", lambda o, x: o.lax.all_gather(x, "i"), W),
    "all_gather axis": over("i", lambda o, x: o.lax.all_gather(x, "i", axis=1), W),
    "all_gather tiled": over("i", lambda o, x: o.lax.all_gather(x, "i", tiled=True), W),
    "all_to_all": over("i", lambda o, x: o.lax.all_to_all(x, "i", 0, 0), SQUARE),
    "all_to_all tiled": over("i", lambda o, x: o.lax.all_to_all(x, "i", 0, 0, tiled=True), SQUARE),
    "all_to_all axes": over(
        "i", lambda o, x: o.lax.all_to_all(x, "i", 1, 0), np.arange(18, dtype=F32).reshape(3, 2, 3)
    ),
    "ppermute": over("i", lambda o, x: o.lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]), V),
    "pshuffle": over("i", lambda o, x: o.lax.pshuffle(x, "i", [2, 0, 1]), V),
    "axis_index": over("i", lambda o, x: o.lax.axis_index("i") + 0 * x, V),
    "axis_size": over("i", lambda o, x: o.lax.axis_size("i") * x, V),
    "psum_scatter": over("i", lambda o, x: o.lax.psum_scatter(x, "i"), SQUARE),
    "psum_scatter tiled": over("i", lambda o, x: o.lax.psum_scatter(x, "i", tiled=True), SQUARE),
    "psum unmapped": over("i", lambda o, x, y: o.lax.psum(y, "i") + x, V, 2.0, in_axes=(0, None)),
    "two names": lambda o: o.jx.vmap(
        o.jx.vmap(lambda x: (o.lax.psum(x, "i"), o.lax.psum(x, "j"), o.lax.psum(x, ("i", "j"))), axis_name="j"),
        axis_name="i",
    )(W),
    "two names pmean": lambda o: o.jx.vmap(
        o.jx.vmap(lambda x: x - o.lax.pmean(x, ("i", "j")), axis_name="j"), axis_name="i"
    )(W),
    "index of two": lambda o: o.jx.vmap(
        o.jx.vmap(lambda x: o.lax.axis_index("i") * 10 + o.lax.axis_index("j") + 0 * x, axis_name="j"), axis_name="i"
    )(W),
    "gather outer": lambda o: o.jx.vmap(o.jx.vmap(lambda x: o.lax.all_gather(x, "i"), axis_name="j"), axis_name="i")(W),
    "inner without a name": lambda o: o.jx.vmap(o.jx.vmap(lambda x: x * o.lax.psum(x, "i")), axis_name="i")(W),
    "same name inside": lambda o: o.jx.vmap(
        lambda r: o.jx.vmap(lambda x: o.lax.psum(x, "i"), axis_name="i")(r), axis_name="k"
    )(W),
    "grad of psum inside": lambda o: o.jx.vmap(o.jx.grad(lambda x: o.lax.psum(x * x, "i")), axis_name="i")(V),
    "grad of psum outside": lambda o: o.jx.grad(
        lambda v: o.jx.vmap(lambda x: o.lax.psum(x * x, "i") * x, axis_name="i")(v).sum()
    )(V),
    "grad of pmean outside": lambda o: o.jx.grad(
        lambda v: o.jx.vmap(lambda x: (x - o.lax.pmean(x, "i")) ** 2, axis_name="i")(v).sum()
    )(V),
    "grad of all_gather": lambda o: o.jx.grad(
        lambda w: (o.jx.vmap(lambda x: o.lax.all_gather(x, "i") * x, axis_name="i")(w) ** 2).sum()
    )(W),
    "grad of ppermute": lambda o: o.jx.grad(
        lambda v: (
            o.jx.vmap(lambda x: o.lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]) * x, axis_name="i")(v) ** 2
        ).sum()
    )(V),
    "jit inside": lambda o: o.jx.vmap(o.jx.jit(lambda x: x / o.lax.psum(x, "i")), axis_name="i")(V),
    "jit outside": lambda o: o.jx.jit(o.jx.vmap(lambda x: x / o.lax.psum(x, "i"), axis_name="i"))(V),
    "groups": over("i", lambda o, x: o.lax.psum(x, "i", axis_index_groups=[[0, 1], [2]]), V),
    "groups of all_gather": over("i", lambda o, x: o.lax.all_gather(x, "i", axis_index_groups=[[0, 1], [2]]), V),
    "unbound": lambda o: o.lax.psum(V, "nowhere"),
    "unbound index": lambda o: o.lax.axis_index("nowhere"),
}

SHAPES = {
    "eval_shape": lambda o: o.jx.eval_shape(lambda x, y: {"a": x @ y, "n": 1, "w": 2.0}, W, V),
    "eval_shape of structs": lambda o: o.jx.eval_shape(
        lambda s: (s * 2, s.sum()), o.jx.ShapeDtypeStruct((2, 3), "float32")
    ),
    "eval_shape int64": lambda o: o.jx.eval_shape(lambda s: s, o.jx.ShapeDtypeStruct((2,), "int64")),
    "eval_shape key": lambda o: o.jx.eval_shape(lambda: o.jx.random.key(0)),
    "eval_shape weak struct": lambda o: o.jx.eval_shape(
        lambda s: s * F32(2), o.jx.ShapeDtypeStruct((), "float32", weak_type=True)
    ),
    "eval_shape grad": lambda o: o.jx.eval_shape(o.jx.grad(lambda x: (x * x).sum()), W),
    "return_shape": lambda o: o.jx.make_jaxpr(lambda x: {"o": x * 2}, return_shape=True)(V)[1],
}

JAXPRS = {
    "static_argnums": lambda o: jaxpr(o, lambda n, x: x * n, 2, V, static_argnums=0),
    "axis_env": lambda o: jaxpr(o, lambda x: x * 2.0, V, axis_env=[("i", 4)]),
    "inline, late": lambda o: jaxpr(o, o.jx.jit(lambda x: o.lax.sin(x) * 2.0, inline=True), V),
    "inline in jit, late": lambda o: jaxpr(
        o, lambda x: o.jx.jit(lambda x: o.lax.sin(x), inline=True)(o.jx.jit(lambda y: o.lax.cos(y), inline=True)(x)), V
    ),
    "jit kept": lambda o: jaxpr(o, lambda x: o.jx.jit(o.lax.sin)(o.lax.cos(x)), V),
    "kwargs": lambda o: text(o.jx.make_jaxpr(lambda x, *, k: x * k["a"])(V, k={"a": V})),
}

CASES = {
    **JACOBIANS, **GRADIENTS, **VMAPS, **COLLECTIVES, **SHAPES, **{f"jaxpr: {name}": case for name, case in JAXPRS.items()},
}  # fmt: skip
