"""Numbers: three significant digits with unit, and where they come from."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import jitscope_widgets
from jitscope.core import words as words_of_the_compiler
from jitscope_widgets.quantities import number, origin, percent, show, size
from tests.widgets.documents import quantity


WIDGETS = Path(jitscope_widgets.__file__).parent
TABLE = json.loads((WIDGETS / "numbers.json").read_text())
SAMPLES = TABLE["samples"]


@pytest.mark.parametrize(("value", "unit", "shown"), SAMPLES)
def test_three_digits_with_unit(value: float, unit: str, shown: str) -> None:
    assert number(value, unit) == shown


@pytest.mark.parametrize(("share", "shown"), TABLE["shares"])
def test_shares(share: float, shown: str) -> None:
    assert percent(share) == shown


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


@pytest.mark.parametrize("name", json.loads((WIDGETS / "sentences.json").read_text())["sentences"])
def test_a_sentence_of_the_table_is_said_by_still_and_live_views(name: str) -> None:
    for pattern in ("**/*.py", "js/**/*.ts"):
        assert any(f'"{name}"' in text or f"'{name}'" in text for text in _sources(pattern)), pattern


@functools.cache
def _sources(pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in WIDGETS.glob(pattern)]


@given(st.integers(0, 10**16))
def test_messages_and_views_write_sizes_alike(count: int) -> None:
    """The compiler and the views know nothing of each other; below a thousand, messages spell the unit."""
    written = words_of_the_compiler.size(count)
    assert written == (size(count) if count >= 1000 else f"{count} byte{'' if count == 1 else 's'}")
