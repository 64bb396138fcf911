"""What each entry of `jitscope.xla.cpu_tuning` gives on this machine: `python -m benchmarks.cpu_tuning [NAME …]`.

The processor's time with an entry as a part of the time without it, both measured in turns; 1.00: it gives nothing and can go. Told
the clearest with one core: `taskset -c 0 python -m benchmarks.cpu_tuning`.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


os.environ["JITSCOPE_COMPILATION_CACHE"] = "0"  # it takes a program with an entry and one without for the same

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, random
from jitscope.scipy import signal
from jitscope.xla import cpu_tuning


_DRAW = np.random.default_rng(0)
_TALL, _VECTOR = _DRAW.standard_normal((8192, 160), np.float32), _DRAW.standard_normal(8192, np.float32)
_STEPS, _SEEN = (
    np.abs(_DRAW.standard_normal((20, 20), np.float32)) / 8,
    np.abs(_DRAW.standard_normal((300, 20), np.float32)),
)
_MANY = _DRAW.standard_normal(100_000, np.float32)
_IMAGE = _DRAW.standard_normal((1000, 1000), np.float32)
_LONG = _DRAW.standard_normal(1_000_000, np.float32)
_SMALL = _DRAW.standard_normal((10_000, 4, 4), np.float32)
_IMAGES = _DRAW.standard_normal((8, 32, 32, 96), np.float32)
_DEEP = _DRAW.standard_normal((12, 16, 16, 288), np.float32)
_PIXEL = _DRAW.standard_normal((1, 1, 64, 64), np.float32)
_LAYERS = [_DRAW.standard_normal((128, 512), np.float32) / 11 for _ in range(16)]
_TOKENS = _DRAW.standard_normal((4, 64, 128), np.float32)
_COUNT = iter(range(1_000_000))


def _compile_sin() -> Any:
    n = 10 + next(_COUNT)
    return jnp.sin(jnp.zeros(n))


def _chain(steps: Any, seen: Any) -> Any:
    def step(state: Any, likely: Any) -> tuple[Any, Any]:
        state = (steps @ state) * likely
        total = jnp.sum(state)
        return state / total, jnp.log(total)

    return jnp.sum(lax.scan(step, jnp.ones(20) / 20, seen)[1])


def _overlapping(x: Any) -> Any:
    return signal.stft(x, nperseg=256, noverlap=128)[2]


def _convolution(x: Any, w: Any, groups: int = 1) -> Any:
    layout = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout, feature_group_count=groups)


def _in_steps(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _with_gaps(x: Any, w: Any) -> Any:
    return lax.conv_transpose(x, w, (2, 2), "SAME")


def _by_window(x: Any, w: Any) -> Any:
    """The gradient of a layer by its window."""
    return jx.grad(lambda w: jnp.mean(_convolution(x, w) ** 2))(w)


def _depthwise(x: Any, w: Any) -> Any:
    return _convolution(x, w, x.shape[-1])


def _in_groups(x: Any, w: Any) -> Any:
    return _convolution(x, w, 4)


def _attracted(x: Any) -> Any:
    between = x[None] - x[:, None]
    squares = jnp.sum(between**2, axis=-1) + 0.01
    return jnp.einsum("ijk,ij->ik", between, 1 / (squares * jnp.sqrt(squares)))


def _stencil(u: Any) -> Any:
    inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return jnp.mean(inner**2)


def _step(_: Any, u: Any) -> Any:
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return u.at[1:-1, 1:-1].add(0.1 * (around - 4 * u[1:-1, 1:-1]))


def _heat(u: Any) -> Any:
    return lax.fori_loop(0, 10, _step, u)


def _three_steps(u: Any) -> Any:
    return _step(2, _step(1, _step(0, u)))


def _eight_steps(a: Any, y: Any) -> Any:
    """200 steps of Runge and Kutta's for a system of eight equations."""

    def step(_: Any, y: Any) -> Any:
        k1 = a @ jnp.sin(y)
        k2 = a @ jnp.sin(y + 0.05 * k1)
        k3 = a @ jnp.sin(y + 0.05 * k2)
        return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + a @ jnp.sin(y + 0.1 * k3))

    return lax.fori_loop(0, 200, step, y)


