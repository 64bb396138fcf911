"""New arrays: from values, filled, and copies.

Outside any trace small arrays are made by NumPy and put on the device, so that no program is compiled for each shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tree
from ..backend.array import Array, array_from_numpy, one_device, to_array
from ..backend.guarding import guard
from ..backend.placement import by_device, laid, place_like
from ..backend.stages import ShapeDtypeStruct
from ..backend.watching import look_at
from ..core import config, dtypes
from ..core.annotations import (
    Array as AnyArray,
    ArrayLike,
    Device,
    DTypeLike,
    Maker,
    MakerLike,
    PartitionSpec,
    Sharding,
    SupportsArray,
    SupportsDLPack,
    SupportsShape,
)
from ..core.avals import ShapedArray, aval_of, class_name, from_protocol, is_python_scalar, not_an_array, refuse_masked
from ..core.config import settings
from ..core.dtypes import canonicalize, default_float, promote
from ..core.errors import ShapeError
from ..core.jax_values import jax_kind
from ..core.meshes_in_force import abstract
from ..core.part_types import Sums, nothing, sums_of, with_sums
from ..core.trace import Tracer, evaluating
from ..core.varying import as_said
from ..eager.functions import eager_jit
from ..ops.linear import broadcast_in_dim_p, convert, copy_p, full as full_value
from ..ops.rng import random_wrap_p
from ..xla import client
from ..xla.cpu_tuning import FILLED_BY_NUMPY
from ._ufunc import describe
from .dtypes import array_of, on_device, over_mesh, requested
from .joining import stack
from .operands import cast, operand_and_aval, real_if_needed, scalar_of, shape_of
from .structure import array_operand, with_new_axes


if TYPE_CHECKING:
    from typing_extensions import Buffer


__all__ = ["array", "asarray", "copy", "empty", "empty_like", "from_dlpack", "frombuffer", "full", "full_like", "ones",
           "ones_like", "zeros", "zeros_like"]  # fmt: skip


# From values ---------------------------------------------------------------------------------------------------------


def array(
    object: ArrayLike | Sequence[Any] | SupportsArray,
    dtype: DTypeLike | None = None,
    *,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: Device | Sharding | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> AnyArray:
    """An array of numbers, nested sequences of numbers and arrays, or anything with `__array__` or `__dlpack__`. Its
    shape is that of the nesting; `ndmin` adds axes of size 1 in front.

    Python numbers make weak types, sequences do not. 64-bit values become 32-bit ones unless `enable_x64` is on. NumPy
    arrays of objects, texts and dates are read as numbers where `dtype` says of what kind, else they raise TypeError.
    Raises ValueError for sequences of uneven length and for NaN as an integer, OverflowError for numbers that are too large, NotImplementedError for
    an `order` other than "C", "K" and "A".
    """
    if out_sharding is not None:
        return laid(out_sharding, array, object, dtype, copy=copy, order=order, ndmin=ndmin)
    if order not in (None, "K", "C", "A"):
        raise NotImplementedError(
            f"array: order={order!r} is not supported: elements are always stored row by row (order C)"
        )
    to = None if dtype is None else requested(dtype, "array")
    result = _from_value(object, to, copy)
    if config.watching and not isinstance(result, Tracer):
        look_at(result, "array")
    rank = aval_of(result).ndim
    if ndmin > rank:
        result = with_new_axes(result, range(ndmin - rank))
    return on_device(result, device)


def asarray(
    a: ArrayLike | Sequence[Any] | SupportsArray,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Device | Sharding | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> AnyArray:
    """`a` as an array, see `array`; an array of that dtype is given back as it is unless `copy`."""
    if out_sharding is not None:
        return laid(out_sharding, asarray, a, dtype, order, copy=copy)
    if dtype is None and order is None and not copy and device is None and not config.watching:
        if isinstance(a, Array):
            return a  # pyright: ignore[reportReturnType]
        if type(a) is np.ndarray and a.dtype.names is None and dtypes.is_supported(a.dtype):
            return array_of(a, given=True, named=False)
    return array(a, dtype, copy=bool(copy), order=order or "K", device=device)


def _from_value(x: Any, to: Any, copy: bool) -> Any:
    x = from_protocol(x)
    if isinstance(x, (Array, Tracer)):
        if to is not None and aval_of(x).dtype != to:
            return cast(x, aval_of(x), to)
        strong = convert(x, to) if to is not None else x
        return copy_p(strong) if copy and strong is x else strong
    if is_python_scalar(x):
        return _scalar(x, to)
    if x is None:
        raise ValueError("array: None is not an array")
    if isinstance(x, (list, tuple)):
        return _from_sequence(x, to)
    if not isinstance(x, (np.ndarray, np.generic)) and hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return _from_numpy(np.from_dlpack(x), to)
    if jax_kind(x) is not None:
        return _from_value(to_array(x), to, copy)
    refuse_masked(x)
    return _from_numpy(np.asarray(x), to, type(x))


def refuse_complex(name: str, x: Any, to: Any) -> None:
    """Raise TypeError for a complex Python number that is to become a real one."""
    if type(x) is complex and to is not None and not dtypes.is_complex(to) and to != dtypes.bool_:
        raise TypeError(f"{name}: the complex number {x!r} does not fit {to.name}: take its real part")


def _scalar(x: Any, to: Any) -> Any:
    refuse_complex("array", x, to)
    if to is None:
        return _number(x) if evaluating() else array_operand("array", x)
    exact = type(x) in (int, float) and dtypes.is_integer(to)  # then NumPy checks the range
    value = np.asarray(x, to)[()] if exact else scalar_of(x, to, False)
    return array_of(value, given=True)


def _number(x: Any) -> Any:
    aval = aval_of(x)
    return over_mesh(array_from_numpy(scalar_of(x, aval.dtype, False), aval.weak_type))


def _from_numpy(x: np.ndarray, to: Any, given: type = np.ndarray) -> Any:
    """`given`: of what type it was before NumPy made an array of it."""
    if x.dtype == dtypes.float0 and to in (None, dtypes.float0):
        return x
    if not dtypes.is_supported(x.dtype) and x.dtype.byteorder != ">":
        if to is None or dtypes.is_extended(to):
            if issubclass(given, (np.ndarray, np.generic)):
                raise TypeError(f"array: {not_an_array(x)}")
            raise TypeError(
                f"array: a value of type {class_name(given)} is no array, no number and no sequence of those"
            )
        x = x.astype(to)  # numbers in objects or texts: NumPy reads them where it is told as what
    if to is None:
        return array_of(x, given=True, named=False)
    return array_of(real_if_needed(x, to).astype(to, copy=False), given=True)


def _from_sequence(x: Any, to: Any) -> Any:
    leaves = tree.leaves(x, is_leaf=lambda item: item is None)
    if not leaves:
        return array_of(np.asarray(x, default_float() if to is None else to), given=True)
    kinds = set(map(type, leaves))
    for leaf in leaves if complex in kinds else ():
        refuse_complex("array", leaf, to)
    if kinds <= {bool, int, float, complex}:
        to = to or promote(*[(dtypes.python_dtype(k), k is not bool) for k in kinds])[0]
        return array_of(_built(x, to), given=True)
    if type(None) in kinds:
        raise ValueError("array: a sequence holds None, which is not a number")
    avals = [operand_and_aval("array", leaf, i)[1] for i, leaf in enumerate(leaves)]
    to = to or promote(*{(a.dtype, a.weak_type) for a in avals})[0]
    if dtypes.is_extended(to) or any(isinstance(leaf, Tracer) or _unknown(leaf) or _stays(leaf) for leaf in leaves):
        members = [_from_value(item, to, False) for item in x]
        shapes = {aval_of(m).shape for m in members}
        if len(shapes) > 1:
            raise ShapeError(
                f"array: the members of the sequence differ in shape: {', '.join(map(str, sorted(shapes)))}"
            )
        return stack(members)
    return array_of(_built(_on_host(x), to), given=True)


def _unknown(leaf: Any) -> bool:
    """Whether an operation on a member of a sequence is recorded: JAX computes with what NumPy knows alone."""
    return not isinstance(leaf, (int, float, complex, np.ndarray, np.generic)) and not evaluating()


def _stays(leaf: Any) -> bool:
    """Whether it is an array that stays on the devices where it is."""
    return type(leaf) is Array and not one_device() and leaf.committed


def _on_host(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_on_host(item) for item in x]
    x = from_protocol(x)
    return np.asarray(x) if isinstance(x, Array) else x


def _built(x: Any, to: Any) -> np.ndarray:
    try:
        return real_if_needed(np.array(x), to).astype(to) if dtypes.is_float(to) else np.array(x, to)
    except ValueError as error:
        raise ShapeError(f"array: the sequences differ in length: {error}") from None


def copy(a: ArrayLike, order: str | None = None) -> AnyArray:
    """A copy of `a`, of its shape and dtype, in memory of its own."""
    return array(a, copy=True, order=order)


def from_dlpack(x: SupportsDLPack, /, *, device: Device | Sharding | None = None, copy: bool | None = None) -> AnyArray:
    """An array with the shape and values of `x`, an object with `__dlpack__` and `__dlpack_device__` in host memory, as
    a copy. With `copy=False` only an `Array` will do, and shares its memory.

    64-bit values become 32-bit ones unless `enable_x64` is on. Raises TypeError for other objects, ValueError for other
    memory and where `copy` is False but a copy is needed, BufferError or TypeError for dtypes that DLPack does not
    have.
    """
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(
            f"from_dlpack: an object with __dlpack__ and __dlpack_device__ is needed, not {type(x).__name__}"
        )
    if isinstance(x, Array):
        if copy is False and device is not None and device != x.place:
            raise ValueError(
                f"from_dlpack: the array is on {x.place}; on {device} it is a copy, which copy=False forbids"
            )
        return on_device(x if copy is False else array(x, copy=True), device)
    if copy is False:
        raise ValueError("from_dlpack: arrays of other libraries are copied, which copy=False forbids")
    buf = client.from_dlpack(x)
    found = client.to_numpy(buf)
    out = Array(buf, ShapedArray(found.shape, found.dtype))
    return on_device(asarray(out, canonicalize(found.dtype)), device)


def frombuffer(buffer: Buffer, dtype: DTypeLike = float, count: int = -1, offset: int = 0) -> AnyArray:
    """A vector [count] of the numbers in the bytes of `buffer`, from byte `offset` on (`count` -1: all). Raises
    ValueError where the bytes do not suffice or do not come out even."""
    return asarray(np.frombuffer(buffer, np.dtype(dtype), count, offset))  # pyright: ignore[reportCallIssue, reportArgumentType]


# Filled --------------------------------------------------------------------------------------------------------------


def constant(name: str, shape: tuple[int, ...], value: Any, dtype: Any, device: Any = None) -> Any:
    """An array of `shape` filled with a NumPy scalar of `dtype`."""
    if not evaluating():
        return broadcast_in_dim_p(value, shape=shape, broadcast_dimensions=())
    size = math.prod(shape)
    here = abstract.get() is None and (device is None or client.is_device(device))
    if here and FILLED_BY_NUMPY.reaches(size):
        if config.guarding:
            guard("host_to_device", lambda: f"{dtype}{list(shape)}, made by {name}")
        filled = np.zeros(shape, dtype) if not value else np.full(shape, value, dtype)
        made = Array(client.put(filled, device or settings().default_device), ShapedArray(shape, dtype))
        return made if device is None else by_device(made)
    return on_device(full_value(shape, value, dtype), device)


def _maker(name: str, value: int, doc: str) -> Maker:
    def fun(
        shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Sharding | PartitionSpec | None = None
    ) -> Any:
        if out_sharding is not None:
            return laid(out_sharding, fun, shape, dtype)
        to = default_float() if dtype is None else requested(dtype, name)
        if dtypes.is_extended(to):
            return _keys(name, shape_of(name, shape), value, to)
        if to == dtypes.float0:
            return np.zeros(shape_of(name, shape), to)
        return constant(name, shape_of(name, shape), to.type(value), to, device)

    return describe(fun, name, f"{doc} of `shape` (an int or a sequence) and `dtype` (None: the default float).")


def _keys(name: str, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    """Keys whose words are all one number: a place to put others."""
    if not is_python_scalar(value):
        raise TypeError(f"{name}: {value!r} is not a key: {dtype} is filled with a key, or with a number for its words")
    return random_wrap_p(full_value((*shape, *dtype.element_shape), int(value), dtype.physical), impl=dtype)


zeros = _maker("zeros", 0, "Zeros")
ones = _maker("ones", 1, "Ones")
empty = _maker("empty", 0, "Zeros")


def full(
    shape: int | Sequence[int],
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    device: Device | Sharding | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> AnyArray:
    """`fill_value` repeated to `shape`, in `dtype` (None: the value's, weak for a Python number and no `device`). Raises ValueError for
    a value that does not broadcast to `shape`."""
    if out_sharding is not None:
        return laid(out_sharding, full, shape, fill_value, dtype)
    sizes = shape_of("full", shape)
    value, aval = operand_and_aval("full", fill_value)
    to = aval.dtype if dtype is None else requested(dtype, "full")
    refuse_complex("full", value, to)
    weak = dtype is None and aval.weak_type and (device is None or not evaluating())
    if dtypes.is_extended(to) and aval.dtype != to:
        return _keys("full", sizes, value, to)
    if to == dtypes.float0:
        return np.zeros(sizes, to)  # pyright: ignore[reportReturnType]
    if not hasattr(value, "aval") and not aval.shape and not weak:
        return constant("full", sizes, scalar_of(value, to, False), to, device)
    return on_device(_spread(value, sizes, to, weak), device)


@eager_jit(static="shape dtype weak")
def _spread(value: Any, shape: tuple[int, ...], dtype: Any, weak: bool) -> Any:
    aval = aval_of(value)
    value = cast(value, aval, dtype, weak)
    own = aval.shape
    if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(own[::-1], shape[::-1])):
        raise ValueError(f"full: a value of shape {own} does not broadcast to shape {shape}")
    offset = len(shape) - len(own)
    return broadcast_in_dim_p(value, shape=shape, broadcast_dimensions=tuple(range(offset, len(shape))))


def full_like(
    a: ArrayLike | SupportsShape,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: int | Sequence[int] | None = None,
    *,
    device: Device | Sharding | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> AnyArray:
    """`fill_value` repeated to the shape of `a`, in its dtype; `shape` and `dtype` override them."""
    if out_sharding is not None:
        return laid(out_sharding, full_like, a, fill_value, dtype, shape)
    like: Any = a
    aval = operand_and_aval("full_like", a)[1] if not hasattr(a, "shape") or hasattr(a, "aval") else like
    sizes = tuple(aval.shape) if shape is None else shape_of("full_like", shape)
    device = place_like(like, sizes, dtype) if device is None else device
    if isinstance(like, Tracer) and like.aval.mark is not None and sizes == like.aval.shape:
        made = full_like(like.aval.update(sharding=None), fill_value, dtype, device=device)
        return as_said(made, with_sums(like.aval, Sums(nothing, sums_of(like.aval).reduced)))  # no term of a sum
    if dtype is None and getattr(aval, "weak_type", False) and not isinstance(a, ShapeDtypeStruct):
        value, given = operand_and_aval("full_like", fill_value)
        return on_device(_spread(value, sizes, aval.dtype, not given.ndim), device)
    return full(sizes, fill_value, canonicalize(aval.dtype) if dtype is None else dtype, device=device)


def _like(name: str, value: int, doc: str) -> MakerLike:
    def fun(
        a: Any,
        dtype: Any = None,
        shape: Any = None,
        *,
        device: Any = None,
        out_sharding: Sharding | PartitionSpec | None = None,
    ) -> Any:
        return full_like(a, value, dtype, shape, device=device, out_sharding=out_sharding)

    return describe(
        fun, name, f"{doc} of the shape and dtype of an array (or ShapeDtypeStruct); `shape` and `dtype` override them."
    )


zeros_like = _like("zeros_like", 0, "Zeros")
ones_like = _like("ones_like", 1, "Ones")


def empty_like(
    prototype: ArrayLike | SupportsShape,
    dtype: DTypeLike | None = None,
    shape: int | Sequence[int] | None = None,
    *,
    device: Device | Sharding | None = None,
) -> AnyArray:
    """Zeros of the shape and dtype of an array (or ShapeDtypeStruct); `shape` and `dtype` override them."""
    return full_like(prototype, 0, dtype, shape, device=device)
