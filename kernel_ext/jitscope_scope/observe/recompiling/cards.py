"""Groups as documents: a card for each function and cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from jitscope.core import source, words

from ...annotations import Fix, Matrix, Position, RecompilationCard, RecompilationsDocument, RecompilationSite
from ..differences import together
from ..fixes import Edit, fix_document
from ..ledger import Row
from ..positions import CellOf, position_document
from ..stacks import is_installed
from ..timing import quantity
from .groups import Group, another_model, groups, is_compiled, is_wanted, occasional
from .matrix import matrix_document
from .outside import outside_jit
from .padded_shapes import without_settled
from .remedies import Remedy, remedy, without_edit
from .sizes import sizes_of
from .stale import stale_cards


MOST_SITES = 5


class FileEdit(NamedTuple):
    """The edits of one file that do what a remedy says, and the words for them; `lines` are the file's. `programs` says how many programs
    the recorded calls needed when the edited code ran on them, and `exact` whether the results were the same to the bit."""

    text: str
    file: str
    lines: Sequence[str]
    edits: Sequence[Edit]
    programs: int
    exact: bool


class EditRefusal(NamedTuple):
    """An edit that is not offered, and why not, in a sentence. `wrong`: it was run, and gave something else."""

    why: str
    wrong: bool


Editor = Callable[[Group], FileEdit | EditRefusal | None]
"""Makes edits of the user's code for a group, and runs them; `advise.recompiling` has one."""


def recompilations_document(
    rows: Iterable[Row], title: str, editor: Editor | None = None, stale: bool = False
) -> RecompilationsDocument:
    """What was compiled or traced again among rows of the ledger: a card for each function and cause, those that cost most first;
    with `stale`, before them those of functions that kept old values. Last those of programs made outside jit."""
    rows = list(rows)
    cards = stale_cards(rows) if stale else []
    cards += [card_document(group, editor) for group in groups(rows)]
    cards += [_card(*one) for one in outside_jit(rows, 2 if stale else _OFTEN)]
    return _document(title, cards)


_OFTEN = 3
"""Programs of one function made outside jit from which on they are told of unasked."""


def _document(title: str, cards: list[RecompilationCard]) -> RecompilationsDocument:
    return {"kind": "recompilations", "version": 1, "title": title, "cards": cards}


def shared_cards(
    rows: Iterable[Row], title: str, editor: Editor | None = None
) -> tuple[RecompilationsDocument, dict[int, RecompilationsDocument]]:
    """What was compiled or traced again among rows, and for each of them by its number the document of the cards that tell of it:
    those very cards, so that a number is the same wherever it is shown."""
    rows = list(rows)
    found = [(group, card_document(group, editor)) for group in groups(rows)]
    of_row = {row.id: _document(row.title, [card]) for group, card in found for row in group.rows}
    return _document(title, [card for _, card in found]), of_row


def loud(rows: Iterable[Row]) -> list[Row]:
    """The rows to tell of unasked: all but those that the user wanted so, of another model, of functions that two lines call, each its own
    way, and of shapes that were padded."""
    rows = without_settled(row for row in rows if not is_wanted(row) and not another_model(row))
    often = {(row.identity, row.cause) for row in rows if not occasional(row)}
    return [row for row in rows if (row.identity, row.cause) in often]


def card_document(group: Group, editor: Editor | None = None) -> RecompilationCard:
    """One group as a document (see docs/documents.md)."""
    return _card(group, group.title, because(group), matrix_document(group), _fix(group, editor))


def _card(group: Group, function: str, because: str, matrix: Matrix, fix: Fix | None) -> RecompilationCard:
    sites, cell_of = group.sites(), group.rows[-1].cell_of
    return {
        "function": function,
        "cause": group.cause,
        "compilations": group.compilations,
        "retraces": group.retraces,
        "because": because,
        "seconds": quantity(group.seconds, "s", note="to trace, lower and compile again"),
        "definition": position_document(group.rows[-1].position, cell_of),
        "sites": [
            _site(position_document(at, cell_of), rows, cell_of) for at, rows in list(sites.items())[:MOST_SITES]
        ],
        "sites_left": max(0, len(sites) - MOST_SITES),
        "matrix": matrix,
        "fix": fix,
        "quiet": group.quiet,
    }


def _site(position: Position | None, rows: list[Row], cell_of: CellOf) -> RecompilationSite:
    compiled = sum(map(is_compiled, rows))
    led = dict.fromkeys(row.led for row in rows if row.led is not None)
    return {
        "position": position,
        "led": [told for at in list(led)[:MOST_SITES] if (told := position_document(at, cell_of)) is not None],
        "compilations": compiled,
        "retraces": len(rows) - compiled,
        "seconds": sum(row.spent for row in rows),
    }


