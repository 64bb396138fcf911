"""Whether a document is as its type says: for tests, and where documents of others come in."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from . import kinds, types
from .compilation import Instruments
from .fields import Form, entries, fields, is_record, items, optional
from .rules import RULES, value_text


class DocumentError(ValueError):
    """A document that does not have the form its kind asks for; the message starts with the path of the wrong field."""


def validate(document: object) -> None:
    """Raise `DocumentError` with the path of the first wrong field unless `document` has the form of its kind."""
    if not isinstance(document, dict):
        raise DocumentError(f"a document is a dict, not {value_text(document)}")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in kinds():
        raise DocumentError(f"kind: expected one of {', '.join(kinds())}; found {value_text(kind)}")
    form = types()[kind]
    import msgspec  # only who checks pays for it

    try:
        msgspec.convert(document, form)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        raise DocumentError(f"{kind}{path.rstrip('`')}: {what[:1].lower()}{what[1:]}") from None
    if found := problem(form, document):
        raise DocumentError(kind + found)


def problem(form: Form, value: Any) -> str | None:
    """What is wrong that the types of values do not say, the first of it, behind the path that leads there: fields that no record has, numbers
    that are not finite, and the rules of records."""
    check = _check(form)
    return check(value) if check is not None else None


Check = Callable[[Any], str | None]


@functools.cache
def _check(form: Form) -> Check | None:
    """What looks for it in a value of a form; None where nothing can be wrong."""
    form, _ = optional(form)
    if form is float:
        return _in_number
    if is_record(form):
        return functools.partial(_in_record, form)
    if (inner := items(form)) is not None:
        return functools.partial(_in_list, _check(inner))
    if (inner := entries(form)) is not None and (check := _check(inner)) is not None:
        return functools.partial(_in_entries, check)
    return None


def _in_number(value: Any) -> str | None:
    finite = value is None or math.isfinite(value)
    return None if finite else f": expected a finite number, found {value_text(value)}"


def _in_list(check: Check | None, value: Any) -> str | None:
    if not isinstance(value, list):
        return f": expected a list, found {value_text(value)}" if value is not None else None
    if check is not None:
        for index, item in enumerate(value):
            if (found := check(item)) is not None:
                return f"[{index}]{found}"
    return None


def _in_entries(check: Check, value: Any) -> str | None:
    for key, item in value.items() if value is not None else ():
        if (found := check(item)) is not None:
            return f"[{key!r}]{found}"
    return None


def _in_record(record: type, value: Any) -> str | None:
    if value is None:
        return None
    known = fields(record)
    others = [name for name in value if name not in known]
    for name in sorted(name for name in others if name in kinds()) if record is Instruments else ():
        if (found := problem(types()[name], value[name])) is not None:
            return f"[{name!r}]{found}"
        others.remove(name)
    if others:
        return f": there is no field {others[0]!r} here; the fields are {', '.join(known)}"
    for name, check in _checks_of_fields(record):
        if name in value and (found := check(value[name])) is not None:
            return f".{name}{found}"
    return next(RULES[record](value, ""), None) if record in RULES else None


@functools.cache
def _checks_of_fields(record: type) -> list[tuple[str, Check]]:
    checks = [(name, _check(field.form)) for name, field in fields(record).items()]
    return [(name, check) for name, check in checks if check is not None]
