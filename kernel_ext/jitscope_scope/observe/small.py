"""Small programs: what operations outside of jit are compiled to, each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from jitscope.core.source import Position, file_name, place
from jitscope.core.words import counted, cut, duration
from jitscope.named_tuple import NamedTuple

from ..annotations import SmallOperation, SmallPrograms


__all__ = ["Small", "dearest", "is_of_notebook", "small_document", "small_sentence"]


class Small(NamedTuple):
    """A small program that an operation outside of jit was compiled to: its name, the seconds to make it (to load it, where it was
    `loaded`), from which line, in which cell that line stands, whose it is (`library`, "" for jitscope's own), and the number of its record."""

    name: str
    seconds: float
    call_site: Position | None
    library: str = ""
    loaded: bool = False
    cell: tuple[str, str | None] | None = None
    record: int = 0


def is_of_notebook(site: Position | None) -> bool:
    """Whether a line is one of what runs cells, so that nobody wrote it: a magic computed, or a value was shown."""
    return site is not None and not {"IPython", "ipykernel"}.isdisjoint(PurePath(site.file).parts)


_LONG = 0.5
"""Seconds from which on the operation and the line are told in one sentence."""
_MOST_NAMED = 3


def small_sentence(small: Sequence[Small]) -> str:
    """`jax compiled 14 small programs for operations outside jit, in 0.42 s.`, for each library and way to come by them; "" for none."""
    kinds: dict[tuple[str, bool], list[Small]] = {}
    for one in small:
        kinds.setdefault((one.library, one.loaded), []).append(one)
    return " ".join(_of_kind(library, loaded, listed) for (library, loaded), listed in sorted(kinds.items()))


def _of_kind(library: str, loaded: bool, small: Sequence[Small]) -> str:
    what = "1 small program for an operation" if len(small) == 1 else f"{len(small):,} small programs for operations"
    did = "loaded" if loaded else "compiled"
    source = " from the cache on disk" if loaded else ""
    seconds = duration(sum(one.seconds for one in small))
    mapped = f" {_MAPPED}" if library and any(one.name == "shard_map" for one in small) else ""
    return f"{library or 'jitscope'} {did} {what} outside jit{source}, in {seconds}{dearest(small)}.{mapped}"


_MAPPED = "shard_map outside jit runs operation by operation, and compiles anew in every call: jax.jit(…) round it compiles once."


def dearest(small: Sequence[Small]) -> str:
    """The operation and the line that cost most, where small programs cost seconds: `: operation unstack took 12 s in line 4 of In [2] (r = [one(x) for x in xs])`."""
    said = [
        f"{'' if n else 'operation '}{those[0].name} took {duration(_spent(those))}{_at(those[0].call_site, ' in ')}"
        for n, those in enumerate(_by_operation(small)[:_MOST_NAMED])
        if _spent(those) >= _LONG
    ]
    return f": {'; '.join(said)}" if said else ""


def _at(site: Position | None, before: str) -> str:
    return f"{before}{place(site)} ({cut(_first_line(site.text), 60)})" if site is not None else ""


def _first_line(text: str) -> str:
    """Code of a line, with an ellipsis in the brackets of it that are closed in a later one: `f(…)` of `f(`."""
    still_open: list[str] = []
    for one in text:
        if one in _CLOSING:
            still_open.append(_CLOSING[one])
        elif still_open and one == still_open[-1]:
            still_open.pop()
    return f"{text.strip()}{'…' * bool(still_open)}{''.join(reversed(still_open))}"


_CLOSING = {"(": ")", "[": "]", "{": "}"}


def _spent(those: Sequence[Small]) -> float:
    return sum(one.seconds for one in those)


def small_document(small: Sequence[Small]) -> SmallPrograms:
    """How many small programs there were, how long they took, and both by operation and line, the dearest first."""
    return {
        "programs": len(small),
        "seconds": sum(one.seconds for one in small),
        "sentence": small_sentence(small),
        "operations": [_operation(those) for those in _by_operation(small)],
    }


def _by_operation(small: Sequence[Small]) -> list[list[Small]]:
    """Those of one operation at one line together, the dearest first."""
    found: dict[Any, list[Small]] = {}
    for one in small:
        where = one.call_site
        line = (where.file, where.line) if where is not None else None
        found.setdefault((one.name, line, one.cell, one.library, one.loaded), []).append(one)
    return sorted(found.values(), key=lambda those: -_spent(those))


def _operation(those: Sequence[Small]) -> SmallOperation:
    one = those[0]
    text = one.call_site.text.strip() if one.call_site is not None else ""
    spent = _spent(those)
    did = " loaded" if one.loaded else ""
    return {
        "operation": one.name,
        "programs": len(those),
        "seconds": spent,
        "library": one.library,
        "cell": file_name(one.call_site.file) if one.call_site else one.cell[0] if one.cell else None,
        "line": one.call_site.line if one.call_site is not None else None,
        "text": text,
        "said": f"{one.name}: {counted(len(those), 'program')}{did}, {duration(spent)}{_at(one.call_site, ', ')}",
    }
