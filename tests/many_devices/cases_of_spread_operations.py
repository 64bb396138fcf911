"""Single operations over divided arrays, and how arrays are made, moved and kept. Cases as in `cases.py`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, tells
from tests.many_devices.cases_of_models import drawn


def along(o: Any, f: Any, *given: Any, specs: Any = (("x",), ("y", "x"))) -> list[Any]:
    """What a function gives for a first argument on one device, and whether it gives that for one that lies in each of some ways."""
    run = o.jx.jit(f)
    found = [run(a, *given[1:]) for a in (given[0], *[o.jx.device_put(given[0], o.at(*spec)) for spec in specs])]
    one, *others = [[np.asarray(a) for a in o.jx.tree.leaves(out)] for out in found]
    return [one, [[bool(np.allclose(a, b, 1e-4, 1e-4)) for a, b in zip(one, other)] for other in others]]


@case
def random_numbers_of_divided_keys(o: Any) -> Any:
    jx = o.jx
    keys = jx.random.split(jx.random.key(1), 8)
    spread = jx.device_put(keys, o.at("x"))
    f = jx.jit(jx.vmap(lambda k: jx.random.normal(k, (3,))))
    inside = jx.shard_map(
        jx.vmap(lambda k: jx.random.uniform(k, (2,))), mesh=o.line, in_specs=o.P("x"), out_specs=o.P("x")
    )
    folded = jx.shard_map(
        lambda: jx.random.bits(jx.random.fold_in(jx.random.key(0), o.lax.axis_index("x")), (1,)),
        mesh=o.line, in_specs=(), out_specs=o.P("x"))  # fmt: skip
    kinds = [lambda k: jx.random.permutation(k, 16), lambda k: jx.random.categorical(k, o.jnp.zeros((8, 4))), lambda k: jx.random.gamma(k, 2.0, (8,)),
             lambda k: jx.random.randint(k, (8, 2), 0, 100), lambda k: jx.random.truncated_normal(k, -1, 1, (8,))]  # fmt: skip
    return [tells(f(spread)), np.asarray(inside(keys)), np.asarray(folded()), str(spread.sharding),
            [np.asarray(jx.jit(k, out_shardings=o.at("x"))(jx.random.key(5))) for k in kinds]]  # fmt: skip


@case
def transforms_of_fourier(o: Any) -> Any:
    a = drawn(8, 8)
    f = lambda a: (
        o.jnp.abs(o.jnp.fft.fft(a)),
        o.jnp.abs(o.jnp.fft.rfft2(a)),
        o.jnp.fft.ifft(o.jnp.fft.fft(a, axis=0), axis=0).real,
    )
    return along(o, f, a)


@case
def sorted_and_chosen(o: Any) -> Any:
    jnp = o.jnp
    f = lambda a: (jnp.sort(a, 0), jnp.argsort(a, 1), *o.lax.top_k(a, 2), jnp.median(a, 0), jnp.searchsorted(jnp.sort(a[:, 0]), a[:, 1]),
                   jnp.argmax(a), jnp.unique(a, size=32), jnp.nonzero(a > 0, size=20)[0], jnp.quantile(a, 0.3, axis=0))  # fmt: skip
    return along(o, f, drawn(8, 4))


@case
def sums_along_axes(o: Any) -> Any:
    jnp = o.jnp
    f = lambda a: (jnp.cumsum(a, 0), jnp.cumprod(a, 1), o.lax.cummax(a, 0), o.lax.associative_scan(jnp.add, a), jnp.diff(a, axis=0),
                   o.lax.reduce_window(a, -jnp.inf, o.lax.max, (2, 2), (2, 2), "VALID"), jnp.convolve(a[:, 0], a[:, 1]), jnp.var(a, 0))  # fmt: skip
    return along(o, f, drawn(8, 4))


@case
def rows_picked_and_written(o: Any) -> Any:
    jnp = o.jnp
    at = np.array([7, 0, 3, 3])
    f = lambda a: (a[at], jnp.take(a, at % 4, axis=1), a.at[at].add(1.0), a.at[2:5].set(0.0), a.at[:, 1].multiply(3.0),
                   o.lax.dynamic_slice(a, (at[0] - 4, 1), (4, 2)), o.lax.dynamic_update_slice(a, a[:2, :2] * 9, (3, 1)),
                   jnp.take_along_axis(a, jnp.argsort(a, 0), 0), o.jx.ops.segment_sum(a, jnp.arange(8) % 3, 3), a[::-1, ::2], jnp.roll(a, 3, 0))  # fmt: skip
    g = lambda a: o.jx.grad(lambda a: sum((x**2).sum() for x in f(a)))(a)
    return [along(o, f, drawn(8, 4)), along(o, g, drawn(8, 4))]


@case
def convolutions(o: Any) -> Any:
    images, kernel = drawn(8, 3, 8, 8), drawn(4, 3, 3, 3)
    f = lambda x, k: o.lax.conv_general_dilated(x, k, (1, 1), "SAME")
    g = lambda x, k: o.jx.grad(lambda k: (f(x, k) ** 2).sum())(k)
    specs = (("x",), (None, None, "x", "y"), ("x", None, "y"))
    return [along(o, f, images, kernel, specs=specs), along(o, g, images, kernel, specs=specs)]


@case
def linear_algebra(o: Any) -> Any:
    jnp = o.jnp
    a = drawn(8, 4, 4)
    a = a @ a.swapaxes(1, 2) + np.eye(4, dtype=np.float32)
    f = lambda a: (
        jnp.linalg.cholesky(a),
        jnp.linalg.solve(a, a[:, :, :1]),
        jnp.linalg.det(a),
        jnp.linalg.inv(a[0]),
        jnp.linalg.eigh(a)[0],
    )
    return along(o, f, a, specs=(("x",), (("x", "y"),), (None, "y")))


@case
def sizes_that_are_not_divided(o: Any) -> Any:
    jx, jnp = o.jx, o.jnp
    a = drawn(6, 4)
    inner = jx.jit(lambda a: o.lax.with_sharding_constraint(jnp.concatenate([a, a[:1]]), o.at("x")).sum())
    return [error(f) for f in (
        lambda: jx.device_put(a, o.at("x")), lambda: jx.jit(lambda a: a, out_shardings=o.at("x"))(a),
        lambda: jx.jit(lambda a: a, in_shardings=o.at("x"))(a), lambda: jx.shard_map(lambda a: a, mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P("x"))(a),
        lambda: jx.make_array_from_callback((6, 4), o.at("x"), lambda i: a[i]), lambda: jx.pmap(lambda a: a)(np.ones((16, 2))),
        lambda: jx.device_put(np.zeros((8,)), o.at(None, "x")), lambda: jx.jit(lambda a: a, in_shardings=(o.at("x"), o.at("x")))(a[:4]),
        lambda: jx.jit(lambda a: o.lax.with_sharding_constraint(a, o.at("x", "y", None)))(a[:4]), lambda: inner(a),
        lambda: o.lax.psum(1, "nowhere"), lambda: jx.jit(lambda a: a + 1, out_shardings=[o.at("x")])(a[:4]),
        lambda: jx.pmap(lambda a, b: a + b)(np.ones((8, 1)), np.ones((4, 1))))]  # fmt: skip


@case
def made_by_callbacks(o: Any) -> Any:
    jx = o.jx
    asked: list[str] = []

    def piece(index: Any) -> Any:
        asked.append(str(index))
        return o.n[index]

    a = jx.make_array_from_callback((8, 4), o.at("x", "y"), piece)
    b = jx.make_array_from_callback((8, 4), o.at(), lambda i: o.n[i].astype(np.int32))
    c = jx.make_array_from_process_local_data(o.at("x"), o.n)
    d = jx.make_array_from_process_local_data(o.at(None, "x"), o.n, (8, 4))
    pieces = [jx.device_put(o.n[i : i + 1], dev) for i, dev in enumerate(o.line.devices.flat)]
    e = jx.make_array_from_single_device_arrays((8, 4), o.at("x", mesh=o.line), pieces)
    f = jx.make_array_from_callback((), o.at(), lambda i: np.float32(2))
    wrong = [lambda: jx.make_array_from_single_device_arrays((8, 4), o.at("x", mesh=o.line), pieces[:4]),
             lambda: jx.make_array_from_callback((8, 4), o.at("x"), lambda i: o.n), lambda: jx.make_array_from_callback((8, 4), o.mesh, lambda i: o.n)]  # fmt: skip
    return [*map(tells, (a, b, c, d, e, f)), len(asked), sorted(set(asked)), [error(w) for w in wrong]]


@case
def parts_of_arrays(o: Any) -> Any:
    found = []
    x3 = drawn(4, 2, 8)
    for spec in [
        ("x",),
        ("y", None, "x"),
        (None, ("y", "x")[:1], "x"),
        (None, None, ("x", "y")),
        (None, None, ("y", "x")),
    ]:
        a = o.jx.device_put(x3, o.at(*spec))
        found.append([[str(s.index), s.replica_id, s.device.id, list(s.data.shape)] for s in a.addressable_shards])
        found.append([str(a.sharding), a.sharding.shard_shape(a.shape), repr(a.addressable_shards[1])[:30]])
    one = o.jnp.ones((2, 3))
    return [
        *found,
        [str(one.addressable_shards[0].index), one.addressable_shards[0].replica_id, len(one.addressable_shards)],
    ]


@case
def kept_and_read_again(o: Any) -> Any:
    """As checkpoints do it: each part by itself, then into another layout."""
    jx = o.jx
    x = o.put("x", "y")
    kept = {str(s.index): (s.index, np.asarray(s.data)) for s in x.addressable_shards if s.replica_id == 0}
    whole = np.empty((8, 4), np.float32)
    for index, data in kept.values():
        whole[index] = data
    back = jx.make_array_from_callback((8, 4), o.at("y", "x"), lambda i: whole[i])
    again = pickle.loads(pickle.dumps(np.asarray(back)))
    return [
        len(kept),
        tells(back),
        tells(jx.device_put(again, o.at(("y", "x")))),
        tells(jx.device_put(back, x.sharding)),
    ]


@case
def given_to_be_used_up(o: Any) -> Any:
    jx = o.jx
    f = jx.jit(lambda a, b: (a * 2, b + a.sum()), donate_argnums=(0,), out_shardings=(o.at("x"), None))
    a, b = o.put("x"), o.put("y")
    out = f(a, b)
    other = o.put("x")
    moved = jx.device_put(other, o.at("y"), donate=True)
    named = jx.jit(lambda state, x: {"w": state["w"] + x.mean()}, donate_argnames="state")
    state = {"w": o.put("x", "y")}
    result = named(state=state, x=b)
    return [*map(tells, out), a.is_deleted(), b.is_deleted(), tells(moved), state["w"].is_deleted(), tells(result["w"]),
            error(lambda: a + 1), error(lambda: np.asarray(a))]  # fmt: skip


@case
def moved_between_meshes(o: Any) -> Any:
    jx = o.jx
    back = o.Mesh(np.array(jx.devices()[::-1]).reshape(2, 4), ("a", "b"))
    half = o.Mesh(np.array(jx.devices()[:4]), ("x",))
    other = o.Mesh(np.array(jx.devices()[4:]), ("x",))
    x = o.put("x", "y")
    steps = [o.at("a", "b", mesh=back), o.at("b", mesh=back), o.at("x", mesh=half), o.at("x", mesh=other), jx.devices()[5], o.at(mesh=half),
             o.at(None, "x", mesh=other), o.at(("x", "y")), None]  # fmt: skip
    found = []
    for s in steps:
        x = jx.device_put(x, s)
        found.append([*tells(x), [s.device.id for s in x.addressable_shards], x.committed])
    tree = jx.device_put({"a": o.n, "b": [o.n[0], 3.0]}, {"a": o.at("x"), "b": o.at()})
    both = jx.device_put((o.n, o.n), (o.at("x"), o.at("y")))
    return [found, [tells(a) for a in jx.tree.leaves(tree)], [tells(a) for a in both],
            error(lambda: o.put("x", mesh=half) + o.put("x", mesh=other)), error(lambda: jx.device_put({"a": o.n}, {"b": o.at()}))]  # fmt: skip


@case
def trees_of_layouts_for_arguments(o: Any) -> Any:
    jx = o.jx
    f = lambda t, y: {"a": t["a"] + y, "b": (t["b"][0] * 2, y)}
    t = {"a": o.n, "b": [o.n + 1]}
    x, xy = o.at("x"), o.at("x", "y")
    ways = [
        {"out_shardings": xy},
        {"out_shardings": {"a": x, "b": xy}},
        {"out_shardings": {"a": x, "b": (None, xy)}},
        {"out_shardings": None},
    ]
    told = [
        {"in_shardings": ({"a": x, "b": xy}, xy)},
        {"in_shardings": x, "out_shardings": xy},
        {"in_shardings": (x, xy), "out_shardings": {"a": x, "b": xy}},
    ]
    # What is on one device goes where the compiler likes it: here everything is laid out.
    t, y = jx.device_put((t, o.n), o.at())
    found = [[tells(a) for a in jx.tree.leaves(jx.jit(f, **w)(t, y))] for w in ways if "in_shardings" not in w]
    given = {"a": o.n, "b": [o.n + 1]}, o.n
    found += [[tells(a) for a in jx.tree.leaves(jx.jit(f, **w)(*given))] for w in told]
    wrong = [
        {"in_shardings": ({"a": x}, x)}, {"in_shardings": (x,)}, {"out_shardings": (x, x)}, {"in_shardings": "x"}, {"in_shardings": (o.P("x"), None)},
        {"in_shardings": (x, o.at("x", mesh=o.Mesh(np.array(jx.devices()[:4]), ("x",))))}]  # fmt: skip
    with jx.set_mesh(o.mesh):
        specs = [
            tells(a)
            for a in jx.tree.leaves(
                jx.jit(f, in_shardings=(o.P("x"), None), out_shardings=o.P(None, "y"))({"a": o.n, "b": [o.n]}, o.n)
            )
        ]
    return [found, specs, [error(lambda w=w: jx.jit(f, **w)(*given)) for w in wrong]]


@case
def kinds_of_memory(o: Any) -> Any:
    jx = o.jx
    found = []
    for kind in ("device", "pinned_host", "unpinned_host"):
        s = o.at("x").with_memory_kind(kind)
        x = jx.device_put(o.n, s)
        found.append(
            [
                repr(s),
                str(x.sharding),
                x.sharding.memory_kind,
                np.asarray(jx.jit(lambda a: a.sum(0))(jx.device_put(x, o.at("x")))),
            ]
        )
    one = jx.sharding.SingleDeviceSharding(jx.devices()[2])
    return [found, repr(one), one.memory_kind, error(lambda: jx.device_put(o.n, o.at("x").with_memory_kind("nowhere"))),
            [m.kind for m in jx.devices()[0].addressable_memories()], jx.devices()[0].default_memory().kind]  # fmt: skip


@case
def equal_and_hashed(o: Any) -> Any:
    P, S = o.P, o.S
    s = [o.at("x"), o.at("x", None), o.at(("x",)), o.at("y"), o.at("x", mesh=o.line), o.Named(o.typed, P("x")), o.at("x").with_memory_kind("device"),
         S.SingleDeviceSharding(o.jx.devices()[0]), S.SingleDeviceSharding(o.jx.devices()[1])]  # fmt: skip
    meshes = [
        o.mesh,
        o.typed,
        o.line,
        o.mesh.abstract_mesh,
        S.AbstractMesh((4, 2), ("x", "y")),
        S.AbstractMesh((2, 4), ("x", "y")),
    ]
    specs = [
        P(),
        P(None),
        P("x"),
        P(("x",)),
        P("x", None),
        P(("x", "y")),
        P(P.UNCONSTRAINED),
        P("x", unreduced={"y"}),
        P(reduced={"y"}),
    ]
    table = lambda things: [[a == b for b in things] for a in things]
    same = [[a.is_equivalent_to(b, 2) for b in s] for a in s]
    return [table(s), table(meshes), table(specs), same, [len({*s}), len({*meshes}), len({*specs})], [repr(x) for x in (*s, *meshes, *specs)],
            [P("x") == ("x",), ("x",) == P("x"), P("x") + P("y") == P("x", "y"), len(P("x", None)), list(P("x", None)), P(None, "x")[1], P("x", "y").index("y")]]  # fmt: skip


@case
def of_special_kinds(o: Any) -> Any:
    jx, jnp = o.jx, o.jnp
    f = lambda a: (a.astype(jnp.bfloat16).astype(jnp.float32).sum(0), (a > 0).all(1), jnp.isnan(a).any(), a.astype(jnp.int8) + 1, (a + 1j).real, jnp.linalg.norm(a),
                   jnp.einsum("ij,kj->ik", a, a), jnp.outer(a[0], a[1]), jnp.where(a > 0, a, 0).reshape(4, 8), jnp.stack([a, a]).mean(0), a.reshape(-1)[3], jnp.split(a, 2)[1])  # fmt: skip
    empty = jx.device_put(np.zeros((0, 4), np.float32), o.at(None, "y"))
    return [along(o, f, drawn(8, 4) * 3), tells(empty), tells(jx.jit(lambda a: a.sum(0))(empty)), tells(o.put("x")[2]), tells(o.put("x").T), tells(-o.put(None, "x")),
            [tells(r) for r in list(o.put("x"))[:2]], float(o.put("x")[3, 1]), o.put("x").tolist()[1]]  # fmt: skip
