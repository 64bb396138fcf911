"""Sharp bits of programs over several devices, each with programs that look alike and are fine."""

from __future__ import annotations

from tests.many_devices.several import said_by


def test_large_arrays_on_all_devices_are_told_where_nobody_asked() -> None:
    programs = said_by("sharp_bits_programs")
    assert {name: one["found"] for name, one in programs.items()} == {
        name: one["due"] for name, one in programs.items()
    }
    said = {name: one["said"] for name, one in programs.items() if one["said"]}
    assert len(said) == 13
    assert "2.1 MB" in said["argument"][0] and "device_put(w, NamedSharding" in said["argument"][0]
    assert "4.19 MB" in said["result"][0] and "out_shardings" in said["result"][0]
    assert "2.1 MB" in said["gather"][0] and "along data" in said["gather"][0]
