"""`python -m tests.many_devices.generated COUNT`: that many programs of a few operations on an array of 8 × 4, each run on one device, with
shardings under jit, and under shard_map, with gradients; every fourth one over Explicit axes, too."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P


MESH = jx.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
TYPED = jx.make_mesh((4, 2), ("x", "y"))

# Operations on a row of the whole, the same wherever the rows are; `total` and `mean` speak to all rows.
LOCAL: dict[str, Callable[[Any], Any]] = {
    "sin": jnp.sin,
    "tanh": jnp.tanh,
    "double": lambda a: a * 2 - 1,
    "softmax": lambda a: a - jnp.log(jnp.exp(a).sum(1, keepdims=True)),
    "sort": lambda a: jnp.sort(a, 1),
    "cumulate": lambda a: jnp.cumsum(a, 1) / 4,
    "turn": lambda a: jnp.roll(a, 1, 1),
    "choose": lambda a: jnp.where(a > 0, a, 0.1 * a),
    "product": lambda a: a @ (jnp.arange(16.0).reshape(4, 4) / 20),
    "loop": lambda a: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) + 0.1 * a, a),
    "scan": lambda a: lax.scan(lambda c, r: (c * 0.5 + r, c), a[:, 0], a.T)[1].T,
}
GLOBAL = {
    "total": (lambda a: a + a.sum(0), lambda a, axes: a + lax.psum(a.sum(0), axes)),
    "mean": (lambda a: a - a.mean(), lambda a, axes: a - lax.pmean(a.mean(), axes)),
    "largest": (lambda a: a / (1 + jnp.abs(a).max()), lambda a, axes: a / (1 + lax.pmax(jnp.abs(a).max(), axes))),
    "all": (lambda a: a @ a.T @ a / 8, lambda a, axes: a @ lax.all_gather(a, axes, tiled=True).T @ lax.all_gather(a, axes, tiled=True) / 8),
    "scatter": (lambda a: jnp.broadcast_to(a.sum(0), (8, 4)) / 8, lambda a, axes: jnp.broadcast_to(lax.psum(a.sum(0), axes), a.shape) / 8),
}  # fmt: skip


def check(seed: int) -> None:
    draw = random.Random(seed)
    names = [draw.choice([*LOCAL, *GLOBAL, *GLOBAL]) for _ in range(draw.randint(2, 5))]
    axes = draw.choice(["x", "y", ("x", "y")])
    vma = draw.random() < 0.7
    x = np.random.default_rng(seed).normal(size=(8, 4)).astype(np.float32)

    def whole(a: Any) -> Any:
        for name in names:
            a = LOCAL[name](a) if name in LOCAL else GLOBAL[name][0](a)
        return a

    def part(a: Any) -> Any:
        for name in names:
            a = LOCAL[name](a) if name in LOCAL else GLOBAL[name][1](a, axes)
        return a

    cut = jx.shard_map(part, mesh=MESH, in_specs=P(axes), out_specs=P(axes), check_vma=vma)
    weights = np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4)
    of = lambda f: lambda a: (f(a) * weights).sum()
    spec = P(*draw.choice([("x",), ("y",), ("x", "y"), (None, "x"), (("x", "y"),), ()]))
    spread = jx.device_put(x, NamedSharding(MESH, spec))
    told = f"{seed}: {names} over {axes}, {spec}, check_vma={vma}"
    one = jx.jit(whole)(x)
    grad = jx.jit(jx.grad(of(whole)))(x)
    for name, f, given in [("jit", whole, spread), ("shard_map", cut, x), ("both", cut, spread)]:
        np.testing.assert_allclose(jx.jit(f)(given), one, rtol=2e-4, atol=2e-4, err_msg=f"{name} {told}")
        if f is cut and given is spread:
            continue
        np.testing.assert_allclose(
            jx.jit(jx.grad(of(f)))(given), grad, rtol=2e-3, atol=2e-3, err_msg=f"gradient, {name} {told}"
        )


def check_types(seed: int) -> bool:
    """The same for a program over Explicit axes, whose types say how each value lies; whether it was not refused."""
    draw = random.Random(seed)
    names = [draw.choice([*LOCAL, *GLOBAL]) for _ in range(draw.randint(1, 3))]
    spec = P(*draw.choice([("x",), ("y",), ("x", "y"), (None, "x"), (("x", "y"),)]))
    x = np.random.default_rng(seed).normal(size=(8, 4)).astype(np.float32)

    def whole(a: Any) -> Any:
        for name in names:
            a = (LOCAL.get(name) or GLOBAL[name][0])(a)
        return a

    told = f"{seed}: {names}, {spec}, Explicit"
    loss = lambda a: (whole(a) * jnp.cos(a)).sum()
    given = jx.device_put(x, NamedSharding(TYPED, spec))
    try:
        result = jx.jit(whole)(given)
    except jx.errors.ShardingTypeError:
        return False
    assert result.sharding.is_equivalent_to(NamedSharding(TYPED, jx.typeof(result).sharding.spec), 2), told
    grad = jx.jit(jx.grad(loss))(given)
    assert jx.typeof(grad) == jx.typeof(given), told
    np.testing.assert_allclose(result, jx.jit(whole)(x), rtol=2e-4, atol=2e-4, err_msg=told)
    np.testing.assert_allclose(grad, jx.jit(jx.grad(loss))(x), rtol=2e-3, atol=2e-3, err_msg=f"gradient, {told}")
    return True


if __name__ == "__main__":
    count = int(sys.argv[1])
    accepted = 0
    for seed in range(count):
        check(seed)
        accepted += seed % 4 == 0 and check_types(seed)
    assert accepted >= count // 16, accepted
    print(f"{count} programs")
