"""A program in a few parts, for the one line that is seen first."""

from __future__ import annotations

from collections import Counter

from ..annotations import GraphDocument, GraphNode, ProgramPart


MOST = 24


def program_parts(graph: GraphDocument) -> list[ProgramPart]:
    """What stands beside each other in the outermost level of a graph that holds more than one thing: groups, and equations by their
    lines, in the order of the program. Their equations add up to the program's."""
    inside: dict[str | None, list[GraphNode]] = {}
    for node in graph["nodes"]:
        inside.setdefault(node["scope"], []).append(node)
    level: str | None = None
    while len(only := _computing(inside.get(level, ()))) == 1 and only[0]["id"] in inside:
        level = only[0]["id"]
    counts = _equations(graph, level)
    found: list[ProgramPart] = []
    for node in _computing(inside.get(level, ())):
        part = _part(node, node["id"] in inside, counts[node["id"]])
        if found and found[-1]["label"] == part["label"] and found[-1]["backward"] == part["backward"]:
            found[-1]["equations"] += part["equations"]
        else:
            found.append(part)
    if found and counts[None]:  # of the equations that hold the level
        found[0]["equations"] += counts[None]
    if len(found) <= MOST:
        return found
    rest = sum(part["equations"] for part in found[MOST - 1 :])
    more: ProgramPart = {"label": f"{len(found) - MOST + 1} more parts", "equations": rest, "backward": False}
    return [*found[: MOST - 1], more]


def _computing(nodes: list[GraphNode] | tuple[()]) -> list[GraphNode]:
    return [
        node for node in nodes if node["kind"] not in ("input", "constant", "output") and node.get("what") != "tree"
    ]


def _equations(graph: GraphDocument, level: str | None) -> Counter[str | None]:
    """How many equations each node of a level is or holds; those outside of all of them as None's."""
    scope = {node["id"]: node["scope"] for node in graph["nodes"]}
    counts: Counter[str | None] = Counter()
    for node in graph["nodes"]:
        if node["kind"] == "equation" or (node["kind"] == "scope" and node["paths"]):
            at: str | None = node["id"]
            while at is not None and scope[at] != level:
                at = scope[at]
            counts[at] += max(1, len(node["paths"]))
    return counts


def _part(node: GraphNode, is_scope: bool, equations: int) -> ProgramPart:
    backward = node["label"].endswith("(backward)") or "transpose" in (node.get("transforms") or ())
    places = node["positions"]
    label = node["label"] if is_scope or not places else f"line {places[0]['line']}"
    return {"label": label.removesuffix(" (backward)"), "equations": equations, "backward": backward}
