"""Rows that are not all as long, as edits hand them in: filled up to the longest one, beside how long each is."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


EMPTY = ", some empty"
_NUMBERS = (int, float, np.int64, np.float64)
_ROWS = ({(1, np.dtype(np.int64))}, {(1, np.dtype(np.float64))})


def columns_of(value: Any) -> str:
    """Of which types rows and their elements are: "list of list: int", or "dict of list: int float" for rows of such pairs, and whether a row is
    empty. Nothing for all but lists of rows, and dicts of them under 0, 1, 2 and so on."""
    rows = _rows(value)
    found = _kinds_of(rows) if rows is not None else ()
    if not rows or not found:
        return ""
    return (
        f"{type(value).__name__} of {type(rows[0]).__name__}: {' '.join(found)}{'' if all(map(len, rows)) else EMPTY}"
    )


def _kinds_of(rows: list[Any]) -> tuple[str, ...]:
    """The types of the elements in each column of rows; nothing where they are not alike."""
    elements = list(itertools.chain.from_iterable(rows))
    if not elements:
        return ()
    if type(elements[0]) is not tuple:
        kinds = {type(e) for e in elements}
        return (kinds.pop().__name__,) if len(kinds) == 1 and kinds <= {*_NUMBERS} else ()
    if not all(type(e) is tuple and len(e) == len(elements[0]) for e in elements):
        return ()
    columns = [{*map(type, column)} for column in zip(*elements, strict=True)]
    good = len(columns) > 1 and all(len(kinds) == 1 and kinds <= {*_NUMBERS} for kinds in columns)
    return tuple(kinds.pop().__name__ for kinds in columns) if good else ()


def _rows(value: Any) -> list[Any] | None:
    if type(value) is dict:
        good = all(type(k) is int and k == n for n, k in enumerate(value))
        value = [*value.values()] if good else None
    if type(value) is not list or not value:
        return None
    first = value[0]
    arrays = type(first) is np.ndarray and {(getattr(r, "ndim", 0), getattr(r, "dtype", None)) for r in value} in _ROWS
    good = type(first) in (list, tuple) or arrays
    return value if good and all(type(row) is type(first) for row in value) else None


def are_apart(value: Any) -> bool:
    """Whether a list's rows are arrays of NumPy that may be stored into, each with memory of its own."""
    arrays = all(type(row) is np.ndarray and row.flags.writeable and row.flags.owndata for row in value)
    return arrays and len({*map(id, value)}) == len(value)


def put_back(rectangle: Any, value: Any) -> None:
    """Stores the rows of a rectangle into those of a list that it was made of."""
    for row, new in zip(value, rectangle, strict=True):
        row[...] = new[: len(row)]


def rectangles(value: Any) -> tuple[list[Any], ...]:
    """The rows of each column, filled up with an element of theirs, and how long they are."""
    rows = _rows(value) or []
    lengths, most = [len(row) for row in rows], max(map(len, rows))
    first = next(e for row in rows for e in row)
    full = [[*row, *[first] * (most - len(row))] for row in rows]
    if not isinstance(first, tuple):
        return full, lengths
    return *([[e[k] for e in row] for row in full] for k in range(len(first))), lengths
