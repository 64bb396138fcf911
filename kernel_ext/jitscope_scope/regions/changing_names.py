"""Functions of the user's that read names which a loop of the region changes: `f(x)` that reads `theta` becomes `f(x, theta=theta)`, so that
what is compiled sees the values of each turn."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from types import FunctionType

from . import naming, words
from .answers import CannotCompile
from .functions import Definitions, definition_of
from .watching import Visit


def handed_in(
    body: naming.Statements, visit: Visit, definitions: Definitions
) -> tuple[tuple[ast.stmt, ...], dict[tuple[str, int], ast.FunctionDef]]:
    """The statements and the definitions with these names as arguments. Raises CannotCompile where a function is handed on as a value, or
    reads another variable of the same name."""
    return _Readers(body, visit, definitions).written()


class _Readers:
    def __init__(self, body: naming.Statements, visit: Visit, definitions: Definitions) -> None:
        self.body, self.visit, self.definitions = body, visit, dict(definitions)
        loops = naming.all_of((ast.For, ast.While), body)
        self.changing = naming.bound(loops) | naming.stored_into(loops)
        self.found: dict[str, frozenset[str]] = {}
        """What each function that is called, or one that it calls, reads of these."""
        self.nodes: dict[str, tuple[tuple[str, int], ast.FunctionDef]] = {}

    def written(self) -> tuple[tuple[ast.stmt, ...], dict[tuple[str, int], ast.FunctionDef]]:
        names = naming.loaded(self.body)
        for name in sorted(names):
            self._reads(name, self._line(name), ())
        readers = {n: sorted(r) for n, r in self.found.items() if r}
        if not readers:
            return tuple(self.body), self.definitions
        new = tuple(_Caller(readers, frozenset(), "").visit(copy.deepcopy(s)) for s in self.body)
        for name, extra in readers.items():
            key, node = self.nodes[name]
            self.definitions[key] = _with(node, extra, readers)
        return tuple(ast.fix_missing_locations(s) for s in new), self.definitions

    def _line(self, name: str) -> int:
        return min((n.lineno for n in naming.uses(name, self.body)), default=0)

    def _reads(self, name: str, line: int, opened: tuple[str, ...]) -> frozenset[str]:
        function = self.visit.values.get(name)
        if name in opened or not isinstance(function, FunctionType) or not words.of_users(function):
            return frozenset()
        if name in self.found:
            return self.found[name]
        node = definition_of(function, self.definitions)
        if node is None:
            return frozenset()
        own = {*naming.parameters(node), *naming.bound(node.body)}
        free, kept = (naming.loaded(node.body) | naming.stored_into(node.body)) - own, function.__code__.co_freevars
        for n in sorted(free & self.visit.own):
            if n not in kept and n in function.__globals__:
                why = f"`{name}` reads the global `{n}`, and `{n}` is a variable of its own here"
                raise CannotCompile(line, "object", why)
        found = {n for n in free & self.changing if n not in kept or n in self.visit.shared}
        for n in sorted(free - self.changing):
            found |= self._reads(n, line, (*opened, name))
        if found & own:
            raise CannotCompile(
                line, "object", f"`{name}` has a `{min(found & own)}` of its own beside the one that changes here"
            )
        code = function.__code__
        self.nodes[name] = (code.co_filename, code.co_firstlineno), node
        self.found[name] = frozenset(found)
        return self.found[name]


def _with(node: ast.FunctionDef, extra: list[str], readers: Mapping[str, list[str]]) -> ast.FunctionDef:
    """The function with more parameters."""
    new = copy.deepcopy(node)
    hidden = frozenset({*naming.parameters(node), *naming.bound(node.body)})
    new.body = [_Caller(readers, hidden, f" (in `{node.name}`)").visit(s) for s in new.body]
    new.args.kwonlyargs = [*new.args.kwonlyargs, *(ast.arg(n) for n in extra)]
    new.args.kw_defaults = [*new.args.kw_defaults, *(None for _ in extra)]
    return ast.fix_missing_locations(new)


class _Caller(ast.NodeTransformer):
    def __init__(self, readers: Mapping[str, list[str]], hidden: frozenset[str], where: str) -> None:
        self.readers, self.hidden, self.where = readers, hidden, where

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        extra = [] if name in self.hidden else self.readers.get(name, [])
        if not extra:
            return self.generic_visit(node)
        node.args = [self.visit(a) for a in node.args]
        named = [ast.keyword(n, ast.copy_location(ast.Name(n, ast.Load()), node)) for n in extra]
        node.keywords = [*(self.visit(k) for k in node.keywords), *named]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.readers.keys() - self.hidden:
            read = self.readers[node.id][0]
            why = f"`{node.id}`, which reads `{read}`, is handed on{self.where}, and `{read}` changes here"
            raise CannotCompile(node.lineno, "object", why)
        return node
