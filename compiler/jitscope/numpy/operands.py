"""Operands: what functions accept, brought to one dtype and one shape as NumPy's rules and JAX's promotion say."""

from __future__ import annotations

import functools
import itertools
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

from ..core import dtypes, notices
from ..core.avals import ShapedArray, aval_of, exact, is_python_scalar
from ..core.config import override, settings
from ..core.dtypes import promote, to_inexact
from ..core.errors import ConcretizationTypeError, ShapeError, TracerIntegerConversionError, TypePromotionError
from ..core.part_types import laid_of
from ..core.source import stack_level
from ..core.staging import recording
from ..core.trace import current_trace
from ..eager.operands import operand_and_aval
from ..ops.linear import broadcast_in_dim_p, convert_element_type_p, number_of
from ..symbolic.dimension import Dim


F = TypeVar("F", bound=Callable[..., Any])


def scalar_of(x: Any, dtype: Any, weak: bool) -> Any:
    """A Python or NumPy number (or a size) in `dtype`: a Python scalar where it is to stay weak, else a NumPy scalar."""
    if type(x) is Dim:
        return number_of(x, dtype)
    if weak:
        for kind, python in (("b", bool), ("iu", int), ("f", float), ("c", complex)):
            if dtypes.kind(dtype) in kind:
                if is_python_scalar(x) and dtype == dtypes.python_dtype(python):
                    return python(x)
    if type(x) is int and dtypes.is_integer(dtype):
        # What does not fit the dtype is cut, as in JAX, where it fits an integer of the default width.
        wide = dtype.itemsize > dtypes.default_int().itemsize or _fits(x, dtype)
        own = dtype if wide else dtypes.default_int()
        limits = ml_dtypes.iinfo(own)
        if not limits.min <= x <= limits.max:
            raise OverflowError(f"{x} does not fit {own.name}: use an array of a wider dtype")
        x = np.asarray(x, own)
    elif isinstance(x, (float, np.floating)) and dtypes.is_integer(dtype):
        x = _cut(x, dtype)
    return exact(np.asarray(x).astype(dtype)[()])


def _fits(x: int, dtype: Any) -> bool:
    limits = ml_dtypes.iinfo(dtype)
    return int(limits.min) <= x <= int(limits.max)


def _cut(x: Any, dtype: Any) -> int:
    """A float as an integer, as XLA converts it: cut towards zero, no further than the dtype reaches, and 0 for NaN."""
    limits = ml_dtypes.iinfo(dtype)
    return 0 if x != x else int(min(max(x, int(limits.min)), int(limits.max)))


def cast(x: Any, aval: ShapedArray, dtype: Any, weak: bool = False) -> Any:
    """`x` in `dtype`. Numbers and NumPy arrays are converted now, others by an equation if it changes anything."""
    if hasattr(x, "aval"):
        if aval.dtype == dtype and (aval.weak_type == weak or (aval.weak_type and dtype != dtypes.bool_)):
            return x
        return convert_element_type_p(x, new_dtype=dtype, weak_type=weak)
    if isinstance(x, np.ndarray) and x.ndim:
        value = x if x.dtype == dtype else real_if_needed(x, dtype).astype(dtype)
    else:
        value = scalar_of(x, dtype, weak)
    return (
        convert_element_type_p(value, new_dtype=dtype, weak_type=True)
        if weak and not is_python_scalar(value)
        else value
    )


def real_if_needed(x: Any, dtype: Any) -> np.ndarray:
    """The real part on the way to a dtype of real numbers (NumPy would warn)."""
    real = x.dtype.kind == "c" and not dtypes.is_complex(dtype) and dtype != dtypes.bool_
    return x.real if real else x


