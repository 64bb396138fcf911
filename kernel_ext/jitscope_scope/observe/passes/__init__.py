"""What each of XLA's passes did to a program: `running` (which ran), `states` (the program between them), `changes` (from one state
to the next), `fates` (what became of each equation), `phases` (how long the stages took), `document` (all of it as plain data)."""

from __future__ import annotations

import time

from jitscope.xla.dumps import Source, compiled_again

from ...annotations import PassesDocument
from ..ledger import Row
from .document import passes_document


__all__ = ["instrument", "passes_document"]


def instrument(row: Row, given: object = None) -> PassesDocument:
    """The passes document of a row's program; see `passes_document`. Nothing is run. Raises Unavailable where the program is no
    longer there."""
    start = time.perf_counter()
    told = compiled_again(Source.of(row.needed("entry")))
    document = passes_document(told, row.title, row.positions())
    cost = document["cost"]
    cost["value"], cost["note"] = time.perf_counter() - start, f"{cost['note']}, and read"
    return document
