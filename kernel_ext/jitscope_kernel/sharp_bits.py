"""The sharp bits of a session: a look at its cells, as they were run or as an editor has them now, and what their runs showed."""

from __future__ import annotations

import ast
import difflib
import functools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from jitscope.core.source import Position, cell_texts, edits_typed, lines_of, shifted
from jitscope.core.unfinished_traces import unfinished
from jitscope_scope import jaxwatch, observe
from jitscope_scope.advise import CATALOGUE, WHY, Diagnostic, Fix, heard, look, silencer, together
from jitscope_scope.advise.code.ipython import edits_in, lines_in, python_of
from jitscope_scope.advise.code.sharing import with_arrays
from jitscope_scope.advise.pages import address_of, title_of
from jitscope_scope.advise.program import of_cells
from jitscope_scope.advise.repair import repairs
from jitscope_scope.advise.run.errors import TO_DO, explained
from jitscope_scope.advise.run.misses import recompilations_paid
from jitscope_scope.advise.run.programs import of_program
from jitscope_scope.advise.run.redefined import kept
from jitscope_scope.advise.watch import NoticeCollector, Watch
from jitscope_scope.source_code.edits import Edit, Span
from jitscope_scope.source_code.names import imported_in
from jitscope_widgets.documents.annotations import (
    Diagnostic as DiagnosticDocument,
    DiagnosticsDocument,
    Fix as FixDocument,
    StoppedDocument,
)


PlaceOf = Callable[[str], "tuple[str, str | None] | None"]
_CELLS = 500
_LONG = 0.1  # seconds


class Cell(NamedTuple):
    """A cell's text, as it was run or as it stands in an editor. `file` is the name of its code as it was run last, or a name of
    its own; `id` is Jupyter's, `label` such as "In [3]"."""

    id: str | None
    label: str
    file: str
    text: str

    def lines(self) -> list[str]:
        return lines_in(self.text)


