"""The equations of one program in groups: calls, named scopes and repeats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jitscope.core.jaxpr import JaxprEqn, Var, running

from ..stacks import Frame, Stacks
from .blocks import Block, Item, leaves, trimmed
from .lines import by_line
from .names import name_of_operations, name_of_values, without_number
from .repeats import LEAST, Stretch, equal_stretches, stretches
from .runs import runs, shared_depth
from .same import Kinds, Wiring


LEAST_SINGLE = 8
"""So many times must one operation alone be repeated."""
_ROTATIONS = 64


class Level:
    """Groups the equations of a program; `name_of` says what a variable is called."""

    def __init__(self, stacks: Stacks, kinds: Kinds, name_of: Callable[[Var], str]):
        self.stacks, self.kinds, self.name_of = stacks, kinds, name_of

    def items(self, eqns: Sequence[JaxprEqn], backward: bool) -> list[Item]:
        """The equations, by number, and the blocks they are in. `backward`: what holds them is part of a backward pass."""
        items = runs_of(eqns, self.stacks, backward)
        return _Repeats(self, eqns, backward).fold(items) if len(eqns) > 1 else items


def runs_of(eqns: Sequence[JaxprEqn], stacks: Stacks, backward: bool) -> list[Item]:
    """The equations, by number, in the runs of calls and named scopes."""
    if len(eqns) < 2:
        return list(range(len(eqns)))
    places = stacks.all(eqns, backward)
    known = [place.stack for place in {id(p): p for p in places}.values() if place.stack]
    return trimmed(runs(places, shared_depth(known or [()])))


def _kind_of(block: Block) -> str:
    """What a block is called beside others like it: flax's `Block_0` and `Block_1` are of one kind."""
    return without_number(block.label) if block.what == "named scope" else block.label


def _renamed(first: Sequence[Item], block: Sequence[Item]) -> dict[str, str]:
    """How the named scopes of a block are called in the first one → and in this one."""
    pairs = [(a, b) for a, b in zip(first, block) if isinstance(a, Block) and isinstance(b, Block)]
    return {a.label: b.label for a, b in pairs if a.label != b.label}


