"""Reading the types of documents: what fields a record has, and what a form is made of."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints, is_typeddict


Form: TypeAlias = Any
"""The type of a field: `str`, `int`, `float`, `bool`, a `Literal`, a list, a dict from texts, a record, or one of these and None."""


class Field(NamedTuple):
    """A field of a record."""

    form: Form
    required: bool


@functools.cache
def fields(record: type) -> dict[str, Field]:
    """The fields of a record (a `TypedDict`), in their order."""
    always: frozenset[str] = record.__required_keys__  # pyright: ignore[reportAttributeAccessIssue]
    return {name: Field(form, name in always) for name, form in get_type_hints(record).items()}


def is_record(form: Form) -> bool:
    return is_typeddict(form)


def optional(form: Form) -> tuple[Form, bool]:
    """A form without None, and whether it may be None."""
    ways = get_args(form)
    if type(None) not in ways:
        return form, False
    (inner,) = (one for one in ways if one is not type(None))
    return inner, True


def options(form: Form) -> tuple[str | int, ...]:
    """The words that a form is one of; none if it is no `Literal`."""
    return get_args(form) if get_origin(form) is Literal else ()


def items(form: Form) -> Form | None:
    """The form of the items of a list, else None."""
    return get_args(form)[0] if get_origin(form) is list else None


def entries(form: Form) -> Form | None:
    """The form of the values of a dict from texts, else None."""
    return get_args(form)[1] if get_origin(form) is dict else None


def parts(form: Form) -> Iterator[Form]:
    """The forms that a form directly consists of."""
    inner, may_be_none = optional(form)
    if may_be_none:
        yield inner
    elif is_record(form):
        yield from (field.form for field in fields(form).values())
    elif (one := items(form) or entries(form)) is not None:
        yield one


def records(*forms: Form) -> list[type]:
    """All records that forms are made of, each after those it is made of."""
    found: dict[type, None] = {}

    def visit(form: Form) -> None:
        for part in parts(form):
            visit(part)
        if is_record(form):
            found.setdefault(form)

    for form in forms:
        visit(form)
    return list(found)
