"""Lists that grow where the number of turns is not known before: under a branch, in a loop inside a loop, in one that is left by a value.
Their elements go into an array that is large enough, beside a count."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from . import growing, naming
from .homes import is_array
from .parts import numpy_in, placed_at
from .watching import Visit


_MOST = 1 << 22
"""Elements: larger arrays are not made for a list."""


def in_rows(
    body: naming.Statements, values: dict[str, object], after: Mapping[str, object], library: str = ""
) -> tuple[tuple[ast.stmt, ...], list[str]]:
    """The statements with `rows_of_x[count_of_x] = v` in place of `x.append(v)`, and the names of these lists. `values`, seen before, get
    what the rows are. `library` is the name of that whose arrays they are, if not NumPy's."""
    places = _places(body, values)
    names = [n for n in dict.fromkeys(n for n, _, _ in places) if not _by_turn(n, places)]
    stored, new, found = naming.stored_into(body), [copy.deepcopy(s) for s in body], []
    first: list[ast.stmt] = []
    for n in names:
        mine = [(call, loops) for m, call, loops in places if m == n]
        used = naming.uses(n, body)
        size = _size([loops for _, loops in mine], body)
        like = _like(values.get(n), after.get(n), bool(library))
        if size is None or like is None or len(used) != len(mine) or any(_kept_alive(c, stored, like) for c, _ in mine):
            continue
        try:
            most = eval(size, {"__builtins__": {}, "len": len, "range": range, "min": min}, dict(values))
        except Exception:
            continue
        if most * max(1, like.size) > _MOST:
            continue
        values[f"rows_of_{n}"] = np.zeros((1, *like.shape), like.dtype)
        shape = ", ".join([size, *map(str, like.shape)])
        kind = _python_kind(after[n]) if library else ""
        text = f"rows_of_{n} = {library or numpy_in(values)}.zeros(({shape},), {kind or repr(like.dtype.name)})\ncount_of_{n} = 0"
        first += [placed_at(s, body[0]) for s in ast.parse(text).body]
        found.append(n)
    if not found:
        return tuple(body), []
    return (*first, *(_Rows(found, bool(library)).visit(s) for s in new)), found


def put_last(body: naming.Statements, names: Collection[str], visit: Visit) -> dict[str, str]:
    """Lists of `in_rows` whose last element is the array that a name stands for in the end, and the name: it is bound only where it is
    appended, just before."""
    found: dict[str, str] = {}
    blocks = [b for s in naming.statements(body) for b in (getattr(s, "body", []), getattr(s, "orelse", []))]
    stored = Counter(naming.stored(body))
    for block in blocks:
        for k, s in enumerate(block):
            match s:
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=rows))], value=ast.Name(id=of)):
                    name, before = rows.removeprefix("rows_of_"), block[:k]
                    alone = stored[of] == Counter(naming.stored(before))[of] > 0 and not naming.leaves(before)
                    if name in names and alone and isinstance(visit.ends.get(of), np.ndarray):
                        found[name] = of
    return found


def _places(
    body: naming.Statements, values: Mapping[str, object], loops: tuple[ast.stmt, ...] = ()
) -> list[tuple[str, ast.Call, tuple[ast.stmt, ...]]]:
    """The calls that append, each with the name of its list, and the loops that it stands in."""
    found: list[tuple[str, ast.Call, tuple[ast.stmt, ...]]] = []
    for s in body:
        match s:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))) as call) if (
                growing.appends(call, values) and len(call.args) == 1
            ):
                found.append((name, call, loops))
            case ast.For() | ast.While():
                found += _places(s.body, values, (*loops, s))
            case ast.If():
                found += _places([*s.body, *s.orelse], values, loops)
    return found


def _by_turn(name: str, places: list[tuple[str, ast.Call, tuple[ast.stmt, ...]]]) -> bool:
    """Whether a list gets one element in each turn of one loop that runs to its end, which needs no count."""
    mine = [(call, loops) for n, call, loops in places if n == name]
    if len(mine) != 1 or len(mine[0][1]) != 1 or not isinstance(loop := mine[0][1][0], ast.For):
        return False
    whole = any(isinstance(s, ast.Expr) and s.value is mine[0][0] for s in loop.body)
    return whole and not naming.leaves(loop.body)


def _size(places: list[tuple[ast.stmt, ...]], body: naming.Statements) -> str | None:
    """How many elements these places append at most, as an expression of what the statements leave alone."""
    moving, parts = naming.bound(body) | naming.stored_into(body), []
    for loops in places:
        factors = [length(loop, moving) if isinstance(loop, ast.expr) else None for loop in _widest(loops)]
        known = [f for f in factors if f is not None]
        if len(known) < len(factors):
            return None
        parts.append(" * ".join(known))
    return " + ".join(parts) if all(parts) else None


