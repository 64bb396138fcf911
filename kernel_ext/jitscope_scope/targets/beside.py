"""Programs on several targets side by side: which kernels each makes of the same lines, and which lines one fuses and another leaves apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ..annotations import (
    CompilationDocument,
    FusionDocument,
    Kernel,
    Position,
    TargetBoundary,
    TargetDocument,
    TargetsDocument,
    TargetsKernel,
    TargetsLine,
    TargetsPair,
    TargetsSide,
)
from ..observe.ledger import Row
from ..observe.timing import quantity


MOST_PAIRS = 200
NO_RECORD = "its compiler keeps no record of why"
_WORDS = {"fusion": "fused loop", "library": "library call", "copy": "copy", "other": "single operation"}


class Between(NamedTuple):
    """Two kernels of which the second reads what the first gives, and why they are two."""

    giver: str
    reader: str
    reason: str


class Beside(NamedTuple):
    """One of the sides: its document, the lines of each of its kernels (as far as they are known), its neighbours."""

    side: TargetsSide
    lines: list[list[Position]]
    between: list[Between]


def of_target(document: TargetDocument, title: str = "") -> Beside:
    """A side for a chip that is not here."""
    told = document["chip"]["told"]
    kernels: list[TargetsKernel] = []
    lines: list[list[Position]] = []
    for one in document["kernels"]:
        if one["kind"] != "loop":
            kernels.append(
                {
                    "name": one["name"],
                    "what": one["what"],
                    "members": one["members"],
                    "seconds": one["seconds"],
                    "runs": one["runs"],
                }
            )
            lines.append([document["positions"][path] for path in one["paths"] if path in document["positions"]])
    side: TargetsSide = {
        "title": f"{title or document['title']} on {told}",
        "told": told,
        "here": False,
        "kernels": kernels,
        "seconds": document["seconds"],
        "memory": document["memory"]["total"],
        "room": document["chip"]["memory"],
        "fits": document["memory"]["fits"],
        "compile": document["cost"],
        "remarks": document["remarks"],
    }
    between = [Between(one["giver"], one["reader"], _why(document, one)) for one in document["boundaries"]]
    return Beside(side, lines, between)


def _why(document: TargetDocument, boundary: TargetBoundary) -> str:
    number = boundary["decision"]
    if number is not None:
        decision = document["decisions"][number]
        together, apart = decision["fused_seconds"]["value"], decision["apart_seconds"]["value"]
        known = together is not None and apart is not None
        times = f" ({together * 1e6:.3g} µs fused, {apart * 1e6:.3g} µs apart)" if known else ""  # type: ignore[operator]
        return f"{decision['reason']}{times}"
    return NO_RECORD if document["chip"]["platform"] == "tpu" else "XLA says nothing"


def of_cpu(row: Row, compilation: CompilationDocument, fusion: FusionDocument, title: str = "") -> Beside:
    """A side for the CPU of this machine, from what is known of the row's program without running it."""
    kernels: list[TargetsKernel] = []
    lines: list[list[Position]] = []
    for one in fusion["kernels"]:
        if one["kind"] != "loop":
            kernels.append(_of_cpu(one))
            lines.append(one["positions"])
    stages = {one["name"]: one["seconds"] for one in compilation["timing"]["stages"]}
    stats = _memory_of(row)
    side: TargetsSide = {
        "title": f"{title or row.title} on the CPU",
        "told": "the CPU",
        "here": True,
        "kernels": kernels,
        "seconds": quantity(None, "s", note="the CPU's time is not modelled; %timejit measures it"),
        "memory": quantity(stats, "B", "modelled", "as XLA plans it"),
        "room": quantity(None, "B", note="of this machine"),
        "fits": None,
        "compile": stages.get("compile", quantity(None, "s", note="it was not compiled now")),
        "remarks": [],
    }
    between = [Between(one["from"], one["to"], NO_RECORD) for one in fusion.get("boundaries", ())]
    return Beside(side, lines, between)


def _of_cpu(one: Kernel) -> TargetsKernel:
    return {
        "name": one["name"],
        "what": _WORDS.get(one["kind"], one["kind"]),
        "members": len(one["members"]),
        "seconds": quantity(None, "s", note="not measured"),
        "runs": None,
    }