class _Repeats:
    """Folds equal blocks one after the other into repeats, outer ones first."""

    def __init__(self, level: Level, eqns: Sequence[JaxprEqn], backward: bool):
        self.level, self.eqns = level, eqns
        self.places = level.stacks.all(eqns, backward)
        self.wiring = Wiring(eqns)
        self.kind = [level.kinds.of(eqn) for eqn in eqns]
        self.signs: dict[Block, int] = {}

    def fold(self, items: list[Item]) -> list[Item]:
        """The items of a level with its repeats; of a long level what is left by lines."""
        return by_line(self._folded(items), self.places)

    def _folded(self, items: list[Item]) -> list[Item]:
        if len(items) < LEAST:
            return [self._inner(item) if isinstance(item, Block) else item for item in items]
        found: list[Item] = []
        at = 0
        for stretch in stretches([self._sign(item) for item in items]):
            for start, end, period in self._equal(items, stretch):
                found += map(self._inner, items[at:start])
                found.append(self._repeat(items[start:end], period))
                at = end
        return [*found, *map(self._inner, items[at:])]

    def _inner(self, item: Item) -> Item:
        if isinstance(item, Block):
            item.items = self.fold(item.items)
            if item.several and len(item.items) == 1:
                return item.items[0]
        return item

    def _sign(self, item: Item) -> int:
        """A number that is the same for equal items."""
        if not isinstance(item, Block):
            return self.kind[item]
        if item not in self.signs:
            inside = tuple([self._sign(i) for i in item.items])
            self.signs[item] = self.level.kinds.numbers.of((item.what, _kind_of(item), inside))
        return self.signs[item]

    def _equal(self, items: Sequence[Item], stretch: Stretch) -> list[tuple[int, int, int]]:
        """The parts of a stretch in which values flow in the same way in each block, as (start, end, period). Where they
        alternate between several ways, several blocks are one."""
        period = stretch.period
        first = stretch.start + self._rotation(items, stretch)
        blocks = [items[at : at + period] for at in range(first, stretch.end - period + 1, period)]
        flows = [self.wiring.inside(leaves(block)) for block in blocks]
        single = len(leaves(blocks[0])) == 1
        least = LEAST_SINGLE if single else LEAST
        equal = [(start, end) for start, end in equal_stretches(flows) if end - start >= least]
        if equal:
            return [(first + start * period, first + end * period, period) for start, end in equal]
        kinds = [self.level.kinds.numbers.of(tuple(flow)) for flow in flows]
        longer = [
            Stretch(first + s.start * period, first + s.end * period, s.period * period) for s in stretches(kinds)
        ]
        return [found for stretch in longer if stretch.period > period for found in self._equal(items, stretch)]

    def _rotation(self, items: Sequence[Item], stretch: Stretch) -> int:
        """Where the first block starts: where the fewest values enter it, the earliest such place."""
        spare = (stretch.end - stretch.start) % stretch.period
        best = (len(self.eqns) + 1, 0)
        for offset in range(min(spare, _ROTATIONS) + 1):
            start = (
                stretch.start + offset + stretch.period
            )  # of the second block: what enters the first may be the arguments
            block = leaves(items[start : start + stretch.period])
            entering = {v for v in self.wiring.from_outside(block).values() if v in self.wiring.made}
            best = min(best, (len(entering), offset))
        return best[1]

    def _repeat(self, items: list[Item], period: int) -> Block:
        blocks = [items[at : at + period] for at in range(0, len(items), period)]
        differences = self._differences([leaves(block) for block in blocks])
        times, label = len(blocks), self._label(blocks[0], differences)
        instances: list[Item] = []
        calls: list[Frame] = []
        for i, (block, params) in enumerate(zip(blocks, differences), 1):
            only, inside, called = block[0], block, []
            params = _renamed(blocks[0], block) | params
            if isinstance(only, Block) and len(block) == 1 and only.what != "repeat":
                inside, called = only.items, only.calls
                calls += [frame for frame in called if frame not in calls]
            instances.append(Block("instance", f"{label} {i:,} of {times:,}", self.fold(inside), called, times, params))
        return Block("repeat", f"{label} × {times:,}", instances, calls, times)

    def _label(self, block: Sequence[Item], differences: Sequence[dict[str, str]]) -> str:
        """What one of equal blocks is called: as its one item; by the values it reads; by its items; by what it does."""
        names = [_kind_of(item) if isinstance(item, Block) else self._name(item) for item in block]
        if len(block) == 1:
            return names[0]
        if named := name_of_values(differences):
            return named
        if len(block) <= 3:
            return ", ".join(names)
        calls = [item for item in block if isinstance(item, Block) and item.what in ("function", "named scope")]
        if len(calls) == 1 and len(leaves(calls)) * 2 > len(leaves(block)):
            return _kind_of(calls[0])
        return name_of_operations([self._name(n) for n in leaves(block)])

    def _name(self, number: int) -> str:
        eqn = self.eqns[number]
        return str((running(eqn) and eqn.params.get("name")) or eqn.primitive.name)

    def _differences(self, blocks: Sequence[range]) -> list[dict[str, str]]:
        """For each block, what takes the place of the values that the first one has from outside."""
        name, eqns, made = self.level.name_of, self.eqns, self.wiring.made
        first = [(place, name(var)) for place, var in reversed(self.wiring.from_outside(blocks[0]).items())]
        found = []
        for block, before in zip(blocks, (range(0), *blocks)):
            pairs: dict[str, str] = {}
            for (number, operand), of_first in first:  # equal blocks read from outside in equal places
                var = eqns[block[number]].invars[operand]
                if isinstance(var, Var) and made.get(var, (-1,))[0] not in before:
                    pairs[of_first] = name(var)
            found.append(dict(reversed(pairs.items())))
        same = set.intersection(*[{k for k, v in f.items() if v == k} for f in found])
        return [{k: v for k, v in f.items() if k not in same} for f in found]
