"""jitscope.numpy against numpy. (Dtypes and shapes: tests/oracle/cases/numpy_shapes.py.)"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from tests.compiling import once
from tests.extent import ALL, examples, some
from tests.oracle import recorded
from tests.oracle.cases.numpy_shapes import DOMAINS, DTYPES, GROUPS, SHAPES, Case, arguments


RECORDED = recorded.load("numpy_shapes")
EPS = {"float32": 1e-6, "bfloat16": 8e-3, "complex64": 1e-6, "int32": 1e-6, "bool": 1e-6}


@cache
def compiled_expression(expr: str) -> Any:
    return compile(expr, expr, "eval")


def value_of(expr: str, module: Any, x: Any, y: Any, m: Any) -> Any:
    return eval(compiled_expression(expr), {"np": module, "onp": np, "x": x, "y": y, "m": m})


@cache
def refused(case: Case, dtype: str, shape: str) -> bool:
    """Whether JAX gives an error; where it has not been asked, whether jitscope does."""
    if answer := RECORDED.get(f"{case.expr} of {dtype}"):
        return answer["plain"][shape].isidentifier()
    try:
        jx.eval_shape(lambda *arrays: value_of(case.expr, jnp, *arrays), *device_arguments(dtype, shape))
    except Exception:
        return True
    return False


def applicable(group: str, dtype: str) -> list[tuple[Case, str]]:
    """The cases of a group for which JAX gives a result, with the shapes for which it does; `make test` has two in turn of each."""
    shapes = list(SHAPES) if dtype == "float32" else list(SHAPES)[:4]
    found = []
    for at, case in enumerate(GROUPS[group]):
        own = [s for s in shapes if not refused(case, dtype, s) and len(SHAPES[s]) >= case.least_rank]
        if not ALL:
            own = [own[(at + k) % len(own)] for k in range(min(2, len(own)))]
        found += [(case, shape) for shape in own]
    return found


def device_arguments(dtype: str, shape: str) -> tuple[Any, Any, Any]:
    x, y, m = arguments(dtype, SHAPES[shape])
    return jnp.asarray(x, dtype), jnp.asarray(y, dtype), jnp.asarray(m)


def reference(case: Case, dtype: str, shape: str, arrays: tuple[Any, Any, Any]) -> Any:
    """numpy's result, or None where numpy has none for the dtype."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = np.asarray(value_of(case.reference or case.expr, np, *arrays))
        except (TypeError, ZeroDivisionError, np.exceptions.DTypePromotionError):
            return None
        except ValueError as error:
            if "negative integer powers" in str(error):
                return None
            raise
        if result.dtype != np.float16:
            return result
        x, y, m = arrays  # of booleans numpy makes half-precision floats
        return reference(case, "float32", shape, (x.astype(np.float32), y.astype(np.float32), m))


def as_numpy(x: Any) -> np.ndarray:
    return np.asarray(x, np.float32) if x.dtype == jnp.bfloat16 else np.asarray(x)


def mismatch(case: Case, dtype: str, found: Any, expected: np.ndarray) -> str:
    found = as_numpy(found)
    if found.shape != expected.shape:
        return f"shape {found.shape}, numpy has {expected.shape}"
    if found.dtype.kind in "biu" and expected.dtype.kind in "biu":
        same = np.array_equal(found, expected.astype(found.dtype))  # what overflows wraps round
        return "" if same else f"{found.ravel()[:8]}, numpy has {expected.ravel()[:8]}"
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=1)
    tolerance = EPS[dtype] * case.tolerance * 4
    if np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return ""
    return f"{found.ravel()[:8]}, numpy has {expected.ravel()[:8]}"


def report(failures: list[str]) -> None:
    assert not failures, "\n".join([f"{len(failures)} failures", *failures[:40]])


@pytest.mark.parametrize("dtype", some(DTYPES, always="float32"))
@pytest.mark.parametrize("group", GROUPS)
def test_compiled_values(group: str, dtype: str) -> None:
    chosen = applicable(group, dtype)
    inputs = {shape: device_arguments(dtype, shape) for shape in SHAPES}

    def all_cases(inputs: dict[str, Any]) -> list[Any]:
        return [value_of(case.expr, jnp, *inputs[shape]) for case, shape in chosen]

    results = once(all_cases)(inputs)
    failures = []
    for (case, shape), found in zip(chosen, results):
        expected = reference(case, dtype, shape, arguments(dtype, SHAPES[shape]))
        if expected is not None and (problem := mismatch(case, dtype, found, expected)):
            failures.append(f"{case.expr} of {dtype} {shape}: {problem}")
    report(failures)


