"""Where a long name may go on in the next line: after a dot, an underscore, an opening bracket, before a capital, never within a word; and what
stays in one line: a number with its sign and its unit. `js/breaks.ts` says the same for the live page."""

from __future__ import annotations

import re
from itertools import pairwise

from .escapes import escape


_LONG = re.compile(r"\S{13,}")
"""Words that are shorter fit into any column."""
_PLACE = re.compile(r"""(?<=[._(\[{,=/:|])(?=[^\W\d]|['"%@])|(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])""")
_SHORTEST = 3
_QUANTITY = re.compile(
    r"(?:[≈~×<] (?=\d))?\d[\d.,]*(?:e-?\d+)? (?:%|(?:[nµm]?s|[kMGT]?B(?:/s)?|[kMGTP]?flop(?:/s)?)(?!\w))|[≈~×<] \d[\d.,]*|->"
)
"""`≈ 617 kB`, `~ 39 %`, `× 12`, `1.2 Gflop/s`, and the arrow `->`"""


def breaks_in(text: str) -> list[int]:
    """The places in a text, ascending."""
    found: list[int] = []
    for long in _LONG.finditer(text):
        word, last = long.group(), 0
        for place in _PLACE.finditer(word):
            at = place.start()
            if at - last >= _SHORTEST and len(word) - at >= _SHORTEST:
                found.append(long.start() + at)
                last = at
    return found


def quantities_in(text: str) -> list[tuple[int, int]]:
    """The quantities in a text, as (start, end)."""
    return [found.span() for found in _QUANTITY.finditer(text)]


def escape_prose(text: str) -> str:
    """A sentence, or what is in a cell, as HTML: what is longer breaks, quantities do not; `text` is clean."""
    found, at = [], 0
    for start, end in quantities_in(text):
        found += [escape_code(text[at:start]), f'<span class="nw">{escape(text[start:end])}</span>']
        at = end
    return "".join([*found, escape_code(text[at:])])


def escape_code(text: str) -> str:
    """A piece of a program as HTML, with what lets long names in it break; `text` is clean."""
    places = [0, *breaks_in(text), len(text)]
    return "<wbr>".join(escape(text[start:end]) for start, end in pairwise(places))
