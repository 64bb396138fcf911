"""The transformations beside JAX: the same results, dtypes, weak types and structures as recorded from it."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, stages
from jitscope.xla.errors import XlaError
from tests.compiler.programs import floats, steps
from tests.oracle import recorded


JAX = {name: entry["plain"] for name, entry in recorded.load("surface").items()}
X = floats(3)


def test_one_example_for_all():
    got = jx.vmap(lambda x: lax.pbroadcast(x, "i", 2), axis_name="i")(X)
    np.testing.assert_array_equal(got, np.broadcast_to(X[2], (3,)))


@pytest.mark.parametrize("name", ["Traced", "Lowered", "Compiled"])
def test_stages_have_what_those_of_jax_have(name):
    missing = set(JAX[f"stages.{name}"]) - set(dir(getattr(stages, name)))
    assert missing <= {"lojax", "physicalize", "closure_convert", "with_consts_as_arg"}, (
        "these are forms of JAX's own jaxprs"
    )


def test_the_effects_of_a_traced_function():
    assert not jx.jit(jnp.sin).trace(X).effects
    assert jx.jit(lambda x: jx.debug.print("{}", x)).trace(X).effects


@pytest.mark.parametrize("name", JAX["errors"])
def test_errors_are_of_the_kinds_that_those_of_jax_are(name):
    if name in ("InconclusiveDimensionOperation", "JaxprTypeError"):  # of symbolic shapes, of JAX's own checker
        return
    kind = getattr(jx.errors, name)
    assert kind.__name__ in (name, "XlaError")
    assert all(issubclass(kind, getattr(__import__("builtins"), base)) for base in JAX["errors"][name])


# Pullbacks and linear functions are pytrees --------------------------------------------------------------------------


def curve(x, y):
    return {"a": jnp.sin(x) * y, "b": x @ x}


@pytest.mark.parametrize("make", [jx.vjp, jx.linearize], ids=["vjp", "linearize"])
def test_the_leaves_are_the_residuals(make):
    _, f = make(curve, X, 2.0)
    leaves, treedef = jx.tree.flatten(f)
    assert leaves and all(isinstance(x, (jx.Array, np.ndarray)) for x in leaves)
    again = treedef.unflatten(leaves)
    args = ({"a": X, "b": 1.0},) if make is jx.vjp else (X, 1.0)
    for one, other in zip(jx.tree.leaves(f(*args)), jx.tree.leaves(again(*args))):
        np.testing.assert_array_equal(one, other)
    doubled = jx.tree.map(lambda r: r * 1, f)
    assert jx.tree.structure(doubled) == treedef and hash(jx.tree.structure(doubled)) == hash(treedef)
    assert "curve" in repr(f) and "f32[3]" in repr(f)


def test_a_compiled_function_returns_a_pullback_and_another_takes_it():
    forward = jx.jit(lambda x, y: jx.vjp(curve, x, y))
    backward = jx.jit(lambda f, ct: f(ct))
    ct = {"a": X, "b": 1.0}
    with steps() as seen:
        for k in (1.0, 2.0, 3.0):
            out, f = forward(X * np.float32(k), k)
            dx, dy = backward(f, ct)
            wanted = np.cos(X * k) * k * X + 2 * X * k
            np.testing.assert_allclose(dx, wanted, rtol=1e-5)
            np.testing.assert_allclose(dy, np.sin(X * k) @ X, rtol=1e-5)
            np.testing.assert_allclose(out["b"], (X * k) @ (X * k), rtol=1e-5)
    assert seen["trace"] == 2 and seen["compile"] == 2


def test_pullbacks_of_equal_programs_are_equal_wherever_they_were_made():
    seen = []
    use = jx.jit(lambda f, ct: seen.append(1) or f(ct))
    for k in (1.0, 2.0):
        _, f = jx.vjp(lambda x: jnp.sin(x) * 3.0, X * np.float32(k))
        np.testing.assert_allclose(use(f, X)[0], np.cos(X * k) * 3 * X, rtol=1e-5)
    _, g = jx.vjp(lambda x: jnp.sin(x) * 4.0, X)
    np.testing.assert_allclose(use(g, X)[0], np.cos(X) * 4 * X, rtol=1e-5)
    assert len(seen) == 2


def test_pullbacks_under_vmap_grad_and_scan():
    fs = jx.vmap(lambda x: jx.vjp(jnp.sin, x)[1])(X)
    np.testing.assert_allclose(jx.vmap(lambda f: f(1.0)[0])(fs), np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(jx.vmap(lambda f, ct: f(ct)[0])(fs, X), np.cos(X) * X, rtol=1e-6)

    def second(x):
        return jx.vjp(jnp.sin, x)[1](1.0)[0]

    np.testing.assert_allclose(jx.grad(second)(0.3), -np.sin(0.3), rtol=1e-5)
    np.testing.assert_allclose(jx.jit(jx.grad(jx.jit(second)))(0.3), -np.sin(0.3), rtol=1e-5)
    out, total = lax.scan(lambda c, f: (c + f(1.0)[0], f(2.0)[0]), 0.0, fs)
    np.testing.assert_allclose(out, np.cos(X).sum(), rtol=1e-6)
    np.testing.assert_allclose(total, 2 * np.cos(X), rtol=1e-6)


def test_a_pullback_is_differentiated_through_its_residuals():
    _, f = jx.vjp(lambda x: x**3, 2.0)
    grads = jx.grad(lambda f: f(1.0)[0])(f)
    (residual,) = jx.tree.leaves(f)
    (slope,) = jx.tree.leaves(grads)
    np.testing.assert_allclose(slope * residual, f(1.0)[0], rtol=1e-6)


CALLS = {
    "two cotangents": (lambda: jx.vjp(lambda x: (x, x), 1.0)[1](1.0, 1.0), TypeError, "takes one argument"),
    "cotangent tree": (lambda: jx.vjp(lambda x: (x, x), 1.0)[1]([1.0, 1.0]), ValueError, "structure"),
    "cotangent shape": (lambda: jx.vjp(jnp.sin, X)[1](floats(4)), ValueError, "f32[3] and its cotangent f32[4]"),
    "cotangent dtype": (lambda: jx.vjp(jnp.sin, X)[1](np.ones(3, int)), ValueError, "i32[3]"),
    "cotangent path": (
        lambda: jx.vjp(lambda x: {"a": x}, X)[1]({"a": floats(2)}),
        ValueError,
        "the result['a'] is f32[3]",
    ),
    "tangent count": (lambda: jx.linearize(curve, X, 1.0)[1](X), TypeError, "structure"),
    "tangent shape": (lambda: jx.linearize(curve, X, 1.0)[1](X[:2], 1.0), ValueError, "f32[2]"),
    "tangent dtype": (lambda: jx.linearize(curve, X, 1.0)[1](X, 1), ValueError, "i32[]"),
    "jvp no tuple": (lambda: jx.jvp(jnp.sin, X, X), TypeError, "jvp(f, (x,), (t,))"),
    "jvp shapes": (lambda: jx.jvp(jnp.sin, (X,), (X[:2],)), ValueError, "f32[2]"),
    "jvp ints": (lambda: jx.jvp(lambda n: n, (1,), (1,)), TypeError, "float0"),
    "vjp reduce_axes": (lambda: jx.vjp(jnp.sin, X, reduce_axes=("i",)), NotImplementedError, "reduce_axes"),
    "grad reduce_axes": (lambda: jx.grad(jnp.sin, reduce_axes=("i",)), NotImplementedError, "psum"),
    "grad of nothing": (lambda: jx.grad(3), TypeError, "grad takes a function; it got int"),
    "grad of a generator": (lambda: jx.grad(lambda x: (yield x)), TypeError, "generator"),
    "argnums text": (lambda: jx.grad(jnp.sin, argnums="x"), TypeError, "argnums must be an int"),
    "argnums empty": (lambda: jx.grad(jnp.sin, argnums=()), ValueError, "empty"),
    "argnums absent": (lambda: jx.grad(lambda x, y: x)(1.0, y=2.0) and jx.grad(lambda x, y: x, 1)(1.0, y=2.0),
                       TypeError, "pass it by position"),
    "argnums twice": (lambda: jx.grad(lambda x, y: x, (0, -2))(1.0, 2.0), ValueError, "twice"),
    "jacfwd ints": (lambda: jx.jacfwd(lambda n: n)(1), TypeError, "argument 0 of <lambda> is i32[]"),
    "jacfwd complex": (lambda: jx.jacfwd(lambda z: z)(1j), TypeError, "holomorphic=True"),
    "jacfwd not complex": (lambda: jx.jacfwd(lambda z: z, holomorphic=True)(1.0), TypeError, "complex arguments"),
    "jacrev ints": (lambda: jx.jacrev(lambda n: n)(1), TypeError, "allow_int=True"),
    "jacrev int result": (lambda: jx.jacrev(lambda x: {"n": 1})(1.0), TypeError, "the result['n'] of <lambda> is i32[]"),
    "jacrev complex result": (lambda: jx.jacrev(lambda x: x * 1j)(1.0), TypeError, "c64[]"),
    "jacrev aux": (lambda: jx.jacrev(lambda x: x, has_aux=True)(1.0), TypeError, "(result, aux)"),
    "vmap in_axes float": (lambda: jx.vmap(jnp.sin, in_axes=1.5), TypeError, "1.5"),
    "vmap in_axes bool": (lambda: jx.vmap(jnp.sin, in_axes=(True,)), TypeError, "True"),
    "vmap nothing": (lambda: jx.vmap(lambda: 1.0)(), ValueError, "without arrays"),
    "vmap scalar": (lambda: jx.vmap(jnp.sin)(1.0), ValueError, "in_axes=None"),
    "make_mesh": (lambda: jx.make_mesh((99,), ("x",)), ValueError, "num_cpu_devices"),
    "sharding": (lambda: jx.sharding.NamedSharding(None, None), TypeError, "NamedSharding"),
    "backend": (lambda: jx.device_count("tpu"), RuntimeError, "'tpu'"),
    "process": (lambda: jx.local_devices(process_index=3), ValueError, "process 3"),
    "typeof": (lambda: jx.typeof("text"), TypeError, "str"),
    "struct dtype": (lambda: jx.ShapeDtypeStruct((), None), ValueError, "dtype"),
    "struct len": (lambda: len(jx.ShapeDtypeStruct((), float)), TypeError, "len"),
    "make an Array": (lambda: jx.Array([1.0]), TypeError, "jnp.array"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_wrong_calls_say_what_and_where(name):
    call, kind, text = CALLS[name]
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value), str(caught.value)


# Types, devices, evaluation while tracing ----------------------------------------------------------------------------


def test_tracers_are_arrays_for_isinstance():
    seen = []

    def f(x):
        seen.append((isinstance(x, jx.Array), isinstance(x, jx.typing.ArrayLike), isinstance(x, jnp.ndarray)))
        return jnp.sum(x)

    for transform in (jx.jit, lambda f: jx.jit(jx.grad(f)), lambda f: jx.vmap(f, axis_size=1, in_axes=None), jx.grad):
        transform(f)(jnp.asarray(X))
    assert seen == [(True, True, True)] * len(seen) and len(seen) == 4
    assert isinstance(jnp.ones(3), jx.Array) and not isinstance(X, jx.Array) and not isinstance(1.0, jx.Array)
    assert isinstance(X, jx.typing.ArrayLike) and not isinstance("a", jx.typing.ArrayLike)
    assert issubclass(type(jnp.ones(3)), jx.Array) and jnp.ndarray is jx.Array


def test_devices_and_processes():
    assert jx.default_backend() == "cpu" and jx.device_count() == len(jx.devices()) == jx.local_device_count("cpu")
    assert jx.local_devices() == jx.devices() and jx.process_indices() == [jx.process_index()]
    assert jx.process_count() == 1


def test_waiting_for_everything():
    x = jnp.ones((300, 300))
    for _ in range(5):
        x = x @ x * 1e-3
    jx.effects_barrier()
    assert x.is_ready()
    tree = {"x": x, "n": 3}
    assert jx.copy_to_host_async(tree) is tree


def test_waiting_for_everything_tells_nothing_of_results_that_failed():
    side = 1 << 24  # 281 TB
    large = jx.jit(lambda x: jnp.sort(jnp.sin(x * jnp.arange(side))[:, None] * jnp.arange(side // 4), axis=0)[0])
    with pytest.raises(XlaError, match="not enough memory") as caught:
        large(2.0)
    jx.effects_barrier()
    assert caught.value.__traceback__ is not None, "it holds the result"


def test_typeof():
    assert jx.typeof(1.0).weak_type and jx.typeof(jnp.ones((2, 3))).shape == (2, 3)
    assert jx.jit(lambda x: float(jx.typeof(x).ndim))(X) == 1.0


def test_evaluation_while_tracing():
    seen = []

    @jx.jit
    def f(x):
        with jx.ensure_compile_time_eval():
            n = int(jnp.sum(jnp.arange(4)))
            seen.append(n)
        return x * n

    np.testing.assert_allclose(f(X), X * 6)
    np.testing.assert_allclose(jx.vmap(f)(X), X * 6)
    assert seen == [6, 6] and "sum" not in str(f.trace(X).jaxpr)

    @jx.jit
    def g(x):
        with jx.ensure_compile_time_eval():
            return x + 1

    np.testing.assert_allclose(g(X), X + 1)  # what takes traced values is traced
    np.testing.assert_allclose(jx.vmap(jx.grad(g))(X), np.ones_like(X))


# Shapes --------------------------------------------------------------------------------------------------------------


def test_shape_dtype_struct():
    s = jx.ShapeDtypeStruct((2, 3), np.int64)
    assert (s.shape, s.dtype, s.ndim, s.size, len(s), s.weak_type, s.sharding) == (
        (2, 3), np.int64, 2, 6, 2, False, None)  # fmt: skip
    assert s == jx.ShapeDtypeStruct([2, 3], "int64") and hash(s) == hash(jx.ShapeDtypeStruct((2, 3), "int64"))
    assert s.update(shape=(4,)) == jx.ShapeDtypeStruct((4,), np.int64) != s
    assert repr(s) == "ShapeDtypeStruct(shape=(2, 3), dtype=int64)"
    assert "weak_type=True" in repr(s.update(weak_type=True))
    assert (
        repr(jx.ShapeDtypeStruct((), "float32", is_ref=True))
        == "ShapeDtypeStruct(shape=(), dtype=float32, is_ref=True)"
    )
    with pytest.raises(NotImplementedError, match="later release"):
        jx.ShapeDtypeStruct((), float, manual_axis_type=1)


class Like:
    shape, dtype = (2, 2), np.dtype("float32")


def test_anything_with_a_shape_and_a_dtype_stands_for_an_array():
    assert jx.eval_shape(lambda x: x @ x, Like()) == jx.ShapeDtypeStruct((2, 2), np.float32)
    assert jx.jit(lambda x: x @ x).trace(Like()).out_info == jx.ShapeDtypeStruct((2, 2), np.float32)
    with pytest.raises(TypeError, match="argument x of <lambda> is not an array"):
        jx.make_jaxpr(lambda x: x)("text")


def test_eval_shape_computes_nothing():
    with steps() as seen:
        out = jx.eval_shape(lambda x: jnp.ones((10**5, 10**5)) @ x, jx.ShapeDtypeStruct((10**5,), np.float32))
    assert out.shape == (10**5,) and not seen["compile"]


def test_make_jaxpr_says_what_is_no_result():
    with pytest.raises(TypeError, match=r"f returned, at result\['a'\], something that is not an array"):

        def f(x):
            return {"a": "text"}

        jx.make_jaxpr(f)(X)


def test_transformed_functions_look_like_the_function():
    def named(x: float) -> float:
        """Says so."""
        return x

    for transform in (jx.grad, jx.vmap, jx.jacfwd, jx.jacrev, jx.hessian, jx.value_and_grad, jx.make_jaxpr, jx.jit):
        made = transform(named)
        name = "make_jaxpr(named)" if transform is jx.make_jaxpr else "named"  # as in JAX
        assert (made.__name__, made.__doc__, made.__wrapped__.__name__) == (name, "Says so.", "named")
        assert inspect.signature(made) == inspect.signature(named)
    partial = functools.partial(lambda a, x: a * x, 2.0)
    assert float(jx.grad(partial)(3.0)) == 2.0 and float(jx.jacrev(partial)(3.0)) == 2.0


def test_what_says_nothing_of_itself_is_called_by_its_type() -> None:
    class Silent:
        def __call__(self, x, n):
            return x * n

        def __repr__(self):
            raise ValueError("nothing to say")

    silent = Silent()
    compiled = jx.jit(silent, static_argnums=1)
    assert repr(compiled) == "<jit of Silent>" and compiled(3.0, 2) == 6
    with pytest.raises(ValueError, match="static argument n of Silent is of type list"):
        compiled(3.0, [2])
    assert jx.make_jaxpr(silent).__qualname__ == jx.make_jaxpr(silent).__name__ == "make_jaxpr(Silent)"
    assert jx.make_jaxpr(Silent.__call__).__qualname__.endswith("Silent.__call__)")


def test_tangents_have_the_dtype_of_their_primals() -> None:
    half = np.float16(1)
    for value, tangent in ((half, 1.0), (1j, 1.0), (half, np.float32(1))):
        with pytest.raises(TypeError, match="they must agree"):
            jx.jvp(lambda x: x * 2, (value,), (tangent,))
        with pytest.raises(ValueError, match="they must agree"):
            jx.linearize(lambda x: x * 2, value)[1](tangent)
        with pytest.raises(ValueError, match="they must agree"):
            jx.vjp(lambda x: x * 2, value)[1](tangent)
    with pytest.raises(TypeError, match="differ in structure"):
        jx.jvp(lambda x: x, (1.0,), [1.0])
    assert [float(x) for x in jx.jvp(lambda x: [x, 1], [1.0], [2.0], has_aux=True)[:2]] == [1, 2]
    with pytest.raises(ValueError, match="respect to argument 1"):
        jx.jacfwd(lambda x: x, argnums=1)(1.0)
