"""What an optimised program converts, copies and transposes: by line, in which those alike are together, and one by one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .documents.annotations import FusionDocument
from .escapes import clean
from .origins import placed
from .quantities import size
from .view import inline
from .view.parts import Column, Content, Grouped, Part, Place, Ref, Row, Section, Sentence, Table
from .words import NO_LINE, lines, only_home, plural


TITLE = "Precision, copies and transposes"
_FIRST = 8
_KINDS = ("convert", "copy", "transpose")
_FREE = ("bitcast", "constant", "parameter", "tuple")
"""What computes nothing and moves nothing."""
_NOUNS = {"convert": "cast", "copy": "copy", "transpose": "transpose"}
_COLUMNS = (
    Column("what", "short"),
    Column("from", "code"),
    Column("to", "code"),
    Column("result", "number", "bytes of the result"),
    Column(
        "where",
        "text",
        "what a kernel that does nothing else reads and writes; in another nothing is moved for it alone",
    ),
    Column("line"),
)
_BY_LINE = (
    Column("what"),
    Column("number", "number"),
    Column("results", "number", "bytes of all their results"),
    Column(
        "moved",
        "number",
        "read and written by kernels that do nothing else; within others nothing is moved for them alone",
    ),
    Column("line"),
)


class Move(NamedTuple):
    """An instruction (a node of the graph after fusion) that changes no value but its dtype or its place. `alone`: its kernel does
    nothing else; `moved` are the bytes that such a kernel reads and writes, told with the last of its moves."""

    node: Any
    what: str
    source: str
    moved: int
    kernel: str
    where: str
    alone: bool
    looped: bool


def conversions(fusion: FusionDocument) -> list[Part]:
    """The parts of the list; none where the optimised program is not kept."""
    if not fusion["after"]["nodes"]:
        return []
    moves = sorted(_moves(fusion), key=lambda move: (-move.moved, -move.node["bytes"]))
    here = fusion.get("here") or only_home(place for kernel in fusion["kernels"] for place in kernel["positions"])
    products = [Sentence(said, title=_INSIDE) for said in [products_in(fusion), tensor_float(fusion)] if said]
    return [Section(TITLE, (Sentence(counted(moves)), *products, *_tables(moves, here)), note=_note(moves))]


# --- products ---------------------------------------------------------------------------------------------------------

_PRODUCTS = ("dot", "convolution")
_WIDE = {"f32", "f64", "c64", "c128"}
_INSIDE = "as XLA's optimised program is written; within it a library may add in more digits than it is given"


def products_in(fusion: FusionDocument) -> str:
    """`Of 72 products of bf16 68 take bf16 in the optimised program, 4 take f32.`: what became of products of narrow or whole numbers;
    "" where there is none."""
    wanted = _factors(fusion["before"])
    taken = _factors(fusion["after"])
    told = []
    for factors, count in Counter(wanted.values()).most_common():
        if _WIDE & set(factors.split(" and ")):
            continue
        became = Counter(taken[path] for path, one in wanted.items() if one == factors and path in taken)
        parts = [f"{number:,} take{'s' * (number == 1)} {dtype}" for dtype, number in became.most_common()]
        if rest := count - became.total():
            parts.append(f"{rest:,} {'is no longer a product' if rest == 1 else 'are no longer products'}")
        told.append(f"Of {plural(count, 'product')} of {factors} {', '.join(parts)} in the optimised program.")
    return " ".join(told)


def tensor_float(fusion: FusionDocument) -> str:
    """What a GPU makes of products of f32; "" where it makes nothing else of them."""
    gpu = fusion.get("gpu")
    if not gpu or not gpu["tensor_float"]:
        return ""
    return (
        f"{plural(gpu['tensor_float'], 'product')} of f32 may be computed in TF32 on {clean(gpu['name'])}, as XLA does there by default: the factors are "
        'rounded to three digits then; with precision "highest" (jax.default_matmul_precision) they are not.'
    )


def _factors(graph: Any) -> dict[str, str]:
    """By path of a product's equation, the dtypes of its factors."""
    read: dict[str, list[str]] = {}
    for edge in graph["edges"]:
        read.setdefault(edge["to"], []).append(edge["type"].split("[")[0])
    found: dict[str, str] = {}
    for node in graph["nodes"]:
        if node["label"] in _PRODUCTS and (own := read.get(node["id"])):
            factors = " and ".join(dict.fromkeys(own))
            for path in node["paths"]:
                found[path] = factors if found.get(path, factors) == factors else f"{found[path]} or {factors}"
    return found


