"""Fixes as static HTML and as text: the words, what the edits make of the lines, the proof."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from jitscope_scope.observe import fix_document
from jitscope_scope.source_code.edits import Edit, Span, applied
from jitscope_widgets.documents import Fix
from jitscope_widgets.documents.checking import problem
from jitscope_widgets.fixes import after, difference, fix_html, fix_text


POSITION = {
    "file": "cell-id",
    "cell": "In [3]",
    "line": 2,
    "end_line": 2,
    "column": 4,
    "end_column": 8,
    "function": "f",
    "text": "    return x if x > 0 else -x",
}
LINES = ["def f(x):", "    return x if x > 0 else -x", "", "f(1.0)"]


def test_edits_become_a_difference_of_lines():
    fix = fix_document("Use `jnp.where`.", [(2, 11, 2, 29, "jnp.where(x > 0, x, -x)")], POSITION, LINES, "traced")
    assert [(line.sign, line.number, line.text.strip()) for line in difference(fix)] == [
        ("-", 2, "return x if x > 0 else -x"),
        ("+", None, "return jnp.where(x > 0, x, -x)"),
    ]
    assert fix_text(fix, 100) == [
        "fix: Use `jnp.where`.",
        "     2 -     return x if x > 0 else -x",
        "       +     return jnp.where(x > 0, x, -x)",
        "  checked: traced",
    ]


def test_lines_have_the_numbers_of_the_cell_as_it_was_run():
    fix = fix_document("Hoist it.", [(3, 0, 4, 3, "new\nb\nend")], POSITION, ["", "", "b", "c"])
    assert [(line.sign, line.number, line.text) for line in difference(fix)] == [
        ("+", None, "new"),
        (" ", 3, "b"),
        ("-", 4, "c"),
        ("+", None, "end"),
    ]


def test_what_the_user_wrote_is_text():
    shown = fix_html(fix_document("<b>no</b>", [(1, 0, 1, 1, "<img>")], None, ["x"], "<i>"))
    assert "<img>" not in shown and "<b>no" not in shown and "&lt;img&gt;" in shown


def test_a_fix_without_edits_is_its_words():
    assert fix_text(fix_document("pass a key"), 80) == ["fix: pass a key"]
    assert "<pre>" not in fix_html(fix_document("pass a key"))


def test_edits_over_each_other_are_refused():
    fix = fix_document("", [(1, 0, 1, 4, "a"), (1, 2, 1, 6, "b")], None, ["abcdefgh"])
    assert problem(Fix, fix) == ".edits: edits do not overlap"


PLAIN = st.text("abü😀 ", max_size=6)


@given(st.lists(PLAIN, min_size=1, max_size=5), st.data())
def test_edits_make_what_the_compilers_own_do(lines, data):
    places = sorted(
        data.draw(st.integers(0, len(line))) + 1000 * at
        for at, line in enumerate(lines)
        for _ in range(data.draw(st.integers(0, 2)))
    )
    places = places[: len(places) // 2 * 2]
    edits = [
        (start // 1000 + 1, start % 1000, end // 1000 + 1, end % 1000, data.draw(st.sampled_from(["", "x", "y\nz"])))
        for start, end in zip(places[::2], places[1::2])
    ]
    if not edits or any(one[:2] == other[:2] for one, other in itertools.pairwise(edits)):
        return
    fix = fix_document("", edits, None, lines)
    made = (
        applied("\n".join(lines) + "\n", [Edit(Span(*edit[:4]), edit[4]) for edit in edits])
        .removesuffix("\n")
        .split("\n")
    )
    first, last = edits[0][0], edits[-1][2]
    assert lines[: first - 1] + (after(fix) or []) + lines[last:] == made
    shown = [line.text for line in difference(fix) if line.sign == "+"]
    assert all(text in made for text in shown)
