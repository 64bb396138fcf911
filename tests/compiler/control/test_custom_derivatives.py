"""custom_jvp, custom_vjp, custom_gradient and closure_convert."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import custom_derivatives, lax
from jitscope.core.errors import UnexpectedTracerError
from jitscope_scope import observe
from jitscope_scope.observe.ledger import Ledger
from jitscope_widgets import validate
from tests.compiler.programs import steps
from tests.compiler.wrappers import check, pairs
from tests.compiling import once
from tests.extent import one_in


XS = np.array([0.3, -0.7, 1.9], np.float32)


@pytest.mark.parametrize("outer_and_inner", one_in(2, pairs("custom_gradient")))
def test_composes(outer_and_inner: tuple[str, str]) -> None:
    check(*outer_and_inner)


def jvp_of(rule: Any, fun: Any = lambda x: x, **options: Any) -> Any:
    f = jx.custom_jvp(fun, **options)
    f.defjvp(rule)
    return f


def vjp_of(fwd: Any, bwd: Any, fun: Any = lambda x: x, **options: Any) -> Any:
    f = jx.custom_vjp(fun, **options)
    f.defvjp(fwd, bwd)
    return f


def softplus() -> Any:
    @jx.custom_jvp
    def f(x):
        return jnp.log(1.0 + jnp.exp(x))

    f.defjvps(lambda t, out, x: t / (1.0 + jnp.exp(-x)))
    return f


# How it is written ---------------------------------------------------------------------------------------------------


def test_it_prints_as_in_jax() -> None:
    assert str(jx.make_jaxpr(softplus())(1.0)) == (
        "{ lambda ; a:f32[]. let\n"
        "    b:f32[] = custom_jvp_call[\n"
        "      name=f\n"
        "      call_jaxpr={ lambda ; c:f32[]. let\n"
        "          d:f32[] = exp c\n"
        "          e:f32[] = add 1.0:f32[] d\n"
        "          f:f32[] = log e\n"
        "        in (f,) }\n"
        "      jvp=f_jvps\n"
        "      symbolic_zeros=False\n"
        "    ] a\n"
        "  in (b,) }"
    )
    f = vjp_of(fwd_of_square, bwd_of_square, lambda x: x * x)
    text = str(jx.make_jaxpr(lambda y: jx.vmap(lambda x: f(x) * y)(XS))(2.0))
    assert "custom_vjp_call[" in text and "fwd=fwd_of_square" in text and "bwd=bwd_of_square" in text


def fwd_of_square(x):
    return x * x, x


def bwd_of_square(x, ct):
    return (2 * x * ct,)


def test_documents_show_the_call_and_its_program() -> None:
    f, ledger = softplus(), Ledger()
    try:
        jx.clear_caches()
        jx.jit(lambda x: f(x) + jx.grad(f)(x))(1.0)
        (row,) = [row for row in ledger if not row.nested and not row.derived]
        document = observe.compilation_document(row)
        validate(document)
        nodes = {node["id"]: node["label"] for node in document["graph"]["nodes"]}
        assert nodes["e0"] == "f" and nodes["e0/e0"] == "exp"
    finally:
        ledger.close()


def test_a_decorated_function_looks_like_the_function() -> None:
    @functools.partial(jx.custom_vjp, nondiff_argnames="n")
    def named(x, n=2):
        """Doc."""
        return x * n

    named.defvjp(lambda x, n: (x * n, None), lambda n, _, ct: (ct * n * 10,))
    assert (named.__name__, named.__doc__, named.nondiff_argnums) == ("named", "Doc.", (1,))
    assert "custom_vjp of" in repr(named) and "named" in repr(named)
    assert (float(jx.grad(named)(1.0)), float(jx.grad(lambda x: named(x, n=3))(1.0))) == (20, 30)


def test_methods() -> None:
    class Layer:
        def __init__(self, scale):
            self.scale = scale

        @functools.partial(jx.custom_jvp, nondiff_argnums=(0,))
        def apply(self, x):
            return x * self.scale

        @apply.defjvp
        def apply_jvp(self, primals, tangents):
            return self.apply(*primals), 10 * self.scale * tangents[0]

    assert float(jx.grad(Layer(3.0).apply)(1.0)) == 30
    assert float(jx.jit(jx.grad(Layer(3.0).apply))(1.0)) == 30


# What the rules get and give -----------------------------------------------------------------------------------------


def test_rules_are_those_of_the_call() -> None:
    f = jvp_of(lambda p, t: (f(*p), 3.0 * t[0]))
    slope = jx.grad(lambda x: f(x))
    assert float(slope(1.0)) == 3
    f.defjvp(lambda p, t: (f(*p), 4.0 * t[0]))
    assert float(slope(1.0)) == 4


def test_fresh_rules_compile_nothing_new() -> None:
    def run(factor):
        f = jvp_of(lambda p, t: (f(*p), factor * t[0]), lambda x: jnp.sin(x) * 1.25)
        g = vjp_of(lambda x: (g(x), None), lambda _, ct: (factor * ct,), lambda x: jnp.cos(x) * 1.25)
        return jx.jit(lambda x: f(x) + g(x))(0.3)

    run(2.0)
    with steps() as found:
        run(3.0)
    assert found["compile"] == 0
    differ = [float(jx.jit(jx.grad(jvp_of(lambda p, t, k=k: (p[0], k * t[0]))))(1.0)) for k in (2.0, 3.0)]
    assert differ == [2, 3]


def test_python_in_the_function_sees_values_until_it_is_staged() -> None:
    f = jvp_of(lambda p, t: (f(*p), t[0]), lambda x: x if x > 0 else -x)
    assert float(jx.grad(f)(-2.0)) == 1
    assert float(jx.vmap(lambda y: y * f(-2.0))(XS)[0]) == pytest.approx(0.6)
    with pytest.raises(jx.errors.TracerBoolConversionError):
        jx.jit(f)(1.0)


def weighted(h: Any, w: Any) -> Any:
    return jnp.sum(jx.vmap(lambda x: h(w) * x)(XS))


def test_what_is_the_same_for_all_examples_stays_so() -> None:
    f = jvp_of(lambda p, t: (f(*p), 2 * t[0]), lambda x: jnp.sin(x))
    g = vjp_of(lambda x: (g(x), None), lambda _, ct: (2 * ct,), lambda x: jnp.sin(x))
    for h in (f, g, jx.jit(f), jx.jit(g)):
        out, slope = jx.vmap(lambda x, h=h: (h(2.0), jx.grad(h)(2.0)), out_axes=None, axis_size=3)(XS)
        assert np.shape(out) == np.shape(slope) == ()
        assert float(jx.grad(functools.partial(weighted, h))(1.0)) == pytest.approx(3.0, rel=1e-5)


def test_captured_mapped_values_are_seen_by_function_and_rules() -> None:
    def outer(y):
        f = jvp_of(lambda p, t: (f(*p), 10 * t[0] * y), lambda x: x * y)
        g = vjp_of(lambda x: (g(x), None), lambda _, ct: (100 * ct,), lambda x: x * y)
        return f(2.0), jx.grad(f)(2.0), g(2.0), jx.grad(g)(2.0)

    for mapped in (jx.vmap(outer), jx.jit(jx.vmap(outer))):
        for got, want in zip(mapped(XS), (2 * XS, 10 * XS, 2 * XS, np.full(3, 100))):
            np.testing.assert_allclose(np.broadcast_to(got, (3,)), want, 1e-6)


@pytest.mark.parametrize("decorator", ["custom_jvp", "custom_vjp"])
def test_captured_values_with_derivatives_are_refused(decorator: str) -> None:
    def outer(y):
        if decorator == "custom_jvp":
            return jvp_of(lambda p, t: (p[0], t[0]), lambda x: x * y)(1.0)
        return vjp_of(lambda x: (x, None), lambda _, ct: (ct,), lambda x: x * y)(1.0)

    message = r"captures a value that is being differentiated or mapped.*in line \d+ of outer"
    for wrapped in (jx.grad(outer), jx.jit(jx.grad(outer)), jx.grad(jx.checkpoint(outer))):
        with pytest.raises(
            (
                UnexpectedTracerError,
                getattr(custom_derivatives, f"C{decorator[1:].replace('_', '')}Exception", Exception),
            ),
            match=message,
        ):
            wrapped(2.0)
    staged = {"custom_jvp": custom_derivatives.CustomJVPException, "custom_vjp": custom_derivatives.CustomVJPException}
    with pytest.raises(staged[decorator], match=message):
        jx.grad(jx.jit(outer))(2.0)


@pytest.mark.parametrize("wrap", [lambda f: f, jx.jit], ids=["eager", "jit"])
def test_named_axes_in_functions_and_rules(wrap: Any) -> None:
    f = jvp_of(lambda p, t: (f(*p), 2 * lax.psum(p[0], "i") * t[0]), lambda x: lax.psum(x, "i") * x)
    g = vjp_of(lambda x: (g(x), x), lambda x, ct: (lax.psum(ct * x, "i"),), lambda x: lax.psum(x, "i") * x)
    total = XS.sum()
    np.testing.assert_allclose(jx.vmap(wrap(f), axis_name="i")(XS), total * XS, 1e-5)
    np.testing.assert_allclose(jx.vmap(wrap(jx.grad(f)), axis_name="i")(XS), np.full(3, 2 * total), 1e-5)
    np.testing.assert_allclose(jx.vmap(wrap(jx.grad(g)), axis_name="i")(XS), np.full(3, total), 1e-5)
    mapped = lambda h, xs: jnp.sum(jx.vmap(wrap(h), axis_name="i")(xs))
    np.testing.assert_allclose(jx.grad(lambda xs: mapped(f, xs))(XS), np.full(3, 2 * total), 1e-5)
    np.testing.assert_allclose(jx.grad(lambda xs: mapped(g, xs))(XS), np.full(3, total), 1e-5)
    np.testing.assert_allclose(jx.vmap(lambda x: wrap(f)(2.0) + x, axis_name="i")(XS), 12 + XS, 1e-5)


def test_keys_and_integers_among_the_arguments() -> None:
    f = jx.custom_jvp(lambda key, n, x: jx.random.uniform(key) * n * x)
    f.defjvps(None, None, lambda t, out, key, n, x: 5.0 * n * t)
    g = vjp_of(
        lambda *a: (g(*a), a[1]),
        lambda n, ct: (None, None, 7.0 * n * ct),
        lambda key, n, x: jx.random.uniform(key) * n * x,
    )
    key = jx.random.key(0)
    keys = jx.random.split(key, 3)
    for h, factor in ((f, 5.0), (g, 7.0)):
        assert float(jx.grad(h, 2)(key, 3, 2.0)) == 3 * factor
        total = jx.jit(jx.grad(lambda x, h=h: jnp.sum(jx.vmap(h, (0, 0, None))(keys, np.arange(3), x))))
        assert float(total(2.0)) == 3 * factor
        slopes = jx.grad(functools.partial(h, key), (0, 1), allow_int=True)(3, 2.0)
        assert slopes[0].dtype == jx.float0 and float(slopes[1]) == 3 * factor


def test_no_arguments_and_no_results() -> None:
    one = jvp_of(lambda p, t: (1.0, 0.0), lambda: 1.0)
    assert float(jx.grad(lambda x: x * one())(2.0)) == 1 and float(jx.jit(one)()) == 1
    nothing = jvp_of(lambda p, t: ((None, {}), (None, {})), lambda x: (None, {}))
    for f in (nothing, jx.jit(nothing), jx.vmap(nothing)):
        assert f(XS) == (None, {})
    assert jx.jvp(nothing, (1.0,), (1.0,)) == ((None, {}), (None, {}))
    empty = vjp_of(lambda x: (2 * x, x), lambda x, ct: (3 * ct,), lambda x: 2 * x)
    assert jx.grad(lambda x: jnp.sum(empty(x)))(np.zeros((0, 3), np.float32)).shape == (0, 3)


@pytest.mark.parametrize("used", range(3))
def test_results_that_nobody_reads(used: int) -> None:
    f = jvp_of(lambda p, t: (f(*p), (10 * t[0], 20 * t[0], 30 * t[0])), lambda x: (x, 2 * x, 3 * x))
    g = vjp_of(
        lambda x: (g(x), jnp.sin(x)),
        lambda s, cts: (10 * cts[0] + 20 * cts[1] + 30 * cts[2],),
        lambda x: (x, 2 * x, 3 * x),
    )
    body = lambda h: lambda c, x: (c, h(x)[used])
    for h in (f, g):
        scanned = lambda xs, h=h: jnp.sum(lax.scan(body(h), 0.0, xs)[1])
        mapped = lambda xs, h=h: jnp.sum(jx.vmap(jx.jit(lambda x: h(x)[used]))(xs))
        kept = lambda xs, h=h: jnp.sum(jx.vmap(jx.checkpoint(lambda x: h(x)[used]))(xs))
        for loss in (scanned, mapped, kept):
            np.testing.assert_allclose(loss(XS), (used + 1) * XS.sum(), 1e-6)
            np.testing.assert_allclose(jx.jit(jx.grad(loss))(XS), np.full(3, 10 * (used + 1)), 1e-6)


def test_gradients_have_the_argument_s_dtype() -> None:
    f = vjp_of(lambda x: (x * 2, None), lambda _, ct: (ct.astype(np.float32) * 3,))
    x = jnp.ones(3, jnp.bfloat16)
    assert jx.grad(lambda x: jnp.sum(f(x)).astype(np.float32))(x).dtype == x.dtype
    with pytest.raises(ValueError, match=r"for x, a cotangent c64\[\]"):
        jx.grad(vjp_of(lambda x: (x, None), lambda _, ct: (ct * 1j,)))(1.0)


def test_finite_differences_to_second_order() -> None:
    with jx.enable_x64():
        f = softplus()
        points, h = np.array([-3.0, 0.1, 2.0]), 1e-4
        wanted = lambda x: np.log(1 + np.exp(x))
        slopes = (wanted(points + h) - wanted(points - h)) / (2 * h)
        bends = (wanted(points + h) - 2 * wanted(points) + wanted(points - h)) / h**2
        np.testing.assert_allclose(jx.vmap(jx.grad(f))(points), slopes, 1e-7)
        for second in (jx.grad(jx.grad(f)), lambda x: jx.jvp(jx.grad(f), (x,), (1.0,))[1], jx.grad(jx.jacfwd(f))):
            np.testing.assert_allclose([second(x) for x in points], bends, 1e-5, 1e-6)


def test_forward_over_reverse_goes_through_the_rules_of_custom_vjp() -> None:
    f = vjp_of(lambda x: (jnp.sin(x), x), lambda x, ct: (2 * jnp.cos(x) * ct,), jnp.sin)
    for second in (jx.hessian(f), jx.jacfwd(jx.jit(jx.grad(jx.jit(f)))), jx.grad(jx.grad(f))):
        np.testing.assert_allclose(second(0.3), -2 * np.sin(0.3), 1e-5)


def test_closures_hoist_what_may_have_a_derivative_alone() -> None:
    def outer(y, n):
        f, captured = jx.closure_convert(lambda x: x * y * n + XS[0], 1.0)
        assert len(captured) == 1
        with pytest.raises(TypeError, match="takes arguments of structure"):
            f((1.0, 2.0), *captured)
        return f(2.0, *captured)

    assert float(jx.jit(jx.grad(outer))(3.0, np.int32(4))) == 8


# What goes wrong -----------------------------------------------------------------------------------------------------


def raises(error: type[Exception], match: str, f: Any, *args: Any) -> None:
    for wrapped in (jx.grad(f), jx.jit(jx.grad(f)), jx.grad(jx.jit(f))):
        with pytest.raises(error, match=match):
            wrapped(*args)


def test_rules_that_do_not_fit_are_told_by_name_and_place() -> None:
    def rule(primals, tangents):
        return primals[0], {"a": tangents[0]}

    raises(
        TypeError, r"the JVP rule rule of <lambda> returned a result of structure .* and a tangent", jvp_of(rule), 1.0
    )
    raises(TypeError, "must return a pair, the result and its tangent; it returned f32", jvp_of(lambda p, t: p[0]), 1.0)
    pair = lambda x: {"a": x, "b": x}
    wrong = jvp_of(lambda p, t: (pair(p[0]), {"a": t[0], "b": t[0].astype(np.float16)}), pair)
    raises(
        TypeError,
        r"at result\['b'\], f32\[\] with a tangent f16\[\]; the tangent must be f32",
        lambda x: wrong(x)["a"],
        1.0,
    )
    back = lambda bwd: vjp_of(lambda d: (d["w"][0] * 2.0, None), bwd, lambda d: d["w"][0] * 2.0)
    args = {"w": [1.0, 2.0]}
    raises(ValueError, r"for d\['w'\]\[1\], a cotangent f32\[3\]; the argument is f32\[\]",
           back(lambda _, ct: ({"w": [ct, XS]},)), args)  # fmt: skip
    raises(TypeError, "cotangents of the arguments' structure", back(lambda _, ct: ({"v": ct},)), args)
    raises(TypeError, "one cotangent for each argument, 1 in all", back(lambda _, ct: (ct, ct)), args)
    raises(TypeError, "something that is not an array", back(lambda _, ct: ({"w": [ct, "text"]},)), args)


def test_results_other_than_the_function_s_are_told() -> None:
    f = jvp_of(lambda p, t: (jnp.stack([p[0]] * 2), jnp.stack([t[0]] * 2)))
    g = vjp_of(lambda x: ((x, x), None), lambda _, ct: (ct,))
    with pytest.raises(TypeError, match=r"gives f32\[2\] at result, where the function itself gives f32\[\]"):
        jx.grad(jx.jit(f))(1.0)
    with pytest.raises(TypeError, match="gives a result of structure"):
        jx.grad(jx.jit(g))(1.0)


def test_rules_must_be_linear_in_the_tangents() -> None:
    raises(
        TypeError,
        r"mul of two values .*\(line \d+ of .*t\[0\] \* t\[0\]",
        jvp_of(lambda p, t: (p[0], t[0] * t[0])),
        1.0,
    )
    raises(NotImplementedError, r"'sin' has no transpose rule \(line", jvp_of(lambda p, t: (p[0], jnp.sin(t[0]))), 1.0)


def test_forward_mode_through_custom_vjp_is_explained() -> None:
    f = vjp_of(lambda x: (x, None), lambda _, ct: (ct,))
    for run in (lambda: jx.jvp(f, (1.0,), (1.0,)), lambda: jx.jit(lambda: jx.jvp(f, (1.0,), (1.0,)))(),
                lambda: jx.jacfwd(f)(1.0), lambda: jx.linearize(f, 1.0)[1](1.0), lambda: jx.jvp(jx.checkpoint(f), (1.0,), (1.0,)),
                lambda: jx.jvp(lambda x: jx.jvp(f, (x,), (1.0,)), (1.0,), (1.0,)), lambda: jx.vmap(jx.jacfwd(f))(XS)):  # fmt: skip
        with pytest.raises(TypeError, match=r"forward-mode differentiation (.|\n)* in line \d+ of .*\n.*reverse mode"):
            run()


def test_arguments_that_are_no_arrays() -> None:
    f = jvp_of(lambda p, t: (p[0], t[0]), lambda x, mode: x)
    with pytest.raises(
        TypeError, match=r"mode of <lambda> is something that is not an array: .* Name it in nondiff_argnums"
    ):
        jx.jit(lambda x: f(x, "fast"))(1.0)
    with pytest.raises(ValueError, match="nondiff_argnums names argument 3"):
        jx.grad(jvp_of(lambda p, t: (p[0], t[0]), nondiff_argnums=(3,)))(1.0)
    with pytest.raises(ValueError, match="nondiff_argnames names 'y'"):
        jx.custom_jvp(lambda x: x, nondiff_argnames=("y",))
    with pytest.raises(TypeError, match="missing a required argument: 'mode'"):
        f(1.0)
    with pytest.raises(ValueError, match=r"gives 2 rules|gave 2 rules"):
        wrong = jx.custom_jvp(lambda x: x)
        wrong.defjvps(None, None)
        jx.grad(wrong)(1.0)
    with pytest.raises(TypeError, match="does not go with nondiff_argnums"):
        jx.custom_jvp(lambda x, y: x, nondiff_argnums=(1,)).defjvps(None)
    with pytest.raises(TypeError, match="decorates functions"):
        jx.custom_vjp(3)
    with pytest.raises(NotImplementedError, match="optimize_remat"):
        jx.custom_vjp(lambda x: x).defvjp(lambda x: x, lambda x: x, symbolic_zeros=True, optimize_remat=True)


def test_custom_gradient_explains_what_it_wants() -> None:
    with pytest.raises(TypeError, match="must return a pair, the result and a function"):
        jx.grad(jx.custom_gradient(lambda x: x))(1.0)
    with pytest.raises(TypeError, match="the second it returned is a"):
        jx.grad(jx.custom_gradient(lambda x: (x, x)))(1.0)
    with pytest.raises(ValueError, match="for argument 0, a cotangent"):
        jx.grad(jx.custom_gradient(lambda *x: (x[0], lambda g: (jnp.stack([g, g]),))))(1.0)


def test_symbolic_zeros_have_the_look_of_arrays() -> None:
    seen = []

    def rule(primals, tangents):
        seen.append(tangents[1])
        return primals[0] * 2, 2 * tangents[0]

    f = jx.custom_jvp(lambda x, y: x * 2)
    f.defjvp(rule, symbolic_zeros=True)
    jx.jvp(lambda x: f(x, XS), (1.0,), (1.0,))
    (zero,) = seen
    assert (zero.shape, zero.dtype, zero.ndim, zero.size, repr(zero)) == (
        (3,),
        np.float32,
        1,
        3,
        "SymbolicZero(f32[3])",
    )
    whole = custom_derivatives.custom_vjp_primal_tree_values({"a": custom_derivatives.CustomVJPPrimal(2.0, True)})
    assert whole == {"a": 2.0}
    with pytest.raises(TypeError, match="takes a tree of CustomVJPPrimal"):
        custom_derivatives.custom_vjp_primal_tree_values(1.0)


def test_a_linear_call_is_mapped_and_differentiated_as_its_function() -> None:
    def halved(x, r):
        scale = jnp.sin(x)  # a value that both functions capture
        forward = lambda r, y: {"out": scale * y[0] / r}
        backward = lambda r, ct: (scale * ct["out"] / r, 0 * ct["out"])
        return custom_derivatives.linear_call(forward, backward, r, (x, x))["out"]

    plain = lambda x, r: jnp.sin(x) * x / r
    rs = XS + 1.5
    for change in (
        lambda f: f,
        lambda f: jx.jit(jx.grad(f)),
        lambda f: jx.grad(f, 1),
        lambda f: jx.hessian(f, (0, 1)),
        lambda f: jx.grad(jx.checkpoint(f)),
    ):
        wanted, found = once(change(plain))(0.5, 3.0), change(halved)(0.5, 3.0)
        jx.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), found, wanted)
        for axes in ((0, 0), (0, None), (None, 0)):
            given = [x if axis == 0 else x[1] for x, axis in zip((XS, rs), axes)]
            wanted, found = (once(jx.vmap(change(f), axes))(*given) for f in (plain, halved))
            jx.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), found, wanted)


def test_a_linear_call_is_the_transpose_of_its_transpose() -> None:
    call = lambda x: custom_derivatives.linear_call(lambda r, x: r * x, lambda r, t: 10 * r * t, 3.0, x)
    turned = lambda f: lambda y: jx.linear_transpose(f, 1.0)(y)[0]
    assert [float(f(1.0)) for f in (call, turned(call), turned(turned(call)))] == [3, 30, 3]
    with pytest.raises(NotImplementedError, match="not to residuals"):
        jx.linear_transpose(lambda r: custom_derivatives.linear_call(lambda r, x: r * x, lambda r, t: t, r, 1.0), 1.0)(
            1.0
        )


def test_a_cotangent_of_a_whole_argument_is_that_of_its_leaves() -> None:
    @jx.custom_vjp
    def line(p, x):
        return p["a"] * x + p["b"]

    line.defvjp(lambda p, x: (line(p, x), None), lambda _, g: (3 * g, None))
    of_p, of_x = jx.grad(line, (0, 1))({"a": jnp.float32(2), "b": jnp.float32(1)}, jnp.float32(5))
    assert (of_p["a"], of_p["b"], of_x) == (3, 3, 0)


def test_nodes_of_users_are_not_made_of_missing_cotangents() -> None:
    class Strict(list):
        pass

    def made(_: None, children: Any) -> Strict:
        assert all(child is not None for child in children)
        return Strict(children)

    jx.tree_util.register_pytree_node(Strict, lambda x: (x, None), made)

    @jx.custom_vjp
    def first(x):
        return x[0]

    first.defvjp(lambda x: (first(x), None), lambda _, g: (None,))
    out = jx.grad(lambda x: first(Strict([x])) * x)(jnp.float32(3))
    assert out == 3


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_numbers_written_into_a_program_are_arrays_for_the_rules(kind):
    """As in JAX; Python's numbers in a call that was not traced before stay what they are."""
    met = []

    def seen(x, n):
        met.append(n)
        return x * n

    f = getattr(jx, f"custom_{kind}")(lambda x, n: x * n)
    if kind == "jvp":
        f.defjvp(lambda primals, tangents: (seen(*primals), tangents[0] * primals[1]))
    else:
        f.defvjp(lambda x, n: (seen(x, n), n), lambda n, ct: (ct * n, None))
    for call in (jx.jit(lambda x: f(x, 2)), jx.jit(lambda x: f(x, jnp.array(2)))):
        assert jx.grad(call)(3.0) == 2
    assert [(n.shape, n.dtype, n.weak_type) for n in met] == [((), np.int32, True)] * 2
    assert jx.grad(lambda x: f(x, 2))(3.0) == 2 and isinstance(met[-1], int)
