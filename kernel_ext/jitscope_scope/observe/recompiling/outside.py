"""Programs that transformations and loops outside jit made of a function, one for each type of its arguments: a card for each function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from jitscope.core.words import counted

from ...annotations import Fix, Matrix
from ..fixes import fix_document
from ..ledger import Row
from .groups import Group
from .matrix import MOST_ROWS, beginning_and_end


class OutsideJit(NamedTuple):
    """What was compiled again of one function, with what its card says of it."""

    group: Group
    function: str
    because: str
    matrix: Matrix
    fix: Fix


def outside_jit(rows: Iterable[Row], least: int) -> Iterator[OutsideJit]:
    """The functions for which at least `least` programs of one kind were compiled, for other arguments each."""
    functions: dict[Any, dict[str, dict[tuple[str, ...], Row]]] = {}
    for row in rows:
        made = row.derived and not row.called and not row.looked
        if made and row.what == "compiled" and not row.loaded and row.takes_types:
            kinds = functions.setdefault((row.function, row.position or row.call_site), {})
            kinds.setdefault(row.title, {}).setdefault(row.takes_types, row)
    for kinds in functions.values():
        several = {title: list(programs.values()) for title, programs in kinds.items() if len(programs) > 1}
        if several and max(map(len, several.values())) >= least:
            yield _told(several)


def _told(kinds: dict[str, list[Row]]) -> OutsideJit:
    bases = [programs[0] for programs in kinds.values()]
    group = Group("outside jit", [row for programs in kinds.values() for row in programs[1:]], bases)
    first = next(iter(kinds.values()))
    return OutsideJit(
        group,
        _named(list(kinds), group.function),
        f"outside jit, each type of arguments has programs of its own, and there were {counted(len(first), 'type')}",
        _matrix(first),
        fix_document(f"{_JIT if len(kinds) > 1 else _PAD}, and mask what was added."),
    )


def _named(titles: list[str], function: str) -> str:
    """`forward pass and backward pass of f`."""
    ending = f" of {function}"
    if len(titles) > 1 and all(title.endswith(ending) for title in titles):
        return " and ".join(title.removesuffix(ending) for title in titles) + ending
    return " and ".join(titles)


_PAD = "Pad sizes that differ by chance to a few of them"
_JIT = f"Put `jit` round the whole, which then is one program for each type. {_PAD}"


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
