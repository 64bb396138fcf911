"""Functions that see one device's part: `shard_map`, `pmap`, collectives. Cases as in `cases.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, lies


def both(o: Any, f: Callable[..., Any], ins: Any, outs: Any, *args: Any) -> list[Any]:
    """Results and gradients, with and without `check_vma`."""
    found = []
    for check in (True, False):
        run = o.jx.shard_map(f, mesh=o.mesh, in_specs=ins, out_specs=outs, check_vma=check)
        loss = lambda *a, run=run: sum((o.jnp.sin(x) * (i + 1)).sum() for i, x in enumerate(o.jx.tree.leaves(run(*a))))
        grads = o.jx.grad(loss, tuple(range(len(args))))(*args)
        found.append([[lies(x) for x in o.jx.tree.leaves(o.jx.jit(run)(*args))], list(map(np.asarray, grads))])
    return found


@case
def collectives(o: Any) -> Any:
    P, lax, n = o.P, o.lax, np.arange(64, dtype=np.float32).reshape(8, 8) / 64
    turn = [(i, (i + 1) % 4) for i in range(4)]
    kinds = {
        "psum": (lambda a: lax.psum(a, "x"), P()),
        "pmean": (lambda a: lax.pmean(a, "x"), P()),
        "all_gather": (lambda a: lax.all_gather(a, "x"), P("x")),
        "all_gather axis": (lambda a: lax.all_gather(a, "x", axis=1), P("x")),
        "all_gather tiled": (lambda a: lax.all_gather(a, "x", tiled=True), P("x")),
        "psum_scatter": (lambda a: lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True), P("x")),
        "psum_scatter plain": (lambda a: lax.psum_scatter(a[:, :4], "x", scatter_dimension=1), P("x")),
        "all_to_all": (lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True), P(None, "x")),
        "ppermute": (lambda a: lax.ppermute(a, "x", turn), P("x")),
        "ppermute part": (lambda a: lax.ppermute(a, "x", turn[:2]), P("x")),
        "pshuffle": (lambda a: lax.pshuffle(a, "x", [2, 0, 3, 1]), P("x")),
        "axis_index": (lambda a: a * lax.axis_index("x"), P("x")),
        "axis_index xy": (lambda a: a * lax.axis_index(("x", "y")), P(("x", "y"))),
        "axis_size": (lambda a: a * lax.axis_size("x") + lax.axis_size(("x", "y")), P("x")),
    }
    return {name: both(o, f, P("x"), out, n) for name, (f, out) in kinds.items()}


@case
def extremes(o: Any) -> Any:
    run = lambda f: lies(o.jx.shard_map(f, mesh=o.mesh, in_specs=o.P("x", "y"), out_specs=o.P(None, "y"))(o.n))
    whole = o.jx.shard_map(lambda a: o.lax.psum(a, ("x", "y")), mesh=o.mesh, in_specs=o.P("x", "y"), out_specs=o.P())(
        o.n
    )
    return [lies(whole), run(lambda a: o.lax.pmax(a, "x")), run(lambda a: o.lax.pmin(a, "x"))]


@case
def types_inside(o: Any) -> Any:
    lax, seen = o.lax, []
    tell = lambda x: seen.append(str(o.jx.typeof(x)))

    def f(a, w):
        for x in (a, w, a * w, a * 2, lax.psum(a, "x"), lax.pmean(a * w, ("x", "y")), lax.axis_index("y"), a[0], o.jnp.ones(3), w @ w.T,
                  lax.all_gather(a, "x"), lax.psum_scatter(a, "y", tiled=True), lax.pcast(w, "x", to="varying"), o.jnp.where(a > 0, w, 0)):  # fmt: skip
            tell(x)
        return lax.psum(a, ("x", "y"))

    o.jx.shard_map(f, mesh=o.mesh, in_specs=(o.P("x", "y"), o.P()), out_specs=o.P())(o.n, o.n[:2, :2])
    return seen


@case
def weights_on_all_devices(o: Any) -> Any:
    """The gradient inside of a weight that all devices have is summed over them, and may be used as such."""
    lax, P = o.lax, o.P

    def step(w, a):
        grad = o.jx.grad(lambda w: lax.pmean((o.jnp.tanh(a @ w) ** 2).mean(), "x"))(w)
        return w - 0.1 * grad

    def local(w, a):
        return o.jx.grad(lambda w: (o.jnp.tanh(a @ w) ** 2).sum())(w)

    w = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    run = lambda f: o.jx.shard_map(f, mesh=o.mesh, in_specs=(P(), P("x")), out_specs=P())(w, o.n / 32)
    return [lies(run(step)), lies(run(local))]


@case
def control_flow_inside(o: Any) -> Any:
    lax, P = o.lax, o.P

    def scanned(a, w):
        def step(c, row):
            return o.jnp.tanh(c * w.sum() + row), c.sum()

        start = lax.pcast(o.jnp.zeros(2), ("x", "y"), to="varying")
        carry, sums = lax.scan(step, start, a)
        return carry[None], sums[None]

    def looped(a, w):
        return lax.fori_loop(
            0, 3, lambda i, c: c * 0.5 + lax.ppermute(c, "x", [(0, 1), (1, 2), (2, 3), (3, 0)]), a
        ) * w.sum(), a

    def chosen(a, w):
        # Used in one branch alone, w would be summed there alone, and the others would wait.
        w = lax.pcast(w, ("x", "y"), to="varying")
        out = lax.cond(lax.axis_index("x") > 1, lambda: a * 2, lambda: a * w.sum())
        return out, a

    ins, outs = (P("x", "y"), P()), (P("x", "y"), P("x", "y"))
    w = np.ones(3, np.float32) / 5
    return [both(o, f, ins, outs, o.n / 32, w) for f in (scanned, looped, chosen)]


@case
def rules_of_users_inside(o: Any) -> Any:
    @o.jx.custom_vjp
    def f(x):
        return o.jnp.sin(x)

    f.defvjp(lambda x: (o.jnp.sin(x), x), lambda x, ct: (2 * ct * o.jnp.cos(x),))

    @o.jx.custom_jvp
    def g(x):
        return x**2

    g.defjvp(lambda p, t: (p[0] ** 2, 3 * p[0] * t[0]))
    P = o.P
    saved = o.jx.checkpoint(lambda a: o.jnp.tanh(a @ a.T) @ a)
    return [both(o, h, P("x"), P("x"), o.n / 32) for h in (f, g, saved, o.jx.jit(lambda a: o.jnp.cumsum(a, 0)))]


@case
def mapped(o: Any) -> Any:
    P = o.P
    f = o.jx.shard_map(lambda a, b: a * o.lax.psum(b, "x"), mesh=o.mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))
    v = np.arange(24, dtype=np.float32).reshape(3, 8)
    inner = o.jx.shard_map(
        o.jx.vmap(lambda a: o.lax.psum(a, "x") + a, axis_name="rows"), mesh=o.mesh, in_specs=P("x"), out_specs=P("x")
    )
    return [np.asarray(o.jx.vmap(f)(v, v)), np.asarray(o.jx.vmap(f, (0, None))(v, v[0])), np.asarray(o.jx.vmap(f, (0, 0), 1)(v, v)),
            np.asarray(o.jx.jit(o.jx.vmap(o.jx.grad(lambda a: f(a, a).sum())))(v)), np.asarray(inner(o.n))]  # fmt: skip


@case
def second_derivatives(o: Any) -> Any:
    f = o.jx.shard_map(
        lambda a, w: o.lax.psum((o.jnp.sin(a * w) ** 2).sum(), "x"),
        mesh=o.mesh,
        in_specs=(o.P("x"), o.P()),
        out_specs=o.P(),
    )
    a = np.arange(8, dtype=np.float32)
    return [np.asarray(o.jx.hessian(f)(a, np.float32(0.3))), np.asarray(o.jx.grad(o.jx.grad(f, 1), 1)(a, np.float32(0.3))),
            np.asarray(o.jx.jvp(f, (a, np.float32(0.3)), (a, np.float32(1)))), np.asarray(o.jx.jacfwd(f)(a, np.float32(0.3)))]  # fmt: skip


@case
def some_axes_alone(o: Any) -> Any:
    P = o.P
    f = o.jx.shard_map(
        lambda a: o.lax.psum(a, "x") * o.jnp.ones(4), mesh=o.mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"}
    )
    g = o.jx.shard_map(
        lambda a: a * o.lax.axis_index("x"), mesh=o.mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    return [np.asarray(o.jx.jit(f)(o.n)), np.asarray(o.jx.jit(f)(o.put("x", "y"))), np.asarray(o.jx.jit(g)(o.n)),
            np.asarray(o.jx.jit(o.jx.grad(lambda a: (f(a) ** 2).sum()))(o.n))]  # fmt: skip


@case
def inside_of_jit(o: Any) -> Any:
    P, lax = o.P, o.lax
    half = o.jx.shard_map(lambda a: lax.psum(a, "x"), mesh=o.mesh, in_specs=P("x", "y"), out_specs=P(None, "y"))
    f = o.jx.jit(lambda a: o.jnp.sin(half(a * 2)) + half(a).sum())
    with o.jx.set_mesh(o.mesh):
        short = o.jx.shard_map(lambda a: a * 2, in_specs=P("y"), out_specs=P("y"))(o.n)
    return [
        lies(f(o.n)),
        lies(f(o.put("x", "y"))),
        lies(o.jx.jit(o.jx.grad(lambda a: f(a).sum()))(o.put("x"))),
        lies(short),
    ]


@case
def random_inside(o: Any) -> Any:
    key = o.jx.random.key(7)
    f = lambda k: o.jx.random.normal(o.jx.random.fold_in(k, o.lax.axis_index("x")), (2, 2))
    return [np.asarray(o.jx.shard_map(f, mesh=o.mesh, in_specs=o.P(), out_specs=o.P("x"))(key))]


@case
def wrong_parts(o: Any) -> Any:
    P, n = o.P, o.n
    run = lambda f, i, u, *a, **k: error(
        lambda: o.jx.shard_map(f, **{"mesh": o.mesh, "in_specs": i, "out_specs": u, **k})(*(a or (n,)))
    )
    same = lambda a: a
    return [run(same, P("x"), P()), run(same, P("x"), P("x"), np.ones(7)), run(same, P(None, None, "x"), P()), run(lambda a: a.sum(), P("x"), P("x")),
            run(same, 3, P()), run(same, P("x"), 3), run(same, P("z"), P()), run(same, P("x"), P("x"), mesh=None), run(same, (P(), P()), P()),
            run(same, P("y"), P(), axis_names={"x"}), run(same, P("x"), P("x"), mesh=3),
            run(lambda a: o.lax.pcast(a, "x", to="varying"), P("x"), P("x")), run(lambda a: o.lax.pcast(a, "x", to="what"), P("x"), P("x"))]  # fmt: skip


@case
def pmapped(o: Any) -> Any:
    jx, lax, jnp = o.jx, o.lax, o.jnp
    x = np.arange(16, dtype=np.float32).reshape(8, 2)
    found = [
        jx.pmap(lambda a: a / lax.psum(a, "i"), axis_name="i")(x),
        jx.pmap(lambda a, b: a + b, in_axes=(0, None))(x, np.float32(3)),
        jx.pmap(lambda a: a * 2, in_axes=1)(x),
        jx.pmap(lambda a: jnp.sum(a))(x),
        jx.pmap(lambda a: a[None], out_axes=1)(x),
        jx.pmap(lambda n, a: a**n, static_broadcasted_argnums=0)(3, x),
        jx.pmap(lambda t: t["a"] @ t["b"], in_axes=({"a": 0, "b": 1},))({"a": x, "b": x.T}),
        jx.pmap(lambda a: lax.pmean(a, "i"), axis_name="i", out_axes=None)(x),
        jx.pmap(lambda a, *, k: a + k)(x, k=x),
        jx.pmap(lambda a: a + lax.axis_index("i"), axis_name="i", devices=jx.devices()[:8])(x),
    ]
    grad = jx.grad(lambda w: jx.pmap(lambda a: (a * w) ** 2)(x).sum())(2.0)
    inner = jx.pmap(
        lambda w, a: lax.pmean(jx.grad(lambda w: (a @ w).sum() ** 2)(w), "i"), axis_name="i", in_axes=(None, 0)
    )(x[0], x)
    wrong = [error(lambda: jx.pmap(lambda a: a)(np.ones((9, 2)))), error(lambda: jx.pmap(lambda a, b: a)(x, x[:3]))]
    return [*map(lies, found), np.asarray(grad), lies(inner), jx.pmap(jnp.sin)(x[:2]).shape, wrong]


GROUPS = [[0, 2], [1, 3]]


@case
def groups_of_devices(o: Any) -> Any:
    """`axis_index_groups`: under shard_map, checked and not, with gradients; under pmap and vmap."""
    lax, n = o.lax, np.arange(64, dtype=np.float32).reshape(8, 8) / 64
    kinds: dict[str, Callable[..., Any]] = {
        "psum": lambda a: lax.psum(a, "x", axis_index_groups=GROUPS),
        "pmean": lambda a: lax.pmean(a, "x", axis_index_groups=GROUPS),
        "pmax": lambda a: lax.pmax(a, "x", axis_index_groups=GROUPS),
        "all_gather": lambda a: lax.all_gather(a, "x", axis_index_groups=GROUPS),
        "all_gather tiled": lambda a: lax.all_gather(a, "x", axis=1, tiled=True, axis_index_groups=GROUPS),
        "psum_scatter": lambda a: lax.psum_scatter(a, "x", axis_index_groups=GROUPS),
        "psum_scatter tiled": lambda a: lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True, axis_index_groups=GROUPS),
        "all_to_all": lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True, axis_index_groups=GROUPS),
        "pswapaxes": lambda a: lax.pswapaxes(a, "x", 0, axis_index_groups=GROUPS),
        "count": lambda a: a * lax.psum(1, "x", axis_index_groups=GROUPS),
        "twice": lambda a: lax.psum(a, "x", axis_index_groups=[[0, 1], [1, 2, 3]]),
    }  # fmt: skip
    found: dict[str, Any] = {}
    x = n[:4].reshape(4, 2, 4)
    for name, f in kinds.items():
        for check in (True, False):
            run = o.jx.shard_map(f, mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P("x"), check_vma=check)
            loss = lambda a, run=run: o.jnp.sin(run(a)).sum()
            found[f"{name} {check}"] = either(lambda run=run: lies(o.jx.jit(run)(n)))
            if name != "pmax" and check is (name not in ("psum", "pmean")):
                found[f"{name} gradient"] = either(lambda loss=loss: np.asarray(o.jx.grad(loss)(n)))
        found[f"{name} pmap"] = either(lambda f=f: np.asarray(o.jx.pmap(f, axis_name="x")(x)))
        found[f"{name} vmap"] = either(lambda f=f: np.asarray(o.jx.vmap(f, axis_name="x")(x)))
    uneven = lambda a: lax.psum(a, "x", axis_index_groups=[[0], [1, 2, 3]])
    found["uneven"] = np.asarray(
        o.jx.shard_map(uneven, mesh=o.mesh, in_specs=o.P("x"), out_specs=o.P("x"), check_vma=False)(n)
    )
    return found


def either(call: Callable[[], Any]) -> Any:
    """What it gives, or the type of what it raises."""
    found: list[Any] = []
    kind = error(lambda: found.append(call()))
    return found[0] if found else kind
