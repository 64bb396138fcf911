"""A loop that prints where it is left by a value (`if gap < tol: print(…); break`), or that has an `else`: the loop is compiled, and what
belongs to its end stands behind it."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

from . import naming
from .functions import Definitions
from .parts import EditText, placed_at
from .stops import Writing, only_said
from .watching import Visit


def left(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, write: Writing
) -> EditText | None:
    """The region with its loop's ways out told apart by flags; None where there is nothing at its end that Python has to do. Raises
    CannotCompile where that does more than print and keep, or the loop has no compiled form."""
    loop = body[-1]
    if len(body) != 1 or not isinstance(loop, (ast.For, ast.While)):
        return None
    exits = [s for s in loop.body if isinstance(s, ast.If) and s.body and isinstance(s.body[-1], ast.Break)]
    told = [s for s in exits if len(s.body) > 1 and not naming.leaves(s.body[:-1])]
    if not exits or (not told and not loop.orelse):
        return None
    rest = [s for s in loop.body if s not in exits]
    if loop.orelse and (naming.breaks(rest) or any(naming.breaks([*s.body[:-1], *s.orelse]) for s in exits)):
        return None
    ends = exits if loop.orelse else told
    final = ast.copy_location(ast.If(ast.Constant(True), list(loop.orelse), []), loop)
    only_said([*told, *([final] if loop.orelse else [])], visit, definitions)
    flags = [f"{name}_left_{k}" for k in range(1, len(ends) + 1)]
    new = copy.deepcopy(loop)
    new.orelse = []
    for flag, s in zip(flags, ends, strict=True):
        inner = new.body[loop.body.index(s)]
        assert isinstance(inner, ast.If)
        inner.body = [_set(flag, True, s), inner.body[-1]]
    start = [_set(flag, False, loop) for flag in flags]
    known = dict.fromkeys(flags, False)
    given = replace(visit, after={**visit.after, **known}, ends={**visit.ends, **known})
    later = [x for s in told for x in s.body[:-1]] + list(loop.orelse)
    edit = write((*start, new), given, live | naming.loaded(later) | set(flags))
    call = list(edit.call)
    for flag, s in zip(flags, ends, strict=True):
        if lines := [line for x in s.body[:-1] for line in ast.unparse(x).splitlines()]:
            call += [f"if {flag}:", *("    " + line for line in lines)]
    if loop.orelse:
        lines = [line for x in loop.orelse for line in ast.unparse(x).splitlines()]
        call += [f"if not ({' or '.join(flags)}):", *("    " + line for line in lines)]
    return replace(edit, call=(*call, f"del {', '.join(flags)}"), said=True)


def _set(name: str, value: bool, at: ast.stmt) -> ast.stmt:
    return placed_at(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), at)
