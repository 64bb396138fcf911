"""`shard_map`, `pmap` and `jit` over devices within each other and within other transformations. Cases as in `cases.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, tells
from tests.many_devices.cases_of_models import drawn


@case
def maps_over_one_axis_inside_of_another(o: Any) -> Any:
    jx, lax, P = o.jx, o.lax, o.P

    def inner(a: Any) -> Any:
        return a - lax.pmean(a, "y")

    def outer(a: Any) -> Any:
        b = jx.shard_map(inner, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"})(a)
        return b * lax.psum(b.sum(), "x")

    f = jx.shard_map(outer, mesh=o.mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    with jx.set_mesh(o.mesh):
        return tells(jx.jit(f)(drawn(8, 4)))


@case
def maps_under_vmap(o: Any) -> Any:
    jx, lax, P = o.jx, o.lax, o.P
    f = jx.shard_map(lambda a: a / lax.psum(a, "x"), mesh=o.line, in_specs=P("x"), out_specs=P("x"))
    a = drawn(3, 8, 2) + 3
    named = jx.vmap(
        jx.shard_map(lambda a: a - lax.pmax(a, "x"), mesh=o.mesh, in_specs=P("x"), out_specs=P("x")), spmd_axis_name="y"
    )
    return [tells(jx.vmap(f)(a)), tells(jx.vmap(f, in_axes=2, out_axes=1)(a.transpose(1, 2, 0))), tells(jx.jit(jx.vmap(jx.grad(lambda a: f(a).sum())))(a)),
            np.asarray(jx.jit(named)(drawn(2, 8, 2)))]  # fmt: skip


@case
def loops_over_maps(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    f = jx.shard_map(lambda a: a - 0.5 * lax.pmean(a, "x"), mesh=o.line, in_specs=P("x"), out_specs=P("x"))
    a = drawn(8, 2)
    loop = lambda a: lax.scan(lambda c, _: (f(c), c.sum()), a, None, length=4)
    until = lambda a: lax.while_loop(lambda c: jnp.abs(c).max() > 0.1, f, a)
    either = lambda a, p: lax.cond(p, f, lambda a: a * 2, a)
    return [tells(jx.jit(loop)(a)[0]), np.asarray(loop(a)[1]), np.asarray(jx.jit(until)(a * 0 + 1)), [np.asarray(jx.jit(either)(a, p)) for p in (True, False)],
            tells(jx.jit(jx.grad(lambda a: loop(a)[0].sum() + either(a, True).sum()))(a))]  # fmt: skip


@case
def control_flow_inside_of_maps(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P

    def body(a: Any) -> Any:
        i = lax.axis_index("x")
        a = lax.cond(i % 2 == 0, lambda a: a * 2, jnp.sin, a)
        a = lax.switch(i % 3, [lambda a: a, lambda a: -a, lambda a: a + 1], a)
        a = lax.fori_loop(0, 3, lambda k, c: c + 0.1 * lax.psum(c, "x"), a)
        n, a = lax.while_loop(lambda s: s[0] < i, lambda s: (s[0] + 1, s[1] * 0.9), (i * 0, a))
        _, ys = lax.scan(lambda c, x: (c + x, c * x), jnp.zeros_like(a[0]), a)
        return ys + n

    f = jx.shard_map(body, mesh=o.line, in_specs=P("x"), out_specs=P("x"))
    a = drawn(16, 2)
    forward = jx.jit(lambda a: jx.jvp(f, (a,), (a * 0 + 1,))[1])
    return [tells(jx.jit(f)(a)), tells(forward(a))]


@case
def remembered_and_computed_again(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P

    def layer(w: Any, x: Any) -> Any:
        return jnp.tanh(lax.psum(x @ w, "y"))

    results = []
    for policy in (None, jx.checkpoint_policies.dots_saveable, jx.checkpoint_policies.nothing_saveable):
        again = jx.checkpoint(layer, policy=policy)
        f = jx.shard_map(again, mesh=o.mesh, in_specs=(P("y"), P("x", "y")), out_specs=P("x"))
        whole = jx.checkpoint(
            jx.shard_map(layer, mesh=o.mesh, in_specs=(P("y"), P("x", "y")), out_specs=P("x")), policy=policy
        )
        for g in (f, whole):
            slopes = jx.jit(jx.grad(lambda w, x, g=g: (g(w, x) ** 2).sum(), (0, 1)))(drawn(4, 4), drawn(8, 4))
            results.append([tells(s) for s in slopes])
    return results


@case
def own_derivatives(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P

    @jx.custom_vjp
    def clipped(x: Any) -> Any:
        return x * 3

    clipped.defvjp(lambda x: (x * 3, x), lambda x, g: (jnp.clip(g, -1, 1) * x,))

    @jx.custom_jvp
    def bent(x: Any) -> Any:
        return jnp.sin(x)

    bent.defjvp(lambda p, t: (bent(*p), 2 * t[0]))
    outside = jx.shard_map(
        lambda a: clipped(bent(a)) + lax.pmean(a, "x"), mesh=o.line, in_specs=P("x"), out_specs=P("x")
    )

    @jx.custom_vjp
    def mapped(a: Any) -> Any:
        return outside(a)

    mapped.defvjp(lambda a: (outside(a), a), lambda a, g: (outside(g) * a,))
    a = drawn(8, 2)
    return [tells(jx.jit(jx.grad(lambda a, f=f: (f(a) ** 2).sum()))(a)) for f in (outside, mapped)] + [
        tells(clipped(o.put("x"))),
        tells(jx.grad(lambda a: clipped(a).sum())(o.put("x"))),
    ]


@case
def derivatives_of_second_order_and_forward(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    f = jx.shard_map(lambda a: lax.psum((jnp.sin(a) ** 3).sum(), "x"), mesh=o.line, in_specs=P("x"), out_specs=P())
    a = drawn(8)
    linear = jx.linearize(f, a)
    back = jx.vjp(f, a)
    return [np.asarray(jx.jit(jx.hessian(f))(a)), np.asarray(jx.jacfwd(f)(a)), np.asarray(jx.jacrev(jx.grad(f))(a)), float(linear[1](a)), np.asarray(back[1](np.float32(2))[0]),
            [np.asarray(x) for x in jx.jvp(jx.grad(f), (a,), (a,))]]  # fmt: skip


@case
def collectives_by_axes(o: Any) -> Any:
    jx, lax, P = o.jx, o.lax, o.P
    cube = o.Mesh(np.array(jx.devices()).reshape(2, 2, 2), ("a", "b", "c"))
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    spec = P(("a", "b"), "c")
    calls = {
        "psum": lambda x: lax.psum(x, ("a", "c")), "pmean": lambda x: lax.pmean(x, "b"), "gather": lambda x: lax.all_gather(x, ("b", "a"), axis=1),
        "gathered": lambda x: lax.all_gather(x, ("a", "b"), tiled=True), "scatter": lambda x: lax.psum_scatter(x, "c", scatter_dimension=1, tiled=True),
        "index": lambda x: x * 0 + lax.axis_index(("a", "b", "c")), "size": lambda x: x * 0 + lax.axis_size(("a", "b")),
        "swap": lambda x: lax.all_to_all(x, "a", 0, 1, tiled=True), "permute": lambda x: lax.ppermute(x, ("a", "b"), [(0, 3), (3, 1), (1, 0)]),
        "shuffle": lambda x: lax.pshuffle(x, "c", [1, 0]), "pmin": lambda x: lax.pmin(x, ("b", "c")), "bool": lambda x: lax.psum((x > 9).astype(int), "a"),
        "several": lambda x: sum(lax.psum((x, 2 * x, 1), "b")), "number": lambda x: x * lax.psum(1, ("a", "b")),
    }  # fmt: skip
    found = {}
    for name, f in calls.items():
        mapped = lambda g, f=f: jx.shard_map(
            lambda x: g(f(x)), mesh=cube, in_specs=spec, out_specs=P(("a", "b", "c")), check_vma=False
        )
        whole = mapped(lambda y: y.reshape(1, -1))
        found[name] = [np.asarray(jx.jit(whole)(x))]
        if name not in ("index", "size", "pmin", "bool"):
            found[name].append(np.asarray(jx.jit(jx.grad(lambda x, w=whole: (w(x) ** 2).sum()))(x)))
    return found


@case
def pmapped_in_all_ways(o: Any) -> Any:
    jx, jnp, lax = o.jx, o.jnp, o.lax
    a, b = drawn(8, 3), drawn(3, 8, seed=1)
    calls = [
        lambda: jx.pmap(lambda a, b: a * b, in_axes=(0, 1))(a, b), lambda: jx.pmap(lambda a, b: a @ b, in_axes=(0, None))(a, b),
        lambda: jx.pmap(lambda a: (a, a.sum()), out_axes=(1, 0))(a), lambda: jx.pmap(lambda a, n: a ** n, static_broadcasted_argnums=1)(a, 3),
        lambda: jx.pmap(lambda a: lax.axis_index("i") + a, axis_name="i", axis_size=8)(a), lambda: jx.pmap(lambda t: {"s": t["u"] + t["v"]})({"u": a, "v": a[:, ::-1]}),
        lambda: jx.pmap(lambda a: lax.psum(a, "i"), "i", devices=jx.devices()[:4])(a[:4]), lambda: jx.pmap(lambda a, k=1.0: a * k)(a, k=jnp.arange(8.0)),
        lambda: jx.pmap(lambda a: jx.vmap(lambda c: c / lax.psum(c, ("i", "j")), axis_name="j")(a), "i")(a + 4), lambda: jx.pmap(jx.grad(lambda a: (a**2).sum()))(a),
        lambda: jx.grad(lambda a: jx.pmap(lambda a: lax.pmean(a, "i") * a, "i")(a).sum())(a), lambda: jx.jit(jx.pmap(lambda a: a * 2))(a),
        lambda: jx.vmap(jx.pmap(lambda a: a - lax.pmean(a, "i"), "i"))(drawn(2, 8)), lambda: jx.pmap(lambda a: a, donate_argnums=0)(jnp.asarray(a)),
        lambda: jx.pmap(lambda a: (None, a))(a)[1], lambda: jx.pmap(lambda a: a, out_axes=None)(a * 0), lambda: jx.pmap(lambda a: lax.all_gather(a, "i"), "i", out_axes=None)(a),
    ]  # fmt: skip
    found = [[tells(x) for x in jx.tree.leaves(call())] for call in calls]
    wrong = [
        lambda: jx.pmap(lambda a: a)(3.0), lambda: jx.pmap(lambda a: a)(), lambda: jx.pmap(lambda a, b: a, in_axes=(0,))(a, a), lambda: jx.pmap(lambda a: a, in_axes=None)(a),
        lambda: jx.pmap(lambda a: lax.psum(a, "k"), "i")(a), lambda: jx.pmap(3), lambda: jx.pmap(lambda a: a, out_axes=4)(a), lambda: jx.pmap(lambda a, n: a, static_broadcasted_argnums=1)(a, [3])]  # fmt: skip
    return [found, [error(w) for w in wrong]]


@case
def pmap_inside_of_pmap(o: Any) -> Any:
    jx, lax = o.jx, o.lax
    a = drawn(4, 2, 3)
    nested = jx.pmap(jx.pmap(lambda a: a - lax.psum(a, ("i", "j")), "j"), "i")
    return [error(lambda: nested(a))]


@case
def replicated_states_as_they_were_made(o: Any) -> Any:
    jx, lax = o.jx, o.lax
    w = drawn(3)
    step = jx.pmap(
        lambda w, x: w - 0.1 * lax.pmean(jx.grad(lambda w: ((x @ w) ** 2).sum())(w), "b"),
        axis_name="b",
        in_axes=(None, 0),
    )
    return [tells(step(w, drawn(8, 4, 3)))]


@case
def stages_without_devices(o: Any) -> Any:
    """Programs over more devices than there are: types and text alone."""
    jx, P, S = o.jx, o.P, o.S
    mesh = S.AbstractMesh((16, 4), ("x", "y"), (S.AxisType.Auto,) * 2)
    f = jx.shard_map(lambda a: o.lax.psum(a, "y") * 2, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x"))
    shape = jx.ShapeDtypeStruct((64, 8), np.float32)
    jaxpr = jx.make_jaxpr(f)(shape)
    out = jx.eval_shape(f, shape)
    typed = S.AbstractMesh((16, 4), ("x", "y"), axis_types=(S.AxisType.Explicit,) * 2)
    with S.use_abstract_mesh(typed):
        told = jx.eval_shape(
            lambda a: (a * 2).sum(1), jx.ShapeDtypeStruct((64, 8), np.float32, sharding=o.Named(typed, P("x")))
        )
    return [out.shape, str(jaxpr.jaxpr.invars[0].aval), [str(e.primitive) for e in jaxpr.jaxpr.eqns], str(told.sharding), told.shape,
            repr(S.AbstractMesh((16, 4), ("x", "y"), (S.AxisType.Auto,) * 2)), error(lambda: mesh.devices), error(lambda: f(np.ones((64, 8))))]  # fmt: skip


@case
def layouts_said_inside(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    hold = lax.with_sharding_constraint

    def f(a: Any) -> Any:
        b = hold(a * 2, o.at("x"))
        c, d = hold((b, b.T), (o.at("x", "y"), o.at(None, ("x", "y"))))
        return b, c, d, hold(c + 1, o.at(P.UNCONSTRAINED, "y"))

    a = drawn(8, 4)
    outs = jx.jit(f)(a)
    with jx.set_mesh(o.mesh):
        named = jx.jit(lambda a: (hold(a, P("x")), hold({"k": a}, P(None, "y"))["k"]))(a)
    return [[tells(x) for x in outs[:3]], np.asarray(outs[3]), [tells(x) for x in named], tells(jx.jit(jx.grad(lambda a: (hold(jnp.sin(a), o.at("y")) ** 2).sum()))(o.put("x"))),
            tells(jx.jit(jx.vmap(lambda r: hold(r * 2, o.at("y"))))(a)), tells(jx.jit(lambda a: lax.fori_loop(0, 2, lambda _, c: hold(c + 1, o.at("x")), a))(a)),
            [error(e) for e in (lambda: jx.jit(lambda a: hold(a, P("x")))(a), lambda: jx.jit(lambda a: hold(a, o.at("x", "y", "z")))(a), lambda: hold(a, o.at("x", None, None)))],
            tells(hold(a, o.at("x")))]  # fmt: skip


@case
def mixed_axes(o: Any) -> Any:
    """One axis in types, one for the compiler."""
    jx, jnp, S, P = o.jx, o.jnp, o.S, o.P
    mesh = jx.make_mesh((4, 2), ("x", "y"), axis_types=(S.AxisType.Explicit, S.AxisType.Auto))
    a = jx.device_put(o.n, o.Named(mesh, P("x", "y")))
    with jx.set_mesh(mesh):
        outs = jx.jit(lambda a: (a * 2, a.sum(1), a.T, jnp.sin(a).reshape(8, 2, 2)))(a)
        g = jx.jit(jx.grad(lambda a: (a**2).sum()))(a)
    return [
        [[np.asarray(x), str(jx.typeof(x))] for x in outs],
        str(jx.typeof(g)),
        str(jx.typeof(a)),
        str(mesh.abstract_mesh),
    ]


@case
def types_in_force_and_left(o: Any) -> Any:
    jx, jnp, S, P = o.jx, o.jnp, o.S, o.P
    a = jx.device_put(o.n, o.Named(o.typed, P("x", "y")))
    with jx.set_mesh(o.typed):
        auto = S.auto_axes(lambda a: jnp.cumsum(a, 0), axes="x", out_sharding=P("x", "y"))
        whole = S.auto_axes(lambda a: a @ a.T, out_sharding=P("x"))
        outs = [jx.jit(auto)(a), jx.jit(whole)(a), S.reshard(a, P(None, "y")), jx.jit(lambda a: S.reshard(a.T, P("x")))(a), jnp.zeros((8, 2), out_sharding=P("x")),
                jx.jit(lambda a: jnp.einsum("ij,kj->ik", a, S.reshard(a, P(None, "y")), out_sharding=P("x")))(a), jx.jit(jx.vmap(lambda r: r * 2))(a),
                jx.jit(lambda a: jx.lax.scan(lambda c, r: (c + r, r.sum()), a[0] * 0, a)[0])(S.reshard(a, P(None, "y"))), jx.nn.softmax(S.reshard(a, P("x"))),
                jx.jit(lambda a: a.at[:, 0].set(1.0))(S.reshard(a, P("x"))), jnp.concatenate([a, a], 1), a[None], jnp.broadcast_to(a, (3, 8, 4))]  # fmt: skip
        slopes = jx.jit(jx.grad(lambda a: (whole(a) ** 2).sum()))(a)
    return [[[*tells(x), str(jx.typeof(x))] for x in [*outs, slopes]]]
