"""Slices of different sizes between devices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_ragged_slices_arrive_where_they_are_sent() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.many_devices.ragged"],
        capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert run.returncode == 0 and run.stdout.endswith("ragged\n"), run.stdout[-4000:] + run.stderr[-4000:]
