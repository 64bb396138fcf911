"""Where the time of compiling went: the part of XLA's work that took longest, its passes by name, and the kernels that were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import words
from ..documents.annotations import CodeWriting, KernelWriting, PassesDocument
from ..escapes import clean
from ..quantities import amount, percent, seconds
from ..view import inline
from ..view.parts import Bar, Column, Content, Grouped, Part, Place, Ref, Row, Section, Sentence, Table
from ..words import NO_LINE, plural


NAME = "Where the time of compiling went"
_UNNAMED = "for which kernels XLA does not record"


class Spent(NamedTuple):
    """The runs of the passes of one name: how many, how many of them changed the program, and their seconds."""

    name: str
    runs: int
    changed: int
    seconds: float
    does: str


def by_name(document: PassesDocument) -> list[Spent]:
    """The passes, the dearest first; none where the seconds of one are not known."""
    found: dict[str, Spent] = {}
    for one in document["passes"]:
        took = amount(one["seconds"])
        if took is None:
            return []
        known = found.get(one["name"], Spent(one["name"], 0, 0, 0.0, one["does"]))
        found[one["name"]] = known._replace(
            runs=known.runs + 1, changed=known.changed + (one["state"] is not None), seconds=known.seconds + took
        )
    return sorted(found.values(), key=lambda spent: -spent.seconds)


def compiling(document: PassesDocument) -> Iterator[Part]:
    """A sentence that names the dearest, and the tables behind it."""
    passes, writing = by_name(document), document.get("writing")
    if told := list(_told(document, passes, writing)):
        yield Sentence(" ".join(told))
    ways = []
    if passes:
        ways.append(("by pass", _passes(passes)))
    if writing:
        ways.append(("by kernel", _kernels(document, writing)))
    if ways:
        yield Section(NAME, (Grouped(NAME, tuple(ways)),), opened=False)


def _told(document: PassesDocument, passes: Sequence[Spent], writing: CodeWriting | None) -> Iterator[str]:
    stages = [(stage["name"], amount(stage["seconds"]) or 0.0) for stage in document["stages"]]
    whole = sum(took for _, took in stages)
    if whole:
        name, most = max(stages, key=lambda stage: stage[1])
        yield f"Most of it, {percent(most / whole)}, was {_SAID.get(name, name)}."
    if passes:
        dear = passes[0]
        yield f"Of the passes {clean(dear.name)} took longest: {seconds(dear.seconds)} in {plural(dear.runs, 'run')}."
    if writing and writing["kernels"]:
        kernel = writing["kernels"][0]
        lines = words.lines(_positions(document, kernel), words.only_home(document["positions"].values()))
        at = f" ({lines})" if lines else ""
        yield f"Of the kernels {clean(kernel['name'])}{at} took longest to be written as LLVM's IR: {seconds(amount(kernel['seconds']) or 0)}."
        if (longest := amount(writing["longest"])) is not None and writing["parts"]:
            tasks = plural(writing["parts"], "task")
            yield f"LLVM worked in {tasks}, the longest took {seconds(longest)}; {_UNNAMED}."


_SAID = {
    "passes": "XLA's passes",
    "kernels": "writing the kernels as LLVM's IR",
    "machine code": "LLVM's work on machine code",
    "rest": "none of these",
}


def _positions(document: PassesDocument, kernel: KernelWriting) -> list:
    return [document["positions"][path] for path in kernel["paths"] if path in document["positions"]]


def _passes(passes: Sequence[Spent]) -> Table:
    whole = sum(one.seconds for one in passes) or 1.0
    columns = (
        Column("pass", "code"),
        Column("took", "number", "in all of its runs, without the passes in it"),
        Column("of all passes", "bar"),
        Column("runs", "number"),
        Column("changed the program", "number"),
        Column("does"),
    )
    rows = tuple(
        Row(
            (
                clean(one.name),
                inline.seconds(one.seconds),
                Bar(one.seconds / whole, title=percent(one.seconds / whole)),
                inline.count(one.runs),
                inline.count(one.changed) if one.changed else "",
                clean(one.does),
            )
        )
        for one in passes
    )
    return Table("Passes, by the time they took", columns, rows)


def _kernels(document: PassesDocument, writing: CodeWriting) -> Table:
    whole = amount(writing["total"]) or 1.0
    here = words.only_home(document["positions"].values())
    columns = (
        Column("kernel", "code"),
        Column("written in", "number", "as LLVM's IR; several kernels are written at once"),
        Column("of all kernels", "bar"),
        Column("line"),
    )
    rows = []
    for kernel in writing["kernels"]:
        took = amount(kernel["seconds"]) or 0.0
        positions = _positions(document, kernel)
        line: Content = Place(words.lines(positions, here), positions[0]) if positions else NO_LINE
        cells = (clean(kernel["name"]), inline.seconds(took), Bar(took / whole, title=percent(took / whole)), line)
        rows.append(Row(cells, Ref(tuple(kernel["paths"]), (kernel["name"],))))
    left = writing["count"] - len(rows)
    told = f"{plural(left, 'more kernel')} that took less" if left > 0 else ""
    name = f"Kernels, by the time it took to write them: {seconds(whole)} in all"
    return Table(name, columns, tuple(rows), left_out=told)
