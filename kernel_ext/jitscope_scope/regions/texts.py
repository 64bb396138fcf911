"""Texts whose letters are only compared with each other, one by one: they go in as arrays of the letters' codes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

import numpy as np

from . import naming


def letters(body: naming.Statements, values: Mapping[str, object]) -> set[str]:
    """Names of texts of which the statements only compare letters, and ask for the length."""
    found = {n for n in naming.loaded(body) - naming.bound(body) if isinstance(values.get(n), str) and values[n]}
    while True:
        names = [n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id in found]
        good = [n.id for s in body for part in ast.walk(s) for n in _taken(part, found)]
        kept = {n for n in found if good.count(n) == names.count(n)}
        if kept == found:
            return found
        found = kept


def _taken(node: ast.AST, found: set[str]) -> list[ast.Name]:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as name]):
            return [name]
        case ast.Compare(left=a, ops=[ast.Eq() | ast.NotEq()], comparators=[b]):
            sides = [_letter(a, found), _letter(b, found)]
            if all(sides) and any(isinstance(s, ast.Name) for s in sides):
                return [s for s in sides if isinstance(s, ast.Name)]
    return []


def _letter(node: ast.expr, found: set[str]) -> ast.expr | None:
    """The name of the text that a letter is of, or the letter itself."""
    match node:
        case ast.Subscript(value=ast.Name(id=name) as of, slice=at) if name in found and not isinstance(at, ast.Slice):
            return of
        case ast.Constant(value=str(value)) if len(value) == 1:
            return node
    return None


def codes(value: object) -> np.ndarray:
    """The codes of a text's letters, int64 of shape [len(value)]."""
    return np.array([*map(ord, str(value))], int)


def as_codes(name: str) -> str:
    """The text of the same in an edit."""
    return f"numpy.array([*map(ord, {name})], int)"


def in_codes(body: naming.Statements, found: set[str]) -> tuple[ast.stmt, ...]:
    """The statements with codes in place of the letters that are written there."""
    new = [copy.deepcopy(s) for s in body]
    for n in [n for s in new for n in ast.walk(s)]:
        match n:
            case ast.Compare(left=a, comparators=[b]) if _taken(n, found):
                n.left, n.comparators = _code(a), [_code(b)]
    return tuple(new)


def _code(node: ast.expr) -> ast.expr:
    match node:
        case ast.Constant(value=str(value)):
            return ast.copy_location(ast.Constant(ord(value)), node)
    return node
