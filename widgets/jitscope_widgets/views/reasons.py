"""Why kernels that hand values on are not one: XLA's reason for each pair of them."""

from __future__ import annotations

from collections.abc import Iterator

from .. import words
from ..documents.annotations import KernelPair, PairEnd, Position, ReasonsDocument
from ..escapes import clean
from ..quantities import size
from ..sentences import TABLES, say
from ..view import inline
from ..view.parts import Column, Content, Part, Place, Ref, Row, Sentence, Table
from ..words import plural


NAME = "Reasons"
MEANING: dict[str, str] = TABLES["fusion_reasons"]
"""What XLA's words mean, from the code of its compiler for the CPU (cpu_instruction_fusion.cc, instruction_fusion.cc)."""
SILENT = say("xla says nothing")
_COLUMNS = (
    Column("the first gives", named=True),
    Column("the second reads", named=True),
    Column("between them", "number", "bytes that one kernel writes and the other reads; of × n pairs, together"),
    Column("why they are two"),
)


def view(document: ReasonsDocument) -> Iterator[Part]:
    """The parts of a document of reasons."""
    yield Sentence(headline(document), "headline")
    if pairs := document["pairs"]:
        here = words.only_home(p for pair in pairs for end in (pair["giver"], pair["reader"]) for p in end["positions"])
        left = document["left_out"]
        more = (
            f"and {plural(left, 'more pair')} with fewer bytes between them, not kept in this document" if left else ""
        )
        rows = tuple(_together(alike, here) for alike in _grouped(pairs).values())
        yield Table("Pairs of kernels of which one reads the other", _COLUMNS, rows, first=12, left_out=more)
    yield Sentence(words.cost(document["cost"]), "note")


def headline(document: ReasonsDocument) -> str:
    """`24 pairs of kernels hand a value on; of 19 of them XLA says why they are two.`"""
    count = len(document["pairs"]) + document["left_out"]
    if not count:
        return "No kernel reads what another one gives: there is nothing to fuse."
    told = document["told"]
    said = "of all of them" if told == count else f"of {told:,} of them" if told else "of none of them"
    each = "" if count == 1 else " at most each"
    most = f", {size(max(pair['bytes'] for pair in document['pairs']))}{each}"
    pairs = "1 pair of kernels hands" if count == 1 else f"{count:,} pairs of kernels hand"
    return f"{pairs} a value on{most}; {said} XLA says why they are two."


def why(pair: KernelPair) -> str:
    """XLA's reason for a pair in plain words, its own where there are none."""
    reason = pair["reason"]
    return MEANING.get(reason, clean(reason)) if reason else SILENT


def seen(pair: KernelPair) -> str:
    """What can be seen between two kernels; "" for nothing."""
    return "; ".join(clean(one["text"]) for one in pair["observed"])


def _grouped(pairs: list[KernelPair]) -> dict[object, list[KernelPair]]:
    """The pairs of which the same is said, in their order."""
    found: dict[object, list[KernelPair]] = {}
    for pair in pairs:
        ends = tuple(
            (end["opcode"], *(_line(p) for p in end["positions"][:1])) for end in (pair["giver"], pair["reader"])
        )
        found.setdefault((ends, pair["reason"], seen(pair)), []).append(pair)
    return found


def _line(position: Position) -> tuple[str, int]:
    return position["file"], position["line"]


def _together(alike: list[KernelPair], here: str) -> Row:
    """One pair, or several of which the same is said."""
    first = _row(alike[0], here)
    if len(alike) == 1:
        return first
    total = sum(pair["bytes"] for pair in alike)
    paths = tuple(
        dict.fromkeys(path for pair in alike for end in (pair["giver"], pair["reader"]) for path in end["paths"])
    )
    kernels = tuple(dict.fromkeys(pair[end]["kernel"] for pair in alike for end in ("giver", "reader")))
    giver, reader, _, told = first.cells
    summed = inline.size(total, title=f"of {len(alike)} pairs together")
    cells = ((*inline.each(giver), inline.muted(f" × {len(alike)}")), reader, summed, told)
    ref = Ref(paths, kernels, position=first.ref.position)
    return Row(cells, ref, rows=tuple(_row(pair, here) for pair in alike))


def _row(pair: KernelPair, here: str) -> Row:
    giver, reader = pair["giver"], pair["reader"]
    paths = tuple(dict.fromkeys((*giver["paths"], *reader["paths"])))
    position = next(iter((*giver["positions"], *reader["positions"])), None)
    ref = Ref(paths, (giver["kernel"], reader["kernel"]), position=position)
    told: Content = why(pair) if pair["reason"] else inline.muted(_silent(pair))
    cells: tuple[Content, ...] = (_end(giver, here), _end(reader, here), inline.size(pair["bytes"]), told)
    return Row(cells, ref, parts=tuple(_closer(pair)))


def _silent(pair: KernelPair) -> str:
    """What is said of a pair of which XLA says nothing."""
    return f"{SILENT}; what can be seen: {seen(pair)}" if pair["observed"] else SILENT


def _closer(pair: KernelPair) -> Iterator[Part]:
    if pair["reason"]:
        yield Sentence(("In XLA's words: ", inline.code(clean(pair["reason"]))))
        if told := seen(pair):
            yield Sentence(f"What can be seen, none of it proved to be the cause: {told}.")
    giver, reader = (inline.code(clean(pair[end]["kernel"])) for end in ("giver", "reader"))
    yield Sentence(("Kernels of the optimised program: ", giver, " and ", reader, "."), "note")


def _end(end: PairEnd, here: str) -> Content:
    what = clean(end["opcode"])
    if not end["positions"]:
        return (what, inline.muted(", of no known line"))
    position = end["positions"][0]
    return (f"{what}, ", Place(words.lines([position], here), position))
