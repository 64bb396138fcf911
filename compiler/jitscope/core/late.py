"""Names of a module that are loaded when they are first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def late(namespace: dict[str, Any], table: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Give the module whose globals are `namespace` its `__getattr__` and `__dir__`, and return both. (A module that assigned them
    itself would have any name at all for type checkers.)

    `table` has for each module, as in an import statement (".gammas", "..api"), the names it holds, separated by blanks; "."
    is the module itself. Raises AttributeError for a name that is not in it.
    """
    package = namespace["__package__"]
    places = {
        module.rpartition(".")[2] if name == "." else name: (module, name)
        for module, names in table.items()
        for name in names.split()
    }

    def __getattr__(name: str) -> Any:
        if name not in places:
            module = namespace["__name__"]
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules.get(module))
        module, inside = places[name]
        found = importlib.import_module(module, package)
        namespace[name] = found = found if inside == "." else getattr(found, name)
        return found

    def names() -> list[str]:
        return sorted({*namespace, *places})

    namespace.update(__getattr__=__getattr__, __dir__=names)
    return __getattr__, names


def any_names(namespace: dict[str, Any]) -> None:
    """Give a module whose names annotations alone use a `__getattr__` that has them all. (Written there as a `def`, it would hide from type
    checkers which names the module lacks.)"""

    def find(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        return Any

    namespace.update(__getattr__=find)


def no_names(namespace: dict[str, Any], reason: str, missing: str) -> None:
    """Give a module that could not be filled a `__getattr__` that raises ModuleNotFoundError for each name, with the reason; `missing`
    is the module that was not found."""

    def find(name: str) -> Any:
        if name.startswith("__"):  # Python and editors ask any module for some of these
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        raise ModuleNotFoundError(f"{namespace['__name__']}.{name}: {reason}", name=missing)

    namespace.update(__getattr__=find)
