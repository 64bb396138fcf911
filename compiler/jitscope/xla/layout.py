"""Laying out text in lines: jaxlib's pretty printer.

A group is printed on one line if it fits; otherwise its breaks become new lines, indented as its nests say.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .versions import printing


_printer: Any = import_module("jaxlib._pretty_printer")

Doc = Any
text, line_break, nest, group, concat = _printer.text, _printer.brk, _printer.nest, _printer.group, _printer.concat


def join(separator: Doc, docs: Sequence[Doc]) -> Doc:
    """Documents one after another with the separator between them."""
    if not docs:
        return _printer.nil()
    return concat([docs[0], *[part for doc in docs[1:] for part in (separator, doc)]])


def render(doc: Doc, width: int = 80) -> str:
    """The document in lines of that width where its breaks allow."""
    return doc._format(width, **printing(_printer))
