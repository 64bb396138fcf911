"""Samples of every primitive: arguments, parameters, and what NumPy says the result is.

A primitive of `jitscope.ops` without samples fails `tests/compiler/ops/test_rules.py`. To add one, register a function in a file
of this folder (all are loaded):

    @samples(sin_p, "fc")
    def _(draw, dtype):
        yield Sample("rank 3", [draw((2, 3, 2))], np.sin)

which gets a source of values and a dtype, and gives samples of which the labels, shapes and parameters do not depend on the
values. "fc" are the kinds of dtype it works on, letters as in `core.dtypes.kind`. Oracles get floats as float64 and complex
numbers as complex128; integers and booleans come as they are.
"""

import importlib
import pkgutil

from .registry import NATIVE, SHAPES, WIDE, Draw, Sample, all_primitives, dtypes_of, kinds_of, samples, samples_of


__all__ = [
    "NATIVE", "SHAPES", "WIDE", "Draw", "Sample", "all_primitives", "dtypes_of", "kinds_of", "samples", "samples_of",
]  # fmt: skip

for _file in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_file.name}")
