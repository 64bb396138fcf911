"""Which squares of a column and a row, made outside of jit, nobody meant: what the code at the line says."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jitscope.core.source import Position

from ...source_code.parameters import keyword
from ...source_code.places import path_at
from ...source_code.tree import FUNCTIONS, parsed


_REDUCING = {"mean", "sum", "nanmean", "nansum"}
_EXPANDING = {"reshape", "expand_dims", "newaxis", "keepdims", "atleast_2d"}


def is_meant(where: Position) -> bool:
    """Whether the code wants each element with each, or does not say what for: a column was made of a vector, or what comes of it is
    not made one number."""
    path = path_at(where)
    made = next((node for node in path if isinstance(node, ast.BinOp | ast.Compare | ast.Call)), None)
    tree = parsed(where.file)
    if made is None or tree is None or not _one_number(path, made):
        return True
    operands = _operands(made)
    names = {node.id for one in operands for node in ast.walk(one) if isinstance(node, ast.Name)}
    given = [one for node in ast.walk(tree) for one in _given(node, names, path)]
    return any(_expands(one) for one in (*operands, *given))


def _operands(made: ast.BinOp | ast.Compare | ast.Call) -> list[ast.expr]:
    if isinstance(made, ast.BinOp):
        return [made.left, made.right]
    return [made.left, *made.comparators] if isinstance(made, ast.Compare) else [*made.args]


def _given(node: ast.AST, names: set[str], path: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """What names are bound to, by an assignment or a call of the function around the line."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For | ast.comprehension):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bound = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        value = node.iter if isinstance(node, ast.For | ast.comprehension) else node.value
        if bound & names and value is not None:
            yield value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        around = {one.name for one in path if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        if node.func.id in around:
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)


def _expands(value: ast.expr) -> bool:
    """Whether an expression makes a column of a vector in so many words."""
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript) and any(
            isinstance(one, ast.Constant) and one.value is None for one in ast.walk(node.slice)
        ):
            return True
        if _name(node) in _EXPANDING:
            return True
    return False


def _one_number(path: Sequence[ast.AST], made: ast.AST) -> bool:
    """Whether one number is made of a result: around it, or, where it is given a name, of that name."""
    around = path[path.index(made) + 1 :]
    for node in around:
        if _reduces(node):
            return True
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            scope = next((one for one in around if isinstance(one, (*FUNCTIONS, ast.Module))), node)
            return _is_reduced(scope, node.targets[0].id)
        if isinstance(node, ast.stmt | ast.Lambda):
            return False
    return False


def _is_reduced(scope: ast.AST, name: str) -> bool:
    return any(
        _reduces(node) and any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))
        for node in ast.walk(scope)
    )


def _reduces(node: ast.AST) -> bool:
    """Whether it is a call such as `jnp.mean(…)` or `(…).sum()`, of all elements."""
    if not isinstance(node, ast.Call) or keyword(node, "axis") is not None:
        return False
    of_module = isinstance(node.func, ast.Name) or (
        isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and bool(node.args)
    )
    return _name(node.func) in _REDUCING and len(node.args) == (1 if of_module else 0)


def _name(node: ast.AST) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=str(name)):
            return name
    return ""
