"""Numbers and nouns in messages and documents, and that the views write them alike."""

from __future__ import annotations

import pytest

from jitscope.core import words
from jitscope_widgets import quantities
from jitscope_widgets.words import plural


@pytest.mark.parametrize(
    ("noun", "several"),
    [
        ("kernel", "kernels"),
        ("box", "boxes"),
        ("copy", "copies"),
        ("array", "arrays"),
        ("pass", "passes"),
        ("branch", "branches"),
        ("byte", "bytes"),
    ],
)
def test_nouns(noun, several):
    for told in (words.counted, plural):
        assert [told(count, noun) for count in (0, 1, 2000)] == [f"0 {several}", f"1 {noun}", f"2,000 {several}"]


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (4096, "4.1 kB"), (999_499, "999 kB"), (999_999, "1 MB"), (1_000_000, "1 MB"), (2_097_152, "2.1 MB"),
     (123_456_789, "123 MB"), (1_115_000_000_000, "1.12 TB")],
)  # fmt: skip
def test_sizes(count, said):
    assert words.size(count) == said
    if count >= 1000:
        assert quantities.size(count) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (1.234, "1.23 s"),
        (0.99999, "1 s"),
        (0.0009999, "1 ms"),
        (2.75e-6, "2.75 µs"),
        (95e-3, "95 ms"),
        (1234.0, "1,230 s"),
    ],
)
def test_durations(seconds, said):
    assert words.duration(seconds) == said
    if seconds < 60:
        assert quantities.seconds(seconds) == said
