"""The parts that edits are made of."""

from __future__ import annotations

import ast
import copy
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import TypeVar

import numpy as np

from . import naming
from .answers import CannotCompile
from .compiled import kinds, sizes
from .homes import Home, is_number
from .sources import UNKNOWN, roots_of, sources
from .watching import Visit


ALLOWED = 1e-8
"""The largest relative difference, of the largest value of an array, that rounding is blamed for in 64 bits."""
ALLOWED_32 = 2e-4
"""The same in 32 bits and less."""
OURS, COMPILED = "compiled_regions", "jitscope_scope.regions.compiled"
"""The name that the module which edits ask has in them, and its own."""


_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True)
class EditText:
    """The text of an edit in two parts: what defines the function, and what calls it in the region's place."""

    imports: tuple[str, ...]
    definition: tuple[str, ...]
    call: tuple[str, ...]
    reads: tuple[str, ...]
    inlined: frozenset[str] = frozenset()
    """Names of the user's functions that are part of it."""
    allowed: float = ALLOWED
    """The largest relative difference of 64-bit numbers: more, where they are made of 32-bit ones."""
    said: bool = False
    """Whether the call prints."""
    tests: tuple[str, ...] = ()
    """What has to be true before the call, so that it is the compiled form that runs."""
    kinds: tuple[str, ...] = ()
    """The same of types and sizes of what is read, which stands right before the call."""
    sizes: frozenset[str] = frozenset()
    """What has to be as large as it was: beyond an end, parts of a fixed size that move are others than NumPy's."""
    draws: tuple[int, ...] = ()
    """The lines whose random numbers Python draws before the call."""
    traced: bool = False
    """Whether it is traced where what it reads, beside what is handed in, is another than before."""
    instead: CannotCompile | None = None
    """Why there is no other form, where this one is a try."""

    def codes(self) -> tuple[CodeType, CodeType]:
        """The code of the two parts, whose lines errors know."""
        parts = {"<edit's definition>": [*self.imports, *self.definition], "<edit's call>": self.call}
        texts = {name: "\n".join(lines) for name, lines in parts.items()}
        linecache.cache.update({n: (len(t), None, t.splitlines(keepends=True), n) for n, t in texts.items()})
        define, call = (compile(text, name, "exec") for name, text in texts.items())
        return define, call

    def guarded(self, tests: Sequence[str], body: Sequence[ast.stmt]) -> EditText:
        """The edit where the tests are true, else the statements as they are."""
        return replace(self, tests=(*self.tests, *tests), call=self._under(tests, body)) if tests else self

    def under_tests(self, body: Sequence[ast.stmt]) -> EditText:
        """The edit with its own tests before the call."""
        tests = (*self.tests, *self.kinds)
        return replace(self, call=self._under(tests, body)) if tests else self

    def of_same_sources(self, body: Sequence[ast.stmt], visit: Visit) -> EditText:
        """The edit that asks whether the text that it was written from is still the same: of functions and classes, and what is in modules."""
        roots = roots_of(body, visit.values)
        if not roots:
            return self
        ours = free_name(OURS, visit, COMPILED)
        digest = sources(*(eval(r, {}, {**visit.values}) for r in roots), names=visit.values)
        if digest == UNKNOWN:
            raise CannotCompile(
                body[0].lineno, "object", "what it reads holds more functions and objects than an edit asks for"
            )
        test = f"{ours}.sources({', '.join(roots)}) == {digest!r}"
        return self.importing(ours, True).guarded([test], body)

    def of_same_sizes(self, visit: Visit) -> EditText:
        """The edit that asks whether arrays are as large as they were where that matters."""
        ours, given = free_name(OURS, visit, COMPILED), sorted(self.sizes)
        asked = _of_sizes(ours, given, visit)
        return replace(self.importing(ours, bool(given)), kinds=(*self.kinds, *([asked] if given else [])))

    def where_sizes_are(self, given: Sequence[str], visit: Visit, body: Sequence[ast.stmt]) -> EditText:
        """The edit with what stands before its call where these are as large as they were, else the statements as they are."""
        ours = free_name(OURS, visit, COMPILED)
        return self.importing(ours, bool(given)).guarded([_of_sizes(ours, given, visit)] if given else [], body)

    def of_same_kinds(self, visit: Visit) -> EditText:
        """The edit that asks whether what is read is of the types that were seen."""
        ours = free_name(OURS, visit, COMPILED)
        given = [n for n in self.reads if n in visit.values and not n.startswith("region_")]
        given = [n for n in given if n in visit.own or is_number(visit.values[n]) or type(visit.values[n]) is list]
        asked = f"{ours}.kinds({', '.join(given)}) == {kinds(*(visit.values[n] for n in given))!r}"
        return replace(self.importing(ours, bool(given)), kinds=(*self.kinds, *([asked] if given else [])))

    def importing(self, ours: str, used: bool = True) -> EditText:
        """The edit that imports the module which edits ask, where it is used."""
        more = [f"import {COMPILED} as {ours}"] if used else []
        return replace(self, imports=tuple(dict.fromkeys([*self.imports, *more])))

    def _under(self, tests: Sequence[str], body: Sequence[ast.stmt]) -> tuple[str, ...]:
        lines = "\n".join(self.call).splitlines()
        other = ["else:", *(f"    {line}" for s in body for line in ast.unparse(s).splitlines())]
        inside = lines[1 : -len(other)]
        if lines[0].startswith("if ") and lines[-len(other) :] == other and all(n.startswith("    ") for n in inside):
            return (f"if {' and '.join([*tests, lines[0][3:-1]])}:", *inside, *other)
        return (f"if {' and '.join(tests)}:", *(f"    {line}" for line in lines), *other)


