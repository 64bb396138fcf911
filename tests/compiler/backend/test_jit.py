"""jit: a compiled function gives what the Python function gives, and compiles only what is new."""

from __future__ import annotations

import functools
import inspect
import pickle
import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.axes import current_axes
from tests.compiler.programs import add, cos, div, exp, floats, log, mul, sin, steps, sub, tanh, total


X = floats(3)
BIG = floats(50)


pytestmark = pytest.mark.usefixtures("nothing_compiled")


# Values ---------------------------------------------------------------------------------------------------------------


def test_a_compiled_function_gives_what_the_operations_give():
    def f(x, y):
        return div(sub(mul(sin(x), y), exp(y)), add(log(x), cos(tanh(x))))

    x, y = floats(4, 3), floats(4, 3, seed=1)
    wanted = (np.sin(x) * y - np.exp(y)) / (np.log(x) + np.cos(np.tanh(x)))
    np.testing.assert_allclose(jx.jit(f)(x, y), wanted, rtol=1e-5)
    np.testing.assert_allclose(f(x, y), wanted, rtol=1e-5)


Point = namedtuple("Point", "x y")


def test_arguments_and_results_are_trees():
    def f(tree, *, scale):
        return {"sum": add(tree["p"].x, tree["p"].y), "rest": [tree["list"][1], (None, scale)], "p": tree["p"]}

    tree = {"p": Point(X, X), "list": [1.0, X]}
    out = jx.jit(f)(tree, scale=3)
    np.testing.assert_array_equal(out["sum"], X + X)
    np.testing.assert_array_equal(out["rest"][0], X)
    assert type(out["rest"]) is list and out["rest"][1][0] is None and int(out["rest"][1][1]) == 3
    assert type(out["p"]) is Point and isinstance(out["p"].x, jx.Array)


def test_results_may_be_arguments_constants_and_numbers():
    held = jx.device_put(X)

    @jx.jit
    def f(x):
        return x, x, 2.5, True, 1j, np.float16(3), np.arange(3), held, np.zeros((0, 2))

    same, again, *rest, kept, empty = f(held)
    assert same.unsafe_buffer_pointer() != held.unsafe_buffer_pointer()
    np.testing.assert_array_equal(same, again)
    assert [(x.dtype if hasattr(x, "dtype") else x.aval.dtype).name for x in rest] == [
        "float32", "bool", "complex64", "float16", "int32"]  # fmt: skip
    assert [x.aval.weak_type for x in rest] == [True, False, True, False, False]
    np.testing.assert_array_equal(kept, X)
    assert empty.aval.shape == (0, 2)


def test_functions_without_arguments_or_results():
    assert jx.jit(lambda: None)() is None
    assert jx.jit(lambda x: ())(X) == ()
    assert float(jx.jit(lambda: 2.0)()) == 2.0
    assert jx.jit(lambda *args, **kwargs: (args, kwargs))() == ((), {})


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4)], ids=str)
def test_arrays_without_elements(shape):
    x = np.zeros(shape, np.float32)
    out, number = jx.jit(lambda x: (add(sin(x), 1.0), total(x)))(x)
    assert out.aval.shape == shape and float(number) == 0.0


@pytest.mark.parametrize("value", [0.0, -0.0, float("inf"), float("nan"), 1e-40])
def test_numbers_keep_their_exact_value(value):
    assert np.asarray(jx.jit(lambda x: x)(value)).tobytes() == np.float32(value).tobytes()
    assert np.asarray(jx.jit(lambda: value)()).tobytes() == np.float32(value).tobytes()


def test_equal_numbers_that_are_not_the_same_keep_apart():
    f = jx.jit(lambda x: x)
    nan = float("nan")
    for z in (complex(nan, 1), complex(2, nan), complex(-1, 0.0), complex(-1, -0.0), 0j, complex(-0.0, 0)):
        assert np.asarray(f(z)).tobytes() == np.complex64(z).tobytes(), z
    assert [f(x).aval.dtype.name for x in (True, 1, 1.0, np.int8(1))] == ["bool", "int32", "float32", "int8"]


