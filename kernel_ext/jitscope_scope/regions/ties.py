"""Comparisons of numbers that are equal but for rounding: compiled code, which rounds otherwise, may decide them otherwise."""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from . import naming


NAME = "region_compared"
ROUNDINGS = 8
"""Numbers that are no farther apart, in units of their last places, are said to be near."""
_WORDS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


class Comparisons:
    """Compares as statements do, in which it stands under `NAME`; `near` is the line and the text of one whose numbers, not equal ones, were so
    near to one another."""

    def __init__(self) -> None:
        self.near: tuple[int, str] | None = None

    def __call__(self, word: str, a: object, b: object, line: int, text: str) -> object:
        if self.near is None and any(np.asarray(v).dtype.kind == "f" for v in (a, b)):
            with np.errstate(all="ignore"):
                x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
                gap = np.abs(x - y)
                if np.any((gap > 0) & (gap <= ROUNDINGS * np.spacing(np.maximum(np.abs(x), np.abs(y))))):
                    self.near = line, text
        return getattr(operator, word)(a, b)


def other_digits(runs: Iterable[tuple[Mapping[str, object], Mapping[str, object]]]) -> set[str]:
    """The names whose numbers have other digits in the second form, in pairs of what both forms left behind."""
    return {n for a, b in runs for n in a if _digits(a[n]) != _digits(b.get(n))}


def _digits(value: object) -> bytes | None:
    return np.asarray(value).tobytes() if isinstance(value, (float, np.floating, np.ndarray)) else None


def noted(body: naming.Statements, names: Collection[str]) -> ast.Module | None:
    """The statements with calls in place of comparisons that read one of the names; None where there are none."""
    writer = _Compared(names)
    new = [writer.visit(copy.deepcopy(s)) for s in body]
    return ast.fix_missing_locations(ast.Module(new, [])) if writer.found else None


class _Compared(ast.NodeTransformer):
    def __init__(self, names: Collection[str]) -> None:
        self.names, self.found = names, False

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) > 1 or type(node.ops[0]) not in _WORDS or naming.loaded([node]).isdisjoint(self.names):
            return self.generic_visit(node)
        self.found, where = True, [ast.Constant(node.lineno), ast.Constant(ast.unparse(node))]
        self.generic_visit(node)
        given = [ast.Constant(_WORDS[type(node.ops[0])]), node.left, node.comparators[0], *where]
        return ast.copy_location(ast.Call(ast.Name(NAME, ast.Load()), given, []), node)


def share(x: np.ndarray, seed: int) -> np.ndarray:
    """Numbers between -1 and 1, float64 of x's shape, that are equal where elements of x are."""
    start = np.array(0x9E3779B97F4A7C15 * seed % 2**64, np.uint64)
    bits = np.array(np.real(x), np.float64, order="C").view(np.uint64) ^ start
    for shift, times in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = np.multiply(bits ^ (bits >> np.uint64(shift)), np.array([times], np.uint64)).reshape(x.shape)
    return (bits >> np.uint64(11)).astype(np.float64) / 2**52 - 1
