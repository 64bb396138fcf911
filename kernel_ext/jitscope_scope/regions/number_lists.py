"""Python's lists and tuples of numbers, rectangles of such (`table[i][j]`), and lists of arrays of one kind and size that a region takes
elements of, gives to NumPy's functions and stores into: they go in as arrays, and what was stored is put back into the lists."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from types import FunctionType

import numpy as np

from . import naming, words
from .array_arguments import lists_given, value_of
from .functions import Definitions, definition_of
from .watching import Visit


_KINDS = (list, tuple)


def number_lists(body: naming.Statements, visit: Visit, definitions: Definitions) -> dict[str, int]:
    """Names of lists of whole or floating numbers or truth values that the region, and the functions that it calls, only take elements
    of, store elements into, go through, compute with as NumPy does, or ask for their length; and how many axes they have. Tuples are
    among them that are not known while tracing."""
    stored = naming.stored_into(body)
    scopes = [(tuple(body), frozenset[str]()), *_called(body, visit, definitions)]
    names = {n for statements, own in scopes for n in naming.loaded(statements) - own} | stored
    found = {n: axes for n in names - naming.bound(body) if (axes := _axes(visit.values.get(n)))}
    found = {n: axes for n, axes in found.items() if n not in stored or _stays(n, axes, visit)}
    changed = stored | naming.augmented(body)
    for n in [n for n in found if isinstance(visit.values[n][0], np.ndarray)]:  # type: ignore[index]
        named = naming.loop_targets(body, lambda loop, n=n: n in naming.loaded([loop.iter]))
        if named & changed or _is_named(visit.live[n], changed, visit):  # type: ignore[arg-type]
            del found[n]
    known = {n: v for n, v in visit.values.items() if n not in visit.after or type(visit.after[n]) is type(v)}
    known = {**{n: v for n, v in visit.after.items() if n not in visit.values}, **known}
    uses, good = list[str](), list[str]()
    for statements, own in scopes:
        outer = {n: axes for n, axes in found.items() if n not in own | (stored if own else frozenset())}
        around = {n: v for n, v in known.items() if n not in own}
        for part in (n for s in statements for n in ast.walk(s)):
            uses += [part.id] if isinstance(part, ast.Name) and part.id not in own else []
            good += [*_taken(part, outer), *_computed_with(part, outer, around)]
    return {n: axes for n, axes in found.items() if good.count(n) == uses.count(n)}


def _is_named(arrays: list[np.ndarray], changed: set[str], visit: Visit) -> bool:
    """Whether one of these arrays is what a changed name stands for, or gets another name, or a place in another list, in the region."""
    own = {id(v) for v in arrays} | {id(v.base) for v in arrays if v.base is not None}
    before = {id(v) for v in visit.live.values()} | {id(v) for v in _inside(visit.values, visit.live, arrays)}
    others = [v for n, v in visit.live.items() if n in changed | visit.changed]
    others += [v for v in [*visit.ends.values(), *_inside(visit.ends, visit.ends, arrays)] if id(v) not in before]
    return any(isinstance(v, np.ndarray) and (id(v) in own or id(v.base) in own) for v in others)


def _inside(sizes: Mapping[str, object], lists: Mapping[str, object], but: list[np.ndarray]) -> Iterator[object]:
    """What is in lists and tuples, as far as they go that are named likewise among `sizes`."""
    for n, v in lists.items():
        size = sizes.get(n)
        if isinstance(v, (list, tuple)) and isinstance(size, (list, tuple)) and v is not but:
            yield from v[: len(size)]


def _called(
    body: naming.Statements, visit: Visit, definitions: Definitions
) -> Iterator[tuple[tuple[ast.stmt, ...], frozenset[str]]]:
    """The statements of the cells' functions that the region, or one of them, names; and the names that are a function's own."""
    seen, new = set[str](), naming.loaded(body)
    while new:
        seen |= new
        functions = {n: v for n in new if isinstance(v := visit.values.get(n), FunctionType) and words.of_users(v)}
        found = {n: node for n, v in functions.items() if (node := definition_of(v, definitions)) is not None}
        new = {n for node in found.values() for n in naming.loaded(node.body)} - seen
        for n, node in found.items():
            kept = functions[n].__code__.co_freevars
            yield tuple(node.body), frozenset({*naming.bound(node.body), *naming.parameters(node), *kept, n})


def _axes(value: object) -> int:
    """1 for a list or a tuple of numbers of one kind, or of whole and floating ones, and for a list of arrays, 2 for lists of such of one length; else 0."""
    if not isinstance(value, (list, tuple)) or type(value) not in _KINDS or not value or words.is_static(value):
        return 0
    if isinstance(first := value[0], np.ndarray):
        alike = all(isinstance(v, np.ndarray) and v.shape == first.shape and v.dtype == first.dtype for v in value)
        return int(type(value) is list and alike and first.ndim > 0 and first.dtype.kind in "biufc")
    rows = value if all(type(row) in _KINDS for row in value) else None
    flat = [v for row in rows for v in row] if rows else value
    kinds = {type(v) for v in flat}
    if kinds not in ({int}, {float}, {bool}, {int, float}, {np.float64}, {np.int64}):
        return 0
    if int in kinds and not all(abs(v) < (2**62 if kinds == {int} else 2**53) for v in flat if type(v) is int):
        return 0
    if rows is None:
        return 1
    return 2 if len({len(row) for row in rows}) == 1 else 0


def _stays(name: str, axes: int, visit: Visit) -> bool:
    """Whether a list that is stored into is of the same kind and size afterwards, and there is no other way to it or to its rows."""
    before, after, live = visit.values[name], visit.after.get(name), visit.live[name]
    if isinstance(before[0], np.ndarray):  # type: ignore[index]
        return False
    kinds = {type(v) for v in np.ravel(np.array(before, object))}
    if len(kinds) > 1 or kinds & {np.float64, np.int64}:
        return False
    if _axes(after) != axes or np.shape(before) != np.shape(after) or visit.ends.get(name) is not live:  # type: ignore[arg-type]
        return False
    if np.asarray(before).dtype != np.asarray(after).dtype or not isinstance(live, list):
        return False
    if axes == 2 and len(live) > 400:  # its rows are among the values that are followed
        return False
    parts = [live, *(live if axes == 2 else [])]
    ways = [value for value, _ in visit.lists.values()]
    return all(sum(part is other for other in ways) == 1 for part in parts)


def _taken(node: ast.AST, found: Mapping[str, int]) -> list[str]:
    """The lists that a node uses in one of the ways that arrays can be used."""
    match node:
        case ast.Subscript(value=ast.Subscript(value=ast.Name(id=name), slice=first), slice=second):
            good = found.get(name) == 2 and not isinstance(first, (ast.Slice, ast.Tuple))
            return [name] if good and not isinstance(second, (ast.Slice, ast.Tuple)) else []
        case ast.Subscript(value=ast.Name(id=name), slice=at) if not isinstance(at, (ast.Slice, ast.Tuple)):
            return [name] if found.get(name) == 1 else []
        case ast.Call(
            func=ast.Name(id="sum" | "max" | "min"), args=[ast.Subscript(value=ast.Name(id=name), slice=ast.Slice())]
        ):
            return [name] if found.get(name) == 1 else []
        case ast.For(target=target, iter=ast.Name(id=name)):
            return [name] if found.get(name) == (2 if isinstance(target, ast.Tuple) else 1) else []
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name))]):
            return (
                [name]
                if found.get(name) == (1 if isinstance(node.args[0], ast.Name) else 2)
                or (isinstance(node.args[0], ast.Name) and found.get(name) == 2)
                else []
            )
        case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args):
            return [a.id for a in args if isinstance(a, ast.Name) and found.get(a.id) == 1]
    return []


def _computed_with(node: ast.AST, found: Mapping[str, int], around: Mapping[str, object]) -> list[str]:
    """The lists that NumPy makes arrays of in a call, or in an operation with an array."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    indices: list[ast.expr] = []
    compared = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq
    match node:
        case ast.Call():
            return [n for n in lists_given(node, around) if n in found]
        case ast.BinOp(left=a, right=b):
            pairs = [(a, b), (b, a)]
        case ast.Compare(left=a, ops=[op], comparators=[b]) if isinstance(op, compared):
            pairs = [(a, b), (b, a)]
        case ast.AugAssign(target=a, value=b):
            pairs = [(b, a)]
        case ast.Subscript(value=of, slice=at) if _is_array(_indexed(of), around):
            indices = [p for p in (at.elts if isinstance(at, ast.Tuple) else [at]) if isinstance(p, ast.Name)]
    whole = [p.id for p in indices if isinstance(p, ast.Name) and found.get(p.id) == 1 and _are_places(p, around)]
    return whole + [a.id for a, b in pairs if isinstance(a, ast.Name) and a.id in found and _is_array(b, around)]


