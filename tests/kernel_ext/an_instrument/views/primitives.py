"""How often a program uses each primitive."""

from collections.abc import Mapping
from typing import Any

from jitscope_widgets.view import inline
from jitscope_widgets.view.parts import Bar, Column, Ref, Row, Sentence, Table, View
from jitscope_widgets.words import plural


NAME = "Primitives"


def view(document: Mapping[str, Any]) -> View:
    """A sentence and a table."""
    uses = document["uses"]
    most = max((len(use["paths"]) for use in uses), default=1)
    rows = tuple(_row(use, most) for use in uses)
    table = Table(
        "Primitives, those that are used most first",
        (Column("primitive", "code"), Column("equations", "number"), Column("", "bar")),
        rows,
    )
    return Sentence(f"{plural(len(uses), 'primitive')} in use.", "headline"), table


def _row(use: Mapping[str, Any], most: int) -> Row:
    return Row(
        (use["primitive"], inline.count(len(use["paths"])), Bar(len(use["paths"]) / most)), Ref(tuple(use["paths"]))
    )
