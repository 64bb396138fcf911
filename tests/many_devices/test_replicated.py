"""The replicated training step in three ways: equal results, and nothing exchanged beyond one sum of all gradients and the loss."""

from __future__ import annotations

import pytest

from tests.many_devices.several import said_by


def test_three_ways_to_spread_a_step_are_one() -> None:
    found = said_by("replicated")
    for way in ("jit", "shard_map", "pmap"):
        one = found[way]
        assert one["off"] < 1e-5 and one["loss"] == pytest.approx(found["loss"], rel=1e-5), way
        assert {what for what, _ in one["exchanges"]} == {"all-reduce"}, way
        assert sum(size for _, size in one["exchanges"]) == found["least"], way
        assert len(one["exchanges"]) == 1, way
