"""What names mean: `jnp.linalg.norm` is `jax.numpy.linalg.norm`, whatever the imports call it.

jitscope's names are JAX's, so both libraries have the same canonical names, which begin with `jax`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from types import ModuleType
from typing import Any


_CANONICAL = {"jitscope": "jax"}


class Names:
    """The imports of a file or a notebook, collected as they are met."""

    def __init__(self, known: dict[str, str] | None = None) -> None:
        self.table: dict[str, str] = dict(known or {})

    def learn(self, node: ast.AST) -> None:
        """Take in an import, wherever it stands."""
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    root = alias.name if alias.asname else alias.name.split(".")[0]
                    self.table[alias.asname or root] = canonical(root)
            case ast.ImportFrom(module=str() as module, names=aliases, level=0):
                for alias in aliases:
                    self.table[alias.asname or alias.name] = canonical(f"{module}.{alias.name}")

    def forget(self, name: str) -> None:
        """A name that is assigned something else."""
        self.table.pop(name, None)

    def dotted(self, node: ast.AST) -> str:
        """The canonical name of an expression such as `jnp.sum`, or ""."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        root = self.table.get(node.id)
        return ".".join([root, *reversed(parts)]) if root else ""


def canonical(dotted: str) -> str:
    """The name with the library's own first part, whichever library it is."""
    root, _, rest = dotted.partition(".")
    root = _CANONICAL.get(root, root)
    return f"{root}.{rest}" if rest else root


def imported(values: Mapping[str, Any]) -> Names:
    """What the names of running code mean that other cells and files imported."""
    known: dict[str, str] = {}
    for name, value in list(values.items()):
        if isinstance(value, ModuleType):
            known[name] = canonical(value.__name__)
        elif str(getattr(value, "__module__", "")).startswith(("jitscope.api", "jax")) and callable(value):
            known[name] = f"jax.{getattr(value, '__name__', name)}"
        elif value is functools.partial:
            known[name] = "functools.partial"
    return Names(known)
