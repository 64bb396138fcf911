"""Inputs of many kinds: trees of shardings, donation, keys, meshes in force, partly manual and nested functions. Cases as in `cases.py`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, lies


def leaves(o: Any, x: Any) -> list[Any]:
    return list(map(lies, o.jx.tree.leaves(x)))


def tried(o: Any, call: Callable[[], Any]) -> Any:
    found: list[Any] = []
    kind = error(lambda: found.append(call()))
    return leaves(o, found[0]) if found else kind


@case
def trees_of_shardings(o: Any) -> Any:
    jx, at = o.jx, o.at
    tree = {"w": o.n, "b": [o.n[0], o.n[:, 0]]}
    f = lambda t, s: ({k: jx.tree.map(lambda v: v * s, x) for k, x in t.items()}, s)
    found = {
        "prefix": lambda: jx.jit(f, in_shardings=(at("x"), None))({"w": o.n}, 2.0),
        "deep prefix": lambda: jx.jit(f, in_shardings=({"w": at("x"), "b": at()}, at()))(tree, 2.0),
        "whole": lambda: jx.jit(f, in_shardings=({"w": at("x", "y"), "b": [at("y"), at("x")]}, None))(tree, 2.0),
        "none": lambda: jx.jit(f, in_shardings=None, out_shardings=None)({"w": o.put("x")}, 2.0),
        "one for all": lambda: jx.jit(f, in_shardings=at())(tree, 2.0),
        "results": lambda: jx.jit(f, out_shardings=({"w": at("x"), "b": at()}, at()))(tree, 2.0),
        "wrong tree": lambda: jx.jit(f, in_shardings=({"v": at("x")}, None))({"w": o.n}, 2.0),
        "too many": lambda: jx.jit(f, in_shardings=(at(), at(), at()))(tree, 2.0),
        "scalar": lambda: jx.jit(lambda s: s * 2, in_shardings=at("x"))(3.0),
        "uneven": lambda: jx.jit(lambda a: a * 2, in_shardings=at("x"))(np.ones((6, 4), np.float32)),
        "uneven result": lambda: jx.jit(lambda a: a[:3], out_shardings=at("x"))(o.n),
        "uneven inside": lambda: jx.jit(lambda a: o.lax.with_sharding_constraint(a[:6], at("x")) * 2)(o.n),
        "by name": lambda: jx.jit(lambda a: a, in_shardings=at("x"))(a=o.n),
        "put": lambda: jx.device_put(tree, {"w": at("x", "y"), "b": at()}),
        "put prefix": lambda: jx.device_put(tree, at()),
        "put uneven": lambda: jx.device_put(np.ones((6, 4), np.float32), at("x")),
    }
    return {name: tried(o, call) for name, call in found.items()}


@case
def given_away(o: Any) -> Any:
    jx = o.jx
    found = []
    for spec, out in [(("x",), None), (("x", "y"), ("x", "y")), ((), ("x",))]:
        x, y = o.put(*spec), o.put("y")
        kwargs = {} if out is None else {"out_shardings": o.at(*out)}
        result = jx.jit(lambda a, b: (a + b) * 2, donate_argnums=0, **kwargs)(x, y)
        found.append([lies(result), y.is_deleted()])
    tree = {"a": o.put("x"), "b": o.put("y")}
    step = jx.jit(lambda t: jx.tree.map(lambda v: v + 1, t), donate_argnames="t")
    out = step(tree)
    found.append([leaves(o, out), [v.is_deleted() for v in tree.values()], error(lambda: tree["a"] + 1)])
    x = o.put("x")
    moved = jx.device_put(x, o.at("x"), donate=True)
    found.append(lies(moved))
    y = jx.device_put(o.put("x"), o.at("y"), may_alias=False)
    found.append(lies(y))
    found.append(lies(jx.device_put(o.put("x"), o.at("x"), may_alias=True)))
    return found


@case
def captured_and_scalars(o: Any) -> Any:
    jx = o.jx
    big, whole = o.put("x", "y"), jx.device_put(np.float32(3), o.at())
    f = jx.jit(lambda a: a @ big.T + whole)
    g = jx.shard_map(lambda a: a * whole, mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P("x"))
    callback = jx.make_array_from_callback((8, 4), o.at("x"), lambda i: o.n[i].astype("int32"), dtype=np.int32)
    keys = jx.device_put(jx.random.split(jx.random.key(1), 8), o.at(("x", "y")))
    drawn = jx.shard_map(
        jx.vmap(lambda k: jx.random.normal(k, (2,))), mesh=o.mesh, in_specs=o.P(("x", "y")), out_specs=o.P(("x", "y"))
    )
    return [
        np.asarray(f(o.put("y"))), np.asarray(f(o.n)), np.asarray(jx.grad(lambda a: f(a).sum())(o.n)), lies(jx.jit(g)(o.n)),
        lies(callback), lies(whole + 1), lies(jx.jit(lambda s: s * 2)(whole)), lies(jx.jit(drawn)(keys)),
        np.asarray(jx.random.key_data(keys)), str(keys[0].dtype),
    ]  # fmt: skip


@case
def meshes_in_force(o: Any) -> Any:
    jx, P = o.jx, o.P
    found: list[Any] = []
    put = o.lax.with_sharding_constraint
    with o.mesh:
        found.append(lies(jx.jit(lambda a: put(a * 2, P("x")))(o.n)))
    with jx.set_mesh(o.mesh):
        found.append(lies(jx.jit(lambda a: put(a * 2, P("x", "y")))(o.n)))
        found.append(lies(jx.device_put(o.n, P("y"))))
        found.append(lies(jx.jit(lambda a: a * 2, in_shardings=P("x"), out_shardings=P(None, "y"))(o.n)))
        found.append(lies(jx.shard_map(lambda a: a * 2, in_specs=P("x"), out_specs=P("x"))(o.n)))
        found.append([str(jx.sharding.get_mesh()), str(jx.sharding.get_abstract_mesh())])
        with jx.set_mesh(o.line):
            found.append(lies(jx.device_put(o.n, P("x"))))
        found.append(lies(jx.device_put(o.n, P("y"))))
    found.append(error(lambda: jx.shard_map(lambda a: a, in_specs=P("x"), out_specs=P("x"))(o.n)))
    found.append(error(lambda: jx.jit(lambda a: a, in_shardings=P("x"))(o.n)))
    found.append(error(lambda: jx.device_put(o.n, P("x"))))
    return found


@case
def ways_to_write_shard_map(o: Any) -> Any:
    jx, lax, P, jnp = o.jx, o.lax, o.P, o.jnp

    @functools.partial(jx.shard_map, mesh=o.mesh, in_specs=(P("x"), P()), out_specs=P("x"))
    def scaled(a: Any, s: Any) -> Any:
        return a * s + lax.axis_index("x")

    @jx.jit
    @jx.shard_map(mesh=o.mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
    def summed(a: Any) -> Any:
        return a - lax.pmean(a, ("x", "y"))

    partly = jx.jit(
        jx.shard_map(lambda a: lax.psum(a, "x"), mesh=o.mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"})
    )
    both = jx.jit(
        jx.shard_map(lambda a: jnp.sin(a) @ a.T, mesh=o.mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    )
    inferred = jx.shard_map(lambda a: a * 2, mesh=o.typed, out_specs=P("x"))

    def outer(a: Any) -> Any:
        inner = jx.shard_map(
            lambda b: b * lax.axis_index("y"), in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"}
        )
        return inner(a) + lax.axis_index("x")

    nested = jx.jit(jx.shard_map(outer, mesh=o.mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}))
    tree = jx.shard_map(lambda t: {"s": lax.psum(t["a"].sum(), "x"), "r": t["b"] * 2}, mesh=o.mesh, in_specs=({"a": P("x"), "b": P()},),
                        out_specs={"s": P(), "r": P()})  # fmt: skip
    x = jx.device_put(o.n, o.Named(o.typed, P("x")))
    return [
        lies(scaled(o.n, 2.0)), lies(summed(o.n)), lies(partly(o.n)), lies(both(o.n)), np.asarray(inferred(x)), np.asarray(nested(o.n)),
        leaves(o, tree({"a": o.n, "b": o.n[0]})), np.asarray(jx.grad(lambda a: (scaled(a, 2.0) ** 2).sum())(o.n)),
        np.asarray(jx.jit(jx.grad(lambda a: (both(a) ** 2).sum()))(o.n / 32)),
    ]  # fmt: skip


@case
def mapped_over_devices(o: Any) -> Any:
    jx, lax, P, jnp = o.jx, o.lax, o.P, o.jnp
    x = np.arange(64, dtype=np.float32).reshape(2, 8, 4) / 64
    cut = jx.shard_map(lambda a: a - lax.pmean(a, "x"), mesh=o.mesh, in_specs=P("x"), out_specs=P("x"))
    put = lambda a: lax.with_sharding_constraint(jnp.sin(a), o.at("x"))
    f = {
        "plain": jx.vmap(cut),
        "second": jx.vmap(cut, in_axes=2, out_axes=1),
        "along y": jx.vmap(cut, spmd_axis_name="y"),
        "along y by name": jx.vmap(lambda a: cut(a) * lax.axis_size("i"), axis_name="i", spmd_axis_name="y"),
        "constraint": jx.vmap(put, spmd_axis_name="y"),
        "constraint alone": jx.vmap(put),
    }
    found = {}
    for name, g in f.items():
        given = x.transpose(1, 2, 0).copy() if name == "second" else x
        found[name] = [lies(jx.jit(g)(given)), np.asarray(jx.jit(jx.grad(lambda a, g=g: (g(a) ** 3).sum()))(given))]
    found["used twice"] = error(lambda: jx.vmap(cut, spmd_axis_name="x")(np.ones((4, 8, 4), np.float32)))
    return found


@case
def loops_with_sums(o: Any) -> Any:
    jx, lax, P, jnp = o.jx, o.lax, o.P, o.jnp

    def total(a: Any, w: Any) -> Any:
        step = lambda c, r: (jnp.tanh(c * 0.5 + lax.psum((r * w).sum(), "x")), c)
        carry, seen = lax.scan(step, jnp.float32(0), a)
        return carry, seen

    def average(a: Any, w: Any) -> Any:
        return lax.fori_loop(
            0, 3, lambda i, w: w - 0.1 * lax.pmean(jx.grad(lambda w: ((a * w) ** 2).mean())(w), "x"), w
        ), w

    def until(a: Any, w: Any) -> Any:
        return lax.while_loop(
            lambda c: lax.pmax(c[0].max(), "x") < 4, lambda c: (c[0] * 2 + 1, c[1] + 1), (a, jnp.int32(0))
        )[1], w

    w = np.linspace(0, 1, 4, dtype=np.float32)
    found = []
    for f in (total, average, until):
        run = jx.shard_map(f, mesh=o.mesh, in_specs=(P("x"), P()), out_specs=(P(), P()))
        found.append(leaves(o, jx.jit(run)(o.n / 32, w)))
    both = jx.shard_map(total, mesh=o.mesh, in_specs=(P("x"), P()), out_specs=(P(), P()))
    grads = jx.jit(jx.grad(lambda a, w: both(a, w)[0] + both(a, w)[1].sum(), (0, 1)))(o.n / 32, w)
    return [*found, *map(np.asarray, grads)]


@case
def pmap_of_turned_devices(o: Any) -> Any:
    """An argument that lies over the same devices in another order, or in other parts."""
    devices = o.jx.devices()
    turned = o.jx.device_put(np.arange(8.0), o.at("x", mesh=o.Mesh(np.array(devices)[::-1], ("x",))))
    double = o.jx.pmap(lambda a: a * 2)
    found = [double(turned), o.jx.pmap(lambda a, b: a + b, in_axes=(0, None))(turned, o.jx.device_put(1.0, devices[2]))]
    found.append(o.jx.pmap(lambda a: a * 2, devices=devices[::-1])(double(np.arange(8.0))))
    wrong = [o.put("x", "y"), o.put(), o.jx.device_put(o.n, devices[3])]
    return [*map(lies, found), [error(lambda x=x: double(x)) for x in wrong]]


@case
def results_in_host_memory(o: Any) -> Any:
    host = o.at("x", mesh=o.line).with_memory_kind("pinned_host")
    x = o.jx.jit(lambda a: a * 2, out_shardings=host)(o.n)
    back = o.jx.jit(lambda a: o.jx.device_put(a, o.at("x", mesh=o.line)) + 1, out_shardings=o.at("x", mesh=o.line))(x)
    once = o.jx.jit(lambda a: a + 1, donate_argnums=0, out_shardings=host)(x)
    return [
        *map(lies, [back, once, o.jx.device_put(once, o.at())]),
        [np.asarray(s.data) for s in once.addressable_shards[:2]],
    ]
