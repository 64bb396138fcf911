"""Looking again at what edits make of a program: those that lead from one sharp bit to another are not offered."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..code.text import Code
from ..diagnostic import Diagnostic, Edit, applied, moved


Look = Callable[[Code], list[Diagnostic]]
_MOST = 10


def proved(found: list[Diagnostic], code: Code, look: Look) -> list[Diagnostic]:
    """Diagnostics of a program, without the edits after which something is found that was not there, or their own sharp bit
    still is. Only the first few are looked at one by one, the edits of others are left out."""
    editing = [one for one in found if one.fix.edits]
    if not editing or (not _overlap(editing) and _mends(editing, found, code, look)):
        return found
    bad = [one for one in editing if one in editing[_MOST:] or not _mends([one], found, code, look)]
    return [replace(one, fix=replace(one.fix, edits=())) if one in bad else one for one in found]


def _overlap(editing: list[Diagnostic]) -> bool:
    spans = sorted(edit.span for one in editing for edit in one.fix.edits)
    return any((a.end_line, a.end_column) > (b.line, b.column) for a, b in itertools.pairwise(spans))


def _mends(some: list[Diagnostic], found: list[Diagnostic], code: Code, look: Look) -> bool:
    """Whether the edits of some of what was found leave the rest and nothing else."""
    edits = [edit for one in some for edit in one.fix.edits]
    rest = {(one.id, moved(one.span.line, edits)) for one in found if one not in some}
    try:
        left = look(_edited(code, edits))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return {(one.id, one.span.line) for one in left} <= rest


def _edited(code: Code, edits: Iterable[Edit]) -> Code:
    edits = tuple(edits)
    cells = []
    for cell in code.cells:
        timed = tuple((moved(first, edits), moved(last, edits)) for first, last in cell.timed)
        cells.append(cell._replace(first=moved(cell.first, edits), last=moved(cell.last, edits), timed=timed))
    return Code(applied(code.text, edits), code.file, cells, code.names)
