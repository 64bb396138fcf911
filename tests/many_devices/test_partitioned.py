"""Operations that the user divides, and does so wrongly."""

from __future__ import annotations

from tests.many_devices.several import printed_by


def test_wrong_partitions_and_rules_are_told_and_end_no_process() -> None:
    assert printed_by("partitioned").endswith("partitioned\n")
