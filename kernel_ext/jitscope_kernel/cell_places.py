"""Code of cells has the lines of the text that a person has before them.

IPython compiles other text than was written (`advise.code.ipython` has the map between the two), and magics that run code compile what they
are given under names of their own: `<timed exec>`, `<magic-timeit>`. While the extension is loaded, the shell's compiler moves each
syntax tree to the lines of the cell it was written in, and code that magics compile has that cell's name. So errors, equations,
kernels and edits all speak of the same lines. Code that was written nowhere (a magic made its text) keeps the line that asked for it,
or its own.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from IPython.core.interactiveshell import InteractiveShell

from jitscope.core import source
from jitscope.core.source import CellText
from jitscope_scope.advise.code.ipython import edits_in, lines_in, no_python, without_magics


_RENAMED = frozenset({"<timed exec>", "<timed eval>", "<magic-timeit>", "<magic-timeit-setup>", "<magic-timeit-stmt>"})
_KEPT = 10_000
_FILE = "_jitscope_file"


_to_run: list[Callable[[], None]] = []


def run() -> None:
    """Run what `%prun` is to profile."""
    _to_run.pop()()


class Place(NamedTuple):
    """Where a text stands: the name of the cell's code, the cell's line (from 1) of each line, and by how many bytes its only line
    stands further right; None where that is not known. `altered` are the lines of the text itself (from 1) that IPython made: they have no
    columns in the cell."""

    file: str
    lines: Sequence[int]
    column: int | None = 0
    altered: frozenset[int] = frozenset()


class CellPlaces:
    """The cells of one shell, by the names of their code."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._lines: OrderedDict[str, Sequence[int] | None] = OrderedDict()
        self._written: OrderedDict[str, str] = OrderedDict()  # what was transformed, by what became of it

    def begin(self) -> Callable[[], None]:
        """Move what is compiled from now on; gives the function that ends it."""
        placing, shell = self, self._shell
        compiler: Any = shell.compile
        before, kind = shell.transform_cell, type(compiler)

        def transform_cell(raw_cell: str) -> str:
            done = before(raw_cell)
            placing._remember(done, raw_cell)
            return placing._to_profile(done) if sys._getframe(1).f_code.co_name == "prun" else done

        class Compiler(kind):
            def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> ast.AST:
                place = placing._place(source, filename)
                if place is None:
                    return super().ast_parse(source, filename, symbol)
                try:
                    return _moved(super().ast_parse(source, filename, symbol), place)
                except SyntaxError as error:
                    _move_error(error, place)
                    raise

            def __call__(self, source: Any, filename: str, symbol: str, **options: Any) -> Any:
                return super().__call__(source, _named(source, filename), symbol, **options)

            def cache(self, *args: Any, **options: Any) -> str:
                name = super().cache(*args, **options)
                placing._lay_out(name)
                return name

        Compiler.__name__, Compiler.__qualname__, Compiler.__module__ = (
            kind.__name__,
            kind.__qualname__,
            kind.__module__,
        )
        compiler.__class__ = Compiler
        vars(shell)["transform_cell"] = transform_cell

        def end() -> None:
            if vars(shell).get("transform_cell") is transform_cell:
                del vars(shell)["transform_cell"]
            if type(compiler) is Compiler:
                compiler.__class__ = kind
            for file in self._lines:
                source.cell_texts.pop(file, None)

        return end

    # --- cells --------------------------------------------------------------------------------------------------------

    def ran(self, file: str, typed: str, transformed: str, outer: str = "") -> str | None:
        """A cell is about to be compiled as `file`. `outer` names the code of a cell that runs it, as `%%capture` does with its body. The
        text that a person has it in; None if `outer` does not have it."""
        lines, around = _lines_of(typed, transformed), source.cell_texts.get(outer)
        if outer:
            place = self._within(outer, typed, self._line_now() or 1)
            if place is None or around is None:
                self._keep(file, None, None)
                return None
            self._keep(file, [_line(n, place) for n in lines] if lines is not None else None, around)
            return around.typed
        self._keep(file, lines, _cell_text(typed, transformed, lines))
        return typed

    def compiled_before(self, file: str, typed: str, transformed: str) -> None:
        """A cell was compiled as `file` before `begin`: its lines are those of the transformed text."""
        lines = _lines_of(typed, transformed)
        if lines is None or list(lines) != list(range(1, len(lines) + 1)):
            text = "".join(_shown(file) or ())
            self._keep(file, None, CellText(text, text, (), lambda _edits: None))
        else:
            self._keep(file, None, _cell_text(typed, transformed, lines))

    def _keep(self, file: str, lines: Sequence[int] | None, cell: CellText | None) -> None:
        self._lines[file] = lines
        self._lines.move_to_end(file)
        source.cell_texts.pop(file, None)
        if cell is not None:
            source.cell_texts[file] = cell
        while len(self._lines) > _KEPT:
            source.cell_texts.pop(self._lines.popitem(last=False)[0], None)

    def _remember(self, done: str, raw: str) -> None:
        self._written[done] = raw
        self._written.move_to_end(done)
        while len(self._written) > 32:
            self._written.popitem(last=False)

    def _to_profile(self, text: str) -> str:
        """Text that runs another one as a cell's code: `%prun` would compile it by itself, without a name and what `%%jit` asks for."""
        shell: Any = self._shell
        try:
            tree = shell.transform_ast(shell.compile.ast_parse(text))
            code = shell.compile(tree, "<timed exec>", "exec")
        except (SyntaxError, ValueError):
            return text  # `%prun` says what is wrong with it
        _to_run.append(partial(exec, code, shell.user_ns))
        return f"__import__({__name__!r}, fromlist=['run']).run()\n"

    # --- places -------------------------------------------------------------------------------------------------------

    def _place(self, text: str, file: str) -> Place | None:
        if file in self._lines:
            lines = self._lines[file]
            return Place(file, lines, altered=_altered(text, file, lines)) if lines is not None else None
        typed = self._written.get(text)
        return self._asked(typed, text) if file == "<unknown>" and typed is not None else None

    def _asked(self, typed: str, text: str) -> Place | None:
        """The place of text that a magic was given by the code that runs now."""
        at = self._frame_now()
        if at is None:
            return None
        file, line = at
        place = self._within(file, typed, line)
        lines = _lines_of(typed, text)
        if place is None or lines is None:
            return Place(file, [line] * (text.count("\n") + 1), None)
        place = place._replace(lines=[_line(n, place) for n in lines])
        if place.column == 0:
            place = place._replace(altered=_altered(text, file, place.lines))
        if place.column == 0:
            self._show(place, text)
        return place

    def _within(self, file: str, typed: str, line: int) -> Place | None:
        """Where the text that a magic in a line of a cell was given stands in that cell."""
        cell = source.cell_texts.get(file)
        if cell is None:
            return None
        lines = _cleaned(cell)
        body = _without_end(lines_in(typed))
        own = lines[line - 1] if 0 < line <= len(lines) else ""
        if own.lstrip().startswith("%%"):
            return _below(file, _without_end(lines), line, body)
        if len(body) == 1 and own.rstrip().endswith(stated := body[0].strip()):
            column = len(own.rstrip()) - len(stated)
            return Place(file, [line, line], len(own[:column].encode()) - (len(body[0]) - len(body[0].lstrip())))
        return None

    def _frame_now(self) -> tuple[str, int] | None:
        """The innermost code of a cell that runs now, and its line."""
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename in source.cell_texts and frame.f_code.co_filename in self._lines:
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        return None

    def _line_now(self) -> int | None:
        at = self._frame_now()
        return at[1] if at is not None else None

    # --- what tracebacks show -----------------------------------------------------------------------------------------

    def _lay_out(self, file: str) -> None:
        """The lines of a cell's code in the cache that tracebacks read, each where it stands in the cell."""
        lines, shown = self._lines.get(file), _shown(file)
        if lines is not None and shown is not None:
            self._show(Place(file, lines), "".join(shown), anew=True)

    def _show(self, place: Place, text: str, anew: bool = False) -> None:
        before = _shown(place.file)
        if before is None or (anew and list(place.lines[: len(before)]) == list(range(1, len(before) + 1))):
            return
        shown = [] if anew else before
        for line, written in zip(place.lines, _without_end(lines_in(text))):
            shown += ["\n"] * (line - len(shown))
            shown[line - 1] = f"{written}\n"
        linecache.cache[place.file] = (sum(map(len, shown)), None, shown, place.file)


