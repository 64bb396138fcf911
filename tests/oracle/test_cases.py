"""Single questions as JAX answers them (README.md says how they are written and recorded)."""

from __future__ import annotations

import pytest

from tests.extent import ALL
from tests.oracle import part, recorded, tables, there
from tests.oracle.library import Library


LIBRARY = Library("jitscope")
SECTIONS = [(t.name, section) for t in tables.tables() if not t.optimized for section in t.sections]


@pytest.mark.parametrize(("name", "section"), SECTIONS, ids=[f"{n}-{s}" for n, s in SECTIONS])
def test_cases(name: str, section: str) -> None:
    table = tables.table(name)
    if not table.compared(table.sections[section]) and not table.different.keys() >= {*table.sections[section]}:
        pytest.skip(there.ABSENT)
    faults = table.faults(LIBRARY, section)
    assert not faults, "\n".join([f"{len(faults)} faults", *faults[:30]])


COMPILED = [t.name for t in tables.tables() if isinstance(t, tables.Expressions) and t.compiled and not t.optimized]


@pytest.mark.parametrize("name", COMPILED)
def test_some_outside_of_jit(name: str) -> None:
    faults = tables.outside_of_jit(LIBRARY, name, 8 if ALL else 32)
    if faults is None:
        pytest.skip(there.ABSENT)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", [table.name for table in tables.tables()])
def test_what_git_keeps_is_what_is_asked(name: str) -> None:
    table = tables.table(name)
    assert recorded.kept(name).keys() == part.cases(name)
    assert set(table.recorded) <= set(table.names) and len(table.names) == len(set(table.names))
    assert {*table.different, *table.ours} <= set(table.names)
