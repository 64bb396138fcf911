"""The measured share of each kernel in a compilation's document, and how much of the work has no known origin."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import observe
from jitscope.observe.fusion import _unknown
from jitscope_widgets.schema import validate


@pytest.fixture
def measured():
    def heavy_and_light(x, v):
        return x @ x, jnp.sin(v)

    x, v = np.ones((400, 400), np.float32), np.ones(3, np.float32)
    f = jx.jit(heavy_and_light)
    jx.block_until_ready(f(x, v))
    row = list(observe.ledger())[-1]
    before = observe.compilation_document(row)
    document = observe.measured(row.id)
    validate(document)
    return before, document


def test_shares_are_measured_with_the_steady_time(measured):
    before, document = measured
    assert all(k["share"] is None for k in before["fusion"]["kernels"])
    assert before["fusion"]["summary"]["unknown"]["time"] is None
    shares = {k["opcode"]: k["share"] for k in document["fusion"]["kernels"]}
    assert sum(shares.values()) == pytest.approx(1)
    product = next(
        k for k in document["fusion"]["kernels"] if "dot" in {k["opcode"], *(m["opcode"] for m in k["members"])}
    )
    assert product["share"] > 0.5


def kernel(type_, paths, share=None, kind="fusion"):
    return {"kind": kind, "type": type_, "paths": paths, "share": share}


def test_kernels_without_origin_are_counted():
    assert _unknown([kernel("f32[6]", ["e0"]), kernel("f32[2]", [])]) == {"kernels": 1, "bytes": 0.25, "time": None}
    timed = [kernel("f32[6]", ["e0"], 0.9), kernel("f32[2]", [], 0.1)]
    assert _unknown(timed) == {"kernels": 1, "bytes": 0.25, "time": 0.1}
    assert _unknown([kernel("f32[2]", [], kind="copy")])["kernels"] == 0
    assert _unknown([]) == {"kernels": 0, "bytes": 0.0, "time": None}
