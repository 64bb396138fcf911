"""What the names of a program are given, one thing after the other: a notebook defines `f` again in cell after cell."""

from __future__ import annotations

import ast
from typing import Generic, TypeVar

from ...source_code.text import Code
from ...source_code.tree import below


T = TypeVar("T")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Definitions(Generic[T]):
    """Functions, classes or objects by the scope and the name that has them."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._given: dict[tuple[ast.AST, str], list[tuple[int, T]]] = {}

    def add(self, scope: ast.AST, name: str, at: ast.AST, what: T) -> None:
        """The statement or target `at` gives the name something."""
        given = self._given.setdefault((scope, name), [])
        given.append((at.lineno, what))  # pyright: ignore[reportAttributeAccessIssue]
        given.sort(key=lambda one: one[0])

    def has(self, scope: ast.AST, name: str) -> bool:
        return (scope, name) in self._given

    def last(self, scope: ast.AST, name: str) -> T | None:
        """What the name has in the end."""
        given = self._given.get((scope, name))
        return given[-1][1] if given else None

    def at(self, scope: ast.AST, name: str, at: ast.AST) -> T | None:
        """What the name means at a place: the last it was given before, where code of that scope itself uses it; a function that
        does is called later, in a notebook with what its own cell and those before define. None where it was given something
        unknown since."""
        given = self._given.get((scope, name))
        if not given:
            return None
        until = self._until(scope, at)
        before = [one for one in given if one[0] <= until]
        line, what = before[-1] if before else given[0]
        return None if self._is_lost(scope, name, line, until) else what

    def _is_lost(self, scope: ast.AST, name: str, since: int, until: float) -> bool:
        """Whether something else was given the name after a line: what is made of its own value (`f = jit(f)`) is not."""
        known = {line for line, _ in self._given[scope, name]}
        return any(
            since < one.lineno <= until and one.lineno not in known and not self._is_made_of(name, one)  # pyright: ignore[reportAttributeAccessIssue]
            for one in self._code.scopes.binders(scope, name)
            if not isinstance(one, ast.arg)
        )

    def _is_made_of(self, name: str, target: ast.AST) -> bool:
        statement = self._code.statement_around(target)
        value = getattr(statement, "value", None) or getattr(statement, "iter", None)
        return value is not None and any(isinstance(one, ast.Name) and one.id == name for one in below(value))

    def _until(self, scope: ast.AST, at: ast.AST) -> float:
        around = next((one for one in self._code.around(at) if isinstance(one, _SCOPES)), self._code.tree)
        if around is scope:
            return at.lineno  # pyright: ignore[reportAttributeAccessIssue]
        cell = self._code.cell_of(at)
        return cell.last if cell is not None else float("inf")
