"""The blocks of a program that its kernels stem from: functions, modules, loops; what repeats is one block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from ..annotations import GraphDocument, GraphNode, Kernel, ProgramBlock
from .groups.kernels import Origins
from .groups.names import without_number


_CALLS = 3
"""Places of one block that its document has."""


class Blocks:
    """The groups and scopes of a jaxpr's graph, those of equal blocks together: `attention` of all of `block × 12` is one. So are the calls
    of one function from one place, which need not be equal, and what one line wrote."""

    def __init__(self, graph: GraphDocument, origins: Origins | None = None):
        self.documents: list[ProgramBlock] = []
        self._origins = origins or Origins(graph)
        self._places: dict[str, int | None] = {}
        self._scopes: dict[str, str] = {}
        labels = self._origins.called
        children: Counter[Hashable] = Counter()
        known: dict[Hashable, int] = {}
        counts: dict[int, dict[str | None, int]] = {}
        nodes = {node["id"]: node for node in graph["nodes"]}
        for node in graph["nodes"]:
            if node["kind"] not in ("group", "scope") or node.get("what") == "tree":
                continue
            scope = node["scope"]
            outer = None if scope is None else self._places.get(scope)
            self._scopes |= dict.fromkeys(node["paths"], node["id"])
            if node.get("what") == "instance":
                self._places[node["id"]] = outer
                continue
            label = labels[node["id"]]
            kind = node.get("what"), without_number(label)
            together = "calls" in node or node.get("what") == "line"
            if together:
                kind = *kind, *((place["file"], place["line"], place["column"]) for place in node["positions"])
            children[scope, kind] += 1
            if not together:
                kind = *kind, children[scope, kind]
            if (outer, kind) not in known:
                known[outer, kind] = len(self.documents)
                self.documents.append({"label": label, "outer": outer, "positions": node["positions"][:_CALLS]})
            place = self._places[node["id"]] = known[outer, kind]
            self._name(place, label)
            if "calls" in node:
                beside = children[scope, kind]
                counts.setdefault(place, {})[scope] = beside if _calls(node, nodes) == beside else 0
        for place, found in counts.items():
            times = set(found.values())
            if len(times) == 1 and all(times):
                self.documents[place]["label"] += f" × {times.pop():,}"

    def _name(self, place: int, label: str) -> None:
        """flax's `Dense_0` and `Dense_1` in two of equal blocks are one `Dense`."""
        document = self.documents[place]
        if document["label"] != label:
            document["label"] = without_number(label)

    def of(self, kernel: Kernel, loop: Kernel | None) -> int | None:
        """The innermost block that all of a kernel stems from; what `loop` repeats is in that at least. None where there is none."""
        around = self._origins.around(kernel["paths"])
        own = self._places[around[-1].ident] if around else None
        repeated = loop or (kernel if kernel["kind"] == "loop" else None)
        scope = None if repeated is None else self._scope_of(repeated["paths"])
        least = None if scope is None else self._places[scope]
        return own if least is None or least in self._outwards(own) else least

    def _outwards(self, place: int | None) -> Iterator[int]:
        while place is not None:
            yield place
            place = self.documents[place]["outer"]

    def _scope_of(self, paths: Sequence[str]) -> str | None:
        outermost = min(paths, key=len, default="")
        inside = all(path == outermost or path.startswith(f"{outermost}/") for path in paths)
        return self._scopes.get(outermost) if inside else None


def _calls(node: GraphNode, nodes: Mapping[str, GraphNode]) -> int:
    """How many calls from one place in what holds them a group is one of; 0: not known."""
    scope = node["scope"]
    while scope is not None:
        around = nodes[scope]
        if around.get("what") == "instance" or around.get("calls") == 0:
            return 0
        scope = around["scope"]
    return node.get("calls", 0)
