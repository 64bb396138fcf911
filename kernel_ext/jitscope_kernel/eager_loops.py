"""Loops and branches of jax's that a line compiles again and again outside of jit, since it makes their functions anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jitscope.core.words import duration
from jitscope_scope import observe


_LOOPS = frozenset(("while", "scan", "cond"))
_OFTEN = 4
"""Programs of one line from which on they are told of: as of functions that one line makes."""


def recompilation_lines(rows: Iterable[observe.Row]) -> Iterator[str]:
    """A line for each of these that was compiled several times for arguments of the same kinds."""
    found: dict[Any, list[observe.Row]] = {}
    for row in rows:
        if row.library and row.signature is None and row.what == "compiled" and row.function in _LOOPS:
            if row.call_site is not None and row.jaxpr is not None and not row.loaded:
                kind = row.function, row.call_site.file, row.call_site.line, _kind(row)
                found.setdefault(kind, []).append(row)
    for (name, file, line, _), own in found.items():
        if len(own) >= _OFTEN:
            cell = own[0].cell_of(file)
            place = f"line {line} of {cell[0]}" if cell is not None else f"line {line}"
            spent = duration(sum(row.spent for row in own))
            yield (
                f"{own[0].library} compiled the {name} of {place} {len(own)} times for arguments of the same kinds, in {spent}. Outside of jit "
                "its program belongs to the function objects that it is given: make them once, and pass what changes as a part of the "
                "carry or the operands; or put jit round what calls it."
            )


def _kind(row: observe.Row) -> tuple[Any, ...]:
    """What a program depends on beside the functions it is given: the types of its arguments, the number of iterations and other options."""
    assert row.jaxpr is not None
    options = [
        (eqn.primitive.name, sorted((name, str(x)) for name, x in eqn.params.items() if isinstance(x, _PLAIN)))
        for eqn in row.jaxpr.eqns
    ]
    return tuple(str(v.aval) for v in row.jaxpr.invars), str(options)


_PLAIN = (bool, int, str, type(None))
