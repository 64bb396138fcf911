"""Tracers that a cache of Python's kept from one trace to the next call: which function has it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, NamedTuple

from jitscope.core.source import Position


class CachedTracer(NamedTuple):
    """A function under `lru_cache` that gave a tracer of a trace that had ended, and the sentences for it."""

    where: Position
    said: str
    fix: str


def cached_tracer(places: Iterable[Position], frames: Iterable[FrameType]) -> CachedTracer | None:
    """The cached function that made a leaked tracer, by the lines in which that was made; None where no such function did, or it is not to be
    found by the names that the frames of the error have."""
    made = {(where.file, where.function): where for where in places}
    for name, cached in _cached(frames):
        code = getattr(cached.__wrapped__, "__code__", None)
        where = made.get((code.co_filename, code.co_name)) if code is not None else None
        if where is not None:
            said = (
                f"{name} is cached by Python: it was called while a function was traced, keeps the tracer of that trace, which has no value "
                "since that has ended, and gives it to each call with the same arguments."
            )
            fix = (
                f"Empty the cache with {name}.cache_clear(), and make the value with NumPy, whose arrays are values while tracing, too; or call "
                f"{name} outside of the traced function and pass what it gives as an argument."
            )
            return CachedTracer(where, said, fix)
    return None


def places_made(error: BaseException, cause: Position | None) -> list[Position]:
    """The lines in which a leaked tracer was made, the outermost first, as far as the error tells them."""
    told = [Position(file, int(line), int(line), 0, 0, name) for file, line, name in _PLACE.findall(str(error))]
    return [*([cause] if cause is not None else []), *told]


_PLACE = re.compile(r"^(.+?):(\d+):\d+ \((?:[\w.<>]+\.)?(\w+|<lambda>)\)$", re.MULTILINE)
"""How jax lists the frames in which a tracer was made."""


def _cached(frames: Iterable[FrameType]) -> Iterator[tuple[str, Any]]:
    """The functions with a cache that frames have by a name, and those of the classes and of the classes of objects that they have so."""
    for frame in frames:
        for names in (frame.f_locals, frame.f_globals):
            for name, value in list(names.items()):
                if isinstance(value, functools._lru_cache_wrapper):
                    yield name, value
                owner = value if isinstance(value, type) else type(value)
                if owner.__module__ == frame.f_globals.get("__name__"):
                    own = list(vars(owner).items())
                    yield from (
                        (f"{owner.__name__}.{n}", v) for n, v in own if isinstance(v, functools._lru_cache_wrapper)
                    )
