"""examples/targets.ipynb runs, and what it tells is what the compilers say: in plain IPython, cell by cell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jitscope_scope.targets.ready import plugin_for


NOTEBOOK = Path(__file__).parents[2] / "examples" / "targets.ipynb"
pytestmark = pytest.mark.skipif(
    any(isinstance(plugin_for(platform), str) for platform in ("cuda", "tpu")),
    reason="XLA's compilers for GPUs and TPUs are not installed here (make test-targets)",
)
RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for source in json.load(sys.stdin):
    if not shell.run_cell(source, store_history=True).success:
        sys.exit(f"failed: {source}")
"""


def test_the_notebook_runs_and_the_rewrite_mends_the_fusion() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    ran = subprocess.run([sys.executable, "-c", RUN], input=json.dumps(sources), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    said = " ".join(ran.stdout.split())
    assert "[('triton_softmax.2', 'Triton', (3, 4, 5))]" in said
    assert "('loop_subtract_fusion', 'input_reduce_fusion') will execute slower if fused" in said
    assert "4 kernels became 1" in said and "Nothing was run." in said
    assert ".target sm_90" in said


def test_what_stands_in_the_notebook_is_what_it_gave() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    for told in ("4 kernels became 1", "will execute slower if fused", "triton_softmax.2"):
        assert told in text


REHEARSAL = """
import numpy as np, jitscope as jx, jitscope.numpy as jnp
from jitscope.sharding import AxisType, NamedSharding, P

mesh = jx.make_mesh((16, 16), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
put = lambda shape, *layout: jx.device_put(np.ones(shape, "f"), NamedSharding(mesh, P(*layout)))
w, v, x = put((512, 1024), None, "model"), put((1024, 512), "model", None), put((2048, 512), "data", None)

def step(w, v, x):
    loss = lambda w, v: jnp.mean((jnp.tanh(x @ w) @ v - x) ** 2)
    a, b = jx.grad(loss, (0, 1))(w, v)
    return w - 0.1 * a, v - 0.1 * b

seen = jx.inspect(jx.jit(step))(w, v, x).on("v5e:16x16").document
print(seen["chip"]["devices"])
for one in seen["collectives"]:
    lines = [seen["positions"][path]["line"] for path in one["paths"]]
    print(one["what"], one["bytes"]["value"], one["devices"], bool(lines), one["seconds"]["value"] > 0)
"""


@pytest.mark.full
def test_a_step_over_256_devices_has_its_exchanges() -> None:
    """Over the model's axis a block of 128 × 512 numbers is summed, over the data's the gradients of both blocks of 512 × 64."""
    env = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=256"}
    ran = subprocess.run([sys.executable, "-c", REHEARSAL], env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    devices, *exchanges = ran.stdout.splitlines()
    assert devices == "256"
    assert exchanges == [
        f"all-reduce {128 * 512 * 4:.1f} 16 True True",
        f"all-reduce {2 * 512 * 64 * 4:.1f} 16 True True",
    ]