def because(group: Group) -> str:
    """Why, in one sentence without its full stop."""
    if group.cause == "shape" and (found := sizes_of(group)):
        more = f" ({len(found) - 1} more {'axis' if len(found) == 2 else 'axes'} as well)" if len(found) > 1 else ""
        return f"{found[0].sentence}{more}"
    if group.cause in ("function", "closure"):
        return _made_anew(group)
    own = group.changes
    if group.cause == "tree structure" and (several := _structures(group)):
        return several
    if own and group.cause == "tree structure" and all(one.detail.startswith(("gained ", "lost ")) for one in own):
        return " and ".join(f"{one.path} {one.detail}" for one in own)  # the table has the structures
    return together(own) or group.rows[0].because


def _structures(group: Group) -> str:
    """The structures of one argument in their order, where it changed in more than one way; "" elsewhere."""
    found = [one for row in group.rows for one in row.differences if one.part == group.cause]
    ways = {(one.before, one.after) for one in found}
    if len({one.path for one in found}) != 1 or len(ways) < 2 or any(one.before == one.after for one in found):
        return ""
    seen = list(dict.fromkeys([found[0].before, *(one.after for one in found)]))
    shown = seen if len(seen) <= _MOST_STRUCTURES else [*seen[:2], "…", seen[-1]]
    return f"{found[0].path} changed structure: {' → '.join(shown)}" if len(seen) > 2 else ""


_MOST_STRUCTURES = 4


def _made_anew(group: Group) -> str:
    last = group.rows[-1]
    made = last.signature.made if last.signature else None
    kind = made.kind if made else "function"
    line = f" defined in {_defined(last.position)}" if last.position else ""
    of_it = f"the partial of {group.function}" if kind == "partial" else f"the {kind}{line}"
    what = of_it if group.title == group.function else "it"  # whose function may be one all the time
    said = f"{what} is made anew, and each object is traced by itself"
    changes = group.changes if group.cause == "closure" else []
    if not changes:
        return f"{said}; it captured the same values" if made and made.captures else said
    values = " and ".join(f"{d.path} {d.change}" for d in changes)
    return f"{of_it} is made anew, and the captured {values}"


def _defined(position: source.Position) -> str:
    """`line 3`; of a library's file `svi.py, line 258`."""
    file = f"{PurePath(position.file).name}, " if is_installed(position.file) else ""
    return f"{file}line {position.line}"


def _fix(group: Group, editor: Editor | None) -> Fix | None:
    found = remedy(group)
    if found is None:
        return None
    edited = editor(group) if editor is not None and found.replay is not None else None
    cell_of = group.rows[-1].cell_of
    if not isinstance(edited, FileEdit):
        site = next(iter(group.sites()), None)
        why, would = (
            (edited.why, "" if edited.wrong else proof(found)) if edited else (without_edit(group), proof(found))
        )
        text = " ".join(filter(None, (found.text, would, why)))
        return fix_document(text, position=position_document(site, cell_of))
    checked = _checked(group, edited)
    where = next((at for at in group.sites() if at.file == edited.file), None) or group.rows[-1].position
    position = position_document(where, cell_of)
    return fix_document(edited.text, edited.edits, position, edited.lines, checked)


def _checked(group: Group, edited: FileEdit) -> str:
    """What came of running the edited code, in a sentence."""
    how = "the same results" if edited.exact else "the same results up to rounding"
    return f"The edited code ran on the recorded calls: {len(group.history):,} {group.noun} become {edited.programs:,}, with {how}."


def proof(found: Remedy) -> str:
    """What would become of the recorded calls with the fix, as their keys tell, or ""."""
    return found.replay.sentence(words.duration(found.replay.seconds)) if found.replay else ""


def explanation(rows: Iterable[Row]) -> str:
    """What was compiled or traced again, as a few lines of text: what budgets say when they are exceeded."""
    said = []
    for group in groups(rows):
        lines = [f"{group.title}: {because(group)} ({counted(group)}, {words.duration(group.seconds)})"]
        for at, own in list(group.sites().items())[:MOST_SITES]:
            often = "once" if len(own) == 1 else f"{len(own):,} times"
            lines.append(f"  in line {at.line} of {at.function}, {often}: {at.text.strip()}")
        if found := remedy(group):
            lines += [f"  fix: {found.text}", *([f"  {proof(found)}"] if found.replay else [])]
        said += lines
    return "\n".join(said)


def counted(group: Group) -> str:
    """`3 recompilations and 2 retraces`."""
    parts = [(group.compilations, "recompilation"), (group.retraces, "retrace")]
    return " and ".join(words.counted(count, noun) for count, noun in parts if count)
