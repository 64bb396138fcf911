"""Ways to say how things lie, small ones: derivatives of each collective, trees, meshes, parts, and what is refused."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, tells
from tests.many_devices.cases_of_divisions import drawn, leaves


def tried(o: Any, calls: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each call gives, or the kind of its error."""
    found: dict[str, Any] = {}
    for name, call in calls.items():
        try:
            found[name] = leaves(o, call())
        except Exception:
            found[name] = error(call)
    return found


@case
def derivatives_of_each_collective(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x = drawn(16, 8) / 4
    ring = [(i, (i + 3) % 8) for i in range(8)]
    ways: dict[str, tuple[Any, Any]] = {
        "psum": (lambda a: lax.psum(a, "x"), P()),
        "pmean": (lambda a: lax.pmean(a, "x"), P()),
        "gather": (lambda a: lax.all_gather(a, "x", tiled=True) * (lax.axis_index("x") + 1.0), P("x")),
        "gather_new_axis": (lambda a: lax.all_gather(a, "x", axis=1) * (lax.axis_index("x") + 1.0), P("x")),
        "scatter": (lambda a: lax.psum_scatter(a.T, "x", tiled=True), P("x")),
        "scatter_axis": (lambda a: lax.psum_scatter(a, "x", scatter_dimension=1), P("x")),
        "permute": (lambda a: lax.ppermute(a, "x", ring), P("x")),
        "some": (lambda a: lax.ppermute(a, "x", [(0, 1), (5, 2)]), P("x")),
        "shuffle": (lambda a: lax.pshuffle(a, "x", [3, 1, 2, 0, 7, 6, 5, 4]), P("x")),
        "all": (lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True), P("x")),
        "all_new": (lambda a: lax.all_to_all(a.reshape(2, 8), "x", 1, 1), P("x")),
        "sum_and_own": (lambda a: a * lax.psum(a.sum(), "x") + lax.pmean(a, "x"), P("x")),
        "index": (lambda a: a * lax.axis_index("x") * lax.axis_size("x"), P("x")),
    }

    def slopes(a: Any, check: bool) -> Any:
        def one(fun: Any, out: Any) -> Any:
            f = jx.shard_map(fun, mesh=o.line, in_specs=P("x"), out_specs=out, check_vma=check)
            return jx.grad(lambda a: (jnp.cos(f(a)) ** 2).sum())(a), jx.jvp(f, (a,), (a * 2,))[1]

        return {name: one(*way) for name, way in ways.items()}

    found: dict[str, Any] = {}
    for check in (True, False):
        for name, both in jx.jit(slopes, static_argnums=1)(x, check).items():
            found[f"{name} {check}"] = leaves(o, both)
    return found


