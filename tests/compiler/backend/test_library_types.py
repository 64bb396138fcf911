"""For which kinds of operations XLA's library is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend.guards import guards
from jitscope.backend.library_types import CONVOLUTION, REDUCTION, library_choices
from jitscope.xla import cpu_tuning


pytestmark = pytest.mark.skipif(
    not cpu_tuning.CONVOLUTIONS_WITHOUT_LIBRARY.holds(), reason="the rules hold with releases they were measured with"
)
WIDE = np.zeros((8, 32, 32, 96), np.float32), np.zeros((3, 3, 96, 96), np.float32)
MANY = np.zeros((8, 16, 16, 192), np.float32), np.zeros((3, 3, 192, 192), np.float32)
IMAGE = np.zeros((512, 512), np.float32)


def chosen(function: Any, *args: Any) -> list[str]:
    return [choice.kind for choice in library_choices(jx.make_jaxpr(function)(*args).jaxpr)]


def convolution(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def test_gradients_by_windows_leave_the_library_out() -> None:
    gradient = jx.grad(lambda w, x: jnp.sum(convolution(x, w) ** 2))
    assert chosen(gradient, WIDE[1], WIDE[0]) == [CONVOLUTION]
    assert chosen(convolution, *MANY) == [CONVOLUTION]
    assert chosen(gradient, np.zeros((3, 3, 64, 64), np.float32), np.zeros((8, 16, 16, 64), np.float32)) == []


def test_few_features_and_large_windows_keep_it() -> None:
    assert chosen(convolution, np.zeros((8, 28, 28, 32), np.float32), np.zeros((5, 5, 32, 32), np.float32)) == []
    assert chosen(convolution, np.zeros((8, 64, 64, 3), np.float32), np.zeros((7, 7, 3, 64), np.float32)) == []


def test_sums_of_slices_leave_it_out_and_others_keep_it() -> None:
    differences = lambda u: jnp.sum((u[1:] - u[:-1]) ** 2)
    assert chosen(differences, IMAGE) == [REDUCTION]
    assert chosen(lambda u: jnp.sum(u**2), IMAGE) == []
    assert chosen(lambda u: differences(u) + jnp.max(u), IMAGE) == []
    assert chosen(lambda u: jnp.sum(jnp.exp(u[1:] - u[:-1])), IMAGE) == []
    assert chosen(differences, IMAGE[:20, :20]) == []


def test_the_flag_is_among_those_of_the_program_and_results_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    u = random.standard_normal(IMAGE.shape, np.float32)
    energy = lambda u: jnp.sum((u[1:] - u[:-1]) ** 2, axis=1)
    (value,) = guards(jx.make_jaxpr(energy)(u).jaxpr).values()
    assert "REDUCE" not in value and "CONVOLUTION" in value and "DOT" in value
    got = np.asarray(jx.jit(energy)(u))
    np.testing.assert_allclose(got, np.sum(np.diff(u.astype(np.float64), axis=0) ** 2, axis=1), rtol=1e-5)
    monkeypatch.setattr(cpu_tuning.SUMS_WITHOUT_LIBRARY, "off", True)
    assert guards(jx.make_jaxpr(energy)(u).jaxpr) == {}


def test_what_the_user_chose_in_xla_flags_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--{cpu_tuning.LIBRARY_FLAG}=LIBRARY_FUSION_TYPE_REDUCE")
    assert chosen(convolution, *MANY) == []
