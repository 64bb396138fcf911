"""How long the stages of a compilation took, with the rest that is in none of them, and writing each kernel in one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jitscope.xla.profiler import Phase

from ...annotations import CodeWriting, PassStage, PassStageName
from ..timing import quantity
from .running import COMPILING, Pass


_STAGES: tuple[tuple[PassStageName, str, tuple[str, ...]], ...] = (
    ("kernels", "kernels written as LLVM IR", ("ThunkEmitter::EmitEntryComputation", "ThunkEmitter::ConsumeKernels")),
    ("machine code", "LLVM: the kernels optimised and made machine code", ("SplitModule", "Codegen")),
)


def stages_of(phases: Sequence[Phase], passes: Sequence[Pass]) -> list[PassStage]:
    """The stages of compiling one program, one after the other, and what is left over; none where it was not recorded, or where
    two programs were compiled at once."""
    whole = [phase for phase in phases if phase.name in COMPILING]
    if len(whole) != 1 or any(one.seconds is None for one in passes):
        return []
    total = whole[0].seconds
    found: list[tuple[PassStageName, str, float]] = [
        ("passes", "XLA's passes over the program", sum(one.seconds or 0.0 for one in passes))
    ]
    for name, does, parts in _STAGES:
        of_stage = [p.seconds for p in phases if p.name in parts and p.thread == whole[0].thread]
        found.append((name, does, sum(of_stage)))
    rest = total - sum(seconds for _, _, seconds in found)
    found.append(("rest", "in none of these: the schedule, the plan of the memory, loading the code", max(0.0, rest)))
    return [{"name": name, "does": does, "seconds": quantity(seconds, "s")} for name, does, seconds in found]


KERNELS = 100
"""Kernels that a document holds, the dearest first."""
_WRITING = "FusionCompiler::Compile"
_CODEGEN, _PART = "Codegen", "TaskDispatcher::dispatch"


def writing_of(phases: Sequence[Phase], equations: Mapping[str, Sequence[str]]) -> CodeWriting | None:
    """What writing each kernel as LLVM's IR took, and the longest part of LLVM's own work: XLA records of which kernel the first is,
    and not of which the second. `equations` are the paths of each kernel's. None where it records neither, or where two programs were
    compiled at once."""
    if len([phase for phase in phases if phase.name in COMPILING]) != 1:
        return None
    spent: dict[str, float] = {}
    for phase in phases:
        if phase.name == _WRITING and phase.module:
            name = _kernel_of(phase.module)
            spent[name] = spent.get(name, 0.0) + phase.seconds
    if not spent:
        return None
    codegen = [(phase.start, phase.start + phase.seconds) for phase in phases if phase.name == _CODEGEN]
    parts = [  # a task lets its thread go a little after LLVM's work is said to be done
        min(p.start + p.seconds, end) - p.start
        for start, end in codegen
        for p in phases
        if p.name == _PART and start <= p.start <= end
    ]
    return {
        "kernels": [
            {"name": name, "seconds": quantity(seconds, "s"), "paths": list(equations.get(name, ()))}
            for name, seconds in sorted(spent.items(), key=lambda item: -item[1])[:KERNELS]
        ],
        "count": len(spent),
        "total": quantity(sum(spent.values()), "s", note="of all kernels; several are written at once"),
        "parts": len(parts),
        "longest": quantity(max(parts, default=None), "s"),
    }


def _kernel_of(module: str) -> str:
    """The kernel that one of XLA's modules of a single kernel is named after."""
    return module.removesuffix("_kernel_module").removeprefix("__compute_module_")
