"""How exactly products of arrays are computed: Precision, and algorithms by the types they round to and add up in."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import DTypeLike
from ..core.config import settings
from ..named_tuple import NamedTuple


__all__ = ["DotAlgorithm", "DotAlgorithmPreset", "Precision"]


class Precision(enum.Enum):
    """How exactly an accelerator multiplies floats; the CPU always uses their full precision."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name


class DotAlgorithm(NamedTuple):
    """An algorithm by its parts: the types that both sides are rounded to and that products are added up in, into how
    many parts each number is taken apart, with how many products of these, and whether some sums may be less exact.
    Devices have some of them, which have names in DotAlgorithmPreset; the CPU takes them by these names."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Algorithms that some device has, named by the types of both sides and of the sum. X3, X6, X9: of so many products
    in place of one; FAST_ACCUM: with less exact sums; ANY_F8: any floats of 8 bits; ANY: what preferred_element_type
    says. The CPU has DEFAULT, F16_F16_F16, BF16_BF16_F32 (also X3, X6), F32_F32_F32 and F64_F64_F64."""

    DEFAULT = enum.auto()
    ANY_F8_ANY_F8_F32 = enum.auto()
    ANY_F8_ANY_F8_F32_FAST_ACCUM = enum.auto()
    ANY_F8_ANY_F8_ANY = enum.auto()
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = enum.auto()
    F16_F16_F16 = enum.auto()
    F16_F16_F32 = enum.auto()
    BF16_BF16_BF16 = enum.auto()
    BF16_BF16_F32 = enum.auto()
    BF16_BF16_F32_X3 = enum.auto()
    BF16_BF16_F32_X6 = enum.auto()
    BF16_BF16_F32_X9 = enum.auto()
    TF32_TF32_F32 = enum.auto()
    TF32_TF32_F32_X3 = enum.auto()
    F32_F32_F32 = enum.auto()
    F64_F64_F64 = enum.auto()

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name

    @property
    def supported_lhs_types(self) -> tuple[Any, ...] | None:
        """The dtypes the left side may have; it is converted to the first of them if it has another. None: any."""
        own = self.name.partition("_")[0]
        if own == "BF16" and not self.name.endswith(("X3", "X6", "X9")):
            return (dtypes.bfloat16, dtypes.float32)
        return {"DEFAULT": None, "ANY": None, "F16": (dtypes.float16,), "F64": (dtypes.float64,)}.get(
            own, (dtypes.float32,)
        )

    @property
    def supported_rhs_types(self) -> tuple[Any, ...] | None:
        """As `supported_lhs_types`, of the right side."""
        return self.supported_lhs_types

    @property
    def accumulation_type(self) -> np.dtype | None:
        """The dtype that products are added up in. None: that of the result."""
        parts = self.name.split("_")
        kind = "F32" if "F32" in parts[2:] else parts[-1]
        return {
            "F16": dtypes.float16,
            "BF16": dtypes.bfloat16,
            "F32": dtypes.float32,
            "F64": dtypes.float64,
        }.get(kind)

    def supported_output_types(self, lhs_dtype: DTypeLike, rhs_dtype: DTypeLike) -> tuple[Any, ...] | None:
        """The dtypes the result may come in; it is converted from the first of them to another. None: any."""
        narrow = {"F16_F16_F32": dtypes.float16, "BF16_BF16_F32": dtypes.bfloat16}.get(self.name)
        if narrow is not None:
            both = dtypes.canonicalize(lhs_dtype) == dtypes.canonicalize(rhs_dtype) == narrow
            return (dtypes.float32, narrow) if both else (dtypes.float32,)
        if self.name.startswith("ANY_F8_ANY_F8_F32"):
            return _RESULTS_OF_F8
        return None if self.accumulation_type is None else (self.accumulation_type,)


_RESULTS_OF_F8 = (
    dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.float8_e4m3fn, dtypes.float8_e5m2, dtypes.float8_e5m2fnuz,
    dtypes.float8_e4m3fnuz, dtypes.float8_e4m3b11fnuz,
)  # fmt: skip

_ON_CPU = ("DEFAULT", "F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "F32_F32_F32",
           "F64_F64_F64")  # fmt: skip

Exactness = tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset | None
"""What products have as the parameter `precision`."""


def computed_as(precision: Any, lhs: Any, rhs: Any, result: Any) -> tuple[Any, Any, Any]:
    """The dtypes in which an algorithm takes both sides and gives the result, for those there are. Raises ValueError for
    an algorithm that the CPU does not have."""
    if not isinstance(precision, DotAlgorithmPreset) or precision.name not in _ON_CPU:
        raise ValueError(
            f"precision {precision} of a product is not available on the CPU, which has {', '.join(_ON_CPU)} (names of a "
            "DotAlgorithmPreset)"
        )

    def nearest(dtype: Any, allowed: tuple[Any, ...] | None) -> Any:
        return dtype if allowed is None or dtype in allowed else allowed[0]

    lhs, rhs = nearest(lhs, precision.supported_lhs_types), nearest(rhs, precision.supported_rhs_types)
    return lhs, rhs, nearest(result, precision.supported_output_types(lhs, rhs))


def is_algorithm(precision: Any) -> bool:
    """Whether the parameter names an algorithm (and no precision for each side)."""
    return isinstance(precision, (DotAlgorithm, DotAlgorithmPreset))


def swapped(precision: Exactness) -> Exactness:
    """The precision of a product with its sides exchanged."""
    if isinstance(precision, DotAlgorithm):
        return precision._replace(
            lhs_precision_type=precision.rhs_precision_type,
            rhs_precision_type=precision.lhs_precision_type,
            lhs_component_count=precision.rhs_component_count,
            rhs_component_count=precision.lhs_component_count,
        )
    return (precision[1], precision[0]) if isinstance(precision, tuple) else precision


_PRECISIONS = {
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}


def as_precision(precision: Any) -> Exactness:
    """The parameter for what users write: None (the option default_matmul_precision), a Precision or its name, a pair of
    those, a DotAlgorithm, a DotAlgorithmPreset or its name. Raises ValueError."""
    precision = settings().default_matmul_precision if precision is None else precision
    if precision is None or is_algorithm(precision):
        return precision
    if isinstance(precision, str) and precision in DotAlgorithmPreset.__members__:
        return DotAlgorithmPreset[precision]
    pair = precision if isinstance(precision, (tuple, list)) else (precision, precision)
    if len(pair) != 2 or any(not isinstance(p, Precision) and p not in _PRECISIONS for p in pair):
        raise ValueError(
            f"precision is None, a Precision, one of {', '.join(map(repr, _PRECISIONS))}, a pair of those, a DotAlgorithm, "
            f"or a DotAlgorithmPreset or its name; it was {precision!r}"
        )
    left, right = (p if isinstance(p, Precision) else _PRECISIONS[p] for p in pair)
    return (left, right)
