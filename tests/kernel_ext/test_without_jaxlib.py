"""What reads text needs no compiler: programs are looked at, and documents shown, where jaxlib is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jitscope_kernel import cli
from tests.scope.advise.programs import programs
from tests.widgets import documents


_PROGRAM = """
import contextlib, io, json, sys


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jaxlib", "jax"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Missing())
from jitscope_kernel import cli

answers = []
for arguments in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
        status = cli.main(arguments)
    answers.append([status, out.getvalue(), errors.getvalue()])
import jitscope
for name in ("jit", "numpy", "inspect"):
    try:
        getattr(jitscope, name)
    except ModuleNotFoundError as error:
        answers.append([error.name, str(error)])
answers.append(hasattr(jitscope, "__wrapped__"))
print(json.dumps(answers))
"""


def test_a_look_and_saved_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    looked = [p.write(tmp_path) for p in programs() if p.name.startswith("keys-") or p.name.endswith("-5")]
    shown = tmp_path / "document.json"
    shown.write_text(json.dumps(documents.cell()))
    same = [
        ["check", *map(str, looked)],
        ["check", "--json", str(looked[0])],
        ["explain", "key-reuse"],
        ["show", str(shown)],
    ]
    commands = [*same, ["show", str(shown), "--html", str(tmp_path / "page.html")], ["check", "--run", str(looked[0])]]
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM], input=json.dumps(commands), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    *answers, jit, numpy, inspect, wrapped = json.loads(run.stdout)
    for arguments, (status, out, errors) in zip(same, answers, strict=False):
        assert status == cli.main(arguments) and (out, errors) == tuple(capsys.readouterr()), arguments
    assert answers[0][0] == 1 and answers[0][1].count("key-reuse") > 1
    page, ran = answers[len(same) :]
    assert page[0] == 0 and "<svg" in (tmp_path / "page.html").read_text()
    assert ran == [1, "", "jitscope check: this needs jaxlib, which is not installed\n"]
    assert jit == ["jaxlib", "jitscope.jit: programs are compiled by jaxlib, which is not installed"]
    assert numpy[0] == inspect[0] == "jaxlib" and not wrapped
