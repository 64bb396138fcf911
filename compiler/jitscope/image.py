"""`jitscope.image`: resizing images of any number of axes.

Each axis is a product with a matrix of weights, so that images can be batched, have channels anywhere, and have derivatives. Where the scale is known
and few pixels have weights in one of the result, it is the sum over these.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import numpy as jnp
from .control.linear_call import linear_call
from .core.annotations import Array, ArrayLike, PrecisionLike
from .core.avals import aval_of
from .eager.functions import eager_jit
from .lax import Precision
from .numpy.operands import lenient, one_axis, operand, operand_and_aval, operands, shape_of
from .symbolic.dimension import is_static
from .xla.cpu_tuning import RESIZED_BY_PIXELS


__all__ = [
    "ResizeMethod",
    "resize",
    "scale_and_translate",
]


class ResizeMethod(enum.Enum):
    """How pixels are weighted: the nearest one, linearly, by a sinc in a window (Lanczos, of radius 3 or 5), by cubic polynomials
    (with PyTorch's parameter and edges, if not antialiased), or by the area covered."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of that name. Raises ValueError if there is none."""
        if s not in _NAMES:
            raise ValueError(f"there is no method {s!r} of resizing; there are {', '.join(map(repr, _NAMES))}")
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
    **dict.fromkeys(("cubic-pytorch", "bicubic-pytorch"), ResizeMethod.CUBIC_PYTORCH),
    "area": ResizeMethod.AREA,
}


def _method(method: Any) -> ResizeMethod:
    if isinstance(method, str):
        return ResizeMethod.from_string(method)
    if not isinstance(method, ResizeMethod):
        raise TypeError(f"the method of resizing is a name or a ResizeMethod, not {method!r}")
    return method


# Weights by distance, in pixels --------------------------------------------------------------------------------------


def _triangle(x: Any) -> Any:
    return jnp.maximum(0, 1 - x)


def _lanczos(radius: int) -> Callable[[Any], Any]:
    def weight(x: Any) -> Any:
        product = radius * jnp.sin(math.pi * x) * jnp.sin(math.pi * x / radius)
        inner = jnp.where(x > 1e-3, product / jnp.where(x != 0, math.pi**2 * x**2, 1), 1)
        return jnp.where(x > radius, 0.0, inner)

    return weight


def _cubic(a: float) -> Callable[[Any], Any]:
    """The piecewise cubic polynomial with slope `a` at distance 1."""

    def weight(x: Any) -> Any:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return jnp.where(x >= 2, 0.0, jnp.where(x >= 1, far, near))

    return weight


_WEIGHTS: dict[ResizeMethod, tuple[int, Callable[[Any], Any] | None]] = {
    ResizeMethod.LINEAR: (1, _triangle),
    ResizeMethod.LANCZOS3: (3, _lanczos(3)),
    ResizeMethod.LANCZOS5: (5, _lanczos(5)),
    ResizeMethod.CUBIC: (2, _cubic(-0.5)),
    ResizeMethod.CUBIC_PYTORCH: (2, _cubic(-0.75)),
    ResizeMethod.AREA: (1, None),
}
"""The radius and the weight by distance; None: by the area covered."""
_NOTHING = 1000.0 * float(np.finfo(np.float32).eps)
"""Weights with a smaller sum count as none."""


def _matrix(
    size: int,
    wanted: int,
    scale: Any,
    shift: Any,
    method: ResizeMethod,
    antialias: bool,
    chosen: np.ndarray | None = None,
) -> Any:
    """The weights [size, wanted] of the pixels of a line in those of the line resized, or [n, wanted] of the pixels `chosen` for each. `scale` and
    `shift` are scalars of one dtype, that of the weights."""
    radius, weight = _WEIGHTS[method]
    dtype = jnp.result_type(scale, shift)
    step = 1.0 / scale
    places = jnp.arange(wanted, dtype=dtype)
    pixels = jnp.arange(size, dtype=dtype)[:, None] if chosen is None else jnp.asarray(chosen, dtype)
    centres = (places + 0.5) * step - shift * step - 0.5
    if weight is None:
        left = places * step - shift * step
        weights = _covered(left, left + step, pixels)
    elif _has_edges(method, antialias):
        return _balanced(_with_edges(size, radius, centres, weight))
    else:
        widened = jnp.maximum(step, 1.0) if antialias else 1.0
        weights = weight(jnp.abs(centres - pixels) / widened)
    if chosen is not None:
        weights = jnp.where((chosen >= 0) & (chosen < size), weights, 0)
    inside = jnp.logical_and(centres >= -0.5, centres <= size - 0.5)
    return jnp.where(inside, _balanced(weights), 0)


def _has_edges(method: ResizeMethod, antialias: bool) -> bool:
    return method is ResizeMethod.CUBIC_PYTORCH and not antialias


