"""Which scope a name belongs to at a place, by Python's rules: functions and comprehensions have names of their own, methods do not
see those of their class, `global` and `nonlocal` say otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .bindings import given_by
from .tree import COMPREHENSIONS, FUNCTIONS, below, children


_OPENING = {*FUNCTIONS, *COMPREHENSIONS, ast.arguments, ast.ClassDef, ast.comprehension}
"""Nodes below which another scope begins."""
_BINDING = {
    ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
    ast.MatchMapping,
}  # fmt: skip


class Scopes:
    """The scopes of a program and what binds each name in them. `nodes` are all nodes, those above before those below."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._own: dict[ast.AST, ast.AST] = {nodes[0]: nodes[0]}
        self._bound: dict[tuple[ast.AST, str], list[ast.AST]] = {}
        self._elsewhere: dict[tuple[ast.AST, str], type[ast.AST]] = {}
        binding: list[ast.AST] = []
        for node in nodes:
            own, kind = self._own[node], node.__class__
            for child in children(node):
                self._own[child] = own
            if kind in _OPENING:
                for child, scope in self._below(node, own):
                    self._own[child] = scope
            elif kind is ast.Global or kind is ast.Nonlocal:
                self._elsewhere.update({(own, name): kind for name in node.names})  # pyright: ignore[reportAttributeAccessIssue]
            if kind in _BINDING:
                binding.append(node)
        for node in binding:
            for name in given_by(node):
                self._bound.setdefault((self._binder(self._own[node], name, node), name), []).append(node)

    def _below(self, node: ast.AST, own: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """The nodes below one that stand in another scope than itself."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from ((child, node) for child in (node.args, *node.body))
            case ast.Lambda(args=arguments, body=body):
                yield from ((child, node) for child in (arguments, body))
            case ast.arguments(defaults=defaults, kw_defaults=named):
                outer = self._own[own]
                yield from ((child, outer) for child in (*defaults, *named) if child is not None)
            case ast.ClassDef(body=body):
                yield from ((child, node) for child in body)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                yield from ((child, node) for child in children(node))
            case ast.comprehension(iter=iterated) if node is own.generators[0]:  # pyright: ignore[reportAttributeAccessIssue]
                yield iterated, self._own[own]

    def _binder(self, scope: ast.AST, name: str, node: ast.AST) -> ast.AST:
        """The scope in which a node binds a name."""
        while isinstance(scope, COMPREHENSIONS) and not _is_target(node, scope):
            scope = self._own[scope]
        declared = self._elsewhere.get((scope, name))
        if declared is None:
            return scope
        return self._module(scope) if declared is ast.Global else self._nonlocal(scope, name)

    def _module(self, scope: ast.AST) -> ast.AST:
        while not isinstance(scope, ast.Module):
            scope = self._own[scope]
        return scope

    def _nonlocal(self, scope: ast.AST, name: str) -> ast.AST:
        """The nearest function around one that does not say itself that a name is another's."""
        around = self._own[scope]
        while not isinstance(around, ast.Module):
            if isinstance(around, FUNCTIONS) and (around, name) not in self._elsewhere:
                return around
            around = self._own[around]
        return around

    def of(self, node: ast.AST) -> ast.AST:
        """The scope that a node stands in: a function, class, comprehension or the module. Decorators, defaults and bases stand in
        the one around."""
        return self._own.get(node) or next(iter(self._own))

    def binding(self, name: str, at: ast.AST) -> ast.AST | None:
        """The scope whose name is meant at a place; None where the program binds none: a builtin, or a name of cells before it."""
        scope, first = self.of(at), True
        while True:
            declared = self._elsewhere.get((scope, name))
            if declared is ast.Global:
                scope = self._module(scope)
            elif (scope, name) in self._bound and (first or not isinstance(scope, ast.ClassDef)):
                return scope
            if isinstance(scope, ast.Module):
                return scope if (scope, name) in self._bound else None
            first = first and isinstance(scope, COMPREHENSIONS)
            scope = self._own[scope]

    def names(self, scope: ast.AST) -> Iterator[tuple[str, Sequence[ast.AST]]]:
        """The names that a scope binds, and what binds each."""
        return ((name, binders) for (own, name), binders in self._bound.items() if own is scope)

    def binders(self, scope: ast.AST, name: str) -> Sequence[ast.AST]:
        """What binds a name in a scope: stored names, arguments, definitions, imports."""
        return self._bound.get((scope, name), ())


def _is_target(node: ast.AST, comprehension: ast.AST) -> bool:
    """Whether a stored name is one that a comprehension loops with, and not one that `:=` gives a value."""
    generators: list[ast.comprehension] = comprehension.generators  # pyright: ignore[reportAttributeAccessIssue]
    return any(node is one for generator in generators for one in below(generator.target))
