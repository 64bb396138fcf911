"""Loops over steps of finite differences, with two iterations in a turn, give the same numbers."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla.cpu_tuning import STENCILS_IN_TWO_TURNS as RULE
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


pytestmark = pytest.mark.skipif(not RULE.holds(), reason="the rule holds with releases it was measured with")
STEPS = {
    "inside": lambda u: u.at[1:-1].add((u[2:] + u[:-2] - 2 * u[1:-1]) // 4),
    "rolled": lambda u: u + (jnp.roll(u, 1, 0) + jnp.roll(u, -1, -1) - 2 * u) // 4,
    "padded": lambda u: jnp.pad(u[2:] + u[:-2], [(1, 1)] + [(0, 0)] * (u.ndim - 1)) // 3 - u,
    "joined": lambda u: jnp.concatenate([u[1:] - u[:-1] // 2, u[:1]]),
}


def _run(step: Any, length: int, rows: bool, reverse: bool) -> Any:
    def body(state: Any, x: Any) -> Any:
        u, before = state
        new = step(u) + x
        return (new, u - before // 2), (new[1] if rows else None)

    return lambda u, xs: lax.scan(body, (u, u // 2), xs[:length], reverse=reverse)


@settings(max_examples=examples(15), phases=[Phase.explicit, Phase.generate])
@given(
    name=st.sampled_from(sorted(STEPS)),
    sizes=st.lists(st.integers(3, 20), max_size=2),
    length=st.integers(4, 9),
    dtype=st.sampled_from(["float32", "float64", "int32"]),
    rows=st.booleans(),
    reverse=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_all_iterations_give_the_same(
    name: str, sizes: list[int], length: int, dtype: str, rows: bool, reverse: bool, seed: int
) -> None:
    shape = (-(-RULE.value["elements"] // int(np.prod(sizes))) + 2, *sizes)
    u, xs = ((100 * np.random.default_rng(seed).standard_normal(s)).astype(dtype) for s in (shape, 9))
    with jx.enable_x64(dtype == "float64"):
        got, own, differ = with_and_without([RULE], _run(STEPS[name], length, rows, reverse), u, xs)
    assert differ
    for one, other in zip(got, own, strict=True):
        np.testing.assert_allclose(
            one, other, rtol=0, atol=0 if dtype == "int32" else 1e-5 * (1 + np.abs(own[0]).max())
        )


def test_its_derivatives_and_batches() -> None:
    u = np.random.default_rng(0).standard_normal((2, 80, 80)).astype(np.float32)
    smooth = lambda u: u.at[1:-1].add(0.25 * jnp.sin(u[2:] + u[:-2] - 2 * u[1:-1]))
    run = lambda u: lax.fori_loop(0, 5, lambda _, u: smooth(u), u)
    function = lambda u: (jx.vmap(run)(u), jx.grad(lambda u: jnp.sum(run(u) ** 2))(u[0]))
    got, own, differ = with_and_without([RULE], function, u)
    assert differ
    for one, other in zip(got, own, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def _twice(u: Any) -> Any:
    return u.at[1:-1].add(u[2:] + u[:-2])


@pytest.mark.parametrize(
    "function",
    [
        lambda u: lax.fori_loop(0, 9, lambda _, u: 2 * u, u),  # reads each element at its own place
        lambda u: lax.fori_loop(0, 9, lambda _, u: u.at[:2].add(u[2:4] + u[3:5]), u),  # small slices
        lambda u: lax.fori_loop(0, 3, lambda _, u: _twice(u), u),  # few turns
        lambda u: lax.fori_loop(0, 9, lambda _, u: _twice(u), u[:50]),  # a small array
        lambda u: lax.fori_loop(0, 9, lambda _, u: _twice(u), u, unroll=3),
        lambda u: lax.fori_loop(0, 9, lambda _, u: _twice(jnp.sin(u)), u),  # slices of what is computed
    ],
)  # fmt: skip
def test_other_loops_stay_as_they_are(function: Any) -> None:
    assert not with_and_without([RULE], function, np.ones(10_000, np.float32))[2]


def test_what_is_written_is_told() -> None:
    u = np.ones(10_000, np.float32)
    lowered = jx.jit(lambda u: lax.fori_loop(0, 9, lambda _, u: _twice(u), u)).lower(u)
    assert [r.rule for r in lowered.rewrites() if "two iterations" in r.words] == [RULE.name]


def _written_part(u: Any, low: int, high: int, add: bool) -> Any:
    """A step that writes all but so many rows at both ends."""
    new = (u[1:-1] + u[2:] - (u[:-2] >> 1))[low - 1 : len(u) - high - 1]
    at = u.at[low : len(u) - high]
    return at.add(new) if add else at.set(new)


_COUPLED = {
    "alone": lambda u, v, part: (part(u), v + 1),
    "two": lambda u, v, part: (part(u), part(v)),
    "two that read each other": lambda u, v, part: (
        u.at[1:-1].add(v[2:] - v[:-2]),
        v.at[1:-1].set((u[2:] >> 1) + u[:-2]),
    ),
    "new one read": lambda u, v, part: (new := part(u), v.at[1:-1].add(new[2:] - new[:-2])),
    "handed on": lambda u, v, part: (part(u), u),
    "exchanged": lambda u, v, part: (part(v), part(u)),
}


@settings(max_examples=examples(20), phases=[Phase.explicit, Phase.generate])
@given(
    name=st.sampled_from(sorted(_COUPLED)),
    sizes=st.lists(st.integers(1, 9), max_size=1).map(lambda sizes: [*sizes, RULE.value["row"]]),
    ends=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    add=st.booleans(),
    length=st.integers(4, 9),
    rows=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_parts_are_written_into_the_state_before(
    name: str, sizes: list[int], ends: tuple[int, int], add: bool, length: int, rows: bool, seed: int
) -> None:
    def body(state: Any, x: Any) -> Any:
        u, v = _COUPLED[name](*state, lambda u: _written_part(u, *ends, add))
        return (u, v), (u[1] + x if rows else None)

    shape = (-(-RULE.value["elements"] // int(np.prod(sizes))) + 9, *sizes)
    u, v = np.random.default_rng(seed).integers(-99, 99, (2, *shape), np.int32)
    run = lambda u, v: lax.scan(body, (u, v), jnp.arange(length, dtype="int32"))
    got, own, differ = with_and_without([RULE], run, u, v)
    assert differ
    for one, other in zip(got, own, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_step_writes_no_border() -> None:
    """The state before is carried beside the state, and nothing is chosen element by element."""
    u = np.zeros((64, RULE.value["row"]), np.float32)
    step = lambda i, u: u.at[1:-1, 1:-1].set(u[2:, 1:-1] + u[:-2, 1:-1] - u[1:-1, 2:] + u[1:-1, :-2])
    text = jx.jit(lambda u: lax.fori_loop(0, 9, step, u)).lower(u).as_text()
    assert text.count("stablehlo.dynamic_update_slice") >= 2 and "stablehlo.select" not in text
