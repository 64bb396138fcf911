"""What is called a library call is one: of products and convolutions, executables say which steps are kernels of their own."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import jitscope as jx
from jitscope import lax
from jitscope.xla import hlo_module
from jitscope.xla.serialized import parts_of
from jitscope_scope.observe.hlo_flow import flow_of


SIZES = [
    (1, 8, 64),
    (64, 8, 1),
    (3, 3, 3),
    (4, 3, 4),
    (7, 3, 7),
    (8, 3, 7),
    (3, 7, 3),
    (3, 8, 3),
    (4, 4, 3),
    (4, 4, 4),
    (2, 4, 4),
    (32, 32, 32),
]
DTYPES = ["float32", "float64", "complex64", "int32", "int8", "uint32", "bfloat16"]
_conv = functools.partial(
    lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
)


def ones(*shape: int, dtype: str = "float32") -> Any:
    return np.ones(shape, jx.numpy.dtype(dtype))


CASES: dict[str, Any] = {
    **{f"{s} {dtype}": (lambda a, b: a @ b, ones(s[0], s[1], dtype=dtype), ones(s[1], s[2], dtype=dtype)) for dtype in DTYPES for s in SIZES},
    "transposed": (lambda a, b: a.T @ b, ones(3, 3), ones(3, 3)),
    "in batches": (lambda a, b: a @ b, ones(5, 3, 3), ones(5, 3, 3)),
    "in batches, larger": (lambda a, b: a @ b, ones(5, 4, 4), ones(5, 4, 4)),
    "vectors in batches": (lambda a, b: jx.numpy.einsum("bij,bj->bi", a, b), ones(5, 8, 8), ones(5, 8)),
    "a matrix and a vector": (lambda a, b: a @ b, ones(30, 30), ones(30)),
    "large": (lambda a, b: a @ b, ones(128, 128), ones(128, 128)),
    "a convolution": (_conv, ones(2, 16, 16, 3), ones(3, 3, 3, 8)),
    "of float64": (_conv, ones(2, 16, 16, 3, dtype="float64"), ones(3, 3, 3, 8, dtype="float64")),
    "of integers": (_conv, ones(2, 16, 16, 3, dtype="int32"), ones(3, 3, 3, 8, dtype="int32")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_library_calls_are_the_steps_without_code(case: str) -> None:
    function, *args = CASES[case]
    with jx.enable_x64(True):
        program = jx.jit(function).lower(*args).compile()._program
    executable = getattr(program, "executable", program)
    steps = {step.instruction: step.kind for step in parts_of(executable).steps}
    flow = flow_of(hlo_module.computations(hlo_module.optimized(executable)), optimized=True)
    told = {op.id: op.is_library for op in flow.ops if op.does.opcode in ("dot", "convolution") and op.group is None}
    assert told.items() <= {name: kind != "kernel" for name, kind in steps.items()}.items()
