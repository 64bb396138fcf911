"""How much of jax's programs is linked to equations, and what watching costs: `python -m benchmarks.watching_jax`, in an environment
with jax (`make test-jax` makes one). Costs are ratios of CPU time in one process, taken in turns; docs/watching-jax.md has them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from jitscope.xla import hlo_module
from jitscope_scope import jaxwatch, observe
from jitscope_scope.observe.hlo_flow import flow_of
from jitscope_scope.observe.hlo_origins import with_origins
from tests.jaxwatch.programs import PROGRAMS, transformer


jax: Any = import_module("jax")


def lineage(program: Callable[[], Any]) -> tuple[int, ...]:
    """Equations, operations of the optimised programs, and of these: with one equation by name, with several, found from what is
    round them, with none."""
    jax.clear_caches()
    mark = observe.ledger().mark()
    program()
    counts = [0] * 6
    for row in observe.ledger().since(mark):
        if row.entry is None:
            continue
        after = flow_of(hlo_module.computations(hlo_module.optimized(row.entry.executable)), optimized=True)
        before = flow_of(hlo_module.computations(hlo_module.unoptimized(row.entry.lowered)), optimized=False)
        counts[0] += row.equations
        for op in with_origins(before, after).ops:
            if op.is_operation:
                counts[1] += 1
                kind = 5 if not op.paths else 4 if op.is_nameless else 2 if len(op.paths) == 1 else 3
                counts[kind] += 1
    return tuple(counts)


def compiled(program: Callable[[], Any]) -> float:
    jax.clear_caches()
    start = time.process_time()
    program()
    return time.process_time() - start


def per_compilation(rounds: int = 9) -> tuple[float, float]:
    """CPU time of a program's making watched and not; the watcher's own part."""
    ratios, parts = [], []
    compiled(transformer)
    for _ in range(rounds):
        jaxwatch.detach()
        alone = compiled(transformer)
        watcher = jaxwatch.attach()
        watched = compiled(transformer)
        ratios.append(watched / alone)
        parts.append(watcher.spent / watched)
    return statistics.median(ratios), statistics.median(parts)


def per_call(rounds: int = 9, calls: int = 20_000) -> tuple[float, float]:
    """CPU time of a call that jax answers from its caches, watched and not; and with its calls counted."""
    f, x = jax.jit(lambda v: v * 2), jax.numpy.ones(4)
    f(x)

    def burst() -> float:
        start = time.process_time()
        for _ in range(calls):
            f(x)
        return time.process_time() - start

    watched, counted = [], []
    for _ in range(rounds):
        jaxwatch.detach()
        alone = burst()
        jaxwatch.attach()
        watched.append(burst() / alone)
        counting = jaxwatch.Calls()
        counting.begin()
        counted.append(burst() / alone)
        counting.end()
    return statistics.median(watched), statistics.median(counted)


if __name__ == "__main__":
    jaxwatch.attach()
    print("| program | equations | operations | one equation | several | by what is round it | none |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    total = [0] * 6
    for program in PROGRAMS:
        counts = lineage(program)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        print(f"| {program.__name__} | {' | '.join(f'{n:,}' for n in counts)} |")
    print(f"| all | {' | '.join(f'{n:,}' for n in total)} |")
    print("per compilation: {:.3f}, of it the watcher's own {:.3f}".format(*per_compilation()))
    print("per call: {:.3f}, counted {:.3f}".format(*per_call()))
