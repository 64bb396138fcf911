"""Which products and convolutions of an optimised program XLA writes code for itself, as it does for small ones and for vectors: the others are
calls of a library. An executable does not say so without being written down; the rules are those of XLA's CPU compiler, and a test compares
them with what executables hold."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from jitscope.xla.hlo_module import Instruction


_TYPE = re.compile(r"(\w+)\[([\d,]*)\]")
_EIGEN_PRODUCTS = ("f16", "f32", "f64", "c64", "c128", "s32")
_EIGEN_CONVOLUTIONS = ("f16", "f32")
_SHORT = 3
"""Products are written out whose sums have at most so many terms, and those of a result with no longer axis."""


def is_generated(i: Instruction, types: Mapping[str, str]) -> bool:
    """Whether a product or convolution is code of the program itself. `types` are those of the instructions by name."""
    result = _TYPE.match(i.type)
    if result is None or i.opcode not in ("dot", "convolution"):
        return False
    element, shape = result[1], _sizes(result[2])
    if i.opcode == "convolution":
        return element not in _EIGEN_CONVOLUTIONS
    left = _TYPE.match(types.get(i.operands[0], "")) if i.operands else None
    if element not in _EIGEN_PRODUCTS:
        return True
    if element.startswith("c") or left is None:
        return False
    sizes = _sizes(left[2])
    summed, together = (math.prod(sizes[d] for d in _axes(i, name)) for name in ("contracting", "batch"))
    rows = math.prod(sizes) // max(1, summed * together)
    columns = math.prod(shape) // max(1, rows * together)
    if rows == 1 or columns == 1:
        return True
    return summed <= _SHORT or max(rows, columns) <= _SHORT


def _sizes(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n]


def _axes(i: Instruction, name: str) -> list[int]:
    found = re.search(rf"lhs_{name}(?:_contracting)?_dims={{([\d,]*)}}", i.attributes)
    return _sizes(found[1]) if found is not None else []
