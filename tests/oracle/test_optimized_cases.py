"""The questions of which the last digits need XLA's optimisations, which `make test` switches off for the others (tests/extent.py)."""

from __future__ import annotations

import pytest

from tests.extent import ALL
from tests.oracle import tables, there
from tests.oracle.library import Library


LIBRARY = Library("jitscope")
TABLES = [table for table in tables.tables() if table.optimized]
SECTIONS = [(table.name, section) for table in TABLES for section in table.sections]


@pytest.mark.parametrize(("name", "section"), SECTIONS, ids=[f"{n}-{s}" for n, s in SECTIONS])
def test_cases(name: str, section: str) -> None:
    table = tables.table(name)
    if not table.compared(table.sections[section]) and not table.different.keys() >= {*table.sections[section]}:
        pytest.skip(there.ABSENT)
    faults = table.faults(LIBRARY, section)
    assert not faults, "\n".join([f"{len(faults)} faults", *faults[:30]])


@pytest.mark.parametrize("name", [table.name for table in TABLES if isinstance(table, tables.Expressions)])
def test_some_outside_of_jit(name: str) -> None:
    faults = tables.outside_of_jit(LIBRARY, name, 8 if ALL else 32)
    if faults is None:
        pytest.skip(there.ABSENT)
    assert not faults, "\n".join(faults)
