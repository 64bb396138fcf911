"""Whose equations are whose: the lines of the user's code and the named scopes, for bounds on their share of the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jitscope.core.source import lines_of

from ...annotations import Position
from ..calls import CallTree
from ..positions import place_document, sendable


Line = tuple[str, int]
"""A file, or a cell's id, and a line."""


def lines_written(positions: Mapping[str, Position]) -> dict[str, list[Line]]:
    """The line in which each equation was written, by path."""
    return {path: [(position["file"], position["line"])] for path, position in positions.items()}


def lines_above(tree: CallTree, file_of: Callable[[str], str]) -> dict[str, list[Line]]:
    """The lines that each equation belongs to, by path: the one in which it was written, and those of the calls that led there."""
    around: list[list[Line]] = []  # by call; a call stands after the one that it is made in
    for call in tree.calls:
        if call.parent is None or call.line is None:
            around.append([])
        else:
            file = file_of(tree.functions[tree.calls[call.parent].function].file)
            around.append([*around[call.parent], (file, call.line)])
    return {
        path: [*around[call], (file_of(tree.functions[tree.calls[call].function].file), line)]
        for path, (call, line) in tree.of.items()
    }


def scopes_around(scopes: Mapping[str, str]) -> dict[str, list[str]]:
    """The named scopes that each equation is in, the outer ones too: "layer", "layer/attention"."""
    found: dict[str, list[str]] = {}
    for path, scope in scopes.items():
        parts = scope.split("/") if scope else []
        found[path] = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return found


def line_position(tree: CallTree, file: str, line: int, cell: str | None, known: str) -> Position:
    """The position of a whole line of a file, which documents call `known`."""
    text = sendable("".join(lines_of(file)[line - 1 : line]).rstrip("\n"))
    inside = [f for f in tree.functions if f.file == file and f.line <= line]
    span = line, len(text) - len(text.lstrip()), line, len(text)
    return place_document(known, cell, span, text, max(inside, key=lambda f: f.line).name if inside else "")
