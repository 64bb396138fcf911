"""Functions of the user's that store into the arrays they are given: a call `x = f(a)` is written as `x, a[...] = f(a)`, and the function
hands back what it stored into."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from types import FunctionType

import numpy as np

from ..source_code.parameters import given_to, positional
from ..source_code.tree import parts_of
from . import masks, naming
from .answers import CannotCompile
from .functions import Definitions, definition_of
from .in_place import stores
from .parts import numpy_in


_OF_THEIR_OWN = ("copy", "sum", "mean", "max", "min", "std", "dot")
"""Methods whose results share no memory with their array."""


class StoringCalls:
    """Finds such calls. `of` are the parameters that each function called so stores into, in the function's order."""

    def __init__(self, values: Mapping[str, object], definitions: Definitions) -> None:
        self.values, self.definitions = values, definitions
        self.of: dict[str, tuple[str, ...]] = {}
        self._open: list[str] = []
        """The functions that are looked into, one inside of the other."""
        self.given: dict[str, dict[str, object]] = {}
        """The values of the names that the first call of each function gives to its parameters."""

    def written(self, body: naming.Statements, hidden: frozenset[str] = frozenset()) -> tuple[ast.stmt, ...]:
        """The statements with these calls as stores; `hidden` are names that stand for something else here. Raises CannotCompile where a
        result would be another name of an array that is stored into."""
        for call in naming.all_of(ast.Call, body):
            if (node := self._definition(call, hidden)) is not None:
                self._note(call, given_to(positional(node), call))
        return tuple(self._statement(s, hidden) for s in body)

    def _statement(self, s: ast.stmt, hidden: frozenset[str]) -> ast.stmt:
        match s:
            case ast.Assign(targets=[target], value=ast.Call() as call):
                return self._call(s, target, call, hidden) or s
            case ast.Expr(value=ast.Call() as call):
                return self._call(s, None, call, hidden) or s
            case ast.For() | ast.While() | ast.If():
                new = copy.copy(s)
                new.body = list(self.written(s.body, hidden))
                new.orelse = list(self.written(s.orelse, hidden))
                return new
        return s

    def _call(self, s: ast.stmt, target: ast.expr | None, call: ast.Call, hidden: frozenset[str]) -> ast.stmt | None:
        if (node := self._definition(call, hidden)) is None:
            return None
        assert isinstance(call.func, ast.Name)
        if node.name in self._open:
            raise CannotCompile(s.lineno, "object", f"`{node.name}` calls itself", runs=True)
        given = given_to(positional(node), call)
        try:
            changed = self._parameters(call.func.id, node, given)
        except CannotCompile as reason:  # its lines are those of the cell that defines the function
            where = "" if f"`{call.func.id}`" in reason.cut.note else f" (in `{call.func.id}`)"
            raise CannotCompile(s.lineno, reason.cut.why, reason.cut.note + where, runs=reason.runs) from None
        if not changed:
            return None
        names = [a.id for v in given.values() for a in ast.walk(v) if isinstance(a, ast.Name)]
        for p in changed:
            name = ast.unparse(given[p])
            if names.count(name) > 1 or name in naming.loaded(node.body) - given.keys() - naming.bound(node.body):
                why = f"`{call.func.id}` stores into `{name}`, which it also reads under another name (aliasing)"
                raise CannotCompile(s.lineno, "effect", why)
        ends = [n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
        if len(ends) > 1 or (ends and ends[0] is not node.body[-1]) or (target is None) != (not ends):
            return None
        if target is not None and ends and ends[0].value is not None:
            _no_second_name(s, target, ends[0].value, {p: given[p].id for p in changed})  # type: ignore[attr-defined]
        self.of[call.func.id] = changed
        places: list[ast.expr] = [
            ast.Subscript(ast.Name(given[p].id, ast.Load()), ast.Constant(...), ast.Store())  # type: ignore[attr-defined]
            for p in changed
        ]
        inner = [target] if target is not None else []
        if isinstance(target, (ast.Tuple, ast.List)):
            inner = list(target.elts)
        to = ast.Tuple([*inner, *places], ast.Store())
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([to], call), s))

    def _definition(self, call: ast.Call, hidden: frozenset[str]) -> ast.FunctionDef | None:
        """The text of the function of the cells that is called."""
        if not isinstance(call.func, ast.Name) or call.func.id in hidden:
            return None
        function = self.values.get(call.func.id)
        node = definition_of(function, self.definitions) if isinstance(function, FunctionType) else None
        return None if node is None or node.args.vararg or node.args.kwarg else node

    def _note(self, call: ast.Call, given: Mapping[str, ast.expr]) -> None:
        """Keeps the values that the first call gives to the function's parameters."""
        values = {p: self.values[a.id] for p, a in given.items() if isinstance(a, ast.Name) and a.id in self.values}
        self.given.setdefault(call.func.id, values)  # type: ignore[attr-defined]

    def _parameters(self, name: str, node: ast.FunctionDef, given: Mapping[str, ast.expr]) -> tuple[str, ...]:
        """The parameters that a function stores into, each given the name of an array here."""
        params = naming.parameters(node)
        body = self.inside(node, self.inside_values(node))
        bindings = [s for s in naming.all_of(ast.stmt, body) if not isinstance(s, ast.AugAssign)]
        anew = {t.id for s in bindings for t in naming.targets_of(s) if isinstance(t, ast.Name)}
        arrays = {p for p in params if isinstance(self.values.get(getattr(given.get(p), "id", "")), np.ndarray)}
        touched = naming.changed(body) & arrays - anew
        found = tuple(p for p in params if p in touched)
        if name in self.of and self.of[name] != found:
            return ()
        return found

    def inside(self, node: ast.FunctionDef, values: dict[str, object]) -> tuple[ast.stmt, ...]:
        """The body of a function, in which names stand for `values`, with the stores that it and what it calls make."""
        hidden = frozenset(naming.parameters(node))
        outer, self.values = self.values, values
        self._open.append(node.name)
        try:
            return self.written(stores(node.body, values, {}), hidden | naming.bound(node.body))
        finally:
            self.values = outer
            self._open.pop()

    def inside_values(self, node: ast.FunctionDef) -> dict[str, object]:
        """What names stand for in a function, where that is known."""
        own = {*naming.parameters(node), *naming.bound(node.body)}
        return {n: v for n, v in self.values.items() if n not in own} | self.given.get(node.name, {})

    def handed_back(self, node: ast.FunctionDef, jnp: str) -> ast.FunctionDef:
        """The function as it is written for the compiler: its result, if any, and what it stored into."""
        new = copy.copy(node)
        values = self.inside_values(node)
        moving = naming.bound(node.body) | {*naming.parameters(node)}
        body = copy.deepcopy(self.inside(node, values))
        counts = dict.fromkeys(naming.loop_targets(body, naming.goes_over_range), 0)
        unmasked, _, _ = masks.unmasked(body, values, counts, jnp, moving, numpy_in(values))
        new.body = list(unmasked)
        names: list[ast.expr] = [ast.Name(p, ast.Load()) for p in self.of.get(node.name, ())]
        if not names:
            return new
        last = new.body[-1]
        if isinstance(last, ast.Return) and last.value is not None:
            parts = parts_of(last.value)
            new.body[-1] = ast.copy_location(ast.Return(ast.Tuple([*parts, *names], ast.Load())), last)
        else:
            body = new.body[:-1] if isinstance(last, ast.Return) else new.body
            new.body = [*body, ast.copy_location(ast.Return(ast.Tuple(names, ast.Load())), last)]
        ast.fix_missing_locations(new)
        return new


def _no_second_name(s: ast.stmt, target: ast.expr, result: ast.expr, names: Mapping[str, str]) -> None:
    """Refuses `b = f(a)` where `f` stores into `a` and hands it, or a view of it, back under another name."""
    targets = parts_of(target)
    results = parts_of(result)
    if len(targets) != len(results):
        raise CannotCompile(s.lineno, "effect", f"`{ast.unparse(s)[:60]}` stores into what it is given")
    for t, r in zip(targets, results, strict=True):
        method = r.func if isinstance(r, ast.Call) and isinstance(r.func, ast.Attribute) else None
        root = naming.root_of(r if method is None else method.value)
        if root is None or root not in names or (method is not None and method.attr in _OF_THEIR_OWN):
            continue
        if not (isinstance(r, ast.Name) and isinstance(t, ast.Name) and t.id == names[root]):
            why = f"`{names[root]}` is stored into and has two names after this call (aliasing)"
            raise CannotCompile(s.lineno, "effect", why)
