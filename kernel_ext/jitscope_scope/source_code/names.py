"""What names mean: `jnp.linalg.norm` is `jax.numpy.linalg.norm`, whatever the imports call it; and the way back, from what the library
is called to what a program calls it.

jitscope's names are JAX's, so both libraries have the same canonical names, which begin with `jax`.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from jitscope.core import source

from .frames import outwards
from .tree import below, tree_of


_LIBRARIES = ("jitscope", "jax")


class Names:
    """The imports of a file or a notebook, collected as they are met: `table` has the canonical name that each name stands for,
    `written` the one that its import has. `library` is the one of the two that they import, jitscope if both, "" if neither."""

    def __init__(self, known: Names | None = None) -> None:
        self.table: dict[str, str] = dict(known.table) if known else {}
        self.library = known.library if known else ""
        self.written: dict[str, str] = dict(known.written) if known else {}

    def learn(self, node: ast.AST) -> None:
        """Take in an import, wherever it stands."""
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    root = alias.name if alias.asname else alias.name.split(".")[0]
                    self.add(alias.asname or root, root)
            case ast.ImportFrom(module=str() as module, names=aliases, level=0):
                for alias in aliases:
                    self.add(alias.asname or alias.name, f"{module}.{alias.name}")

    def add(self, name: str, dotted: str) -> None:
        """`name` means what is called `dotted` in full."""
        root = dotted.partition(".")[0]
        if root in _LIBRARIES and self.library != "jitscope":
            self.library = root
        self.table[name], self.written[name] = canonical(dotted), dotted

    def dotted(self, node: ast.AST, table: Mapping[str, str] | None = None) -> str:
        """The canonical name of an expression such as `jnp.sum`, or ""; or that of another table, such as `written`."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        root = (self.table if table is None else table).get(node.id)
        return ".".join([root, *reversed(parts)]) if root else ""

    # --- the way back -------------------------------------------------------------------------------------------------

    def own(self, text: str) -> str:
        """A text with the library's names (`jnp.where`, `lax.cond`, `jax.random.split`, `partial`) as this program calls them. Names
        that the program gave itself, and those that it has no name for, stay."""
        return _WRITTEN.sub(self._own, text)

    def _own(self, found: re.Match[str]) -> str:
        head, _, rest = found[0].partition(".")
        if head in self.table:
            return found[0]
        parts = [*USUAL[head].split("."), *filter(None, rest.split("."))]
        library = _OTHERS.get(head, self.library)
        for length in range(len(parts), 0, -1):
            name = self._called(".".join(parts[:length]), library)
            if name:
                return ".".join([name, *parts[length:]])
        return f"{library}.{rest}" if head == "jax" and library else found[0]

    def knows(self, text: str) -> bool:
        """Whether the library's names in a program's text (`jnp`, `lax`, `jax`, `np`) mean here what they usually do."""
        tree = tree_of(text)
        if tree is None:
            return False
        used = {node.id for node in below(tree) if isinstance(node, ast.Name)}
        return all(self.table.get(name) == dotted for name, dotted in USUAL.items() if name in used)

    def _called(self, dotted: str, library: str) -> str:
        of_library = (name for name, it in self.table.items() if it == dotted)
        return next((name for name in of_library if self.written[name].partition(".")[0] == library), "")


USUAL = {"jnp": "jax.numpy", "lax": "jax.lax", "jax": "jax", "jitscope": "jax", "np": "numpy", "partial": "functools.partial",
         "dataclasses": "dataclasses"}  # fmt: skip
"""What the names that texts are written with usually mean."""
_OTHERS = {"np": "numpy", "partial": "functools", "dataclasses": "dataclasses", "jitscope": "jitscope"}
"""The libraries of those that are of one library alone."""
_WRITTEN = re.compile(r"(?<![\w.'\"])(?:(?:jnp|lax|jax|jitscope|np|dataclasses)(?:\.[A-Za-z_]\w*)+|partial(?=\())")


_FUNCTIONS = ((functools.partial, "functools.partial"), (dataclasses.dataclass, "dataclasses.dataclass"))


def canonical(dotted: str) -> str:
    """The name with the library's own first part, whichever library it is."""
    root, _, rest = dotted.partition(".")
    root = "jax" if root in _LIBRARIES else root
    return f"{root}.{rest}" if rest else root


def imported(values: Mapping[str, Any]) -> Names:
    """What the names of running code mean that other cells and files imported."""
    names = Names()
    for name, value in list(values.items()):
        if isinstance(value, ModuleType):
            names.add(name, value.__name__)
        elif str(getattr(value, "__module__", "")).startswith(("jitscope.api", "jax")) and callable(value):
            names.add(name, f"{value.__module__.partition('.')[0]}.{getattr(value, '__name__', name)}")
        else:
            known = next((dotted for one, dotted in _FUNCTIONS if one is value), "")
            if known:
                names.add(name, known)
    return names


def imported_by(text: str, known: Names | None = None) -> Names:
    """The imports of a program's text, which may be no Python (then there are none), beside those that are known."""
    names, tree = Names(known), tree_of(text)
    for node in below(tree) if tree is not None else ():
        names.learn(node)
    return names


def imported_in(file: str) -> Names:
    """The imports of a file's code; of a cell's also those of the cells that ran before it."""
    known = None if os.path.isfile(file) else imported(vars(sys.modules["__main__"]))
    return imported_by(source.code_of(file), known)


def in_own_names(text: str) -> str:
    """A text for the user whose code runs now, with the library's names as that code calls them."""
    frame = next((one for one in outwards(sys._getframe(1)) if source.is_users(one.f_code.co_filename)), None)
    return imported({**frame.f_globals, **frame.f_locals}).own(text) if frame is not None else text
