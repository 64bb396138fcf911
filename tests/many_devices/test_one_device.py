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
