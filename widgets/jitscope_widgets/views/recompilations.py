"""What was compiled or traced again: a card for each function and cause, those that cost most first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any

from .. import words
from ..documents.annotations import Matrix, RecompilationCard, RecompilationsDocument, RecompilationSite
from ..escapes import clean
from ..quantities import origin, seconds, show
from ..view import inline
from ..view.parts import Card, Cards, Column, Content, Edit, Inline, Part, Place, Row, Sentence, Table, View
from ..words import plural


NAME = "Recompilations"
NOTHING = "No function of yours was compiled or traced more than once."
_FIRST = 20
"""Cards that are shown before somebody asks for more."""


def view(document: RecompilationsDocument) -> View:
    """The parts of some recompilations; the card of the dearest is open."""
    if not document["cards"]:
        return (Sentence(NOTHING, "note"),)
    return (Cards(NAME, tuple(_card(card, at == 0) for at, card in enumerate(document["cards"])), first=_FIRST),)


def counted(card: RecompilationCard) -> str:
    """`299 recompilations and 2 retraces, 12.3 s lost`."""
    counts = ((card["compilations"], "recompilation"), (card["retraces"], "retrace"))
    parts = [plural(count, noun) for count, noun in counts if count]
    lost = show(card["seconds"])
    told = " and ".join(parts) or ("keeps an old value" if card["cause"] == "stale" else "run again")
    return told if lost == "?" else f"{told}, {lost} lost"


def _card(card: RecompilationCard, opened: bool) -> Card:
    cost = inline.muted(f" ({counted(card)})", origin(card["seconds"]))
    head = (inline.strong(clean(card["function"])), ": ", *inline.prose(clean(card["because"]).strip()), cost)
    return Card(head, tuple(_parts(card)), "warning", opened, f"{card['function']}/{card['cause']}")


def _parts(card: RecompilationCard) -> Iterator[Part]:
    for site in card["sites"]:
        if site["position"] is not None:
            yield Sentence(_site(site))
    if card["sites_left"]:
        yield Sentence(f"and from {plural(card['sites_left'], 'more line')}", "note")
    if card["matrix"]["rows"]:
        yield _matrix(card["matrix"], clean(card["function"]))
    if card["fix"]:
        yield Edit(card["fix"])


def _site(site: RecompilationSite) -> tuple[Inline, ...]:
    """`called from In [3], line 7, 28 times, 1.2 s: step(x), led to by …`"""
    count = site["compilations"] + site["retraces"]
    times = "once" if count == 1 else f"{count:,} times"
    called = (
        inline.muted("called from "),
        _place(site["position"]),
        inline.muted(f", {times}, {seconds(site['seconds'])}"),
    )
    return (*called, *_code(site["position"]), *(piece for one in site.get("led", ()) for piece in _led(one)))


def _led(position: Any) -> tuple[Inline, ...]:
    return (inline.muted(", led to by "), _place(position), *_code(position))


def _place(position: Any) -> Place:
    return Place(words.where(position), position)


def _code(position: Any) -> tuple[Inline, ...]:
    text = clean(position["text"].strip())
    return (": ", inline.code(text)) if text else ()


def _matrix(matrix: Matrix, function: str) -> Table:
    """The keys of the programs side by side."""
    columns = [
        Column(
            clean(column["label"]),
            "code",
            f"{'traced again, the program was known' if column['what'] == 'reused' else 'compiled'}; "
            f"{'calls not counted' if column['calls'] is None else plural(column['calls'], 'call')}",
        )
        for column in matrix["columns"]
    ]
    at, left = matrix["columns_left_after"], matrix["columns_left"]
    gap, more = ([Column("…", "short")], [inline.muted(f"{left:,} more")]) if left else ([], [])
    rows = []
    for row in matrix["rows"]:
        cells: list[Content] = [
            inline.Text(clean(text), "mark", "differs from the one before") if changed else clean(text)
            for text, changed in islice(zip_longest(row["cells"], row["changed"], fillvalue=""), len(columns))
        ]
        cells += [""] * (len(columns) - len(cells))
        rows.append(Row((clean(row["path"]), *cells[:at], *more, *cells[at:])))
    bold = "bold: differs from the one before" if any(any(row["changed"]) for row in matrix["rows"]) else ""
    alike = matrix.get("alike_left", 0)
    differ = matrix["rows_left"] - alike
    return Table(
        f"Keys of {function}",
        (Column("program", "code"), *columns[:at], *gap, *columns[at:]),
        tuple(rows),
        left_out="; ".join(filter(None, (bold, _left_out(differ, ""), _left_out(alike, ", the same in all,")))),
        matrix=True,
        drawing=tuple(_changes(matrix)),
    )


def _left_out(count: int, which: str) -> str:
    return f"{plural(count, 'more row')}{which} left out" if count else ""


def _changes(matrix: Matrix) -> Iterator[str]:
    """What changed alone, each with the values it had: `x  f32[64,20] -> f32[40,20]`."""
    at, left = matrix["columns_left_after"], matrix["columns_left"]
    rows = [row for row in matrix["rows"] if any(row["changed"])]
    width = max((len(clean(row["path"])) for row in rows), default=0)
    for row in rows:
        cells = [clean(cell) for cell in row["cells"]]
        shown = [*cells[:at], *([f"({left:,} more)"] if left else []), *cells[at:]]
        yield f"{clean(row['path']):{width}}  {' -> '.join(shown)}"
