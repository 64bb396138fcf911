"""Between which whole numbers a Python number stays in a region: Python's have no bound, compiled ones wrap around at 64 bits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np

from . import naming


Interval = tuple[int, int]
_LARGEST = 2**63 - 1
_WIDER = 3
"""How often what a name may be between is made wider until its own statements keep it there (bits that are shifted round)."""
_GIVE_FLOATS = frozenset("floor ceil round rint trunc sqrt exp log".split())


class Bounds:
    """The intervals of whole numbers in statements: of loops' counts, of numbers that the statements leave alone, and of what they bind."""

    def __init__(
        self,
        body: naming.Statements,
        values: Mapping[str, object],
        after: Mapping[str, object] = MappingProxyType({}),
        held: Mapping[str, Interval] = MappingProxyType({}),
    ) -> None:
        """`held` are numbers that are checked while the statements run."""
        self.values, self.after, self.held = values, after, held
        self.bound = naming.bound(body) | naming.stored_into(body)
        self.given: dict[str, list[ast.expr | None]] = {}
        """All that is bound to a name; None where that is not a plain expression."""
        self._others: set[str] = set()
        """Names that other statements than loops' heads bind."""
        self._open: set[str] = set()
        self._assumed: dict[str, Interval] = {}
        for s in naming.all_of(ast.stmt, body):
            self._note(s)

    def _note(self, s: ast.stmt) -> None:
        for t in naming.targets_of(s):
            if not isinstance(t, ast.Name):
                continue
            given: ast.expr | None = None
            if not isinstance(s, ast.For):
                self._others.add(t.id)
            if isinstance(s, ast.For):
                given = _gone_through(s, t)
            elif isinstance(s, ast.Assign):
                given = own_part(s, t.id)
                one = s.value.value if isinstance(s.value, ast.Subscript) else s.value
                if given is None and type(self.values.get(ast.unparse(one))) in (
                    list,
                    tuple,
                ):  # one of the numbers in it
                    given = s.value if one is not s.value else ast.Subscript(s.value, ast.Constant(0), ast.Load())
                elif given is None and isinstance(s.value, ast.Attribute) and s.value.attr == "shape":
                    given = ast.Subscript(s.value, ast.Constant(0), ast.Load())
            elif isinstance(s, ast.AugAssign):
                load = ast.Name(t.id, ast.Load())
                given = ast.copy_location(ast.BinOp(load, s.op, s.value), s)
            self.given.setdefault(t.id, []).append(given)

    def stays(self, name: str) -> bool:
        """Whether all that is bound to the name, and each step on the way, stays within 64 bits; what only loops bind does."""
        if name not in self._others:
            return True
        return self._of_name(name) is not None

    def adds(self, name: str) -> bool:
        """Whether the name is only counted up and down, by less than 32 bits hold each time."""
        self._open.add(name)
        try:
            return all(self._is_step(name, e) for e in self.given.get(name, [None]))
        finally:
            self._open.discard(name)

    def _is_step(self, name: str, given: ast.expr | None) -> bool:
        """Whether this is the name itself, or another one that is only counted, plus or minus less than 32 bits hold."""
        step = lambda node: self._is_step(name, node)
        match given:
            case ast.Name(id=other) if other in self._open:
                return True
            case ast.Name(id=other) if other in self.given and self.adds(other):
                return True
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right) if self._is_small(right) and step(left):
                return True
            case ast.BinOp(left=left, op=ast.Add(), right=right) if self._is_small(left) and step(right):
                return True
            case ast.Call(func=ast.Name(id="min" | "max"), args=[_, _, *_] as args, keywords=[]) if all(
                map(step, args)
            ):
                return True
            case ast.IfExp(body=yes, orelse=no) if step(yes) and step(no):
                return True
        return given is not None and self._is_small(given)

    def _is_small(self, node: ast.expr) -> bool:
        found = self.of(node) if not naming.loaded([node]) & self._open else None
        return found is not None and max(map(abs, found)) < 2**31

    def _of_name(self, name: str) -> Interval | None:
        if name in self.held:
            return self.held[name]
        found = self.values.get(name)
        before = (int(found), int(found)) if isinstance(found, (int, np.integer)) else None
        if name not in self.bound or isinstance(found, list):
            before = before if before is not None else _of_elements(found)
        if name not in self.bound:
            return before
        if name in self._open:
            return self._assumed.get(name)
        found = self._hull_of(name, before)
        if found is not None or name in self._assumed:
            return found
        guess = self._guess(name, before)
        for _ in range(_WIDER):
            self._assumed[name] = guess
            try:
                found = self._hull_of(name, before)
            finally:
                del self._assumed[name]
            if found is None or (guess[0] <= found[0] and found[1] <= guess[1]):
                return None if found is None else guess
            guess = min(guess[0], found[0]), max(guess[1], found[1])
        return None

    def _hull_of(self, name: str, before: Interval | None) -> Interval | None:
        self._open.add(name)
        try:
            parts = [self._given(e) for e in self.given.get(name, [None])]
        finally:
            self._open.discard(name)
        if name in self.values:
            parts.append(before)
        return _hull(parts)

    def _guess(self, name: str, before: Interval | None) -> Interval:
        """What a name may be between that is bound by way of its own value: the constants, and the known bounds, that it is made of."""
        found, names, known = [before or (0, 0), (0, 0)], {name}, set[str]()
        while names:
            n = names.pop()
            known.add(n)
            if isinstance(first := self.values.get(n), (int, np.integer)):
                found.append((int(first), int(first)))
            for e in self.given.get(n, []):
                for part in ast.walk(e) if e is not None else ():
                    if isinstance(part, ast.Constant) and type(part.value) is int:
                        found.append((part.value, part.value))
                    elif isinstance(part, ast.Name) and part.id in self.bound:
                        names |= {part.id} - known
                    elif isinstance(part, ast.Name) and (one := self._of_name(part.id)) is not None:
                        found.append(one)
        return min(f[0] for f in found), max(f[1] for f in found)

    def _given(self, node: ast.expr | None) -> Interval | None:
        match node:
            case None:
                return None
            case ast.Call(func=ast.Name(id="range"), args=args):
                return _hull([*map(self.of, args[:2]), *([(0, 0)] if len(args) == 1 else [])])
        return self.of(node)

    def of(self, node: ast.expr) -> Interval | None:
        """The interval of an expression of whole numbers; None where it is not known, or leaves 64 bits."""
        found = self._of(node)
        return None if found is None or max(map(abs, found)) > _LARGEST else found

    def _of(self, node: ast.expr) -> Interval | None:
        match node:
            case ast.Constant(value=value):
                return (int(value), int(value)) if isinstance(value, int) else None
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.UnaryOp(op=ast.USub(), operand=a):
                inner = self.of(a)
                return None if inner is None else (-inner[1], -inner[0])
            case ast.IfExp(body=a, orelse=b):
                return _hull([self.of(a), self.of(b)])
            case ast.BinOp(left=a, op=op, right=b):
                return self._of_two(a, op, b)
            case ast.Call(func=func, args=args, keywords=[]):
                return self._of_call(ast.unparse(func), args)
            case ast.Subscript(value=ast.Name(id=name)) if name not in self.bound:
                return _of_elements(self.values.get(name))
            case ast.Subscript(value=ast.Tuple(elts=parts) | ast.List(elts=parts)):
                return _hull(map(self.of, parts))
            case ast.Attribute(attr="size") | ast.Subscript(value=ast.Attribute(attr="shape")):
                return (0, 2**40)
            case ast.Compare() | ast.BoolOp():
                return (0, 1)
        return None

    def _of_two(self, a: ast.expr, op: ast.operator, b: ast.expr) -> Interval | None:
        right = self.of(b)
        if right is None:
            return None
        left = self.of(a)
        if isinstance(op, ast.Mod) and right[0] > 0:
            if left is not None:
                return (0, right[1] - 1)
            return (0, right[1] - 1) if self._own_remainder(a, right) else None
        if left is None:
            return None
        if isinstance(op, ast.Add):
            return (left[0] + right[0], left[1] + right[1])
        if isinstance(op, ast.Sub):
            return (left[0] - right[1], left[1] - right[0])
        if isinstance(op, ast.Mult):
            corners = [x * y for x in left for y in right]
            return (min(corners), max(corners))
        if isinstance(op, ast.FloorDiv) and right[0] > 0:
            corners = [x // y for x in left for y in right]
            return (min(corners), max(corners))
        if isinstance(op, ast.Pow) and right[0] >= 0 and left[0] >= 0 and left[1].bit_length() * right[1] < 80:
            return (left[0] ** right[0], left[1] ** right[1])
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            return _quotient(op, left, right)
        if isinstance(op, ast.BitAnd) and (ends := [end for low, end in (left, right) if low >= 0]):
            return (0, min(ends))
        if isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            beyond = 2 ** max(end.bit_length() for end in (*left, *right))
            return (0 if left[0] >= 0 and right[0] >= 0 else -beyond, beyond - 1)
        if isinstance(op, ast.LShift) and 0 <= right[0] and right[1] < 64:
            return (min(left[0], left[0] << right[1]), max(left[1], left[1] << right[1]))
        if isinstance(op, ast.RShift) and 0 <= right[0] and right[1] < 64:
            corners = [x >> y for x in left for y in right]
            return (min(corners), max(corners))
        return None

    def _own_remainder(self, node: ast.expr, modulus: Interval) -> bool:
        """Whether a number that is made of its own last remainder stays within 64 bits before the next one is taken: a generator's
        `state = (a * state + c) % m`."""
        names = naming.loaded([node]) & self._open
        if len(names) != 1:
            return False
        (name,) = names
        start = self.values.get(name)
        own = {
            ast.unparse(e.right) if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mod) else ""
            for e in self.given[name]
        }
        if type(start) is not int or len(own) != 1 or own == {""} or not _rises(node):
            return False
        largest = max(modulus[1] - 1, start)
        inner = Bounds((), {**self.values, name: largest})
        inner.bound = self.bound - {name}
        inner.given, inner._open = self.given, self._open - {name}
        low = Bounds((), {**self.values, name: min(0, start)})
        low.bound, low.given, low._open = inner.bound, self.given, inner._open
        return inner.of(node) is not None and low.of(node) is not None

    def _of_call(self, name: str, args: list[ast.expr]) -> Interval | None:
        word = name.rpartition(".")[2]
        parts = [self.of(a) for a in args]
        if word in ("min", "minimum", "max", "maximum") and len(args) > 1:
            return _extreme(parts, min if word.startswith("min") else max)
        if word == "clip" and len(args) == 3:
            return _hull(parts[1:])
        if word == "abs" and len(args) == 1 and parts[0] is not None:
            return (0, max(map(abs, parts[0])))
        if word in ("len", "argmax", "argmin") or (word == "sum" and self._is_truth(name.rpartition(".")[0], args)):
            return (0, 2**30)
        if word == "int" and len(args) == 1:
            return parts[0] if parts[0] is not None else (-(2**52), 2**52) if self._floats(args[0]) else None
        return None

    def _is_truth(self, of: str, args: list[ast.expr]) -> bool:
        """Whether what is summed up is an array of truth values."""
        for node in [*args, ast.Name(of, ast.Load())]:
            match node:
                case ast.Compare():
                    return True
                case ast.Name(id=name):
                    found = self.values.get(name, self.after.get(name))
                    if isinstance(found, np.ndarray):
                        return found.dtype == bool and found.size < 2**31
        return False

    def _floats(self, node: ast.expr) -> bool:
        """Whether an expression is of floating numbers: what they are rounded to is seen in the proof's runs."""
        match node:
            case ast.BinOp(op=ast.Div()) | ast.Constant(value=float()):
                return True
            case ast.Call(func=func):
                return ast.unparse(func).rpartition(".")[2] in _GIVE_FLOATS
            case ast.BinOp(left=a, right=b):
                return self._floats(a) or self._floats(b)
            case ast.Name(id=name):
                found = self.values.get(name)
                return isinstance(found, (float, np.floating)) or any(
                    e is not None and self._floats(e) for e in ([] if name in self._open else self.given.get(name, []))
                )
            case ast.Subscript(value=ast.Name(id=name)):
                found = self.values.get(name)
                return isinstance(found, np.ndarray) and found.dtype.kind == "f"
        return False


