"""What the session compiled: the newest first, in the order of the session, and by the cell that called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from ..documents.annotations import LedgerDocument, LedgerRow, SmallOperation, SmallPrograms
from ..escapes import clean, shorten
from ..quantities import seconds
from ..view import inline
from ..view.parts import Column, Grouped, Part, Ref, Row, Sentence, Stretch, Table
from ..words import plural


NAME = "Compilations"
NOTHING = (
    "Nothing was compiled yet. Put `%%jit` at the top of a cell with functions, or call a function wrapped by `jit`."
)
_SIGNS = {"compiled": "●", "recompiled": "▲", "reused": "○", "loaded": "○", "failed": "✕"}
_FIRST = 200
_SIGNATURE = 80
"""Characters of a signature in a row; hovering tells all of it."""
_OPERATIONS = 12
"""So many of the operations that small programs were compiled for are listed at once."""
_COLUMNS = (
    Column("function", "code"),
    Column("number", "number", "in the session"),
    Column("program", "short"),
    Column("cell", "short"),
    Column("time", "number", "to trace, lower and compile"),
    Column("equations", "number"),
    Column("calls", "number", "? where nobody counts: those of jax's programs"),
)
_ORDER = (
    Column("function", "code"),
    Column("one after the other; what lies between is left out", "stretch"),
    Column("time", "number"),
)
_SMALL = (
    Column("operation", "code"),
    Column("where", "short"),
    Column("code", "code"),
    Column("programs", "number"),
    Column("time", "number"),
)
_CALLERS = (Column("cell, function, program"), Column("compiled", "number"), Column("time", "number"))


def view(document: LedgerDocument) -> Iterator[Part]:
    """The parts of a ledger."""
    rows = sorted(document["rows"], key=lambda row: -row["id"])
    small = document.get("small")
    if rows:
        yield Sentence(f"{summed(rows)}.", "headline")
        ways = (("newest", _newest(rows)), ("timeline", _in_order(rows)), ("by caller", _by_caller(rows)))
        yield Grouped("Compilations of this session", ways)
    if small and small["programs"]:
        yield from _small(small)
    elif not rows:
        yield Sentence(inline.prose(NOTHING), "note")


def summed(rows: Sequence[LedgerRow]) -> str:
    """`12 compilations, 3.4 s`"""
    made = list(filter(_compiled, rows))
    return f"{plural(len(made), 'compilation')}, {seconds(sum(map(_cost, made)))}" if made else "nothing compiled"


def _compiled(row: LedgerRow) -> bool:
    return row["what"] in ("compiled", "recompiled")


def _cost(row: LedgerRow) -> float:
    return sum(row["seconds"].values())  # pyright: ignore[reportArgumentType, reportCallIssue]


def _newest(rows: Sequence[LedgerRow]) -> Table:
    return Table("Compilations of this session", _COLUMNS, tuple(map(_row, rows)), first=_FIRST)


def short_signature(text: str) -> str:
    """A signature in some 80 characters: of many arguments and results the first ones, none of them cut, and how many more there are."""
    name, _, rest = text.partition("(")
    arguments, arrow, results = rest.rpartition(") -> ")
    if len(text) <= _SIGNATURE or not arrow:
        return shorten(text, _SIGNATURE)
    given, bare = _SEPARATORS.split(arguments), results.removeprefix("(").removesuffix(")")
    gives = _SEPARATORS.split(bare)
    counts = sorted(product(range(len(given), 0, -1), range(len(gives), 0, -1)), key=sum, reverse=True)
    forms = [f"{name}({_first(given, n)}) -> {results.replace(bare, _first(gives, m))}" for n, m in counts]
    return next((form for form in forms if len(form) <= _SIGNATURE), shorten(forms[-1], _SIGNATURE))


def _first(parts: Sequence[str], count: int) -> str:
    more = len(parts) - count
    return ", ".join([*parts[:count], *([f"… {more} more"] if more else [])])


_SEPARATORS = re.compile(r", (?![^\[\]]*\])(?![^()]*\))")
"""Between arguments, but not between the sizes and parts of one."""


def _row(row: LedgerRow) -> Row:
    what = f"{_SIGNS.get(row['what'], '●')} {clean(row['what'])}"
    failed = row["what"] == "failed"  # it ended on the way: what it took is not known
    figures = (
        inline.seconds(_cost(row), title=_steps(row)),
        inline.count(row["equations"]),
        "?" if row["calls"] is None else inline.count(row["calls"]),
    )
    cells = (
        short_signature(clean(row["signature"] or row["function"])),
        inline.count(row["id"]),
        inline.strong(what) if row["what"] == "recompiled" else what,
        clean(row["cell"] or ""),
        *(("", "", "") if failed else figures),
    )
    told = (clean(row["because"]), "" if failed else _steps(row))
    note = " · ".join(filter(None, told))
    return Row(cells, _ref(row), note=note, title=clean(row["signature"]), tone="bad" if failed else "plain")


def _steps(row: LedgerRow) -> str:
    """`trace 2.1 ms, lower 3 ms, compile 61 ms`"""
    spent, last = row["seconds"], "load" if row["what"] == "loaded" else "compile"
    named = (("trace", spent["trace"]), ("lower", spent["lower"]), (last, spent["compile"]))
    return ", ".join(f"{name} {seconds(taken)}" for name, taken in named if taken)


def _ref(row: LedgerRow) -> Ref:
    """The cell that a program was compiled in."""
    if not row["cell_id"]:
        return Ref()
    return Ref(
        position={
            "file": row["cell_id"],
            "cell": row["cell"],
            "line": 1,
            "end_line": 1,
            "column": 0,
            "end_column": 0,
            "function": row["function"],
            "text": "",
        }
    )


def _in_order(rows: Sequence[LedgerRow]) -> Table:
    """One bar for each compilation, one after the other: what the session spent on them."""
    made = sorted(filter(_compiled, rows), key=lambda row: row["id"])
    whole = sum(map(_cost, made)) or 1.0
    found, start = [], 0.0
    for row in made:
        tone = "temporary" if row["what"] == "recompiled" else ""
        told = f"{row['what']}: {_steps(row)}"
        stretch = Stretch(start, start + _cost(row), whole, title=told, tone=tone)
        found.append(Row((clean(row["function"]), stretch, inline.seconds(_cost(row))), _ref(row), title=told))
        start += _cost(row)
    return Table("Compilations in their order", _ORDER, tuple(found), first=_FIRST, empty="Nothing was compiled.")


def _by_caller(rows: Sequence[LedgerRow]) -> Table:
    def inside(own: Sequence[LedgerRow]) -> tuple[Row, ...]:
        return tuple(_group(name, many, _programs) for name, many in _grouped(own, lambda row: row["function"]))

    cells = _grouped(rows, lambda row: row["cell"] or "outside of cells")
    found = tuple(_group(name, own, inside, opened=True) for name, own in cells)
    return Table("Compilations by caller", _CALLERS, found, first=_FIRST)


def _group(
    name: str, rows: Sequence[LedgerRow], inside: Callable[[Sequence[LedgerRow]], tuple[Row, ...]], opened: bool = False
) -> Row:
    made = list(filter(_compiled, rows))
    cells = (inline.strong(clean(name)), inline.count(len(made)), inline.seconds(sum(map(_cost, made))))
    return Row(cells, rows=inside(rows), opened=opened)


def _programs(rows: Sequence[LedgerRow]) -> tuple[Row, ...]:
    return tuple(
        Row((inline.code(clean(row["signature"] or row["function"])), clean(row["what"]), inline.seconds(_cost(row))), _ref(row), note=clean(row["because"]))
        for row in rows
    )  # fmt: skip


def _grouped(rows: Sequence[LedgerRow], key: Callable[[LedgerRow], str]) -> list[tuple[str, list[LedgerRow]]]:
    found: dict[str, list[LedgerRow]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return list(found.items())


def _small(small: SmallPrograms) -> Iterator[Part]:
    """Small programs for operations outside of jit: all of them in a sentence, then by operation and line, the dearest first."""
    yield Sentence(clean(small["sentence"]))
    yield Table(
        "Small programs by operation and line", _SMALL, tuple(map(_operation, small["operations"])), first=_OPERATIONS
    )


def _operation(one: SmallOperation) -> Row:
    name = f"{clean(one['operation'])} ({clean(one['library'])})" if one["library"] else clean(one["operation"])
    line = "" if one["line"] is None else f"line {one['line']:,}"
    place = ", ".join(filter(None, (clean(one["cell"] or ""), line)))
    figures = (inline.count(one["programs"]), inline.seconds(one["seconds"]))
    return Row((name, place, clean(one["text"].strip()), *figures), title=clean(one["said"]))
