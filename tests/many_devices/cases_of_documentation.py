"""Programs of the kinds that JAX's documentation teaches many devices with: layouts, explicit types, per-device code, pmap, arrays of several
processes. Cases as in `cases.py`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, tells
from tests.many_devices.cases_of_models import drawn


@case
def arrays_and_their_layouts(o: Any) -> Any:
    jx, jnp, P = o.jx, o.jnp, o.P
    x = jnp.arange(32.0).reshape(4, 8)
    mesh = jx.make_mesh((2, 4), ("x", "y"))
    laid = jx.device_put(x, o.Named(mesh, P("x", "y")))
    elementwise = jnp.sin(laid) * 2
    across = jnp.dot(x, x.T)
    one = [
        x.sharding.num_devices,
        str(jnp.sum(laid).sharding),
        len(laid.addressable_shards),
        sorted(d.id for d in laid.sharding.device_set),
    ]
    return [
        tells(laid),
        tells(elementwise),
        np.asarray(across),
        one,
        str(jx.typeof(laid)),
        laid.sharding.is_fully_replicated,
    ]


@case
def asked_for_by_hand_inside(o: Any) -> Any:
    jx, jnp, P = o.jx, o.jnp, o.P
    mesh = o.Mesh(np.array(jx.devices()), ("n",))

    @jx.jit
    def f(x: Any) -> Any:
        x = x + 1
        y = jx.lax.with_sharding_constraint(x, o.Named(mesh, P("n")))
        return y, jnp.tanh(y) @ jnp.ones((4, 4))

    return [tells(a) for a in f(o.n)]


@case
def layouts_in_types(o: Any) -> Any:
    jx, jnp, P, S = o.jx, o.jnp, o.P, o.S
    mesh = jx.make_mesh((2, 4), ("X", "Y"))
    told: list[Any] = []
    with jx.set_mesh(mesh):
        told.append(str(jx.typeof(np.arange(8))))
        a = S.reshard(np.arange(4, dtype=np.int32)[:, None], P("X", None))
        b = S.reshard(np.arange(8, dtype=np.int32)[None, :], P(None, "Y"))
        told += [str(jx.typeof(v)) for v in (a, b, a * b)]

        @jx.jit
        def table(a: Any, b: Any) -> Any:
            c = a + b
            told.append(str(jx.typeof(c)))
            told.append(str(jx.typeof(c.sum(0))))
            told.append(str(jx.typeof(c[None])))
            return c

        told.append(tells(table(a, b)))
        told.append(error(lambda: S.reshard(np.arange(8), P("X")) + S.reshard(np.arange(8), P("Y"))))
        told.append(error(lambda: jnp.dot(S.reshard(drawn(4, 4), P(None, "X")), S.reshard(drawn(4, 4), P("X", None)))))
        d = jnp.dot(
            S.reshard(drawn(4, 4), P(None, "X")), S.reshard(drawn(4, 4), P("X", None)), out_sharding=P("X", None)
        )
        told += [
            tells(d),
            str(jx.typeof(d)),
            str(S.get_abstract_mesh()),
            str(jx.typeof(jx.random.normal(jx.random.key(0), (8, 4), out_sharding=P("X", "Y")))),
        ]
    told.append(str(S.get_abstract_mesh()))
    return told


@case
def types_of_jaxprs(o: Any) -> Any:
    jx, jnp, P = o.jx, o.jnp, o.P
    with jx.set_mesh(o.typed):
        x = jx.device_put(o.n, P("x", "y"))
        jaxpr = jx.make_jaxpr(lambda x: (jnp.sin(x) * 2, x.sum(0), x.T, x[:, :, None] + jnp.ones(4)))(x)
    return [[str(a) for a in jaxpr.out_avals], str(jaxpr.in_avals[0])]


@case
def per_device_code(o: Any) -> Any:
    jx, jnp, P = o.jx, o.jnp, o.P
    seen: list[Any] = []

    @partial(jx.shard_map, mesh=o.mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))
    def matmul(a: Any, b: Any) -> Any:
        seen.append([a.shape, b.shape])
        part = jnp.dot(a, b)
        seen.append(part.shape)
        return jx.lax.psum(part, "y")

    a, b = drawn(8, 16), drawn(16, 4)
    c = matmul(a, b)
    return [seen, tells(c), bool(np.allclose(c, a @ b, atol=1e-4)), str(jx.typeof(c))]


@case
def pieces_repeated_and_joined(o: Any) -> Any:
    jx, P = o.jx, o.P
    found = {}
    x = np.arange(8, dtype=np.float32)
    for name, ins, outs, vma in [("cut", P("x"), P("x"), True), ("whole", P(), P(), True), ("tiled", P(), P("x"), True), ("unchecked", P("x"), P(), False), ("swapped", P("x"), P("y"), False),
                                 ("both", P(("x", "y")), P(("x", "y")), True), ("turned", P(("y", "x")), P(("x", "y")), True)]:  # fmt: skip
        f = jx.shard_map(lambda a: a * 2, mesh=o.mesh, in_specs=ins, out_specs=outs, check_vma=vma)
        found[name] = [error(lambda f=f: f(x)), *(tells(f(x)) if error(lambda f=f: f(x)) == "nothing" else [])]
    rank = jx.shard_map(lambda a: a.sum(keepdims=True), mesh=o.line, in_specs=P("x"), out_specs=P("x"))
    found["sums"] = tells(rank(x))
    found["refused"] = [
        error(lambda: jx.shard_map(lambda a: a, mesh=o.line, in_specs=P("x"), out_specs=P())(x)),
        error(lambda: jx.shard_map(lambda a: a.sum(), mesh=o.line, in_specs=P("x"), out_specs=P("x"))(x)),
    ]
    return found


@case
def types_that_vary(o: Any) -> Any:
    jx, lax, P = o.jx, o.lax, o.P
    told: list[Any] = []

    @partial(jx.shard_map, mesh=o.mesh, in_specs=(P("x"), P("y"), P()), out_specs=(P("x", "y"), P("x"), P()))
    def f(a: Any, b: Any, c: Any) -> Any:
        d = a[:, None] * b[None, :]
        e = lax.psum(d, "y")
        told.append(
            [
                sorted(jx.typeof(v).manual_axis_type.varying)
                for v in (
                    a,
                    b,
                    c,
                    d,
                    e,
                    a + c,
                    lax.pcast(c, ("x", "y"), to="varying"),
                    lax.all_gather(a, "x"),
                    lax.axis_index("y"),
                    lax.ppermute(b, "y", [(0, 1)]),
                )
            ]
        )
        told.append([str(jx.typeof(v)) for v in (a, c, d)])
        return d, e.sum(1), c * lax.psum(1, "x")

    outs = f(drawn(8), drawn(4), drawn(2))
    g = jx.shard_map(
        lambda c: lax.pcast(c, "x", to="varying") * (1 + lax.axis_index("x")),
        mesh=o.line,
        in_specs=P(),
        out_specs=P("x"),
    )
    return [told, [tells(x) for x in outs], tells(jx.jit(jx.grad(lambda c: g(c).sum()))(drawn(2)))]


@case
def examples_of_each_collective(o: Any) -> Any:
    jx, lax, P = o.jx, o.lax, o.P
    mesh = o.Mesh(np.array(jx.devices()[:4]), ("i",))
    spec = P("i")
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2], np.int32)
    run = lambda f, out=spec, vma=True: tells(
        jx.jit(jx.shard_map(f, mesh=mesh, in_specs=P("i"), out_specs=out, check_vma=vma))(x)
    )
    return [run(lambda b: lax.psum(b, "i"), P()), run(lambda b: lax.psum(b[:1] * 0 + 1, "i"), P()), run(lambda b: lax.all_gather(b, "i", tiled=True), P("i")), run(lambda b: lax.all_gather(b, "i").reshape(-1), P(), False),
            run(lambda b: lax.psum_scatter(b, "i", tiled=True)), run(lambda b: lax.ppermute(b, "i", [(j, (j + 1) % 4) for j in range(4)])), run(lambda b: lax.all_to_all(b, "i", 0, 0, tiled=True)),
            run(lambda b: lax.ppermute(b, "i", [(0, 1)])), run(lambda b: lax.psum_scatter(b, "i").reshape(1)), run(lambda b: lax.pmax(b, "i"), P())]  # fmt: skip


@case
def products_that_overlap(o: Any) -> Any:
    """A product whose right side is passed on, a block at a time."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    A, B = drawn(16, 8), drawn(8, 16)

    @jx.jit
    @partial(jx.shard_map, mesh=o.line, in_specs=(P("x"), P("x")), out_specs=P("x"))
    def f(a: Any, b: Any) -> Any:
        size, me = lax.axis_size("x"), lax.axis_index("x")
        rows = b.shape[0]
        out = lax.dynamic_slice_in_dim(a, me * rows, rows, 1) @ b
        for i in range(1, size):
            b = lax.ppermute(b, "x", [(j, (j - 1) % size) for j in range(size)])
            out += lax.dynamic_slice_in_dim(a, (me + i) % size * rows, rows, 1) @ b
        return out

    return [tells(f(A, B)), bool(np.allclose(f(A, B), A @ B, atol=1e-4)), jnp.shape(f(A, B))]


