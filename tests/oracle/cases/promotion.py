"""What every pair of dtypes and kinds of numbers promotes to, when traced operations are added."""

from __future__ import annotations

import functools
import warnings
import zlib
from typing import Any

import numpy as np

from tests.oracle.library import Library
from tests.oracle.results import Plain


NAMES = tuple(
    "bool int4 uint4 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bfloat16 float16 float32 float64 complex64 complex128 "
    "float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu int* float* complex*".split()
)
WEAK = {"int*": 1, "float*": 1.0, "complex*": 1j}


def value(o: Library, name: str) -> Any:
    return (
        o.jnp.asarray(WEAK[name])
        if name in WEAK
        else o.jnp.zeros((), np.dtype(name) if name in np.sctypeDict else name)
    )


def _row(o: Library, name: str, mode: str) -> Plain:
    """The dtypes of the sums with one, a star where they are weak; or the error."""
    row = {}
    with o.jx.numpy_dtype_promotion(mode), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of 64 bits that are asked for and not given
        x = value(o, name)
        for other in NAMES:
            try:
                out = o.jx.eval_shape(o.jnp.add, x, value(o, other))
                row[other] = f"{out.dtype.name}{'*' if out.weak_type else ''}"
            except Exception as error:
                row[other] = type(error).__name__
    return Plain(row)


CASES = {
    f"{name}, {mode}{wide}": functools.partial(_row, name=name, mode=mode)
    for wide in ("", ", with 64 bits")
    for mode in ("standard", "strict")
    for name in NAMES
}
WIDE = [name for name in CASES if name.endswith("with 64 bits")]


def sample(name: str) -> bool:
    """Half of the rows: a sum has the dtype of the sum in the other order, which stands in another row."""
    return zlib.crc32(name.encode()) % 2 == 0


def section(name: str) -> str:
    return name.partition(", ")[2]