# One of the dtypes and shapes for each expression, in turn: every new pair would be a program of its own.
SPREAD = [(dtype, shape) for shape in ("rank 3", "scalar", "empty", "ones") for dtype in DTYPES]


@pytest.mark.parametrize("group", GROUPS)
def test_eager_values(group: str) -> None:
    failures = []
    for i, case in enumerate(GROUPS[group]):
        turns = [SPREAD[(i + k) % len(SPREAD)] for k in range(len(SPREAD))]
        dtype, shape = next(
            ((d, s) for d, s in turns if not refused(case, d, s) and len(SHAPES[s]) >= case.least_rank),
            ("float32", "rank 3"),
        )
        found = jnp.asarray(value_of(case.expr, jnp, *device_arguments(dtype, shape)))
        expected = reference(case, dtype, shape, arguments(dtype, SHAPES[shape]))
        if expected is not None and (problem := mismatch(case, dtype, found, expected)):
            failures.append(f"{case.expr} of {dtype} {shape}: {problem}")
    report(failures)


@pytest.mark.parametrize("dtype", some(DTYPES, always="float32"))
@pytest.mark.parametrize("group", GROUPS)
def test_mapped_values(group: str, dtype: str) -> None:
    """vmap over the axes of a rank-3 array against numpy on its slices: float32 over each (at `make test` each group over one), other
    dtypes over one."""
    turn = list(GROUPS).index(group) if dtype == "float32" else DTYPES.index(dtype)
    axes = range(3) if dtype == "float32" and ALL else [turn % 3]
    rows = {axis: (3, 2, 4)[axis] for axis in axes}
    shapes = {0: (2, 4), 1: (3, 4), 2: (3, 2)}
    x, y, m = arguments(dtype, (3, 2, 4))
    chosen = [
        case
        for case in GROUPS[group]
        if case.least_rank <= 2 and not refused(case, dtype, "rank 3") and not refused(case, dtype, "matrix")
    ]
    traced = tuple(jnp.asarray(v, d) for v, d in ((x, dtype), (y, dtype), (m, bool)))

    def one_example(x: Any, y: Any, m: Any) -> list[Any]:
        return [value_of(case.expr, jnp, x, y, m) for case in chosen]

    def all_axes(*arrays: Any) -> dict[int, list[Any]]:
        return {axis: jx.vmap(one_example, in_axes=axis)(*arrays) for axis in rows}

    results = once(all_axes)(*traced)
    failures = []
    for axis, size in rows.items():
        for case, found in zip(chosen, results[axis]):
            slices = [tuple(np.take(v, i, axis) for v in (x, y, m)) for i in range(size)]
            parts = [reference(case, dtype, str(shapes[axis]), arrays) for arrays in slices]
            if parts[0] is not None and (problem := mismatch(case, dtype, found, np.stack(parts))):
                failures.append(f"{case.expr} of {dtype} mapped over axis {axis}: {problem}")
    report(failures)


def smooth_cases(group: str) -> list[Case]:
    return [case for case in GROUPS[group] if case.smooth and not refused(case, "float32", "rank 3")]


