"""A laid-out graph as SVG elements.

Inputs and outputs are pills, a fusion is a hull round its operations, a library call has a double border at its sides, a
closed scope looks like a stack, constants and broadcasts are small. A stripe at the left has the hue of the source line,
the number at the right is that line.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from . import words
from .escapes import clean, columns, escape, shorten
from .layout import Box, Picture, Point, Route, Size, outline
from .looks import Shape, is_backward, label_of, second_line, shape_of
from .palette import HUES, hue_of, light
from .scopes import Scopes
from .svg_style import CLASS, svg_style
from .words import Document, plural
from .wrap import wrap


LABEL_SIZE, SMALL_SIZE = 13, 11
_ADVANCE = 0.61  # of the code font, in em; a little more than the widest of those asked for
_LONGEST_TYPES = 32
_LONGEST_HOVER = 160

Hues = Mapping[tuple[str, int], int]


def line_hues(*graphs: Document) -> dict[tuple[str, int], int]:
    """The source lines of some graphs, each with its place in the order of hues."""
    found = {
        (place["cell"], place["file"], place["line"]): place
        for graph in graphs
        for node in graph["nodes"]
        for place in node["positions"]
    }
    lines = {(words.home(place), place["line"]) for place in found.values()}
    return {line: order for order, line in enumerate(sorted(lines))}


def with_counterparts(hues: Hues, one: Document, other: Document) -> Hues:
    """The hues of two programs' lines, where a line of the `other` source has that of the line with which it has most equations in common."""
    before, after = _lines_of_nodes(one), _lines_of_nodes(other)
    votes = Counter((was, line) for node, lines in after.items() for line in lines for was in before.get(node, ()))
    found, taken = dict(hues), set[tuple[str, int]]()
    for (was, line), _ in votes.most_common():
        if was in taken or line in taken:
            continue
        taken |= {was, line}
        if was in hues:
            found[line] = hues[was]
    return found


def _lines_of_nodes(source: Document) -> dict[str, list[tuple[str, int]]]:
    """The lines in which the nodes of a graph were written, by their names."""
    found: dict[str, list[tuple[str, int]]] = {}
    for mark in source["marks"]:
        function = source["functions"][source["calls"][mark["call"]]["function"]]
        for node in mark["nodes"]:
            found.setdefault(node, []).append((words.home_of(function), mark["line"]))
    return found


def sentence(said: str, styled: bool) -> str:
    """A picture that only says something."""
    lines = wrap(said, 76)
    width, height = max(text_width(line, LABEL_SIZE) for line in lines) + 24, 22 * len(lines) + 16
    shown = "".join(f'<text x="12" y="{24 + 22 * at}">{escape(line)}</text>\n' for at, line in enumerate(lines))
    return _sheet(width, height, escape(said), "", f'<g class="w" fill="{light("fg")}">{shown}</g>', styled)


def text_width(text: str, size: float) -> float:
    """How wide `text` is in the code font, estimated."""
    return columns(text) * size * _ADVANCE


@dataclass(frozen=True)
class _Look:
    """How a node is written when it is not open."""

    label: str
    second: str  # below the label
    lines: str
    shape: Shape

    @property
    def small(self) -> bool:
        return self.shape.font == SMALL_SIZE