def _gone_through(s: ast.For, target: ast.Name) -> ast.expr | None:
    """What has the values that a loop binds to one of its names: the range, an element of what it goes through, a length for a count."""
    match s.iter:
        case ast.Call(func=ast.Name(id="range")):
            return s.iter
        case ast.Call(func=ast.Name(id="enumerate"), args=[of, *_]) if isinstance(s.target, ast.Tuple):
            if s.target.elts[0] is target:
                return ast.Call(ast.Name("len", ast.Load()), [of], [])
            return ast.Subscript(of, ast.Constant(0), ast.Load())
        case ast.Call(func=ast.Name(id="zip"), args=args) if isinstance(s.target, ast.Tuple):
            places = [k for k, t in enumerate(s.target.elts) if t is target]
            return ast.Subscript(args[places[0]], ast.Constant(0), ast.Load()) if places else None
        case ast.Name():
            return ast.Subscript(s.iter, ast.Constant(0), ast.Load())
        case ast.Tuple(elts=[_, *_] as parts) | ast.List(elts=[_, *_] as parts):
            return _any_of([_part_of(s.target, target, p) for p in parts])
    return None


def _part_of(targets: ast.expr, target: ast.Name, value: ast.expr) -> ast.expr | None:
    """What a target gets of a value that is taken apart."""
    match targets, value:
        case ast.Name(), _:
            return value
        case ast.Tuple(elts=names), ast.Tuple(elts=parts) | ast.List(elts=parts) if len(names) == len(parts):
            return next((p for n, p in zip(names, parts, strict=True) if n is target), None)
    return None


