"""Whether a cell is written for jax or for jitscope, found out from what its names stand for. Nothing is run."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jitscope_scope import jaxwatch
from jitscope_scope.advise.code.libraries import JAX, JITSCOPE, library_of, named_in


_MOST = 400  # functions that are followed


def written_for(node: ast.AST, names: Mapping[str, Any], cell: ast.Module) -> str:
    """The library that code of a cell is written for: "jax", "jitscope" or "" where nothing tells. `names` are the user's. A cell
    that names neither is for jax where the user's names have jax and not jitscope."""
    found = _Uses(names, cell).of(node)
    if JITSCOPE in found:
        return JITSCOPE
    if JAX in found:
        return JAX
    known = {
        library for value in list(names.values()) if isinstance(value, types.ModuleType) for library in _own(value)
    }
    return JAX if JAX in known and JITSCOPE not in known else ""


def call_is_for_jax(function: Any, args: Iterable[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call is one of jax's: by the function, or by the arrays it is given."""
    if not jaxwatch.there():
        return False
    own = _own(function) or set().union(*(_arrays(value, 4) for value in (*args, *kwargs.values())))
    return JAX in (own or _Uses({}, ast.Module([], [])).of_value(function))


def _arrays(value: Any, depth: int) -> set[str]:
    if isinstance(value, (tuple, list)) and depth:
        return set().union(*(_arrays(part, depth - 1) for part in value[:100]))
    if isinstance(value, dict) and depth:
        return _arrays(list(value.values()), depth)
    return _own(value)


class _Uses:
    """The libraries that code uses, by itself and through the functions that it names."""

    def __init__(self, names: Mapping[str, Any], cell: ast.Module):
        self.names = names
        self.here, self.imported = named_in(ast.walk(cell), _library)
        self.met: set[int] = set()

    def of(self, node: ast.AST) -> set[str]:
        if id(node) in self.met:
            return set()
        self.met.add(id(node))
        found: set[str] = set()
        for name in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}:
            if name in self.imported:
                found |= self.imported[name]
            elif name in self.here:
                found.update(*(self.of(definition) for definition in self.here[name]))
            elif name in self.names:
                found |= self.of_value(self.names[name])
        return found

    def of_value(self, value: Any) -> set[str]:
        own = _own(value)
        if own or isinstance(value, types.ModuleType):
            return own
        function = _function(value)
        if function is None or id(function.__code__) in self.met or len(self.met) > _MOST:
            return set()
        self.met.add(id(function.__code__))
        around = function.__globals__
        return set().union(*(self.of_value(around[name]) for name in _names(function.__code__) if name in around))


def _function(value: Any) -> types.FunctionType | None:
    for _ in range(8):
        if isinstance(value, types.FunctionType):
            return value
        inner = getattr(value, "__dict__", {}).get("__wrapped__") if not isinstance(value, type) else None
        value = inner if inner is not None else getattr(value, "__func__", None)
    return None


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _names(part)


def _own(value: Any) -> set[str]:
    """The library that a value belongs to: by its module, or that of its class or of the classes above."""
    if isinstance(value, types.ModuleType):
        modules = [value.__name__]
    else:
        kinds: Iterable[Any] = value.__mro__ if isinstance(value, type) else (value, *type(value).__mro__)
        modules = [module for kind in kinds if isinstance(module := getattr(kind, "__module__", None), str)]
    return set(filter(None, map(_library, modules)))


def _library(module: str) -> str:
    found, real = library_of(module), sys.modules.get("jax")
    # with examples/alias.py, jax is another name of jitscope
    is_alias = real is not None and real.__name__.partition(".")[0] == JITSCOPE
    return JITSCOPE if found == JAX and is_alias else found
