"""Parts of one size that move through an array of a library's, or of NumPy's among such (`X[i:i + size]`, `order[k * size:(k + 1) * size]`), as rows
of places: a slice of compiled arrays needs bounds that are known."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import numpy as np

from . import naming
from .homes import home_of, is_array
from .parts import COMPILED, OURS, Renamed, free_name, numpy_in, placed_at
from .stand_ins import StandIns, evaluates_again
from .watching import Visit


MOST = 10_000
"""So many turns are looked at."""


def with_places(form: StandIns) -> StandIns | None:
    """The statements with rows of places in the place of such parts, for sizes as they were seen; None where there are none."""
    home = home_of(form.body, form.visit.values)
    if home.numpy or naming.has((ast.Break, ast.Return), form.body):
        return None
    writer = _Parts(form.body, form.visit, f"{home.library}.numpy")
    body = tuple(writer.visit(copy.deepcopy(s)) for s in form.body)
    if not writer.asked:
        return None
    values = form.visit.values
    names = sorted(n for n in writer.asked & values.keys() if type(values[n]) is int or _is_sized(values[n]))
    ours = free_name(OURS, form.visit, COMPILED)
    seen = tuple(getattr(values[n], "shape", values[n]) for n in names)
    tests = (f"{ours}.sizes({', '.join(names)}) == {seen!r}",) if names else ()
    gone = writer.named.keys()
    kept = lambda given: {n: v for n, v in given.items() if n not in gone}
    visit = replace(form.visit, values=writer.values, after=kept(form.visit.after), ends=kept(form.visit.ends))
    before = [
        f"import {m.__name__} as {n}"
        for n, m in writer.values.items()
        if n not in values and isinstance(m, ModuleType) and n in naming.names(body)
    ]
    after = (*(f"{n} = {text}" for n, text in writer.named.items()), *form.after)
    return replace(
        form, body=body, visit=visit, tests=(*form.tests, *tests), before=(*form.before, *before), after=after
    )


class _Parts(ast.NodeTransformer):
    def __init__(self, body: naming.Statements, visit: Visit, library: str) -> None:
        self.body, self.seen = body, visit
        self.changing = naming.bound(body) | naming.stored_into(body)
        self.ints: dict[str, object] = {
            n: v for n, v in visit.values.items() if type(v) is int and n not in self.changing
        }
        self.values = {**visit.values}
        self.numpy = numpy_in(self.values)
        self.library = free_name("jnp", visit, library)
        self.values.setdefault(self.library, import_module(library))
        self.loops: dict[str, range] = {}
        self.sized: set[str] = set()
        """What says how often the loops run."""
        self.asked: set[str] = set()
        """Names whose sizes the parts are of."""
        self.named: dict[str, str] = {}
        """Names of parts that are views of NumPy's arrays, and the parts."""

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over a range whose numbers are known."""
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range")) as over) if (
                name not in naming.bound(node.body)
                and evaluates_again(over)
                and (turns := self._turns(over)) is not None
            ):
                self.loops[name] = turns
                self._views(node)
                self.generic_visit(node)
                del self.loops[name]
                return node
        return self.generic_visit(node)

    def _turns(self, over: ast.Call) -> range | None:
        arrays = {n: v for n, v in self.seen.values.items() if _is_sized(v) and n not in self.changing}
        names = naming.loaded([over]) - {"range", "len"}
        if not names <= self.ints.keys() | arrays.keys():
            return None
        try:
            turns = eval(ast.unparse(over), {"range": range, "len": len}, {**arrays, **self.ints})
        except Exception:
            return None
        self.sized |= names
        return turns if isinstance(turns, range) and 0 < len(turns) <= MOST else None

    def _views(self, loop: ast.For) -> None:
        """Names that a turn gives to parts of NumPy's arrays stand for these in the turn's other statements."""
        for k, s in enumerate(loop.body):
            match s:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=of)) as part) if (
                    isinstance(self._array(of), np.ndarray) and self._length(part) is not None
                ):
                    rest = [*loop.body[:k], *loop.body[k + 1 :]]
                    used = sum(len(naming.uses(name, [b])) for b in loop.body)
                    others = sum(len(naming.uses(name, [b])) for b in self.body)
                    changed = naming.bound(loop.body) | naming.stored_into(loop.body)
                    if others > used or name in naming.bound(rest) | naming.loaded(loop.body[:k]) or of in changed:
                        continue
                    self.named[name] = ast.unparse(part)
                    rename = Renamed({name: part})
                    loop.body = [*loop.body[:k], *(rename.visit(b) for b in loop.body[k + 1 :])]
                    self._views(loop)
                    return
                case ast.Assign() | ast.AugAssign() | ast.Expr():
                    continue
            return

    def _array(self, name: str) -> object:
        return self.seen.values.get(name, self.seen.after.get(name))

    def _length(self, node: ast.Subscript) -> int | None:
        """How long a part is in every turn; None where that is not known, or a part ends beyond the array's end."""
        match node:
            case ast.Subscript(
                value=ast.Name(id=of), slice=ast.Slice(lower=ast.expr() as lo, upper=ast.expr() as hi, step=None)
            ):
                array = self._array(of)
            case _:
                return None
        names = naming.loaded([lo, hi])
        counts = names & self.loops.keys()
        if len(counts) != 1 or not names - counts <= self.ints.keys() or not _is_sized(array):
            return None
        if not (evaluates_again(lo) and evaluates_again(hi)):
            return None
        (count,) = counts
        try:
            ends = [
                (eval(ast.unparse(lo), {}, given), eval(ast.unparse(hi), {}, given))
                for given in ({**self.ints, count: k} for k in self.loops[count])
            ]
        except Exception:
            return None
        sizes = {b - a for a, b in ends}
        inside = all(0 <= a and b <= array.shape[0] for a, b in ends)  # type: ignore[attr-defined]
        return sizes.pop() if len(sizes) == 1 and inside and min(sizes) > 0 else None

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """The part as a row of places."""
        self.generic_visit(node)
        length = self._length(node) if isinstance(node.ctx, ast.Load) else None
        if length is None:
            return self._index_of_library(node)
        assert isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Slice) and node.slice.lower is not None
        of_numpy = isinstance(self._array(node.value.id), np.ndarray)
        module = self.numpy if of_numpy else self.library
        if self.seen.around.get(module, self.values[module]) is not self.values[module]:
            return node
        self.asked |= naming.loaded([node.slice]) | {node.value.id} | self.sized
        self.asked |= _made_of(node.value.id, self.body)
        places = ast.parse(f"{module}.arange({length})", mode="eval").body
        return placed_at(ast.Subscript(node.value, ast.BinOp(node.slice.lower, ast.Add(), places), node.ctx), node)

    def _index_of_library(self, node: ast.Subscript) -> ast.AST:
        """A library's array by places that are NumPy's: while they are traced, the library asks for its own."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Subscript(value=ast.Name(id=of)) as places) if (
                is_array(self._array(name)) and isinstance(self._array(of), np.ndarray) and of in self.asked
            ):
                asarray = ast.Attribute(ast.Name(self.library, ast.Load()), "asarray", ast.Load())
                node.slice = placed_at(ast.Call(asarray, [places], []), node)
        return node


def _is_sized(value: object) -> bool:
    return (isinstance(value, np.ndarray) or is_array(value)) and bool(value.ndim)  # type: ignore[attr-defined]


def _made_of(name: str, body: naming.Statements) -> set[str]:
    """What the statements that bind a name read."""
    made = [s for s in naming.all_of(ast.Assign, body) if name in naming.bound([s])]
    return naming.loaded([s.value for s in made])