def _residual(x: Any, *weights: Any) -> Any:
    """The gradient of a residual network of eight layers, which normalize what they read."""

    def loss(*weights: Any) -> Any:
        h = x
        for up, down in zip(weights[::2], weights[1::2]):
            z = (h - jnp.mean(h, -1, keepdims=True)) / jnp.sqrt(jnp.var(h, -1, keepdims=True) + 1e-5)
            h = h + jx.nn.gelu(z @ up) @ down.T
        return jnp.mean(h**2)

    return jx.grad(loss, tuple(range(len(weights))))(*weights)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "SMALL_LOOPS": (_chain, (_STEPS, _SEEN)),
    "ROW_BLOCKS": (lambda a, v: v @ a, (_TALL, _VECTOR)),
    "TRANSPOSED_OPERANDS": (lambda a, v: a.T @ v, (_TALL, _VECTOR)),
    "RANDOM_BITS_APART": (lambda key: random.normal(key, (1_000_000,)), (random.key(0),)),
    "RADIX_SORT": (jnp.argsort, (_MANY,)),
    "SORTED_AS_INTEGERS": (jnp.sort, (_IMAGE[:100],)),
    "SORTED_PACKED": (jnp.argsort, (_IMAGE[:100],)),
    "MAX_BY_CHOICES": (lambda x: jnp.max(x, 1), (_IMAGE,)),
    "ARG_IN_TWO_STEPS": (lambda x: jnp.argmax(x, 0), (_IMAGE,)),
    "BOOLEANS_COUNTED": (lambda x: jnp.any(x > 5), (_LONG,)),
    "RUNNING_BY_ROWS": (lambda x: jnp.cumsum(x, 0), (_IMAGE,)),
    "RUNNING_BY_ELEMENTS": (jnp.cumsum, (_MANY,)),
    "PRODUCTS_WITH_SMALL_MATRICES": (jnp.matmul, (_MANY[:99_999].reshape(-1, 3), _MANY[:9].reshape(3, 3))),
    "PRODUCTS_WITH_VECTORS": (_eight_steps, (_MANY[:64].reshape(8, 8), _MANY[:8])),
    "SMALL_BATCHED_PRODUCTS": (jnp.matmul, (_SMALL, _SMALL)),
    "IN_DOUBLE": (jnp.sin, (_LONG,)),
    "POWERS_IN_DOUBLE": (lambda x: jnp.abs(x) ** 2.2, (_LONG,)),
    "LGAMMA_IN_DOUBLE": (lax.lgamma, (20 * np.abs(_MANY),)),
    "REMAINDERS_IN_DOUBLE": (lambda x: jnp.fmod(x, 0.3), (_LONG,)),
    "STENCILS_AS_CHOICES": (_three_steps, (_IMAGE,)),
    "STENCILS_IN_TWO_TURNS": (_heat, (_IMAGE[:512, :512],)),
    "SUMS_OF_SHORT_ROWS": (lambda x: jnp.sum(x, 1), (_MANY[:99_999].reshape(-1, 3),)),
    "FLAT_VALUES": (lambda x: jnp.mean((x - 1) ** 2), (_MANY[:, None],)),
    "SHORT_LOOPS_KEPT": (lambda x: jnp.maximum(x + x[0], 0), (_MANY[:99_984].reshape(-1, 16),)),
    "SORTED_BY_NETWORKS": (lambda x: jnp.sort(x, 1), (_MANY[:99_999].reshape(-1, 3),)),
    "VALUES_KEPT": (_residual, (_TOKENS, *_LAYERS)),
    "WINDOWS_BY_SLICES": (
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (3, 3), (1, 1), "SAME"),
        (_IMAGE,),
    ),
    "WRITTEN_OUT_CONVOLUTION": (lambda x, w: signal.convolve(x, w, method="direct"), (_MANY, _MANY[:9])),
    "CONVOLUTIONS_AS_PRODUCTS": (_by_window, (_DRAW.standard_normal((16, 32, 32, 64), np.float32), _PIXEL)),
    "CONVOLUTIONS_BY_ELEMENTS": (_depthwise, (_IMAGES, _DRAW.standard_normal((3, 3, 1, 96), np.float32))),
    "CONVOLUTIONS_IN_LOOPS": (jnp.convolve, (_MANY, _MANY[:200])),
    "WINDOW_GRADIENTS_IN_LOOPS": (
        jx.grad(lambda w, x: jnp.sum(_depthwise(x, w) ** 2)),
        (_DRAW.standard_normal((3, 3, 1, 96), np.float32), _IMAGES),
    ),
    "CONVOLUTIONS_IN_PARTS": (_in_groups, (_IMAGES[..., :48], _DRAW.standard_normal((3, 3, 12, 48), np.float32))),
    "GROUPS_IN_A_LOOP": (_in_groups, (_IMAGES[:4, :28, :28], _DRAW.standard_normal((3, 3, 24, 96), np.float32))),
    "MINIMAL_FILTERING": (_by_window, (_IMAGES, _DRAW.standard_normal((3, 3, 96, 96), np.float32))),
    "FILTERING_BY_FOUR": (_convolution, (_DEEP, _DRAW.standard_normal((3, 3, 288, 288), np.float32) / 50)),
    "FILTERING_WITH_SIX": (_convolution, (_IMAGES, _DRAW.standard_normal((3, 3, 96, 96), np.float32))),
    "FILTERING_IN_STEPS": (_in_steps, (_DEEP, _DRAW.standard_normal((3, 3, 288, 288), np.float32) / 50)),
    "FILTERING_WITH_GAPS": (_with_gaps, (_IMAGES, _DRAW.standard_normal((3, 3, 96, 96), np.float32))),
    "SMALL_SYSTEMS": (jnp.linalg.inv, (_DRAW.random((10_000, 3, 3), np.float32) + 3 * np.eye(3, dtype=np.float32),)),
    "RESIZED_BY_PIXELS": (lambda x: jx.image.resize(x, (8, 16, 16, 96), "linear"), (_IMAGES,)),
    "COMPLEX_OPERANDS_KEPT": (lambda x: jnp.sqrt(-jnp.log(1 - x * 0.98j)), (_LONG,)),
    "SHORT_AXES": (_attracted, (_DRAW.standard_normal((500, 3), np.float32),)),
    "CONVOLUTIONS_WITHOUT_LIBRARY": (_by_window, (_IMAGES, _DRAW.standard_normal((3, 3, 96, 96), np.float32))),
    "SUMS_WITHOUT_LIBRARY": (_stencil, (_IMAGE,)),
    "VECTORS_OF_512": (jx.nn.silu, (_LONG,)),
    "WRITTEN_OUT_STRETCHES": (_overlapping, (_LONG,)),
}
"""For each entry a function, compiled with and without it, and its arguments."""
EAGER: dict[str, Callable[[], Any]] = {
    "OLDER_EMITTER": _compile_sin,
    "FILLED_BY_NUMPY": lambda: jnp.zeros((4, 4)),
}
"""What is measured with an entry on and off as it runs."""


def _seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    jx.block_until_ready(run())
    return time.process_time() - start


def _compiled(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any]:
    program = jx.jit(lambda *xs: function(*xs)).lower(*args).compile()
    arrays = [x if isinstance(x, jx.Array) else jnp.asarray(x) for x in args]
    program(*arrays)
    return lambda: program(*arrays)


def share(name: str, rounds: int = 60) -> float:
    """The time with the entry as a part of that without it."""
    entry = getattr(cpu_tuning, name)
    entry.jaxlibs = ()  # asked for by name, it is measured with a release that it does not hold with, too
    runs = []
    for off in (False, True):
        jx.clear_caches()
        entry.off = off
        runs.append(EAGER[name] if name in EAGER else _compiled(*PROGRAMS[name]))
    ratios = []
    for _ in range(rounds):
        times = []
        for off in (False, True):
            entry.off = off
            times.append(_seconds(runs[off]))
        ratios.append(times[0] / times[1])
    entry.off = False
    return statistics.median(ratios)


if __name__ == "__main__":
    for name in sys.argv[1:] or [name for name in (*PROGRAMS, *EAGER) if getattr(cpu_tuning, name).holds()]:
        print(f"{name:26} {share(name):.2f}", flush=True)
