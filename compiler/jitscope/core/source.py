"""The text of the user's source: positions in it, cells of notebooks, and which files are the user's own."""

import ast
import functools
import linecache
import opcode
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from types import CodeType

from ..named_tuple import NamedTuple


_INTERNAL = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep]
_STDLIB = os.path.dirname(os.__file__)
_INTERNAL += [os.path.join(_STDLIB, name) for name in ("contextlib.py", "functools.py")]


class Position(NamedTuple):
    """A stretch of source: lines from 1, columns from 0 (as Python's `co_positions`)."""

    file: str
    line: int
    end_line: int
    column: int
    end_column: int
    function: str

    @property
    def text(self) -> str:
        """The source line, or "" where it cannot be had."""
        return line_of(self.file, self.line).rstrip("\n")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column} ({self.function})"

    def at(self, node: ast.expr | ast.stmt) -> "Position":
        """The stretch of a node of the file's syntax tree, in the same function."""
        end, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._replace(line=node.lineno, end_line=end, column=node.col_offset, end_column=end_column)


Edit = tuple[int, int, int, int, str]
"""Line and column of the beginning, of the end (not included), lines from 1 and columns in characters from 0; and the new text."""


class CellText(NamedTuple):
    """A notebook's cell. Its code's lines are those of `typed`, as a person wrote it; its columns are those of `python`, which has each
    line `shifts` columns further left and nothing of what is no Python. `in_typed` gives edits of `python` as those of `typed`, None
    where there are none."""

    typed: str
    python: str
    shifts: tuple[int, ...]
    in_typed: Callable[[Iterable[Edit]], list[Edit] | None]


cell_texts: dict[str, CellText] = {}
"""By the name of the code's file."""


def shifted(edits: Iterable[Edit], shifts: Sequence[int]) -> list[Edit]:
    """Edits with the columns of lines that stand further right by so much."""

    def by(line: int) -> int:
        return shifts[line - 1] if 0 < line <= len(shifts) else 0

    return [(line, column + by(line), end, end_column + by(end), text) for line, column, end, end_column, text in edits]


def shift_of(file: str, line: int) -> int:
    """By how many columns a line stands further right in the text that a person has than in the file's code."""
    cell = cell_texts.get(file)
    return cell.shifts[line - 1] if cell is not None and 0 < line <= len(cell.shifts) else 0


def as_typed(where: Position) -> Position:
    """A position with the columns of the text that a person has."""
    by, end = shift_of(where.file, where.line), shift_of(where.file, where.end_line)
    return where._replace(column=where.column + by, end_column=where.end_column + end) if by or end else where


def edits_typed(file: str, edits: Iterable[Edit]) -> list[Edit]:
    """Edits of a file's code (see `code_of`) as those of the text that a person has; none where that has no place for them."""
    cell = cell_texts.get(file)
    return list(edits) if cell is None else cell.in_typed(edits) or []


def lines_of(file: str) -> list[str]:
    """The lines of a source file or a notebook's cell as a person wrote them; none where they cannot be had (code may claim any name as
    its file's)."""
    if (cell := cell_texts.get(file)) is not None:
        return [f"{line}\n" for line in cell.typed.replace("\r\n", "\n").split("\n")]
    if (
        file == "<string>"
    ):  # any text that is executed is called so: since Python 3.13 linecache has that of `python -c` for all of them
        return []
    try:
        return linecache.getlines(file)
    except ValueError:  # a name that no file can have
        return []


def code_of(file: str) -> str:
    """The Python of a source file or a notebook's cell, lines and columns as positions have them; "" where it cannot be had."""
    cell = cell_texts.get(file)
    return cell.python if cell is not None else "".join(lines_of(file))


def parsed(file: str) -> ast.Module | None:
    """The syntax tree of a source file or a notebook's cell; None where it cannot be had, or is no Python."""
    try:
        return ast.parse(code_of(file))
    except (SyntaxError, ValueError, RecursionError):
        return None


