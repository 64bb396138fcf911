"""Loop peeling: a loop whose first turn makes other kinds of things than the others (a step that is Python's number until it becomes NumPy's, a
list that takes one of each, `old = None`) has its first turn left to Python."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import FunctionType

import numpy as np

from . import naming, paths
from .answers import CannotCompile
from .draws import states_kept
from .effects import Effects
from .functions import Definitions
from .homes import is_number
from .parts import placed_at
from .proving import at_home
from .stand_ins import StandIns
from .watching import Visit, snapshot


MOST = 2
"""Turns that are left to Python: what the first one makes may have its kind only in what the second one makes of it."""

_TURN = "turn_of_python"


def without_first_turns(body: naming.Statements, visit: Visit, definitions: Definitions) -> StandIns | None:
    """The loop from its second turn on, or its third, and what was seen from there; None where the first ones are like the others."""
    loop = body[0]
    if _TURN in visit.around or len(body) > 1 or not isinstance(loop, (ast.For, ast.While)) or loop.orelse:
        return None
    if naming.has(ast.Continue, [loop]):
        return None
    changing = naming.bound(body) | _growing(body, visit)
    if not _of_two_kinds(changing, visit) and not _others_inside(visit):
        return None
    for turns in range(1, MOST + 1):
        if (apart := _apart(loop, turns, visit)) is None or (done := _after(apart[0], visit, definitions)) is None:
            return None
        (first, rest), (names, before, after) = apart, done
        both = {t: (before[t], leaf) for t, leaf in after.items() if t in before}
        inside = {t: pair for t, pair in both.items() if pair[0].value is not pair[1].value}
        kept = lambda t: t in visit.places or not _in_a_list(t, visit)
        made = {n: names[n] for n in naming.bound_for_certain(first.body) & names.keys() if is_number(names[n])}
        values = {n: names[n] for n, v in visit.values.items() if n in names and not isinstance(v, FunctionType)}
        seen = replace(
            visit,
            values={**visit.values, **values, **made},
            live={**visit.live, **{n: v for n, v in values.items() if type(v) is tuple}, **made},
            places={
                t: visit.places[t] if t in before and t not in inside else leaf for t, leaf in after.items() if kept(t)
            },
        )
        if not _of_two_kinds(changing, seen) and not _others_inside(seen):
            break
    else:
        return None
    other = {n: v for n, v in seen.values.items() if n in changing and n in visit.values}
    tests = [_is_one(n, v) for n, v in other.items() if _kind(v) != _kind(visit.values[n])]
    tests += [_is_one(t, new.value) for t, (old, new) in inside.items() if _kind(old.value) != _kind(new.value)]
    tests += [
        f"type({t}) is {kind.__name__} and len({t}) == {size}"
        for t, (kind, size) in _made(before, after, names).items()
    ]
    if not all(tests):
        return None
    text = (*ast.unparse(first).splitlines(), "else:", f"    if {' and '.join(filter(None, tests))}:")
    plain = ("    else:", *(f"        {line}" for line in ast.unparse(rest).splitlines()))
    if isinstance(loop, ast.For):
        return StandIns((rest,), seen, text, plain, 2)
    return StandIns((rest,), seen, (f"{_TURN} = 0", *text), (*plain, f"del {_TURN}"), 2)


def _others_inside(visit: Visit) -> bool:
    """Whether there are other places in objects and containers at the end than at the start (`self.m = None`, then a list), but for elements
    of lists that grow."""
    before, after = visit.places.keys(), visit.places_after.keys()
    return any(t not in after for t in before) or any(not _in_a_list(t, visit) for t in after - before)


def _in_a_list(place: str, visit: Visit) -> bool:
    """Whether a place is in a new element of what is a list from the start."""
    new = paths.first_new(place, visit.values) or place
    owner = new[: new.rindex("[")] if new.endswith("]") else ""
    try:
        return type(paths.at(owner, visit.values)) is list
    except Exception:
        return False


def _made(
    before: Mapping[str, paths.Leaf], after: Mapping[str, paths.Leaf], names: Mapping[str, object]
) -> dict[str, tuple[type, int]]:
    """The containers that places are in which were not there before, and how many each has."""
    owners = {t[: t.rindex("[")] for t in after.keys() - before.keys() if t.endswith("]")}
    found = {t: paths.at(t, names) for t in sorted(owners)}
    return {t: (type(v), len(v)) for t, v in found.items() if isinstance(v, (list, dict))}


def _is_one(name: str, value: object) -> str | None:
    """What is true if a name stands for something of this kind: other values may need more turns for that."""
    if type(value) is dict and value and all(map(is_number, value.values())):
        return f"type({name}) is dict and list({name}) == {list(value)!r}"
    if type(value) is tuple and all(is_number(e) and type(e) is not np.ndarray for e in value):
        kinds = [type(e).__name__ for e in value]
        return f"type({name}) is tuple and [type(e).__name__ for e in {name}] == {kinds!r}"
    if not is_number(value):
        return None
    text = f"type({name}).__name__ == {type(value).__name__!r}"
    return (
        f"{text} and ({name}.dtype, {name}.ndim) == ({value.dtype.name!r}, {value.ndim})"
        if type(value) is np.ndarray
        else text
    )


def _growing(body: naming.Statements, visit: Visit) -> set[str]:
    return {n for n in naming.loaded(body) if type(visit.values.get(n)) is list and type(visit.after.get(n)) is list}


def _of_two_kinds(names: Collection[str], visit: Visit) -> bool:
    """Whether one of them has another kind at the end than at the start, or is a list that took things of two kinds."""
    for n in names & visit.values.keys() & visit.after.keys():
        before, after = visit.values[n], visit.after[n]
        if type(before) is list and type(after) is list:
            if len({*map(_kind, after[len(before) :])}) > 1:
                return True
        elif _kind(before) != _kind(after):
            return True
    return False


def _kind(value: object) -> object:
    return type(value), getattr(value, "dtype", None), np.ndim(value) if isinstance(value, np.ndarray) else 0


def _apart(loop: ast.For | ast.While, turns: int, visit: Visit) -> tuple[ast.For, ast.For | ast.While] | None:
    """The loop of the first turns, and that of the others; None where it goes through something else than a range in steps of one, or lists and
    arrays that it leaves alone."""
    first: ast.For
    rest = copy.deepcopy(loop)
    if isinstance(loop, ast.While):
        first = ast.For(
            ast.Name(_TURN, ast.Store()),
            _expression(f"(0 for {_TURN} in range({turns}) if {ast.unparse(loop.test)})", loop),
            loop.body,
            [],
        )
    else:
        assert isinstance(rest, ast.For)
        kept = {n for n, v in visit.values.items() if type(v) in (list, tuple, np.ndarray)}
        kept -= naming.bound([loop]) | naming.stored_into([loop]) | {n for n in kept if not _stays(n, visit)}
        if (halves := _halves(loop.iter, turns, kept)) is None:
            return None
        first = ast.For(loop.target, _expression(halves[0], loop), loop.body, [])
        rest.iter = _expression(halves[1], loop)
    return ast.fix_missing_locations(ast.copy_location(first, loop)), rest


def _stays(name: str, visit: Visit) -> bool:
    """Whether a name stood for as many elements in the end."""
    return len(visit.values[name]) == len(visit.after.get(name, visit.values[name]))  # type: ignore[arg-type]


def _halves(node: ast.expr, turns: int, kept: Collection[str]) -> tuple[str, str] | None:
    """What the first turns go through, and what the others do."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
            return f"{ast.unparse(node)}[:{turns}]", f"range({turns}, {ast.unparse(stop)})"
        case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
            return f"{ast.unparse(node)}[:{turns}]", f"range({ast.unparse(start)} + {turns}, {ast.unparse(stop)})"
        case ast.Name(id=name) if name in kept:
            return f"{name}[:{turns}]", f"{name}[{turns}:]"
        case ast.Call(func=ast.Name(id="enumerate"), args=[of], keywords=[]) if halves := _halves(of, turns, kept):
            return f"enumerate({halves[0]})", f"enumerate({halves[1]}, {turns})"
        case ast.Call(func=ast.Name(id="zip"), args=[*args], keywords=[]):
            each = [_halves(a, turns, kept) for a in args]
            known = [e for e in each if e is not None]
            if known and len(known) == len(each):
                return f"zip({', '.join(a for a, _ in known)})", f"zip({', '.join(b for _, b in known)})"
    return None


def _expression(text: str, at: ast.stmt) -> ast.expr:
    return placed_at(ast.parse(text, mode="eval").body, at)


def _after(
    first: ast.For, visit: Visit, definitions: Definitions
) -> tuple[dict[str, object], dict[str, paths.Leaf], dict[str, paths.Leaf]] | None:
    """What names stand for after the first turns, made of copies, and what was and is in places of objects and containers; None where it raises,
    or does more than bind and store."""
    try:
        Effects(definitions, on_copies=True).of_region([first], visit.values)
    except CannotCompile:
        return None
    names = snapshot(visit.values)
    before = paths.leaves({n: names[n] for n in visit.values})
    inside = at_home(names, visit.enclosed, visit.shared)
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, warnings.catch_warnings(), np.errstate(**visit.told), states_kept():  # type: ignore[arg-type]
        warnings.simplefilter("ignore")
        try:
            exec(compile(ast.fix_missing_locations(ast.Module([first], [])), "<first turns>", "exec"), names, inside)
        except Exception:
            return None
    return names, before, paths.leaves({n: names[n] for n in visit.values})
