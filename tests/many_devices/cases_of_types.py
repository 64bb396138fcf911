"""Explicit axes: types say how values lie. Cases as in `cases.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, lies, tells


def outcome(o: Any, call: Callable[[], Any]) -> Any:
    """What the types of the results say, with values and layouts where something ran; or the kind of error."""
    try:
        found = call()
    except Exception as problem:
        kinds = [k.__name__ for k in type(problem).__mro__ if k.__module__ == "builtins"]
        return f"{type(problem).__name__ if kinds[0] == 'Exception' else kinds[0]}"
    leaves = o.jx.tree.leaves(found)
    return [[str(o.jx.typeof(x)), *([] if x.dtype == bool else lies(x))] for x in leaves]


def typed(o: Any, *spec: Any, a: Any = None) -> Any:
    return o.jx.device_put(o.n if a is None else a, o.Named(o.typed, o.P(*spec)))


def each(o: Any, calls: dict[str, Callable[..., Any]], *args: Any) -> dict[str, Any]:
    """Each function under jit."""
    return {name: outcome(o, lambda f=f: o.jx.jit(f)(*args)) for name, f in calls.items()}


@case
def types_of_operations(o: Any) -> Any:
    jnp, lax, jx = o.jnp, o.lax, o.jx
    both, rows = typed(o, "x", "y"), typed(o, "x")
    common = {
        "double": lambda x: x * 2,
        "compared": lambda x: (x > 3).astype("float32"),
        "chosen": lambda x: jnp.where(x > 3, x, 0.0),
        "sum": lambda x: x.sum(),
        "columns": lambda x: x.sum(0),
        "rows": lambda x: x.max(1, keepdims=True),
        "mean": lambda x: x.mean(1),
        "std": lambda x: x.std(0),
        "argmax": lambda x: x.argmax(1),
        "turned": lambda x: x.T,
        "thick": lambda x: x[:, None],
        "flat": lambda x: x.reshape(32),
        "halves": lambda x: x.reshape(4, 2, 4),
        "quarters": lambda x: x.reshape(8, 2, 2),
        "mixed": lambda x: x.reshape(2, 4, 4),
        "repeated": lambda x: jnp.broadcast_to(x, (2, 8, 4)),
        "stacked": lambda x: jnp.stack([x, x], 1),
        "joined": lambda x: jnp.concatenate([x, x], 1),
        "backwards": lambda x: jnp.flip(x, 0),
        "padded": lambda x: jnp.pad(x, ((0, 0), (1, 1))),
        "padded rows": lambda x: jnp.pad(x, ((1, 0), (0, 0))),
        "cut": lambda x: lax.slice(x, (0, 0), (8, 2)),
        "cut rows": lambda x: lax.slice(x, (0, 0), (2, 4)),
        "dynamic": lambda x: lax.dynamic_slice(x, (0, 1), (8, 2)),
        "one row": lambda x: lax.dynamic_index_in_dim(x, 1, 0),
        "written": lambda x: lax.dynamic_update_slice(x, x * 2, (0, 0)),
        "picked": lambda x: x[:, np.array([0, 2])],
        "picked rows": lambda x: x[np.array([0, 2])],
        "added": lambda x: x.at[:, np.array([0, 2])].add(1.0),
        "added rows": lambda x: x.at[np.array([0, 2])].add(1.0),
        "along": lambda x: jnp.take_along_axis(x, jnp.argmax(x, 1, keepdims=True), 1),
        "sorted": lambda x: jnp.sort(x, 1),
        "sorted rows": lambda x: jnp.sort(x, 0),
        "running": lambda x: jnp.cumsum(x, 1),
        "split": lambda x: jnp.split(x, 2),
        "split across": lambda x: jnp.split(x, 2, 1),
        "best": lambda x: lax.top_k(x, 2)[0],
        "softmax": lambda x: jx.nn.softmax(x),
        "lower": lambda x: jnp.tril(x),
        "squared": lambda x: x @ x.T,
        "inner": lambda x: x.T @ x,
        "clipped": lambda x: jnp.clip(x, 0, 9),
        "swapped": lambda x: jnp.swapaxes(x[None], 0, 1),
        "loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c * 0.5 + i, x),
        "while": lambda x: lax.while_loop(lambda c: c.sum() < 1e4, lambda c: c * 2 + 1, x),
        "branches": lambda x: lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x + 1, x),
        "branches apart": lambda x: lax.cond(x.sum() > 0, lambda x: x.sum(1), lambda x: jnp.zeros(8), x),
        "each row": lambda x: jx.vmap(lambda r: jnp.tanh(r) * r.sum())(x),
        "each column": lambda x: jx.vmap(lambda r: r * 2, in_axes=1, out_axes=1)(x),
    }
    return {str(i): each(o, common, x) for i, x in enumerate((both, rows))}


@case
def types_of_two_operands(o: Any) -> Any:
    jnp = o.jnp
    small = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
    found = {}
    for left, right in [
        (("x",), ()),
        (("x",), (None, "y")),
        (("x", "y"), ("y",)),
        ((), ("x",)),
        (("x",), ("x",)),
        ((None, "y"), ()),
    ]:
        x, w = typed(o, *left), typed(o, *right, a=small)
        found[f"{left} {right}"] = [
            outcome(o, lambda x=x, w=w: o.jx.jit(jnp.matmul)(x, w)),
            outcome(o, lambda x=x, w=w: x @ w),
            outcome(o, lambda x=x, w=w: o.jx.jit(lambda x, w: jnp.einsum("ij,jk->ki", x, w))(x, w)),
            outcome(o, lambda x=x, w=w: o.jx.jit(lambda x, w: x[:4] + w)(x, w)) if not left or not left[0] else None,
        ]
    added = [(("x",), (None, "y")), (("x", "y"), ("x",)), (("x",), ("y",)), (("x",), (None, "x"))]
    found["added"] = [outcome(o, lambda a=a, b=b: typed(o, *a) + typed(o, *b)) for a, b in added]
    found["numpy"] = outcome(o, lambda: typed(o, "x") + o.n)
    found["rows"] = outcome(o, lambda: typed(o, "x", "y") + typed(o, "y", a=o.n[0]))
    return found


@case
def asked_for_in_types(o: Any) -> Any:
    jnp, jx, P, lax = o.jnp, o.jx, o.P, o.lax
    both = typed(o, "x", "y")
    with jx.set_mesh(o.typed):
        calls = {
            "matmul": lambda x: jnp.matmul(x, x.T, out_sharding=P("x")),
            "dot": lambda x: jnp.dot(x, x.T, out_sharding=P(None, "y")),
            "einsum": lambda x: jnp.einsum("ij,kj->ik", x, x, out_sharding=P("x", "y")),
            "dot_general": lambda x: lax.dot_general(x, x, (((1,), (1,)), ((), ())), out_sharding=P("y")),
            "tensordot": lambda x: jnp.tensordot(x, x.T, 1, out_sharding=P("x")),
            "reshape": lambda x: jnp.reshape(x, (2, 4, 4), out_sharding=P(None, "x")),
            "method": lambda x: x.reshape(16, 2, out_sharding=P("x")),
            "broadcast_to": lambda x: jnp.broadcast_to(jnp.ones(4), (8, 4), out_sharding=P("x")),
            "get": lambda x: x.at[np.array([0, 2])].get(out_sharding=P(None, "y")),
            "set": lambda x: x.at[np.array([0, 2])].set(1.0, out_sharding=P("x", "y")),
            "reshard": lambda x: jx.sharding.reshard(x, P(None, "x")),
            "zeros": lambda x: jnp.zeros((8, 4), out_sharding=P("x")) + x,
            "full": lambda x: jnp.full((8, 4), 2.0, out_sharding=P("x", "y")) * x,
            "arange": lambda x: jnp.arange(8.0, out_sharding=P("x")),
            "made": lambda x: jnp.ones(3),
            "like": lambda x: (jnp.zeros_like(x), jnp.ones_like(x)),
            "drawn": lambda x: jx.random.normal(jx.random.key(1), (8, 4), out_sharding=P("x", "y")),
            "uniform": lambda x: jx.random.uniform(jx.random.key(1), (8,), out_sharding=P("y")),
            "claimed": lambda x: lax.with_sharding_constraint(x, P("x", "y")),
            "wrongly": lambda x: lax.with_sharding_constraint(x, P("y", "x")),
            "auto": lambda x: jx.sharding.auto_axes(lambda a: jnp.cumsum(a @ a.T, 0), out_sharding=P("x"))(x),
            "auto at call": lambda x: jx.sharding.auto_axes(lambda a: a[1:3] * 2)(x, out_sharding=P(None, "y")),
            "auto one": lambda x: jx.sharding.auto_axes(lambda a: a.sum(0), axes="x", out_sharding=P("y"))(x),
        }
        found = each(o, calls, both)
        found["eager"] = [
            outcome(o, lambda k=k: calls[k](both)) for k in ("matmul", "reshape", "zeros", "drawn", "reshard", "made")
        ]
    with jx.set_mesh(o.mesh):
        inside: list[str] = []

        def f(a: Any) -> Any:
            out = a.T * 2
            inside.append(str(jx.typeof(out)))
            return out

        x = jx.device_put(o.n, o.at("y"))
        found["explicit"] = [outcome(o, lambda: jx.jit(jx.sharding.explicit_axes(f, in_sharding=P("x")))(x)), *inside]
    return found


@case
def derivatives_in_types(o: Any) -> Any:
    jnp, jx, P, lax = o.jnp, o.jx, o.P, o.lax
    small = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
    losses = {
        "product": lambda x, w: jnp.tanh(x @ w).sum(),
        "einsum": lambda x, w: (jnp.einsum("ij,jk->ik", x, w) ** 2).mean(),
        "softmax": lambda x, w: (jx.nn.softmax(x @ w) * x).sum(),
        "scan": lambda x, w: lax.scan(lambda c, r: (jnp.tanh(c @ w + r), c.sum()), x, jnp.arange(3.0))[0].sum(),
        "branch": lambda x, w: lax.cond(w.sum() > -9, lambda: (x @ w).sum(), lambda: (x**2).sum()),
        "each": lambda x, w: jx.vmap(lambda r: jnp.sin(r @ w))(x).sum(),
        "saved": lambda x, w: jx.checkpoint(lambda x: jnp.sin(x @ w) @ w)(x).sum(),
        "picked": lambda x, w: (x[:, np.array([1, 3])] @ w[:2]).sum(),
        "joined": lambda x, w: (jnp.concatenate([x, x * 2], 1) ** 2).sum(),
        "reshaped": lambda x, w: ((x @ w).reshape(8, 2, 2) ** 2).sum(),
        "resharded": lambda x, w: (jx.sharding.reshard(x, P(None, None)) @ w).sum(),
    }
    found: dict[str, Any] = {}
    with jx.set_mesh(o.typed):
        for spec, other in [(("x",), ()), (("x",), (None, "y"))]:
            x, w = typed(o, *spec, a=o.n / 32), typed(o, *other, a=small)
            for name, loss in losses.items():
                if name not in ("product", "einsum", "reshaped") and other:
                    continue
                key = f"{name} {other}"
                found[key] = outcome(o, lambda loss=loss, x=x, w=w: jx.jit(jx.grad(loss, (0, 1)))(x, w))
                found[f"{key} forward"] = outcome(o, lambda loss=loss, x=x, w=w: jx.jvp(loss, (x, w), (x, w)))
        asked = lambda x, w: (jnp.dot(x, w, out_sharding=P("x")) ** 2).sum()
        found["asked"] = outcome(o, lambda: jx.jit(jx.grad(asked, (0, 1)))(typed(o, "x", "y"), typed(o, "y", a=small)))
        found["eager"] = outcome(o, lambda: jx.grad(losses["product"], (0, 1))(typed(o, "x"), typed(o, a=small)))
    return found


@case
def axes_of_one_beside_those_that_are_put_together(o: Any) -> Any:
    """The axes of one that come or go say nothing of how the others lie; an array that is made on a mesh is not weak; kinds of memory
    have names. (Recorded with JAX 0.12: 0.10 refuses the first three shapes.)"""
    both, rows = typed(o, "x", "y"), typed(o, "x")
    shapes = [(1, 32), (32, 1), (1, 1, 32), (8, 1, 4), (4, 2, 1, 4), (2, 16), (16, 2)]
    found = {f"{x.sharding.spec} {s}": outcome(o, lambda x=x, s=s: x.reshape(s)) for x in (both, rows) for s in shapes}
    apart = [
        lambda x: x.reshape(8, 1, 4).reshape(1, 32),
        lambda x: x.reshape(8, 4, 1).reshape(-1),
        lambda x: x.reshape(1, 32).reshape(8, 4),
    ]
    found["apart"] = [outcome(o, lambda f=f: f(both)) for f in apart]
    filled = [o.jnp.full((8,), 1.0, device=at) for at in (o.at("x"), o.Named(o.typed, o.P("x")), o.jx.devices()[1])]
    space = o.jx.memory.Space
    host = o.jx.device_put(o.put("x"), space.Host)
    kinds = [
        host.sharding.memory_kind,
        o.jx.device_put(host, space.Device).sharding.memory_kind,
        [repr(s) for s in space],
    ]
    return [found, [x.weak_type for x in filled], kinds]


@case
def shardings_of_types(o: Any) -> Any:
    """Of types that say nothing, too."""
    seen: list[Any] = []
    told = lambda x: seen.append(str(o.jx.typeof(x).sharding)) or x
    for x in (o.n, 1.0, o.jnp.ones(3), o.jx.device_put(o.n, o.at("x", mesh=o.typed))):
        told(x)
        o.jx.jit(told)(x)
    o.jx.jit(o.jx.shard_map(told, mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P("x")))(o.n)
    with o.jx.set_mesh(o.typed):
        told(o.jnp.ones(3))
    typed = o.jx.device_put(o.n, o.at("x", mesh=o.typed))
    moved = o.S.reshard(o.jx.device_put(o.n, o.at(mesh=o.typed)), o.jx.typeof(typed).sharding)
    struct = o.jx.ShapeDtypeStruct((8, 4), "float32", sharding=o.jx.typeof(o.jnp.ones((8, 4))).sharding)
    return [seen, lies(moved), str(o.jx.jit(lambda a: a + 1).lower(struct).compile().input_shardings)]


@case
def meshes_of_results_whose_axes_were_explicit(o: Any) -> Any:
    P, doubled = o.P, o.S.explicit_axes(lambda x: {"twice": x * 2, "sum": x.sum()})
    found = []
    for mesh in (
        o.line,
        o.mesh,
        o.jx.make_mesh((4, 2), ("x", "y"), axis_types=(o.S.AxisType.Auto, o.S.AxisType.Explicit)),
    ):
        with o.jx.set_mesh(mesh):
            for call in (doubled, o.jx.jit(lambda x: doubled(x, in_sharding=P("x")))):
                for given in (o.n, o.jnp.asarray(o.n), o.jx.device_put(o.n, P("x"))):
                    told = call(given, in_sharding=P("x")) if call is doubled else call(given)
                    found.append([[*tells(x), str(o.jx.typeof(x))] for x in (told["twice"], told["sum"])])
    return found


@case
def kinds_of_what_is_unreduced(o: Any) -> Any:
    Kind, P = o.S.UnreducedKind, o.P
    spec = P("x", unreduced={"y"}, unreduced_kind=Kind.sum)
    calls = [lambda: P("x", unreduced_kind=Kind.sum), lambda: P(unreduced={"x"}, unreduced_kind="sum")]
    return [
        [kind.name for kind in Kind],
        repr(spec),
        spec is P("x", unreduced={"y"}),
        P("x").unreduced_kind is None,
        spec.update(unreduced={"z"}).unreduced_kind.name,
        *map(error, calls),
    ]
