"""The values of a program as static HTML: a table, those that are not finite first, with histograms and pictures of some."""

from __future__ import annotations

from collections.abc import Callable

from . import values_words as told, words
from .guard import Pieces, part, said
from .plain import escape
from .quantities import origin
from .values_chart import bars, grid
from .words import Document


def values(document: Document) -> Pieces:
    """The pane of a document of values."""
    here = words.mostly_in(document["lines"])
    pieces: Pieces = [said(document["sentence"])]
    pieces += [said(line) for line in (document["differs"], *told.loops(document), *document["remarks"]) if line]
    pieces.append(part("the table of values", *(_table(document, here, most) for most in (400, 100, 30))))
    rows = {(row["path"], row["result"]): row for row in document["rows"]}
    for detail in document["details"][:40]:
        row = rows.get((detail["path"], detail["result"]))
        if row is not None:
            pieces.append(
                part(f"the picture of {told.name(row)}", lambda row=row, detail=detail: closer(row, detail), worth=0.2)
            )
    cost = document["cost"]
    pieces.append(f'<p class="dim" title="{escape(origin(cost))}">{escape(words.cost(cost))}</p>')
    return pieces


def closer(row: Document, detail: Document) -> str:
    """A value with its histogram, its picture and its first elements."""
    iteration = f", iteration {detail['iteration']:,}" if detail["iteration"] is not None else ""
    first = f"<p>First elements: <code>{escape(', '.join(detail['first']))}</code></p>" if detail["first"] else ""
    pictures = bars(detail["histogram"]) + grid(detail["picture"])
    parts = "".join(f"<tr><td>{escape(place)}</td><td>{escape(said)}</td></tr>" for place, said in told.parts(detail))
    pictures += f"<table><tbody><tr><th>device</th><th>its part</th></tr>{parts}</tbody></table>" if parts else ""
    return (
        f"<details><summary>{escape(told.name(row))} <code>{escape(row['type'])}</code>{iteration} "
        f'<span class="bad">{escape(told.marks(row))}</span></summary><div class="in">{pictures}{first}</div></details>'
    )


def _table(document: Document, here: str, most: int) -> Callable[[], str]:
    ordered = told.order(document)

    def row(one: Document) -> str:
        figures = [told.figure(one[name]) for name in ("min", "max", "mean", "std")]
        cells = [escape(told.name(one)), f"<code>{escape(one['type'])}</code>", *map(escape, figures), told.zeros(one)]
        cells += [
            f'<span class="bad">{escape(told.marks(one))}</span>',
            f"<code>{escape(told.line(document, one, here))}</code>",
        ]
        return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"

    def form() -> str:
        names = ("value", "type", "min", "max", "mean", "std", "zeros", "not finite", "line")
        head = "".join(f"<th>{name}</th>" for name in names)
        more = f'<p class="dim">and {len(ordered) - most:,} more</p>' if len(ordered) > most else ""
        return f"<table><tbody><tr>{head}</tr>{''.join(map(row, ordered[:most]))}</tbody></table>{more}"

    return form
