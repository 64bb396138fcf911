"""Lines below a cell: which compiled function it calls still runs what it was traced with (a helper that was defined again, a number that is
another one now), and which loops outside of jit it compiles again and again."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from jitscope_scope import observe
from jitscope_scope.advise.code.ipython import python_of
from jitscope_scope.observe.paths_read import in_classes
from jitscope_scope.observe.recompiling.stale import Stale, is_made_of, keeps, kept, pass_values, stale, traced_anew
from jitscope_scope.source_code.tree import outside, tree_of

from .eager_loops import recompilation_lines


class CellRemarks:
    """What a function keeps is told once."""

    def __init__(self, ledger: observe.Ledger) -> None:
        self._ledger = ledger
        self._told: set[tuple[int, object]] = set()

    def lines(self, since: observe.Mark, cell: str, names: Mapping[str, Any]) -> list[str]:
        """What is to be told of a cell, by its text and by what ran since a moment."""
        text = _Text(cell, names)
        rows = [row for row in self._ledger if row.signature is not None and _ran(row, since, text)]
        return [
            *(line for one in stale(rows) for line in self._lines(one, since, text)),
            *recompilation_lines(self._ledger.since(since)),
        ]

    def _lines(self, one: Stale, since: observe.Mark, text: _Text) -> Iterator[str]:
        """What is told of one of them. Of a value that the cell itself gave: where a call came after it. A cell that defines the function,
        too, has that told at its line, by the look, but for attributes that it gave by another name of their object."""
        row, before = one.row, one.row.last_record <= since.record
        assert row.signature is not None
        for function in one.functions if before else ():
            key = row.signature.function, function.now
            if key not in self._told:
                self._told.add(key)
                yield f"{row.function} {keeps(function, row)}. {traced_anew(one)}"
        given = text.given()
        for change in one.changes:
            key = row.signature.function, (change.name, change.now.text)
            told = before and change.name not in given
            if change.read.path.how == "self" or not text.defines(row):
                told = told or text.gives_before_a_call(change.name, row)
            told = told or text.gives_in_a_loop(change.name, row)
            if change.certain and told and key not in self._told:
                self._told.add(key)
                yield f"{kept(change, row)}. {pass_values(one._replace(changes=[change]))}"


def _ran(row: observe.Row, since: observe.Mark, text: _Text) -> bool:
    if row.library:
        return text.calls(row)
    return row.calls > since.calls.get(row.id, 0 if row.last_record > since.record else row.calls)


class _Text:
    """The text of a cell, read when it is asked, and what its names mean."""

    def __init__(self, cell: str, names: Mapping[str, Any]) -> None:
        self._cell, self._names = cell, names

    @functools.cached_property
    def _tree(self) -> ast.Module:
        python = python_of(self._cell)
        return (tree_of(python.text) if python else None) or ast.Module([], [])

    def given(self) -> set[str]:
        """The names, attributes and elements that the cell gives a value."""
        return {path for node in ast.walk(self._tree) if (path := _stored(node))}

    def calls(self, row: observe.Row, inside: ast.AST | None = None) -> bool:
        """Whether the cell, or a part of it, calls what was made of a row's function, by a name of the user's."""
        called = self._called if inside is None else _called(inside)
        return any(is_made_of(self._meant(*names), row) for names in called)

    def _meant(self, name: str, method: str) -> Any:
        """What runs when a name, or a method of what it stands for, is called."""
        found = self._names.get(name)
        if method or (found is not None and not hasattr(found, "__wrapped__")):
            found = in_classes(found if isinstance(found, type) else type(found), method or "__call__")
        return found

    @functools.cached_property
    def _called(self) -> set[tuple[str, str]]:
        return _called(self._tree)

    def gives_in_a_loop(self, path: str, row: observe.Row) -> bool:
        """Whether each turn of a loop gives a path a value and calls what was made of a row's function, which another cell defines, after
        that."""
        if self.defines(row):
            return False
        for loop in outside([self._tree]):
            if not isinstance(loop, ast.For | ast.While) or any(isinstance(one, _ENDS) for one in ast.walk(loop)):
                continue
            target = {_stored(one) for one in ast.walk(loop.target)} if isinstance(loop, ast.For) else set()
            given = [i for i, part in enumerate(loop.body) if path in {_stored(one) for one in outside([part])}]
            first = -1 if path in target else min(given, default=len(loop.body))
            if any(self.calls(row, part) for part in loop.body[first + 1 :] if not isinstance(part, _CHOICES)):
                return True
        return False

    def gives_before_a_call(self, path: str, row: observe.Row) -> bool:
        """Whether a statement of the cell gives a path a value, or the attribute that it ends in, whatever name its object has there, and a
        later one calls what was made of a row's function."""
        attribute = path.rpartition(".")[2] if "." in path else ""
        body = self._tree.body
        given = [i for i, part in enumerate(body) if any(_gives(one, path, attribute) for one in outside([part]))]
        return bool(given) and any(
            self.calls(row, part) for part in body[given[-1] + 1 :] if not isinstance(part, _CHOICES)
        )

    def defines(self, row: observe.Row) -> bool:
        """Whether the cell defines a function of that name."""
        return any(isinstance(one, ast.FunctionDef) and one.name == row.function for one in self._tree.body)


def _gives(node: ast.AST, path: str, attribute: str) -> bool:
    stored = _stored(node)
    return stored == path or bool(stored and attribute and stored.endswith(f".{attribute}"))


def _called(node: ast.AST) -> set[tuple[str, str]]:
    """The names that are called, each with "", and the methods, each behind its object's name."""
    found: set[tuple[str, str]] = set()
    for one in ast.walk(node):
        match one:
            case ast.Call(func=ast.Name(id=name)):
                found.add((name, ""))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                found.add((name, method))
    return found


_ENDS = (ast.Break, ast.Continue)
_CHOICES = (ast.If, ast.Try, ast.While, ast.Match, ast.FunctionDef, ast.ClassDef)


def _stored(node: ast.AST) -> str:
    """`scale`, `model.k`, `options['lr']` where a node gives that a value, or adds to it; "" for all else."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript() if not isinstance(node.ctx, ast.Load):
            return ast.unparse(node)
    return ""
