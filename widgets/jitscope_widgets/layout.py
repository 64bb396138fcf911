"""Where everything of a graph stands in a still picture: a layered layout per scope, data flowing from top to bottom.

Open scopes are laid out first and then take part in the level round them as one large item. A value that enters or
leaves an open scope does so at a port on its border, so an edge is drawn in pieces that meet there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from itertools import pairwise

from .label_places import places
from .layers import Item, Level, Link, Node, Port, arrange
from .scopes import Scopes


HULL_SIDE = 14.0
HULL_CAPTION = 23.0
HULL_HEAD = 42.0
HULL_FOOT = 14.0
LABEL_HEIGHT = 15.0
GAP = 34.0
TIGHT_GAP = 24.0
MARGIN = 12.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    """What a closed node needs: its box, and the label written right below it, beside the line that leaves it."""

    width: float
    height: float
    label: float = 0.0


@dataclass(slots=True)
class Box:
    """A node in the picture; `open` ones hold others."""

    ident: str
    x: float
    y: float
    width: float
    height: float
    open: bool = False
    depth: int = 0


@dataclass(slots=True)
class Route:
    """A piece of an edge, from one border to another; straight between points with the same x, curved between others."""

    value: str
    points: list[Point]
    arrow: bool


@dataclass(slots=True)
class Picture:
    """Boxes (outer ones before those in them), routes, and the place of the label of each box that has one."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    labels: dict[str, Point] = field(default_factory=dict)


