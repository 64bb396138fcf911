"""Programs over eight CPU devices beside jax: `python -m benchmarks.many_devices --peer PYTHON_WITH_JAX` (`make test-jax` makes one).

Processes of both libraries run in turns; each prints its CPU time of a call, a compilation and a step of training. Figures are the
ratio of the medians, ours to jax's, and the range of the paired ratios; docs/many-devices.md has them."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


DEVICES, LAYERS, WIDTH, ROWS = 8, 4, 64, 256
HERE = Path(__file__).resolve()


def fastest(run: Callable[[], Any], times: int, rounds: int = 15) -> float:
    """CPU seconds of one run: the least of `rounds`, each the mean of `times`."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(times):
            run()
        found.append((time.process_time() - start) / times)
    return min(found)


def measure(root: str) -> dict[str, float]:
    """CPU seconds of each thing, by one library in this process."""
    jx, jnp = import_module(root), import_module(f"{root}.numpy")
    s = import_module(f"{root}.sharding")
    jx.config.update("jax_num_cpu_devices", DEVICES)
    mesh = s.Mesh(np.array(jx.devices()), ("data",))
    rows, whole = s.NamedSharding(mesh, s.PartitionSpec("data")), s.NamedSharding(mesh, s.PartitionSpec())
    put = lambda shape, where: jx.device_put(np.full(shape, 0.01, np.float32), where)
    weights = [put((WIDTH, WIDTH), whole) for _ in range(LAYERS)]
    x, small = put((ROWS, WIDTH), rows), put((DEVICES,), rows)

    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x * x).mean()

    def step(weights: Any, x: Any) -> Any:
        value, gradients = jx.value_and_grad(loss)(weights, x)
        return value, [w - 0.1 * g for w, g in zip(weights, gradients)]

    def compiled() -> None:
        jx.clear_caches()
        jx.jit(lambda weights, x: step(weights, x), out_shardings=(whole, whole)).lower(weights, x).compile()

    call, train = jx.jit(lambda a: a + 1), jx.jit(step, out_shardings=(whole, whole))
    run = lambda: jx.block_until_ready(train(weights, x))
    jx.block_until_ready(call(small))
    run()
    return {
        "call": fastest(lambda: jx.block_until_ready(call(small)), 100),
        "step": fastest(run, 20),
        "trace, lower, compile": fastest(compiled, 1, 5),
    }


def one(python: str, root: str) -> dict[str, float]:
    environment = {**os.environ, "JITSCOPE_COMPILATION_CACHE": "0", "JAX_PLATFORMS": "cpu"}
    command = [python, str(HERE), "--library", root]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="a Python that has jax")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--library", help="measure this one here, and print JSON")
    given = parser.parse_args()
    if given.library:
        print(json.dumps(measure(given.library)))
        return
    pairs = [(one(sys.executable, "jitscope"), one(given.peer, "jax")) for _ in range(given.pairs)]
    for name in pairs[0][0]:
        ours, theirs = ([pair[side][name] for pair in pairs] for side in (0, 1))
        ratios = [a / b for a, b in zip(ours, theirs)]
        middle = statistics.median(ours) / statistics.median(theirs)
        print(
            f"{name}: {middle:.2f} × jax ({min(ratios):.2f} to {max(ratios):.2f}), {1e6 * statistics.median(ours):.0f} µs"
        )


if __name__ == "__main__":
    main()
