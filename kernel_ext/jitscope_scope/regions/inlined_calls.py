"""Calls of the cells' functions that compute with Python's whole numbers (`steps = collatz(k)`), with the function's statements in the call's
place: the bounds of such numbers are then seen, or checked, as those of the region's own."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType

from ..source_code.parameters import default_values, given_to
from . import naming, words
from .bounds import Bounds
from .functions import Definitions, definition_of
from .parts import Renamed, calls_in_any_case, placed_at, replaced
from .returns import at_the_end
from .watching import Visit
from .whole_numbers import is_whole, without_bounds


DEPTH = 3
"""Calls inside of functions are looked at so deep."""
_OTHER = (
    *(ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await),
    *(ast.Try, ast.With, ast.Raise, ast.Assert, ast.Delete, ast.Import, ast.ImportFrom, ast.NamedExpr, ast.Starred),
)


def inlined(body: naming.Statements, visit: Visit, definitions: Definitions) -> tuple[naming.Statements, Visit]:
    """The statements, and what was seen with the functions' own names; as they are where all whole numbers have a bound."""
    writer = _Writer(body, visit, definitions)
    new = tuple(writer.block(copy.deepcopy(list(body)), DEPTH))
    if not writer.count:
        return body, visit
    whole = _whole_ones(new, writer.made, visit)
    seen = replace(visit, after={**visit.after, **dict.fromkeys(whole, 0)})
    return (new, seen) if without_bounds(body, visit) or without_bounds(new, seen) else (body, visit)


def with_effects(
    body: naming.Statements, visit: Visit, definitions: Definitions, draws: Callable[[ast.AST, Visit], bool]
) -> tuple[naming.Statements, Visit, frozenset[str]]:
    """The same of functions that draw random numbers, or bind globals, and of those that call them; and their names."""

    def bound_by(node: ast.FunctionDef, depth: int = DEPTH) -> set[str] | None:
        found, acts = _globals_in(node), any(draws(n, visit) for n in ast.walk(node))
        functions = [visit.live.get(n.id) for n in ast.walk(node) if isinstance(n, ast.Name)] if depth else []
        for function in functions:
            if isinstance(function, FunctionType) and words.of_users(function):
                inner = definition_of(function, definitions)
                if inner is not None and inner is not node and (more := bound_by(inner, depth - 1)) is not None:
                    found, acts = found | more, True
        return found if acts or found else None

    writer = _Writer(body, visit, definitions, bound_by)
    new = tuple(writer.block(copy.deepcopy(list(body)), DEPTH))
    return (new, visit, frozenset(writer.names)) if writer.count else (body, visit, frozenset())


def _whole_ones(body: naming.Statements, made: set[str], visit: Visit) -> set[str]:
    """Of names that the functions bind, those that only whole numbers are bound to."""
    given = Bounds(body, visit.values).given
    found = {n for n in made if n in given}
    while True:
        seen = replace(visit, after={**visit.after, **dict.fromkeys(found, 0)})
        kept = {n for n in found if all(_may_be_whole(e, seen) for e in given[n])}
        if kept == found:
            return found
        found = kept


def _may_be_whole(node: ast.expr | None, visit: Visit) -> bool:
    match node:
        case None:
            return False
        case ast.Call(func=ast.Name(id="range"), args=args):
            return all(is_whole(a, visit) for a in args)
    return is_whole(node, visit)