def _below(file: str, lines: list[str], line: int, body: list[str]) -> Place | None:
    """The place of a text that is the end of a cell, below a line of it; `%%jit` may stand above that line."""
    top = next((at for at, one in enumerate(body) if one.strip()), 0)
    for start in (top, top + 1) if body and body[top].startswith("%%jit") else (top,):
        first = len(lines) - len(body[start:])
        if body[start:] and first >= line and lines[first:] == body[start:]:
            return Place(file, range(first + 1 - start, len(lines) + 3))
    return None


def _shown(file: str) -> list[str] | None:
    entry: Any = linecache.cache.get(file)
    return list(entry[2]) if entry is not None and len(entry) == 4 else None


def _lines_of(typed: str, transformed: str) -> Sequence[int] | None:
    """The line of the text as written (from 1) for each line of what became of it; None where that is not known."""
    done = _without_end(lines_in(transformed))
    python = without_magics(typed)
    begun = python.begun[: len(done)]
    if len(begun) != len(done):
        return None
    own = python.text.split("\n")
    same = all(
        own[at] == line
        or not own[at].strip()
        or "get_ipython()" in line
        or (line.startswith("'%%jit") or len(done) == 1)
        for at, line in zip(begun, done)
    )
    last = begun[-1] if begun else 0
    return [*(at + 1 for at in begun), last + 2, last + 3] if same else None


