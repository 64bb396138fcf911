"""Many compilations in one cell: which of them are kept in full, and which as a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .words import Document, spent


MOST_IN_FULL = 6  # compilations of one function; of more, the first, the last and the slowest
MOST_OF_ALL = 24  # compilations of all functions; of more, those that took longest


def in_full(compilations: Sequence[Any]) -> set[int]:
    """The places of those compilations that are kept in full."""
    by_function: dict[object, list[int]] = {}
    for at, compilation in enumerate(compilations):
        name = compilation.get("function") if isinstance(compilation, dict) else None
        by_function.setdefault(str(name), []).append(at)
    kept: set[int] = set()
    for places in by_function.values():
        kept |= set(places) if len(places) <= MOST_IN_FULL else _told(places, compilations)
    return set(sorted(kept, key=lambda at: (-_seconds(compilations[at]), at))[:MOST_OF_ALL])


def _told(places: list[int], compilations: Sequence[Any]) -> set[int]:
    slowest = max(places, key=lambda at: _seconds(compilations[at]))
    return {places[0], places[-1], slowest}


def _seconds(compilation: Document) -> float:
    try:
        return spent(compilation) or 0.0
    except (AttributeError, KeyError, TypeError):
        return 0.0
