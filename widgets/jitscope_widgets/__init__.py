"""Views of jitscope's documents: text, static HTML and SVG, graphviz, a live widget, whole pages.

Everything here is made from documents (plain data, see `documents`) and knows nothing of the compiler, so other
producers can show theirs. Importing this loads neither ipywidgets nor graphviz nor nbconvert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .bundle import display_bundle
from .files import write
from .html import html
from .page import enliven_notebook_html, page
from .static_files import view_problem
from .svg import svg
from .text import text


if TYPE_CHECKING:
    from .documents.checking import DocumentError, validate
    from .graphviz_view import to_graphviz
    from .notebook import export_notebook
    from .widget import View

__all__ = ["DocumentError", "View", "display_bundle", "enliven_notebook_html", "export_notebook", "html", "page", "svg",
           "text", "to_graphviz", "validate", "view_problem", "write"]  # fmt: skip

_LATER = {
    "DocumentError": "documents.checking",
    "validate": "documents.checking",
    "View": "widget",
    "export_notebook": "notebook",
    "to_graphviz": "graphviz_view",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
