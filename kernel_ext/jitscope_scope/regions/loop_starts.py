"""Loops that may have no turn: then nothing is done, and no name is bound, as in Python; the compiled form has values for all names."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from ..source_code.tree import parts_of
from . import naming
from .parts import EditText


_FEW = 8
"""Turns of a loop inside of another one that may be traced one by one."""


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


def is_long(loop: ast.For, values: Mapping[str, object], changed: Collection[str]) -> bool:
    """Whether a loop inside of another one has many turns, or is left by a value: it is compiled, and not run through while tracing. `changed`
    are the names that the loops bind or store into."""
    match loop.iter:
        case ast.Subscript(value=ast.Name(id=name), slice=at) if name not in changed:
            shape = np.shape(values.get(name))[len(parts_of(at)) :]  # type: ignore[arg-type]
            return bool(shape) and shape[0] > _FEW
    if loop.orelse or naming.loaded([loop.iter]) & set(changed):
        return False
    lengths = lengths_of(loop.iter)
    if not lengths and not naming.goes_over_range(loop):
        return False
    lengths = lengths or [f"len({ast.unparse(loop.iter)})"]
    try:
        turns = eval(f"min([{', '.join(lengths)}])", {**values})
    except Exception:
        return False
    return turns > _FEW or naming.leaves(loop.body)


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))
