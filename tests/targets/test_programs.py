"""Programs for an H100 and a TPU v5e, against XLA's own text, its memory statistics and its PTX. They run where the compilers are
installed: `make test-targets` makes an environment that has them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import jitscope as jx
import jitscope_widgets
from jitscope_scope.targets.chips import CHIPS
from jitscope_scope.targets.ready import plugin_for
from jitscope_widgets.views import target as target_view
from tests.extent import full
from tests.targets import own_text
from tests.targets.programs import PROGRAMS, SHARDED


HAVE = {"h100": "cuda", "v5e": "tpu"}
EIGHT = {"h100": "h100:8", "v5e": "v5e:2x4"}
"""What programs for eight devices are compiled for."""
pytestmark = pytest.mark.skipif(
    any(isinstance(plugin_for(platform), str) for platform in ("cuda", "tpu")),
    reason="XLA's compilers for GPUs and TPUs are not installed here (make test-targets)",
)
LARGE = ("all convolutional", "transformer", "residual network", "5,000 operations")
EACH = [pytest.param(name, marks=full) if name in LARGE else name for name in (*PROGRAMS, *SHARDED)]
MOVES = {
    "copy",
    "copy-start",
    "copy-done",
    "transpose",
    "bitcast",
    "slice-start",
    "slice-done",
    "async-start",
    "async-done",
}
TOGETHER = {"all-reduce-start", "all-reduce-done", "concatenate", "slice", "bitcast", "reshape"}
"""What an exchange is made of that XLA put together of several."""
_OF_MEMORY = {"argument": "argument", "result": "output", "temporary": "temp", "aliased": "alias"}


@pytest.fixture(scope="module")
def asked() -> dict[tuple[str, str], Any]:
    """What was compiled, by program and target."""
    return {}


def _on(asked: dict[tuple[str, str], Any], name: str, target: str) -> Any:
    if (name, target) not in asked:
        function, arguments = (PROGRAMS | SHARDED)[name]()
        seen = jx.inspect(function)(*arguments)
        start = time.perf_counter()
        asked[name, target] = seen.on(EIGHT[target] if name in SHARDED else target)
        print(f"{name} for {target}: {time.perf_counter() - start:.1f} s")
    return asked[name, target]


@pytest.mark.parametrize("target", HAVE)
@pytest.mark.parametrize("name", EACH)
def test_kernels_are_those_of_the_text(name: str, target: str, asked: dict[tuple[str, str], Any]) -> None:
    """In count, names and members, as another reading of XLA's text has them."""
    found = _on(asked, name, target)
    if importlib.util.find_spec("msgspec"):
        jitscope_widgets.validate(found.document)
    own = [(one.name, members) for one, members in own_text.kernels(str(found.hlo))]
    told = [kernel for kernel in found.kernels if kernel.kind != "loop over kernels"]
    assert sorted((one.name.rpartition("/")[2].rstrip("'"), sorted(one.members)) for one in told) == sorted(own)
    assert "nothing was run" in repr(found)
    assert "jax" not in sys.modules


@pytest.mark.parametrize("target", HAVE)
@pytest.mark.parametrize("name", EACH)
def test_kernels_have_lines(name: str, target: str, asked: dict[tuple[str, str], Any]) -> None:
    """Without any are copies and changes of layout that XLA added, and kernels in which no instruction has a name of an operation."""
    found = _on(asked, name, target)
    work = [kernel for kernel in found.kernels if set(kernel.members) - MOVES]
    lost = [kernel.name for kernel in work if not kernel.lines]
    nameless = {one.name for one, _ in own_text.kernels(str(found.hlo)) if not own_text.is_named(one, str(found.hlo))}
    assert set(lost) <= nameless
    # XLA's compiler for TPUs writes "online-softmax" anew, without a name of an operation in it; that for GPUs puts exchanges together.
    together = {kernel.name for kernel in work if name in SHARDED and set(kernel.members) <= TOGETHER}
    assert len(set(lost) - together - {"online-softmax"}) <= max(2, 0.05 * len(work))