def _covered(left: Any, right: Any, pixels: Any) -> Any:
    """How much of each pixel lies between `left` and `right`."""
    first = jnp.maximum(left, pixels)
    return jnp.maximum(0.0, jnp.minimum(right, pixels + 1.0) - first)


def _with_edges(size: int, radius: int, centres: Any, weight: Any) -> Any:
    """Weights of a line continued by its first and its last pixel."""
    beyond = np.arange(-radius, size + radius)
    distances = jnp.abs(centres - jnp.asarray(beyond, centres.dtype)[:, None])
    return jnp.zeros((size, centres.shape[0]), centres.dtype).at[np.clip(beyond, 0, size - 1)].add(weight(distances))


def _balanced(weights: Any) -> Any:
    """Weights with the sum 1 for each pixel of the result, or all 0."""
    total = jnp.sum(weights, 0, keepdims=True)
    return jnp.where(jnp.abs(total) > _NOTHING, weights / jnp.where(total != 0, total, 1), 0)


# Resizing ------------------------------------------------------------------------------------------------------------


def _sampled(
    x: Any,
    shape: Sequence[int],
    axes: Sequence[int],
    scales: Any,
    shifts: Any,
    method: Any,
    antialias: bool,
    precision: Any,
) -> Any:
    """One product of the image with the weights of all axes but those along which few pixels have weights."""
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    x, letters, terms = jnp.asarray(x), list(range(len(shape))), []
    for i, axis in sorted(enumerate(axes), key=lambda pair: _growth(x, shape, pair[1])):
        pixels = _few_pixels(x, axis, shape[axis], scales[i], shifts[i], method, antialias)
        if pixels is not None:
            weights = _matrix(x.shape[axis], shape[axis], scales[i], shifts[i], method, antialias, pixels)
            x = _summed(x, axis, pixels, weights)
            continue
        weights = _matrix(x.shape[axis], shape[axis], scales[i], shifts[i], method, antialias)
        terms += [weights.astype(x.dtype), [axis, len(shape) + i]]
        letters[axis] = len(shape) + i
    return jnp.einsum(x, list(range(len(shape))), *terms, letters, precision=precision) if terms else x


def _growth(x: Any, shape: Sequence[int], axis: int) -> float:
    known = is_static((shape[axis], x.shape[axis])) and x.shape[axis]
    return shape[axis] / x.shape[axis] if known else math.inf


def _few_pixels(
    x: Any, axis: int, wanted: int, scale: Any, shift: Any, method: ResizeMethod, antialias: bool
) -> np.ndarray | None:
    """The pixels [n, wanted] of a line that have weights in those of the line resized, n being the most that one has; None where that is not
    known, or is no small part of them."""
    limits = RESIZED_BY_PIXELS.value
    known = isinstance(scale, np.generic) and isinstance(shift, np.generic) and is_static((*x.shape, wanted))
    if not known or _has_edges(method, antialias) or not RESIZED_BY_PIXELS.holds():
        return None
    if not wanted or x.size < max(1, limits["elements"]):
        return None
    (radius, weight), size, step = _WEIGHTS[method], x.shape[axis], 1 / float(scale)
    reach = step / 2 + 0.5 if weight is None else radius * (max(step, 1.0) if antialias else 1.0)
    centres = (np.arange(wanted) + 0.5) * step - float(shift) * step - 0.5
    first = np.ceil(centres - reach - _ROUNDING).astype(int)
    count = int(np.max(np.floor(centres + reach + _ROUNDING).astype(int) - first)) + 1
    row = math.prod(x.shape[axis + 1 :])
    share = next(share for length, share in limits["share"] if row >= length)
    if share * count > size:
        return None
    return first + np.arange(count)[:, None]


_ROUNDING = 1e-3
"""What float32 may add to a place, in pixels."""


def _summed(x: Any, axis: int, pixels: np.ndarray, weights: Any) -> Any:
    """The sums of pixels times weights along an axis; the transpose is such a sum, too, over the results that a pixel has a weight in."""
    size, dtype = x.shape[axis], jnp.promote_types(x.dtype, np.float32)
    count, wanted = pixels.shape
    inside = np.clip(pixels, 0, size - 1).astype(np.int32)
    every, first = np.arange(size), pixels[0]
    low = np.searchsorted(first + count - 1, every)
    places = low + np.arange(np.max(np.searchsorted(first, every, "right") - low))[:, None]
    results = np.clip(places, 0, wanted - 1).astype(np.int32)
    offsets = every - first[results]
    seen = (places < wanted) & (offsets >= 0) & (offsets < count)

    def combined(x: Any, places: np.ndarray, weights: Any) -> Any:
        along = [1] * x.ndim
        along[axis] = places.shape[1]
        taken = (jnp.take(x, one, axis=axis, mode="promise_in_bounds").astype(dtype) for one in places)
        terms = [part * weight.reshape(along) for part, weight in zip(taken, weights)]
        return functools.reduce(jnp.add, terms).astype(x.dtype)

    def forward(weights: Any, x: Any) -> Any:
        return combined(x, inside, weights)

    def back(weights: Any, ct: Any) -> Any:
        return combined(ct, results, jnp.where(seen, weights[np.clip(offsets, 0, count - 1), results], 0))

    return linear_call(forward, back, weights.astype(dtype), x)


