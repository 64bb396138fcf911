"""Which library the cells of a notebook are written for, as far as its imports tell: jax's names and jitscope's are the same."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...source_code.text import Cell, Code


JAX, JITSCOPE = "jax", "jitscope"
FOR_JAX = frozenset(
    ("jax", "jaxlib", "flax", "equinox", "optax", "numpyro", "haiku", "chex", "diffrax", "blackjax", "distrax", "orbax", "lineax",
     "optimistix", "jaxopt", "penzai", "jraph")
)  # fmt: skip
"""jax, and libraries that compute with it."""


class Libraries:
    """The libraries that the functions and cells of a program use, by themselves and through the functions that they name."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._imported: dict[str, set[str]] = {}
        self._defined: dict[str, list[ast.AST]] = {}
        for node in code.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._defined.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self._note(alias.asname or alias.name.partition(".")[0], alias.name)
            elif not node.level:
                for alias in node.names:
                    self._note(alias.asname or alias.name, node.module or "")

    def _note(self, name: str, module: str) -> None:
        top = module.partition(".")[0]
        library = JITSCOPE if top in (JITSCOPE, "jitscope_kernel") else JAX if top in FOR_JAX else ""
        self._imported.setdefault(name, set()).update([library] if library else [])

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
