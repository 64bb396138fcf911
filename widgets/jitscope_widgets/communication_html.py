"""What the devices of a program exchange, as static HTML: a table of collectives, a table of arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import communication_words as told, words
from .guard import Pieces, part, said
from .plain import escape
from .quantities import size
from .sentences import TABLES
from .words import Document


def communication(document: Document) -> Pieces:
    """The pane of a document of communication."""
    here = words.mostly_in(document["positions"].values())
    pieces: Pieces = [said(told.headline(document))]
    if document["collectives"]:
        pieces.append(part("the list of collectives", *(_collectives(document, here, most) for most in (200, 40, 10))))
        pieces.append(f'<p class="dim">{escape(told.note(document))}</p>')
    if document["values"]:
        pieces.append(part("shardings of arguments and results", *(_values(document, most) for most in (200, 40, 10))))
    if rest := told.left_out(document):
        pieces.append(f'<p class="dim">{escape(rest)}</p>')
    return pieces


def _collectives(document: Document, here: str, most: int) -> Callable[[], str]:
    def row(one: Document) -> str:
        return (
            f'<tr><td class="nw" title="{escape(told.MEANING[one["what"]])}">{one["what"]}</td><td class="nw" title="{escape(told.spread(one))}">{escape(told.runs(one))}</td>'
            f'<td class="nw">{escape(told.exchanged(one))}</td><td>{escape(told.among(one))}</td>'
            f'<td style="min-width:110px"><code>{escape(told.types(one))}</code></td>'
            f"<td><code>{escape(told.place(document, one, here))}</code></td></tr>"
        )

    names = TABLES["columns of collectives"]
    return lambda: _table(names, [row(one) for one in document["collectives"]], most)


def _values(document: Document, most: int) -> Callable[[], str]:
    def row(value: Document) -> str:
        return (
            f"<tr><td>{escape(value['name'])} <code>{escape(value['type'])}</code></td><td>{escape(told.lies(value))}</td>"
            f'<td><code>{escape(value["part"])}</code></td><td class="nw">{escape(size(value["bytes"]))}</td></tr>'
        )

    names = TABLES["columns of layouts"]
    return lambda: _table(names, [row(value) for value in document["values"]], most)


def _table(names: Sequence[str], rows: Sequence[str], most: int) -> str:
    head = "".join(f"<th>{name}</th>" for name in names)
    more = f'<p class="dim">and {len(rows) - most:,} more</p>' if len(rows) > most else ""
    return f'<div style="overflow-x:auto"><table style="min-width:600px"><tbody><tr>{head}</tr>{"".join(rows[:most])}</tbody></table></div>{more}'
