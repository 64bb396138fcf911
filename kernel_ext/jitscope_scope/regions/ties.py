"""Comparisons, and steps like `int(x / h)`, of numbers that are equal but for rounding: compiled code, which rounds otherwise, may decide them
otherwise."""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import linecache
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import CodeType, FunctionType

import numpy as np

from ..source_code.parameters import given_to
from . import naming
from .functions import codes_of
from .homes import attributes_of, data_of, is_array, is_users_object
from .left_overs import left_of, made_once
from .parts import whole_number


NAME = "region_compared"
ROUNDINGS = 8
"""Numbers that are no farther apart, in units of their last places, are said to be near."""
_WORDS: dict[type[ast.AST], str] = dict(
    zip(
        (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.FloorDiv, ast.Mod),
        ("lt", "le", "gt", "ge", "eq", "ne", "floordiv", "mod"),
        strict=True,
    )
)
_ORDERED = frozenset("lt le gt ge".split())
_COMPARED = frozenset("lt le gt ge eq ne argmax argmin argsort".split())
_STEPS = frozenset("int floor ceil trunc fix astype".split())
_SUMS = frozenset("sum mean std var prod average dot".split())
_PEAKS = {"argmax": slice(-2, None), "argmin": slice(0, 2), "argsort": slice(None)}
"""Functions that pick places, and which of the sorted numbers they pick among."""
_KEEPING = frozenset("min max abs float len range".split())
"""Functions that give one of the numbers that they are given."""
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


class Comparisons:
    """Compares as statements do, in which it stands under `NAME`; `near` is the line of one whose numbers, not equal ones, were so near to one
    another, and what is to be said of it."""

    def __init__(self, narrow: bool = False) -> None:
        """`narrow` says that numbers are rounded to 32 bits."""
        self.near: tuple[int, str] | None = None
        self.narrow = narrow
        self.order: tuple[int, str] | None = None
        """The same of one that can be decided `otherwise`: which of two numbers of 32 bits is larger, or which of many."""
        self.otherwise = False

    def __call__(
        self, word: str, a: object, b: object, line: int, text: str, picked: bool, larger: tuple[object, ...] = ()
    ) -> object:
        """`larger` are the numbers of which these are left."""
        if self.otherwise:
            return self._other(word, a, b, larger)
        if self.near is None and any(np.asarray(v).dtype.kind == "f" for v in (a, b)):
            with np.errstate(all="ignore"):
                self._look(word, np.asarray(a, np.float64), np.asarray(b, np.float64), line, text, _largest(larger))
                if picked and self.near is None and word in _COMPARED:
                    self._look_at_equal(word, np.asarray(a, np.float64), np.asarray(b, np.float64), line, text)
        return getattr(operator, word)(a, b) if hasattr(operator, word) else a

    def _look_at_equal(self, word: str, x: np.ndarray, y: np.ndarray, line: int, text: str) -> None:
        """Sums of what a mask picks, which are equal: compiled ones round as the picked places lie."""
        x, y = _neighbours(word, x, y) if word in _PEAKS else (x, y)
        if np.any((x == y) & (x != np.round(x))):
            self.near = line, f"{text} compares equal sums of what masks pick, which compiled code rounds otherwise"

    def _look(self, word: str, x: np.ndarray, y: np.ndarray, line: int, text: str, larger: float) -> None:
        does = "compares numbers that are equal"
        if word in _PEAKS:
            (x, y), does = _neighbours(word, x, y), "picks among numbers that are equal"
        elif word in ("step", "half", "floordiv", "mod"):
            x = x / y if word in ("floordiv", "mod") else 2 * x if word == "half" else x
            y, does = np.round(x), "cuts a number that is whole, or a half,"
            x = np.where(y % 2 == 0, y, x) if word == "half" else x
        if np.any(self._is_near(x, y, larger)):
            said = line, f"{text} {does} but for rounding, which compiled code does otherwise"
            if self.narrow and (word in _ORDERED or word in _PEAKS):
                self.order = self.order or said
            else:
                self.near = said

    def _is_near(self, x: np.ndarray, y: np.ndarray, larger: float) -> np.ndarray:
        gap, size = np.abs(x - y), np.maximum(np.abs(x), np.abs(y))
        one = np.maximum(size, larger) * 2.0**-23 if self.narrow else np.spacing(size)
        return (gap > 0) & np.isfinite(gap) & (gap <= ROUNDINGS * one)

    def _other(self, word: str, a: object, b: object, larger: tuple[object, ...]) -> object:
        """The comparison with what is near decided otherwise, and numbers among which places are picked moved by their rounding."""
        if word in _PEAKS:
            x = np.asarray(a)
            moved = 1 + ROUNDINGS * 2.0**-23 * _exchanging(word, x, float(b))  # type: ignore[arg-type]
            return a * moved.astype(x.dtype) if x.dtype.kind == "f" else a  # type: ignore[operator]
        result = getattr(operator, word)(a, b) if hasattr(operator, word) else a
        if word not in _ORDERED:
            return result
        with np.errstate(all="ignore"):
            near = self._is_near(np.asarray(a, np.float64), np.asarray(b, np.float64), _largest(larger))
        return np.asarray(result) ^ near if np.any(near) else result


