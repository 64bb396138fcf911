"""User text made safe to show: nothing in it is markup, nothing in it steers the terminal or the reading direction."""

from __future__ import annotations

import html
import re
import unicodedata


# Lone surrogates, line and paragraph separators, what overrides the reading direction, what XML forbids; and controls.
_STEERING = "\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
_UNSHOWABLE = re.compile(f"[\x00-\x1f{_STEERING}]")
_UNSHOWABLE_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f{_STEERING}]")

_CODE = re.compile(r"`([^`]+)`")


def clean(text: object) -> str:
    """`text` on one line; characters that cannot be shown appear as their Python escapes, tabs as four spaces."""
    return _UNSHOWABLE.sub(_escape_character, str(text))


def clean_text(text: str) -> str:
    """A text of many lines, each of them clean but for its tabs."""
    return _UNSHOWABLE_IN_LINES.sub(_escape_character, text)


def clean_lines(text: object) -> list[str]:
    """The lines of a program text, each of them clean."""
    return [clean(line.rstrip("\r")) for line in str(text).split("\n")]


def escape(text: object) -> str:
    """`text` for the inside of an element or of a quoted attribute, in HTML and in SVG."""
    return html.escape(clean(text), quote=True)


def prose(text: object) -> str:
    """Words with `code` in them as HTML; lines are kept."""
    return "<br>".join(_CODE.sub(r"<code>\1</code>", escape(line)) for line in clean_lines(text))


def columns(text: str) -> int:
    """How many columns a terminal or a code font gives to `text`."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(char) for char in text)


def shorten(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, its middle replaced by an ellipsis (show the whole elsewhere)."""
    if len(text) <= limit:
        return text
    head = (limit - 1 + 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def _escape_character(match: re.Match[str]) -> str:
    char = match.group()
    return "    " if char == "\t" else char.encode("unicode_escape").decode("ascii")


def _columns_of(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
