"""Sums over devices that are left open (`unreduced`, `reduced`), and the axes that are left inside a `shard_map` over some. Cases as in `cases.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.many_devices.cases import case


def told(o: Any, x: Any) -> Any:
    """The type, and the values; of a sum that is open, what each device has."""
    text, spec = str(o.jx.typeof(x)), x.sharding.spec
    if spec.unreduced:
        return [text, [np.asarray(s.data) for s in x.addressable_shards]]
    return [text, np.asarray(x)]


def outcome(o: Any, call: Callable[[], Any]) -> Any:
    try:
        return [told(o, x) for x in o.jx.tree.leaves(call())]
    except Exception as problem:
        kinds = [k.__name__ for k in type(problem).__mro__ if k.__module__ == "builtins"]
        return type(problem).__name__ if kinds[0] == "Exception" else kinds[0]


def put(o: Any, a: Any, *spec: Any, **sums: Any) -> Any:
    return o.jx.device_put(a, o.Named(o.typed, o.P(*spec, **sums)))


def operands(o: Any) -> dict[str, Any]:
    """A sum that is open over y, a weight that is reduced over x, and what they are made of."""
    whole = o.n[:4] / 10
    given = {"x": put(o, o.n, "x"), "xy": put(o, o.n, "x", "y"), "w": put(o, whole), "wy": put(o, whole, "y")}
    given["r"] = o.S.reshard(given["w"], o.P(reduced={"x"}))
    given["u"] = o.jnp.einsum("ij,jk->ik", given["xy"], given["wy"], out_sharding=o.P("x", unreduced={"y"}))
    return given


@case
def sums_opened_and_taken(o: Any) -> Any:
    P, reshard, jnp, jx = o.P, o.S.reshard, o.jnp, o.jx
    with jx.set_mesh(o.typed):
        g = operands(o)
        dot = lambda a, b, spec: jnp.einsum("ij,jk->ik", a, b, out_sharding=spec)
        targets = [P("x"), P("x", "y"), P(), P("x", reduced={"y"}), P(None, "y"), P(unreduced={"y"}), P(unreduced={"x", "y"}),
                   P(None, "x", unreduced={"y"})]  # fmt: skip
        found = {
            "put": outcome(o, lambda: put(o, o.n, "x", unreduced={"y"})),
            "put reduced": outcome(o, lambda: put(o, o.n, "x", reduced={"y"})),
            "cut to open": outcome(o, lambda: reshard(g["xy"], P("x", unreduced={"y"}))),
            "cut to reduced": outcome(o, lambda: reshard(g["xy"], P("x", reduced={"y"}))),
            "from reduced": [
                outcome(o, lambda s=s: reshard(g["r"], s)) for s in (P(unreduced={"x"}), P("x"), P(), P(reduced={"y"}))
            ],
            "dot": outcome(o, lambda: dot(g["xy"], g["wy"], P("x", unreduced={"y"}))),
            "dot in jit": outcome(o, lambda: jx.jit(lambda a, b: dot(a, b, P("x", unreduced={"y"})))(g["xy"], g["wy"])),
            "dot otherwise": outcome(o, lambda: dot(g["xy"], g["wy"], P(None, unreduced={"y"}))),
            "dot of whole ones": outcome(o, lambda: dot(g["w"], g["w"], P(unreduced={"x"}))),
            "cut and open": outcome(o, lambda: P("x", unreduced={"x"})),
            "taken": [outcome(o, lambda s=s: reshard(g["u"], s)) for s in targets],
            "taken in jit": [outcome(o, lambda s=s: jx.jit(lambda u: reshard(u, s))(g["u"])) for s in targets],
            "zeros": outcome(o, lambda: jnp.zeros((8, 4), out_sharding=P("x", unreduced={"y"}))),
            "ones": outcome(o, lambda: jnp.ones((8, 4), out_sharding=P("x", reduced={"y"}))),
            "asked of jit": [
                outcome(o, lambda s=s, x=x: jx.jit(lambda a: a, out_shardings=s)(x))
                for x, s in ((g["u"], P("x")), (g["x"], P("x", unreduced={"y"})), (g["x"], P(None, "y")))
            ],
            "given": outcome(o, lambda: jx.jit(lambda a: a + a, in_shardings=P("x", unreduced={"y"}))(g["u"])),
            "given wrongly": outcome(o, lambda: jx.jit(lambda a: a + a, in_shardings=P("x"))(g["u"])),
            "left to the compiler": outcome(o, lambda: o.S.auto_axes(lambda a: a * 2, out_sharding=P("x"))(g["u"])),
            "opened by auto_axes": outcome(
                o, lambda: o.S.auto_axes(lambda a: a * 2, out_sharding=P("x", unreduced={"y"}))(g["x"])
            ),
            "given away": outcome(o, lambda: jx.jit(lambda a: a + a, donate_argnums=0)(g["u"] + g["u"])),
            "of parts": outcome(
                o,
                lambda: jx.make_array_from_single_device_arrays(
                    (8, 4), g["u"].sharding, [s.data for s in g["u"].addressable_shards]
                ),
            ),
            "from a callback": outcome(
                o, lambda: jx.make_array_from_callback((8, 4), g["u"].sharding, lambda i: o.n[i])
            ),
            "read": [
                outcome(o, call)
                for call in (lambda: np.asarray(g["u"]), lambda: jx.device_get(g["u"]), lambda: float(g["u"].sum()))
            ],
        }
        found["said"] = [repr(g["u"]), g["u"].is_fully_replicated]
    return found


@case
def operations_on_open_sums(o: Any) -> Any:
    jnp, lax, jx, P = o.jnp, o.lax, o.jx, o.P
    with jx.set_mesh(o.typed):
        g = operands(o)
        square = put(o, o.n.reshape(4, 8)[:, :4], "x", reduced={"y"})
        of_terms = {
            "add": lambda u: u + u,
            "mul reduced": lambda u: u * jnp.concatenate([square, square], 0),
            "sum": lambda u: (u.sum(0), u.sum(1), u.sum()),
            "turned": lambda u: u.T,
            "shaped": lambda u: u.reshape(8, 2, 2),
            "half": lambda u: u.astype(jnp.bfloat16).astype("float32"),
            "thick": lambda u: u[None],
            "joined": lambda u: jnp.concatenate([u, u], 1),
            "split": lambda u: jnp.split(u, 2, 1),
            "chosen": lambda u: lax.cond(True, lambda a: a + a, lambda a: a, u),
            "copied": jnp.copy,
            "stopped": lax.stop_gradient,
            "kept": lax.optimization_barrier,
            "add another": lambda u: u + g["x"],
            "add one": lambda u: u + 1.0,
            "squared": lambda u: u * u,
            "sine": jnp.sin,
            "product": lambda u: u @ g["w"],
        }
        of_reduced = {
            "double": lambda r: r * 2,
            "more": lambda r: r + 1,
            "less": lambda r: -r,
            "sine": jnp.sin,
            "sum": lambda r: r.sum(0),
            "squared": lambda r: r * r,
            "compared": lambda r: (r > 0).astype("float32"),
            "turned": lambda r: r.T,
            "joined": lambda r: jnp.concatenate([r, r]),
            "stacked": lambda r: jnp.stack([r, r]),
            "padded": lambda r: jnp.pad(r, 1),
            "chosen": lambda r: jnp.where(r > 0, r, r),
            "zeros": jnp.zeros_like,
            "repeated": lambda r: jnp.broadcast_to(r, (2, 4, 4)),
            "loop": lambda r: lax.scan(lambda c, _: (c * c, None), r, None, length=2)[0],
            "product": lambda r: g["x"] @ r,
            "product of two": lambda r: r @ r,
            "times whole": lambda r: r * g["w"],
            "times cut": lambda r: r * put(o, o.n[:4], "x"),
            "joined to whole": lambda r: jnp.concatenate([r, g["w"]]),
            "rows": lambda r: r.at[put(o, np.array([0, 2, 1, 3]), "x")].get(out_sharding=P("x")),
        }
        return [
            {name: outcome(o, lambda f=f: f(g["u"])) for name, f in of_terms.items()},
            {name: outcome(o, lambda f=f: f(g["r"])) for name, f in of_reduced.items()},
        ]


@case
def gradients_of_open_sums(o: Any) -> Any:
    jnp, lax, jx, P, reshard = o.jnp, o.lax, o.jx, o.P, o.S.reshard
    with jx.set_mesh(o.typed):
        g = operands(o)
        x, xy, w, wy, r = (g[name] for name in ("x", "xy", "w", "wy", "r"))
        opened = lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=P("x", unreduced={"y"}))
        losses = {
            "reduced": (lambda r: (x @ r).sum(), (r,)),
            "made reduced": (lambda w: (x @ reshard(w, P(reduced={"x"}))).sum(), (w,)),
            "tanh": (lambda r: jnp.tanh(x @ r).sum(), (r,)),
            "squared before": (lambda r: (x @ (r * r)).sum(), (r,)),
            "sine before": (lambda r: (x @ jnp.sin(r)).sum(), (r,)),
            "one more before": (lambda r: (x @ (r + 1.0)).sum(), (r,)),
            "whole again": (lambda r: (x[:, 0] + reshard(r, P())[0, 0]).sum(), (r,)),
            "alone": (lambda r: (r * r).sum(), (r,)),
            "of open ones": (lambda a, b: jnp.sin(reshard(opened(a, b), P("x"))).sum(), (xy, wy)),
            "layers": (lambda r: lax.scan(lambda c, _: (jnp.tanh(c @ r), None), x, None, length=3)[0].sum(), (r,)),
            "remembered": (lambda r: jx.checkpoint(lambda r: jnp.tanh(x @ r))(r).sum(), (r,)),
            "branches": (lambda r: lax.cond(x.sum() > 0, lambda r: x @ r, lambda r: x @ (r * 2), r).sum(), (r,)),
            "mapped": (lambda r: jx.shard_map(lambda x, r: jnp.tanh(x @ r), out_specs=P("x"))(x, r).sum(), (r,)),
            "mapped open": (
                lambda a: jx.shard_map(lambda u: lax.psum(u, "y"), out_specs=P("x"))(opened(a, wy)).sum(),
                (xy,),
            ),
        }
        found = {
            name: outcome(o, lambda f=f, args=args: jx.jit(jx.grad(f, tuple(range(len(args)))))(*args))
            for name, (f, args) in losses.items()
        }
        slope = jx.grad(lambda r, x: (x @ r).sum())
        found["added up"] = outcome(
            o,
            lambda: jx.jit(
                lambda r, x: lax.scan(lambda c, _: (c + slope(r, x), None), reshard(jnp.zeros((4, 4)), P(unreduced={"x"})), None, length=3)[0]
            )(r, x),
        )  # fmt: skip
        found["pulled back"] = outcome(o, lambda: jx.vjp(lambda r: x @ r, r)[1](x))
        found["pushed"] = outcome(o, lambda: jx.jvp(lambda r: x @ r, (r,), (r,)))
        found["moved"] = [
            outcome(o, lambda a=a, s=s: jx.jit(jx.grad(lambda a: reshard(reshard(a, s), P()).sum()))(a))
            for s in (P("x"), P("y"), P(), P(reduced={"x"}))
            for a in (w, x[:4] if False else put(o, o.n[:4], "x"), r)
        ]
    return found


def inside(o: Any, mesh: Any, rows: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Each function under `shard_map`: its result, and the types that it saw."""
    found = {}
    with o.jx.set_mesh(mesh):
        for name, (f, ins, outs, args) in rows.items():
            seen: list[str] = []

            def saw(x: Any, seen: list[str] = seen) -> Any:
                seen.append(str(o.jx.typeof(x)))
                return x

            g = lambda *args, f=f, saw=saw: f(saw, *args)
            specs = {} if ins is None else {"in_specs": ins}
            call = lambda g=g, specs=specs, outs=outs, args=args: o.jx.jit(
                o.jx.shard_map(g, out_specs=outs, **specs, **options)
            )(*args)
            found[name] = [outcome(o, call), list(seen)]
    return found


