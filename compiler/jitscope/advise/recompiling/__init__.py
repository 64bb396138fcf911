"""Edits of the user's own code that spare recompilations. None of it is run: the code is read, and what it becomes must parse."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...core.source import edits_typed, lines_of
from ...observe.recompiling.cards import Edited
from ...observe.recompiling.groups import Group
from ..diagnostic import Edit, applied
from . import arguments, filling, hoisting, padding, statics
from .sites import Found


_EDITS: dict[str, Callable[[Group], Found | None]] = {
    "shape": padding.padded,
    "tree structure": filling.filled,
    "none": filling.filled,
    "donation": statics.kept,
    "dtype": arguments.converted,
    "weak type": arguments.converted,
    "call form": arguments.by_position,
    "static value": statics.traced,
    "static object": statics.compared,
    "function": hoisting.hoisted,
    "closure": hoisting.passed,
}


def edited(group: Group) -> Edited | None:
    """The edits that do what the remedy of a group says; None where it takes more than editing, or where the code does not tell."""
    make = _EDITS.get(group.cause)
    try:
        found = make(group) if make else None
        if found is None or not found.edits:
            return None
        ast.parse(applied(found.code.text, found.edits))
        edits = edits_typed(found.code.file, [_plain(edit) for edit in found.edits])
    except (SyntaxError, ValueError, RecursionError):
        return None
    return Edited(found.text, found.code.file, lines_of(found.code.file), edits) if edits else None


def _plain(edit: Edit) -> tuple[int, int, int, int, str]:
    return edit.span.line, edit.span.column, edit.span.end_line, edit.span.end_column, edit.text
