"""The shapes of expressions, read off their text and the values of names. Nothing of the user's is run: attributes are looked up where objects
keep them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np


Shape = tuple[int, ...]


def shape_of(node: ast.AST, values: Mapping[str, Any]) -> Shape | None:
    """None where it is not known."""
    match node:
        case ast.Constant(value=int() | float() | complex()):
            return ()
        case ast.Attribute(value=value, attr="T") if (shape := shape_of(value, values)) is not None:
            return shape[::-1]
        case ast.Name() | ast.Attribute():
            found = _value(node, values)
            shape = getattr(found, "shape", None)
            return () if isinstance(found, int | float | complex) else shape if isinstance(shape, tuple) else None
        case ast.UnaryOp(operand=operand):
            return shape_of(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
            return _broadcast([left, right], values)
        case ast.Compare(left=left, ops=ops, comparators=others):
            alike = not any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in ops)
            return _broadcast([left, *others], values) if alike else None
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=[]):
            return _of_call(node.func, name, args, values)
    return None


def _of_call(function: ast.expr, name: str, args: list[ast.expr], values: Mapping[str, Any]) -> Shape | None:
    """The shape of what a function of elements gives, and of what one of them makes one number of."""
    if name.startswith(_ELEMENTWISE):
        return _broadcast(args, values) if args else None
    if name in _OF_ALL and len(args) <= 1:
        array = args[0] if args else getattr(function, "value", None)
        return () if array is not None and shape_of(array, values) is not None else None
    return None


_ELEMENTWISE = (
    "logical_", "isnan", "isfinite", "isinf", "abs", "greater", "less", "equal", "not_equal", "exp", "log", "sqrt", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "square", "maximum", "minimum", "zeros_like", "ones_like", "relu", "sigmoid",
)  # fmt: skip
_OF_ALL = ("sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "item")


def _broadcast(parts: list[ast.expr], values: Mapping[str, Any]) -> Shape | None:
    shapes = [shape_of(part, values) for part in parts]
    known = [shape for shape in shapes if shape is not None]
    try:
        return np.broadcast_shapes(*known) if len(known) == len(shapes) else None
    except ValueError:
        return None


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return values.get(name)
        case ast.Attribute(value=value, attr=name):
            return getattr(_value(value, values), "__dict__", {}).get(name)
    return None
