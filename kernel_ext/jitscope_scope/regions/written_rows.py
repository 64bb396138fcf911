"""Loops that change the arrays that they go through where these are written: `for p, g in ((W, dW), (b, db)): p -= rate * g`, or `zip([W, b], [dW, db])`.
Each turn stands there with the arrays' own names; the loop's names are bound in the end."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

import numpy as np

from . import naming, paths
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
    loops = [n.iter for s in body for n in ast.walk(s) if isinstance(n, ast.For)]
    rows = [n for n in loops if isinstance(n, (ast.Tuple, ast.List)) or ast.unparse(n).startswith("zip(")]
    return {n.id for row in rows for n in ast.walk(row) if isinstance(n, ast.Name)} - {"zip"}


class _Writer:
    def __init__(self, body: naming.Statements, visit: Visit) -> None:
        self.visit, self.after = visit, list[str]()
        self.names = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        """A statement with the turns of such loops inside of it, but for those under a branch."""
        if isinstance(s, ast.For) and (rows := self._rows(s)) is not None:
            last = rows[-1]
            self.after += [f"{n} = {ast.unparse(e)}" for n, e in last.items()]
            return [_Renamer(row).visit(copy.deepcopy(t)) for row in rows for t in s.body]
        if isinstance(s, (ast.For, ast.While)):
            s.body = [t for inner in s.body for t in self.statement(inner)]
        return [s]

    def _rows(self, s: ast.For) -> list[dict[str, ast.expr]] | None:
        """What the loop's names stand for in each turn; None for other loops."""
        targets = [s.target] if isinstance(s.target, ast.Name) else getattr(s.target, "elts", [])
        own = [t.id for t in targets if isinstance(t, ast.Name)]
        touched = {t for b in s.body for t in naming.augmented(b)} | naming.stored_into(s.body)
        if s.orelse or naming.leaves(s.body) or len(own) < len(targets) or not touched & {*own}:
            return None
        parts = _written(s.iter, len(own), isinstance(s.target, ast.Name))
        plain = [t for b in naming.statements(s.body) if not isinstance(b, ast.AugAssign) for t in naming.targets_of(b)]
        if not parts or len(parts) > MOST or any(isinstance(t, ast.Name) and t.id in own for t in plain):
            return None
        if any(n.id in own and n.lineno not in range(s.lineno, (s.end_lineno or 0) + 1) for n in self.names):
            return None
        rows = [dict(zip(own, row, strict=True)) for row in parts]
        for row in rows:
            if not all(self._stays(e, s) for e in row.values()) or not all(
                self._is_array(row[n]) for n in touched & {*own}
            ):
                return None
        return rows

    def _stays(self, e: ast.expr, s: ast.For) -> bool:
        """Whether this stands for the same until the region's end."""
        while isinstance(e, ast.Attribute):
            e = e.value
        if not isinstance(e, ast.Name):
            return False
        return not any(n.id == e.id and isinstance(n.ctx, ast.Store) and n.lineno >= s.lineno for n in self.names)

    def _is_array(self, e: ast.expr) -> bool:
        for seen in (self.visit.values, self.visit.after):
            try:
                if isinstance(paths.at(ast.unparse(e), seen), np.ndarray):
                    return True
            except Exception:
                continue
        return False


def _written(node: ast.expr, size: int, alone: bool) -> list[list[ast.expr]] | None:
    """The rows of what a loop goes through, if they are written there."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if alone:
            return [[p] for p in parts]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            rows = [list(getattr(p, "elts", [])) for p in parts]
        case ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]) if not alone:
            each = [getattr(a, "elts", []) for a in args]
            rows = [list(row) for row in zip(*each, strict=False)] if len({*map(len, each)}) == 1 else []
        case _:
            return None
    return rows if all(len(r) == size for r in rows) else None


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        new = ast.copy_location(copy.deepcopy(self.names[node.id]), node)
        assert isinstance(new, (ast.Name, ast.Attribute))
        new.ctx = node.ctx
        return new
