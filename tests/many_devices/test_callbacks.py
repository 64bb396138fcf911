"""Python functions called from inside of `shard_map` are called on each device with its part, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.many_devices.several import said_by


A = np.arange(16, dtype=np.float32)
FIRST = A[::2].tolist()
HEARD = {
    "element": FIRST,
    "array": A.reshape(8, 2).tolist(),
    "sum over devices": [120] * 8,
    "two": A.tolist(),
    "pure": [],
    "result": FIRST,
    "loop": [*FIRST, *(A[::2] * 2).tolist()],
    "branch": [x for x in FIRST if x > 5],
    "called": FIRST,
    "between others": [120, *FIRST, -120],
    "gradient": FIRST,
    "under a mesh": [A.tolist()],
    "pmap": FIRST,
}


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    return said_by("callback_programs")


@pytest.mark.parametrize("name", HEARD)
def test_each_device_calls_with_its_part(said: dict[str, Any], name: str) -> None:
    assert sorted(said[name]["heard"]) == sorted(HEARD[name])
    result = np.full(16, 2) if name == "gradient" else A * (4 if name == "loop" else 2)
    np.testing.assert_array_equal(said[name]["result"], result)


def test_order_is_kept_on_the_first_device(said: dict[str, Any]) -> None:
    heard = said["between others"]["heard"]
    assert heard[0] == 120 and heard.index(-120) > heard.index(A[0])


def test_what_a_function_raises_is_raised(said: dict[str, Any]) -> None:
    assert said["failing"] == "ZeroDivisionError: division by zero"


def test_some_axes_alone_are_refused(said: dict[str, Any]) -> None:
    assert said["some axes"].startswith(
        "NotImplementedError: hear has effects and is called inside of a shard_map over some axes"
    )
    assert "leave out axis_names" in said["some axes"]
