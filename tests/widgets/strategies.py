"""Documents of any form and with any texts in them, generated from their types.

References between nodes are drawn from few ids, so they often hold and often do not: a view must stand both.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings, strategies as st

from jitscope_widgets.documents import GraphDocument, types
from jitscope_widgets.documents.fields import Form, entries, fields, is_record, items, optional, options


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
# Seconds and bytes are added up and divided in views: what leaves the floats is no number of JSON.
numbers = st.one_of(wholes, st.floats(-1e100, 1e100).map(lambda x: x if abs(x) > 1e-100 else 0.0))

_ID_FIELDS = {"id", "scope", "from", "to", "fused_into"}


def of_form(form: Form, field: str = "") -> st.SearchStrategy[Any]:
    """Values of a form, for a field of this name."""
    form, may_be_none = optional(form)
    if may_be_none:
        return st.none() | of_form(form, field)
    if is_record(form):
        given = fields(form)
        return st.fixed_dictionaries(
            {name: of_form(one.form, name) for name, one in given.items() if one.required},
            optional={name: of_form(one.form, name) for name, one in given.items() if not one.required},
        )
    if (inner := items(form)) is not None:
        return st.lists(of_form(inner), max_size=7 if getattr(inner, "__name__", "").startswith("Graph") else 3)
    if (inner := entries(form)) is not None:
        return st.dictionaries(texts, of_form(inner), max_size=2)
    if words := options(form):
        return st.sampled_from(words)
    if form is str:
        return idents if field in _ID_FIELDS else texts
    return {int: wholes, float: numbers}.get(form, st.booleans())


documents = st.sampled_from([*types().values()]).flatmap(of_form)
graphs = of_form(GraphDocument)
