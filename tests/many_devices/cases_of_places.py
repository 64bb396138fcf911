"""Where results lie: what `x.sharding`, `x.committed` and the parts say after operations of daily use."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.many_devices.cases import case, error


def where(tree: Any, o: Any) -> Any:
    """Of each array its layout, whether it is committed, and the sum of its values."""
    found = []
    for x in o.jx.tree.leaves(tree):
        s = x.sharding
        said = str(s) if not isinstance(s, o.Named) else f"{s.mesh} {s.spec} {s.memory_kind}"
        values = np.asarray(x).astype(complex)
        found.append([said, x.committed, x.is_fully_replicated, str(o.jx.typeof(x)), float(np.abs(values).sum())])
    return found


@case
def places_of_indexing(o: Any) -> Any:
    x, rows, jnp = o.put("x", "y"), o.put("x"), o.jnp
    whole = jnp.asarray(o.n)
    numbers = o.jx.device_put(np.arange(8) % 4, o.at("x"))
    gone = [x[2], x[-1], x[1, 2], x[::2], x[::-2], x[2:6], x[:, 1:3], x[..., None], x[:, 0], x[::2, ::3], x[None, ::2]]
    gone += [x[jnp.array([0, 3])], x[:, np.array([0, 1])], x[jnp.array([0, 1]), jnp.array([1, 1])], x[x[:, 0] > 8]]
    gone += [x[np.array([True, False] * 4)], x[numbers], whole[numbers], jnp.take(x, jnp.array([1, 2]), axis=0)]
    gone += [
        x[jnp.int32(3)],
        x.at[0].set(1.0),
        rows.at[jnp.array([0, 1])].add(2.0),
        x.at[1].get(),
        *list(rows)[:2],
        *x[:2],
    ]
    gone += [
        jnp.unstack(x)[0],
        o.lax.dynamic_slice(x, (1, 0), (4, 2)),
        jnp.array([rows[0], rows[1]]),
        jnp.array([x, x]),
    ]
    return where([gone, o.jx.jit(lambda a: (a[2], a[::2], a[:, 0]))(x)], o)


@case
def places_of_linear_algebra(o: Any) -> Any:
    jnp, la = o.jnp, o.jnp.linalg
    square = o.n @ o.n.T / 40 + 8 * np.eye(8, dtype=np.float32)
    one = o.jx.device_put(square, o.at("x", None))
    many = o.jx.device_put(np.stack([square] * 8), o.at("x"))
    found = [la.cholesky(one), la.inv(one), la.eigh(one)[0], la.qr(one), la.norm(one), la.det(one)]
    found += [
        la.cholesky(many),
        la.inv(many),
        la.solve(many, jnp.ones((8, 8, 1))),
        la.eigh(many)[0],
        la.svd(many)[1],
        la.qr(many)[1],
    ]
    found += [la.det(many), o.jx.jit(o.jx.vmap(la.cholesky))(many)]
    return [[*row[:4], float(f"{row[4]:.3g}")] for row in where(found, o)]


@case
def places_of_committed_arrays(o: Any) -> Any:
    jx, jnp, lax = o.jx, o.jnp, o.lax
    third = jx.devices()[3]
    a, first = jx.device_put(o.n, third), jx.device_put(o.n, jx.devices()[0])
    found = [
        a,
        first,
        first + 1,
        jnp.asarray(o.n) + 1,
        a + 1,
        a[0],
        a.sum(),
        jx.jit(lambda q: q * 2)(a),
        jnp.concatenate([a, jnp.ones((1, 4))]),
    ]
    found += [
        jnp.array([a, a]),
        next(iter(a)),
        a.at[0].set(0.0),
        jnp.zeros_like(a),
        jnp.zeros_like(o.jnp.asarray(o.n)),
        jx.vmap(jnp.sin)(a),
    ]
    found += [
        jx.grad(lambda q: (q**2).sum())(a),
        jnp.linalg.svd(a)[1],
        jnp.zeros(3, device=third),
        jnp.ones((8,), device=o.at("x")),
    ]
    found += [
        jnp.asarray(o.n, device=third),
        jnp.arange(8, device=o.at("x")),
        jx.jit(lambda q: q + 1, out_shardings=o.S.SingleDeviceSharding(third))(o.n),
    ]
    found += [lax.scan(lambda c, r: (c + r, r), jnp.zeros(4), a), a @ a.T, jnp.where(a > 1, a, 0.0)]
    found += [
        lax.full_like(a, 1),
        lax.full_like(a, 2.0, shape=()),
        lax.full_like(jnp.asarray(o.n), 1),
        jnp.zeros_like(a, shape=3),
    ]
    found += [jnp.ones_like(o.put("x"), shape=(3,)), jnp.full_like(a, 2, shape=(2, 2), dtype=int)]
    with jx.default_device(jx.devices()[2]):
        found += [jnp.ones(3), jx.jit(lambda q: q)(o.n)]
    x = o.put("x")
    wrong = [lambda: a + first, lambda: x + a, lambda: x @ a.T, lambda: x.at[0].set(a[0]), lambda: jnp.array([x, a])]
    wrong += [
        lambda: lax.with_sharding_constraint(a, o.at("x")),
        lambda: jx.jit(lambda q: lax.with_sharding_constraint(q, o.at("x")))(a),
    ]
    with jx.set_mesh(o.mesh):
        inside = [error(f) for f in (lambda: a.T, lambda: a + 1, lambda: jx.jit(lambda q: q + 1)(a), lambda: x + 1)]
    like = [str(jx.ShapeDtypeStruct.like(x).sharding) for x in (a, first, jnp.asarray(o.n), o.n)]
    return [where(found, o), [error(f) for f in wrong], inside, like]


@case
def places_of_device_put(o: Any) -> Any:
    """Inside of programs it says nothing but over which devices they run; gradients come back to where the values were."""
    jx, jnp = o.jx, o.jnp
    x, a = o.put("x", "y"), jx.device_put(o.n, jx.devices()[3])
    put = lambda s: lambda q: jx.device_put(q, s)
    square = lambda s: lambda q: (jx.device_put(q, s) ** 2).sum()
    found = [
        jx.jit(put(o.at("x")))(o.n),
        jx.jit(put(o.at("y")))(x),
        jx.jit(put(o.at()))(x),
        jx.jit(put(jx.devices()[0]))(o.n),
    ]
    found += [
        jx.jit(put(jx.devices()[3]))(o.n),
        jx.jit(lambda q: jx.device_put(q, jx.devices()[2]) + 1)(a),
        jx.jit(put(None))(x),
    ]
    found += [
        jx.grad(square(o.at("x")))(jnp.asarray(o.n)),
        jx.grad(square(o.at("y")))(x),
        jx.jit(jx.grad(square(o.at("x"))))(o.n),
    ]
    found += [
        jx.grad(square(jx.devices()[2]))(jnp.asarray(o.n)),
        jx.grad(square(o.at("x")))(a),
        jx.vjp(put(o.at("x")), jnp.asarray(o.n))[1](x),
    ]
    found += [jx.jvp(put(o.at("x")), (o.n,), (o.n,)), jx.vmap(lambda r: jx.device_put(r, jx.devices()[2]))(a)]
    return where(found, o)


@case
def places_under_a_mesh_in_force(o: Any) -> Any:
    jnp = o.jnp
    made = lambda: [jnp.zeros(3), jnp.asarray(o.n), jnp.arange(4), jnp.array([1.0, 2.0]), jnp.eye(3), jnp.float32(2), jnp.linspace(0, 1, 5),
                    jnp.asarray(3), jnp.stack([o.n, o.n]), o.jx.device_put(o.n), jnp.full((2,), 3)]  # fmt: skip
    found = []
    for mesh in (o.mesh, o.typed):
        with o.jx.set_mesh(mesh):
            found.append(where(made(), o))
    return found


@case
def specs_of_results(o: Any) -> Any:
    """Results that lie as the first argument does are called as that is."""
    jx, P = o.jx, o.P
    a, rows = o.put("x", None), o.put("x")
    found = [
        jx.jit(lambda q: q)(a),
        jx.jit(lambda q: q * 2)(a),
        a + 1,
        jx.jit(lambda q, r: (q, r, q + r))(a, rows),
        rows + a,
    ]
    found += [
        o.put(None, None) + 1,
        jx.jit(lambda q: q)(o.put(None, None)),
        jx.grad(lambda q: (q**2).sum())(a),
        a.sum(1),
        a.T,
        a[:, None],
    ]
    with jx.set_mesh(o.mesh):
        found.append(jx.jit(lambda q: q, in_shardings=P("x", None), out_shardings=P("x", None))(o.n))
    compiled = jx.jit(lambda q: q * 2).lower(a).compile()
    shapes = [jx.eval_shape(jx.jit(lambda q: q, out_shardings=o.at("x")), o.n), jx.eval_shape(lambda q: q * 2, a)]
    shapes += [
        jx.jit(lambda q: (q, q.T), out_shardings=o.at("x")).lower(o.n).out_info,
        jx.jit(lambda q: q).trace(a).out_info,
    ]
    struct = jx.ShapeDtypeStruct((8, 4), np.float32)
    total = jx.shard_map(lambda q: o.lax.psum(q, "x"), mesh=o.mesh, in_specs=P("x"), out_specs=P())
    shapes += [
        jx.eval_shape(total, struct),
        jx.eval_shape(total, a),
        jx.eval_shape(total, jx.ShapeDtypeStruct((8, 4), np.float32, sharding=o.at("x"))),
    ]
    return [where(found, o), str(compiled.input_shardings), str(compiled.output_shardings), str(shapes)]


@case
def texts_of_lowered_programs(o: Any) -> Any:
    """The head of the module, and what the program says of arguments and results."""
    jx = o.jx
    programs = [jx.jit(lambda q: q * 2).lower(o.put("x", "y")), jx.jit(lambda q: (q.sum(0), {"k": q})).lower(o.n)]
    programs.append(jx.jit(lambda q: q.sum(0), in_shardings=o.at("x"), out_shardings=o.at()).lower(o.n))
    return [[line for line in p.as_text().splitlines() if "@" in line] for p in programs]


@case
def drawings_of_layouts(o: Any) -> Any:
    import contextlib
    import io

    drawn = io.StringIO()
    shapes = [
        ((8, 4), ("x",)),
        ((8, 4), ("x", "y")),
        ((16,), ("x",)),
        ((8, 4), (None, "x")),
        ((8, 4), ()),
        ((4, 8), ("y",)),
        ((32, 16), ("x", "y")),
    ]
    with contextlib.redirect_stdout(drawn):
        for shape, spec in shapes:
            o.jx.debug.visualize_sharding(shape, o.at(*spec), use_color=False)
        o.jx.debug.visualize_array_sharding(o.jnp.ones((4, 4)), use_color=False)
        o.jx.debug.visualize_array_sharding(o.put("x", "y"), use_color=False, scale=2.0, min_width=12)
    return drawn.getvalue().splitlines()


@case
def places_of_reductions_that_are_asked(o: Any) -> Any:
    kinds = o.jx.sharding.AxisType.Explicit
    mesh = o.jx.make_mesh((8,), ("d",), axis_types=(kinds,))
    with o.jx.set_mesh(mesh):
        x = o.jx.device_put(np.arange(64, dtype=np.float32).reshape(8, 8), o.Named(mesh, o.P(None, "d")))
        asked = (o.P("d"), o.P(None))
        return where([f(x, (0,), out_sharding=p) for f in (o.lax.reduce_max, o.lax.reduce_min) for p in asked], o)
