"""The examples over several devices, as a user runs them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jitscope as jax
import jitscope.numpy as jnp
from examples.programs import two_processes


def test_two_processes_train_as_one() -> None:
    program = Path(two_processes.__file__)
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=300)
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