def _indexed(node: ast.expr) -> ast.expr:
    """What parts are taken of: one of an array with axes is an array, or a number, which has no parts."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _are_places(node: ast.Name, around: Mapping[str, object]) -> bool:
    """Whether a list is one of whole numbers, which picks places of an array: a tuple stands for one place, truth values are a mask."""
    value = around.get(node.id)
    return type(value) is list and all(type(v) is int for v in value)


def _is_array(node: ast.expr, around: Mapping[str, object]) -> bool:
    """Whether an expression is an array with axes for certain: whole numbers would repeat a list."""
    match node:
        case ast.Name(id=name):
            value = around.get(name)
            return isinstance(value, np.ndarray) and value.ndim > 0
        case ast.UnaryOp(operand=a):
            return _is_array(a, around)
        case ast.BinOp(left=a, right=b):
            return _is_array(a, around) or _is_array(b, around)
        case ast.Call(func=function, args=args):
            return isinstance(value_of(function, around), np.ufunc) and any(_is_array(a, around) for a in args)
    return False


def as_arrays(body: naming.Statements, found: Mapping[str, int]) -> tuple[ast.stmt, ...]:
    """The statements with `table[i, j]` in place of `table[i][j]`, and `np.array(row)` of `np.asarray(row)`, which is no view of a list."""
    if not found:
        return tuple(body)
    return tuple(_Arrays(found).visit(copy.deepcopy(s)) for s in body)


class _Arrays(ast.NodeTransformer):
    def __init__(self, found: Mapping[str, int]) -> None:
        self.found = found

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Subscript(value=ast.Name(id=name) as of, slice=i), slice=j) if (
                name in self.found
            ):
                both = ast.copy_location(ast.Tuple([i, j], ast.Load()), node)
                return ast.copy_location(ast.Subscript(of, both, node.ctx), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(attr="asarray") as function, args=[ast.Name(id=name), *_]) if (
                name in self.found
            ):
                function.attr = "array"
        return node


def put_back(name: str, axes: int, result: str) -> list[str]:
    """The statements that store an array's elements into the list that it is of."""
    if axes == 1:
        return [f"{name}[:] = {result}.tolist()"]
    row, new = f"row_of_{name}", f"new_of_{name}"
    return [f"for {row}, {new} in zip({name}, {result}.tolist()):", f"    {row}[:] = {new}", f"del {row}, {new}"]
