"""Comprehensions that have no compiled form as they stand (`errors = [f.step(x, d) for x, d in zip(xs, ds)]`, `total = sum(f(x) for x in xs)`), as the
loops that they are."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

import numpy as np

from . import naming
from .parts import Renamed, placed_at
from .stand_ins import StandIns
from .watching import Visit


_ARRAYS = frozenset(("array", "asarray", "stack", "vstack"))
_Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp


def as_loop(body: naming.Statements, visit: Visit) -> StandIns | None:
    """An assignment of one comprehension as a loop that fills a list or a dict, or adds up; None for other statements."""
    match body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)]:
            found = _found(value, visit)
        case _:
            return None
    if found is None:
        return None
    part, word, call = found
    if name in naming.loaded([part]) or len(part.generators) > 2 or any(g.is_async for g in part.generators):
        return None
    own = {n.id for g in part.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    part = Renamed({n: f"{n}_of_{name}" for n in own}).visit(copy.deepcopy(part))
    holder = name if call is None else f"list_of_{name}"
    if isinstance(part, ast.DictComp):
        inner: ast.stmt = ast.Assign([ast.Subscript(ast.Name(name, ast.Load()), part.key, ast.Store())], part.value)
    else:
        inner = ast.parse(f"{name} = {name} + x" if word == "sum" else f"{holder}.append(x)").body[0]
        _put(inner, part.elt)
    loop: ast.stmt = inner
    for g in reversed(part.generators):
        for test in reversed(g.ifs):
            loop = ast.If(test, [loop], [])
        loop = ast.For(g.target, g.iter, [loop], [])
    loop = placed_at(loop, body[0])
    if word == "sum":
        seen = replace(visit, values={**visit.values, name: 0}, live={**visit.live, name: 0})
        return StandIns((loop,), seen, (f"{name} = 0",))
    last = visit.after.get(name)
    if isinstance(part, ast.DictComp) and isinstance(last, dict):
        made: dict[object, object] = {}
        seen = replace(visit, values={**visit.values, name: made}, live={**visit.live, name: visit.ends[name]})
        return StandIns((loop,), seen, (f"{name} = {{}}",))
    if not isinstance(last, (list, np.ndarray)):
        return None
    ends = visit.ends[name] if call is None else list(last)
    seen = replace(
        visit,
        values={**visit.values, holder: []},
        live={**visit.live, holder: ends},
        after={**visit.after, holder: list(last)},
        ends={**visit.ends, holder: ends},
    )
    after = () if call is None else (f"{name} = {call.format(holder)}", f"del {holder}")
    return StandIns((loop,), seen, (f"{holder} = []",), after)


def _found(value: ast.expr, visit: Visit) -> tuple[_Comprehension, str, str | None] | None:
    """The comprehension, whether it is a list or a sum, and the call that makes an array of the list."""
    match value:
        case ast.ListComp() | ast.DictComp():
            return value, "list", None
        case ast.Call(func=ast.Name(id="list"), args=[ast.GeneratorExp() as part], keywords=[]):
            return part, "list", None
        case ast.Call(func=ast.Name(id="sum"), args=[ast.GeneratorExp() | ast.ListComp() as part], keywords=[]):
            return part, "sum", None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=of), attr=word), args=[ast.ListComp() as part], keywords=named
        ) if visit.values.get(of) is np and word in _ARRAYS:
            rest = "".join(f", {k.arg}={ast.unparse(k.value)}" for k in named)
            return part, "list", f"{of}.{word}({{}}{rest})"
    return None


def _put(s: ast.stmt, value: ast.expr) -> None:
    """Puts the comprehension's value in the place of `x`."""
    if isinstance(s, ast.Assign) and isinstance(s.value, ast.BinOp):
        s.value.right = value
    elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
        s.value.args = [value]
