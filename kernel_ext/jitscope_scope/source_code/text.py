"""The text of a file or of a notebook's cells, parsed: nodes with their parents, places, and source."""

from __future__ import annotations

import ast
import operator
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from jitscope.core import source

from .bindings import pairs
from .edits import Edit, Span
from .names import Names
from .scopes import Scopes
from .tree import Function, below, children, is_elif


Node = TypeVar("Node", bound=ast.AST)
_first = operator.itemgetter(0)
_HAVE_NAMES = re.compile(r"numpy|jax(?:\.[a-z_]+)?|jax\.(?:lax|random|tree|tree_util|scipy)\.[a-z_0-9]+")
"""What a program may have another name for: modules, transformations, control flow, samplers."""


class Cell(NamedTuple):
    """A cell: its first and last line, and whether `%%jit` compiles its functions: only those in `names` if there are some, none
    in `skip`, with these parameters of a function `static`. `label` is there where lines are counted by cell. `timed` has the first
    and last lines of what `%time`, `%timeit` and their kin measure."""

    first: int
    last: int
    compiled: bool = False
    names: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    static: Mapping[str, frozenset[str]] = MappingProxyType({})
    label: str = ""
    timed: tuple[tuple[int, int], ...] = ()

    def compiles(self, function: str) -> bool:
        return self.compiled and function not in self.skip and (not self.names or function in self.names)


