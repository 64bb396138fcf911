"""Making diagnostics of what the look found."""

from __future__ import annotations

import ast

from jitscope.core.words import cut, sentence

from ...source_code.rewrites import rewritten
from ...source_code.text import Code
from ..catalogue import Severity
from ..diagnostic import Diagnostic, Fix


def diagnostic(
    code: Code, id: str, node: ast.AST, message: str, fix: Fix | str = "", lower: Severity | None = None
) -> Diagnostic:
    """A diagnostic at a node; `lower` is its severity where a look cannot be as sure as its id is."""
    return Diagnostic(id, code.file, code.span(node), message, Fix(fix) if isinstance(fix, str) else fix, lower=lower)


def rewriting(code: Code, node: ast.AST, asked: str, otherwise: str) -> Fix:
    """The fix that writes a node anew (for `asked` see `source_code.rewrites`), or the words `otherwise`."""
    found = rewritten([node, *code.around(node)], asked)
    if found is None:
        return Fix(otherwise)
    if not found.is_edit:
        return Fix(sentence(found.words))
    return replacing(code, found.node, found.text, found.note)


def replacing(code: Code, node: ast.AST, text: str, note: str = "") -> Fix:
    """The fix that puts `text`, in the program's names, in place of a node (see `Code.in_place_of`); `note` goes on in words. It has no edit
    where the program has no such names."""
    text = code.names.own(text)
    return Fix(f"Write `{text}`{note}.", (code.in_place_of(node, text),) if code.names.knows(text) else ())


def short(code: Code, node: ast.AST, most: int = 40) -> str:
    """The source of a node for a message."""
    return cut(code.source(node), most)


def short_call(code: Code, node: ast.Call, most: int = 40) -> str:
    """A call as a line to write: its source, or `f(…)` where that is long."""
    text = code.source(node)
    return text if len(text) <= most and "\n" not in text else f"{short(code, node.func)}(…)"