@pytest.mark.parametrize("group", [g for g in GROUPS if any(c.smooth for c in GROUPS[g])])
def test_derivatives(group: str) -> None:
    """First and second derivatives in float64 against differences of numpy's values, and vjp against jvp."""
    chosen = smooth_cases(group)
    x, y, m = arguments("float32", (2, 3, 4))
    x, y = (v.astype(np.float64) * 0.7 + 0.013 for v in (x, y))
    generator = np.random.default_rng(3)
    tx, ty = (generator.uniform(-1, 1, v.shape) for v in (x, y))

    def output(case: Case, x: Any, y: Any) -> Any:
        return value_of(case.expr, jnp, DOMAINS[case.smooth](x), DOMAINS[case.smooth](y), jnp.asarray(m))

    def everything(x: Any, y: Any) -> Any:
        def slopes(x: Any, y: Any) -> Any:
            return jx.jvp(lambda x, y: [output(case, x, y) for case in chosen], (x, y), (tx, ty))

        (_, first), (_, second) = jx.jvp(slopes, (x, y), (tx, ty))
        pulled = []
        for case, slope in zip(chosen, first):
            value, pull = jx.vjp(lambda x, y: output(case, x, y), x, y)  # noqa: B023
            weight = jnp.cos(jnp.arange(value.size) * 1.0).reshape(value.shape).astype(value.dtype)
            gx, gy = pull(weight)
            pulled.append((jnp.sum(gx * tx + gy * ty), jnp.real(jnp.sum(weight * slope))))
        return first, second, pulled

    with jx.enable_x64():
        first, second, pulled = once(everything)(jnp.asarray(x), jnp.asarray(y))
    failures = []
    for case, a, b, (back, forth) in zip(chosen, first, second, pulled):

        def along(t: float, case: Case = case) -> np.ndarray:
            move = DOMAINS[case.smooth]
            return np.asarray(value_of(case.reference or case.expr, np, move(x + t * tx), move(y + t * ty), m))

        h = 1e-4
        low, middle, high = along(-h), along(0), along(h)
        for order, found, expected, tolerance in (
            (1, a, (high - low) / (2 * h), 1e-5),
            (2, b, (high - 2 * middle + low) / h**2, 1e-3),
        ):
            scale = np.max(np.abs(expected), initial=1)
            if not np.allclose(as_numpy(found), expected, rtol=tolerance, atol=tolerance * scale):
                failures.append(
                    f"{case.expr}, derivative {order}: {as_numpy(found).ravel()[:5]}, differences give "
                    f"{expected.ravel()[:5]}"
                )
        if not np.allclose(back, forth, rtol=1e-9, atol=1e-9 * max(1, abs(float(forth)))):
            failures.append(f"{case.expr}: vjp gives {back}, jvp {forth}")
    report(failures)


def test_small_counts_of_repeats_do_not_overflow():
    counts = np.array([100, 100, 50], "int8")
    found = jx.jit(lambda n: jnp.repeat(jnp.arange(3), n, total_repeat_length=250))(counts)
    np.testing.assert_array_equal(found, np.repeat(np.arange(3), counts.astype(int)))


