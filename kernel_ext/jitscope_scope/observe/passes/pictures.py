"""What a pass changed as a graph: the changed operations, those that they read or are read by, and how values flow now and flowed
before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jitscope.xla.hlo_module import Computation, Instruction

from ...annotations import GraphDocument, GraphEdge, GraphNode, NodeKind
from ..hlo import bytes_of, parameter_name, shortened, types_in
from .changes import Change, paired, same_in
from .states import State, shown


CHANGES, AROUND = 60, 60
"""The changed operations that a graph has at most, and the unchanged ones next to them."""


class Place(NamedTuple):
    """An operation in one of the two states: `now` says in which, `of` names its computation."""

    now: bool
    of: str
    name: str


Link = tuple[Place, Place]


def picture(old: State, new: State, changes: Sequence[Change]) -> tuple[GraphDocument, int]:
    """The graph document of a step of a program, from the changes that it shows, and how many of these it leaves out.

    A node is an operation as it is now or, where it is gone, as it was: its `mark` is the kind of change, without one it did not
    change. Values flow through the parameters of fusions. An edge that is `gone` was there before the pass and is no more. What
    is inside of loops and branches has no edge to what is outside.
    """
    return _Picture(old, new, changes).document(), max(0, len(changes) - CHANGES)


class _Picture:
    def __init__(self, old: State, new: State, changes: Sequence[Change]):
        self.old, self.new = old, new
        pairs = _touched(old, new, changes)
        self.kept = dict(_kept(pairs))
        self.inside: dict[tuple[bool, str], dict[str, Instruction]] = {}
        self.marks: dict[Place, Change] = {}
        for change in changes:
            self.marks[self._take(change)] = change
        before, after = ([one.name for one in side if one is not None] for side in zip(*pairs))
        self.flows = dict.fromkeys(_links(new, True, after))
        self.flowed = dict.fromkeys((self._now(a), self._now(b)) for a, b in _links(old, False, before))
        self.marks = {place: self.marks[place] for place in self._together()[:CHANGES]}
        self.places = dict.fromkeys([*self.marks, *self._around()])

    def _take(self, change: Change) -> Place:
        if change.after is None:
            assert change.before is not None and change.where_before is not None
            return Place(False, change.where_before, change.before.name)
        assert change.where_after is not None
        place = Place(True, change.where_after, change.after.name)
        if change.before is not None and change.where_before is not None:
            self.kept.setdefault(Place(False, change.where_before, change.before.name), place)
        return place

    def _now(self, place: Place) -> Place:
        return self.kept.get(place, place)

    def _together(self) -> list[Place]:
        """The changed operations, each before others that it is connected with: what goes in the place of what stands beside it."""
        beside: dict[Place, list[Place]] = {place: [] for place in self.marks}
        for one, other in (*self.flows, *self.flowed):
            if one in beside and other in beside:
                beside[one].append(other)
                beside[other].append(one)
        found: dict[Place, None] = {}
        for start in beside:
            waiting = deque([start])
            while waiting:
                place = waiting.popleft()
                if place not in found:
                    found[place] = None
                    waiting.extend(other for other in beside[place] if other not in found)
        return list(found)

    def _around(self) -> list[Place]:
        """The unchanged operations next to the changed ones, in the order of the program."""
        found = dict.fromkeys(
            end
            for link in (*self.flows, *self.flowed)
            if link[0] in self.marks or link[1] in self.marks
            for end in link
            if end not in self.marks and (end.now or end in self.kept)
        )
        return list(found)[:AROUND]

    def document(self) -> GraphDocument:
        nodes = {_ident(place): self._node(place) for place in self.places}
        scopes = {scope["id"]: scope for place in self.places for scope in self._scopes(place)}
        for name, scope in scopes.items():
            nodes[name] = {**nodes[name], **scope} if name in nodes else scope
        edges = [self._edge(link, gone=False) for link in self.flows if self._is_in(link)]
        lost = [link for link in self.flowed if link not in self.flows and self._is_in(link)]
        return {
            "kind": "graph",
            "version": 1,
            "level": "hlo",
            "title": "",
            "nodes": list(nodes.values()),
            "edges": [*edges, *(self._edge(link, gone=True) for link in lost)],
        }

    def _is_in(self, link: Link) -> bool:
        return link[0] != link[1] and all(end in self.places for end in link)

    def _instruction(self, place: Place) -> Instruction:
        inside = self.inside.get((place.now, place.of))
        if inside is None:
            state = self.new if place.now else self.old
            inside = {i.name: i for i in state.computations[place.of].instructions}
            self.inside[place.now, place.of] = inside
        return inside[place.name]

    def _node(self, place: Place) -> GraphNode:
        i, change = self._instruction(place), self.marks.get(place)
        state = self.new if place.now else self.old
        kinds: dict[str, NodeKind] = {
            "constant": "constant",
            "parameter": "input",
            "fusion": "library" if i.kind == "kCustom" else "fusion",
        }
        names = {"fusion": i.name, "parameter": parameter_name(i)}
        node: GraphNode = {
            **_node(_ident(place), names.get(i.opcode, i.opcode), self._scope(place)),
            "kind": kinds.get(i.opcode, "instruction"),
            "types": types_in(i.type),
            "bytes": bytes_of(i.type),
            "text": shortened(shown(i)),
            "paths": list(change.paths if change else state.paths(place.of, i)),
        }
        if change:
            node["mark"] = change.kind
        return node

    def _scope(self, place: Place) -> str | None:
        state = self.new if place.now else self.old
        if state.computations[place.of].is_entry:
            return None
        holder = _holder(state, place.of)
        if holder is not None and holder[1].opcode == "fusion":
            return _ident(self._now(Place(place.now, holder[0].name, holder[1].name)))
        return f"in {place.of}"

    def _scopes(self, place: Place) -> Iterator[GraphNode]:
        """The nodes of what an operation is in: the fusion, or the body of a loop."""
        state = self.new if place.now else self.old
        ident, holder = self._scope(place), _holder(state, place.of)
        if ident is None:
            return
        if holder is None or holder[1].opcode != "fusion":
            label = f"{_role(holder[1], place.of)} of {holder[1].name}" if holder else place.of
            yield _node(ident, label, None)
            return
        outer = Place(place.now, holder[0].name, holder[1].name)
        yield {
            **_node(ident, holder[1].name, self._scope(outer)),
            "kind": "library" if holder[1].kind == "kCustom" else "fusion",
            "text": shortened(shown(holder[1])),
            "paths": list(state.paths(outer.of, holder[1])),
        }
        yield from self._scopes(outer)

    def _edge(self, link: Link, gone: bool) -> GraphEdge:
        kind = self._instruction(link[0]).type
        types = ", ".join(types_in(kind))
        edge: GraphEdge = {"from": _ident(link[0]), "to": _ident(link[1]), "type": types, "bytes": bytes_of(kind)}
        if gone:
            edge["gone"] = True
        return edge


def _node(ident: str, label: str, scope: str | None) -> GraphNode:
    return {"id": ident, "kind": "scope", "label": label, "scope": scope, "types": [], "bytes": 0, "text": "", "params": {},
            "paths": [], "positions": [], "fused_into": None}  # fmt: skip


def _ident(place: Place) -> str:
    return f"{place.of}/{place.name}" if place.now else f"before: {place.of}/{place.name}"


def _touched(old: State, new: State, changes: Sequence[Change]) -> list[tuple[Computation | None, Computation | None]]:
    """The computations in which something changed, and those round fusions in which it did, as they were and as they are."""
    names = {name for change in changes for name in (change.where_before, change.where_after) if name is not None}
    names |= {outer for state in (old, new) for name in names if (outer := _around(state, name)) is not None}
    return [pair for pair in paired(old, new) if any(one is not None and one.name in names for one in pair)]


def _kept(pairs: Iterable[tuple[Computation | None, Computation | None]]) -> Iterator[tuple[Place, Place]]:
    """What stayed, and what it is now."""
    for left, right in pairs:
        if left is not None and right is not None:
            before = same_in(left, right)
            for i in right.instructions:
                if (was := before.get(id(i))) is not None:
                    yield Place(False, left.name, was.name), Place(True, right.name, i.name)


def _holder(state: State, computation: str) -> tuple[Computation, Instruction] | None:
    """The instruction that calls a computation, and where it stands."""
    return state.callers.get(computation)


def _around(state: State, computation: str) -> str | None:
    """The computation in which the fusion stands that a computation is the body of."""
    holder = _holder(state, computation)
    if holder is None or holder[1].opcode != "fusion":
        return None
    return _around(state, holder[0].name) or holder[0].name


def _role(caller: Instruction, computation: str) -> str:
    role = next(role for role, name in caller.called if name == computation)
    if caller.opcode == "call":
        return "body"
    return {"to_apply": "element", "condition": "condition", "body": "body"}.get(role, "part")


def _links(state: State, now: bool, near: Sequence[str]) -> Iterator[Link]:
    """How values flow between the operations of some computations, through the parameters of fusions and out of their bodies."""
    bodies = {name: holder for name in near if (holder := _holder(state, name)) and holder[1].opcode == "fusion"}
    names: dict[str, Mapping[str, Instruction]] = {
        name: {i.name: i for i in state.computations[name].instructions} for name in near if name in state.computations
    }

    def given(of: str, name: str) -> Place | None:
        """Who gives the value of a name."""
        i = names[of].get(name)
        if i is None:
            return None
        holder = bodies.get(of)
        if i.opcode == "parameter" and holder is not None:
            around = holder[0].name
            return given(around, holder[1].operands[int(i.literal)]) if around in names else None
        if i.opcode == "fusion" and i.calls and i.calls[0] in names and i.calls[0] in bodies:
            return given(i.calls[0], state.computations[i.calls[0]].root.name)
        return Place(now, of, name)

    for of, inside in names.items():
        for i in inside.values():
            if i.opcode == "fusion" and i.calls and i.calls[0] in bodies:
                continue  # those inside of it read
            for operand in i.operands:
                if (source := given(of, operand)) is not None:
                    yield source, Place(now, of, i.name)
