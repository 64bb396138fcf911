"""Compiled functions that keep the old value of what they captured, or call the old function of a name: cards beside those of recompilations, which would have been right."""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, NamedTuple

from jitscope.backend.function_objects import Capture
from jitscope.core import source

from ...annotations import RecompilationCard
from ..differences import Difference
from ..fixes import fix_document
from ..ledger import Row
from ..paths_read import functions_of
from ..positions import position_document
from ..timing import quantity
from ..values_read import ValueChange, changed, functions_traced
from .redefined import Redefinition, redefined


class Stale(NamedTuple):
    """A function whose program is still there and was traced with other values of its globals or of its closure, or with other
    functions: what it captured, before and now, and what it called."""

    row: Row
    changes: list[ValueChange]
    functions: list[Redefinition]


def stale(rows: Iterable[Row]) -> list[Stale]:
    """The functions among rows that keep old values, or old functions."""
    latest: dict[Any, Row] = {}
    for row in rows:
        if _is_kept(row):
            assert row.signature is not None
            latest[row.signature.function] = row
    found = [Stale(row, _changed(row), redefined(row)) for row in latest.values()]
    return [one for one in found if one.changes or one.functions]


def renewals(row: Row) -> list[Difference]:
    """What another trace of a row's function, with an equal key, sees anew: values and functions that are other ones now. The user had the
    old program dropped for it."""
    if row.signature is None or not row.signature.made.alive:
        return []
    values = [Difference("redefined", one.name, one.before.text, one.now.text, _DROPPED) for one in _changed(row)]
    return values + [_renewed(one, row) for one in redefined(row)]


def _renewed(one: Redefinition, row: Row) -> Difference:
    before, now = _place(one.before, row), _place(one.now, row)
    sides = (before, now) if before and now and before != now else ("one definition", "another")
    return Difference("redefined", one.path, *sides, _DROPPED)


_DROPPED = "the old program was dropped, and the new one has what it is now"


def stale_cards(rows: Iterable[Row]) -> list[RecompilationCard]:
    """A card for each of them."""
    return [_card(one) for one in stale(rows)]


def _is_kept(row: Row) -> bool:
    """Whether a call of the function may still run the row's program."""
    if row.nested or row.derived or row.looked or row.signature is None or row.position is None:
        return False
    if row.what not in ("compiled", "recompiled", "reused") or not row.signature.made.alive:
        return False
    return _is_kept_elsewhere(row) if row.library else row.again is not None


def _is_kept_elsewhere(row: Row) -> bool:
    """Whether a compiled function of another library, of a global name, still has programs of the row's function."""
    return any(
        type(value).__module__.startswith(_WATCHED) and _programs(value)
        for _, value in _compiled_as(row, "__wrapped__")
    )


def is_made_of(compiled: Any, row: Row) -> bool:
    """Whether something is what was compiled of a row's function, or of the method of its object."""
    if isinstance(compiled, type) or not hasattr(compiled, "__wrapped__") or row.signature is None:
        return False
    own = {(id(function), id(owner)) for function, owner in functions_traced(row.signature.made)}
    return any((id(function), id(owner)) in own for function, owner in functions_of(compiled.__wrapped__))


def _compiled_as(row: Row, mark: str) -> Iterator[tuple[str, Any]]:
    """What was compiled of a row's function and has a certain attribute, under the names that the user, or else the module of the function,
    has for it."""
    function = (
        next((one for one, _ in functions_traced(row.signature.made)), None) if row.signature is not None else None
    )
    main = getattr(sys.modules.get("__main__"), "__dict__", {})
    own = function.__globals__ if function is not None else main
    module = own.get("__name__", "")
    for names, before in ((main, ""), (own, "" if own is main or module not in sys.modules else f"{module}.")):
        for name, value in list(names.items()):
            if not name.startswith("_") and hasattr(value, mark) and is_made_of(value, row):
                yield f"{before}{name}", value
            elif isinstance(value, type) and value.__module__ == names.get("__name__"):
                for own, method in list(vars(value).items()):
                    if hasattr(method, mark) and is_made_of(method, row):
                        yield f"{before}{name}.{own}", method


_WATCHED = ("jax", "flax.", "equinox.")


def _programs(compiled: Any) -> int:
    """How many programs a compiled function of jax, flax or equinox has."""
    inner = getattr(compiled, "jitted_fn", None) or getattr(compiled, "_cached", None) or compiled
    size = getattr(inner, "_cache_size", None)
    return size() if size is not None else 0


