"""Samples of every primitive: arguments, parameters, and what NumPy says the result is.

A primitive of `jitscope.ops` without samples fails `tests/compiler/test_rules.py`. To add one, register a function

    @samples(sin_p, "fc")
    def _(draw, dtype):
        yield Sample("rank 3", [draw((2, 3, 2))], np.sin)

which gets a source of values and a dtype, and gives samples of which the labels, shapes and parameters do not depend on the
values. "fc" are the kinds of dtype it works on, letters as in `core.dtypes.kind`. Oracles get floats as float64 and complex
numbers as complex128; integers and booleans come as they are.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import math
import pkgutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from scipy import special

from jitscope import ops
from jitscope.core import dtypes
from jitscope.core.dtypes import bfloat16, bool_, complex64, complex128, float32, float64, int32, kind, uint32
from jitscope.core.primitive import Primitive
from jitscope.ops import (
    collective as col,
    dot,
    elementwise as ew,
    families,
    indexing as ix,
    linear as li,
    reduce as re,
    rng,
    sort as so,
)


NATIVE = {"f": (float32, bfloat16), "i": (int32,), "u": (uint32,), "b": (bool_,), "c": (complex64,)}
WIDE = {"f": (float64,), "c": (complex128,)}
"""Dtypes by kind: those of everyday, and those in which derivatives are compared with finite differences."""

SHAPES = {"scalar": (), "empty": (2, 0, 3), "rank 3": (2, 3, 2), "ones": (1, 3, 1)}


@dataclasses.dataclass
class Sample:
    """One call of a primitive.

    `oracle` gives the result, or a list of results, for the arguments and no parameters; `result` their dtypes, if they are
    not that of the first argument. Derivatives are tried in the operands in `smooth` (by default those of floats and complex
    numbers); those in `flat` count as constant though the oracle says otherwise. `linear`: sets of operands in which it is
    linear. `holomorphic`: whether complex derivatives are complex-linear. `axis`: the primitive runs inside a mapped axis of
    that name, along axis 0 of all arguments. `fun` stands for the primitive where its arguments are no arrays. `loose`
    multiplies tolerances; results count as no smaller than `least`, as the rounding of sums is that of their terms. `rules`
    are the only ones tried.
    """

    label: str
    args: list[Any]
    oracle: Callable[..., Any]
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    result: Any = None
    smooth: Sequence[int] | None = None
    flat: Sequence[int] = ()
    linear: Sequence[Sequence[int]] = ()
    holomorphic: bool = True
    axis: str | None = None
    fun: Callable[..., Any] | None = None
    loose: float = 1
    least: float = 1e-3
    rules: Sequence[str] | None = None

    def __post_init__(self):
        self.args = [np.asarray(a) for a in self.args]
        if self.smooth is None:
            self.smooth = [i for i, a in enumerate(self.args) if kind(a.dtype) in "fc" and i not in self.flat]


class Draw:
    """Random values of a dtype, the same ones for the same seed."""

    def __init__(self, dtype: np.dtype, seed: Any):
        self.dtype = dtype
        self.random = np.random.default_rng(zlib.crc32(repr(seed).encode()))

    def __call__(self, shape: Sequence[int], low: float = -2, high: float = 2, dtype: Any = None) -> np.ndarray:
        """Numbers from `low` to `high`; of complex ones both parts, off the real axis."""
        dtype = np.dtype(dtype or self.dtype)
        if kind(dtype) == "b":
            return self.random.random(shape) < 0.5
        if kind(dtype) in "iu":
            low = max(low, 0) if kind(dtype) == "u" else low
            return self.random.integers(math.ceil(low), math.floor(high), shape, endpoint=True).astype(dtype)
        values = self.random.uniform(low, high, shape)
        if kind(dtype) == "c":
            values = values + 1j * self.random.uniform(0.2, 0.8, shape)
        return np.asarray(values).astype(dtype)

    def distinct(self, shape: Sequence[int]) -> np.ndarray:
        """Numbers no two of which are equal or close."""
        n = math.prod(shape)
        values = self.random.permutation(n).reshape(shape) - n // 2
        if kind(self.dtype) == "u":
            values = values + n // 2
        return values.astype(self.dtype) if kind(self.dtype) != "b" else values > 0

    def among(self, shape: Sequence[int], values: Sequence[Any], dtype: Any = None) -> np.ndarray:
        """Values out of a list."""
        return self.random.choice(np.asarray(values), shape).astype(dtype or self.dtype)

    def bits(self, shape: Sequence[int], dtype: Any = None) -> np.ndarray:
        """Integers of all sizes."""
        dtype = np.dtype(dtype or self.dtype)
        raw = self.random.integers(0, 2**32, shape, dtype=np.uint64) >> self.random.integers(
            0, 32, shape, dtype=np.uint64
        )
        return raw.astype(np.uint32).astype(dtype) if kind(dtype) != "b" else raw % 2 == 1


Maker = Callable[[Draw, np.dtype], Iterator[Sample]]
_makers: dict[int, tuple[Primitive, list[tuple[str, Maker]]]] = {}


def samples(primitive: Primitive, kinds: str) -> Callable[[Maker], Maker]:
    """Decorator: register a function that gives samples of the primitive for dtypes of the given kinds."""

    def register(maker: Maker) -> Maker:
        _makers.setdefault(id(primitive), (primitive, []))[1].append((kinds, maker))
        return maker

    return register


def all_primitives() -> dict[str, Primitive]:
    """Every primitive of `jitscope.ops`, under its variable's name."""
    found: dict[int, tuple[str, Primitive]] = {}
    for info in pkgutil.iter_modules(ops.__path__):
        module = importlib.import_module(f"{ops.__name__}.{info.name}")
        for name, value in vars(module).items():
            if isinstance(value, Primitive):
                found.setdefault(id(value), (name, value))
    return dict(found.values())


def kinds_of(primitive: Primitive) -> str:
    """The kinds of dtype there are samples of; none if there are no samples."""
    if id(primitive) not in _makers:
        return ""
    return "".join(dict.fromkeys(k for kinds, _ in _makers[id(primitive)][1] for k in kinds))


def dtypes_of(primitive: Primitive, wide: bool = False) -> list[np.dtype]:
    """The dtypes to try a primitive with."""
    found = [d for k in kinds_of(primitive) for d in (WIDE if wide else NATIVE).get(k, ())]
    return [d for d in found if samples_of(primitive, d)]


def samples_of(primitive: Primitive, dtype: np.dtype, seed: int = 0) -> list[Sample]:
    """The samples for a dtype; another seed gives other values in the same shapes."""
    made = []
    for i, (kinds, maker) in enumerate(_makers[id(primitive)][1]):
        if kind(dtype) in kinds:
            made += maker(Draw(dtype, (primitive.name, dtype.name, i, seed)), dtype)
    return made


