"""Loops that read and store into one array: XLA stores in place, and copies nothing in each turn."""

from __future__ import annotations

import re

import pytest

import jitscope
from jitscope_scope.regions.answers import Region
from tests.compiler.jaxlibs import stores_in_place
from tests.scope.regions.programs import Program, parsed
from tests.scope.regions.test_programs import names_of, watched


LOOPS = parsed("""
=== a knapsack, two stores into one place
best = np.zeros((13, 37)); w = rng.integers(1, 9, 12); v = rng.integers(1, 9, 12)
---
for i in range(1, 13):
    for c in range(37):
        best[i, c] = best[i - 1, c]
        if w[i - 1] <= c and best[i - 1, c - w[i - 1]] + v[i - 1] > best[i, c]:
            best[i, c] = best[i - 1, c - w[i - 1]] + v[i - 1]
=== a chain of products, a name that the loop leaves behind
best = np.zeros((13, 37)); cut = np.zeros((13, 37)); d = rng.random(38)
---
for m in range(2, 13):
    for i in range(13 - m):
        j = i + m - 1
        best[i, j] = np.inf
        for k in range(i, j):
            q = best[i, k] + best[k + 1, j] + d[i] * d[k + 1] * d[j + 1]
            if q < best[i, j]:
                best[i, j] = q
                cut[i, j] = k
=== a recurrence whose rows are looked at
best = rng.random((13, 37)); gap = 0.0
---
for t in range(12):
    for k in range(1, 36):
        gap = best[t, k + 1] - best[t, k - 1]
        best[t + 1, k] = best[t, k] + 0.1 * gap
""")


def compiled_text(program: Program, regions: list[Region]) -> str:
    """What XLA made of the program's compiled loop."""
    (region,) = [r for r in regions if r.cell == 2]
    assert region.verdict == "compile", region.reason
    assert region.edit is not None
    (name,) = re.findall(r"^def (region_\d+)\(", region.edit, re.MULTILINE)
    names = names_of(program, 0)
    exec(compile(region.edit.partition("\nif globals()")[0], "<edit>", "exec"), names)
    given = [names[n] for n in region.reads]
    with jitscope.enable_x64(True):
        text = jitscope.jit(names[name]).lower(*given).compile().as_text()  # type: ignore[arg-type]
    assert text
    return text


@stores_in_place
@pytest.mark.parametrize("program", LOOPS, ids=lambda p: p.name)
def test_no_turn_copies_the_array(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    text = compiled_text(program, watched(program, monkeypatch)[0])
    inside, _, entry = text.partition("\nENTRY ")
    assert entry
    found = re.findall(r"^.* = [^=]*\[13,37\][^=]* copy\(.*$", inside, re.MULTILINE)
    assert not found, found
