"""What is written as other operations is told, with its place and the rule that did it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla import cpu_tuning
from jitscope.xla.cpu_tuning import Tuning


pytestmark = pytest.mark.skipif(
    not cpu_tuning.IN_DOUBLE.holds(), reason="the rules hold with releases they were measured with"
)

LONG, LONGER, TABLE = np.ones(20_000, np.float32), np.ones(200_000, np.float32), np.ones((1000, 64), np.float32)
MATRICES, POINTS = np.ones((100, 4, 4), np.float32), np.ones((2000, 3), np.float32)
IMAGES, PIXEL = np.ones((2, 8, 8, 16), np.float32), np.ones((1, 1, 16, 16), np.float32)


def pointwise(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "IN_DOUBLE": (jnp.sin, (LONG,), "sin of f32[20000]"),
    "POWERS_IN_DOUBLE": (lambda x: x**2.2, (LONGER,), "pow of f32[200000], f32[]"),
    "REMAINDERS_IN_DOUBLE": (lambda x: jnp.fmod(x, 3), (LONGER,), "rem of f32[200000], f32[]"),
    "RUNNING_BY_ROWS": (lambda x: jnp.cumsum(x, 0), (TABLE,), "cumsum of f32[1000,64]"),
    "RUNNING_BY_ELEMENTS": (jnp.cumsum, (LONG,), "cumsum of f32[20000]"),
    "ARG_IN_TWO_STEPS": (lambda x: jnp.argmax(x, 0), (TABLE,), "argmax of f32[1000,64]"),
    "SMALL_BATCHED_PRODUCTS": (jnp.matmul, (MATRICES, MATRICES), "dot_general of f32[100,4,4], f32[100,4,4]"),
    "PRODUCTS_WITH_SMALL_MATRICES": (jnp.matmul, (POINTS, POINTS[:3]), "dot_general of f32[2000,3], f32[3,3]"),
    "PRODUCTS_WITH_VECTORS": (jnp.matmul, (MATRICES[0], POINTS[0, :1].repeat(4)), "dot_general of f32[4,4], f32[4]"),
    "BOOLEANS_COUNTED": (lambda x: jnp.all(x > 0), (LONG,), "reduce_and of bool[20000]"),
    "RADIX_SORT": (jnp.argsort, (LONG,), "sort of f32[20000], i32[20000]"),
    "SORTED_PACKED": (jnp.argsort, (LONG[:4000],), "sort of f32[4000], i32[4000]"),
    "SORTED_AS_INTEGERS": (jnp.sort, (LONG[:4000],), "sort of f32[4000]"),
    "CONVOLUTIONS_AS_PRODUCTS": (pointwise, (IMAGES, PIXEL), "conv_general_dilated of f32[2,8,8,16], f32[1,1,16,16]"),
    "CONVOLUTIONS_IN_LOOPS": (lambda x: jnp.convolve(x, x[:100]), (LONG,), "conv_general_dilated of f32[1,1,20000], f32[1,1,100]"),
    "SHORT_AXES": (lambda x: jnp.sum((x[:, None] - x) ** 2, -1), (POINTS,), "sub of f32[2000,2000,3], f32[2000,2000,3]"),
}  # fmt: skip


@pytest.mark.parametrize("rule", PROGRAMS)
def test_each_rule_tells_what_it_wrote_and_where(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, args, operation = PROGRAMS[rule]
    entry = getattr(cpu_tuning, rule)
    if not entry.holds():
        pytest.skip("it holds with other releases")
    told = jx.jit(lambda *xs: function(*xs)).lower(*args).rewrites()
    found = [r for r in told if r.rule == rule]
    assert operation in [r.operation for r in found]
    assert all("line " in r.place and "writ" in r.words for r in found)
    assert isinstance(entry, Tuning) and entry.name == rule and entry.measured
    monkeypatch.setattr(entry, "off", True)
    jx.clear_caches()
    assert rule not in [r.rule for r in jx.jit(lambda *xs: function(*xs)).lower(*args).rewrites()]


def test_a_program_as_it_is_tells_nothing() -> None:
    assert jx.jit(lambda x: jnp.exp(x) @ x).lower(TABLE[:64]).rewrites() == []
    seen = jx.inspect(jx.jit(lambda x: jnp.exp(x)))(TABLE)
    assert seen.rewrites == [] and not str(seen.stablehlo).startswith("//")


def test_the_stage_shows_them_above_the_program() -> None:
    seen = jx.inspect(jx.jit(lambda x: jnp.sin(x) + jnp.sin(x + 1)))(LONG)
    first, second = str(seen.stablehlo).splitlines()[:2]
    assert first.startswith("// sin of f32[20000] (") and "(line " in first and first.endswith("rule IN_DOUBLE")
    assert second.startswith("module") or second == first  # one line of code, told once
    assert [r.rule for r in seen.rewrites] == ["IN_DOUBLE", "IN_DOUBLE"]
