"""What forms of documents are made of; see `schema`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Scalar:
    """A plain value, told by a test."""

    name: str
    fits: Callable[[object], bool]


@dataclass(frozen=True)
class OneOf:
    """One of some words (or, for versions, numbers)."""

    options: tuple[str | int, ...]


@dataclass(frozen=True)
class Maybe:
    """A value of a form, or None."""

    form: Form


@dataclass(frozen=True)
class Perhaps:
    """A value of a form; the field may be missing."""

    form: Form


@dataclass(frozen=True)
class Many:
    """A list of values of one form."""

    form: Form


@dataclass(frozen=True)
class Table:
    """A dict from text to values of one form."""

    form: Form


@dataclass(frozen=True)
class Record:
    """A dict with exactly these fields (those that are `Perhaps` may be missing)."""

    fields: Mapping[str, Form]


@dataclass(frozen=True)
class Kind:
    """A document of one of some kinds."""

    kinds: tuple[str, ...]


Form: TypeAlias = Scalar | OneOf | Maybe | Perhaps | Many | Table | Record | Kind | str


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


TEXT = Scalar("a text", lambda value: isinstance(value, str))
WHOLE = Scalar("a whole number", _is_whole)
NUMBER = Scalar("a finite number", _is_number)
FLAG = Scalar("True or False", lambda value: isinstance(value, bool))


def record(**fields: Form) -> Record:
    """A dict with these fields and no others; a name that Python reserves is given with `_` behind it."""
    return Record({name.rstrip("_"): form for name, form in fields.items()})


def document(kind: str, **fields: Form) -> Record:
    """A document of this kind, in version 1, with these fields."""
    return record(kind=OneOf((kind,)), version=OneOf((1,)), **fields)
