"""Loops of a program for another chip are called as the graph calls them; what the chip's compiler gives is stood in for by XLA's for the CPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from jitscope.xla import hlo_module
from jitscope_scope.observe.hlo_origins import computations_before
from jitscope_scope.targets.asking import TargetProgram
from jitscope_scope.targets.document import document_of
from jitscope_scope.targets.names import target_of
from tests.programs import lstm
from tests.programs.rows import row_of


def test_a_loop_is_called_by_the_equation_that_it_stems_from() -> None:
    row = row_of(lstm.program, *lstm.arguments(steps=5))
    lowered = SimpleNamespace(before=lambda: computations_before(row.entry), devices=1, remarks=())
    hlo = hlo_module.text(hlo_module.optimized(row.entry.executable), metadata=True, backend_config=True)
    made = TargetProgram(target_of("h100"), "program", cast(Any, lowered), hlo, [], {}, 1.0, "H100", b"")
    document = document_of(row, made)
    loops = [kernel for kernel in document["kernels"] if kernel["kind"] == "loop"]
    assert [kernel.get("label") for kernel in loops] == ["while of scan × 5"] * 2
    assert document["graph"] is not None
    assert sum(node["label"] == "while of scan × 5" for node in document["graph"]["nodes"]) == 2
