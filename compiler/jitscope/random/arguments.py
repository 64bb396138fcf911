"""What samplers are given, checked alike: a key, a shape, a dtype, parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array
from ..core.avals import aval_of
from ..core.dtypes import promote
from ..core.errors import TypePromotionError
from ..numpy.dtypes import requested
from ..numpy.operands import broadcast, broadcast_shape, shape_of
from ..ops.linear import convert
from .keys import single


_KINDS = {"f": "floats", "fc": "floats and complex numbers", "iu": "integers", "u": "unsigned integers"}
ANY = "biufc"


def key_and_dtype(
    name: str, key: Any, dtype: Any, kinds: str = "f", default: Any = float,
    error: type[Exception] = ValueError, also: frozenset = frozenset(),
) -> tuple[Array, np.dtype]:  # fmt: skip
    """One typed key, and the dtype of the numbers to be drawn (`default` for None), which is of the given kinds
    and of 8 bits or more, or one of `also`.

    Raises TypeError for what is not a key, ValueError for several keys and `error` for another kind of dtype.
    """
    key = single(key, name)
    dtype = requested(default if dtype is None else dtype, f"random.{name}")
    if dtypes.canonicalize(dtype) != dtype:
        raise NotImplementedError(
            f"random.{name} of {dtype.name} needs the option enable_x64, also under explicit_x64_dtypes='allow'"
        )
    small = dtype in dtypes.WIDER and dtype not in also
    if dtypes.is_extended(dtype) or dtypes.kind(dtype) not in kinds or small:
        raise error(f"random.{name} gives {_KINDS.get(kinds, 'numbers')} of 8 bits and more, not {dtype.name}")
    return key, dtype


def drawn_shape(name: str, shape: Any, *params: Any, error: type[Exception] = ValueError) -> tuple[int, ...]:
    """The shape of the result: the given one, to which the parameters' broadcast, or theirs for None.

    Raises `error` where they do not, TypeError for sizes that are not ints.
    """
    return shape_over(name, shape, *[aval_of(p).shape for p in params], error=error)


def shape_over(name: str, shape: Any, *own: tuple[int, ...], error: type[Exception] = ValueError) -> tuple[int, ...]:
    """The same, given the shapes of the parameters."""
    if shape is not None or not own:
        shape = shape_of(f"random.{name}", shape)
    try:
        together = broadcast_shape(*own) if own else ()
        fits = shape is None or broadcast_shape(shape, together) == shape
    except ValueError as problem:
        raise error(f"random.{name}: {problem}") from None
    if not fits:
        raise error(
            f"random.{name}: parameters of shape {' and '.join(map(str, own))} do not broadcast to shape {shape}: "
            "the shape is that of the whole result, not of the draws for one parameter"
        )
    return together if shape is None else shape


def parameters_in(name: str, dtype: Any, *params: Any) -> list[Array]:
    """Parameters in `dtype`. Raises TypePromotionError for those that do not fit it by promotion (float64 for float32)."""
    for param in params:
        own = aval_of(param)
        if own.dtype != dtype and promote((own.dtype, own.weak_type), (dtype, False))[0] != dtype:
            raise TypePromotionError(
                f"random.{name} draws {dtype.name}, and a parameter is {own.short()}: convert it with .astype, or give dtype"
            )
    return [in_dtype(param, dtype) for param in params]


def sampler_arguments(
    name: str, key: Any, shape: Any, dtype: Any, *params: Any, kinds: str = "f"
) -> tuple[Array, tuple[int, ...], np.dtype, *tuple[Array, ...]]:
    """What most samplers begin with: one key, the shape of the result, its dtype, and the parameters in that. Raises as `key_and_dtype`,
    `drawn_shape` and `parameters_in`."""
    key, dtype = key_and_dtype(name, key, dtype, kinds)
    shape = drawn_shape(name, shape, *params)
    return key, shape, dtype, *parameters_in(name, dtype, *params)


def in_dtype(value: Any, dtype: Any) -> Array:
    """A parameter in `dtype`; a number stays a constant of the program."""
    if isinstance(value, (int, float, np.generic)):
        return np.asarray(value).astype(dtype)[()]  # pyright: ignore[reportReturnType]
    return convert(value, dtype)


def spread(shape: tuple[int, ...], *xs: Any) -> list[Array]:
    """Operands broadcast to a shape."""
    return [broadcast(x, aval_of(x).shape, shape) for x in xs]
