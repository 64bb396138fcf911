"""Which cells of a notebook have to do with arrays: they name a library that computes with them, or share names with a cell that does."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Sequence
from typing import NamedTuple

from ...source_code.scopes import Scopes
from ...source_code.tree import below
from .ipython import python_of
from .libraries import FOR_JAX, JITSCOPE


_LIBRARIES = FOR_JAX | {JITSCOPE}


class _CellNames(NamedTuple):
    """What a cell names outside of its functions' own names: what it `imports`, `arrays` from libraries that compute with arrays ("*" is
    all that one has) or compiles with `%%jit`, and what else is `shared` with other cells."""

    shared: frozenset[str]
    imports: frozenset[str]
    arrays: frozenset[str]


def with_arrays(cells: Sequence[str]) -> list[bool]:
    """For each of a notebook's cells whether a look at it, or at another, needs it."""
    named = [_named(text) for text in cells]
    arrays = frozenset[str]().union(*(one.arrays for one in named))
    imports = frozenset[str]().union(*(one.imports for one in named))
    if "*" in arrays:
        return [True] * len(named)
    found, wanted = [False] * len(named), set(arrays)
    changed = True
    while changed:
        changed = False
        for at, one in enumerate(named):
            if not found[at] and (
                (one.imports | one.shared) & arrays or one.imports & wanted or one.shared & wanted - imports
            ):
                found[at] = changed = True
                wanted |= one.shared
    return found


@functools.lru_cache(1024)
def _named(text: str) -> _CellNames:
    python = python_of(text)
    if python is None:
        return _CellNames(frozenset(), frozenset(), frozenset())
    nodes = below(ast.parse(python.text))
    scopes = Scopes(nodes)
    names = {node.id for node in nodes if isinstance(node, ast.Name) and _is_outer(node, scopes)}
    names |= {node.name for node in nodes if isinstance(node, _DEFINITIONS) and scopes.of(node) is nodes[0]}
    imports, arrays = set[str](), set(names) if text.lstrip().startswith("%%jit") else set[str]()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                imports.add(name)
                module = alias.name if isinstance(node, ast.Import) else node.module or ""
                if module.partition(".")[0] in _LIBRARIES:
                    arrays.add(name)
    return _CellNames(frozenset(names - imports - _BUILTINS), frozenset(imports), frozenset(arrays))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BUILTINS = frozenset(vars(builtins))


def _is_outer(node: ast.Name, scopes: Scopes) -> bool:
    return isinstance(scopes.binding(node.id, node), ast.Module | None)
