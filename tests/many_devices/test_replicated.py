"""The replicated training step in three ways: equal results, and nothing exchanged beyond one sum of all gradients and the loss."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def test_three_ways_to_spread_a_step_are_one() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.many_devices.replicated"],
        capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(run.stdout)
    for way in ("jit", "shard_map", "pmap"):
        one = found[way]
        assert one["off"] < 1e-5 and one["loss"] == pytest.approx(found["loss"], rel=1e-5), way
        assert {what for what, _ in one["exchanges"]} == {"all-reduce"}, way
        assert sum(size for _, size in one["exchanges"]) == found["least"], way
        assert len(one["exchanges"]) == 1, way
