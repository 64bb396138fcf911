"""grad, vjp, jvp, linearize and vmap: what they take and give, and their errors. (In every nesting: test_generated.py.)"""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
from jitscope.core import dtypes
from jitscope.core.errors import ConcretizationTypeError, TracerArrayConversionError, TracerBoolConversionError
from jitscope.ops import elementwise
from tests.compiler.programs import add, div, floats, lt, matmul, mul, neg, sin, steps, sub, tanh, total


X = floats(3)


def test_third_derivative_of_one_number():
    f = lambda x: mul(mul(x, x), mul(x, x))
    for d in (jx.grad(jx.grad(jx.grad(f))), jx.jit(jx.grad(jx.jit(jx.grad(jx.grad(f)))))):
        assert float(d(2.0)) == 48.0


def test_nested_derivatives_do_not_confuse_their_perturbations():
    """d/dx (x · d/dy (x + y)) = 1, not 2."""
    inner = lambda x: jx.grad(lambda y: add(x, y))(1.0)
    assert float(jx.grad(lambda x: mul(x, inner(x)))(3.0)) == 1.0
    assert float(jx.jvp(lambda x: mul(x, jx.jvp(lambda y: add(x, y), (1.0,), (1.0,))[1]), (3.0,), (1.0,))[1]) == 1.0
    assert float(jx.grad(lambda x: jx.grad(lambda y: mul(mul(x, x), y))(x))(3.0)) == 6.0
    mixed = jx.vmap(lambda x: jx.grad(lambda y: jx.jvp(lambda z: mul(mul(x, y), z), (1.0,), (1.0,))[1])(2.0))
    np.testing.assert_allclose(mixed(X), X)


# grad and value_and_grad ----------------------------------------------------------------------------------------------


def weighted(params, x, *, scale=1.0):
    return mul(total(mul(params["w"], mul(x, x))), scale), {"double": add(x, x), "note": "kept", "n": 3, "none": None}


def test_argnums_trees_aux_and_keywords():
    params = {"w": X, "unused": np.ones((2, 2), np.float32)}
    (value, aux), (dp, dx) = jx.value_and_grad(weighted, argnums=(0, -1), has_aux=True)(params, X, scale=2.0)
    np.testing.assert_allclose(value, 2 * np.sum(X**3), rtol=1e-5)
    np.testing.assert_allclose(dp["w"], 2 * X * X, rtol=1e-5)
    np.testing.assert_array_equal(dp["unused"], np.zeros((2, 2)))
    np.testing.assert_allclose(dx, 4 * X * X, rtol=1e-5)
    np.testing.assert_allclose(aux["double"], 2 * X)
    assert (aux["note"], aux["n"], aux["none"]) == ("kept", 3, None)
    gradient, aux = jx.grad(weighted, argnums=1, has_aux=True)(params, X)
    np.testing.assert_allclose(gradient, 2 * X * X, rtol=1e-5)
    assert isinstance(jx.grad(lambda x, y: mul(x, y), argnums=[1])(2.0, 3.0), tuple)


def test_aux_comes_out_of_every_trace():
    f = lambda x: (mul(x, x), {"sin": sin(x), "text": "t"})
    value, f_vjp, aux = jx.vjp(f, 2.0, has_aux=True)
    assert (float(value), float(f_vjp(1.0)[0]), aux["text"]) == (4.0, 4.0, "t")
    np.testing.assert_allclose(aux["sin"], np.sin(2.0), rtol=1e-6)
    value, tangent, aux = jx.jvp(f, (2.0,), (1.0,), has_aux=True)
    assert (float(value), float(tangent), aux["text"]) == (4.0, 4.0, "t")
    value, f_jvp, aux = jx.linearize(f, 2.0, has_aux=True)
    assert (float(value), float(f_jvp(1.0)), aux["text"]) == (4.0, 4.0, "t")
    nested = jx.jit(lambda x: jx.grad(lambda y: jx.grad(f, has_aux=True)(y)[1]["sin"])(x))
    np.testing.assert_allclose(nested(2.0), np.cos(2.0), rtol=1e-6)
    per_example = jx.vmap(jx.grad(lambda x: (mul(x, x), {"sin": sin(x)}), has_aux=True))(X)
    np.testing.assert_allclose(per_example[1]["sin"], np.sin(X), rtol=1e-6)


