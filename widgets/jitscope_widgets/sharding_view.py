"""Which device has which part of an array, as static HTML and as text; the counterpart of sharding.ts."""

from __future__ import annotations

from .guard import Pieces, part, said
from .palette import HUES
from .plain import clean, escape
from .quantities import size
from .sentences import say
from .words import Document, plural
from .wrap import wrap


_MOST = 24
"""Devices named in a tile; how many more have that part is said."""
_TEXTURES = (("solid", ""), ("dashed", "45deg"), ("dotted", "135deg"), ("double", "0deg"))
"""The left edge of a tile, and the direction of its stripes: where the hues are used up, they begin again in the next texture."""
_PADDED = "padding:9px 14px;text-align:center;white-space:nowrap"


def headline(document: Document) -> str:
    """`x: f32[8,4] over 8 devices (data 4 × model 2), P('data', 'model'). Each device has f32[2,2], 16 B.`"""
    title = f"{clean(document['title'])}: " if document["title"] else ""
    axes = " × ".join(f"{clean(axis['name'])} {axis['size']}" for axis in document["mesh"])
    on = plural(document["devices"], "device") + (f" ({axes})" if axes else "")
    spec = f", {clean(document['spec'])}" if document["spec"] is not None else ""
    memory = document["memory"]
    kind = f", in {clean(memory)} memory" if memory not in (None, "device") else ""
    return f"{title}{clean(document['type'])} over {on}{spec}{kind}. {_each(document)}"


def _each(document: Document) -> str:
    bytes = "" if document["bytes"] is None else f", {size(document['bytes'])}"
    if document["devices"] == 1:
        return say("one device", bytes=bytes)
    if len(document["tiles"]) + document["left_out"] == 1:
        return say("replicated", bytes=bytes)
    copies = document["copies"]
    same = "" if copies == 1 else say("copies", copies=copies) if copies else say("copies differ")
    return say("cut", part=clean(document["part"]), bytes=bytes, copies=same)


def axes(document: Document) -> list[str]:
    """`axis 0 (8): 4 parts along data`, of the axes that are cut."""
    said = []
    for number, axis in enumerate(document["axes"]):
        if axis["parts"] > 1:
            along = f" along {', '.join(map(clean, axis['along']))}" if axis["along"] else ""
            said.append(say("axis cut", axis=number, size=f"{axis['size']:,}", parts=axis["parts"], along=along))
    return said


def what_is_drawn(document: Document) -> str:
    """Which axes are rows and columns, and which are not in the picture; "" where that is plain."""
    if not document["drawn"]:
        return say("not flat")
    count = len(document["axes"])
    rows, columns = document["rows"], document["columns"]
    if count <= 2:
        return ""
    rest = [str(axis) for axis in range(count) if axis not in (rows, columns)]
    return say("axes drawn", rows=rows, columns=columns, rest=", ".join(rest))


def more(document: Document) -> str:
    """How many parts the document leaves out; "" if it has all."""
    left = document["left_out"]
    return say("parts not kept", parts=plural(left, "more part")) if left else ""


def owners(tile: Document) -> str:
    """`CPU 0, 2, 4`: devices of one kind have its name once."""
    names = [clean(name) for name in tile["devices"]]
    if not names:
        return "no device"
    kind = names[0].rpartition(" ")[0]
    same = all(name.rpartition(" ")[0] == kind for name in names)
    shown = [names[0], *(name.rpartition(" ")[2] if same else name for name in names[1:_MOST])]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


# HTML ----------------------------------------------------------------------------------------------------------------


def sharding(document: Document) -> Pieces:
    """As static HTML."""
    pieces: Pieces = [said(headline(document))]
    pieces += [
        f'<p class="dim">{escape(line)}</p>' for line in ("; ".join(axes(document)), what_is_drawn(document)) if line
    ]
    draw = _grid if document["drawn"] and not document["left_out"] else _list
    pieces.append(part("the picture of its parts", lambda: draw(document)))
    if rest := more(document):
        pieces.append(f'<p class="dim">{escape(rest)}</p>')
    return pieces


def _grid(document: Document) -> str:
    rows, columns = document["rows"], document["columns"]
    at = lambda tile, axis: 0 if axis is None else tile["at"][axis]
    found = {(at(tile, rows), at(tile, columns)): (n, tile) for n, tile in enumerate(document["tiles"])}
    height, width = (1 + max(place[i] for place in found) for i in range(2))
    head = "".join(_name(found[0, c][1], columns) for c in range(width))
    corner = "" if rows is None else "<th></th>"
    body = ""
    for r in range(height):
        name = "" if rows is None else _name(found[r, 0][1], rows)
        body += f"<tr>{name}{''.join(_cell(*found[r, c]) for c in range(width))}</tr>"
    top = f"<tr>{corner}{head}</tr>" if columns is not None else ""
    return f'<div class="view"><table style="border-collapse:separate;border-spacing:3px"><tbody>{top}{body}</tbody></table></div>'


def _name(tile: Document, axis: int | None) -> str:
    """The indices of a row or column."""
    return f'<th style="{_PADDED}">{"" if axis is None else escape(clean(tile["index"][axis]))}</th>'


def _cell(number: int, tile: Document) -> str:
    hue = f"var(--h{number % len(HUES)})"
    edge, turn = _TEXTURES[number // len(HUES) % len(_TEXTURES)]
    stripes = (
        f"repeating-linear-gradient({turn},color-mix(in srgb,{hue} 24%,transparent) 0 4px,transparent 4px 11px),"
        if turn
        else ""
    )
    colours = f"border-left:6px {edge} {hue};background:{stripes}color-mix(in srgb,{hue} 20%,var(--bg))"
    return f'<td style="{_PADDED};{colours}" title="{escape(_index(tile))}">{escape(owners(tile))}</td>'


def _index(tile: Document) -> str:
    return clean(f"[{', '.join(tile['index'])}]")


def _list(document: Document) -> str:
    rows = "".join(
        f"<tr><th><code>{escape(_index(tile))}</code></th>{_cell(number, tile)}</tr>"
        for number, tile in enumerate(document["tiles"])
    )
    return f'<div class="view"><table style="border-collapse:separate;border-spacing:3px"><tbody><tr><th>part</th><th>devices</th></tr>{rows}</tbody></table></div>'


# Text ----------------------------------------------------------------------------------------------------------------


def sharding_text(document: Document, width: int) -> list[str]:
    """As lines of text."""
    lines = wrap(headline(document), width, "  ")
    for line in (*axes(document), what_is_drawn(document)):
        lines += wrap(f"  {line}", width, "    ") if line else []
    drawing = [clean(line) for line in document["drawing"]]
    if drawing and len(drawing) <= 60 and max(map(len, drawing)) + 2 <= width:
        lines += [f"  {line}" for line in drawing]
    else:
        for tile in document["tiles"][:64]:
            lines += wrap(f"  {_index(tile)}  {owners(tile)}", width, "      ")
        shown = len(document["tiles"]) - 64
        lines += [f"  and {plural(shown, 'more part')}"] if shown > 0 else []
    return lines + (wrap(f"  {more(document)}", width, "    ") if more(document) else [])