@lenient
def scale_and_translate(
    image: ArrayLike,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: ArrayLike,
    translation: ArrayLike,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = Precision.HIGHEST,
) -> Array:
    """The image stretched by `scale` and moved by `translation` (in pixels of the result) along `spatial_dims`, cut to `shape`.

    `scale` and `translation` have an element for each of `spatial_dims`; what lies outside the image is 0, and other axes keep
    their size. `method` is a ResizeMethod or its name; with `antialias` a smaller result averages over more pixels. Integers become
    floats. All of image, scale and translation may be differentiated. Raises ValueError for a `shape` of another length, for
    "nearest", and for axes or sizes that do not fit.
    """
    shape, chosen = shape_of("scale_and_translate", shape), _method(method)
    _, aval = operand_and_aval("scale_and_translate", image)
    if len(shape) != aval.ndim:
        raise ValueError(
            f"scale_and_translate: the shape {shape} has another number of axes than the image, {aval.short()}"
        )
    if chosen is ResizeMethod.NEAREST:
        raise ValueError("scale_and_translate has no method 'nearest': take 'linear', or resize")
    axes = tuple(one_axis("scale_and_translate", i, aval.ndim) for i in spatial_dims)
    for name, value in (("scale", scale), ("translation", translation)):
        if np.shape(value) != (len(axes),):
            raise ValueError(
                f"scale_and_translate: {name} has an element for each of spatial_dims, so the shape {(len(axes),)}, not {np.shape(value)}"
            )
    for i, (n, m) in enumerate(zip(aval.shape, shape)):
        if n != m and i not in axes:
            raise ValueError(
                f"scale_and_translate: axis {i} goes from size {n} to {m}, but spatial_dims {axes} do not name it"
            )
    return _scaled(image, jnp.asarray(scale), jnp.asarray(translation), shape, axes, chosen, bool(antialias), precision)


@eager_jit(static="shape axes method antialias precision")
def _scaled(
    image: Any, scale: Any, translation: Any, shape: Any, axes: Any, method: Any, antialias: bool, precision: Any
) -> Any:
    image = jnp.asarray(operand("scale_and_translate", image, inexact=True))
    scale, translation = operands("scale_and_translate", scale, translation, inexact=True)
    return _sampled(image, shape, axes, scale, translation, method, antialias, precision)


@lenient
def resize(
    image: ArrayLike,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = Precision.HIGHEST,
) -> Array:
    """The image resized to `shape`; axes of the same size stay as they are.

    `method` is a ResizeMethod or its name; with `antialias` a smaller result averages over more pixels. "nearest" keeps the dtype,
    the others make floats of integers. Raises ValueError for a `shape` of another length and for an unknown method.
    """
    shape, chosen = shape_of("resize", shape), _method(method)
    _, aval = operand_and_aval("resize", image)
    if len(shape) != aval.ndim:
        raise ValueError(f"resize: the shape {shape} has another number of axes than the image, {aval.short()}")
    return _resized(image, shape, chosen, bool(antialias), precision)


@eager_jit(static="shape method antialias precision")
def _resized(image: Any, shape: tuple[int, ...], method: ResizeMethod, antialias: bool, precision: Any) -> Any:
    axes = tuple(i for i, n in enumerate(aval_of(image).shape) if n != shape[i])
    if method is ResizeMethod.NEAREST:
        return _nearest(jnp.asarray(image), shape, axes)
    image = jnp.asarray(operand("resize", image, inexact=True))
    scales = [
        np.asarray(shape[i] / image.shape[i] if shape[i] and image.shape[i] else 1.0, jnp.float_)[()] for i in axes
    ]
    shifts = [np.zeros_like(s)[()] for s in scales]
    return _sampled(image, shape, axes, scales, shifts, method, antialias, precision)


def _nearest(image: Any, shape: tuple[int, ...], axes: Sequence[int]) -> Any:
    for i in axes:
        size, wanted = image.shape[i], shape[i]
        centres = (np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * np.float32(size) / np.float32(wanted)
        image = jnp.take(image, np.floor(centres).astype(np.int32), axis=i, mode="clip")
    return image
