"""Expressions over numpy for many dtypes and shapes: the dtype, weak type and shape of what they give.

In an expression `x` is the array, `y` another of the same shape and dtype, `m` a boolean one, and `np` the module of functions:
numpy itself for the reference, jitscope.numpy (or jax.numpy) otherwise; `onp` is always numpy. tests/compiler/numpy/test_numpy.py compares their values with numpy's.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy

from tests.oracle.library import Library
from tests.oracle.results import REFUSED, Plain, aval_words


@dataclasses.dataclass(frozen=True)
class Case:
    """`expr` gives one array. `reference`: for plain numpy, where it spells it otherwise. `smooth`: how to bring arguments
    to where the expression is smooth ("" : it has no derivative). `least_rank`: arrays of lower rank are not for it."""

    expr: str
    reference: str = ""
    smooth: str = ""
    least_rank: int = 0
    tolerance: float = 1.0


def table(text: str, **options: Any) -> list[Case]:
    """One case for each line: the expression, and after ` = ` numpy's spelling."""
    cases = []
    for line in text.strip().splitlines():
        expr, _, reference = line.strip().partition(" ~ ")
        cases.append(Case(expr.strip(), reference.strip(), **options))
    return cases


def unary(names: str, **options: Any) -> list[Case]:
    return [Case(f"np.{name}(x)", **options) for name in names.split()]


def binary(names: str, **options: Any) -> list[Case]:
    return [Case(f"np.{name}(x, y)", **options) for name in names.split()]


# What brings arguments to where a function is smooth.
DOMAINS = {
    "any": lambda v: v,
    "positive": lambda v: abs(v) + 0.5,
    "unit": lambda v: v / (1.1 + abs(v)),
    "above one": lambda v: abs(v) + 1.5,
}

