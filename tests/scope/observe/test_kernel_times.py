"""Times of single kernels, from XLA's profiler."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.jaxpr import walk
from jitscope.xla import profiler
from jitscope_scope import observe


def f(w, x):
    c, ys = lax.scan(lambda c, _: (jnp.tanh(w @ c), c.sum()), x, length=10)
    return jnp.exp(ys).sum() + c.sum()


ARGS = np.ones((300, 300), np.float32) / 300, np.ones((300, 300), np.float32)

PRIMITIVES = {path: eqn.primitive.name for path, eqn in walk(jx.make_jaxpr(f)(*ARGS).jaxpr)}
"""Those of the equations, by their paths."""


def test_kernels_runs_and_times():
    found = observe.kernel_times(jx.jit(f), *ARGS, calls=10)
    by_code = {k.opcode: k for k in found}
    (product,) = (k for k in found if any(PRIMITIVES[p] == "dot_general" for p in k.paths))
    assert product.runs == 10 and by_code["while"].runs == 1
    assert np.isnan(by_code["while"].share)
    assert sum(k.share for k in found if k.opcode != "while") == pytest.approx(1)
    assert [k.total for k in found] == sorted((k.total for k in found), reverse=True)
    slowest = max(10 * k.low for k in found if k.runs == 10)  # several threads may run at once, and the machine be busy
    assert slowest <= 1.05 * by_code["while"].high  # the ten products are the loop; each record has ends of its own
    for k in found:
        assert 0 < k.low <= k.median <= k.high
    names = {
        i.split(" = ")[0].strip().removeprefix("ROOT ")
        for i in jx.jit(f).lower(*ARGS).compile().as_text().splitlines()
        if " = " in i
    }
    assert {k.kernel for k in found} <= {n.lstrip("%") for n in names}


def test_kernels_are_linked_to_equations():
    found = observe.kernel_times(jx.jit(f), *ARGS, calls=3)
    made = {PRIMITIVES[p] for k in found for p in k.paths}
    assert {"dot_general", "tanh", "exp", "reduce_sum"} <= made


def test_what_is_not_run_again():
    with pytest.raises(TypeError, match=r"jit\(f\)"):
        observe.kernel_times(f, *ARGS)
    with pytest.raises(ValueError, match="takes over the memory"):
        observe.kernel_times(jx.jit(f, donate_argnums=1), *ARGS)


def test_one_recording_at_a_time():
    started, go_on = threading.Event(), threading.Event()

    def wait():
        started.set()
        go_on.wait(60)

    other = threading.Thread(target=profiler.record, args=(wait,))
    other.start()
    started.wait(60)
    try:
        with pytest.raises(RuntimeError, match="one recording at a time"):
            profiler.record(lambda: time.sleep(0))
    finally:
        go_on.set()
        other.join()
    with pytest.raises(ZeroDivisionError):
        profiler.record(lambda: 1 / 0)
    assert profiler.record(lambda: None) == []
