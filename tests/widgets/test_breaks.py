"""Long names go on in the next line where a person would break them; `breaks.json` holds for the live page, too."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from jitscope_widgets.breaks import breaks_in, escape_code


SAMPLES = json.loads(Path(__file__).with_name("breaks.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "parts"), SAMPLES)
def test_names_break_between_their_words(text: str, parts: list[str]) -> None:
    ends = [0, *breaks_in(text), len(text)]
    assert [text[start:end] for start, end in pairwise(ends)] == parts


def test_what_is_copied_is_the_name() -> None:
    assert escape_code("a_long.name<of>(something)") == "a_long.<wbr>name&lt;of&gt;(<wbr>something)"
