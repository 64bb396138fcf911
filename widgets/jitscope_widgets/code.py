"""Program text as HTML lines: numbered, long ones wrapped, with a few quiet colours for jaxprs and HLO."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .breaks import escape_code
from .escapes import clean


_TOKENS = re.compile(
    r"(?P<type>\b(?:bool|pred|bf16|token|key|tuple|[suifc]\d{1,3}|f8\w+)(?:<\w+>)?\[[^\]\s]*\](?:\{[\d,:()A-Z]*\})?)"
    r"|(?P<rest>,?\s*(?:metadata|backend_config|frontend_attributes|sharding)=\{.*$)"
    r"|(?P<call>(?<=\s)[a-z][\w-]*(?=\())"
    r"|(?P<primitive>(?<== )[a-z]\w*(?=[\[\s]|$))"
)
_ELEMENTS = {"type": "em", "rest": "small", "call": "b", "primitive": "b"}


def numbered(lines: Iterable[tuple[str, str, str]]) -> str:
    """Lines given as (number, text, class) in one block; the text is highlighted as a jaxpr or HLO."""
    return block((number, highlight(text), kind) for number, text, kind in lines)


def plain(lines: Iterable[tuple[str, str, str]]) -> str:
    """The same without highlighting, for Python."""
    return block((number, escape_code(clean(text)), kind) for number, text, kind in lines)


def highlight(text: str) -> str:
    """A line of a jaxpr or of HLO: types, operations and remarks marked."""
    said = clean(text)
    done, at = [], 0
    for match in _TOKENS.finditer(said):
        element = _ELEMENTS[match.lastgroup or "type"]
        done.append(f"{escape_code(said[at : match.start()])}<{element}>{escape_code(match.group())}</{element}>")
        at = match.end()
    return "".join(done) + escape_code(said[at:])


def block(lines: Iterable[tuple[str, str, str]]) -> str:
    """Lines given as (number, markup, class)."""
    shown = "".join(
        f"<span{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{f'<i>{number}</i> ' if number else ''}{markup}\n</span>"
        for number, markup, kind in lines
    )
    return f"<pre>{shown}</pre>"