@case
def arrays_made_process_by_process(o: Any) -> Any:
    jx, P = o.jx, o.P
    at = o.at("x")
    data = np.arange(32, dtype=np.float32).reshape(16, 2)
    local = jx.make_array_from_process_local_data(at, data, (16, 2))
    by_device = [jx.device_put(part, d) for part, d in zip(np.split(data, 8), o.line.devices.flat)]
    joined = jx.make_array_from_single_device_arrays((16, 2), o.at("x", mesh=o.line), by_device)
    from_index = {d.id: str(i) for d, i in o.at("x", "y").addressable_devices_indices_map((16, 2)).items()}
    each = [np.asarray(local.addressable_data(i)) for i in range(2)]
    return [tells(local), tells(joined), from_index, each, local.is_fully_addressable, jx.process_index(), jx.process_count(), jx.local_device_count(), jx.device_count(),
            [d.id for d in jx.local_devices()], str(P(("x", "y")))]  # fmt: skip


@case
def keys_over_devices(o: Any) -> Any:
    jx, P = o.jx, o.P
    f = lambda key: jx.random.uniform(key, (16, 2))
    layouts = [None, o.at("x"), o.at(None, "y"), o.at("x", "y")]
    values = [np.asarray(jx.jit(f, out_shardings=s)(jx.random.key(42))) for s in layouts]
    return [
        values[0],
        [bool((v == values[0]).all()) for v in values],
        tells(jx.jit(f, out_shardings=o.Named(o.mesh, P("x")))(jx.random.key(42))),
    ]


