"""Whether `jitscope.tune` finds the better types of XLA's library, and never leaves a program slower: the cases that the rules were made from, with the
rules off, so that a program is compiled by XLA's defaults. `python -m benchmarks.tuning_cases [SECONDS] [NAME …]`.

For each case: what was taken with its ratio and interval, and what each set of library types gave.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla import cpu_tuning


RNG = np.random.default_rng(0)
RULES = (
    cpu_tuning.CONVOLUTIONS_WITHOUT_LIBRARY,
    cpu_tuning.SUMS_WITHOUT_LIBRARY,
    cpu_tuning.CONVOLUTIONS_AS_PRODUCTS,
    cpu_tuning.CONVOLUTIONS_BY_ELEMENTS,
    cpu_tuning.SHORT_AXES,
)


def _array(*shape: int) -> Any:
    return jnp.asarray(RNG.normal(size=shape).astype(np.float32))


def _convolution(stride: int = 1, groups: int = 1) -> Callable[[Any, Any], Any]:
    names = ("NHWC", "HWIO", "NHWC")
    return lambda x, w: lax.conv_general_dilated(
        x, w, (stride, stride), "SAME", dimension_numbers=names, feature_group_count=groups
    )


def _by_window(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return jx.grad(lambda x, w: jnp.sum(function(x, w) ** 2), 1)


def _bodies(x: Any, v: Any) -> Any:
    def step(state: Any, _: Any) -> Any:
        x, v = state
        d = x[None] - x[:, None]
        r2 = jnp.sum(d * d, -1) + 1e-2
        v = v + 1e-3 * jnp.sum(d * (r2**-1.5)[..., None], 1)
        return (x + 1e-3 * v, v), None

    return lax.scan(step, (x, v), None, length=5)[0]


def _differences(u: Any) -> Any:
    inside = u[1:-1, 1:-1]
    return jnp.sum((u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inside) ** 2)


def cases() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Name, function, arguments."""
    yield "gradient by the window, 3 x 3, 96", _by_window(_convolution()), (_array(8, 32, 32, 96), _array(3, 3, 96, 96))
    yield "gradient by the window, 1 x 1, 64", _by_window(_convolution()), (_array(8, 32, 32, 64), _array(1, 1, 64, 64))
    yield "strided 3 x 3, 96", _convolution(2), (_array(16, 32, 32, 96), _array(3, 3, 96, 96))
    yield "depthwise 3 x 3", _convolution(groups=64), (_array(8, 32, 32, 64), _array(3, 3, 1, 64))
    yield "7 x 7 stride 2", _convolution(2), (_array(8, 64, 64, 3), _array(7, 7, 3, 64))
    yield "n-body", _bodies, (_array(400, 3), _array(400, 3))
    yield "finite differences", _differences, (_array(1024, 1024),)
    yield "sums of rows and columns", lambda x: (x.sum(0), x.sum(1), x.sum()), (_array(2048, 512),)


def main(arguments: list[str]) -> None:
    """Print what tuning gives for each case."""
    seconds = float(arguments[0]) if arguments else 20.0
    for rule in RULES:
        rule.off = True
    for name, function, values in cases():
        if arguments[1:] and not any(part in name for part in arguments[1:]):
            continue
        found = jx.tune(function, seconds=seconds)(*values)
        low, high = found.interval
        taken = f"{found.ratio:.2f} ({low:.2f} to {high:.2f}) with {found.taken}" if found.taken else "nothing helped"
        print(f"{name}: {taken}; {found.document['compilations']} compilations", flush=True)
        for one in found.tried:
            if one.name.startswith("XLA's library") or one is found.taken:
                ratio = f"{one.ratio:.2f}" if one.ratio is not None else "-"
                print(f"    {one.name}: {one.outcome} {ratio} {one.why}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
