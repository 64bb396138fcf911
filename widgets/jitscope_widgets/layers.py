"""One level of a layered drawing: items in layers (longest path), ordered (barycentre), placed side by side.

Items are nodes (by id) and ports of the scope; the caller says how far each reaches to the left and right of its own
vertical line. Links that span several layers get a lane in every layer between, shared by the links of one value.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, TypeAlias


class Port(NamedTuple):
    """Where a value enters ("in") or leaves ("out") the scope."""

    side: str
    value: str


class Lane(NamedTuple):
    """Where a value on its way down passes through a layer."""

    source: str | Port
    value: str
    layer: int


Node: TypeAlias = str | Port
Item: TypeAlias = str | Port | Lane


class Link(NamedTuple):
    """`source` gives `value` to `target`."""

    source: Node
    target: Node
    value: str


@dataclass(slots=True)
class Level:
    """The items of a level by layer, with the x of each; `ways` has the items that each link passes through."""

    layers: list[list[Item]]
    x: dict[Item, float]
    ways: dict[Link, list[Lane]]


@dataclass(slots=True)
class _Neighbours:
    """Who is linked to whom in the layer above and below, and by how much to the right of the other it should stand."""

    above: dict[Item, dict[Item, float]] = field(default_factory=dict)
    below: dict[Item, dict[Item, float]] = field(default_factory=dict)

    def connect(self, upper: Item, lower: Item, shift: float) -> None:
        self.above.setdefault(lower, {}).setdefault(upper, shift)
        self.below.setdefault(upper, {}).setdefault(lower, -shift)


def arrange(
    items: Sequence[str],
    links: Iterable[Link],
    extent: Mapping[Node, tuple[float, float]],
    *,
    first: Sequence[Port] = (),
    last: Sequence[Port] = (),
    results: Collection[str] = (),
    leaves: Mapping[Link, float] = MappingProxyType({}),
    arrives: Mapping[Link, float] = MappingProxyType({}),
    apart: float = 18.0,
    lane: float = 6.0,
) -> Level:
    """Place `items` so that links lead downwards; `first` and `last` make up the outermost layers. `results` that
    nothing leads to, numbers that a function gives as they are, stand in the last of the others.

    `extent` gives left and right reach, `leaves` and `arrives` how far from the middle of an item a link meets it;
    `apart` is the gap between items, `lane` half the room of a passing link.
    """
    forward = _without_cycles(items, links)
    rank = _ranks(items, forward, first, last)
    fed = {link.target for link in forward}
    lowest = max((rank[item] for item in items), default=0)
    rank |= {item: lowest for item in results if item not in fed}
    layers: list[list[Item]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for item in _downwards(items, first, last, forward):
        layers[rank[item]].append(item)
    ways = _lanes(forward, rank, layers)
    near = _neighbours(ways, leaves, arrives)
    reach: dict[Item, tuple[float, float]] = {**extent}
    reach |= {passing: (lane, lane) for way in ways.values() for passing in way}
    layers = _ordered(layers, near)
    x = _placed(layers, near, reach, apart)
    if not first and _starts_right(layers, x):
        layers = [layer[::-1] for layer in layers]
        x = _placed(layers, near, reach, apart)
    return Level(layers, x, ways)


# --- which layer ------------------------------------------------------------------------------------------------------


def _without_cycles(items: Sequence[str], links: Iterable[Link]) -> list[Link]:
    """The links without those that lead back to an item still being visited."""
    out: dict[Node, list[Link]] = {}
    for link in dict.fromkeys(links):
        if link.source != link.target:
            out.setdefault(link.source, []).append(link)
    forward: list[Link] = []
    state: dict[Node, int] = {}
    for start in [*items, *out]:
        if start in state:
            continue
        state[start] = 1
        stack = [(start, iter(out.get(start, ())))]
        while stack:
            item, rest = stack[-1]
            link = next(rest, None)
            if link is None:
                state[item] = 2
                stack.pop()
                continue
            if state.get(link.target) == 1:
                continue
            forward.append(link)
            if link.target not in state:
                state[link.target] = 1
                stack.append((link.target, iter(out.get(link.target, ()))))
    return forward


def _ranks(items: Sequence[str], links: list[Link], first: Sequence[Port], last: Sequence[Port]) -> dict[Node, int]:
    """Longest path from above; what only inputs and constants lead to stands right above the first that needs it."""
    ends = {*first, *last}
    out: dict[Node, list[Node]] = {}
    into: dict[Node, list[Node]] = {}
    for link in links:
        into.setdefault(link.target, []).append(link.source)
        if link.source not in ends and link.target not in ends:
            out.setdefault(link.source, []).append(link.target)
    lowest = 1 if first else 0
    rank: dict[Node, int] = dict.fromkeys(items, lowest)
    order = _sources_first(items, out)
    for item in order:
        for target in out.get(item, ()):
            rank[target] = max(rank[target], rank[item] + 1)
    loose = _loose(order, into, out)
    for item in reversed(order):
        if item in loose and item in out:
            rank[item] = max(rank[item], min(rank[target] for target in out[item]) - 1)
    bottom = max(rank.values(), default=lowest - 1) + 1
    return rank | dict.fromkeys(first, 0) | dict.fromkeys(last, bottom)


def _sources_first(items: Sequence[str], out: Mapping[Node, list[Node]]) -> list[Node]:
    """The items in an order in which everything comes before what it leads to."""
    missing: dict[Node, int] = dict.fromkeys(items, 0)
    for targets in out.values():
        for target in targets:
            missing[target] += 1
    ready: list[Node] = [item for item in reversed(items) if not missing[item]]
    order: list[Node] = []
    while ready:
        item = ready.pop()
        order.append(item)
        for target in out.get(item, ()):
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    return order


def _loose(order: list[Node], into: Mapping[Node, list[Node]], out: Mapping[Node, list[Node]]) -> set[Node]:
    """Items that can move down without making links longer: what feeds them is a source, or moves down with them."""
    loose: set[Node] = set()
    for item in order:
        feeding = into.get(item, ())
        if all((other not in into and other in out) or (other in loose and len(out[other]) == 1) for other in feeding):
            loose.add(item)
    return loose


def _downwards(items: Sequence[str], first: Sequence[Port], last: Sequence[Port], links: list[Link]) -> list[Node]:
    """All items in the order of a walk from above, so that what belongs together starts side by side."""
    out: dict[Node, list[Node]] = {}
    for link in links:
        out.setdefault(link.source, []).append(link.target)
    order: dict[Node, None] = {}
    for start in [*first, *items, *last]:
        todo: list[Node] = [start]
        while todo:
            item = todo.pop()
            if item not in order:
                order[item] = None
                todo += reversed(out.get(item, ()))
    return list(order)


# --- links through several layers -------------------------------------------------------------------------------------


def _lanes(links: list[Link], rank: Mapping[Node, int], layers: list[list[Item]]) -> dict[Link, list[Lane]]:
    """The lanes of every link; new ones are put at the end of their layer."""
    known: set[Lane] = set()
    ways: dict[Link, list[Lane]] = {}
    for link in links:
        between = range(rank[link.source] + 1, rank[link.target])
        ways[link] = [Lane(link.source, link.value, layer) for layer in between]
        for passing in ways[link]:
            if passing not in known:
                known.add(passing)
                layers[passing.layer].append(passing)
    return ways


def _neighbours(
    ways: Mapping[Link, list[Lane]], leaves: Mapping[Link, float], arrives: Mapping[Link, float]
) -> _Neighbours:
    near = _Neighbours()
    for link, way in ways.items():
        stops: list[Item] = [link.source, *way, link.target]
        for at, (upper, lower) in enumerate(pairwise(stops)):
            out = leaves.get(link, 0.0) if at == 0 else 0.0
            into = arrives.get(link, 0.0) if at == len(stops) - 2 else 0.0
            near.connect(upper, lower, out - into)
    return near


# --- the order within the layers --------------------------------------------------------------------------------------


def _ordered(layers: list[list[Item]], near: _Neighbours) -> list[list[Item]]:
    """The best of some sweeps down and up, by the number of crossing links."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, near)
    current = [list(layer) for layer in layers]
    for sweep in range(6):
        if not fewest:
            break
        down = sweep % 2 == 0
        place = {item: at for layer in current for at, item in enumerate(layer)}
        for layer in current if down else reversed(current):
            _sort_by_neighbours(layer, near.above if down else near.below, place)
        count = _crossings(current, near)
        if count < fewest:
            best, fewest = [list(layer) for layer in current], count
    return best