def _largest(values: Iterable[object]) -> float:
    return max((float(np.max(np.abs(np.asarray(v, np.float64)))) for v in values), default=0.0)


def _neighbours(word: str, x: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each number among which a place is picked, and the one next to it in size; along an axis, NaN for all of them."""
    rows = np.moveaxis(x, int(axis), 0) if np.isfinite(axis) else x.ravel()
    rows = np.sort(rows, axis=0)[_PEAKS[word]]
    return rows[1:], rows[:-1]


def _exchanging(word: str, x: np.ndarray, axis: float) -> np.ndarray:
    """1 and -1 by turns in the order of size, so that numbers next to one another are exchanged if they are near: the two that matter, and every
    other pair."""
    rows = x if np.isfinite(axis) else x.ravel()
    along = int(axis) if np.isfinite(axis) else 0
    ranks = np.argsort(np.argsort(rows, axis=along, kind="stable"), axis=along, kind="stable")
    odd = (rows.shape[along] - ranks if word == "argmax" else ranks) % 2
    return (np.sign(rows) * (1 - 2 * odd)).reshape(x.shape)


def other_digits(runs: Iterable[tuple[Mapping[str, object], Mapping[str, object]]]) -> set[str]:
    """The names whose numbers have other digits in the second form, in pairs of what both forms left behind."""
    return {n for a, b in runs for n in a if _digits(a[n]) != _digits(b.get(n))}


def _digits(value: object, depth: int = 3) -> object:
    if isinstance(value, (float, np.floating, np.ndarray)) or is_array(value):
        return np.asarray(data_of(value)).tobytes()
    inside = (
        value if isinstance(value, (list, tuple)) else attributes_of(value).values() if is_users_object(value) else ()
    )
    return [_digits(v, depth - 1) for v in inside] if depth else None


@contextlib.contextmanager
def noted(
    body: naming.Statements,
    functions: Collection[FunctionType],
    others: Collection[str],
    same: Collection[str],
    said: Comparisons,
    values: Mapping[str, object],
) -> Iterator[ast.Module | None]:
    """The statements with calls in place of comparisons of numbers that rounding may have made, and the functions that they call likewise as long as
    this lasts; None where there is none. `others` are names that had other digits in the compiled form, `same` those that had the same;
    `values` are those of names."""
    files = {f.__code__.co_filename for f in functions}
    trees = {name: ast.parse("".join(linecache.getlines(name))) for name in files}
    reached = {f.__code__.co_firstlineno for f in functions}
    nodes = naming.all_of(_FUNCTIONS, trees.values())
    known = [n for n in nodes if min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", ()))]) in reached]
    given = _Given(body, known, others, same)
    rounded = {id(n): given.rounded(n) for n in nodes}
    writer = _Compared(given.of_region(), rounded)
    writer.picked = _summed([*body, *nodes], values)
    writer.made = made_once(body) if said.narrow else None
    whole = ast.fix_missing_locations(ast.Module([writer.visit(copy.deepcopy(s)) for s in body], []))
    codes: dict[tuple[str, int, str], CodeType] = {}
    for name, tree in trees.items():
        writer.names = None
        codes_of(compile(ast.fix_missing_locations(writer.visit(tree)), name, "exec"), codes)
    before: list[tuple[FunctionType, CodeType]] = []
    try:
        for f in functions if writer.found else ():
            code = codes.get((f.__code__.co_filename, f.__code__.co_firstlineno, f.__code__.co_qualname))
            if code is not None and code.co_freevars == f.__code__.co_freevars:
                before.append((f, f.__code__))
                f.__code__, f.__globals__[NAME] = code, said
        yield whole if writer.found else None
    finally:
        for f, code in before:
            f.__code__ = code
            f.__globals__.pop(NAME, None)


def _summed(nodes: Iterable[ast.AST], known: Mapping[str, object]) -> set[str]:
    """The names of sums of what masks pick, and of what is made of such."""
    inside = [n for node in nodes for n in ast.walk(node)]
    bound = [(t, v) for n in inside if isinstance(n, ast.stmt) for v, t in _bindings(n, whole=True) if v is not None]
    found: set[str] = set()
    while new := {
        root
        for target, value in bound
        if naming.loaded([value]) & found or any(_is_sum_of_picks(n, known) for n in ast.walk(value))
        for root in naming.bound([target]) | {naming.root_of(target)}
        if root and root not in found
    }:
        found |= new
    return found


def _is_sum_of_picks(node: ast.AST, known: Mapping[str, object]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=of, attr=word), args=args) if word in _SUMS:
            return any(
                isinstance(n, ast.Subscript) and _is_mask(n.slice, known) for p in [of, *args] for n in ast.walk(p)
            )
    return False


def _is_mask(node: ast.expr, known: Mapping[str, object]) -> bool:
    """Whether an index may be an array of truth values."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Invert()) | ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            return True
        case ast.Tuple(elts=parts):
            return any(_is_mask(p, known) for p in parts)
        case ast.Name(id=name):
            value = known.get(name)
            return name not in known or (isinstance(value, np.ndarray) and value.dtype.kind == "b")
    return False


class _Compared(ast.NodeTransformer):
    """`names` are those that rounding may have made; None outside of functions. `of` has those of each function."""

    def __init__(self, names: Collection[str] | None, of: Mapping[int, Collection[str]]) -> None:
        self.names, self.of, self.found = names, of, False
        self.picked: set[str] = set()
        """Names of sums of what masks pick, and of what is made of such."""
        self.made: Mapping[str, ast.expr] | None = None
        """What names of the region are made of, where it is asked of which larger numbers something is left."""
        self.inside = ""
        """Words for the function that is looked at: its lines are those of the cell that defines it."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.Lambda) -> ast.AST:
        outer = self.names, self.inside
        self.names = self.of.get(id(node), self.names)
        self.inside = f" (in `{node.name}`)" if isinstance(node, ast.FunctionDef) else self.inside
        try:
            return self.generic_visit(node)
        finally:
            self.names, self.inside = outer

    def _reads(self, node: ast.AST) -> bool:
        return self.names is not None and not naming.loaded([node]).isdisjoint({*self.names} | self.picked)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) > 1 or type(node.ops[0]) not in _WORDS or not self._reads(node):
            return self.generic_visit(node)
        return self._noted(_WORDS[type(node.ops[0])], node, node.left, node.comparators[0])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if type(node.op) not in _WORDS or not self._reads(node):
            return self.generic_visit(node)
        return self._noted(_WORDS[type(node.op)], node, node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        word = "step" if name in _STEPS else name if name in _PEAKS else "half" if name in ("round", "rint") else ""
        whole = name != "astype" or ast.unparse(node.args[0] if node.args else node).rpartition(".")[2].startswith(
            "int"
        )
        if word and whole and self._reads(node):
            placed = name in _PEAKS and whole_number(node.args[0] if node.args else None) is not None
            of_array = isinstance(node.func, ast.Attribute) and (name == "astype" or not node.args or placed)
            axis = [ast.Constant(_axis(node, of_array))] if name in _PEAKS else []
            if of_array:
                node.func.value = self._noted(word, node, node.func.value, *axis)  # type: ignore[attr-defined]
                return node
            if len(node.args) == 1 or axis:
                node.args[0] = self._noted(word, node, node.args[0], *axis)
                return node
        return self.generic_visit(node)

    def _noted(self, word: str, node: ast.expr, *parts: ast.expr) -> ast.expr:
        text = f"`{ast.unparse(node)}`{self.inside}"
        self.found = True
        picked = ast.Constant(bool(naming.loaded([node]) & self.picked))
        where: list[ast.expr] = [ast.Constant(0 if self.inside else node.lineno), ast.Constant(text), picked]
        larger = [p for part in parts for p in left_of(part, self.made)] if self.made is not None else []
        where += [ast.Tuple(copy.deepcopy(larger), ast.Load())] if larger else []
        inner = [self.visit(p) for p in parts]
        given = [ast.Constant(word), *inner, *([ast.Constant(1.0)] if len(inner) < 2 else []), *where]
        return ast.copy_location(ast.Call(ast.Name(NAME, ast.Load()), given, []), node)


def _axis(node: ast.Call, of_array: bool) -> float:
    """The axis along which a call picks places; NaN for all of them, or where it is not written."""
    given = [*(k.value for k in node.keywords if k.arg == "axis"), *node.args[not of_array : 2 - of_array]]
    number = whole_number(given[0]) if given else None
    if not given and isinstance(node.func, ast.Attribute) and node.func.attr == "argsort":
        number = -1
    return float("nan") if number is None else number


class _Given:
    """What rounding may have made: not what is added up of numbers that are given and have the same digits (`t += dt`)."""

    def __init__(
        self,
        body: naming.Statements,
        functions: list[ast.FunctionDef | ast.Lambda],
        others: Collection[str],
        same: Collection[str],
    ) -> None:
        self.body, self.others, self.same = body, others, same
        named = [n for n in functions if isinstance(n, ast.FunctionDef)]
        self.scopes = {n.name: n for n in named if [m.name for m in named].count(n.name) == 1}
        nodes: list[tuple[ast.FunctionDef | None, ast.AST]] = [(None, n) for s in body for n in ast.walk(s)]
        nodes += [(f, n) for f in self.scopes.values() for s in f.body for n in ast.walk(s)]
        self.calls: dict[str, list[tuple[ast.FunctionDef | None, ast.Call]]] = {}
        called = {id(n.func) for _, n in nodes if isinstance(n, ast.Call)}
        self.handed = {n.id for _, n in nodes if isinstance(n, ast.Name) and id(n) not in called}
        for f, n in nodes:
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                self.calls.setdefault(n.func.id, []).append((f, n))
        self.exact: dict[str | None, set[str]] = {None: naming.bound(body) | naming.loaded(body)}
        self.exact |= {
            n: {*naming.parameters(f)} | naming.bound(f.body) if n in self.calls else set()
            for n, f in self.scopes.items()
        }
        while any([self._less(f) for f in (None, *self.scopes.values())]):
            pass

    def of_region(self) -> set[str]:
        """The names in the region that rounding may have made."""
        return naming.loaded(self.body) - self.exact[None]

    def rounded(self, node: ast.FunctionDef | ast.Lambda) -> set[str]:
        """The same in a function."""
        read = naming.loaded([node])
        return read - self.exact[node.name] if self.scopes.get(getattr(node, "name", "")) is node else read  # type: ignore[union-attr]

    def _less(self, f: ast.FunctionDef | None) -> bool:
        """Takes out what is no longer sure; whether there was any."""
        name, body = (f.name, f.body) if f is not None else (None, self.body)
        gone = naming.stored_into(body) | ({*self.others} if f is None else set())
        if f is not None:
            names = naming.parameters(f)
            gone |= {*names} if name in self.handed else set()
            for scope, call in self.calls.get(f.name, []):
                given = given_to(names, call)
                gone |= {n for n, v in given.items() if not self._is_exact(v, scope)}
        for s in naming.statements(body):
            for value, target in _bindings(s):
                if value is None or not self._is_exact(value, f):
                    gone |= naming.bound([target]) | {n for n in [naming.root_of(target)] if n}
        gone -= {*self.same} if f is None else set()
        gone &= self.exact[name]
        self.exact[name] -= gone
        return bool(gone)

    def _is_exact(self, node: ast.expr, scope: ast.FunctionDef | None) -> bool:
        inside = lambda *parts: all(self._is_exact(p, scope) for p in parts)
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                own = naming.bound(scope.body) | {*naming.parameters(scope)} if scope is not None else {name}
                return name in self.exact[scope.name if scope is not None and name in own else None]
            case ast.BinOp(left=a, op=ast.Add() | ast.Sub(), right=b):
                return inside(a, b)
            case ast.UnaryOp(operand=a) | ast.Subscript(value=ast.Name() as a) | ast.Attribute(value=ast.Name() as a):
                return inside(a)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _KEEPING and hasattr(
                builtins, name
            ):
                return inside(*args)
        return False


def _bindings(s: ast.stmt, whole: bool = False) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """What a statement binds, and to what; None for what is not one expression, unless the `whole` value that goes into it is asked for."""
    match s:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            yield from zip(values, targets, strict=True)
        case ast.Assign(targets=targets, value=value):
            yield from ((value if whole or isinstance(t, ast.Name) else None, t) for t in targets)
        case ast.AugAssign(target=target, op=op, value=value) if whole or isinstance(op, ast.Add | ast.Sub):
            yield value, target
        case ast.For(target=target, iter=value):
            yield value if whole or isinstance(target, ast.Name) else None, target
        case _:
            yield from ((None, t) for t in naming.targets_of(s))


def share(x: np.ndarray, seed: int) -> np.ndarray:
    """Numbers between -1 and 1, float64 of x's shape, that are equal where elements of x are."""
    start = np.array(0x9E3779B97F4A7C15 * seed % 2**64, np.uint64)
    bits = np.array(np.real(x), np.float64, order="C").view(np.uint64) ^ start
    for shift, times in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = np.multiply(bits ^ (bits >> np.uint64(shift)), np.array([times], np.uint64)).reshape(x.shape)
    return (bits >> np.uint64(11)).astype(np.float64) / 2**52 - 1
