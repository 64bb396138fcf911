"""Programs over eight devices, the same for JAX and jitscope. Each gives plain data: how things print, lie and raise."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np


CASES: dict[str, Callable[[Any], Any]] = {}


def case(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    CASES[fun.__name__] = fun
    return fun


class Given:
    """A library by short names, meshes of its eight devices, and an array."""

    def __init__(self, root: str):
        self.jx, self.jnp = importlib.import_module(root), importlib.import_module(f"{root}.numpy")
        self.lax, sharding = importlib.import_module(f"{root}.lax"), importlib.import_module(f"{root}.sharding")
        self.S, self.P, self.Mesh, self.Named = sharding, sharding.PartitionSpec, sharding.Mesh, sharding.NamedSharding
        auto = (sharding.AxisType.Auto,)
        self.mesh = self.jx.make_mesh((4, 2), ("x", "y"), axis_types=auto * 2)
        self.line = self.jx.make_mesh((8,), ("x",), axis_types=auto)
        self.typed = self.jx.make_mesh((4, 2), ("x", "y"))
        self.n = np.arange(32, dtype=np.float32).reshape(8, 4)

    def at(self, *spec: Any, mesh: Any = None) -> Any:
        return self.Named(mesh or self.mesh, self.P(*spec))

    def put(self, *spec: Any, mesh: Any = None) -> Any:
        return self.jx.device_put(self.n, self.at(*spec, mesh=mesh))


def error(call: Callable[[], Any]) -> str:
    """The type of what it raises."""
    try:
        call()
    except Exception as found:
        return next(k.__name__ for k in type(found).__mro__ if k.__module__ == "builtins")
    return "nothing"


def lies(x: Any) -> list[Any]:
    """Values and layout."""
    return [np.asarray(x), str(x.sharding)]


def tells(x: Any) -> list[Any]:
    """Values and layout, whose spec ends with the last axis that is cut."""
    if not hasattr(x.sharding, "spec"):
        return lies(x)
    spec = list(x.sharding.spec)
    while spec and spec[-1] is None:
        spec.pop()
    return [np.asarray(x), str(x.sharding.mesh), str(spec)]


# Values --------------------------------------------------------------------------------------------------------------


@case
def printing(o: Any) -> Any:
    mesh, P = o.mesh, o.P
    things = [
        mesh,
        o.typed,
        o.line,
        P("x", None),
        P(("x", "y")),
        P(),
        P(None, ("x",)),
        P(["x", "y"]),
        o.at("x"),
        o.at(None, ("x", "y")),
    ]
    things += [mesh.abstract_mesh, o.S.AbstractMesh((2, 3), ("a", "b")), mesh.axis_types, P("x", unreduced={"y"})]
    return [repr(x) for x in things] + [str(mesh), str(o.jnp.ones(3).sharding)]


@case
def meshes(o: Any) -> Any:
    m = o.mesh
    return [dict(m.shape), m.size, m.axis_sizes, m.empty, m.device_ids, m.shape_tuple, m.axis_names, str(m.update(axis_names=("a", "b"))),
            m is o.Mesh(m.devices, ("x", "y")), m == o.typed, str(m.abstract_mesh.update_axis_types({"x": o.S.AxisType.Explicit})),
            o.jx.make_mesh((2,), ("z",)).device_ids]  # fmt: skip


@case
def shardings(o: Any) -> Any:
    found = []
    for spec in [(), ("x",), ("x", "y"), ("y", "x"), (None, "x"), (("x", "y"),), (("y", "x"), None)]:
        s = o.at(*spec)
        shape = (16, 8)
        found.append([s.shard_shape(shape), s.is_fully_replicated, s.num_devices, s.memory_kind,
                      [[d.id, str(i)] for d, i in s.devices_indices_map(shape).items()]])  # fmt: skip
    same = o.at("x").is_equivalent_to(o.at("x", None), 2), o.at("x").is_equivalent_to(o.at("y"), 2)
    return [*found, same, o.at("x") == o.at("x"), o.at("x") == o.at("x", None), hash(o.at("x")) == hash(o.at("x"))]


@case
def wrong_shardings(o: Any) -> Any:
    P = o.P
    return [error(f) for f in (
        lambda: o.at("z"), lambda: o.Mesh(o.mesh.devices, ("x",)),
        lambda: o.jx.make_mesh((16,), ("x",)), lambda: o.jx.device_put(np.ones(3), o.at("x")),
        lambda: o.jx.device_put(np.float32(3), o.at("x")), lambda: P("x", unreduced={"x"}), lambda: o.Mesh(o.mesh.devices, ("x", None)),
        lambda: o.Mesh(o.mesh.devices, ("x", "y"), axis_types=(o.S.AxisType.Auto,)), lambda: o.jx.set_mesh(3),
        lambda: o.jx.sharding.get_abstract_mesh().devices)]  # fmt: skip


@case
def arrays(o: Any) -> Any:
    found = []
    for spec in [(), ("x",), ("x", "y"), (None, "y"), (("x", "y"),)]:
        x = o.put(*spec)
        shards = [[s.device.id, str(s.index), s.replica_id, np.asarray(s.data)] for s in x.addressable_shards]
        found.append([lies(x), shards, x.is_fully_addressable, x.is_fully_replicated, len(x.global_shards), sorted(d.id for d in x.devices()),
                      str(o.jx.typeof(x)), np.asarray(x.addressable_data(1)), x.committed, repr(x)])  # fmt: skip
    return found


@case
def moving(o: Any) -> Any:
    x = o.put("x", "y")
    steps = [
        o.at("y", "x"),
        o.at(),
        o.at(None, ("x", "y")) if False else o.at(("x", "y")),
        o.at(None, "x"),
        o.jx.devices()[3],
        o.at("x", mesh=o.line),
    ]
    found = []
    for s in steps:
        x = o.jx.device_put(x, s)
        found.append(lies(x))
    return found


@case
def made_of_parts(o: Any) -> Any:
    s = o.at("x", "y")
    a = o.jx.make_array_from_callback((8, 4), s, lambda i: o.n[i])
    b = o.jx.make_array_from_single_device_arrays((8, 4), s, [p.data * 2 for p in a.addressable_shards])
    c = o.jx.make_array_from_process_local_data(s, o.n)
    d = o.jx.make_array_from_process_local_data(o.at("x"), o.n, (8, 4))
    wrong = error(lambda: o.jx.make_array_from_single_device_arrays((8, 4), s, [o.jnp.ones((2, 2))]))
    return [*map(lies, (a, b, c, d)), wrong]


@case
def pickled(o: Any) -> Any:
    return [pickle.loads(pickle.dumps(x)) == x for x in (o.P("x", None), o.mesh.abstract_mesh)] + [
        lies(pickle.loads(pickle.dumps(o.put("x"))))
    ]


@case
def keys(o: Any) -> Any:
    s = o.Named(o.line, o.P("x"))
    spread = o.jx.device_put(o.jx.random.split(o.jx.random.key(0), 8), s)
    drawn = o.jx.jit(o.jx.vmap(lambda k: o.jx.random.normal(k, (2,))))(spread)
    return [str(spread.sharding), str(spread.dtype), lies(drawn)]


# Programs ------------------------------------------------------------------------------------------------------------


@case
def results_of_jit(o: Any) -> Any:
    f = o.jx.jit(lambda a: (a.sum(0), a.T, a @ a.T, a.sum(), a.reshape(32), o.jnp.ones(3), a[2], a * 2))
    return [list(map(lies, f(o.put(*spec)))) for spec in [("x",), ("x", "y"), ("y",), ()]]


@case
def one_operation(o: Any) -> Any:
    x, y = o.put("x", "y"), o.put("x")
    return list(
        map(
            lies,
            [
                x + 1,
                x + x,
                o.jnp.sin(x),
                x.sum(),
                x.sum(0),
                x[0],
                x + y,
                o.jnp.concatenate([x, x]),
                o.jnp.where(x > 3, x, 0.0),
                x @ y.T,
            ],
        )
    )


@case
def asked_layouts(o: Any) -> Any:
    f = o.jx.jit(
        lambda a, b: {"p": a * 2, "q": (a + b).T},
        in_shardings=(o.at("x"), None),
        out_shardings={"p": o.at(None, "y"), "q": o.at("x")},
    )
    out = f(o.n, o.n)
    g = o.jx.jit(lambda a: a + 1, out_shardings=o.at("y"))
    h = o.jx.jit(lambda a: a + 1, in_shardings=o.at("x"))
    return [lies(out["p"]), lies(out["q"]), lies(g(o.n)), lies(h(o.put("x"))), error(lambda: h(o.put("y"))),
            error(lambda: h(np.ones(3))), error(lambda: o.jx.jit(lambda a: a, out_shardings=o.at("x"))(np.ones(3)))]  # fmt: skip


@case
def constraints(o: Any) -> Any:
    put = o.lax.with_sharding_constraint
    f = o.jx.jit(lambda a: put(a * 2, o.at(None, "x")))
    with o.jx.set_mesh(o.mesh):
        inside = lies(o.jx.jit(lambda a: put(a, o.P("y")))(o.n))
    grad = o.jx.jit(o.jx.grad(lambda a: (put(a, o.at("y")) ** 2).sum()))(o.put("x"))
    tree = o.jx.jit(lambda a: put({"a": a, "b": a}, {"a": o.at("x"), "b": o.at("y")}))(o.n)
    return [lies(f(o.n)), inside, lies(put(o.n, o.at("x"))), lies(grad), lies(tree["a"]), lies(tree["b"]),
            error(lambda: o.jx.jit(lambda a: put(a, o.P("x")))(o.n))]  # fmt: skip


@case
def incompatible(o: Any) -> Any:
    other = o.jx.device_put(o.n, o.jx.devices()[3])
    half = o.jx.make_mesh((4,), ("x",), axis_types=(o.S.AxisType.Auto,))
    f = o.jx.jit(lambda a, b: a + b)
    return [error(lambda: f(o.put("x"), other)), error(lambda: f(o.put("x"), o.put("x", mesh=half))), lies(f(o.put("x"), o.n)),
            lies(f(o.put("x"), o.jnp.asarray(o.n)))]  # fmt: skip


@case
def random_numbers(o: Any) -> Any:
    draw = lambda: o.jx.random.uniform(o.jx.random.key(3), (8, 4))
    return [lies(o.jx.jit(draw, out_shardings=o.at(*spec))()) for spec in [(), ("x",), ("x", "y"), (None, "y")]]


@case
def gradients(o: Any) -> Any:
    f = lambda a, b: o.jnp.sin(a @ b.T).sum()
    return [
        lies(g)
        for spec in [("x",), (None, "y")]
        for g in o.jx.jit(o.jx.grad(f, (0, 1)))(o.put(*spec) / 10, o.put("y") / 10)
    ]


@case
def loops(o: Any) -> Any:
    def step(c, r):
        return o.jnp.tanh(c + r), c.sum()

    carry, sums = o.jx.jit(lambda a: o.lax.scan(step, a[0], a))(o.put("x", "y"))
    found = o.jx.jit(lambda a: o.lax.while_loop(lambda c: c.sum() < 1e4, lambda c: c * 2 + 1, a))(o.put("x"))
    return [np.asarray(carry), np.asarray(sums), np.asarray(found)]


@case
def stages(o: Any) -> Any:
    x = o.jx.ShapeDtypeStruct((8, 4), np.float32, sharding=o.at("x", "y"))
    compiled = o.jx.jit(lambda a: {"t": a.T}).lower(x).compile()
    return [str(compiled.output_shardings), lies(compiled(o.put("x", "y"))["t"])]


@case
def donated(o: Any) -> Any:
    f = o.jx.jit(lambda a: a + 1, donate_argnums=0)
    x = o.put("x")
    out = lies(f(x))
    return [out, x.is_deleted()]
