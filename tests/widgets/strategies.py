"""Documents of any form and with any texts in them, generated from the table of forms itself.

References between nodes are drawn from few ids, so they often hold and often do not: a view must stand both.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings, strategies as st

from jitscope_widgets import schema


NASTY = (
    "<script>alert(1)</script>",
    "</style></svg><img src=x onerror=alert(1)>",
    '" onload="alert(1)',
    "' onclick='x",
    "a\nb\r\nc\td",
    "\x1b[31mred\x07\x00",
    "\u202egnp.exe\u2066",
    "שלום عالم",
    "名前🧪",
    "&lt;&amp;amp;",
    "]]>--><!--",
    "\\N{BELL}\\",
    "-> → %s {0} $x$",
)
IDS = ("e0", "e1", "e2/e0", "in0", "out0", "")

patient = settings(deadline=None, suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large))

texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=12), st.sampled_from(("f32[64,7]", "add", "x = y")))
idents = st.sampled_from(IDS)
wholes = st.integers(-1, 10**12)
numbers = st.one_of(wholes, st.floats(allow_nan=False, allow_infinity=False))

_ID_FIELDS = {"id", "scope", "from", "to", "fused_into"}


def of_form(form: schema.Form, field: str = "") -> st.SearchStrategy[Any]:
    """Values of a form of the table, for a field of this name."""
    match form:
        case str():
            return st.deferred(lambda: of_form(schema.FORMS[form]))
        case schema.Record():
            always = {name: inner for name, inner in form.fields.items() if not isinstance(inner, schema.Perhaps)}
            perhaps = {name: inner for name, inner in form.fields.items() if isinstance(inner, schema.Perhaps)}
            return st.fixed_dictionaries(
                {name: of_form(inner, name) for name, inner in always.items()},
                optional={name: of_form(inner, name) for name, inner in perhaps.items()},
            )
        case schema.Perhaps():
            return of_form(form.form, field)
        case schema.Maybe():
            return st.none() | of_form(form.form, field)
        case schema.Many():
            return st.lists(of_form(form.form), max_size=7 if form.form in ("node", "edge") else 3)
        case schema.Table():
            return st.dictionaries(texts, of_form(form.form), max_size=2)
        case schema.OneOf():
            return st.sampled_from(form.options)
    if form is schema.TEXT:
        return idents if field in _ID_FIELDS else texts
    return {schema.WHOLE: wholes, schema.NUMBER: numbers}.get(form, st.booleans())


documents = st.sampled_from(schema.KINDS).flatmap(lambda kind: of_form(schema.FORMS[kind]))
graphs = of_form(schema.FORMS["graph"])
