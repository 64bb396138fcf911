"""A profile as static HTML: what is slow in words, the lines, the kernels with bars, the roofline."""

from __future__ import annotations

from collections.abc import Callable

from . import profile_words as told, words
from .guard import Pieces, part, said
from .plain import clean, escape
from .quantities import origin, percent, seconds
from .roofline import roofline
from .words import Document, plural


def profile(document: Document) -> Pieces:
    """The pane of a profile."""
    cost = document["cost"]
    return [
        *map(said, told.sentences(document)),
        part("the lines", lambda: _lines(document, 30), lambda: _lines(document, 8), worth=4.0),
        part("the kernels", *(_kernels(document, most) for most in (400, 60, 12)), worth=2.0),
        part("the roofline", lambda: roofline(document)),
        *map(said, (told.LEGEND, told.machine(document))),
        f'<p class="dim" title="{escape(origin(cost))}">{escape(words.cost(cost))}</p>',
    ]


def _lines(document: Document, most: int) -> str:
    own = told.own_lines(document)
    head = "<tr><th>share</th><th></th><th>line</th><th></th></tr>"
    rows = "".join(_line(line) for line in own[:most])
    more = said(f"and {plural(len(own) - most, 'more line')}") if len(own) > most else ""
    return f"<table><tbody>{head}{rows}</tbody></table>{more}" if own else ""


def _line(line: told.Line) -> str:
    text = escape(clean(line.position["text"].strip()))
    return (
        f'<tr><td class="nw">{escape(told.share(line.least, line.most))}</td><td class="wide">{_bar(line.least, line.most)}</td>'
        f'<td class="nw">{escape(told.place(line.position))}</td><td><code>{text}</code></td></tr>'
    )


def _bar(least: float, most: float) -> str:
    """A full bar up to the least, a faint one from there to the most."""
    faint = (
        f'<span class="bar" style="opacity:.4;width:{100 * (most - least):.1f}%"></span>' if most - least > 5e-4 else ""
    )
    full = f'<span class="bar" style="width:{100 * least:.1f}%"></span>' if least > 5e-4 else ""
    return full + faint


def _kernels(document: Document, most: int) -> Callable[[], str]:
    def form() -> str:
        here, kernels = told.here_of(document), document["kernels"]
        names = ("kernel", "is", "share", "", "all runs", "one run", "reads, writes", "computes", "bound by", "lines")
        head = "".join(f"<th>{name}</th>" for name in names)
        rows = "".join(_kernel(document, kernel, here) for kernel in kernels[:most])
        more = said(f"and {plural(len(kernels) - most, 'more kernel')}") if len(kernels) > most else ""
        return f"<table><tbody><tr>{head}</tr>{rows}</tbody></table>{more}"

    return form


def _kernel(document: Document, kernel: Document, here: str) -> str:
    share = kernel["share"]
    bar = _bar(share, share) if share is not None else '<span class="dim">what is in it counts</span>'
    cells = (
        f'<td class="nw" title="{escape(clean(kernel["name"]))}">{escape(clean(kernel["called"]))}</td>',
        f"<td>{escape(told.what(kernel))}</td>",
        f'<td class="nw">{"" if share is None else percent(share)}</td>',
        f'<td class="wide">{bar}</td>',
        f'<td class="nw">{seconds(kernel["total"])}</td>',
        f'<td class="nw" title="{escape(told.spread(kernel))}">{escape(told.timed(kernel))}</td>',
        f'<td class="nw">{told.modelled(kernel["bytes"], "B")}</td>',
        f'<td class="nw">{told.modelled(kernel["flops"], "flop")}</td>',
        f'<td class="nw" title="{escape(clean(told.why(kernel)))}">{escape(told.bound(kernel))}</td>',
        f'<td class="nw">{escape(told.lines(document, kernel, here))}</td>',
    )
    return f"<tr>{''.join(cells)}</tr>"
