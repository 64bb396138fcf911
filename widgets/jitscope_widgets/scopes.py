"""A graph document read as a tree of scopes: what contains what, and which scopes to draw open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .words import Document


_LEAST_PART = 0.03  # of the operations: what holds less is no landmark


class Scopes:
    """The nodes of a graph by id, their scopes, and the members of each scope in the order of the document.

    Nodes whose scope does not exist (or would contain itself) stand at the top level, so that nothing is lost.
    """

    def __init__(self, graph: Document):
        self.level = graph["level"]
        self.nodes: dict[str, Document] = {}
        for node in graph["nodes"]:
            if isinstance(node["id"], str):
                self.nodes.setdefault(node["id"], node)
        self.parent: dict[str, str | None] = {}
        for ident in self.nodes:
            self.parent[ident] = self._scope_of(ident)
        self.members: dict[str | None, list[str]] = {None: []}
        for ident, scope in self.parent.items():
            self.members.setdefault(scope, []).append(ident)
        self._work: dict[str, int] = {}
        self.edges = [edge for edge in graph["edges"] if edge["from"] in self.nodes and edge["to"] in self.nodes]

    def _scope_of(self, ident: str) -> str | None:
        scope = self.nodes[ident]["scope"]
        if scope not in self.nodes:
            return None
        outer: str | None = scope
        while outer is not None:
            if outer == ident:
                return None
            outer = self.parent.get(outer)
        return scope

    def outwards(self, ident: str | None) -> Iterator[str]:
        """`ident` and the scopes round it, from the inside out."""
        while ident is not None:
            yield ident
            ident = self.parent[ident]

    def is_outermost(self, ident: str) -> bool:
        """Whether only groups are round a node: it is in no loop, no branch, no inner jaxpr, no kernel."""
        return all(self.nodes[outer]["kind"] == "group" for outer in self.outwards(self.parent[ident]))

    def inside(self, scope: str) -> list[str]:
        """What a scope contains, at any depth."""
        found: list[str] = []
        todo = list(self.members.get(scope, ()))
        while todo:
            ident = todo.pop()
            found.append(ident)
            todo += self.members.get(ident, ())
        return found

    def open_within(self, limit: int) -> set[str]:
        """The scopes that can be open when at most `limit` nodes are drawn: the model first, outer scopes before inner ones, those that
        hold most at first. What is of the backward pass, or what a line had a library do, is opened where all else is open
        and half of the limit is not reached; trees of arguments stay closed: they hold no operations."""
        least = (self.operations(self.nodes) + sum(map(self._in_run, self.nodes))) * _LEAST_PART
        opened = set[str]()
        drawn = self._open(
            opened, len(self.members[None]), limit, lambda s: self._is_model(s) and self.work(s) >= least
        )
        self._open(opened, drawn, limit // 2, lambda _: True)
        return opened

    def _open(self, opened: set[str], drawn: int, limit: int, wanted: Callable[[str], bool]) -> int:
        """Opens what is wanted and fits, level by level; gives the number of boxes then."""
        level = [ident for ident in self.members[None] if ident in self.members]
        while level:
            for scope in sorted(level, key=lambda ident: -self.work(ident)):
                if scope in opened or self.nodes[scope].get("what") in ("tree", "run") or not wanted(scope):
                    continue
                if drawn + len(self.members[scope]) <= limit:
                    drawn += len(self.members[scope])
                    opened.add(scope)
            inside = [ident for scope in level if scope in opened for ident in self.members[scope]]
            level = [ident for ident in inside if ident in self.members]
        return drawn

    def _is_model(self, scope: str) -> bool:
        node = self.nodes[scope]
        backward = "(backward)" in node["label"] or "transpose" in (node.get("transforms") or ())
        return not backward and node.get("what") != "line"

    def operations(self, idents: Iterable[str]) -> int:
        """How many of these nodes are equations of a jaxpr, or operations of an HLO program: no inputs, constants and outputs,
        and nothing that only holds others (a group, a branch, a fusion, a loop of HLO)."""
        return sum(self._weight(ident) for ident in idents if self._is_operation(ident))

    def work(self, scope: str) -> int:
        """How many operations a scope holds, in all its depths."""
        if self.nodes[scope].get("what") == "run":
            return self.nodes[scope]["count"]
        if scope not in self._work:
            inside = self.inside(scope)
            self._work[scope] = self.operations(inside) + sum(map(self._in_run, inside))
        return self._work[scope]

    def _in_run(self, ident: str) -> int:
        node = self.nodes[ident]
        return node["count"] if node.get("what") == "run" else 0

    def _weight(self, ident: str) -> int:
        """Of how many equations a node of a jaxpr is the picture; operations of HLO may stem from many."""
        return max(1, len(self.nodes[ident]["paths"])) if self.level == "jaxpr" else 1

    def _is_operation(self, ident: str) -> bool:
        node = self.nodes[ident]
        if node["kind"] in ("input", "constant", "output", "group"):
            return False
        if self.level == "jaxpr":
            return node["kind"] != "scope" or bool(node["paths"])
        return node["kind"] != "scope" and ident not in self.members