@pytest.mark.parametrize("shape", [(2, 3), (4,), (2, 1, 5)])
def test_unravel_index_of_a_traced_shape(shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    flat = np.arange(-size, size, dtype=np.int32)
    wanted = np.unravel_index(np.where(flat < 0, flat + size, flat), shape)
    for index, traced in zip(wanted, jx.jit(jnp.unravel_index)(flat, shape), strict=True):
        np.testing.assert_array_equal(traced, index)
        assert traced.dtype == np.int32


def test_ravel_multi_index_by_mode() -> None:
    rows, columns = np.array([0, 1]), np.array([2, 0])
    wanted = np.ravel_multi_index((rows, columns), (2, 3))
    for mode in ("raise", "clip", "wrap", "ignore"):
        np.testing.assert_array_equal(jnp.ravel_multi_index((rows, columns), (2, 3), mode), wanted)
    with pytest.raises(ValueError, match="invalid entry in coordinates array"):
        jnp.ravel_multi_index((rows, columns + 1), (2, 3))
    with pytest.raises(jx.errors.ConcretizationTypeError, match="use mode='clip' or mode='wrap'"):
        jx.jit(lambda i: jnp.ravel_multi_index((i, i), (2, 3)))(rows)


def test_trapezoid_broadcasts_distances_whatever_ranks_may_be() -> None:
    y, dx = (
        np.random.RandomState(0).randn(3, 2, 5).astype(np.float32),
        np.linspace(1, 2, 8, dtype=np.float32).reshape(2, 4),
    )
    with jx.numpy_rank_promotion("raise"):
        np.testing.assert_allclose(jnp.trapezoid(y, dx=dx), np.trapezoid(y, dx=dx), rtol=1e-5)


@pytest.mark.parametrize("kind", [int, float, np.int32, np.float32])
def test_a_range_moves_nothing_to_the_device(kind: type) -> None:
    with jx.transfer_guard("disallow"):
        out = jnp.arange(kind(5))
    np.testing.assert_array_equal(out, np.arange(5))
    assert out.dtype == np.dtype(np.float32 if kind in (float, np.float32) else np.int32)


def test_iscomplexobj_of_traced_numbers() -> None:
    assert jx.jit(lambda xs: jnp.iscomplexobj(xs))([1 + 1j, 2.0])
    assert not jx.jit(lambda xs: jnp.iscomplexobj(xs))([1.0, 2])


def test_whole_numbers_as_large_as_their_dtype() -> None:
    most, words = 2**32 - 1, jnp.zeros(2, jnp.uint32)
    for made in (
        jnp.full(2, most, jnp.uint32),
        jnp.full_like(words, most),
        jx.jit(lambda: jnp.full(2, most, jnp.uint32))(),
        words.at[:].set(most),
        jnp.broadcast_to(jx.lax.convert_element_type(most, jnp.uint32), (2,)),
    ):
        assert made.dtype == jnp.uint32
        np.testing.assert_array_equal(made, np.full(2, most, np.uint32))
    assert jx.lax.convert_element_type(2**100, jnp.float32) == np.float32(2**100)
    np.testing.assert_array_equal(jnp.full(2, 300, jnp.uint8), np.asarray([300, 300]).astype(np.uint8))
    with pytest.raises(OverflowError, match="does not fit int32"):
        jnp.full(2, 2**40, jnp.int32)


class Wrapped:
    def __init__(self, value: Any):
        self.value = value

    def __jax_array__(self) -> Any:
        return self.value


def test_objects_that_say_what_they_are_as_arrays() -> None:
    vector, number = jnp.arange(3.0), jnp.float32(2)
    for x in (vector, number):
        assert (jnp.shape(Wrapped(x)), jnp.size(Wrapped(x)), jnp.ndim(Wrapped(x))) == (x.shape, x.size, x.ndim)
        assert jnp.isscalar(Wrapped(x)) == jnp.isscalar(x) == (not x.ndim)
    made = jnp.array(((Wrapped(number), 3.0), [4, Wrapped(number)]))
    np.testing.assert_array_equal(made, [[2, 3], [4, 2]])
    assert jnp.ravel_multi_index((Wrapped(jnp.array(1)), 2), (3, 4)) == 6


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_slices_put_in_and_taken_out_at_known_places(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 40)))
    axis = data.draw(st.sampled_from([0, 1, None]))
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    size = x.size if axis is None else shape[axis]
    place = st.integers(-size, size - 1)
    places = data.draw(place | st.lists(place, min_size=1, max_size=30).map(np.array))
    for got in (jnp.delete(x, places, axis), jx.jit(lambda x: jnp.delete(x, places, axis))(x)):
        np.testing.assert_array_equal(got, np.delete(x, places, axis))
    for got in (jnp.insert(x, places, 0.5, axis), jx.jit(lambda x: jnp.insert(x, places, 0.5, axis))(x)):
        np.testing.assert_array_equal(got, np.insert(x, places, 0.5, axis))


