"""Elementwise operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import special

from jitscope.core import dtypes
from jitscope.core.dtypes import bfloat16, bool_, complex64, complex128, float32, float64, int32, kind, uint32
from jitscope.ops import elementwise as ew, families, linear as li

from .registry import SHAPES, Draw, Sample, samples


Range = tuple[float, float]


def elementwise(
    primitive: Any, oracle: Callable[..., Any], *ranges: Range, params: Sequence[dict] = ({},), kinds: str | None = None,
    **options: Any,
) -> None:  # fmt: skip
    """Register an elementwise primitive: `ranges` of its operands; every shape, and each operand as a scalar."""
    ranges = ranges or ((-2, 2),)

    @samples(primitive, kinds or primitive.accepts)
    def _(draw: Draw, dtype: np.dtype) -> Iterator[Sample]:
        for given in params:
            text = "".join(f" {k}={v}" for k, v in given.items())
            more = _resolved(options, dtype)
            for label, shape in SHAPES.items():
                yield Sample(label + text, [draw(shape, *r) for r in ranges], _with(oracle, given), given, **more)
            if given is params[0]:
                for i in range(len(ranges) if len(ranges) > 1 else 0):
                    args = [draw((2, 3) if i != j else (), *r) for j, r in enumerate(ranges)]
                    yield Sample(f"scalar operand {i}", args, _with(oracle, given), given, **more)


def _with(oracle: Callable[..., Any], params: dict[str, Any]) -> Callable[..., Any]:
    return (lambda *args: oracle(*args, **params)) if params else oracle


def _resolved(options: dict[str, Any], dtype: np.dtype) -> dict[str, Any]:
    """Options that depend on the dtype are functions of it."""
    return {k: v(dtype) if callable(v) else v for k, v in options.items()}


def real(dtype: np.dtype) -> np.dtype:
    return dtypes.real_part(dtype)


def _int_div(x, y):
    return np.trunc(x.astype(float64) / y).astype(x.dtype) if kind(x.dtype) in "iu" else x / y


def _sign(x):
    return x / np.abs(x) if np.iscomplexobj(x) else np.sign(x)


def _atan2(y, x):
    return -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)) if np.iscomplexobj(y) else np.arctan2(y, x)


def _round(x, rounding_method):
    return np.rint(x) if rounding_method else np.where(x < 0, np.ceil(x - 0.5), np.floor(x + 0.5))


def _exact(function, *args):
    return np.vectorize(function, otypes=[args[0].dtype])(*args) if args[0].size else args[0]


def _width(x):
    return 8 * x.dtype.itemsize


def _unsigned(x):
    return x.astype(np.dtype(f"uint{_width(x)}")).astype(object)


def _wrapped(values, dtype):
    """Python integers as integers of so many bits."""
    return np.asarray(values, object).astype(object) & ((1 << 8 * dtype.itemsize) - 1)


def _from_bits(values, like):
    raw = np.asarray(_wrapped(values, like.dtype), np.dtype(f"uint{_width(like)}"))
    return raw.view(like.dtype) if raw.ndim else raw.reshape(1).view(like.dtype).reshape(())


def _shift_left(x, n):
    return _from_bits(np.where(n.astype(int) < _width(x), _unsigned(x) * 2 ** (n.astype(object) % 64), 0), x)


def _shift_right_logical(x, n):
    return _from_bits(np.where(n.astype(int) < _width(x), _unsigned(x) // 2 ** (n.astype(object) % 64), 0), x)


def _shift_right_arithmetic(x, n):
    if kind(x.dtype) == "u":  # the highest bit counts as a sign
        signed = x.view(np.dtype(f"int{_width(x)}")) if x.ndim else x.reshape(1).view(np.int32).reshape(())
        return _from_bits(signed.astype(object) // 2 ** np.minimum(n.astype(object), 63), x)
    return _from_bits(x.astype(object) // 2 ** np.minimum(n.astype(object), 63), x)


REAL: dict[str, Any] = {"result": real, "holomorphic": False}

# Few values, so that some are equal.
for _primitive, _oracle in ((ew.eq_p, np.equal), (ew.ne_p, np.not_equal), (ew.lt_p, np.less), (ew.le_p, np.less_equal),
                            (ew.gt_p, np.greater), (ew.ge_p, np.greater_equal)):  # fmt: skip

    @samples(_primitive, _primitive.accepts)
    def _(draw, dtype, oracle=_oracle):
        for label, shape in SHAPES.items():
            yield Sample(label, [draw.among(shape, [0, 1, 2]) for _ in range(2)], oracle, result=bool_)
        for i in range(2):
            args = [draw.among((2, 3) if i != j else (), [0, 1]) for j in range(2)]
            yield Sample(f"scalar operand {i}", args, oracle, result=bool_)


elementwise(ew.exp_p, np.exp)
elementwise(ew.expm1_p, np.expm1)
elementwise(ew.log_p, np.log, (0.3, 3))
elementwise(ew.log2_p, np.log2, (0.3, 3))
elementwise(ew.one_minus_square_p, lambda x: x.dtype.type(1) - x * x)
elementwise(ew.log1p_p, np.log1p, (-0.5, 3))
elementwise(ew.logistic_p, lambda x: 1 / (1 + np.exp(-x)))
elementwise(ew.exp2_p, np.exp2)
elementwise(ew.sin_p, np.sin)
elementwise(ew.cos_p, np.cos)
elementwise(ew.tan_p, np.tan, (-1, 1))
elementwise(ew.asin_p, np.arcsin, (-0.9, 0.9))
elementwise(ew.acos_p, np.arccos, (-0.9, 0.9))
elementwise(ew.atan_p, np.arctan)
elementwise(ew.sinh_p, np.sinh)
elementwise(ew.cosh_p, np.cosh)
elementwise(ew.tanh_p, np.tanh)
elementwise(ew.asinh_p, np.arcsinh)
elementwise(ew.acosh_p, np.arccosh, (1.2, 3))
elementwise(ew.atanh_p, np.arctanh, (-0.9, 0.9))
elementwise(ew.atan2_p, _atan2, (-2, 2), (0.3, 2))
elementwise(ew.sqrt_p, np.sqrt, (0.3, 3))
elementwise(ew.rsqrt_p, lambda x: 1 / np.sqrt(x), (0.3, 3))
elementwise(ew.cbrt_p, np.cbrt, (0.3, 3))
elementwise(ew.square_p, np.square)
elementwise(ew.integer_pow_p, lambda x, y: x ** np.int64(y) if kind(x.dtype) in "iu" else x**y, (0.5, 2), loose=4,
            params=[{"y": y} for y in (3, 0, 1, 2, 5)])  # fmt: skip
elementwise(ew.integer_pow_p, lambda x, y: x**y, (0.5, 2), params=[{"y": y} for y in (-1, -3)], kinds="fc", loose=4)
elementwise(ew.pow_p, np.power, (0.3, 2), (-2, 2), loose=4)
elementwise(ew.div_p, _int_div, (-6, 6), (1, 3), linear=[[0]])
elementwise(ew.rem_p, np.fmod, (-6, 6), (1, 3))
elementwise(ew.sign_p, _sign, kinds="iuf")
elementwise(ew.sign_p, _sign, kinds="c", flat=[0])
elementwise(ew.is_finite_p, np.isfinite, result=lambda dtype: bool_)
elementwise(ew.abs_p, np.abs, **REAL)
elementwise(ew.max_p, np.maximum, (-5, 5), (-5, 5))
elementwise(ew.min_p, np.minimum, (-5, 5), (-5, 5))
elementwise(ew.clamp_p, lambda low, x, high: np.minimum(np.maximum(low, x), high), (0, 1), (-1, 3), (1, 2))
elementwise(ew.erf_p, special.erf)
elementwise(ew.erfc_p, special.erfc)
elementwise(ew.erf_inv_p, special.erfinv, (-0.9, 0.9), loose=4)
elementwise(ew.digamma_p, special.digamma, (0.3, 3), loose=4)
elementwise(ew.lgamma_p, special.gammaln, (0.3, 3), loose=4)
elementwise(ew.real_p, np.real, linear=[[0]], **REAL)
elementwise(ew.imag_p, np.imag, linear=[[0]], **REAL)
elementwise(ew.and_p, np.bitwise_and, (-100, 100), (-100, 100))
elementwise(ew.or_p, np.bitwise_or, (-100, 100), (-100, 100))
elementwise(ew.xor_p, np.bitwise_xor, (-100, 100), (-100, 100))
elementwise(ew.not_p, np.invert, (-100, 100))
elementwise(ew.stop_gradient_p, lambda x: x, kinds="biufc", flat=[0])
elementwise(li.neg_p, np.negative, linear=[[0]])
elementwise(li.add_p, np.add, (-2, 2), (-2, 2), linear=[[0], [1], [0, 1]])
elementwise(li.sub_p, np.subtract, (3, 5), (0, 2), linear=[[0], [1], [0, 1]])
elementwise(li.mul_p, np.multiply, (-2, 2), (-2, 2), linear=[[0], [1]])
elementwise(li.copy_p, lambda x: x, kinds="biufc", linear=[[0]])


for _primitive, _oracle, _params in (
    (ew.floor_p, np.floor, {}), (ew.ceil_p, np.ceil, {}),
    *[(ew.round_p, lambda x, m=m: _round(x, m), {"rounding_method": m}) for m in (0, 1)],
):  # fmt: skip

    @samples(_primitive, "f")
    def _(draw, dtype, oracle=_oracle, params=_params):
        for label, shape in SHAPES.items():  # away from the steps
            x = draw.among(shape, [-1.75, -1.25, -0.375, 0.125, 0.625, 2.25])
            yield Sample(f"{label} {params or ''}", [x], oracle, params)


@samples(ew.mulhi_p, "iu")
def _(draw, dtype):
    upper = lambda x, y: _exact(lambda v, w: (int(v) * int(w)) >> (8 * dtype.itemsize), x, y)
    for label, shape in SHAPES.items():
        yield Sample(label, [draw.bits(shape), draw.bits(shape)], upper)
    yield Sample("scalar operand 1", [draw.bits((2, 3)), draw.bits(())], upper)


@samples(ew.reduce_precision_p, "f")
def _(draw, dtype):
    for label, shape in SHAPES.items():  # numbers that have few bits
        x = draw.among(shape, [-1.75, -1.25, -0.375, 0.125, 0.625, 2.25])
        params = {"exponent_bits": 4, "mantissa_bits": 3}  # tangents are rounded, too
        yield Sample(label, [x], lambda x: x, params, rules=["abstract", "lower", "batch"])


@samples(ew.nextafter_p, "f")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        args = [draw(shape), draw(shape)]
        yield Sample(label, args, _same_dtype(np.nextafter, dtype), rules=["abstract", "lower"])
        yield Sample(label, args, np.nextafter, flat=[1])
    for i in range(2):
        args = [draw((2, 3) if i != j else ()) for j in range(2)]
        yield Sample(f"scalar operand {i}", args, np.nextafter, flat=[1])


def _same_dtype(function, dtype):
    """An oracle that has to work in the dtype itself."""
    return lambda *args: np.asarray(function(*[a.astype(dtype) for a in args])).astype(dtype)


@samples(ew.polygamma_p, "f")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        args = [draw.among(shape, [1, 2]), draw(shape, 0.5, 3)]
        yield Sample(label, args, lambda n, x: special.polygamma(n.astype(int), x), smooth=[1], loose=20)


for _primitive, _oracle in ((ew.shift_left_p, _shift_left), (ew.shift_right_logical_p, _shift_right_logical),
                            (ew.shift_right_arithmetic_p, _shift_right_arithmetic)):  # fmt: skip

    @samples(_primitive, "iu")
    def _(draw, dtype, oracle=_oracle):
        for label, shape in SHAPES.items():
            yield Sample(label, [draw.bits(shape), draw(shape, 0, 40)], oracle)
        yield Sample("scalar operand 1", [draw.bits((2, 3)), draw((), 0, 10)], oracle)
        yield Sample("scalar operand 0", [draw.bits(()), draw((2, 3), 0, 10)], oracle)


for _primitive, _oracle in (
    (ew.population_count_p, lambda x: _exact(lambda v: (int(v) & (2**32 - 1)).bit_count(), x)),
    (ew.clz_p, lambda x: _exact(lambda v: 32 - (int(v) & (2**32 - 1)).bit_length(), x)),
):

    @samples(_primitive, "iu")
    def _(draw, dtype, oracle=_oracle):
        for label, shape in SHAPES.items():
            yield Sample(label, [draw.bits(shape)], oracle)


@samples(ew.complex_p, "f")
def _(draw, dtype):
    if dtype == bfloat16:
        return
    for label, shape in {**SHAPES, "scalar operand 0": None, "scalar operand 1": None}.items():
        shapes = [shape, shape] if shape is not None else [(), (2, 3)] if label.endswith("0") else [(2, 3), ()]
        yield Sample(label, [draw(s) for s in shapes], lambda x, y: x + 1j * y, result=dtypes.complex_of(dtype),
                     linear=[[0], [1], [0, 1]], holomorphic=False)  # fmt: skip


@samples(ew.conj_p, "fc")
def _(draw, dtype):
    if dtype == bfloat16:
        return
    for label, shape in SHAPES.items():
        yield Sample(label, [draw(shape)], np.conj, {"input_dtype": dtype}, result=dtypes.complex_of(dtype), linear=[[0]],
                     holomorphic=False)  # fmt: skip


@samples(ew.bitcast_convert_type_p, "fiu")
def _(draw, dtype):
    new = {float32: int32, bfloat16: np.dtype(np.int16), int32: float32, uint32: int32, float64: dtypes.int64}[dtype]
    for label, shape in SHAPES.items():
        args = [draw(shape)]
        yield Sample(label, args, lambda x: _bits(x.astype(dtype), new), {"new_dtype": new}, result=new)
    parts = dtype.itemsize
    taken = lambda x: np.ascontiguousarray(x.astype(dtype)).view(np.uint8).reshape(*x.shape, parts)
    yield Sample("taken apart", [draw((2, 3))], taken, {"new_dtype": np.dtype(np.uint8)}, result=np.dtype(np.uint8))
    if dtype == uint32:
        joined = lambda x: np.ascontiguousarray(x).view(np.uint32).reshape(x.shape[:-1])
        given = draw.random.integers(0, 255, (3, 2, 4)).astype(np.uint8)
        yield Sample("put together", [given], joined, {"new_dtype": dtype}, result=dtype)


def _bits(x, new):
    return np.ascontiguousarray(x).reshape(x.shape or (1,)).view(new).reshape(x.shape)


@samples(li.convert_element_type_p, "biufc")
def _(draw, dtype):
    for new in (float32, bfloat16, int32, bool_, complex64, float64, complex128):
        if (dtype in (float64, complex128)) != (new in (float64, complex128)):
            continue
        for label, shape in SHAPES.items():
            params = {"new_dtype": new, "weak_type": label == "ones" and new != bool_}
            smooth = [0] if kind(dtype) in "fc" and kind(new) in "fc" else []
            yield Sample(f"{label} to {new.name}", [draw(shape)], lambda x, new=new: _converted(x, new), params, result=new,
                         smooth=smooth, linear=[[0]] if smooth else [], holomorphic=False)  # fmt: skip


def _converted(x, new):
    if kind(x.dtype) == "c" and kind(new) not in "cb":
        x = x.real
    return x.astype(new) if kind(new) in "biu" else x + 0j if kind(new) == "c" else x


@samples(li.select_n_p, "biufc")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        which = draw(shape, dtype=bool_)
        yield Sample(label, [which, draw(shape), draw(shape)], lambda w, x, y: np.where(w, y, x), linear=[[1], [2], [1, 2]],
                     result=dtype)  # fmt: skip
    shape = (2, 3)
    three = lambda w, *cases: np.choose(w, np.broadcast_arrays(*cases, w)[: len(cases)])
    yield Sample("three cases", [draw(shape, 0, 2, int32), *[draw(shape) for _ in range(3)]], three, linear=[[1, 2, 3]],
                 result=dtype)  # fmt: skip
    yield Sample("scalar choice", [draw((), dtype=bool_), draw(shape), draw(shape)],
                 lambda w, x, y: np.where(w, y, x), linear=[[1], [2]], result=dtype)  # fmt: skip
    yield Sample("scalar case", [draw(shape, dtype=bool_), draw(()), draw(shape)],
                 lambda w, x, y: np.where(w, y, x), linear=[[1], [2]], result=dtype)  # fmt: skip
    yield Sample("one case", [draw(shape, dtype=bool_), draw(shape)], lambda w, x: x, linear=[[1]], result=dtype)


@samples(families.add_any_p, "fc")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        yield Sample(label, [draw(shape), draw(shape)], np.add, linear=[[0], [1], [0, 1]])
