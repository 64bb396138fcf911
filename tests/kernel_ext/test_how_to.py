"""The page of answers runs as it stands."""

import re
from pathlib import Path

import pytest


PAGE = Path(__file__).parents[2] / "docs" / "how-to.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_each_answer_runs(shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = []
    for block in BLOCKS:
        ran = shell.cell(block)
        assert not ran.error, (block, ran.error)
        kinds += [document["kind"] for document in ran.documents]
    assert {"recompilations", "profile", "timing", "nan-hunt", "memory"} <= {*kinds}
    assert {"step.html", "step.svg"} <= {path.name for path in tmp_path.iterdir()}
    page = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^```sh$", page, re.MULTILINE)
    assert len(BLOCKS) + len(commands) == len(re.findall("^## ", page, re.MULTILINE)) + 1
