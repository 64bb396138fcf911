"""What a document gives to the notebook: a live view where there is a kernel for it, static HTML, text."""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import words
from .answers import SILENT, Answers
from .envelope import PackedDocument
from .escapes import escape
from .html import html
from .static_files import view_problem
from .text import text
from .words import Document


_LONGEST_TEXT = 30_000


def display_bundle(document: Document, answers: Answers = SILENT) -> dict[str, Any]:
    """The MIME bundle to display for `document`; making it never raises.

    In a kernel that a front end talks to, it holds a live view, which asks `answers` for what costs time. Everywhere it holds static HTML (`text/html`) and
    the text form (`text/plain`).
    """
    with _not_collecting():
        problem = view_problem()
        if not in_kernel() or problem:
            return static_bundle(document, problem)
        try:
            from .widget import View

            return View(document, answers).bundle()
        except Exception as error:
            return static_bundle(document, words.failure("this document as a live widget", error))


@contextmanager
def _not_collecting() -> Iterator[None]:
    """Without looking for garbage: large documents are many objects and no cycles, and looking takes as long as the view."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def static_bundle(document: Document, note: str = "", packed: PackedDocument | None = None) -> dict[str, Any]:
    """The static HTML and the text form; one that cannot be made is replaced by a sentence."""
    return {"text/html": _static_html(document, note, packed), "text/plain": _text(document)}


def in_kernel() -> bool:
    """Whether this process is a Jupyter kernel with a front end, so that a view can talk to it.

    Who executes notebooks without one (nbclient: `nbconvert --execute`, papermill, jupyter-book) allows no input. It would keep the
    widget, without a kernel, and `nbconvert` would show that instead of the HTML.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return False
    asked = kernel.get_parent("shell") if hasattr(kernel, "get_parent") else {}
    return asked.get("content", {}).get("allow_stdin", True)


def _static_html(document: Document, note: str, packed: PackedDocument | None) -> str:
    try:
        return html(document, note=note, packed=packed)
    except Exception as error:
        return f'<div class="jitscope"><p>{escape(words.failure("this document as HTML", error))}</p></div>'


def _text(document: Document) -> str:
    try:
        return _shortened(text(document, width=_width())) or "jitscope: there is nothing to show."
    except Exception as error:
        return words.failure("this document as text", error)


def _width() -> int:
    """The columns of a text: those of the terminal where it stands in a narrow one, else as many as are read well."""
    if in_kernel() or not sys.stdout.isatty():
        return _WIDEST
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))


_NARROWEST, _WIDEST = 40, 100


def _shortened(said: str) -> str:
    """The beginning of a long text: a saved output holds it beside the HTML."""
    if len(said) <= _LONGEST_TEXT:
        return said
    kept = said[: said.rfind("\n", 0, _LONGEST_TEXT) + 1 or _LONGEST_TEXT]
    left = said.count("\n") - kept.count("\n") + 1
    return f"{kept}({words.plural(left, 'more line')} left out of the saved output to keep it small; repr() gives all)"
