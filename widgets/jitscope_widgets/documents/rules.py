"""What documents must hold beyond their form: one rule a kind of record, each giving the path and the sentence of what is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import (
    CompilationDocument,
    Edit,
    Fix,
    GraphDocument,
    MachineDocument,
    MemoryDocument,
    PassesDocument,
    Position,
    ProfileDocument,
    Quantity,
    SourceDocument,
    StoppedDocument,
    TransformationsDocument,
    ValuesDocument,
)
from .fusion import DiffRow
from .recompilations import Matrix


def value_text(value: object) -> str:
    """What was found, for messages."""
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:60] + '…'}"


def _quantity_rule(value: Any, path: str) -> Iterator[str]:
    if (value["value"] is None) != (value["origin"] == "unknown"):
        yield f"{path}: the value is None exactly when the origin is 'unknown'; found {value_text(value)}"


def _position_rule(value: Any, path: str) -> Iterator[str]:
    if value["line"] < 1 or value["column"] < 0:
        yield f"{path}: lines count from 1 and columns from 0; found line {value['line']}, column {value['column']}"


def _edit_rule(value: Any, path: str) -> Iterator[str]:
    start, end = (value["line"], value["column"]), (value["end_line"], value["end_column"])
    if value["line"] < 1 or value["column"] < 0 or end < start:
        yield f"{path}: an edit goes forward, lines from 1, columns from 0; found {start} to {end}"


def _fix_rule(value: Any, path: str) -> Iterator[str]:
    starts = sorted((edit["line"], edit["column"], edit["end_line"], edit["end_column"]) for edit in value["edits"])
    if any(after[:2] < before[2:] for before, after in itertools.pairwise(starts)):
        yield f"{path}.edits: edits do not overlap"
    lines = max((edit["end_line"] for edit in value["edits"]), default=0) - starts[0][0] + 1 if starts else 0
    if "before" in value and len(value["before"]) != lines:
        yield f"{path}.before: the lines from the first edit to the last, {lines}; found {len(value['before'])}"


def _graph_rule(graph: Any, path: str) -> Iterator[str]:
    ids: dict[str, int] = {}
    for index, node in enumerate(graph["nodes"]):
        if node["id"] in ids:
            yield f"{path}.nodes[{index}].id: {node['id']!r} is already the id of nodes[{ids[node['id']]}]"
        ids[node["id"]] = index
    scopes = {node["id"]: node["scope"] for node in graph["nodes"]}
    for index, node in enumerate(graph["nodes"]):
        if node["scope"] is not None and node["scope"] not in ids:
            yield f"{path}.nodes[{index}].scope: no node has the id {node['scope']!r}"
        elif _contains_itself(node["id"], scopes):
            yield f"{path}.nodes[{index}].scope: the node {node['id']!r} would contain itself"
    for index, edge in enumerate(graph["edges"]):
        for end in ("from", "to"):
            if edge[end] not in ids:
                yield f"{path}.edges[{index}].{end}: no node has the id {edge[end]!r}"


def _contains_itself(node: str, scopes: Mapping[str, str | None]) -> bool:
    seen = {node}
    outer = scopes.get(node)
    while outer is not None and outer not in seen:
        seen.add(outer)
        outer = scopes.get(outer)
    return outer == node


def _source_rule(source: Any, path: str) -> Iterator[str]:
    functions, calls = len(source["functions"]), source["calls"]
    for index, call in enumerate(calls):
        if not 0 <= call["function"] < functions:
            yield f"{path}.calls[{index}].function: there is no function {call['function']}"
        if (call["parent"] is None) != (index == 0) or not -1 < (call["parent"] or 0) < max(index, 1):
            yield f"{path}.calls[{index}].parent: an earlier call, None for the first alone; found {call['parent']}"
        if (call["line"] is None) != (call["parent"] is None):
            yield f"{path}.calls[{index}].line: a line, None for the first call alone; found {call['line']}"
    for index, mark in enumerate(source["marks"]):
        if not 0 <= mark["call"] < len(calls):
            yield f"{path}.marks[{index}].call: there is no call {mark['call']}"


def _matrix_rule(matrix: Any, path: str) -> Iterator[str]:
    columns = len(matrix["columns"])
    for index, row in enumerate(matrix["rows"]):
        if len(row["cells"]) != columns or len(row["changed"]) != columns:
            yield f"{path}.rows[{index}]: a cell and a mark for each of {columns} columns"
    if not 0 <= matrix["columns_left_after"] <= columns:
        yield f"{path}.columns_left_after: a number of columns, at most {columns}"


def _compilation_rule(compilation: Any, path: str) -> Iterator[str]:
    for name, document in compilation.get("instruments", {}).items():
        if document["kind"] != name:
            yield f"{path}.instruments[{name!r}]: the name of an instrument is the kind of its document, {document['kind']!r}"
    ids = {name for node in compilation["graph"]["nodes"] for name in (node["id"], *node["paths"])}
    marks = compilation["source"]["marks"] if compilation["source"] else []
    for index, mark in enumerate(marks):
        for node in mark["nodes"]:
            if node not in ids:
                yield f"{path}.source.marks[{index}].nodes: the graph has no node {node!r}"


def _row_rule(row: Any, path: str) -> Iterator[str]:
    if row["left"] is None and row["right"] is None:
        yield f"{path}: a row has a line on the left, on the right or on both sides"


def _memory_rule(memory: Any, path: str) -> Iterator[str]:
    count, length = len(memory["buffers"]), memory["length"]
    for index, number in enumerate(memory["peak"]["buffers"]):
        if not 0 <= number < count:
            yield f"{path}.peak.buffers[{index}]: one of {count} buffers; found {number}"
    for index, buffer in enumerate(memory["buffers"]):
        if not 0 <= buffer["born"] <= buffer["dies"] < length:
            yield f"{path}.buffers[{index}]: lives within the {length} steps; found {buffer['born']} to {buffer['dies']}"
    if len({len(of) for of in memory["curve"].values()}) != 1:
        yield f"{path}.curve: all lists are of the same length"


def _values_rule(values: Any, path: str) -> Iterator[str]:
    count, lines = len(values["rows"]), len(values["lines"])
    if values["first_bad"] is not None and not 0 <= values["first_bad"] < count:
        yield f"{path}.first_bad: one of {count} rows; found {values['first_bad']}"
    for index, row in enumerate(values["rows"]):
        if row["line"] is not None and not 0 <= row["line"] < lines:
            yield f"{path}.rows[{index}].line: one of {lines} lines; found {row['line']}"
    for index, detail in enumerate(values["details"]):
        shown = detail["picture"]
        if shown is not None and len(shown["cells"]) != shown["rows"] * shown["columns"]:
            yield f"{path}.details[{index}].picture.cells: one character for each of {shown['rows']} x {shown['columns']} cells"


def _passes_rule(passes: Any, path: str) -> Iterator[str]:
    states = len(passes["states"])
    for name in ("passes", "fates"):
        for index, item in enumerate(passes[name]):
            if item["state"] is not None and not 0 < item["state"] < states:
                yield f"{path}.{name}[{index}].state: one of the states after the first, {states} in all; found {item['state']}"


def _transformations_rule(transformations: Any, path: str) -> Iterator[str]:
    origins = len(transformations["origins"])
    for index, step in enumerate(transformations["steps"]):
        lines = [line for program in (step["before"], *step["after"]) for line in program["lines"]]
        if any(line["origin"] is not None and not 0 <= line["origin"] < origins for line in lines):
            yield f"{path}.steps[{index}]: a line's origin is one of {origins}"


def _profile_rule(profile: Any, path: str) -> Iterator[str]:
    lines = len(profile["lines"])
    for index, kernel in enumerate(profile["kernels"]):
        for line in kernel["lines"]:
            if not 0 <= line < lines:
                yield f"{path}.kernels[{index}].lines: there is no line {line}"
    blocks = profile.get("blocks", [])
    for index, block in enumerate(blocks):
        if block["outer"] is not None and not 0 <= block["outer"] < index:
            yield f"{path}.blocks[{index}].outer: a block before it; found {block['outer']}"
    for index, kernel in enumerate(profile["kernels"]):
        if (place := kernel.get("block")) is not None and not 0 <= place < len(blocks):
            yield f"{path}.kernels[{index}].block: there is no block {place}"


def _machine_rule(machine: Any, path: str) -> Iterator[str]:
    names = {one["name"] for one in machine["functions"]}
    for index, kernel in enumerate(machine["kernels"]):
        if kernel["function"] is not None and kernel["function"] not in names:
            yield f"{path}.kernels[{index}].function: the document has no function {kernel['function']!r}"
    for what, limit, found in (
        (
            "lines",
            len(machine["positions"]),
            [n for one in (*machine["functions"], *machine["kernels"]) for n in one["lines"]],
        ),
        (
            "module",
            len(machine["modules"]),
            [one["module"] for one in machine["functions"] if one["module"] is not None],
        ),
    ):
        if any(not 0 <= n < limit for n in found):
            yield f"{path}: {what} beyond the last, of {limit}"
    for index, one in enumerate(machine["functions"]):
        if one["hot"] is not None and not 0 <= one["hot"] < len(one["loops"]):
            yield f"{path}.functions[{index}].hot: no loop {one['hot']}"


def _stopped_rule(stopped: Any, path: str) -> Iterator[str]:
    ids = {node["id"] for node in stopped["graph"]["nodes"]}
    named = [stopped["stop"], *(node for step in stopped["steps"] for node in step["nodes"])]
    for node in named:
        if node not in ids:
            yield f"{path}.steps: the graph has no node {node!r}"


RULES: dict[type, Callable[[Any, str], Iterator[str]]] = {
    Quantity: _quantity_rule,
    Position: _position_rule,
    Edit: _edit_rule,
    Fix: _fix_rule,
    GraphDocument: _graph_rule,
    SourceDocument: _source_rule,
    Matrix: _matrix_rule,
    CompilationDocument: _compilation_rule,
    PassesDocument: _passes_rule,
    TransformationsDocument: _transformations_rule,
    ProfileDocument: _profile_rule,
    ValuesDocument: _values_rule,
    MemoryDocument: _memory_rule,
    MachineDocument: _machine_rule,
    StoppedDocument: _stopped_rule,
    DiffRow: _row_rule,
}
