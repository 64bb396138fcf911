"""Which arguments `%%jit` and `inspect` take as static without being told."""

import dataclasses
from typing import Any

import numpy as np

import jitscope as jx


def test_auto_static_takes_a_callable_tree_as_data():
    @jx.tree_util.register_dataclass
    @dataclasses.dataclass
    class Dense:
        w: Any

        def __call__(self, x):
            return x @ self.w

    f = jx.jit(lambda model, x: model(x), auto_static=True)
    w, x = np.ones((3, 2), np.float32), np.ones((4, 3), np.float32)
    for scale in (1, 2):
        np.testing.assert_allclose(f(Dense(scale * w), x), scale * x @ w)
    assert f._cache_size() == 1
