"""XLA's passes over a program: what each of them changed, and what became of each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import words
from ..documents.annotations import Fate, PassesDocument, PassRow, PassRun, PassState, Position, Quantity
from ..escapes import clean
from ..looks import CHANGES
from ..quantities import amount, origin, seconds, show
from ..sentences import TABLES
from ..view import inline
from ..view.parts import (
    Axis,
    Beside,
    Chart,
    Code,
    CodeLine,
    Column,
    Graph,
    Inline,
    Part,
    Ref,
    Row,
    Section,
    Sentence,
    Series,
    Step,
    Steps,
    Table,
    Text,
)
from ..words import plural
from .compiling import compiling


NAME = "XLA's passes"
_CHART = "operations and kernels"
_BECAME = {
    "fused": "fused",
    "library": "handed to a library",
    "merged": "merged with equal ones",
    "gone": "removed or rewritten",
}
_ALONE = "fusion-wrapper"
"""The pass that makes a kernel of each operation which stands alone."""
_NAMED = 4
"""Passes that changed nothing which text names."""
_ROWS = 1000
"""Lines of what a pass changed in static HTML; text has fewer."""


def view(document: PassesDocument) -> Iterator[Part]:
    """The parts of a document of passes."""
    yield Sentence(headline(document), "headline")
    if document["stages"]:
        yield Sentence(tuple(_stages(document)))
    yield from compiling(document)
    yield Sentence(", ".join(map(" ".join, TABLES["changes"].values())), "note")
    if states := document["states"]:
        yield _chart(document, states)
        yield Section("Bytes moved and arithmetic", (Beside(tuple(_curves(states))),), opened=False)
    steps = tuple(_steps(document))
    first = next((at for at, step in enumerate(steps) if step.at), 0)
    yield Steps("Passes that ran", steps, beside=True, at=first, axis=_CHART)
    if document["fates"]:
        yield _fates(document)
    yield Sentence(words.cost(document["cost"]), "note")


# --- all passes -----------------------------------------------------------------------------------------------------------


def headline(document: PassesDocument) -> str:
    """`142 passes ran in 22 ms, 16 of them changed the program: 129 operations → 73 kernels`"""
    changed = sum(one["state"] is not None for one in document["passes"])
    spent = _total(one["seconds"] for one in document["passes"])
    took = f" in {seconds(spent)}" if spent is not None else ""
    head = f"{plural(len(document['passes']), 'pass')} ran{took}, {changed} of them changed the program"
    if not document["states"]:
        return head
    first, last = document["states"][0], document["states"][-1]
    written = f" ({first['operations']:,} as written, each function once)" if "inlined" in document else ""
    count = document.get("inlined", first["operations"])
    return f"{head}: {plural(count, 'operation')}{written} → {plural(last['kernels'], 'kernel')}"


def _total(quantities: Iterable[Quantity]) -> float | None:
    """The sum of quantities, None where one of them is not known."""
    found = [amount(quantity) for quantity in quantities]
    return None if None in found else sum(value for value in found if value is not None)


def _stages(document: PassesDocument) -> Iterator[Inline]:
    """`Compiling once more took 1.7 s: passes 22 ms, kernels 362 ms, …`"""
    for at, stage in enumerate(document["stages"]):
        whole = _total(one["seconds"] for one in document["stages"])
        took = f" {seconds(whole)}" if whole is not None else ""
        yield ", " if at else f"Compiling once more took{took}: "
        yield Text(f"{stage['name']} {show(stage['seconds'])}", title=f"{stage['does']}; {origin(stage['seconds'])}")
    yield "."


def _chart(document: PassesDocument, states: Sequence[PassState]) -> Chart:
    across = tuple(map(float, range(len(states))))
    kernels = tuple(float(min(state["kernels"], state["operations"])) for state in states)
    others = tuple(state["operations"] - own for state, own in zip(states, kernels))
    most = max(state["operations"] for state in states) or 1
    names = _names(document)
    told = tuple(f"{names[at]}: {_facts(state)}" for at, state in enumerate(states))
    return Chart(
        _CHART,
        f"Operations before and after each pass, and the kernels that they would run as: {told[0]}; {told[-1]}.",
        Axis("program", 0, len(states)),
        Axis("operations", 0, most),
        (
            Series("kernels", "area", across, kernels, tone="result", title="kernels that they would run as"),
            Series("operations", "area", across, others, tone="constant", title="further operations"),
        ),
        steps="state",
        told=told,
        small=True,
    )


def _curves(states: Sequence[PassState]) -> Iterator[Section]:
    for name, quantities in (
        ("bytes moved", [one["bytes"] for one in states]),
        ("arithmetic", [one["flops"] for one in states]),
    ):
        known = [(float(at), value) for at, one in enumerate(quantities) if (value := amount(one)) is not None]
        if known:
            across, up = zip(*known)
            how = f" ({clean(note)})" if (note := quantities[0]["note"]) else ""
            said = f"{show(quantities[0])} before the passes, {show(quantities[-1])} after them{how}"
            axes = Axis("states of the program", 0, len(states)), Axis(name, 0, max(up) or 1, quantities[0]["unit"])
            yield Section(
                name,
                (Chart(name, said, *axes, (Series(name, "bars", across, up),), steps="state", small=True),),
                note=said,
            )


def _facts(state: PassState) -> str:
    sizes = f"{show(state['flops'])}, {show(state['bytes'])} moved"
    return f"{plural(state['operations'], 'operation')} in {plural(state['kernels'], 'kernel')}, {sizes}"


def _names(document: PassesDocument) -> dict[int, str]:
    """What led to each state."""
    return {0: "before the passes"} | {
        one["state"]: _name(one) for one in document["passes"] if one["state"] is not None
    }


def _name(one: PassRun) -> str:
    """`algsimp`, or `algsimp, round 2 of 8`"""
    name = clean(one["name"])
    return name if one["rounds"] < 2 else f"{name}, round {one['round']} of {one['rounds']}"


# --- one pass -------------------------------------------------------------------------------------------------------------


def _steps(document: PassesDocument) -> Iterator[Step]:
    """The passes in order, those in a row that changed nothing together."""
    here = words.only_home(document["positions"].values())
    states = dict(enumerate(document["states"]))
    if states:
        yield Step("before the passes", (Sentence(f"The program as it was lowered has {_facts(states[0])}."),), at=0.0)
    waiting: list[PassRun] = []
    for one in document["passes"]:
        state = states.get(-1 if one["state"] is None else one["state"])
        if state is None:
            waiting.append(one)
            continue
        yield from _idle(waiting)
        waiting = []
        paths = {path for row in state["rows"] for path in row["paths"]} | {*state["also"]}
        parts = tuple(_changed(document, one, state, here))
        yield Step(_name(one), parts, show(one["seconds"]), ref=Ref(tuple(sorted(paths))), at=one["state"])
    yield from _idle(waiting)


def _idle(passes: Sequence[PassRun]) -> Iterator[Step]:
    if passes:
        title = f"{plural(len(passes), 'pass')} changed nothing"
        rows = tuple(Row((_name(one), show(one["seconds"]), clean(one["does"]))) for one in passes)
        more = f" and {len(passes) - _NAMED:,} more" if len(passes) > _NAMED else ""
        named = f"{', '.join(map(_name, passes[:_NAMED]))}{more}"
        columns = (Column("pass", "code"), Column("took", "short"), Column("does"))
        yield Step(title, (Table("Passes that changed nothing", columns, rows, drawing=(named,)),), depth=1)


def _changed(document: PassesDocument, one: PassRun, state: PassState, here: str) -> Iterator[Part]:
    yield Sentence(Text(f"{clean(state['sentence'])}.", "strong"))
    if one["does"]:
        yield Sentence(f"{clean(one['name'])} {clean(one['does'])}.")
    within = f" It is part of {' › '.join(map(clean, one['pipelines']))}." if one["pipelines"] else ""
    yield Sentence(f"After it: {_facts(state)}.{within}", "note", origin(state["flops"]))
    if state["graph"] and state["graph"]["nodes"]:
        yield _graph(_name(one), state)
    lines = tuple(line for row in state["rows"] for line in _lines(row, document["positions"], here))
    if lines or state["left_out"]:
        name = f"What {_name(one)} changed"
        yield Code(name, lines, "hlo", first=_ROWS, told=16)
    if state["left_out"]:
        yield Sentence(f"{plural(state['left_out'], 'more change')} of this pass not kept in this document.", "note")


def _graph(name: str, state: PassState) -> Graph:
    graph: Mapping[str, Any] = state["graph"] or {}
    kinds = {node["mark"] for node in graph["nodes"] if "mark" in node}
    legend: tuple[tuple[str, str], ...] = tuple(
        (kind, f"{sign} {word}") for kind, (sign, word) in TABLES["changes"].items() if kind in kinds
    )
    notes = ["without a sign: unchanged, next to it"]
    if any(edge.get("gone") for edge in graph["edges"]):
        notes.append("dashed lines: how values flowed before")
    if state["graph_left_out"]:
        notes.append(f"{plural(state['graph_left_out'], 'more change')}: in the lines below only")
    return Graph(f"What {name} changed, drawn", graph, 380, legend=legend, notes=tuple(notes), selects=True)


def _lines(row: PassRow, positions: Mapping[str, Position], here: str) -> Iterator[CodeLine]:
    """The lines that show a change, the last with where it went and the lines of the source that it stems from."""
    kind, sign = row["kind"], (CHANGES[row["kind"]], TABLES["changes"][row["kind"]][1])
    found = [positions[path] for path in row["paths"] if path in positions]
    went = f"{clean(row['from'])} → {clean(row['to'])}" if kind in ("fused", "moved") else ""
    note = " · ".join(filter(None, (went, words.lines(found, here))))
    ref = Ref(tuple(row["paths"]), position=found[0] if found else None)
    before, after = row["before"], row["after"]
    if before is not None and after is not None and kind in ("changed", "rewired"):
        yield CodeLine(clean(before), mark="removed", ref=ref)
        yield CodeLine(clean(after), note=note, mark="added", ref=ref, sign=sign)
    else:
        mark = kind if kind in ("removed", "added") else ""
        yield CodeLine(
            clean(after if after is not None else before or ""),
            note=note,
            mark=mark,
            ref=ref,
            sign=None if mark else sign,
        )


# --- what became of lines -------------------------------------------------------------------------------------------------


def _became(what: str, name: str, count: int) -> str:
    """`fused by fusion`, `made a kernel of its own by fusion-wrapper`"""
    if what == "fused" and name.partition(",")[0] == _ALONE:
        return (
            f"{'made a kernel' if count == 1 else 'made kernels'} of {'its' if count == 1 else 'their'} own by {name}"
        )
    return f"{_BECAME[what]} by {name or 'a pass'}"


def _fates_told(counts: Mapping[tuple[int, str], int], names: Mapping[int, str]) -> str:
    """`4 equations fused by fusion`; `7 equations: 3 handed to a library by dot-library-rewriter, 4 fused by fusion`"""
    told = [(count, _became(what, names.get(state, ""), count)) for (state, what), count in sorted(counts.items())]
    whole = plural(sum(counts.values()), "equation")
    if len(told) == 1:
        return f"{whole} {told[0][1]}"
    return f"{whole}: {', '.join(f'{count:,} {became}' for count, became in told)}"


def _fates(document: PassesDocument) -> Table:
    positions = document["positions"]
    here, names = words.only_home(positions.values()), _names(document)
    paths: dict[str, list[str]] = {}
    for path, position in positions.items():
        paths.setdefault(words.lines([position], here), []).append(path)
    fates: dict[str, list[Fate]] = {}
    for fate in document["fates"]:
        if position := positions.get(fate["path"]):
            fates.setdefault(words.lines([position], here), []).append(fate)
    rows = []
    for line, own in fates.items():
        position = positions[own[0]["path"]]
        counts = Counter((fate["state"], fate["what"]) for fate in own)
        most, _ = max(counts, key=lambda one: (counts[one], -one[0]))
        ref = Ref(tuple(paths[line]), step=(_CHART, most))
        rows.append(
            (position["file"], position["line"], Row((inline.place(position, here), _fates_told(counts, names)), ref))
        )
    files = list(dict.fromkeys(file for file, *_ in rows))
    rows.sort(key=lambda row: (files.index(row[0]), row[1]))
    columns = (Column("line"), Column("became"))
    return Table("What became of each line", columns, tuple(row for *_, row in rows))
