"""The transformations of a program as text and as static HTML: each step with the programs before and after it."""

from __future__ import annotations

from collections.abc import Callable

from . import code, words
from .budget import Part
from .guard import Pieces, part, said
from .plain import clean, escape
from .sentences import TABLES, say
from .words import Document, plural
from .wrap import wrap


SIGNS = {name: sign for name, (sign, _) in TABLES["transforms"].items()}
LEGEND = "∂ made by jvp, ↩ by transpose, × by vmap; behind #, the line that it stems from"
_MOST_LINES = 40


def headline(document: Document) -> str:
    """`3 transformations: jvp of loss, linearize of loss, …`"""
    steps = document["steps"]
    if not steps:
        return say("no transformation")
    named = ", ".join(f"{step['transform']} of {clean(step['function'])}" for step in steps[:6])
    more = f", and {len(steps) - 6 + document['left_out']} more" if len(steps) > 6 else ""
    return f"{plural(len(steps) + document['left_out'], 'transformation')}: {named}{more}"


def transformations_text(document: Document, width: int) -> list[str]:
    """The lines of a document of transformations."""
    lines = wrap(f"Transformations of {clean(document['title'])}: {headline(document)}", width, "    ")
    lines += wrap(f"  {LEGEND}", width, "    ") if document["steps"] else []
    for number, step in enumerate(document["steps"], 1):
        lines += ["", f"  {number}. {step['transform']} of {clean(step['function'])}, before:"]
        for title, program in [("", step["before"]), *((clean(one["title"]), one) for one in step["after"])]:
            lines += [f"     after, {title}:"] if title else []
            for sign, text, origin in _lines(document, program, _MOST_LINES):
                lines += wrap(f"      {sign or ' '} {text}{f'    # {origin}' if origin else ''}", width, "            ")
            lines += _rest(program, _MOST_LINES)
    for why in document["missed"]:
        lines += wrap(f"  Not shown: {clean(why)}.", width, "    ")
    return [*lines, *wrap(f"  {words.cost(document['cost'])}", width, "    ")]


def _lines(document: Document, program: Document, most: int) -> list[tuple[str, str, str]]:
    here = words.mostly_in(origin["position"] for origin in document["origins"])
    return [(_sign(line), clean(line["text"]), _origin(document, line, here)) for line in program["lines"][:most]]


def _sign(line: Document) -> str:
    return "".join(SIGNS[name] for name in line["transforms"])


def _origin(document: Document, line: Document, here: str) -> str:
    if line["origin"] not in range(len(document["origins"])):
        return ""
    return words.lines([document["origins"][line["origin"]]["position"]], here)


def _rest(program: Document, most: int) -> list[str]:
    more = max(0, len(program["lines"]) - most) + program["left_out"]
    return [f"      and {plural(more, 'more line')}"] if more else []


def transformations_html(document: Document) -> Pieces:
    """The pane of a document of transformations."""
    pieces: Pieces = [said(headline(document))]
    if document["steps"]:
        pieces.append(f'<p class="dim">{escape(LEGEND)}</p>')
    pieces += [_step(document, number, step) for number, step in enumerate(document["steps"], 1)]
    pieces += [said(f"Not shown: {why}.") for why in document["missed"]]
    return [*pieces, f'<p class="dim">{escape(words.cost(document["cost"]))}</p>']


def _step(document: Document, number: int, step: Document) -> Part:
    name = f"{number}. {step['transform']} of {clean(step['function'])}"

    def form(most: int) -> Callable[[], str]:
        def program(title: str, one: Document) -> str:
            rows = (
                (sign, f"{text}{f'    # {origin}' if origin else ''}", "")
                for sign, text, origin in _lines(document, one, most)
            )
            return f"<p><b>{escape(clean(title))}</b></p>{code.numbered(rows)}{''.join(map(said, _rest(one, most)))}"

        after = lambda: "".join(program(f"after: {one['title']}", one) for one in step["after"])
        return lambda: (
            f'<details class="pass"><summary><b>{escape(name)}</b></summary><div class="in">{program("before", step["before"])}{after()}</div></details>'
        )

    return part(name, form(1000), form(30), form(0))
