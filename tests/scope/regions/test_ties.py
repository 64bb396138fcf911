"""What rounding decides: comparisons and steps of numbers that are equal but for it, in statements and in the functions that these call."""

from __future__ import annotations

import ast
import linecache

import numpy as np
import pytest

from jitscope_scope.regions import ties
from jitscope_scope.regions.sources import functions_of


FUNCTIONS = """
def larger(a, b):
    return a > b
def inner(a, b):
    return 1 if larger(0.5 * a, 0.5 * b) else 0
def until(end, step):
    t, n = 0.0, 0
    while t < end:
        t += step
        n += 1
    return n
def through(end, step, n):
    k = 0
    for i in range(n):
        k += i * step < end
    return k
class Clock:
    t = 0.1 + 0.2
    def late(self):
        return self.t > 0.3
"""
LESS, SAME = 0.1 + 0.2, 0.3


@pytest.mark.parametrize(
    ("text", "others", "near"),
    [
        ("r = x > y", "x", "`x > y` compares"),
        ("r = x > y", "", ""),
        ("r = x > y + 1", "x", ""),
        ("r = x > x", "x", ""),
        ("r = larger(x, y)", "x", "`a > b` (in `larger`) compares"),
        ("r = larger(x, y)", "", ""),
        ("r = inner(x, y)", "", "`a > b` (in `larger`) compares"),
        ("z = 0.5 * x\nr = larger(z, 0.15)", "", "`a > b` (in `larger`) compares"),
        ("n = until(y, 0.1)", "", ""),
        ("n = until(y, 0.1)", "y", "`t < end` (in `until`) compares"),
        ("n = through(y, 0.1, 9)", "", ""),
        ("n = through(y, 0.1, 9)", "y", "`i * step < end` (in `through`) compares"),
        ("r = clock.late()", "clock", "`self.t > 0.3` (in `late`) compares"),
        ("r = int(10 * x)", "x", "`int(10 * x)` cuts"),
        ("r = np.floor(10 * A)", "A", "`np.floor(10 * A)` cuts"),
        ("r = (10 * A).astype(int)", "A", "`(10 * A).astype(int)` cuts"),
        ("r = A.astype('float32')", "A", ""),
        ("r = x // 0.1", "x", "`x // 0.1` cuts"),
        ("r = 3 % 2", "", ""),
        ("r = np.round(5 * x)", "x", "`np.round(5 * x)` cuts"),
        ("r = np.argmax(A)", "A", "`np.argmax(A)` picks"),
        ("r = A.argmax()", "A", "`A.argmax()` picks"),
        ("r = A[:1].argmax()", "A", ""),
        ("r = np.argmax(A[:, None], axis=1)", "A", ""),
        ("r = A[None].argmin(0)", "A", ""),
        ("r = A[None].argmin(axis=1)", "A", "`A[None].argmin(axis=1)` picks"),
        ("r = A[None].argmin(1)", "A", "`A[None].argmin(1)` picks"),
        ("r = np.argmin(A[None], 1)", "A", "`np.argmin(A[None], 1)` picks"),
        ("r = np.append(A, 1.0).argmax()", "A", ""),
        ("r = np.append(A, 1.0).argsort()", "A", "`np.append(A, 1.0).argsort()` picks"),
        ("s = W[m].sum()\nr = s > W[1]", "", "`s > W[1]` compares equal sums"),
        ("s = W[W > 0.3].sum()\nr = s > 0.1", "", ""),
        ("s = W[1:].sum()\nr = s > 0.1", "", ""),
        ("s = (10 * W)[m].sum()\nr = s == 1", "", ""),
        ("k = np.argmax([W[m].sum(), W[~m].sum()])", "W", ""),
        ("r = x > y + 1e-9", "x", ""),
        ("in 32 bits: r = x > y + 1e-9", "x", "`x > y + 1e-09` compares"),
        ("in 32 bits: r = x > y + 1e-5", "x", ""),
        ("in 32 bits: r = x < np.inf", "x", ""),
        ("r = abs(x - y) < 1e-8", "x", ""),
        ("in 32 bits: r = abs(x - y) < 1e-8", "x", "`abs(x - y) < 1e-08` compares"),
        ("in 32 bits: d = x - y\nr = np.max(np.abs(d)) / y < 1e-7", "x", "`np.max(np.abs(d)) / y < 1e-07` compares"),
        ("in 32 bits: r = abs(x - y) < 1e-5", "x", ""),
        ("in 32 bits: r = np.argmax(A)", "A", "`np.argmax(A)` picks"),
    ],
)
def test_ties_are_found_where_rounding_may_have_made_the_numbers(text: str, others: str, near: str) -> None:
    lines: list[str] = [*FUNCTIONS.splitlines(keepends=True)]
    linecache.cache["<cell 1>"] = (len(FUNCTIONS), None, lines, "<cell 1>")
    names: dict[str, object] = {"np": np, "__name__": "__main__", "x": LESS, "y": SAME, "A": np.array([LESS, SAME])}
    names |= {"W": np.array([0.1, 0.1]), "m": np.array([True, False])}
    exec(compile(FUNCTIONS, "<cell 1>", "exec"), names)
    exec("clock = Clock()", names)
    before = {n: f.__code__ for n, f in names.items() if callable(f) and hasattr(f, "__code__")}
    body, said = ast.parse(text.removeprefix("in 32 bits: ")).body, ties.Comparisons(text.startswith("in 32 bits"))
    with ties.noted(
        body, functions_of(body, names), others.split(), {"x", "y", "A"} - {*others.split()}, said, names
    ) as tree:
        if tree is not None:
            exec(compile(tree, "<region>", "exec"), {**names, ties.NAME: said})
    assert (said.near or said.order or (0, ""))[1].startswith(near or "-") == bool(near), said.near
    assert {n: names[n].__code__ for n in before} == before  # type: ignore[attr-defined]
    assert ties.NAME not in names


@pytest.mark.parametrize(
    ("text", "otherwise"),
    [
        ("x > y", False),
        ("x > y - 1e-5", True),
        ("A > y", [False, True]),
        ("np.argsort(A) != [1, 0]", [True, True]),
        ("np.argmax(A) == 1", True),
        ("np.argmin(-A) == 1", True),
    ],
)
def test_what_is_equal_but_for_rounding_is_decided_otherwise(text: str, otherwise: object) -> None:
    body, said = ast.parse(f"r = {text}").body, ties.Comparisons(narrow=True)
    said.otherwise, names = True, {"np": np, "x": LESS, "y": SAME, "A": np.array([LESS, SAME - 2e-8])}
    with ties.noted(body, [], ["x", "A"], [], said, names) as tree:
        assert tree is not None
        exec(compile(tree, "<region>", "exec"), {ties.NAME: said}, names)
    assert np.array_equal(names["r"], otherwise), names["r"]  # type: ignore[arg-type]
