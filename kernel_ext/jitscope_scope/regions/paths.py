"""Where values are kept inside of objects, containers, and functions that bind variables of those that made them: `self.W`, `params['b']`,
`layers[0].w`, `step.__closure__[0].cell_contents`."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Iterable, Mapping, Sized
from types import FunctionType, ModuleType
from typing import NamedTuple

import numpy as np

from .homes import attributes_of, has_value, is_users_object, variables_of
from .words import of_users


DEPTH = 4
MOST = 500
"""More places than this are not followed."""
SHORT = 100
"""So many bytes are compared as they are."""
NUMPYS = frozenset(np.dtype(c).type for c in "?bhilqBHILQefdFD")
"""NumPy's types of numbers."""
_NUMBERS = frozenset((bool, int, float, complex, str, *NUMPYS))
_FIXED = frozenset((bool, float, complex, *NUMPYS))
"""Types of numbers of which an array holds the same."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), ModuleType)
_PLAIN_TYPES = frozenset(_PLAIN)
_KEYS = frozenset((str, int))
_ONE = frozenset((bool, int, float, complex, *NUMPYS))


class Leaf(NamedTuple):
    """One place: the name it begins with, its text, and what was there."""

    root: str
    text: str
    value: object
    size: int | None = None
    """How much a container held that is taken as a value: a list of numbers, a set."""


Lists = dict[str, tuple[list[object], list[object]]]
"""Python's lists by each way that leads to them, and copies of what they hold."""


def leaves(values: Mapping[str, object], lists: Lists | None = None) -> dict[str, Leaf]:
    """The places inside of the objects and containers that these names stand for, by their text; the first of several ways. `lists` gets
    the lists among them."""
    found: dict[str, Leaf] = {}
    known: set[int] = set()
    for name in sorted(values):
        _walk(name, name, values[name], DEPTH, found, known, {} if lists is None else lists)
    return found


def followed(values: Mapping[str, object]) -> set[int]:
    """Which objects, containers and functions have places in them, by their ids; none where there are too many to be followed."""
    found: dict[str, Leaf] = {}
    known: set[int] = set()
    for name in sorted(values):
        _walk(name, name, values[name], DEPTH, found, known, {})
    return known if len(found) < MOST else set()


def states(values: Mapping[str, object], inside: Mapping[str, Leaf]) -> dict[str, bytes]:
    """What is in values that are not followed into, among these and the places `inside` them: deques, sets, tuples, generators of random
    numbers. Those that cannot be pickled are left out."""
    whole = {n: v for n, v in values.items() if _parts(n, v) is None} | {t: p.value for t, p in inside.items()}
    found = {}
    for text, value in whole.items():
        if isinstance(value, _PLAIN) or hasattr(value, "dtype") or callable(value):
            continue
        if type(value) is tuple and _PLAIN_TYPES.issuperset(map(type, value)):
            continue  # it cannot change
        if type(value) is list and value and _FIXED.issuperset(kinds := set(map(type, value))):
            found[text] = (
                hashlib.blake2b(np.array(value).tobytes(), digest_size=16).digest()
                + repr(sorted(map(repr, kinds))).encode()
            )
            continue
        try:
            said = pickle.dumps(value, 5)
            found[text] = said if len(said) < SHORT else hashlib.blake2b(said, digest_size=16).digest()
        except Exception:
            continue
    return found


def at(text: str, values: Mapping[str, object]) -> object:
    """What is in a place of objects and containers. Raises AttributeError, KeyError or IndexError where there is none."""
    return eval(text, {"__builtins__": {}}, dict(values))


def is_there(text: str, values: Mapping[str, object]) -> bool:
    """Whether there is such a place."""
    return first_new(text, values) is None


def first_new(text: str, values: Mapping[str, object]) -> str | None:
    """The shortest beginning of a place's text that was not there in `values`: `net[0].x` for `net[0].x[3]`; None if all was."""
    edges = [m.start() for m in re.finditer(r"[.\[]", text)] + [len(text)]
    for edge in edges:
        try:
            at(text[:edge], values)
        except (AttributeError, KeyError, IndexError, NameError, TypeError):
            return text[:edge]
    return None


def _walk(
    root: str, text: str, value: object, depth: int, found: dict[str, Leaf], known: set[int], lists: Lists
) -> None:
    if len(found) >= MOST:
        return
    parts = _parts(text, value)
    if type(value) is list and text not in lists:
        lists[text] = value, list(value)
    if parts is None:
        if text != root:
            found[text] = Leaf(root, text, value, _size(value))
        return
    if id(value) in known or not depth:
        return
    known.add(id(value))
    for inner, part in parts:
        if len(found) >= MOST:
            return
        if type(part) in _ONE:  # nothing is inside, which saves most of the time that long dicts take
            found[inner] = Leaf(root, inner, part)
        else:
            _walk(root, inner, part, depth - 1, found, known, lists)


def _parts(text: str, value: object) -> Iterable[tuple[str, object]] | None:
    """What a container or object holds; None for what is a value itself."""
    if is_users_object(value):
        return [(f"{text}.{n}", v) for n, v in attributes_of(value).items() if n.isidentifier()]
    if type(value) is dict and (_KEYS.issuperset(map(type, value)) or all(isinstance(k, (str, int)) for k in value)):
        return ((f"{text}[{k!r}]", v) for k, v in value.items())
    if isinstance(value, FunctionType) and of_users(value) and (own := variables_of(value)):
        kept = {f"{text}.__closure__[{k}].cell_contents": c for k, c in own.items() if has_value(c)}
        return [(t, c.cell_contents) for t, c in kept.items()]
    if type(value) is list and not _are_numbers(value):
        return ((f"{text}[{k}]", v) for k, v in enumerate(value))
    return None


def _are_numbers(value: list[object]) -> bool:
    return _NUMBERS.issuperset(map(type, value)) or all(isinstance(v, (int, float, complex, str)) for v in value)


def _size(value: object) -> int | None:
    """How much is in a container that may grow."""
    return len(value) if isinstance(value, Sized) and not hasattr(value, "dtype") else None