def _any_of(parts: list[ast.expr | None]) -> ast.expr | None:
    """An expression that may be any of these."""
    first, *rest = parts
    for p in rest:
        if first is None or p is None:
            return None
        first = ast.IfExp(ast.Constant(True), first, p)
    return first


def own_part(s: ast.Assign, name: str) -> ast.expr | None:
    """What an assignment gives to a name: its value, or the part of a tuple that stands over against the name."""
    if all(isinstance(t, ast.Name) for t in s.targets):
        return s.value
    match s.targets:
        case [ast.Tuple(elts=names)] if isinstance(s.value, ast.Attribute) and s.value.attr == "shape":
            at = [k for k, t in enumerate(names) if ast.unparse(t) == name]
            return ast.Subscript(s.value, ast.Constant(at[0]), ast.Load()) if at else None
        case [ast.Tuple(elts=names)] if isinstance(s.value, ast.Tuple) and len(names) == len(s.value.elts):
            return next((v for t, v in zip(names, s.value.elts, strict=True) if ast.unparse(t) == name), None)
    return None


def _of_elements(value: object) -> Interval | None:
    if isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value):
        return (min(value), max(value))
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (list, tuple)) for v in value):
        return _hull(map(_of_elements, value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biu" and value.dtype != np.uint64 and value.size:
        return (int(value.min()), int(value.max()))
    return None


def _quotient(op: ast.operator, left: Interval, right: Interval) -> Interval:
    """What a division gives by a number of either sign, which is not zero where it is taken."""
    most = max(map(abs, left if isinstance(op, ast.FloorDiv) else right))
    return (-most, most)


def _rises(node: ast.expr) -> bool:
    """Whether only sums and products stand there, so that the largest values are found at the ends."""
    allowed = (ast.BinOp, ast.Add, ast.Mult, ast.Name, ast.Load, ast.Constant)
    return all(isinstance(n, allowed) for n in ast.walk(node))


def _hull(parts: Iterable[Interval | None]) -> Interval | None:
    known = list(parts)
    if not known or any(p is None for p in known):
        return None
    return min(p[0] for p in known if p), max(p[1] for p in known if p)


def _extreme(parts: list[Interval | None], which: Callable[[Iterable[int]], int]) -> Interval | None:
    if any(p is None for p in parts):
        return None
    return which([p[0] for p in parts if p]), which([p[1] for p in parts if p])