def test_numpy_scalars_and_other_byte_orders_are_arguments():
    f = jx.jit(lambda x: add(x, x))
    assert f(np.float16(1.5)).aval.short() == "f16[]" and not f(np.float32(1)).aval.weak_type
    np.testing.assert_array_equal(f(np.arange(3, dtype=">i4")), [0, 2, 4])
    np.testing.assert_array_equal(f(np.asfortranarray(floats(3, 4))), floats(3, 4) * 2)
    np.testing.assert_array_equal(f(floats(6)[::2]), floats(6)[::2] * 2)


# Calling --------------------------------------------------------------------------------------------------------------


def power(x, n=2, *, flip=False):
    out = x
    for _ in range(n - 1):
        out = mul(out, x)
    return sub(0.0, out) if flip else out


@pytest.mark.parametrize("options", [{"static_argnums": 1}, {"static_argnums": (-1,)}, {"static_argnames": "n"},
                                     {"static_argnames": ["n"]}], ids=str)  # fmt: skip
def test_a_static_argument_is_named_either_way_and_passed_either_way(options):
    f = jx.jit(lambda x, n=2: power(x, n), **options)
    with steps() as seen:
        for out in (f(X, 3), f(X, n=3), f(n=3, x=X), f(X, 3)):
            np.testing.assert_allclose(out, X**3, rtol=1e-6)
        np.testing.assert_allclose(f(X), X**2, rtol=1e-6)
    assert seen["compile"] == 2


def test_static_arguments_by_keyword_alone():
    f = jx.jit(power, static_argnames=("n", "flip"))
    np.testing.assert_allclose(f(X, flip=True, n=1), -X)
    np.testing.assert_allclose(f(X, flip=False), X**2, rtol=1e-6)


def test_static_values_of_different_types_keep_apart():
    seen = []
    f = jx.jit(lambda x, s: seen.append(s) or x, static_argnums=1)
    for value in (1, True, 1.0, "1", None, (1, 2), np.float32):
        f(X, value)
        f(X, value)
    assert [type(v) for v in seen] == [int, bool, float, str, type(None), tuple, type]


def test_static_and_donated_positions_reach_into_varargs():
    f = jx.jit(lambda *xs, **k: (xs[0], xs[2], k), static_argnums=1, donate_argnums=2)
    seen = jx.device_put(X)
    first, second, named = f(X, "text", seen, k=1)
    assert seen.is_deleted() and int(named["k"]) == 1
    np.testing.assert_array_equal(first, second)


def test_static_positions_counted_from_the_end_of_varargs():
    f = jx.jit(lambda *xs: mul(xs[0], float(xs[-1])), static_argnums=-1)
    for n in (2, 3, 3, 2):
        np.testing.assert_allclose(f(X, n), X * n)
    np.testing.assert_allclose(f(X, X, 4), X * 4)


@pytest.mark.parametrize(
    "argument", [2**40, np.array([None]), "text", object()], ids=["wide", "object", "text", "thing"]
)
def test_the_argument_that_cannot_be_traced_is_named(argument):
    f = jx.jit(lambda first, second: first)
    for call in (lambda: f(X, argument), lambda: f(X, second=argument), lambda: f((X,), [argument]),
                 lambda: jx.jit(lambda x: f(x, argument))(X)):  # fmt: skip
        with pytest.raises((TypeError, OverflowError), match=r"argument second|does not fit"):
            call()


def test_mixed_calls_take_the_right_arguments():
    """Arrays, numbers and static values in any order, by position and by name, called again and again."""
    f = jx.jit(lambda a, b, n, c=0.5, *, d=1.0, flag=False: (a, b, c, d, n, flag), static_argnames=("n", "flag"))
    one, two = jx.device_put(X), jx.device_put(X + 1)
    for n in (3, 4, 3):
        for b in (2.0, 7, np.float32(3), X * 3):
            calls = [f(one, b, n), f(n=n, b=b, a=one), f(one, n=n, d=two, b=b), f(two, b, n, one, d=b, flag=True)]
            expected = [(one, b, 0.5, 1.0, n, False), (one, b, 0.5, 1.0, n, False), (one, b, 0.5, two, n, False),
                        (two, b, one, b, n, True)]  # fmt: skip
            for found, wanted in zip(calls * 2, expected * 2):
                for x, y in zip(found, wanted):
                    np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def test_keywords_after_a_default_that_is_left_out():
    f = jx.jit(lambda a, b=10.0, c=100.0: add(add(a, b), c))
    assert [float(f(1.0, c=2.0)), float(f(1.0, b=2.0)), float(f(1.0))] == [13.0, 103.0, 111.0]


