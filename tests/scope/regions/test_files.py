"""`jitscope regions FILE --json`: what it prints, and that its edits, applied together, keep the file's meaning."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jitscope_kernel.cli import main
from jitscope_scope.regions import Cell, cells_of, finding, of_file, pricing
from jitscope_scope.regions.cells import read
from jitscope_scope.regions.compiled import Compiled
from jitscope_scope.regions.finding import Watch
from jitscope_widgets.view.parts import Section
from jitscope_widgets.views import regions as view


PROGRAM = """# %%
import numpy as np
rng = np.random.default_rng(0)
a = rng.normal(size=3)
s = 0.0
# %%
# runs: 30
x = a.copy()
for i in range(30000):
    x = x + 0.01 * np.sin(x)
    x[0] = 1.0
print(x.shape)
# %%
for i in range(30):
    s = s + np.random.randn()
# %%
# runs: 3
t = 0.0
for i in range(10):
    t = t + i
"""


def test_cells_and_runs() -> None:
    cells = cells_of(PROGRAM)
    assert [(c.number, c.first, c.runs) for c in cells] == [(1, 1, 1), (2, 6, 30), (3, 13, 1), (4, 16, 3)]
    assert [c.runs for c in cells_of("# %% runs: 7\nx = 1\n")] == [7]
    assert [c.runs for c in cells_of("# runs: 9\n\n# %%\nx = 1\n# %%\n# runs: 2\ny = 1\n")] == [9, 2]
    assert [c.runs for c in cells_of("# runs: 9\nx = 1\n# %%\ny = 1\n")] == [9, 1]
    assert cells_of("") == []


def test_cells_of_a_notebook(tmp_path: Path) -> None:
    texts = ["%load_ext jitscope\nx = (7\n     % 4)", "%%time\n# runs: 4\ny = x", "%%bash\nls", "z = y", "w = z"]
    told = [{}, {"jitscope": {"runs": 9}}, {}, {"jitscope": {"runs": 3}}, {"jitscope": {"runs": "3"}}]
    cells = [{"cell_type": "code", "source": t, "metadata": m} for t, m in zip(texts, told)]
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps({"cells": cells}))
    found = read(file)
    assert [(c.first, c.runs) for c in found] == [(1, 1), (1, 4), (1, 1), (1, 3), (1, 1)]
    assert [c.source.split("\n") for c in found[:3]] == [
        ["pass", "x = (7", "     % 4)"],
        ["", "# runs: 4", "y = x"],
        ["", ""],
    ]


def test_price() -> None:
    assert pricing.break_even(2.0, 1.0, 3.5) == 4
    assert pricing.break_even(1.0, 2.0, 0.1) is None
    assert pricing.pays(1.0, 0.1, 5.0, 10)
    assert not pricing.pays(1.0, 0.1, 5.0, 5)


@pytest.mark.parametrize("form", ["py", "ipynb"])
def test_json(form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"program.{form}"
    cells = cells_of(PROGRAM)
    made = [{"cell_type": "code", "source": c.source.partition("\n")[2], "metadata": {}, "outputs": []} for c in cells]
    file.write_text(PROGRAM if form == "py" else json.dumps({"cells": made, "metadata": {}, "nbformat": 4}))
    assert main(["regions", str(file), "--json"]) == 0
    regions = json.loads(capfd.readouterr().out)["regions"]
    first, drawn, small = regions
    assert (first["cell"], first["verdict"]) == (2, "compile"), first
    assert first["edit"]
    assert set(first["same"]) >= {"max_abs", "max_rel", "bits"}
    assert first["break_even_runs"] <= 30
    assert (drawn["verdict"], drawn["cuts"][0]["why"]) == ("not worth it", "random")
    assert small["verdict"] == "not worth it"
    assert "3 runs" in small["reason"]
    (how,) = [p.title for p in view.view({"title": "", "note": "", "regions": regions}) if isinstance(p, Section)]  # type: ignore[typeddict-item]
    assert how == f"How: cell 2, {view.lines(first)} become"
    lines = PROGRAM.splitlines() if form == "py" else cells[1].source.splitlines()[1:]
    assert lines[first["line"] - 1].startswith("for i in range(30000)")
    lines[first["line"] - 1 : first["end_line"]] = first["edit"].splitlines()
    plain: dict[str, object] = {"a": np.ones(3), "np": np}
    edited = dict(plain)
    exec(PROGRAM if form == "py" else cells[1].source, plain)
    exec("\n".join(lines), edited)
    np.testing.assert_allclose(
        np.asarray(edited["x"]), np.asarray(plain["x"]), rtol=1e-12, atol=2 * first["same"]["max_abs"] + 1e-15
    )
    assert edited["i"] == plain["i"]


def test_what_takes_longer_when_run_whole_is_not_paid_back(monkeypatch: pytest.MonkeyPatch) -> None:
    run_whole = finding.replay
    slow = lambda found: replace(found, edited_s=[2 * s for s in found.plain_s])
    monkeypatch.setattr(finding, "replay", lambda *args: slow(run_whole(*args)))
    watch = Watch({"__name__": "__main__"})
    for cell in cells_of(PROGRAM):
        watch.run(cell)
    watch.let_go()
    first = watch.regions()[0]
    assert first.verdict == "not worth it" and first.reason.startswith("run whole")
    assert first.break_even_runs is None


OBJECTS = """# %%
import numpy as np
rng = np.random.default_rng(0)
class Layer:
    def __init__(self, n): self.w = rng.normal(size=(n, n)) * 0.1
    def forward(self, x):
        vars(self)["seen"] = x
        return np.tanh(self.w @ x)
