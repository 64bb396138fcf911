"""Conditions on arrays: `and`, `or`, `not`, chains of comparisons, `in`, `any` and `max` as operations on elements."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable


def is_truth(node: ast.AST) -> bool:
    """Whether the text tells that an expression is a boolean, or an array of booleans."""
    match node:
        case ast.BoolOp(values=values):
            return all(map(is_truth, values))
        case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.Constant(value=bool()):
            return True
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return is_truth(operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return is_truth(left) and is_truth(right)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name.startswith(_OF_TRUTHS)
    return False


_OF_TRUTHS = ("any", "all", "is", "logical_", "greater", "less", "equal", "not_equal", "array_equal", "bool")


ELEMENTS = (ast.GeneratorExp, ast.ListComp, ast.List, ast.Tuple, ast.Set, ast.Starred)
"""Expressions whose elements the text shows: what else is iterated may be no array."""

OF_TRUTH: dict[str, Callable[[list[ast.expr]], str]] = {
    "max": lambda args: _extreme("maximum", "max", args),
    "min": lambda args: _extreme("minimum", "min", args),
    "any": lambda args: f"jnp.any({_as_array(_with_conditions(args[0]))})",
    "all": lambda args: f"jnp.all({_as_array(_with_conditions(args[0]))})",
    "sorted": lambda args: f"jnp.sort({_as_array(args[0])})",
    "bool": lambda args: condition(args[0]) if is_truth(args[0]) else f"{as_operand(args[0])} != 0",
}


TRUTHS = ("any", "all", "bool")
"""Those that give a truth."""


def _extreme(two: str, all_of: str, args: list[ast.expr]) -> str:
    if len(args) == 1:
        return f"jnp.{all_of}({_as_array(args[0])})"
    text = ast.unparse(args[0])
    for other in args[1:]:
        text = f"jnp.{two}({text}, {ast.unparse(other)})"
    return text


def _with_conditions(node: ast.expr) -> ast.expr:
    """A list of truths as one of conditions."""

    def written(element: ast.expr) -> ast.expr:
        return ast.parse(condition(element), mode="eval").body

    match node:
        case ast.GeneratorExp(elt=element, generators=generators) | ast.ListComp(elt=element, generators=generators):
            return ast.ListComp(written(element), generators)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return ast.List([written(one) for one in elements], ast.Load())
    return node


def _as_array(node: ast.expr) -> str:
    """An expression as an array, where it is a list, a tuple, a set or a generator."""
    match node:
        case ast.GeneratorExp(elt=element, generators=generators):
            return f"jnp.array({ast.unparse(ast.ListComp(element, generators))})"
        case ast.List() | ast.ListComp():
            return f"jnp.array({ast.unparse(node)})"
        case ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return f"jnp.array({ast.unparse(ast.List(elements, ast.Load()))})"
        case ast.Starred():
            return f"jnp.array({ast.unparse(ast.List([node], ast.Load()))})"
    return ast.unparse(node)


def condition(node: ast.AST) -> str:
    """A condition on arrays: `and`, `or`, `not`, chains of comparisons and `in` as operations on elements."""
    match node:
        case ast.BoolOp(op=op, values=values):
            if all(map(is_truth, values)):
                return (" & " if isinstance(op, ast.And) else " | ").join(map(as_operand, values))
            name = "logical_and" if isinstance(op, ast.And) else "logical_or"
            return functools.reduce(lambda one, two: f"jnp.{name}({one}, {two})", map(condition, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"~{as_operand(operand)}" if is_truth(operand) else f"jnp.logical_not({condition(operand)})"
        case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if name in TRUTHS:
            return OF_TRUTH[name]([value])
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            return f"({_as_array(right)} == {ast.unparse(left)}).any()"
        case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
            return f"({_as_array(right)} != {ast.unparse(left)}).all()"
        case ast.Compare(left=left, ops=ops, comparators=others) if len(ops) > 1:
            sides = [left, *others]
            pairs = [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, ops, others)]
            return " & ".join(f"({ast.unparse(pair)})" for pair in pairs)
    return ast.unparse(node)


def as_operand(node: ast.expr) -> str:
    """The same as an operand of another operation."""
    text = condition(node)
    return text if isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"
