"""What the views of passes say, and how they fold what changed nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from . import words
from .looks import CHANGES
from .plain import clean
from .quantities import amount, seconds, show
from .sentences import TABLES
from .words import Document, plural


SIGNS = CHANGES
LEGEND = ", ".join(map(" ".join, TABLES["changes"].values()))


class Step(NamedTuple):
    """A pass that changed the program, or several in a row that did not (`state` is None)."""

    passes: Sequence[Document]
    state: Document | None


def steps(document: Document) -> Iterator[Step]:
    """The passes in order, those that changed nothing together."""
    waiting: list[Document] = []
    states = dict(enumerate(document["states"]))
    for one in document["passes"]:
        state = states.get(one["state"])
        if state is None:
            waiting.append(one)
            continue
        if waiting:
            yield Step(waiting, None)
        waiting = []
        yield Step([one], state)
    if waiting:
        yield Step(waiting, None)


def headline(document: Document) -> str:
    """`142 passes ran in 22 ms, 16 of them changed the program: 129 operations → 73 kernels`"""
    changed = sum(one["state"] is not None for one in document["passes"])
    spent = total(one["seconds"] for one in document["passes"])
    took = f" in {seconds(spent)}" if spent is not None else ""
    head = f"{plural(len(document['passes']), 'pass')} ran{took}, {changed} of them changed the program"
    if not document["states"]:
        return head
    first, last = document["states"][0], document["states"][-1]
    return f"{head}: {plural(first['operations'], 'operation')} → {plural(last['kernels'], 'kernel')}"


def total(quantities: Iterable[Document]) -> float | None:
    """The sum of quantities, None where one of them is not known."""
    found = [amount(quantity) for quantity in quantities]
    return None if None in found else sum(value for value in found if value is not None)


def stages(document: Document) -> str:
    """`compiling took: passes 22 ms, kernels 362 ms, …`, empty where it was not recorded."""
    told = ", ".join(f"{stage['name']} {show(stage['seconds'])}" for stage in document["stages"])
    return f"Compiling took: {told}." if told else ""


def name(one: Document) -> str:
    """`algsimp`, or `algsimp (2nd of 8 rounds)`."""
    if one["rounds"] < 2:
        return clean(one["name"])
    return f"{clean(one['name'])} (round {one['round']} of {one['rounds']})"


def unchanged(passes: Sequence[Document]) -> str:
    """`23 passes changed nothing`"""
    return f"{plural(len(passes), 'pass')} changed nothing"


def lines_of(row: Document, positions: Mapping[str, Document], here: str) -> list[tuple[str, str]]:
    """The lines that show a change, each with its sign, the last with the lines of the source it stems from."""
    sign = SIGNS[row["kind"]]
    if row["kind"] in ("fused", "moved"):
        found = [(sign, f"{clean(row['after'])}    [{clean(row['from'])} → {clean(row['to'])}]")]
    else:
        both = (("−" if row["after"] is not None else sign, row["before"]), (sign, row["after"]))
        found = [(mark, clean(line)) for mark, line in both if line is not None]
    place = words.lines((positions[path] for path in row["paths"] if path in positions), here)
    return [*found[:-1], *((mark, f"{line}    # {place}" if place else line) for mark, line in found[-1:])]
