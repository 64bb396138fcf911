"""The Python array API standard (2025.12), with array_api_strict as the oracle: it has exactly what the standard has.

What conforms and what does not stands in docs/array-api.md.
"""

from __future__ import annotations

import inspect
import operator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.numpy import fft, linalg
from tests.compiler.programs import in_new_process
from tests.extent import QUICK


strict = pytest.importorskip("array_api_strict")
strict.set_array_api_strict_flags(api_version="2025.12")

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
DTYPES = ("bool", *INTS, *FLOATS, *COMPLEX)
UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log "
    "log1p log10 log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan tanh trunc"
).split()
BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
    "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum "
    "multiply nextafter not_equal pow remainder subtract"
).split()


@pytest.fixture(autouse=True)
def wide() -> Any:
    with jx.enable_x64(), np.errstate(all="ignore"):
        yield


# Names ---------------------------------------------------------------------------------------------------------------


def public(module: ModuleType) -> list[str]:
    own = {"Device", "ModuleType"} | {n for n in dir(module) if "Flags" in n or "flags" in n}
    listed = getattr(module, "__all__", dir(module))
    return [n for n in listed if not n.startswith("_") and n not in own]


SAME = [
    ("norm", None),
    ("step", None),
    ("keepdims", None),
    ("correction", None),
    ("device", None),
    ("copy", None),
    ("copy", False),
]
"""Defaults that mean what the standard's mean. (astype gives an array itself where nothing changes: none can be written to.)"""


def problem(name: str, theirs: Any, ours: Any) -> str:
    """What a function lacks of the standard's: an argument, or its default."""
    if ours is None and theirs is not None:  # newaxis is None
        return "is missing"
    if not inspect.isfunction(theirs):
        return ""
    wanted, found = (inspect.signature(f).parameters for f in (theirs, ours))
    for parameter in wanted.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            continue
        if parameter.name not in found:
            return f"has no argument {parameter.name}"
        default = found[parameter.name].default
        if parameter.default is parameter.empty or (parameter.name, default) in SAME:
            continue
        if default != parameter.default:
            return f"has {parameter.name}={default}, the standard {parameter.default}"
    return ""


@pytest.mark.parametrize(
    "theirs, ours", [(strict, jnp), (strict.linalg, linalg), (strict.fft, fft)], ids=["main", "linalg", "fft"]
)
def test_every_function_is_there_with_its_arguments(theirs: ModuleType, ours: ModuleType) -> None:
    names = public(theirs)
    assert len(names) >= 14
    problems = {name: problem(name, getattr(theirs, name), getattr(ours, name, None)) for name in names}
    assert {n: p for n, p in problems.items() if p} == {}


def test_arrays_have_every_method_and_attribute() -> None:
    wanted = [n for n in dir(strict.asarray([[1.0]])) if n.startswith("__") or not n.startswith("_")]
    in_place = {f"__i{n}__" for n in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()}
    # In-place operators give a new array, as Python does without these methods; __buffer__ is strict's own.
    x = jnp.asarray([[1.0]])
    assert [n for n in wanted if n not in in_place | {"__buffer__", "__annotations__"} and not hasattr(x, n)] == []
    before = x
    x += 1
    assert float(x[0, 0]) == 2 and float(before[0, 0]) == 1


def test_the_namespace_describes_itself() -> None:
    x = jnp.ones(2)
    assert x.__array_namespace__() is jnp and x.__array_namespace__(api_version="2025.12") is jnp
    assert jnp.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match="not available"):
        x.__array_namespace__(api_version="2020.01")
    assert jx.jit(lambda x: x.__array_namespace__().sin(x))(x).shape == (2,)
    info, oracle = jnp.__array_namespace_info__(), strict.__array_namespace_info__()
    assert set(info.capabilities()) == set(oracle.capabilities())
    assert set(info.default_dtypes()) == set(oracle.default_dtypes())
    for kind in (None, "bool", "integral", ("real floating", "complex floating"), "unsigned integer"):
        assert set(info.dtypes(kind=kind)) == set(oracle.dtypes(kind=kind))
    assert all(x.to_device(d).device == d for d in info.devices() if d is not None)
    assert info.default_device() in info.devices()
    with jx.enable_x64(False):
        assert info.default_dtypes()["real floating"] == jnp.float32
        assert not {"float64", "int64", "uint64", "complex128"} & set(info.dtypes())


