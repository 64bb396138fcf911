"""Programs over eight CPU devices beside jax: `python -m benchmarks.many_devices --peer PYTHON_WITH_JAX` (`make test-jax` makes one).

Processes of both libraries run in turns; each prints its CPU time of a call, a compilation and a step of training; and the time of
a step in one process and in two. Figures are the
ratio of the medians, ours to jax's, and the range of the paired ratios; docs/many-devices.md has them."""

from __future__ import annotations

import argparse
import json
import os
import socket
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


def layouts(root: str) -> tuple[Any, Any]:
    """Rows over all devices, and all of an array on each."""
    jx, s = import_module(root), import_module(f"{root}.sharding")
    mesh = s.Mesh(np.array(jx.devices()), ("data",))
    return s.NamedSharding(mesh, s.PartitionSpec("data")), s.NamedSharding(mesh, s.PartitionSpec())


def training(root: str, whole: Any) -> tuple[Any, Any]:
    """A step of training a network, and its weights."""
    jx, jnp = import_module(root), import_module(f"{root}.numpy")
    weights = [jx.device_put(np.full((WIDTH, WIDTH), 0.01, np.float32), whole) for _ in range(LAYERS)]

    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x * x).mean()

    def step(weights: Any, x: Any) -> Any:
        value, gradients = jx.value_and_grad(loss)(weights, x)
        return value, [w - 0.1 * g for w, g in zip(weights, gradients)]

    return step, weights


def measure(root: str) -> dict[str, float]:
    """CPU seconds of each thing, by one library in this process."""
    jx = import_module(root)
    jx.config.update("jax_num_cpu_devices", DEVICES)
    rows, whole = layouts(root)
    step, weights = training(root, whole)
    put = lambda shape, where: jx.device_put(np.full(shape, 0.01, np.float32), where)
    x, small = put((ROWS, WIDTH), rows), put((DEVICES,), rows)

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


def measure_process(root: str, number: int, count: int, port: int) -> dict[str, float]:
    """Seconds of a step of training, waited for, in one of several processes with a device each; of the clock, since they wait for
    each other."""
    jx = import_module(root)
    jx.config.update("jax_num_cpu_devices", 1)
    if count > 1:
        jx.distributed.initialize(f"127.0.0.1:{port}", count, number)
    rows, whole = layouts(root)
    step, weights = training(root, whole)
    x = jx.make_array_from_process_local_data(rows, np.full((ROWS // count, WIDTH), 0.01, np.float32))
    train, times = jx.jit(step, out_shardings=(whole, whole)), []
    for _ in range(210):
        start = time.perf_counter()
        jx.block_until_ready(train(weights, x))
        times.append(time.perf_counter() - start)
    if count > 1:
        jx.distributed.shutdown()
    return {f"step, {count} process{'es' if count > 1 else ''}": statistics.median(times[10:])}


def together(python: str, root: str, count: int) -> dict[str, float]:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = [python, str(HERE), "--library", root, "--processes", str(count), "--port", str(port), "--process"]
    started = [
        subprocess.Popen(
            [*command, str(i)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=_environment()
        )
        for i in range(count)
    ]
    said = [p.communicate(timeout=300)[0] for p in started]
    return json.loads(said[0].splitlines()[-1])


def _environment() -> dict[str, str]:
    return {**os.environ, "JITSCOPE_COMPILATION_CACHE": "0", "JAX_PLATFORMS": "cpu"}


def every(python: str, root: str) -> dict[str, float]:
    return one(python, root) | together(python, root, 1) | together(python, root, 2)


def one(python: str, root: str) -> dict[str, float]:
    command = [python, str(HERE), "--library", root]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=_environment()).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="a Python that has jax")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--library", help="measure this one here, and print JSON")
    parser.add_argument("--process", type=int, help="of several: the number of this one")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    if given.library and given.process is not None:
        print(json.dumps(measure_process(given.library, given.process, given.processes, given.port)))
        return
    if given.library:
        print(json.dumps(measure(given.library)))
        return
    pairs = [(every(sys.executable, "jitscope"), every(given.peer, "jax")) for _ in range(given.pairs)]
    for name in pairs[0][0]:
        ours, theirs = ([pair[side][name] for pair in pairs] for side in (0, 1))
        ratios = [a / b for a, b in zip(ours, theirs)]
        middle = statistics.median(ours) / statistics.median(theirs)
        print(
            f"{name}: {middle:.2f} × jax ({min(ratios):.2f} to {max(ratios):.2f}), {1e6 * statistics.median(ours):.0f} µs"
        )


if __name__ == "__main__":
    main()
