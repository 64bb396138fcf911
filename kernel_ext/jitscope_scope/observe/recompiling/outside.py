"""Programs that transformations and loops outside jit made of a function, one for each type of its arguments: a card for each function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jitscope.core.source import Position
from jitscope.core.words import counted

from ...annotations import Matrix, RecompilationCard, RecompilationSite
from ..fixes import fix_document
from ..ledger import Row
from ..positions import position_document
from ..timing import quantity
from .matrix import MOST_ROWS, beginning_and_end


MOST_SITES = 5


def outside_cards(rows: Iterable[Row], least: int) -> Iterator[RecompilationCard]:
    """The cards, of functions for which at least `least` programs of one kind were compiled, for other arguments each."""
    functions: dict[Any, dict[str, dict[tuple[str, ...], Row]]] = {}
    for row in rows:
        if (
            row.derived
            and not row.called
            and not row.looked
            and row.what == "compiled"
            and not row.loaded
            and row.takes_types
        ):
            kinds = functions.setdefault((row.function, row.position or row.call_site), {})
            kinds.setdefault(row.title, {}).setdefault(row.takes_types, row)
    for kinds in functions.values():
        several = {title: programs for title, programs in kinds.items() if len(programs) > 1}
        if several and max(map(len, several.values())) >= least:
            yield _card({title: list(programs.values()) for title, programs in several.items()})


def _card(kinds: dict[str, list[Row]]) -> RecompilationCard:
    again = [row for programs in kinds.values() for row in programs[1:]]
    first = next(iter(kinds.values()))
    sites: dict[Position, list[Row]] = {}
    for row in again:
        if row.call_site is not None:
            sites.setdefault(row.call_site, []).append(row)
    dear = sorted(sites.items(), key=lambda item: -_seconds(item[1]))
    return {
        "function": _named(list(kinds), first[0].function),
        "cause": "outside jit",
        "compilations": len(again),
        "retraces": 0,
        "because": f"outside jit, each type of arguments has programs of its own, and there were {counted(len(first), 'type')}",
        "seconds": quantity(_seconds(again), "s", note="to lower and compile again"),
        "definition": position_document(first[0].position, first[0].cell_of),
        "sites": [_site(at, own) for at, own in dear[:MOST_SITES]],
        "sites_left": max(0, len(dear) - MOST_SITES),
        "matrix": _matrix(first),
        "fix": fix_document(f"{_JIT if len(kinds) > 1 else _PAD}, and mask what was added."),
        "quiet": False,
    }


def _named(titles: list[str], function: str) -> str:
    """`forward pass and backward pass of f`."""
    ending = f" of {function}"
    if len(titles) > 1 and all(title.endswith(ending) for title in titles):
        return " and ".join(title.removesuffix(ending) for title in titles) + ending
    return " and ".join(titles)


_PAD = "Pad sizes that differ by chance to a few of them"
_JIT = f"Put `jit` round the whole, which then is one program for each type. {_PAD}"


def _seconds(rows: Iterable[Row]) -> float:
    return sum(row.spent for row in rows)


def _site(at: Position, rows: list[Row]) -> RecompilationSite:
    led = dict.fromkeys(row.led for row in rows if row.led is not None)
    told = [position for one in led if (position := position_document(one, rows[0].cell_of)) is not None]
    return {
        "position": position_document(at, rows[0].cell_of),
        "led": told[:MOST_SITES],
        "compilations": len(rows),
        "retraces": 0,
        "seconds": _seconds(rows),
    }


def _matrix(programs: list[Row]) -> Matrix:
    """The types of the programs side by side, of the arguments that differ."""
    types = [row.takes_types for row in programs]
    places, left = beginning_and_end(len(types))
    longest = max(map(len, types))
    padded = [(*one, *("–" for _ in range(longest - len(one)))) for one in types]
    differ = [n for n, column in enumerate(zip(*padded)) if len(set(column)) > 1]
    return {
        "columns": [{"label": str(at + 1), "what": "compiled", "calls": None} for at in places],
        "rows": [
            {
                "path": f"argument {n + 1}",
                "cells": [padded[at][n] for at in places],
                "changed": [at > 0 and padded[at][n] != padded[at - 1][n] for at in places],
            }
            for n in differ[:MOST_ROWS]
        ],
        "columns_left": left,
        "columns_left_after": 3 if left else len(places),
        "rows_left": max(0, len(differ) - MOST_ROWS),
    }