def test_dlpack() -> None:
    x = jnp.arange(6.0).reshape(2, 3)
    assert x.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(np.from_dlpack(x), x)
    for source in (x, np.arange(6.0).reshape(2, 3), strict.asarray(np.arange(6.0).reshape(2, 3))):
        y = jnp.from_dlpack(source)
        np.testing.assert_array_equal(y, x)
        assert y.dtype == np.float64
    np.testing.assert_array_equal(jnp.from_dlpack(x, copy=True), x)
    np.testing.assert_array_equal(jnp.from_dlpack(x, device=x.device), x)


def test_a_library_written_for_the_standard() -> None:
    """SciPy, told to take any array, computes with jitscope's, and under its transformations."""
    shown = in_new_process(
        """
        import scipy.fft, jitscope as jx, jitscope.numpy as jnp
        x = jnp.linspace(1, 2, 8)
        run = lambda x: abs(scipy.fft.fft(x))
        print(isinstance(run(x), jx.Array), bool(jnp.allclose(run(x), jnp.abs(jnp.fft.fft(x)))), bool(jnp.allclose(jx.jit(run)(x), run(x))))
        """,
        SCIPY_ARRAY_API="1",
    )
    assert shown == "True True True"


# Elementwise ---------------------------------------------------------------------------------------------------------


def both(names: list[str], *arrays: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """By name, the results of jitscope (all in one program) and of the oracle, of the functions it has for the dtype."""
    wanted = {}
    for name in names:
        try:
            wanted[name] = np.asarray(getattr(strict, name)(*map(strict.asarray, arrays))._array)
        except (TypeError, ValueError):  # the standard has no such function of the dtype
            continue
    run = jx.jit(lambda *xs: [getattr(jnp, name)(*xs) for name in wanted], compiler_options=QUICK)
    return [(name, np.asarray(y), wanted[name]) for name, y in zip(wanted, run(*arrays))]


def unlike(found: np.ndarray, wanted: np.ndarray, ulps: float, signs: bool) -> np.ndarray:
    """Where two results differ: NaN only with NaN, zeros in sign if `signs`."""
    if wanted.dtype.kind == "c":
        parts = [unlike(getattr(found, p), getattr(wanted, p), ulps, signs) for p in ("real", "imag")]
        return parts[0] | parts[1]
    if wanted.dtype.kind != "f":
        return found != wanted
    eps = ulps * np.finfo(wanted.dtype).eps
    near = (found == wanted) | (np.abs(found - wanted) <= eps * np.maximum(np.abs(wanted), 1))
    near |= np.isnan(found) & np.isnan(wanted)
    zeros = (found == 0) & (wanted == 0)
    return np.where(zeros & signs, np.signbit(found) != np.signbit(wanted), ~near)


SIGNS_OF_ZERO = {"sign", "floor_divide", "remainder", "maximum", "minimum"}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1.5, -1.5, 2.5, 1e10, -1e10, 4]


def specials(dtype: str) -> np.ndarray:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False])
    if kind in "iu":
        return np.array([0, 1, 2, 3, 5, 7, 100] + [-1, -2, -6, -100] * (kind == "i"), dtype)
    if kind == "f":
        return np.array(SPECIAL, dtype)
    finite = [0.5, -0.5, 1, 2, -3, 1e-4, -1e-6]
    return np.array([complex(a, b) for a in finite for b in finite], dtype)


