"""What a step of training exchanges on 1 to 64 devices, against what it needs at least."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.compiler.programs import in_new_process
from tests.many_devices.collectives import COUNTS, exchanges, least


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, list[list[Any]]]]:
    return json.loads(in_new_process("from tests.many_devices import collectives; collectives.main()", timeout=180))


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["data", "tensor"])
def test_as_few_and_as_small_as_can_be(found: Any, name: str, count: int) -> None:
    assert [tuple(one) for one in found[name][str(count)]] == least(name, count)


@pytest.mark.parametrize("count", COUNTS)
def test_a_pipeline_sends_a_part_on_in_each_tick_but_the_first(found: Any, count: int) -> None:
    assert Counter(tuple(one) for one in found["pipeline"][str(count)]) == Counter(least("pipeline", count))


def test_how_the_text_is_read() -> None:
    hlo = """
body.1 (p: (f32[2])) -> (f32[2]) {
  a = f32[2]{0} collective-permute(p), channel_id=1
}
ENTRY main (x: f32[2]) -> f32[2] {
  w = (f32[2]) while(x), condition=c, body=body.1
  b = (f32[3,4]{1,0}, /*index=5*/bf16[5]) all-reduce-start(x, y), channel_id=2
  c = (f32[3,4]{1,0}, bf16[5]) all-reduce-done(b)
  d = f32[] add(all-reduce.1, b)
}"""
    assert exchanges(hlo, 3) == [("collective-permute", 8)] * 3 + [("all-reduce", 58)]
