"""A printed jaxpr beside the picture of its graph: which letter is which argument, and which line of code wrote each equation."""

from __future__ import annotations

import re
from collections import Counter

from . import words
from .escapes import clean, clean_lines
from .words import Document


_MOST_NAMES = 40
_HEAD = re.compile(r"\{ lambda [^;]*;(.*?)\. let", re.DOTALL)
_VARIABLE = re.compile(r"(\w+):(\w[^ ]*)")
_ARGUMENT = re.compile(r"in\d+")


def names(compilation: Document) -> str:
    """`a is x, b is w`; "" where the jaxpr takes nothing, or too much to be read."""
    head = _HEAD.match(compilation["jaxpr"])
    letters = _VARIABLE.findall(head[1]) if head else []
    inputs = [node for node in compilation["graph"]["nodes"] if _ARGUMENT.fullmatch(node["id"])]
    if [kind for _, kind in letters] != ["".join(node["types"]) for node in inputs] or len(letters) > _MOST_NAMES:
        return ""
    return ", ".join(f"{letter} is {clean(node['label'])}" for (letter, _), node in zip(letters, inputs))


def lines(compilation: Document) -> list[str]:
    """The lines of the jaxpr, those at which an equation begins with the line of the code that wrote it."""
    here = words.here_of(compilation)
    printed = clean_lines(compilation["jaxpr"])
    nodes = [node for node in compilation["graph"]["nodes"] if node["kind"] in ("equation", "scope") and node["text"]]
    begun = Counter(map(_begins, printed)), Counter(_begins(node["text"]) for node in nodes)
    told = {
        head: words.lines(node["positions"][:1], here)
        for node in nodes
        if node["positions"] and all(count[head := _begins(node["text"])] == 1 for count in begun)
    }
    return [f"{line.rstrip()}  # {place}" if (place := told.get(_begins(line))) else line for line in printed]


def _begins(text: str) -> str:
    """`f:f32[64,7] = add`: what an equation gives, and its operation."""
    left, _, right = text.strip().partition(" = ")
    return f"{left} = {re.split(r'[^a-z0-9_]', right, maxsplit=1)[0]}" if right else ""
