"""Programs on one device do not pay for what several need."""

from __future__ import annotations

from tests.compiler.programs import in_new_process


PROGRAM = """
import sys
import jitscope as jx, jitscope.numpy as jnp
from jitscope import lax
f = jx.jit(lambda x: jnp.tanh(x @ x).sum())
f(jnp.ones((3, 3))), jx.grad(f)(jnp.ones((3, 3))), jx.vmap(lambda a: a * 2)(jnp.ones(3))
lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(3.0)), jx.random.normal(jx.random.key(0), (3,)), jnp.zeros((2, 2)).at[0].set(1.0)
print(*[m for m in sys.modules if m.startswith("jitscope.")])
"""
OF_SEVERAL = ("api.many_devices", "api.sharded", "backend.constraint", "backend.spread_calls", "backend.spreading", "control.shard_map",
              "core.explicit", "core.meshes", "core.resharding", "core.shardings", "ops.exchanges", "sharding", "xla.parts", "xla.resharding")  # fmt: skip


def test_a_program_on_one_device_loads_nothing_of_several() -> None:
    loaded = in_new_process(PROGRAM).split()
    assert "jitscope.numpy.creation" in loaded
    assert [name for name in OF_SEVERAL if f"jitscope.{name}" in loaded] == []


NAMED = """
import numpy as np, jitscope as jx, jitscope.numpy as jnp
f = jx.jit(lambda x: (x * 2, x.sum()))
n = np.ones((4, 2), np.float32)
told = lambda: [str(getattr(y.sharding, "spec", "device")) for y in (*f(jnp.asarray(n)), jnp.asarray(n) + 1)]
before = told()
at = jx.sharding.NamedSharding(jx.make_mesh((1,), ("x",), axis_types=(jx.sharding.AxisType.Auto,)), jx.P("x"))
x = jx.device_put(n, at)
print(before, [str(y.sharding.spec) for y in (*f(x), *f(x), x + 1)], told(), str(jx.device_put(x, jx.devices()[0]).sharding)[:20])
"""


def test_functions_that_ran_before_there_was_a_mesh_heed_it() -> None:
    device, named = "['device', 'device', 'device']", "[\"P('x',)\", 'P()', \"P('x',)\", 'P()', \"P('x',)\"]"
    assert in_new_process(NAMED).strip() == f"{device} {named} {device} SingleDeviceSharding"
