"""Whether a document is as its type says: for tests, and where documents of others come in."""

from __future__ import annotations

import math
from collections.abc import Iterator
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
    for problem in problems(form, document, kind):
        raise DocumentError(problem)


def problems(form: Form, value: Any, path: str) -> Iterator[str]:
    """What the types of values do not say: fields that no record has, numbers that are not finite, and the rules of records."""
    form, _ = optional(form)
    if value is None:
        return
    if form is float and not math.isfinite(value):
        yield f"{path}: expected a finite number, found {value_text(value)}"
    elif is_record(form):
        yield from _problems_of_record(form, value, path)
    elif (inner := items(form)) is not None:
        if not isinstance(value, list):
            yield f"{path}: expected a list, found {value_text(value)}"
        elif inner not in (str, int):
            for index, item in enumerate(value):
                yield from problems(inner, item, f"{path}[{index}]")
    elif (inner := entries(form)) is not None and inner not in (str, int):
        for key, item in value.items():
            yield from problems(inner, item, f"{path}[{key!r}]")


def _problems_of_record(record: type, value: Any, path: str) -> Iterator[str]:
    known = fields(record)
    further = {name for name in value if record is Instruments and name not in known and name in kinds()}
    for name in sorted(further):
        yield from problems(types()[name], value[name], f"{path}[{name!r}]")
    for surplus in (name for name in value if name not in known and name not in further):
        yield f"{path}: there is no field {surplus!r} here; the fields are {', '.join(known)}"
    for name, field in known.items():
        if name in value and field.form not in (str, int, bool):
            yield from problems(field.form, value[name], f"{path}.{name}")
    yield from RULES.get(record, lambda *_: ())(value, path)
