"""What devices compute inside of `shard_map`, operation by operation, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.many_devices.several import said_by


A = np.arange(48, dtype=np.float32).reshape(8, 6) / 48
W = np.cos(np.arange(18, dtype=np.float32)).reshape(6, 3)
PARTS = A.reshape(4, 2, 6)
NAMES = ["layer", "unchecked", "some axes", "both axes", "scan", "exchanges", "branches", "loops", "keys", "gradient", "nested", "pmap",
         "one of all"]  # fmt: skip


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    return said_by("values_programs")


def parts(said: dict[str, Any], program: str, operation: str, number: int = 0) -> np.ndarray:
    return np.asarray(said[program]["values"][operation][number])


def row(said: dict[str, Any], program: str, operation: str) -> dict[str, Any]:
    rows = said[program]["document"]["rows"]
    return next(one for one in rows if one["label"] == operation and one["path"].count("/"))


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_put_together_are_the_result(said: dict[str, Any], name: str) -> None:
    assert said[name]["apart"] and max(said[name]["apart"]) < 1e-6
    assert said[name]["document"]["differs"].endswith("bit by bit.")


@pytest.mark.parametrize(("program", "copies"), [("layer", 2), ("unchecked", 2), ("some axes", 1)])
def test_each_device_has_its_own(said: dict[str, Any], program: str, copies: int) -> None:
    h = np.sin(PARTS @ W)
    total = h.sum((0, 1))
    own = lambda x: np.repeat(x, copies, axis=0)
    np.testing.assert_allclose(parts(said, program, "sin"), own(h), atol=1e-6)
    np.testing.assert_allclose(parts(said, program, "reduce_sum"), own(h.sum(1)), atol=1e-6)
    summed = "psum" if program == "unchecked" else "psum_invariant"
    np.testing.assert_allclose(parts(said, program, summed), np.tile(total, (4 * copies, 1)), atol=1e-6)
    np.testing.assert_allclose(parts(said, program, "add"), own(h * total + np.arange(4)[:, None, None]), atol=1e-6)
    assert row(said, program, summed)["devices"] == {"count": 4 * copies, "alike": True}
    one = row(said, program, "sin")
    assert one["devices"] == {"count": 4 * copies, "alike": False} and one["type"] == "f32[2,3]"
    assert one["size"] == 24 * copies and one["max"] == pytest.approx(h.max(), rel=1e-4)
    detail = next(d for d in said[program]["document"]["details"] if d["path"] == one["path"])
    places = [f"x {i}" + (f", y {j}" if copies > 1 else "") for i in range(4) for j in range(copies)]
    assert [part["place"] for part in detail["parts"]] == places
    np.testing.assert_allclose([part["mean"] for part in detail["parts"]], own(h.mean((1, 2))), rtol=1e-4)
    assert "the devices" in detail["picture"]["folded"]


def test_loops_inside_are_walked_through(said: dict[str, Any]) -> None:
    carry, steps = np.zeros((4, 6)), []
    for k in range(2):
        steps.append(np.exp(carry))
        carry = (carry * 0.125).sum(0) + PARTS[:, k]
    for k, step in enumerate(steps):
        np.testing.assert_allclose(parts(said, "scan", "exp", k), np.repeat(step, 2, axis=0), rtol=1e-5)
    assert row(said, "scan", "exp")["iterations"] == 2
    turned = np.roll(PARTS, 1, axis=0)
    np.testing.assert_allclose(parts(said, "exchanges", "ppermute"), np.repeat(turned, 2, axis=0))
    assert row(said, "exchanges", "all_gather")["devices"] == {"count": 8, "alike": True}


def test_where_devices_go_different_ways_it_is_said(said: dict[str, Any]) -> None:
    np.testing.assert_allclose(parts(said, "branches", "tanh"), np.repeat(np.tanh(PARTS), 2, axis=0), rtol=1e-5)
    assert not {"log1p", "neg"} & said["branches"]["values"].keys()
    (remark,) = said["branches"]["document"]["remarks"]
    assert "of which devices take different ones, is not listed" in remark
    wanted = np.where(np.arange(4)[:, None, None] > 1, np.tanh(PARTS) * 3, np.log1p(np.tanh(PARTS)))
    np.testing.assert_allclose(parts(said, "branches", "cond", 1), np.repeat(wanted, 2, axis=0), rtol=1e-5)
    same, different = said["loops"]["document"]["loops"]
    assert (same["count"], same["looked"]) == (3, "all")
    assert different["count"] is None and "different numbers" in different["looked"]
    wanted = PARTS * 8 + np.arange(4)[:, None, None]
    np.testing.assert_allclose(parts(said, "loops", "while", 3), np.repeat(wanted, 2, axis=0), rtol=1e-6)
    assert "what each device computes there is not listed" in said["nested"]["document"]["remarks"][0]


def test_the_backward_pass_and_pmap(said: dict[str, Any]) -> None:
    rows = A.reshape(8, 1, 6)
    slope = (1 - np.tanh(rows @ W) ** 2) / 8
    np.testing.assert_allclose(parts(said, "gradient", "dot_general", 1), np.swapaxes(rows, 1, 2) @ slope, atol=1e-6)
    log = np.log1p(A)
    np.testing.assert_allclose(parts(said, "pmap", "sub"), log - A.sum(1).max(), rtol=1e-5)
