"""What is said to somebody who waits for an instrument, and after an interrupt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jitscope as jx
from jitscope.xla import progress
from jitscope_kernel import output
from tests import notebooks


def test_work_of_some_seconds_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "_PATIENCE", 0.0)
    _ = jx.inspect(lambda x: jx.numpy.tanh(x) * 3)(np.ones(7, np.float32)).passes
    (line,) = capsys.readouterr().err.splitlines()  # the next comes ten seconds later
    assert line.endswith(": compiling it once more, for the times of the passes … 0 s so far; Ctrl-C ends it")
    assert line.startswith("jitscope: passes of <lambda>")


def test_quick_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with output.patience("passes of f"):
        progress.step("reading")
    assert not capsys.readouterr().err


def test_an_interrupt_says_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), output.patience("passes of f"):
        progress.step("reading pass 3 of 9")
        raise KeyboardInterrupt
    assert (
        capsys.readouterr().err
        == "jitscope: passes of f was ended after 0 s, while reading pass 3 of 9; nothing of it is kept\n"
    )


def test_a_notebook_keeps_nothing_of_it(tmp_path: Path) -> None:
    """What is said while somebody waits is gone when the answer is there."""
    notebook = notebooks.of_cells(
        notebooks.code(source)
        for source in (
            "%load_ext jitscope\nimport numpy as np, jitscope.numpy as jnp\nfrom jitscope_kernel import output\noutput._PATIENCE = 0.0",
            "%memory jnp.tanh(np.ones(7, np.float32))",
        )
    )
    notebooks.execute(notebook, tmp_path)
    outputs = notebook.cells[1].outputs
    assert [out.output_type for out in outputs] == ["display_data", "display_data"]  # where it stood, and the answer
    assert outputs[0].data == {"text/plain": ""}
