"""The memory of a program over its schedule: `plan` (what XLA's dumps say), `lifetimes` (buffers, and the bytes in use), `trials` (what
changes would do), `document` (all of it as plain data)."""

from __future__ import annotations

import weakref
from typing import Any

from jitscope.xla import callbacks, hlo_module
from jitscope.xla.dumps import Source, compiled_once_more

from ...annotations import MemoryChange, MemoryDocument
from ..graph import argument_names, result_names
from ..hlo import devices_of
from ..hlo_origins import flow_of_program
from ..ledger import Row
from ..stacks import backward_paths
from .document import Names, memory_document
from .plan import plan_of
from .trials import changes_of, try_change, verdict


__all__ = ["instrument", "memory_of", "names_of", "plan_of"]


def memory_of(row: Row) -> MemoryDocument:
    """The memory document of a row's program; see `memory_document`. Nothing is run. Raises Unavailable where the program is no longer
    there."""
    entry = row.needed("entry")
    told = compiled_once_more(Source.of(entry, same_names=True))
    module = hlo_module.optimized(entry.executable)
    after = hlo_module.computations(module)
    positions = row.positions()
    document = memory_document(
        plan_of(told),
        after,
        flow_of_program(entry, after),
        positions,
        row.title,
        names_of(row),
        entry.executable.memory_stats(),
        told.seconds,
        changes_of(row, positions),
        backward_paths(row.jaxpr) if row.jaxpr else frozenset(),
    )
    return {**document, "devices": devices} if (devices := devices_of(module)) > 1 else document


_known: weakref.WeakKeyDictionary[Row, tuple[Any, MemoryDocument]] = weakref.WeakKeyDictionary()
"""The documents that were made, with the program that each is of: what came of changes is added to them."""


def instrument(row: Row, given: object = None, change: str | None = None) -> MemoryDocument:
    """The memory document, as an instrument; nothing is run. With `change`, one of the document's `changes` by its id, what came of
    compiling the program with it is in the document, too. Raises Unavailable where the program is gone, or the change cannot be
    tried."""
    program, document = _known.get(row, (None, None))
    if document is None or program is not row.entry or change is None:
        document = memory_of(row)
    if change is not None:
        reserved = document["reserved"]["total"]["value"] or 0.0
        result = verdict(try_change(row, change), document["peak"]["bytes"], reserved)
        changes: list[MemoryChange] = [
            {**one, "tried": result} if one["id"] == change else one for one in document["changes"]
        ]
        document = document.copy()
        document["changes"] = changes
    _known[row] = row.entry, document
    return document


def names_of(row: Row) -> Names:
    """What the program's own arguments are called: captured arrays first, then those of the call that it reads, then the number of the
    run, where it calls Python."""
    arguments = argument_names(row.jaxpr, row.takes, len(row.entry.argument_avals))
    results = list(result_names(row.jaxpr)) if row.jaxpr else []
    if row.entry.executable.calls_python:
        arguments.append((None, callbacks.MARK))
        results.append(callbacks.MARK)
    return Names(arguments, results)
