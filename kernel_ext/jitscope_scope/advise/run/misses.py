"""From what the ledger wrote down to recompilations that could have been spared: one for each cause and line."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from jitscope.core.source import Position
from jitscope.core.words import duration

from ...observe.differences import together
from ...observe.ledger import Row
from ...observe.recompiling.groups import groups, is_apart, is_repeat, is_wanted
from ...observe.recompiling.padded_shapes import without_settled
from ...observe.recompiling.remedies import remedy
from ...observe.stacks import is_installed
from ...source_code.edits import Span
from ...source_code.places import path_at
from ...source_code.tree import own_nodes
from ..diagnostic import Diagnostic, Fix


_BITS = {
    "shape": "recompile-shape",
    "dtype": "recompile-dtype",
    "weak type": "recompile-weak-type",
    "static value": "recompile-static-value",
    "static object": "recompile-static-object",
    "tree structure": "recompile-pytree",
    "none": "recompile-pytree",
    "kind": "recompile-pytree",
    "call form": "recompile-call-form",
    "function": "recompile-fresh-function",
    "closure": "recompile-fresh-function",
    "donation": "recompile-config",
    "option": "recompile-config",
    "x64": "recompile-config",
    "device": "recompile-device",
    "sharding": "recompile-device",
}


def recompilations_paid(rows: Iterable[Row]) -> list[Diagnostic]:
    """The recompilations, and retraces, among rows of the ledger that the user's own calls paid for."""
    lines: dict[tuple[str, str, int, bool, str, Position | None], list[Row]] = defaultdict(list)
    paid = without_settled(row for row in rows if _bit(row))
    for row in paid:
        bit = _bit(row)
        if row.call_site is not None:
            where = _place(bit, row)
            lines[bit, where.file, where.line, is_apart(row), row.function, row.position].append(row)
    return [_told(bit, group, paid) for (bit, *_), group in lines.items()]


def _bit(row: Row) -> str:
    """The sharp bit a row tells of, or ""."""
    if row.call_site is None or not is_repeat(row) or is_wanted(row) or _of_a_library(row):
        return ""
    return _BITS.get(row.cause, "")


def _of_a_library(row: Row) -> bool:
    """Whether a function is an installed library's, or one that jax made for itself: nobody who reads this can change it."""
    if row.position is None:
        return row.library == "jax"
    return is_installed(row.position.file)


def _place(bit: str, row: Row) -> Position:
    """The line that a row's diagnostic is told at: the call that paid, or where the code around it makes the function that it
    calls."""
    where = row.call_site
    assert where is not None
    made = made_around(where) if bit == "recompile-fresh-function" else None
    return made or where


def _told(bit: str, rows: list[Row], paid: list[Row]) -> Diagnostic:
    first, where = rows[0], _place(bit, rows[0])
    assert first.call_site is not None
    main = first.differences[0]
    alike = [one for one in first.differences if one._replace(path="") == main._replace(path="")]
    seconds = sum(row.spent for row in rows)
    compiled = sum(row.what != "reused" and not row.loaded for row in rows)
    parts = [("compiled", compiled), ("traced", len(rows) - compiled)]
    again = " and ".join(f"{verb} again" if n == 1 else f"{verb} again {n} times" for verb, n in parts if n)
    place = "in this line" if where == first.call_site else f"in line {first.call_site.line}"
    message = f"`{first.function}` is {again} {place} ({duration(seconds)}): {together(alike)}."
    evidence = tuple(one.sentence() for one in first.differences if one not in alike)
    return Diagnostic(bit, where.file, Span.of(where), message, Fix(_fix(rows[0], paid)), evidence, "miss")


def made_around(call_site: Position) -> Position | None:
    """Where the function or the loop around a call makes what is called: `g = jit(…)` or a decorated `def g` before `g(x)`."""
    path = path_at(call_site)
    call = next((node for node in path if isinstance(node, ast.Call)), None)
    around = next((node for node in path if isinstance(node, (ast.FunctionDef, ast.For, ast.While))), None)
    if call is None or around is None or not isinstance(call.func, ast.Name | ast.Attribute):
        return None
    called = ast.unparse(call.func)
    for node in own_nodes(around):
        if isinstance(node, ast.FunctionDef) and node.name == called and node.decorator_list:
            return call_site.at(node.decorator_list[0])
        if (
            isinstance(node, ast.Assign)
            and called in map(ast.unparse, node.targets)
            and isinstance(node.value, ast.Call)
        ):
            return call_site.at(node.value)
    return None


def _fix(first: Row, paid: list[Row]) -> str:
    """What the card of the recompilations says of a row, beside all others of its kind: what one line needs alone may not do for the others."""
    found = remedy(next(group for group in groups(paid) if first in group.rows))
    return found.text if found is not None else ""