class Code:
    """A parsed program. Raises SyntaxError and ValueError as `ast.parse` does. `cells` are its cells, if it is a notebook."""

    def __init__(self, text: str, file: str, cells: Sequence[Cell] = (), known: Names | None = None) -> None:
        self.text, self.file, self.cells = text, file, tuple(cells)
        self.lines = text.split("\n")
        self.tree = ast.parse(text)
        self.names = Names(known)
        self.nodes: list[ast.AST] = below(self.tree)
        """All nodes, as `ast.walk` gives them."""
        self.parents: dict[ast.AST, ast.AST] = {child: node for node in self.nodes for child in children(node)}
        for node in self.of(ast.Import, ast.ImportFrom):
            self.names.learn(node)
        self._others: set[ast.AST] = set()
        for name, dotted in self._other_names():
            self.names.add(name.id, dotted)
            self._others.add(name)
        self._dotted: dict[ast.AST, str] = {}
        self._ordered: list[ast.AST] = []
        self._spans: dict[ast.AST, tuple[int, int]] = {}

    @cached_property
    def _by_type(self) -> dict[type[ast.AST], list[tuple[int, ast.AST]]]:
        found: dict[type[ast.AST], list[tuple[int, ast.AST]]] = {}
        for at, node in enumerate(self.nodes):
            found.setdefault(node.__class__, []).append((at, node))
        return found

    def of(self, *types: type[Node]) -> list[Node]:
        """All nodes of these types, as `ast.walk` gives them."""
        found = [one for each in types for one in self._by_type.get(each, ())]
        return [node for _, node in (sorted(found, key=_first) if len(types) > 1 else found)]  # pyright: ignore[reportReturnType]

    def _other_names(self) -> Iterator[tuple[ast.Name, str]]:
        """The names that the program itself gives to modules and functions of the library once, `jx = jax` and `jit, grad = jax.jit,
        jax.grad`, and what they mean."""
        for statement in self.tree.body:
            if not isinstance(statement, ast.Assign):
                continue
            for target in statement.targets:
                for name, value in pairs(target, statement.value):
                    if not isinstance(name, ast.Name):
                        continue
                    if _HAVE_NAMES.fullmatch(self.names.dotted(value)) and self.scopes.binders(self.tree, name.id) == [
                        name
                    ]:
                        yield name, self.names.dotted(value, self.names.written)

    @cached_property
    def scopes(self) -> Scopes:
        """Which scope each name belongs to."""
        return Scopes(self.nodes)

    def dotted(self, node: ast.AST) -> str:
        """The canonical name of an expression such as `jnp.sum`, or ""; a name that its own scope gives something else is none."""
        found = self._dotted.get(node)
        if found is None:
            found = self._dotted[node] = self._dotted_anew(node)
        return found

    def binders_of(self, node: ast.AST) -> Sequence[ast.AST]:
        """The nodes that give a name what it means at its place; none of what is no name, or is not the program's."""
        scope = self.scopes.binding(node.id, node) if isinstance(node, ast.Name) else None
        return self.scopes.binders(scope, node.id) if isinstance(node, ast.Name) and scope is not None else ()

    def values_of(self, node: ast.AST) -> list[ast.expr | None]:
        """What a name is given, wherever it is; None where that is not written as a value."""
        return [getattr(self.parents.get(one), "value", None) for one in self.binders_of(node)]

    def _dotted_anew(self, node: ast.AST) -> str:
        dotted = self.names.dotted(node)
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not dotted or not isinstance(root, ast.Name) or root not in self.parents:
            return dotted
        given = self.binders_of(root)
        return dotted if not given or any(isinstance(one, ast.alias) or one in self._others for one in given) else ""

    @cached_property
    def outside(self) -> list[ast.AST]:
        """The nodes that stand in no function."""
        found: list[ast.AST] = [self.tree]
        for node in found:
            if not isinstance(node, Function):
                found.extend(children(node))
        return found

    def within(self, node: ast.AST) -> list[ast.AST]:
        """A node and all inside it, in the order of the code."""
        if not self._spans:
            self._order(self.tree)
        first, end = self._spans[node]
        return self._ordered[first:end]

    def _order(self, node: ast.AST) -> None:
        first = len(self._ordered)
        self._ordered.append(node)
        for child in children(node):
            self._order(child)
        self._spans[node] = first, len(self._ordered)

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, columns in characters."""
        start, end = node.lineno, node.end_lineno  # pyright: ignore[reportAttributeAccessIssue]
        return Span(start, self._column(start, node.col_offset), end, self._column(end, node.end_col_offset))  # pyright: ignore

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))

    def indent(self, line: int) -> str:
        """The white space that a line begins with."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip())]

    def source(self, node: ast.AST) -> str:
        """The source of an expression, on one line."""
        return ast.unparse(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the nearest first."""
        while (node := self.parents.get(node)) is not None:  # pyright: ignore[reportAssignmentType]
            yield node

    def function_around(self, node: ast.AST) -> Function | None:
        """The innermost function a node stands in."""
        return next((one for one in self.around(node) if isinstance(one, Function)), None)

    def statement_around(self, node: ast.AST) -> ast.stmt | None:
        """The statement a node belongs to (itself, if it is one)."""
        while not isinstance(node, ast.stmt):
            above = self.parents.get(node)
            if above is None:
                return None
            node = above
        return node

    def block_of(self, statement: ast.AST) -> list[ast.stmt]:
        """The statements among which one stands."""
        above = self.parents.get(statement)
        blocks = (getattr(above, name, None) for name in ("body", "orelse", "finalbody"))
        return next((block for block in blocks if isinstance(block, list) and statement in block), [])

    def after(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements after one in its block."""
        block = self.block_of(statement)
        return block[block.index(statement) + 1 :] if block else []

    def in_place_of(self, node: ast.AST, text: str, last: ast.AST | None = None) -> Edit:
        """The edit that puts `text` where a node stands, and all up to the `last`: with what comes behind an `if` where a `return` gives all
        values. What stands in place of an `elif` goes below an `else`."""
        if last is None and isinstance(node, ast.If) and text.startswith("return "):
            last = next(iter(self.after(node)[::-1]), None)
        span, end = self.span(node), self.span(node if last is None else last)
        if is_elif(node, self.parents.get(node)):
            text = "else:\n" + textwrap.indent(text, "    ")
        if isinstance(node, ast.stmt):
            text = text.replace("\n", "\n" + self.indent(span.line))
        return Edit(span._replace(end_line=end.end_line, end_column=end.end_column), text)

    def cell_of(self, node: ast.AST) -> Cell | None:
        """The cell a node stands in."""
        line = node.lineno  # pyright: ignore[reportAttributeAccessIssue]
        return next((cell for cell in self.cells if cell.first <= line <= cell.last), None)

    def line_told(self, node: ast.AST, at: ast.AST) -> str:
        """`line 3`, or where `at` stands in another cell of a notebook `line 3 of cell 2`."""
        line: int = node.lineno  # pyright: ignore[reportAttributeAccessIssue]
        cell = self.cell_of(node)
        if cell is None or not cell.label:
            return f"line {line}"
        told = f"line {line - cell.first + 1}"
        return told if cell is self.cell_of(at) else f"{told} of {cell.label}"

    def is_shown(self, node: ast.AST) -> bool:
        """Whether a notebook shows the value of an expression: the last of its cell."""
        statement = self.parents.get(node)
        if not isinstance(statement, ast.Expr) or not isinstance(self.parents.get(statement), ast.Module):
            return False
        cell = self.cell_of(node)
        own = [one for one in self.tree.body if cell and cell.first <= one.lineno <= cell.last]
        return bool(own) and own[-1] is statement


def code_in(file: str, known: Names | None = None) -> Code | None:
    """The code of a source file or a notebook's cell; None where it cannot be had, or is no Python."""
    try:
        return Code(source.code_of(file), file, known=known)
    except (SyntaxError, ValueError, RecursionError):
        return None
