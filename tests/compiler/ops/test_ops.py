"""What operations promise beyond their rules: ties, orientation of products, messages, functions on top of primitives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import jitscope as jx
from jitscope.core.avals import aval_of
from jitscope.core.dtypes import bfloat16
from jitscope.core.hashing import structural_hash
from jitscope.core.staging import trace_to_jaxpr
from jitscope.ops import (
    dot,
    elementwise as ew,
    exchanges,
    indexing as ix,
    linear as li,
    precision,
    reduce as red,
    sort,
)


ROWS = ix.GatherDimensionNumbers((1,), (0,), (0,))
ELEMENTS = ix.ScatterDimensionNumbers((), (0,), (0,))
ONCE = ((1,), (0,)), ((), ())


def floats(values) -> np.ndarray:
    return np.asarray(values, np.float32)


def ints(values) -> np.ndarray:
    return np.asarray(values, np.int32)


def close(x, y) -> None:
    np.testing.assert_allclose(np.asarray(x), y, rtol=1e-6)


def total(x):
    return li.reduce_sum_p(x, axes=tuple(range(aval_of(x).ndim)))


# Ties ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [ew.max_p, ew.min_p])
def test_equal_operands_share_the_derivative(op) -> None:
    close(jx.grad(op, argnums=0)(2.0, 2.0), 0.5)
    close(jx.grad(op, argnums=1)(2.0, 2.0), 0.5)


@pytest.mark.parametrize("op", [red.reduce_max_p, red.reduce_min_p])
def test_equal_elements_share_the_derivative(op) -> None:
    x = floats([3, 1, 3, 3, 1])
    best = x == (3 if op is red.reduce_max_p else 1)
    close(jx.grad(lambda x: op(x, axes=(0,)))(x), best / best.sum())


@pytest.mark.parametrize(("op", "sign"), [(ix.scatter_max, 1), (ix.scatter_min, -1)])
def test_operand_and_updates_share_the_derivative(op, sign) -> None:
    x, at = floats([1, 5, 9]) * sign, ints([[0], [0], [1], [2]])
    updates = floats([4, 4, 5, 7]) * sign
    of_x, of_updates = jx.grad(lambda x, u: total(op(x, at, u, ELEMENTS)), argnums=(0, 1))(x, updates)
    close(of_x, [0, 0.5, 1])
    close(of_updates, [0.5, 0.5, 0.5, 0])


def test_the_last_of_repeated_updates_stays_and_gets_the_derivative() -> None:
    x, at, updates = np.zeros(3, np.float32), ints([[1], [1], [0], [5]]), floats([1, 2, 3, 4])
    close(ix.scatter(x, at, updates, ELEMENTS), [3, 2, 0])
    of_x, of_updates = jx.grad(lambda x, u: total(ix.scatter(x, at, u, ELEMENTS)), argnums=(0, 1))(x, updates)
    close(of_x, [0, 0, 1])
    close(of_updates, [0, 1, 1, 0])


def test_repeated_factors_have_no_derivative_unless_promised_away() -> None:
    x, updates, at = np.ones(3, np.float32), floats([2, 3]), ints([[0], [0]])
    with pytest.raises(NotImplementedError, match="unique_indices=True"):
        jx.grad(lambda u: total(ix.scatter_mul(x, at, u, ELEMENTS)))(updates)
    close(ix.scatter_mul(x, at, updates, ELEMENTS), [6, 1, 1])
    unique = lambda u: total(ix.scatter_mul(4 * x, ints([[0], [2]]), u, ELEMENTS, unique_indices=True))
    close(jx.grad(unique)(updates), [4, 4])


def test_slopes_of_powers_at_zero() -> None:
    second = jx.jacfwd(jx.jacrev(jx.lax.pow, (0, 1)), (0, 1))(4.0, 0.0)
    np.testing.assert_allclose(second, [[0, 1 / 4], [1 / 4, np.log(4) ** 2]], rtol=1e-6)
    close(jx.grad(ew.pow_p, argnums=0)(0.0, 0.0), 0)
    close(jx.grad(ew.pow_p, argnums=1)(0.0, 2.0), 0)
    close(jx.grad(lambda x: ew.integer_pow_p(x, y=2))(0.0), 0)
    close(jx.grad(ew.abs_p)(0.0), 1)  # as JAX: that of x where x >= 0


# Dot -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "w"), [((5, 3), (3,)), ((5, 3), (3, 4)), ((5,), (5, 3))])
@pytest.mark.parametrize("argnum", [0, 1])
def test_derivatives_of_a_product_transpose_nothing(x, w, argnum) -> None:
    numbers = ((len(x) - 1,), (0,)), ((), ())
    loss = lambda x, w: total(dot.dot_general(x, w, numbers))
    args = np.ones(x, np.float32), np.ones(w, np.float32)
    text = str(jx.make_jaxpr(jx.grad(loss, argnums=argnum))(*args))
    assert "dot_general" in text and "transpose[" not in text


def test_a_written_transpose_becomes_part_of_the_product() -> None:
    def f(x, v):
        return dot.dot_general(li.transpose_p(x, permutation=(1, 0)), v, ONCE)

    x, v = np.arange(80, dtype=np.float32).reshape(40, 2), np.ones((40, 3), np.float32)
    close(jx.jit(f)(x, v), x.T @ v)
    product = next(line for line in jx.jit(f).lower(x, v).as_text().splitlines() if "dot_general" in line)
    assert re.search(r"contracting_dims = \[0\] x \[0\]", product)


def test_sums_of_small_floats_keep_the_precision_asked_for() -> None:
    x = np.ones((1, 2000), bfloat16)
    out = dot.dot_general(x, x.T, ONCE, preferred_element_type=np.float32)
    assert out.aval.dtype == np.float32 and float(np.asarray(out)[0, 0]) == 2000
    slope = jx.grad(lambda y: total(dot.dot_general(y, x.T, ONCE, preferred_element_type=np.float32)))(x)
    assert slope.aval.dtype == bfloat16


@pytest.mark.parametrize(("x", "y", "numbers", "message"), [
    ((2, 3), (4, 5), ONCE, r"f32\[2,3\] and f32\[4,5\] contracts axis 1 of the first, which has size 3, and axis 0 of the second, which has size 4"),
    ((2, 3), (3, 5), (((1,), (0, 1)), ((), ())), "as many of one as of the other"),
    ((2, 3), (3, 5), (((2,), (0,)), ((), ())), r"axes \(2,\) do not name distinct axes of the first"),
    ((2, 3), (3, 3), (((1,), (0,)), ((0,), (1,))), "pairs axis 0 of the first, which has size 2, and axis 1"),
])  # fmt: skip
def test_products_that_do_not_fit_say_why(x, y, numbers, message) -> None:
    with pytest.raises(TypeError, match=message):
        dot.dot_general(np.ones(x, np.float32), np.ones(y, np.float32), numbers)


def test_precision_by_name() -> None:
    assert precision.as_precision(None) is None
    assert precision.as_precision("highest") == (precision.Precision.HIGHEST,) * 2
    assert precision.as_precision(("default", "high")) == (precision.Precision.DEFAULT, precision.Precision.HIGH)
    with pytest.raises(ValueError, match="'best'"):
        precision.as_precision("best")


# Indexing ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "message"), [
    (lambda x, i: ix.gather(x, i, ROWS, (1, 9)), "no slice can be longer than its axis"),
    (lambda x, i: ix.gather(x, i, ROWS, (2, 3)), r"leaves out axes \(0,\), so slices must have size 1"),
    (lambda x, i: ix.gather(x, i[:, :0], ROWS, (1, 3)), "the index vectors have 0 numbers"),
    (lambda x, i: ix.gather(x, i * 1.0, ROWS, (1, 3)), "as an index.* works on integers"),
    (lambda x, i: ix.scatter(x, i, x[:1], ix.scatter_numbers(ROWS)), r"run along the indices have sizes \(1,\), the indices have \(2,\)"),
    (lambda x, i: ix.scatter_add(x, i, x[:2].astype(int), ix.scatter_numbers(ROWS)), "one dtype"),
    (lambda x, i: ix.dynamic_slice_p(x, 0, slice_sizes=(1, 1)), "one start for each of its 2 axes; it got 1"),
    (lambda x, i: ix.dynamic_slice_p(x, 0, 0.5, slice_sizes=(1, 1)), "starts at integers"),
    (lambda x, i: ix.dynamic_slice_p(x, 0, 0, slice_sizes=(9, 1)), r"shape \(9, 1\) does not fit into f32\[4,3\]"),
    (lambda x, i: ix.dynamic_update_slice_p(x, x[0], 0, 0), r"f32\[3\] does not fit into f32\[4,3\]"),
])  # fmt: skip
def test_indexing_that_does_not_fit_says_why(call, message) -> None:
    with pytest.raises(TypeError, match=message):
        call(np.ones((4, 3), np.float32), np.zeros((2, 1), np.int32))


def test_modes_by_name() -> None:
    assert (
        ix.GatherScatterMode.from_any(None)
        is ix.GatherScatterMode.from_any("drop")
        is ix.GatherScatterMode.FILL_OR_DROP
    )
    with pytest.raises(ValueError, match="'wrap'"):
        ix.GatherScatterMode.from_any("wrap")


@pytest.mark.parametrize(
    ("dtype", "filler"), [("f4", np.nan), ("i4", -(2**31)), ("u1", 255), ("?", True), ("c8", np.nan)]
)
def test_what_stands_for_rows_that_do_not_exist(dtype, filler) -> None:
    out = ix.gather(np.zeros((2, 1), dtype), ints([[5]]), ROWS, (1, 1), mode="fill")
    np.testing.assert_array_equal(np.asarray(out), np.full((1, 1), filler, dtype))


def test_mapped_slices_stay_slices() -> None:
    xs = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    same = lambda x: ix.dynamic_slice_p(x, 1, 0, slice_sizes=(2, 3))
    assert "gather" not in str(jx.make_jaxpr(jx.vmap(same))(xs))
    own = jx.vmap(lambda x, i: ix.dynamic_slice_p(x, i, 0, slice_sizes=(2, 3)))
    close(own(xs, ints([0, 2])), np.stack([xs[0, :2], xs[1, 2:]]))


# Sorting -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "i4", "u4", "i1", "f2", "?"])
def test_argsort_of_many_is_stable(dtype) -> None:
    x = np.random.default_rng(0).integers(0, 50, (3, 700)).astype(dtype)
    if dtype == "u4":
        x = x * np.uint32(2**31 // 25)
    for axis in (0, 1):
        order = jx.jit(
            lambda x, axis=axis: sort.sort_p(
                x, ix.iota(np.int32, x.aval.shape, axis), dimension=axis, is_stable=True, num_keys=1
            )
        )(x)
        np.testing.assert_array_equal(np.asarray(order[1]), np.argsort(x, axis, kind="stable"))
        np.testing.assert_array_equal(np.asarray(order[0]), np.sort(x, axis))


def test_sorts_that_do_not_fit_say_why() -> None:
    x = np.ones((2, 3), np.float32)
    with pytest.raises(TypeError, match=r"one shape; it got f32\[2,3\], f32\[2\]"):
        sort.sort_p(x, x[:, 0], dimension=0, is_stable=True, num_keys=1)
    with pytest.raises(ValueError, match="no axis 2"):
        sort.sort_p(x, dimension=2, is_stable=True, num_keys=1)
    with pytest.raises(ValueError, match="k is 4, it must be from 0 to 3"):
        sort.top_k_p(x, k=4, axis=1)


# Collectives ---------------------------------------------------------------------------------------------------------


def test_collectives_know_their_axes() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    both = lambda f: jx.vmap(jx.vmap(f, axis_name="j"), axis_name="i")
    close(both(lambda v: exchanges.psum(v, ("i", "j")))(x), np.full((2, 3), 15))
    close(both(lambda v: exchanges.psum(v, "j"))(x), np.repeat(x.sum(1, keepdims=True), 3, 1))
    close(both(lambda v: exchanges.axis_index(("i", "j")))(x), np.arange(6).reshape(2, 3))
    close(both(lambda v: exchanges.axis_index(("j", "i")))(x), np.arange(6).reshape(3, 2).T)
    close(both(lambda v: exchanges.all_gather(v, ("i", "j")))(x), np.broadcast_to(x.ravel(), (2, 3, 6)))
    assert both(lambda v: li.mul_p(v, float(exchanges.axis_size(("i", "j")))))(x).aval.shape == (2, 3)


def test_collectives_of_trees_and_scalars() -> None:
    x = floats([1, 2, 4])
    mapped = lambda f: jx.vmap(f, axis_name="i")
    out = mapped(lambda v: exchanges.psum({"a": v, "b": 1}, "i"))(x)
    close(out["a"], [7, 7, 7])
    close(out["b"], [3, 3, 3])
    close(mapped(lambda v: exchanges.psum(ew.gt_p(v, 1.0), "i"))(x), [2, 2, 2])
    close(mapped(lambda v: exchanges.pmean(v, "i"))(ints([1, 2, 4])), np.full(3, 7 / 3, np.float32))
    close(mapped(lambda v: li.add_p(exchanges.pmax(v, "i"), exchanges.pmin(v, "i")))(x), [5, 5, 5])
    close(mapped(lambda v: exchanges.pbroadcast(v, "i", 2))(x), [4, 4, 4])
    close(mapped(lambda v: exchanges.pshuffle(v, "i", [2, 0, 1]))(x), [4, 1, 2])
    square = np.arange(9, dtype=np.float32).reshape(3, 3)
    close(mapped(lambda v: exchanges.pswapaxes(v, "i", 0))(square), square.T)
    close(mapped(lambda v: exchanges.psum_scatter(v, "i"))(square), square.sum(0))
    number = jx.jit(lambda v: li.add_p(v, li.convert(exchanges.axis_index("i"), np.dtype(np.float32))))
    close(mapped(number)(x), x + np.arange(3))


def test_collectives_outside_of_their_axis_say_so() -> None:
    x = np.ones(3, np.float32)
    with pytest.raises(NameError, match="no axis is called 'i' here"):
        exchanges.psum(x, "i")
    with pytest.raises(NameError, match="in scope: 'j'") as told:
        jx.jit(jx.vmap(lambda v: exchanges.pmax(v, "i"), axis_name="j"))(x)
    assert {Path(str(entry.path)).name for entry in told.traceback} == {"test_ops.py"}, "it is no bug of the library's"
    with pytest.raises(ValueError, match="must be 3"):
        jx.vmap(lambda v: exchanges.psum_scatter(v, "i"), axis_name="i")(np.ones((3, 2), np.float32))
    with pytest.raises(ValueError, match="comes twice"):
        jx.vmap(lambda v: exchanges.ppermute(v, "i", [(0, 1), (1, 1)]), axis_name="i")(x)


# Programs ------------------------------------------------------------------------------------------------------------


def test_dead_equations_do_not_keep_arguments() -> None:
    slope = jx.jit(lambda x, t: jx.jvp(lambda x: ew.sin_p(li.add_p(x, x)), (x,), (t,))[1])
    only_t = jx.jit(lambda x, t: jx.jvp(lambda x: li.add_p(x, x), (x,), (t,))[1])
    x = floats([0, 1])
    close(only_t(x, x), 2 * x)
    close(slope(x, x), 2 * x * np.cos(2 * x))


def test_parameters_of_operations_hash_by_content() -> None:
    x, i = np.ones((3, 2), np.float32), np.zeros((1, 1), np.int32)
    closed = trace_to_jaxpr(lambda x, i: [ix.gather(x, i, ROWS, (1, 2))], [aval_of(x), aval_of(i)])
    assert not structural_hash(closed).kept


@pytest.mark.parametrize(
    ("sizes", "strides", "padding"),
    [
        ((2, 2), (2, 2), [(0, 0), (0, 0)]),
        ((2, 3), (3, 3), [(1, 2), (0, 0)]),
        ((1, 2), (1, 4), [(0, 0), (-1, 2)]),
        ((3, 1), (4, 2), [(2, 0), (1, 1)]),
        ((2, 2), (1, 2), [(1, 1), (0, 1)]),  # these overlap
    ],
)
def test_the_derivative_of_a_sum_over_windows(sizes, strides, padding) -> None:
    x = np.arange(63.0, dtype=np.float32).reshape(7, 9)
    total = lambda x: jx.lax.reduce_window(x, 0.0, jx.lax.add, sizes, strides, padding)
    weights = np.arange(1.0, 1.0 + total(x).size, dtype=np.float32).reshape(total(x).shape)
    each = np.stack([np.asarray(total(one.reshape(7, 9))) for one in np.eye(63, dtype=np.float32)])
    got = jx.grad(lambda x: (total(x) * weights).sum())(x)
    np.testing.assert_array_equal(got, (each * weights).sum((1, 2)).reshape(7, 9))


@pytest.mark.parametrize(("dtype", "wide"), [("complex64", np.float64), ("complex128", np.longdouble)])
def test_the_size_of_complex_numbers(dtype: str, wide: type) -> None:
    own = np.finfo(dtype)
    random = np.random.default_rng(0)
    with jx.enable_x64(dtype == "complex128"):
        for size in (1, own.tiny * 2**30, own.max / 8, np.sqrt(own.tiny), np.sqrt(own.max)):
            x = (random.standard_normal((1000, 2)) * size).astype(own.dtype).view(dtype)[:, 0]
            exact = np.hypot(x.real.astype(wide), x.imag.astype(wide))
            off = np.abs(np.asarray(jx.jit(ew.abs_p)(x)).astype(wide) - exact)
            assert np.all(off <= 1.25 * np.spacing(exact.astype(own.dtype)))
        odd = np.array([complex(np.inf, np.nan), complex(np.nan, -np.inf), complex(np.nan, 1), complex(-np.inf, 2), 0])
        np.testing.assert_array_equal(ew.abs_p(odd.astype(dtype)), np.abs(odd))
