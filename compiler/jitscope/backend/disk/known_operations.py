"""Whether all operations of a program are the library's own: only of those its source tells what they do."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ...core.primitive import Primitive, _made
from .source import FOLDERS, PACKAGE


_library: dict[int, Primitive] = {}


def strangers(primitives: Iterable[Primitive]) -> list[Primitive]:
    """Those that no module of `FOLDERS` defines. They may have the name of one that is defined there, and what they do is not
    to be seen from their name."""
    unknown = [p for p in primitives if id(p) not in _library]
    if unknown:
        modules = _modules()
        at_hand = {
            p for p in unknown if any(vars(module).get(f"{p.name.replace('-', '_')}_p") is p for module in modules)
        }
        known = at_hand if len(at_hand) == len(unknown) else library_primitives()
        _library.update((id(p), p) for p in unknown if p in known)
    return sorted((p for p in unknown if id(p) not in _library), key=lambda p: p.name)


def library_primitives() -> set[Primitive]:
    """The operations that modules of `FOLDERS` define."""
    return {x for module in _modules() for x in list(vars(module).values()) if isinstance(x, Primitive)}


def _modules() -> list[Any]:
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(_PREFIX) and name[len(_PREFIX) :].partition(".")[0] in FOLDERS
    ]


_PREFIX = f"{PACKAGE}."


def changed_lowerings() -> list[str]:
    """The names of the library's operations that a lowering rule is registered for. One of them may be part of what another
    one is lowered to, so while there are any, nothing is read from disk and nothing kept."""
    if max(_made.values(), default=0) <= 1:  # where a rule is registered the operation is made anew
        return []
    return sorted({p.name for p in library_primitives() if p.lowerings})
