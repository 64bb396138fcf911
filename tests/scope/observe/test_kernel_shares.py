"""The measured share of each kernel in a compilation's document, and how much of the work has no known origin."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
from jitscope_scope.observe.fusion import _listed, _unknown
from jitscope_scope.observe.hlo import bytes_of
from jitscope_widgets import validate


@pytest.fixture
def measured():
    def heavy_and_light(x, v):
        return x @ x, jnp.sin(v)

    x, v = np.ones((400, 400), np.float32), np.ones(3, np.float32)
    f = jx.jit(heavy_and_light)
    jx.block_until_ready(f(x, v))
    row = list(observe.ledger())[-1]
    before = observe.compilation_document(row)
    document = observe.measure_row(row.id)
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
    return {"name": f"k{len(paths)}", "kind": kind, "type": type_, "paths": paths, "share": share}


def unknown(kernels, runs=1):
    sizes = {one["name"]: bytes_of(one["type"]) for one in kernels}
    return _unknown(kernels, lambda name: None if runs is None else runs * sizes[name])


def test_kernels_without_origin_are_counted():
    assert unknown([kernel("f32[6]", ["e0"]), kernel("f32[2]", [])]) == {"kernels": 1, "bytes": 0.25, "time": None}
    timed = [kernel("f32[6]", ["e0"], 0.9), kernel("f32[2]", [], 0.1)]
    assert unknown(timed) == {"kernels": 1, "bytes": 0.25, "time": 0.1}
    assert unknown([kernel("f32[2]", [], kind="copy")])["kernels"] == 0
    assert unknown([kernel("f32[6]", ["e0"]), kernel("f32[2]", [])], None)["bytes"] is None
    assert unknown([]) == {"kernels": 0, "bytes": 0.0, "time": None}


@pytest.mark.parametrize("loop", ["scan", "while"])
def test_a_loop_that_runs_in_one_piece_has_the_time_of_its_kernels(loop):
    def small_loop(x):
        y = jnp.sin(x + 1)
        if loop == "scan":
            return lax.scan(lambda c, _: (jnp.cos(c) * c, None), y, length=200)[0]
        return lax.while_loop(lambda s: s[0] < 200, lambda s: (s[0] + 1, jnp.cos(s[1]) * s[1]), (0, y))[1]

    f, x = jx.jit(small_loop), np.ones(8, np.float32)
    jx.block_until_ready(f(x))
    kernels = observe.measure_row(list(observe.ledger())[-1].id)["fusion"]["kernels"]
    (whole,) = [k for k in kernels if k["kind"] == "loop"]
    inside = [k for k in kernels if k["note"].startswith("Runs again")]
    timed = [k["share"] for k in inside if k["share"] is not None]
    in_loop = sum(timed) if timed else whole["share"]
    assert in_loop > 0.5  # of 200 iterations of two operations, beside one fusion and some copies
    assert (whole["share"] is None) == bool(timed)
    assert sum(k["share"] or 0 for k in kernels) == pytest.approx(1)


def test_the_last_of_a_list_is_joined_by_and():
    assert [_listed(["2"]), _listed(["2", "3"]), _listed(["2", "3", "11"])] == ["2", "2 and 3", "2, 3 and 11"]
