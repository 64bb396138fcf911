"""Making arrays of a call's NumPy arguments: a step of its own, done no more often than is needed."""

import numpy as np
import pytest

import jitscope as jx
from jitscope.backend import array, dispatch
from jitscope_scope import observe
from jitscope_widgets import validate
from tests.compiler.programs import floats, mul


X = floats(3)


LARGE = np.ones((512, 512))
CONVERTED = {
    "by position": (lambda x: mul(x, 2.0), (LARGE,), {}, 1),
    "by name": (lambda *, x: mul(x, 3.0), (), {"x": LARGE}, 1),
    "in a tree": (lambda x: mul(x["a"], 4.0), ({"a": LARGE},), {}, 2),
    "a small one": (lambda x: mul(x, 5.0), (X,), {}, 0),
}
"""Calls of NumPy values of 2 MB, and how often those are made arrays of: once, and those in trees a second time after the program was looked for."""


@pytest.mark.parametrize("how", CONVERTED)
def test_converting_arguments_is_a_step(ledger, monkeypatch, how):
    """On a clock that only putting a NumPy value on the device moves on, by a second."""
    function, args, kwargs, times = CONVERTED[how]
    if times and not array.one_device():  # a test before made a mesh: where an argument lies is asked for first
        times = 2
    clock = [1.0]
    put = array.client.put
    monkeypatch.setattr(
        array.client, "put", lambda value, *rest: (clock.append(clock[-1] + (value.size > 9)), put(value, *rest))[1]
    )
    for module in (array, dispatch):
        monkeypatch.setattr(module.time, "perf_counter", lambda: clock[-1])
    mark = ledger.mark()
    jx.jit(function)(*args, **kwargs)
    (row,) = ledger.since(mark)
    timing = observe.compilation_document(row)["timing"]
    validate(timing)
    stages = {stage["name"]: stage["seconds"]["value"] for stage in timing["stages"]}
    assert stages.pop("convert arguments", 0.0) == times == clock[-1] - 1.0
    assert not any(stages.values()), "what is no conversion takes no time on this clock"