def rows_of_sums(o: Any, mesh: Any) -> dict[str, Any]:
    P, lax, jnp = o.P, o.lax, o.jnp
    X, open_x, reduced_x = P("x"), P(unreduced={"x"}), P(reduced={"x"})
    at = lambda *spec: o.jx.device_put(o.n, o.Named(mesh, P(*spec)))
    a, r = at("x"), at()
    term = lambda saw, v: saw(lax.pcast(v, "x", to="unreduced"))
    one = lambda saw: saw(lax.pcast(jnp.ones((2, 4), "float32"), "x", to="reduced"))
    return {
        "opened": (term, X, open_x, (a,)),
        "opened and taken": (lambda saw, v: saw(lax.psum(term(saw, v), "x")), X, P(), (a,)),
        "of the same": (term, P(), open_x, (r,)),
        "reduced": (lambda saw, v: saw(lax.pcast(v, "x", to="reduced")), P(), reduced_x, (r,)),
        "reduced of others": (lambda saw, v: saw(lax.pcast(v, "x", to="reduced")), X, reduced_x, (a,)),
        "varied": (lambda saw, v: saw(lax.pcast(lax.pcast(v, "x", to="reduced"), "x", to="varying")), P(), X, (r,)),
        "term varied": (lambda saw, v: lax.pcast(term(saw, v), "x", to="varying"), X, X, (a,)),
        "otherwise": (lambda saw, v: lax.pcast(v, "x", to="odd"), X, X, (a,)),
        "said whole": (term, X, P(), (a,)),
        "said cut": (term, X, X, (a,)),
        "opened by its spec": (lambda saw, v: v, X, open_x, (a,)),
        "same by its spec": (lambda saw, v: v, P(), open_x, (r,)),
        "reduced by its spec": (lambda saw, v: v, P(), reduced_x, (r,)),
        "argument reduced": (lambda saw, v: v * v, reduced_x, reduced_x, (r,)),
        "scattered": (
            lambda saw, v: saw(lax.psum_scatter(term(saw, jnp.concatenate([v, v])), "x", tiled=True)),
            X,
            X,
            (a,),
        ),
        "gathered": (lambda saw, v: saw(lax.all_gather(v, "x", tiled=True, to="reduced")), X, reduced_x, (a,)),
        "gathered whole": (lambda saw, v: saw(lax.all_gather(v, "x", tiled=True, to="invarying")), X, P(), (a,)),
        "added": (lambda saw, v: saw(term(saw, v) + term(saw, v)), X, open_x, (a,)),
        "added to others": (lambda saw, v: term(saw, v) + v, X, open_x, (a,)),
        "times reduced": (lambda saw, v: saw(term(saw, v) * one(saw)), X, open_x, (a,)),
        "others times reduced": (lambda saw, v: saw(v * one(saw)), X, X, (a,)),
        "others and reduced": (lambda saw, v: saw(v + one(saw)), X, X, (a,)),
        "sine of reduced": (lambda saw, v: saw(jnp.sin(one(saw))), X, reduced_x, (a,)),
        "two reduced": (lambda saw, v: saw(one(saw) + one(saw)), X, reduced_x, (a,)),
        "reduced and whole": (lambda saw, v: one(saw) + jnp.ones((2, 4), "float32"), X, reduced_x, (a,)),
        "product": (lambda saw, v: saw(v @ one(saw).T), X, X, (a,)),
        "sum of reduced": (lambda saw, v: lax.psum(one(saw), "x"), X, P(), (a,)),
        "greatest term": (lambda saw, v: lax.pmax(term(saw, v), "x"), X, P(), (a,)),
        "terms gathered": (lambda saw, v: lax.all_gather(term(saw, v), "x"), X, P(), (a,)),
        "sine of terms": (lambda saw, v: jnp.sin(term(saw, v)), X, X, (a,)),
    }


