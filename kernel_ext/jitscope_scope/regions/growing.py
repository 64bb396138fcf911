"""What a loop fills turn by turn: lists that it appends to, and NumPy's arrays that it stores at its own count."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from types import ModuleType

import numpy as np

from . import naming
from .answers import CannotCompile
from .homes import Home, is_array, shares
from .watching import Visit


def lists(body: naming.Statements, values: Mapping[str, object], own: Collection[str] = ()) -> list[str]:
    """Lists that the region appends to, in the order of the text, but for its `own`. Raises CannotCompile for those that have no compiled
    form."""
    calls = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and appends(n, values, own)]
    names = [n.func.value.id for n in calls]  # type: ignore[attr-defined]
    for n, c in zip(names, calls, strict=True):
        if names.count(n) > 1:
            raise CannotCompile(c.lineno, "object", f"`{n}` is a Python list that grows in several places")
        if type(values.get(n)) is not list:
            kind = "" if n not in values else f" but a {type(values[n]).__name__}"
            raise CannotCompile(c.lineno, "object", f"`{n}` grows, and is no list made before the loop{kind}")
        if len(naming.uses(n, body)) != 1:
            raise CannotCompile(c.lineno, "object", f"`{n}` is a Python list that is read while it grows")
    return names


def of_one_turn(body: naming.Statements) -> set[str]:
    """Names of lists that each turn of a loop makes before it appends to them."""
    turn = body[-1].body if isinstance(body[-1], (ast.For, ast.While)) else []
    made = [
        s.targets[0].id
        for s in turn
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and isinstance(s.value, ast.List)
    ]
    return {n for n in made if n not in naming.read_first(turn)}


def appends(node: ast.AST, values: Mapping[str, object], own: Collection[str] = ()) -> bool:
    """Whether this is the call that appends to what a name stands for."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
            return name not in own and not isinstance(values.get(name), ModuleType)
    return False


def columns(body: naming.Statements, values: Mapping[str, object], home: Home) -> dict[str, str]:
    """NumPy's arrays that a loop over compiled arrays stores into, each turn at its own count, and otherwise leaves alone; with the
    text of the range that is counted."""
    if home.numpy or not isinstance(body[-1], ast.For) or naming.leaves(body[-1].body):
        return {}
    loop, found = body[-1], {}
    for s in loop.body:
        match s:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=count))]) if (
                isinstance(values.get(name), np.ndarray)
                and isinstance(loop.target, ast.Name)
                and count == loop.target.id
                and isinstance(loop.iter, ast.Call)
                and ast.unparse(loop.iter.func) == "range"
                and [n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name)].count(name) == 1
            ):
                found[name] = ast.unparse(loop.iter)
    return found


def afterwards(name: str, result: str, visit_after: object, column: str | None, home: Home) -> str:
    """The statements that put what a loop filled where the cell has it."""
    if column is not None:
        return f"{name}[{column}] = {result}"
    assert isinstance(visit_after, list)
    last = visit_after[-1] if visit_after else 0.0
    if isinstance(last, (int, float, complex)) and not isinstance(last, np.generic):
        return f"{name}.extend({result}.tolist())"
    if isinstance(last, np.ndarray) and not last.flags.writeable and last.ndim and home.mixed:
        return f"{result}.flags.writeable = False\n{name}.extend({result})"  # as NumPy's views of compiled arrays are
    if isinstance(last, np.ndarray) and not last.flags.writeable:
        raise CannotCompile(0, "object", f"`{name}` takes arrays of NumPy that are not written to", name)
    if isinstance(last, np.ndarray) and not last.ndim and home.numpy:
        return f"{name}.extend({result}[k, ...].copy() for k in range(len({result})))"
    if isinstance(last, np.ndarray) and home.numpy:
        return f"{name}.extend(row.copy() for row in {result})"
    if isinstance(last, (np.ndarray, np.generic)) and not home.numpy:
        raise CannotCompile(0, "value read by Python", f"`{name}` takes arrays of NumPy, made of compiled ones", name)
    if isinstance(last, np.generic) and home.mixed:
        return f"{name}.extend({result})"
    if home.arrays != "numpy" and not is_array(last):
        raise CannotCompile(0, "object", f"`{name}` takes a {type(last).__name__}", name)
    if home.arrays == "jax" and is_array(last) and not last.weak_type and not str(last.dtype).startswith("key<"):  # type: ignore[attr-defined]
        return f"{name}.extend(jax.device_put(list(jax.device_get({result}))))"  # jax compiles what takes rows apart
    return f"{name}.extend({result})"


