"""A line below a cell that met a NaN or an infinity: how to hunt it."""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

import jitscope
from jitscope import tree
from jitscope.backend.hunt import nans as no_nans
from jitscope.backend.watching import is_bad
from jitscope.core import config, dtypes
from jitscope.core.notices import Among
from jitscope.core.source import Position
from jitscope.core.trace import Tracer
from jitscope_scope import jaxwatch
from jitscope_scope.advise.code.ipython import python_of
from jitscope_scope.source_code.bindings import given_by
from jitscope_scope.source_code.tree import outside


_A_CALL = "and the call that made it"
"""Of a call that is not known."""


class NonFiniteReads:
    """The first numbers that are not finite which cells took from arrays, by file and line."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, int], float] = {}

    def __call__(self, value: float, where: Position | None) -> None:
        if where is not None and len(self._first) < 100:
            before = self._first.get((where.file, where.line))
            if before is None or (value != value and before == before):  # a NaN says more than an infinity
                self._first[where.file, where.line] = value

    def lines(self, ours: Callable[[str], bool]) -> dict[int, float]:
        """Those of the files that are `ours`, by line. All are forgotten."""
        found = {line: value for (file, line), value in self._first.items() if ours(file)}
        self._first.clear()
        return found


_MOST = 1_000_000
"""Elements of a shown result that are looked at."""


def offer(
    cell: str,
    result: Any,
    error: BaseException | None,
    names: Mapping[str, Any],
    taken: Mapping[int, float] = MappingProxyType({}),
) -> str:
    """How to hunt, in a line, for a cell whose shown result has a NaN, that named, kept or printed a number which is not finite, or
    that `debug_nans` stopped; "" where there is nothing to say. `names` are those of the session, `taken` is what the cell's lines
    took from arrays."""
    if isinstance(error, FloatingPointError) and config.settings().debug_nans:
        return f"With the numbers, the way to the result and a fix: {_asking(_body(cell))}"
    if error is not None or _MEANT.search(cell):
        return ""
    body = _body(cell)
    for name, call in _numbers_taken(body):
        value = names.get(name)
        if type(value) is float and not math.isfinite(value):
            what = "NaN" if value != value else "infinite"
            return f"{name} is {what}. Where that comes from: %nans {ast.unparse(call)}"
    if said := next(
        itertools.chain(_kept(body, names, taken), _printed(body, taken), _printed_of_jax(body, names)), ""
    ):
        return said
    if type(result) is float and not math.isfinite(result):
        what = "a NaN" if result != result else "an infinity"
        return f"This result is {what}. Where it comes from: {_asking(body)}"
    if not isinstance(result, (jitscope.Array, tuple, list, dict)) and not jaxwatch.is_array(result):
        return ""
    arrays = [x for x in tree.leaves(result) if _is_array(x)]
    if sum(x.size for x in arrays) > _MOST or not any(map(_is_nan, arrays)):
        return ""
    return f"There is a NaN in this result. Where the first one comes from: {_asking(_of_bad_part(body, result))}"


def _of_bad_part(body: list[ast.stmt], result: Any) -> list[ast.stmt]:
    """The statements of a cell; where the last one shows several results, with the first of them that has a NaN in its place."""
    match body:
        case [*before, ast.Expr(value=ast.Tuple(elts=parts))] if type(result) is tuple and len(result) == len(parts):
            bad = (
                part
                for part, x in zip(parts, result)
                if any(_is_array(leaf) and _is_nan(leaf) for leaf in tree.leaves(x))
            )
            part = next(bad, None)
            return [*before, ast.copy_location(ast.Expr(part), body[-1])] if part is not None else body
    return body


def _body(cell: str) -> list[ast.stmt]:
    python = python_of(cell)
    return ast.parse(python.text).body if python else []


_MEANT = re.compile(r"\b(?:nan|inf|isnan|isinf|isfinite|nan_to_num)\b|%nans")
"""Cells that speak of NaNs and infinities themselves."""


def _is_array(x: Any) -> bool:
    return (isinstance(x, jitscope.Array) and not isinstance(x, Tracer)) or jaxwatch.is_array(x)


def _is_nan(x: Any) -> bool:
    if not x.is_fully_addressable or x.is_deleted():
        return False
    if isinstance(x, jitscope.Array):
        return is_bad(x, no_nans)
    return dtypes.is_inexact(x.dtype) and bool(np.isnan(np.asarray(x)).any())


def _numbers_taken(body: list[ast.stmt]) -> Iterator[tuple[str, ast.Call]]:
    """The names that a cell gives numbers taken from arrays, in loops too, and the call that made the array."""
    for statement in body:
        for node in ast.walk(statement) if not isinstance(statement, ast.FunctionDef | ast.ClassDef) else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    of = _number_of(value)
                    if of is not None and (call := _made(of, body)) is not None:
                        yield name, call


def _number_of(value: ast.expr) -> ast.expr | None:
    """What `float(y)` and `y.item()` take a number from."""
    match value:
        case (
            ast.Call(func=ast.Name(id="float"), args=[of])
            | ast.Call(func=ast.Attribute(value=of, attr="item"), args=[])
        ):
            return of
    return None


def _taken_from(value: ast.expr) -> ast.Call | None:
    """The call in `float(f(x))` and in `f(x).item()`."""
    of = _number_of(value)
    return of if isinstance(of, ast.Call) else None


def _sources(node: ast.AST, body: list[ast.stmt]) -> list[str]:
    """The calls that made what a piece of code takes numbers from, as text: `f(x)` of `float(f(x))`, and of `float(y)` where
    `y = f(x)` stands above."""
    found: dict[str, None] = {}
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Name(id="float"), args=[of]) | ast.FormattedValue(value=of):
                call = _made(of, body)
            case ast.Call(func=ast.Attribute(value=of, attr="item"), args=[]):
                call = _made(of, body)
            case ast.Call(func=ast.Name(id="print"), args=args):
                found |= {ast.unparse(one): None for arg in args if (one := _made(arg, body))}
                continue
            case _:
                continue
        found |= {ast.unparse(call): None} if call is not None else {}
    return list(found)


def _made(of: ast.expr, body: list[ast.stmt]) -> ast.Call | None:
    """The call that an expression is or takes a part of, or that a name in it was given last before."""
    while isinstance(of, ast.Subscript | ast.Attribute):
        of = of.value
    if isinstance(of, ast.Call):
        of_python = isinstance(of.func, ast.Name) and hasattr(builtins, of.func.id)
        return _taken_from(of) or (None if of_python else of)
    if not isinstance(of, ast.Name):
        return None
    made = [
        (node.lineno, node.value)
        for node in outside(body)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and node.lineno <= of.lineno
        and any(isinstance(part, ast.Name) and part.id == of.id for target in node.targets for part in ast.walk(target))
    ]
    last = max(made, key=lambda one: one[0])[1] if made else None
    return (_taken_from(last) or last) if last is not None else None


def _kept(body: list[ast.stmt], names: Mapping[str, Any], taken: Mapping[int, float]) -> Iterator[str]:
    """Of the lists that a cell keeps numbers in: `losses.append(float(f(x)))`, `losses = [float(f(x)) for x in xs]`."""
    for node in outside(body):
        match node:
            case ast.Call(func=ast.Attribute(value=kept, attr="append"), args=[value]):
                pass
            case ast.Assign(targets=[kept], value=ast.ListComp(elt=value)):
                pass
            case _:
                continue
        numbers = _value(kept, names)
        calls = _sources(value, body) or ([ast.unparse(call)] if (call := _made(value, body)) is not None else [])
        if type(numbers) is not list or len(numbers) > _MOST or not calls:
            continue
        bad = [k for k, one in enumerate(numbers) if type(one) is float and not math.isfinite(one)]
        if bad and (bad[-1] == len(numbers) - 1 or node.lineno in taken):
            what = "NaN" if math.isnan(numbers[bad[0]]) else "infinite"
            call = calls[0] if len(calls) == 1 and isinstance(node, ast.Call) else _A_CALL
            yield f"{ast.unparse(kept)}[{bad[0]}] is {what}. Where that comes from: %nans {call}"


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What `losses` or `history["loss"]` is now."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if type(names.get(name)) is dict:
            return names[name].get(key)
    return None


def _printed(body: list[ast.stmt], taken: Mapping[int, float]) -> Iterator[str]:
    """Of the lines that print numbers, or write them into text."""
    top = {*outside(body)}
    for line, number in taken.items():
        around = [n for one in body for n in ast.walk(one) if isinstance(n, ast.stmt) and n.lineno <= line <= _end(n)]
        if not around:
            continue
        statement = min(around, key=lambda n: _end(n) - n.lineno)
        if any(_shows(node) for node in ast.walk(statement)):
            calls = _sources(statement, body) if statement in top else []
            if isinstance(number, Among) and not calls:
                continue  # data that are printed may have missing values
            what = "A NaN" if math.isnan(number) else "An infinity"
            call = ", or %nans ".join(calls) if 0 < len(calls) < 3 else _A_CALL
            yield f"{what} is printed in line {line}. Where it comes from: %nans {call}"


def _printed_of_jax(body: list[ast.stmt], names: Mapping[str, Any]) -> Iterator[str]:
    """Of the lines that print arrays of jax's by name, which nobody is told of: those that names still stand for."""
    for node in outside(body):
        match node:
            case ast.Call(func=ast.Name(id="print" | "repr" | "str"), args=shown):
                pass
            case ast.FormattedValue(value=of):
                shown = [of]
            case _:
                continue
        for one in shown:
            one = _number_of(one) or one
            value: Any = names.get(one.id) if isinstance(one, ast.Name) else None
            if not jaxwatch.is_array(value) or value.size > _MOST or not _is_nan(value):
                continue
            call = _made(one, body)
            if call is not None and _last_given(ast.unparse(one), body) <= one.lineno:
                yield f"A NaN is printed in line {one.lineno}. Where it comes from: %nans {ast.unparse(call)}"


