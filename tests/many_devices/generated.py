"""`python -m tests.many_devices.generated COUNT`: that many programs of a few operations on an array of 8 × 4, each run with shardings
under jit and under shard_map, with gradients, beside one device; every fourth one over Explicit axes, too."""

from __future__ import annotations

import functools
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
    "again": jx.checkpoint(lambda a: jnp.sin(a) * jnp.cos(a)),
    "each row": jx.vmap(lambda r: jnp.sort(r)[::-1] * 0.5 + r),
    "own rule": lambda a: halved(a) + a,
}


@jx.custom_vjp
def halved(a: Any) -> Any:
    return a / 2


halved.defvjp(lambda a: (a / 2, ()), lambda _, ct: (ct / 2,))


def half_way(a: Any, axes: Any) -> Any:
    """The rows of the device half the way round."""
    size = lax.axis_size(axes)
    return lax.ppermute(a, axes, [(i, (i + size // 2) % size) for i in range(size)])


def scattered(a: Any, axes: Any) -> Any:
    return jnp.tanh(lax.psum_scatter(a.sum() * lax.all_gather(a, axes, tiled=True), axes, tiled=True) / 32)


def exchanged(a: Any, axes: Any) -> Any:
    """What `all_to_all` brings from each device: its rows."""
    copies = jnp.broadcast_to(a[:, None], (a.shape[0], lax.axis_size(axes), a.shape[1]))
    return a - lax.all_to_all(copies, axes, 1, 0, tiled=True)[:, 0].mean(0)


def branching(a: Any, total: Any) -> Any:
    return lax.cond(total > 0, lambda: jnp.cos(a), lambda: a * 0.5)


GLOBAL = {
    "total": (lambda a: a + a.sum(0), lambda a, axes: a + lax.psum(a.sum(0), axes)),
    "mean": (lambda a: a - a.mean(), lambda a, axes: a - lax.pmean(a.mean(), axes)),
    "largest": (lambda a: a / (1 + jnp.abs(a).max()), lambda a, axes: a / (1 + lax.pmax(jnp.abs(a).max(), axes))),
    "all": (lambda a: a @ a.T @ a / 8, lambda a, axes: a @ lax.all_gather(a, axes, tiled=True).T @ lax.all_gather(a, axes, tiled=True) / 8),
    "half way": (lambda a: a + jnp.roll(a, 4, 0), lambda a, axes: a + half_way(a, axes)),
    "scattered": (lambda a: jnp.tanh(a * a.mean()), scattered),
    "exchanged": (lambda a: a - a.mean(0), exchanged),
    "branch": (lambda a: branching(a, jnp.abs(a).sum() - 9.7), lambda a, axes: branching(a, lax.psum(jnp.abs(a).sum(), axes) - 9.7)),
    "gathered for all": (lambda a: a + a[0], lambda a, axes: a + lax.all_gather(a, axes, tiled=True, to="invarying")[0]),
    "scatter": (lambda a: jnp.broadcast_to(a.sum(0), (8, 4)) / 8, lambda a, axes: jnp.broadcast_to(lax.psum(a.sum(0), axes), a.shape) / 8),
}  # fmt: skip


OPERATIONS = {**LOCAL, **{name: whole for name, (whole, _) in GLOBAL.items()}}
WEIGHTS = np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4)
# Programs are small and run once: most of the time would be XLA's, for code that nobody needs to be fast.
jit = functools.partial(jx.jit, compiler_options={"xla_backend_optimization_level": 0})


@functools.cache
def compiled(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operation on one device, and its backward pass."""
    return jit(OPERATIONS[name]), jit(lambda a, ct: jx.vjp(OPERATIONS[name], a)[1](ct)[0])


def on_one_device(names: list[str], x: Any) -> tuple[Any, Any]:
    """The result of a chain of operations and the gradient of its weighted sum, operation by operation: all programs share these."""
    values = [x]
    for name in names:
        values.append(compiled(name)[0](values[-1]))
    ct = jnp.asarray(WEIGHTS)
    for name, value in zip(names[::-1], values[-2::-1]):
        ct = compiled(name)[1](value, ct)
    return values[-1], ct


def with_gradient(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The result of `f`, and the gradient of its weighted sum, as one program."""

    def weighted(a: Any) -> Any:
        out = f(a)
        return (out * WEIGHTS).sum(), out

    def both(a: Any) -> Any:
        grad, out = jx.grad(weighted, has_aux=True)(a)
        return out, grad

    return jit(both)


def chain(names: list[str], operations: dict[str, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    return lambda a: functools.reduce(lambda a, name: operations[name](a), names, a)


def agree(found: tuple[Any, Any], wanted: tuple[Any, Any], told: str) -> None:
    np.testing.assert_allclose(found[0], wanted[0], rtol=2e-4, atol=2e-4, err_msg=told)
    np.testing.assert_allclose(found[1], wanted[1], rtol=2e-3, atol=2e-3, err_msg=f"gradient, {told}")


def check(seed: int) -> None:
    draw = random.Random(seed)
    names = [draw.choice([*LOCAL, *GLOBAL, *GLOBAL]) for _ in range(draw.randint(2, 5))]
    axes = draw.choice(["x", "y", ("x", "y")])
    vma = draw.random() < 0.7
    spec = P(*draw.choice([("x",), ("y",), ("x", "y"), (None, "x"), (("x", "y"),), ()]))
    x = np.random.default_rng(seed).normal(size=(8, 4)).astype(np.float32)
    spread = jx.device_put(x, NamedSharding(MESH, spec))
    parts = {**LOCAL, **{name: functools.partial(part, axes=axes) for name, (_, part) in GLOBAL.items()}}
    some = {axes} if isinstance(axes, str) and draw.random() < 0.3 else set()
    cut = jx.shard_map(
        chain(names, parts), mesh=MESH, in_specs=P(axes), out_specs=P(axes), check_vma=vma, axis_names=some
    )
    wanted = on_one_device(names, x)
    told = f"{seed}: {names} over {axes}, {spec}, check_vma={vma}, axis_names={some}"
    agree(with_gradient(chain(names, OPERATIONS))(spread), wanted, f"jit {told}")
    agree(with_gradient(cut)(draw.choice([x, spread])), wanted, f"shard_map {told}")


def check_types(seed: int) -> bool:
    """The same for a program over Explicit axes, whose types say how each value lies; whether it was not refused."""
    draw = random.Random(seed)
    names = [draw.choice([*LOCAL, *GLOBAL]) for _ in range(draw.randint(1, 3))]
    spec = P(*draw.choice([("x",), ("y",), ("x", "y"), (None, "x"), (("x", "y"),)]))
    x = np.random.default_rng(seed).normal(size=(8, 4)).astype(np.float32)
    told = f"{seed}: {names}, {spec}, Explicit"
    given = jx.device_put(x, NamedSharding(TYPED, spec))
    try:
        result, grad = found = with_gradient(chain(names, OPERATIONS))(given)
    except jx.errors.ShardingTypeError:
        return False
    assert result.sharding.is_equivalent_to(NamedSharding(TYPED, jx.typeof(result).sharding.spec), 2), told
    assert jx.typeof(grad) == jx.typeof(given), told
    agree(found, on_one_device(names, x), told)
    return True


if __name__ == "__main__":
    count = int(sys.argv[1])
    accepted = 0
    for seed in range(count):
        check(seed)
        accepted += seed % 4 == 0 and check_types(seed)
    assert accepted >= count // 16, accepted
    print(f"{count} programs")