class Painter:
    """Knows how large the nodes of a graph are, and draws them once they have their places."""

    def __init__(self, scopes: Scopes, hues: Hues, hover: bool = True, types: bool = True, whole: Scopes | None = None):
        self.scopes = scopes
        self.whole = scopes if whole is None else whole  # what is counted: of equal blocks, only one may be drawn
        self.hues = hues
        self.hover = hover
        self.types = types
        self._looks: dict[str, _Look] = {}

    def look(self, ident: str) -> _Look:
        """How a node is written when it is closed."""
        if ident not in self._looks:
            node = self.scopes.nodes[ident]
            lines = _line_numbers({place["line"] for place in node["positions"]})
            shape = shape_of(node, ident in self.scopes.members)
            self._looks[ident] = _Look(label_of(node), self._second(ident), lines, shape)
        return self._looks[ident]

    def _second(self, ident: str) -> str:
        return second_line(self.scopes.nodes[ident], self._counted(ident))

    def _counted(self, ident: str) -> Scopes:
        return self.whole if ident in self.whole.members else self.scopes

    # --- sizes, for the layout ------------------------------------------------------------------------------------

    def size(self, ident: str) -> Size:
        """What a closed node needs on the sheet."""
        look = self.look(ident)
        width = text_width(look.label, look.shape.font)
        width += text_width(look.lines, SMALL_SIZE) + 6 if look.lines else 0
        width = max(width, text_width(look.second, SMALL_SIZE)) + look.shape.pad
        types = _types(self.scopes.nodes[ident]) if self.types else ""
        return Size(max(width, 32.0), look.shape.height, text_width(types, SMALL_SIZE) if types else 0.0)

    def head(self, ident: str) -> float:
        """The width of the caption of an open scope."""
        return text_width(self._caption(ident), SMALL_SIZE) + 4

    def _caption(self, ident: str) -> str:
        node = self.scopes.nodes[ident]
        lines = self.look(ident).lines
        label = label_of(node)
        if node["kind"] == "fusion":
            label = f"{label} of {self._counted(ident).work(ident):,}"
        elif node["kind"] == "group":
            label = f"{label} · {self.look(ident).second}"
        if not lines:
            return label
        return f"{label} · line{'' if lines.isdigit() else 's'} {lines}"

    # --- the sheet ------------------------------------------------------------------------------------------------

    def paint(self, graph: Document, picture: Picture, remark: str, styled: bool) -> str:
        """The whole picture; `remark` is written below it."""
        notes = wrap(remark, max(30, int((picture.width - 24) / (SMALL_SIZE * _ADVANCE)))) if remark else []
        width = max(picture.width, max((text_width(note, SMALL_SIZE) + 24 for note in notes), default=0))
        height = picture.height + 16 * len(notes) + (8 if notes else 0)
        below = "".join(
            f'<text class="s" x="12" y="{picture.height + 12 + 16 * at:.0f}" fill="{light("dim")}" font-size="11">'
            f"{escape(note)}</text>\n"
            for at, note in enumerate(notes)
        )
        level = "jaxpr" if graph["level"] == "jaxpr" else "HLO"
        drawn = self._hulls(picture) + self._edges(picture) + self._shapes(picture) + self._stripes(picture)
        drawn += self._marked(picture) + self._words(picture) + self._types(picture) + below
        return _sheet(
            width, height, f"{escape(graph['title'])}: {level} graph", escape(self._described()), drawn, styled
        )

    def _described(self) -> str:
        whole = self.whole
        kinds = Counter(node["kind"] for node in whole.nodes.values())
        outer = Counter(node["kind"] for ident, node in whole.nodes.items() if whole.is_outermost(ident))
        parts = [plural(whole.operations(whole.nodes), "equation" if whole.level == "jaxpr" else "operation")]
        parts += [plural(outer["input"], "input"), plural(outer["output"], "output")]
        parts += [plural(kinds["fusion"], "fusion")] if kinds["fusion"] else []
        parts += [plural(kinds["library"], "library call")] if kinds["library"] else []
        return ", ".join(parts) + ". Data flows from top to bottom."

    def _hulls(self, picture: Picture) -> str:
        """Open scopes, outer ones first: fusions as rounded hulls, others as frames."""
        hulls = [box for box in picture.boxes if box.open]
        shapes: list[str] = []
        for box in hulls:
            fill, stroke = ("hull", "round") if self._kind(box) == "fusion" else ("frame", "edge")
            shape = f"{self._told(box.ident)}{_rect(box, self._corner(box))}"
            shapes.append(f'<g class="{_CLASSES[fill]}" fill="{light(fill)}" stroke="{light(stroke)}">{shape}</g>')
        captions = "".join(_text(box.x + 14, box.y + 19, self._caption(box.ident)) for box in hulls)
        return f'{"".join(shapes)}<g class="s" {_SMALL} pointer-events="none">{captions}</g>' if hulls else ""

    def _corner(self, box: Box) -> int:
        return 10 if self._kind(box) == "fusion" else 3

    def _edges(self, picture: Picture) -> str:
        sizes: dict[str, int] = {}
        for edge in self.scopes.edges:
            for ident in self.scopes.outwards(edge["from"]):
                sizes[ident] = max(sizes.get(ident, 0), edge["bytes"])
        by_width: dict[float, list[str]] = {}
        for route in picture.routes:
            by_width.setdefault(_edge_width(sizes.get(route.value, 0)), []).append(_path(route))
        lines = "".join(
            f'<path stroke-width="{width:g}" d="{"".join(drawn)}"/>' for width, drawn in sorted(by_width.items())
        )
        return f'<g class="e" fill="none" stroke="{light("edge")}">{lines}</g>{self._arrows(picture)}'

    def _arrows(self, picture: Picture) -> str:
        tips = [_arrow(route.points[-1]) for route in picture.routes if route.arrow]
        return f'<path class="a" fill="{light("edge")}" d="{"".join(tips)}"/>' if tips and self.hover else ""

    def _shapes(self, picture: Picture) -> str:
        shapes: dict[tuple[str, str], list[str]] = {}
        for box in picture.boxes:
            if not box.open:
                told = f"<g>{self._told(box.ident)}{self._shape(box)}</g>" if self.hover else self._outline(box)
                dashed = _DASHED if is_backward(self.scopes.nodes[box.ident]) else ""
                shapes.setdefault((self._fill(box), dashed), []).append(told)
        return "".join(
            f'<g {_paper(fill)} stroke="{light("round" if fill == "hull" else "edge")}"{dashed}>'
            f"{''.join(drawn) if self.hover else _one_path(drawn)}</g>"
            for (fill, dashed), drawn in shapes.items()
        )

    def _fill(self, box: Box) -> str:
        if self._kind(box) == "library":
            return "library"
        mark = self.scopes.nodes[box.ident].get("mark")
        if mark in _CHANGED:
            return _CHANGED[mark]
        fused = self._kind(box) == "fusion" or self.scopes.nodes[box.ident]["fused_into"] is not None
        return "hull" if fused else "box"

    def _outline(self, box: Box) -> str:
        """A shape as part of one long path: a third of the size of an element of its own."""
        x, y, width, height = box.x, box.y, box.width, box.height
        if self._is_pill(box):
            bend = f"a{height / 2:g} {height / 2:g} 0 0 1 0 "
            return f"M{x + height / 2:g} {y}h{width - height}{bend}{height}h{height - width}{bend}{-height}"
        inner = f"M{x + 6} {y}v{height}M{x + width - 6} {y}v{height}" if self._kind(box) == "library" else ""
        return f"M{x} {y}h{width}v{height}h{-width}z{inner}"

    def _shape(self, box: Box) -> str:
        if self._is_pill(box):
            return _rect(box, box.height / 2)
        if self._kind(box) == "library":
            return f'<path d="{self._outline(box)}"/>'
        if box.ident in self.scopes.members:
            return _rect(Box(box.ident, box.x + 4, box.y - 4, box.width, box.height), 4) + _rect(box, 4)
        return _rect(box, 4)

    def _words(self, picture: Picture) -> str:
        written: dict[bool, list[str]] = {False: [], True: []}
        for box in picture.boxes:
            if not box.open:
                look = self.look(box.ident)
                number = self._number(look.lines) if look.lines else ""
                x, middle = box.x + look.shape.pad / 2, box.y + box.height / 2
                written[look.small].append(_text(x, middle - 3 if look.second else middle + 4.5, look.label, number))
                if look.second:
                    written[True].append(_text(x, middle + 13, look.second))
        return (
            f'<g class="w" fill="{light("fg")}" pointer-events="none">{"".join(written[False])}</g>'
            f'<g class="s" {_SMALL} pointer-events="none">{"".join(written[True])}</g>'
        )

    def _number(self, lines: str) -> str:
        return f'<tspan class="n" dx="6">{lines}</tspan>' if self.hover else f"\u00a0{lines}"

    def _marked(self, picture: Picture) -> str:
        """A thick border round what an error depends on, and another round where it is."""
        drawn: dict[str, list[str]] = {}
        for box in picture.boxes:
            mark = self.scopes.nodes[box.ident].get("mark")
            if mark in _MARKS and not box.open:
                drawn.setdefault(mark, []).append(self._outline(box))
        return "".join(
            f'<path fill="none" stroke="{light(_MARKS[mark])}" style="stroke:var(--{_MARKS[mark]})" stroke-width="2.5" d="{"".join(paths)}"/>'
            for mark, paths in sorted(drawn.items())
        )

    def _stripes(self, picture: Picture) -> str:
        by_hue: dict[tuple[int, bool], list[str]] = {}
        for box in picture.boxes:
            found = {(words.home(place), place["line"]) for place in self.scopes.nodes[box.ident]["positions"]}
            orders = sorted(self.hues[line] for line in found if line in self.hues)[:4]
            inset = 12 if box.open else box.height / 2 - 4 if self._is_pill(box) else 2
            part = (box.height - 2 * inset) / max(len(orders), 1)
            for at, order in enumerate(orders):
                drawn = f"M{box.x + 3:.0f} {box.y + inset + at * part:.0f}v{part:.0f}"
                by_hue.setdefault(hue_of(order), []).append(drawn)
        return "".join(
            f'<path class="h{hue}" fill="none" stroke="{HUES[hue][0]}" stroke-width="4"{_BROKEN if broken else ""} '
            f'd="{"".join(drawn)}"/>'
            for (hue, broken), drawn in sorted(by_hue.items())
        )

    def _kind(self, box: Box) -> str:
        return self.scopes.nodes[box.ident]["kind"]

    def _is_pill(self, box: Box) -> bool:
        return self._kind(box) in ("input", "output")

    def _types(self, picture: Picture) -> str:
        """The types below the nodes, on a halo of the colour of what is round them."""
        written: dict[str, list[str]] = {}
        for ident, (x, y) in picture.labels.items():
            scope = self.scopes.parent[ident]
            paper = "bg" if scope is None else "hull" if self.scopes.nodes[scope]["kind"] == "fusion" else "frame"
            written.setdefault(paper, []).append(_text(x, y, _types(self.scopes.nodes[ident])))
        return "".join(
            f'<g class="s t {_CLASSES[paper]}" {_SMALL} stroke="{light(paper)}" stroke-width="4" stroke-linejoin="round" '
            f'paint-order="stroke">{"".join(texts)}</g>'
            for paper, texts in sorted(written.items())
        )

    def _told(self, ident: str) -> str:
        """What the pointer is told over a node: its line of the program, and where it stems from."""
        if not self.hover:
            return ""
        node = self.scopes.nodes[ident]
        types = ", ".join(clean(kind) for kind in node["types"])
        said = [clean(node["text"].strip()) or f"{clean(node['label'])}: {types}"]
        said += [f"became part of {clean(node['fused_into'])}"] if node["fused_into"] else []
        said += [f"{words.where(place)}: {clean(place['text'].strip())}" for place in node["positions"][:3]]
        if len(node["positions"]) > 3:
            said.append(f"and {plural(len(node['positions']) - 3, 'more place')}")
        return f"<title>{'&#10;'.join(escape(shorten(line, _LONGEST_HOVER)) for line in said)}</title>\n"


