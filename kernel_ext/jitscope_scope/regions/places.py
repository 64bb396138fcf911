"""Where regions may lie in a cell: loops, and straight stretches of assignments, in the cell itself and in its functions."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from . import naming
from .parts import placed_at
from .words import DRAWS


RECORDER = "__regions__"
_APART = DRAWS | frozenset(
    "print input open display seed sleep perf_counter time write savefig plot show append_row default_rng".split()
)
_STATEMENTS = (ast.Try, ast.Raise, ast.With, ast.Assert, ast.Yield, ast.Import, ast.ImportFrom, ast.Dict, ast.JoinedStr)
_LEAST = 3
"""A straight stretch of fewer statements is not looked at."""


@dataclass(frozen=True)
class Place:
    """Statements in a row that may be a region. `top` is the statement of the cell they stand in, `function` the function, if any."""

    key: int
    body: tuple[ast.stmt, ...]
    top: ast.stmt
    function: ast.FunctionDef | None
    eager: bool = False
    """Whether it is a loop with what stands before it, which is looked at only where the operations of a compiled library are run eagerly."""

    @property
    def loop(self) -> bool:
        """Whether a loop is among them."""
        return naming.has((ast.For, ast.While), self.body)

    def live(self) -> set[str] | None:
        """Names that are read after the statements; None for all of them, as in the cell itself."""
        if self.function is None:
            return None
        here = {id(n) for s in self.body for n in ast.walk(s)}
        others = [n for n in naming.all_of(ast.Name, [self.function]) if id(n) not in here]
        loops = [n for n in naming.all_of((ast.For, ast.While), [self.function]) if id(n) not in here]
        again = any(id(s) in here for s in naming.all_of(ast.stmt, loops))
        read = {n.id for n in others if isinstance(n.ctx, ast.Load)}
        return read | (naming.read_first(self.body) if again else set())


class Places:
    """All places of a program's cells, by key."""

    def __init__(self) -> None:
        self.all: dict[int, Place] = {}
        self._lines: dict[int, int] = {}
        self.apart = set(_APART)
        """Names of functions that end a region for certain, and of those of the cells that call them."""
        self.eager = False
        """Whether operations of a compiled library may be run eagerly."""

    def instrumented(self, tree: ast.Module) -> ast.Module:
        """The cell with a note at the start and the end of each place; lines and columns stay."""
        self._lines = _lines_of(tree)
        calls = {n.name: _called(n) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        for kind in naming.all_of(ast.ClassDef, [tree]):
            makers = [
                f for f in kind.body if isinstance(f, ast.FunctionDef) and f.name in ("__init__", "__post_init__")
            ]
            calls[kind.name] = set().union(*map(_called, makers))
        while more := {n for n, names in calls.items() if names & self.apart} - self.apart:
            self.apart |= more
        new: list[ast.stmt] = self._block(tree.body, None, None)
        return ast.Module(new, [])

    def _block(
        self, body: list[ast.stmt], top: ast.stmt | None, function: ast.FunctionDef | None, straight: bool = True
    ) -> list[ast.stmt]:
        """The statements of a block with notes; straight stretches are noted where no loop goes round them."""
        done: list[ast.stmt] = []
        run: list[ast.stmt] = []

        def close() -> None:
            if straight and any(map(_computes, run)) and (len(run) >= _LEAST or any(map(_repeats, run))):
                each = [self._noted([s], top or s, function) if len(run) > 1 and _repeats(s) else [s] for s in run]
                done.extend(self._noted(list(run), top or run[0], function, [t for one in each for t in one]))
            else:
                done.extend(run)
            run.clear()

        for s in body:
            if isinstance(s, (ast.Assign, ast.AugAssign)) and not self._ends(s) and not _unfilled(s):
                run.append(s)
                continue
            before, start = list(run), len(done)
            close()
            done.extend(self._one(s, top or s, function, straight))
            if self.eager and before and straight and isinstance(s, (ast.For, ast.While)) and not self._ends(s):
                inside = done[start:]
                done[start:] = self._noted([*before, s], top or before[0], function, inside, eager=True)
        close()
        return done

    def _one(self, s: ast.stmt, top: ast.stmt, function: ast.FunctionDef | None, straight: bool) -> list[ast.stmt]:
        if isinstance(s, (ast.For, ast.While)):
            inner = s
            if self._ends(s):
                inner = copy.copy(s)
                inner.body = self._block(s.body, top, function, False)
            return self._noted([s], top, function, [inner])
        if isinstance(s, ast.Try) and straight:
            return self._noted([s], top, function)
        if isinstance(s, (ast.FunctionDef, ast.ClassDef, ast.If, ast.With)):
            new = copy.copy(s)
            plain = isinstance(s, ast.FunctionDef) and function is None and not _generates(s)
            if isinstance(s, ast.FunctionDef) and not plain:
                return [s]
            before = len(self.all)
            new.body = self._block(s.body, top, s if isinstance(s, ast.FunctionDef) else function, straight)
            if isinstance(new, ast.FunctionDef) and len(self.all) > before:
                told = ast.parse(f"{RECORDER}.made", mode="eval").body
                new.decorator_list = [*new.decorator_list, placed_at(told, s)]
            if isinstance(new, ast.If) and isinstance(s, ast.If):
                new.orelse = self._block(s.orelse, top, function, straight)
            return [new]
        return [s]

    def _ends(self, s: ast.stmt) -> bool:
        """Whether something stands in a statement that ends a region for certain."""
        return bool(_called(s) & self.apart) or naming.has(_STATEMENTS, [s])

    def _noted(
        self,
        body: list[ast.stmt],
        top: ast.stmt,
        function: ast.FunctionDef | None,
        shown: list[ast.stmt] | None = None,
        eager: bool = False,
    ) -> list[ast.stmt]:
        edges, own = {body[0].lineno, body[-1].end_lineno or 0}, _lines_of(ast.Module(body, []))
        if any(self._lines[line] > own.get(line, 0) for line in edges):
            return shown or body
        key = len(self.all)
        self.all[key] = Place(key, tuple(body), top, function, eager)
        enter = ast.parse(f"{RECORDER}.enter({key}, locals(), globals())").body[0]
        leave = ast.parse(f"{RECORDER}.leave({key}, locals())").body[0]
        return [placed_at(enter, body[0]), *(shown or body), placed_at(leave, body[-1])]


def _lines_of(tree: ast.Module) -> dict[int, int]:
    """How many simple statements, or heads of compound ones, each line has a part of: edits replace whole lines."""
    count: dict[int, int] = {}
    for n in naming.statements([tree]):
        last = n.end_lineno or n.lineno
        inside = min((s.lineno for s in naming.statements([n]) if s is not n), default=last + 1)
        for k in range(n.lineno, max(n.lineno + 1, min(inside, last + 1))):
            count[k] = count.get(k, 0) + 1
    return count


def _called(node: ast.AST) -> set[str]:
    """The names of functions and methods that are called in it."""
    functions = [n.func for n in naming.all_of(ast.Call, [node])]
    return {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in functions}


def _unfilled(s: ast.stmt) -> bool:
    """Whether an array is made that holds whatever its memory held before: there is nothing to compare it with."""
    calls = [n.func for n in naming.all_of(ast.Call, [s])]
    return any(isinstance(f, ast.Attribute) and f.attr in ("empty", "empty_like") for f in calls)


def _computes(s: ast.stmt) -> bool:
    return naming.has((ast.BinOp, ast.Call), [s])


def _repeats(s: ast.stmt) -> bool:
    """Whether a statement computes in a comprehension."""
    parts = naming.all_of((ast.ListComp, ast.GeneratorExp, ast.DictComp), [s])
    return naming.has((ast.BinOp, ast.Call), [p.value if isinstance(p, ast.DictComp) else p.elt for p in parts])


def _generates(function: ast.FunctionDef) -> bool:
    return naming.has((ast.Yield, ast.YieldFrom, ast.Await), [function])