GROUPS: dict[str, list[Case]] = {
    "arithmetic": [
        *binary("add subtract multiply", smooth="any"),
        *binary("divide true_divide", smooth="positive"),
        *unary("negative positive square", smooth="any"),
        *unary("absolute abs fabs sign", smooth="positive"),
        *table("np.reciprocal(x) ~ np.reciprocal(x * 1.0)", smooth="positive"),
        *binary("maximum minimum fmax fmin", smooth="any"),
        *binary("power float_power", smooth="positive", tolerance=8),
        *table(
            """
            np.floor_divide(x, np.where(y == 0, 3, y))
            np.remainder(x, y)
            np.mod(x, -y * 1.0)
            np.fmod(x, np.where(y == 0, 3, y))
            np.divmod(x, np.where(y == 0, 3, y))[0]
            np.divmod(x, y)[1]
            x // 2
            x // -2
            x % 3
            x % -3
            x // 2.5
            x % -2.5
        """,
            tolerance=4,
        ),
        *table(
            """
            x + 1
            x - 2.5
            2 * x
            x / 2
            x ** 2
            x ** 3
            x + 1j
            1 - x
            -x
            +x
            x * x - y
        """,
            smooth="any",
        ),
        *table(
            """
            x ** 0.5
            2.0 ** x
            2 ** x
            1 / x
            x ** -2
        """,
            smooth="positive",
            tolerance=4,
        ),
    ],
    "transcendental": [
        *unary("exp exp2 expm1 sin cos tan sinh cosh tanh arctan arcsinh sinc", smooth="any", tolerance=8),
        *unary("log log2 log10 log1p sqrt cbrt", smooth="positive", tolerance=8),
        *unary("arcsin arccos arctanh", smooth="unit", tolerance=8),
        *unary("arccosh", smooth="above one", tolerance=8),
        *unary("deg2rad rad2deg degrees radians", smooth="any"),
        *binary("arctan2 hypot", smooth="positive", tolerance=4),
        *binary("logaddexp logaddexp2", smooth="any", tolerance=8),
    ],
    "logic": [
        *binary("equal not_equal less less_equal greater greater_equal"),
        *binary("logical_and logical_or logical_xor"),
        *unary("logical_not isnan isfinite isinf isposinf isneginf iscomplex isreal"),
        *binary("bitwise_and bitwise_or bitwise_xor"),
        *unary("invert bitwise_not bitwise_count"),
        *binary("isclose allclose array_equal array_equiv"),
        *table("""
            np.left_shift(x, 2)
            np.right_shift(x, 1)
            x == y
            x != 1
            x < 0.5
            x >= y
            x & y
            x | 1
            x ^ y
            ~x
            x << 1
            x >> 1
            np.select([x > y, m], [x, y], 7)
            np.array_equal(x, x)
        """),
        *table(
            """
            np.where(m, x, y)
            np.where(m, x, 0)
            np.where(m, 1.5, x)
        """,
            smooth="any",
        ),
    ],
    "rounding": [
        *unary("floor ceil trunc rint round signbit"),
        *unary("real imag conj conjugate angle nan_to_num", smooth="positive"),
        *binary("copysign heaviside nextafter"),
        *table("""
            np.round(x, 1)
            np.modf(x)[0]
            np.modf(x)[1]
            np.angle(x, deg=True)
        """),
        *table(
            """
            np.clip(x, 0, 1) ~ np.clip(x, *((np.asarray(0, x.dtype), np.asarray(1, x.dtype))))
            np.clip(x, None, 1) ~ np.minimum(x, 1)
            np.clip(x, y, None) ~ np.maximum(x, y)
            np.clip(x, 0.25, 0.75)
        """,
            smooth="any",
        ),
    ],
    "reductions": [
        *unary("sum mean prod var std", smooth="any", tolerance=8),
        *unary("max min amax amin ptp nanmax nanmin", smooth="any"),
        *unary("all any argmax argmin count_nonzero nanargmax nanargmin"),
        *unary("nansum nanprod nanmean nanvar nanstd", smooth="any", tolerance=8),
        *unary("cumsum cumprod", smooth="any", tolerance=8),
        *unary("average median", smooth="any", tolerance=4),
        *table(
            """
            np.sum(x, axis=0)
            np.sum(x, axis=-1, keepdims=True)
            np.prod(x, axis=-1)
            np.mean(x, axis=0, keepdims=True)
            np.mean(x, where=m)
            np.sum(x, where=m, initial=2)
            np.var(x, axis=-1)
            np.var(x, axis=0, ddof=1)
            np.std(x, axis=0, ddof=1)
            np.max(x, axis=-1, initial=0, where=m)
            np.min(x, axis=0, keepdims=True)
            np.cumsum(x, axis=0)
            np.cumprod(x, axis=-1)
            np.average(x, axis=0, weights=y * y + 1)
            np.median(x, axis=-1)
            np.quantile(x, 0.3, axis=0)
            np.percentile(x, 75)
            x.sum(axis=0)
            x.mean()
            x.max(axis=0)
            x.prod()
            x.std()
            x.cumsum(axis=0)
        """,
            smooth="any",
            least_rank=1,
            tolerance=8,
        ),
        *table(
            """
            np.cumsum(x, axis=-1, dtype='float32')
            np.sum(x, axis=0, dtype='float32')
            np.all(x, axis=0)
            np.any(x, axis=-1, keepdims=True)
            np.argmax(x, axis=-1)
            np.argmin(x, axis=0, keepdims=True)
            np.count_nonzero(x, axis=0)
            x.argmax(axis=0)
        """,
            least_rank=1,
        ),
        *table(
            """
            np.sum(x, axis=(0, 1))
            np.var(x, axis=(0, 1))
            np.mean(x, axis=(-1, 0), keepdims=True)
        """,
            smooth="any",
            least_rank=2,
            tolerance=8,
        ),
    ],
    "structure": [
        *unary("ravel atleast_1d atleast_2d atleast_3d transpose squeeze flip copy", smooth="any"),
        *table(
            """
            np.reshape(x, -1)
            np.expand_dims(x, 0)
            np.expand_dims(x, (0, -1))
            np.broadcast_to(x, (2, *x.shape))
            np.stack([x, y])
            np.stack([x, y], axis=-1)
            np.concatenate([np.ravel(x), np.ravel(y)])
            np.concatenate([x, y], axis=None)
            np.append(x, y)
            np.hstack([x, y])
            np.vstack([x, y])
            np.dstack([x, y])
            np.column_stack([np.ravel(x), np.ravel(y)])
            np.tile(x, 2)
            np.tile(x, (2, 1))
            np.repeat(x, 2)
            np.roll(x, 1)
            np.meshgrid(np.ravel(x), np.ravel(y))[0]
            np.broadcast_arrays(x, np.reshape(y, (1, *y.shape)))[0]
            x.reshape(-1, 1)
            x.T
            x.flatten()
            x.ravel()
        """,
            smooth="any",
        ),
        *table(
            """
            np.reshape(x, x.shape[::-1])
            np.reshape(x, (-1,), order='F')
            np.swapaxes(x, 0, -1)
            np.moveaxis(x, 0, -1)
            np.rollaxis(x, -1)
            np.concatenate([x, y], axis=-1)
            np.concatenate([x, y[:1]], axis=0)
            np.flip(x, 0)
            np.flipud(x)
            np.roll(x, 1, axis=0)
            np.repeat(x, 3, axis=0)
            np.array_split(x, 2)[0]
            np.array_split(x, [1, 1])[1]
            np.split(x, [1], axis=-1)[1]
            np.pad(x, 1)
            np.pad(x, [(1, 2)] * x.ndim, constant_values=3)
            np.pad(x, 0, mode='edge')
            x[np.newaxis, ..., 0:1]
            np.trapezoid(x, axis=-1) ~ np.trapezoid(x * 1.0, axis=-1)
        """,
            smooth="any",
            least_rank=1,
        ),
        *table(
            """
            np.matrix_transpose(x)
            np.fliplr(x)
            np.rot90(x)
            np.rot90(x, 2)
            np.rot90(x, -1)
            np.roll(x, (1, 2), axis=(0, 1))
            np.transpose(x, (1, 0, *range(2, x.ndim)))
            np.moveaxis(x, (0, 1), (1, 0))
            np.triu(x)
            np.tril(x, -1)
            np.triu(x, 1)
            np.diagonal(x)
            np.diagonal(x, 1, 0, -1)
            np.diagonal(x, -1, 1, 0)
            np.trace(x)
            x.mT
            x.swapaxes(0, 1)
            x.diagonal()
        """,
            smooth="any",
            least_rank=2,
        ),
    ],
    "products": [
        *table(
            """
            np.dot(np.ravel(x), np.ravel(y))
            np.vdot(x, y)
            np.inner(np.ravel(x), np.ravel(y))
            np.outer(x, y)
            np.kron(np.ravel(x), np.ravel(y))
            np.dot(x, 2)
            np.einsum('i,j->ij', np.ravel(x), np.ravel(y))
            np.einsum('i,i', np.ravel(x), np.ravel(y))
            np.einsum('i->', np.ravel(x))
        """,
            smooth="any",
            tolerance=16,
        ),
        *table(
            """
            np.inner(x, y)
            np.tensordot(x, y, axes=x.ndim)
            np.tensordot(x, y, axes=(-1, -1))
            np.vecdot(x, y)
            np.einsum('...i,...i->...', x, y)
            np.einsum('...i->i...', x)
        """,
            smooth="any",
            least_rank=1,
            tolerance=16,
        ),
        *table(
            """
            np.matmul(x, np.swapaxes(y, -1, -2))
            x @ np.swapaxes(y, -1, -2)
            np.matmul(x, y[..., 0, :, None])
            np.dot(x, np.swapaxes(y, -1, -2))
            np.einsum('...ij,...kj->...ik', x, y)
            np.einsum('ij...,ij...->j...', x, y)
            np.einsum('ij...->ji...', x)
        """,
            smooth="any",
            least_rank=2,
            tolerance=16,
        ),
    ],
    "indexing": [
        *table(
            """
            x[...]
            x[None]
            x[()]
            np.take(x, np.asarray([0]), mode='clip') ~ np.ravel(x)[[0]]
        """,
            smooth="any",
        ),
        *table(
            """
            x[:1]
            x[1:]
            x[::-1]
            x[::2]
            x[-1:]
            x[..., None, :1]
            x[None, :, None]
            x[5:2]
            np.take(x, np.asarray([0, 0]), axis=-1, mode='clip') ~ np.take(x, np.asarray([0, 0]), axis=-1)
            np.take_along_axis(x, np.argsort(x, axis=-1), axis=-1)
        """,
            smooth="any",
            least_rank=1,
        ),
        *table(
            """
            x[:, 0]
            x[..., -1]
            x[:, :1]
            x[:, ::-1, ...]
            x[:, np.asarray([0, 0])]
            x[:, None, np.asarray([[0, 0]])]
            x[:0]
            x[:, 1:0:-1]
        """,
            smooth="any",
            least_rank=2,
        ),
        *table(
            """
            np.sort(x)
            np.sort(x, axis=0)
            x.sort() ~ np.sort(x)
            np.sort(x, axis=None)
        """,
            smooth="any",
            least_rank=1,
        ),
        *table(
            """
            np.argsort(x) ~ np.argsort(x, kind='stable')
            np.argsort(x, axis=0) ~ np.argsort(x, axis=0, kind='stable')
            np.searchsorted(np.sort(np.ravel(x)), y)
            np.searchsorted(np.sort(np.ravel(x)), y, side='right')
            np.lexsort([np.ravel(x), np.ravel(m)])
            np.nonzero(np.ravel(x), size=3, fill_value=9)[0] ~ np.concatenate([np.nonzero(np.ravel(x))[0], [9, 9, 9]])[:3]
            np.flatnonzero(x, size=2) ~ np.concatenate([np.flatnonzero(x), [0, 0]])[:2]
            np.digitize(x, np.asarray([-1, 0, 2]))
        """,
            least_rank=1,
        ),
    ],
    "neighbours": [
        *table(
            """
            np.diff(x)
            np.diff(x, axis=0)
            np.ediff1d(x)
            np.cumulative_sum(x, axis=0)
            np.nancumsum(x)
            np.nancumprod(x, axis=-1)
            np.cumulative_prod(x, axis=-1, include_initial=True)
            np.convolve(np.ravel(x), np.ravel(y)) ~ np.convolve(np.ravel(x) * 1, np.ravel(y) * 1)
            np.convolve(np.ravel(x), np.asarray([1, 2, -1]), mode='same')
            np.correlate(np.ravel(x), np.asarray([1, 2]), mode='valid')
            np.correlate(np.ravel(x), np.asarray([1, 2]), mode='same')
            np.convolve(np.ravel(x), np.ones(40))
            np.vander(np.ravel(x), 3)
            np.polyval(np.ravel(x)[:3], y)
            np.polyadd(np.ravel(x), np.ravel(y)[:2])
            np.polyder(np.ravel(x)) ~ np.polyder(np.ravel(x) * 1.0)
            np.polyint(np.ravel(x), k=2) ~ np.polyint(np.ravel(x) * 1.0, k=2)
            np.interp(x, np.asarray([-1.0, 0.3, 2.0]), np.asarray([1.0, 5.0, 2.0]))
            np.interp(x, np.asarray([0.1, 0.9, 0.4]), np.asarray([1.0, 5.0, 2.0]), period=1.5)
            np.unwrap(x * 3.0)
        """,
            smooth="any",
            least_rank=1,
            tolerance=16,
        ),
        *table(
            """
            np.gradient(x, axis=-1) ~ np.gradient(x * 1.0, axis=-1)
            np.gradient(x, 2.0, axis=-1) ~ np.gradient(x * 1.0, 2.0, axis=-1)
            np.gradient(x, np.asarray([0.0, 1.0, 3.0, 3.5])[:x.shape[-1]], axis=-1) ~ np.gradient(x * 1.0, np.asarray([0.0, 1.0, 3.0, 3.5])[:x.shape[-1]], axis=-1)
            np.cov(np.reshape(x, (x.shape[0], -1))) ~ np.cov(np.reshape(x * 1.0, (x.shape[0], -1)))
            np.corrcoef(np.reshape(x, (x.shape[0], -1))) ~ np.corrcoef(np.reshape(x * 1.0, (x.shape[0], -1)))
        """,
            smooth="any",
            least_rank=2,
            tolerance=64,
        ),
        *table(
            """
            np.bincount(abs(np.ravel(x)), length=6) ~ np.bincount(abs(np.ravel(x) * 1), minlength=6)[:6]
            np.histogram(x * 0.93, bins=5)[0]
            np.histogram(x * 0.93, bins=5)[1]
            np.histogram(x, np.asarray([-1.0, 0.0, 0.5, 2.0]))[0]
            np.isin(x, y)
            np.isin(x, np.ravel(x)[:2], invert=True)
            np.unique(x, size=4, fill_value=9) ~ np.concatenate([np.unique(x), [9] * 4])[:4]
            np.unique(x, return_inverse=True, size=30)[1]
            np.unique(x % 3, return_counts=True, size=2)[1] ~ np.concatenate([np.unique(x % 3, return_counts=True)[1], [0, 0]])[:2]
            np.unique(x, return_index=True, size=1)[1] ~ np.concatenate([np.unique(x, return_index=True)[1], [0]])[:1]
            np.union1d(x, y, size=2) ~ np.concatenate([np.union1d(x, y), np.repeat(np.union1d(x, y)[:1], 2)])[:2]
            np.unravel_index(np.asarray([0, 1]), (2, 3))[1]
            np.ravel_multi_index((np.asarray([0, 1]), np.asarray([2, 1])), (2, 3), mode='clip')
        """,
            least_rank=1,
        ),
    ],
    "editing": [
        *table(
            """
            np.delete(x, 0)
            np.delete(x, 0, axis=0)
            np.delete(x, onp.asarray([0, -1]), axis=-1)
            np.insert(x, 1, y[..., :1], axis=-1)
            np.insert(x, 0, 7)
            np.insert(x, np.asarray([0, 1]), 7, axis=-1)
            np.resize(x, (3, 5))
            np.partition(x, 0) ~ np.sort(x)
            np.repeat(x, onp.full(x.shape[0], 2), axis=0)
            np.choose(np.asarray([0, 1, 1]), [x[..., :1], y[..., :1]], mode='clip')
            np.piecewise(x, [x < 0, x > 2], [1, 3, 2])
            np.compress(onp.full(x.shape[0], True), x, axis=0)
            np.apply_along_axis(lambda v: v[::-1] * 2, 0, x)
            np.apply_over_axes(np.sum, x, [0])
            np.vectorize(lambda a, b: a + 2 * b)(x, y) ~ x + 2 * y
            np.vectorize(lambda a, b: np.dot(a, b), signature='(n),(n)->()')(x, y) ~ np.vecdot(np.conj(x), y)
            np.pad(x, 2, mode='wrap')
            np.pad(x, 2, mode='edge')
            np.pad(x, 1, mode='symmetric')
            np.pad(x, (2, 1), mode='reflect')
            np.r_[np.ravel(x), 1, np.ravel(y)]
            np.block([[np.ravel(x), np.ravel(y)], [np.ravel(y), np.ravel(x)]])
        """,
            smooth="any",
            least_rank=1,
        ),
    ],
    "creation": [
        *unary("zeros_like ones_like"),
        *table("""
            np.full_like(x, 1)
            np.full_like(x, 2, dtype='int32')
            np.zeros_like(x, dtype='float32')
            np.asarray(x)
            np.array(x)
            np.full((2,), x.ravel()[0]) if x.size else np.zeros(2)
            np.zeros(x.shape) + x
            np.arange(3) * x.sum()
            np.eye(2) * x.max(initial=1)
        """),
        *table(
            """
            np.diag(np.ravel(x))
            np.diag(np.ravel(x), 1)
            np.diagflat(x)
            np.linspace(np.sum(x), 1, 5)
        """,
            smooth="any",
            tolerance=8,
        ),
        *table(
            """
            np.tril(x)
            np.diag(x.reshape(x.shape[0], -1))
        """,
            smooth="any",
            least_rank=2,
        ),
    ],
}