def test_a_function_that_does_not_depend_on_its_argument():
    value, gradient = jx.value_and_grad(lambda x: 1.0)(X)
    assert float(value) == 1.0
    np.testing.assert_array_equal(gradient, np.zeros(3))
    np.testing.assert_array_equal(jx.jit(jx.grad(lambda x: total(np.ones(3, np.float32))))(X), np.zeros(3))
    assert float(jx.grad(jx.grad(lambda x: mul(x, 3.0)))(1.0)) == 0.0


def test_stop_gradient():
    f = lambda x: mul(elementwise.stop_gradient_p(x), x)
    assert float(jx.grad(f)(3.0)) == 3.0
    assert float(jx.jvp(f, (3.0,), (1.0,))[1]) == 3.0


def test_values_used_many_times_and_results_given_twice():
    f = lambda x: total(add(mul(x, x), add(x, mul(x, sin(x)))))
    np.testing.assert_allclose(jx.grad(f)(X), 2 * X + 1 + np.sin(X) + X * np.cos(X), rtol=1e-6)
    _, f_vjp = jx.vjp(lambda x: (x, x, mul(x, 2.0)), 3.0)
    assert float(f_vjp((1.0, 10.0, 100.0))[0]) == 211.0


@pytest.mark.parametrize("wrap", [lambda f: f, jx.jit], ids=["eager", "jit"])
def test_integer_arguments_have_float0_gradients(wrap):
    f = wrap(lambda x, i, flag: mul(x, 2.0))
    gradients = jx.grad(lambda *a: total(f(*a)), argnums=(0, 1, 2), allow_int=True)(X, np.arange(3), True)
    np.testing.assert_array_equal(gradients[0], np.full(3, 2.0))
    assert [g.dtype for g in gradients[1:]] == [dtypes.float0] * 2 and gradients[1].shape == (3,)
    cotangents = jx.vjp(f, X, np.arange(3), True)[1](X)
    assert cotangents[1].dtype == dtypes.float0
    tangents = (X, np.zeros(3, dtypes.float0), np.zeros((), dtypes.float0))
    np.testing.assert_allclose(jx.jvp(f, (X, np.arange(3), True), tangents)[1], 2 * X)


def test_integer_results_have_float0_tangents():
    out, tangent = jx.jvp(lambda x: lt(x, 0.5), (X,), (X,))
    assert tangent.dtype == dtypes.float0 and np.asarray(out).dtype == bool
    assert jx.linearize(lambda x: (lt(x, 0.5), sin(x)), X)[1](X)[0].dtype == dtypes.float0
    _, f_vjp = jx.vjp(lambda x: (sin(x), lt(x, 0.5)), X)
    np.testing.assert_allclose(f_vjp((X, np.zeros(3, dtypes.float0)))[0], X * np.cos(X), rtol=1e-6)


def test_symbolic_zeros_save_work():
    """Tangents that are zero cost no equation."""
    jaxpr = jx.make_jaxpr(lambda x, y: jx.jvp(lambda x: add(mul(x, x), sin(y)), (x,), (x,)))(X, X)
    assert [e.primitive.name for e in jaxpr.eqns].count("cos") == 0
    jaxpr = jx.make_jaxpr(jx.grad(lambda x, y: total(mul(x, sin(y)))))(X, X)
    assert [e.primitive.name for e in jaxpr.eqns].count("cos") == 0


def test_derivatives_are_evaluated_once():
    runs = []
    _, f_jvp = jx.linearize(lambda x: runs.append(1) or mul(sin(x), x), X)
    for t in (X, X + 1):
        np.testing.assert_allclose(f_jvp(t), t * (np.sin(X) + X * np.cos(X)), rtol=1e-5)
    _, f_vjp = jx.vjp(lambda x: runs.append(1) or mul(sin(x), x), X)
    f_vjp(X), f_vjp(X)
    assert len(runs) == 2


