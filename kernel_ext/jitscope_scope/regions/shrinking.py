"""Arrays that get shorter in each turn of a loop (`v = q * v[:-1] + p * v[1:]`, option trees, de Casteljau's points): whole arrays in the loop,
of which the first so many elements are what the arrays are; they are cut to their length after it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

import numpy as np

from ..source_code.tree import parts_of
from . import naming
from .masks import ELEMENTWISE
from .parts import placed_at, whole_number


class _NotShrinking(Exception):
    """The array is used in another way."""


def in_whole(
    body: naming.Statements, values: Mapping[str, object], after: Mapping[str, object], numpy: str
) -> tuple[naming.Statements, set[str]]:
    """The statements with whole arrays, and the names of the arrays that get shorter. `numpy` is NumPy's name."""
    if not any(_cut_by(s) for b in body for s in ast.walk(b)):
        return body, set()
    writer = _Writer({**after, **values}, after, numpy)
    new = [t for s in body for t in writer.written(copy.deepcopy(s))]
    return (tuple(new), writer.names) if writer.names else (body, set())


def _cut_by(s: ast.AST) -> int:
    """By how many elements a statement shortens what it binds: `v[1:]` and `v[:-1]` stand for `v` in what is bound to `v`; 0 if it does not."""
    match s:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            cuts = [_cut(n) for n in ast.walk(value) if isinstance(n, ast.Subscript) and ast.unparse(n.value) == name]
            sizes = {sum(c) for c in cuts if c is not None}
            return sizes.pop() if None not in cuts and len(sizes) == 1 else 0
    return 0


def _cut(node: ast.Subscript) -> tuple[int, int] | None:
    """How many elements a slice leaves out at both ends, if that is all that it does."""
    first = node.slice
    if not isinstance(first, ast.Slice) or first.step is not None:
        return None
    low, high = (0 if edge is None else whole_number(edge) or None for edge in (first.lower, first.upper))
    return (low, -high) if low is not None and high is not None and low >= 0 and high <= 0 and low - high > 0 else None


