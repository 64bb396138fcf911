"""What is laid out over a mesh of one device, of the eight there are. Cases as in `cases.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, lies


def alone(o: Any) -> Any:
    """A layout over a mesh of one device, and an array in it."""
    mesh = o.jx.make_mesh((1,), ("x",), axis_types=(o.S.AxisType.Auto,))
    sharding = o.at("x", mesh=mesh)
    return mesh, sharding, o.jx.device_put(o.n, sharding)


@case
def made_on_one(o: Any) -> Any:
    _, s, x = alone(o)
    device = o.jx.devices()[0]
    made = [
        x,
        o.jx.make_array_from_callback((8, 4), s, lambda i: o.n[i]),
        o.jx.make_array_from_single_device_arrays((8, 4), s, [o.jnp.asarray(o.n)]),
        o.jx.make_array_from_process_local_data(s, o.n),
        o.lax.with_sharding_constraint(o.n, s),
        x.copy(),
        o.jnp.asarray(x),
        o.jx.device_put(x),
        o.jx.device_put(x, device),
    ]
    shards = [[p.device.id, str(p.index), np.asarray(p.data)] for p in x.addressable_shards]
    return [*map(lies, made), shards, [m.committed for m in made], x.is_fully_replicated, str(x.device)]


@case
def computed_on_one(o: Any) -> Any:
    mesh, s, x = alone(o)
    grid = o.jx.make_mesh((1, 1), ("x", "y"), axis_types=(o.S.AxisType.Auto,) * 2)
    f = o.jx.jit(lambda a: (a.sum(0), a.T, a.sum(), o.jnp.ones(3), a[2], a * 2))
    put = o.jx.jit(lambda a: a * 2, out_shardings=o.at(None, "x", mesh=mesh))
    asked = o.jx.jit(lambda a: (o.lax.with_sharding_constraint(a * 2, s), a.T))
    double = o.jx.shard_map(lambda a: a * 2, mesh=mesh, in_specs=o.P("x"), out_specs=o.P("x"))
    once_more = o.jx.jit(lambda a: a - 1, donate_argnums=0)
    rows = o.lax.scan(lambda c, r: (c + r.sum(), c), o.jnp.float32(0), x)
    loss = o.jx.jit(o.jx.value_and_grad(lambda a: o.jnp.sin(a).sum()))
    found = [*f(x), *f(x), put(o.n), put(x), *asked(o.n), double(o.n), o.jx.jit(double)(o.n), *rows, *loss(x), *f(o.n)]
    found += [
        o.jnp.sin(x) + 1,
        x + o.n,
        x.sum(),
        x[0],
        f(o.jx.device_put(x, o.at("x", "y", mesh=grid)))[1],
        once_more(x),
    ]
    found.append(o.jx.pmap(lambda a: a + 1)(np.ones((1, 3), np.float32)))
    return list(map(lies, found))


@case
def typed_on_one(o: Any) -> Any:
    x = o.jx.device_put(o.n, o.at("x", mesh=o.jx.make_mesh((1,), ("x",))))
    found = [x, x * 2, o.jnp.sin(x).T, o.jx.jit(lambda a: a.sum(1))(x), o.jx.grad(lambda a: (a**2).sum())(x)]
    return [[*lies(y), str(o.jx.typeof(y))] for y in found]


@case
def stages_on_one(o: Any) -> Any:
    _, _, x = alone(o)
    compiled = o.jx.jit(lambda a: (a, a.T)).lower(x).compile()
    return [str(compiled.input_shardings), str(compiled.output_shardings), *map(lies, compiled(x))]


@case
def devices_that_functions_name(o: Any) -> Any:
    jx, lax, there = o.jx, o.lax, o.jx.devices()[1]
    one = o.S.SingleDeviceSharding(there)
    inner = jx.jit(lambda a: (a * 2).sum(), in_shardings=one)
    wide = jx.jit(lambda a: a + 1, device=there)
    held = lambda a: lax.with_sharding_constraint(a * 2, one)
    far = jx.device_put(o.n, jx.devices()[2])
    made = [
        wide(o.n), wide(a=3.0), wide(far), wide(o.put("x")), jx.jit(lambda a: wide(a) * 2)(o.n), jx.vmap(wide)(o.n),
        jx.grad(lambda a: wide(a).sum())(o.n), wide.lower(3.0).compile()(3.0), jx.jit(lambda a: a + 1, backend="cpu")(far),
        jx.jit(lambda a: inner(a) * 2)(o.n), jx.grad(inner)(o.n), inner(far), inner(o.put()),
        jx.jit(held)(o.n), jx.jit(jx.vmap(held))(o.n), jx.jit(held).lower(o.n).compile()(o.n),
    ]  # fmt: skip
    wrong = [
        lambda: jx.jit(held)(far),
        lambda: jx.jit(held)(o.put("x")),
        lambda: jx.jit(lambda a: inner(a) * 2)(far),
        lambda: jx.jit(lambda a: held(a) + wide(a) + lax.with_sharding_constraint(a, far.sharding))(o.n),
        lambda: jx.jit(lambda a: a, in_shardings=one, out_shardings=far.sharding)(o.n),
        lambda: jx.jit(lambda a: a, in_shardings=one)(o.put("x")),
    ]
    return [*[[*lies(x), x.committed] for x in made], list(map(error, wrong))]