class _Writer:
    def __init__(
        self,
        body: naming.Statements,
        visit: Visit,
        definitions: Definitions,
        wanted: Callable[[ast.FunctionDef], set[str] | None] = lambda node: None if _globals_in(node) else set(),
    ) -> None:
        """`wanted` gives the globals that a function binds, or None where it stays a call."""
        self.visit, self.definitions, self.wanted = visit, definitions, wanted
        self.names: set[str] = set()
        self.bound = naming.bound(body) | naming.stored_into(body)
        self.made: set[str] = set()
        self.count = 0

    def block(self, body: list[ast.stmt], depth: int) -> list[ast.stmt]:
        return [t for s in body for t in self._statement(s, depth)]

    def _statement(self, s: ast.stmt, depth: int) -> list[ast.stmt]:
        for part in ("body", "orelse"):
            if isinstance(inner := getattr(s, part, None), list):
                setattr(s, part, self.block(inner, depth))
        first: list[ast.stmt] = []
        for field in ("value", "test", "iter"):
            node = getattr(s, field, None)
            if isinstance(node, ast.expr):
                setattr(s, field, self._called(node, first, s, depth))
        if first and isinstance(s, ast.While):
            leave = placed_at(ast.parse("while x:\n if not x: break").body[0], s)
            assert isinstance(leave, ast.While) and isinstance(leave.body[0], ast.If)
            leave.body[0].test.operand = s.test  # type: ignore[attr-defined]
            s.body, s.test = [*first, leave.body[0], *s.body], placed_at(ast.Constant(True), s)
            return [s]
        return [*first, s]

    def _called(self, node: ast.expr, first: list[ast.stmt], at: ast.stmt, depth: int) -> ast.expr:
        """The expression with names in place of calls that are made in any case; `first` gets the functions' statements."""
        for call in calls_in_any_case(node):
            if depth and (found := self._statements(call, node, at, depth)) is not None:
                first += found[0]
                node = replaced(node, call, found[1])
        return node

    def _statements(
        self, call: ast.Call, around: ast.expr, at: ast.stmt, depth: int
    ) -> tuple[list[ast.stmt], ast.expr] | None:
        function = self.visit.live.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if not isinstance(function, FunctionType) or not words.of_users(function) or function.__closure__:
            return None
        node = definition_of(function, self.definitions)
        if node is None or (shared := self.wanted(node)) is None or (given := every_argument(node, call)) is None:
            return None
        if shared & naming.loaded([around]):  # read before or after the call
            return None
        if not self._may_stand_here(node, function):
            return None
        shared, node = _globals_in(node), at_the_end(node)
        if (parts := _last_value(node.body, f"test_{self.count}_of_{node.name}")) is None:
            return None
        self.count += 1
        self.names.add(node.name)
        bound = naming.bound(node.body) - shared
        same = {
            n: v.id if isinstance(v, ast.Name) else v
            for n, v in given.items()
            if isinstance(v, (ast.Name, ast.Constant)) and n not in bound
        }
        given = {
            n: v for n, v in given.items() if n not in same
        }  # no second name for an array that the region stores into
        own = bound | given.keys()
        names = {n: f"{n}_of_{node.name}" + (f"_{self.count}" if self.count > 1 else "") for n in own}
        self.made |= {*names.values()}
        rename = Renamed(names | same)
        start = [ast.Assign([ast.Name(names[n], ast.Store())], copy.deepcopy(v)) for n, v in given.items()]
        rest = [rename.visit(copy.deepcopy(s)) for s in parts[0] if not isinstance(s, ast.Global)]
        value = rename.visit(copy.deepcopy(parts[1]))
        lines = [placed_at(s, at) for s in [*start, *rest]]
        last: list[ast.stmt] = []
        value = self._called(placed_at(value, at), last, at, depth - 1)
        return [*self.block(lines, depth - 1), *last], value

    def _may_stand_here(self, node: ast.FunctionDef, function: FunctionType) -> bool:
        """Whether the function's statements mean the same in the region."""
        inside = [n for s in node.body for n in ast.walk(s)]
        if node.decorator_list or any(isinstance(n, _OTHER) for n in inside):
            return False
        if any(isinstance(n, ast.Global) and n not in node.body for n in inside):
            return False
        shared = _globals_in(node)
        made, given = naming.bound(node.body) - shared, {*naming.parameters(node)}
        own = made | given
        if naming.stored_into(node.body) - (made - given) or node.name in naming.loaded(node.body):
            return False
        if shared and not (
            self.visit.at_top and function.__globals__ is self.visit.around and shared <= self.visit.after.keys()
        ):
            return False
        free = naming.loaded(node.body) - own
        missing = object()
        outside = {n: function.__globals__.get(n, getattr(builtins, n, missing)) for n in free - shared}
        return not any(n in self.bound or self.visit.live.get(n, v) is not v for n, v in outside.items())


def _globals_in(node: ast.FunctionDef) -> set[str]:
    """The names that a function binds as the cells' own."""
    return {n for s in node.body if isinstance(s, ast.Global) for n in s.names}


def every_argument(node: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """What a call gives to the function's parameters, defaults that are constants among them."""
    a, names = node.args, naming.parameters(node)
    if a.vararg or a.kwarg or a.kwonlyargs or len(call.args) > len(names) or any(k.arg is None for k in call.keywords):
        return None
    constants = {n: d for n, d in default_values(node).items() if isinstance(d, ast.Constant)}
    found = constants | given_to(names, call)
    return {n: found[n] for n in names} if found.keys() == {*names} else None


def _last_value(body: list[ast.stmt], name: str) -> tuple[list[ast.stmt], ast.expr] | None:
    """The statements of a function before its result, and the result; an `if` that returns right before the end chooses between two, and gets the name
    where these are tuples."""
    *first, last = body
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    value, choices = last.value, list[ast.stmt]()
    while first and not choices:
        match first[-1], value:
            case ast.If(test=test, body=[ast.Return(value=ast.Tuple(elts=a))], orelse=[]), ast.Tuple(elts=b) if len(
                a
            ) == len(b):
                chosen = ast.Name(name, ast.Load())
                value = ast.Tuple([ast.IfExp(chosen, x, y) for x, y in zip(a, b, strict=True)], ast.Load())
                choices = [ast.Assign([ast.Name(name, ast.Store())], test)]
            case ast.If(test=test, body=[ast.Return(value=ast.expr() as early)], orelse=[]), _:
                value = ast.IfExp(test, early, value)
            case _:
                break
        first.pop()
    if naming.has(ast.Return, first):
        return None
    return [*first, *choices], value
