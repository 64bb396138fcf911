"""How nodes look: the table `looks.json`, which the live view reads too."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .escapes import clean
from .quantities import number
from .scopes import Scopes
from .sentences import TABLES
from .words import Document, plural


_TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("looks.json").read_text(encoding="utf-8"))
LONGEST_LABEL: int = _TABLE["longest_label"]
OPENS_UP_TO: int = _TABLE["opens_up_to"]
MOVES = frozenset(_TABLE["moves"])
"""The operations of XLA that compute nothing: they fill, move or repeat values."""
_QUIET = frozenset(_TABLE["quiet"])


@dataclass(frozen=True)
class Shape:
    """Its name, the height of its box, the room beside the label, and the size of the letters."""

    name: str
    height: float
    pad: float
    font: int


CHANGES = {kind: sign for kind, (sign, _) in TABLES["changes"].items()}
"""The signs of what a pass did to an operation."""

BACKWARD: tuple[str, str] = tuple(TABLES["transforms"]["transpose"])
"""The sign of a backward pass, and what it is called."""

_SHAPES = {name: Shape(name, **numbers) for name, numbers in _TABLE["shapes"].items()}


def shape_of(node: Document, holds: bool) -> Shape:
    """The shape of a closed node; `holds` says whether it has others inside."""
    kind = node["kind"]
    if holds or kind == "group":
        return _SHAPES["fusion" if kind == "fusion" else "scope"]
    if kind in ("input", "output"):
        return _SHAPES["pill"]
    if kind == "library":
        return _SHAPES["library"]
    if kind == "fusion":
        return _SHAPES["kernel"]
    return _SHAPES["small" if kind == "constant" or node["label"] in _QUIET else "box"]


def is_backward(node: Document) -> bool:
    """Whether a transposition made it, or what is in it."""
    return "transpose" in node.get("transforms", ()) or "(backward)" in node["label"]


def sign_of(node: Document) -> str:
    """What a pass did to an operation, or that it is part of a backward pass, as one character and a space; "" for others."""
    if node.get("mark") in CHANGES:
        return f"{CHANGES[node['mark']]} "
    return f"{BACKWARD[0]} " if is_backward(node) else ""


def label_of(node: Document) -> str:
    """The label behind its sign."""
    return sign_of(node) + unsigned_label_of(node)


def unsigned_label_of(node: Document) -> str:
    """The label; of a long one without spaces the end is kept: it tells generated names apart (`multiply_subtract_fusion.3`)."""
    label = clean(node["label"])
    if len(label) > LONGEST_LABEL:
        label = f"{label[: LONGEST_LABEL - 1]}…" if " " in label else f"{label[: LONGEST_LABEL - 11]}…{label[-10:]}"
    own = number_of(node)
    return f"{label or '?'} · {own}" if own else label or "?"


def number_of(node: Document) -> str:
    """The number of a user's own at a node; "" where there is none."""
    own = node.get("number")
    return number(own["value"], clean(own["unit"])) if own else ""


def second_line(node: Document, scopes: Scopes) -> str:
    """What stands below the label: how much is inside, or what kind of kernel it is."""
    ident = str(node["id"])
    if node.get("what") == "run":
        return clean(node["told"])
    if ident not in scopes.members:
        return "library call" if node["kind"] == "library" else ""
    if node.get("what") == "tree":
        return plural(node.get("count", len(scopes.members[ident])), "array")
    drawn, noun = scopes.work(ident), "equation" if scopes.level == "jaxpr" else "operation"
    left_out = node.get("left_out", 0)
    return f"{plural(drawn + left_out, noun)}, {drawn:,} drawn" if left_out else plural(drawn, noun)
