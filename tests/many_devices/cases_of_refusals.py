"""What is refused, and what is not beside it: specs, collectives, loops and rules inside `shard_map`, `pmap`, layouts, arrays made of
parts, types over Explicit axes. Each gives the kind of its error, or "nothing". Cases as in `cases.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, lies, tells


def told(found: dict[str, Callable[[], Any]]) -> dict[str, str]:
    return {name: error(call) for name, call in found.items()}


def mapped(o: Any, f: Any, ins: Any, outs: Any, **options: Any) -> Any:
    return o.jx.shard_map(f, mesh=o.mesh, in_specs=ins, out_specs=outs, **options)


@case
def refused_collectives(o: Any) -> Any:
    P, n, lax, jx, jnp = o.P, o.n, o.lax, o.jx, o.jnp
    X = P("x")
    run = lambda f, outs=X, x=n, **options: lambda: mapped(o, f, X, outs, **options)(x)
    rows = np.ones((64, 4), np.float32)
    return told(
        {
            "spec": lambda: o.Named(o.mesh, P("x", "x")),
            "sum over what is the same along one axis": run(lambda a: lax.psum(a, ("x", "y")), P()),
            "mean": run(lambda a: lax.pmean(a, ("x", "y")), P()),
            "scatter": run(lambda a: lax.psum_scatter(a, ("x", "y"), tiled=True), P(("x", "y")), rows),
            "greatest": run(lambda a: lax.pmax(a, ("x", "y")), P()),
            "gather": run(lambda a: lax.all_gather(a, ("x", "y"), tiled=True), P(("x", "y"))),
            "sum along the same": run(lambda a: lax.psum(a, "y")),
            "sum of a constant": run(lambda a: a + lax.psum(jnp.ones(4), ("x", "y"))),
            "twice": run(lambda a: lax.psum(lax.psum(a, "x"), ("x", "y")), P()),
            "gather to nothing known": run(lambda a: lax.all_gather(a, "x", to="foo")),
            "pcast outside": lambda: lax.pcast(n, "x", to="varying"),
            "pcast of no axes": lambda: lax.pcast(n, (), to="varying"),
            "pcast under vmap": lambda: jx.vmap(lambda a: lax.pcast(a, "i", to="varying"), axis_name="i")(n),
            "pcast of a set": run(lambda a: lax.pcast(a, {"y"}, to="varying"), P("x", "y")),
            "pcast of what varies": run(lambda a: lax.pcast(a, ("x", "y"), to="varying"), P("x", "y")),
            "specs None": lambda: mapped(o, lambda a: a, None, X)(n),
            "pmap inside": run(lambda a: jx.pmap(lambda b: b * 2)(a)),
            "pmap of pmap": lambda: jx.pmap(jx.pmap(lambda a: a * 2))(np.ones((2, 2, 3), np.float32)),
        }
    )


@case
def refused_carries(o: Any) -> Any:
    P, n, lax, jx, jnp = o.P, o.n, o.lax, o.jx, o.jnp
    run = lambda f, **options: lambda: mapped(o, f, P("x"), P("x"), **options)(n)
    add = lambda c, r: (c + r, None)
    twice, taken = jx.custom_vjp(lambda a: a * 2), jx.custom_jvp(lambda a: a * 2)
    twice.defvjp(lambda a: (a * 2, None), lambda _, ct: (jnp.ones((2, 4)),))
    taken.defjvp(lambda p, t: (p[0] * 2, jnp.ones((2, 4))))
    right = jx.custom_vjp(lambda a: a * 2)
    right.defvjp(lambda a: (a * 2, None), lambda _, ct: (ct * 2,))
    return told(
        {
            "scan": run(lambda a: lax.scan(add, jnp.zeros(4), a)[0]),
            "scan of a number": run(lambda a: lax.scan(lambda c, r: (c + r.sum(), None), 0.0, a)[0][None]),
            "scan, cast": run(lambda a: lax.scan(add, lax.pcast(jnp.zeros(4), "x", to="varying"), a)[0]),
            "scan of zeros like it": run(lambda a: lax.scan(add, jnp.zeros_like(a[0]), a)[0]),
            "scan, not checked": run(lambda a: lax.scan(add, jnp.zeros(4), a)[0], check_vma=False),
            "scan that sums": run(lambda a: lax.scan(lambda c, _: (lax.psum(c, "x"), None), a, jnp.arange(3))[0]),
            "scan that forgets": run(lambda a: lax.scan(lambda c, _: (jnp.zeros(4), None), a[0], jnp.arange(3))[0]),
            "fori_loop": run(lambda a: lax.fori_loop(0, 3, lambda i, c: c + a, jnp.zeros((2, 4)))),
            "while_loop": run(lambda a: lax.while_loop(lambda c: (c < 3).all(), lambda c: c + a.sum(), jnp.ones(2))),
            "while_loop by what varies": run(lambda a: lax.while_loop(lambda c: c < a.sum(), lambda c: c + 1, a.sum() - 2)[None]),
            "cond": run(lambda a: lax.cond(a.sum() > 3, lambda: a, lambda: jnp.zeros((2, 4)))),
            "cond alike": run(lambda a: lax.cond(a.sum() > 3, lambda: 1.0, lambda: 2.0)[None]),
            "select": run(lambda a: jnp.where(a > 3, a, jnp.zeros((2, 4)))),
            "backward rule": run(jx.grad(lambda a: twice(a).sum())),
            "backward rule that fits": run(jx.grad(lambda a: right(a).sum())),
            "forward rule": run(lambda a: jx.jvp(taken, (a,), (jnp.ones_like(a),))[1]),
            "of the library": run(lambda a: jnp.searchsorted(jnp.arange(32.0), a)),
        }
    )  # fmt: skip


@case
def gathered_for_all(o: Any) -> Any:
    P, n, lax, jx = o.P, o.n, o.lax, o.jx
    gather = lambda a: lax.all_gather(a, "x", tiled=True, to="invarying")
    both = lambda a: lax.all_gather(a, ("x", "y"), axis=1, to="invarying")
    weighted = lambda f: jx.grad(lambda a: (f(a) * n.reshape(4, 2, 4)).sum())
    parts = mapped(o, lambda a: lax.all_gather(a, "x", to="invarying"), P("x"), P())
    return [
        lies(mapped(o, gather, P("x"), P())(n)),
        lies(mapped(o, both, P("x", "y"), P())(n)),
        lies(weighted(parts)(n)),
    ]


@case
def refused_places(o: Any) -> Any:
    jx, P, at, n, S, lax = o.jx, o.P, o.at, o.n, o.S, o.lax
    devices, f32 = jx.devices(), np.float32
    double = lambda a: a * 2
    there = jx.device_put(n, devices[3])
    compiled = jx.jit(double).lower(o.put("x")).compile()
    some = jx.sharding.Mesh(np.array(devices[4:]), ("q",))

    def under(mesh: Any, call: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            with jx.set_mesh(mesh):
                return call()

        return run

    parts = [jx.device_put(n[i : i + 1], d) for i, d in enumerate(devices)]
    by = lambda give, **options: lambda: jx.make_array_from_callback((8, 4), at("x"), give, **options)
    return told(
        {
            "pmap of nothing mapped": lambda: jx.pmap(lambda a: a, in_axes=None, axis_size=4)(n),
            "pmap of what lies elsewhere": lambda: jx.pmap(double)(jx.device_put(np.ones((2, 3), f32), devices[3])),
            "pmap of what lies otherwise": lambda: jx.pmap(double)(o.put(None, "x")),
            "pmap of what is on other devices": lambda: jx.pmap(double)(jx.device_put(n[:4], o.Named(some, P("q")))),
            "pmap beside a number there": lambda: jx.pmap(lambda a, b: a * b, in_axes=(0, None))(n, jx.device_put(2.0, devices[0])),
            "kind of memory": lambda: o.Named(o.mesh, P("x"), memory_kind="foo"),
            "kind of memory, abstract": lambda: o.Named(o.mesh.abstract_mesh, P("x"), memory_kind="foo"),
            "kind of memory of a device": lambda: S.SingleDeviceSharding(devices[0], memory_kind="foo"),
            "pinned": lambda: o.Named(o.mesh, P("x"), memory_kind="pinned_host"),
            "left open": lambda: jx.device_put(n, o.Named(o.typed, P(P.UNCONSTRAINED))),
            "device and in_shardings": lambda: jx.jit(double, in_shardings=at("x"), device=devices[0])(n),
            "backend and out_shardings": lambda: jx.jit(double, backend="cpu", out_shardings=at("x"))(n),
            "device in a mesh": under(o.mesh, lambda: jx.jit(double, device=devices[3])(n)),
            "compiled, on a device": lambda: compiled(there),
            "compiled, put nowhere": lambda: compiled(n),
            "compiled for a device": lambda: jx.jit(double).lower(n).compile()(o.put("x")),
            "struct of a text": lambda: jx.ShapeDtypeStruct((8, 4), f32, sharding="x"),
            "struct of a device": lambda: jx.ShapeDtypeStruct((8, 4), f32, sharding=devices[0]),
            "struct of too many axes": lambda: jx.ShapeDtypeStruct((8,), f32, sharding=at("x", "y")),
            "callback of another dtype": by(lambda i: n[i], dtype=np.int32),
            "callback of two dtypes": by(lambda i: n[i].astype([f32, np.int32][i[0].start == 0])),
            "callback of lists": by(lambda i: n[i].tolist()),
            "callback of nothing": by(lambda i: None),
            "callback of doubles": by(lambda i: n[i].astype(np.float64), dtype=f32),
            "parts of NumPy": lambda: jx.make_array_from_single_device_arrays((8, 4), at("x", mesh=o.line), list(n[:, None])),
            "parts": lambda: jx.make_array_from_single_device_arrays((8, 4), at("x", mesh=o.line), parts),
            "constraint on Explicit axes": lambda: lax.with_sharding_constraint(n, o.Named(o.typed, P("y"))),
            "constraint on Manual axes": lambda: mapped(o, lambda a: lax.with_sharding_constraint(a, at("x")), P("x"), P("x"))(n),
            "false claim": under(o.typed, lambda: lax.with_sharding_constraint(n, P("y"))),
            "reshard along Auto axes": lambda: S.reshard(n, at("y")),
            "reshard to a device": lambda: S.reshard(n, devices[0]),
            "reshard to None": lambda: S.reshard(n, None),
        }
    )  # fmt: skip


@case
def constraint_in_a_partly_manual_function(o: Any) -> Any:
    inner = lambda a: o.lax.with_sharding_constraint(a, o.P(None, "y")) * 2
    f = mapped(o, inner, o.P("x"), o.P("x"), axis_names={"x"})
    return tells(o.jx.jit(f)(o.n))


@case
def refused_types(o: Any) -> Any:
    jx, jnp, P, lax, S = o.jx, o.jnp, o.P, o.lax, o.S
    put = lambda *spec, x=o.n: jx.device_put(x, o.Named(o.typed, P(*spec)))
    square = np.arange(64, dtype=np.float32).reshape(8, 8)
    rows, columns = put("x"), put(None, "y")
    found = {
        "where of other shapes": lambda: jnp.where(rows > 3, columns, 0.0),
        "where of one shape": lambda: jnp.where(rows > 3, columns, o.n),
        "where without a choice": lambda: jnp.where(True, columns, rows),
        "half": lambda: rows[:4],
        "every second": lambda: rows[::2],
        "half in a program": lambda: jx.jit(lambda a: a[:4])(rows),
        "columns": lambda: rows[:, 1:3],
        "mask": lambda: rows[np.arange(8) > 3],
        "diagonal": lambda: jnp.diagonal(put("x", x=square)),
        "diag": lambda: jnp.diag(put("x", x=square)),
        "repeat": lambda: jnp.repeat(rows, 2, 0),
        "repeat columns": lambda: jnp.repeat(rows, 2, 1),
        "repeat all": lambda: jnp.repeat(rows, 2),
        "nonzero": lambda: jnp.nonzero(rows),
        "unique": lambda: jnp.unique(rows),
        "scan": lambda: lax.scan(lambda c, r: (c + r, r), jnp.zeros(4), rows),
        "map": lambda: lax.map(lambda r: r * 2, rows),
        "fft": lambda: abs(jnp.fft.fft(rows, axis=0)),
        "reshard": lambda: S.reshard(rows, P("y")),
        "zeros": lambda: jnp.zeros((8, 4), out_sharding=P("x")),
        "auto_axes": lambda: S.auto_axes(lambda a: jnp.sort(a, 0), out_sharding=P("x"))(rows),
    }
    said = {}
    with jx.set_mesh(o.typed):
        for name, call in found.items():
            results: list[Any] = []
            kind = error(lambda: results.append(call()))  # noqa: B023
            said[name] = list(map(lies, jx.tree.leaves(results))) if results else kind
    return said


@case
def results_that_another_mesh_names(o: Any) -> Any:
    given = o.put("x", mesh=o.line)
    asked = o.jx.jit(lambda a: (o.lax.with_sharding_constraint(a, o.at("x", "y")) * 2, a + 1))(given)
    return [lies(x) for x in (*asked, o.jx.jit(mapped(o, lambda a: a, o.P("x"), o.P("x")))(given))]
