"""The comparison document."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from jitscope.xla import hlo_module

from ...annotations import (
    ComparedChange,
    ComparedEquation,
    ComparedEquations,
    ComparedKernel,
    ComparedKernels,
    ComparedSide,
    ComparisonDocument,
)
from ..cost import work_of
from ..positions import positions_of
from ..timing import quantity
from .aligning import aligned, changed, equation_text, equations_of, kernels_of, loose_key, matched
from .joint import JointGraph, joint_of
from .pairing import METHOD, Pairs, paired
from .results import apart
from .sides import Side


Compared = TypeVar("Compared", "ComparedChange", "ComparedEquation", "ComparedKernel")
_MOST = 60
"""Different equations and kernels of one side that are listed."""


def comparison_of(one: Side, other: Side, *, limit: float = 2.0) -> ComparisonDocument:
    """Two programs against each other: which is faster (they run in pairs for about `limit` seconds), what they have in common, what
    they cost, how far their results are apart. Raises what running them raises."""
    start = time.perf_counter()
    if one.title == other.title:
        one, other = replace(one, title=f"{one.title} (first)"), replace(other, title=f"{other.title} (second)")
    away = apart(one, other)
    pairs = paired(one.rerun.timed, other.rerun.timed, limit)
    low, ratio, high = pairs.interval
    equations, joint = _equations(one, other)
    return {
        "kind": "comparison",
        "version": 1,
        "title": f"{one.title} and {other.title}",
        "a": _side(one, pairs.one, pairs),
        "b": _side(other, pairs.other, pairs),
        "ratio": ratio,
        "low": low,
        "high": high,
        "pairs": len(pairs.one),
        "method": METHOD,
        "verdict": "slower" if low > 1 else "faster" if high < 1 else "no difference found",
        "equations": equations,
        "joint": {
            "graph": joint.graph,
            "left_out": joint.left_out,
            "sources": {"a": joint.sources[0], "b": joint.sources[1]},
        },
        "kernels": _kernels(one, other),
        "results": {
            "absolute": quantity(away.absolute, "", note=away.why or "the largest difference of two elements"),
            "relative": quantity(
                away.relative, "", note=away.why or "the largest, relative to the larger of the two elements"
            ),
            "where": away.where,
            "equal": away.equal,
            "why": away.why,
        },
        "cost": quantity(time.perf_counter() - start, "s", note="wall time of this comparison"),
    }


def _side(side: Side, seconds: np.ndarray, pairs: Pairs) -> ComparedSide:
    module = hlo_module.optimized(side.executable)
    work = work_of(module)
    stats = side.executable.memory_stats()
    reserved = stats["argument"] + stats["output"] + stats["temp"] - stats["alias"]
    return {
        "title": side.title,
        "on": side.rerun.on,
        "donated": side.donated,
        "wall": quantity(
            float(np.median(seconds)), "s", note=f"median of {len(pairs.one)} runs, in pairs with the other"
        ),
        "compile": quantity(side.compile_seconds, "s", note=side.compile_note),
        "memory": quantity(float(reserved), "B", "modelled", "arguments, results and temporaries that XLA reserves"),
        "flops": quantity(work.flops, "flop", "modelled", work.why),
        "bytes": quantity(work.bytes, "B", "modelled", work.why),
    }


def _equations(one: Side, other: Side) -> tuple[ComparedEquations, JointGraph]:
    """What is said of the equations, and the graph in which they stand."""
    both = [equations_of(side.jaxpr) for side in (one, other)]
    found = aligned(*([key for _, _, key in each] for each in both))
    mine, theirs = ([loose_key(eqn) for _, eqn, _ in each] for each in both)
    other_than = changed(mine, theirs, found)

    def listed(side: Side, equations: list[Any], only: list[int]) -> list[ComparedEquation]:
        positions = positions_of(side.jaxpr, side.row.cell_of)
        shown = (equations[at] for at in only)
        alone: Iterator[ComparedEquation] = (
            {"text": equation_text(eqn), "position": positions.get(path)} for path, eqn, _ in shown
        )
        return _folded(alone)

    def paths(pairs: Iterable[tuple[int, int]]) -> list[tuple[str, str]]:
        return [(both[0][i][0], both[1][j][0]) for i, j in pairs]

    joint = joint_of(one, other, paths(found.pairs), paths(other_than.pairs))
    places, positions = (positions_of(side.jaxpr, side.row.cell_of) for side in (one, other))
    changes: Iterator[ComparedChange] = (
        {
            "before": equation_text(both[0][i][1]),
            "after": equation_text(both[1][j][1]),
            "position": positions.get(both[1][j][0]),
            "before_position": places.get(both[0][i][0]),
        }
        for i, j in other_than.pairs
    )
    return {
        "common": len(found.pairs),
        "rewired": joint.rewired,
        "changes": len(other_than.pairs),
        "changed": _folded(changes),
        "a": listed(one, both[0], other_than.only_one),
        "b": listed(other, both[1], other_than.only_other),
        "only_a": len(other_than.only_one),
        "only_b": len(other_than.only_other),
    }, joint


def _kernels(one: Side, other: Side) -> ComparedKernels:
    both = [
        kernels_of(
            hlo_module.computations(hlo_module.optimized(side.executable)), positions_of(side.jaxpr, side.row.cell_of)
        )
        for side in (one, other)
    ]
    found = matched(*([key for _, key in each] for each in both))

    alone = [
        [kernels[at][0] for at in only] for kernels, only in zip(both, (found.only_one, found.only_other), strict=True)
    ]
    alike = frozenset.intersection(*(frozenset(map(_said, kernels)) for kernels in alone))

    def told(kernel: ComparedKernel) -> ComparedKernel:
        details = kernel.get("details", "")
        return {**kernel, "details": f"{details}; {_OTHERWISE}"} if _said(kernel) in alike else kernel

    return {
        "common": len(found.pairs),
        "a": _folded(map(told, alone[0])),
        "b": _folded(map(told, alone[1])),
        "only_a": len(found.only_one),
        "only_b": len(found.only_other),
    }


_OTHERWISE = "the other has one of the same operations, with other numbers or put together otherwise"


def _said(kernel: ComparedKernel) -> tuple[Any, ...]:
    """What is said of a kernel besides where it stems from."""
    return kernel["kind"], kernel["opcode"], kernel["operations"], kernel["type"], kernel.get("details")


def _folded(found: Iterable[Compared]) -> list[Compared]:
    """Equations or kernels of one program alone, the first `_MOST` different ones; those of which the same is said stand once, with
    how many `times` they are there."""
    folded: dict[str, Compared] = {}
    for one in found:
        key = repr({name: value for name, value in one.items() if name != "name"})
        known = folded.setdefault(key, cast("Compared", {**one, "times": 0}))
        known["times"] = known.get("times", 0) + 1
    return list(folded.values())[:_MOST]
