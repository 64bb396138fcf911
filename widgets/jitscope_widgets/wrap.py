"""Breaking lines of text at a width counted in terminal columns; nothing is ever cut off."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .escapes import columns


def wrap(line: str, width: int, hang: str = "") -> list[str]:
    """`line` in lines of at most `width` columns; its indentation stays, continuations start with `hang` instead."""
    if _columns(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip(" "))][: width // 2]
    hang = hang[: width // 2]
    done: list[str] = []
    current = indent
    empty = True
    for word in _words(line.lstrip(" ")):
        if not empty and _columns(current) + _columns(word.rstrip(" ")) > width:
            done.append(current.rstrip(" "))
            current, empty = hang, True
            word = word.lstrip(" ")
        for piece in _pieces(word, width - _columns(hang if done else indent)):
            if not empty and _columns(current) + _columns(piece.rstrip(" ")) > width:
                done.append(current.rstrip(" "))
                current = hang
            current += piece
            empty = False
    return [*done, current.rstrip(" ")]


def fits(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the columns of a table, but for the last one, stand on a line."""
    count = max((len(row) for row in rows), default=0)
    before = [max((columns(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)][:-1]
    return sum(size + 2 for size in before if size) + 8 <= width


def table(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """The lines of each row: columns aligned, empty columns left out, what does not fit goes on below. A cell of more than half
    the width moves what follows it in its own row alone."""
    count = max((len(row) for row in rows), default=0)
    found = [[columns(row[at]) for row in rows if at < len(row)] for at in range(count)]
    kept = [any(sizes) for sizes in found]
    sizes = [max((size for size in sizes if size <= width // 2), default=0) for sizes in found]
    filled = (
        [cell + " " * (size - columns(cell)) for cell, size, any_ in zip(row, sizes, kept) if any_] for row in rows
    )
    return [wrap("  " + "  ".join(cells).rstrip(" "), width, "      ") for cells in filled]


def _columns(text: str) -> int:
    return columns(text) + text.count("→")  # written as ->


def _words(text: str) -> list[str]:
    return re.findall(r"[^ ]+ *", text)


def _pieces(word: str, width: int) -> list[str]:
    """A word too long for a line in pieces that fit; any other word as it is."""
    if _columns(word.rstrip(" ")) <= width:
        return [word]
    pieces = [""]
    for char in word:
        if pieces[-1] and _columns(pieces[-1]) + _columns(char) > max(2, width) and char != " ":
            pieces.append("")
        pieces[-1] += char
    return pieces