@case
def sums_inside_of_shard_map(o: Any) -> Any:
    P, lax, X, open_x = o.P, o.lax, o.P("x"), o.P(unreduced={"x"})
    found = [inside(o, mesh, rows_of_sums(o, mesh)) for mesh in (o.typed, o.mesh)]
    rows = {
        "by its spec": (lambda saw, v: saw(v), P(), open_x, (put(o, o.n),)),
        "cast": (lambda saw, v: lax.pcast(v, "x", to="unreduced"), X, open_x, (put(o, o.n, "x"),)),
    }
    return [*found, inside(o, o.typed, rows, check_vma=False)]


def rows_of_axes_left(o: Any, mesh: Any) -> dict[str, Any]:
    P, lax, jnp, jx = o.P, o.lax, o.jnp, o.jx
    X = P("x")
    at = lambda *spec: jx.device_put(o.n, o.Named(mesh, P(*spec)))
    xy, r = at("x", "y"), at()
    inner = lambda saw, **specs: jx.shard_map(lambda u: saw(u * 2), out_specs=P(None, "y"), axis_names={"y"}, **specs)
    rows = {
        "doubled": (lambda saw, v: saw(saw(v) * 2), X, X, (xy,)),
        "summed": (lambda saw, v: saw(saw(v).sum(1)), X, X, (xy,)),
        "summed over devices": (lambda saw, v: saw(lax.psum(saw(v), "x")), X, P(), (xy,)),
        "captured": (lambda saw, v: saw(v * saw(jnp.ones((2, 4)))), X, X, (xy,)),
        "numbered": (lambda saw, v: saw(saw(lax.axis_index("x")) + v), X, X, (xy,)),
        "gathered": (lambda saw, v: saw(lax.all_gather(v, "x", tiled=True)), X, X, (xy,)),
        "sent on": (lambda saw, v: saw(lax.ppermute(v, "x", [(0, 1), (1, 2), (2, 3), (3, 0)])), X, X, (xy,)),
        "nested": (lambda saw, v: saw(inner(saw, in_specs=P(None, "y"))(v)), X, X, (xy,)),
        "whole": (lambda saw, v: saw(saw(v) * 2), X, X, (r,)),
        "named wrongly": (lambda saw, v: v, P("x", "y"), P("x", "y"), (xy,)),
        "derived": (lambda saw, v: saw(jx.grad(lambda w: (w * v).sum())(jnp.ones((2, 4)))), X, X, (xy,)),
        "loop": (lambda saw, v: lax.scan(lambda c, _: (saw(c * 2), None), v, None, length=2)[0], X, X, (xy,)),
        "branches": (lambda saw, v: saw(lax.cond(v.sum() > 0, lambda v: v * 2, lambda v: v + 1, v)), X, X, (xy,)),
        "mapped": (lambda saw, v: saw(jx.vmap(lambda row: saw(jnp.tanh(row)))(v)), X, X, (xy,)),
        "jitted": (lambda saw, v: saw(jx.jit(lambda a: jnp.sin(a) * 2)(v)), X, X, (xy,)),
    }
    if mesh is o.typed:
        rows["moved"] = (lambda saw, v: saw(o.S.reshard(v, P("y"))), X, X, (xy,))
        rows["nested by types"] = (lambda saw, v: saw(inner(saw)(v)), X, X, (xy,))
        rows["product cut twice"] = (lambda saw, v: saw(v.T @ v), X, X, (xy,))
        rows["sizes that do not fit"] = (lambda saw, v: lax.psum_scatter(v, "x", scatter_dimension=1, tiled=True), X, X, (xy,))  # fmt: skip
    return rows


