"""Compiled functions that keep the old value of what they captured: cards beside those of recompilations, which would have been right."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ...backend.made import Capture, made
from ..fixes import fix_document
from ..ledger import Row
from ..positions import position_document
from ..timing import quantity


Document = dict[str, Any]


def stale_cards(rows: Iterable[Row]) -> list[Document]:
    """A card for each function whose program is still there and was traced with other values of its globals or of its closure."""
    latest: dict[Any, Row] = {}
    for row in rows:
        if _is_kept(row):
            assert row.signature is not None
            latest[row.signature.function] = row
    found = ((row, list(_changed(row))) for row in latest.values())
    return [_card(row, changes) for row, changes in found if changes]


def _is_kept(row: Row) -> bool:
    """Whether a call of the function may still run the row's program."""
    if row.nested or row.derived or row.library or row.looked or row.signature is None or row.position is None:
        return False
    return row.what in ("compiled", "recompiled", "reused") and row.again is not None and row.signature.made.alive


def _changed(row: Row) -> Iterator[tuple[Capture, Capture]]:
    """The captured values when the function was traced and as they are now, where they differ."""
    assert row.signature is not None
    before = row.signature.made
    function = before.object() if before.object is not None else None
    now = {(capture.name, capture.how): capture for capture in made(function).captures}
    read = _read(function)
    for capture in before.captures:
        other = now.get((capture.name, capture.how))
        if other is None or (capture.text, capture.token) == (other.text, other.token):
            continue
        if capture.name in read and capture.how in ("global", "closure") and not _is_code(capture, other):
            yield capture, other


def _read(function: Any) -> set[str]:
    """The names that a function, and those inside it, read from their globals and closures."""
    while hasattr(function, "__wrapped__") or isinstance(function, types.MethodType):
        function = function.__func__ if isinstance(function, types.MethodType) else function.__wrapped__
    code = getattr(function, "__code__", None)
    return _names(code) if isinstance(code, types.CodeType) else set()


def _names(code: types.CodeType) -> set[str]:
    found = {one.argval for one in dis.get_instructions(code) if one.opname in _LOADS}
    return found.union(*(_names(part) for part in code.co_consts if isinstance(part, types.CodeType)))


_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}


def _is_code(*captures: Capture) -> bool:
    """Whether one is a function or an object, of which it is not known whether it is another one in what counts."""
    return any(capture.text.startswith(("function ", "object of ")) for capture in captures)


def _card(row: Row, changes: list[tuple[Capture, Capture]]) -> Document:
    names = ", ".join(f"`{before.name}`" for before, _ in changes)
    said = " and ".join(
        f"`{before.name}` was {before.text} and is {_other(before, now)} now" for before, now in changes
    )
    where = position_document(row.position, row.cell_of)
    it = "it" if len(changes) == 1 else "them"
    return {
        "function": row.function,
        "cause": "stale",
        "compilations": 0,
        "retraces": 0,
        "because": f"not traced again though what it captured changed: {said}; the program keeps the value that it was traced with",
        "seconds": quantity(None, "s", note="nothing was compiled again"),
        "definition": where,
        "sites": [],
        "sites_left": 0,
        "matrix": {"columns": [], "rows": [], "columns_left": 0, "columns_left_after": 0, "rows_left": 0},
        "fix": fix_document(
            f"Pass {names} as an argument of {row.function}: it reads {it} at each call then.", position=where
        ),
        "quiet": False,
    }


def _other(before: Capture, now: Capture) -> str:
    return f"another {now.text}" if before.text == now.text else now.text
