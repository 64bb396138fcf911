"""Which stretches of cells could be compiled: the verdicts with their prices, and the edits."""

from __future__ import annotations

from collections.abc import Iterator

from ..documents.annotations import Region, RegionsDocument
from ..escapes import clean, clean_lines
from ..view import inline
from ..view.parts import Code, CodeLine, Column, Content, Edit, Part, Row, Section, Sentence, Table, Text
from ..words import plural


NAME = "Regions"
_SIGNS = {"compile": "✓ compile", "not worth it": "not worth it", "cannot": "cannot"}
_COLUMNS = (
    Column("lines"),
    Column("verdict"),
    Column("in Python", "number", "seconds of one run, as they were seen"),
    Column("compiled", "number", "seconds of one run of the compiled form"),
    Column("to compile", "number"),
    Column("paid back after", "number", "runs, compiling included"),
    Column("why"),
)


def view(document: RegionsDocument) -> Iterator[Part]:
    """The parts of what was found."""
    found = document["regions"]
    if found or document["title"] or not document["note"]:  # without a title the note says why nothing was looked at
        yield Sentence(headline(document), "headline")
    if document["note"]:
        yield Sentence(clean(document["note"]), "note")
    several = len({one["cell"] for one in found}) > 1
    if found:
        yield Table("Loops and stretches of array operations", _COLUMNS, tuple(_row(one, several) for one in found))
    for one in found:
        if one["verdict"] == "compile" and one["edit"] is not None:
            yield _edit(one, several)


def headline(document: RegionsDocument) -> str:
    """`1 of 3 stretches is worth compiling.`"""
    found = document["regions"]
    if not found:
        return "No loop and no long stretch of array operations was seen."
    good = sum(one["verdict"] == "compile" for one in found)
    return (
        f"{good} of {plural(len(found), 'stretch')} {'is' if len(found) == 1 or good == 1 else 'are'} worth compiling."
    )


def _row(one: Region, several: bool) -> Row:
    cells: tuple[Content, ...] = (
        _place(one, several),
        inline.strong(_SIGNS[one["verdict"]]) if one["verdict"] == "compile" else _SIGNS[one["verdict"]],
        *(
            "" if value is None else inline.seconds(value)
            for value in (one["eager_s"], one["compiled_s"], one["compile_s"])
        ),
        "" if one["break_even_runs"] is None else _runs(one["break_even_runs"]),
        inline.prose(clean(one["reason"])),
    )
    cuts = [f"line {cut['line']}: {cut['note'] or cut['why']}".replace("`", "") for cut in one["cuts"]]
    reason = one["reason"].replace("`", "")
    return Row(cells, note=clean("; ".join(cut for cut in dict.fromkeys(cuts) if cut not in reason)))


def _runs(count: int) -> Text:
    return Text(plural(count, "run"), order=count)


def lines(one: Region) -> str:
    """`lines 4 to 9`"""
    return f"line {one['line']}" if one["line"] == one["end_line"] else f"lines {one['line']} to {one['end_line']}"


def _place(one: Region, several: bool) -> str:
    return f"cell {one['cell']}, {lines(one)}" if several else lines(one)


def _edit(one: Region, several: bool) -> Section:
    where = _place(one, several)
    if "fix" in one:
        return Section(f"How: {where}", (Edit(one["fix"]),), opened=True)
    text = tuple(CodeLine(line) for line in clean_lines((one["edit"] or "").rstrip("\n")))
    return Section(f"How: {where} become", (Code("The edit", text, "python"),), opened=True)