@pytest.mark.parametrize("target", HAVE)
@pytest.mark.parametrize("name", EACH)
def test_the_schedule_has_each_kernel_in_the_order_of_the_text(
    name: str, target: str, asked: dict[tuple[str, str], Any]
) -> None:
    """What ends further down stands between; what runs meanwhile does not read it."""
    found = _on(asked, name, target)
    steps = found.document["steps"]
    names = [one.rpartition("/")[2].rstrip("'") for one in (step["kernel"] for step in steps)]
    loops = {one.name for one in found.kernels if one.kind == "loop over kernels"}
    inside: dict[str, list[str]] = {}
    for step, own in zip(steps, names, strict=True):
        if step["kernel"] not in loops:
            inside.setdefault(step["inside"], []).append(own)
    entry, computations = own_text.computations(str(found.hlo))
    places = {one.name: (part, at) for part, rows in computations.items() for at, one in enumerate(rows)}
    ends = {one.name for rows in computations.values() for one in rows if one.opcode.endswith("-done")}
    told = [one.name for one, _ in own_text.kernels(str(found.hlo)) if one.name not in ends]
    assert sorted(own for rows in inside.values() for own in rows) == sorted(told)
    main = [places[own] for own in inside.get("", [])]
    assert main == sorted(main) and {part for part, _ in main} <= {entry}
    for step, own in zip(steps, names, strict=True):
        if step["ends"]:
            part, end = places[step["ends"]]
            between = computations[part][places[own][1] + 1 : end]
            beside = {one.rpartition("/")[2] for one in step["beside"]}
            assert beside <= {one.name for one in between}
            assert not any(step["ends"] in one.operands for one in between)


@pytest.mark.parametrize("target", HAVE)
@pytest.mark.parametrize("name", EACH)
def test_each_pair_of_neighbours_has_a_reason_or_xlas_silence(
    name: str, target: str, asked: dict[tuple[str, str], Any]
) -> None:
    found = _on(asked, name, target)
    boundaries = found.document["boundaries"]
    assert own_text.pairs(str(found.hlo)) <= {(one["giver"], one["reader"]) for one in boundaries}
    decisions = found.fusion_decisions
    names = {kernel.name for kernel in found.kernels}
    for one in boundaries:
        said = target_view.reason(found.document, one)
        if one["decision"] is None:
            assert said.startswith("XLA says nothing")
            continue
        decision = decisions[one["decision"]]
        assert not decision.fused and said.startswith(decision.reason)
        # A decision that names a kernel of the program is about that one.
        assert decision.producer not in names or decision.producer == one["giver"]
        assert decision.consumer not in names or decision.consumer == one["reader"]
    assert target == "h100" or not decisions


@pytest.mark.parametrize("name", EACH)
def test_each_kernel_of_a_gpu_has_its_code_and_registers(name: str, asked: dict[tuple[str, str], Any]) -> None:
    found = _on(asked, name, "h100")
    started = [one for one in found.document["kernels"] if one["function"]]
    assert started
    ptx = str(found.ptx)
    for one in started:
        assert f".entry {one['function']}(" in ptx
        assert one["threads"] and one["threads"] <= 1024
    unread = [one["name"] for one in started if not one["registers"] or one["registers"] > 255]
    assert not unread


@pytest.mark.parametrize("target", HAVE)
def test_memory_is_what_the_plugin_says_alone(target: str, asked: dict[tuple[str, str], Any], tmp_path: Any) -> None:
    """The same modules, compiled by a process with jaxlib and the plugin and nothing of this package."""
    plugin, modules, wanted = plugin_for(HAVE[target]), {}, {}  # type: ignore[arg-type]
    for name in ("softmax", "layer", "layer norm", "training step", "scan", "gather and scatter"):
        found = _on(asked, name, target)
        path = tmp_path / f"{len(modules)}.mlir"
        path.write_bytes(found._made.lowered.module)
        modules[name] = str(path)
        wanted[name] = {f"{told}_size_in_bytes": found.memory[own]["value"] for own, told in _OF_MEMORY.items()}
        given = sum(array.nbytes for array in PROGRAMS[name]()[1])
        assert found.memory["argument"]["value"] >= given  # a TPU's arrays are padded to its tiles
        assert target == "v5e" or found.memory["argument"]["value"] == given
    options = {"target_config": CHIPS["h100"].proto, "topology": "1x1x1"} if target == "h100" else {}
    request = {
        "platform": HAVE[target],
        "library": plugin.library,  # type: ignore[union-attr]
        "name": "" if target == "h100" else "v5e:2x2",
        "options": options,
        "modules": modules,
    }
    (tmp_path / "request.json").write_text(json.dumps(request))
    command = [sys.executable, str(Path(__file__).with_name("alone.py")), str(tmp_path / "request.json")]
    ran = subprocess.run(command, env={**os.environ, **ALONE}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert json.loads(ran.stdout.splitlines()[-1]) == wanted


ALONE = {
    "CUDA_VISIBLE_DEVICES": "",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
}


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
        _on({}, "softmax", str(path))


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
