"""A trace that an error ended: the way from the arguments to the operation that failed, the graph, and what to write instead. The counterpart
of stopped.ts."""

from __future__ import annotations

from . import words
from .budget import Part
from .fixes import fix_html, fix_text
from .guard import part
from .painter import line_hues
from .plain import clean, escape
from .sentences import say
from .svg import svg
from .words import Document, plural
from .wrap import wrap


_BOXES = (200, 80, 30)  # in the picture; fewer where there is less room


def headline(document: Document) -> str:
    """Which function's trace stopped, and at what."""
    return f"{say('stopped', function=clean(document['function']))}`{clean(document['asked'])}`."


def left_out(document: Document) -> str:
    """How many equations are not shown; "" if all are."""
    count = document["left_out"]
    return say("stopped, not shown", equations=plural(count, "equation")) if count else ""


def step_words(step: Document) -> str:
    """`line 3: y = sin(x)`, `argument x: f32[3]`."""
    if step["kind"] == "argument":
        return f"argument {clean(step['text'])}"
    place = words.where(step["position"]) if step["position"] else ""
    sign = "✕ " if step["kind"] == "stop" else ""
    return f"{place}: {sign}{clean(step['text'])}" if place else f"{sign}{clean(step['text'])}"


def marked_graph(what: str, graph: Document) -> Part:
    """A graph in which a way is marked, as static HTML."""
    title = escape(graph["title"])

    def picture(limit: int) -> str:
        drawn = svg(graph, limit=limit, hues=line_hues(graph), styled=False)
        return f'<div class="view" tabindex="0" role="region" aria-label="Graph of {title}">{drawn}</div>'

    return part(what, *[lambda limit=limit: picture(limit) for limit in _BOXES])


def stopped_pieces(document: Document) -> list[str | Part]:
    """As static HTML."""
    steps = "".join(
        f"<li{' class=' + chr(34) + 'bad' + chr(34) if step['kind'] == 'stop' else ''}><code>{escape(step_words(step))}</code></li>"
        for step in document["steps"]
    )
    pieces: list[str | Part] = [
        f'<p><b>{escape(headline(document))}</b> The way to it:</p><div class="two"><ol style="flex:1 1 260px">{steps}</ol>',
        marked_graph("the graph of what was traced", document["graph"]),
        "</div>",
    ]
    note = left_out(document)
    pieces += [f'<p class="dim">{escape(note)}</p>'] if note else []
    return [*pieces, *map(fix_html, document["fixes"])]


def stopped_text(document: Document, width: int) -> list[str]:
    """As lines of text."""
    lines = wrap(f"{headline(document)} The way to it:", width, "  ")
    for step in document["steps"]:
        lines += wrap(f"  {step_words(step)}", width, "      ")
    note = left_out(document)
    lines += wrap(f"  {note}", width, "  ") if note else []
    for fix in document["fixes"]:
        lines += ["", *fix_text(fix, width)]
    return lines