def _given_last(name: str, body: list[ast.stmt]) -> ast.expr | None:
    """What gave a name its last value, in a loop too; None where it was made of the one before, which is gone."""
    last = _last_given(name, body)
    made = [
        node.value
        for node in outside(body)
        if isinstance(node, ast.Assign) and node.lineno <= last <= _end(node) and name in map(ast.unparse, node.targets)
    ]
    reads = {part.id for one in made for part in ast.walk(one) if isinstance(part, ast.Name)}
    return made[-1] if made and name not in reads else None


def _last_given(name: str, body: list[ast.stmt]) -> int:
    """The line that gave a name its last value."""
    return max((n.lineno for n in outside(body) if isinstance(n, ast.Name) and name in given_by(n)), default=0)


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _shows(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "print")


def _asking(body: list[ast.stmt]) -> str:
    """`%nans loss(params, x)`: the last expression with a call that the cell shows, or the call that gave the name it shows."""
    shown = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    if isinstance(shown, (ast.Subscript, ast.Attribute)) and isinstance(shown.value, ast.Name):
        shown = shown.value
    if isinstance(shown, ast.Name):
        shown = _given_last(shown.id, body)
    if shown is not None:
        shown = _taken_from(shown) or shown
    if not isinstance(shown, (ast.Call, ast.Subscript, ast.BinOp, ast.UnaryOp)):
        return f"%nans {_A_CALL}"
    calls = any(isinstance(part, ast.Call) for part in ast.walk(shown))
    return f"%nans {ast.unparse(shown)}" if calls else f"%nans {_A_CALL}"
