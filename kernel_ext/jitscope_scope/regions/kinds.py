"""Names that one way binds Python's number to and another NumPy's (`best = 0.0`, and `best = x[i]` under a branch): the region notes which
it was last, and the number is made of that kind afterwards."""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType

import numpy as np

from ..source_code.tree import parts_of
from . import naming
from .bounds import own_part
from .parts import EditText, placed_at
from .watching import Visit


_OF_NUMPY = {float: "float64", int: "int64", complex: "complex128", bool: "bool_"}


class Kinds:
    """Whose numbers expressions give: True for NumPy's, False for Python's, the name of a flag, or None where it is not known."""

    def __init__(self, body: naming.Statements, visit: Visit) -> None:
        self.visit, self.body = visit, body
        self.changing = naming.bound(body)
        self.given: dict[str, list[ast.expr | None]] = {}
        for s in naming.all_of(ast.stmt, body):
            for t in naming.targets_of(s):
                if isinstance(t, ast.Name):
                    self.given.setdefault(t.id, []).append(value_given(s, t.id))
        counted = naming.loop_targets(body, _counts)
        self.counts = {n for n in counted if all(_counts(s) for s in naming.all_of(ast.stmt, body) if _binds(s, n))}
        """What loops alone bind, to Python's whole numbers."""

    def mixed(self) -> dict[str, type]:
        """Names of both kinds, and Python's type of them."""
        found = {}
        for n, given in self.given.items():
            before, after = self.visit.values.get(n), self.visit.after.get(n)
            kinds = [self.of(e) for e in given] + ([_of_value(before)] if n in self.visit.values else [])
            types = {_python_type(v) for v in (before, after) if v is not None}
            constants = {type(e.value) for e in given if isinstance(e, ast.Constant)}
            if set(kinds) == {True, False} and len(types) == 1 and (types | constants) <= _OF_NUMPY.keys():
                (kind,) = types
                if kind is not None and constants <= {kind}:
                    found[n] = kind
        return found

    def of(self, node: ast.expr | None) -> bool | None:
        match node:
            case ast.Constant(value=value):
                return False if type(value) in _OF_NUMPY else None
            case ast.Name(id=n) if n not in self.changing:
                return _of_value(self.visit.values.get(n))
            case ast.Name(id=n) if n in self.counts:
                return False
            case ast.Name(id=n) if n not in self.visit.values and len(self.given.get(n, ())) == 1:
                (value,) = self.given[n]
                return self.of(value) if value is not None and n not in naming.loaded([value]) else None
            case ast.UnaryOp(operand=a) if not isinstance(node.op, ast.Not):
                return self.of(a)
            case ast.BinOp(left=a, right=b):
                sides = {self.of(a), self.of(b)}
                return True if True in sides else False if sides == {False} else None
            case ast.Subscript(value=ast.Name(id=n)):
                found = self.visit.values.get(
                    n, self.visit.after.get(n)
                )  # one that the region binds stays an array of as many axes
                parts = parts_of(node.slice)
                one = isinstance(found, np.ndarray) and found.ndim == len(parts)
                return True if one and not any(isinstance(p, ast.Slice) for p in parts) else None
            case ast.Attribute(value=ast.Name(id=n), attr=attr):
                owner = self.visit.values.get(n)
                return _of_value(getattr(owner, attr, None)) if isinstance(owner, ModuleType) else None
            case ast.Call(func=ast.Name(id="float" | "int" | "bool" | "complex" | "len")):
                return False
            case ast.Call(func=ast.Attribute(value=ast.Name(id=n))):
                owner = self.visit.values.get(n)
                return {np: True, math: False}.get(owner) if isinstance(owner, ModuleType) else None
        return None


def _counts(s: ast.stmt) -> bool:
    """Whether a loop goes through Python's whole numbers: a range, or those that are written there."""
    match s:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"))):
            return True
        case ast.For(iter=ast.Tuple() | ast.List() as these):
            leaves = [n for n in ast.walk(these) if not isinstance(n, (ast.Tuple, ast.List, ast.expr_context))]
            return all(
                isinstance(n, (ast.Constant, ast.UnaryOp, ast.USub)) and type(getattr(n, "value", 0)) is int
                for n in leaves
            )
    return False


