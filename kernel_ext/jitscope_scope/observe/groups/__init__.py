"""Groups: runs of a graph's nodes that belong together, as nodes round them (docs/documents.md says what each kind is).

`trees` gathers arguments and results; `runs` finds the calls of functions and named scopes, `repeats` equal blocks one after the
other, `level` both in the equations of one program; `kernels` groups what XLA made of the program in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jitscope.core.jaxpr import JaxprEqn, Var, count, running

from ...annotations import GraphNode
from ..positions import CellOf, position_document
from ..stacks import Stacks
from .blocks import Block, Item, group_node
from .level import Level
from .same import Kinds
from .trees import gathered


def grouped(
    nodes: Sequence[GraphNode],
    levels: Mapping[str | None, Sequence[JaxprEqn]],
    name_of: Callable[[Var], str],
    cell_of: CellOf,
    stacks: Stacks,
) -> list[GraphNode]:
    """The nodes of a jaxpr's graph with those of their groups; a group stands before what it holds. `levels` are the equations
    in each scope, `name_of` says what a variable is called."""
    writer = _Writer(nodes, levels, Level(stacks, Kinds(), name_of), cell_of)
    writer.scope(None)
    return writer.out


class _Writer:
    """Writes nodes scope by scope in the order of the program; groups of equations are `g0`, `g1`, …"""

    def __init__(
        self,
        nodes: Sequence[GraphNode],
        levels: Mapping[str | None, Sequence[JaxprEqn]],
        level: Level,
        cell_of: CellOf,
    ):
        self.inside: dict[str | None, list[GraphNode]] = {}
        for node in nodes:
            self.inside.setdefault(node["scope"], []).append(node)
        self.levels, self.level, self.cell_of = levels, level, cell_of
        self.out: list[GraphNode] = []
        self.number = 0
        self.nodes: Sequence[GraphNode] = ()
        self.eqns: Sequence[JaxprEqn] = ()
        self.backward = False

    def scope(self, scope: str | None) -> None:
        nodes = self.inside.get(scope, [])
        prefix = "" if scope is None else f"{scope}/"
        for kind in ("constant", "input"):
            ids = f"{prefix}{'const' if kind == 'constant' else 'in'}"
            self.out += gathered([node for node in nodes if node["kind"] == kind], ids, scope)
        own = [node for node in nodes if node["kind"] not in ("constant", "input", "output")]
        outer, self.nodes, self.eqns = (self.nodes, self.eqns), own, self.levels.get(scope, ())
        self._items(self.level.items(self.eqns, self.backward) if self.eqns else range(len(own)), scope)
        self.nodes, self.eqns = outer
        self.out += gathered([node for node in nodes if node["kind"] == "output"], f"{prefix}out", scope)

    def _items(self, items: Sequence[Item], scope: str | None) -> int:
        """Writes items; gives the number of their equations."""
        total = 0
        for item in items:
            if isinstance(item, Block):
                total += self._block(item, scope)
                continue
            node = self.nodes[item]
            node["scope"] = scope
            self.out.append(node)
            if self.eqns:
                eqn = self.eqns[item]
                total += _weight(eqn) if eqn.params else 1
            if node["kind"] == "scope":
                outer = self.backward
                self.backward = bool(self.eqns) and self.level.stacks.all(self.eqns, outer)[item].backward
                self.scope(node["id"])
                self.backward = outer
        return total

    def _block(self, block: Block, scope: str | None) -> int:
        positions = [p for frame in block.calls if (p := position_document(frame.position, self.cell_of))]
        ident, self.number = f"g{self.number}", self.number + 1
        group = group_node(
            ident, block.what, block.label, scope, block.count or 0, positions=positions, params=block.params
        )
        if block.times is not None:
            group["calls"] = block.times
        self.out.append(group)
        inside = self._items(block.items, ident)
        if block.count is None:
            group["count"] = inside
        return inside


def _weight(eqn: JaxprEqn) -> int:
    return 1 + sum(count(inner.jaxpr) for _, inner in running(eqn))
