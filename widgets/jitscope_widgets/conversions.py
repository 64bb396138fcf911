"""What an optimised program converts, copies and transposes, in one list: by line, and one by one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .origins import placed
from .plain import clean
from .quantities import size
from .view import inline
from .view.parts import Column, Content, Grouped, Part, Place, Ref, Row, Section, Sentence, Table
from .words import lines, plural


if TYPE_CHECKING:
    from .documents.fusion import FusionDocument


TITLE = "Precision, copies and transposes"
_FIRST = 8
_KINDS = ("convert", "copy", "transpose")
_NOUNS = {"convert": "conversion of dtypes", "copy": "copy", "transpose": "transpose"}
_COLUMNS = (
    Column("what", "short"),
    Column("from", "code"),
    Column("to", "code"),
    Column("result", "number", "bytes of the result"),
    Column("where", "text", "what a kernel of its own reads and writes; in another nothing is moved for it alone"),
    Column("line"),
)
_BY_LINE = (Column("line"), Column("what"), Column("moved", "number", "by kernels of their own"))


class Move(NamedTuple):
    """An instruction (a node of the graph after fusion) that changes no value but its dtype or its place; `moved` are the bytes that a
    kernel of its own reads and writes, 0 within another one."""

    node: Any
    what: str
    source: str
    moved: int
    kernel: str
    where: str
    looped: bool


def conversions(fusion: FusionDocument) -> list[Part]:
    """The parts of the list; none where the optimised program is not kept."""
    if not fusion["after"]["nodes"]:
        return []
    moves = sorted(_moves(fusion), key=lambda move: (-move.moved, -move.node["bytes"]))
    return [Section(TITLE, (Sentence(counted(moves)), *_tables(moves)), note=_note(moves))]


def _note(moves: Sequence[Move]) -> str:
    return f"{len(moves):,}" if moves else "none"


def counted(moves: Sequence[Move]) -> str:
    """`3 conversions of dtypes, 1 copy; 2 of them are kernels of their own, which read and write 57.3 kB.`"""
    if not moves:
        return "The optimised program converts no dtype, copies nothing and transposes nothing."
    counts = Counter(move.node["label"] for move in moves)
    told = ", ".join(_plural(counts[kind], noun) for kind, noun in _NOUNS.items() if counts[kind])
    alone = [move for move in moves if move.moved]
    if not alone:
        return f"{told}; all of them within other kernels, so that no memory is moved for them alone."
    are = (
        "is a kernel of its own, which reads and writes"
        if len(alone) == 1
        else "are kernels of their own, which read and write"
    )
    once = ", loops counted once" if any(move.looped for move in alone) else ""
    return f"{told}; {len(alone):,} of them {are} {size(sum(move.moved for move in alone))}{once}."


def _plural(count: int, noun: str) -> str:
    head, _, rest = noun.partition(" of ")
    return f"{plural(count, head)}{' of ' + rest if rest else ''}"


def _moves(fusion: FusionDocument) -> Iterator[Move]:
    graph = placed(fusion["after"], fusion["before"])
    nodes: dict[str, Any] = {node["id"]: node for node in graph["nodes"]}
    read: dict[str, Any] = {}
    for edge in graph["edges"]:
        read.setdefault(edge["to"], edge)
    kernels = {kernel["name"]: kernel for kernel in fusion["kernels"]}
    for node in graph["nodes"]:
        if node["label"] not in _KINDS or node["kind"] != "instruction" or not node["types"]:
            continue
        scopes = list(_scopes(node, nodes))
        within = next(
            (scope for scope in scopes if scope["id"] in kernels and scope["kind"] in ("fusion", "library")), None
        )
        kernel = within["id"] if within else node["id"]
        source = read.get(node["id"], {"type": "", "bytes": 0})
        alone = within is None and node["id"] in kernels
        moved = source["bytes"] + node["bytes"] if alone else 0
        inside = [f"in {clean(scope['label'])}" for scope in scopes if scope["kind"] == "scope"]
        where = ", ".join(["a kernel of its own" if alone else "within a kernel", *inside[:1]])
        if not node["positions"] and kernel in kernels:
            node = {**node, "positions": kernels[kernel]["positions"]}
        yield Move(node, _what(node, source["type"]), source["type"], moved, kernel, where, bool(inside))


def _scopes(node: Any, nodes: dict[str, Any]) -> Iterator[Any]:
    seen = set()
    while (scope := node["scope"]) in nodes and scope not in seen:
        seen.add(scope)
        node = nodes[scope]
        yield node


_FLOAT = re.compile(r"b?f(\d+)")


def _what(node: Any, source: str) -> str:
    """`upcast`, `downcast` or `cast` of a conversion."""
    if node["label"] != "convert":
        return node["label"]
    before, after = _FLOAT.match(source), _FLOAT.match(node["types"][0])
    if not before or not after or before[1] == after[1]:
        return "cast"
    return "upcast" if int(after[1]) > int(before[1]) else "downcast"


# --- tables -----------------------------------------------------------------------------------------------------------


def _tables(moves: Sequence[Move]) -> Iterator[Part]:
    if not moves:
        return
    one_by_one = Table("One by one", _COLUMNS, tuple(map(_row, moves)), first=_FIRST)
    by_line: dict[str, list[Move]] = {}
    for move in moves:
        by_line.setdefault(_lines(move), []).append(move)
    if len(by_line) == len(moves):
        yield one_by_one
        return
    found = sorted(by_line.items(), key=lambda entry: -sum(move.moved for move in entry[1]))
    rows = tuple(_line(name, own) for name, own in found)
    yield Grouped(TITLE, (("one by one", one_by_one), ("by line", Table("By line", _BY_LINE, rows, first=_FIRST))))


def _lines(move: Move) -> str:
    return lines(move.node["positions"]) or "origin unknown"


def _row(move: Move) -> Row:
    node = move.node
    cells: tuple[Content, ...] = (
        move.what,
        clean(move.source),
        clean(node["types"][0]),
        inline.size(node["bytes"]),
        inline.Text(f"{move.where}, {size(move.moved)} moved" if move.moved else move.where, order=move.moved),
        _place(move),
    )
    position = node["positions"][0] if node["positions"] else None
    return Row(cells, Ref(tuple(node["paths"]), (move.kernel,), position=position), title=clean(node["text"]))


def _place(move: Move) -> Content:
    positions = move.node["positions"]
    return Place(_lines(move), positions[0]) if len(positions) == 1 else _lines(move)


def _line(name: str, moves: Sequence[Move]) -> Row:
    counts = Counter(move.what for move in moves)
    told = ", ".join(plural(count, what) for what, count in counts.items())
    moved = sum(move.moved for move in moves)
    paths = tuple(dict.fromkeys(path for move in moves for path in move.node["paths"]))
    kernels = tuple(dict.fromkeys(move.kernel for move in moves))
    return Row((name, told, inline.size(moved) if moved else ""), Ref(paths, kernels))