@case
def maps_in_maps(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x = drawn(3, 8, 4)
    f = jx.shard_map(lambda a: a - lax.pmean(a, "x"), mesh=o.mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
    g = jx.shard_map(
        lambda a: jx.vmap(lambda r: r / lax.psum(r.sum(), "y"))(a),
        mesh=o.mesh,
        in_specs=P("x", "y"),
        out_specs=P("x", "y"),
    )
    h = jx.shard_map(lambda a, b: lax.psum(a @ b, "y"), mesh=o.mesh, in_specs=(P("x", "y"), P("y")), out_specs=P("x"))
    turn = x.transpose(1, 2, 0)
    return tried(o, {
        "vmap": lambda: jx.vmap(f)(x),
        "vmap jit": lambda: jx.jit(jx.vmap(f))(x),
        "axes": lambda: jx.vmap(f, in_axes=2, out_axes=1)(turn),
        "inside": lambda: jx.jit(g)(x[0]),
        "both": lambda: jx.jit(jx.vmap(g))(x),
        "one": lambda: jx.vmap(h, (0, None))(x, drawn(4, 2, seed=1)),
        "other": lambda: jx.vmap(h, (None, 1), 2)(x[0], drawn(4, 3, 2, seed=1)),
        "free axis": lambda: jx.vmap(jx.shard_map(jnp.sin, mesh=o.mesh, in_specs=P("y"), out_specs=P("y")), spmd_axis_name="x")(drawn(4, 8)),
        "grad": lambda: jx.vmap(jx.grad(lambda a: (f(a) ** 3).sum()))(x),
        "jacobian": lambda: jx.jacrev(lambda a: f(a).sum(0))(x[0]),
        "forward": lambda: jx.jacfwd(lambda a: f(a).sum(0))(x[0]),
        "hessian": lambda: jx.hessian(lambda a: (f(a) ** 3).sum())(x[0][:, :2]),
        "map": lambda: lax.map(f, x),
        "twice": lambda: jx.vmap(jx.vmap(f))(x[None]),
    })  # fmt: skip


@case
def layouts_in_inner_functions(o: Any) -> Any:
    jx, lax = o.jx, o.lax
    inner = jx.jit(lambda a: a * 2, in_shardings=o.at("x"), out_shardings=o.at(None, "y"))
    keep = jx.jit(lambda a: a + 1, out_shardings=o.at("y"))
    x = drawn(8, 4)
    return tried(o, {
        "one": lambda: jx.jit(lambda a: inner(a) + 1)(x),
        "spread": lambda: jx.jit(lambda a: inner(a) + 1)(jx.device_put(x, o.at("x"))),
        "wrong": lambda: jx.jit(lambda a: inner(a) + 1)(jx.device_put(x, o.at("y"))),
        "two": lambda: jx.jit(lambda a: keep(inner(a)))(x),
        "vmap": lambda: jx.vmap(keep)(drawn(3, 8, 4)),
        "scan": lambda: jx.jit(lambda a: lax.scan(lambda c, _: (keep(c), None), a, length=3)[0])(x),
        "cond": lambda: jx.jit(lambda a: lax.cond(a.sum() > 0, keep, lambda a: a, a))(x),
        "outer": lambda: jx.jit(lambda a: inner(a), out_shardings=o.at("x", "y"))(x),
    })  # fmt: skip


@case
def given_up_where_they_lie(o: Any) -> Any:
    jx = o.jx
    found = []
    for out in (o.at("x"), o.at("y"), o.at()):
        x, y = o.put("x"), o.put()
        f = jx.jit(lambda a, b: (a + b, b * 2), donate_argnums=(0, 1), out_shardings=(out, o.at()))
        r = f(x, y)
        found.append([leaves(o, r), x.is_deleted(), y.is_deleted()])
    z = o.put("x")
    w = jx.device_put(z, o.at("y"), donate=True)
    names = jx.jit(lambda a, b: a + b, donate_argnames="b")
    p, q = o.put("x"), o.put("x")
    return [*found, tells(w), tells(names(p, b=q)), p.is_deleted()]


@case
def several_meshes(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    auto = (o.S.AxisType.Auto,)
    turned = o.Mesh(o.mesh.devices.T, ("y", "x"))
    backward = o.Mesh(o.mesh.devices[::-1], ("x", "y"))
    half = jx.make_mesh((4,), ("x",), axis_types=auto, devices=jx.devices()[4:])
    first = jx.make_mesh((4,), ("x",), axis_types=auto)
    a, b = o.put("x"), o.put("x", mesh=turned)
    add = jx.jit(lambda a, b: a + b)
    f = jx.shard_map(lambda a: a * 2, mesh=half, in_specs=P("x"), out_specs=P("x"))
    return tried(o, {
        "turned": lambda: add(a, b),
        "backward": lambda: add(a, o.put("x", mesh=backward)),
        "eager": lambda: a + o.put("x", mesh=backward),
        "halves": lambda: add(o.put("x", mesh=half), o.put("x", mesh=first)),
        "moved": lambda: add(jx.device_put(o.put("x", mesh=half), first.devices.flat[0]), o.jnp.ones((8, 4))),
        "from half to all": lambda: jx.device_put(o.put("x", mesh=half), o.at("x")),
        "wrong map": lambda: f(o.put("x", mesh=first)),
        "map of half": lambda: f(o.put("x", mesh=half)),
        "map of numbers": lambda: f(o.n),
        "asked elsewhere": lambda: jx.jit(lambda a: a, out_shardings=o.Named(half, P("x")))(a),
        "in and out": lambda: jx.jit(lambda a: a, in_shardings=o.Named(first, P("x")), out_shardings=o.Named(half, P("x")))(o.n),
        "two maps": lambda: jx.jit(lambda a: f(jx.shard_map(jnp.sin, mesh=first, in_specs=P("x"), out_specs=P("x"))(a)))(o.n),
        "names": lambda: jx.jit(lambda a: lax.with_sharding_constraint(a, o.Named(turned, P("y", "x"))))(a),
        "chosen by mesh": lambda: jx.jit(lambda a: a @ a.T)(o.put("x", mesh=turned)),
        "equal": lambda: [np.asarray(m == n) for m in (o.mesh, turned, backward, half) for n in (o.mesh, turned, backward, half)],
    })  # fmt: skip


@case
def moved_to_layouts(o: Any) -> Any:
    jx, P = o.jx, o.P
    tree = {"a": o.n, "b": (o.n.T, np.float32(3))}
    return tried(o, {
        "one for all": lambda: jx.device_put(tree, o.at()),
        "tree": lambda: jx.device_put(tree, {"a": o.at("x"), "b": (o.at(None, "y"), o.at())}),
        "prefix": lambda: jx.device_put({"a": o.n, "b": (o.n, o.n)}, {"a": o.at("x"), "b": o.at("y")}),
        "none": lambda: jx.device_put(o.put("x"), None),
        "wrong tree": lambda: jx.device_put(tree, {"a": o.at()}),
        "list": lambda: jx.device_put([o.n, o.n], [o.at("x"), o.at(("y", "x"))]),
        "again": lambda: jx.device_put(o.put("x"), o.at("x", None)),
        "back": lambda: jx.device_put(o.put("x", "y"), jx.devices()[5]),
        "single": lambda: jx.device_put(o.put("x"), o.S.SingleDeviceSharding(jx.devices()[2])),
        "scalar": lambda: jx.device_put(3.0, o.at()),
        "empty": lambda: jx.device_put(np.zeros((0, 4), np.float32), o.at("x")),
        "too long": lambda: jx.device_put(o.n, o.at(None, None, "x")),
        "sharding as tree": lambda: jx.device_put((o.n, o.n), (o.at("x"), jx.devices()[1])),
        "bool": lambda: jx.device_put(o.n > 3, o.at("x")),
        "P": lambda: jx.device_put(o.n, P("x")),
        "string": lambda: jx.device_put(o.n, "x"),
    })  # fmt: skip


@case
def arrays_of_given_parts(o: Any) -> Any:
    jx = o.jx
    s = o.at("x", "y")
    parts = [jx.device_put(o.n[i], d) for d, i in s.devices_indices_map((8, 4)).items()]
    rows = o.at(None, "y")
    seen: list[Any] = []

    def asked(index: Any) -> Any:
        seen.append(str(index))
        return o.n[index]

    found = tried(o, {
        "parts": lambda: jx.make_array_from_single_device_arrays((8, 4), s, parts),
        "backward": lambda: jx.make_array_from_single_device_arrays((8, 4), s, parts[::-1]),
        "too few": lambda: jx.make_array_from_single_device_arrays((8, 4), s, parts[:3]),
        "shape": lambda: jx.make_array_from_single_device_arrays((16, 4), s, parts),
        "dtypes": lambda: jx.make_array_from_single_device_arrays((8, 4), s, [*parts[:-1], parts[-1].astype(int)]),
        "not divided": lambda: jx.make_array_from_single_device_arrays((7, 4), s, parts),
        "of ints": lambda: jx.make_array_from_callback((8,), o.at("x"), lambda i: np.arange(8)[i]),
        "wrong shape": lambda: jx.make_array_from_callback((8, 4), rows, lambda i: o.n),
        "dtype": lambda: jx.make_array_from_callback((8, 4), rows, lambda i: o.n[i], dtype=np.float32),
        "not divided callback": lambda: jx.make_array_from_callback((7, 4), o.at("x"), lambda i: o.n[i]),
        "local": lambda: jx.make_array_from_process_local_data(o.at("x"), o.n),
        "local shape": lambda: jx.make_array_from_process_local_data(o.at(), o.n, (8, 4)),
        "local wrong": lambda: jx.make_array_from_process_local_data(o.at("x"), o.n, (9, 4)),
        "local tree": lambda: jx.make_array_from_process_local_data(o.at("x"), o.n[:, :1]),
        "one device": lambda: jx.make_array_from_single_device_arrays((8, 4), o.S.SingleDeviceSharding(jx.devices()[2]), [jx.device_put(o.n, jx.devices()[2])]),
        "key": lambda: jx.random.key_data(jx.make_array_from_callback((8,), o.at("x"), lambda i: jx.random.split(jx.random.key(0), 8)[i])),
    })  # fmt: skip
    jx.make_array_from_callback((8, 4), o.at("x"), asked)
    return [found, sorted(set(seen))]


@case
def trees_of_specs(o: Any) -> Any:
    jx, P = o.jx, o.P
    tree = {"w": o.n, "b": {"c": o.n * 2, "d": o.n + 1}}
    total = lambda t: jx.tree.map(lambda a: a * 2, t)
    rows = P("x")
    cut = lambda ins, outs=rows: jx.shard_map(total, mesh=o.mesh, in_specs=ins, out_specs=outs)
    j = lambda **k: jx.jit(total, **k)
    return tried(o, {
        "one spec": lambda: cut(P("x"))(tree),
        "tuple": lambda: cut((P("x"),))(tree),
        "prefix": lambda: cut(({"w": P("x"), "b": P("x", "y")},), {"w": P("x"), "b": P("x", "y")})(tree),
        "wrong prefix": lambda: cut(({"w": P("x")},))(tree),
        "none in": lambda: cut((None,))(tree),
        "none out": lambda: cut(P("x"), None)(tree),
        "none leaf": lambda: jx.shard_map(lambda a, b: a, mesh=o.mesh, in_specs=(P("x"), P()), out_specs=P("x"))(o.n, None),
        "none with none": lambda: jx.shard_map(lambda a, b: a, mesh=o.mesh, in_specs=(P("x"), None), out_specs=P("x"))(o.n, None),
        "jit one": lambda: j(in_shardings=o.at("x"))(tree),
        "jit tuple": lambda: j(in_shardings=(o.at("x"),), out_shardings=o.at("y"))(tree),
        "jit prefix": lambda: j(in_shardings=({"w": o.at("x"), "b": o.at("y")},), out_shardings={"w": None, "b": o.at("y")})(tree),
        "jit none": lambda: j(in_shardings=None, out_shardings=None)(tree),
        "jit none inside": lambda: j(in_shardings=({"w": None, "b": o.at("x")},))(tree),
        "jit wrong": lambda: j(in_shardings=({"w": o.at("x")},))(tree),
        "jit wrong count": lambda: j(in_shardings=(o.at("x"), o.at("x")))(tree),
        "jit wrong out": lambda: j(out_shardings={"w": o.at("x")})(tree),
        "jit spec": lambda: j(in_shardings=P("x"))(tree),
        "jit keyword": lambda: jx.jit(lambda a, b: a + b, in_shardings=(o.at("x"), None))(o.n, b=o.n),
        "device": lambda: j(out_shardings=o.S.SingleDeviceSharding(jx.devices()[3]))(tree),
        "constraint": lambda: jx.jit(lambda t: o.lax.with_sharding_constraint(t, o.at("x")))(tree),
        "constraint tree": lambda: jx.jit(lambda t: o.lax.with_sharding_constraint(t, {"w": o.at("x"), "b": o.at("y")}))(tree),
    })  # fmt: skip


@case
def refused(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    rows = P("x")
    m = lambda f, ins=rows, outs=rows, x=o.n, **k: (
        lambda: jx.shard_map(f, mesh=k.pop("mesh", o.mesh), in_specs=ins, out_specs=outs, **k)(x)
    )
    same = lambda a: a
    return {name: error(call) for name, call in {
        "not divided": m(same, x=np.ones(6, np.float32)),
        "not divided on two": m(same, P(("x", "y")), P(("x", "y")), np.ones((4, 4), np.float32)),
        "unknown axis of a spec": m(same, P("z"), P("z")),
        "unknown axis of a result": m(same, P("x"), P("z")),
        "rank": m(same, P("x", None, None)),
        "rank of a result": m(lambda a: a.sum(), P("x"), P("x")),
        "scalar": m(same, x=np.float32(1)),
        "varies": m(same, P("x"), P()),
        "varies over one": m(lambda a: lax.psum(a, "x"), P("x", "y"), P()),
        "index": m(lambda a: lax.axis_index("x"), P("x"), P()),
        "outside": lambda: lax.psum(o.n, "x"),
        "index outside": lambda: lax.axis_index("x"),
        "jit outside": lambda: jx.jit(lambda a: lax.pmean(a, "x"))(o.n),
        "psum of what does not vary": m(lambda a: lax.psum(jnp.ones(3), "x"), P("x"), P()),
        "permute twice": m(lambda a: lax.ppermute(a, "x", [(0, 1), (0, 2)])),
        "permute to one": m(lambda a: lax.ppermute(a, "x", [(0, 1), (2, 1)])),
        "scatter size": m(lambda a: lax.psum_scatter(a, "x", scatter_dimension=0)),
        "scatter tiled": m(lambda a: lax.psum_scatter(a[:1], "x", tiled=True)),
        "all_to_all size": m(lambda a: lax.all_to_all(a, "x", 0, 0)),
        "all_to_all tiled": m(lambda a: lax.all_to_all(a[:, :3], "x", 1, 0, tiled=True)),
        "gather axis": m(lambda a: lax.all_gather(a, "x", axis=5)),
        "no mesh": lambda: jx.shard_map(same, in_specs=P("x"), out_specs=P("x"))(o.n),
        "mesh by name": m(same, mesh="x"),
        "no specs": lambda: jx.shard_map(same, mesh=o.mesh, in_specs=P("x"))(o.n),
        "spec of strings": m(same, ("x",), P("x")),
        "spec string": m(same, "x", P("x")),
        "wrong number of specs": m(same, (P("x"), P("x"))),
        "wrong number of results": m(same, P("x"), (P("x"), P("x"))),
        "axis names": m(same, axis_names={"z"}),
        "pcast": m(lambda a: lax.pcast(a, "x", to="varying")),
        "pcast to what": m(lambda a: lax.pcast(a, "x", to="nothing")),
        "callable": lambda: jx.shard_map(3, mesh=o.mesh, in_specs=P("x"), out_specs=P("x")),
        "jit sharding not divided": lambda: jx.jit(same, in_shardings=o.at("x"))(np.ones(6, np.float32)),
        "jit rank": lambda: jx.jit(same, in_shardings=o.at("x", None, None))(o.n),
        "jit out rank": lambda: jx.jit(lambda a: a.sum(), out_shardings=o.at("x"))(o.n),
        "jit out not divided": lambda: jx.jit(lambda a: a[:3], out_shardings=o.at("x"))(o.n),
        "jit mismatch": lambda: jx.jit(same, in_shardings=o.at("x"))(o.put("y")),
        "jit string": lambda: jx.jit(same, in_shardings="x")(o.n),
        "constraint rank": lambda: jx.jit(lambda a: lax.with_sharding_constraint(a, o.at(None, None, "x")))(o.n),
        "constraint not divided": lambda: jx.jit(lambda a: lax.with_sharding_constraint(a, o.at("x")))(np.ones(6, np.float32)),
        "constraint eager not divided": lambda: lax.with_sharding_constraint(np.ones(6, np.float32), o.at("x")),
        "constraint spec without a mesh": lambda: lax.with_sharding_constraint(o.n, P("x")),
        "mesh of nothing": lambda: o.Mesh([], ("x",)),
        "make_mesh lengths": lambda: jx.make_mesh((4, 2), ("x",)),
        "make_mesh types": lambda: jx.make_mesh((8,), ("x",), axis_types=(o.S.AxisType.Auto,) * 2),
        "make_mesh many": lambda: jx.make_mesh((9,), ("x",)),
        "pmap too large": lambda: jx.pmap(same)(np.ones(9)),
        "pmap mismatch": lambda: jx.pmap(lambda a, b: a + b)(np.ones(4), np.ones(3)),
        "pmap scalar": lambda: jx.pmap(same)(3.0),
        "reshard auto": lambda: o.S.reshard(o.put("x"), P("y")),
        "single": lambda: o.S.SingleDeviceSharding("cpu").device_set,
        "shard_shape": lambda: o.at("x").shard_shape((6, 2)),
        "set_mesh inside": lambda: jx.jit(lambda a: [jx.set_mesh(o.mesh), a][1])(o.n),
    }.items()}  # fmt: skip


@case
def collectives_of_everything(o: Any) -> Any:
    """Trees, integers, booleans, constants, several axes."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    whole, tiles = P(), P("x", "y")
    run = lambda f, out=whole, ins=tiles, x=None, **k: (
        lambda: jx.jit(jx.shard_map(f, mesh=o.mesh, in_specs=ins, out_specs=out, **k))(o.n if x is None else x)
    )
    cast = lambda a: lax.pcast(a, ("x", "y"), to="varying")
    return tried(o, {
        "tree": run(lambda a: lax.psum({"a": a, "b": (a * 2, a.sum())}, ("x", "y"))),
        "ints": run(lambda a: lax.psum(a.astype(jnp.int32), ("x", "y"))),
        "mean of ints": run(lambda a: lax.pmean(a.astype(jnp.int32), ("x", "y"))),
        "bool": run(lambda a: lax.psum(a > 3, ("x", "y"))),
        "max of bool": run(lambda a: lax.pmax(a > 30, ("x", "y"))),
        "one": run(lambda a: lax.psum(1, ("x", "y"))),
        "float one": run(lambda a: lax.psum(1.5, "x")),
        "size": run(lambda a: jnp.float32(lax.axis_size(("x", "y")))),
        "size tuple": run(lambda a: jnp.float32(lax.psum(1, "x"))),
        "index of both": run(lambda a: lax.axis_index(("x", "y"))[None, None], P("x", "y")),
        "index turned": run(lambda a: lax.axis_index(("y", "x"))[None, None], P("x", "y")),
        "gather of both": run(lambda a: lax.all_gather(a, ("x", "y"), tiled=True), P(("x", "y")), check_vma=False),
        "gather turned": run(lambda a: lax.all_gather(a, ("y", "x")), P(("x", "y")), check_vma=False),
        "scatter of both": run(lambda a: lax.psum_scatter(a, ("x", "y"), tiled=True), P(("x", "y")), P()),
        "all of both": run(lambda a: lax.all_to_all(a, ("x", "y"), 0, 0, tiled=True), P(("x", "y")), P()),
        "permute of both": run(lambda a: lax.ppermute(a, ("x", "y"), [(i, 7 - i) for i in range(8)]), P("x", "y")),
        "min": run(lambda a: lax.pmin(lax.pmin(a, "x"), "y")),
        "complex": run(lambda a: lax.psum(a * 1j, ("x", "y")).imag),
        "half": run(lambda a: lax.psum(a.astype(jnp.bfloat16), ("x", "y")).astype(jnp.float32)),
        "int8": run(lambda a: lax.all_gather(a.astype(jnp.int8), "x", tiled=True), P(("x", "y")), check_vma=False),
        "empty": run(lambda a: lax.psum(a[:0], ("x", "y"))),
        "cast": run(lambda a: cast(jnp.ones(2)), P(("x", "y"))),
        "no axes": run(lambda a: lax.psum(a, ()), P("x", "y")),
        "list of axes": run(lambda a: lax.psum(a, ["x", "y"])),
    })  # fmt: skip


@case
def made_and_taken_apart(o: Any) -> Any:
    """Ordinary work on spread arrays, one operation after another."""
    jx, jnp = o.jx, o.jnp
    x = o.put("x", "y")
    return tried(o, {
        "rows": lambda: list(x)[2:4], "unpack": lambda: list(x.T)[:2], "item": lambda: x[3, 2], "slice": lambda: x[2:6],
        "fancy": lambda: x[np.array([1, 5])], "mask": lambda: x[x > 20], "set": lambda: x.at[1].set(0.0),
        "add": lambda: x.at[:, 0].add(1), "copy": lambda: x.copy(), "jcopy": lambda: jnp.copy(x), "asarray": lambda: jnp.asarray(x),
        "array": lambda: jnp.array(x), "astype": lambda: x.astype(int), "T": lambda: x.T, "reshape": lambda: x.reshape(4, 8),
        "ravel": lambda: x.ravel(), "flip": lambda: jnp.flip(x), "roll": lambda: jnp.roll(x, 1, 0), "pad": lambda: jnp.pad(x, 1),
        "stack": lambda: jnp.stack([x, x]), "split": lambda: jnp.split(x, 2), "tile": lambda: jnp.tile(x, (2, 1)),
        "zeros_like": lambda: jnp.zeros_like(x), "ones_like": lambda: jnp.ones_like(x, shape=(3,)), "full_like": lambda: jnp.full_like(x, 3),
        "where": lambda: jnp.where(x > 3, x, x[0]), "matmul": lambda: x @ x.T, "outer": lambda: jnp.outer(x[:, 0], x[0]),
        "mean": lambda: x.mean(), "std": lambda: x.std(0), "var": lambda: x.var(1), "cumsum": lambda: x.cumsum(0), "sort": lambda: jnp.sort(x, 0),
        "argsort": lambda: x.argsort(1), "einsum": lambda: jnp.einsum("ij,kj->ik", x, x), "norm": lambda: jnp.linalg.norm(x),
        "zeros": lambda: jnp.zeros((8, 4), device=o.at("x")), "arange": lambda: jnp.arange(8, device=o.at("x")),
        "linspace": lambda: jnp.linspace(0, 1, 8, device=o.at("x")), "eye": lambda: jnp.eye(8, device=o.at("x")),
        "full": lambda: jnp.full((8,), 2.0, device=o.at("y")), "jarray": lambda: jnp.array(o.n, device=o.at("x")),
        "to_device": lambda: x.to_device(jx.devices()[3]), "to sharding": lambda: x.to_device(o.at("y")), "with python": lambda: 2.0 * x,
        "with numpy": lambda: x + o.n, "numpy first": lambda: o.n + x, "ufunc": lambda: np.add(o.n, x), "abs": lambda: abs(-x), "neg": lambda: -x,
        "divmod": lambda: divmod(x, 3.0), "bool": lambda: np.asarray(bool(x[0, 0] == 0)), "float": lambda: np.asarray(float(x.sum())),
        "nonzero": lambda: jnp.nonzero(x > 28), "iter shard": lambda: [s.data for s in x.addressable_shards[:2]],
        "equal": lambda: jnp.array_equal(x, o.n), "tree": lambda: jx.tree.map(lambda a: a + 1, {"a": x}), "block": lambda: jx.block_until_ready(x),
        "vdot": lambda: jnp.vdot(x, x), "take": lambda: jnp.take(x, np.array([0, 7]), 0), "clip": lambda: x.clip(2, 5),
        "top": lambda: o.lax.top_k(x, 2), "fft": lambda: jnp.abs(jnp.fft.rfft(x, axis=1)), "searchsorted": lambda: jnp.searchsorted(x[:, 0], 9.0),
    })  # fmt: skip


@case
def what_compiled_programs_say(o: Any) -> Any:
    jx = o.jx
    f = jx.jit(lambda a, b: {"s": a @ b, "t": (a.T, b.sum())}, in_shardings=(o.at("x"), o.at(None, "y")))
    low = f.lower(o.n, o.n.T)
    c = low.compile()
    shape = jx.eval_shape(f, o.n, o.n.T)
    struct = jx.ShapeDtypeStruct((8, 4), np.float32, sharding=o.at("x"))
    g = jx.jit(lambda a: a * 2)
    return [str(c.input_shardings), str(c.output_shardings), [str(s.sharding) for s in jx.tree.leaves(shape)], repr(struct), str(struct.sharding),
            struct == jx.ShapeDtypeStruct((8, 4), np.float32), leaves(o, g.lower(struct).compile()(o.put("x"))), error(lambda: g.lower(struct).compile()(o.put("y"))),
            leaves(o, c(o.n, o.n.T)), error(lambda: c(o.put("y"), o.n.T)), str(jx.typeof(o.put("x", mesh=o.typed))),
            str(g.trace(o.put("x", mesh=o.typed)).out_info), [str(v) for v in jx.make_jaxpr(g)(o.put("x", mesh=o.typed)).out_avals]]  # fmt: skip


@case
def pmapped_otherwise(o: Any) -> Any:
    jx, lax = o.jx, o.lax
    x = drawn(8, 3)
    told = lambda t: jx.tree.map(np.asarray, t)
    return tried(o, {
        "in_axes": lambda: told(jx.pmap(lambda a, b: a * b, in_axes=(0, None))(x, 2.0)),
        "tree axes": lambda: told(jx.pmap(lambda t: t["a"] + t["b"], in_axes=({"a": 0, "b": 1},))({"a": x, "b": x.T})),
        "out_axes": lambda: told(jx.pmap(lambda a: (a, a.sum()), out_axes=(1, 0))(x)),
        "out none": lambda: told(jx.pmap(lambda a: lax.pmean(a, "i"), "i", out_axes=None)(x)),
        "static": lambda: told(jx.pmap(lambda n, a: a * n, static_broadcasted_argnums=0)(3, x)),
        "few": lambda: told(jx.pmap(lambda a: a + 1)(x[:5])),
        "devices": lambda: told(jx.pmap(lambda a: a + lax.axis_index("i"), "i", devices=jx.devices()[2:4])(x[:2])),
        "grad": lambda: told(jx.grad(lambda a: jx.pmap(lambda b: lax.psum(b ** 2, "i"), "i")(a).sum())(x)),
        "in vmap": lambda: told(jx.vmap(jx.pmap(lambda b: b - lax.pmean(b, "i"), "i"))(x[:4].reshape(2, 2, 3))),
        "in jit": lambda: told(jx.jit(jx.pmap(lambda b: b * 2))(x)),
        "scan": lambda: told(jx.pmap(lambda b: lax.scan(lambda c, r: (c + lax.psum(r, "i"), c), 0.0, b), "i")(x)),
        "keys": lambda: told(jx.pmap(lambda k: jx.random.normal(k, (2,)))(jx.random.split(jx.random.key(0), 8))),
        "donate": lambda: told(jx.pmap(lambda a: a + 1, donate_argnums=0)(jx.pmap(lambda a: a)(x))),
        "then jit": lambda: told(jx.jit(lambda a: a.sum(0))(jx.pmap(lambda a: a)(x))),
        "then index": lambda: told(jx.pmap(lambda a: a)(x)[3]),
        "global": lambda: told(jx.pmap(lambda a: lax.all_gather(a, "i"), axis_name="i")(x)[0]),
        "kwargs": lambda: told(jx.pmap(lambda a, *, b: a + b)(x, b=x)),
    })  # fmt: skip


@case
def hosts_of_one(o: Any) -> Any:
    """The functions for several processes, in one."""
    jx, P = o.jx, o.P
    m = importlib.import_module(f"{jx.__name__}.experimental.multihost_utils")
    u = importlib.import_module(f"{jx.__name__}.experimental.mesh_utils")
    return tried(o, {
        "gather": lambda: m.process_allgather(o.n), "gather tiled": lambda: m.process_allgather(o.n, tiled=True),
        "gather spread": lambda: m.process_allgather(o.put("x")), "gather tree": lambda: m.process_allgather({"a": np.ones(2), "b": 3}),
        "broadcast": lambda: m.broadcast_one_to_all({"a": np.arange(3)}), "broadcast no": lambda: m.broadcast_one_to_all(np.arange(3), is_source=False),
        "sync": lambda: m.sync_global_devices("a"), "equal": lambda: m.assert_equal(o.n), "reached": lambda: np.asarray(m.reached_preemption_sync_point(1)),
        "to global": lambda: m.host_local_array_to_global_array(o.n, o.mesh, P("x")), "to local": lambda: m.global_array_to_host_local_array(o.put("x"), o.mesh, P("x")),
        "tree to global": lambda: m.host_local_array_to_global_array((o.n, o.n), o.mesh, (P("x"), P())),
        "mesh": lambda: np.vectorize(lambda d: d.id)(u.create_device_mesh((2, 4))), "mesh of some": lambda: np.vectorize(lambda d: d.id)(u.create_device_mesh((4,), jx.devices()[:4])),
        "mesh wrong": lambda: u.create_device_mesh((3,)),
    })  # fmt: skip


@case
def meshes_by_with(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P

    def within(call: Callable[[], Any], mesh: Any = o.mesh) -> Callable[[], Any]:
        def run() -> Any:
            with mesh:
                return call()

        return run

    def set_to(call: Callable[[], Any], mesh: Any = o.mesh) -> Callable[[], Any]:
        def run() -> Any:
            with jx.set_mesh(mesh):
                return call()

        return run

    return tried(o, {
        "with": within(lambda: jx.jit(lambda a: lax.with_sharding_constraint(a, P("x")))(o.n)),
        "set": set_to(lambda: jx.jit(lambda a: lax.with_sharding_constraint(a, P("x")))(o.n)),
        "set jit": set_to(lambda: jx.jit(lambda a: a, in_shardings=P("x"), out_shardings=P(None, "y"))(o.n)),
        "set map": set_to(lambda: jx.shard_map(lambda a: lax.psum(a, "x"), in_specs=P("x"), out_specs=P())(o.n)),
        "set put": set_to(lambda: jx.device_put(o.n, P("y"))),
        "set zeros": set_to(lambda: jnp.zeros((8, 4)) + 1),
        "typed zeros": set_to(lambda: jnp.zeros((8, 4), out_sharding=P("x")), o.typed),
        "typed reshard": set_to(lambda: o.S.reshard(o.n, P("x", "y")), o.typed),
        "typed product": set_to(lambda: jnp.einsum("ij,kj->ik", o.S.reshard(o.n, P("x", None)), o.S.reshard(o.n, P("y", None))), o.typed),
        "typed refused": set_to(lambda: o.S.reshard(o.n, P("x")) @ o.S.reshard(o.n.T, P(None, "x")), o.typed),
        "typed out": set_to(lambda: jnp.matmul(o.S.reshard(o.n, P(None, "y")), o.S.reshard(o.n.T, P("y", None)), out_sharding=P("x", None)), o.typed),
        "typed reshape": set_to(lambda: o.S.reshard(o.n, P("x", "y")).reshape(32), o.typed),
        "typed reshape out": set_to(lambda: jnp.reshape(o.S.reshard(o.n, P("x", None)), (4, 8), out_sharding=P("x", None)), o.typed),
        "typed vmap": set_to(lambda: jx.vmap(lambda r: r * r.sum())(o.S.reshard(o.n, P("x", None))), o.typed),
        "typed scan": set_to(lambda: lax.scan(lambda c, r: (c + r, c), jnp.zeros(4), o.S.reshard(o.n, P(None, "y")))[1], o.typed),
        "typed cond": set_to(lambda: jx.jit(lambda a: lax.cond(a.sum() > 0, lambda a: a * 2, lambda a: a, a))(o.S.reshard(o.n, P("x"))), o.typed),
        "typed cond refused": set_to(lambda: jx.jit(lambda a: lax.cond(a.sum() > 0, lambda a: o.S.reshard(a, P("y")), lambda a: a, a))(o.S.reshard(o.n, P("x"))), o.typed),
        "typed where": set_to(lambda: jnp.where(o.S.reshard(o.n, P("x")) > 3, o.S.reshard(o.n, P("x")), 0), o.typed),
        "typed cat": set_to(lambda: jnp.concatenate([o.S.reshard(o.n, P("x")), o.S.reshard(o.n, P("x"))], 1), o.typed),
        "typed index": set_to(lambda: o.S.reshard(o.n, P("x"))[2], o.typed),
        "typed column": set_to(lambda: o.S.reshard(o.n, P("x"))[:, 2], o.typed),
        "typed grad": set_to(lambda: jx.grad(lambda a: (a * a).sum())(o.S.reshard(o.n, P("x"))), o.typed),
        "typed map": set_to(lambda: jx.shard_map(lambda a: a - lax.pmean(a, "x"), out_specs=P("x"))(o.S.reshard(o.n, P("x"))), o.typed),
        "typed random": set_to(lambda: jx.random.normal(jx.random.key(0), (8, 4), out_sharding=P("x")), o.typed),
    })  # fmt: skip


@case
def captured_and_looped(o: Any) -> Any:
    """Closures over spread arrays; loops and branches by the compiler's division."""
    jx, jnp, lax = o.jx, o.jnp, o.lax
    x = o.put("x", "y")
    return tried(o, {
        "only": lambda: jx.jit(lambda: x * 2)(),
        "scan rows": lambda: jx.jit(lambda a: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), a))(x),
        "while": lambda: jx.jit(lambda a: lax.while_loop(lambda c: c.max() < 1e3, lambda c: c * 2 + 1, a))(x),
        "fori": lambda: lax.fori_loop(0, 3, lambda i, c: c + x, x),
        "cond": lambda: jx.jit(lambda a: lax.cond(a.sum() > 0, jnp.sin, jnp.cos, a))(x),
        "switch": lambda: jx.jit(lambda i, a: lax.switch(i, [jnp.sin, jnp.cos, lambda a: a], a))(2, x),
        "map": lambda: lax.map(lambda r: r.sum(), x),
        "associative": lambda: lax.associative_scan(jnp.add, x),
        "vmap": lambda: jx.vmap(lambda r, s: r @ s)(x, x),
        "hvp": lambda: jx.jvp(jx.grad(lambda a: (jnp.sin(a) ** 2).sum()), (x,), (x,)),
        "vjp": lambda: jx.vjp(lambda a: a @ a.T, x)[1](jnp.ones((8, 8))),
        "linearize": lambda: jx.linearize(lambda a: jnp.sin(a), x)[1](x),
        "checkpoint": lambda: jx.grad(lambda a: jx.checkpoint(lambda b: jnp.sin(jnp.sin(b)))(a).sum())(x),
        "solve": lambda: jnp.linalg.solve(x.T @ x + jnp.eye(4), x.T),
        "cholesky": lambda: jnp.linalg.cholesky(x.T @ x + jnp.eye(4)),
        "static": lambda: jx.jit(lambda a, n: a * n, static_argnums=1)(x, 3),
        "custom_jvp": lambda: jx.grad(lambda a: jx.nn.relu(a).sum())(x),
        "softmax": lambda: jx.jit(lambda a: jx.nn.softmax(a, 0))(x),
        "logsumexp": lambda: jx.jit(lambda a: jx.nn.logsumexp(a))(x),
    })  # fmt: skip


@case
def names_and_parameters(o: Any) -> Any:
    """What the modules offer for many devices, and how it is called."""
    modules = {
        "sharding": "AbstractDevice AbstractMesh AxisType ManualAxisType Mesh NamedSharding PartitionSpec Sharding SingleDeviceSharding auto_axes "
        "explicit_axes get_abstract_mesh get_mesh make_single_device_sharding reshard set_mesh use_abstract_mesh",
        "distributed": "initialize is_initialized shutdown",
        "experimental.multihost_utils": "assert_equal broadcast_one_to_all global_array_to_host_local_array host_local_array_to_global_array "
        "process_allgather reached_preemption_sync_point sync_global_devices",
        "experimental.mesh_utils": "create_device_mesh create_hybrid_device_mesh",
        "": "device_put make_array_from_callback make_array_from_process_local_data make_array_from_single_device_arrays make_mesh pmap reshard "
        "set_mesh shard_map smap typeof",
        "lax": "all_gather all_to_all axis_index axis_size pcast pmax pmean pmin ppermute pshuffle psum psum_scatter ragged_all_to_all",
    }  # fmt: skip
    classes = {
        "AbstractMesh",
        "AxisType",
        "ManualAxisType",
        "Mesh",
        "NamedSharding",
        "Sharding",
        "SingleDeviceSharding",
    }
    found: dict[str, Any] = {}
    for module, names in modules.items():
        home = importlib.import_module(f"{o.jx.__name__}.{module}".rstrip("."))
        for name in names.split():
            parameters = [] if name in classes else inspect.signature(getattr(home, name)).parameters.values()
            found[f"{module}.{name}"] = [getattr(home, name) is not None, [[p.name, str(p.kind)] for p in parameters]]
    return found


@case
def references_over_devices(o: Any) -> Any:
    """Mutable arrays that are divided, written eagerly, in programs, captured and in loops."""
    jx, jnp, lax = o.jx, o.jnp, o.lax

    def eager() -> Any:
        r = jx.new_ref(o.put("x"))
        r[0] = jnp.full(4, 5.0)
        r[...] += 1
        return r[...]

    def given() -> Any:
        a = o.put("x", "y")
        r = jx.new_ref(a)

        @jx.jit
        def write(r: Any, a: Any) -> Any:
            r[0] = a[1] * 2
            return r[...].sum()

        return write(r, o.n), write(r, o.put("x", "y") + 1), r[...], a

    def captured() -> Any:
        r = jx.new_ref(o.put("x"))

        @jx.jit
        def double(a: Any) -> Any:
            r[...] = r[...] * 2 + a
            return r[0]

        return double(o.put("x")), double(o.put("x")), r[...]

    def in_a_loop() -> Any:
        r = jx.new_ref(o.put(None, "y"))

        def body(i: Any, c: Any) -> Any:
            r[i] = r[i] * c
            return c + 1

        return jx.jit(lambda: lax.fori_loop(0, 8, body, 1.0))(), r[...]

    return tried(o, {"eager": eager, "given": given, "captured": captured, "in a loop": in_a_loop})