def _changed(row: Row) -> list[ValueChange]:
    """What the function read when it was traced and would read otherwise now."""
    assert row.signature is not None
    return changed(row.values, row.signature.made, row.jaxpr, row.signature.statics)


def _card(one: Stale) -> RecompilationCard:
    row = one.row
    where = position_document(row.position, row.cell_of)
    captured = " and ".join(
        f"`{change.name}` was {change.before.text} and is {_other(change.before, change.now)} now"
        for change in one.changes
    )
    said = [
        f"not traced again though what it captured changed: {captured}; the program keeps the value that it was traced with"
    ] * bool(captured)
    return {
        "function": row.function,
        "cause": "stale",
        "compilations": 0,
        "retraces": 0,
        "because": "; ".join([*said, *(keeps(function, row) for function in one.functions)]),
        "seconds": quantity(None, "s", note="nothing was compiled again"),
        "definition": where,
        "sites": [],
        "sites_left": 0,
        "matrix": {"columns": [], "rows": [], "columns_left": 0, "columns_left_after": 0, "rows_left": 0},
        "fix": fix_document(_fix(one), position=where),
        "quiet": False,
    }


def _fix(one: Stale) -> str:
    return pass_values(one) if one.changes else traced_anew(one)


def pass_values(one: Stale) -> str:
    """What to do about the values that a function keeps."""
    names = ", ".join(dict.fromkeys(f"`{change.name}`" for change in one.changes))
    functions = " and ".join(dict.fromkeys([one.row.function, *(c.read.helper for c in one.changes if c.read.helper)]))
    it = "it" if len(one.changes) == 1 else "them"
    if any(change.read.path.how == "self" for change in one.changes):
        how = f"Pass {names}, or the object with its class registered as a pytree, as an argument of {functions}"
    else:
        how = f"Pass {names} as an argument of {functions}"
    return f"{how}: {'they read' if ' and ' in functions else 'it reads'} {it} at each call then."


def kept(change: ValueChange, row: Row) -> str:
    """`step keeps cfg['lr'] = 0.1, with which it was traced; cfg['lr'] is 0.5 now`."""
    name, before, now = change.name, change.before.text, change.now.text
    how = f"which {change.read.helper} read when it was traced" if change.read.helper else "with which it was traced"
    if before == now:
        return f"{row.function} keeps the values of {name} ({before}), {how}; they are others now"
    return f"{row.function} keeps {name} = {before}, {how}; {name} is {now} now"


def keeps(function: Redefinition, row: Row) -> str:
    """`keeps the act that it was traced with; act was defined again in In [4]`."""
    path = function.path
    place = _place(function.now, row)
    if not path:
        return f"keeps the code that it was traced with; {function.reader} was defined again{place and f' in {place}'}"
    if function.renamed:
        return f"keeps the {path} that it was traced with, {_named(function.before)}; {path} is {_named(function.now)} now{place and f', of {place}'}"
    return f"keeps the {path} that it was traced with; {path} was defined again{place and f' in {place}'}"


def traced_anew(one: Stale) -> str:
    """What has a function traced again with the functions of today: to run its cell would give it those again that this cell defines."""
    row = one.row
    own = row.position is not None and all(
        function.before.co_filename != row.position.file for function in one.functions
    )
    cell = row.cell_of(row.position.file) if row.position is not None and own else None
    name = _compiled_name(row)
    how = [f"run {cell[0]} again" if cell is not None else "", f"call {name}.clear_cache()" if name else ""]
    said = ", or ".join(filter(None, how)) or "compile it anew, with jit"
    return f"{said[0].upper()}{said[1:]}: {row.function} is traced anew then."


def _compiled_name(row: Row) -> str:
    """The name under which there is what was compiled of a row's function; "" where it is not known."""
    return next((name for name, _ in _compiled_as(row, "clear_cache")), "")


def _named(code: types.CodeType) -> str:
    return "a lambda" if code.co_name == "<lambda>" else code.co_name


def _place(code: types.CodeType, row: Row) -> str:
    """The cell, or the line of a file, where that stands there: what reloads a module may compile a function by itself, and counts from there."""
    file, line = code.co_filename, code.co_firstlineno
    cell = row.cell_of(file)
    if cell is not None:
        return cell[0]
    linecache.checkcache(file)
    text = source.line_of(file, line)
    if not text:
        return ""
    there = text.lstrip().startswith("@") or code.co_name.strip("<>") in text
    return f"line {line} of {PurePath(file).name}" if there else PurePath(file).name


def _other(before: Capture, now: Capture) -> str:
    return f"another {now.text}" if before.text == now.text else now.text
