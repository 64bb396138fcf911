"""What a function calls the parts of its arguments."""

from __future__ import annotations

import ast
import re

from jitscope.core.source import Position

from .places import node_of_function


def unpacked(where: Position | None, path: str) -> str:
    """The name that a function, by its position, gives a part of an argument: `h` for `carry[0]` after `h, c = carry`; "" for none."""
    node = node_of_function(where) if where is not None else None
    parts = re.match(r"(\w+)((?:\[\d+\])*)", path)
    if parts is None or not isinstance(node, ast.FunctionDef):
        return ""
    root, rest = parts[1], path[parts.end() :]
    places = [int(number) for number in re.findall(r"\d+", parts[2])]
    for one in node.body:
        match one:
            case ast.Assign(targets=[target], value=ast.Name(id=name)) if name == root:
                if found := _at(target, places):
                    return found + rest
    return ""


def _at(target: ast.expr, places: list[int]) -> str:
    """What a target is called at these places, `h`, or `h[1]` where it is not taken apart so far; "" where the places are not known."""
    if isinstance(target, ast.Name):
        return target.id + "".join(f"[{place}]" for place in places)
    if not places or not isinstance(target, ast.Tuple | ast.List):
        return ""
    first = target.elts[: places[0] + 1]
    if len(first) <= places[0] or any(isinstance(one, ast.Starred) for one in first):
        return ""
    return _at(first[-1], places[1:])
