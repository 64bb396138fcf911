"""Steps of finite differences, written as a choice by place, give the same bits."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla.cpu_tuning import STENCILS_AS_CHOICES
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


pytestmark = pytest.mark.skipif(
    not STENCILS_AS_CHOICES.holds(), reason="the rule holds with releases it was measured with"
)


def inner(u: Any, reach: int, axes: tuple[int, ...]) -> Any:
    """The slices of `u` whose neighbours are all there, and those neighbours."""
    around = []
    for axis in axes:
        for step in (-reach, reach):
            index = [slice(reach, -reach) if i in axes else slice(None) for i in range(u.ndim)]
            index[axis] = slice(reach + step, u.shape[axis] - reach + step)
            around.append(u[tuple(index)])
    return around


@settings(max_examples=examples(15), phases=[Phase.explicit, Phase.generate])
@given(
    st.lists(st.integers(12, 40), min_size=1, max_size=3),
    st.integers(1, 2),
    st.sampled_from(["float32", "float64", "int32"]),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_a_step_gives_the_same_bits(sizes: list[int], reach: int, dtype: str, loop: bool, seed: int) -> None:
    shape = (-(-STENCILS_AS_CHOICES.value["elements"] // max(1, int(np.prod(sizes[:-1])))) + 30, *sizes[:-1])
    axes = tuple(range(len(shape)))[:2]
    u = (100 * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)
    middle = tuple(slice(reach, -reach) if i in axes else slice(None) for i in range(len(shape)))

    def step(u: Any) -> Any:
        total = sum(inner(u, reach, axes)) - 3 * u[middle]
        return u.at[middle].add(total // 8 if dtype == "int32" else 0.125 * total)

    run = (lambda u: lax.fori_loop(0, 3, lambda _, u: step(u), u)) if loop else step
    with jx.enable_x64(dtype == "float64"):
        (got,), (own,), differ = with_and_without([STENCILS_AS_CHOICES], run, u)
    if dtype != "int32":
        assert differ
    np.testing.assert_array_equal(got.view(np.uint8), own.view(np.uint8))


def test_other_updates_stay_as_they_are() -> None:
    u, v = np.ones((100, 100), np.float32), np.ones((98, 98), np.float32)
    around = lambda u: u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:]
    for function in (
        lambda u, v: u.at[1:-1, 1:-1].set(v),
        lambda u, v: u.at[1:-1, 1:-1].set(v @ around(u)),
        lambda u, v: u.at[1:11, 1:-1].set(around(u)[:10]),
        lambda u, v: lax.dynamic_update_slice(u, around(u), (jnp.int32(v[0, 0]), 0)),
        lambda u, v: v.at[1:, 1:].set(u[2:-1, 2:-1] + u[1:-2, 1:-2] + u[3:, 3:]),
    ):
        assert not with_and_without([STENCILS_AS_CHOICES], function, u, v)[2]


def test_its_derivative() -> None:
    u = np.random.default_rng(0).standard_normal((80, 80)).astype(np.float32)

    def energy(u: Any) -> Any:
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return jnp.sum(jnp.sin(u.at[1:-1, 1:-1].multiply(around)))

    (got,), (own,), differ = with_and_without([STENCILS_AS_CHOICES], jx.grad(energy), u)
    assert differ
    np.testing.assert_allclose(got, own, rtol=1e-5, atol=1e-5)