def _altered(text: str, file: str, lines: Sequence[int]) -> frozenset[int]:
    """The lines of the text, from 1, that are not what the cell's Python has there."""
    cell = source.cell_texts.get(file)
    if cell is None or cell.python == text or cell.python + "\n" == text:
        return frozenset()
    own = cell.python.split("\n")
    pairs = enumerate(zip(lines_in(text), lines), 1)
    return frozenset(n for n, (line, at) in pairs if line.strip() and line != (own[at - 1] if at <= len(own) else ""))


def _cell_text(typed: str, transformed: str, lines: Sequence[int] | None) -> CellText:
    python = without_magics(typed)
    if lines is None or no_python(python.text):
        return CellText(typed, transformed, (), lambda _edits: None)
    return CellText(typed, python.text, python.shifts, partial(edits_in, typed))


def _cleaned(cell: CellText) -> list[str]:
    """A cell's lines as they were written, without what IPython takes from their beginnings."""
    lines = lines_in(cell.typed)
    return [line[shift:] for line, shift in zip(lines, cell.shifts)] if cell.shifts else lines


def _without_end(lines: Sequence[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return list(lines[:end])


# --- syntax trees -----------------------------------------------------------------------------------------------------


def _moved(tree: ast.AST, place: Place) -> ast.AST:
    still = place.column == 0 and not place.altered and list(place.lines) == list(range(1, len(place.lines) + 1))
    for node in ast.walk(tree):
        if not hasattr(node, "lineno"):
            continue
        setattr(node, _FILE, place.file)
        if still:
            continue
        placed: Any = node
        lost = place.column is None or placed.lineno in place.altered
        placed.lineno = _line(placed.lineno, place)
        placed.end_lineno = _line(placed.end_lineno or 1, place)
        if lost:
            placed.col_offset = placed.end_col_offset = 0
        else:
            placed.col_offset += place.column or 0
            placed.end_col_offset += place.column or 0
    return tree


def _line(line: int, place: Place) -> int:
    return place.lines[min(line, len(place.lines)) - 1]


def _move_error(error: SyntaxError, place: Place) -> None:
    error.filename = place.file
    if error.lineno is not None and error.lineno > 0:
        error.lineno = _line(error.lineno, place)
    if error.end_lineno is not None and error.end_lineno > 0:
        error.end_lineno = _line(error.end_lineno, place)


def _named(tree: Any, file: str) -> str:
    """The name of the cell that most of the code was written in, for code of magics."""
    if file not in _RENAMED or not isinstance(tree, ast.AST):
        return file
    names = (getattr(node, _FILE, None) for node in ast.walk(tree))
    found = [name for name in names if name is not None]
    return found[-1] if found else file
