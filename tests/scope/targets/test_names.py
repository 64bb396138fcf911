"""What targets are called, and what is said of names that are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jitscope_scope.targets.chips import CHIPS, SMALLEST
from jitscope_scope.targets.names import Target, target_of, targets_in


@pytest.mark.parametrize(
    ("name", "topology", "devices", "told"),
    [
        ("h100", "1x1x1", 1, "H100"),
        ("H100:8", "1x8x1", 8, "8 × H100"),
        ("rtx-4090", "1x1x1", 1, "RTX 4090"),
        ("v5e", "2x2", 4, "TPU v5e"),
        ("v5e:4x4", "4x4", 16, "TPU v5e 4x4 (16 chips)"),
        ("v4:2x2x1", "2x2x1", 4, "TPU v4 2x2x1 (4 chips)"),
    ],
)
def test_names(name: str, topology: str, devices: int, told: str) -> None:
    found = target_of(name)
    assert (found.topology, found.devices, found.told) == (topology, devices, told)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("h10", r"no target 'h10' \(do you mean h100\?\).*targets are cpu, a100"),
        ("cpu:7", "no target 'cpu:7'"),
        ("h100:2x2", "as h100:8, not 'h100:2x2'"),
        ("h100:0", "1 to 4,096 devices"),
        ("v5e:3", "written as v5e:2x2"),
        ("v4:2x2", "written as v4:2x2x1"),
        ("nowhere/chip.txtpb", "nowhere/chip.txtpb cannot be read: No such file"),
    ],
)
def test_wrong_names_are_told_with_what_there_is(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        target_of(name)


def test_lists_keep_platforms_for_who_asks() -> None:
    assert targets_in("cpu, h100,cpu,cuda:sm_90") == ["cpu", target_of("h100"), "cuda:sm_90"]
    with pytest.raises(ValueError, match="missing between the commas"):
        targets_in("cpu,,h100")


def test_a_file_of_ones_own_describes_a_gpu(tmp_path: Path) -> None:
    path = tmp_path / "mine.txtpb"
    path.write_text(
        'gpu_device_info { device_memory_size: 1000 memory_bandwidth: 2e6 }\ndevice_description_str: "My GPU"\n'
    )
    found = target_of(str(path))
    assert isinstance(found, Target)
    assert (found.is_own, found.chip.title, found.chip.memory, found.chip.bandwidth) == (True, "My GPU", 1000.0, 2e6)
    assert not found.chip.rates
    path.write_text("gpu_device_info { device_memory_size: 1000 }")
    with pytest.raises(ValueError, match="it has no memory_bandwidth"):
        target_of(str(path))


def test_each_chip_is_whole() -> None:
    """A GPU's text says the memory and the bandwidth of its row, and a TPU has a topology."""
    for chip in CHIPS.values():
        assert chip.source
        if chip.platform == "tpu":
            assert chip.name in SMALLEST
            continue
        numbers = {name: float(value) for name, value in re.findall(r"(\w+): ([\d.]+)\b", chip.proto)}
        assert numbers["device_memory_size"] == chip.memory
        assert numbers["memory_bandwidth"] == pytest.approx(chip.bandwidth)
        # Two operations a clock of each f32 unit: what data sheets state as the rate of f32, up to their rounding of the clock.
        peak = 2 * numbers["core_count"] * numbers["fpus_per_core"] * numbers["clock_rate_ghz"] * 1e9
        assert peak == pytest.approx(chip.rates["f32"], rel=0.02), chip.name
        assert numbers["shared_memory_per_block_optin"] < numbers["shared_memory_per_core"]
