"""What is told of programs that jax runs on a GPU of this machine. A CPU stands in for it, where the words and the choices are looked at;
docs/targets.md says what was seen on an H200."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jitscope
from jitscope.core.errors import Unavailable
from jitscope.xla import client
from jitscope.xla.hlo_module import computations
from jitscope.xla.profiler import Run
from jitscope_scope.jaxwatch import programs
from jitscope_scope.observe.profiling import document as profiling, peaks
from jitscope_scope.observe.profiling.peaks import Bandwidth, Peaks
from jitscope_widgets import text, validate


GPU = SimpleNamespace(platform="gpu", device_kind="NVIDIA H200", compute_capability="9.0")
RATES = Peaks(GPU, Bandwidth((1 << 18, 1 << 27), (4e12, 4e12)), float("inf"), 1e-6, 0.0, 0.1, {"f32": 4e14})
x = jnp.linspace(0.0, 1.0, 256 * 256).reshape(256, 256)


@jax.jit
def step(v):
    return jnp.tanh(v @ v).sum(0)


@pytest.fixture
def on_a_gpu(watcher, monkeypatch):
    monkeypatch.setattr(programs.Executable, "accelerator", GPU)
    monkeypatch.setattr(profiling, "peaks_of", lambda device: RATES if device is GPU else pytest.fail("of the CPU"))


def test_a_program_on_the_cpu_has_no_accelerator(watcher):
    assert jitscope.inspect(step)(x).chip == ""


def test_a_profile_is_held_against_the_gpu(on_a_gpu):
    profile = jitscope.inspect(step)(x).profile
    validate(profile.document)
    assert profile.document["machine"]["device"] == "NVIDIA H200"
    assert {kernel["why"] for kernel in profile.document["kernels"] if kernel["share"]} <= {""}
    said = " ".join(text(profile.document).split())
    assert "NVIDIA H200 moves 4 TB/s for 262 kB" in said
    assert "handed out" not in said, "memory of a GPU is not the operating system's"
    assert "To be recorded, the kernels are started one by one" in said


def test_streams_are_no_threads():
    from jitscope.xla.profiler import Event, Run
    from jitscope_scope.observe.profiling.recorded_call import call_document

    events = tuple(Event("m", name, at, 1.0, f"Stream #{13 + at}(Compute)") for at, name in enumerate("ab"))
    assert call_document(Run(0.0, 3.0, events), {"a": 0, "b": 1})["threads"] == ["stream 1", "stream 2"]


def test_kernels_that_a_gpu_is_given_one_by_one_are_those_of_the_program(rows):
    step(x)
    (row,) = (one for one in rows() if one.function == "step")
    alone = row.entry.executable.step_by_step(row.entry.as_given)
    np.testing.assert_array_equal(np.asarray(alone.run([x])[0]), np.asarray(step(x)))
    own, made = (
        [(i.name, i.opcode, i.operands) for c in computations(module) for i in c.instructions]
        for module in (row.entry.executable.raw.hlo_modules()[0], alone.hlo_modules()[0])
    )
    assert own == made


def test_what_is_of_the_cpu_alone_is_refused(on_a_gpu):
    with pytest.raises(
        Unavailable, match="runs on NVIDIA H200: the forms that are tried are for XLA's compiler for CPUs"
    ):
        jitscope.tune(step, seconds=1)(x)
    with pytest.raises(Unavailable, match=r'runs on NVIDIA H200.*inspect\(f\)\(x\)\.on\("h200"\)'):
        _ = jitscope.inspect(step)(x).machine


def test_the_chip_that_is_here_compiles_it(on_a_gpu):
    seen = jitscope.inspect(step)(x)
    assert seen.chip == "h200"
    found = seen.on("h200").document
    validate(found)
    assert found["sentence"].startswith("Compiled once more by XLA for the NVIDIA H200 of this machine")
    assert not any("autotuner did not run" in remark or "lowered it for" in remark for remark in found["remarks"])


OTHERS = {
    "an older GPU": SimpleNamespace(platform="gpu", device_kind="Tesla V100-SXM2-16GB", compute_capability="7.0"),
    "a GPU of AMD's": SimpleNamespace(platform="gpu", device_kind="AMD Instinct MI300X", compute_capability="gfx942"),
}


@pytest.mark.parametrize(("device", "count"), [(GPU, 1), *((one, 0) for one in OTHERS.values())])
def test_tf32_is_told_of_gpus_that_have_it(watcher, monkeypatch, device, count):
    monkeypatch.setattr(programs.Executable, "accelerator", device)
    fusion = jitscope.inspect(step)(x).fusion.document
    validate(fusion)
    assert fusion["gpu"] == {"name": device.device_kind, "tensor_float": count}
    assert ("1 product of f32 may be computed in TF32 on NVIDIA H200" in " ".join(text(fusion).split())) == bool(count)


def test_of_other_accelerators_no_recordings_are_read(watcher, monkeypatch):
    monkeypatch.setattr(programs.Executable, "accelerator", SimpleNamespace(platform="tpu", device_kind="TPU v5 lite"))
    seen = jitscope.inspect(step)(x)
    assert "gpu" not in seen.fusion.document
    with pytest.raises(Unavailable, match="runs on TPU v5 lite, of which no recordings are read"):
        _ = seen.profile


def test_where_no_kernel_is_recorded_that_is_said(monkeypatch):
    monkeypatch.setattr(peaks.profiler, "record_runs", lambda prepare, run, times: [Run(0.0, 1.0, ())] * times)
    with pytest.raises(Unavailable, match="the profiler recorded no kernels on"):
        peaks._triad(12, client.default_device())
