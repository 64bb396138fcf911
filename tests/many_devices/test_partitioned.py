"""Operations that the user divides, and does so wrongly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_wrong_partitions_and_rules_are_told_and_end_no_process() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.many_devices.partitioned"],
        capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert run.returncode == 0 and run.stdout.endswith("partitioned\n"), run.stdout[-4000:] + run.stderr[-4000:]
