"""`check_tracer_leaks`: what a traced function kept of its trace, and where."""

from __future__ import annotations

import gc
import types
from typing import Any

from .errors import UnexpectedTracerError
from .messages import with_advice
from .trace import Trace, Tracer


def check_leaks(trace: Trace, name: str) -> None:
    """Raise UnexpectedTracerError if something still holds a tracer of a trace that has ended."""
    gc.collect()
    for x in gc.get_objects():
        if isinstance(x, Tracer) and x.tracing is trace:
            holder = _holder(x)
            raise UnexpectedTracerError(
                with_advice(
                    f"{name} keeps one of its intermediate values beyond its trace, {x.description()}.\n"
                    f"  it is held by {holder or 'an object that Python does not name'}",
                    "return the value from the function instead of storing it outside",
                )
            )


_MOST = 12
"""So many objects are asked for what refers to them: each time the whole heap is gone through."""


def _holder(x: Any) -> str:
    """What refers to an object, in words: a variable that somebody named, if one does, however many containers lie between. (No
    function inside: its variables would refer to the object too.)"""
    held, paths, words = [x], [""], ""
    own = {id(held), id(paths)}
    for n in range(_MOST):
        if n == len(held):
            break
        for found in _referrers(held[n], own):
            if isinstance(found, (dict, list, tuple)):
                key = _place_in(found, held[n])
                owner = _owner_of(found) if isinstance(found, dict) else None
                if isinstance(owner, types.ModuleType):
                    return f"the global variable {key}{paths[n]} of {owner.__name__}"
                if owner is None:
                    paths.append(f"[{key!r}]{paths[n]}")
                    held.append(found)
                    continue
                words = words or f"the attribute {key}{paths[n]} of an object of {type(owner).__name__}"
            elif isinstance(found, types.CellType):
                words = words or f"a variable of a function around it{', at ' + paths[n] if paths[n] else ''}"
            elif not hasattr(found, "__next__"):
                name = _attribute_of(found, held[n])
                words = (
                    words
                    or f"{f'the attribute {name}{paths[n]} of ' if name else ''}an object of {type(found).__name__}"
                )
    return words or (f"a container, at {paths[-1]}" if paths[-1] else "")


def _referrers(x: Any, own: set[int]) -> list[Any]:
    """What holds it, but for what is known by now; what IPython has shown is held by its display hook, too, which nobody wrote."""
    found = [
        r
        for r in gc.get_referrers(x)
        if id(r) not in own and not isinstance(r, types.FrameType) and not (isinstance(r, list) and len(r) > 10_000)
    ]
    own.update(map(id, found))
    found.sort(key=lambda r: type(r).__module__.startswith("IPython"))
    return found


def _place_in(container: Any, x: Any) -> Any:
    """Its key or index; of several names the first that a person gave: IPython keeps results under `_`, `_7` and others."""
    entries = container.items() if isinstance(container, dict) else enumerate(container)
    found = [key for key, value in entries if value is x]
    return next((key for key in found if not str(key).startswith("_")), found[0] if found else "?")


def _attribute_of(owner: Any, x: Any) -> str:
    """The attribute that holds a value; "" where none does. Since Python 3.13 an object may hold its attributes without a dict."""
    return next((str(name) for name, value in getattr(owner, "__dict__", {}).items() if value is x), "")


def _owner_of(namespace: dict[Any, Any]) -> Any:
    """The module or object whose attributes a dict holds."""
    for r in gc.get_referrers(namespace):
        if getattr(r, "__dict__", None) is namespace:
            return r
    return None
