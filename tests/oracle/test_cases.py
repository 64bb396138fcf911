"""Single questions as JAX answers them (README.md says how they are written and recorded). Those of which the last digits need XLA's
optimisations are compiled with them."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from tests.extent import ALL, as_users, full
from tests.oracle import part, recorded, tables, there
from tests.oracle.library import Library


LIBRARY = Library("jitscope")


def of(table: tables.Table, *section: str) -> ParameterSet:
    """A table, or a section of it, compiled as its last digits need; at `make test` those sections of which it has a question."""
    left_out = section and not any(table.sample(n) for n in table.sections[section[0]] if n not in table.different)
    marks = [as_users] * table.optimized + [full] * bool(left_out)
    return pytest.param(table.name, *section, id="-".join([table.name, *section]), marks=marks)


@pytest.mark.parametrize(
    ("name", "section"), [of(table, section) for table in tables.tables() for section in table.sections]
)
def test_cases(name: str, section: str) -> None:
    table = tables.table(name)
    if not table.compared(table.sections[section]) and not table.different.keys() >= {*table.sections[section]}:
        pytest.skip(there.ABSENT)
    faults = table.faults(LIBRARY, section)
    assert not faults, "\n".join([f"{len(faults)} faults", *faults[:30]])


COMPILED = [of(t) for t in tables.tables() if isinstance(t, tables.Expressions) and (t.compiled or t.optimized)]


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