@lru_cache(4096)
def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of all together. Raises ShapeError (a TypeError and a ValueError) naming all shapes."""
    rank = max(map(len, shapes))
    columns = zip(*[(1,) * (rank - len(s)) + s for s in shapes])
    result = []
    for sizes in columns:
        wide = {n for n in sizes if n != 1}
        if len(wide) > 1:
            text = " and ".join(str(s) for s in dict.fromkeys(shapes))
            raise ShapeError(f"shapes {text} do not broadcast: sizes, aligned from the right, must be equal or 1")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def broadcast(x: Any, own: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """`x` of shape `own` repeated to `shape`."""
    if own == shape:
        return x
    offset = len(shape) - len(own)
    return broadcast_in_dim_p(x, shape=shape, broadcast_dimensions=tuple(range(offset, len(shape))))


def promoted(name: str, xs: Sequence[Any], inexact: bool = False) -> tuple[list[Any], list[ShapedArray], Any, bool]:
    """Operands in their common dtype, their avals before, that dtype and whether it is weak. `inexact`: at least floats.

    Raises TypeError for what is not an array and TypePromotionError where no dtype holds all.
    """
    pairs = [operand_and_aval(name, x, i) for i, x in enumerate(xs)]
    avals = [aval for _, aval in pairs]
    try:
        dtype, weak = promote(*[(a.dtype, a.weak_type) for a in avals])
    except TypePromotionError as error:
        if any(a.dtype == dtypes.float0 for a in avals):
            raise _no_numbers(name) from None
        keys = any(dtypes.is_extended(a.dtype) for a in avals)
        raise (TypeError if keys else TypePromotionError)(f"{name}: {error}") from None
    if inexact:
        dtype = to_inexact(dtype)
    return [cast(x, aval, dtype, weak) for x, aval in pairs], avals, dtype, weak


def _no_numbers(name: str) -> TypeError:
    return TypeError(
        f"{name} got zeros of dtype float0, the derivatives of integers, with which nothing computes: leave them out, or make "
        "numbers of them with jnp.zeros(x.shape)"
    )


def same_shape(name: str, xs: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """Operands of one shape; scalars stay as they are. Raises ValueError naming the function and the shapes."""
    shapes = {a.shape for a in avals if a.shape}
    if len(shapes) < 2:
        return list(xs)
    check_ranks(name, shapes)
    if notices.listeners and len(avals) == 2 and recording(current_trace()) is None:
        notices.tell_square(name, avals[0], avals[1])
    try:
        shape = broadcast_shape(*[a.shape for a in avals])
    except ValueError as error:
        raise ShapeError(f"{name}: {error}") from None
    return [broadcast(x, a.shape, shape) if a.shape else x for x, a in zip(xs, avals)]


def check_ranks(name: str, shapes: Iterable[tuple[int, ...]], inner: Iterable[int] = ()) -> None:
    """Raise ValueError, or warn, where shapes differ in rank (scalars apart) and numpy_rank_promotion says so. `inner`: how many
    axes of each do not broadcast."""
    mode = settings().numpy_rank_promotion
    if mode == "allow":
        return
    ranks = {len(s) - n for s, n in itertools.zip_longest(shapes, inner, fillvalue=0) if s}  # pyright: ignore[reportArgumentType]
    if len(ranks) < 2:
        return
    message = (
        f"{name}: shapes {' and '.join(map(str, shapes))} differ in rank, and numpy_rank_promotion is {mode!r}: give the "
        "smaller one its axes of size 1 with x[None] or reshape"
    )
    if mode == "raise":
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=stack_level())


def operands(name: str, *xs: Any, inexact: bool = False) -> list[Any]:
    """Operands of one dtype and one shape, scalars apart, ready for an elementwise primitive."""
    values, avals, _, _ = promoted(name, xs, inexact)
    return same_shape(name, values, avals)


def operand(name: str, x: Any, inexact: bool = False) -> Any:
    """One operand; with `inexact`, integers and booleans as floats."""
    x, aval = operand_and_aval(name, x)
    dtype = to_inexact(aval.dtype) if inexact and not dtypes.is_extended(aval.dtype) else aval.dtype
    return x if dtype == aval.dtype and not isinstance(x, np.ndarray) else cast(x, aval, dtype, aval.weak_type)


def number_like(x: Any, value: Any) -> Any:
    """The number `value` in the dtype of `x`, and as weak: an operation with it leaves a weak operand weak."""
    aval = aval_of(x)
    return scalar_of(value, aval.dtype, aval.weak_type)


def constant_like(x: Any, value: Any) -> Any:
    """The number `value` in the dtype of `x`, weak as a weak scalar is: an operation with it makes a weak array strong, as many of JAX's do."""
    aval = aval_of(x)
    return scalar_of(value, aval.dtype, aval.weak_type and not aval.shape)


def weak_as(out: Any, *given: Any) -> Any:
    """A result to which only numbers were added, as weakly typed as the operands."""
    weak = all(aval_of(v).weak_type for v in given)
    return (
        convert_element_type_p(out, new_dtype=aval_of(out).dtype, weak_type=True)
        if weak and not aval_of(out).weak_type
        else out
    )