def test_linear_functions_may_be_transformed_and_compiled():
    _, f_jvp = jx.linearize(lambda x: mul(sin(x), x), X)
    slope = np.sin(X) + X * np.cos(X)
    np.testing.assert_allclose(jx.jit(f_jvp)(X), slope * X, rtol=1e-5)
    np.testing.assert_allclose(jx.vmap(f_jvp)(np.eye(3, dtype=np.float32)), np.diag(slope), rtol=1e-5, atol=1e-7)
    _, f_vjp = jx.vjp(lambda x: mul(sin(x), x), X)
    np.testing.assert_allclose(jx.vmap(f_vjp)(np.eye(3, dtype=np.float32))[0], np.diag(slope), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jx.grad(lambda t: total(mul(f_vjp(t)[0], t)))(X), 2 * slope * X, rtol=1e-5)


def test_derivatives_of_matrix_products():
    a, b = floats(2, 3), floats(3, 4, seed=1)
    weight = floats(2, 4, seed=2)
    da, db = jx.jit(jx.grad(lambda a, b: total(mul(matmul(a, b), weight)), argnums=(0, 1)))(a, b)
    np.testing.assert_allclose(da, weight @ b.T, rtol=1e-5)
    np.testing.assert_allclose(db, a.T @ weight, rtol=1e-5)


def test_gradients_of_complex_functions_of_real_numbers():
    f = lambda x: elementwise.real_p(mul(elementwise.complex_p(x, mul(x, x)), 1 + 1j))
    np.testing.assert_allclose(jx.grad(f)(0.5), 1 - 2 * 0.5, atol=1e-6)


# vmap -----------------------------------------------------------------------------------------------------------------


def stacked(f, *examples, axis=0):
    return np.stack([np.asarray(f(*e)) for e in zip(*examples)], axis=axis)