class SharpBits:
    """Collects what the cells of one shell step on. `ignored` gives the ids that nobody wants to hear of."""

    def __init__(self, ledger: observe.Ledger, ignored: Callable[[], Iterable[str]] = tuple) -> None:
        self._ledger, self._ignored = ledger, ignored
        self._lock = threading.RLock()
        self._cells: OrderedDict[str, Cell] = OrderedDict()
        self._errors: list[Diagnostic] = []
        self._watch: Watch | None = None
        self._noticed = NoticeCollector()
        self._watched: list[Diagnostic] = []
        self._programs: dict[int, tuple[Diagnostic, ...]] = {}
        self._before: list[Cell] = []
        self._spent = (0.0, 0.0)  # seconds of computing, for the last two looks at cells that ran: one may import

    def began(self, texts: Iterable[str]) -> None:
        """The extension was loaded after these cells had run: what they import and define, later ones use."""
        self._before = [Cell(None, f"In [{number}]", "", text) for number, text in enumerate(texts, 1)]

    def ran(self, label: str, id: str | None, file: str, text: str) -> None:
        """A cell runs now; a changed cell keeps its id."""
        with self._lock:
            before = self._cells.pop(id or label, None)
            if before is not None:
                self._forget(before.file)
            self._forget(file)
            self._cells[id or label] = Cell(id, label, file, text)
            while len(self._cells) > _CELLS:
                self._cells.popitem(last=False)
        self._look_at_jax()

    def _forget(self, file: str) -> None:
        self._errors = [one for one in self._errors if one.file != file]
        self._watched = [one for one in self._watched if one.file != file]
        self._noticed.forget(file)

    def failed(self, error: BaseException, place_of: PlaceOf) -> StoppedDocument | DiagnosticsDocument | None:
        """A cell ended in an error. If it stopped a trace: the document of what was traced up to it, with rewrites that were
        tried. What the error kept of the trace is let go. Else, of an error of jax's, the sharp bit with what to do."""
        one = explained(error)
        if one is not None:
            with self._lock:
                self._errors.append(one)
        traces = unfinished(error)
        if not traces:
            return self._of_jax(one, error) if one is not None else None
        try:
            where = traces[0].where
            fixes = repairs(error, one.id, where) if one is not None and where is not None else []
            if one is not None and one.fix.edits and fixes:
                one = self._as_tried(one, fixes)
            if (
                not fixes
                and one is not None
                and one.fix.text
                and (jaxwatch.raised_by_jax(error) or _says_who(one, error))
            ):
                said = f"{one.message} {one.fix.text}" if _says_who(one, error) else one.fix.text
                fixes = [Fix(said)]  # in words: what jax raises does not say what to do
            tried = [self._fix(one, fix, where, place_of) for fix in fixes if one is not None and where is not None]
            made = [fix for fix in tried if fix is not None]
            return observe.stopped_document(error, place_of, made)
        finally:
            del error.unfinished  # pyright: ignore[reportAttributeAccessIssue]

    def _as_tried(self, one: Diagnostic, fixes: Sequence[Fix]) -> Diagnostic:
        """An error with how its edit was proved; where that was tried, and failed, with one that did not, or with why there is none."""
        same = next((fix for fix in fixes if fix.edits == one.fix.edits), None)
        other = replace(one, fix=fixes[0] if same is None else replace(one.fix, checked=same.checked))
        with self._lock:
            self._errors = [other if known is one else known for known in self._errors]
        return other

    def _of_jax(self, one: Diagnostic, error: BaseException) -> DiagnosticsDocument | None:
        known = (one.id in TO_DO or one.id == "not-a-jax-type") and jaxwatch.mistake(error) is not None
        view = one.id == "item-assignment" and isinstance(
            error, ValueError
        )  # NumPy's of an array: see advise.run.readonly
        own = one.fix.text and (known or type(error).__module__.startswith("jax") or _says_who(one, error))
        cell = next((cell for cell in self._cells.values() if cell.file == one.file), None)
        if cell is None or not (own or view or (one.fix.edits and _holds_outside(one, error))):
            return None
        return _document([_item(cell, one)])

    def _fix(self, one: Diagnostic, fix: Fix, where: Position, place_of: PlaceOf) -> FixDocument | None:
        """A fix as a document, its edits those of the text of the cell that failed; one in words stands where the cause is."""
        if fix.edits and one.file != where.file:
            one = replace(one, file=where.file, span=Span.of(where))
        elif one.file != where.file:
            span = one.span
            where = Position(one.file, span.line, span.end_line, span.column, span.end_column, "")
        cell = next((cell for cell in self._cells.values() if cell.file == where.file), None)
        if cell is not None:
            return _item(cell, replace(one, fix=fix))["fix"]
        edits = edits_typed(where.file, [edit.parts for edit in fix.edits])
        position = observe.position_document(where, place_of)
        return observe.fix_document(fix.text, edits, position, lines_of(where.file), fix.checked if edits else "")

    def listen(self, on: bool) -> None:
        """Look at the runs of the cells to come, or stop that. Slow: programs are evaluated once more."""
        if on and self._watch is None:
            self._watch = Watch(self._ledger, values=True).__enter__()
            self._look_at_jax()
        elif not on and self._watch is not None:
            self._watch.__exit__(None, None, None)
            self._watched += self._watch.found()
            self._watch = None

    def _look_at_jax(self) -> None:
        """Look at the runs of jax's programs as well, if anybody listens and jax is watched."""
        if self._watch is not None and jaxwatch.there() and jaxwatch.current() is not None:
            self._watch.look_at_jax()

    # --- what was found -----------------------------------------------------------------------------------------------

    def found(self, cells: Sequence[Cell] | None = None) -> list[tuple[Cell, Diagnostic]]:
        """All that is known of some cells (by default of all that were run, as they were run last), in their order, without what
        comments silence and what is ignored. Positions are those of the cells' Python (`advise.code.ipython`)."""
        with self._lock:
            cells = list(self._cells.values()) if cells is None else cells
            ran = self._ran({cell.file: cell for cell in cells})
        ignored = set(self._ignored())
        every = [one for one in together(_looked(self._before, cells), ran) if one.id not in ignored]
        return [
            (cell, one) for cell in cells for one in heard([o for o in every if o.file == cell.file], _python(cell))
        ]

    def ended(self) -> None:
        """The extension is taken out."""
        self.listen(False)
        self._noticed.stop()

    def _ran(self, cells: dict[str, Cell]) -> list[Diagnostic]:
        """What the runs of these cells showed."""
        rows = list(self._ledger)
        found = [
            *self._errors,
            *self._watched,
            *self._noticed.found,
            *recompilations_paid(rows),
            *kept(rows),
            *self._of_programs(rows),
        ]
        found += self._watch.found() if self._watch is not None else []
        texts = {cell.file: cell.text for cell in self._cells.values()}
        ours = [(one, texts.get(one.file, cells[one.file].text)) for one in found if one.file in cells]
        ours = [(one, text) for one, text in ours if _is_of(one.file, text)]
        told = [(one.in_names(imported_in(one.file)), ran) for one, ran in ours]
        moved = [_carried(one, ran, cells[one.file].text) for one, ran in told]
        return [one for one in moved if one is not None]

    def _of_programs(self, rows: list[observe.Row]) -> list[Diagnostic]:
        """What the programs of all rows show; each is looked at once."""
        before = self._programs
        self._programs = {row.id: before[row.id] if row.id in before else tuple(of_program(row)) for row in rows}
        return [one for found in self._programs.values() for one in found]

    def written(self, sources: Iterable[tuple[str, str]]) -> list[Cell]:
        """The cells that an editor has, given as (id, text) in their order."""
        with self._lock:
            return [self._written(id, text) for id, text in sources]

    def _written(self, id: str, text: str) -> Cell:
        known = self._cells.get(id)
        return known._replace(text=text) if known else Cell(id, "In [ ]", f"<cell {id}>", text)

    # --- as a document ------------------------------------------------------------------------------------------------

    def document(self, cells: Sequence[Cell] | None = None) -> DiagnosticsDocument:
        """As a document; see docs/documents.md."""
        return _document([_item(cell, one) for cell, one in self.found(cells)])

    def of_cell(self, label: str, failed: bool) -> DiagnosticsDocument | None:
        """What is to be told of a cell that just ran; None for nothing. An error was told by its traceback, what was compiled again by
        cards. Nothing is told unasked once a look at the session takes too long."""
        if min(self._spent) > _LONG:
            return None
        with self._lock:
            self._of_programs(list(self._ledger))  # each once: no later cell pays for them
        start = time.thread_time()
        found = [(cell, one) for cell, one in self.found() if cell.label == label]
        self._spent = (self._spent[1], time.thread_time() - start)
        told = [(cell, one) for cell, one in found if one.origin != "miss" and not (failed and one.severity == "error")]
        items = [_item(cell, one) for cell, one in told]
        return _document(items) if items else None


