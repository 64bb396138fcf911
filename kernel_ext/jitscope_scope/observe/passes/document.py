"""The document of a program's passes: what ran, what each pass changed, and what became of the equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast, get_args

from jitscope.core import words
from jitscope.xla import hlo_module, progress
from jitscope.xla.dumps import CompilationDump

from ...annotations import ChangeCounts, Fate as FateDocument, PassesDocument, PassRow, PassRun, PassState, Position
from ..hlo import shortened
from ..timing import quantity
from .changes import Change, Kind, Tally, changes_between, tally
from .fates import Fate, fates_of
from .phases import stages_of, writing_of
from .pictures import picture
from .running import Pass, run_of
from .states import State, shown, states_of
from .words import of_pass


ROWS = 400
"""Changed instructions of one pass that a document holds; how many more there are stands beside them."""


def passes_document(
    told: CompilationDump, title: str, positions: Mapping[str, Position], rows: int | None = ROWS
) -> PassesDocument:
    """The passes document of a program, from what compiling it again told. `positions` gives the source position of each
    equation's path; `rows` are the changed instructions kept of each pass (None: all). Raises ValueError where XLA wrote down no
    state of the program."""
    progress.step("reading what the passes left")
    before, passes = run_of(told)
    left = [one for one in passes if one.texts]
    states = list(states_of([before, *(one.texts[-1] for one in left)]))
    between: list[list[Change]] = []
    for old, new in pairwise(states):
        progress.step(f"reading pass {len(between) + 1} of the {len(states) - 1} that left something")
        between.append(list(changes_between(old, new)))
    progress.step("following the equations through the passes")
    kept = [0, *(number for number, found in enumerate(between, 1) if any(change.computes for change in found))]
    of_state = {number: place for place, number in enumerate(kept)}
    numbers = {id(one): number for number, one in enumerate(left, 1)}
    fates = fates_of([states[n] for n in kept], [between[n - 1] for n in kept[1:]])
    told_states: list[PassState] = []
    for n in kept:
        progress.step(f"comparing state {len(told_states) + 1} of {len(kept)}")
        told_states.append(_state(states[n], states[n - 1] if n else None, between[n - 1] if n else (), rows))
    paths = {path for state in told_states for row in state["rows"] for path in row["paths"]}
    paths.update(
        path for state in told_states if state["graph"] for node in state["graph"]["nodes"] for path in node["paths"]
    )
    writing = writing_of(told.phases, _equations(states[-1]))
    paths.update(path for kernel in (writing["kernels"] if writing else ()) for path in kernel["paths"])
    document: PassesDocument = {
        "kind": "passes",
        "version": 1,
        "title": title,
        "stages": stages_of(told.phases, passes),
        "passes": [_pass(one, of_state.get(numbers.get(id(one), -1))) for one in passes],
        "states": told_states,
        "fates": [_fate(one) for one in fates],
        "positions": {
            path: positions[path] for path in sorted(paths | {fate.path for fate in fates}) if path in positions
        },
        "cost": quantity(
            told.seconds, "s", note="compiled twice more: for the times of the passes, and for what they wrote"
        ),
    }
    if writing:
        document["writing"] = writing
    if (inlined := states[0].operations(inlined=True)) != told_states[0]["operations"]:
        document["inlined"] = inlined
    return document


def _equations(state: State) -> dict[str, list[str]]:
    """The paths of the equations in each kernel of a program."""
    found: dict[str, dict[str, None]] = {}
    for computation, i in state.computing():
        kernel = state.fused.get(computation.name, i.name)
        found.setdefault(kernel, {}).update(dict.fromkeys(state.paths(computation.name, i)))
    return {kernel: list(paths) for kernel, paths in found.items()}


def _pass(one: Pass, state: int | None) -> PassRun:
    return {
        "name": one.name,
        "does": of_pass(one.name),
        "pipelines": list(one.pipelines),
        "round": one.round,
        "rounds": one.rounds,
        "seconds": quantity(one.seconds, "s"),
        "state": state,
    }


def _state(state: State, before: State | None, changes: Sequence[Change], rows: int | None) -> PassState:
    counted = tally(changes, before or state, state)
    told = sorted((change for change in changes if change.computes), key=lambda change: change.kind == "rewired")
    shown_rows = told if rows is None else told[:rows]
    shown_paths = {path for change in shown_rows for path in change.paths}
    graph, left_out = picture(before, state, told) if before is not None else (None, 0)
    cost = hlo_module.cost_analysis(hlo_module.from_text(state.text))
    note = "XLA's estimate; the body of a loop counts once"
    return {
        "operations": state.operations(),
        "kernels": state.kernels(),
        "flops": quantity(cost.get("flops"), "flop", "modelled", note),
        "bytes": quantity(cost.get("bytes accessed"), "B", "modelled", note),
        "counts": cast("ChangeCounts", {kind: counted.of.get(kind, 0) for kind in get_args(Kind)}),
        "sentence": _sentence(counted),
        "rows": [_row(change) for change in shown_rows],
        "left_out": len(told) - len(shown_rows),
        "also": sorted({path for change in told[len(shown_rows) :] for path in change.paths} - shown_paths),
        "graph": graph,
        "graph_left_out": left_out,
    }


_SAID: dict[Kind, str] = {"rewired": "given other operands"}
"""How a kind of change is told that is not told by its name."""


def _sentence(counted: Tally) -> str:
    """`3 operations added, 12 fused, 1 copied into another kernel; 2 fusions made`"""
    parts = [f"{counted.of[kind]:,} {_SAID.get(kind, kind)}" for kind in get_args(Kind) if counted.of.get(kind)]
    parts += [f"{counted.copied:,} copied into another kernel"] if counted.copied else []
    if parts:
        number, _, rest = parts[0].partition(" ")
        parts[0] = f"{number} operation{'' if number == '1' else 's'} {rest}"
    count = abs(counted.fusions)
    fusions = f"{words.counted(count, 'fusion')} {'made' if counted.fusions > 0 else 'dissolved'}" if count else ""
    holders = [f"{words.counted(n, noun)} {_SAID.get(kind, kind)}" for (noun, kind), n in counted.holders.items()]
    return "; ".join(filter(None, (", ".join(parts), fusions, ", ".join(holders))))


def _row(change: Change) -> PassRow:
    return {
        "kind": change.kind,
        "before": shortened(shown(change.before)) if change.before is not None else None,
        "after": shortened(shown(change.after)) if change.after is not None else None,
        "from": change.where_before,
        "to": change.where_after,
        "opcode": change.one.opcode,
        "paths": list(change.paths),
    }


def _fate(fate: Fate) -> FateDocument:
    return {"path": fate.path, "state": fate.state, "what": fate.what, "into": list(fate.into)}
