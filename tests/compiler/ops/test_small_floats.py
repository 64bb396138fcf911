"""Operations on floats of 16 bits whose quicker ways are those of float32: what float32 gives, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla.cpu_tuning import CONVOLUTIONS_IN_PARTS


pytestmark = pytest.mark.skipif(not CONVOLUTIONS_IN_PARTS.holds(), reason="the rules hold on the CPU")
NUMBERS = ("NHWC", "HWIO", "NHWC")


def convolution(groups: int) -> Callable[..., Any]:
    return lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=NUMBERS, feature_group_count=groups
    )


def volumes(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))


def pooled(start: float, operation: Any) -> Callable[[Any], Any]:
    return lambda x: lax.reduce_window(x, start, operation, (2, 2), (2, 2), "VALID")


CASES: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "depthwise": (convolution(16), ((2, 9, 9, 16), (3, 3, 1, 16))),
    "gradient by the windows": (
        lambda x, w: jx.vjp(lambda w: convolution(64)(x, w), w)[1](convolution(64)(x, w))[0],
        ((2, 9, 9, 64), (3, 3, 1, 64)),
    ),
    "groups": (convolution(2), ((2, 18, 18, 16), (3, 3, 8, 16))),
    "volumes": (volumes, ((2, 9, 9, 9, 8), (3, 3, 3, 8, 8))),
    "cumsum": (lambda x: jnp.cumsum(x, 1), ((40, 50),)),
    "cumsum of rows": (lambda x: jnp.cumsum(x, 0), ((40, 50),)),
    "cummax": (lambda x: lax.cummax(x, 1), ((40, 50),)),
    "greatest of windows": (pooled(-np.inf, lax.max), ((40, 50),)),
    "sums of windows": (pooled(0.0, lax.add), ((40, 50),)),
    "sin": (jnp.sin, ((200, 100),)),
    "arctan2": (jnp.arctan2, ((200, 100), (200, 100))),
    "powers": (lambda x: jnp.abs(x) ** 1.5, ((200, 100),)),
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_float32_rounded_once(name: str, dtype: str) -> None:
    function, shapes = CASES[name]
    random = np.random.default_rng(0)
    small = [jnp.asarray(random.standard_normal(shape), dtype) for shape in shapes]
    got = jx.jit(function)(*small)
    if name == "gradient by the windows":  # of a result that was rounded, too
        ct = convolution(64)(*small).astype("float32")
        x, w = (a.astype("float32") for a in small)
        want = jx.vjp(lambda w: convolution(64)(x, w), w)[1](ct)[0]
    else:
        want = jx.jit(function)(*[a.astype("float32") for a in small])
    assert got.dtype == dtype and got.shape == want.shape
    eps = 2.0**-8 if dtype == "bfloat16" else 2.0**-11
    np.testing.assert_allclose(
        np.asarray(got, np.float64),
        np.asarray(want, np.float64),
        rtol=1.01 * eps,
        atol=1e-4 * float(jnp.abs(want).max()),
    )