def lenient(fun: F) -> F:
    """Decorator: what the function makes for itself may differ in rank and dtype. The options that forbid it are for the
    operands that users write."""

    @functools.wraps(fun)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        now = settings()
        if now.numpy_rank_promotion == "allow" and now.numpy_dtype_promotion == "standard":
            return fun(*args, **kwargs)
        with override(numpy_rank_promotion="allow", numpy_dtype_promotion="standard"):
            return fun(*args, **kwargs)

    return wrapper  # pyright: ignore[reportReturnType]


# Axes and shapes -----------------------------------------------------------------------------------------------------


def integer(name: str, x: Any, what: str = "an argument", traced: type[Exception] = ConcretizationTypeError) -> int:
    """A Python int, or a symbolic dimension. Raises `traced` for a tracer, TypeError for other things."""
    if isinstance(x, Dim):
        return x  # pyright: ignore[reportReturnType]
    try:
        return operator.index(x)
    except TracerIntegerConversionError as error:
        raise traced(str(error)) from None
    except TypeError as error:
        if hasattr(x, "tracing"):
            raise
        # As in JAX: what can be no part of a program's key is a ValueError.
        kind = TypeError if type(x).__hash__ is not None else ShapeError
        raise kind(f"{name}: {what} must be an int, not {x!r}") from error


def one_axis(name: str, axis: Any, rank: int, traced: type[Exception] = ConcretizationTypeError) -> int:
    """An axis counted from the front. Raises AxisError (NumPy's: a ValueError and an IndexError) if there is none of that
    number, `traced` for a tracer."""
    axis = integer(name, axis, "axis", traced)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(f"{name}: axis {axis} is out of bounds for an array of {rank} dimensions")
    return axis % rank if rank else 0


def listed(axes: Any) -> list[Any]:
    """An argument that is one axis (or another number), or a sequence or vector of them, as a list."""
    if isinstance(axes, (tuple, list, range)):
        return list(axes)
    if getattr(axes, "ndim", 0) == 1:
        return list(np.asarray(axes))
    return [axes]


def axes_of(name: str, axis: Any, rank: int) -> tuple[int, ...]:
    """Sorted distinct axes from None (all), an int or a sequence. Raises ValueError for others and for duplicates."""
    if axis is None:
        return tuple(range(rank))
    axes = [one_axis(name, a, rank) for a in listed(axis)]
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: an axis stands twice in {axis}")
    return tuple(sorted(axes))


def shape_of(name: str, shape: Any, traced: type[Exception] = TypeError) -> tuple[int, ...]:
    """A shape from an int or a sequence of ints. Raises TypeError, for negative sizes ShapeError, for traced ones `traced`."""
    if isinstance(shape, (Set, Mapping)):
        raise TypeError(f"{name}: a shape is an int or a sequence of ints, not {shape!r}")
    if isinstance(shape, Iterable) and getattr(shape, "shape", True):  # not an array without axes
        sizes = tuple(integer(name, n, "every size", traced) for n in shape)
    else:
        sizes = (integer(name, shape, "the shape", traced),)
    if any(n < 0 for n in sizes):
        raise ShapeError(f"{name}: shape {sizes} has a negative size")
    return sizes


def unsupported(name: str, **given: Any) -> None:
    """Raise NotImplementedError for arguments that exist for NumPy's sake only."""
    for argument, value in given.items():
        if value is not None:
            raise NotImplementedError(f"{name}: {argument}= is not supported, arrays cannot be written to")


def finite_info(dtype: Any) -> Any:
    """Limits of a float or integer dtype."""
    return ml_dtypes.iinfo(dtype) if dtypes.is_integer(dtype) else ml_dtypes.finfo(dtypes.real_part(dtype))


def lies_explicitly(x: Any) -> bool:
    """Whether the type of a value says how it lies along Explicit axes of a mesh."""
    return laid_of(aval_of(x)) is not None


def check_whole(name: str, aval: ShapedArray, axes: Iterable[int] | None = None) -> None:
    """Raises ShardingTypeError where devices divide one of these axes of a value (None: any) along an Explicit axis of a mesh."""
    if laid_of(aval) is not None:
        from ..core import explicit  # of several devices

        explicit.check_whole(name, aval, axes)
