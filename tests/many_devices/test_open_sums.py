"""Sums that are left open over devices: nothing is exchanged before they are taken, and nobody sees a term for the value."""

from __future__ import annotations

import numpy as np
import pytest

from tests.many_devices.several import said_by


def test_open_sums() -> None:
    found = said_by("open_sums_programs")
    assert found["shown"] == [
        *["NotImplementedError"] * 3, "BufferError", "BufferError", "NotImplementedError", "ShardingTypeError", "NotImplementedError"
    ]  # fmt: skip
    assert found["looked at"] == ["nothing", "FloatingPointError"]
    assert (
        found["values"]["dot_general"]
        == found["values"]["vary_unreduced_cast"]
        == pytest.approx([5.6, 108.2], rel=1e-5)
    )
    assert found["values"]["unreduced_psum"] == found["values"]["shard_map"] == pytest.approx([137.6, 260.0], rel=1e-5)
    assert found["equivalent"] == [False, False, True, False]
    assert found["moved"] == ["float32[4,4]{U:y}", np.ones((4, 4)).tolist()]
    weights = np.arange(16, dtype=np.float32).reshape(4, 4) / 10
    wanted = np.array([2, 0, 4, 2])[:, None] * weights
    assert found["looked up"][0] == "float32[4,4]{U:x}"
    np.testing.assert_allclose(found["looked up"][1], wanted, rtol=1e-6)
    assert found["exchanged"] == [1, 0] and found["kept"] == 0
    rows = np.arange(32, dtype=np.float64).reshape(8, 4)
    slopes = 0
    for x in (rows, 2 * rows):
        y = np.tanh(x @ weights)
        slopes = slopes + x.T @ (2 * y * (1 - y**2))
    np.testing.assert_allclose(found["summed"], slopes, rtol=2e-3, atol=1e-4)


def test_open_sums_in_operations_and_loops() -> None:
    found = said_by("open_loops_programs")
    for name, (terms, exchanged, whole) in found["loops"].items():
        assert exchanged == 0, name
        for a, b in zip(terms, whole, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=name)
    layers = found["layers"]
    np.testing.assert_allclose(layers["open"], layers["whole"], rtol=1e-4, atol=1e-5)
    assert layers["exchanged"] == 1
    (terms,), exchanged, whole, gathered = found["products"]
    np.testing.assert_allclose(terms, whole, rtol=1e-5)
    assert exchanged == gathered == 0
    for part, all_of_it in found["shares"]:
        np.testing.assert_allclose(part, all_of_it, rtol=1e-4)
