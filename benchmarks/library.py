"""Steady times of the library's functions beside jax's, to find emitted programs that are slower: `python benchmarks/library.py --peer
.venv-jax/bin/python [FILE …]`. The programs are the samples of tests/oracle (float32), all of one function together, mapped
over many copies of their operands along a first or (`--along last`) a last axis, so that the work counts and not the call: the time
of a program that does nothing with the same operands is taken off. Along the first axis XLA's loops end in rows of four elements,
which it compiles badly: what is slower there alone says little about the program.

The two processes take turns, function by function; a ratio is that of the best of several bursts. What seems slower (by more than
3 µs, which is what the measure can tell) is measured again. `library.py worker LIBRARY AXIS` is one of the processes: it reads names of functions and writes seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any


ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
SLOWER, UNTOLD = 1.15, 3e-6
BURSTS, SECONDS, COPIES = 7, 0.01, 1000


def worker(root: str, axis: int) -> None:
    from tests.oracle import recorded, samples
    from tests.oracle.answers import program
    from tests.oracle.library import Library

    warnings.simplefilter("ignore")
    library, functions = Library(root), {f.name: f for f in samples.every()}
    given, made = library.operands("float32"), {}

    def best(name: str) -> float:
        if name not in made:
            function = functions[name]
            answers = recorded.load(function.file)[name]["answers"]["float32"]
            chosen = [s for s, a in zip(function.samples, answers) if "out" in a and not (a.get("eager") or s.reason)]
            mapped = [s for s, a in zip(function.samples, answers) if a.get("mapped") is True and not s.reason]
            used = {n: given[n] for s in mapped or chosen for n in s.names}
            if mapped:
                fun = library.jx.jit(_summed(library, library.jx.vmap(program(library, mapped), axis, axis)))
                used = {n: library.jnp.stack([x] * COPIES, axis=axis) for n, x in used.items()}
            else:
                fun = library.jx.jit(_summed(library, program(library, chosen)))
            library.jx.block_until_ready(fun(used))
            made.clear()
            made[name] = (fun, library.jx.jit(lambda used: 0.0), used)
        fun, idle, used = made[name]
        return max(_best(library, fun, used) - _best(library, idle, used), 1e-7)

    for line in sys.stdin:
        try:
            found: Any = best(line.strip())
        except Exception as error:  # told, not counted
            found = f"{type(error).__name__}: {str(error)[:80]}"
        print(json.dumps(found), flush=True)


def _summed(library: Any, fun: Any) -> Any:
    """One number of all results: how long results take to become arrays is measured elsewhere."""

    def number(x: Any) -> Any:
        if library.jx.dtypes.issubdtype(x.dtype, library.jx.dtypes.prng_key):
            x = library.jx.random.key_data(x)
        return library.jnp.sum(library.jnp.real(x).astype("float32"))

    return lambda used: sum(map(number, library.jx.tree_util.tree_leaves(fun(used))))


def _best(library: Any, fun: Any, used: Any) -> float:
    wait, count = library.jx.block_until_ready, 1
    start = time.perf_counter()
    wait(fun(used))
    count = max(3, int(SECONDS / max(time.perf_counter() - start, 1e-6)))
    found = math.inf
    for _ in range(BURSTS):
        start = time.perf_counter()
        for _ in range(count):
            wait(fun(used))
        found = min(found, (time.perf_counter() - start) / count)
    return found


class Worker:
    def __init__(self, python: str, root: str, axis: int):
        command = [python, __file__, "worker", root, str(axis)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def seconds(self, name: str) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def times(ours: Worker, theirs: Worker, name: str, turns: int) -> tuple[float, float] | str:
    """Seconds of both, the best of these turns; a text if one failed."""
    pairs = [(ours.seconds(name), theirs.seconds(name)) for _ in range(turns)]
    failures = [found for pair in pairs for found in pair if isinstance(found, str)]
    return failures[0] if failures else (min(a for a, _ in pairs), min(b for _, b in pairs))


def is_slower(a: float, b: float) -> bool:
    return a > SLOWER * b + UNTOLD


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="files of samples; all, if none is named")
    parser.add_argument("--only", nargs="*", default=[], help="these functions alone")
    parser.add_argument("--along", choices=("first", "last"), default="first", help="where the axis of the copies is")
    parser.add_argument("--peer", required=True, help="a Python that has jax")
    chosen = parser.parse_args()
    from tests.oracle import samples

    functions = [f for f in samples.every() if "float32" in f.dtypes and (not chosen.files or f.file in chosen.files)]
    functions = [f for f in functions if not chosen.only or f.name in chosen.only]
    axis = -1 if chosen.along == "last" else 0
    ours, theirs = Worker(sys.executable, "jitscope", axis), Worker(chosen.peer, "jax", axis)
    ratios: list[float] = []
    slower = 0
    for function in functions:
        found = times(ours, theirs, function.name, 1)
        if not isinstance(found, str) and is_slower(*found):
            found = times(ours, theirs, function.name, 4)
        if isinstance(found, str):
            print(f"    ?  {function.name}: {found}", flush=True)
            continue
        a, b = found
        if max(a, b) > UNTOLD:
            ratios.append(a / b)
        if is_slower(a, b):
            slower += 1
            print(f"{a / b:5.2f}  {function.name}  ({a * 1e6:.0f} and {b * 1e6:.0f} µs)", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / max(len(ratios), 1))
    print(f"{len(functions)} functions, {len(ratios)} of them work, geometric mean {mean:.2f}, {slower} slower")


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(sys.argv[2], int(sys.argv[3]))
    else:
        main()
