"""Loops over what the cells' own generators give (`for xb, yb in batches(X, y, 20)`), with the generator's statements around the loop's: where each
`yield` stands, the loop's names are bound and its statements follow."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
from collections.abc import Mapping
from types import FunctionType

from . import naming, words
from .functions import Definitions, definition_of
from .inlined_calls import every_argument
from .objects_apart import with_first_turn
from .parts import Renamed, placed_at, visited
from .stand_ins import StandIns
from .watching import Visit


MOST = 3
"""So many times a generator may yield in its text."""
_OTHER = (
    *(
        ast.FunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.Global,
        ast.Nonlocal,
        ast.YieldFrom,
        ast.Await,
        ast.Return,
        ast.NamedExpr,
    ),
    *(ast.Try, ast.With, ast.Raise, ast.Assert, ast.Delete, ast.Import, ast.ImportFrom, ast.Starred),
)


def written_in(form: StandIns, definitions: Definitions, around: Mapping[str, object]) -> StandIns:
    """The statements without generators, and what was seen with the generators' own names; the same where there are none."""
    writer = _Writer(form.body, form.visit, definitions, {*around})
    new = tuple(t for s in form.body for t in writer.statement(copy.deepcopy(s)))
    if not writer.made:
        return form
    seen = with_first_turn(new, form.visit, definitions)
    own = sorted(writer.made & seen.after.keys())
    first = (*form.before, *(f"{n} = None" for n in own))  # the generator's loops may have no turn
    return StandIns(new, seen, first, (*form.after, *([f"del {', '.join(own)}"] if own else [])), form.depth)


class _Writer(naming.OwnNames):
    def __init__(
        self,
        body: naming.Statements,
        visit: Visit,
        definitions: Definitions,
        taken: set[str],
    ) -> None:
        self.visit, self.definitions = visit, definitions
        self.bound = naming.bound(body) | naming.stored_into(body)
        super().__init__(taken | self.bound | naming.loaded(body))

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        """A statement without the generators that loops in it go through."""
        for block in ("body", "orelse"):
            if isinstance(inner := getattr(s, block, None), list):
                setattr(s, block, [t for one in inner for t in self.statement(one)])
        match s:
            case ast.For(iter=ast.Call(func=ast.Name(id=name)) as call, orelse=[]) if not naming.leaves(s.body):
                function = self.visit.live.get(name)
                if isinstance(function, FunctionType) and inspect.isgeneratorfunction(function):
                    return self._written(s, call, function) or [s]
        return [s]

    def _written(self, loop: ast.For, call: ast.Call, function: FunctionType) -> list[ast.stmt] | None:
        node = definition_of(function, self.definitions)
        if node is None or function.__closure__ or not words.of_users(function):
            return None
        given, own = every_argument(node, call), naming.bound(node.body) | {*naming.parameters(node)}
        yields = naming.all_of(ast.Yield, [node])
        plain = [s for s in naming.statements(node.body) if isinstance(s, ast.Expr) and s.value in yields]
        odd = naming.has(_OTHER, node.body)
        if given is None or odd or not len(plain) == len(yields) <= MOST or any(y.value is None for y in yields):
            return None
        missing = object()
        for n in naming.loaded(node.body) - own:
            value = function.__globals__.get(n, getattr(builtins, n, missing))
            if n in self.bound or self.visit.live.get(n, value) is not value:
                return None
        changing = naming.bound(loop.body) | naming.bound(node.body)
        fixed = (ast.Name, ast.Constant)
        same = {n: v for n, v in given.items() if isinstance(v, fixed) and not (naming.loaded([v]) | {n}) & changing}
        names = {n: self.name(f"{n}_of_{node.name}") for n in sorted(own - same.keys())}
        start = [ast.Assign([ast.Name(names[n], ast.Store())], v) for n, v in given.items() if n in names]
        body = [Renamed(names | same).visit(copy.deepcopy(s)) for s in node.body]
        lines = [placed_at(s, loop) for s in [*start, *body]]
        return visited(_Yields(loop), lines)


class _Yields(ast.NodeTransformer):
    """The loop's statements in the place of each `yield`."""

    def __init__(self, loop: ast.For) -> None:
        self.loop = loop

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        if not isinstance(node.value, ast.Yield) or node.value.value is None:
            return node
        bind = ast.Assign([copy.deepcopy(self.loop.target)], node.value.value)
        return [placed_at(bind, self.loop), *copy.deepcopy(self.loop.body)]
