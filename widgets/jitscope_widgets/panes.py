"""The panes of the static HTML, one for each kind of document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from . import code, jaxpr_lines, words
from .budget import Part
from .escapes import escape
from .guard import Pieces, attempt_all, part, said
from .painter import line_hues
from .program_html import picture, source_lines
from .quantities import show
from .sentences import say
from .view.as_html import as_html, inline
from .view.markup import element
from .view.parts import Sentence
from .view_data import fusion_of, parts_of, timing_of, title_of
from .views import has_view
from .words import Document, plural


_MOST_FIXED = 6000  # bytes that what cannot be shortened in an instrument's pane may take
_MOST_LINES = 4000  # of a program; more would be laid out only to be left out


def compilation_pieces(compilation: Document) -> Iterator[str | Part]:
    """All panes of one compiled program."""
    hues = line_hues(compilation["graph"])
    source = compilation["source"]
    count = words.recompiled(compilation)
    yield from _pane(
        "Graph",
        plural(compilation["equations"], "equation"),
        lambda: [
            '<div class="two">',
            *(source_lines(source, hues) if source else ()),
            picture("the graph", compilation["graph"], hues, worth=10.0),
            "</div>",
            *_laid_over(compilation["graph"]),
        ],
        opened=True,
    )
    if compilation["fusion"]:
        summary = compilation["fusion"]["summary"]
        told = f"{plural(summary['before'], 'operation')} → {plural(summary['kernels'], 'kernel')}"
        yield from _pane("Fusion", told, lambda: pane(fusion_of(compilation), compilation["graph"]))
    total = show(compilation["timing"]["total"])
    yield from _pane("Timing", total, lambda: pane(timing_of(compilation)))
    for name, found in compilation.get("instruments", {}).items():
        yield from _pane(title_of(name), "", lambda found=found: _instrument(found, compilation["graph"]))
    label = f"Recompiles ({count})" if count else "Recompiles"
    yield from _pane(label, "" if count else "none", lambda: pane(compilation["recompilations"]))
    yield from _pane("Jaxpr", "", lambda: _jaxpr(compilation))


def _instrument(found: Document, program: Document) -> Pieces:
    """The pane of an instrument; of one whose sentences alone would take the room of the program, all or its first sentence."""
    pieces = pane(found, program)
    if sum(len(one) if isinstance(one, str) else one.size_of(len(one.forms) - 1) for one in pieces) <= _MOST_FIXED:
        return pieces
    first = parts_of(found)[:1] if has_view(found["kind"]) else ()
    head = "".join(one if isinstance(one, str) else one.text for one in as_html(first))
    rest = said("The rest is left out here to keep the saved output small; the live view shows it.")
    whole = lambda: "".join(one if isinstance(one, str) else one.text for one in pieces)
    return [part(title_of(found["kind"]).lower(), whole, lambda: head + rest)]


def _laid_over(graph: Document) -> Pieces:
    """What the numbers of a user's own are, where there are any."""
    name = words.own_numbers(graph)
    return [said(say("numbers laid over", what=name))] if name else []


def _pane(title: str, told: str, make: Callable[[], Iterable[str | Part]], opened: bool = False) -> Pieces:
    summary = f"{escape(title)}{f' <span class={chr(34)}dim{chr(34)}>{escape(told)}</span>' if told else ''}"
    return [
        f'<details class="pane"{" open" if opened else ""}><summary>{summary}</summary><div class="in">',
        *attempt_all(title.lower(), make),
        "</div></details>",
    ]


# --- programs ------------------------------------------------------------------------------------------------------------


def _jaxpr(compilation: Document) -> Pieces:
    names = jaxpr_lines.names(compilation)
    told = [said(f"Arguments: {names}.")] if names else []
    return [*told, _program("the jaxpr", jaxpr_lines.lines(compilation))]


def _program(what: str, lines: list[str]) -> Part:
    if len(lines) > _MOST_LINES:
        return part(what)
    return part(what, lambda: code.numbered((str(at), line, "") for at, line in enumerate(lines, 1)), worth=0.5)


# --- the other kinds --------------------------------------------------------------------------------------------------


def _graph(graph: Document) -> Pieces:
    return [picture("the graph", graph, line_hues(graph), worth=10.0)]


def _source(source: Document) -> Pieces:
    files = [words.home_of(source["functions"][call["function"]]) for call in source["calls"]]
    marks = sorted({(files[mark["call"]], mark["line"]) for mark in source["marks"]})
    return source_lines(source, {place: order for order, place in enumerate(marks)})


def folded(document: Document) -> Pieces:
    """A document whose view begins with a headline, as that line alone until it is opened."""
    first, *parts = parts_of(document)
    if not parts or not isinstance(first, Sentence):
        return as_html((first, *parts))
    return ["<details>", element("summary", inline(first.content)), *as_html(parts), "</details>"]


def pane(document: Document, program: Document | None = None) -> Pieces:
    """The pane of a document; of one about a program, with its graph."""
    kind = document["kind"]
    if kind == "fusion" and program is None:
        program = document["before"] if document["before"]["nodes"] else document["after"]
    return as_html(parts_of(document), program) if has_view(kind) else PANES[kind](document)


PANES: dict[str, Callable[[Document], Pieces]] = {
    "graph": _graph,
    "source": _source,
}
