"""A process that measures one library. `worker.py serve LIBRARY CLOCK` answers commands: lines of JSON on standard input and
output; while nobody asks it waits and costs nothing. `worker.py first LIBRARY CLOCK PROGRAM` prints how long a program's
first call took.
"""

import importlib
import json
import os
import sys
import time
from typing import Any


IMPORTS = {
    "jitscope": ("jitscope", "jitscope.numpy"),
    "jax": ("jax", "jax.numpy"),
    "floor": ("numpy", "ml_dtypes", "jaxlib.xla_client"),
    "autograd": ("autograd", "autograd.numpy"),
    "numpy": ("numpy", "numpy"),
}
"""What is imported to use each; `floor` is what nobody who uses jaxlib can avoid."""


CLOCKS = {
    "wall": (time.perf_counter, time.perf_counter),
    "cpu": (time.process_time, time.perf_counter),
    "core": (time.process_time, time.process_time),
}
"""By name: what measures most things, and what measures programs on several threads. "core": the process has one core only."""


def library(name: str, clock: str) -> Any:
    if clock == "core" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before XLA counts them
    from measures import Library

    return Library(name, *[importlib.import_module(module) for module in IMPORTS[name]], *CLOCKS[clock])


def first_call(name: str, clock: str, program: str) -> float:
    """Seconds from the first call in the process to its results; imports are done before."""
    from programs import PROGRAMS

    lib, chosen = library(name, clock), PROGRAMS[program]
    fun, args = chosen.make(lib.J, lib.jnp), chosen.arguments()
    start = lib.clock()
    lib.J.block_until_ready(lib.J.jit(fun)(*args))
    return lib.clock() - start


def calibrated(burst: Any, seconds: float) -> int:
    """How many repetitions last about so long."""
    count = 1
    while True:
        start = time.perf_counter()
        burst(count)
        spent = time.perf_counter() - start
        if spent >= seconds / 2 or count > 1_000_000:
            return max(1, round(count * seconds / max(spent, 1e-9)))
        count = max(count + 1, min(10 * count, round(count * seconds / max(spent, 1e-9))))


def answer(command: dict[str, Any], lib: Any, bursts: dict[str, Any]) -> Any:
    from measures import MEASURES

    match command:
        case {"calibrate": name, "seconds": seconds}:
            burst = bursts[name] = MEASURES[name](lib)
            burst(1)
            return calibrated(burst, seconds)
        case {"burst": name, "count": count}:
            return bursts[name](count)
        case {"forget": name}:
            bursts.pop(name, None)
            return None
        case {"versions": _}:
            import jaxlib
            import numpy

            return {"python": sys.version.split()[0], "jaxlib": jaxlib.__version__, "numpy": numpy.__version__,
                    lib.name: getattr(lib.J, "__version__", "")}  # fmt: skip
        case _:
            raise ValueError(f"unknown command {command}")


def serve(name: str, clock: str) -> None:
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints must not get between the answers
    lib, bursts = library(name, clock), {}
    for line in sys.stdin:
        try:
            reply = {"ok": answer(json.loads(line), lib, bursts)}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        replies.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "serve":
        serve(*arguments)
    else:
        print(first_call(*arguments))
