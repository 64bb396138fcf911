"""Syntax trees, which nobody changes: the one of a text or a file, and the ways through it. What stands below a node is found once, and
kept with it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Container, Iterable, Iterator

from jitscope.core import source


Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
_CHILDREN = "_children"


@functools.lru_cache(16)
def tree_of(text: str) -> ast.Module | None:
    """The syntax tree of a program's text; None where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parsed(file: str) -> ast.Module | None:
    """The syntax tree of a source file or a notebook's cell; None where it cannot be had, or is no Python."""
    return tree_of(source.code_of(file))


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, as `ast.iter_child_nodes` gives them."""
    found = node.__dict__.get(_CHILDREN)
    if found is None:
        found = node.__dict__[_CHILDREN] = children_now(node)
    return found


def children_now(node: ast.AST) -> list[ast.AST]:
    """The same of a node that may be changed."""
    found: list[ast.AST] = []
    own = node.__dict__
    for name in node._fields:
        value = own.get(name)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
    return found


def below(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, as `ast.walk` gives them."""
    found = [node]
    for one in found:
        found += children(one)
    return found


def outside(nodes: Iterable[ast.AST], scopes: Container[type[ast.AST]] = SCOPES) -> Iterator[ast.AST]:
    """Nodes and all below them in the order of the code, without what stands inside of the `scopes` among them."""
    rest = [*nodes][::-1]
    while rest:
        node = rest.pop()
        yield node
        if node.__class__ not in scopes:
            rest += children_now(node)[::-1]


def own_nodes(scope: ast.AST, scopes: Container[type[ast.AST]] = SCOPES) -> Iterator[ast.AST]:
    """The nodes of a function or a class without those of functions and classes inside it."""
    return outside(ast.iter_child_nodes(scope), scopes)


def parts_of(node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple that is written there, such as an index of several axes; of all else the expression alone."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def is_elif(node: ast.AST, above: ast.AST | None) -> bool:
    """Whether an `if` is the `elif` of the statement above it."""
    if not isinstance(node, ast.If) or not isinstance(above, ast.If):
        return False
    return above.orelse == [node] and node.col_offset == above.col_offset


def first_line(node: ast.stmt | ast.expr) -> int:
    """The line that a statement or a function begins in, with its decorators."""
    return min(one.lineno for one in (node, *getattr(node, "decorator_list", ())))
