"""Making an argument static: at the decorator, at the call of `jit`, or in the line of the magic."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jitscope.core import words
from jitscope.core.source import Position, lines_of

from ...source_code.edits import Edit, Span
from ...source_code.parameters import keyword, positional
from ...source_code.text import Code
from ...source_code.tree import first_line, parts_of
from ..code.functions import Functions, TracedFunction
from .candidates import Candidate


HELPED = ("flag-arg-traced", "loop-on-tracer", "traced-shape-arg", "traced-slice-bound", "host-call-on-tracer")
"""The sharp bits that an argument with one value for each program does away with."""


def as_static(code: Code, names: Sequence[str], defined: Position) -> Candidate | None:
    """The edit that makes these arguments static, of the compiled function defined there; None if it is not found. Of a function
    in another cell or file, or of one of jax's that another one compiles, words alone."""
    if defined.file != code.file:
        return _in_words(names, defined)
    for traced in Functions(code).traced:
        if traced.by == "jit" and first_line(traced.function) == defined.line:
            edit = _edit(code, traced, names)
            return Candidate(_said(names), (edit,)) if edit is not None else None
    return _in_words(names, defined) if code.names.library == "jax" else _in_magic(code, names, defined)


def _said(names: Sequence[str], how: str = "") -> str:
    what = "it is a Python value then, and each value has a program of its own"
    if len(names) > 1:
        what = "they are Python values then, and each set of values has a program of its own"
    return f"Make {words.listed(names)} static{how}: {what}."


def _in_words(names: Sequence[str], defined: Position) -> Candidate:
    function = defined.function.rpartition(".")[2]
    return Candidate(_said(names, f", jit({function}, static_argnames={_argument(names)})"), ())


def _argument(names: Sequence[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"


def _edit(code: Code, traced: TracedFunction, names: Sequence[str]) -> Edit | None:
    site = traced.site
    if not isinstance(site, ast.Call):
        here = code.span(site).after
        return None if site is traced.function else Edit(here, f"(static_argnames={_argument(names)})")
    given, numbers = keyword(site, "static_argnames"), keyword(site, "static_argnums")
    match given:
        case None if numbers is None:
            return Edit(code.span(site).after.moved(0, -1), f", static_argnames={_argument(names)}")
        case None if numbers is not None:
            known = [getattr(one, "value", None) for one in parts_of(numbers)]
            places = [one for one in positional(traced.function) if one not in traced.bound]
            if all(type(one) is int for one in known) and set(names) <= set(places):
                return Edit(code.span(numbers), f"({', '.join(map(str, [*known, *map(places.index, names)]))})")
        case ast.Constant(value=str(known)):
            return Edit(code.span(given), _argument((known, *names)))
    return None


def _in_magic(code: Code, names: Sequence[str], defined: Position) -> Candidate | None:
    """`%%jit --static f:name`, at the end of the magic's line."""
    line = next(iter(lines_of(code.file)), "").rstrip()
    if not line.startswith("%%jit"):
        return None
    function = defined.function.rpartition(".")[2]
    edit = Edit(Span(1, len(line), 1, len(line)), f" --static {function}:{','.join(names)}")
    return Candidate(_said(names), (edit,))
