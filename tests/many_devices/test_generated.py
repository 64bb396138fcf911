"""Generated programs over eight devices, by `shard_map` and by sharded `jit`, against the same program on one device."""

from __future__ import annotations

import pytest

from tests.many_devices.several import printed_by


@pytest.mark.parametrize("count", [8, pytest.param(500, marks=[pytest.mark.full, pytest.mark.timeout(3300)])])
def test_generated_programs(count: int) -> None:
    said = printed_by("generated", str(count), timeout=240 + 6 * count, quickly=True)
    assert said.endswith(f"{count} programs\n")
