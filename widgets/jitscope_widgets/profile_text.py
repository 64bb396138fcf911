"""A profile as text."""

from __future__ import annotations

from . import profile_words as told, words
from .plain import clean
from .quantities import percent, seconds
from .words import Document, plural
from .wrap import table, wrap


_MOST_LINES = 8
_MOST_KERNELS = 20


def profile(document: Document, width: int) -> list[str]:
    """The sentences, the lines and the kernels that take most, what the machine can do and what the profile cost."""
    out = wrap(f"Profile of {clean(document['title'])}, {plural(document['runs'], 'recorded call')}", width, "    ")
    for sentence in told.sentences(document):
        out += wrap(f"  {sentence}", width, "    ")
    out += ["", "  lines, by their share of the kernels' time:", *_lines(document, width)]
    out += ["", "  kernels, by the time of all their runs in a call:", *_kernels(document, width)]
    cost = document["cost"]
    for sentence in (told.LEGEND, told.machine(document), words.cost(cost)):
        out += wrap(f"  {sentence}", width, "    ")
    return out


def _lines(document: Document, width: int) -> list[str]:
    own = told.own_lines(document)
    rows = [
        (told.share(line.least, line.most), told.place(line.position), clean(line.position["text"].strip()))
        for line in own[:_MOST_LINES]
    ]
    more = [f"  and {plural(len(own) - _MOST_LINES, 'more line')}"] if len(own) > _MOST_LINES else []
    return [part for row in table(rows, width) for part in row] + more


def _kernels(document: Document, width: int) -> list[str]:
    here, kernels = told.here_of(document), document["kernels"]
    rows = [
        (
            "loop" if kernel["share"] is None else percent(kernel["share"]),
            kernel["called"],
            told.what(kernel),
            seconds(kernel["total"]),
            told.timed(kernel),
            told.bound(kernel),
            told.lines(document, kernel, here),
        )
        for kernel in kernels[:_MOST_KERNELS]
    ]
    more = [f"  and {plural(len(kernels) - _MOST_KERNELS, 'more kernel')}"] if len(kernels) > _MOST_KERNELS else []
    return [part for row in table(rows, width) for part in row] + more