# --- what changes no number -------------------------------------------------------------------------------------------


def _note(moves: Sequence[Move]) -> str:
    return f"{len(moves):,}" if moves else "none"


def counted(moves: Sequence[Move]) -> str:
    """`3 casts (2 up, 1 down), 1 copy; 2 of them in 1 kernel that does nothing else and moves 57.3 kB.`"""
    if not moves:
        return "The optimised program casts nothing, copies nothing and transposes nothing."
    counts = Counter(move.node["label"] for move in moves)
    kinds = [plural(counts[kind], noun) for kind, noun in _NOUNS.items() if counts[kind]]
    casts = Counter(move.what for move in moves)
    ways = [f"{casts[what]:,} {way}" for what, way in (("upcast", "up"), ("downcast", "down")) if casts[what]]
    if counts["convert"] and ways:
        kinds[0] += f" ({', '.join(ways)})"
    told = ", ".join(kinds)
    alone = [move for move in moves if move.alone]
    if not alone:
        return f"{told}; all of them within other kernels, so that no memory is moved for them alone."
    kernels = len({move.kernel for move in alone})
    do = "does nothing else: it reads and writes" if kernels == 1 else "do nothing else: they read and write"
    once = ", loops counted once" if any(move.looped for move in alone) else ""
    some = "all" if len(alone) == len(moves) > 1 else f"{len(alone):,}"
    return f"{told}; {some} of them in {plural(kernels, 'kernel')} that {do} {size(_moved(alone))}{once}."


def _moves(fusion: FusionDocument) -> Iterator[Move]:
    graph = placed(fusion["after"], fusion["before"])
    nodes: dict[str, Any] = {node["id"]: node for node in graph["nodes"]}
    kernels = {kernel["name"]: kernel for kernel in fusion["kernels"]}
    scopes = {node["id"]: list(_scopes(node, nodes)) for node in graph["nodes"]}
    kernel_of = {name: _kernel(name, scopes[name], kernels) for name in nodes}
    alone = _movers(nodes, kernel_of, kernels)
    read: dict[str, Any] = {}
    taken: dict[str, dict[str, int]] = {}
    for edge in graph["edges"]:
        read.setdefault(edge["to"], edge)
        if (kernel := kernel_of.get(edge["to"])) in alone and kernel_of.get(edge["from"]) != kernel:
            taken.setdefault(kernel, {})[edge["from"]] = edge["bytes"]
    for name, node in nodes.items():
        kernel = kernel_of[name]
        if not _is_move(node):
            continue
        source = read.get(name, {"type": "", "bytes": 0})
        last = alone.get(kernel) == name
        moved = sum(taken.get(kernel, {}).values()) + nodes[kernel]["bytes"] if last else 0
        inside = [f"in {clean(scope['label'])}" for scope in scopes[name] if scope["kind"] == "scope"]
        own = "a kernel of its own" if kernel == name else "within a kernel that does nothing else"
        where = ", ".join([own if kernel in alone else "within a kernel", *inside[:1]])
        if not node["positions"] and kernel in kernels:
            node = {**node, "positions": kernels[kernel]["positions"]}
        yield Move(
            node, _what(node, source["type"]), source["type"], moved, kernel, where, kernel in alone, bool(inside)
        )


def _is_move(node: Any) -> bool:
    return node["label"] in _KINDS and node["kind"] == "instruction" and bool(node["types"])


def _kernel(name: str, scopes: Sequence[Any], kernels: Mapping[str, Any]) -> str:
    """The kernel that an instruction is computed in: a fusion, a call of a library, itself."""
    found = (one["id"] for one in scopes if one["id"] in kernels and one["kind"] in ("fusion", "library"))
    return next(found, name)


