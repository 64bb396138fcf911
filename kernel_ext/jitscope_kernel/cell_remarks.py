"""Lines below a cell: which compiled function it calls still runs what it was traced with (a helper that was defined again, a number that is
another one now), and which loops outside of jit it compiles again and again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from typing import Any

from jitscope_scope import observe
from jitscope_scope.advise.code.ipython import python_of
from jitscope_scope.observe.recompiling.stale import Stale, keeps, passed, stale, traced_anew

from .eager_loops import remade


class CellRemarks:
    """What a function keeps is told once."""

    def __init__(self, ledger: observe.Ledger) -> None:
        self._ledger = ledger
        self._told: set[tuple[int, object]] = set()

    def lines(self, since: observe.Mark, cell: str, names: Mapping[str, Any]) -> list[str]:
        """What is to be told of a cell, by its text and by what ran since a moment."""
        rows = [row for row in self._ledger if row.signature is not None]
        called = {
            row.signature.function
            for row in rows
            if row.signature and row.last_record <= since.record and _ran(row, since, cell, names)
        }
        found = stale(row for row in rows if row.signature and row.signature.function in called) if called else []
        given = _given(cell)
        return [*(line for one in found for line in self._lines(one, given)), *remade(self._ledger.since(since))]

    def _lines(self, one: Stale, given: Set[str]) -> Iterator[str]:
        """What is told of one of them; a value that the cell itself gave is told at its line, by the look."""
        assert one.row.signature is not None
        for function in one.functions:
            key = one.row.signature.function, function.now
            if key not in self._told:
                self._told.add(key)
                yield f"{one.row.function} {keeps(function, one.row)}. {traced_anew(one.row)}"
        for before, now in one.changes:
            key = one.row.signature.function, (before.name, now.text)
            if before.text != now.text and before.name not in given and key not in self._told:
                self._told.add(key)
                yield f"{one.row.function} keeps {before.name} = {before.text}, with which it was traced; {before.name} is {now.text} now. {passed(one)}"


def _given(cell: str) -> set[str]:
    """The names that a cell gives a value."""
    tree = _tree(cell)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}


def _ran(row: observe.Row, since: observe.Mark, cell: str, names: Mapping[str, Any]) -> bool:
    return row.calls > since.calls.get(row.id, row.calls) or (bool(row.library) and _calls(cell, row, names))


def _calls(cell: str, row: observe.Row, names: Mapping[str, Any]) -> bool:
    """Whether the text of a cell calls what jax made of a row's function, by a name of the user's."""
    assert row.signature is not None
    function = row.signature.made.object() if row.signature.made.object is not None else None
    return function is not None and any(
        getattr(names.get(name), "__wrapped__", None) is function for name in _called(cell)
    )


def _called(cell: str) -> set[str]:
    return {
        node.func.id for node in ast.walk(_tree(cell)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _tree(cell: str) -> ast.Module:
    python = python_of(cell)
    try:
        return ast.parse(python.text if python else "")
    except (SyntaxError, ValueError):
        return ast.Module([], [])
