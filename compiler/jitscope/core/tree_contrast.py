"""Words for two nodes of trees that differ."""

from __future__ import annotations

from typing import Any

from .registrations import defined_again


class Place:
    """Stands for a leaf where only the structure is known."""


def contrast(prefix: Any, tree: Any, names: tuple[str, str]) -> str:
    """What two nodes of trees that do not fit together are, in words; `names` are those of the trees."""
    one, other = names
    if isinstance(prefix, dict) and type(prefix) is type(tree):
        missing, more = ([k for k in a if k not in b] for a, b in ((prefix, tree), (tree, prefix)))
        parts = [f"{who} alone has {_listed(keys)}" for who, keys in ((one, missing), (other, more)) if keys]
        if parts:
            return " and ".join(parts)
    if type(prefix) is type(tree) and kind(prefix) == kind(tree):
        return f"the static data of two {type(prefix).__name__} differ"
    again = defined_again(type(prefix), type(tree))
    if again:
        return f"{one} has {again[0]} where {other} has {again[1]}: the class was defined again; make the objects of the first anew"
    return f"{one} has {kind(prefix)} where {other} has {kind(tree)}"


def _listed(keys: list[Any]) -> str:
    shown = ", ".join(map(repr, keys[:6])) + (", …" if len(keys) > 6 else "")
    return f"key{'s' * (len(keys) > 1)} {shown}"


def kind(x: Any) -> str:
    """`a list of 3`: what a node is."""
    if x is None:
        return "None"
    if isinstance(x, Place):
        return "a leaf"
    name = type(x).__name__
    article = "an" if name[:1] in "AEIOUaeiou" else "a"
    if hasattr(x, "_fields") or not isinstance(x, (tuple, list, dict)):
        return f"{article} {name}"
    return f"{article} {name} of {len(x)}"
