"""Each sharp bit has a page, with an example that steps on it and one that does not."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from jitscope_kernel import checking_files, cli
from jitscope_kernel.check import check
from jitscope_kernel.checking_files import Ran
from jitscope_scope.advise import CATALOGUE, WHY, look
from jitscope_scope.advise.pages import examples, page_of
from jitscope_scope.advise.program import read
from tests.scope.advise.programs import HEADER
from tests.scope.advise.table import BY_A_LOOK_ALONE


DOCUMENTATION = Path(__file__).parents[3] / "docs" / "sharp-bits.md"
APART = [id for id in CATALOGUE if "num_cpu_devices" in examples()[id].wrong]
"""These choose the number of devices, which a process does once."""


def program(text: str) -> str:
    """An example as a program of the library's; what is told of jax alone is looked at as it stands."""
    return text if "\nimport jax\n" in f"\n{text}" else HEADER + text.replace("from jax.", "from jitscope.")


def test_each_id_has_its_page_in_the_documentation():
    assert list(WHY) == list(CATALOGUE) == list(examples())
    documentation = DOCUMENTATION.read_text(encoding="utf-8")
    for id in CATALOGUE:
        assert f"\n### {id}\n\n{page_of(id)}\n\n" in documentation, "python -m tests.scope.advise.table --pages"


@pytest.mark.parametrize("id", [id for id in CATALOGUE if id not in APART])
def test_an_example_steps_on_it_and_what_to_write_instead_does_not(
    id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The documentation says whether the run alone finds it; examples of jax alone are looked at."""
    runs: list[Ran] = []
    run_file = checking_files.run_file
    monkeypatch.setattr(checking_files, "run_file", lambda *args: (runs.append(run_file(*args)), runs[-1])[1])
    wrong, right = examples()[id]
    due_of = [("wrong", wrong, {id}), ("right", right, set())]
    due_of += [("again", wrong, {id})] if id.startswith("recompile-") else []  # a process that has run it once
    for name, text, expected in due_of:
        file = tmp_path / f"{name}.py"
        file.write_text(program(text))
        with warnings.catch_warnings(record=True), contextlib.redirect_stderr(io.StringIO()):
            found = check(read(str(file)), run="import jitscope" in program(text))
        assert {one.one.id for one in found} == expected, text
    alone = [{one.id for one in run.found} for run in runs[:1]]
    due = [set() if id in BY_A_LOOK_ALONE else {id}]
    assert alone == (due if "import jitscope" in program(examples()[id].wrong) else [])
    assert (id in documented()) == (id not in BY_A_LOOK_ALONE)


def documented() -> set[str]:
    """What the table says that a run alone finds."""
    lines = DOCUMENTATION.read_text(encoding="utf-8").splitlines()
    return {line.split("`")[1] for line in lines if line.startswith("| `") and line.endswith(" | yes |")}


def test_what_takes_several_devices_is_found_by_a_run_alone():
    """A look finds none of it: what `test_examples_of_several_devices` finds, the run did."""
    assert {*APART} <= documented()
    assert not [one for id in APART for one in look(program(examples()[id].wrong), "program.py") if one.id == id]


def test_examples_of_several_devices(tmp_path: Path):
    files = {}
    for id in APART:
        for text, expected in zip(examples()[id], ([id], [])):
            file = tmp_path / f"{len(files)}.py"
            file.write_text(program(text).replace('"jax_num_cpu_devices", 2', '"jax_num_cpu_devices", 4'))
            files[str(file)] = expected
    command = [sys.executable, "-m", "jitscope", "check", "--run", "--json", *files]
    done = subprocess.run(command, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    found: dict[str, list[str]] = {file: [] for file in files}
    for one in answer["diagnostics"]:
        found[one["file"]].append(one["id"])
    assert (found, answer["ended"]) == (files, [])


def test_pages_are_printed(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["explain", "key-reuse", "oob-index"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("key-reuse (warning)\n") and "\noob-index (warning)\n" in out
    assert "    y = jax.random.normal(key, (3,))" in out and WHY["key-reuse"].split()[0] in out
    assert cli.main(["explain"]) == 0
    assert all(id in capsys.readouterr().out for id in ["key-reuse"])
    assert cli.main(["explain", "nothing"]) == 2
    assert "no sharp bit 'nothing'" in capsys.readouterr().err
