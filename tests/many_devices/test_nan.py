"""NaN is the greatest and the least of what has one, also over several devices."""

from __future__ import annotations

from tests.many_devices.several import said_by


def test_devices_lose_no_nan_and_exchange_one_number_for_one() -> None:
    said = said_by("nan_programs")
    assert said["lost"] == []
    assert said["exchanged"] == ["s32[]"]
