"""A report as plain data: the document `nan-hunt` (see docs/documents.md)."""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from jitscope.backend.hunt import Finding, Iteration, Step
from jitscope.backend.hunt.finding import elements_of
from jitscope.core import dtypes, source
from jitscope.core.jaxpr import count
from jitscope.core.source import Position

from ...annotations import Fix, HuntGraph, HuntInfinity, HuntStep, NanHuntDocument, NodeMark, Numbers, Transform
from ...observe.fixes import fix_document
from ...observe.graph import jaxpr_graph, nodes_by_path
from ...observe.positions import CellOf, no_cell, position_document, positions_of, sendable
from . import causes
from .by_parts import PartsReport
from .report import Report
from .rewriting import CheckedFix


MOST_EQUATIONS = 1_000
"""Equations, at all levels, of a program whose graph is shown."""
MOST_STEPS = 40
"""Equations of the way to the result that are told; of more, the first and the last."""


def hunt_document(
    report: Report | PartsReport, cell_of: CellOf = no_cell, since: float | None = None
) -> NanHuntDocument:
    """The document of a report; it has no array in it. `since`: when what led to it began, by `time.perf_counter`."""
    begun = time.perf_counter() - report.hunt.seconds if since is None else since
    finding = report.finding
    steps = list(finding.steps) if finding else []
    left_out = max(0, len(steps) - MOST_STEPS)
    if left_out:
        steps = steps[: MOST_STEPS // 2] + steps[-MOST_STEPS // 2 :]
    return {
        "kind": "nan-hunt",
        "version": 1,
        "title": report.name,
        "what": "NaN" if report.nan else "infinity",
        "found": report.found,
        "sentence": sentence(report),
        "cause": report.why,
        "sharp_bit": report.sharp_bit if finding else "",
        "operation": _operation(finding, cell_of),
        "where": position_document(report.where, cell_of),
        "values": _values(finding, report.nan),
        "infinity": _infinity(report, cell_of),
        "given": [_value(one.name, np.asarray(one.value), report.nan) for one in report.given],
        "route": [_step(one, cell_of) for one in steps],
        "left_out": left_out,
        **_graph(report, cell_of),
        "differs": report.differs,
        "fixes": [_fix(one, cell_of) for one in report.fixes],
        "seconds": {  # after the fixes, which are tried
            "value": time.perf_counter() - begun,
            "unit": "s",
            "origin": "measured",
            "note": "wall time of the hunt, with what was compiled and run for it",
        },
    }


def _graph(report: Report | PartsReport, cell_of: CellOf) -> HuntGraph:
    """The graph of the program, in which the first bad operation and the way from it to the results are marked; nothing for a large
    program."""
    finding, jaxpr = report.finding, report.jaxpr
    if finding is None or jaxpr is None or count(jaxpr) > MOST_EQUATIONS:
        return {}
    graph = jaxpr_graph(jaxpr, report.name, positions_of(jaxpr, cell_of), cell_of)
    ids = {name: node["id"] for name, node in nodes_by_path(graph).items()}
    marks: dict[str, NodeMark] = {ids[one.path]: "path" for one in finding.steps if one.path in ids}
    marks |= {ids.get(finding.path, ""): "stop"}
    reached = {*marks} | {out["to"] for out in graph["edges"] if out["from"] in marks and out["to"].startswith("out")}
    for node in graph["nodes"]:
        if node["id"] in reached:
            node["mark"] = marks.get(node["id"], "path")
    return {"graph": graph}


def sentence(report: Report | PartsReport) -> str:
    """The answer, in one or two sentences."""
    name, what, finding = report.name, report.what, report.finding
    if report.given:
        names = ", ".join(one.name for one in report.given)
        return f"{name} gives {what} because {names} had {'one' if report.nan else 'infinities'} already."
    if finding is None:
        return f"{name} gives no NaN and no infinity for these arguments." if not report.found else report.differs
    loop = "".join(
        f", in iteration {_number_of(one)} of the loop in line {one.loop.line}"
        for one in finding.iterations
        if one.loop
    )
    where = finding.position
    place = "in code of the library" if where is None else f"in line {where.line} of {where.function}"
    if where is not None and source.is_expression(where.file):
        place = "in the expression"
    begin = (
        f"{name} gives {what}" if report.found else f"The program with flags gives {what}, the compiled one does not"
    )
    if finding.backward:
        return (
            f"{begin}: it is made first by {finding.primitive} in the backward pass of what is written {place}{loop}."
        )
    return f"{begin}: it is made first by {finding.primitive} {place}{loop}."


def _number_of(one: Iteration) -> str:
    return f"{one.number:,}" if one.count is None else f"{one.number:,} of {one.count:,}"


def _operation(finding: Finding | None, cell_of: CellOf) -> HuntStep | None:
    return None if finding is None else _step(Step(*finding[:5]), cell_of)


def _infinity(report: Report | PartsReport, cell_of: CellOf) -> HuntInfinity | None:
    one = report.infinity
    return None if one is None else {"step": _step(Step(*one[:5]), cell_of), "values": _values(one, False)}


def _step(step: Step, cell_of: CellOf) -> HuntStep:
    return {
        "path": step.path,
        "primitive": step.primitive,
        "position": position_document(step.position, cell_of),
        "transforms": cast("list[Transform]", list(step.transforms)),
        "iterations": [
            {"number": one.number, "count": one.count, "position": position_document(one.loop, cell_of)}
            for one in step.iterations
        ],
    }


def _values(finding: Finding | None, nan: bool) -> list[Numbers]:
    if finding is None:
        return []
    found = [_value(f"operand {i}", x, nan) for i, x in zip(finding.places, finding.operands)]
    at = causes.first_bad(finding.results[0], nan) if finding.results else None
    for one, x in zip(found, finding.operands):
        if at is not None and x.shape == finding.results[0].shape:
            one["index"], one["element"] = list(at), causes.number(causes.wide(x)[at].item())
    return found + [_value("result", x, nan) for x in finding.results]


def _value(name: str, x: np.ndarray, nan: bool) -> Numbers:
    """An array in numbers; `index` and `element` are of the first bad one (for operands: of the one that the first bad element of
    the result is made of)."""
    values = causes.wide(x)
    real = values.dtype.kind == "f"
    finite = values[np.isfinite(values)] if values.dtype.kind in "fc" else values
    at = causes.first_bad(x, nan)
    return {
        "name": sendable(name),
        "type": f"{dtypes.short_name(x.dtype)}[{','.join(map(str, x.shape))}]",
        "text": elements_of(values) if values.dtype.kind != "V" else "",
        "smallest": float(finite.min()) if (real or values.dtype.kind in "iu") and finite.size else None,
        "largest": float(finite.max()) if (real or values.dtype.kind in "iu") and finite.size else None,
        "nans": int(np.isnan(values).sum()) if values.dtype.kind in "fc" else 0,
        "infinities": int(np.isinf(values).sum()) if values.dtype.kind in "fc" else 0,
        "size": int(values.size),
        "index": list(at) if at is not None else None,
        "element": causes.number(values[at].item()) if at is not None else "",
    }


def _fix(fix: CheckedFix, cell_of: CellOf) -> Fix:
    position: Position = fix.position._replace(line=min(e.span.line for e in fix.edits))
    typed = source.edits_typed(fix.position.file, [edit.parts for edit in fix.edits])
    lines = source.lines_of(fix.position.file)
    return fix_document(fix.text, typed, position_document(position, cell_of), lines, fix.checked if typed else "")
