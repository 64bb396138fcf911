"""A write to a NumPy array that NumPy refuses, and does not say why: it looks into the memory of an array, or what is written is traced."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from jitscope.backend.array import Array
from jitscope.core.source import Position
from jitscope.xla.runtime import xc

from ...source_code.bindings import stores
from ...source_code.edits import Edit, Span
from ...source_code.frames import value_in
from ...source_code.names import Names
from ...source_code.places import path_at
from ...source_code.text import code_in
from ...source_code.writing import anew, name_in, written
from ..diagnostic import Diagnostic, Fix


def written_to(error: BaseException, frame: FrameType, where: Position, names: Names) -> Diagnostic | None:
    """The sharp bit of an error of NumPy's that a view of an array was written to; None of other errors, and of other arrays."""
    if not (isinstance(error, ValueError) and "is read-only" in str(error)):
        return None
    for target in _targets(path_at(where)):
        if isinstance(target, ast.Call):
            if (
                target.args
                and names.dotted(target.func) in _VIEWS
                and isinstance(value_in(frame, target.args[0]), xc.ArrayImpl | Array)
            ):
                text = ast.unparse(target.args[0])
                message = f"`{ast.unparse(target)}` is a NumPy view of an array that cannot be changed: its memory is read-only."
                fix = f"Write `{text} = {text}.at[index].set(value)`: a new array with the change; or give a copy a name, `np.array({text})`."
                return Diagnostic(
                    "item-assignment", where.file, Span.of(where), message, Fix(names.own(fix)), (), "trace"
                )
            continue
        if _looks_into_an_array(value_in(frame, target)):
            text = ast.unparse(target)
            message = f"`{text}` is a NumPy view of an array that cannot be changed: its memory is read-only."
            fix = _copied(target, where, names)
            return Diagnostic("item-assignment", where.file, Span.of(where), message, fix, (), "trace")
    return None


def refused(error: BaseException, frame: FrameType, where: Position, names: Names) -> Diagnostic | None:
    """The sharp bit of `np.put(x, …)` and `np.add(x, 1, out=x)`, where `x` is no array of NumPy's; None of other errors."""
    call = next((node for node in path_at(where) if isinstance(node, ast.Call)), None)
    if call is None or not isinstance(error, TypeError | ValueError | NotImplementedError):
        return None
    dotted = names.dotted(call.func)
    target = written(call, name_in(dotted)) if dotted.startswith(("numpy.", "jax.numpy.")) else None
    if target is None or not isinstance(value_in(frame, target), xc.ArrayImpl | Array):
        return None
    message = f"`{ast.unparse(call.func)}` is to write into `{ast.unparse(target)}` here, and arrays cannot be changed in place."
    text = names.own(anew(call, name_in(dotted)))
    fix = f"Write `{text}`." if text else f"Name what {ast.unparse(target)}.at[index].set(value) gives: a new array."
    return Diagnostic("item-assignment", where.file, Span.of(where), message, Fix(fix), (), "trace")


def filled_with_traced(error: BaseException, where: Position, names: Names) -> Diagnostic | None:
    """The sharp bit of `out[i] = x`, where `out` is NumPy's and `x` has no value while it is traced; None of other errors."""
    cause = error.__cause__
    if not (isinstance(error, ValueError) and "setting an array element" in str(error) and cause is not None):
        return None
    if type(cause).__name__ not in ("ConcretizationTypeError", "TracerArrayConversionError"):
        return None
    target = next((one for one in _targets(path_at(where)) if not isinstance(one, ast.Call)), None)
    if target is None:
        return None
    text = ast.unparse(target)
    message = f"`{text}` is an array of NumPy's, which keeps numbers, and what is stored in it has none while a function is traced."
    fix = f"Make `{text}` with jnp and write `{text} = {text}.at[index].set(value)`; or collect the values in a list, and jnp.stack them."
    return Diagnostic("host-call-on-tracer", where.file, Span.of(where), message, Fix(names.own(fix)), (), "trace")


def _targets(path: list[ast.AST]) -> Iterator[ast.expr]:
    """What the code at a place writes to: the innermost first."""
    for node in path:
        match node:
            case ast.Assign(targets=targets):
                yield from (_root(one) for one in targets if isinstance(one, ast.Subscript))
            case ast.AugAssign(target=target):
                yield _root(target)
            case ast.Call(func=function, keywords=keywords):
                yield from (k.value for k in keywords if k.arg == "out")
                if isinstance(function, ast.Attribute):
                    yield _root(function.value)
                return
        if isinstance(node, ast.stmt):
            return


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _looks_into_an_array(value: Any) -> bool:
    while type(value) is np.ndarray and not value.flags.writeable:
        value = value.base
    if not isinstance(value, memoryview):
        return False
    holders = (value.obj, *gc.get_referents(value.obj))  # of what has `__buffer__` in Python a wrapper is the owner
    return any(isinstance(one, xc.ArrayImpl | Array) for one in holders)


_VIEWS = ("numpy.asarray", "numpy.asanyarray")


def _copied(target: ast.expr, where: Position, names: Names) -> Fix:
    """A copy in place of the view, as an edit where the one assignment of the name makes it."""
    otherwise = f"Make `{ast.unparse(target)}` a copy, which can be written: `np.array(x)` in place of `np.asarray(x)`."
    code = code_in(where.file, names)
    if code is None or not isinstance(target, ast.Name):
        return Fix(otherwise)
    assigned = [node for node in stores(code.tree) if node.id == target.id]
    if len(assigned) != 1 or not isinstance(statement := code.parents.get(assigned[0]), ast.Assign):
        return Fix(otherwise)
    match statement.value:
        case ast.Call(func=ast.Attribute(value=library) as function, args=[of], keywords=[]):
            if code.names.dotted(function) in _VIEWS:
                text = f"{ast.unparse(library)}.array"
                words = f"Write `{text}({ast.unparse(of)})` in line {statement.lineno}: it makes a copy, which can be written."
                return Fix(words, (Edit(code.span(function), text),))
    return Fix(otherwise)