@dataclass(slots=True)
class _Arrangement:
    """A scope laid out with its upper left corner at (0, 0); ports by value, as x on the upper or lower border."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    labels: dict[str, Point] = field(default_factory=dict)
    entries: dict[str, float] = field(default_factory=dict)
    exits: dict[str, float] = field(default_factory=dict)


def layout(
    scopes: Scopes, opened: Collection[str], measure: Callable[[str], Size], head: Callable[[str], float]
) -> Picture:
    """Lay out a graph with the scopes `opened` drawn open; one that was laid out before is taken again.

    `measure` tells the size of a closed node, `head` the width of the caption of an open scope.
    """
    sizes = {ident: measure(ident) for ident in scopes.nodes if _is_drawn(ident, scopes, opened)}
    heads = {ident: head(ident) for ident in sizes if ident in opened}
    ends = tuple((edge["from"], edge["to"]) for edge in scopes.edges)
    key = tuple(scopes.parent.items()), ends, tuple(sizes.items()), tuple(heads.items())
    if key not in _known:
        _known[key] = _laid_out(scopes, opened, sizes.__getitem__, heads.__getitem__)
        while len(_known) > 1 and sum(len(one.boxes) + len(one.routes) for one in _known.values()) > _ROOM:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


_ROOM = 20_000  # boxes and routes that are remembered
_known: OrderedDict[Hashable, Picture] = OrderedDict()
"""Cells run again and again, and their graphs stay; they differ in where they were written, which moves no box."""


def _is_drawn(ident: str, scopes: Scopes, opened: Collection[str]) -> bool:
    outer = scopes.parent[ident]
    return all(one in opened for one in scopes.outwards(outer))


def _laid_out(
    scopes: Scopes, opened: Collection[str], measure: Callable[[str], Size], head: Callable[[str], float]
) -> Picture:
    links = _links(scopes, opened)
    done: dict[str, _Arrangement] = {}
    for scope in _inner_first(scopes, opened):
        done[scope] = _arranged(scope, scopes, links.get(scope, {}), done, measure, head(scope))
    whole = _arranged(None, scopes, links.get(None, {}), done, measure, 0.0)
    picture = Picture(whole.width, whole.height, whole.boxes, whole.routes, whole.labels)
    for box in picture.boxes:
        box.depth = sum(1 for _ in scopes.outwards(box.ident)) - 1
        box.x, box.y, box.width, box.height = round(box.x), round(box.y), round(box.width), round(box.height)
    picture.boxes.sort(key=lambda box: box.depth)
    return picture


# --- which pieces of edges there are in which scope -------------------------------------------------------------------


def _links(scopes: Scopes, opened: Collection[str]) -> dict[str | None, dict[Link, None]]:
    """The links to draw within each scope, from and to its ports where a value crosses its border."""
    links: dict[str | None, dict[Link, None]] = {}
    for edge in scopes.edges:
        up = _visible(scopes, edge["from"], opened)
        value = up[0]  # all that comes from one closed box is one line
        down = _visible(scopes, edge["to"], opened)
        common = next((scope for scope in up if scope in down), None)
        outward = up[: up.index(common)] if common is not None else up
        inward = down[: down.index(common)] if common is not None else down
        for inner, outer in pairwise(outward):
            links.setdefault(outer, {})[Link(inner, Port("out", value), value)] = None
        for inner, outer in pairwise(inward):
            links.setdefault(outer, {})[Link(Port("in", value), inner, value)] = None
        if outward and inward:
            links.setdefault(common, {})[Link(outward[-1], inward[-1], value)] = None
        elif inward:
            links.setdefault(common, {})[Link(Port("in", value), inward[-1], value)] = None
        elif outward:
            links.setdefault(common, {})[Link(outward[-1], Port("out", value), value)] = None
    return links


def _visible(scopes: Scopes, ident: str, opened: Collection[str]) -> list[str]:
    """The drawn box that stands for a node, and the open scopes round it, from the inside out."""
    chain = list(scopes.outwards(ident))
    for at in range(len(chain) - 1, 0, -1):
        if chain[at] not in opened:
            return chain[at:]
    return chain


def _inner_first(scopes: Scopes, opened: Collection[str]) -> list[str]:
    order: list[str] = []
    todo = [ident for ident in scopes.members[None] if ident in opened]
    while todo:
        scope = todo.pop()
        order.append(scope)
        todo += [ident for ident in scopes.members.get(scope, ()) if ident in opened]
    return order[::-1]


# --- one scope --------------------------------------------------------------------------------------------------------


def _arranged(
    scope: str | None,
    scopes: Scopes,
    links: dict[Link, None],
    done: dict[str, _Arrangement],
    measure: Callable[[str], Size],
    head: float,
) -> _Arrangement:
    members = scopes.members.get(scope, [])
    sizes = {
        ident: Size(done[ident].width, done[ident].height) if ident in done else measure(ident) for ident in members
    }
    entries = list(dict.fromkeys(link.source for link in links if isinstance(link.source, Port)))
    exits = list(dict.fromkeys(link.target for link in links if isinstance(link.target, Port)))
    extent: dict[Node, tuple[float, float]] = {ident: _extent(size) for ident, size in sizes.items()}
    extent |= dict.fromkeys([*entries, *exits], (5.0, 5.0))
    leaves = {link: _offset(done, link.source, link.value, "exits") for link in links}
    arrives = {link: _offset(done, link.target, link.value, "entries") for link in links}
    results = [ident for ident in members if scopes.nodes[ident]["kind"] == "output"]
    level = arrange(members, links, extent, first=entries, last=exits, results=results, leaves=leaves, arrives=arrives)
    return _Sheet(scope is not None, level, sizes, extent, done, head).arrangement()


def _offset(done: dict[str, _Arrangement], item: Node, value: str, side: str) -> float:
    """How far from the middle of an open scope a value crosses its border."""
    scope = done.get(item) if isinstance(item, str) else None
    ports: dict[str, float] = getattr(scope, side, {})
    return ports[value] - scope.width / 2 if scope and value in ports else 0.0


def _extent(size: Size) -> tuple[float, float]:
    return size.width / 2, max(size.width / 2, size.label + 8.0)


class _Sheet:
    """The level of one scope put on paper; `hull` unless it is the whole graph."""

    def __init__(
        self,
        hull: bool,
        level: Level,
        sizes: dict[str, Size],
        extent: dict[Node, tuple[float, float]],
        done: dict[str, _Arrangement],
        head: float,
    ):
        self.hull = hull
        self.level = level
        self.sizes = sizes
        self.done = done
        self.side, self.head, self.foot = (HULL_SIDE, HULL_HEAD, HULL_FOOT) if hull else (MARGIN, MARGIN, MARGIN)
        reach = {item: extent[item] if isinstance(item, str | Port) else (6.0, 6.0) for item in level.x}
        left = min((x - reach[item][0] for item, x in level.x.items()), default=0.0)
        right = max((x + reach[item][1] for item, x in level.x.items()), default=0.0)
        self.x = {item: x - left + self.side for item, x in level.x.items()}
        self.width = max(right - left, head) + 2 * self.side
        if hull:
            self._clear_of_caption(self.side + head)
        self.fed = {link.target for link in level.ways}
        giving = {link.source for link in level.ways}
        self.labelled = {ident for ident in sizes if sizes[ident].label and (ident in giving or ident not in self.fed)}
        self.tops, self.bottoms = self._bands()

    def _bands(self) -> tuple[list[float], list[float]]:
        """The upper and lower edge of each layer; a layer of ports is a border of the hull."""
        tops: list[float] = []
        bottoms: list[float] = []
        y = self.head
        for layer in self.level.layers:
            if layer and isinstance(layer[0], Port) and layer[0].side == "in":
                tops.append(0.0)
                bottoms.append(HULL_CAPTION)
                continue
            tops.append(y)
            bottoms.append(y + max((self.sizes[item].height for item in layer if isinstance(item, str)), default=0.0))
            y = bottoms[-1] + (GAP if self._has_labels(layer) else TIGHT_GAP)
        return tops, bottoms

    def _clear_of_caption(self, caption: float) -> None:
        """Values come in to the right of the caption."""
        free = caption + 8.0
        for item in self.level.layers[0] if self.level.layers else ():
            if isinstance(item, Port) and item.side == "in":
                self.x[item] = max(self.x[item], free)
                free = self.x[item] + 10.0
                self.width = max(self.width, free)

    def _has_labels(self, layer: list[Item]) -> bool:
        return any(item in self.labelled for item in layer)

    def _height(self) -> float:
        if not self.level.layers:
            return self.head + self.foot
        last = self.level.layers[-1]
        if any(isinstance(item, Port) for item in last):
            return self.bottoms[-1]
        return self.bottoms[-1] + self.foot + (LABEL_HEIGHT if self._has_labels(last) else 0.0)

    def arrangement(self) -> _Arrangement:
        """Boxes, labels, ports and routes of this scope, with those of the open scopes in it."""
        whole = _Arrangement(self.width, self._height())
        place: dict[Item, Box] = {}
        for at, layer in enumerate(self.level.layers):
            for item in layer:
                if isinstance(item, str):
                    place[item] = self._box(item, at, whole)
                elif isinstance(item, Port):
                    ports = whole.entries if item.side == "in" else whole.exits
                    ports[item.value] = self.x[item]
        self._route(whole, place)
        self._write(whole, place)
        return whole

    def _write(self, whole: _Arrangement, place: dict[Item, Box]) -> None:
        """The labels of this scope, beside its lines and what is written in others."""
        own = [box for box in place.values() if box.ident in self.labelled]
        labels = {
            box.ident: ((self.x[box.ident], box.y + box.height + 13.0), self.sizes[box.ident].label) for box in own
        }
        taken = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in whole.boxes]
        whole.labels |= places(labels, [route.points for route in whole.routes], taken)

    def _box(self, ident: str, layer: int, whole: _Arrangement) -> Box:
        size, inner = self.sizes[ident], self.done.get(ident)
        top = self.tops[layer] if ident in self.fed else self.bottoms[layer] - size.height
        box = Box(ident, self.x[ident] - size.width / 2, top, size.width, size.height, inner is not None)
        whole.boxes.append(box)
        if inner:
            _take_in(whole, inner, box)
        return box

    def _route(self, whole: _Arrangement, place: dict[Item, Box]) -> None:
        slots = self._slots(place)
        layer_of = {item: at for at, layer in enumerate(self.level.layers) for item in layer}
        drawn: set[tuple[Item, Item]] = set()
        for link, way in self.level.ways.items():
            stops: list[Item] = [link.source, *way, link.target]
            start = max((at for at in range(1, len(stops) - 1) if (stops[at - 1], stops[at]) in drawn), default=0)
            drawn.update(pairwise(stops))
            points: list[Point] = []
            for stop in stops[start:]:
                top, bottom, at = self.tops[layer_of[stop]], self.bottoms[layer_of[stop]], self.x[stop]
                if stop == link.source:
                    at, leave = self._leaving(stop, link.value, place)
                    points += [(at, leave), (at, bottom)]
                elif stop == link.target:
                    at, arrive = slots.get(link, (at, top))
                    points += [(at, top), (at, arrive)]
                else:
                    points += [(at, top), (at, bottom)]
            inner = self.done.get(link.target) if isinstance(link.target, str) else None
            arrow = isinstance(link.target, str) and not (inner and link.value in inner.entries)
            whole.routes.append(Route(link.value, points[1:] if start else points, arrow))

    def _leaving(self, item: Item, value: str, place: dict[Item, Box]) -> Point:
        box = place.get(item)
        if box is None:
            return self.x[item], self.tops[0]
        inner = self.done.get(box.ident)
        if inner and value in inner.exits:
            return box.x + inner.exits[value], box.y + box.height
        return self.x[item], box.y + box.height

    def _slots(self, place: dict[Item, Box]) -> dict[Link, Point]:
        """Where each link arrives: at its port, or side by side in the order in which the links come."""
        slots: dict[Link, Point] = {}
        arriving: dict[Item, list[Link]] = {}
        for link in self.level.ways:
            box = place.get(link.target)
            inner = self.done.get(box.ident) if box else None
            if box and inner and link.value in inner.entries:
                slots[link] = (box.x + inner.entries[link.value], box.y)
            elif box:
                arriving.setdefault(link.target, []).append(link)
        for target, links in arriving.items():
            box = place[target]
            links.sort(key=lambda link: self.x[self.level.ways[link][-1] if self.level.ways[link] else link.source])
            step = min(14.0, (box.width - 12.0) / len(links))
            for at, link in enumerate(links):
                slots[link] = (self.x[target] + (at - (len(links) - 1) / 2) * step, box.y)
        return slots


def _take_in(whole: _Arrangement, inner: _Arrangement, box: Box) -> None:
    for part in inner.boxes:
        part.x += box.x
        part.y += box.y
    for route in inner.routes:
        route.points = [(x + box.x, y + box.y) for x, y in route.points]
    whole.boxes += inner.boxes
    whole.routes += inner.routes
    whole.labels |= {ident: (x + box.x, y + box.y) for ident, (x, y) in inner.labels.items()}


def outline(points: list[Point]) -> list[Point]:
    """The points of a route on whole pixels, without those in the middle of a straight part."""
    kept: list[Point] = []
    for x, y in points:
        point = (round(x), round(y))
        if len(kept) > 1 and kept[-1][0] == kept[-2][0] == point[0]:
            kept[-1] = point
        elif not kept or kept[-1] != point:
            kept.append(point)
    return kept
