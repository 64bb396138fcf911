"""What stands at a place of the user's files: the nodes around it, the function, the loop; and what functions return there."""

from __future__ import annotations

import ast
import itertools

from jitscope.core.source import Position, position_of_function

from .tree import FUNCTIONS, LOOPS, Function, below, first_line, own_nodes, parsed


def path_at(position: Position) -> list[ast.AST]:
    """The nodes around a position, the innermost first; none where there is no source."""
    tree = parsed(position.file)
    return path_in(tree, position) if tree is not None else []


def path_in(tree: ast.Module, position: Position) -> list[ast.AST]:
    """The same in a tree of that source."""
    start, end = (position.line, position.column), (position.end_line, position.end_column)
    found: list[ast.AST] = []
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if not isinstance(node, ast.Module):
            if not isinstance(node, (ast.expr, ast.stmt)):
                todo += ast.iter_child_nodes(node)
                continue
            if (node.lineno, node.col_offset) > start or (node.end_lineno, node.end_col_offset) < end:  # pyright: ignore
                continue
        found.append(node)
        todo = list(ast.iter_child_nodes(node))
    return found[::-1]


def with_index(path: list[ast.AST]) -> list[ast.AST]:
    """A path that begins at the index of an update: `x.at[i].set(y)` reads its index in the call of its method."""
    match path[:1]:
        case [ast.Call(func=ast.Attribute(value=ast.Subscript(value=ast.Attribute(attr="at")) as index) as method)]:
            return [index, method, *path]
    return path


def loop_around(where: Position) -> ast.For | ast.AsyncFor | ast.While | ast.expr | None:
    """The innermost loop or comprehension that a position stands in, within its function: a decorator, or a default, is run by what is
    around the function."""
    path = path_at(where)
    for inner, node in itertools.pairwise([None, *path]):
        if isinstance(node, LOOPS):
            return node
        if isinstance(node, FUNCTIONS) and (node.body is inner or (isinstance(node.body, list) and inner in node.body)):
            return None
    return None


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


def node_of_function(where: Position) -> Function | None:
    """The syntax tree of a function, by the position of `source.position_of_function`; None where there is no source."""
    return function_at(where.file, where.line, where.function.rpartition(".")[2])


def function_at(file: str, line: int, name: str) -> Function | None:
    """The function of a name (`<lambda>` of lambdas) that begins in a line, its decorators included."""
    tree = parsed(file)
    for node in below(tree) if tree is not None else ():
        if isinstance(node, FUNCTIONS) and getattr(node, "name", "<lambda>") == name and first_line(node) == line:
            return node
    return None