def _says_who(one: Diagnostic, error: BaseException) -> bool:
    """Whether it tells what kept a tracer, which the error itself does not."""
    return one.id == "tracer-leak" and one.message not in str(error)


def _holds_outside(one: Diagnostic, error: BaseException) -> bool:
    """Whether a rewrite is right for arrays that have values as well: the truth of each element in place of that of all of them is, where
    it is an expression; which branch is meant nobody knows."""
    if jaxwatch.mistake(error):
        return True
    logical = one.id == "logical-op-on-tracer" and jaxwatch.raised_by_jax(error)
    return logical and all(_is_expression(edit.text) for edit in one.fix.edits)


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _document(items: list[DiagnosticDocument]) -> DiagnosticsDocument:
    document: DiagnosticsDocument = {"kind": "diagnostics", "version": 1, "items": items}
    return document if items else {**document, "note": _NONE}


_NONE = (
    f"No sharp bits: none of the {len(CATALOGUE)} kinds was found by looking at the code of these cells and at what they compiled. "
    "%sharpbits on looks at the values of runs too."
)


def _item(cell: Cell, one: Diagnostic) -> DiagnosticDocument:
    span, lines = _span_typed(cell, one.span), cell.lines()
    text = lines[span.line - 1] if span.line <= len(lines) else ""
    position = observe.place_document(cell.id or cell.file, cell.label, span, text)
    edits = edits_in(cell.text, [edit.parts for edit in one.fix.edits]) or []
    proved = one.fix.checked if edits or not one.fix.edits else ""
    fix = observe.fix_document(one.fix.text, edits, position, lines, proved)
    comment = silencer(_python(cell), span.line, one.id)
    silence = None
    if comment is not None and (said := edits_in(cell.text, [comment.parts])):
        silence = observe.fix_document("", said, position, lines)
    return {
        "id": one.id,
        "severity": one.severity,
        "title": title_of(one.id),
        "message": one.message,
        "why": f"{imported_in(cell.file).own(WHY[one.id])} {_page(one.id)}",
        "evidence": [line for line in one.evidence if line.strip(" ^~")],  # views underline the code itself
        "origin": one.origin,
        "position": position,
        "fix": fix if fix["text"] or fix["edits"] else None,
        "silence": silence,
    }


