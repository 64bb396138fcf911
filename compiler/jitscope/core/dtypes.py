"""Dtypes: names, canonical forms, weak types and the promotion lattice (JAX's).

A dtype is a `numpy.dtype` (ml_dtypes supplies bfloat16, the floats of 8 and 4 bits, the integers of 4) or an `ExtendedDType` such as a key's, whose
values have a logical shape and, below, a physical one.
"""

import functools
from typing import Any

import ml_dtypes
import numpy as np

from .config import settings
from .errors import TypePromotionError


float0 = np.dtype([("float0", np.void, 0)])
"""The dtype of tangents of integers, booleans and keys: it holds no value."""

bool_ = np.dtype(np.bool_)
int4, uint4 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)
int8, int16, int32, int64 = (np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64))
uint8, uint16, uint32, uint64 = (np.dtype(t) for t in (np.uint8, np.uint16, np.uint32, np.uint64))
bfloat16, float16, float32, float64 = (np.dtype(t) for t in (ml_dtypes.bfloat16, np.float16, np.float32, np.float64))
float8_e3m4, float8_e4m3 = np.dtype(ml_dtypes.float8_e3m4), np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3fn, float8_e5m2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
float8_e4m3fnuz, float8_e5m2fnuz = np.dtype(ml_dtypes.float8_e4m3fnuz), np.dtype(ml_dtypes.float8_e5m2fnuz)
float8_e4m3b11fnuz, float8_e8m0fnu = np.dtype(ml_dtypes.float8_e4m3b11fnuz), np.dtype(ml_dtypes.float8_e8m0fnu)
float4_e2m1fn = np.dtype(ml_dtypes.float4_e2m1fn)
complex64, complex128 = np.dtype(np.complex64), np.dtype(np.complex128)

_SIGNED = (int4, int8, int16, int32, int64)
_UNSIGNED = (uint4, uint8, uint16, uint32, uint64)
_TINY_FLOATS = (
    float4_e2m1fn, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2,
    float8_e5m2fnuz, float8_e8m0fnu,
)  # fmt: skip
_FLOATS = (*_TINY_FLOATS, bfloat16, float16, float32, float64)
_COMPLEX = (complex64, complex128)
_KIND = {
    bool_: "b",
    **dict.fromkeys(_SIGNED, "i"),
    **dict.fromkeys(_UNSIGNED, "u"),
    **dict.fromkeys(_FLOATS, "f"),
    **dict.fromkeys(_COMPLEX, "c"),
}
WIDER = {int4: int8, uint4: uint8, float4_e2m1fn: bfloat16}
"""Those that take less than a byte on the device, and what XLA computes instead where it cannot compute with them."""
_NARROW = {int64: int32, uint64: uint32, float64: float32, complex128: complex64}


_CANONICAL = ({d: _NARROW.get(d, d) for d in _KIND}, {d: d for d in _KIND})
_DTYPE_CLASSES = frozenset(map(type, _KIND))


class extended(np.generic):
    """The category of dtypes whose elements are arrays of another dtype below, for `issubdtype`."""


class prng_key(extended):
    """The category of the dtypes of random keys, for `issubdtype(key.dtype, prng_key)`."""


class ExtendedDType:
    """A dtype whose elements are arrays of another dtype below: base of key dtypes.

    `physical` is the dtype of the elements below, `element_shape` their shape; `name` is how it prints, `type` its
    category.
    """

    type: Any = extended

    name: str
    physical: np.dtype
    element_shape: tuple[int, ...]
    itemsize: int

    def __repr__(self) -> str:
        return self.name


DType = Any
"""A `numpy.dtype` or an `ExtendedDType`. (The union would make every use of one of them a type error.)"""


def is_extended(dtype: Any) -> bool:
    """Whether elements of the dtype are arrays of another dtype below: those of keys."""
    return isinstance(dtype, ExtendedDType)


def kind(dtype: DType) -> str:
    """'b', 'i', 'u', 'f', 'c' for the numbers, 'V' for float0 and 'k' for extended dtypes."""
    if isinstance(dtype, ExtendedDType):
        return "k"
    return _KIND.get(dtype, "V")


def check_number(dtype: DType) -> None:
    """Raises TypeError for the dtypes of keys."""
    if is_extended(dtype):
        raise TypeError(
            f"this operation takes numbers, and random keys ({dtype}) are not numbers: random.key_data(keys) gives their words"
        )


def is_supported(dtype: Any) -> bool:
    """Whether arrays can have the dtype."""
    return isinstance(dtype, ExtendedDType) or dtype in _KIND or dtype == float0


def is_float(dtype: DType) -> bool:
    """Whether it is a real floating-point dtype, of any width."""
    return kind(dtype) == "f"


def is_complex(dtype: DType) -> bool:
    """Whether it is complex64 or complex128."""
    return kind(dtype) == "c"


def is_integer(dtype: DType) -> bool:
    """Whether it is a signed or unsigned integer dtype; bool is none."""
    return kind(dtype) in "iu"


