"""A `while` loop that appends to lists: how many turns it has is not known before, so it runs in pieces, each of which has room for so many."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

from . import growing, naming
from .functions import Definitions
from .parts import EditText, placed_at
from .stops import Writing, told
from .watching import Visit


LEAST = 64
"""Turns of a piece; more, where more elements were appended in the run that was seen."""


def in_pieces(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, write: Writing
) -> EditText | None:
    """The region with its loop as one over a range that is left by the value, gone through until it says so; None for other regions.
    Raises CannotCompile where that has no compiled form."""
    loop = body[-1]
    if len(body) != 1 or not isinstance(loop, ast.While) or loop.orelse:
        return None
    calls = [n for n in ast.walk(loop) if growing.appends(n, visit.values)]
    lists = {naming.root_of(n.func) for n in calls if isinstance(n, ast.Call)}
    seen = [(visit.values.get(n), visit.after.get(n)) for n in lists if n]
    if not lists or not all(isinstance(a, list) and isinstance(b, list) for a, b in seen):
        return None
    turns = max(len(b) - len(a) for a, b in seen if isinstance(a, list) and isinstance(b, list))
    room = max(LEAST, 1 << (turns + turns // 4).bit_length())
    going, turn = f"{name}_going", f"{name}_turn"
    first = ast.parse(f"if not 0: {going} = False; break").body[0]
    assert isinstance(first, ast.If) and isinstance(first.test, ast.UnaryOp)
    for n in ast.walk(first):
        ast.copy_location(n, loop)
    first.test.operand = copy.deepcopy(loop.test)
    part = ast.parse(f"for {turn} in range({room}): pass").body[0]
    assert isinstance(part, ast.For)
    placed_at(part, loop)
    part.body = [first, *told(copy.deepcopy(loop.body), going)]
    start = placed_at(ast.parse(f"{going} = True").body[0], loop)
    given = replace(visit, after={**visit.after, going: False}, ends={**visit.ends, going: False})
    edit = write((start, part), given, live | {going})
    call = [f"{going} = True", f"while {going}:", *("    " + line for line in edit.call), f"del {going}"]
    return replace(edit, call=tuple(call))