def _sort_by_neighbours(layer: list[Item], neighbours: dict[Item, dict[Item, float]], place: dict[Item, int]) -> None:
    def centre(item: Item) -> float:
        found = neighbours.get(item)
        return sum(place[other] for other in found) / len(found) if found else place[item]

    layer.sort(key=centre)
    for at, item in enumerate(layer):
        place[item] = at


def _crossings(layers: list[list[Item]], near: _Neighbours) -> int:
    count = 0
    for upper, lower in pairwise(layers):
        place = {item: at for at, item in enumerate(lower)}
        seen: list[int] = []
        for item in upper:
            ends = sorted(place[other] for other in near.below.get(item, ()))
            for end in ends:
                count += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return count


# --- side by side -----------------------------------------------------------------------------------------------------


def _starts_right(layers: list[list[Item]], x: Mapping[Item, float]) -> bool:
    """Whether the first layer stands in the right half, where a reader who scrolls would not look first."""
    if not layers or not layers[0]:
        return False
    middle = sum(x[item] for item in layers[0]) / len(layers[0])
    return middle > (min(x.values()) + max(x.values())) / 2 + 1


def _placed(
    layers: list[list[Item]],
    near: _Neighbours,
    reach: dict[Item, tuple[float, float]],
    apart: float,
) -> dict[Item, float]:
    """The x of every item: as straight below and above its neighbours as the order and the gaps allow."""
    gaps = [_offsets(layer, reach, apart) for layer in layers]
    x: dict[Item, float] = {}
    for layer, offsets in zip(layers, gaps):
        middle = (offsets[-1] + offsets[0]) / 2 if layer else 0.0
        x |= {item: offset - middle for item, offset in zip(layer, offsets)}
    sweeps = 10
    for sweep in range(sweeps):
        down = sweep % 2 == 0
        sides = (near.above, near.below) if sweep >= sweeps - 2 else (near.above,) if down else (near.below,)
        for layer, offsets in zip(layers, gaps) if down else zip(reversed(layers), reversed(gaps)):
            wishes = [
                [x[other] + shift for side in sides for other, shift in side.get(item, {}).items()] for item in layer
            ]
            wanted = [_middle(wish) if wish else x[item] for item, wish in zip(layer, wishes)]
            weights = [_weight(item) if wish else 0.2 for item, wish in zip(layer, wishes)]
            x.update(zip(layer, _spread(wanted, weights, offsets)))
    _straighten(layers, near, gaps, x)
    return x


