"""Functions of the user's that a region calls: each is written once more, for the compiler, inside the region's own function."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType

from . import naming
from .answers import CannotCompile


Written = Callable[[ast.FunctionDef, "set[str]"], "list[str]"]


class Functions:
    """The functions that were needed. `definitions` are the functions that cells define, by the file and line of their code."""

    def __init__(self, values: Mapping[str, object], definitions: Mapping[tuple[str, int], ast.FunctionDef]) -> None:
        self.values, self.definitions = values, definitions
        self.lines: list[str] = []
        self.reads: set[str] = set()
        self.names: set[str] = set()
        self.write: Written | None = None
        self.changed: Mapping[str, tuple[str, ...]] = {}
        """The parameters that functions store into and hand back."""
        self.outside: Callable[[str, object], bool] = lambda name, value: False
        """Whether a name stands for this value wherever the region's function reads it."""

    def need(self, name: str, line: int) -> None:
        """Has the function of this name written. Raises CannotCompile where it cannot be."""
        if name in self.names:
            return
        self.names.add(name)
        function = self.values[name]
        assert isinstance(function, FunctionType) and self.write is not None
        code = function.__code__
        node = definition_of(function, self.definitions)
        if node is None or node.decorator_list:
            raise CannotCompile(line, "object", f"`{name}` is not a plain function of a cell")
        for n, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            if not self.outside(n, cell):
                raise CannotCompile(line, "object", f"`{name}` keeps `{n}` of the function that made it")
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            raise CannotCompile(line, "effect", f"`{name}` is a generator or a coroutine")
        given = set(naming.parameters(node))
        if node.args.vararg or node.args.kwarg:
            raise CannotCompile(line, "object", f"`{name}` takes any number of arguments")
        if any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(node)):
            raise CannotCompile(line, "effect", f"`{name}` binds names outside of itself")
        if touched := naming.stored_into(node.body) - naming.bound(node.body) - {*self.changed.get(name, ())}:
            raise CannotCompile(line, "effect", f"`{name}` stores into `{min(touched)}`")
        for n in ast.walk(node):
            if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Attribute):
                root = naming.root_of(n.value.func)
                if root is not None and root not in naming.bound(node.body):
                    raise CannotCompile(line, "effect", f"`{name}` does `{ast.unparse(n)[:50]}` to what lives on")
        free = naming.loaded(node.body) - given - naming.bound(node.body)
        self.reads |= {n for n in free if n in self.values}
        self.lines += self.write(node, given)


def definitions(tree: ast.Module, file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions that a cell defines, by file and line; a lambda that has a name and a line to itself is one that returns."""
    found: dict[tuple[str, int], ast.FunctionDef] = {}
    for n in ast.walk(tree):
        match n:
            case ast.FunctionDef():
                found[file, min([n.lineno, *(d.lineno for d in n.decorator_list)])] = n
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=given, body=value)):
                returned = ast.copy_location(ast.Return(value), value)
                whole = ast.parse(f"def {name}(): pass").body[0]
                assert isinstance(whole, ast.FunctionDef)
                whole.args, whole.body = given, [returned]
                found[file, n.value.lineno] = ast.copy_location(whole, n)
    return found


def definition_of(
    function: FunctionType, definitions: Mapping[tuple[str, int], ast.FunctionDef]
) -> ast.FunctionDef | None:
    """The definition of a function: of a cell, or of a file that Python knows the text of."""
    code = function.__code__
    return definitions.get((code.co_filename, code.co_firstlineno)) or _source(function)


def _source(function: FunctionType) -> ast.FunctionDef | None:
    """The definition of a function of another cell, where Python knows its text."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    return tree.body[0] if tree.body and isinstance(tree.body[0], ast.FunctionDef) else None
