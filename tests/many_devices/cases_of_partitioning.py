"""Functions that say how they are divided (`custom_partitioning`). Cases as in `cases.py`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tests.many_devices.cases import case, lies


def decorator(o: Any) -> Any:
    return importlib.import_module(f"{o.jx.__name__}.experimental.custom_partitioning").custom_partitioning


def rows_of(o: Any, fun: Any, seen: list[Any]) -> Any:
    """A function of each row, which needs whole rows."""

    def partition(mesh: Any, args: Any, result: Any) -> Any:
        seen.append([str(s.sharding.spec) for s in (*args, result)] + [list(args[0].shape), str(mesh.axis_names)])
        whole = o.Named(args[0].sharding.mesh, o.P(args[0].sharding.spec[0], None))
        return mesh, fun, whole, (whole,)

    made = decorator(o)(fun)
    made.def_partition(partition, sharding_rule="... i -> ... i", need_replication_factors=("i",))
    return made


@case
def partitioned_by_rows(o: Any) -> Any:
    found = []
    for spec in (("x",), ("x", "y"), (None, "x"), (("x", "y"),), ()):
        seen: list[Any] = []
        fft = rows_of(o, lambda v: o.jnp.fft.fft(v), seen)
        y = o.jx.jit(lambda v, fft=fft: fft(v) * 2)(o.put(*spec))
        found.append([np.asarray(y.real), np.asarray(y.imag), str(y.sharding), seen])
    cumulated = rows_of(o, lambda v: o.jnp.cumsum(v, -1), [])
    looped = o.jx.jit(lambda v: o.lax.scan(lambda c, _: (cumulated(c) / 4, None), v, None, length=3)[0])
    inside = o.jx.shard_map(lambda v: cumulated(v), mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P("x"))
    seen = []
    typed = o.jx.jit(rows_of(o, lambda v: o.jnp.cumsum(v, -1), seen))(o.put("x", mesh=o.typed))
    found.append([lies(typed), str(o.jx.typeof(typed)), seen])
    return [found, lies(looped(o.put("x"))), lies(inside(o.n)), np.asarray(cumulated(o.n))]


@case
def partitioned_with_collectives(o: Any) -> Any:
    def normal(x: Any, scale: Any, eps: float) -> Any:
        square = (x * x).mean(-1, keepdims=True)
        return {"y": x / o.jnp.sqrt(square + eps) * scale, "square": square}

    def partition(eps: float, mesh: Any, args: Any, result: Any) -> Any:
        rows, columns = args[0].sharding.spec

        def one(x: Any, scale: Any) -> Any:
            square = (x * x).mean(-1, keepdims=True)
            square = square if columns is None else o.lax.pmean(square, columns)
            return {"y": x / o.jnp.sqrt(square + eps) * scale, "square": square}

        at = lambda *spec: o.Named(args[0].sharding.mesh, o.P(*spec))
        return mesh, one, {"y": at(rows, columns), "square": at(rows, None)}, (at(rows, columns), at(columns))

    made = decorator(o)(normal, static_argnums=(2,))
    made.def_partition(partition, sharding_rule="i j, j -> i k, i j", need_replication_factors=("k",))
    scale = np.arange(1, 5, dtype=np.float32)
    found = []
    for spec in (("x", "y"), ("y",), (None, "y"), ()):
        out = o.jx.jit(lambda x, s: made(x, s, 1e-3))(o.put(*spec), scale)
        found.append({name: lies(v) for name, v in out.items()})
    return found


@case
def partitioned_by_other_rules(o: Any) -> Any:
    def doubled(rule: Any, **factors: Any) -> Any:
        made = decorator(o)(lambda x: x * 2)
        keep = lambda mesh, args, result: (mesh, lambda x: x * 2, args[0].sharding, (args[0].sharding,))
        made.def_partition(keep, sharding_rule=rule, **factors)
        return lies(o.jx.jit(made)(o.put("x", "y")))

    product = decorator(o)(lambda a, b: a @ b.T)

    def partition(mesh: Any, args: Any, result: Any) -> Any:
        a = args[0].sharding
        axes = a.spec[1]
        one = lambda x, y: x @ y.T if axes is None else o.lax.psum(x @ y.T, axes)
        at = lambda *spec: o.Named(a.mesh, o.P(*spec))
        return mesh, one, at(a.spec[0], None), (a, at(None, axes))

    product.def_partition(
        partition, sharding_rule="i k, j k -> i j", reduction_factors=("k",), need_replication_factors=("j",)
    )
    return [
        doubled("i j -> i j"), doubled("(a b) j -> (a b) j", a=4, b=2), doubled(lambda mesh, args, outs: "i j -> i j"),
        doubled(lambda mesh, args, outs: ("i j -> i j", {"need_replication_factors": ()})),
        lies(o.jx.jit(product)(o.put("x", "y"), o.put())), lies(o.jx.jit(product)(o.put("x"), o.n)),
    ]  # fmt: skip