def _page(id: str) -> str:
    """Where the page of an id is."""
    return f"An example, and what to write instead: {address_of(id) or f'`%sharpbits --explain {id}`'}."


def _python(cell: Cell) -> str:
    found = python_of(cell.text)
    return found.text if found else ""


# --- the look ---------------------------------------------------------------------------------------------------------


def _looked(before: Sequence[Cell], cells: Sequence[Cell]) -> list[Diagnostic]:
    """The look at all cells as one program: later ones know the names of those before. Nothing is told of `before`."""
    texts = {cell.text for cell in cells}
    earlier = [cell for cell in before if cell.text not in texts]  # not a cell that is there, or ran, again
    every = [(cell.label, cell.text) for cell in (*earlier, *cells)]
    needed = [at for at, needs in enumerate(with_arrays([text for _, text in every])) if needs]
    wanted = tuple(every[at] for at in needed)
    found = [(needed[at] - len(earlier), one) for at, one in _remembered(wanted)]
    return [replace(one, file=cells[at].file) for at, one in found if at >= 0]


_MOST = 64
_known: dict[tuple[str, ...], tuple[tuple[int, Diagnostic], ...]] = {}
"""What was found in texts that name no cell: cells that run again have other labels."""


def _remembered(cells: tuple[tuple[str, str], ...]) -> tuple[tuple[int, Diagnostic], ...]:
    texts = tuple(text for _, text in cells)
    if texts in _known:
        return _known[texts]
    found = _look(cells)
    said = repr(found)
    if not any(label in said for label, _ in cells):
        _known[texts] = found
        while len(_known) > _MOST:
            del _known[next(iter(_known))]
    return found


@functools.lru_cache(8)
def _look(cells: tuple[tuple[str, str], ...]) -> tuple[tuple[int, Diagnostic], ...]:
    """By the number of the cell; cells are given as label and text."""
    program = of_cells([text for _, text in cells], "<notebook>", [label for label, _ in cells])
    found = []
    for one in look(program.text, program.file, program.cells):
        number, line = program.place(one.span.line)
        if number is not None:
            found.append((number - 1, _moved(one, line - one.span.line)))
    return tuple(found)


# --- where code stands in its cell ------------------------------------------------------------------------------------


def _span_typed(cell: Cell, span: Span) -> Span:
    """A stretch of a cell's Python in the cell's text."""
    python = python_of(cell.text)
    (found,) = shifted([Edit(span, "").parts], python.shifts if python else ())
    return Span(*found[:4])


def _is_of(file: str, text: str) -> bool:
    """Whether the lines of code are those of a cell's text: not where it was compiled otherwise, before the extension was loaded."""
    known = cell_texts.get(file)
    return known is None or known.typed == text


def _carried(one: Diagnostic, ran: str, text: str) -> Diagnostic | None:
    """A diagnostic of a text in another one; None where the lines it speaks of have changed."""
    if ran == text:
        return one
    blocks = difflib.SequenceMatcher(None, ran.split("\n"), text.split("\n"), autojunk=False).get_matching_blocks()
    spans = [one.span, *(edit.span for edit in one.fix.edits)]
    moves = {_move(span, blocks) for span in spans}
    if len(moves) == 1 and (by := moves.pop()) is not None:
        return _moved(one, by)
    by = _move(one.span, blocks)
    return None if by is None else _moved(replace(one, fix=replace(one.fix, edits=())), by)


def _move(span: Span, blocks: list[difflib.Match]) -> int | None:
    """By how many lines a stretch moved; None if it is not in one of the blocks that two texts share."""
    for block in blocks:
        if block.a < span.line and span.end_line <= block.a + block.size:
            return block.b - block.a
    return None


def _moved(one: Diagnostic, lines: int) -> Diagnostic:
    edits = tuple(replace(edit, span=edit.span.moved(lines)) for edit in one.fix.edits)
    return replace(one, span=one.span.moved(lines), fix=replace(one.fix, edits=edits)) if lines else one
