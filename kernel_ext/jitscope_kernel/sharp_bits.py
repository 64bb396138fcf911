"""The sharp bits of a session: a look at the cells that were run, and what their runs showed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from jitscope import observe
from jitscope.advise import Diagnostic, Span, heard, look, together
from jitscope.advise.program import of_cells, plain
from jitscope.advise.run.errors import explained
from jitscope.advise.run.misses import missed
from jitscope.advise.run.programs import of_program
from jitscope.advise.watch import Watch
from jitscope.core.source import Position, line_of


Document = dict[str, Any]
PlaceOf = Callable[[str], tuple[str, str | None] | None]
_CELLS = 500


class Ran(NamedTuple):
    """A cell that was run: the name of its code's file, and its text as it was written."""

    file: str
    text: str


class SharpBits:
    """Collects what the cells of one shell step on. `place_of` names the cell of a file."""

    def __init__(self, ledger: observe.Ledger, place_of: PlaceOf) -> None:
        self._ledger, self._place_of = ledger, place_of
        self._cells: OrderedDict[Any, Ran] = OrderedDict()
        self._errors: list[Diagnostic] = []
        self._watch: Watch | None = None
        self._watched: list[Diagnostic] = []

    def ran(self, key: Any, file: str, text: str) -> None:
        """A cell runs now; `key` is its id, which a changed cell keeps."""
        before = self._cells.pop(key, None)
        if before is not None:
            self._forget(before.file)
        self._forget(file)
        self._cells[key] = Ran(file, text)
        while len(self._cells) > _CELLS:
            self._cells.popitem(last=False)

    def _forget(self, file: str) -> None:
        self._errors = [one for one in self._errors if one.file != file]
        self._watched = [one for one in self._watched if one.file != file]

    def failed(self, error: BaseException) -> None:
        """A cell ended in an error."""
        one = explained(error)
        if one is not None:
            self._errors.append(one)

    def listen(self, on: bool) -> None:
        """Look at the runs of the cells to come, or stop that. Slow: programs are evaluated once more."""
        if on and self._watch is None:
            self._watch = Watch(self._ledger, values=True).__enter__()
        elif not on and self._watch is not None:
            self._watch.__exit__(None, None, None)
            self._watched += self._watch.found()
            self._watch = None

    def found(self) -> list[Diagnostic]:
        """All that is known of the cells as they were run last, without what comments silence."""
        rows = list(self._ledger)
        ran = [*self._errors, *self._watched, *missed(rows), *(one for row in rows for one in of_program(row))]
        ran += self._watch.found() if self._watch is not None else []
        every = together(self._looked(), ran)
        return [
            one
            for cell in self._cells.values()
            for one in heard([o for o in every if o.file == cell.file], plain(cell.text))
        ]

    def _looked(self) -> list[Diagnostic]:
        """The look at all cells as one program: later ones know the names of those before."""
        cells = list(self._cells.values())
        program = of_cells([cell.text for cell in cells], "<notebook>")
        found = []
        for one in look(program.text, program.file, program.cells):
            number, line = program.place(one.span.line)
            if number is not None:
                by = one.span.line - line
                span = Span(line, one.span.column, one.span.end_line - by, one.span.end_column)
                found.append(replace(one, file=cells[number - 1].file, span=span))
        return found

    def document(self) -> Document:
        """As a document; see docs/documents.md."""
        return {"kind": "diagnostics", "version": 1, "items": [self._item(one) for one in self.found()]}

    def _item(self, one: Diagnostic) -> Document:
        span = one.span
        where = Position(one.file, span.line, span.end_line, span.column, span.end_column, "")
        position = observe.position_document(where, self._place_of)
        assert position is not None
        position["text"] = line_of(one.file, span.line).rstrip("\n")
        return {
            "id": one.id,
            "severity": one.severity,
            "message": one.message,
            "position": position,
            "fix": one.fix.text,
        }