def _movers(nodes: Mapping[str, Any], kernel_of: Mapping[str, str], kernels: Mapping[str, Any]) -> dict[str, str]:
    """The kernels that do nothing but move, each with the last of its moves."""
    inside: dict[str, list[Any]] = {}
    for name, node in nodes.items():
        if (kernel := kernel_of[name]) in kernels and (kernel != name or _is_move(node)):
            inside.setdefault(kernel, []).append(node)
    found = {}
    for kernel, own in inside.items():
        if any(map(_is_move, own)) and all(_is_move(node) or node["label"] in _FREE for node in own):
            found[kernel] = next(node["id"] for node in reversed(own) if _is_move(node))
    return found


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


def _tables(moves: Sequence[Move], here: str) -> Iterator[Part]:
    if not moves:
        return
    one_by_one = Table("One by one", _COLUMNS, tuple(_row(move, here) for move in moves), first=_FIRST)
    by_line = _together(moves, lambda move: _lines(move, here))
    if len(by_line) == len(moves):
        yield one_by_one
        return
    columns = tuple(column for column in _BY_LINE if column.title != "moved" or _moved(moves))
    lines = tuple(_line(own, here, len(columns)) for own in by_line)
    yield Grouped(TITLE, (("by line", Table("By line", columns, lines, first=_FIRST)), ("one by one", one_by_one)))


def _together(moves: Sequence[Move], key: Callable[[Move], Hashable]) -> list[list[Move]]:
    """Those with the same key, the ones first that move most."""
    found: dict[Hashable, list[Move]] = {}
    for move in moves:
        found.setdefault(key(move), []).append(move)
    return sorted(found.values(), key=lambda own: (-_moved(own), -_results(own)))


def _moved(moves: Sequence[Move]) -> int:
    return sum(move.moved for move in moves)


def _results(moves: Sequence[Move]) -> int:
    return sum(move.node["bytes"] for move in moves)


def _alike(move: Move) -> Hashable:
    return move.what, move.source, move.node["types"][0], move.where


def _lines(move: Move, here: str) -> str:
    return lines(move.node["positions"], here) or NO_LINE


def _row(move: Move, here: str) -> Row:
    node = move.node
    cells: tuple[Content, ...] = (
        move.what,
        clean(move.source),
        clean(node["types"][0]),
        inline.size(node["bytes"]),
        inline.Text(f"{move.where}, {size(move.moved)} moved" if move.moved else move.where, order=move.moved),
        _place(move, here),
    )
    position = node["positions"][0] if node["positions"] else None
    return Row(cells, Ref(tuple(node["paths"]), (move.kernel,), position=position), title=clean(node["text"]))


def _place(move: Move, here: str, code: bool = False) -> Content:
    positions = move.node["positions"]
    if len(positions) != 1:
        return _lines(move, here)
    return Place(_lines(move, here), positions[0], clean(positions[0]["text"]).strip() if code else "")


def _line(moves: Sequence[Move], here: str, width: int) -> Row:
    """What one line has converted, copied and transposed; opened, those of the same types together."""
    counts = Counter(move.what for move in moves)
    told = ", ".join(plural(count, what) for what, count in counts.items())
    inner = tuple(_kind(own, width) for own in _together(moves, _alike))
    return Row((told, *_sums(moves, width), _place(moves[0], here, code=True)), _ref(moves), inner)


def _kind(moves: Sequence[Move], width: int) -> Row:
    first = moves[0]
    types = inline.code(f"{clean(first.source)} → {clean(first.node['types'][0])}")
    return Row(
        ((first.what, " ", types), *_sums(moves, width), first.where), _ref(moves), title=clean(first.node["text"])
    )


def _sums(moves: Sequence[Move], width: int) -> tuple[Content, ...]:
    """The figures of a row of so many cells; the last of them only where something is moved."""
    moved = _moved(moves)
    figures = (inline.count(len(moves)), inline.size(_results(moves)), inline.size(moved) if moved else "")
    return figures[: width - 2]


def _ref(moves: Sequence[Move]) -> Ref:
    paths = tuple(dict.fromkeys(path for move in moves for path in move.node["paths"]))
    return Ref(paths, tuple(dict.fromkeys(move.kernel for move in moves)))
