"""Generated programs over eight devices, by `shard_map` and by sharded `jit`, against the same program on one device."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("count", [20, pytest.param(500, marks=pytest.mark.full)])
def test_generated_programs(count: int) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.many_devices.generated", str(count)],
        capture_output=True, text=True, timeout=240 + 6 * count, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert run.returncode == 0 and run.stdout.endswith(f"{count} programs\n"), run.stdout[-4000:] + run.stderr[-4000:]
