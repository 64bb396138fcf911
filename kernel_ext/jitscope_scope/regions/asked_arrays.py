"""What Python's own functions and words make of numbers, as the compiler has it: `int(k)`, `min(a, b)`, `a if x > 0 else b`, `0 < x < 1 and
not done`."""

from __future__ import annotations

import ast
from collections.abc import Callable


class AskedOfArrays(ast.NodeTransformer):
    """Expressions that ask values which move for Python's numbers, or for what is true, as such of arrays. `chosen` is the function that
    takes one of two values."""

    def __init__(self, moves: Callable[[ast.AST], bool], chosen: str) -> None:
        self.moves, self.chosen = moves, chosen

    def _of(self, function: str, args: list[ast.expr], at: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Call(ast.parse(function, mode="eval").body, args, []), at)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        moves = any(map(self.moves, node.args))
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]) if moves:
                return inner
            case ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[]) if moves:
                return inner if _is_truth(inner) else _compared(inner, ast.NotEq(), 0)
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]) if moves:
                return whole(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
                return inner
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[first, *rest], keywords=[]) if moves and rest:
                for other in rest:
                    test = ast.Compare(other, [ast.Lt() if name == "min" else ast.Gt()], [first])
                    first = self._of(self.chosen, [ast.copy_location(test, node), other, first], node)
                return first
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        moves = self.moves(node.test)
        self.generic_visit(node)
        return self._of(self.chosen, [node.test, node.body, node.orelse], node) if moves else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        moves = self.moves(node.operand)
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not) or not moves:
            return node
        return _compared(node.operand, ast.Eq(), False)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        moves = self.moves(node)
        self.generic_visit(node)
        if (
            len(node.ops) == 1
            or not moves
            or any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        ):
            return node
        sides = [node.left, *node.comparators]
        pairs: list[ast.expr] = [
            ast.copy_location(ast.Compare(sides[k], [op], [sides[k + 1]]), node) for k, op in enumerate(node.ops)
        ]
        return _joined(ast.BitAnd(), pairs, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        moves = self.moves(node)
        truths = all(map(_is_truth, node.values))
        self.generic_visit(node)
        if not moves or not truths:
            return node
        return _joined(ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr(), node.values, node)


def _joined(op: ast.operator, parts: list[ast.expr], at: ast.expr) -> ast.expr:
    first, *rest = parts
    for other in rest:
        first = ast.copy_location(ast.BinOp(first, op, other), at)
    return first


def _compared(node: ast.expr, op: ast.cmpop, value: int) -> ast.expr:
    return ast.copy_location(ast.Compare(node, [op], [ast.copy_location(ast.Constant(value), node)]), node)


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression is true or false, and nothing else."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            return True
        case ast.Call(func=ast.Name(id="bool")) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=parts):
            return all(map(_is_truth, parts))
    return False


def whole(node: ast.expr) -> ast.expr:
    """What `int` makes of an array of whole numbers; floating ones, which it would cut, are refused while tracing."""
    return ast.copy_location(ast.BinOp(node, ast.BitOr(), ast.copy_location(ast.Constant(0), node)), node)