def test_positional_only_and_bad_calls():
    def f(x, /, y, *, z=0.0):
        return add(add(x, y), z)

    assert float(jx.jit(f)(1.0, y=2.0, z=3.0)) == 6.0
    for args, kwargs in [((), {}), ((1.0,), {}), ((1.0, 2.0, 3.0), {}), ((1.0,), {"y": 1.0, "w": 1.0}),
                         ((), {"x": 1.0, "y": 1.0})]:  # fmt: skip
        with pytest.raises(TypeError, match="f"):
            jx.jit(f)(*args, **kwargs)


def plain(x: Any, y: float = 1.0) -> Any:
    """Adds."""
    return add(x, y)


compiled = jx.jit(plain)


@jx.jit
def decorated(x):
    """Doubles."""
    return add(x, x)


def test_the_wrapper_looks_like_the_function():
    assert compiled.__wrapped__ is plain
    assert (compiled.__name__, compiled.__doc__, compiled.__module__) == ("plain", "Adds.", __name__)
    assert inspect.signature(compiled) == inspect.signature(plain)
    assert "Adds." in inspect.getsource(compiled)
    assert repr(decorated) == "<jit of decorated>"


def test_functions_pickle_by_name_or_with_what_they_compile():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    again = pickle.loads(pickle.dumps(jx.jit(plain, static_argnums=1)))  # no name leads to it
    assert again.__wrapped__ is plain and again(3.0, 2.0) == 5 and len(again.trace(1.0, 2.0).jaxpr.invars) == 1


def test_as_decorator_with_and_without_arguments():
    @jx.jit
    def one(x):
        return x

    @jx.jit(static_argnames="n")
    def two(x, n):
        return mul(x, float(n))

    assert float(one(1.0)) == 1.0 and float(two(2.0, n=3)) == 6.0


def test_jit_of_jit_and_nested_calls_keep_one_equation_each():
    inner = jx.jit(lambda x: mul(sin(x), 2.0))

    @jx.jit
    def outer(x):
        return add(inner(x), inner(cos(x)))

    with steps() as seen:
        for _ in range(2):
            np.testing.assert_allclose(outer(X), 2 * np.sin(X) + 2 * np.sin(np.cos(X)), rtol=1e-6)
    assert seen["compile"] == 1 and seen["trace"] == 2
    jaxpr = outer.trace(X).jaxpr
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["jit", "cos", "jit", "add"]
    assert jaxpr.eqns[0].params["jaxpr"] is jaxpr.eqns[2].params["jaxpr"]
    assert outer.lower(X).as_text().count("func.func private") == 1
    np.testing.assert_allclose(jx.jit(jx.jit(inner))(X), 2 * np.sin(X), rtol=1e-6)


def test_deep_nesting():
    f = sin
    for _ in range(30):
        f = jx.jit(functools.partial(lambda g, x: add(g(x), 1.0), f))
    np.testing.assert_allclose(f(X), np.sin(X) + 30, rtol=1e-6)


# What a function captures ---------------------------------------------------------------------------------------------


def adder(held):
    return lambda x: add(x, held)


def test_small_captured_arrays_are_part_of_the_program_by_content():
    with steps() as seen:
        for held in (X, X.copy(), jx.device_put(X), X + 1):
            np.testing.assert_allclose(jx.jit(adder(held))(X), X + np.asarray(held))
    assert (seen["trace"], seen["compile"], seen["reuse"]) == (4, 2, 2)


def test_large_captured_arrays_are_hidden_arguments():
    with steps() as seen:
        for held in (BIG, jx.device_put(BIG + 1), BIG * 2):
            np.testing.assert_allclose(jx.jit(adder(held))(BIG), BIG + np.asarray(held))
    assert (seen["trace"], seen["compile"], seen["reuse"]) == (3, 1, 2)
    assert "dense<" not in jx.jit(adder(BIG)).lower(BIG).as_text()


def test_one_array_captured_twice_is_one_constant():
    jaxpr = jx.jit(lambda x: add(mul(x, BIG), BIG)).trace(BIG).jaxpr
    assert len(jaxpr.consts) == 1


def test_captured_numpy_arrays_are_read_when_traced():
    held = BIG.copy()
    f = jx.jit(lambda x: add(x, held))
    before = np.asarray(f(BIG))
    held[:] = 0
    np.testing.assert_array_equal(f(BIG), before)


