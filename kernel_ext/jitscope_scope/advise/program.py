"""A program to be checked: a .py file, its `# %%` cells if it has some, or a notebook."""

from __future__ import annotations

import json
import re
import sys
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..source_code.text import Cell
from .code.ipython import Python, no_python, without_magics
from .code.newer import python_needed


_SPLIT = re.compile(r"^# %%", re.MULTILINE)


class ProgramError(ValueError):
    """A file that is no program: not there, not text, no notebook."""


@dataclass(frozen=True)
class Program:
    """The text of all cells, one after the other, without IPython's own lines; `cells` says where each stands, `magic` has
    the cells as they were written (none of them for a .py file), `unread` tells which (from 1) are no Python and are left out, and why,
    `raising` which (from 0) are tagged as raising an exception."""

    file: str
    text: str
    cells: tuple[Cell, ...] = ()
    magic: tuple[str, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()
    raising: frozenset[int] = frozenset()

    @property
    def is_notebook(self) -> bool:
        return bool(self.magic)

    def place(self, line: int) -> tuple[int | None, int]:
        """The number of the cell (from 1; None if there are no cells) and the line in the file: of a notebook, in the cell."""
        for number, cell in enumerate(self.cells, 1):
            if cell.first <= line <= cell.last:
                return number, line - cell.first + 1 if self.is_notebook else line
        return None, line


def read(file: str) -> Program:
    """The program in a file. Raises ProgramError."""
    try:
        text = _read(file)
    except OSError as error:
        raise ProgramError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, SyntaxError):
        raise ProgramError(f"{file} cannot be read: it is not text in the encoding that it says, or UTF-8") from None
    if not file.endswith(".ipynb"):
        if wrong := _wrong(text):
            raise ProgramError(f"{file} {wrong}")
        return Program(file, text, _cells_of(text))
    try:
        codes = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in codes]
        tags = [cell.get("metadata", {}).get("tags", ()) for cell in codes]
    except json.JSONDecodeError as error:
        what = f"is no JSON: line {error.lineno}: {error.msg}" if text.strip() else "is empty"
        raise ProgramError(f"{file} is no notebook: it {what}") from None
    except (KeyError, TypeError, AttributeError):
        raise ProgramError(f"{file} is no notebook: it has no cells as nbformat 4 writes them") from None
    raising = frozenset(at for at, of_cell in enumerate(tags) if "raises-exception" in of_cell)
    return replace(of_cells(sources, file), raising=raising)


def _wrong(text: str) -> str:
    """Why text is no Python that can be read here; "" where it is."""
    wrong = no_python(text)
    if wrong and (newer := python_needed(text)):
        return f"needs Python {newer}, and this is Python {sys.version_info[0]}.{sys.version_info[1]}: {wrong}"
    return wrong and f"is no Python: {wrong}"


def _read(file: str) -> str:
    """The text of a file, as Python reads it: a mark of the byte order or a first line may say how it is encoded."""
    if file.endswith(".ipynb"):
        return Path(file).read_text(encoding="utf-8-sig")
    with tokenize.open(file) as opened:
        return opened.read()


def _cells_of(text: str) -> tuple[Cell, ...]:
    starts = [text.count("\n", 0, match.start()) + 1 for match in _SPLIT.finditer(text)]
    if not starts:
        return ()
    starts = starts if starts[0] == 1 else [1, *starts]
    ends = [start - 1 for start in starts[1:]] + [text.count("\n") + 1]
    return tuple(Cell(first, last) for first, last in zip(starts, ends))


def of_cells(sources: list[str], file: str, labels: Sequence[str] = ()) -> Program:
    """A program of a notebook's cells; `labels` is what messages call them. A cell that is no Python is empty lines."""
    lines: list[str] = []
    cells: list[Cell] = []
    unread: list[tuple[int, str]] = []
    for source in sources:
        first = len(lines) + 1
        label = labels[len(cells)] if labels else f"cell {len(cells) + 1}"
        own = without_magics(source)
        if wrong := _wrong(own.text):
            unread.append((len(cells) + 1, wrong))
            own = Python("\n" * source.count("\n"))
        lines += own.text.split("\n")
        timed = tuple((first + start, first + end) for start, end in own.timed)
        cells.append(_cell(source, first, len(lines))._replace(label=label, timed=timed))
    return Program(file, "\n".join(lines) + "\n", tuple(cells), tuple(sources), tuple(unread))


def _cell(source: str, first: int, last: int) -> Cell:
    """A notebook's cell, with what its `%%jit` line asks for."""
    magic = re.match(r"%%jit\b(.*)", source)
    if magic is None:
        return Cell(first, last)
    names, options = [], {"--skip": [], "--static": [], "--donate": []}
    words = iter(magic[1].replace("=", " ").split())
    for word in words:
        if word in options:
            options[word].append(next(words, ""))
        elif word.isidentifier():
            names.append(word)
    static: dict[str, frozenset[str]] = {}
    for text in options["--static"]:
        function, _, parameters = text.partition(":")
        static[function] = static.get(function, frozenset()) | frozenset(parameters.split(","))
    return Cell(first, last, True, tuple(names), tuple(options["--skip"]), static)
