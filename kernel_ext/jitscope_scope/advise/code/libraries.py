"""Which library the cells of a notebook are written for, as far as its imports tell: jax's names and jitscope's are the same."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ...source_code.bindings import given_by
from ...source_code.text import Cell, Code


JAX, JITSCOPE = "jax", "jitscope"
FOR_JAX = frozenset(
    ("jax", "jaxlib", "flax", "equinox", "optax", "numpyro", "haiku", "chex", "diffrax", "blackjax", "distrax", "orbax", "lineax",
     "optimistix", "jaxopt", "penzai", "jraph")
)  # fmt: skip
"""jax, and libraries that compute with it."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def library_of(module: str) -> str:
    """The one of the two that a module is of, or is written for; "" for others."""
    top = module.partition(".")[0]
    return JITSCOPE if top in (JITSCOPE, "jitscope_kernel") else JAX if top in FOR_JAX else ""


def named_in(
    nodes: Iterable[ast.AST], library: Callable[[str], str] = library_of
) -> tuple[dict[str, list[ast.AST]], dict[str, set[str]]]:
    """What code defines under each name, and the libraries of what it imports under each."""
    defined: dict[str, list[ast.AST]] = {}
    imported: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, _DEFINITIONS):
            defined.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            for alias in node.names:
                (name,) = given_by(alias)
                found = library(getattr(node, "module", None) or alias.name)
                imported.setdefault(name, set()).update([found] if found else [])
    return defined, imported


class Libraries:
    """The libraries that the functions and cells of a program use, by themselves and through the functions that they name."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._defined, self._imported = named_in(code.of(*_DEFINITIONS, ast.Import, ast.ImportFrom))

    def left_alone(self, function: ast.AST, cell: Cell) -> bool:
        """Whether `%%jit` as the first line of a cell leaves a function of it to jax."""
        statements = [one for one in self._code.tree.body if cell.first <= one.lineno <= cell.last]
        if self._written_for(statements) == JAX:
            return True
        return self._written_for([function]) == JAX

    def _written_for(self, nodes: Iterable[ast.AST]) -> str:
        """jitscope where that is named; where neither is, what the program imports."""
        used = self._used(nodes, set())
        used = used or set().union(*self._imported.values())
        return JITSCOPE if JITSCOPE in used else JAX if JAX in used else ""

    def _used(self, nodes: Iterable[ast.AST], met: set[ast.AST]) -> set[str]:
        found: set[str] = set()
        for node in nodes:
            if node in met:
                continue
            met.add(node)
            for name in {part.id for part in self._code.within(node) if isinstance(part, ast.Name)}:
                found |= self._imported.get(name) or self._used(self._defined.get(name, ()), met)
        return found
