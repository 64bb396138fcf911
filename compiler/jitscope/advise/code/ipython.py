"""The Python of a notebook's cell: without IPython's own lines, each line and column where it was."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from typing import NamedTuple


class Python(NamedTuple):
    """The text, and the first and last lines (from 0) of what `%time`, `%timeit` and their kin measure in it."""

    text: str
    timed: tuple[tuple[int, int], ...] = ()


_CELLS = re.compile(r"%%(jit|time|timeit|capture|prun)\b")
"""Magics whose cells are Python."""
_MAGIC = re.compile(r"\s*([%!?]|[\w.]+\?{1,2}\s*$)")
_ASSIGNED = re.compile(r"(\s*\w[\w.,\s]*=\s*)([%!].*)$")
_TIMED = re.compile(r"%time(?:it)?(?=\s)(?:\s+(?:-[nrp]\s*\d+|-[tcqov]+|--[\w-]+)(?=\s))*\s+(?=\S)")
_TOKENS = re.compile(r"\"\"\"|'''|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|#.*|[(\[{]|[)\]}]")


@functools.lru_cache(256)
def python_of(cell: str) -> Python | None:
    """A cell's Python: magics and commands of the shell become statements that do nothing, but what they measure stays; of cells in other
    languages nothing is left. None for what is no Python even so."""
    found = without_magics(cell)
    return None if no_python(found.text) else found


def without_magics(cell: str) -> Python:
    """The same, of which it is not known whether it is Python."""
    lines = cell.split("\n")
    timed: list[tuple[int, int]] = []
    if lines[0].startswith("%%"):
        if not _CELLS.match(lines[0]):
            return Python("\n" * (len(lines) - 1))
        if lines[0].startswith("%%time"):
            timed.append((1, len(lines) - 1))
        lines[0] = ""
    if no_python("\n".join(lines)):
        for number in list(_statements(lines)):
            replaced = _replaced(lines[number])
            if replaced is not None:
                lines[number], measures = replaced
                timed += [(number, number)] * measures
    return Python("\n".join(lines), tuple(timed))


def no_python(text: str) -> str:
    """Where and why text cannot be parsed; "" where it can."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return ""


def _statements(lines: list[str]) -> Iterator[int]:
    """The lines at which a statement may begin: no bracket and no string is open there."""
    depth, quote, goes_on = 0, "", False
    for number, line in enumerate(lines):
        if not (depth or quote or goes_on):
            yield number
            if _replaced(line) is not None:
                continue
        at = 0
        while at < len(line):
            if quote:
                end = line.find(quote, at)
                if end < 0:
                    break
                at, quote = end + 3, ""
                continue
            token = _TOKENS.search(line, at)
            if token is None:
                break
            at = token.end()
            if token[0] in ('"""', "'''"):
                quote = token[0]
            elif token[0] in "([{":
                depth += 1
            elif token[0] in ")]}":
                depth = max(0, depth - 1)
        goes_on = line.endswith("\\")


def _replaced(line: str) -> tuple[str, bool] | None:
    """A line of IPython's as Python, and whether it measures that; None for another line."""
    assigned = _ASSIGNED.match(line)
    if assigned is None and not _MAGIC.match(line):
        return None
    begin = assigned[1] if assigned else line[: len(line) - len(line.lstrip())]
    magic = line[len(begin) :]
    found = _TIMED.match(magic)
    work = magic[found.end() :] if found else ""
    kind = _kind(work)
    if assigned:
        return (begin + " " * len(found[0]) + work, True) if found and kind == "expression" else (begin + "None", False)
    if found and kind:
        return f"{begin}0{' ' * (found.end() - 2)};{work}", True
    return begin + "pass", False


def _kind(work: str) -> str:
    """Of one statement on a line: "expression", "statement", or "" where it has lines of its own below it, or is no Python."""
    try:
        (found,) = ast.parse(work).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if isinstance(found, ast.Expr):
        return "expression"
    return "" if hasattr(found, "body") else "statement"