def is_inexact(dtype: DType) -> bool:
    """Whether it is a real or complex floating-point dtype."""
    return kind(dtype) in "fc"


@functools.lru_cache(None)
def short_name(dtype: DType) -> str:
    """The name in a jaxpr: f32, bf16, i32, u8, c64, bool, key<fry>."""
    if dtype == float0:
        return "float0"
    name = dtype.name
    for long, short in (("bfloat", "bf"), ("float", "f"), ("complex", "c"), ("uint", "u"), ("int", "i")):
        name = name.replace(long, short)
    return name


_ACCEPTED = "(only numbers, booleans and keys)"
_REFUSED = {
    **dict.fromkeys(("int1", "uint1", "float6_e2m3fn", "float6_e3m2fn"), "(XLA does not support it on the CPU)"),
    **dict.fromkeys(("int2", "uint2"), "(some operations on it crash XLA's CPU compiler): use int4"),
}


def canonicalize(dtype: Any) -> DType:
    """The dtype used for `dtype` under the current `enable_x64`. Raises TypeError for what cannot be an array, ValueError
    for an array in the place of its dtype."""
    known = _CANONICAL[settings().enable_x64].get(dtype) if type(dtype) in _DTYPE_CLASSES else None
    if known is not None:
        return known
    if isinstance(dtype, ExtendedDType):
        return dtype
    if hasattr(dtype, "aval"):
        raise ValueError("an array was given as dtype; write x.dtype for the dtype of x")
    dtype = python_dtype(dtype) if isinstance(dtype, type) and dtype in PYTHON_SCALARS else np.dtype(dtype)
    if dtype.byteorder == ">":
        dtype = dtype.newbyteorder("=")
    if not is_supported(dtype):
        raise TypeError(f"arrays cannot have dtype {dtype} {_REFUSED.get(dtype.name, _ACCEPTED)}")
    return dtype if settings().enable_x64 else _NARROW.get(dtype, dtype)


def named(dtype: Any) -> DType:
    """As `canonicalize`, but 64 bits stay under `explicit_x64_dtypes="allow"`, where it is no type of Python's."""
    found = canonicalize(dtype)
    if settings().explicit_x64_dtypes != "allow" or is_extended(found):
        return found
    return found if isinstance(dtype, type) and dtype in PYTHON_SCALARS else np.dtype(dtype).newbyteorder("=")


def explicit(dtype: Any) -> DType:
    """The dtype used for one that a program asks for: `named`. Raises ValueError for 64 bits under `explicit_x64_dtypes="error"`."""
    found = named(dtype)
    if (
        settings().explicit_x64_dtypes != "error"
        or is_extended(found)
        or (isinstance(dtype, type) and dtype in PYTHON_SCALARS)
    ):
        return found
    if (asked := np.dtype(dtype).newbyteorder("=")) != found:
        raise ValueError(
            f"{asked.name} was asked for: 64-bit types need the option enable_x64, or explicit_x64_dtypes='allow' to have them where they are named"
        )
    return found


def real_part(dtype: DType) -> np.dtype:
    """The dtype of the real and imaginary parts of complex numbers; floats are their own."""
    return float32 if dtype == complex64 else float64 if dtype == complex128 else dtype


def complex_of(dtype: DType) -> np.dtype:
    """The complex dtype that holds `dtype`."""
    return dtype if is_complex(dtype) else complex128 if dtype == float64 else complex64


def width(dtype: DType) -> int:
    """Bits of an element; booleans take a byte."""
    return 4 if dtype in WIDER else 8 * dtype.itemsize


# Python scalars ------------------------------------------------------------------------------------------------------

PYTHON_SCALARS = {bool: bool_, int: int64, float: float64, complex: complex128}


def python_dtype(scalar_type: type) -> np.dtype:
    """The dtype a Python scalar of this type becomes: bool, int32/64, float32/64, complex64/128."""
    dtype = PYTHON_SCALARS[scalar_type]
    return dtype if settings().enable_x64 else _NARROW.get(dtype, dtype)


def does_not_fit(x: int, dtype: DType) -> OverflowError:
    """The error for a Python int beyond its dtype."""
    wide = "" if settings().enable_x64 else " with enable_x64 on"
    return OverflowError(f"{x} does not fit {dtype.name}: pass an array of a wider dtype{wide}")


def default_float() -> np.dtype:
    """The dtype of Python's floats: float32, or float64 with `enable_x64`."""
    return python_dtype(float)


def default_int() -> np.dtype:
    """The dtype of Python's ints: int32, or int64 with `enable_x64`."""
    return python_dtype(int)


# Promotion -----------------------------------------------------------------------------------------------------------
# Edges of the lattice go from a type to the next ones that can hold it; "int*", "float*" and "complex*" are the weak
# types of Python scalars. The join of two types is the least one reachable from both.

