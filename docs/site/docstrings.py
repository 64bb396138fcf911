"""Docstrings as reStructuredText: they are prose with names in backquotes, and nothing else in them is markup."""

from __future__ import annotations

import inspect
import re
from typing import Any

import jitscope


_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*")
_MARKUP = re.compile(r"([\\*|_])")


def as_rst(text: str, owner: Any) -> list[str]:
    """The lines of a docstring. Names of public functions become links, except those of `owner`'s own parameters."""
    own = _parameters(owner)
    return [line for block in re.split(r"\n{2,}", text.strip("\n")) for line in (*_block(block, own), "")]


def _block(block: str, own: frozenset[str]) -> list[str]:
    """A paragraph; one that is indented is code, one that begins with a prompt a session."""
    lines = block.split("\n")
    if lines[0].startswith(">>> "):
        return lines
    if all(line.startswith("    ") for line in lines):
        return [".. code-block:: python", "", *lines]
    parts = _CODE.split(block)
    for at, part in enumerate(parts):
        parts[at] = _code(part, own) if at % 2 else escaped(part)
    return "".join(parts).split("\n")


def escaped(text: str) -> str:
    """Text in which nothing is markup."""
    return _MARKUP.sub(r"\\\1", text)


def _code(text: str, own: frozenset[str]) -> str:
    text = " ".join(text.split())
    if text not in own and _NAME.fullmatch(text) and (path := _path(text)):
        return f"\\ :py:obj:`{text} <{path}>`\\ "
    return f"\\ ``{text}``\\ "


def _path(name: str) -> str:
    """Where a name is documented, or ""."""
    first = name.partition(".")[0]
    roots = ("jitscope", "jitscope.lax", "jitscope.numpy") if "." not in name else ("jitscope",)
    for root in roots:
        found: Any = jitscope if root == "jitscope" else getattr(jitscope, root.partition(".")[2])
        for part in name.split("."):
            found = getattr(found, part, None)
        if callable(found) and not first.startswith("_"):
            return f"{root}.{name}"
    return ""


def _parameters(owner: Any) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(owner).parameters)
    except (TypeError, ValueError):
        return frozenset()
