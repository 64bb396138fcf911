"""The keys of a group side by side: a row for each argument's path, a column for each compilation, what changed marked."""

from __future__ import annotations

from jitscope.backend.signature import BY_NAME, WEAK, Signature, Static
from jitscope.core.words import cut

from ...annotations import Matrix, MatrixColumn
from ..ledger import Row
from ..structures import structure_text
from .groups import Group


MOST_COLUMNS, MOST_ROWS = 6, 8
_AFTER_FIRST = 3  # columns that are kept before those left out
_LONGEST = 40


def matrix_document(group: Group) -> Matrix:
    """At most `MOST_COLUMNS` programs, the first and the last ones, and `MOST_ROWS` parts of their keys: what changed comes first, and
    before those that are only weak in some. What is the same in all is there where it is little."""
    history = group.history
    objects = _Objects()
    keys = [_parts(row, group, objects) for row in history]
    places, left = beginning_and_end(len(history))
    paths = list(dict.fromkeys(path for key in keys for path in key))
    differ = [path for path in paths if len({key.get(path) for key in keys}) > 1]
    differ.sort(key=lambda path: len({key.get(path, "").replace(WEAK, "") for key in keys}) == 1)
    alike = [path for path in paths if path not in (*differ, *_QUIET) and keys[0][path]]
    shown = [*differ, *alike] if len(differ) + len(alike) <= MOST_ROWS else differ[:MOST_ROWS]
    alike_left = len(alike) if len(differ) + len(alike) > MOST_ROWS else 0
    return {
        "columns": [_column(history[at], at) for at in places],
        "rows": [
            {
                "path": path,
                "cells": [keys[at].get(path, "–") for at in places],
                "changed": [at > 0 and keys[at].get(path) != keys[at - 1].get(path) for at in places],
            }
            for path in shown
        ],
        "columns_left": left,
        "columns_left_after": _AFTER_FIRST if left else len(places),
        "rows_left": len(differ) + len(alike) - len(shown),
        "alike_left": alike_left,
    }


_QUIET = frozenset({"structure", "device", "function", "enable_x64"})
"""Parts that are told only where they differ."""


def beginning_and_end(count: int) -> tuple[list[int], int]:
    """The numbers of the first and the last ones of so many programs, and how many between them are left out."""
    if count <= MOST_COLUMNS:
        return list(range(count)), 0
    last = MOST_COLUMNS - _AFTER_FIRST
    return [*range(_AFTER_FIRST), *range(count - last, count)], count - MOST_COLUMNS


def _column(row: Row, at: int) -> MatrixColumn:
    return {
        "label": str(at + 1),
        "what": "reused" if row.what == "reused" else "compiled",
        "calls": None if row.library else row.calls,
    }


class _Objects:
    """Numbers for the objects that stand behind one name, from 1 in the order of the history."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], dict[int, int]] = {}

    def number(self, name: str, text: str, token: int) -> int:
        seen = self._seen.setdefault((name, text), {})
        return seen.setdefault(token, len(seen) + 1)


def _parts(row: Row, group: Group, objects: _Objects) -> dict[str, str]:
    signature = row.signature
    assert signature is not None
    parts = {leaf.path: str(leaf) for leaf in signature.leaves}
    parts |= {static.name: _given(static, group, signature) for static in signature.statics}
    parts |= {inside.name: short(inside.text) for inside in signature.attributes if inside.name in group.paths}
    if group.cause in ("function", "closure", "redefined"):
        parts |= {
            capture.name: _numbered(short(capture.text), objects.number(capture.name, capture.text, capture.token))
            for capture in signature.made.captures
            if capture.name in group.paths
        }
        parts["function"] = f"object {objects.number('function', '', signature.function)}"
    parts["structure"] = short(structure_text(signature))
    parts |= {name: short(text) for name, text in signature.options if name in group.paths}
    spread = any(leaf.sharding for leaf in signature.leaves)
    return parts | {"device": "those of the mesh" if spread else signature.device, "enable_x64": str(signature.x64)}


def _given(static: Static, group: Group, signature: Signature) -> str:
    """A static value, with the way it was given where that is the cause."""
    named = dict(signature.options).get(BY_NAME)
    if group.cause != "call form" or static.name not in group.paths or named is None:
        return short(static.text)
    return f"{short(static.text)} {'by name' if static.name in named.split(', ') else 'by position'}"


def _numbered(text: str, number: int) -> str:
    return text if number == 1 else f"{text}, object {number}"


def short(text: str) -> str:
    """A value for a narrow column; objects without their addresses."""
    return cut(text.partition(" at 0x")[0] + ">" if " at 0x" in text else text, _LONGEST)
