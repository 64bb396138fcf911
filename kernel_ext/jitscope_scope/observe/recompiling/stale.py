"""Compiled functions that keep the old value of what they captured, or call the old function of a name: cards beside those of recompilations, which would have been right."""

from __future__ import annotations

import dis
import linecache
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from jitscope.backend.function_objects import Capture, made
from jitscope.core import source

from ..differences import Difference
from ..fixes import fix_document
from ..ledger import Row
from ..positions import position_document
from ..timing import quantity
from .redefined import Redefinition, python_function, redefined


if TYPE_CHECKING:
    from jitscope_widgets.documents.recompilations import RecompilationCard


class Stale(NamedTuple):
    """A function whose program is still there and was traced with other values of its globals or of its closure, or with other
    functions: what it captured, before and now, and what it called."""

    row: Row
    changes: list[tuple[Capture, Capture]]
    functions: list[Redefinition]


def stale(rows: Iterable[Row]) -> list[Stale]:
    """The functions among rows that keep old values, or old functions."""
    latest: dict[Any, Row] = {}
    for row in rows:
        if _is_kept(row):
            assert row.signature is not None
            latest[row.signature.function] = row
    found = [Stale(row, list(_changed(row)), redefined(row)) for row in latest.values()]
    return [one for one in found if one.changes or one.functions]


def renewed(row: Row) -> list[Difference]:
    """What another trace of a row's function, with an equal key, sees anew: values and functions that are other ones now. The user had the
    old program dropped for it."""
    if row.signature is None or not row.signature.made.alive:
        return []
    values = [Difference("redefined", name.name, name.text, now.text, _DROPPED) for name, now in _changed(row)]
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
    assert row.signature is not None
    function = row.signature.made.object() if row.signature.made.object is not None else None
    own = [
        value for value in getattr(function, "__globals__", {}).values() if type(value).__module__.startswith(_WATCHED)
    ]
    return any(getattr(value, "__wrapped__", None) is function and _programs(value) for value in own)


_WATCHED = ("jax", "flax.", "equinox.")


def _programs(compiled: Any) -> int:
    """How many programs a compiled function of jax, flax or equinox has."""
    inner = getattr(compiled, "jitted_fn", None) or getattr(compiled, "_cached", None) or compiled
    size = getattr(inner, "_cache_size", None)
    return size() if size is not None else 0


def _changed(row: Row) -> Iterator[tuple[Capture, Capture]]:
    """The captured values when the function was traced and as they are now, where they differ."""
    assert row.signature is not None
    before = row.signature.made
    function = before.object() if before.object is not None else None
    now = {(capture.name, capture.how): capture for capture in made(function).captures}
    read = _read(function)
    for capture in before.captures:
        other = now.get((capture.name, capture.how))
        if other is None or (capture.text, capture.token) == (other.text, other.token):
            continue
        if capture.name in read and capture.how in ("global", "closure") and not _is_code(capture, other):
            yield capture, other


def _read(function: Any) -> set[str]:
    """The names that a function, and those inside it, read from their globals and closures."""
    code = getattr(python_function(function), "__code__", None)
    return _names(code) if isinstance(code, types.CodeType) else set()


def _names(code: types.CodeType) -> set[str]:
    found = {one.argval for one in dis.get_instructions(code) if one.opname in _LOADS}
    return found.union(*(_names(part) for part in code.co_consts if isinstance(part, types.CodeType)))


_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}


def _is_code(*captures: Capture) -> bool:
    """Whether one is a function or an object, of which it is not known whether it is another one in what counts."""
    return any(capture.text.startswith(("function ", "object of ")) for capture in captures)


def _card(one: Stale) -> RecompilationCard:
    row = one.row
    where = position_document(row.position, row.cell_of)
    captured = " and ".join(
        f"`{before.name}` was {before.text} and is {_other(before, now)} now" for before, now in one.changes
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
    return passed(one) if one.changes else traced_anew(one.row)


def passed(one: Stale) -> str:
    """What to do about the values that a function keeps."""
    row = one.row
    names = ", ".join(f"`{before.name}`" for before, _ in one.changes)
    it = "it" if len(one.changes) == 1 else "them"
    return f"Pass {names} as an argument of {row.function}: it reads {it} at each call then."


def keeps(function: Redefinition, row: Row) -> str:
    """`keeps the act that it was traced with; act was defined again in In [4]`."""
    path = function.path
    place = _place(function.now, row)
    if function.renamed:
        return f"keeps the {path} that it was traced with, {_named(function.before)}; {path} is {_named(function.now)} now{place and f', of {place}'}"
    return f"keeps the {path} that it was traced with; {path} was defined again{place and f' in {place}'}"


def traced_anew(row: Row) -> str:
    """What has a function traced again, whatever it calls."""
    cell = row.cell_of(row.position.file) if row.position is not None else None
    name = _compiled_name(row)
    how = [f"run {cell[0]} again" if cell is not None else "", f"call {name}.clear_cache()" if name else ""]
    said = ", or ".join(filter(None, how)) or "compile it anew, with jit"
    return f"{said[0].upper()}{said[1:]}: {row.function} is traced anew then."


def _compiled_name(row: Row) -> str:
    """The name under which the user, or else the module of a function, has what was compiled of it; "" where it is not known."""
    found = row.signature.made.object() if row.signature is not None and row.signature.made.object is not None else None
    function = python_function(found)
    if not isinstance(function, types.FunctionType):
        return ""
    main, own = getattr(sys.modules.get("__main__"), "__dict__", {}), function.__globals__
    module = own.get("__name__", "")
    places = [(main, ""), (own, "" if own is main or module not in sys.modules else f"{module}.")]
    for names, before in places:
        for name, value in list(names.items()):
            if not name.startswith("_") and hasattr(value, "clear_cache") and python_function(value) is function:
                return f"{before}{name}"
    return ""


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