# %%
# runs: 40
net, x = [Layer(8), Layer(8)], np.ones(8)
for i in range(9000):
    for layer in net:
        x = layer.forward(x) + 0.01
"""


def test_a_file_with_objects_is_run_whole(tmp_path: Path) -> None:
    """The edit's own names are no part of the program's values, and its later runs are not traced: it pays."""
    file = tmp_path / "program.py"
    file.write_text(OBJECTS)
    (region,) = [r for r in of_file(file) if r["cell"] == 2]
    assert region["verdict"] == "compile", region["reason"]
    assert "that finds what it reads as it was" in str(region["reason"])
    lines = OBJECTS.splitlines()
    lines[region["line"] - 1 : region["end_line"]] = str(region["edit"]).splitlines()  # type: ignore[misc, operator]
    names: dict[str, object] = {"__name__": "__main__"}
    setup, cell = (c.source for c in cells_of("\n".join(lines) + "\n"))
    exec(compile(setup, "<cell 1>", "exec"), names)
    for _ in range(3):
        exec(compile(cell, "<cell 2>", "exec"), names)
    (compiled,) = [v for v in names.values() if isinstance(v, Compiled)]
    assert compiled.traces <= 3


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", "x = 1\n# %%\nx = 1 / 0\n", "a.py ended before its end, and was not looked at: line 3: ZeroDivisionError: division by zero"),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": "import nowhere"}]}', "cell 1, line 1: ModuleNotFoundError: No module"),
        ("b.ipynb", "x", "b.ipynb is no notebook: it is no JSON: line 1: Expecting value"),
        ("b.py", "x = (\n", "b.py is no Python: line 1: '(' was never closed"),
        ("", "", "cannot be read: Is a directory"),
    ],
)  # fmt: skip
def test_a_file_that_fails(name: str, text: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    if name:
        file.write_text(text)
    assert main(["regions", str(file)]) == 1
    told = capfd.readouterr().err
    assert said in told and told.count("\n") == 1


FUNCTIONS = """
import functools
def again(f):
    @functools.wraps(f)
    def twice(n): return f(n) + f(n)
    return twice
@again
def total(n):
    s = 0.0
    for k in range(n):
        s = s + k * 0.5
    return s
class Growth:
    @staticmethod
    def of(n):
        t = 1.0
        for k in range(n):
            t = t * 1.01
        return t
made = [total, Growth.of]
for f in made:
    f(3)
"""


def test_functions_are_plain_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decorated functions and those of classes, too; and no other objects of the process are gone through."""
    monkeypatch.setattr("gc.get_objects", lambda: pytest.fail("all objects are gone through"))
    watched, plain = dict[str, object](), dict[str, object]()
    watch = Watch(watched)
    watch.run(Cell(1, FUNCTIONS, 1, 1))
    watch.let_go()
    exec(compile(FUNCTIONS, "<cell 1>", "exec"), plain)
    assert watched.keys() - {"__builtins__"} == plain.keys() - {"__builtins__"}
    for a, b in zip(watched["made"], plain["made"], strict=True):  # type: ignore[call-overload]
        a, b = (getattr(f, "__wrapped__", f).__code__ for f in (a, b))
        assert (a.co_code, a.co_names, a.co_linetable) == (b.co_code, b.co_names, b.co_linetable)
