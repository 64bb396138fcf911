"""Numbers of a user's own at the equations of a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from jitscope.core.jaxpr import Jaxpr, JaxprEqn, walk

from ..annotations import GraphDocument, GraphNode


Numbers = Callable[[JaxprEqn], float | None] | Mapping[str, float]


def with_numbers(graph: GraphDocument, jaxpr: Jaxpr, numbers: Numbers, name: str, unit: str) -> GraphDocument:
    """The graph of a jaxpr with a number at each equation that has one; those that were there before are gone. Raises TypeError for
    what is neither a function nor a dict, and for what is no number; ValueError for a path that no equation has, and for NaN and
    infinities."""
    equations = dict(walk(jaxpr))
    if isinstance(numbers, Mapping):
        given = dict(numbers)
    elif callable(numbers):
        given = {path: number for path, eqn in equations.items() if (number := numbers(eqn)) is not None}
    else:
        raise TypeError(
            f"numbers are a function of an equation, or a dict by path such as {{'e3': 0.5}}, not {numbers!r}"
        )
    found = {path: _checked(path, number, equations) for path, number in given.items()}

    def node_with(node: GraphNode) -> GraphNode:
        bare = node.copy()
        bare.pop("number", None)
        number = next((found[path] for path in node["paths"] if path in found), None)
        return bare if number is None else {**bare, "number": {"name": name, "value": number, "unit": unit}}

    return {**graph, "nodes": [node_with(node) for node in graph["nodes"]]}


def _checked(path: str, number: Any, equations: Mapping[str, JaxprEqn]) -> float:
    if path not in equations:
        raise ValueError(f"no equation has the path {path!r}; the paths are {_paths(list(equations))}")
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"the number of {path} ({equations[path].primitive.name}) is {number!r}, not an int or a float")
    if not math.isfinite(number):
        raise ValueError(
            f"the number of {path} ({equations[path].primitive.name}) is {number}: only finite ones can be shown"
        )
    return float(number)


def _paths(paths: list[str]) -> str:
    shown = ", ".join(paths[:4])
    return f"{shown}, …, {paths[-1]}" if len(paths) > 5 else ", ".join(paths) or "none"