def _straighten(layers: list[list[Item]], near: _Neighbours, gaps: list[list[float]], x: dict[Item, float]) -> None:
    """Put what only follows one item, and nothing else does, right below that item where there is room."""
    for layer, offsets in zip(layers, gaps):
        wanted, weights = [], []
        for item in layer:
            above = near.above.get(item, {})
            other, shift = next(iter(above.items()), (item, 0.0))
            alone = len(above) == 1 == len(near.below[other])
            wanted.append(x[other] + shift if alone else x[item])
            weights.append(4.0 if alone else 1.0)
        x.update(zip(layer, _spread(wanted, weights, offsets)))


def _weight(item: Item) -> float:
    """How much it counts that an item stands where it wants to: lanes should be straight."""
    return 4.0 if isinstance(item, Lane) else 1.0


def _offsets(layer: list[Item], reach: dict[Item, tuple[float, float]], apart: float) -> list[float]:
    """Where each item would stand if the layer was packed to the left."""
    offsets: list[float] = []
    for at, item in enumerate(layer):
        left = reach[item][0]
        if at:
            before = layer[at - 1]
            gap = apart / 3 if isinstance(item, Lane) or isinstance(before, Lane) else apart
            left += offsets[-1] + reach[before][1] + gap
        offsets.append(left)
    return offsets


def _middle(values: list[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _spread(wanted: list[float], weights: list[float], offsets: list[float]) -> list[float]:
    """The places nearest to those wanted (least squares) that keep the order and the gaps of `offsets`."""
    blocks: list[list[float]] = []  # mean, weight, how many
    for want, weight, offset in zip(wanted, weights, offsets):
        blocks.append([want - offset, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, heavy, count = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * heavy) / (last[1] + heavy)
            last[1] += heavy
            last[2] += count
    shifts = [mean for mean, _, count in blocks for _ in range(int(count))]
    return [shift + offset for shift, offset in zip(shifts, offsets)]
