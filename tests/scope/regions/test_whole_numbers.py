"""Python's whole numbers that a region checks: where they leave their bounds, the plain statements run; where they stay, the compiled ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scope.regions.programs import Program, parsed
from tests.scope.regions.test_programs import applied, names_of, watched


STARTS, PRODUCTS, DIVISORS, SUMS, COUNTS = parsed("""
=== Collatz from a number on
first = 1; steps = 0
---
for start in range(first, first + 40):
    n = start
    while n > 1 and n != 4:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
=== a product that grows
p = 1; factor = 3
---
for k in range(12):
    p = p * factor
=== a division by what may be zero
a = 900; b = 7; seen = 0
---
for k in range(5):
    seen += a // b % 5
    b = b - 1
    a = a + b * b
=== sums of an array, added to a number
x = np.arange(12); total = 0
---
for k in range(6):
    total += int(np.sum(x * (k + 1)))
=== counts of what the loop computes
x = np.arange(30) // 2; n = 0
---
for k in range(4):
    seen = np.bincount(x + k, minlength=20)
    n = n + len(seen)
    total = int(seen.sum())
""")


@pytest.mark.parametrize(
    ("program", "change"),
    [
        (STARTS, "first = 2**60"),
        (STARTS, "first = 10**30"),
        (STARTS, "first = 27"),
        (PRODUCTS, "p = 2**55"),
        (PRODUCTS, "p = -2**80"),
        (DIVISORS, "b = -3; seen = 2**70"),
        (SUMS, "total = 2**62 - 5"),
        (SUMS, "x = x + 2**60"),
        (COUNTS, "x = x + 1"),
        (COUNTS, "x = x * 3"),
    ],
)
def test_numbers_are_pythons(program: Program, change: str, monkeypatch) -> None:
    regions, _ = watched(program, monkeypatch)
    assert [r.verdict for r in regions if r.cell == 2] == ["compile"]
    plain, other = names_of(program, 0), names_of(program, 0)
    for names, cell in ((plain, program.cell), (other, applied(program.cell, regions, 2))):
        exec(change, names)
        exec(compile(cell, "<cell>", "exec"), names)
    numbers = {n: v for n, v in plain.items() if type(v) is int}
    assert numbers == {n: other[n] for n in numbers}
    assert all(type(other[n]) is int for n in numbers)


def test_a_division_by_zero_is_raised(monkeypatch) -> None:
    regions, _ = watched(DIVISORS, monkeypatch)
    names = names_of(DIVISORS, 0)
    exec("b = 3", names)
    with pytest.raises(ZeroDivisionError):
        exec(compile(applied(DIVISORS.cell, regions, 2), "<cell>", "exec"), names)


@pytest.mark.parametrize("watched_last", [1, -1])
def test_a_name_is_another_array_only_where_the_branch_was_taken(watched_last: int, monkeypatch) -> None:
    """Whether or not the last value is taken in the run that is watched."""
    (program,) = parsed(f"""
=== what was taken last
x = np.zeros(2); moves = np.ones((6, 2)); up = np.ones(6); up[-1] = {watched_last}; xs = []
---
for k in range(6):
    y = x + moves[k]
    if up[k] > 0:
        x = y
    xs.append(x)
""")
    regions, _ = watched(program, monkeypatch)
    edited = applied(program.cell, regions, 2)
    for last in (1.0, -1.0, 1.0):
        plain, other = names_of(program, 0), names_of(program, 0)
        for names, cell in ((plain, program.cell), (other, edited)):
            exec(f"up[-1] = {last}", names)
            exec(compile(cell, "<cell>", "exec"), names)
            exec("y[0] = 99.0", names)
        assert np.array_equal(np.asarray(plain["x"]), np.asarray(other["x"]))
        assert (other["x"] is other["y"]) == (last > 0) and other["x"] is other["xs"][-1]


def test_an_array_that_a_list_took_last_is_its_last_element(monkeypatch) -> None:
    (program,) = parsed("""
=== states
x = np.arange(3.0); states = []
---
for k in range(6):
    x = x * 0.5 + 1
    states.append(x)
""")
    regions, _ = watched(program, monkeypatch)
    names = names_of(program, 0)
    exec(compile(applied(program.cell, regions, 2), "<cell>", "exec"), names)
    exec("same = states[-1] is x and len(states) == 6", names)
    assert [r.verdict for r in regions if r.cell == 2] == ["compile"]
    assert names["same"]
