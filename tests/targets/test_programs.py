"""Programs for an H100 and a TPU v5e, against XLA's own text, its memory statistics and its PTX. They run where the compilers are
installed: `make test-targets` makes an environment that has them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from typing import Any

import pytest

import jitscope as jx
import jitscope_widgets
from jitscope_scope.targets.ready import plugin_for
from tests.targets.programs import PROGRAMS


HAVE = {"h100": "cuda", "v5e": "tpu"}
pytestmark = pytest.mark.skipif(
    any(isinstance(plugin_for(platform), str) for platform in ("cuda", "tpu")),
    reason="XLA's compilers for GPUs and TPUs are not installed here (make test-targets)",
)
_RUN = re.compile(
    r"^\s+(?:ROOT )?%([\w.-]+) = .*? (fusion|custom-call|dot|convolution|sort|copy|copy-start|copy-done)\(",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def asked() -> dict[tuple[str, str], Any]:
    """What was compiled, by program and target."""
    return {}


def _on(asked: dict[tuple[str, str], Any], name: str, target: str) -> Any:
    if (name, target) not in asked:
        function, arguments = PROGRAMS[name]
        start = time.perf_counter()
        asked[name, target] = jx.inspect(function)(*arguments).on(target)
        print(f"{name} for {target}: {time.perf_counter() - start:.1f} s")
    return asked[name, target]


@pytest.mark.parametrize("target", HAVE)
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_are_those_of_the_text_and_have_lines(
    name: str, target: str, asked: dict[tuple[str, str], Any]
) -> None:
    found = _on(asked, name, target)
    jitscope_widgets.validate(found.document)
    entry = str(found.hlo).split("\nENTRY ")[1].split("\n}")[0]
    own = {one for one, _ in _RUN.findall(entry)}
    names = {kernel.name for kernel in found.kernels}
    assert own <= names
    assert all(f"%{name.rpartition('/')[2]} = " in str(found.hlo) for name in names)
    # XLA's compiler for TPUs writes "online-softmax" anew, without a name of an operation in it.
    work = [kernel for kernel in found.kernels if kernel.kind != "copy" and kernel.name != "online-softmax"]
    assert sum(bool(kernel.lines) for kernel in work) >= 0.95 * len(work)
    assert "nothing was run" in repr(found)
    assert "jax" not in sys.modules


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_kernel_of_a_gpu_has_its_code_and_registers(name: str, asked: dict[tuple[str, str], Any]) -> None:
    found = _on(asked, name, "h100")
    started = [one for one in found.document["kernels"] if one["function"]]
    assert started
    ptx = str(found.ptx)
    for one in started:
        assert f".entry {one['function']}(" in ptx
        assert one["registers"] and 0 < one["registers"] <= 255
        assert one["threads"] and one["threads"] <= 1024


@pytest.mark.parametrize("target", HAVE)
def test_memory_holds_arguments_and_results(target: str, asked: dict[tuple[str, str], Any]) -> None:
    """The arguments' bytes are those of the arrays; results have at least theirs."""
    _, arguments = PROGRAMS["layer norm"]
    memory = _on(asked, "layer norm", target).memory
    assert memory["argument"]["value"] == sum(array.nbytes for array in arguments)
    assert memory["result"]["value"] >= arguments[0].nbytes
    assert memory["fits"] is True


def test_reasons_stand_between_kernels(asked: dict[tuple[str, str], Any]) -> None:
    """In the layer, what the reduction reads is not fused into it, with a reason of XLA's and the lines of both."""
    found = _on(asked, "layer", "h100")
    apart = [one for one in found.fusion_decisions if not one.fused and all(one.kernels)]
    assert apart and all(one.reason for one in apart)
    assert any(one.lines[0] and one.lines[1] for one in apart)


def test_a_program_that_the_compiler_refuses_is_told(tmp_path: Any) -> None:
    path = tmp_path / "mine.txtpb"
    path.write_text("gpu_device_info { device_memory_size: 1000 memory_bandwidth: 2e6 nonsense: 1 }")
    with pytest.raises(ValueError):
        jx.inspect(PROGRAMS["softmax"][0])(*PROGRAMS["softmax"][1]).on(str(path))


MESH = """
import numpy as np, jitscope as jx, jitscope.numpy as jnp
from jitscope.sharding import AxisType, NamedSharding, P

mesh = jx.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
x = jx.device_put(np.ones((512, 256), "f"), NamedSharding(mesh, P("d", None)))
w = jx.device_put(np.ones((256, 128), "f"), NamedSharding(mesh, P()))
step = jx.jit(lambda w, x: w - 0.1 * jx.grad(lambda w: jnp.mean(jnp.tanh(x @ w)))(w))
for target in ("h100:8", "v5e:4x4"):
    seen = jx.inspect(step)(w, x).on(target)
    (one,) = seen.document["collectives"]
    print(target, seen.document["chip"]["devices"], one["what"], one["bytes"]["value"], one["devices"])
try:
    jx.inspect(step)(w, x).on("h100")
except ValueError as error:
    print(error)
"""


def test_a_sharded_step_has_its_exchange_on_each_chip() -> None:
    """The gradient of weights that every device has is summed over the eight: 256 · 128 numbers of four bytes."""
    env = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    ran = subprocess.run([sys.executable, "-c", MESH], env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.splitlines() == [
        "h100:8 8 all-reduce 131072.0 8",
        "v5e:4x4 8 all-reduce 131072.0 8",
        ran.stdout.splitlines()[-1],
    ]
    assert "was written for 8 devices, and h100 has 1: ask for h100:8" in ran.stdout