@pytest.mark.parametrize("out_axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("in_axes", [(0, 0), (1, None), (None, 2), (-1, 1), (2, -3)], ids=str)
def test_vmap_over_any_axes_is_a_loop(in_axes, out_axis):
    x, y = (floats(3, 3, 3, seed=s) if axis is not None else floats(3, 3, seed=s) for s, axis in enumerate(in_axes))
    f = lambda a, b: sub(sin(a), mul(a, b))
    found = jx.vmap(f, in_axes=in_axes, out_axes=out_axis)(x, y)
    rows = [np.moveaxis(v, a, 0) if a is not None else [v] * 3 for v, a in zip((x, y), in_axes)]
    expected = stacked(lambda a, b: np.sin(a) - a * b, *rows, axis=out_axis)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_in_axes_and_out_axes_are_trees():
    tree = {"a": floats(4, 3), "b": (floats(3, 4, seed=1), floats(3, seed=2))}
    f = lambda t, s: {"sum": add(t["a"], mul(t["b"][0], t["b"][1])), "pair": (s, t["a"])}
    out = jx.vmap(f, in_axes=({"a": 0, "b": (1, None)}, None), out_axes={"sum": 1, "pair": (None, 0)})(tree, 2.0)
    expected = stacked(lambda a, b: a + b * tree["b"][1], tree["a"], tree["b"][0].T, axis=1)
    np.testing.assert_allclose(out["sum"], expected, rtol=1e-6)
    assert out["pair"][0] == 2.0 and out["pair"][1].aval.shape == (4, 3)
    prefix = jx.vmap(lambda t: add(t[0], t[1]["c"]), in_axes=(1,))((floats(3, 4), {"c": floats(3, 4, seed=1)}))
    np.testing.assert_allclose(prefix, (floats(3, 4) + floats(3, 4, seed=1)).T)
    listed = jx.vmap(lambda a, b: add(a, b), in_axes=[0, None])(X, 1.0)
    np.testing.assert_allclose(listed, X + 1)


def test_none_is_an_empty_tree_in_arguments_too():
    out = jx.vmap(lambda a, b: (a, b), in_axes=(0, None))(X, None)
    assert out[1] is None
    np.testing.assert_array_equal(out[0], X)
    assert jx.vmap(lambda a, b: (a, b), in_axes=(0, 0))(X, None)[1] is None


def test_keyword_arguments_are_mapped_along_their_first_axis():
    np.testing.assert_allclose(jx.vmap(lambda a, *, k: mul(a, k), in_axes=None)(2.0, k=X), 2 * X)


def test_results_that_are_the_same_for_all_are_repeated():
    out = jx.vmap(lambda x: (x, 1.0, np.arange(2)), axis_size=3)(X)
    assert [np.shape(o) for o in out] == [(3,), (3,), (3, 2)]
    out = jx.vmap(lambda x: (x, 1.0), out_axes=(0, None))(X)
    assert np.shape(out[1]) == ()
    assert np.shape(jx.vmap(lambda: np.float32(1), axis_size=4)()) == (4,)


def test_nested_vmap_and_sizes_of_zero_and_one():
    x, y = floats(2), floats(5, seed=1)
    outer = jx.vmap(jx.vmap(mul, (None, 0)), (0, None))(x, y)
    np.testing.assert_allclose(outer, np.outer(x, y), rtol=1e-6)
    assert np.shape(jx.vmap(sin)(np.zeros((0, 4), np.float32))) == (0, 4)
    np.testing.assert_allclose(jx.vmap(total)(floats(1, 4)), floats(1, 4).sum(1), rtol=1e-6)


def test_python_sees_one_example():
    shapes = []
    jx.vmap(lambda x: shapes.append(x.aval.shape) or x, in_axes=1)(floats(4, 5))
    jx.vmap(jx.vmap(lambda x: shapes.append(x.aval.shape) or x))(floats(4, 5, 6))
    assert shapes == [(4,), (6,)]


def test_per_example_gradients():
    x, w = floats(5, 3), floats(3, seed=1)
    loss = lambda w, x: tanh(total(mul(w, x)))
    found = jx.jit(jx.vmap(jx.grad(loss), in_axes=(None, 0)))(w, x)
    expected = (1 - np.tanh(x @ w) ** 2)[:, None] * x
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_vmap_compiles_one_program_for_all_examples():
    f = jx.jit(jx.vmap(lambda x: mul(sin(x), 2.0)))
    with steps() as seen:
        f(floats(5, 3))
    assert seen["compile"] == 1
    assert [e.primitive.name for e in f.trace(floats(5, 3)).jaxpr.eqns] == ["sin", "mul"]


def test_collectives_along_a_named_axis():
    from jitscope.ops.exchanges import psum

    share = jx.vmap(lambda x: div(x, psum(x, "i")), axis_name="i")
    np.testing.assert_allclose(share(X), X / X.sum(), rtol=1e-6)
    np.testing.assert_allclose(jx.jit(share)(X), X / X.sum(), rtol=1e-6)
    inner = jx.jit(lambda x: psum(sin(x), "i"))
    np.testing.assert_allclose(jx.vmap(inner, axis_name="i")(X), np.full(3, np.sin(X).sum()), rtol=1e-6)
    np.testing.assert_allclose(jx.vmap(inner, axis_name="i", out_axes=None)(X), np.sin(X).sum(), rtol=1e-6)
    np.testing.assert_allclose(jx.vmap(lambda x: psum(1, "i"), axis_name="i")(X), [3, 3, 3])
    gradient = jx.grad(lambda x: total(jx.vmap(lambda v: mul(psum(v, "i"), v), axis_name="i")(x)))
    np.testing.assert_allclose(gradient(X), np.full(3, 2 * X.sum()), rtol=1e-6)
    x = floats(2, 3)
    both = jx.vmap(jx.vmap(lambda v: sub(psum(v, "i"), psum(v, "j")), axis_name="j"), axis_name="i")(x)
    np.testing.assert_allclose(both, x.sum(0) - x.sum(1, keepdims=True) + np.zeros_like(x), rtol=1e-5, atol=1e-6)
    sizes = jx.vmap(
        lambda row: jx.vmap(lambda v: mul(v, float(psum(1, "i") * 10 + psum(1, "j"))), axis_name="j")(row),
        axis_name="i",
    )
    np.testing.assert_allclose(sizes(x), 23 * x, rtol=1e-6)
    with pytest.raises(NameError, match=r"'k'.*in scope: 'i'"):
        jx.vmap(lambda x: psum(x, "k"), axis_name="i")(X)


# What Python may ask of a value being transformed ---------------------------------------------------------------------


def test_python_control_flow_on_known_values_while_differentiating():
    f = lambda x: mul(x, 3.0) if lt(x, 1.0) else mul(x, x)
    assert [float(jx.grad(f)(v)) for v in (0.5, 2.0)] == [3.0, 4.0]
    assert float(jx.jvp(f, (2.0,), (1.0,))[1]) == 4.0
    assert float(jx.grad(lambda x: mul(x, 2.0) if x else x)(1.0)) == 2.0
    assert float(jx.grad(lambda x: mul(x, float(int(x))))(3.5)) == 3.0
    seen = []
    jx.grad(lambda x: seen.append(f"{x:.2f}") or x)(3.5)
    assert seen == ["3.50"]


@pytest.mark.parametrize("ask", [float, complex, lambda x: x.tolist()])
def test_a_number_without_its_derivative_is_refused(ask):
    for transform in (lambda f: jx.grad(f)(3.0), lambda f: jx.jvp(f, (3.0,), (1.0,)), lambda f: jx.vjp(f, 3.0)):
        with pytest.raises(ConcretizationTypeError, match="no derivative"):
            transform(lambda x: mul(x, ask(x)))
    assert float(jx.grad(lambda x: mul(x, float(elementwise.stop_gradient_p(x))))(3.0)) == 3.0
    with pytest.raises(TracerArrayConversionError):
        jx.grad(lambda x: mul(x, np.sin(x)))(3.0)


@pytest.mark.parametrize("transform, x", [
    (jx.vmap, X), (jx.jit, 1.0), (lambda f: jx.jit(jx.grad(f)), 1.0), (lambda f: jx.vmap(jx.grad(f)), X),
    (lambda f: jx.grad(lambda x: total(jx.vmap(f)(x))), X)])  # fmt: skip
def test_values_that_are_not_known_are_refused(transform, x):
    with pytest.raises(TracerBoolConversionError, match=r"jx\.numpy\.where"):
        transform(lambda x: x if lt(x, 1.0) else neg(x))(x)


# Errors ---------------------------------------------------------------------------------------------------------------


def f(x, y=1.0):
    return mul(x, y)


ERRORS = {
    "grad of an integer": (lambda: jx.grad(f)(1), TypeError, "argument 0 of f is i32[], and gradients are of floats"),
    "grad of text": (lambda: jx.grad(f)("a"), TypeError, "argument 0 of f has"),
    "deep in a tree": (lambda: jx.grad(lambda p: 1.0)({"a": [1.0, None, "b"]}), TypeError, "['a'][2]"),
    "vector result": (lambda: jx.grad(lambda x: sin(x))(X), TypeError, "returned f32[3]"),
    "two results": (lambda: jx.grad(lambda x: (x, x))(1.0), TypeError, "tuple with 2 arrays"),
    "no result": (lambda: jx.grad(lambda x: None)(1.0), TypeError, "NoneType"),
    "boolean result": (lambda: jx.grad(lambda x: lt(x, 1.0))(1.0), TypeError, "bool[]"),
    "complex result": (lambda: jx.grad(sin)(1j), TypeError, "holomorphic=True allows"),
    "holomorphic of a real": (lambda: jx.grad(f, holomorphic=True)(1.0), TypeError, "needs complex arguments"),
    "holomorphic to a real": (lambda: jx.grad(elementwise.abs_p, holomorphic=True)(1j), TypeError, "a complex number"),
    "no such argument": (lambda: jx.grad(f, argnums=2)(1.0, 2.0), TypeError, "argument 2, but it was called with 2"),
    "argument by name": (lambda: jx.grad(f)(x=1.0), TypeError, "called with 0 positional"),
    "argnums text": (lambda: jx.grad(f, argnums=("x",))(1.0), TypeError, "'x'"),  # pyright: ignore
    "argnums twice": (lambda: jx.grad(f, argnums=(0, 0))(1.0), ValueError, "twice"),
    "no aux": (lambda: jx.grad(f, has_aux=True)(1.0), TypeError, "(result, aux)"),
    "result is text": (lambda: jx.vjp(lambda x: {"a": [x, "b"]}, 1.0), TypeError, "at result['a'][1]"),
    "jvp structure": (lambda: jx.jvp(f, (1.0, 2.0), (1.0,)), TypeError, "structure"),
    "jvp shape": (lambda: jx.jvp(sin, (X,), (X[:2],)), ValueError, "at [0] the primal is f32[3] and the tangent f32[2]"),
    "jvp dtype": (lambda: jx.jvp(sin, (X,), (X.astype("f2"),)), TypeError, "f32[3] and the tangent f16[3]"),
    "jvp of integers": (lambda: jx.jvp(f, (1.0, 2), (1.0, 1)), TypeError, "float0"),
    "cotangent shape": (lambda: jx.vjp(sin, X)[1](X[:2]), ValueError, "f32[3] and its cotangent f32[2]"),
    "cotangent structure": (lambda: jx.vjp(f, X[0])[1]((1.0,)), ValueError, "the result of f"),
    "linear structure": (lambda: jx.linearize(f, 1.0)[1](1.0, 2.0), TypeError, "structure"),
    "linear shape": (lambda: jx.linearize(f, 1.0)[1](X), ValueError, "f32[]"),
    "vmap sizes": (lambda: jx.vmap(f)(X, X[:2]), ValueError, "argument 0 has 3, argument 1 has 2"),
    "vmap sizes in trees": (lambda: jx.vmap(lambda t: t)({"a": X, "b": [X[:2]]}), ValueError,
                            "argument t['a'] (f32[3], axis 0) has 3, argument t['b'][0] (f32[2], axis 0) has 2"),
    "vmap axis_size": (lambda: jx.vmap(f, axis_size=4)(X, X), ValueError, "axis_size has 4"),
    "vmap of nothing": (lambda: jx.vmap(f, in_axes=None)(X), ValueError, "give axis_size"),
    "vmap rank": (lambda: jx.vmap(f, in_axes=(1, None))(X, 1.0), ValueError, "f32[3] and has no axis 1"),
    "vmap of a number": (lambda: jx.vmap(f)(1.0), ValueError, "f32[] and has no axis 0"),
    "vmap axis no int": (lambda: jx.vmap(f, in_axes=("a", None))(X, 1.0), TypeError, "'a'"),
    "vmap in_axes count": (lambda: jx.vmap(f, in_axes=(0, 0, 0))(X, X), ValueError, "3 entries"),
    "vmap in_axes tree": (lambda: jx.vmap(f, in_axes=({"a": 0},))({"b": X}), ValueError, "in_axes"),
    "vmap out_axes tree": (lambda: jx.vmap(f, out_axes=(0, 0))(X, X), ValueError, "out_axes"),
    "vmap out None": (lambda: jx.vmap(f, out_axes=None)(X, X), ValueError, "differs between examples"),
    "vmap out rank": (lambda: jx.vmap(f, out_axes=3)(X, X), ValueError, "the result has 1 axes"),
    "vmap of text": (lambda: jx.vmap(f)("abc"), TypeError, "argument 0"),
    "vmap to text": (lambda: jx.vmap(lambda x: ("a", x))(X), TypeError, "at result[0]"),
    "vmap keyword": (lambda: jx.vmap(f, in_axes=None)(X, y=1.0), ValueError, "argument y"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_and_where(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value), str(caught.value)


# Looking --------------------------------------------------------------------------------------------------------------


def test_make_jaxpr_and_eval_shape_run_nothing():
    struct = jx.ShapeDtypeStruct((3, 4), np.float32)
    jaxpr, shapes = jx.make_jaxpr(lambda x, n: {"sum": total(x), "n": n}, static_argnums=1, return_shape=True)(
        struct, 2
    )
    assert [e.primitive.name for e in jaxpr.eqns] == ["reduce_sum"]
    assert shapes == {
        "n": jx.ShapeDtypeStruct((), np.int32, weak_type=True),
        "sum": jx.ShapeDtypeStruct((), np.float32),
    }
    out = jx.eval_shape(lambda x, *, k: (x, [k]), struct, k=1.0)
    assert out[0] == struct and out[1][0].weak_type
    assert jx.eval_shape(jx.grad(lambda x: total(sin(x))), struct) == struct
    with pytest.raises(TypeError, match="ShapeDtypeStruct"):
        jx.jit(lambda x: sin(x))(struct)