def no_views(name: str, visit: Visit) -> None:
    """Refuses a list that takes views of arrays of before the region: what is stored into these later is seen in its elements."""
    taken, before = visit.ends.get(name), visit.values.get(name)
    known = len(before) if isinstance(before, list) else 0
    if not isinstance(taken, list) or len(taken) <= known:
        return
    for new in (taken[known], taken[-1]):
        for n, v in visit.live.items():
            if isinstance(new, np.ndarray) and isinstance(v, np.ndarray) and new is not v and shares(v, new):
                raise CannotCompile(0, "effect", f"`{name}` takes views of `{n}` (aliasing)", name)
    new, now, old = taken[known:], {**visit.live, **visit.ends}, {id(v) for v in visit.live.values()}
    held = {id(e): n for n, v in now.items() if isinstance(v, (list, tuple)) and v is not taken for e in v}
    held |= {id(v): n for n, v in visit.around.items() if id(v) in old}
    held |= {id(v): n for n, v in visit.live.items() if visit.ends.get(n, v) is v}
    held |= {id(v): n for n, v in visit.ends.items() if v is not new[-1]}
    for e in new:
        if isinstance(e, np.ndarray) and id(e) in held:
            said = f"`{name}` takes an array that `{held[id(e)]}` has, too (aliasing)"
            raise CannotCompile(0, "effect", said, name)


def put_last(body: naming.Statements, visit: Visit) -> dict[str, str]:
    """Lists whose last element is the array that a name stands for in the end, and the name: each turn appends it, and leaves it alone
    from there on."""
    found: dict[str, str] = {}
    turn = body[-1].body if isinstance(body[-1], (ast.For, ast.While)) and not naming.leaves(body[-1].body) else []
    for k, s in enumerate(turn):
        match s:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[ast.Name(id=of)])
            ) if of not in naming.bound(turn[k + 1 :]):
                taken = visit.ends.get(name)
                if isinstance(visit.ends.get(of), np.ndarray) and isinstance(taken, list) and taken:
                    found[name] = of
    return found


def in_places(visit: Visit, bound: Collection[str], home: Home) -> dict[str, str]:
    """Lists inside of objects and containers that got longer, all by numbers or arrays of one kind, and the name of that kind; not those
    that several ways lead to, or that stand for themselves."""
    found: dict[str, str] = {}
    for text, (value, before) in visit.lists.items():
        after = visit.lists_after.get(text)
        ways = sum(other is value for other, _ in [*visit.lists.values(), *((v, []) for v in visit.ends.values())])
        if after is None or after[0] is not value or text.isidentifier() or ways > 1 or len(after[1]) <= len(before):
            continue
        if naming.root_of(ast.parse(text, mode="eval").body) in bound:
            continue
        new = after[1][len(before) :]
        if any(x is not y for x, y in zip(before, after[1])) or len({type(v) for v in new}) > 1:
            continue
        if type(new[0]) in (float, int, complex) or (home.numpy and isinstance(new[0], (np.ndarray, np.generic))):
            found[text] = type(new[0]).__name__
        elif home.arrays != "numpy" and is_array(new[0]):
            found[text] = "array"
    return found


def extended(place: str, result: str, kind: str) -> str:
    """The statement that appends what turns appended: a column for each time that one turn does."""
    if kind in ("float", "int", "complex"):
        return f"{place}.extend(v for row in zip(*(c.tolist() for c in {result})) for v in row)"
    return f"{place}.extend({'v.copy()' if kind == 'ndarray' else 'v'} for row in zip(*{result}) for v in row)"