def _memory_of(row: Row) -> float | None:
    read: Callable[[], dict[str, int]] | None = getattr(getattr(row.entry, "executable", None), "memory_stats", None)
    if read is None:
        return None
    found = read()
    names = ("argument", "output", "temp")
    return float(sum(found[name] for name in names) - found.get("alias", 0)) if set(names) <= found.keys() else None


def targets_document(title: str, sides: Sequence[Beside]) -> TargetsDocument:
    """The document of two or more sides. Raises ValueError for fewer."""
    if len(sides) < 2:
        raise ValueError("a comparison takes at least two targets")
    lines, places = _lines(sides)
    pairs = list(_pairs(sides, places))
    chips = [one.side["told"] for one in sides if not one.side["here"]]
    return {
        "kind": "targets",
        "version": 1,
        "title": title,
        "sentence": f"Modelled by XLA for {', '.join(dict.fromkeys(chips))}; nothing was run.",
        "sides": [one.side for one in sides],
        "lines": lines,
        "pairs": pairs[:MOST_PAIRS],
        "pairs_left_out": max(0, len(pairs) - MOST_PAIRS),
        "nameless": [sum(not found for found in one.lines) for one in sides],
    }


Key = tuple[str, int]


def _lines(sides: Sequence[Beside]) -> tuple[list[TargetsLine], list[list[set[int]]]]:
    """The lines, and by side and kernel the places of its lines."""
    own = [_own_lines(one.lines) for one in sides]
    keys = sorted(
        dict.fromkeys(key for named in own for key in named.values()),
        key=lambda key: min(
            (line, side) for side, named in enumerate(own) for (_, line), k in named.items() if k == key
        ),
    )
    number = {key: n for n, key in enumerate(keys)}
    lines: list[TargetsLine] = [
        {"text": text, "positions": [None] * len(sides), "kernels": [[] for _ in sides]} for text, _ in keys
    ]
    places: list[list[set[int]]] = []
    for side, (one, named) in enumerate(zip(sides, own)):
        places.append([])
        for kernel, positions in enumerate(one.lines):
            found = {number[named[_place(position)]]: position for position in positions}
            places[-1].append(set(found))
            for n, position in found.items():
                lines[n]["positions"][side] = position
                lines[n]["kernels"][side].append(kernel)
    return lines, places


def _place(position: Position) -> tuple[str, int]:
    return position["file"], position["line"]


def _own_lines(kernels: Iterable[Sequence[Position]]) -> dict[tuple[str, int], Key]:
    """What each line of a side is called: its text, and the how many-th with that text it is."""
    texts = {_place(one): one["text"].strip() for positions in kernels for one in positions}
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], Key] = {}
    for place, text in sorted(texts.items()):
        found[place] = (text, seen[text])
        seen[text] += 1
    return found


def _pairs(sides: Sequence[Beside], places: Sequence[Sequence[set[int]]]) -> Iterator[TargetsPair]:
    """Pairs of lines that share a kernel on one side, and on another are in neighbours, without sharing any."""
    together = [_together(kernels) for kernels in places]
    apart = [_apart(one, kernels, shared) for one, kernels, shared in zip(sides, places, together)]
    for pair in sorted({pair for found in apart for pair in found}):
        fused = [n for n, found in enumerate(together) if pair in found]
        split = [n for n, found in enumerate(apart) if pair in found]
        if fused and split:
            reasons = [apart[n][pair] for n in split]
            yield {"lines": list(pair), "together": fused, "apart": split, "reasons": reasons}


def _together(kernels: Sequence[set[int]]) -> set[tuple[int, int]]:
    return {(a, b) for lines in kernels for a in lines for b in lines if a < b}


def _apart(one: Beside, kernels: Sequence[set[int]], shared: set[tuple[int, int]]) -> dict[tuple[int, int], str]:
    by_name = {kernel["name"]: lines for kernel, lines in zip(one.side["kernels"], kernels)}
    found: dict[tuple[int, int], str] = {}
    for giver, reader, reason in one.between:
        for a in by_name.get(giver, ()):
            for b in by_name.get(reader, ()):
                pair = (min(a, b), max(a, b))
                if a != b and pair not in shared:
                    found.setdefault(pair, reason)
    return found