_WEAK = {"i": "int*", "u": "int*", "f": "float*", "c": "complex*"}
_ABOVE: dict[Any, tuple[Any, ...]] = {
    bool_: ("int*",),
    "int*": (uint4, int4, uint8, int8),
    uint4: (),
    uint8: (int16, uint16),
    uint16: (int32, uint32),
    uint32: (int64, uint64),
    uint64: ("float*",),
    int4: (),
    int8: (int16,),
    int16: (int32,),
    int32: (int64,),
    int64: ("float*",),
    "float*": (*_TINY_FLOATS, bfloat16, float16, "complex*"),
    **dict.fromkeys(_TINY_FLOATS, ()),
    bfloat16: (float32,),
    float16: (float32,),
    float32: (float64, complex64),
    float64: (complex128,),
    "complex*": (complex64,),
    complex64: (complex128,),
    complex128: (),
}


@functools.lru_cache(None)
def _reachable(node: Any) -> frozenset:
    return frozenset({node}).union(*(_reachable(above) for above in _ABOVE[node]))


@functools.lru_cache(None)
def _join(nodes: frozenset) -> Any:
    common = frozenset.intersection(*(_reachable(node) for node in nodes))
    least = [node for node in common if common <= _reachable(node)]
    if not least:
        names = ", ".join(sorted(map(str, nodes)))
        raise TypePromotionError(
            f"dtypes {names} have no common type: convert one of them with .astype(...) to say which is meant"
        )
    return least[0]


_WEAK_RESULT = {"int*": int, "float*": float, "complex*": complex}


@functools.lru_cache(4096)
def _promote(dtypes: tuple[DType, ...], weaks: tuple[bool, ...], strict: bool) -> tuple[Any, bool]:
    if len(set(dtypes)) == 1:
        return dtypes[0], all(weaks)
    if any(is_extended(d) or d == float0 for d in dtypes):
        raise TypePromotionError(f"keys, float0 and other dtypes do not mix: {', '.join(map(str, dtypes))}")
    if all(weaks):
        joined = _join(frozenset(dtypes))
        return _WEAK_RESULT.get(joined, joined), True
    joined = _join(frozenset(_WEAK.get(kind(d), d) if weak else d for d, weak in zip(dtypes, weaks)))
    if strict and {d for d, weak in zip(dtypes, weaks) if not weak} != {joined}:
        shown = ", ".join(f"{d}{' (a number)' * weak}" for d, weak in zip(dtypes, weaks))
        raise TypePromotionError(
            f"numpy_dtype_promotion is 'strict': {shown} are not converted by themselves; use .astype(...)"
        )
    return _WEAK_RESULT.get(joined, joined), joined in _WEAK_RESULT


def promote(*typed: tuple[DType, bool]) -> tuple[DType, bool]:
    """The dtype and weak type of an operation on values of the given (dtype, weak type) pairs.

    Raises TypePromotionError where none holds them all.
    """
    now = settings()
    return _promoted(typed, now.numpy_dtype_promotion == "strict", now.enable_x64, now.explicit_x64_dtypes == "allow")


def join(*typed: tuple[DType, bool]) -> tuple[DType, bool]:
    """Like `promote`, also where numpy_dtype_promotion is "strict": for operands whose result has a dtype of its own. Floats of
    8 bits, which have no common one among themselves, meet in bfloat16."""
    if len({d for d, _ in typed}) > 1 and all(d in _TINY_FLOATS for d, _ in typed):
        return bfloat16, False
    now = settings()
    return _promoted(typed, False, now.enable_x64, now.explicit_x64_dtypes == "allow")


@functools.lru_cache(4096)
def _promoted(typed: tuple[tuple[DType, bool], ...], strict: bool, enable_x64: bool, wide: bool) -> tuple[DType, bool]:
    """What follows from the types and from these options, the ones in force. `wide`: operands of 64 bits give 64 bits without `enable_x64`."""
    dtypes, weaks = zip(*typed)
    dtype, weak = _promote(dtypes, weaks, strict)
    if isinstance(dtype, type):
        dtype = python_dtype(dtype)
    elif not (wide and any(d in _NARROW for d in dtypes)):
        dtype = canonicalize(dtype)
    return dtype, weak and dtype != bool_


def promote_types(*typed: tuple[DType, bool]) -> DType:
    """Like `promote`, but 64-bit dtypes stay what they are and Python's numbers count as 64 bits wide: only what no operand
    asked for is narrowed."""
    dtype, _ = _promote(*zip(*typed), settings().numpy_dtype_promotion == "strict")
    dtype = PYTHON_SCALARS[dtype] if isinstance(dtype, type) else dtype
    return dtype if any(d in _NARROW for d, _ in typed) else canonicalize(dtype)


def to_inexact(dtype: DType) -> DType:
    """`dtype` itself if it is a float or complex, else the float for it: float64 for integers of 64 bits, float32 for others."""
    if is_inexact(dtype):
        return dtype
    if dtype == float0:
        raise TypeError("float0 is the dtype of derivatives of integers: arrays of it hold no values to compute with")
    return float64 if dtype.itemsize == 8 else float32
