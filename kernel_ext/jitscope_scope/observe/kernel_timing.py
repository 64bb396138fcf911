"""Measured times of single kernels of a compiled function, as plain records."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jitscope import tree
from jitscope.backend.dispatch import JitFunction
from jitscope.control.callbacks import calls_python
from jitscope.xla import client, hlo_module, profiler

from .hlo_flow import Flow, flow_of, scopes_around, unique
from .positions import scopes_of
from .profiling.spans import Span, recording_of


@dataclasses.dataclass(frozen=True)
class KernelTime:
    """What one kernel took, measured by XLA's profiler.

    `kernel` is the instruction of the optimised HLO, `runs` how often it ran in one call (more than once in a loop); `median`,
    `low` and `high` (10th and 90th percentile) are seconds of a single run, `total` seconds of all its runs in a call (the
    median of the calls), `share` that of the time of all kernels that are not loops (of a loop NaN: its `total` includes the
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

    def run(_: None) -> None:
        client.block_until_ready([x.buf for x in tree.leaves(compiled(*args, **kwargs))])

    run(None)
    runs = profiler.record_runs(lambda: None, run, calls)
    computations = hlo_module.computations(hlo_module.optimized(compiled.runtime_executable()))
    paths, scopes = _paths(flow_of(computations, optimized=True)), scopes_of(stage.jaxpr.jaxpr)
    recording = recording_of(runs, computations)
    shares = recording.shares()
    found = [_summary(span, shares.get(span.name, float("nan")), paths.get(span.name, ())) for span in recording.spans]
    found = [dataclasses.replace(k, scopes=unique([scopes[p] for p in k.paths if scopes.get(p)])) for k in found]
    return sorted(found, key=lambda k: -k.total)


def _paths(flow: Flow) -> dict[str, tuple[str, ...]]:
    """The equations that each kernel computes; of a call, which is run in one piece, those of all that is in it."""
    found: dict[str, list[str]] = {}
    ops = {op.id: op for op in flow.ops}
    for op in flow.ops:
        calls = [outer.id for outer in scopes_around(op, ops) if outer.opcode == "call"]
        for kernel in (op.kernel or op.id, *calls):
            found.setdefault(kernel, []).extend(op.paths)
    return {kernel: unique(paths) for kernel, paths in found.items()}


def _summary(span: Span, share: float, paths: tuple[str, ...]) -> KernelTime:
    low, median, high = map(float, np.percentile(span.seconds, (10, 50, 90)))
    return KernelTime(span.name, span.opcode, span.runs, median, low, high, span.total, share, paths)
