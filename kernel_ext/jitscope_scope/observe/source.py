"""The code that wrote a program as a document: its functions, their calls, and marks from lines to equations."""

from __future__ import annotations

import inspect

from jitscope.core.source import code_of, lines_of

from ..annotations import SourceDocument, SourceFunction, SourceMark
from .calls import CallTree, Function
from .positions import CellOf, no_cell, sendable


MAX_LINES = 400


def source_document(tree: CallTree, cell_of: CellOf = no_cell) -> SourceDocument | None:
    """The source document of a program with its call tree. None where no code is to be had."""
    functions = [_function(function, tree.titles.get(function, function.name), cell_of) for function in tree.functions]
    if not any(function["lines"] for function in functions):
        return None
    return {
        "kind": "source",
        "version": 1,
        "functions": functions,
        "calls": [{"function": call.function, "parent": call.parent, "line": call.line} for call in tree.calls],
        "marks": _marks(tree),
    }


def _function(function: Function, title: str, cell_of: CellOf) -> SourceFunction:
    label, cell_id = cell_of(function.file) or (None, None)
    return {
        "name": sendable(title),
        "label": label or sendable(function.file.rpartition("/")[2]),
        "file": cell_id or sendable(function.file),
        "cell": label,
        "first_line": function.line,
        "lines": [sendable(line.rstrip("\n")) for line in block_at(function.file, function.line)],
    }


def block_at(file: str, line: int) -> list[str]:
    """The lines of the definition that starts at a line of a file."""
    lines = lines_of(file)[line - 1 :]
    try:
        block = inspect.getblock(code_of(file).splitlines(keepends=True)[line - 1 :])
        return lines[: min(len(block), MAX_LINES)]
    except (IndentationError, SyntaxError):  # a lambda inside an expression
        return lines[:1]


def _marks(tree: CallTree) -> list[SourceMark]:
    return [
        {
            "call": call,
            "line": line,
            "nodes": [*forward, *backward],
            "forward": len(forward),
            "backward": len(backward),
        }
        for (call, line), (forward, backward) in sorted(tree.marks.items())
    ]
