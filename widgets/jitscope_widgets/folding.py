"""A graph made smaller before it is drawn still: equal blocks once, and wide levels as runs of operations."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .escapes import clean
from .scopes import Scopes
from .words import Document, plural


MOST_AT_ONCE = 400  # nodes beside each other that are drawn one by one, at most
_RUNS = 24  # boxes that take their place

_NUMBERED = re.compile(r" [\d,]+ of [\d,]+$")  # which of equal blocks it is

Nodes = list[dict[str, Any]]


def folded(graph: Document, most: int = MOST_AT_ONCE) -> tuple[Document, list[str]]:
    """The graph to draw, with at most about `most` nodes beside each other, and sentences that say what was drawn in another way than it is."""
    graph, repeats = _once(graph)
    graph, run = _in_runs(graph, min(most, MOST_AT_ONCE))
    said = []
    if repeats:
        said.append(f"Equal blocks are drawn once ({', '.join(repeats)}).")
    if run:
        said.append(f"{plural(run, 'operation')} one after the other are drawn as runs.")
    return graph, said


# --- equal blocks -----------------------------------------------------------------------------------------------------


def _once(graph: Document) -> tuple[Document, list[str]]:
    """Of the instances of a repeat the first; what led to the others leads to it."""
    first: dict[str, str] = {}  # repeat to its first instance
    stands: dict[str, str] = {}  # further instance to the first
    for node in graph["nodes"]:
        if node.get("what") == "instance" and node["scope"] is not None:
            kept = first.setdefault(node["scope"], node["id"])
            if kept != node["id"]:
                stands[node["id"]] = kept
    if not stands:
        return graph, []
    scope = {node["id"]: node["scope"] for node in graph["nodes"]}
    for_whom = {ident: _instance(ident, scope, stands) for ident in scope}
    nodes = [_unwrapped(node, first) for node in graph["nodes"] if for_whom[node["id"]] is None]
    nodes = [node for node in nodes if node["id"] not in first.values()]
    repeat_of = {instance: repeat for repeat, instance in first.items()}
    edges = []
    for edge in graph["edges"]:
        ends = [_end(edge[side], for_whom, repeat_of) for side in ("from", "to")]
        if ends[0] != ends[1] or edge["from"] == edge["to"]:
            edges.append({**edge, "from": ends[0], "to": ends[1]})
    labels = [clean(node["label"]) for node in nodes if node["id"] in first]
    return {**graph, "nodes": nodes, "edges": edges}, list(dict.fromkeys(labels))


def _instance(ident: str, scope: dict[str, str | None], stands: dict[str, str]) -> str | None:
    """The first instance that stands for the one a node is in; None for what is drawn itself."""
    at: str | None = ident
    for _ in range(len(scope)):
        if at is None or at not in scope:
            return None
        if at in stands:
            return stands[at]
        at = scope[at]
    return None


def _unwrapped(node: dict[str, Any], first: dict[str, str]) -> dict[str, Any]:
    """A member of a first instance stands in the repeat itself."""
    for repeat, instance in first.items():
        if node["scope"] == instance:
            return {**node, "scope": repeat}
    return node


def _end(ident: str, for_whom: dict[str, str | None], repeat_of: dict[str, str]) -> str:
    instance = for_whom.get(ident)
    return repeat_of.get(instance or ident, ident)


# --- wide levels ------------------------------------------------------------------------------------------------------


def _in_runs(graph: Document, most: int) -> tuple[Document, int]:
    """Operations of a wide level as boxes for runs of neighbours; the second result says how many there are in them."""
    ids = {node["id"] for node in graph["nodes"]}
    levels: dict[str | None, Nodes] = {}
    for node in graph["nodes"]:
        levels.setdefault(node["scope"] if node["scope"] in ids else None, []).append(node)
    if all(len(members) <= most for members in levels.values()):
        return graph, 0
    scopes = Scopes(graph)
    groups: Nodes = []
    home: dict[str, str] = {}  # node to the run it is in
    count = 0
    for scope, members in levels.items():
        if len(members) <= most:
            continue
        for kind in ("input", "output"):
            ends = [node for node in members if node["kind"] == kind]
            if len(ends) > _RUNS:
                groups.append(_run(f"{kind}s:{scope}", scope, f"{kind}s", plural(len(ends), "array"), 0))
                home.update((node["id"], f"{kind}s:{scope}") for node in ends)
        inner = [node for node in members if node["kind"] not in ("input", "output")]
        size = math.ceil(len(inner) / _RUNS)
        for at in range(0, len(inner), size) if size > 1 else ():
            run, ident = inner[at : at + size], f"run{at}:{scope}"
            operations = sum(_inside(node["id"], scopes) for node in run)
            count += operations
            groups.append(_run(ident, scope, f"{at + 1:,} to {at + len(run):,}", _common(run), operations, _lines(run)))
            home.update((node["id"], ident) for node in run)
    return (_rehoused(graph, groups, home), count) if groups else (graph, 0)


def _rehoused(graph: Document, groups: Nodes, home: dict[str, str]) -> Document:
    """The graph with the runs in the place of their members, and of all that is inside those."""
    scope = {node["id"]: node["scope"] for node in graph["nodes"]}

    def run_of(ident: str) -> str | None:
        at: str | None = ident
        for _ in range(len(scope)):
            if at is None or at in home:
                return home.get(at) if at is not None else None
            at = scope.get(at)
        return None

    runs = {ident: run_of(ident) for ident in scope}
    nodes = [node for node in graph["nodes"] if runs[node["id"]] is None]
    ends = {(runs.get(e["from"]) or e["from"], runs.get(e["to"]) or e["to"]): e for e in graph["edges"]}
    edges = [{**edge, "from": a, "to": b} for (a, b), edge in ends.items() if a != b or edge["from"] == edge["to"]]
    return {**graph, "nodes": [*groups, *nodes], "edges": edges}


def _run(
    ident: str, scope: str | None, label: str, told: str, count: int, places: Nodes | None = None
) -> dict[str, Any]:
    return {
        "id": ident, "kind": "group", "what": "run", "count": count, "label": label, "told": told, "scope": scope,
        "types": [], "bytes": 0, "text": "", "params": {}, "paths": [], "positions": places or [], "fused_into": None,
    }  # fmt: skip


def _inside(ident: str, scopes: Scopes) -> int:
    return scopes.work(ident) if ident in scopes.members else scopes.operations([ident])


def _lines(members: Nodes) -> Nodes:
    """A position of each of the first lines that some nodes stem from."""
    found: dict[tuple[Any, Any], Any] = {}
    for node in members:
        for place in node["positions"][:1]:
            found.setdefault((place["file"], place["line"]), place)
            if len(found) == 8:
                return list(found.values())
    return list(found.values())


def _common(members: Iterable[Document]) -> str:
    counts = Counter(_NUMBERED.sub("", clean(node["label"])) for node in members).most_common(2)
    return ", ".join(f"{label} ×{count:,}" for label, count in counts)
