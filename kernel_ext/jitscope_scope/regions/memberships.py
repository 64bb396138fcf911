"""`(i, j) in walls`: numbers looked for among a few known ones are compared with each of them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator

from ..source_code.tree import parts_of
from .named_turns import MOST


def comparisons(left: ast.expr, known: Collection[object]) -> list[list[ast.Compare]] | None:
    """For each of the known things the comparisons that all hold where it is the one on the left; None where they are no numbers, too many, or
    rows of other lengths."""
    if len(known) > MOST:
        return None
    parts = parts_of(left)
    rows = [v if isinstance(v, tuple) else (v,) for v in known]
    if any(len(r) != len(parts) or not all(type(v) in (int, float) for v in r) for r in rows):
        return None
    return [[*_equal(parts, r)] for r in rows]


def _equal(parts: list[ast.expr], row: tuple[object, ...]) -> Iterator[ast.Compare]:
    for p, v in zip(parts, row, strict=True):
        yield ast.copy_location(ast.Compare(copy.deepcopy(p), [ast.Eq()], [ast.Constant(v)]), p)  # type: ignore[arg-type]


def equal(left: ast.expr, right: ast.expr, value: object) -> tuple[list[list[ast.Compare]], str] | None:
    """The same of two rows of one length, one of which is written there, and the other too, or the `value` of a name; and what has to be true for
    that."""
    if not isinstance(left, ast.Tuple):
        return None
    match right:
        case ast.Tuple(elts=parts) if len(left.elts) == len(parts):
            return [
                [ast.copy_location(ast.Compare(a, [ast.Eq()], [b]), a) for a, b in zip(left.elts, parts, strict=True)]
            ], ""
        case ast.Name(id=name) if type(value) is tuple and (rows := comparisons(left, [value])) is not None:
            return rows, f"{name} == {value!r}"
    return None


def things(node: ast.expr, value: object) -> tuple[Collection[object], str] | None:
    """What is looked through, written there or the `value` of a name, and what has to be true for that."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            try:
                return ast.literal_eval(node), ""
            except ValueError:
                return None
        case ast.Name(id=name) if type(value) in (list, tuple, set, frozenset, dict) and len(value) <= MOST:  # type: ignore[arg-type]
            try:
                found = sorted({*value}, key=repr)  # type: ignore[misc]
            except TypeError:
                return None
            return found, f"{{*{name}}} == {{*{found!r}}}"
    return None