def compare(names: list[str], arrays: tuple[np.ndarray, ...], ulps: float) -> None:
    problems = []
    for name, found, wanted in both(names, *arrays):
        if found.dtype != wanted.dtype:
            problems.append(f"{name} of {arrays[0].dtype} gives {found.dtype}, the standard says {wanted.dtype}")
            continue
        bad = unlike(found, wanted, ulps, name not in SIGNS_OF_ZERO and wanted.dtype.kind != "c")
        for at in np.nonzero(bad)[0][:3]:
            given = ", ".join(str(x[at]) for x in arrays)
            problems.append(f"{name}({given}) of {arrays[0].dtype} is {found[at]}, not {wanted[at]}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one_array(dtype: str) -> None:
    compare(UNARY, (specials(dtype),), 16)


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_two_arrays(dtype: str) -> None:
    values = specials(dtype)
    x, y = (v.ravel() for v in np.meshgrid(values[::3] if values.dtype.kind == "c" else values, values))
    if values.dtype.kind in "iu":  # neither zero divisors nor negative powers, and no bits beyond the width
        y = (np.abs(y) % 7 + 1).astype(dtype)
        x = (x // 16).astype(dtype)
    compare(BINARY, (x, y), 64)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_circular_functions_keep_their_digits(dtype: str) -> None:
    """In both parts, also near the axes, where (exp z - exp -z) / 2 cancels; and on them with an infinite factor."""
    small = np.array([complex(a, b) for a in (1e-6, -1e-3, 0.5, 2) for b in (1e-6, -1e-3, 0.5, 2)], dtype)
    for name, found, wanted in both(["sin", "cos", "sinh", "cosh"], small):
        for part in ("real", "imag"):
            exact = getattr(getattr(np, name)(small.astype(np.clongdouble)), part)
            np.testing.assert_allclose(getattr(found, part), exact, rtol=8 * np.finfo(dtype).eps, atol=0, err_msg=name)
        assert found.dtype == wanted.dtype
    far = np.array([complex(0, np.inf), complex(0, -0.0), complex(-0.0, -3)], dtype)
    for name, found, wanted in both(["sin", "cos"], far):
        assert not unlike(found, wanted, 8, True).any(), name


# Types ---------------------------------------------------------------------------------------------------------------


def test_promotion() -> None:
    """Of every pair of dtypes for which the standard says what it is; the others have a dtype, too, here."""
    checked = 0
    for a in DTYPES:
        for b in DTYPES:
            try:
                wanted = strict.result_type(getattr(strict, a), getattr(strict, b))
            except TypeError:
                continue
            checked += 1
            found = jnp.result_type(getattr(jnp, a), getattr(jnp, b))
            assert found == wanted._np_dtype, (a, b)
            assert jnp.result_type(jnp.zeros((), a), jnp.zeros((2,), b)) == found
    assert checked == 73


@pytest.mark.parametrize("dtype", DTYPES)
def test_python_numbers_take_the_dtype_of_the_array(dtype: str) -> None:
    x, kind = jnp.ones(2, dtype), np.dtype(dtype).kind
    numbers = {"b": [True], "i": [2], "u": [2], "f": [2, 2.5], "c": [2, 2.5, 2j]}[kind]
    for number in numbers:
        operators = [operator.and_, operator.or_] if kind == "b" else [operator.add, operator.mul, operator.sub]
        for apply in operators:
            assert apply(x, number).dtype == apply(number, x).dtype == x.dtype
        assert (x == number).dtype == jnp.bool_
    if kind in "fc":
        assert (x / 2).dtype == (x**2).dtype == x.dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_functions(dtype: str) -> None:
    ours, theirs = getattr(jnp, dtype), getattr(strict, dtype)
    for kind in (
        "bool",
        "signed integer",
        "unsigned integer",
        "integral",
        "real floating",
        "complex floating",
        "numeric",
    ):
        assert jnp.isdtype(ours, kind) == strict.isdtype(theirs, kind), kind
    assert jnp.isdtype(ours, ("bool", "integral")) == strict.isdtype(theirs, ("bool", "integral"))
    kind = np.dtype(dtype).kind
    if kind in "iu":
        assert (jnp.iinfo(ours).min, jnp.iinfo(ours).max) == (strict.iinfo(theirs).min, strict.iinfo(theirs).max)
    if kind in "fc":
        names = ("bits", "eps", "max", "min", "smallest_normal")
        assert all(float(getattr(jnp.finfo(ours), n)) == getattr(strict.finfo(theirs), n) for n in names)
    for to in DTYPES:
        # Where the standard has no promotion, as from int8 to float32, NumPy's rule says whether it is safe.
        if kind == np.dtype(to).kind or strict.can_cast(theirs, getattr(strict, to)):
            assert jnp.can_cast(ours, getattr(jnp, to)) == strict.can_cast(theirs, getattr(strict, to)), to
        if kind != "c" or np.dtype(to).kind == "c":
            found = jnp.astype(jnp.ones(2, ours), getattr(jnp, to))
            assert found.dtype == np.dtype(to)


# Everything else -----------------------------------------------------------------------------------------------------

OPERANDS = {
    "x": np.array([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]]),
    "y": np.array([[2.0, 1.0, 4.0], [0.5, 0.5, 1.0]]),
    "v": np.array([3.0, 1.0, 2.0, 1.0]),
    "i": np.array([2, 0, 1]),
    "m": np.array([[True, False, True], [False, True, True]]),
    "a": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),
    "b": np.arange(24, dtype=np.float64).reshape(2, 3, 4),
    "e": np.zeros((0, 3)),
    "k": np.arange(6, dtype=np.int32),
    "u": np.arange(6, dtype=np.uint8),
}
CALLS = """
xp.arange(5)
xp.arange(1, 9, 2, dtype=xp.int16)
xp.arange(5, 0, -2)
xp.arange(0.0, 1.0, 0.25)
xp.asarray([[1, 2], [3, 4]], dtype=xp.float32)
xp.asarray(True)
xp.asarray(1.5)
xp.asarray(x, copy=True)
xp.empty((2, 3)).shape
xp.empty_like(x, dtype=xp.int8).dtype == xp.int8
xp.eye(3, 4, k=1, dtype=xp.float32)
xp.eye(3, k=-1)
xp.full((2, 2), 7)
xp.full((), True)
xp.full(3, 2.5, dtype=xp.float32)
xp.full_like(k, 3)
xp.full_like(x, 2)
xp.linspace(0, 1, 5)
xp.linspace(0, 1, num=4, endpoint=False, dtype=xp.float32)
xp.linspace(2, -3, 1)
xp.meshgrid(v, v[:2])
xp.meshgrid(v, v, indexing="ij")
xp.ones((2, 1), dtype=xp.uint16)
xp.ones_like(m)
xp.tril(a, k=-1)
xp.triu(b, k=1)
xp.zeros(3)
xp.zeros_like(k, dtype=xp.complex64)
xp.broadcast_arrays(x, v[:3])
xp.broadcast_to(v, (2, 4))
xp.concat([x, y], axis=-1)
xp.concat([x, y], axis=None)
xp.concat([k, xp.astype(u, xp.int32)])
xp.expand_dims(x, axis=-1)
xp.flip(x)
xp.flip(x, axis=(0, -1))
xp.moveaxis(b, 0, -1)
xp.moveaxis(b, (0, 1), (-1, 0))
xp.permute_dims(b, (2, 0, 1))
xp.repeat(x, 2, axis=0)
xp.repeat(v, xp.asarray([1, 0, 2, 1]))
xp.reshape(b, (4, -1))
xp.reshape(x, (3, 2), copy=True)
xp.roll(x, 1)
xp.roll(x, (1, -1), axis=(0, 1))
xp.squeeze(xp.expand_dims(x, axis=0), 0)
xp.stack([x, y], axis=-1)
xp.tile(x, (2, 1, 2))
xp.unstack(b, axis=1)
xp.argmax(x)
xp.argmax(x, axis=-1, keepdims=True)
xp.argmin(x, axis=0)
xp.count_nonzero(m, axis=-1)
xp.count_nonzero(x, keepdims=True)
xp.nonzero(m)
xp.nonzero(v > 1.5)
xp.astype(xp.searchsorted(xp.sort(v), v), xp.int64)
xp.astype(xp.searchsorted(xp.sort(v), v, side="right"), xp.int64)
xp.astype(xp.searchsorted(v, v[:2], sorter=xp.argsort(v)), xp.int64)
xp.where(m, x, y)
xp.where(m, x, 0.0)
xp.unique_all(v)
xp.unique_counts(i)
xp.unique_inverse(v)
xp.unique_values(v)
xp.argsort(v, stable=True)
xp.argsort(x, axis=0, descending=True)
xp.sort(x, axis=0)
xp.sort(v, descending=True)
xp.cumulative_sum(x, axis=1)
xp.cumulative_sum(v, include_initial=True)
xp.cumulative_sum(u)
xp.cumulative_prod(x, axis=0, dtype=xp.float32)
xp.cumulative_prod(v, include_initial=True)
xp.max(x, axis=1)
xp.max(k)
xp.mean(x)
xp.mean(b, axis=(0, 2), keepdims=True)
xp.min(x, axis=-1, keepdims=True)
xp.prod(k)
xp.prod(u)
xp.prod(x, axis=0, dtype=xp.float32)
xp.std(x, correction=1.0)
xp.std(x, axis=0)
xp.sum(u)
xp.sum(k, dtype=xp.int16)
xp.sum(xp.asarray([1.0], dtype=xp.float32))
xp.sum(b, axis=(-1, 0))
xp.sum(e, axis=0)
xp.prod(e)
xp.var(b, axis=1, correction=2)
xp.all(m, axis=0)
xp.any(m, keepdims=True)
xp.all(e)
xp.diff(v)
xp.diff(x, axis=0, n=1, prepend=y)
xp.diff(v, n=2, append=v[:1])
xp.clip(x, -1, 1)
xp.clip(x, min=xp.asarray([0.0, 0.5, 1.0]))
xp.clip(x, max=0.5)
xp.clip(k, 1, 4)
xp.take(x, i, axis=1)
xp.take(v, i)
xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1)
xp.take_along_axis(x, xp.argsort(x))
xp.matmul(x, a)
xp.matmul(v, v)
xp.matmul(b, b[0, :, :].T)
xp.matrix_transpose(b)
xp.tensordot(x, y, axes=2)
xp.tensordot(b, x, axes=((1,), (1,)))
xp.tensordot(v, v, axes=0)
xp.vecdot(x, y)
xp.vecdot(x.T, y.T, axis=-2)
xp.vecdot(xp.asarray([1j, 2]), xp.asarray([1j, 1]))
xp.linalg.cholesky(a)
xp.linalg.cholesky(a, upper=True)
xp.linalg.cross(x, y)
xp.linalg.cross(x[0, :], y[1, :])
xp.linalg.det(a)
xp.linalg.diagonal(b, offset=1)
xp.linalg.diagonal(x, offset=-1)
xp.linalg.eigvalsh(a)
abs(xp.linalg.eigh(a).eigenvectors)
xp.linalg.inv(a)
xp.linalg.matmul(x, a)
xp.linalg.matrix_norm(b)
xp.linalg.matrix_norm(a, ord=1, keepdims=True)
xp.linalg.matrix_norm(a, ord="nuc")
xp.linalg.matrix_norm(a, ord=-2)
xp.linalg.matrix_power(a, 3)
xp.linalg.matrix_power(a, -1)
xp.linalg.matrix_rank(a)
xp.linalg.outer(v, v)
xp.linalg.pinv(x)
xp.linalg.pinv(x, rtol=0.6)
abs(xp.linalg.qr(a).R)
xp.linalg.qr(x, mode="complete").Q.shape
xp.linalg.slogdet(a)
xp.linalg.solve(a, v[:3])
xp.linalg.solve(a, a[:, :2])
xp.linalg.svd(x, full_matrices=False).S
xp.linalg.svd(x).Vh.shape
xp.linalg.svdvals(a)
xp.linalg.tensordot(x, y, axes=2)
xp.linalg.trace(a, offset=1)
xp.linalg.trace(xp.asarray([[1, 2], [3, 4]], dtype=xp.uint8))
xp.linalg.vecdot(x, y, axis=-1)
xp.linalg.vector_norm(x)
xp.linalg.vector_norm(x, axis=1, keepdims=True, ord=3)
xp.linalg.vector_norm(b, axis=(0, 2), ord=xp.inf)
xp.linalg.vector_norm(v, ord=0)
xp.fft.fft(v + 0j)
xp.fft.ifft(v + 0j, n=6, norm="ortho")
xp.fft.fftn(x + 0j, axes=(0,))
xp.fft.ifftn(x + 0j, s=(2, 2), axes=(0, 1), norm="forward")
xp.fft.rfft(v)
xp.fft.irfft(v + 0j, n=5)
xp.fft.rfftn(x)
xp.fft.irfftn(x + 0j)
xp.fft.hfft(v + 0j)
xp.fft.ihfft(v)
xp.fft.fftfreq(5, d=0.5)
xp.fft.fftfreq(4, dtype=xp.float32)
xp.fft.rfftfreq(6)
xp.fft.fftshift(x, axes=1)
xp.fft.ifftshift(v)
x[0, :]
x[..., -1]
b[1, None, ::2, 1:3]
b[:, -1, ::-1]
x[m]
b[xp.asarray([True, False])]
b[0, i, i]
v[1:1]
x.T
b.mT
x.size, x.ndim, x.shape, x.dtype == xp.float64
-k // 2
k % 4
k << 1
~u
abs(-x)
x @ a
2.0 - x
x**2
int(k[3]), float(v[0]), bool(m[0, 0]), complex(v[1]), k[2].__index__()
xp.pi, xp.e, xp.inf, xp.newaxis is None, xp.isnan(xp.asarray(xp.nan))
""".strip().splitlines()


