"""Long names go on in the next line where a person would break them; `breaks.json` and `quantities.json` hold
for the live page, too."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from jitscope_widgets.breaks import breaks_in, escape_code, escape_prose, quantities_in


SAMPLES, QUANTITIES = (
    json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))
    for name in ("breaks", "quantities")
)


@pytest.mark.parametrize(("text", "parts"), SAMPLES)
def test_names_break_between_their_words(text: str, parts: list[str]) -> None:
    ends = [0, *breaks_in(text), len(text)]
    assert [text[start:end] for start, end in pairwise(ends)] == parts


def test_what_is_copied_is_the_name() -> None:
    assert escape_code("a_long.name<of>(something)") == "a_long.<wbr>name&lt;of&gt;(<wbr>something)"


@pytest.mark.parametrize(("text", "whole"), QUANTITIES)
def test_a_number_is_not_parted_from_its_unit(text: str, whole: list[str]) -> None:
    assert [text[start:end] for start, end in quantities_in(text)] == whole


def test_a_sentence_breaks_round_its_quantities() -> None:
    assert escape_prose("a_name<of> 270 kB") == 'a_name&lt;of&gt; <span class="nw">270 kB</span>'
