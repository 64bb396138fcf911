"""The Python of a notebook's cell: without IPython's own lines, each line where it stands in the cell.

There is one map between the text of a cell and what runs of it. IPython takes prompts, the indentation of a whole cell and empty
lines at its beginning away, and makes one line of a command that goes on over several. Here each line stays where the cell has it,
and `shifts` says by how many columns it stands further to the right there.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jitscope.core.source import Edit, shifted


class Python(NamedTuple):
    """The text; the first and last lines (from 0) of what `%time`, `%timeit` and their kin measure in it; the columns that were taken
    from the beginning of each line (none if the tuple is empty); and which lines (from 0) IPython's own text begins at: it has one
    line for each of them."""

    text: str
    timed: tuple[tuple[int, int], ...] = ()
    shifts: tuple[int, ...] = ()
    begun: tuple[int, ...] = ()


_CELLS = re.compile(r"%%(jit|regions|time|timeit|capture|prun)\b")
"""Magics whose cells are Python."""
_PROMPT = re.compile(r"^\s*(>>>|\.\.\.|(\[\w+\] )?In \[)", re.MULTILINE)
"""What IPython may take from the beginning of lines, in strings, too."""
_ASSIGNED = re.compile(r"(\s*\w[\w.,\s]*=\s*)([%!].*)$")
_TIMED = re.compile(r"%time(?:it)?(?=\s)(?:\s+(?:-[nrp]\s*\d+|-[tcqov]+|--[\w-]+)(?=\s))*\s+(?=\S)")


@functools.lru_cache(256)
def python_of(cell: str) -> Python | None:
    """A cell's Python: magics and commands of the shell become statements that do nothing, but what they measure stays; of cells in other
    languages nothing is left. None for what is no Python even so."""
    found = without_magics(cell)
    return None if no_python(found.text) else found


@functools.lru_cache(256)
def without_magics(cell: str) -> Python:
    """The same, of which it is not known whether it is Python."""
    lines = lines_in(cell)
    text = "\n".join(lines)
    if not text.lstrip().startswith("%%") and not _PROMPT.search(text) and not no_python(text):
        first = next((at for at, line in enumerate(lines) if line.strip()), 0)
        return Python(text, begun=tuple(range(first, len(lines))))
    cleaned = _cleaned(lines)
    first = next((at for at, line in enumerate(cleaned) if line.strip()), 0)
    if cleaned[first].startswith("%%"):
        return _of_cell_magic(lines, cleaned, first)
    ends = ["\r\n" if line.endswith("\r") else "\n" for line in cell.split("\n")]
    found, timed, begun = _replacing(cleaned, ends)
    return Python("\n".join(found), timed, _shifts(lines, cleaned), tuple(at for at in begun if at >= first))


def _of_cell_magic(lines: list[str], cleaned: list[str], first: int) -> Python:
    before, magic, own = [""] * (first + 1), cleaned[first], (0,) * (first + 1)
    if not _CELLS.match(magic):
        return Python("\n" * (len(lines) - 1), begun=(first,))
    inner = without_magics("\n".join(cleaned[first + 1 :]))
    body = [*before, *inner.text.split("\n")][: len(lines)]
    timed = [(start + first + 1, end + first + 1) for start, end in inner.timed]
    if magic.startswith("%%time"):
        timed.insert(0, (first + 1, len(lines) - 1))
    taken = [*own, *(inner.shifts or (0,) * len(lines))]
    outer = _shifts(lines, cleaned) or (0,) * len(lines)
    shifts = tuple(a + b for a, b in zip(taken, outer))
    goes_on = [at + first + 1 for at in inner.begun] if magic.startswith("%%jit") else []
    if goes_on:  # empty lines below the magic stay
        goes_on = [*range(first + 1, goes_on[0]), *goes_on]
    return Python("\n".join(body), tuple(timed), shifts if any(shifts) else (), (first, *goes_on))


def lines_in(cell: str) -> list[str]:
    """The lines of a cell's text, however they end."""
    return [line.removesuffix("\r") for line in cell.split("\n")]