def _widest(loops: tuple[ast.stmt, ...]) -> list[ast.expr | None]:
    """What loops inside of each other go through, with the ends of outer ranges in the place of their counts: at least as much as in any turn
    (`range(n)` for `range(i)`, inside of `for i in range(n)`)."""
    ends, wide = dict[str, tuple[ast.expr, ast.expr]](), list[ast.expr | None]()
    for loop in loops:
        if not isinstance(loop, ast.For):
            wide.append(None)
            continue
        over = loop.iter
        match over:
            case ast.Call(func=ast.Name(id="range"), args=[*first, last], keywords=[]) if len(first) < 2:
                low = _at_end(first[0] if first else ast.Constant(0), ends, 0)
                high = _at_end(last, ends, 1)
                if low is not None and high is not None:
                    over = ast.Call(over.func, [low, high], [])
                    if isinstance(loop.target, ast.Name) and loop.target.id not in naming.bound(loop.body):
                        ends[loop.target.id] = low, high
        wide.append(over)
    return wide


def _at_end(node: ast.expr, ends: Mapping[str, tuple[ast.expr, ast.expr]], end: int) -> ast.expr | None:
    """The expression where it is smallest (`end` 0) or largest (1) over the counts of outer loops; None where the text does not show it."""
    match node:
        case ast.Name(id=name) if name in ends:
            return ends[name][end]
        case ast.BinOp(left=a, op=ast.Add() | ast.Sub() as op, right=b):
            left, right = _at_end(a, ends, end), _at_end(b, ends, end if isinstance(op, ast.Add) else 1 - end)
            return None if left is None or right is None else ast.BinOp(left, op, right)
    return None if naming.names([node]) & ends.keys() else node


def length(over: ast.expr, moving: set[str], arrays: Collection[str] = ()) -> str | None:
    """How many elements a loop goes through, as an expression of names that are not `moving`, and of the sizes of `arrays`; None where that is
    not known."""
    sizes = [n.args[0] for n in ast.walk(over) if isinstance(n, ast.Call) and ast.unparse(n.func) == "len" and n.args]
    sizes += [n.value for n in ast.walk(over) if isinstance(n, ast.Attribute) and n.attr == "shape"]
    read = [n for n in ast.walk(over) if isinstance(n, ast.Name) and not any(n is s and n.id in arrays for s in sizes)]
    if naming.loaded(read) & moving:
        return None
    match over:
        case ast.Call(func=ast.Name(id="range"), args=args) if (size := naming.size_of_range(args)) is not None:
            return f"len(range({ast.unparse(size)}))"
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as parts, keywords=[]):
            each = [length(p, moving, arrays) for p in parts]
            return f"min({', '.join(filter(None, each))}, {each[0]})" if all(each) else None
        case ast.Name() | ast.Call(func=ast.Name(id="range")):
            return f"len({ast.unparse(over)})"
        case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=rows)]):
            return f"len({rows})"
    return None


def _python_kind(elements: object) -> str:
    """The name of the type of Python's numbers, of which a library makes its own."""
    assert isinstance(elements, list)
    return type(elements[-1]).__name__ if type(elements[-1]) in (bool, int, float, complex) else ""


def _like(before: object, after: object, of_library: bool) -> np.ndarray | None:
    """What the elements are like that were appended, where all are alike."""
    if type(before) is not list or type(after) is not list or len(after) <= len(before):
        return None
    new = after[len(before) :]
    numbers = (int, float, complex) if of_library else (int, float, complex, np.ndarray, np.generic)
    if any(type(v) is not type(new[0]) for v in new):
        return None
    if of_library and is_array(new[0]):
        if any(getattr(v, "weak_type", False) or str(v.dtype).startswith("key<") for v in new):
            return None
    elif not isinstance(new[0], numbers):
        return None
    arrays = [np.asarray(v) for v in new]
    alike = all(a.dtype == arrays[0].dtype and a.shape == arrays[0].shape for a in arrays)
    return arrays[0] if alike and arrays[0].dtype.kind in "biufc" else None


def _kept_alive(call: ast.Call, stored: set[str], like: np.ndarray) -> bool:
    """Whether the list would hold an array, or a view of one, that is stored into later on."""
    item = call.args[0]
    return isinstance(item, (ast.Tuple, ast.List)) or (like.ndim > 0 and naming.root_of(item) in stored)


class _Rows(ast.NodeTransformer):
    def __init__(self, names: list[str], anew: bool) -> None:
        """`anew` says that arrays are not stored into: each store makes another one."""
        self.names, self.anew = names, anew

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item]) if (
                name in self.names
            ):
                rows = f"rows_of_{name}"
                text = f"{rows} = {rows}.at[count_of_{name}].set(0)" if self.anew else f"{rows}[count_of_{name}] = 0"
                store, count = ast.parse(f"{text}\ncount_of_{name} += 1").body
                assert isinstance(store, ast.Assign)
                placed_at(store, node)
                if isinstance(store.value, ast.Call):
                    match item:
                        case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]):
                            item = inner
                    store.value.args = [item]
                else:
                    store.value = item
                return [store, placed_at(count, node)]
        return node
