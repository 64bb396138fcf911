"""The ways in which a region is written for the compiler: as text of its own, turn by turn, with its objects taken apart, or as it stands."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection
from dataclasses import replace

from . import few_turns, identities, kinds, naming, whole_numbers
from .answers import CannotCompile
from .draws import without_draws
from .effects import Effects
from .functions import Definitions
from .homes import Home, home_of
from .inlined_calls import inlined
from .library_statements import unchanged
from .mixtures import as_of_numpy
from .objects_apart import taken_apart
from .owners import parts_of_owners, where_they_are_parts
from .parts import COMPILED, OURS, EditText, free_name
from .stops import Writing, between, in_pieces, left
from .translation import translated
from .watching import Visit


def written(body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions) -> EditText:
    """The region as a function of what it reads. `visit` has the values at its start and end, `live` the names read afterwards.
    Raises CannotCompile with the line that has no compiled form."""
    found = without_draws(body, visit, definitions)
    try:
        edit = _written(
            found.body, found.visit, live | naming.bound(found.body) - naming.bound(body), name, definitions
        )
    except CannotCompile as reason:
        raise found.of_calls(reason, definitions) from None
    return found.whole(edit, body)


def written_by_turns(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, sizes: bool
) -> EditText | None:
    """The same with each turn of the loop traced for itself; None where it has many, or values decide how many, and where neither `sizes`
    change nor whole numbers that are known in each turn."""
    found = without_draws(body, visit, definitions)
    home = home_of(found.body, found.visit.values)
    loop = found.body[-1]
    if not home.numpy or len(found.body) > 1 or not isinstance(loop, (ast.For, ast.While)):
        return None
    static = few_turns.static_numbers(found.body, found.visit)
    if not (sizes or static) or not few_turns.test_is_known(loop, found.visit, found.body, static):
        return None
    if not few_turns.has_few(found.body, found.visit, definitions):
        return None
    growing = static & naming.read_first(found.body) & {*whole_numbers.without_bounds(found.body, found.visit)}
    if growing - few_turns.ending(loop, found.body):
        return None  # they go on growing in a later run, beyond 64 bits
    live = live | naming.bound(found.body) - naming.bound(body)
    edit = translated(found.body, found.visit, live, name, home, definitions, (loop.lineno, frozenset(static)))
    edit = edit.of_same_sizes(found.visit).of_same_kinds(found.visit)
    edit = edit.under_tests(found.body)
    return found.whole(edit, body)


def written_apart(
    body: naming.Statements,
    visit: Visit,
    live: set[str],
    name: str,
    definitions: Definitions,
    whole: Collection[str] = (),
) -> tuple[EditText, Visit] | None:
    """The same with the objects of the user's taken apart, but for those that stay `whole`, and what was seen with the classes that the edit
    asks for; None where there are no objects to be taken apart."""
    apart = taken_apart(body, visit, definitions, whole)
    if apart is None:
        return None
    stood = apart.stood
    try:
        edit = written(stood.body, stood.visit, live | apart.bound, name, definitions)
    except CannotCompile as reason:
        raise reason.in_words(apart.texts) from None
    if edit.traced:
        return None
    edit = replace(
        edit,
        call=(*stood.before, *edit.call, *stood.after),
        reads=tuple(dict.fromkeys(apart.texts.get(n, n) for n in edit.reads)),
        inlined=edit.inlined | apart.inlined,
    )
    return apart.guarded(edit, body), replace(visit, values={**apart.values, **visit.values})


def written_in_parts(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions
) -> EditText | None:
    """The same with views of arrays that the region names as parts of these; None where there are none."""
    found = parts_of_owners(body, visit)
    if found is None:
        return None
    new, seen, parts = found
    owners = {o for p in parts.values() if (o := naming.root_of(p)) is not None}
    edit = written(new, seen, live - parts.keys() | owners, name, definitions)
    return where_they_are_parts(edit, body, parts, free_name(OURS, visit, COMPILED))


def written_mixed(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions
) -> EditText | None:
    """The region of jitscope's or jax's arrays with NumPy's and Python's numbers among them, each of its own types (`1 - 0.999**t` in 64 bits); None
    for NumPy's arrays alone, or where there is no loop."""
    found = without_draws(body, visit, definitions)
    home = home_of(found.body, found.visit.values)
    if home.numpy or not isinstance(found.body[-1], (ast.For, ast.While)):
        return None
    live, mixed = live | naming.bound(found.body) - naming.bound(body), Home(f"mixed with {home.arrays}")

    def write(body: naming.Statements, visit: Visit, live: set[str]) -> EditText:
        try:
            return unchanged(as_of_numpy(body, visit), visit, live, name, mixed, definitions)
        except CannotCompile:
            if (cut := _cut_at_stops(body, visit, live, name, definitions, write)) is not None:
                return cut
            raise

    edit = write(found.body, found.visit, live)
    return found.whole(edit, body)


def _written(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, piece: bool = False
) -> EditText:
    """Of a `piece` it is asked before all of them of which types its values are."""
    home = home_of(body, visit.values)
    try:
        whole, seen = inlined(body, visit, definitions) if home.numpy else (body, visit)
        noted, seen, mixed = kinds.noted(whole, seen, live, name) if home.numpy else (whole, seen, {})
        noted, seen, one = identities.noted(noted, seen, live, name) if home.numpy else (noted, seen, {})
        noted, seen, exact = whole_numbers.noted(noted, seen, name) if home.numpy else (noted, seen, "")
        flags = {flag for flag, _ in mixed.values()} | one.keys() | {exact} - {""}
        edit = translated(noted, seen, live | flags, name, home, definitions)
        edit = identities.restored(edit, one, visit.values) if one else edit
        edit = kinds.restored(edit, mixed, visit.values) if mixed else edit
        edit = whole_numbers.guarded(edit, exact, name, body, seen) if exact else edit
        edit = edit.of_same_sizes(visit)
        return (edit if piece else edit.of_same_kinds(visit)).under_tests(body)
    except CannotCompile as reason:
        if not home.numpy:
            with contextlib.suppress(CannotCompile):
                return unchanged(body, visit, live, name, home, definitions)
        write = lambda b, v, n: _written(b, v, n, name, definitions, piece=True)
        if (cut := _cut_at_stops(body, visit, live, name, definitions, write)) is not None:
            return (
                cut
                if piece
                else replace(replace(cut, tests=(), kinds=()).of_same_kinds(visit).under_tests(body), tests=cut.tests)
            )
        Effects(definitions).of_region(body, visit.values)
        if home.numpy and not visit.places and not (reason.runs and not whole_numbers.without_bounds(body, visit)):
            raise
        try:
            edit = unchanged(body, visit, live, name, home, definitions)
            return replace(edit, instead=reason) if home.numpy and not visit.places else edit
        except CannotCompile as other:
            raise (reason if home.numpy and reason.cut.why != "object" else other) from None


def _cut_at_stops(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, write: Writing
) -> EditText | None:
    for way in (between, left, in_pieces):
        with contextlib.suppress(CannotCompile):
            cut = way(body, visit, live, name, definitions, write)
            if cut is not None:
                return cut
    return None
