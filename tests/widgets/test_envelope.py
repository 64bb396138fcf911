"""Packed documents: nothing is lost, the same every time, within a size, and what is left out is said."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from jitscope_widgets import envelope, html, validate
from jitscope_widgets.columns import compact, expand
from jitscope_widgets.envelope import pack, unpack
from jitscope_widgets.grouping import in_full
from tests.widgets import documents as made
from tests.widgets.js import packed
from tests.widgets.strategies import documents, patient


names = st.text(max_size=4) | st.sampled_from(("$", "$rows", "$lines", "c", "t", "r", "__proto__"))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(names, inner, max_size=4),
    max_leaves=40,
)


@settings(patient)
@given(plain)
def test_any_plain_data_comes_back(value: Any) -> None:
    assert expand(json.loads(json.dumps(compact(value)))) == value


@settings(patient)
@given(
    st.lists(st.fixed_dictionaries({"a": plain, "b": st.text(max_size=3) | st.none(), "c": st.integers()}), min_size=4)
)
def test_records_come_back_from_columns(rows: list[Any]) -> None:
    assert expand(json.loads(json.dumps(compact(rows)))) == rows


def test_records_of_a_few_kinds_are_columns() -> None:
    rows = [{"id": f"e{at}", "bytes": 4} | ({"count": 2, "what": "tree"} if at % 10 == 0 else {}) for at in range(300)]
    said = json.dumps(compact(rows))
    assert expand(json.loads(said)) == rows
    assert said.count('"bytes"') == 2


@settings(patient)
@given(
    st.lists(st.integers(-(10**14), 10**14), min_size=16, max_size=40),
    st.integers(0, 9),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_numbers_of_few_decimals_come_back_to_the_bit(steps: list[int], digits: int, other: float) -> None:
    """Also where one among them has more decimals, is a zero with a sign, or is large."""
    for values in (
        [step / 10**digits for step in steps],
        [*(step / 10**digits for step in steps), other],
        [-0.0] * 8 + [1e-9] * 9,
    ):
        back = expand(json.loads(json.dumps(compact(values))))
        assert list(map(float.hex, back)) == list(map(float.hex, values))


def test_times_are_steps() -> None:
    times = [(1000 * at + at % 7) / 1e9 for at in range(1, 400)]
    assert len(json.dumps(compact(times))) < 0.5 * len(json.dumps(times))


def test_long_texts_share_their_lines_with_other_texts() -> None:
    lines = [f"x{at}:f32[3] = add y{at} z" for at in range(100)]
    document = {"program": "{ lambda ;\n" + "\n".join(f"  {line}" for line in lines) + "\n}", "lines": lines}
    said = json.dumps(compact(document))
    assert expand(json.loads(said)) == document
    assert all(said.count(line) == 1 for line in lines)


@settings(patient)
@given(documents)
def test_any_document_comes_back(document: dict[str, Any]) -> None:
    assert unpack(pack(document).text) == document


def test_a_value_whose_line_is_not_there_is_still_told() -> None:
    document = made.layer_compilation()
    document["instruments"] = {"values": made.values() | {"lines": []}}
    packed_text = pack(document).text
    assert unpack(packed_text) == document
    assert envelope._read(packed_text.split()[0])["document"]["unusual"] == "NaN"


def test_what_a_run_takes_by_the_profile_is_told_at_once() -> None:
    """In the first piece, without the profile: the line of the program, and the times beside it."""
    one = made.layer_compilation()
    one["timing"]["steady"] = None
    one["instruments"] = {"profile": made.profile()}
    cell = made.cell(one)
    text = pack(cell).text
    (shell,) = envelope._read(text.split()[0])["document"]["compilations"]
    assert shell["profiled"]["median"] == made.profile()["wall"] and "instruments" not in shell
    assert "timed for the profile below" in json.dumps(shell["timing"]["view"])
    assert "runs in 100 µs" in html(cell)
    assert unpack(text) == cell


def test_a_long_program_takes_a_small_part_of_its_json() -> None:
    document = made.long_program(300)
    assert len(pack(document).text) < len(json.dumps(document)) / 8


def test_the_examples_of_the_front_end_are_as_we_pack() -> None:
    """The TypeScript tests read them; another zlib may write other bytes."""
    known = json.loads(packed.FILE.read_text())
    assert [(unpack(one["text"]), one["document"]) for one in known["documents"]] == [
        (unpack(one["text"]), one["document"]) for one in packed.packed()["documents"]
    ]
    assert unpack(known["rows"]["text"]) == unpack(packed.packed()["rows"]["text"])


# --- within a size ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [50_000, 20_000, 10_000, 4_200])
def test_what_is_kept_fits_and_is_a_document(room: int) -> None:
    document = made.long_program(600)
    said = pack(document, room)
    assert 0 < len(said.text) <= room
    validate(unpack(said.text))
    assert bool(said.remarks) == (unpack(said.text) != document)


def test_what_is_too_large_in_any_form_is_not_packed() -> None:
    assert pack(made.long_program(600), 300).text == ""


def _compilations(count: int, slowest: int) -> list[dict[str, Any]]:
    found = [made.layer_compilation() | {"id": at} for at in range(count)]
    timing = made.timing()
    timing["stages"][2]["seconds"]["value"] = 9.0
    found[slowest]["timing"] = timing
    return found


def test_of_many_functions_those_that_took_longest_are_kept_in_full() -> None:
    many = [{**one, "function": f"f{at}"} for at, one in enumerate(_compilations(300, 77))]
    assert in_full(many) == {*range(23), 77}
    assert len(html(made.cell(compilations=many))) < 1_000_000


def test_of_many_compilations_the_first_the_last_and_the_slowest_are_kept_in_full() -> None:
    assert in_full(_compilations(300, 77)) == {0, 77, 299}
    assert in_full(_compilations(5, 2)) == {0, 1, 2, 3, 4}
    assert in_full([*_compilations(5, 2), *({**one, "function": "other"} for one in _compilations(8, 3))]) == {
        *range(5), 5, 8, 12,
    }  # fmt: skip


def test_three_hundred_compilations_fit() -> None:
    document = made.cell(compilations=_compilations(300, 77))
    said = pack(document, 120_000)
    assert len(said.text) < 60_000
    assert said.remarks == ("Of 297 compilations only a row is kept.",)
    kept = unpack(said.text)
    validate(kept)
    assert [at for at, one in enumerate(kept["compilations"]) if one["graph"]["nodes"]] == [0, 77, 299]
    assert [one["timing"] for one in kept["compilations"]] == [one["timing"] for one in document["compilations"]]


def test_of_what_instruments_found_the_largest_goes_first() -> None:
    one = made.layer_compilation()
    names = np.random.default_rng(0).integers(0, 2**60, 600)
    passes = {**made.passes(), "stages": [{**made.passes()["stages"][0], "does": str(name)} for name in names]}
    one["instruments"] = {"profile": made.profile(), "passes": passes, "memory": made.memory()}
    room = len(pack(made.cell(one)).text)
    assert pack(made.cell(one), room - 1).remarks[0].startswith("Of layer, the graphs of the passes and most")
    said = pack(made.cell(one), room - 4_000)
    (kept,) = unpack(said.text)["compilations"]
    assert set(kept["instruments"]) == {"profile", "memory"} and kept["graph"] == one["graph"]
    (remark,) = said.remarks
    assert "findings of XLA's passes are not kept" in remark
    smaller = len(said.text) - 1
    (few,) = unpack(pack(made.cell(one), smaller).text)["compilations"]
    assert len(few["instruments"]) == 1
