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


def _holder(x: Any) -> str:
    """What refers to an object, in words; containers are followed to something with a name. (No function inside: its
    variables would refer to the object too.)"""
    path, seen = "", {id(x)}
    for _ in range(5):
        found = _referrer(x, seen)
        if found is None:
            break
        seen.add(id(found))
        if isinstance(found, (dict, list, tuple)):
            key = _place_in(found, x)
            owner = _owner_of(found) if isinstance(found, dict) else None
            if isinstance(owner, types.ModuleType):
                return f"the global variable {key}{path} of {owner.__name__}"
            if owner is not None:
                return f"the attribute {key}{path} of an object of {type(owner).__name__}"
            path = f"[{key!r}]{path}"
        elif isinstance(found, types.CellType):
            return f"a variable of a function around it{', at ' + path if path else ''}"
        else:
            name = _attribute_of(found, x)
            return f"{f'the attribute {name}{path} of ' if name else ''}an object of {type(found).__name__}"
        x = found
    return f"a container, at {path}" if path else ""


def _referrer(x: Any, seen: set[int]) -> Any:
    """What holds it; what IPython has shown is held by its display hook, too, which nobody wrote, and what is gone
    through by an iterator."""
    found = [
        r
        for r in gc.get_referrers(x)
        if id(r) not in seen and not isinstance(r, types.FrameType) and not (isinstance(r, list) and len(r) > 10_000)
    ]
    return min(found, key=lambda r: (type(r).__module__.startswith("IPython"), hasattr(r, "__next__")), default=None)


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