def no_python(text: str) -> str:
    """Where and why text cannot be parsed; "" where it can."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}" if error.lineno else error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return ""


def _cleaned(lines: list[str]) -> list[str]:
    """The lines without prompts and without what all of them are indented by, as IPython takes them away."""
    from IPython.core.inputtransformer2 import TransformerManager  # few cells need it

    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    found = [f"{line}\n" for line in lines[first:]]
    for clean in TransformerManager().cleanup_transforms:
        done = clean(found)
        found = done if len(done) == len(found) else found
    return [*lines[:first], *(line.removesuffix("\n") for line in found)]


def _shifts(lines: list[str], cleaned: list[str]) -> tuple[int, ...]:
    shifts = tuple(len(line) - len(clean) if line.endswith(clean) else 0 for line, clean in zip(lines, cleaned))
    return shifts if any(shifts) else ()


def _replacing(cleaned: list[str], ends: list[str]) -> tuple[list[str], tuple[tuple[int, int], ...], list[int]]:
    """The lines with statements of Python in the place of IPython's own; which of these are measured; at which lines IPython's text
    has lines."""
    from IPython.core.inputtransformer2 import TransformerManager

    manager = TransformerManager()
    lines = [line + end for line, end in zip(cleaned, ends)]  # a backslash before "\r" does not go on
    found, timed, inside = list(cleaned), list[tuple[int, int]](), set[int]()
    for _ in range(_MOST):
        try:
            changed, done = manager.do_one_token_transform(lines)
        except (SyntaxError, ValueError):
            break
        first, end = _changed(lines, done)
        if not changed or first == end:
            break
        found[first], measures = _replaced("".join(lines[first:end]).rstrip("\r\n"))
        found[first + 1 : end] = [""] * (end - first - 1)
        inside.update(range(first + 1, end))
        timed += [(first, first)] * measures
        lines = [*lines[:first], *done[first : first + 1], *["\n"] * (end - first - 1), *lines[end:]]
    return found, tuple(timed), [at for at in range(len(found)) if at not in inside]


_MOST = 500


def _changed(before: list[str], after: list[str]) -> tuple[int, int]:
    """The stretch of lines that became one line."""
    first, last = 0, 0
    least = min(len(before), len(after))
    while first < least and before[first] == after[first]:
        first += 1
    while last < least - first and before[-1 - last] == after[-1 - last]:
        last += 1
    return first, len(before) - last


def _replaced(statement: str) -> tuple[str, bool]:
    """A statement of IPython's as Python, and whether it measures that."""
    line, _, below = statement.partition("\n")
    assigned = _ASSIGNED.match(line)
    begin = assigned[1] if assigned else line[: len(line) - len(line.lstrip())]
    magic = line[len(begin) :]
    found = _TIMED.match(magic) if not below else None
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


# --- edits ------------------------------------------------------------------------------------------------------------


def edits_in(cell: str, edits: Iterable[Edit]) -> list[Edit] | None:
    """Edits of a cell's Python as edits of the cell's own text; None where the cell edited so is not the Python edited so: it stands
    where IPython's lines are, or is no Python any more. An edit of the line `%%jit …` is one of the magic's options."""
    return _edits_in(cell, tuple(edits))


@functools.lru_cache(256)
def _edits_in(cell: str, edits: tuple[Edit, ...]) -> list[Edit] | None:
    python = python_of(cell)
    if python is None or not edits:
        return None
    found = shifted(edits, python.shifts)
    own = tuple(one for one in edits if one[2] > 1 or not cell.startswith("%%jit"))
    typed = shifted(own, python.shifts)
    if [*_stretches(lines_in(cell), typed, python.shifts)] != [*_stretches(python.text.split("\n"), own, ())]:
        return None
    try:
        again = python_of(_applied(cell, found))
        wanted = _applied(python.text, own)
        same = again is not None and ast.dump(ast.parse(again.text)) == ast.dump(ast.parse(wanted))
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return None
    return found if same else None


def _stretches(lines: list[str], edits: Iterable[Edit], shifts: Sequence[int]) -> Iterator[str]:
    """The text that edits replace, without what stands before the code of its lines."""
    for line, column, end_line, end_column, _ in edits:
        for number in range(line, end_line + 1):
            begin = column if number == line else shifts[number - 1] if number <= len(shifts) else 0
            text = lines[number - 1] if number <= len(lines) else ""
            yield text[begin : end_column if number == end_line else None]


def _applied(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits. Raises IndexError where it has no such lines."""
    lines = text.split("\n")
    for line, column, end_line, end_column, new in sorted(edits, reverse=True):
        lines[line - 1 : end_line] = [lines[line - 1][:column] + new + lines[end_line - 1][end_column:]]
    return "\n".join(lines)
