"""Slices of different sizes between devices."""

from __future__ import annotations

from tests.many_devices.several import printed_by


def test_ragged_slices_arrive_where_they_are_sent() -> None:
    assert printed_by("ragged").endswith("ragged\n")