DTYPES = ("float32", "bfloat16", "int32", "bool", "complex64")
SHAPES = {"scalar": (), "empty": (0, 3), "rank 3": (2, 3, 4), "ones": (1, 3, 1), "vector": (5,), "matrix": (3, 3)}


def cases() -> Iterator[tuple[str, Case]]:
    for group, members in GROUPS.items():
        for case in members:
            yield group, case


def arguments(dtype: str, shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """The x, y and m of all expressions, as numpy arrays (bfloat16 as float32, of values it has)."""
    size = int(numpy.prod(shape))
    generator = numpy.random.default_rng(size + len(shape))
    steps = generator.permutation(2 * size).reshape(2, *shape)
    base = {"int32": steps - size, "bool": steps % 2 == 0}.get(dtype, (steps - size + 0.5) * (4 / max(size, 1)))
    if dtype == "complex64":
        base = base + 1j * generator.permutation(base.ravel()).reshape(base.shape) * 0.75
    if dtype == "bfloat16":
        base = numpy.round(base * 8) / 8 + 0.0625
    kind = {"bfloat16": "float32"}.get(dtype, dtype)
    x, y = base.astype(kind)
    return x, y, steps[0] % 3 != 0


def _asked(o: Library, expr: str, dtype: str) -> Plain:
    """By shape the dtype, weak type and shape of the result, or that it is refused."""
    found = {}
    for shape in SHAPES:
        x, y, m = arguments(dtype, SHAPES[shape])
        run = lambda x, y, m: o.jnp.asarray(eval(expr, {"np": o.jnp, "onp": numpy, "x": x, "y": y, "m": m}))
        try:
            aval = o.jx.eval_shape(run, o.jnp.asarray(x, dtype), o.jnp.asarray(y, dtype), o.jnp.asarray(m))
            found[shape] = aval_words(o, aval).replace("bool*", "bool")  # it makes no difference in promotion
        except Exception:
            found[shape] = REFUSED
    return Plain(found)


CASES = {
    f"{case.expr} of {dtype}": functools.partial(_asked, expr=case.expr, dtype=dtype)
    for _, case in cases()
    for dtype in DTYPES
}


def sample(name: str) -> bool:
    """Each expression of float32, and of one other dtype in four."""
    return name.endswith(" of float32") or zlib.crc32(name.encode()) % 4 == 0


_GROUPS = {case.expr: group for group, case in cases()}


def section(name: str) -> str:
    return _GROUPS[name.rpartition(" of ")[0]]