def _line_numbers(numbers: set[int]) -> str:
    """`2-4, 7`; of many, the first and the last."""
    shown = words.runs(numbers)
    return shown if len(shown) <= 12 else f"{min(numbers)} … {max(numbers)}"


_MARKS = {"path": "bar", "stop": "bad"}


def _paper(fill: str) -> str:
    """The attributes of boxes of a colour."""
    own = "" if fill in _CLASSES else f' style="fill:var(--{fill})"'
    return f'class="{_CLASSES.get(fill, "b")}" fill="{light(fill)}"{own}'


_CHANGED = {"removed": "before", "added": "after"}  # a mark, and the paper of its box
_CLASSES = {"bg": "p", "box": "b", "hull": "h", "frame": "r", "library": "l"}
_SMALL = f'fill="{light("dim")}" font-size="{SMALL_SIZE}"'
_DASHED = ' stroke-dasharray="6 2"'
_BROKEN = ' stroke-dasharray="3 2"'


def _sheet(width: float, height: float, title: str, described: str, drawn: str, styled: bool) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{CLASS}" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="{LABEL_SIZE}">'
        f"<title>{title}</title>\n"
        + (f"<desc>{described}</desc>\n" if described else "")
        + (f"<style>{svg_style()}</style>" if styled else "")
        + f'<rect class="p" width="100%" height="100%" fill="{light("bg")}"/>{drawn}</svg>'
    )


