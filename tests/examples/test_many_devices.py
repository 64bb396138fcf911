"""The examples over several devices, as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jitscope as jax
import jitscope.numpy as jnp
from examples.programs import two_processes
from tests import notebooks
from tests.extent import ALL, QUICK, flags


pytestmark = pytest.mark.long
NOTEBOOK = Path(__file__).parents[2] / "examples" / "many-devices.ipynb"


def test_the_notebook_trains_in_three_ways_and_shows_what_each_exchanges(tmp_path) -> None:
    notebook = notebooks.read(NOTEBOOK)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    # Its cells hold each way against one device.
    notebooks.execute(notebook, tmp_path, quickly=True)
    shown = {
        cell.source.split("(")[0]: notebooks.documents(cell) for cell in notebook.cells if cell.cell_type == "code"
    }
    (rows,), (up,) = shown["%sharding x"], shown['%sharding params["up"]']
    assert [axis["parts"] for axis in rows["axes"]] == [8, 1, 1] and [axis["parts"] for axis in up["axes"]] == [1, 1, 4]
    said = {}
    for way in ("data_parallel", "tensor_parallel", "pipeline"):
        (document,) = shown[f"%communication {way}"]
        said[way] = {one["what"]: (one["runs"], one["gives"]) for one in document["totals"]}
        assert not any(value["differs"] for value in document["values"])
    layers, weights = 8, 4 * 16 * 16 + 2 * 16 * 64
    # A sum of each layer's gradients, and of the loss.
    assert said["data_parallel"] == {"all-reduce": (layers + 1, 4 * (layers * weights + 1))}
    assert set(said["tensor_parallel"]) == {"all-reduce"}
    ticks, part = 4 + layers - 1, 4 * 4 * 8 * 16
    assert said["pipeline"] == {"all-reduce": (1, 4), "collective-permute": (2 * (ticks - 1), 2 * (ticks - 1) * part)}


def test_two_processes_train_as_one() -> None:
    program = Path(two_processes.__file__)
    quickly = {} if ALL else flags(**QUICK)
    command = [sys.executable, str(program)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | quickly)
    assert run.returncode == 0, run.stdout + run.stderr
    step, params = jax.jit(two_processes.make(jax, jnp)), two_processes.parameters()
    losses = []
    for x, y in two_processes.batches():
        loss, params = step(params, x, y)
        losses.append(float(loss))
    said = [float(text) for text in re.findall(r"loss (\d\.\d+)", run.stdout)]
    np.testing.assert_allclose(said, losses[19::20], atol=2e-4)
    assert losses[-1] < 0.5 * losses[0]
    total = sum(float(jnp.sum(p)) for p in jax.tree.leaves(params))
    sums = re.findall(r"process (\d) of 2: 2 of 4 devices, sum of the weights (-?\d+\.\d+)", run.stdout)
    assert sorted(number for number, _ in sums) == ["0", "1"]
    assert [float(text) for _, text in sums] == pytest.approx([total] * 2, abs=5e-3)