class _Writer:
    """Writes loops over such arrays."""

    def __init__(self, known: Mapping[str, object], after: Mapping[str, object], numpy: str) -> None:
        self.known, self.after, self.numpy = known, after, numpy
        self.names: set[str] = set()

    def written(self, s: ast.stmt) -> list[ast.stmt]:
        """The statement, or the loop with whole arrays and what cuts them after it."""
        if isinstance(s, (ast.For, ast.While)) and not s.orelse:
            try:
                if (found := self._loop(s)) is not None:
                    return found
            except _NotShrinking:
                return [s]
        for part in ("body", "orelse"):
            if (inner := getattr(s, part, None)) and isinstance(s, (ast.For, ast.While, ast.If)):
                setattr(s, part, [t for b in inner for t in self.written(b)])
        return [s]

    def _loop(self, s: ast.For | ast.While) -> list[ast.stmt] | None:
        names = {t.targets[0].id: _cut_by(t) for t in s.body if isinstance(t, ast.Assign) and _cut_by(t)}  # type: ignore[attr-defined]
        bound = [n for b in s.body for t in ast.walk(b) for n in naming.targets_of(t) if isinstance(t, ast.stmt)]
        if not names or len(set(names.values())) != 1:
            return None
        if any(sum(ast.unparse(t) == n for t in bound) != 1 or n in naming.stored_into(s.body) for n in names):
            return None
        if naming.leaves(s.body) or not all(isinstance(self.after.get(n), np.ndarray) for n in names):
            return None
        if len({len(self.after[n]) for n in names if np.ndim(self.after[n])}) != 1:  # type: ignore[arg-type]
            return None
        (cut,) = set(names.values())
        head = s
        if isinstance(s, ast.While):
            turns, head = self._counted(s, names, cut)
        elif not isinstance(s.iter, ast.Call) or ast.unparse(s.iter.func) != "range":
            return None
        else:
            turns = f"len({ast.unparse(s.iter)})"
        assert isinstance(head, ast.For)
        done: set[str] = set()
        head.body = [self._statement(t, names, done) for t in s.body]
        self.names |= names.keys()
        ends = [f"{n} = {n}[:max(0, len({n}) - {f'{cut} * ' if cut > 1 else ''}{turns})]" for n in names]
        return [head, *(placed_at(t, s) for t in ast.parse("\n".join(ends)).body)]

    def _counted(self, s: ast.While, names: Mapping[str, int], cut: int) -> tuple[str, ast.For]:
        """`while len(v) > 1` as a loop that is counted."""
        match s.test:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)])
                | ast.Attribute(value=ast.Name(id=name), attr="size"),
                ops=[ast.Gt()],
                comparators=[ast.Constant(value=int(least))],
            ) if name in names and least >= 0 and (isinstance(s.test.left, ast.Call) or np.ndim(self.after[name]) == 1):  # type: ignore[arg-type]
                turns = f"-(({least} - len({name})) // {cut})"
                head = ast.parse(f"for turn_of_{name} in range({turns}): pass").body[0]
                assert isinstance(head, ast.For)
                return turns, placed_at(head, s)
        raise _NotShrinking

    def _statement(self, s: ast.stmt, names: Mapping[str, int], done: set[str]) -> ast.stmt:
        """The statement with whole arrays; `done` are those that this turn has shortened."""
        if isinstance(s, ast.Assign) and (name := ast.unparse(s.targets[0])) in names:
            value = self._whole(s.value, names, done, np.ndim(self.after[name]))  # type: ignore[arg-type]
            done.add(name)
            return placed_at(ast.Assign(s.targets, value), s)
        parts = [n for n in naming.all_of(ast.Subscript, [s]) if ast.unparse(n.value) in names]
        if sum(_is_first(n.slice) for n in parts) != sum(n.id in names for n in naming.all_of(ast.Name, [s])):
            raise _NotShrinking
        return s

    def _whole(self, node: ast.expr, names: Mapping[str, int], done: set[str], axes: int) -> ast.expr:
        """An expression of parts of one length, of whole arrays. Raises _NotShrinking for what is not made element by element."""
        whole = lambda n: self._whole(n, names, done, axes)
        match node:
            case ast.Subscript(value=ast.Name(id=name) as of) if name in names:
                if name in done or (cut := _cut(node)) is None:
                    raise _NotShrinking
                if not cut[0]:
                    return of
                text = f"{self.numpy}.concatenate([{name}[{cut[0]}:], {name}[:{cut[0]}]])"
                return placed_at(ast.parse(text, mode="eval").body, node)
            case ast.Name(id=name) if name in names:
                if name not in done:
                    raise _NotShrinking
                return node
            case ast.BinOp(left=a, op=op, right=b) if not isinstance(op, ast.MatMult):
                return ast.copy_location(ast.BinOp(whole(a), op, whole(b)), node)
            case ast.UnaryOp(op=op, operand=a):
                return ast.copy_location(ast.UnaryOp(op, whole(a)), node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=word) as f, args=args, keywords=[]) if (
                self.known.get(module) is np and word in ELEMENTWISE
            ):
                return ast.copy_location(ast.Call(f, [whole(a) for a in args], []), node)
        if naming.loaded([node]) & names.keys() or not self._spreads(node, axes):
            raise _NotShrinking
        return node

    def _spreads(self, node: ast.expr, axes: int) -> bool:
        """Whether a value has fewer axes than the array, so that it goes with each of its elements alike."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                found = self.known.get(name)
                return isinstance(found, (int, float, complex, np.generic, np.ndarray)) and np.ndim(found) < axes
            case ast.Subscript(value=ast.Name(id=name), slice=at):
                parts = parts_of(at)
                found = self.known.get(name)
                if not isinstance(found, np.ndarray) or any(isinstance(p, ast.Slice) for p in parts):
                    return False
                return np.ndim(found) - len(parts) < axes and all(self._spreads(p, 1) for p in parts)
            case ast.BinOp(left=a, right=b):
                return self._spreads(a, axes) and self._spreads(b, axes)
            case ast.UnaryOp(operand=a):
                return self._spreads(a, axes)
        return False


def _is_first(at: ast.expr) -> bool:
    """Whether an index begins with a place that is counted from the start."""
    first = at.elts[0] if isinstance(at, ast.Tuple) and at.elts else at
    return isinstance(first, ast.Constant) and type(first.value) is int
