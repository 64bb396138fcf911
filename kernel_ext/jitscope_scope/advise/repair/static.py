"""Making an argument static: at the decorator, at the call of `jit`, or in the line of the magic."""

from __future__ import annotations

import ast

from jitscope.core.source import Position

from ...source_code.edits import Edit, Span
from ...source_code.parameters import keyword
from ...source_code.text import Code
from ...source_code.tree import first_line
from ..code.functions import Functions, TracedFunction
from .candidates import Candidate


HELPED = ("flag-arg-traced", "loop-on-tracer", "traced-shape-arg", "traced-slice-bound", "host-call-on-tracer")
"""The sharp bits that an argument with one value for each program does away with."""


def as_static(code: Code, name: str, defined: Position) -> Candidate | None:
    """The edit that makes the argument `name` static, of the compiled function defined there; None if it is not found. Of a function
    in another cell or file, or of one of jax's that another one compiles, words alone."""
    if defined.file != code.file:
        return _in_words(name, defined)
    for traced in Functions(code).traced:
        if traced.by == "jit" and first_line(traced.function) == defined.line:
            edit = _edit(code, traced, name)
            return Candidate(_WORDS.format(f"Make {name} static"), (edit,)) if edit is not None else None
    return _in_words(name, defined) if code.names.library == "jax" else _in_magic(code, name, defined)


_WORDS = "{}: it is a Python value then, and each value has a program of its own."


def _in_words(name: str, defined: Position) -> Candidate:
    function = defined.function.rpartition(".")[2]
    return Candidate(_WORDS.format(f'Make {name} static, jit({function}, static_argnames="{name}")'), ())


def _edit(code: Code, traced: TracedFunction, name: str) -> Edit | None:
    site = traced.site
    if not isinstance(site, ast.Call):
        here = code.span(site).after
        return None if site is traced.function else Edit(here, f"(static_argnames={name!r})".replace("'", '"'))
    given = keyword(site, "static_argnames")
    match given:
        case None if keyword(site, "static_argnums") is None:
            return Edit(code.span(site).after.moved(0, -1), f', static_argnames="{name}"')
        case ast.Constant(value=str(known)):
            return Edit(code.span(given), f'("{known}", "{name}")')
    return None


def _in_magic(code: Code, name: str, defined: Position) -> Candidate | None:
    """`%%jit --static f:name`: the line of the magic stands as a text where the cell was run."""
    first = code.tree.body[0] if code.tree.body else None
    match first:
        case ast.Expr(value=ast.Constant(value=str() as line)) if line.startswith("%%jit") and "--static" not in line:
            end = len(line.rstrip())
            function = defined.function.rpartition(".")[2]
            edit = Edit(Span(1, end, 1, end), f" --static {function}:{name}")
            return Candidate(_WORDS.format(f"Make {name} static"), (edit,))
    return None
