"""Which names code gives something to, and which it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .tree import below, outside


def given_by(node: ast.AST) -> Iterator[str]:
    """The names that one node binds in its scope: by a store, as an argument, a definition, an import, the name of an error or a
    part of a pattern; `del` counts too."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case (
            ast.ExceptHandler(name=str() as name)
            | ast.MatchAs(name=str() as name)
            | ast.MatchStar(name=str() as name)
            | ast.MatchMapping(rest=str() as name)
        ):
            yield name


def stores(*nodes: ast.AST) -> list[ast.Name]:
    """The names to which code assigns, wherever it does, in functions inside of it too."""
    return [n for node in nodes for n in below(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def stored(*nodes: ast.AST) -> set[str]:
    """The same as a set of their names."""
    return {one.id for one in stores(*nodes)}


def reads(*nodes: ast.AST) -> list[ast.Name]:
    """The names whose values code reads."""
    return [n for node in nodes for n in below(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]


def read(*nodes: ast.AST) -> set[str]:
    """The same as a set of their names; `x += 1` reads `x`, too."""
    found = {one.id for one in reads(*nodes)}
    changed = (n.target for node in nodes for n in below(node) if isinstance(n, ast.AugAssign))
    return found | {target.id for target in changed if isinstance(target, ast.Name)}


def declared(node: ast.AST) -> set[str]:
    """The names that `global` and `nonlocal` say are another scope's."""
    return {name for n in below(node) if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}


def bound(function: ast.AST) -> set[str]:
    """The names that are bound in a function and those inside it, arguments among them; what is `declared` is so in a scope around it."""
    return {name for n in below(function) if n is not function for name in given_by(n)}


def bound_by(*statements: ast.AST) -> set[str]:
    """The names that statements bind in the scope they stand in: not those that functions and comprehensions have for themselves."""
    nodes = list(outside(statements))
    own = {one for node in nodes if isinstance(node, ast.comprehension) for one in below(node.target)}
    return {name for node in nodes if node not in own for name in given_by(node)}


def root_name(path: ast.AST) -> str:
    """The name that a path such as `params["w"].x` begins with; "" where it begins with none."""
    while isinstance(path, ast.Attribute | ast.Subscript):
        path = path.value
    return path.id if isinstance(path, ast.Name) else ""


def is_given_back(name: str, function: ast.AST) -> bool:
    """Whether a function may return what a name stands for, or something that it gave it to: a part of it, and what calling it gives, is not it."""
    returned = [node.value for node in below(function) if isinstance(node, ast.Return) and node.value is not None]
    every = [one for value in returned for one in below(value)]
    parts = {one.value for one in every if isinstance(one, ast.Subscript | ast.Attribute)}
    parts |= {one.func for one in every if isinstance(one, ast.Call)}
    return any(isinstance(one, ast.Name) and one.id == name and one not in parts for one in every)


def pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What an assignment gives each of its targets, as far as it is written there: `a, (b, c) = 1, (2, 3)`."""
    match target, value:
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))):
            if len(targets) == len(values) and not any(isinstance(n, ast.Starred) for n in (*targets, *values)):
                return [pair for one, its in zip(targets, values) for pair in pairs(one, its)]
    return [(target, value)]
