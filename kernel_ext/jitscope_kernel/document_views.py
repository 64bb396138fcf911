"""Texts and documents that show themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import jitscope_widgets
from jitscope_widgets.answers import SILENT, Answers
from jitscope_widgets.documents.annotations import GraphDocument


D = TypeVar("D", bound=Mapping[str, Any])


class Program(str):
    """The text of a program; shows as it reads."""

    def __repr__(self) -> str:
        return str(self)


class DocumentView(Generic[D]):
    """A document that shows itself: as a view in a notebook, as text elsewhere."""

    document: D

    def __init__(self, document: D, answers: Answers = SILENT) -> None:
        self.document = document
        self._answers = answers

    def save(self, path: str | Path) -> Path:
        """Write the view as a file and give its path; the ending says what: .html (a page that needs nothing else), .svg, .png,
        .dot (the graph), .txt, or .json (the document itself)."""
        return jitscope_widgets.write(self.document, path)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return jitscope_widgets.display_bundle(self.document, self._answers)

    def _display_(self) -> Any:
        """What marimo shows: the live view, which it takes as a widget; where that is missing, the still one."""
        if not jitscope_widgets.view_problem():
            return jitscope_widgets.View(self.document, self._answers)
        from IPython.display import HTML

        return HTML(jitscope_widgets.html(self.document))

    def __repr__(self) -> str:
        return jitscope_widgets.text(self.document)


class Graph(DocumentView["GraphDocument"]):
    """A graph that shows itself, and is also to be had for graphviz."""

    document: GraphDocument

    def to_graphviz(self) -> Any:
        """The graph as a `graphviz.Digraph`: it draws itself where `dot` is installed, `.source` is its text."""
        return jitscope_widgets.to_graphviz(self.document)