# Elementwise ---------------------------------------------------------------------------------------------------------

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


SAME: dict[str, Any] = {}
BOOLEAN = {"result": lambda dtype: bool_}
REAL = {"result": real, "holomorphic": False}

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
elementwise(ew.atan2_p, np.arctan2, (-2, 2), (0.3, 2))
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
elementwise(ew.is_finite_p, np.isfinite, **BOOLEAN)
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


@samples(ew.nextafter_p, "f")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        args = [draw(shape), draw(shape)]
        yield Sample(label, args, _same_dtype(np.nextafter, dtype), flat=[0, 1])
    for i in range(2):
        args = [draw((2, 3) if i != j else ()) for j in range(2)]
        yield Sample(f"scalar operand {i}", args, _same_dtype(np.nextafter, dtype), flat=[0, 1])


def _same_dtype(function, dtype):
    """An oracle that has to work in the dtype itself."""
    return lambda *args: np.asarray(function(*[a.astype(dtype) for a in args])).astype(dtype)


@samples(ew.polygamma_p, "f")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        args = [draw.among(shape, [1, 2]), draw(shape, 0.5, 3)]
        yield Sample(label, args, lambda n, x: special.polygamma(n.astype(int), x), flat=[0], loose=20)


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


# Moving elements -----------------------------------------------------------------------------------------------------

EVERYTHING = "biufc"


def _linear(label, args, oracle, params, **more):
    return Sample(label, args, _with(oracle, params) if more.pop("pass_params", False) else oracle, params, linear=[[0]],
                  **more)  # fmt: skip


