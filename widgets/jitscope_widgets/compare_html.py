"""A comparison of two programs as static HTML."""

from __future__ import annotations

from collections.abc import Callable

from . import compare_words as told
from .budget import Part
from .guard import Pieces, part, said
from .painter import line_hues
from .plain import clean, escape
from .program_html import picture, source_lines
from .quantities import show
from .sentences import say
from .words import Document, plural


def comparison(document: Document) -> Pieces:
    """The pane of a comparison."""
    return [
        f"<p><b>{escape(told.verdict(document))}</b></p>",
        _figures(document),
        said(" ".join(filter(None, (told_of(document) for told_of in _SAID)))),
        *(_joint(document) if "joint" in document else ()),
        _only(document["equations"], "equation", told.equation),
        _only(document["kernels"], "kernel", told.kernel),
        f'<p class="dim">{escape(say("comparison", method=clean(document["method"]), time=show(document["cost"])))}</p>',
    ]


_SAID = (told.ran_on, told.results, told.donations, told.compiling)


def _figures(document: Document) -> str:
    titles = [escape(clean(document[side]["title"])) for side in ("a", "b")]
    head = f"<tr><th></th><th>A: {titles[0]}</th><th>B: {titles[1]}</th><th></th></tr>"
    rows = "".join(
        f'<tr><td>{name}</td><td class="nw">{escape(one)}</td><td class="nw">{escape(other)}</td><td class="nw">{ratio}</td></tr>'
        for name, one, other, ratio in told.figures(document)
    )
    return f"<table><tbody>{head}{rows}</tbody></table>"


def _joint(document: Document) -> Pieces:
    """Both programs as one graph, beside the code of each; nothing where they are alike."""
    legend, graph = told.legend(document), document["joint"]["graph"]
    if not legend:
        return []
    gone = {node["id"] for node in graph["nodes"] if node.get("mark") == "removed"}
    edges = [e for e in graph["edges"] if not e.get("gone") or not gone.isdisjoint((e["from"], e["to"]))]
    hues = line_hues(graph)
    sources = {side: source for side, source in document["joint"]["sources"].items() if source}
    return [
        "<details open><summary>Both as one graph</summary>",
        f'<p class="dim">{escape(f"{legend} {_ARROWS}")}</p><div class="two"><div>',
        *(
            piece
            for side, source in sources.items()
            for piece in (f"<p><b>{side.upper()}</b></p>", *source_lines(source, hues))
        ),
        "</div>",
        picture("the graph of both", {**graph, "edges": edges}, hues, worth=5.0),
        "</div></details>",
    ]


_ARROWS = "Arrows are how values flow in B, and to and from what A alone has."


def _only(found: Document, noun: str, text: Callable[[Document], str]) -> Part:
    def form(most: int) -> Callable[[], str]:
        def made() -> str:
            lines = "".join(_lines(found, side, noun, text, most) for side in ("a", "b"))
            return f"<details><summary>{escape(told.common(found, noun))}</summary>{lines}</details>"

        return made

    return part(f"the {noun}s of one alone", form(60), form(10), form(0))


def _lines(found: Document, side: str, noun: str, text: Callable[[Document], str], most: int) -> str:
    shown, kind = found[side][:most], "was" if side == "a" else "is"
    sign = "−" if side == "a" else "+"
    rows = "".join(f'<p class="{kind}">{sign} <code>{escape(text(one))}</code></p>' for one in shown)
    more = told.left(found, side, shown)
    return rows + (said(f"{sign} and {plural(more, f'more {noun}')}") if more > 0 else "")
