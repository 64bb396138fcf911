"""Cells that are made up: what has an edit runs as the plain cell does, whatever stands in it."""

from __future__ import annotations

import contextlib
import copy
import io
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from jitscope_scope.regions import finding, pricing
from jitscope_scope.regions.cells import Cell
from tests.extent import ALL
from tests.scope.regions.test_programs import applied, same


BEFORE = """\
rng = np.random.default_rng(seed)
x, y = rng.normal(size=6), rng.normal(size=6)
A, B = rng.normal(size=(6, 6)) * 0.3, np.zeros((6, 6))
n, s, j = 6, 0.5, 2
log, marks = [], np.zeros(6, dtype=int)
"""

numbers = st.sampled_from(
    ["0.5", "s", "x[k % 6]", "y[j]", "A[k % 6, j]", "0.1 * k", "x.mean()", "y[x > 0].sum()", "np.abs(x).max()"]
)
vectors = st.sampled_from(
    ["x", "y", "A @ x", "A[j]", "A[:, k % 6]", "np.roll(y, 1)", "x * y", "np.sin(x)", "B[k % 6]", "x[::-1]"]
)
indices = st.sampled_from(
    ["k % 6", "j", "-1", "(k + 1) % 6", "min(k, 5)", "max(j - 1, 0)", "5 - k % 6", "np.clip(k - 2, 0, 5)"]
)
tests = st.sampled_from(["s > 0.4", "x[0] < y[0]", "k % 3 == 0", "k > 4", "j == 2", "x.sum() > 0 and s < 1"])


def small(text: str) -> str:
    """The expression, held between -1 and 1."""
    return f"np.tanh({text})"


stores = st.one_of(
    st.builds(lambda i, v: f"x[{i}] = {small(v)}", indices, numbers),
    st.builds(lambda i, v: f"B[{i}] = {small(v)}", indices, vectors),
    st.builds(lambda i, h, v: f"B[{i}, {h}] += 0.1 * {small(v)}", indices, indices, numbers),
    st.builds(lambda v: f"y = {small(v)}", vectors),
    st.builds(lambda v, w: f"x = {small(v + ' + ' + w)}", vectors, vectors),
    st.builds(lambda v: f"s = {small(v)}", numbers),
    st.builds(lambda v: f"x[1:-1] = 0.5 * ({v})[:-2] + 0.1", vectors),
    st.builds(lambda v: f"y[y > 0.1] = {small(v)}", numbers),
    st.builds(lambda v: f"y[x > 0] *= {small(v)}", numbers),
    st.builds(lambda i: f"row = B[{i}]", indices),
    st.just("s = s + 0.01 * row.sum() if 'row' in dir() else s"),
    st.just("z = x; x = y; y = z"),
    st.just("x, y = y, x"),
    st.just("j = (j * 5 + 1) % 6"),
    st.just("marks[x > 0] += 1"),
    st.just("log.append(s)"),
    st.builds(lambda v: f"x += 0.1 * {small(v)}", vectors),
    st.builds(lambda v: f"w = np.zeros(6); w[1:] = ({v})[:-1]; x, y = y, w".replace("; ", "\n"), vectors),
)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """The body of a loop: stores, branches, and a print or a copy now and then."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        one = draw(stores)
        if draw(st.integers(0, 4)) == 0:
            one = f"if {draw(tests)}:\n" + "\n".join("    " + line for line in one.splitlines())
            if draw(st.booleans()):
                one += "\nelse:\n" + "\n".join("    " + line for line in draw(stores).splitlines())
        lines += one.splitlines()
    end = draw(
        st.sampled_from(
            [
                "",
                "",
                "if k % 4 == 3:\n    print(round(float(s), 3), x.round(3))",
                "if k % 5 == 0:\n    log.append(x.copy())",
            ]
        )
    )
    return "\n".join("    " + line for line in [*lines, *end.splitlines()])


def ran(cells: list[str], seed: int) -> tuple[dict[str, object], str]:
    names: dict[str, object] = {"np": np, "seed": seed, "__name__": "cell"}
    with contextlib.redirect_stdout(io.StringIO()) as said, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, cell in enumerate(cells):
            exec(compile(cell, f"<ran {k}>", "exec"), names)
    return names, said.getvalue()


@settings(max_examples=12 if ALL else 4, deadline=None, derandomize=True)
@given(body=bodies(), turns=st.integers(1, 14), head=st.sampled_from(["range({})", "range(1, {} + 1)"]))
def test_edits_keep_generated_cells(body: str, turns: int, head: str) -> None:
    cell = f"for k in {head.format(turns)}:\n{body}\nalso = x\n"
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(pricing, "LEAST_COMPILE", 0.0)
        patch.setattr(pricing, "pays", lambda *_: True)
        patch.setattr(finding, "harmless", lambda _: False)
        names: dict[str, object] = {"np": np, "seed": 0, "__name__": "cell"}
        watch = finding.Watch(names)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            watch.run(Cell(1, BEFORE, 1, 1))
            try:
                watch.run(Cell(2, cell, 1, 100))
            except (NameError, UnboundLocalError):
                return
            finally:
                watch.let_go()
            after = {
                n: copy.deepcopy(v)
                for n, v in names.items()
                if isinstance(v, (np.ndarray, np.generic, float, int, list))
            }
            regions = watch.regions()
    plain, text = ran([BEFORE, cell], 0)
    assert said.getvalue() == text
    for n, v in after.items():
        same(plain[n], v, n)
    for seed in (0, 5):
        plain, text = ran([BEFORE, cell], seed)
        edited, also = ran([applied(BEFORE, regions, 1), applied(cell, regions, 2)], seed)
        assert also == text
        for n in after:
            same(plain[n], edited[n], n)
        arrays = sorted(n for n in after if isinstance(plain[n], np.ndarray))
        for a in arrays:
            for b in arrays:
                assert (plain[a] is plain[b]) == (edited[a] is edited[b]), (a, b)
                assert np.may_share_memory(plain[a], plain[b]) == np.may_share_memory(edited[a], edited[b]), (a, b)  # type: ignore[arg-type]