def _binds(s: ast.stmt, name: str) -> bool:
    return any(isinstance(t, ast.Name) and t.id == name for t in naming.targets_of(s))


def value_given(s: ast.stmt, name: str) -> ast.expr | None:
    """What an assignment gives to a name, if that is a plain expression."""
    if isinstance(s, ast.Assign):
        return own_part(s, name)
    if isinstance(s, ast.AugAssign):
        return ast.copy_location(ast.BinOp(ast.Name(name, ast.Load()), s.op, s.value), s)
    return None


def _of_value(value: object) -> bool | None:
    if isinstance(value, np.generic):
        return True
    return False if type(value) in _OF_NUMPY else None


def _python_type(value: object) -> type | None:
    """Python's type of a number of 64 bits, of Python's or of NumPy's."""
    if type(value) in _OF_NUMPY:
        return type(value)
    found = [kind for kind, name in _OF_NUMPY.items() if type(value) is getattr(np, name)]
    return found[0] if found else None


def noted(
    body: naming.Statements, visit: Visit, live: set[str], name: str
) -> tuple[naming.Statements, Visit, dict[str, tuple[str, type]]]:
    """The statements with flags that say of which kind a name was bound last, what was seen with them, and the flags with their types by
    name; nothing of it where no name is of both kinds."""
    kinds = Kinds(body, visit)
    found = {n: (f"{name}_{n}_of_numpy", kind) for n, kind in kinds.mixed().items() if n in live and n in visit.after}
    if not found:
        return body, visit, {}
    flags = {n: flag for n, (flag, _) in found.items()}
    new = [t for s in body for t in _Noting(kinds, flags).noted(copy.deepcopy(s))]
    before = {flag: isinstance(visit.values.get(n), np.generic) for n, flag in flags.items()}
    after: Mapping[str, object] = {flag: isinstance(visit.after[n], np.generic) for n, flag in flags.items()}
    seen = replace(
        visit,
        values={**visit.values, **before},
        after={**visit.after, **after},
        ends={**visit.ends, **after},
    )
    return tuple(new), seen, found


class _Noting(ast.NodeTransformer):
    def __init__(self, kinds: Kinds, flags: Mapping[str, str]) -> None:
        self.kinds, self.flags = kinds, flags

    def noted(self, s: ast.stmt) -> list[ast.stmt]:
        """A statement with the flags of what it binds after it."""
        for block in ("body", "orelse"):
            if isinstance(inner := getattr(s, block, None), list):
                setattr(s, block, [t for one in inner for t in self.noted(one)])
        new = [s]
        if isinstance(s, (ast.Assign, ast.AugAssign)):
            for n in {t.id for t in naming.targets_of(s) if isinstance(t, ast.Name)} & self.flags.keys():
                of = self.kinds.of(value_given(s, n))
                new.append(placed_at(ast.parse(f"{self.flags[n]} = {bool(of)}").body[0], s))
        return new


def restored(edit: EditText, found: Mapping[str, tuple[str, type]], values: Mapping[str, object]) -> EditText:
    """The edit with the numbers made of their kinds afterwards."""
    flags = [flag for flag, _ in found.values()]
    start = [
        f"{flag} = isinstance({n}, numpy.generic)" if n in values else f"{flag} = False"
        for n, (flag, _) in found.items()
    ]
    end = [f"{n} = (numpy.{_OF_NUMPY[kind]} if {flag} else {kind.__name__})({n})" for n, (flag, kind) in found.items()]
    reads = tuple(n for n in edit.reads if n not in flags)
    imports = tuple(dict.fromkeys(["import numpy", *edit.imports]))
    return replace(edit, call=(*start, *edit.call, *end, f"del {', '.join(flags)}"), reads=reads, imports=imports)


def literals(body: naming.Statements) -> dict[str, str]:
    """Names that one assignment of a number that stands there binds, and nothing else: such have all of Python's digits."""
    made = naming.stored(body)
    found: dict[str, str] = {}
    for s in body:
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int() | float()) as value):
                found |= {name: ast.unparse(value)} if made.count(name) == 1 else {}
    return found
