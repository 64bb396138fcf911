"""Functions that a compiled one called while it was traced, and that were defined again since: at the line that calls them."""

from __future__ import annotations

from collections.abc import Iterable

from ...observe.ledger import Row
from ...observe.recompiling.stale import keeps, stale, traced_anew
from ...source_code.edits import Span
from ..diagnostic import Diagnostic, Fix


def kept(rows: Iterable[Row]) -> list[Diagnostic]:
    """stale-capture: what the programs that are still there were traced with."""
    found: list[Diagnostic] = []
    for one in stale(rows):
        for function in one.functions:
            message = f"`{one.row.function}` {keeps(function, one.row)}."
            where = function.where
            fix = Fix(traced_anew(one))
            found.append(Diagnostic("stale-capture", where.file, Span.of(where), message, fix, (), "run"))
    return found
