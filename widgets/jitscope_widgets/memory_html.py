"""The memory of a program as static HTML: the curve as a picture, and a table of what is alive at the peak."""

from __future__ import annotations

from collections.abc import Callable

from . import memory_words as told, words
from .guard import Pieces, part, said
from .memory_chart import chart
from .plain import clean, escape
from .quantities import origin, size
from .words import Document, plural


def memory(document: Document) -> Pieces:
    """The pane of a document of memory."""
    here = words.mostly_in(document["positions"].values())
    pieces: Pieces = [said(told.headline(document)), said(told.reserved(document))]
    pieces.append(part("the curve of memory in use", lambda: chart(document), worth=3.0))
    pieces.append(part("the list of buffers", *(_table(document, here, most) for most in (100, 30, 10))))
    rows = [
        row
        for change in document["changes"]
        if (row := told.tried(change, document)) and (row := f"{clean(change['text'])}: {row}")
    ]
    pieces += [said(row) for row in rows]
    if remark := told.left_out(document):
        pieces.append(f'<p class="dim">{escape(remark)}</p>')
    cost = document["cost"]
    pieces.append(f'<p class="dim" title="{escape(origin(cost))}">{escape(words.cost(cost))}</p>')
    return pieces


def _table(document: Document, here: str, most: int) -> Callable[[], str]:
    largest = max((b["bytes"] for b in document["buffers"]), default=1) or 1

    def row(buffer: Document) -> str:
        bar = f'<span class="bar" style="width:{max(1, round(120 * buffer["bytes"] / largest))}px"></span>'
        cells = [
            f'<td class="nw">{escape(size(buffer["bytes"]))} {bar}</td>',
            f"<td>{escape(buffer['label'])}</td><td>{escape(buffer['kind'])}</td><td><code>{escape(buffer['type'])}</code></td>",
            f'<td class="nw">{told.steps(buffer)}</td><td><code>{escape(told.place(document, buffer, here))}</code></td>',
        ]
        return f"<tr>{''.join(cells)}</tr>"

    def form() -> str:
        shown = told.at_peak(document)[:most]
        names = ("size", "what", "memory of", "type", "in use", "made by")
        head = "".join(f"<th>{name}</th>" for name in names)
        more = told.more_at_peak(document, len(shown))
        rest = f'<p class="dim">{escape(more)}</p>' if more else ""
        count = plural(document["peak"]["count"], "buffer")
        return (
            f"<p><b>In use at the peak</b>, largest first ({count})</p>"
            f"<table><tbody><tr>{head}</tr>{''.join(map(row, shown))}</tbody></table>{rest}"
        )

    return form
