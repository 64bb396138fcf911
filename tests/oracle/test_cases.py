"""Single calls as JAX answers them (`cases.py` says how they are written and recorded)."""

from __future__ import annotations

import numpy
import pytest

from tests.oracle import cases, comparing
from tests.oracle.answers import Library


LIBRARY = Library("jitscope")
SECTIONS = [(file, heading) for file in cases.files() for heading in cases.sections(file)]


@pytest.mark.parametrize(("file", "heading"), SECTIONS, ids=[f"{f}-{h}" for f, h in SECTIONS])
def test_cases(file: str, heading: str) -> None:
    names, recorded = cases.scope(LIBRARY), cases.load(file)
    faults = []
    for expr in cases.sections(file)[heading]:
        faults += [f"{expr}: {fault}" for fault in _differences(cases.answer(LIBRARY, names, expr), recorded[expr])]
    assert not faults, "\n".join(faults)


def _differences(found: dict, wanted: dict) -> list[str]:
    if "error" in found or "error" in wanted:
        same = set(found.get("error", ())) & set(wanted.get("error", ()))
        return [] if same else [f"{found}, JAX: {wanted}"]
    if (ours := found["out"].replace("bool*", "bool")) != wanted["out"].replace("bool*", "bool"):
        return [f"{ours}, JAX: {wanted['out']}"]
    problems = []
    for dtype, x, y in zip(ours.split(" "), found["values"], wanted["values"]):
        dtype = dtype.partition("[")[0].rstrip("*")
        tolerance = 3e3 if "float16" in dtype or "float8" in dtype else 4
        problems += comparing.unlike("gives", "JAX", numpy.array(x), numpy.array(y), dtype, tolerance)
    return problems