@case
def means_over_pmapped_devices(o: Any) -> Any:
    jx, jnp, lax = o.jx, o.jnp, o.lax
    x = drawn(8, 5)
    kernel = np.array([2.0, 1.0, -1.0], np.float32)
    convolve = lambda x, w: jnp.stack([jnp.dot(x[i : i + 3], w) for i in range(3)])
    whole = jx.pmap(convolve, in_axes=(0, None))(x, kernel)
    normal = jx.pmap(lambda x: convolve(x, kernel) / lax.psum(convolve(x, kernel), "p"), axis_name="p")(x)

    @partial(jx.pmap, axis_name="batch")
    def update(params: Any, xs: Any, ys: Any) -> Any:
        loss, grads = jx.value_and_grad(lambda p: ((xs * p["w"] + p["b"] - ys) ** 2).mean())(params)
        grads = lax.pmean(grads, axis_name="batch")
        return jx.tree.map(lambda p, g: p - 0.1 * g, params, grads), lax.pmean(loss, axis_name="batch")

    params = jx.tree.map(lambda p: jnp.array([p] * 8), {"w": 0.5, "b": 0.0})
    xs, ys = drawn(8, 16, 1, seed=3), drawn(8, 16, 1, seed=4)
    losses = []
    for _ in range(3):
        params, loss = update(params, xs, ys)
        losses.append(np.asarray(loss))
    return [tells(whole), tells(normal), losses, {k: tells(v) for k, v in params.items()}]


@case
def meshes_made_for_topologies(o: Any) -> Any:
    import importlib

    jx = o.jx
    utils = importlib.import_module(f"{jx.__name__}.experimental.mesh_utils")
    grid = utils.create_device_mesh((4, 2))
    made = [
        jx.make_mesh((8,), ("a",)),
        jx.make_mesh((2, 2), ("a", "b"), devices=jx.devices()[:4]),
        jx.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(o.S.AxisType.Auto,) * 3),
    ]
    return [
        np.vectorize(lambda d: d.id)(grid),
        [m.device_ids for m in made],
        [str(m) for m in made],
        error(lambda: utils.create_device_mesh((3,))),
        error(lambda: jx.make_mesh((2,), ("a", "b"))),
    ]


