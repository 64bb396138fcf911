"""Each program's regions, and its edits applied: run on fresh values, plain and edited programs end with the same types and values."""

from __future__ import annotations

import contextlib
import copy
import io
import random
import warnings
from collections.abc import Mapping
from types import FunctionType, ModuleType

import numpy as np
import pytest

import jitscope
from jitscope_scope.regions import finding, pricing
from jitscope_scope.regions.answers import Region
from jitscope_scope.regions.cells import Cell
from jitscope_scope.regions.homes import attributes_of, data_of, is_array, is_users_object
from tests.extent import ALL, as_users
from tests.scope.regions.programs import COMPILED, Program, parsed
from tests.scope.regions.programs_in_parts import IN_PARTS
from tests.scope.regions.programs_in_place import IN_PLACE
from tests.scope.regions.programs_mixed import MIXED
from tests.scope.regions.programs_of_sizes import OF_SIZES
from tests.scope.regions.programs_with_comprehensions import WITH_COMPREHENSIONS
from tests.scope.regions.programs_with_draws import WITH_DRAWS
from tests.scope.regions.programs_with_lists import WITH_LISTS
from tests.scope.regions.programs_with_loops import WITH_LOOPS
from tests.scope.regions.programs_with_objects import WITH_OBJECTS
from tests.scope.regions.refused import CUT


_PARTS = """def parts(x, size):
    for i in range(0, len(x), size):
        part = 2 * x[i:i + size]
        yield part
"""
OF_A_GENERATOR = Program(
    "a generator", f"{_PARTS}x = rng.normal(size=9); s = 0.0", "for p in parts(x, 3):\n    s = 0.5 * s + p.mean()\n"
)
AS_LARGE, OF_ONE_KIND = parsed("""
=== parts of a fixed size
x = rng.normal(size=30)
---
means = np.zeros(9)
for i in range(0, len(x), 10):
    means = 0.5 * means[::-1] + x[i:i + 10].mean()
=== a mean of what is stored into
x = rng.normal(size=9); k = 2
---
total = 0.0
for i in range(8):
    x[1:] = x[1:] - k * x[:-1] / 3
    total = total + x.sum() / k
""")


def names_of(program: Program, seed: int) -> dict[str, object]:
    """The names at the start of a program's cell."""
    names: dict[str, object] = {"np": np, "rng": np.random.default_rng(seed), "__name__": "__main__"}
    exec(compile(program.before, "<cell 1>", "exec"), names)
    return names