def _of_sizes(ours: str, names: Sequence[str], visit: Visit) -> str:
    return f"{ours}.sizes({', '.join(names)}) == {sizes(*(visit.values[n] for n in names))!r}"


def placed_at(new: _Node, old: ast.AST) -> _Node:
    """What was made, all of it where `old` stands."""
    for n in ast.walk(new):
        ast.copy_location(n, old)
    return new


def whole_number(node: ast.expr | None) -> int | None:
    """The whole number that is written there, with a sign or not; None for all else."""
    try:
        value = ast.literal_eval(node) if node is not None else None
    except ValueError:
        return None
    return value if type(value) is int else None


class Renamed(ast.NodeTransformer):
    """The same with other names, or with expressions, in the place of names."""

    def __init__(self, names: Mapping[str, str | ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        new = self.names.get(node.id, node.id)
        made = ast.Name(new) if isinstance(new, str) else copy.deepcopy(new)
        if isinstance(made, (ast.Name, ast.Attribute)):
            made.ctx = node.ctx
        return placed_at(made, node) if hasattr(node, "lineno") else made


class ReadByName(ast.NodeTransformer):
    """The same with names in the place of expressions that are read, by their text."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> ast.AST:
        read = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Load | None)
        name = self.names.get(ast.unparse(node)) if read else None
        return super().visit(node) if name is None else ast.copy_location(ast.Name(name, ast.Load()), node)


def numpy_in(values: dict[str, object]) -> str:
    """The name by which NumPy is known among `values`; "numpy", which they get, where it has none."""
    name = next((n for n, v in values.items() if v is np), "numpy")
    values.setdefault(name, np)
    return name


def allowed_in(home: Home, values: Iterable[object] = ()) -> float:
    """The largest relative difference that rounding explains in numbers of 64 bits; those of libraries that compute in 32, and those beside
    NumPy's arrays all of which have 32, are made of such."""
    floating = {v.dtype for v in values if isinstance(v, np.ndarray) and v.ndim and v.dtype.kind in "fc"}
    if floating and not floating & {np.dtype(np.float64), np.dtype(np.complex128)}:
        return ALLOWED_32
    if home.library == "jax":
        return ALLOWED if sys.modules["jax"].config.jax_enable_x64 else ALLOWED_32
    return ALLOWED if home.arrays == "numpy" else ALLOWED_32


def imports_of(home: Home, jnp: str, lax: str, text: str, ours: str) -> list[str]:
    """The imports that the text of an edit needs."""
    found = [f"import {home.library}"]
    found += [f"import {home.library}.numpy as {jnp}"] if f"{jnp}." in text else []
    renamed = "" if lax == "lax" else f" as {lax}"
    found += [f"from {home.library} import lax{renamed}"] if f"{lax}." in text else []
    return found + ([f"import {COMPILED} as {ours}"] if f"{ours}." in text else [])


def free_name(wish: str, visit: Visit, module: str) -> str:
    """The name that a module gets in an edit: another one than `wish` where that stands for something else in the region or around it."""
    found = [names.get(wish) for names in (visit.values, visit.around)]
    free = all(v is None or getattr(v, "__name__", "") == module for v in found)
    return wish if free else f"{wish}_of_{module.partition('.')[0]}"


def calls_in_any_case(node: ast.expr) -> Iterator[ast.Call]:
    """Calls that an expression makes whatever its values are, the inner ones first."""
    match node:
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case ast.IfExp(test=test):
            yield from calls_in_any_case(test)
            return
        case ast.BoolOp(values=[first, *_]):
            yield from calls_in_any_case(first)
            return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.expr, ast.keyword)):
            yield from calls_in_any_case(child.value if isinstance(child, ast.keyword) else child)
    if isinstance(node, ast.Call):
        yield node


def replaced(node: ast.expr, call: ast.Call, value: ast.expr) -> ast.expr:
    """The expression with a value in the place of a call."""
    if node is call:
        return value
    for parent in ast.walk(node):
        for field, inner in ast.iter_fields(parent):
            if inner is call:
                setattr(parent, field, value)
            elif isinstance(inner, list):
                inner[:] = [value if e is call else e for e in inner]
    return node


def visited(writer: ast.NodeTransformer, body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Copies of statements as a writer has them: one, or several, in the place of each."""
    new = [writer.visit(copy.deepcopy(s)) for s in body]
    return [t for one in new for t in (one if isinstance(one, list) else [one])]


def blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements, and those of each block inside of them."""
    yield body
    for s in body:
        for part in ("body", "orelse"):
            if isinstance(inner := getattr(s, part, None), list) and inner:
                yield from blocks(inner)


class PairSplitter(ast.NodeTransformer):
    """`y, ys = 1.0, []` as two statements, where one of the values is of a kind, or all are."""

    def __init__(self, kind: type[ast.expr], wanted: Callable[[Iterable[bool]], bool]) -> None:
        self.kind, self.wanted = kind, wanted

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=parts)) if (
                len(targets) == len(parts)
                and self.wanted(isinstance(p, self.kind) for p in parts)
                and all(isinstance(t, ast.Name) for t in targets)
                and not naming.bound([node]) & naming.loaded(parts)
            ):
                return [placed_at(ast.Assign([t], p), node) for t, p in zip(targets, parts, strict=True)]
        return node
