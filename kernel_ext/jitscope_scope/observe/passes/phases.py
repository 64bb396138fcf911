"""How long the stages of a compilation took, with the rest that is in none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jitscope.xla.profiler import Phase

from ..timing import quantity
from .running import COMPILING, Pass


if TYPE_CHECKING:
    from jitscope_widgets.documents.passes import PassStage, PassStageName


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
