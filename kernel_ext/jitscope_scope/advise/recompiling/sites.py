"""The user's calls in their code, and what they pass."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from jitscope.core import source
from jitscope.core.source import Position

from ...observe.ledger import Row, ledger
from ...observe.recompiling.groups import Group
from ...source_code.edits import Edit
from ...source_code.names import Names, imported_in
from ...source_code.places import path_in
from ...source_code.text import Code


class UncheckedEdit(Exception):
    """An edit could not be run on the recorded calls, or nobody knows what else it changes; why, in words."""


class ProposedEdit(NamedTuple):
    """Edits of a piece of code that spare recompilations, what they do in words, and what makes the edited program, to run it."""

    text: str
    code: Code
    edits: Sequence[Edit]
    trial: Any = None


class Site(NamedTuple):
    """A call in the user's code."""

    code: Code
    call: ast.Call


def code_of(file: str) -> Code:
    """The code of a file or a cell. Raises SyntaxError and ValueError."""
    return _parsed(source.code_of(file), file, tuple(imported_in(file).written.items()))


@functools.lru_cache(16)
def _parsed(text: str, file: str, imports: tuple[tuple[str, str], ...]) -> Code:
    known = Names()
    for name, written in imports:
        known.add(name, written)
    return Code(text, file, known=known)


def site_at(position: Position) -> Site | None:
    """The call at a position that a call's frame had."""
    code = code_of(position.file)
    path = path_in(code.tree, position)
    return next(
        (Site(code, node) for node in path if isinstance(node, ast.Call) and position.at(node) == position), None
    )


def sites_of(rows: Sequence[Row]) -> list[Site] | None:
    """The calls that rows stem from, each once; None where one is not known, or where they stand in several files."""
    positions = {row.call_site for row in rows}
    found = [site_at(position) if position is not None else None for position in positions]
    known = [site for site in found if site is not None]
    if not known or len(known) < len(found) or len({site.code.file for site in known}) > 1:
        return None
    return sorted(known, key=lambda site: site.code.span(site.call))


def silent_sites(group: Group, code: Code) -> list[Site]:
    """The other calls of a group's function that a piece of code writes and no record tells of: they found their program. Raises UncheckedEdit
    where that may have been one of another group."""
    rows = [row for row in ledger() if row.identity == group.rows[0].identity and not row.nested and not row.looked]
    known = [site for row in (*group.history, *rows) if row.call_site is not None and (site := site_at(row.call_site))]
    here = [site.call for site in known if site.code.file == code.file]
    written, spans = {ast.unparse(call.func) for call in here}, {code.span(call) for call in here}
    found = [
        Site(code, node)
        for node in code.of(ast.Call)
        if ast.unparse(node.func) in written and code.span(node) not in spans
    ]
    if found and {row.id for row in rows if row.signature} - {row.id for row in group.history}:
        raise UncheckedEdit("other lines call it too, and which program they found is not recorded")
    return found


def only_site(group: Group) -> Site | None:
    """The call of a group that has one alone."""
    found = sites_of(group.rows)
    return found[0] if found is not None and len(found) == 1 else None


def parameters_of(row: Row) -> Sequence[str]:
    """The names of a function's positional parameters."""
    return row.signature.made.parameters if row.signature else ()
