"""Functions exported over several devices. Cases as in `cases.py`; those that serialize need `flatbuffers` beside jax."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, lies


def library(o: Any) -> Any:
    return importlib.import_module(f"{o.jx.__name__}.export")


def turned(o: Any) -> Any:
    """A mesh of the same axes with its devices in another order."""
    return o.Mesh(o.mesh.devices[::-1], ("x", "y"))


def product(o: Any) -> Any:
    return o.jx.jit(
        lambda a, b: o.jnp.sin(a) @ b.T, in_shardings=(o.at("x"), None), out_shardings=o.at("x", "y")
    )  # fmt: skip


def told(e: Any) -> list[Any]:
    """What an exported function says of itself."""
    named = [str(s) for s in (*e._in_named_shardings, *e._out_named_shardings)]
    avals = [str(a.str_short() if hasattr(a, "str_short") else a) for a in (*e.in_avals, *e.out_avals)]
    hlo = [str(s) for s in (*e.in_shardings_hlo, *e.out_shardings_hlo)]
    return [e.nr_devices, hlo, named, avals, list(e.module_kept_var_idx)]


def devices(x: Any) -> list[int]:
    return [d.id for d in x.sharding._device_assignment]


@case
def exports_say_how_they_lie(o: Any) -> Any:
    export, jit, n = library(o).export, o.jx.jit, o.n
    whole = o.jx.shard_map(lambda v: o.lax.psum(v, "x"), mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P())
    with o.jx.set_mesh(o.mesh):
        by_spec = export(jit(lambda a: a * 2, in_shardings=o.P("y"), out_shardings=o.P(None, "x")))(n)
    found = {
        "asked": export(product(o))(n, n),
        "of an argument": export(jit(lambda a: a * 2))(o.put("x", "y")),
        "of a struct": export(jit(lambda a: a * 2))(o.jx.ShapeDtypeStruct((8, 4), "float32", sharding=o.at("x"))),
        "constraint": export(jit(lambda a: o.lax.with_sharding_constraint(a * 2, o.at("x"))))(n),
        "shard_map": export(jit(lambda a: whole(a)))(n),
        "tree": export(jit(lambda t: t["a"] + t["b"], in_shardings=({"a": o.at("x"), "b": o.at()},)))({"a": n, "b": n}),
        "unused": export(jit(lambda a, b: b, in_shardings=(o.at("x"), o.at("y"))))(n, n),
        "by spec": by_spec,
        "two axes": export(jit(lambda a: a, in_shardings=o.at(("y", "x"))))(n),
        "explicit": export(jit(lambda a: a * 2))(o.put("x", mesh=o.typed)),
        "one device": export(jit(lambda a: a * 2))(n),
        "pullback": export(product(o))(n, n).vjp(),
    }
    return {name: told(e) for name, e in found.items()}


@case
def exports_over_another_mesh(o: Any) -> Any:
    e, other, n = library(o).export(product(o))(o.n, o.n), turned(o), o.n
    few, flat = o.Mesh(o.mesh.devices[:2], ("x", "y")), o.line
    put = lambda mesh, *spec: o.jx.device_put(n, o.at(*spec, mesh=mesh))
    found = {
        "as asked": e.call(put(other, "x"), put(other)),
        "otherwise": e.call(put(other, None, "y"), n),
        "in jit": o.jx.jit(lambda a, b: e.call(a * 1, b) + 0)(put(other, "x"), n),
        "by jit": o.jx.jit(e.call, in_shardings=(e.in_shardings_jax(other)[0], o.at(mesh=other)))(n, n),
    }
    with o.jx.set_mesh(other):
        found["in force"] = e.call(n, n)
    shardings = [
        str(s)
        for mesh in (other, o.mesh.abstract_mesh)
        for s in (*e.in_shardings_jax(mesh), *e.out_shardings_jax(mesh))
    ]
    refused = [
        error(lambda: e.call(n, n)),
        error(lambda: o.jx.jit(e.call)(n, n)),
        error(lambda: e.call(put(few, "x"), n)),
        error(lambda: o.jx.jit(e.call)(put(few, "x"), n)),
        error(lambda: e.in_shardings_jax(flat)),
        error(lambda: e.out_shardings_jax(o.Mesh(o.mesh.devices, ("p", "q")))),
        error(lambda: e.in_shardings_jax(o.Mesh(o.mesh.devices.T, ("x", "y")))),
    ]
    flat_values = np.asarray(e.call(put(flat, "x"), n))
    return [{name: [lies(x), devices(x)] for name, x in found.items()}, shardings, refused, flat_values]


@case
def exports_for_devices_that_are_not_there(o: Any) -> Any:
    export, f = library(o).export, lambda t: {"y": o.jnp.tanh(t["a"]) @ t["b"], "n": t["a"].sum()}
    shapes = lambda *s: {
        "a": o.jx.ShapeDtypeStruct((128, 4), "float32", sharding=(s and s[0]) or None),
        "b": np.ones((4, 8), "f"),
    }
    auto = (o.S.AxisType.Auto,) * 2
    many, few = o.S.AbstractMesh((64, 2), ("x", "y"), auto), o.S.AbstractMesh((4, 2), ("x", "y"), auto)
    asked = o.jx.jit(
        f,
        in_shardings=({"a": o.at("x", mesh=many), "b": o.at(mesh=many)},),
        out_shardings={"y": o.at("x", "y", mesh=many), "n": None},
    )
    e = export(o.jx.jit(lambda a: o.jnp.sin(a) * 2, in_shardings=o.at("x", mesh=few)))(
        o.jx.ShapeDtypeStruct((8, 4), "float32")
    )
    slope = o.jx.grad(lambda a: e.call(a).sum())(o.put(None, "y"))
    return [
        told(export(asked)(shapes())), told(export(o.jx.jit(f))(shapes(o.at(("y", "x"), mesh=many)))),
        told(export(asked)(shapes()).vjp()), lies(e.call(o.put("y", mesh=turned(o)))), lies(slope),
        error(lambda: export(asked)(shapes()).call({"a": np.ones((128, 4), "f"), "b": np.ones((4, 8), "f")})),
        error(lambda: export(o.jx.jit(lambda a: a, in_shardings=o.at("x", mesh=many)))(o.n)),
    ]  # fmt: skip


@case
def exports_read_back(o: Any) -> Any:
    export, other, n = library(o), turned(o), o.n
    spread = o.jx.device_put(n, o.at("x", mesh=other))
    whole = o.jx.shard_map(lambda v: o.lax.psum(v, "x"), mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P())
    once = export.deserialize(export.export(product(o))(n, n).serialize(vjp_order=1))
    twice = export.deserialize(once.serialize(vjp_order=1))
    summed = export.deserialize(export.export(o.jx.jit(lambda a: whole(a)))(n).serialize(vjp_order=1))
    loss = lambda call: lambda a, b: (call(a, b) ** 2).sum()
    slopes = [o.jx.jit(o.jx.grad(loss(e.call), (0, 1)))(spread, n) for e in (once, twice)]
    eager = o.jx.grad(loss(twice.call))(spread, n)
    double = export.export(o.jx.jit(lambda a, b: twice.call(a, b) * 2, in_shardings=(o.at("x"), o.at("y"))))(n, n)
    by_hand = o.jx.grad(loss(lambda a, b: o.jnp.sin(a) @ b.T))(n, n)
    return {
        "told": [told(e) for e in (once, twice, once.vjp(), summed, double)],
        "called": lies(twice.call(spread, n)),
        "slopes": [[lies(x)[1], devices(x), np.asarray(x)] for pair in slopes for x in pair],
        "eager": [lies(eager)[1], float(np.abs(np.asarray(eager) - np.asarray(by_hand)).max()) < 1e-3],
        "shard_map": [
            lies(summed.call(spread)),
            np.asarray(o.jx.grad(lambda a: o.jnp.sin(summed.call(a)).sum())(spread)),
        ],
        "double": lies(double.call(spread, n)),
    }


@case
def exports_of_types(o: Any) -> Any:
    export, spread = library(o), o.put("x", mesh=o.typed)
    f = o.jx.jit(lambda a: o.jnp.tanh(a).T * 2)
    found = []
    for e in (export.export(f)(spread), export.deserialize(export.export(f)(spread).serialize(1))):
        with o.jx.set_mesh(o.typed):
            slope = o.jx.grad(lambda a, e=e: (e.call(a) ** 2).sum())(spread)
            inside = []
            y = o.jx.jit(lambda a, e=e, inside=inside: [inside.append(str(o.jx.typeof(e.call(a)))), e.call(a)][1])(
                spread
            )
            found.append([told(e), lies(y), inside, str(o.jx.typeof(slope)), np.asarray(slope)])
    return found


@case
def exports_of_symbolic_sizes(o: Any) -> Any:
    export, n = library(o), np.concatenate([o.n, o.n])
    (b,) = export.symbolic_shape("b", constraints=["mod(b, 8) == 0"])
    rows = o.jx.ShapeDtypeStruct((b, 4), "float32")
    f = o.jx.jit(lambda a, c: o.jnp.sin(a) @ c.T / a.shape[0], in_shardings=(o.at(("x", "y")), None))
    e = export.export(f, platforms=("cpu", "tpu"))(rows, o.n)
    back = export.deserialize(e.serialize(vjp_order=1))
    spread = o.jx.device_put(n, o.at("x", mesh=turned(o)))
    slope = o.jx.grad(lambda a: back.call(a, o.n).sum())(spread)
    loose = o.jx.ShapeDtypeStruct(export.symbolic_shape("b, 4"), "float32")
    return [
        told(e)[:4], told(back)[:4], lies(o.jx.jit(back.call)(spread, o.n)), lies(slope),
        error(lambda: export.export(f)(loose, o.n)), error(lambda: back.call(n, o.n)),
    ]  # fmt: skip
