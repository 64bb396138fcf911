"""Which device has which part of an array."""

from __future__ import annotations

from collections.abc import Iterator

from ..documents.annotations import ShardingDocument, Tile
from ..escapes import clean
from ..quantities import size
from ..view.parts import Part, Sentence, Tiles
from ..words import plural


NAME = "Sharding"
_MOST = 24
"""Devices named in a tile; how many more have that part is said."""


def view(document: ShardingDocument) -> Iterator[Part]:
    """The parts of a sharding document."""
    yield Sentence(headline(document), "headline")
    for line in ("; ".join(axes(document)), what_is_drawn(document)):
        if line:
            yield Sentence(line, "note")
    yield _grid(document) if document["drawn"] and not document["left_out"] else _list(document)
    if rest := more(document):
        yield Sentence(rest, "note")


def headline(document: ShardingDocument) -> str:
    """`x: f32[8,4] over 8 devices (data 4 × model 2), P('data', 'model'). Each device has f32[2,2], 16 B.`"""
    title = f"{clean(document['title'])}: " if document["title"] else ""
    names = " × ".join(f"{clean(axis['name'])} {axis['size']}" for axis in document["mesh"])
    on = plural(document["devices"], "device") + (f" ({names})" if names else "")
    spec = f", {clean(document['spec'])}" if document["spec"] is not None else ""
    memory = document["memory"]
    kind = f", in {clean(memory)} memory" if memory not in (None, "device") else ""
    return f"{title}{clean(document['type'])} over {on}{spec}{kind}. {_each(document)}"


def _each(document: ShardingDocument) -> str:
    bytes = "" if document["bytes"] is None else f", {size(document['bytes'])}"
    if document["devices"] == 1:
        return f"It is whole on that device{bytes}."
    if len(document["tiles"]) + document["left_out"] == 1:
        return f"It is replicated: each device has all of it{bytes}."
    copies = document["copies"]
    several = f"; each part is on {copies} devices" if copies else "; some parts are on more devices than others"
    return f"Each device has {clean(document['part'])}{bytes}{'' if copies == 1 else several}."


def axes(document: ShardingDocument) -> list[str]:
    """`axis 0 (8): 4 parts along data`, of the axes that are cut."""
    said = []
    for number, axis in enumerate(document["axes"]):
        if axis["parts"] > 1:
            along = f" along {', '.join(map(clean, axis['along']))}" if axis["along"] else ""
            said.append(f"axis {number} ({axis['size']:,}): {axis['parts']} parts{along}")
    return said


def what_is_drawn(document: ShardingDocument) -> str:
    """Which axes are rows and columns, and which are not in the picture; "" where that is plain."""
    if not document["drawn"]:
        return "More than two axes are cut, which no flat picture shows: these are the parts."
    rows, columns = document["rows"], document["columns"]
    if len(document["axes"]) <= 2:
        return ""
    rest = [str(axis) for axis in range(len(document["axes"])) if axis not in (rows, columns)]
    return f"Rows are axis {rows}, columns axis {columns}; not cut, and not drawn: axis {', '.join(rest)}."


def more(document: ShardingDocument) -> str:
    """How many parts the document leaves out; "" if it has all."""
    left = document["left_out"]
    return f"{plural(left, 'more part')} not kept in this document." if left else ""


def owners(tile: Tile) -> str:
    """`CPU 0, 2, 4`: devices of one kind have its name once."""
    names = [clean(name) for name in tile["devices"]]
    if not names:
        return "no device"
    kind = names[0].rpartition(" ")[0]
    same = all(name.rpartition(" ")[0] == kind for name in names)
    shown = [names[0], *(name.rpartition(" ")[2] if same else name for name in names[1:_MOST])]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def _grid(document: ShardingDocument) -> Tiles:
    rows, columns = document["rows"], document["columns"]
    at = lambda tile, axis: 0 if axis is None else tile["at"][axis]
    found = {(at(tile, rows), at(tile, columns)): tile for tile in document["tiles"]}
    height, width = (1 + max(place[i] for place in found) for i in range(2))
    name = lambda tile, axis: clean(tile["index"][axis])
    return Tiles(
        "Which device has which part",
        () if columns is None else tuple(name(found[0, c], columns) for c in range(width)),
        () if rows is None else tuple(name(found[r, 0], rows) for r in range(height)),
        tuple((at(t, rows), at(t, columns), owners(t), index(t)) for t in document["tiles"]),
        tuple(map(clean, document["drawing"])),
    )


def _list(document: ShardingDocument) -> Tiles:
    tiles = tuple((row, 0, owners(tile), index(tile)) for row, tile in enumerate(document["tiles"]))
    names = tuple(said for _, _, _, said in tiles)
    return Tiles("Which devices have which part", ("devices",), names, tiles, tuple(map(clean, document["drawing"])))


def index(tile: Tile) -> str:
    """`[0:2, 4:8]`"""
    return clean(f"[{', '.join(tile['index'])}]")
