"""What a finished program shows: loops that were unrolled, large arrays baked in, keys that never change."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Any

from jitscope.core import call_sites, source
from jitscope.core.jaxpr import Jaxpr
from jitscope.core.source import Position
from jitscope.xla.spread import Spread

from ...observe.ledger import Row
from ...observe.stacks import is_installed
from ...source_code import places
from ...source_code.edits import Span
from ..diagnostic import Diagnostic, Fix
from .broadcasts import broadcast
from .kept_keys import kept_in_loops, kept_keys, use_of
from .static_indices import of_indices


UNROLLED = 50
"""Iterations of a Python loop from which on it is worth telling that they all stand in the program."""
LARGE = 1 << 20
"""Bytes of a captured array from which on it is worth telling."""


def of_program(row: Row) -> Iterator[Diagnostic]:
    """The sharp bits in the program of a row of the ledger, if it is still kept."""
    jaxpr = row.jaxpr
    if jaxpr is None or row.nested or (row.position is not None and source.is_internal(row.position.file)):
        return
    if row.library:
        yield from kept_in_loops(jaxpr)
    if row.position is None:  # an operation outside of jit, such as a loop
        return
    yield from _unrolled(jaxpr, row)
    yield from _captured(jaxpr, row)
    yield from broadcast(jaxpr, row)
    yield from kept_keys(jaxpr, row)
    if row.library:
        yield from of_indices(jaxpr, row)
    if row.entry is not None and type(getattr(row.entry.executable, "device", None)) is Spread:
        from .devices import of_devices  # where there are several

        yield from of_devices(row)


# --- unrolled loops -----------------------------------------------------------------------------------------------------------


def _unrolled(jaxpr: Jaxpr, row: Row) -> Iterator[Diagnostic]:
    counts: Counter[tuple[str, Any]] = Counter()
    """How often an operation stems from one instruction, reached in one way."""
    if len(jaxpr.eqns) >= UNROLLED:
        counts.update((eqn.primitive.name, eqn.traceback) for eqn in jaxpr.eqns)
    told: set[tuple[str, int]] = set()
    often = [
        (where, n)
        for (_, handle), n in counts.most_common()
        if n >= UNROLLED
        for where in call_sites.user_calls(handle)
    ]
    for where, count in often:
        loop = loop_around(where) if not is_installed(where.file) else None
        if loop is not None and (where.file, loop.line) not in told:
            told.add((where.file, loop.line))
            lines = [{(at.file, at.line) for at in call_sites.user_calls(eqn.traceback)} for eqn in jaxpr.eqns]
            of_line = sum((where.file, where.line) in at for at in lines)
            message = (
                f"this Python loop ran {count} times while {row.function} was traced: {of_line} of its {len(jaxpr.eqns)} equations "
                f"stem from line {where.line}, and all are compiled."
            )
            fix = "Use lax.fori_loop or lax.scan: the body is compiled once, whatever the number of iterations."
            yield Diagnostic("unrolled-loop", where.file, loop, message, Fix(fix), (), "trace")


def loop_around(where: Position) -> Span | None:
    """Where the innermost Python loop begins that a position stands in, within its function: the first line of it."""
    loop = places.loop_around(where)
    if loop is None:
        return None
    last = loop.iter if isinstance(loop, ast.For) else loop.test if isinstance(loop, ast.While) else loop
    return Span(loop.lineno, loop.col_offset, last.end_lineno or loop.lineno, last.end_col_offset or 0)


# --- captured arrays ------------------------------------------------------------------------------------------------------------


def _captured(jaxpr: Jaxpr, row: Row) -> Iterator[Diagnostic]:
    for var in jaxpr.constvars:
        where = use_of(jaxpr, var) if var.aval.bytes >= LARGE else None
        if where is not None:
            message = (
                f"{row.function} captures an array, {var.aval.short()}, {var.aval.bytes / 1e6:.3g} MB, from outside: it belongs to the "
                "program, which keeps it alive and does not see it when the name is bound to another array."
            )
            span = Span.of(where)
            fix = Fix(f"Pass it as an argument of {row.function}.")
            yield Diagnostic("captured-constant", where.file, span, message, fix, (), "trace")