@settings(max_examples=examples(20), deadline=None)
@given(
    st.sampled_from([1, 32, 33, 200]),
    st.sampled_from(["int32", "uint8", "float32", "complex64", "bool"]),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_members_of_few_and_of_many(count: int, dtype: str, invert: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    x, among = (random.integers(-100, 100, n).astype(dtype) for n in (300, count))
    if dtype == "float32":
        x[:4], among[:1] = [np.nan, np.inf, -0.0, 0.0], [random.choice([np.nan, np.inf, -0.0])]
    np.testing.assert_array_equal(
        jx.jit(jnp.isin, static_argnames="invert")(x, among, invert=invert), np.isin(x, among, invert=invert)
    )
    mapped = jx.vmap(lambda y: jnp.isin(x, y))(np.stack([among, among[::-1]]))
    np.testing.assert_array_equal(mapped, np.stack([np.isin(x, among)] * 2))


@pytest.mark.parametrize(
    ("shape", "repeats"),
    [((3, 20), 2), ((3, 20), (2, 3)), ((20,), (2, 1, 4)), ((3, 20), (0,)), ((2, 3, 16), (1,)), ((0, 16), 3), ((16, 0), 2),
     ((3, 20), (2, 2, 1)), ((2, 16), 65), ((), (2,)), ((20,), ())],
)  # fmt: skip
def test_long_rows_are_repeated(shape, repeats):
    x = np.arange(float(np.prod(shape)), dtype=np.float32).reshape(shape)
    want = np.tile(x, repeats)
    np.testing.assert_array_equal(jnp.tile(x, repeats), want, strict=True)
    slope = jx.grad(lambda x: jnp.sum(jnp.tile(x, repeats) * np.ones_like(want)))(x)
    np.testing.assert_array_equal(slope, np.full(shape, want.size / max(x.size, 1), np.float32))


EDGES = {
    "cumsum of a number": lambda np: np.cumsum(np.asarray(2), axis=0),
    "cumprod of a number": lambda np: np.cumprod(np.asarray(2.0), axis=-1),
    "searchsorted in nothing": lambda np: np.searchsorted(np.zeros(0), np.asarray([1.0, 2.0]), side="right"),
    "nanmedian of nothing": lambda np: np.nanmedian(np.zeros((0, 3)), axis=0),
    "nanquantile of nothing": lambda np: np.nanquantile(np.zeros((2, 0)), 0.5, axis=1, keepdims=True),
    "trapezoid of nothing": lambda np: np.trapezoid(np.zeros((2, 0))),
    "trapezoid at places of more axes": lambda np: np.trapezoid(np.arange(3.0), np.arange(9.0).reshape(3, 3) ** 2),
    "trapezoid at places of more, along another": lambda np: np.trapezoid(
        np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(2, 2, 3) ** 2, axis=-1
    ),
    "trapezoid at places, first axis": lambda np: np.trapezoid(
        np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2) ** 2, axis=0
    ),
    "trapezoid at distances of rank 3, first axis": lambda np: np.trapezoid(
        np.arange(60.0).reshape(3, 4, 5), dx=np.arange(10.0).reshape(2, 1, 5) + 1, axis=0
    ),
    "trapezoid at a vector of places, middle axis": lambda np: np.trapezoid(
        np.arange(24.0).reshape(2, 3, 4), np.asarray([1.0, 2.0, 4.0]), axis=1
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_at_the_edges_as_numpy(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = np.asarray(EDGES[name](np))
    found = EDGES[name](jnp)
    assert found.shape == want.shape
    np.testing.assert_allclose(found, want, rtol=1e-6)


def test_half_spectra_of_nothing_are_nothing():
    assert jnp.fft.irfft(jnp.zeros(0)).shape == (0,)
    assert jnp.fft.hfft(jnp.zeros((2, 0))).shape == jnp.fft.irfft2(jnp.zeros((2, 0))).shape == (2, 0)
    assert jx.grad(lambda x: jnp.fft.irfft(x).sum())(jnp.zeros(0)).shape == (0,)


def test_results_stand_in_the_containers_of_jax():
    x, linalg = jnp.eye(3), jx.lax.linalg
    lists = [jx.lax.top_k(x, 1), jnp.top_k(x, 1), jx.lax.approx_max_k(x, 1), jx.lax.approx_min_k(x, 1), linalg.lu(x)]
    lists += [linalg.schur(x), linalg.hessenberg(x), linalg.tridiagonal(x), jx.scipy.linalg.schur(x)]
    assert all(type(found) is list for found in lists)
    tuples = [jnp.atleast_1d(1, 2), jnp.atleast_2d(1, 2), jnp.atleast_3d(1, 2), jnp.linalg.qr(x), jx.scipy.linalg.lu(x)]
    assert all(isinstance(found, tuple) for found in tuples)


SAME = [  # functions that give an array back as it is
    lambda x: jnp.broadcast_to(x, (3,)),
    lambda x: jnp.reshape(x, (3,)),
    jnp.squeeze,
    jnp.ravel,
    jnp.real,
    jnp.floor,
    lambda x: jnp.atleast_1d(x, x)[1],
    lambda x: jnp.broadcast_arrays(x, x)[0],
]


@pytest.mark.parametrize("fun", SAME)
@pytest.mark.parametrize("under", [lambda f: f(1.0), jx.jit(lambda f: f(1.0), static_argnums=0),
                                   lambda f: jx.grad(f)(1.0), lambda f: jx.vmap(f)(np.ones(2))])  # fmt: skip
def test_what_numpy_made_is_an_array_after_a_function(fun, under):
    def change(y):
        return fun(np.arange(3)).at[0].set(5).sum() + 0 * y

    under(change)
