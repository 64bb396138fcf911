"""Measured times of single kernels of a compiled function, as plain records."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..backend.dispatch import JitFunction
from ..control.callbacks import calls_python
from ..xla import client, hlo_module, profiler
from ..xla.hlo_module import Computation, Instruction
from .hlo_flow import Flow, flow_of, kernel_of, unique
from .positions import scopes_of


@dataclasses.dataclass(frozen=True)
class KernelTime:
    """What one kernel took, measured by XLA's profiler.

    `kernel` is the instruction of the optimised HLO, `runs` how often it ran in one call (more than once in a loop); `median`,
    `low` and `high` (10th and 90th percentile) are seconds of a single run, `total` seconds of all its runs in a call (the
    mean over calls), `share` that of the time of all kernels that are not loops (of a loop NaN: its `total` includes the
    kernels in it; a small loop that XLA runs in one piece, whose kernels are not recorded, counts as a kernel). `paths` are those of the equations it computes (`e2/e0`), `scopes` the
    named scopes these were written in (`layer/attention`).
    """

    kernel: str
    opcode: str
    runs: float
    median: float
    low: float
    high: float
    total: float
    share: float
    paths: tuple[str, ...]
    scopes: tuple[str, ...] = ()


def kernel_times(function: Any, *args: Any, calls: int = 20, **kwargs: Any) -> list[KernelTime]:
    """Times of the kernels of a jitted function for these arguments, slowest first. It is called `calls` times for that.

    Recording costs some 0.2 µs for each kernel, so very small ones look slower than they are. Raises TypeError for a function
    that is not jitted, ValueError for one with effects (callbacks) or that takes over its arguments' memory: it would run
    again and again.
    """
    if not isinstance(function, JitFunction):
        raise TypeError(
            f"kernel_times takes a jitted function: kernel_times(jit({getattr(function, '__name__', 'f')}), …)"
        )
    stage = function.trace(*args, **kwargs)
    python = calls_python(stage.jaxpr.jaxpr)
    if stage.jaxpr.effects or python or stage.donate_argnums:
        effects = "calls Python functions" if python else "has effects" if stage.jaxpr.effects else ""
        what = effects or "takes over the memory of its arguments"
        raise ValueError(f"{stage.fun_name} {what}: it is not run again to be measured")
    compiled = stage.lower().compile()

    def work(times: int = calls) -> None:
        for _ in range(times):
            leaves = tree.leaves(compiled(*args, **kwargs))
            client.block_until_ready([x.buf for x in leaves])

    work(1)
    events = profiler.record(work)
    computations = hlo_module.computations(hlo_module.optimized(compiled.runtime_executable()))
    found = _summaries(events, calls, computations, _paths(flow_of(computations, optimized=True)))
    scopes = scopes_of(stage.jaxpr.jaxpr)
    return [dataclasses.replace(k, scopes=unique([scopes[p] for p in k.paths if scopes.get(p)])) for k in found]


def shares_of(events: Sequence[profiler.Event], computations: Sequence[Computation]) -> dict[str, float]:
    """The share of each kernel of a program in the time of all that are no loops, from what the profiler recorded. Of a loop, or a
    call of one, whose kernels it did not record, the share of the whole."""
    found = {k.kernel: k.share for k in _summaries(events, 1, computations, {})}
    return {name: share for name, share in found.items() if share == share}


def _paths(flow: Flow) -> dict[str, tuple[str, ...]]:
    """The equations that each kernel computes."""
    ops = {op.id: op for op in flow.ops}
    found: dict[str, list[str]] = {}
    for op in flow.ops:
        kernel = kernel_of(op, ops) or op.id
        found.setdefault(kernel, []).extend(op.paths)
    return {kernel: unique(paths) for kernel, paths in found.items()}


def _summaries(
    events: Sequence[profiler.Event],
    calls: int,
    computations: Sequence[Computation],
    paths: dict[str, tuple[str, ...]],
) -> list[KernelTime]:
    """One record for each instruction of the program; events of other programs, that ran meanwhile, are left out."""
    opcodes = {i.name: i.opcode for c in computations for i in c.instructions}
    runs: dict[str, list[float]] = {}
    for event in events:
        if event.instruction in opcodes:
            runs.setdefault(event.instruction, []).append(event.seconds)
    split = _split(computations, runs)
    alone = sum(sum(t) for name, t in runs.items() if name not in split)
    found = [
        _summary(name, np.asarray(times), calls, opcodes[name], None if name in split else alone, paths.get(name, ()))
        for name, times in runs.items()
    ]
    return sorted(found, key=lambda k: -k.total)


_HOLDS = ("while", "conditional", "call")


def _split(computations: Sequence[Computation], recorded: Container[str]) -> set[str]:
    """The loops, branches and calls in which something was recorded."""
    inside: dict[str, bool] = {}
    by_name, found = {c.name: c for c in computations}, set()

    def holds(name: str) -> bool:
        if name not in inside:
            inside[name] = False
            each = [of(i) or i.name in recorded for i in by_name[name].instructions]
            inside[name] = any(each)
        return inside[name]

    def of(i: Instruction) -> bool:
        if i.opcode not in _HOLDS or not any(holds(name) for name in i.calls):
            return False
        found.add(i.name)
        return True

    for computation in computations:
        holds(computation.name)
    return found


def _summary(
    name: str, times: np.ndarray, calls: int, opcode: str, alone: float | None, paths: tuple[str, ...]
) -> KernelTime:
    low, median, high = np.percentile(times, (10, 50, 90))
    share = float("nan") if alone is None else float(times.sum() / alone)
    return KernelTime(
        name,
        opcode,
        len(times) / calls,
        float(median),
        float(low),
        float(high),
        float(times.sum() / calls),
        share,
        paths,
    )