def _edge_width(size: int) -> float:
    """1 for a scalar, a quarter more with every factor of ten, at most 3."""
    return min(3.0, 1.0 + 0.25 * round(math.log10(max(size, 4) / 4)))


def _types(node: Document) -> str:
    """The types of a node's values, each as often as it follows itself, and how many more there are than there is room for."""
    runs = [(shorten(clean(kind), _LONGEST_TYPES), len([*same])) for kind, same in itertools.groupby(node["types"])]
    told = [f"{kind} ×{count}" if count > 1 else kind for kind, count in runs]
    while len(told) > 1 and len(", ".join(told)) > _LONGEST_TYPES:
        told.pop()
    more = sum(count for _, count in runs[len(told) :])
    return ", ".join([*told, f"{more} more"] if more else told)


def _text(x: float, y: float, said: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}">{escape(said)}{more}</text>\n'


def _rect(box: Box, radius: float) -> str:
    corner = f' rx="{radius:g}"' if radius else ""
    return f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}"{corner}/>'


def _one_path(outlines: list[str]) -> str:
    return f'<path d="{"".join(outlines)}"/>'


def _path(route: Route) -> str:
    (x, y), *rest = outline(route.points)
    drawn = [f"M{x} {y}"]
    for next_x, next_y in rest:
        right, down = next_x - x, next_y - y
        drawn.append(f"v{down}" if not right else f"c0 {down // 2} {right} {down // 2} {right} {down}")
        x, y = next_x, next_y
    return "".join(drawn).replace(" -", "-")


def _arrow(tip: Point) -> str:
    return f"M{tip[0]:.0f} {tip[1]:.0f}l-3-6h6z"