def flat(result: Any) -> list[Any]:
    """The arrays of a result as NumPy's, and its other values."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in flat(item)]
    return [np.asarray(getattr(result, "_array", result)) if hasattr(result, "dtype") else result]


@pytest.mark.parametrize("start", range(0, len(CALLS), 25))
def test_calls(start: int) -> None:
    ours = {"xp": jnp} | {n: jnp.asarray(x) for n, x in OPERANDS.items()}
    theirs = {"xp": strict} | {n: strict.asarray(x) for n, x in OPERANDS.items()}
    problems = []
    for call in CALLS[start : start + 25]:
        wanted = flat(eval(call, theirs))
        try:
            found = flat(eval(call, ours))
        except Exception as error:
            problems.append(f"{call} raises {error!r}")
            continue
        if len(found) != len(wanted):
            problems.append(f"{call} gives {found}, not {wanted}")
        for x, y in zip(found, wanted):
            if not isinstance(y, np.ndarray):
                if x != y:
                    problems.append(f"{call} is {x}, not {y}")
            elif (x.dtype, x.shape) != (y.dtype, y.shape):
                problems.append(f"{call} gives {x.dtype}{list(x.shape)}, not {y.dtype}{list(y.shape)}")
            elif unlike(x, y, 256, False).any():
                problems.append(f"{call} gives {x}, not {y}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "call, error",
    [
        ("xp.ones((2, 3)) + xp.ones((2, 4))", ValueError),
        ("xp.reshape(xp.ones(6), (4,))", (TypeError, ValueError)),
        ("xp.sum(xp.ones(3), axis=1)", (ValueError, IndexError)),
        ("xp.linalg.inv(xp.ones((2, 3)))", Exception),
        ("xp.asarray([[1], [1, 2]])", (TypeError, ValueError)),
        ("xp.ones(3)[0, 0]", IndexError),
        ("bool(xp.ones(3))", (TypeError, ValueError)),
        ("xp.concat([xp.ones((2, 3)), xp.ones((3, 2))])", (TypeError, ValueError)),
        ("xp.squeeze(xp.ones((2, 1)), axis=0)", ValueError),
        ("xp.isdtype(xp.int8, 'no such kind')", (TypeError, ValueError)),
    ],
)
def test_errors(call: str, error: Any) -> None:
    for xp in (jnp, strict):
        with pytest.raises(error):
            eval(call, {"xp": xp})
