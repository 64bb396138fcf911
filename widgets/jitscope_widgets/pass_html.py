"""The passes of a program as static HTML: a row for each that changed something, which opens to what it changed."""

from __future__ import annotations

from collections.abc import Callable

from . import code, pass_words as told, words
from .budget import Part
from .guard import Pieces, part, said
from .plain import clean, escape
from .quantities import origin, show
from .svg import svg
from .words import Document, plural


_MOST_NODES = 80  # of a picture: larger ones cannot be read without moving about in them


def passes(document: Document) -> Pieces:
    """The pane of a document of passes."""
    here = words.mostly_in(document["positions"].values())
    most = max((state["operations"] for state in document["states"]), default=0) or 1
    pieces: Pieces = [said(line) for line in (told.headline(document), told.stages(document)) if line]
    pieces.append(f'<p class="dim">{escape(told.LEGEND)}</p>')
    for step in told.steps(document):
        if step.state is None:
            pieces.append(_unchanged(step))
        else:
            pieces.append(_changed(document, step.passes[0], step.state, here, most))
    cost = document["cost"]
    return [
        *pieces,
        f'<p class="dim" title="{escape(origin(cost))}">{escape(words.cost(cost))}</p>',
    ]


def _unchanged(step: told.Step) -> Part:
    def form(all_of_them: bool) -> str:
        names = ", ".join(escape(clean(one["name"])) for one in step.passes) if all_of_them else ""
        return f'<details class="pass"><summary class="dim">{told.unchanged(step.passes)}</summary><p class="dim">{names}</p></details>'

    return part("the list of passes that changed nothing", lambda: form(True), lambda: form(False), worth=0.2)


def _changed(document: Document, one: Document, state: Document, here: str, most: int) -> Part:
    bar = f'<span class="bar" style="width:{100 * state["operations"] / most:.0f}px" title="{plural(state["operations"], "operation")} after it"></span>'
    does = f"<p>{escape(clean(one['name']))} {escape(one['does'])}.</p>" if one["does"] else ""
    facts = f"{plural(state['operations'], 'operation')} in {plural(state['kernels'], 'kernel')} after it; it took {show(one['seconds'])}"

    def form(rows: int, drawn: bool = False) -> Callable[[], str]:
        return lambda: (
            f'<details class="pass"><summary><b>{escape(told.name(one))}</b> {escape(state["sentence"])} {bar}</summary>'
            f'<div class="in">{does}<p class="dim">{escape(facts)}.</p>{_picture(state) if drawn else ""}{_rows(document, state, here, rows)}</div></details>'
        )

    return part(f"what {clean(one['name'])} changed", form(1000, drawn=True), form(1000), form(60), form(8), form(0))


def _picture(state: Document) -> str:
    """What the pass changed, as it stands after it, with what is next to it; "" where that is too much to draw, or nothing."""
    whole = state["graph"]
    if whole is None or len(whole["nodes"]) > _MOST_NODES:
        return ""
    left = {node["id"]: node for node in whole["nodes"] if node.get("mark") != "removed"}
    wanted = {ident for ident, node in left.items() if node["kind"] != "scope"}
    for ident in [*wanted]:
        while (ident := left[ident]["scope"]) in left:
            wanted.add(ident)
    nodes = [node for ident, node in left.items() if ident in wanted]
    edges = [e for e in whole["edges"] if not e.get("gone") and e["from"] in wanted and e["to"] in wanted]
    if not any("mark" in node for node in left.values()):
        return ""
    picture = svg({**whole, "nodes": nodes, "edges": edges}, limit=_MOST_NODES, styled=False, hover=False, types=False)
    said = "What it changed and what is next to that, as it stands after the pass; what is removed stands below only."
    return f'<div class="view" tabindex="0" role="region" aria-label="Graph after the pass">{picture}</div><p class="dim">{said}</p>'


def _rows(document: Document, state: Document, here: str, most: int) -> str:
    shown = state["rows"][:most]
    lines = code.numbered(
        (sign, text, "") for row in shown for sign, text in told.lines_of(row, document["positions"], here)
    )
    more = len(state["rows"]) - len(shown) + state["left_out"]
    return (lines if shown else "") + (f'<p class="dim">and {plural(more, "more change")}</p>' if more else "")