@case
def convolutions_along_a_cut_axis(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    kernel = np.array([1.0, -2.0, 0.5], np.float32)
    with jx.set_mesh(o.typed):
        v, image = jx.device_put(drawn(16), P("x")), jx.device_put(drawn(2, 3, 8, 8, seed=1), P(None, None, "x", "y"))
        same = lambda v: jnp.convolve(v, kernel, mode="same")
        filters = jx.device_put(drawn(4, 3, 3, 3, seed=2), P())
        filtered = lambda image: lax.conv_general_dilated(image, filters, (1, 1), "SAME")
        return [
            tells(same(v)),
            tells(jx.jit(same)(v)),
            tells(jnp.correlate(v, drawn(16, seed=3), mode="same")),
            tells(jx.jit(jx.grad(lambda v: (same(v) ** 2).sum()))(v)),
            tells(jx.vmap(same)(jx.device_put(drawn(8, 6, seed=4), P("x")))),
            tells(jx.jit(filtered)(image)),
            tells(jx.jit(jx.grad(lambda a: (filtered(a) ** 2).sum()))(image)),
            error(lambda: jnp.convolve(v, kernel)),
            error(lambda: jnp.convolve(v, kernel, mode="valid")),
        ]


@case
def other_grids_of_the_same_devices(o: Any) -> Any:
    jx, jnp, P, S = o.jx, o.jnp, o.P, o.S
    explicit = S.AxisType.Explicit
    line, cube = S.AbstractMesh((8,), ("a",), (explicit,)), S.AbstractMesh((2, 2, 2), ("a", "b", "c"), (explicit,) * 3)

    def along(grid: Any, spec: Any) -> Any:
        def run(x: Any) -> Any:
            with S.use_abstract_mesh(grid):
                y = jnp.sin(S.reshard(x, spec)) * 2
                seen.append(str(jx.typeof(y)))
            return S.reshard(y, P("x", "y"))

        return run

    def of_four() -> None:
        with S.use_abstract_mesh(S.AbstractMesh((4,), ("a",), (explicit,))):
            pass

    seen: list[str] = []
    with jx.set_mesh(o.typed):
        x = jx.device_put(o.n, P("x", "y"))
        runs = [along(line, P("a")), along(cube, P("a", ("c", "b")))]
        return [
            [tells(jx.jit(f)(x)) for f in runs],
            [tells(jx.jit(jx.grad(lambda x, f=f: f(x).sum()))(x)) for f in runs],
            seen,
            error(of_four),
            error(lambda: line.update(axis_size=(4,))),
            str(line.update(axis_names=("q",))),
            error(lambda: o.Named(o.mesh, P("x"), memory_kin="device")),
        ]


@case
def local_data_laid_out_by_specs(o: Any) -> Any:
    jx, P = o.jx, o.P
    make = jx.make_array_from_process_local_data
    data = {"a": drawn(8, 2), "b": drawn(8, seed=1)}
    with jx.set_mesh(o.typed):
        return [
            {k: tells(v) for k, v in made.items()}
            for made in (
                make(P(("x",)), data),
                make({"a": P("x", "y"), "b": P()}, data, {"a": (8, 2), "b": (8,)}),
                make(o.at("x"), data, {"a": None, "b": (8,)}),
            )
        ] + [error(lambda: make(P("x"), data["b"], (16,))), error(lambda: make({"a": P()}, data))]


@case
def parameters_laid_out_where_they_are_made(o: Any) -> Any:
    import importlib

    jx, jnp, P = o.jx, o.jnp, o.P
    make = importlib.import_module(f"{jx.__name__}.nn").initializers
    key = jx.random.key(0)

    def parameters() -> list[Any]:
        found = [
            make.constant(0.5)(key, (8, 4), "float32", P("x", "y")),
            make.he_normal(1, 1)(key, (3, 8, 4), "float32", P(None, "x")),
            make.zeros(key, (8,), "float32", P("x")),
            make.uniform()(key, (8, 2), "float32", out_sharding=P("y")),
        ]
        return [found, jx.tree.map(jnp.zeros_like, found)]

    with jx.set_mesh(o.typed):
        return [[tells(a) for a in jx.tree.leaves(f())] for f in (parameters, jx.jit(parameters))]