@case
def axes_left_in_shard_map(o: Any) -> Any:
    P, lax, jnp, jx = o.P, o.lax, o.jnp, o.jx
    X, found = P("x"), []
    for mesh in (o.typed, o.mesh):
        rows, x = rows_of_axes_left(o, mesh), jx.device_put(o.n, o.Named(mesh, P("x")))
        found.append(inside(o, mesh, rows, axis_names={"x"}))
        weights = put(o, o.n[:4] / 10, None, "y") if mesh is o.typed else jx.device_put(o.n[:4] / 10, o.Named(mesh, P(None, "y")))  # fmt: skip
        with jx.set_mesh(mesh):
            step = lambda x, w: lax.psum((jnp.tanh(x @ w) ** 2).sum(), "x")
            loss = lambda w, step=step, x=x: jx.shard_map(step, in_specs=(X, P()), out_specs=P(), axis_names={"x"})(x, w)  # fmt: skip
            slope = jx.jit(jx.value_and_grad(loss))(weights)
            found.append([[str(jx.typeof(s)), np.asarray(s)] for s in slope])
    same = {"unchecked": (lambda saw, v: saw(saw(v) * 2), X, X, (put(o, o.n, "x", "y"),))}
    return [*found, inside(o, o.typed, same, axis_names={"x"}, check_vma=False)]