def test_a_captured_tracer_of_an_outer_trace():
    def outer(x):
        inner = jx.jit(lambda y: mul(x, y))
        return add(inner(x), inner(2.0))

    np.testing.assert_allclose(jx.jit(outer)(3.0), 15.0)
    np.testing.assert_allclose(jx.grad(outer)(3.0), 8.0)
    np.testing.assert_allclose(jx.grad(jx.grad(jx.jit(outer)))(3.0), 2.0)
    np.testing.assert_allclose(jx.vmap(outer)(X), X * X + 2 * X, rtol=1e-6)
    np.testing.assert_allclose(jx.jit(jx.vmap(jx.grad(outer)))(X), 2 * X + 2, rtol=1e-6)


def test_a_trace_that_captured_a_tracer_serves_once():
    held = []
    inner = jx.jit(lambda y: mul(held[0], y))

    def outer(x):
        held[:] = [x]
        return mul(inner(2.0), x)

    for x in (3.0, 4.0):
        assert float(jx.grad(outer)(x)) == 4 * x
        assert float(jx.jit(outer)(x)) == 2 * x * x


# Weak types, x64, options ---------------------------------------------------------------------------------------------


def test_weak_types_are_part_of_the_key_and_of_results():
    seen = []
    f = jx.jit(lambda x: seen.append(x.aval.weak_type) or add(x, x))
    assert f(1.0).aval.weak_type and not f(np.float32(1)).aval.weak_type
    assert f(2.0).aval.weak_type and f(f(1.0)).aval.weak_type
    assert seen == [True, False]


def test_x64_on_and_off_in_one_process():
    f = jx.jit(lambda x: add(x, x))
    assert f(1.0).aval.short() == "f32[]"
    with jx.enable_x64():
        assert f(1.0).aval.short() == "f64[]"
        assert f(np.ones(2)).aval.short() == "f64[2]"
        assert float(f(1.0 + 2**-40)) == 2 * (1.0 + 2**-40)
        with jx.enable_x64(False):
            assert f(1.0).aval.short() == "f32[]"
        wide = f(2**40)
    assert int(wide) == 2**41 and f(wide).aval.short() == "i64[]"
    assert f(np.ones(2)).aval.short() == "f32[2]"
    with pytest.raises(OverflowError, match="enable_x64"):
        f(2**40)


def test_axis_names_are_part_of_the_key():
    seen = []

    @jx.jit
    def f(x):
        seen.append(current_axes())
        return x

    jx.vmap(f, axis_name="i")(X)
    jx.vmap(f, axis_name="i")(X)
    jx.vmap(f, axis_name="j")(X)
    jx.vmap(f, axis_name="i")(BIG)
    assert seen == [(("i", 3),), (("j", 3),), (("i", 50),)]


# The helps of %%jit ---------------------------------------------------------------------------------------------------


def activate(mode, x, then=None, *, kind="sin"):
    out = {"sin": sin, "cos": cos}[mode](x)
    out = {"sin": sin, "cos": cos}[kind](out)
    return out if then is None else then(out)


def test_auto_static_takes_text_none_callables_types_and_enums():
    f = jx.jit(activate, auto_static=True)
    np.testing.assert_allclose(f("cos", X, kind="cos"), np.cos(np.cos(X)), rtol=1e-6)
    np.testing.assert_allclose(f("cos", X, sin), np.sin(np.sin(np.cos(X))), rtol=1e-6)
    with steps() as seen:
        f("cos", X, then=sin)
        f(mode="cos", x=X, then=sin)
    assert not seen["compile"]
    with pytest.raises(TypeError, match="mode"):
        jx.jit(activate)("cos", X)


def test_auto_static_without_an_array_runs_python():
    f = jx.jit(lambda name, then=None: f"hello {name}", auto_static=True)
    assert f("you") == "hello you"


def test_auto_static_keeps_numbers_dynamic_and_names_right():
    f = jx.jit(lambda mode, x, flag: float(flag), auto_static=True)
    with pytest.raises(jx.core.errors.ConcretizationTypeError, match="argument flag"):
        f("a", X, True)


def test_donation_counts_arguments_beside_static_ones():
    f = jx.jit(lambda mode, a, b: (add(a, 1.0), b), auto_static=True, donate_argnums=1)
    a, b = jx.device_put(X), jx.device_put(X)
    f("mode", a, b)
    assert (a.is_deleted(), b.is_deleted()) == (True, False)


