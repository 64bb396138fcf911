"""Which lines of a function one call did not run, from its syntax tree and the lines that ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Literal

from ...source_code.places import function_at


Why = Literal["not taken", "not reached"]
Skipped = tuple[int, int, Why]
"""The first and the last line, and why."""
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


def extent(code: CodeType) -> tuple[int, int]:
    """The first and the last line of a function, decorators included."""
    node = function_at(code.co_filename, code.co_firstlineno, code.co_name)
    if node is None:
        lines = [line for _, _, line in code.co_lines() if line is not None]
        return code.co_firstlineno, max([code.co_firstlineno, *lines])
    return code.co_firstlineno, node.end_lineno or node.lineno


def skipped(code: CodeType, ran: set[int], failed: int | None = None) -> list[Skipped]:
    """The statements that did not run; an error ended the call in line `failed`. Those of a branch whose test had an answer were "not
    taken", others were "not reached"."""
    node = function_at(code.co_filename, code.co_firstlineno, code.co_name)
    return list(_of_block(node.body, ran, failed)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []


def _of_block(statements: Sequence[ast.stmt], ran: set[int], failed: int | None) -> Iterator[Skipped]:
    for statement in statements:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring runs nothing
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            continue
        if not _began(statement, ran):
            yield statement.lineno, statement.end_lineno or statement.lineno, "not reached"
            continue
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue  # its lines run in calls of its own
        answered = isinstance(statement, (ast.If, ast.Match)) and failed not in _own_lines(statement)
        for block in _blocks(statement):
            if any(_began(one, ran) for one in block):
                yield from _of_block(block, ran, failed)
            else:
                yield (
                    block[0].lineno,
                    block[-1].end_lineno or block[-1].lineno,
                    "not taken" if answered else "not reached",
                )


def _blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for name in _BLOCKS:
        for one in getattr(statement, name, ()):
            if isinstance(one, (ast.ExceptHandler, ast.match_case)):
                yield one.body
        block = [one for one in getattr(statement, name, ()) if isinstance(one, ast.stmt)]
        if block:
            yield block


def _began(statement: ast.stmt, ran: set[int]) -> bool:
    """Whether a line of it ran that belongs to no inner statement; of one without such a line (`try:`), any."""
    return bool(ran & _own_lines(statement)) or (isinstance(statement, ast.Try) and bool(ran & set(_lines(statement))))


def _own_lines(statement: ast.stmt) -> set[int]:
    """The lines of a statement without those of the statements inside of it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.lineno, *(one.lineno for one in statement.decorator_list)}
    inner = {line for block in _blocks(statement) for one in block for line in _lines(one)}
    return set(_lines(statement)) - inner


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
