"""Where functions are in the text of the user's files, and what they return there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jitscope.core.source import Position, parsed, position_of_function


def position_of_result(fun: object) -> Position | None:
    """The expression that a Python function returns (the last one, if it returns in several places); where the function was
    defined if its source cannot be had, None for the library's own."""
    where = position_of_function(fun)
    return result_of(where) if where is not None else None


def result_of(where: Position) -> Position:
    """`position_of_result` of the function that is defined there."""
    node = node_of_function(where)
    if node is None:
        return where
    values = [one.value for one in own_nodes(node) if isinstance(one, ast.Return) and one.value is not None]
    last = node.body if isinstance(node, ast.Lambda) else max(values, key=lambda value: value.lineno, default=None)
    return where if last is None else where.at(last)


def node_of_function(where: Position) -> ast.FunctionDef | ast.Lambda | None:
    """The syntax tree of a function, by the position of `source.position_of_function`; None where there is no source."""
    tree = parsed(where.file)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.FunctionDef(decorator_list=decorators, name=name):
                if min([node.lineno, *(d.lineno for d in decorators)]) == where.line and where.function.endswith(name):
                    return node
            case ast.Lambda() if node.lineno == where.line and "<lambda>" in where.function:
                return node
    return None


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from own_nodes(child)
