"""Loops that change the arrays that they go through where these are written: `for p, g in ((W, dW), (b, db)): p -= rate * g`, or `zip([W, b], [dW, db])`.
Each turn stands there with the arrays' own names; the loop's names are bound in the end."""

from __future__ import annotations

import ast
import copy

import numpy as np

from . import naming, paths
from .in_place import put_into
from .parts import Renamed
from .stand_ins import StandIns
from .watching import Visit


MOST = 16
"""Turns that are written out."""


def written_out(body: naming.Statements, visit: Visit) -> StandIns:
    """The statements without such loops; as they are where there are none."""
    writer = _Writer(body, visit)
    new = tuple(t for s in body for t in writer.statement(copy.deepcopy(s)))
    if not writer.after:
        return StandIns(tuple(body), visit)
    return StandIns(new, visit, (), tuple(writer.after))


def gone_through(body: naming.Statements) -> set[str]:
    """Names of what stands written in loops over rows: the statements may change what they stand for."""
    return naming.names(e for loop in naming.all_of(ast.For, body) for e in _written(loop.iter))


class _Writer:
    def __init__(self, body: naming.Statements, visit: Visit) -> None:
        self.visit, self.after = visit, list[str]()
        self.names = naming.all_of(ast.Name, body)

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        """A statement with the turns of such loops inside of it, but for those under a branch."""
        if isinstance(s, ast.For) and (rows := self._rows(s)) is not None:
            last = rows[-1]
            self.after += [f"{n} = {ast.unparse(e)}" for n, e in last.items()]
            return [Renamed(row).visit(copy.deepcopy(t)) for row in rows for t in s.body]
        if isinstance(s, (ast.For, ast.While)):
            s.body = [t for inner in s.body for t in self.statement(inner)]
        return [s]

    def _rows(self, s: ast.For) -> list[dict[str, ast.expr]] | None:
        """What the loop's names stand for in each turn; None for other loops."""
        own = naming.names([s.target])
        touched = put_into(s.body) & own
        if s.orelse or naming.leaves(s.body) or not touched:
            return None
        rows = [_bound(s.target, e) for e in _written(s.iter)]
        plain = [t for b in naming.statements(s.body) if not isinstance(b, ast.AugAssign) for t in naming.targets_of(b)]
        if not rows or len(rows) > MOST or any(isinstance(t, ast.Name) and t.id in own for t in plain):
            return None
        if any(n.id in own and n.lineno not in range(s.lineno, (s.end_lineno or 0) + 1) for n in self.names):
            return None
        for row in rows:
            if (
                row is None
                or not all(self._stays(e, s) for e in row.values())
                or not all(self._is_array(row[n]) for n in touched)
            ):
                return None
        return [row for row in rows if row is not None]

    def _stays(self, e: ast.expr, s: ast.For) -> bool:
        """Whether this stands for the same until the region's end."""
        while isinstance(e, ast.Attribute):
            e = e.value
        if not isinstance(e, ast.Name):
            return isinstance(e, ast.Constant)
        return not any(n.id == e.id and isinstance(n.ctx, ast.Store) and n.lineno >= s.lineno for n in self.names)

    def _is_array(self, e: ast.expr) -> bool:
        for seen in (self.visit.values, self.visit.after):
            try:
                if isinstance(paths.at(ast.unparse(e), seen), np.ndarray):
                    return True
            except Exception:
                continue
        return False


def _written(node: ast.expr) -> list[ast.expr]:
    """What a loop goes through, thing by thing, if that is written there; nothing for others."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return parts
        case ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]):
            each = [_written(a) for a in args]
            return [ast.Tuple(list(row), ast.Load()) for row in zip(*each, strict=False)]
        case ast.Call(func=ast.Name(id="enumerate"), args=[of], keywords=[]):
            return [ast.Tuple([ast.Constant(k), e], ast.Load()) for k, e in enumerate(_written(of))]
    return []


def _bound(target: ast.expr, value: ast.expr) -> dict[str, ast.expr] | None:
    """What the names of a target stand for; None where the text does not show it."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if (
        not isinstance(target, (ast.Tuple, ast.List))
        or not isinstance(value, (ast.Tuple, ast.List))
        or len(target.elts) != len(value.elts)
    ):
        return None
    parts = [_bound(t, v) for t, v in zip(target.elts, value.elts, strict=True)]
    known = [p for p in parts if p is not None]
    return {n: e for p in known for n, e in p.items()} if len(known) == len(parts) else None