@samples(li.broadcast_in_dim_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, new, dims in (("scalar", (), (2, 3), ()), ("empty", (0, 3), (2, 0, 3), (1, 2)),
                                    ("rank 3", (2, 3), (2, 4, 3), (0, 2)), ("ones", (1, 3, 1), (2, 3, 4), (0, 1, 2)),
                                    ("to nothing", (1, 3), (0, 3), (0, 1))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, new=new, dims=dims: _broadcast(x, new, dims),
                      {"shape": new, "broadcast_dimensions": dims})  # fmt: skip


def _broadcast(x, shape, dims):
    spread = np.reshape(x, [x.shape[dims.index(i)] if i in dims else 1 for i in range(len(shape))])
    return np.broadcast_to(spread, shape)


@samples(li.reshape_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, new in (("scalar", (), (1, 1)), ("empty", (2, 0, 3), (3, 0)), ("rank 3", (2, 3, 2), (4, 3)),
                              ("ones", (1, 3, 1), (3,))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, new=new: x.reshape(new), {"new_sizes": new})


@samples(li.squeeze_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, dims in (("scalar", (1, 1), (0, 1)), ("empty", (1, 0, 3), (0,)), ("rank 3", (2, 1, 3), (1,)),
                               ("ones", (1, 3, 1), (0, 2)), ("nothing", (2, 3), ())):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, dims=dims: np.squeeze(x, dims), {"dimensions": dims})


@samples(li.transpose_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, order in (("scalar", (), ()), ("empty", (2, 0, 3), (2, 0, 1)), ("rank 3", (2, 3, 4), (1, 2, 0)),
                                ("ones", (1, 3, 1), (2, 1, 0)), ("rank 2", (2, 3), (1, 0))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, order=order: x.transpose(order), {"permutation": order})


@samples(li.slice_p, EVERYTHING)
def _(draw, dtype):
    cases = (("scalar", (), (), (), None), ("empty", (2, 0, 3), (0, 0, 1), (2, 0, 3), None),
             ("rank 3", (4, 3, 5), (1, 0, 1), (3, 3, 5), (1, 2, 3)), ("ones", (1, 3, 1), (0, 1, 0), (1, 3, 1), None),
             ("to nothing", (3, 2), (2, 0), (2, 2), (2, 1)), ("gaps at the end", (7,), (1,), (6,), (2,)))  # fmt: skip
    for label, shape, starts, stops, steps in cases:
        at = tuple(map(slice, starts, stops, steps or [1] * len(starts)))
        params = {"start_indices": starts, "limit_indices": stops, "strides": steps}
        yield _linear(label, [draw(shape)], lambda x, at=at: x[at], params)


@samples(li.pad_p, EVERYTHING)
def _(draw, dtype):
    cases = (("scalar", (), ()), ("empty", (0, 2), ((1, 2, 3), (0, 0, 0))), ("rank 3", (2, 3, 2), ((1, 0, 0), (0, 2, 1), (0, 0, 2))),
             ("ones", (1, 3, 1), ((0, 1, 2), (0, 0, 0), (1, 1, 0))), ("cut", (4, 5), ((-1, 1, 0), (2, -2, 1))),
             ("to nothing", (2, 3), ((-1, -1, 0), (0, 0, 0))))  # fmt: skip
    for label, shape, config in cases:
        yield Sample(label, [draw(shape), draw(())], lambda x, v, c=config: _pad(x, v, c), {"padding_config": config},
                     linear=[[0], [1], [0, 1]], result=dtype)  # fmt: skip


def _pad(x, value, config):
    sizes = [max(0, n + max(n - 1, 0) * i) for n, (_, _, i) in zip(x.shape, config)]
    spread = np.full(sizes, value, x.dtype)
    spread[tuple(slice(None, None, i + 1) for _, _, i in config)] = x
    for axis, (low, high, _) in enumerate(config):
        spread = spread[(slice(None),) * axis + (slice(max(0, -low), spread.shape[axis] - max(0, -high)),)]
    widths = [(max(0, low), max(0, high)) for low, high, _ in config]
    return np.pad(spread, widths, constant_values=value) if widths else spread


@samples(li.rev_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, dims in (("scalar", (), ()), ("empty", (2, 0, 3), (0, 1)), ("rank 3", (2, 3, 2), (0, 2)),
                               ("ones", (1, 3, 1), (1, 2))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, dims=dims: np.flip(x, dims), {"dimensions": dims})


@samples(li.concatenate_p, EVERYTHING)
def _(draw, dtype):
    for label, shapes, axis in (("one", [(2,)], 0), ("empty", [(2, 0), (2, 3), (2, 0)], 1),
                                ("rank 3", [(2, 1, 2), (2, 3, 2)], 1), ("ones", [(1, 3), (2, 3), (1, 3)], 0)):  # fmt: skip
        sets = [[i] for i in range(len(shapes))] + [list(range(len(shapes)))]
        yield Sample(label, [draw(s) for s in shapes], lambda *xs, axis=axis: np.concatenate(xs, axis), {"dimension": axis},
                     linear=sets)  # fmt: skip


# Reductions ----------------------------------------------------------------------------------------------------------

REDUCED = (("scalar", (), ()), ("empty", (2, 0, 3), (0,)), ("rank 3", (2, 3, 4), (0, 2)), ("ones", (1, 3, 1), (0, 1)),
           ("all", (2, 3), (0, 1)), ("nothing", (2, 3), ()))  # fmt: skip
OF_NOTHING = ("of nothing", (2, 0, 3), (1,))


def reduction(primitive: Any, oracle: Callable[..., Any], distinct: bool = False, **options: Any) -> None:
    @samples(primitive, primitive.accepts)
    def _(draw, dtype):
        for label, shape, axes in (*REDUCED, OF_NOTHING):
            x = draw.distinct(shape) if distinct else draw(shape)
            more = {"rules": ["abstract", "lower", "batch"]} if label == "of nothing" else {}
            yield Sample(label, [x], lambda x, axes=axes: oracle(x, axes, dtype), {"axes": axes}, **options, **more)


def _sum(x, axes, dtype):
    return np.sum(x, axes).astype(x.dtype)


def _least(dtype):
    return -np.inf if kind(dtype) == "f" else False if kind(dtype) == "b" else ml_dtypes.iinfo(dtype).min


def _greatest(dtype):
    return np.inf if kind(dtype) == "f" else True if kind(dtype) == "b" else ml_dtypes.iinfo(dtype).max


reduction(li.reduce_sum_p, _sum, linear=[[0]], least=1)
reduction(re.reduce_max_p, lambda x, axes, dtype: np.max(x, axes, initial=_least(dtype)), distinct=True)
reduction(re.reduce_min_p, lambda x, axes, dtype: np.min(x, axes, initial=_greatest(dtype)), distinct=True)
reduction(re.reduce_prod_p, lambda x, axes, dtype: np.prod(x, axes).astype(x.dtype), loose=4)
reduction(re.reduce_and_p, lambda x, axes, dtype: np.bitwise_and.reduce(x, axes) if axes else x)
reduction(re.reduce_or_p, lambda x, axes, dtype: np.bitwise_or.reduce(x, axes) if axes else x)
reduction(re.reduce_xor_p, lambda x, axes, dtype: np.bitwise_xor.reduce(x, axes) if axes else x)


@samples(re.reduce_prod_p, "f")
def _(draw, dtype):
    for zeros in (1, 2):
        x = draw((2, 4), 0.5, 2)
        x[0, :zeros] = 0
        yield Sample(f"{zeros} zeros", [x], lambda x: np.prod(x, 1), {"axes": (1,)}, loose=4)


for _primitive, _oracle in ((re.argmax_p, np.argmax), (re.argmin_p, np.argmin)):

    @samples(_primitive, "biuf")
    def _(draw, dtype, oracle=_oracle):
        for label, shape, axis in (
            ("rank 1", (4,), 0),
            ("empty", (2, 0, 3), 0),
            ("rank 3", (2, 5, 3), 1),
            ("ones", (1, 3, 1), 2),
        ):
            for index in (int32, np.dtype(np.int8)):
                yield Sample(f"{label} {index.name}", [draw(shape)], lambda x, axis=axis: oracle(x, axis),
                             {"axes": (axis,), "index_dtype": index}, result=index)  # fmt: skip
        if kind(dtype) == "f":
            x = draw((3, 5))
            x[0, 2], x[0, 4], x[1, 0] = np.nan, np.nan, np.inf
            yield Sample("NaN", [x], lambda x: oracle(x, 1), {"axes": (1,), "index_dtype": int32}, result=int32)


def cumulative(primitive: Any, ufunc: Any, **options: Any) -> None:
    @samples(primitive, primitive.accepts)
    def _(draw, dtype):
        for label, shape, axis in (("rank 1", (5,), 0), ("empty", (2, 0, 3), 1), ("empty beside", (2, 0, 3), 0),
                                   ("rank 3", (2, 5, 3), 1), ("ones", (1, 3, 1), 2)):  # fmt: skip
            for reverse in (False, True):
                x = draw.distinct(shape) if ufunc in (np.maximum, np.minimum) else draw(shape)
                oracle = lambda x, axis=axis, reverse=reverse: _accumulated(ufunc, x, axis, reverse)
                yield Sample(label + " reverse" * reverse, [x], oracle, {"axis": axis, "reverse": reverse}, **options)


def _accumulated(ufunc, x, axis, reverse):
    if not x.size:
        return x
    turned = np.flip(x, axis) if reverse else x
    out = ufunc.accumulate(turned, axis).astype(x.dtype)
    return np.flip(out, axis) if reverse else out


cumulative(re.cumsum_p, np.add, linear=[[0]], least=1)
cumulative(re.cumprod_p, np.multiply, loose=4)
cumulative(re.cummax_p, np.maximum)
cumulative(re.cummin_p, np.minimum)


# Dot -----------------------------------------------------------------------------------------------------------------

DOTS = (
    ("scalar", (), (), (((), ()), ((), ()))),
    ("vectors", (3,), (3,), (((0,), (0,)), ((), ()))),
    ("matrix × vector", (2, 3), (3,), (((1,), (0,)), ((), ()))),
    ("vector × matrix", (2,), (2, 3), (((0,), (0,)), ((), ()))),
    ("outer", (2,), (3,), (((), ()), ((), ()))),
    ("matrices", (2, 3), (3, 4), (((1,), (0,)), ((), ()))),
    ("turned matrices", (3, 2), (4, 3), (((0,), (1,)), ((), ()))),
    ("rank 3", (2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ("shared inside", (3, 2, 4), (4, 5, 2), (((2,), (0,)), ((1,), (2,)))),
    ("two sums crossed", (2, 3, 4), (4, 2, 5), (((2, 0), (0, 1)), ((), ()))),
    ("two shared", (2, 3, 4), (3, 2, 5), (((), ()), ((0, 1), (1, 0)))),
    ("ones", (1, 3), (3, 1), (((1,), (0,)), ((), ()))),
    ("empty", (2, 3), (3, 0), (((1,), (0,)), ((), ()))),
    ("sum of nothing", (2, 0), (0, 3), (((1,), (0,)), ((), ()))),
)  # fmt: skip


def _dot(x, y, numbers, result):
    (x_sum, y_sum), (x_shared, y_shared) = numbers
    names = iter("abcdefghij")
    x_names = [next(names) for _ in x.shape]
    y_names = [next(names) for _ in y.shape]
    for a, b in zip((*x_sum, *x_shared), (*y_sum, *y_shared)):
        y_names[b] = x_names[a]
    out = [x_names[a] for a in x_shared]
    out += [n for i, n in enumerate(x_names) if i not in x_sum and i not in x_shared]
    out += [n for i, n in enumerate(y_names) if i not in y_sum and i not in y_shared]
    text = f"{''.join(x_names)},{''.join(y_names)}->{''.join(out)}"
    if kind(result) == "b":
        return np.einsum(text, x.astype(int), y.astype(int)) > 0
    if kind(result) in "iu":
        x, y = x.astype(result), y.astype(result)
    return np.einsum(text, x, y)


@samples(dot.dot_general_p, EVERYTHING)
def _(draw, dtype):
    preferred = {bfloat16: (None, float32), float32: (None, complex64), int32: (None, float32), bool_: (None, int32)}
    for label, x, y, numbers in DOTS:
        for wanted in preferred.get(dtype, (None,)):
            text = "" if wanted is None else f" in {wanted.name}"
            precision = (dot.Precision.HIGHEST, dot.Precision.DEFAULT) if label == "rank 3" else None
            params = {"dimension_numbers": numbers, "precision": precision, "preferred_element_type": wanted}
            yield Sample(label + text, [draw(x, -3, 3), draw(y, -3, 3)],
                         lambda x, y, n=numbers, d=wanted or dtype: _dot(x, y, n, d), params, result=wanted or dtype,
                         linear=[[0], [1]], least=1, holomorphic=kind(dtype) == "c")  # fmt: skip


@samples(dot.dot_general_p, EVERYTHING)
def _(draw, dtype):
    # Transposes of operands become part of the dot when it is lowered.
    for label, x, y, numbers in DOTS:
        orders = [tuple(range(len(shape)))[::-1] for shape in (x, y)]
        params = {"dimension_numbers": numbers, "precision": None, "preferred_element_type": None}
        yield Sample(f"{label}, turned", [draw(x[::-1], -3, 3), draw(y[::-1], -3, 3)],
                     lambda x, y, n=numbers: _dot(x.T, y.T, n, dtype), least=1, rules=["lower"],
                     fun=lambda x, y, o=orders, p=params: dot.dot_general_p(
                         li.transpose_p(x, permutation=o[0]), li.transpose_p(y, permutation=o[1]), **p))  # fmt: skip


# Indexing ------------------------------------------------------------------------------------------------------------

CLIP, FILL, PROMISE = (
    ix.GatherScatterMode.CLIP,
    ix.GatherScatterMode.FILL_OR_DROP,
    ix.GatherScatterMode.PROMISE_IN_BOUNDS,
)


@samples(ix.iota_p, "iufc")
def _(draw, dtype):
    for label, shape, axis in (
        ("rank 1", (3,), 0),
        ("empty", (2, 0), 1),
        ("rank 3", (2, 3, 4), 1),
        ("ones", (1, 3, 1), 0),
    ):
        numbers = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        yield Sample(label, [], lambda n=numbers, s=shape: np.broadcast_to(n, s), result=dtype,
                     params={"dtype": dtype, "shape": shape, "dimension": axis})  # fmt: skip


GATHERS = {
    # label: operand, indices, slice sizes, numbers
    "rows": ((5, 3), (4, 1), (1, 3), ix.GatherDimensionNumbers((1,), (0,), (0,))),
    "elements": ((4, 5), (6, 2), (1, 1), ix.GatherDimensionNumbers((), (0, 1), (1, 0))),
    "windows": ((5, 4), (3, 2), (2, 3), ix.GatherDimensionNumbers((0, 2), (), (0, 1))),
    "rank 3": ((3, 4, 2), (2, 3, 1), (2, 1, 2), ix.GatherDimensionNumbers((1, 3), (1,), (1,))),
    "together": ((2, 4, 3), (2, 5, 1), (1, 1, 3), ix.GatherDimensionNumbers((2,), (1,), (1,), (0,), (0,))),
    "together, turned": ((3, 4, 2), (5, 2, 1), (3, 1, 1), ix.GatherDimensionNumbers((0,), (1,), (1,), (2,), (1,))),
    "one": ((4, 3), (1,), (1, 3), ix.GatherDimensionNumbers((0,), (0,), (0,))),
    "ones": ((1, 3, 1), (2, 1), (1, 3, 1), ix.GatherDimensionNumbers((1, 2), (0,), (0,))),
    "empty": ((4, 0), (3, 1), (1, 0), ix.GatherDimensionNumbers((1,), (0,), (0,))),
    "no indices": ((4, 3), (0, 1), (1, 3), ix.GatherDimensionNumbers((1,), (0,), (0,))),
    "scalar": ((), (3, 0), (), ix.GatherDimensionNumbers((), (), ())),
}


def _places(operand, indices, sizes, window, missing, indexed, shared, indices_shared, clip):
    """For each element of a gather's result, or a scatter's updates: its place there, and in the operand (None: out of
    bounds)."""
    rank = len(window) + indices.ndim - 1
    outer = [a for a in range(rank) if a not in window]
    kept = [a for a in range(len(operand)) if a not in missing and a not in shared]
    shape = [0] * rank
    for a, n in zip(outer, indices.shape[:-1]):
        shape[a] = n
    for a, k in zip(window, kept):
        shape[a] = sizes[k]
    # One index after the other, as scatter goes through them.
    for place in sorted(np.ndindex(*shape), key=lambda place: [place[a] for a in outer]):
        at = tuple(place[a] for a in outer)
        start = [0] * len(operand)
        for a, i in zip(shared, indices_shared):
            start[a] = at[i]
        inside = True
        for a, i in zip(indexed, indices[at]):
            limit = operand[a] - sizes[a]
            inside &= 0 <= i <= limit
            start[a] = min(max(int(i), 0), limit) if clip else int(i)
        for a, k in zip(window, kept):
            start[k] += place[a]
        yield place, tuple(start) if inside or clip else None, tuple(shape)


def _gather(x, indices, numbers, sizes, mode, fill_value, dtype):
    found, shape = {}, None
    for place, source, whole in _places(x.shape, indices, sizes, *ix._fields(numbers), clip=mode is not FILL):
        found[place], shape = (x[source] if source is not None else fill_value), whole
    if shape is None:
        shape = _gather_shape(x, indices, numbers, sizes)
    out = np.zeros(shape, x.dtype)
    for place, value in found.items():
        out[place] = value
    return out


def _gather_shape(x, indices, numbers, sizes):
    window, missing, _, shared, _ = ix._fields(numbers)
    rank = len(window) + indices.ndim - 1
    kept = iter(sizes[a] for a in range(x.ndim) if a not in missing and a not in shared)
    outer = iter(indices.shape[:-1])
    return tuple(next(kept if a in window else outer) for a in range(rank))


def _indices(draw, shape, operand, sizes, indexed, mode, dtype=int32):
    """Index vectors; out of bounds ones too, where the mode says what they mean."""
    low, high = (0, 0) if mode is PROMISE else (-2, 2)
    columns = [draw(shape[:-1], max(low, 0) if np.dtype(dtype).kind == "u" else low, max(operand[a] - sizes[a], 0) + high, dtype)
               for a in indexed]  # fmt: skip
    return np.stack(columns, -1) if columns else np.zeros(shape, dtype)


@samples(ix.gather_p, EVERYTHING)
def _(draw, dtype):
    fills = {"f": (0, -1.5), "c": (2,), "i": (-7,), "u": (9,), "b": (True,)}[kind(dtype)]
    for label, (shape, indices, sizes, numbers) in GATHERS.items():
        for mode, fill in ((CLIP, None), (PROMISE, None), *[(FILL, f) for f in fills[: 1 + (label == "rows")]]):
            if mode is PROMISE and label not in ("rows", "empty"):
                continue
            at = _indices(draw, indices, shape, sizes, numbers.start_index_map, mode)
            params = {"dimension_numbers": numbers, "slice_sizes": sizes, "indices_are_sorted": False,
                      "unique_indices": False, "mode": mode, "fill_value": fill}  # fmt: skip
            oracle = lambda x, i, n=numbers, s=sizes, m=mode, f=fill: _gather(x, i, n, s, m, f, dtype)
            linear = [[0]] if not (mode is FILL and fill) else []
            yield Sample(
                f"{label} {mode.name.lower()} {fill}", [draw(shape), at], oracle, params, linear=linear, result=dtype
            )
    yield from _narrow_gathers(draw, dtype)


def _narrow_gathers(draw, dtype):
    numbers = ix.GatherDimensionNumbers((), (0,), (0,))
    for index in (np.dtype(np.int8), np.dtype(np.uint8), uint32):
        for mode in (CLIP, FILL):
            at = draw((5, 1), -100, 120, index)
            params = {"dimension_numbers": numbers, "slice_sizes": (1,), "indices_are_sorted": False, "unique_indices": False,
                      "mode": mode, "fill_value": 1}  # fmt: skip
            oracle = lambda x, i, m=mode: _gather(x, i, numbers, (1,), m, 1, dtype)
            yield Sample(f"{index.name} indices {mode.name.lower()}", [draw((300,)), at], oracle, params, result=dtype,
                         rules=["abstract", "lower"])  # fmt: skip


def _scatter(combine):
    def oracle(x, indices, updates, numbers, sizes, mode):
        out = x.copy()
        with np.errstate(over="ignore"):
            for place, target, _ in _places(x.shape, indices, sizes, *ix._fields(numbers), clip=mode is CLIP):
                if target is not None:
                    out[target] = combine(out[target], updates[place])
        return out

    return oracle


def scatter(primitive: Any, combine: Callable[[Any, Any], Any], kinds: str, linear: Sequence[Sequence[int]], unique: bool = False,
            distinct: bool = False, labels: Sequence[str] = ("rows", "rank 3", "one", "empty", "scalar")) -> None:  # fmt: skip
    """Register a scatter; `unique`: its derivative in the updates needs indices that differ."""

    @samples(primitive, kinds)
    def _(draw, dtype):
        for label in labels:
            shape, indices, sizes, numbers = GATHERS[label]
            axes = ix.scatter_numbers(numbers)
            for mode in (CLIP, FILL, PROMISE):
                if mode is PROMISE and label not in ("rows", "empty"):
                    continue
                at = _indices(draw, indices, shape, sizes, numbers.start_index_map, mode)
                size = _gather_shape(np.empty(shape), at, numbers, sizes)
                x, updates = draw(shape), draw(size)
                if distinct and kind(dtype) == "f":
                    both = draw.distinct((x.size + updates.size,))
                    x, updates = both[: x.size].reshape(shape), both[x.size :].reshape(size)
                params = {"dimension_numbers": axes, "indices_are_sorted": False, "unique_indices": False, "mode": mode}
                oracle = lambda x, i, u, a=axes, s=sizes, m=mode: _scatter(combine)(x, i, u, a, s, m)
                yield Sample(f"{label} {mode.name.lower()}", [x, at, updates], oracle, params, result=dtype,
                             linear=[s for s in linear if not (unique and 2 in s)], smooth=[0] if unique else None, least=1)  # fmt: skip
        if unique and kind(dtype) in "fc":
            yield from _unique_scatters(draw, dtype, combine, linear)


def _unique_scatters(draw, dtype, combine, linear):
    numbers = ix.ScatterDimensionNumbers((1,), (0,), (0,))
    for mode in (CLIP, FILL):
        at = np.array([[3], [0], [4], [7 if mode is FILL else 2]], np.int32)
        params = {"dimension_numbers": numbers, "indices_are_sorted": False, "unique_indices": True, "mode": mode}
        oracle = lambda x, i, u, m=mode: _scatter(combine)(x, i, u, numbers, (1, 3), m)
        yield Sample(f"unique {mode.name.lower()}", [draw((5, 3)), at, draw((4, 3))], oracle, params, linear=linear)
    single = {"dimension_numbers": ix.ScatterDimensionNumbers((0,), (0,), (0,)), "indices_are_sorted": False,
              "unique_indices": False, "mode": CLIP}  # fmt: skip
    oracle = lambda x, i, u: _scatter(combine)(x, i, u, single["dimension_numbers"], (1, 3), CLIP)
    yield Sample("single index", [draw((5, 3)), np.array([2], np.int32), draw((3,))], oracle, single, linear=linear)


scatter(ix.scatter_p, lambda old, new: new, EVERYTHING, [[0], [2], [0, 2]], labels=list(GATHERS))
scatter(ix.scatter_add_p, lambda old, new: old + new, "biufc", [[0], [2], [0, 2]], labels=list(GATHERS))
scatter(
    ix.scatter_sub_p,
    lambda old, new: old - new if np.asarray(old).dtype != bool_ else old ^ new,
    "iufc",
    [[0], [2], [0, 2]],
)
scatter(ix.scatter_mul_p, lambda old, new: old * new, "biufc", [[0], [2]], unique=True)
scatter(ix.scatter_min_p, min, "biuf", [], distinct=True)
scatter(ix.scatter_max_p, max, "biuf", [], distinct=True)


DYNAMIC = (("scalar", (), ()), ("rank 1", (5,), (2,)), ("rank 3", (4, 3, 2), (2, 3, 1)), ("ones", (1, 3, 1), (1, 2, 1)),
           ("empty", (2, 0, 3), (1, 0, 2)), ("nothing", (3, 2), (0, 2)))  # fmt: skip


def _starts(draw, shape, label):
    types = itertools.cycle([int32] if label != "rank 3" else [int32, np.dtype(np.int8), uint32])
    return [draw((), -2, n + 1, next(types)) for n in shape]


def _window(shape, sizes, starts):
    first = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, shape, sizes)]
    return tuple(slice(a, a + k) for a, k in zip(first, sizes))


@samples(ix.dynamic_slice_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, sizes in DYNAMIC:
        oracle = lambda x, *starts, sizes=sizes: x[_window(x.shape, sizes, starts)]
        yield Sample(label, [draw(shape), *_starts(draw, shape, label)], oracle, {"slice_sizes": sizes}, linear=[[0]],
                     result=dtype)  # fmt: skip


@samples(ix.dynamic_update_slice_p, EVERYTHING)
def _(draw, dtype):
    def oracle(x, update, *starts):
        out = x.copy()
        out[_window(x.shape, update.shape, starts)] = update
        return out

    for label, shape, sizes in DYNAMIC:
        yield Sample(label, [draw(shape), draw(sizes), *_starts(draw, shape, label)], oracle, linear=[[0], [1], [0, 1]],
                     result=dtype)  # fmt: skip


# Sorting -------------------------------------------------------------------------------------------------------------


def _order(keys, axis):
    parts = [part for k in keys for part in ((k.real, k.imag) if np.iscomplexobj(k) else (k,))]
    return np.lexsort(parts[::-1], axis)


def _sort(num_keys, axis):
    def oracle(*xs):
        order = _order(xs[:num_keys], axis)
        return [np.take_along_axis(x, order, axis) for x in xs]

    return oracle


@samples(so.sort_p, EVERYTHING)
def _(draw, dtype):
    def sample(label, args, axis, num_keys, **more):
        params = {"dimension": axis, "is_stable": True, "num_keys": num_keys}
        return Sample(label, args, _sort(num_keys, axis), params, result=[np.asarray(a).dtype for a in args], **more)

    for label, shape, axis in (
        ("rank 1", (6,), 0),
        ("rank 3", (2, 5, 3), 1),
        ("empty", (2, 0, 3), 1),
        ("ones", (1, 4, 1), 2),
    ):
        yield sample(label, [draw.distinct(shape)], axis, 1)
        if kind(dtype) == "c":
            tied = draw.among(shape, [0, 1 + 1j, 1 - 1j, 1 + 2j])
        else:
            tied = draw.among(shape, [0, 1, 2])
        numbers = np.arange(math.prod(shape), dtype=int32).reshape(shape)
        yield sample(
            f"{label}, payload", [tied, draw(shape), numbers], axis, 1, smooth=[1] if kind(dtype) in "fc" else []
        )
        yield sample(f"{label}, two keys", [tied, draw.among(shape, [0, 1, 2]), numbers], axis, 2, smooth=[])
    big = (4, so.PACKED_FROM)
    yield sample("large", [draw.among(big, range(100))], 1, 1, smooth=[], rules=["abstract", "lower"])
    args = [draw.among(big, range(100)), draw(big), np.arange(math.prod(big), dtype=int32).reshape(big)]
    yield sample(
        "large, payload", args, 1, 1, smooth=[1] if kind(dtype) in "fc" else [], rules=["abstract", "lower", "jvp"]
    )
    if kind(dtype) == "f":
        values = [np.nan, np.inf, -np.inf, 0, -0.0, 1, -1]
        odd = draw.among((20,), values)
        odd[3] = -np.float32(np.nan)
        yield sample("NaN and zeros", [odd, np.arange(20, dtype=int32)], 0, 1, smooth=[], rules=["lower"])
        odd = draw.among(big, values)
        yield sample(
            "large, NaN and zeros",
            [odd, np.arange(odd.size, dtype=int32).reshape(big)],
            1,
            1,
            smooth=[],
            rules=["lower"],
        )
        yield sample("large, NaN alone", [odd], 1, 1, smooth=[], rules=["lower"])


@samples(so.top_k_p, "biuf")
def _(draw, dtype):
    for label, shape, k, axis in (("rank 1", (7,), 3, 0), ("rank 3", (2, 5, 3), 2, 1), ("empty", (0, 3), 2, 1), ("ones", (1, 3, 1), 1, 2),
                                  ("none", (3,), 0, 0), ("all", (2, 4), 4, 1)):  # fmt: skip

        def oracle(x, k=k, axis=axis):
            order = np.take(np.argsort(-x.astype(float64), axis, kind="stable"), range(k), axis)
            return [np.take_along_axis(x, order, axis), order]

        yield Sample(label, [draw.distinct(shape)], oracle, {"k": k, "axis": axis}, result=[dtype, int32])
    if kind(dtype) in "iu":
        yield Sample(
            "large numbers", [draw.bits((30,))], lambda x: oracle(x, 5, 0), {"k": 5, "axis": 0}, result=[dtype, int32]
        )


# Collectives: arguments and results of all examples along axis 0 -----------------------------------------------------

N = 3


def _stacked(function):
    """The oracle of a reduction: every example gets the result."""
    return lambda x: np.broadcast_to(function(x), x.shape)


def _collective(primitive, kinds, cases, **options):
    @samples(primitive, kinds)
    def _(draw, dtype):
        for label, shape, params, oracle in cases:
            x = draw.distinct((N, *shape)) if options.get("distinct") else draw((N, *shape))
            more = {k: v for k, v in options.items() if k != "distinct"}
            yield Sample(label, [x], oracle, params, axis="i", result=dtype, **more)


_ALL = {"axes": ("i",)}
PLAIN_SHAPES = (("scalar", ()), ("empty", (2, 0)), ("rank 3", (2, 3, 2)), ("ones", (1, 3, 1)))
_collective(
    col.psum_p,
    "iufc",
    [(n, s, _ALL, _stacked(lambda x: x.sum(0, dtype=x.dtype))) for n, s in PLAIN_SHAPES],
    linear=[[0]],
)
_collective(col.pmax_p, "biuf", [(n, s, _ALL, _stacked(lambda x: x.max(0))) for n, s in PLAIN_SHAPES], distinct=True)
_collective(col.pmin_p, "biuf", [(n, s, _ALL, _stacked(lambda x: x.min(0))) for n, s in PLAIN_SHAPES], distinct=True)


def _gathered(at, tiled):
    def oracle(x):
        whole = np.concatenate(list(x), at) if tiled else np.stack(list(x), at)
        return np.stack([whole] * N)

    return oracle


def _scattered(at, tiled):
    def oracle(x):
        total = x.sum(0, dtype=x.dtype)
        return np.stack(np.split(total, N, at) if tiled else list(np.moveaxis(total, at, 0)))

    return oracle


def _exchanged(split, concat, tiled):
    def oracle(x):
        parts = [np.split(v, N, split) if tiled else list(np.moveaxis(v, split, 0)) for v in x]
        join = np.concatenate if tiled else np.stack
        return np.stack([join([parts[j][i] for j in range(N)], concat) for i in range(N)])

    return oracle


def _permuted(perm):
    def oracle(x):
        out = np.zeros_like(x)
        for a, b in perm:
            out[b] = x[a]
        return out

    return oracle


_AXIS = {"axis_name": "i"}
_collective(col.all_gather_p, EVERYTHING, [
    (f"{shape} at {at}{' tiled' * tiled}", shape, {"all_gather_dimension": at, "axis_size": N, "tiled": tiled, **_AXIS}, _gathered(at, tiled))
    for shape, at, tiled in (((), 0, False), ((2, 3), 0, False), ((2, 3), 2, False), ((2, 3), 1, True), ((0, 2), 1, True), ((1, 3), 0, True))
], linear=[[0]])  # fmt: skip
_collective(col.reduce_scatter_p, "iufc", [
    (f"{shape} at {at}{' tiled' * tiled}", shape, {"scatter_dimension": at, "axis_size": N, "tiled": tiled, **_AXIS}, _scattered(at, tiled))
    for shape, at, tiled in (((3,), 0, False), ((2, 3), 1, False), ((2, 6), 1, True), ((3, 0), 0, True), ((3, 1), 0, False))
], linear=[[0]])  # fmt: skip
_collective(col.all_to_all_p, EVERYTHING, [
    (f"{shape} {a} to {b}{' tiled' * tiled}", shape, {"split_axis": a, "concat_axis": b, "tiled": tiled, **_AXIS}, _exchanged(a, b, tiled))
    for shape, a, b, tiled in (((3,), 0, 0, False), ((3, 2), 0, 1, False), ((2, 3, 4), 1, 0, False), ((2, 6), 1, 0, True),
                               ((3, 0), 0, 1, True), ((1, 3), 1, 1, True))
], linear=[[0]])  # fmt: skip
_collective(col.ppermute_p, EVERYTHING, [
    (f"{shape} {perm}", shape, {"perm": perm, **_AXIS}, _permuted(perm))
    for shape, perm in (((), ((0, 1), (1, 2), (2, 0))), ((2, 3), ((0, 2), (2, 1))), ((0,), ()), ((1, 2), ((1, 1),)))
], linear=[[0]])  # fmt: skip


@samples(col.axis_index_p, "i")
def _(draw, dtype):
    # It has no operand: one that it does not read says how many examples there are.
    yield Sample("scalar", [draw((N,))], lambda x: np.arange(N, dtype=int32), axis="i", result=int32,
                 fun=lambda x: col.axis_index_p(axis_name="i"))  # fmt: skip


# Keys ----------------------------------------------------------------------------------------------------------------


def _keys(words: Any) -> Any:
    return rng.random_wrap_p(words, impl=rng.threefry)


def _on_keys(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of keys as one of their words."""
    return lambda words, *others: rng.random_unwrap_p(fun(_keys(words), *others))


def _cipher(k1, k2, x1, x2):
    with np.errstate(over="ignore"):
        k1, k2, x1, x2 = (np.asarray(v, np.uint32) for v in np.broadcast_arrays(k1, k2, x1, x2))
        keys = (k1, k2, k1 ^ k2 ^ np.uint32(0x1BD11BDA))
        x1, x2 = x1 + k1, x2 + k2
        for i in range(5):
            for r in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
                x1 = x1 + x2
                x2 = x1 ^ ((x2 << np.uint32(r)) | (x2 >> np.uint32(32 - r)))
            x1 = x1 + keys[(i + 1) % 3]
            x2 = x2 + keys[(i + 2) % 3] + np.uint32(i + 1)
    return [x1, x2]


def _counted(words, shape):
    """Words of key and counter for each key × each element of `shape`."""
    keys = words.shape[:-1]
    k = [words[..., i].reshape(*keys, *[1] * len(shape)) for i in range(2)]
    low = np.arange(math.prod(shape), dtype=np.uint32).reshape(shape)
    return _cipher(*[np.broadcast_to(v, (*keys, *shape)) for v in (*k, np.uint32(0), low)])


KEY_SHAPES = (("scalar", ()), ("empty", (0,)), ("rank 2", (2, 3)), ("ones", (1,)))


@samples(rng.threefry2x32_p, "u")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        yield Sample(label, [draw.bits(shape) for _ in range(4)], _cipher, result=[uint32, uint32])
    yield Sample(
        "scalar keys",
        [draw.bits(()), draw.bits(()), draw.bits((4,)), draw.bits((4,))],
        _cipher,
        result=[uint32, uint32],
    )


@samples(rng.random_seed_p, "iu")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        yield Sample(label, [draw.bits(shape)], lambda s: np.stack([np.zeros_like(s).astype(np.uint32), s.astype(np.uint32)], -1),
                     fun=lambda s: rng.random_unwrap_p(rng.random_seed_p(s, impl=rng.threefry)), result=uint32)  # fmt: skip


for _primitive in (rng.random_wrap_p, rng.random_unwrap_p):

    @samples(_primitive, "u")
    def _(draw, dtype):
        for label, shape in KEY_SHAPES:
            yield Sample(label, [draw.bits((*shape, 2))], lambda w: w, fun=_on_keys(lambda k: k), result=uint32)


@samples(rng.random_bits_p, "u")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        for width, result in ((8, np.uint8), (16, np.uint16), (32, np.uint32)):

            def oracle(words, result=result):
                high, low = _counted(words, (2, 3))
                return (high ^ low).astype(result)

            yield Sample(f"{label} {width}", [draw.bits((*shape, 2))], oracle, result=np.dtype(result),
                         fun=lambda w, width=width: rng.random_bits_p(_keys(w), bit_width=width, shape=(2, 3)))  # fmt: skip


@samples(rng.random_split_p, "u")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        yield Sample(label, [draw.bits((*shape, 2))], lambda w: np.stack(_counted(w, (2,)), -1), result=uint32,
                     fun=_on_keys(lambda k: rng.random_split_p(k, shape=(2,))))  # fmt: skip


@samples(rng.random_fold_in_p, "u")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        oracle = lambda w, data: np.stack(_cipher(w[..., 0], w[..., 1], np.uint32(0), data), -1)
        yield Sample(
            label, [draw.bits((*shape, 2)), draw.bits(shape)], oracle, fun=_on_keys(rng.random_fold_in_p), result=uint32
        )


def keyed(primitive: Any, shape: Sequence[int], params: dict[str, Any], oracle: Callable[..., Any],
          others: Callable[[Draw], list[Any]] = lambda draw: [], arrange: Any = None) -> None:  # fmt: skip
    """Register a sample on keys of `shape` of an operation that moves elements; the oracle gets their words, u32[..., 2]."""

    @samples(primitive, "u")
    def _(draw, dtype):
        call = lambda k, *rest: primitive(*(arrange(k, *rest) if arrange else (k, *rest)), **params)
        yield Sample("keys", [draw.bits((*shape, 2)), *others(draw)], oracle, fun=_on_keys(call), result=uint32)


keyed(
    li.broadcast_in_dim_p,
    (3,),
    {"shape": (2, 3), "broadcast_dimensions": (1,)},
    lambda w: np.broadcast_to(w, (2, 3, 2)),
)
keyed(li.reshape_p, (2, 3), {"new_sizes": (6,)}, lambda w: w.reshape(6, 2))
keyed(li.squeeze_p, (1, 3), {"dimensions": (0,)}, lambda w: w[0])
keyed(li.transpose_p, (2, 3), {"permutation": (1, 0)}, lambda w: w.transpose(1, 0, 2))
keyed(li.slice_p, (5,), {"start_indices": (1,), "limit_indices": (5,), "strides": (2,)}, lambda w: w[1:5:2])
keyed(li.rev_p, (3,), {"dimensions": (0,)}, lambda w: w[::-1])
keyed(li.concatenate_p, (3,), {"dimension": 0}, lambda w: np.concatenate([w, w]), arrange=lambda k: (k, k))
keyed(li.select_n_p, (3,), {}, lambda w, p: np.where(p[:, None], w[::-1], w), lambda draw: [draw((3,), dtype=bool_)],
      arrange=lambda k, p: (p, k, li.rev_p(k, dimensions=(0,))))  # fmt: skip
keyed(ix.dynamic_slice_p, (4, 2), {"slice_sizes": (2, 2)}, lambda w, i: w[min(i, 2) :][:2], lambda draw: [draw((), 0, 4, int32)],
      arrange=lambda k, i: (k, i, np.int32(0)))  # fmt: skip
keyed(ix.dynamic_update_slice_p, (4,), {}, lambda w, i: np.concatenate([w[:i], w[3:], w[i + 1 :]]), lambda draw: [draw((), 0, 3, int32)],
      arrange=lambda k, i: (k, li.slice_in_dim(k, 3, 4), i))  # fmt: skip
for _mode in (CLIP, FILL):
    keyed(ix.gather_p, (4,), {"dimension_numbers": ix.GatherDimensionNumbers((), (0,), (0,)), "slice_sizes": (1,), "indices_are_sorted": False,
                              "unique_indices": False, "mode": _mode, "fill_value": None},
          lambda w, i, m=_mode: np.stack([w[np.clip(j, 0, 3)] if m is CLIP or 0 <= j < 4 else np.full(2, 2**32 - 1, np.uint32) for j in i[:, 0]]),
          lambda draw: [draw((5, 1), -2, 5, int32)])  # fmt: skip
keyed(ix.scatter_p, (4,), {"dimension_numbers": ix.ScatterDimensionNumbers((), (0,), (0,)), "indices_are_sorted": False, "unique_indices": False,
                           "mode": FILL},
      lambda w, i: _scatter(lambda a, b: b)(w, i, w[:2], ix.ScatterDimensionNumbers((1,), (0,), (0,)), (1, 2), FILL),
      lambda draw: [draw((2, 1), -1, 5, int32)], arrange=lambda k, i: (k, i, li.slice_in_dim(k, 0, 2)))  # fmt: skip


# Values at the edges: evaluation alone -------------------------------------------------------------------------------


def edge(primitive: Any, dtype: Any, args: Sequence[Any], result: Any, params: dict[str, Any] | None = None) -> None:
    """Register one evaluation with a known result."""

    @samples(primitive, kind(np.dtype(dtype)))
    def _(draw, given):
        if given == np.dtype(dtype):
            want = result if isinstance(result, list) else np.asarray(result)
            dtypes_ = [w.dtype for w in want] if isinstance(result, list) else want.dtype
            operands = [np.asarray(a, None if np.asarray(a).dtype == bool_ else dtype) for a in args]
            yield Sample(
                f"edge {args}", operands, lambda *_: want, params or {}, result=dtypes_, rules=["lower"], smooth=[]
            )


_NAN, _INF = np.float32(np.nan), np.float32(np.inf)
edge(ew.max_p, float32, [[_NAN, 1, -_INF], [1, _NAN, -_INF]], np.float32([_NAN, _NAN, -_INF]))
edge(ew.min_p, float32, [[_NAN, 1, _INF], [1, _NAN, _INF]], np.float32([_NAN, _NAN, _INF]))
edge(re.reduce_max_p, float32, [[1, _NAN, 2]], _NAN, {"axes": (0,)})
edge(re.reduce_min_p, float32, [[1, _NAN, 2]], _NAN, {"axes": (0,)})
edge(li.reduce_sum_p, float32, [[1, _INF, 2]], _INF, {"axes": (0,)})
edge(ew.rem_p, float32, [[5.5, -5.5, 5.5, -5.5], [2, 2, -2, -2]], np.float32([1.5, -1.5, 1.5, -1.5]))
edge(ew.rem_p, int32, [[5, -5, 5, -5], [3, 3, -3, -3]], np.int32([2, -2, 2, -2]))
edge(ew.div_p, int32, [[5, -5, 5, -5], [3, 3, -3, -3]], np.int32([1, -1, -1, 1]))
edge(ew.div_p, float32, [[1, -1, 0], [0, 0, 0]], np.float32([_INF, -_INF, _NAN]))
edge(ew.sign_p, float32, [[-0.0, 0.0, _NAN, -_INF]], np.float32([0, 0, _NAN, -1]))
edge(ew.round_p, float32, [[0.5, 1.5, -0.5, 2.5]], np.float32([1, 2, -1, 3]), {"rounding_method": 0})
edge(ew.round_p, float32, [[0.5, 1.5, -0.5, 2.5]], np.float32([0, 2, -0.0, 2]), {"rounding_method": 1})
edge(ew.integer_pow_p, int32, [[2, -3]], np.int32([32, -243]), {"y": 5})
edge(ew.pow_p, float32, [[0, 0, -2, 4], [0, 2, 3, 0.5]], np.float32([1, 0, -8, 2]))
edge(ew.clz_p, int32, [[0, 1, -1]], np.int32([32, 31, 0]))
edge(ew.log1p_p, float32, [[1e-7, -1]], np.float32([1e-7, -_INF]))
edge(ew.expm1_p, float32, [[1e-7]], np.float32([1e-7]))
edge(ew.logistic_p, float32, [[-200, 0, 200]], np.float32([0, 0.5, 1]))
edge(ew.tanh_p, float32, [[-100, 100, 1e-6]], np.float32([-1, 1, 1e-6]))
edge(li.convert_element_type_p, float32, [[2.7, -2.7, 3e9, -3e9, _NAN]], np.int32([2, -2, 2**31 - 1, -(2**31), 0]),
     {"new_dtype": int32, "weak_type": False})  # fmt: skip
edge(
    li.convert_element_type_p,
    float32,
    [[0, -0.0, 0.5, _NAN]],
    np.array([False, False, True, True]),
    {"new_dtype": bool_, "weak_type": False},
)
edge(
    li.convert_element_type_p,
    int32,
    [[300, -1]],
    np.uint8([44, 255]),
    {"new_dtype": np.dtype(np.uint8), "weak_type": False},
)
edge(ew.nextafter_p, float32, [[0, 1, 1, _NAN], [1, 1, _INF, 1]], np.float32([1e-45, 1, 1 + 2**-23, _NAN]))
edge(so.top_k_p, float32, [[1, _NAN, 3, _INF]], [np.float32([_NAN, _INF]), np.int32([1, 3])], {"k": 2, "axis": 0})