def line_of(file: str, line: int) -> str:
    """One of them, counted from 1, or ""."""
    lines = lines_of(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""


cell_names: list[Callable[[str], str | None]] = []
"""Each says how a notebook's cell is called, "In [3]", by the name of its file; None for other files."""


def place(where: Position) -> str:
    """`line 3 of In [4]`, `line 3 of model.py`."""
    return f"line {where.line} of {file_name(where.file)}"


def file_name(file: str) -> str:
    """`In [4]` for a cell as it ran last, `model.py`, "the expression" of a magic's own line."""
    if is_expression(file):
        return "the expression"
    return next(filter(None, (name(file) for name in cell_names)), None) or os.path.basename(file)


def is_expression(file: str) -> bool:
    """Whether code was given to a magic, `%nans f(x)`: its text is its file's name."""
    return _EXPRESSION.fullmatch(file) is not None


_EXPRESSION = re.compile(r"<.*[(@+*/%&|^~].*>", re.DOTALL)


def position_text(where: Position | None, before: str, after: str = "") -> str:
    """A position as messages tell it, `line 3 of f: y = sin(x)`, between other words; nothing where it is not known."""
    return f"{before}line {where.line} of {where.function}: {where.text.strip()}{after}" if where else ""


def add_internal(path: str) -> Callable[[], None]:
    """Count a file, or the files below a folder, as the library's own: positions point at the caller of such code. Gives the
    function that ends it."""
    prefix = os.path.abspath(path) + (os.sep if os.path.isdir(path) else "")
    _INTERNAL.append(prefix)
    is_internal.cache_clear()

    def end() -> None:
        if prefix in _INTERNAL:
            _INTERNAL.remove(prefix)
        is_internal.cache_clear()

    return end


@functools.lru_cache(4096)
def is_internal(filename: str) -> bool:
    """Whether a file counts as the library's own: see `add_internal`."""
    return any(filename.startswith(prefix) for prefix in _INTERNAL)


def is_stdlib(filename: str) -> bool:
    """Whether a file is one of Python's own library."""
    return filename.startswith(_STDLIB + os.sep) and "site-packages" not in filename


@functools.lru_cache(4096)
def is_installed(filename: str) -> bool:
    """Whether a file belongs to Python or to an installed library."""
    return filename.startswith(_installed()) or re.search(_SITE_PACKAGES, filename) is not None


@functools.cache
def _installed() -> tuple[str, ...]:
    of_environment = os.path.join(sys.exec_prefix, os.path.relpath(_STDLIB, sys.base_prefix))
    return (*(f"{p}/" for p in sorted({_STDLIB, of_environment})), "<frozen ")


_SITE_PACKAGES = r"[/\\](?:site|dist)-packages[/\\]"
"""Folders of libraries, also those that PYTHONPATH or `sys.path` names."""
_LIBRARIES = r"[/\\](?:numpy|scipy|pandas|matplotlib)[/\\]"


def in_program(filename: str) -> bool:
    """Whether a file is part of the program that the user wrote: neither the library's own, nor Python's or an installed library's."""
    return not is_internal(filename) and not is_installed(filename)


def is_users(filename: str) -> bool:
    """Whether a file is the user's: not the library's own, Python's, or of a library that knows no tracers."""
    return not (is_internal(filename) or is_stdlib(filename) or re.search(_LIBRARIES, filename))


@functools.lru_cache(1024)
def _positions(code: CodeType) -> list:
    found = list(code.co_positions())
    if sys.version_info < (3, 12):  # a jump there stands for its whole statement; what it asks was loaded just before
        names = [opcode.opname[number] for number in code.co_code[::2]] + [""]
        for at in range(1, len(found)):
            if "_IF_" in names[at] or (names[at] == "EXTENDED_ARG" and "_IF_" in names[at + 1]):
                found[at] = found[at - 1]
    return found


def position_in(code: CodeType, lasti: int) -> Position:
    """The position of the instruction at byte offset `lasti` of `code`."""
    entries = _positions(code)
    line, end_line, column, end_column = entries[lasti // 2] if 0 <= lasti // 2 < len(entries) else (None,) * 4
    line = line or code.co_firstlineno
    return Position(code.co_filename, line, end_line or line, column or 0, end_column or 0, code.co_name)


def stack_level() -> int:
    """The `stacklevel` of a warning that the caller gives: that of the first frame that is not the library's own."""
    frame, level = sys._getframe(1), 1
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


def position_of_function(fun: object) -> Position | None:
    """Where a Python function was defined, under its name and its class's; None if it has no code, or is the library's own."""
    met: set[int] = set()
    while hasattr(fun, "__wrapped__") and id(fun) not in met:  # functions may wrap each other
        met.add(id(fun))
        fun = fun.__wrapped__  # pyright: ignore[reportAttributeAccessIssue]
    fun = getattr(fun, "func", fun)
    code = getattr(fun, "__code__", None) or getattr(type(fun).__call__, "__code__", None)
    if code is None or is_internal(code.co_filename):
        return None
    name = code.co_qualname.rpartition("<locals>.")[2]
    return Position(code.co_filename, code.co_firstlineno, code.co_firstlineno, 0, 0, name)
