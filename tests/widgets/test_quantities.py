"""Numbers: three significant digits with unit, and where they come from."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from jitscope_widgets.quantities import number, origin, show
from tests.widgets.documents import quantity


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0613, "s", "61.3 ms"),
        (0.061, "s", "61 ms"),
        (0.00021, "s", "210 µs"),
        (0.0002104, "s", "210 µs"),
        (9.996e-4, "s", "1 ms"),
        (3.2e-9, "s", "3.2 ns"),
        (12.34, "s", "12.3 s"),
        (4000, "s", "4000 s"),
        (0, "s", "0 s"),
        (8, "B", "8 B"),
        (1023, "B", "1.02 kB"),
        (8192, "bytes", "8.19 kB"),
        (5.5e9, "B", "5.5 GB"),
        (17920, "flop", "17.9 kflop"),
        (0, "flop", "0 flop"),
        (12.5, "%", "12.5 %"),
        (-0.002, "s", "-2 ms"),
    ],
)
def test_three_digits_with_unit(value: float, unit: str, shown: str) -> None:
    assert number(value, unit) == shown


def test_where_a_number_comes_from_is_seen() -> None:
    assert show(quantity(0.5)) == "500 ms"
    assert show(quantity(8192, "B", "modelled")) == "≈ 8.19 kB"
    assert show(quantity(None)) == show(None) == "?"
    assert show(quantity(0.5, origin="measured") | {"origin": "unknown"}) == "?"
    assert origin(quantity(0.5, note="median of 100")) == "measured: median of 100"
    assert origin(quantity(None)) == origin(None) == "unknown"


@given(st.floats() | st.integers(), st.sampled_from(("s", "B", "flop", "", "%")))
def test_any_number_can_be_shown_shortly(value: float, unit: str) -> None:
    shown = show({"value": value, "unit": unit, "origin": "measured", "note": ""})
    assert 0 < len(shown) <= 20
    assert "\n" not in shown
