"""Which programs are compiled without writing short loops out, and that their results are the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend.guards import guards
from jitscope.backend.short_loops import short_loops
from jitscope.xla.cpu_tuning import SHORT_LOOPS_KEPT
from jitscope.xla.program import compile_options


FLAG, SAID = SHORT_LOOPS_KEPT.value["flag"]
DRAWS = np.random.default_rng(0)
ROWS, ROW = DRAWS.standard_normal((2000, 16), np.float32), DRAWS.standard_normal(16).astype(np.float32)
SOURCE, TARGET = (DRAWS.integers(0, 2000, 5000).astype(np.int32) for _ in range(2))
WIDE = DRAWS.standard_normal((400, 100), np.float32)

KEPT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "a row added": (lambda x, b: jnp.maximum(x + b, 0), (ROWS, ROW)),
    "rows gathered": (lambda x, i: x[i], (ROWS, SOURCE)),
    "messages of a graph": (lambda x, i, j: jnp.zeros_like(x).at[j].add(jnp.maximum(x[i], 0)), (ROWS, SOURCE, TARGET)),
    "a small layer": (lambda x, w, b: jnp.tanh(x @ w + b), (ROWS, ROWS[:16], ROW)),
    "inside a compiled function": (lambda x, b: jx.jit(lambda x: x * b + 1)(x), (ROWS, ROW)),
}
KEPT["the turns of a loop"] = lambda x, b: lax.fori_loop(0, 40, lambda _, x: jnp.tanh(x * b), x), (ROWS[:50], ROW)
WRITTEN_OUT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "few elements": (lambda x, b: jnp.maximum(x + b, 0), (ROWS[:100], ROW)),
    "long rows": (lambda x: jnp.maximum(x + x[0], 0), (WIDE,)),
    "points": (lambda x: x * x[0], (ROWS.reshape(-1, 4),)),
    "greatest elements": (lambda x, b: jnp.max(x + b, 1), (ROWS, ROW)),
    "single elements gathered": (lambda x, i: x[i, 3] * 2, (ROWS, SOURCE)),
    "sums in a loop": (lambda x: lax.fori_loop(0, 3, lambda _, y: y + jnp.max(x - y[:, None], 1), x[:, 0]), (ROWS,)),
    "a stencil": (lambda x: x[2:] - 2 * x[1:-1] + x[:-2], (ROWS,)),
}


@pytest.mark.parametrize("name", KEPT)
def test_short_loops_are_kept_and_give_the_same_bits(name: str) -> None:
    function, args = KEPT[name]
    assert guards(jx.make_jaxpr(function)(*args).jaxpr)[FLAG] == SAID
    got = jx.jit(function)(*args)
    SHORT_LOOPS_KEPT.off = True
    try:
        jx.clear_caches()
        expected = jx.jit(function)(*args)
    finally:
        SHORT_LOOPS_KEPT.off = False
    np.testing.assert_array_equal(got, expected)
    jx.clear_caches()


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_others_are_compiled_as_xla_does(name: str) -> None:
    function, args = WRITTEN_OUT[name]
    assert not short_loops(jx.make_jaxpr(function)(*args).jaxpr)


def test_a_call_that_asks_for_xlas_own_way_gets_it() -> None:
    """XLA asks only whether the option is there, whatever its value is."""
    asked = compile_options({FLAG: "false"}).SerializeAsString()
    assert FLAG.encode() not in asked
    assert FLAG.encode() in compile_options({FLAG: SAID}).SerializeAsString()
