"""Calls and named scopes as groups in the graph of two programs: those that both have, and those that one has alone.

What one group holds must stand together in an order that suits both programs, or values would flow out of it and back into it. So it
does where a run of the one program's equations and a run of the other's have the same name, and each equation of either that both
programs have is in the other; and where a run has no equation that both have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitscope.core.jaxpr import Jaxpr, running, subpath

from ...annotations import GraphNode, Position
from ..groups.blocks import Block, Item, group_node, leaves
from ..groups.level import runs_of
from ..positions import CellOf, position_document
from ..stacks import Stacks


@dataclass(eq=False, slots=True)
class Run:
    """A run of equations of one level: the jaxpr whose path is `level`."""

    block: Block
    level: str
    places: range
    around: Run | None

    @property
    def name(self) -> tuple[str, str]:
        return self.block.what, self.block.label

    def holds(self, other: Run) -> bool:
        return self is not other and self.level == other.level and set(other.places) <= set(self.places)


class Runs:
    """The runs of a program, outer ones first, and the innermost one of each equation, by path."""

    def __init__(self, jaxpr: Jaxpr, stacks: Stacks, cell_of: CellOf):
        self.stacks, self.cell_of = stacks, cell_of
        self.all: list[Run] = []
        self.of: dict[str, Run] = {}
        self._level(jaxpr, "", False)

    def _level(self, jaxpr: Jaxpr, prefix: str, backward: bool) -> None:
        self._items(runs_of(jaxpr.eqns, self.stacks, backward), prefix, None)
        for i, (eqn, place) in enumerate(zip(jaxpr.eqns, self.stacks.all(jaxpr.eqns, backward), strict=True)):
            for segment, inner in running(eqn) if eqn.params else ():
                self._level(inner.jaxpr, subpath(f"{prefix}e{i}", segment), place.backward)

    def _items(self, items: Sequence[Item], prefix: str, around: Run | None) -> None:
        for item in items:
            if isinstance(item, Block):
                run = Run(item, prefix.rstrip("/"), leaves(item.items), around)
                self.all.append(run)
                self._items(item.items, prefix, run)
            elif around is not None:
                self.of[f"{prefix}e{item}"] = around

    def around(self, path: str) -> Iterator[Run]:
        """The runs that an equation is in, at all levels."""
        while path:
            run = self.of.get(path)
            while run is not None:
                yield run
                run = run.around
            path = path.rpartition("/")[0]

    def positions(self, run: Run) -> list[Position]:
        found = (position_document(frame.position, self.cell_of) for frame in run.block.calls)
        return [position for position in found if position]


class Groups:
    """The groups of two programs; `names` says what paths of the first are called in the graph of both."""

    def __init__(self, first: Runs, second: Runs, pairs: Iterable[tuple[str, str]], names: Callable[[str], str]):
        self.sides, self.names = (first, second), names
        self._held, self._both = Counter[Run](), Counter[tuple[Run, Run]]()
        for path, other in pairs:
            ours, theirs = list(first.around(path)), list(second.around(other))
            self._held.update([*ours, *theirs])
            self._both.update((one, two) for one in ours for two in theirs if one.name == two.name)
        self.partner: dict[Run, Run] = {}
        self._match()
        self.number: dict[Run, int] = {}
        for run in [*first.all, *second.all]:
            if run not in self.number and self._stands(run):
                number = len(self.number)
                self.number |= {one: number for one in (run, self.partner.get(run)) if one is not None}

    def _level(self, run: Run) -> str:
        """What the level of a run of the first program is called in the graph of both."""
        return run.level and self.names(run.level)

    def _match(self) -> None:
        found: dict[Run, list[Run]] = {}
        for (one, other), count in self._both.items():
            if count == self._held[one] == self._held[other] and self._level(one) == other.level:
                found.setdefault(one, []).append(other)
        for one in self.sides[0].all:
            outer = self._outer(one)
            for other in sorted(found.get(one, ()), key=lambda run: -len(run.places)):
                if other not in self.partner and (outer is None or self.partner[outer].holds(other)):
                    self.partner |= {one: other, other: one}
                    break

    def _outer(self, run: Run) -> Run | None:
        """The innermost run round another that has a partner."""
        outer = run.around
        while outer is not None and outer not in self.partner:
            outer = outer.around
        return outer

    def _stands(self, run: Run) -> bool:
        return run in self.partner or not self._held[run]

    def _group(self, run: Run | None) -> Run | None:
        while run is not None and run not in self.number:
            run = run.around
        return run

    def drawn(self, nodes: Sequence[GraphNode], own: Mapping[str, str]) -> list[GraphNode]:
        """The nodes of the graph of both with those of the groups; a group stands before what it holds. `own` are the names of the
        first program's equations by what they are called in the graph."""
        out: list[GraphNode] = []
        made: dict[int, GraphNode] = {}

        def group(run: Run | None, side: int) -> str | None:
            run = self._group(run)
            if run is None:
                return None
            number = self.number[run]
            if number not in made:
                scope = group(run.around, side) or (self._level(run) if side == 0 else run.level) or None
                partner = self.partner.get(run)
                positions = self.sides[side].positions(run)
                more = self.sides[1 - side].positions(partner) if partner is not None else []
                positions += [one for one in more if one not in positions]
                made[number] = group_node(f"g{number}", run.block.what, run.block.label, scope, 0, positions=positions)
                out.append(made[number])
            return str(made[number]["id"])

        for node in nodes:
            side = 0 if node.get("mark") == "removed" else 1
            name = own[node["id"]] if side == 0 and node["id"] in own else node["id"]
            run = self.sides[side].of.get(name)
            out.append({**node, "scope": group(run, side) or node["scope"]})
        scopes = {node["id"]: node["scope"] for node in out}
        by_id = {one["id"]: one for one in made.values()}
        for node in out if by_id else ():
            outer = node["scope"] if node["paths"] else None
            while outer is not None:
                if outer in by_id:
                    by_id[outer]["count"] = by_id[outer].get("count", 0) + 1
                outer = scopes[outer]
        return out
