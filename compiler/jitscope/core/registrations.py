"""Where classes were registered as pytrees: a cell that is run again registers one twice, or defines another one of its name."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from ..xla.tracebacks import Handle
from . import call_sites, source
from .errors import stepped_on


_places: weakref.WeakKeyDictionary[type, str | Handle] = weakref.WeakKeyDictionary()
"""In words while cells run: one of the same text that runs later has the same file. Else as a stack, for whoever asks."""


@contextmanager
def registering(kind: type, known: Collection[type]) -> Iterator[None]:
    """A class is registered inside. Raises ValueError, which names the first registration, where it is among those that are known."""
    if kind in known:
        place = _place(kind)
        error = ValueError(
            f"{kind.__name__} is registered as a pytree already{place and f', by {place}'}: a class is registered once. In a notebook, "
            "define the class and register it in one cell, which may be run again: the class is a new one then"
        )
        raise stepped_on(error, "pytree-registered-twice")
    yield
    here = call_sites.here() if source.cell_names else None
    _places[kind] = source.place(here) if here else call_sites.capture()


def _place(kind: type) -> str:
    found = _places.get(kind)
    if isinstance(found, str):
        return found
    where = call_sites.user_position(found) if found is not None else None
    return source.place(where) if where is not None else ""


def defined_again(one: type, other: type) -> tuple[str, str] | None:
    """What two classes of one name are called, by the places that registered them; None where they are not such."""
    first, second = _place(one), _place(other)
    if (
        one is other
        or (one.__module__, one.__qualname__) != (other.__module__, other.__qualname__)
        or not (first and second)
    ):
        return None
    return f"the {one.__name__} of {first}", f"the {other.__name__} of {second}"