# Donation -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"donate_argnums": 1}, {"donate_argnames": "state"}, {"donate_argnums": (-1,)}])
def test_donated_memory_is_taken_and_the_argument_gone(options):
    f = jx.jit(lambda x, state: {"w": add(state["w"], x), "b": state["b"]}, **options)
    for call in (lambda s: f(BIG, s), lambda s: f(BIG, state=s), lambda s: f(BIG, s)):
        state = {"w": jx.device_put(BIG), "b": jx.device_put(X)}
        place = state["w"].unsafe_buffer_pointer()
        out = call(state)
        assert out["w"].unsafe_buffer_pointer() == place
        assert state["w"].is_deleted() and state["b"].is_deleted()
        np.testing.assert_allclose(out["w"], BIG * 2)


@pytest.mark.parametrize("fun, deleted, told", [
    (lambda x, y: add(total(x), y), (False, True), 1),
    (lambda x, y: add(x, y), (True, False), 1),
    (lambda x, y: (mul(x, 2.0), y), (True, True), 0),
    (lambda x, y: mul(y, 2.0), (False, True), 0),         # nobody reads x
    (lambda x, y: (jnp.reshape(x, (10, 5)), y), (True, True), 0),
    (lambda x, y: mul(jnp.concatenate([x, x]), y), (False, False), 2),
], ids=range(6))  # fmt: skip
def test_donated_arguments_that_no_result_fits_are_told_and_left(fun, deleted, told):
    """As JAX: what cannot be used is not deleted, and a UserWarning at the user's line says so."""
    x, y = jx.device_put(BIG), jx.device_put(np.float32(3))
    f = jx.jit(fun, donate_argnums=(0, 1))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        f(x, y)
        f(BIG, np.float32(3))
    assert (x.is_deleted(), y.is_deleted()) == deleted
    messages = [str(w.message) for w in seen]
    assert len(messages) == (told > 0)
    for message in messages:
        assert message.startswith("Some donated buffers were not usable") and message.count("f32[") == told
    assert all(w.filename == __file__ and w.category is UserWarning for w in seen)


def test_donating_an_array_that_is_passed_twice():
    x = jx.device_put(X)
    with pytest.raises(RuntimeError, match="passed a second time"):
        jx.jit(lambda a, b: (add(a, b), b), donate_argnums=0)(x, x)
    assert not x.is_deleted()


def test_donated_numpy_arrays_and_numbers_are_untouched():
    x = X.copy()
    f = jx.jit(lambda x, n: (add(x, n), n), donate_argnums=(0, 1))
    for _ in range(3):
        np.testing.assert_array_equal(f(x, 1.0)[0], X + 1)
    np.testing.assert_array_equal(x, X)
    assert float(jx.jit(lambda n: n)(1.0)) == 1.0


def test_static_and_donated_at_once_is_refused():
    with pytest.raises(ValueError, match="both static and donated"):
        jx.jit(power, static_argnames="n", donate_argnums=1)


# Devices --------------------------------------------------------------------------------------------------------------


def test_numpy_arrays_go_the_quick_way_in_any_company():
    traced = []

    @jx.jit
    def f(a, b, c):
        traced.append(None)
        return a + b["x"] * c

    host, device = np.arange(3, dtype=np.float32), jnp.arange(3, dtype=jnp.float32)
    for a in (host, device):
        for b in (host, device):
            for c in (host, device, 2.0):
                np.testing.assert_array_equal(f(a, {"x": b}, c), host + host * np.asarray(c))
    assert len(traced) == 2  # an array, a number
    host[0] = 7
    np.testing.assert_array_equal(f(host, {"x": device}, device), host + np.asarray(device) ** 2)
    with pytest.raises(TypeError, match="argument b of <lambda> cannot be traced"):
        jx.jit(lambda a, b: a)(host, np.array([None, "x"], object))
    assert jx.jit(lambda a, b: a)(np.arange(2), np.arange(2.0)).dtype == jnp.int32


def test_annotations_are_those_of_the_function():
    def f(x: int) -> float:
        return x * 2.0

    for g in (jx.jit(f), jx.custom_jvp(f), jx.custom_vjp(f)):
        assert g.__annotations__ == f.__annotations__
        assert inspect.signature(g) == inspect.signature(f)
