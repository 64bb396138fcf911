"""Values that a mask picks: their number is not known while tracing, but sums, means and stores of them are those of whole arrays under the
mask (`x[m].mean()` is `x.mean(where=m)`, `x[m] = f(y[m])` is `x[...] = where(m, f(y), x)`)."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..source_code.tree import parts_of
from . import naming
from .expressions import difference
from .parts import placed_at
from .picked_names import bound_once, held, kept
from .picks import MaskedExpression, Side, crossed, is_all, is_none, loaded, of_rows, part_of, place_of, ranked, zeroed
from .sizes import Parts


_REDUCED = frozenset("sum mean max min any all prod std var".split())
FOUND = frozenset(("argmax", "argmin"))
_RANKED = frozenset(("median", "percentile", "quantile"))
_PYTHONS = frozenset(("sum", "max", "min", "any", "all"))
ELEMENTWISE = frozenset(
    "abs absolute sqrt exp log log2 log10 sin cos tan tanh sinh cosh arctan square sign maximum minimum power fabs where clip floor "
    "ceil expm1 log1p isnan isfinite logical_and logical_or logical_not conj real imag hypot arctan2 zeros_like ones_like".split()
)


T = TypeVar("T")


def unmasked(
    body: naming.Statements,
    before: Mapping[str, object],
    after: Mapping[str, object],
    jnp: str,
    moving: set[str],
    numpy: str,
) -> tuple[tuple[ast.stmt, ...], list[str], dict[str, np.ndarray]]:
    """The statements without picks where that can be; those that bind names of picked values after the region again; and the names of whole
    arrays that these need, with arrays of their types. `moving` are the names that are not known while tracing, `numpy` that of NumPy."""
    masks = Masks({**before, **after}, jnp)
    masks.parts = Parts(moving, numpy)
    copied = [copy.deepcopy(s) for s in body]
    masks.once = bound_once(copied)
    masks.names = held(copied, masks)
    masks.kept = kept(copied, masks)
    new = [masks.visit(s) for s in copied]
    named = naming.names(new)
    if masks.done and not named & masks.wholes.keys() and not naming.loaded(new) & masks.names.keys():
        for s in new:
            ast.fix_missing_locations(s)
        again = [ast.unparse(s) for s in masks.names.values()] if masks.names else []
        wholes = {}
        for name, one in masks.wholes.items():
            assert isinstance(one.whole, ast.Name) and one.index is not None
            last = after.get(name)
            order = "'F'" if isinstance(last, np.ndarray) and not last.flags.c_contiguous else ""
            text = f"{one.whole.id}[{ast.unparse(one.index)}].copy({order})"
            again.append(f"{name} = {text}\ndel {one.whole.id}")
            wholes[one.whole.id] = np.empty(0, last.dtype if isinstance(last, np.ndarray) else float)
        return tuple(s for s in new if s is not None), again, wholes
    return tuple(body), [], {}


class Masks(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, object], jnp: str) -> None:
        self.known, self.jnp, self.done = known, jnp, False
        self.names: dict[str, ast.Assign] = {}
        self.once: dict[str, ast.expr] = {}
        self.parts: Parts | None = None
        self.kept: set[str] = set()
        """Names of picked values that get a whole array of their own."""
        self.wholes: dict[str, MaskedExpression] = {}
        """What these stand for, from where they are bound on."""
        self.ranks: dict[str, int] = {}
        """How many axes the whole arrays have."""

    def axes(self, node: ast.expr) -> int | None:
        """How many axes a value has."""
        match node:
            case ast.Constant():
                return 0
            case ast.Name(id=name):
                if name in self.ranks:
                    return self.ranks[name]
                found = self.known.get(name)
                if name not in self.known and name in self.once:
                    return self._once(name, self.axes)
                return np.ndim(found) if isinstance(found, (np.ndarray, np.generic, int, float, complex)) else None
            case ast.BinOp(left=a, right=b) if not isinstance(node.op, ast.MatMult):
                return self._most([a, b])
            case ast.BinOp(left=a, op=ast.MatMult(), right=b):
                left, right = self.axes(a), self.axes(b)
                return None if left is None or right is None else max(left + right - 2, 0)
            case ast.IfExp(body=a, orelse=b):
                return self._most([a, b])
            case ast.Call(func=ast.Attribute(attr="arange")):
                return 1
            case ast.Call(func=ast.Attribute(attr="norm"), args=[_], keywords=[]):
                return 0
            case ast.Subscript(value=ast.Attribute(attr="shape")):
                return 0
            case ast.Compare(left=a, comparators=[*others]):
                return self._most([a, *others])
            case ast.UnaryOp(operand=a):
                return self.axes(a)
            case ast.Subscript(value=of, slice=at):
                whole, parts = self.axes(of), parts_of(at)
                if whole is None or any(self.is_mask(p) for p in parts):
                    return None
                if not all(isinstance(p, ast.Slice) or is_none(p) or self.axes(p) == 0 for p in parts):
                    return None
                return (
                    whole
                    + sum(map(is_none, parts))
                    - sum(not isinstance(p, ast.Slice) and not is_none(p) for p in parts)
                )
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=[]) if name in ELEMENTWISE:
                return self._most(args)
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=[]) if name in _REDUCED and len(args) < 2:
                return 0
        return None

    def _once(self, name: str, asked: Callable[[ast.expr], T]) -> T | None:
        """What is to be said of a name that one assignment binds."""
        value = self.once.pop(name)
        try:
            return asked(value)
        finally:
            self.once[name] = value

    def _most(self, nodes: list[ast.expr]) -> int | None:
        found = [self.axes(n) for n in nodes]
        return None if None in found else max(n for n in found if n is not None)

    def is_mask(self, node: ast.expr) -> bool:
        """Whether an index is an array of truth values."""
        match node:
            case ast.Name(id=name):
                found = self.known.get(name)
                if name not in self.known and name in self.once:
                    return bool(self._once(name, self.is_mask))
                return isinstance(found, np.ndarray) and found.dtype == bool and found.ndim > 0
            case ast.Compare():
                return bool(self.axes(node))
            case ast.UnaryOp(op=ast.Invert(), operand=a):
                return self.is_mask(a)
            case ast.Subscript(value=ast.Name() as of):
                return self.is_mask(of) and bool(self.axes(node))
            case ast.BinOp(left=a, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=b):
                return self.is_mask(a) and self.is_mask(b)
        return False

    def pick(self, node: ast.expr) -> MaskedExpression | None:
        """`x[m]`, `x[m, j]` for a column, and `x[i, m]` for a row or a layer."""
        match node:
            case ast.Subscript(
                value=ast.Subscript(value=ast.Name(id=name) as of, slice=part), slice=ast.Slice() as back
            ):
                one = self._part(node.value, of)  # type: ignore[arg-type]
                if one is None or one.rows or one.line is None or self.parts is None or ast.unparse(back) != "::-1":
                    return None
                turned = ast.Subscript(loaded(of), self.parts.turned(part, name), ast.Load())
                return MaskedExpression(placed_at(turned, node), one.mask, 0, one.key)
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            return None
        if self.is_mask(node.slice):
            whole, mask = self.axes(node.value), self.axes(node.slice)
            if whole is None or mask is None or whole < mask:
                return None
            key = ast.unparse(node.slice)
            return MaskedExpression(loaded(node.value), node.slice, whole - mask, key, index=node.slice, copied=True)
        if isinstance(node.slice, ast.Tuple) and node.slice.elts and self.is_mask(node.slice.elts[0]):
            first, *rest = node.slice.elts
            if rest and all(map(is_all, rest)):
                return self.pick(ast.copy_location(ast.Subscript(node.value, first, node.ctx), node))
            if self.axes(first) != 1 or any(isinstance(p, ast.Slice) or self.axes(p) != 0 for p in rest):
                return None
            if self.axes(node.value) != 1 + len(rest):
                return None
            column = ast.Subscript(loaded(node.value), ast.Tuple([ast.Slice(), *rest], ast.Load()), ast.Load())
            return MaskedExpression(column, first, 0, ast.unparse(first))
        if isinstance(node.slice, ast.Tuple) and node.slice.elts and self.is_mask(node.slice.elts[-1]):
            *rest, last = node.slice.elts
            axes = self.axes(last) or 0
            if any(isinstance(p, ast.Slice) or self.axes(p) != 0 for p in rest):
                return None
            if self.axes(node.value) != axes + len(rest):
                return None
            inside = ast.Tuple([*rest, *(ast.Slice() for _ in range(axes))], ast.Load())
            row = ast.Subscript(loaded(node.value), inside, ast.Load())
            return MaskedExpression(row, last, 0, ast.unparse(last))
        return self._part(node, node.value)

    def _part(self, node: ast.Subscript, array: ast.Name) -> MaskedExpression | None:
        """A part along one axis or two whose size is not known while tracing: `x[:k]`, `A[i, k:]`, `A[k:]`, `A[k:, k:]`."""
        indices = parts_of(node.slice)
        found = self.known.get(array.id)
        if self.parts is None or not isinstance(found, np.ndarray) or found.ndim < len(indices):
            return None
        if found.ndim == 1 and (back := self.parts.backwards(indices[0], array.id)) is not None:
            line = self.parts.line(indices[0], array.id, 0)
            return MaskedExpression(loaded(array), back, 0, f"{ast.unparse(indices[0])} of {found.shape[0]}", line=line)
        indices = [*indices, *(ast.Slice() for _ in range(found.ndim - len(indices)))]
        places = [k for k, p in enumerate(indices) if isinstance(p, ast.Slice)]
        if isinstance(indices[0], ast.List) and all(self.axes(r) == 0 for r in indices[0].elts):
            across = self.parts.mask(indices[1], array.id, 1) if len(indices) == 2 else None
            return None if across is None else of_rows(array, indices, across, found.shape[1])
        if any(self.axes(p) != 0 for k, p in enumerate(indices) if k not in places):
            return None
        each = [None if is_all(indices[k]) else self.parts.mask(indices[k], array.id, k) for k in places]
        if not any(each) or any(m is None and not is_all(indices[k]) for k, m in zip(places, each, strict=True)):
            return None
        inside: list[ast.expr] = [ast.Slice() if k in places else copy.deepcopy(p) for k, p in enumerate(indices)]
        index = ast.Tuple(inside, ast.Load()) if len(inside) > 1 else inside[0]
        whole: ast.expr = loaded(array)
        if len(places) < len(inside):
            whole = ast.Subscript(whole, index, ast.Load())
        keys = [f"{ast.unparse(indices[k])} of {found.shape[k]}" for k in places]
        if each[0] is not None and not any(each[1:]):
            index = indices[places[0]]
            start = self.parts.start(index, array.id, places[0])
            line = self.parts.line(index, array.id, places[0]) if len(places) == 1 else None
            return MaskedExpression(whole, each[0], len(places) - 1, keys[0], start, index, line=line)
        if len(places) != 2 or each[1] is None:
            return None
        mask: ast.expr = ast.Subscript(each[1], ast.Tuple([ast.Constant(None), ast.Slice()], ast.Load()), ast.Load())
        mask = mask if each[0] is None else crossed(each[0], mask)
        starts = [self.parts.start(indices[k], array.id, k) for k in places]
        sides = tuple(Side(m, key, at, indices[k]) for m, key, at, k in zip(each, keys, starts, places, strict=True))
        return MaskedExpression(whole, mask, 0, " by ".join(keys), sides=sides)

    def picked(self, node: ast.expr) -> MaskedExpression | None:
        """An expression that works place by place on picked values, all by one mask."""
        if (one := self.pick(node)) is not None:
            return one
        match node:
            case ast.Name(id=name) if name in self.wholes:
                return self.wholes[name]
            case ast.Name(id=name) if name in self.names:
                return self.picked(self.names[name].value)
            case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[], keywords=[]):
                one = self.picked(inner)
                return None if one is None else replace(one, copied=True)
            case ast.Subscript(value=of, slice=ast.Tuple(elts=[first, *rest])) if (one := self.picked(of)) is not None:
                return self._columns(one, first, rest)
            case ast.BinOp(left=a, op=ast.MatMult(), right=b):
                return self._combined(a, b)
            case ast.Call(func=ast.Attribute(attr="dot", value=ast.Name()), args=[a, b], keywords=[]):
                return self._combined(a, b)
            case ast.Call(func=ast.Attribute(attr="dot", value=a), args=[b], keywords=[]):
                return self._combined(a, b)
            case ast.UnaryOp(op=op, operand=a) if not isinstance(op, ast.Not):
                return self._joined([a], lambda p: ast.UnaryOp(op, p[0]))
            case ast.BinOp(left=a, op=op, right=b) if not isinstance(op, ast.MatMult):
                return self._joined([a, b], lambda p: ast.BinOp(p[0], op, p[1]))
            case ast.Compare(left=a, ops=[op], comparators=[b]):
                return self._joined([a, b], lambda p: ast.Compare(p[0], [op], [p[1]]))
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Name()) as f, args=args, keywords=[]) if (
                name in ELEMENTWISE
            ):
                return self._joined(args, lambda p: ast.Call(f, p, []))
            case ast.Call(
                func=ast.Attribute(attr=name), args=[] | [_], keywords=[ast.keyword(arg="axis", value=axis)]
            ) if name in _REDUCED or name == "norm":
                return self._within_rows(node, axis)
            case ast.Call(func=ast.Attribute(attr="outer", value=ast.Name()) as f, args=[a, b], keywords=[]):
                return self._outer(f, a, b)
            case ast.Call(func=ast.Name(id="abs") as f, args=[a], keywords=[]):
                return self._joined([a], lambda p: ast.Call(f, p, []))
        return None

    def _within_rows(self, node: ast.Call, axis: ast.expr) -> MaskedExpression | None:
        """Sums and the like along the axes of picked rows: `((x[k:] - y) ** 2).sum(axis=1)`."""
        assert isinstance(node.func, ast.Attribute)
        one = self.picked(node.args[0] if node.args else node.func.value)
        try:
            along = ast.literal_eval(axis)
        except ValueError:
            return None
        if one is None or one.sides or self.axes(one.mask) != 1 or type(along) is not int:
            return None
        if not 1 <= (along if along > 0 else along + one.rows + 1) <= one.rows:
            return None
        new = copy.copy(node)
        new.args = [one.whole] if node.args else []
        new.func = node.func if node.args else ast.copy_location(ast.Attribute(one.whole, node.func.attr), node.func)
        return replace(one, whole=new, rows=one.rows - 1, copied=True)

    def _columns(self, one: MaskedExpression, first: ast.expr, rest: list[ast.expr]) -> MaskedExpression | None:
        """All picked places, of each some columns."""
        mask = self.axes(one.mask)
        if (
            mask is None
            or not is_all(first)
            or len(rest) != one.rows
            or not all(is_all(p) or self._is_row_of_places(p) for p in rest)
            or sum(map(self._is_row_of_places, rest)) > 1
        ):
            return None
        index = ast.Tuple([*(ast.Slice() for _ in range(mask)), *rest], ast.Load())
        whole = ast.copy_location(ast.Subscript(one.whole, index, ast.Load()), first)
        return replace(one, whole=whole, copied=any(map(self._is_row_of_places, rest)))

    def _is_row_of_places(self, node: ast.expr) -> bool:
        """Whether a part of an index is a row of whole numbers."""
        found = self.known.get(node.id) if isinstance(node, ast.Name) else None
        known = isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind == "i"
        return known or isinstance(node, ast.List)

    def _combined(self, a: ast.expr, b: ast.expr) -> MaskedExpression | None:
        """The product of a picked row and the part of a matrix that begins where it does, or of the matrix and a column: a part again."""
        p, q = self.picked(a), self.picked(b)
        if p is not None and q is None and p.rows == 1 and not p.sides and (axes := self.axes(b)) in (1, 2):
            whole = ast.fix_missing_locations(ast.copy_location(ast.BinOp(p.whole, ast.MatMult(), b), a))
            return replace(p, whole=whole, rows=(axes or 1) - 1, copied=True)
        if p is None or q is None or p.rows or q.rows:
            return None
        if len(q.sides) == 2 and not p.sides and q.sides[0].key == p.key:
            return part_of(ast.BinOp(zeroed(p), ast.MatMult(), q.whole), q.sides[1], b)
        if len(p.sides) == 2 and not q.sides and p.sides[1].key == q.key:
            return part_of(ast.BinOp(p.whole, ast.MatMult(), zeroed(q)), p.sides[0], a)
        return None

    def _outer(self, function: ast.expr, a: ast.expr, b: ast.expr) -> MaskedExpression | None:
        """The products of two rows, each with each, of which one is picked, or both."""
        p, q = self._row(a), self._row(b)
        if p is None or q is None or (p[1].mask is None and q[1].mask is None):
            return None
        whole = ast.copy_location(ast.Call(function, [p[0], q[0]], []), a)
        mask = p[1].mask
        if q[1].mask is None and mask is not None:
            return MaskedExpression(whole, mask, 1, p[1].key, p[1].start, p[1].index, copied=True)
        column = ast.Subscript(q[1].mask, ast.Tuple([ast.Constant(None), ast.Slice()], ast.Load()), ast.Load())  # type: ignore[arg-type]
        mask = column if mask is None else crossed(mask, column)
        return MaskedExpression(whole, mask, 0, f"{p[1].key} by {q[1].key}")

    def _row(self, node: ast.expr) -> tuple[ast.expr, Side] | None:
        """A row of numbers, picked or whole, and the part that it is of an axis."""
        one = self.picked(node)
        if one is not None:
            good = not one.rows and self.axes(one.mask) == 1 and (one.line is None or one.line.step > 0)
            return (one.whole, Side(one.mask, one.key, one.start, one.index)) if good else None
        length = self._length(node)
        return None if length is None else (node, Side(None, f": of {length}", None, None))

    def _length(self, node: ast.expr) -> int | None:
        """How many numbers are in a row, where that is known."""
        match node:
            case ast.Name():
                return self._axis(node, 0, 1)
            case ast.BinOp(left=a, op=ast.MatMult(), right=b):
                return self._axis(a, 0, 2) if self.axes(b) == 1 else self._axis(b, 1, 2) if self.axes(a) == 1 else None
            case ast.BinOp(left=a, right=b):
                return self._length(a if self.axes(b) == 0 else b)
        return None

    def _axis(self, node: ast.expr, axis: int, axes: int) -> int | None:
        """The size of one axis of an array with so many, which stands there as a whole or without some of another axis."""
        match node:
            case ast.Subscript(value=of, slice=ast.Tuple(elts=[*parts])) if len(parts) == axes and is_all(parts[axis]):
                return self._axis(of, axis, axes) if self.axes(node) == axes else None
            case ast.Name(id=name) if isinstance(found := self.known.get(name), np.ndarray) and found.ndim == axes:
                return found.shape[axis]
        return None

    def _joined(self, nodes: list[ast.expr], build: Callable[[list[ast.expr]], ast.expr]) -> MaskedExpression | None:
        parts = [self.picked(n) for n in nodes]
        found = [p for p in parts if p is not None]
        if len({p.key for p in found}) > 1:
            base = next((p for p in found if p.line is not None and p.line.step > 0), found[0])
            parts = [p if p is None else self._aligned(p, base) for p in parts]
            if sum(p is not None for p in parts) < len(found):
                return None
            found = [base]
        if not found:
            return None
        rows = max(p.rows for p in found)
        for n, p in zip(nodes, parts, strict=True):
            axes = self.axes(n) if p is None else None
            if p is None and (axes is None or axes > rows):
                return None
            if p is not None and p.rows != rows:
                return None
        whole = build([n if p is None else p.whole for n, p in zip(nodes, parts, strict=True)])
        return replace(found[0], whole=ast.copy_location(whole, nodes[0]), rows=rows, copied=True)

    def _aligned(self, one: MaskedExpression, base: MaskedExpression) -> MaskedExpression | None:
        """Picked numbers in the places of others, of which there are as many: `x[k:]` in those of `x[:n - k]`, or backwards."""
        if one.key == base.key:
            return one
        if one.line is None or base.line is None or base.line.step < 0 or one.rows or base.rows or self.parts is None:
            return None
        apart = difference(one.line.count, base.line.count, self.parts.moves)
        if apart is None:
            return None
        try:
            text = ast.unparse(ast.fix_missing_locations(apart))
            if eval(text, {"__builtins__": {}, "len": len}, dict(self.known)) != 0:
                return None
        except Exception:
            return None
        at = ast.Subscript(one.whole, one.line.at(base.line, self.parts.numpy), ast.Load())
        return replace(base, whole=placed_at(at, one.whole), copied=True)

    def _over(self, picked: MaskedExpression) -> ast.expr:
        """The mask with an axis for each axis of a picked place."""
        mask = copy.deepcopy(picked.mask)
        if not picked.rows:
            return mask
        axes = self.axes(picked.mask) or 1
        index = [*([ast.Slice()] * axes), *([ast.Constant(None)] * picked.rows)]
        return ast.Subscript(mask, ast.Tuple(list(index), ast.Load()), ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            one = self.picked(node.args[0])
            return node if one is None else self._counted(one, node)
        if isinstance(node.func, ast.Name) and node.func.id in _PYTHONS - self.known.keys() and self.parts is not None:
            if len(node.args) == 1 and not node.keywords and self.picked(node.args[0]) is not None:
                node.func = ast.Attribute(ast.Name(self.parts.numpy, ast.Load()), node.func.id, ast.Load())
                placed_at(node.func, node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "dot" and len(node.args) == 2:
            return self._product(node.args[0], node.args[1], node)
        if getattr(node.func, "attr", "") == "norm" and len(node.args) == 1 and not node.keywords:
            if (one := self.picked(node.args[0])) is not None and not one.rows and self.parts is not None:
                node.args, self.done = [zeroed(one)], True
            return node
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _REDUCED | FOUND | _RANKED:
            return node
        module = isinstance(node.func.value, ast.Name) and type(self.known.get(node.func.value.id)) is type(ast)
        given = node.args[0] if module and node.args else node.func.value
        rest = node.args[1:] if module else node.args
        one = self.picked(given)
        if node.func.attr in _RANKED:
            plain = module and not node.keywords and len(rest) == (node.func.attr != "median")
            if one is None or one.rows or not plain or self.parts is None:
                return node
            self.done = True
            return ranked(one, node.func.attr, rest, self.parts.numpy)
        axis = next((k.value for k in node.keywords if k.arg == "axis"), rest[0] if rest else None)
        if one is None or not self._reduces(one, axis) or len(rest) > 1 or any(k.arg != "axis" for k in node.keywords):
            return node
        if node.func.attr in FOUND:
            if axis is not None or one.start is None or one.rows or self.parts is None:
                return node
            self.done = True
            return ast.copy_location(place_of(one, node.func.attr, self.jnp, self.parts.numpy), node)
        named = [ast.keyword("where", self._over(one))]
        if node.func.attr in ("max", "min"):
            end: ast.expr = ast.Name(f"{self.jnp}.inf", ast.Load())
            named.append(ast.keyword("initial", ast.UnaryOp(ast.USub(), end) if node.func.attr == "max" else end))
        node.keywords = [*node.keywords, *named]
        if module:
            node.args[0] = one.whole
        else:
            node.func.value = one.whole
        self.done = True
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """What a comprehension counts with is one number in each of its values."""
        match node.generators:
            case [ast.comprehension(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range")))]:
                known, self.known = self.known, {**self.known, name: 0}
                self.generic_visit(node)
                self.known = known
                return node
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._product(node.left, node.right, node) if isinstance(node.op, ast.MatMult) else node

    def _product(self, left: ast.expr, right: ast.expr, at: ast.expr) -> ast.expr:
        """The product of two rows of picked numbers: what is not picked counts as nothing."""
        match left:
            case ast.Attribute(value=inner, attr="T") if (p := self.picked(inner)) is not None and p.rows == 1:
                q = self.picked(right)
                if q is not None and q.key == p.key and self.axes(p.mask) == 1 and not p.sides and not q.sides:
                    self.done = True
                    nothing = lambda one: ast.IfExp(self._over(one), one.whole, ast.Constant(0))
                    turned = ast.Attribute(nothing(p), "T", ast.Load())
                    product = ast.copy_location(ast.BinOp(turned, ast.MatMult(), nothing(q)), at)
                    return placed_at(product, at)
        a, b = self.picked(left), self.picked(right)
        if a is None or b is None or a.rows or self.parts is None:
            return at
        if a.key != b.key and a.line is not None and b.line is not None:
            base = a if a.line.step > 0 else b
            p, q = self._aligned(a, base), self._aligned(b, base)
            if p is not None and q is not None:
                a, b = p, q
        whole: ast.expr | None = None
        if a.key == b.key and not a.sides and not b.sides:
            whole = b.whole if b.rows else zeroed(b)
        elif len(a.sides) == 2 and a.sides[0].mask is None and not b.sides and not b.rows and a.sides[1].key == b.key:
            self.done = True
            return ast.copy_location(ast.BinOp(a.whole, ast.MatMult(), zeroed(b)), at)
        if whole is None:
            return at
        self.done = True
        return ast.copy_location(ast.BinOp(zeroed(a), ast.MatMult(), whole), at)

    def _reduces(self, one: MaskedExpression, axis: ast.expr | None) -> bool:
        """Whether the places that the mask picks are gone afterwards."""
        if axis is None or (isinstance(axis, ast.Constant) and axis.value is None):
            return True
        return isinstance(axis, ast.Constant) and axis.value == 0 and self.axes(one.mask) == 1

    def _counted(self, one: MaskedExpression, at: ast.expr) -> ast.expr:
        if self.axes(one.mask) != 1:
            return at
        self.done = True
        mask = copy.deepcopy(one.mask)
        return ast.copy_location(ast.Call(ast.Attribute(mask, "sum", ast.Load()), [], []), at)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        match node.targets:
            case [ast.Name(id=name)] if self.names.get(name) is node:
                self.done = True
                return ast.copy_location(ast.Pass(), node)
            case [ast.Name(id=name)] if name in self.kept:
                return self._bound(node, name, self.visit(node.value))
            case [ast.Subscript(value=ast.Name(id=name)) as target] if name in self.wholes:
                node.targets, node.value = [self._element(target)], self.visit(node.value)
                return node
            case [ast.Subscript() as target] if (place := self.pick(target)) is not None:
                return self._stored(node, target, place, node.value)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        match node.target:
            case ast.Name(id=name) if name in self.wholes:
                whole = ast.BinOp(ast.Name(name, ast.Load()), node.op, self.visit(node.value))
                return self._bound(node, name, ast.copy_location(whole, node))
            case ast.Subscript(value=ast.Name(id=name)) if name in self.wholes:
                node.target, node.value = self._element(node.target), self.visit(node.value)
                return node
        if isinstance(node.target, ast.Subscript) and (place := self.pick(node.target)) is not None:
            load = copy.deepcopy(node.target)
            load.ctx = ast.Load()
            return self._stored(node, node.target, place, ast.copy_location(ast.BinOp(load, node.op, node.value), node))
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in self.wholes.keys() | self.names.keys():
            return self._element(node)
        return self.generic_visit(node)

    def _bound(self, node: ast.stmt, name: str, value: ast.expr) -> ast.AST:
        """Binds the whole array of a name of picked values."""
        one = self.picked(value)
        if one is None or one.index is None or (not one.copied and isinstance(value, ast.Subscript)):
            return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)
        self.done, whole = True, f"whole_of_{name}"
        kept = (
            ast.Call(ast.Attribute(one.whole, "copy", ast.Load()), [], [])
            if isinstance(one.whole, (ast.Name, ast.Subscript))
            else one.whole
        )
        self.ranks[whole] = (self.axes(one.mask) or 1) + one.rows
        self.wholes[name] = replace(one, whole=ast.Name(whole, ast.Load()), copied=True)
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(whole, ast.Store())], kept), node))

    def _element(self, node: ast.Subscript) -> ast.Subscript:
        """The number at a constant place of a part, as one of the whole."""
        assert isinstance(node.value, ast.Name)
        one = self.picked(node.value)
        match node.slice:
            case ast.Constant(value=int(place)) if (
                one is not None and one.start is not None and place >= 0 and not one.rows
            ):
                index = ast.BinOp(copy.deepcopy(one.start), ast.Add(), ast.Constant(place))
                new = ast.Subscript(copy.deepcopy(one.whole), index, node.ctx)
                return ast.fix_missing_locations(ast.copy_location(new, node))
        return node

    def _stored(self, node: ast.stmt, target: ast.Subscript, place: MaskedExpression, value: ast.expr) -> ast.AST:
        value = self.visit(value)
        one, axes = self.picked(value), self.axes(value)
        if one is not None and one.key != place.key:
            one = self._aligned(one, place) or one
        if one is not None and (one.key != place.key or one.rows != place.rows):
            return node
        if one is None and (axes is None or axes > place.rows):
            return node
        self.done = True
        whole = copy.deepcopy(place.whole)
        index = whole.slice if isinstance(whole, ast.Subscript) else ast.Constant(...)
        to = ast.Subscript(ast.Name(target.value.id, ast.Load()), copy.deepcopy(index), ast.Store())  # type: ignore[attr-defined]
        chosen = ast.IfExp(self._over(place), value if one is None else one.whole, whole)
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([to], chosen), node))