def watched(program: Program, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Region], Mapping[str, object]]:
    """The regions of a program, as if every one of them paid; and the names after the watched run."""
    monkeypatch.setattr(pricing, "LEAST_COMPILE", 0.0)
    monkeypatch.setattr(pricing, "pays", lambda *_: True)
    monkeypatch.setattr(finding, "harmless", lambda _: False)
    names: dict[str, object] = {"np": np, "rng": np.random.default_rng(0), "__name__": "__main__"}
    watch = finding.Watch(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        watch.run(Cell(1, program.before, 1, 1))
        watch.run(Cell(2, program.cell, 1, 1000))
        watch.let_go()
        after = {
            n: copy.deepcopy(v) for n, v in names.items() if isinstance(v, (np.ndarray, np.generic, float, int, list))
        }
        return watch.regions(), after


def same(a: object, b: object, name: str, narrow: bool = False) -> None:
    """Types, dtypes and shapes are equal, floats up to rounding: that of 32 bits where Python's numbers are made of such (`narrow`)."""
    if is_users_object(a) and is_users_object(b):
        same(attributes_of(a), attributes_of(b), name, narrow)
        return
    named = hasattr(type(a), "_fields")  # of a class that either program makes
    assert type(a) is type(b) or (named and type(a).__name__ == type(b).__name__), name
    if type(a) is int:
        assert a == b, name
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        assert len(a) == len(b), name
        for x, y in zip(a, b, strict=True):
            same(x, y, name, narrow)
    elif isinstance(a, dict) and isinstance(b, dict):
        assert list(a) == list(b), name
        for k in a:
            same(a[k], b[k], f"{name}[{k!r}]", narrow)
    elif isinstance(a, (np.ndarray, np.generic, float, int, complex, jitscope.Array)) or is_array(a):
        x, y = np.asarray(data_of(a)), np.asarray(data_of(b))
        assert x.dtype == y.dtype, name
        assert x.shape == y.shape, name
        precise = x.dtype in (np.float64, np.complex128) and not narrow
        np.testing.assert_allclose(y, x, rtol=1e-9 if precise else 1e-4, atol=1e-11 if precise else 1e-5, err_msg=name)


ONCE = {
    "differences of differences, their first elements kept",
    "a part that gets shorter, beside an array of its length",
}
"""Programs whose plain statements raise when they run once more."""


def identities(names: Mapping[str, object]) -> set[tuple[str, str]]:
    """Names, and the last places in lists, tuples and dicts, that have an array or a list with another one in common."""
    places = {n: v for n, v in names.items() if not n.startswith("__") and not isinstance(v, ModuleType)}
    for _ in range(2):
        held = {n: [*v.values()] if isinstance(v, dict) else v for n, v in places.items()}
        last = {f"{n}[-1]": v[-1] for n, v in held.items() if isinstance(v, (list, tuple)) and v}
        places |= {f"{n}[{k}]": e for n, v in held.items() if isinstance(v, tuple) for k, e in enumerate(v)} | last
    things = [(n, v) for n, v in places.items() if isinstance(v, (np.ndarray, list))]
    return {(n, m) for n, v in things for m, w in things if n < m and v is w}


def applied(source: str, regions: list[Region], cell: int) -> str:
    lines = source.splitlines()
    for r in sorted((r for r in regions if r.verdict == "compile" and r.cell == cell), key=lambda r: -r.line):
        assert r.edit is not None
        lines[r.line - 1 : r.end_line] = r.edit.splitlines()
    return "\n".join(lines)


@pytest.mark.parametrize(
    "program",
    [
        *(*COMPILED, *IN_PARTS, *IN_PLACE, *MIXED, *OF_SIZES),
        *(*WITH_COMPREHENSIONS, *WITH_DRAWS, *WITH_LISTS, *WITH_LOOPS, *WITH_OBJECTS),
    ],
    ids=lambda p: p.name,
)
def test_edits_keep_the_program(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    regions, after = watched(program, monkeypatch)
    good = [r for r in regions if r.verdict == "compile"]
    assert good, [(r.verdict, r.reason) for r in regions]
    assert all(r.edit and r.same for r in good)
    plain = names_of(program, 0)
    exec(compile(program.cell, "<plain>", "exec"), plain)
    for n, v in after.items():
        same(plain[n], v, n)
    times = 1 if program.name in ONCE else 2
    for seed in (0, 7) if ALL else (7,):  # the watched run compared the first
        plain, edited = names_of(program, seed), {"np": np, "rng": np.random.default_rng(seed), "__name__": "__main__"}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            for _ in range(times):
                exec(compile(program.cell, "<plain>", "exec"), plain)
        with contextlib.redirect_stdout(io.StringIO()) as also:
            exec(compile(applied(program.before, regions, 1), "<edited>", "exec"), edited)
            for _ in range(times):
                exec(compile(applied(program.cell, regions, 2), "<edited>", "exec"), edited)
        assert said.getvalue() == also.getvalue()
        assert identities(edited) == identities(plain)
        left = {n for n, v in edited.items() if n not in plain and not isinstance(v, (ModuleType, FunctionType))}
        assert not {n for n in left if not n.startswith(("region_", "lifted_arrays_of_"))}
        for n, v in plain.items():
            if isinstance(v, ModuleType):
                assert edited[n] is v, n
            elif not n.startswith("__") and not isinstance(v, FunctionType):
                same(v, edited[n], n, any(w in program.before for w in ("jitscope", "jax", "float32")))


def test_names_keep_what_tuples_in_lists_take(monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = [p for p in WITH_LISTS if "lists of a turn in tuples" in p.name]
    regions, _ = watched(program, monkeypatch)
    plain, edited = names_of(program, 3), names_of(program, 3)
    exec(compile(program.cell, "<plain>", "exec"), plain)
    exec(compile(applied(program.cell, regions, 2), "<edited>", "exec"), edited)
    assert {("found[-1][1]", "risks"), ("states[-1][1]", "u")} <= identities(plain) == identities(edited)


@pytest.mark.parametrize(
    ("program", "other"),
    [
        (AS_LARGE, "x = rng.normal(size=27)"),
        (AS_LARGE, "x = rng.integers(0, 9, size=30)"),
        (OF_ONE_KIND, "x = rng.integers(0, 9, size=9).astype('int32'); k = 2"),
        (OF_ONE_KIND, "x = rng.normal(size=9).astype('float32'); k = 2.5"),
        (OF_A_GENERATOR, f"{_PARTS}x = rng.normal(size=7); s = 0.0"),
        (OF_A_GENERATOR, f"{_PARTS}x = np.zeros((0, 2), int); s = 0.0"),
    ],
    ids=["a shorter last part", "other types", "narrow whole numbers", "32 bits", "a shorter last batch", "no batch"],
)
def test_edits_ask_for_sizes_and_types(program: Program, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    regions, _ = watched(program, monkeypatch)
    assert [r.verdict for r in regions if r.cell == 2] == ["compile"], [r.reason for r in regions]
    plain, edited = (names_of(Program("", other, "", "", 0), 3) for _ in range(2))
    exec(compile(program.cell, "<plain>", "exec"), plain)
    exec(compile(applied(program.cell, regions, 2), "<edited>", "exec"), edited)
    for n, v in plain.items():
        if isinstance(v, (np.ndarray, np.generic, float, int)):
            same(v, edited[n], n)
    assert not [n for n in edited.keys() - plain.keys() if n.endswith("_of_parts")]


@as_users  # some are of how results are rounded
@pytest.mark.parametrize("program", CUT, ids=lambda p: p.name)
def test_refusals_say_why_and_where(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    state = random.getstate()
    regions, _ = watched(program, monkeypatch)
    random.setstate(state)
    loops = [r for r in regions if r.cell == 2]
    assert [r.verdict for r in loops if r.verdict == "compile"] == []
    cuts = [c for r in loops for c in r.cuts]
    assert program.says in [c.why for c in cuts], cuts
    if program.line:
        assert program.line in [c.line for c in cuts if c.why == program.says], cuts
