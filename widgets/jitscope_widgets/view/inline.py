"""What stands in sentences and cells: shorthands for making it, and its plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .. import quantities
from ..documents.parts import Position
from ..escapes import clean
from ..words import lines
from .parts import Bar, Content, Inline, Place, Stretch, Text, Tone


def each(content: Content) -> Iterator[Inline]:
    """The pieces of a content."""
    if isinstance(content, (str, Text, Place, Bar, Stretch)):
        yield content
    else:
        yield from content


def words(content: Content) -> str:
    """A content without tones; pictures have no words."""
    return "".join(map(_words, each(content)))


def _words(piece: Inline) -> str:
    match piece:
        case str():
            return piece
        case Text(text):
            return text
        case Place(text, _, code):
            return f"{text}: {code}" if code else text
    return ""


def order(content: Content) -> float | None:
    """What a cell is sorted by as a number; None where it has none."""
    return next((piece.order for piece in each(content) if isinstance(piece, Text) and piece.order is not None), None)


def size(bytes: float, tone: Tone = "plain", title: str = "") -> Text:
    """A size: `5.12 kB`."""
    return Text(quantities.size(bytes), tone, title, bytes)


def seconds(value: float, tone: Tone = "plain", title: str = "") -> Text:
    """A time: `210 µs`."""
    return Text(quantities.seconds(value), tone, title, value)


def percent(share: float, tone: Tone = "plain", title: str = "") -> Text:
    """A share of a whole: `41 %`."""
    return Text(quantities.percent(share), tone, title, share)


def count(value: int, tone: Tone = "plain", title: str = "") -> Text:
    """A whole number: `12,345`."""
    return Text(f"{value:,}", tone, title, value)


def quantity(found: Mapping[str, Any] | None, tone: Tone = "plain") -> Text:
    """A quantity of a document; where it comes from is told on hovering."""
    return Text(quantities.show(found), tone, quantities.origin(found), quantities.amount(found))


def place(position: Position, here: str) -> Place:
    """A line of the user's with what stands in it; its cell is told where that is not `here`."""
    return Place(lines([position], here), position, clean(position["text"]).strip())


def code(text: str, title: str = "") -> Text:
    """A piece of a program."""
    return Text(text, "code", title)


_CODE = re.compile(r"`([^`\n]+)`")


def prose(text: str) -> tuple[Inline, ...]:
    """Words with `code` in them."""
    return tuple(code(piece) if at % 2 else piece for at, piece in enumerate(_CODE.split(text)) if piece)


def muted(text: str, title: str = "") -> Text:
    """Words that stand back."""
    return Text(text, "muted", title)


def strong(text: str, title: str = "") -> Text:
    """Words that stand out."""
    return Text(text, "strong", title)
