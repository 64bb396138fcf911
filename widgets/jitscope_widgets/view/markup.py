"""HTML and SVG through elements alone: what is no `Markup` is text, and is escaped."""

from __future__ import annotations

from ..escapes import escape


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, *children: object, **attributes: object) -> Markup:
    """An element. Attributes that are None or False are left out, those that are True stand without a value; `class_` is `class`,
    `aria_label` is `aria-label`."""
    told = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{join(*children)}</{name}>")


def join(*children: object) -> Markup:
    """Some children one after the other; lists among them are taken apart, None is nothing."""
    return Markup("".join(map(_child, children)))


def _child(child: object) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, (list, tuple)):
        return join(*child)
    return escape(child)


def _attribute(key: str, value: object) -> str:
    name = _NAMES.get(key) or key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'


_EMPTY = frozenset(("br", "img", "hr"))
_NAMES = {"viewBox": "viewBox"}
