"""What each of XLA's passes did to a program: `running` (which ran), `states` (the program between them), `changes` (from one state
to the next), `fates` (what became of each equation), `phases` (how long the stages took), `document` (all of it as plain data)."""

from __future__ import annotations

import time
from typing import Any

from jitscope.xla.dumps import Source, Told, compiled_again

from ..ledger import Row
from .document import passes_document


__all__ = ["instrument", "passes_document", "told_of"]


def told_of(row: Row) -> Told:
    """What XLA tells when the program of a row is compiled again; nothing is run. Raises Unavailable where the program is no
    longer there."""
    entry = row.needed("entry")
    return compiled_again(Source(entry.lowered, entry.executable, entry.overrides))


def instrument(row: Row, given: object = None) -> dict[str, Any]:
    """The passes document of a row's program; see `passes_document`. Nothing is run. Raises Unavailable as `told_of` does."""
    start = time.perf_counter()
    told = told_of(row)
    document = passes_document(told, row.function, row.positions())
    document["cost"] |= {"value": time.perf_counter() - start, "note": f"{document['cost']['note']}, and read"}
    return document
