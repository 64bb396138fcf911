"""Loops that may have no turn: then nothing is done, and no name is bound, as in Python; the compiled form has values for all names."""

from __future__ import annotations

import ast
from dataclasses import replace

from . import naming
from .parts import EditText


def where_it_begins(edit: EditText, body: naming.Statements) -> EditText:
    """The edit under the test whether the loop has a turn, where it may have none."""
    loop = body[0]
    if len(body) > 1 or not isinstance(loop, (ast.For, ast.While)) or loop.orelse:
        return edit
    if (test := _begins(loop)) is None:
        return edit
    return replace(edit, call=(f"if {test}:", *(f"    {line}" for line in edit.call)))


def _begins(loop: ast.For | ast.While) -> str | None:
    """What is true if the loop has a turn; None where it is so always, or is not to be asked."""
    if isinstance(loop, ast.While):
        return None if isinstance(loop.test, ast.Constant) else ast.unparse(loop.test)
    lengths = lengths_of(loop.iter)
    if not lengths:
        return None
    return f"{lengths[0]} > 0" if len(lengths) == 1 else f"min({', '.join(lengths)}) > 0"


def lengths_of(node: ast.expr) -> list[str]:
    """How many elements are gone through: numbers of which the smallest counts."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args):
            if all(_is_constant(a) for a in args):
                return []
            plain = len(args) == 1 and isinstance(
                args[0], (ast.Name, ast.BinOp, ast.Call, ast.Attribute, ast.Subscript)
            )
            return [ast.unparse(args[0])] if plain else [f"len({ast.unparse(node)})"]
        case ast.Name(id=name):
            return [f"len({name})"]
        case ast.Call(func=ast.Name(id="enumerate" | "reversed"), args=[of, *_]):
            return lengths_of(of)
        case ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]):
            parts = [lengths_of(a) for a in args]
            return [n for part in parts for n in part] if all(parts) else []
    return []


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))
