"""How much of the public functions' signatures is known, read from the source as a type checker reads it; nothing is imported.

A module's public names are those of its `__all__`, else those that do not begin with an underscore and are defined there, or imported
there under the same name (`import x as x`). A parameter or a result counts as unknown where it has no annotation or where the
annotation is `Any`, a union with `Any`, or an alias of it; a result also where it is a tuple or a list of such. A name that looks like a function and has no declaration that can be
found counts as a function of one unknown parameter and an unknown result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple


ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "compiler", ROOT / "kernel_ext")

OPEN = {f"jitscope.{n}" for n in ("example_libraries", "experimental", "extend", "interpreters")}
"""Packages whose modules are imported by their own names."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Count:
    """Of parameters and of results: how many are unknown, and how many there are."""

    parameters: int = 0
    of_parameters: int = 0
    results: int = 0
    of_results: int = 0

    def add(self, other: Count) -> None:
        self.parameters += other.parameters
        self.of_parameters += other.of_parameters
        self.results += other.results
        self.of_results += other.of_results


UNKNOWN = Count(1, 1, 1, 1)


class Found(NamedTuple):
    """A definition, the module it stands in, and the class that it belongs to, if any."""

    module: str
    node: ast.AST


@cache
def path_of(module: str) -> Path | None:
    """The file of a module: its stub, where there is one."""
    for folder in FOLDERS:
        stem = folder.joinpath(*module.split("."))
        for path in (stem.with_suffix(".pyi"), stem.with_suffix(".py"), stem / "__init__.py"):
            if path.exists():
                return path
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """What type checkers run of a module: below `if TYPE_CHECKING` the first branch."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _statements(statement.body)
            if "TYPE_CHECKING" not in ast.dump(statement.test):
                yield from _statements(statement.orelse)
        elif isinstance(statement, (ast.With, ast.Try)):
            yield from _statements([*statement.body, *getattr(statement, "orelse", ())])
        else:
            yield statement


class Module:
    """What a module's source binds at its top level."""

    def __init__(self, name: str, path: Path):
        self.name = name
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.listed: list[str] | None = None
        self.own: dict[str, list[ast.AST]] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.exported: dict[str, None] = {}
        for statement in _statements(ast.parse(path.read_text(encoding="utf-8")).body):
            self._read(statement)

    def _read(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.ImportFrom):
            self._read_import(statement)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._bind(statement.name, statement)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            self._bind(statement.target.id, statement)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._read_assignment(target, statement.value)

    def _read_assignment(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and target.id == "__all__":
            if isinstance(value, (ast.List, ast.Tuple)):
                self.listed = [e.value for e in value.elts if isinstance(e, ast.Constant)]  # pyright: ignore[reportAttributeAccessIssue]
        elif isinstance(target, ast.Name):
            self._bind(target.id, value)
        elif isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            for each, its in zip(target.elts, values):
                self._read_assignment(each, its)

    def _read_import(self, statement: ast.ImportFrom) -> None:
        origin = statement.module or ""
        if statement.level:
            base = self.package.split(".")[: len(self.package.split(".")) - statement.level + 1]
            origin = ".".join([*base, *([origin] if origin else [])])
        for alias in statement.names:
            if alias.name == "*":
                if path_of(origin):
                    for name in public_names(origin):
                        self.imported[name] = (origin, name)
                        self.exported[name] = None
            else:
                self.imported[alias.asname or alias.name] = (origin, alias.name)
                if alias.asname == alias.name:
                    self.exported[alias.name] = None

    def _bind(self, name: str, node: ast.AST) -> None:
        self.own.setdefault(name, []).append(node)
        if not name.startswith("_"):
            self.exported[name] = None


@cache
def module(name: str) -> Module:
    path = path_of(name)
    assert path is not None, name
    return Module(name, path)


def public_names(name: str) -> list[str]:
    here = module(name)
    return list(here.exported) if here.listed is None else here.listed


def find(where: str, name: str) -> list[Found]:
    """The definitions of a name (several are overloads); none where it is a module, or lies outside of the folders."""
    here = module(where)
    if name in here.own:
        nodes = here.own[name]
        last = nodes[-1]
        if isinstance(last, ast.Name):
            return find(where, last.id)
        if isinstance(last, ast.Attribute) and isinstance(last.value, ast.Name) and last.value.id in here.imported:
            origin = ".".join(here.imported[last.value.id])
            return find(origin, last.attr) if path_of(origin) else []
        return [Found(where, n) for n in (nodes if isinstance(last, Function) else nodes[-1:])]
    if name in here.imported:
        origin, inside = here.imported[name]
        if path_of(f"{origin}.{inside}") or not path_of(origin):
            return []
        return find(origin, inside)
    return []


# Annotations ------------------------------------------------------------------------------------------------------------


def is_unknown(where: str, annotation: ast.expr | None, known: frozenset[str]) -> bool:
    """Whether an annotation says nothing: none, `Any`, a union with it, or an alias of it whose name is not in `known`."""
    match annotation:
        case None:
            return True
        case ast.Constant(value=str(text)):
            return is_unknown(where, ast.parse(text, mode="eval").body, known)
        case ast.BinOp():
            return is_unknown(where, annotation.left, known) or is_unknown(where, annotation.right, known)
        case ast.Subscript(value=ast.Name(id="Optional" | "Union" | "Annotated" | "Final" | "ClassVar")):
            inner = annotation.slice
            return any(is_unknown(where, e, known) for e in (inner.elts if isinstance(inner, ast.Tuple) else [inner]))
        case ast.Attribute(attr="Any"):
            return True
        case ast.Name(id="Any" | "_Any"):
            return True
        case ast.Name(id=name):
            if name in known:
                return False
            return any(_is_unknown_alias(found, known) for found in find(where, name))
    return False


def _is_unknown_alias(found: Found, known: frozenset[str]) -> bool:
    node = found.node
    if isinstance(node, ast.AnnAssign):
        node = node.value
    alias = isinstance(node, (ast.Name, ast.BinOp, ast.Subscript, ast.Attribute))
    return alias and is_unknown(found.module, node, known)  # pyright: ignore[reportArgumentType]


def _of_function(where: str, node: Function, known: frozenset[str], in_class: bool = False) -> Count:
    if any(_hides(where, d, known) for d in node.decorator_list):
        return UNKNOWN
    args = node.args
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    plain = [*args.posonlyargs, *args.args][1 if in_class and not static else 0 :]
    every = [*plain, *([args.vararg] if args.vararg else []), *args.kwonlyargs, *([args.kwarg] if args.kwarg else [])]
    every = [a for a in every if not a.arg.startswith("_")]
    count = Count(sum(is_unknown(where, a.annotation, known) for a in every), len(every))
    if node.name != "__init__":
        count.results, count.of_results = int(_is_unknown_result(where, node.returns, known)), 1
    return count


def _is_unknown_result(where: str, returns: ast.expr | None, known: frozenset[str]) -> bool:
    """Whether a result says nothing, or is a tuple or a list of what says nothing."""
    if isinstance(returns, ast.Subscript) and ast.unparse(returns.value) in ("tuple", "list"):
        inner = returns.slice.elts if isinstance(returns.slice, ast.Tuple) else [returns.slice]
        return any(is_unknown(where, e, known) for e in inner)
    return is_unknown(where, returns, known)


def _hides(where: str, decorator: ast.expr, known: frozenset[str]) -> bool:
    """Whether a decorator makes of a function something of which nothing is known."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(name, ast.Name):
        return False
    return any(
        isinstance(f.node, Function) and _gives_unknown(f.module, f.node.returns, known) for f in find(where, name.id)
    )


def _gives_unknown(where: str, returns: ast.expr | None, known: frozenset[str]) -> bool:
    """Whether what is returned is unknown, or a function of which nothing is known."""
    return is_unknown(where, returns, known) or (returns is not None and ast.unparse(returns) == "Callable[..., Any]")


def _is_overload(node: Function) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("overload", "_overload") for d in node.decorator_list)


def _told(functions: list[Function]) -> list[Function]:
    """The signatures that users see: the overloads, where there are any."""
    return [f for f in functions if _is_overload(f)] or functions[-1:]


def _of_class(where: str, node: ast.ClassDef, known: frozenset[str]) -> Count:
    count = Count()
    methods: dict[str, list[Function]] = {}
    for statement in _statements(node.body):
        if isinstance(statement, Function) and (
            not statement.name.startswith("_") or statement.name in ("__init__", "__new__", "__call__")
        ):
            methods.setdefault(statement.name, []).append(statement)
    for functions in methods.values():
        for function in _told(functions):
            if not any(
                isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in function.decorator_list
            ):
                count.add(_of_function(where, function, known, in_class=True))
    return count


def count_of(where: str, name: str, known: frozenset[str]) -> Count:
    """What is unknown of one public name; nothing of what is neither function nor class."""
    found = find(where, name)
    if not found:
        return Count()
    if isinstance(found[-1].node, Function):
        count = Count()
        told = {id(f) for f in _told([f.node for f in found if isinstance(f.node, Function)])}
        for f in found:
            if id(f.node) in told:
                count.add(_of_function(f.module, f.node, known))  # pyright: ignore[reportArgumentType]
        return count
    return _of_value(found[-1], known)


def _of_value(found: Found, known: frozenset[str]) -> Count:
    where, node = found
    if isinstance(node, ast.ClassDef):
        return _of_class(where, node, known)
    if isinstance(node, ast.AnnAssign):
        if isinstance(node.annotation, ast.Name):
            if node.annotation.id == "TypeAlias":
                return Count()
            return _of_protocol(where, node.annotation.id, known) or Count()
        return UNKNOWN if is_unknown(where, node.annotation, known) else Count()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        makers = find(where, node.func.id)
        if makers and isinstance(makers[-1].node, Function):
            told = _told([m.node for m in makers if isinstance(m.node, Function)])[0]
            module, returns = makers[-1].module, told.returns
            if isinstance(returns, ast.Name) and (count := _of_protocol(module, returns.id, known)):
                return count
            return UNKNOWN if _gives_unknown(module, returns, known) else Count()
    return Count()


def _of_protocol(where: str, name: str, known: frozenset[str]) -> Count | None:
    """What is unknown of the calls of objects of a class; None where the class is not known."""
    found = find(where, name)
    if not found:
        return None
    node = found[-1].node
    if not isinstance(node, ast.ClassDef):
        return None
    calls = [s for s in node.body if isinstance(s, Function) and s.name == "__call__"]
    count = Count()
    for call in _told(calls) if calls else []:
        count.add(_of_function(found[-1].module, call, known, in_class=True))
    return count


def public_modules(name: str) -> list[str]:
    """A module, and those that are reached through it by their public names."""
    found = {name: None}
    for public in public_names(name):
        inner = f"{name}.{public}"
        imported = module(name).imported.get(public)
        if imported and ".".join(imported) == inner and path_of(inner):
            found |= dict.fromkeys(public_modules(inner))
    path = path_of(name)
    if name in OPEN and path is not None:
        stems = sorted(p.stem for p in path.parent.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists())
        found |= dict.fromkeys(f"{name}.{stem}" for stem in stems if not stem.startswith("_"))
    return list(found)


def measure(name: str, known: frozenset[str]) -> Count:
    """What is unknown of the public functions and classes of a module."""
    count = Count()
    for public in public_names(name):
        count.add(count_of(name, public, known))
    return count


def unknown(name: str, known: frozenset[str]) -> list[str]:
    """The public names of a module of which something is unknown, with how much."""
    counts = {public: count_of(name, public, known) for public in public_names(name)}
    return [
        f"{n}: {c.parameters}/{c.of_parameters}, {c.results}/{c.of_results}"
        for n, c in counts.items()
        if c.parameters or c.results
    ]
