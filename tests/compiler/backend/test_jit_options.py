"""The options of jit, forms of calls, methods, and stages: beside what the Python function gives."""

from __future__ import annotations

import functools
import gc
import inspect
import pickle
import types
import weakref
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.errors import DeletedArrayError
from tests.compiler.programs import floats, steps


X = floats(3)
BIG = floats(50)
TWOS, TWO = jnp.full(3, 2.0), np.float32(2)


pytestmark = pytest.mark.usefixtures("nothing_compiled")


# Defaults -------------------------------------------------------------------------------------------------------------


PYTHON = {
    "a float whose type is asked": (lambda x, beta=0.5: x * beta if isinstance(beta, float) else x, lambda x: x * 0.5),
    "a complex number": (lambda x, a=2 + 0j: (x * a).real if type(a) is complex else x, lambda x: x * 2),
    "a NumPy scalar": (lambda x, a=TWO: x * a if type(a) is np.float32 else x, lambda x: x * 2),
    "an array that is read": (lambda x, a=TWOS: x * float(np.asarray(a)[0]), lambda x: x * 2),
    "a count": (lambda x, n=3: [x := x + i for i in range(n)][-1], lambda x: x + 3),
    "a flag": (lambda x, flag=True: x if flag else -x, lambda x: x),
    "an axis": (lambda x, axis=0: x.sum(axis=axis), lambda x: x.sum()),
    "text": (lambda x, how="sin": getattr(jnp, how)(x), np.sin),
    "None": (lambda x, y=None: x if y is None else y, lambda x: x),
    "a shape": (lambda x, shape=(3, 1): x.reshape(shape), lambda x: x.reshape(3, 1)),
    "a function": (lambda x, f=jnp.sin: f(x), np.sin),
    "a float that is compared": (lambda x, eps=1e-6: x + 1 if eps > 0 else x, lambda x: x + 1),
    "a float that becomes a number": (lambda x, k=2.0: x * float(k), lambda x: x * 2),
    "a float for math": (lambda x, k=4.0: x * __import__("math").sqrt(k), lambda x: x * 2),
    "a float that is static inside": (
        lambda x, k=2.0: jx.jit(lambda x, k: x * k, static_argnames="k")(x, k),
        lambda x: x * 2,
    ),
    "a float bound of a range": (lambda x, stop=3.0: x + jnp.arange(0.0, stop), lambda x: x + np.arange(3)),
    "a float that is formatted": (lambda x, k=2.0: x * float(f"{k:.1f}"), lambda x: x * 2),
}


@pytest.mark.parametrize("name", PYTHON)
def test_defaults_that_are_left_out_stay_python_values(name):
    fun, wanted = PYTHON[name]
    f = jx.jit(fun)
    for call in (f, f, jx.jit(lambda x: f(x)), lambda x: f.lower(x).compile()(x)):
        np.testing.assert_allclose(call(X), wanted(X), rtol=1e-6)
    mapped = jx.vmap(jx.jit(fun), in_axes=None, axis_size=1)(X)
    np.testing.assert_allclose(mapped, np.stack([wanted(X)]), rtol=1e-6)
    assert f._cache_size() == 1


def test_a_default_that_is_passed_is_data():
    f = jx.jit(lambda x, a=2.0: (x * a, jnp.int32(isinstance(a, float))))
    for call, factor, python in ((lambda: f(X), 2, 1), (lambda: f(X, 2.0), 2, 0), (lambda: f(X, a=3.0), 3, 0)):
        out, was_python = call()
        np.testing.assert_array_equal(out, X * factor)
        assert int(was_python) == python


@pytest.mark.parametrize(
    "fun",
    [
        lambda x, p=2.0: (x**p).sum(),
        lambda x, p=2.0: jx.jit(lambda y, p=p: jnp.power(y, p))(x).sum(),
        lambda x, p=2.0: jx.lax.scan(lambda c, y: (c + y**p, None), 0.0, x)[0],
    ],
)
def test_a_default_that_is_an_exponent_is_written_into_the_program(fun):
    f = jx.jit(fun)
    assert "tensor<f32>" not in f.lower(X).as_text().split("->")[0]
    np.testing.assert_allclose(f(X), (X**2).sum(), rtol=1e-6)
    np.testing.assert_allclose(f(X, 3.0), (X**3).sum(), rtol=1e-6)


def test_an_integer_default_keeps_loops_differentiable():
    f = jx.jit(lambda x, n=3: jx.lax.fori_loop(0, n, lambda i, c: c * x, 1.0))
    np.testing.assert_allclose(jx.grad(f)(2.0), 12.0)


def test_defaults_under_transformations():
    f = jx.jit(lambda x, a=2.0: (x * a).sum())
    np.testing.assert_allclose(jx.grad(f)(X), [2, 2, 2])
    np.testing.assert_allclose(jx.vmap(f)(X), X * 2)
    np.testing.assert_allclose(jx.jit(jx.grad(lambda x: f(x) + f(x, 3.0)))(X), [5, 5, 5])
    with jx.enable_x64():
        assert f(np.ones(2)).dtype == np.float64
    assert f(X).dtype == np.float32
    assert f(jnp.ones(3, "bfloat16")).dtype == jnp.bfloat16


def test_a_partial_keeps_its_own_keywords():
    f = jx.jit(functools.partial(lambda x, a, b=3.0: x * a * b, a=2.0))
    assert "2.0" in str(f.trace(X).jaxpr)
    np.testing.assert_allclose(f(X), X * 6, rtol=1e-6)
    np.testing.assert_allclose(f(X, b=1.0), X * 2, rtol=1e-6)
    np.testing.assert_allclose(f(X, a=5.0), X * 15, rtol=1e-6)


def test_arguments_of_wrappers_stay_where_they_were_passed():
    mapped = jx.jit(jx.vmap(lambda x, a=2.0: x * a, in_axes=(0,)))
    np.testing.assert_allclose(mapped(X), X * 2)
    np.testing.assert_allclose(mapped(X, a=X), X * X, rtol=1e-6)
    np.testing.assert_allclose(jx.jit(jx.grad(lambda x, a=2.0: x * a))(3.0), 2.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda f: jx.jit(f)(X),
        lambda f: jx.jit(f, static_argnames="a")(X),
        lambda f: jx.jit(f, donate_argnums=0)(X),
        lambda f: jx.jit(lambda x: jx.jit(f)(x))(X),
        lambda f: jx.jit(f).lower(X),
        lambda f: jx.jit(f, auto_static=True)(X),
        lambda f: jx.grad(jx.jit(f))(1.0),
        lambda f: jx.vmap(jx.jit(f))(X),
        lambda f: jx.checkpoint(f)(X),
        lambda f: jx.make_jaxpr(f)(X),
        lambda f: jx.eval_shape(f, X),
        lambda f: jx.linearize(f, X),
        lambda f: jx.lax.cond(True, f, lambda x: x, X),
        lambda f: jx.lax.scan(lambda c, x: (f(c), x), X, X),
        lambda f: jx.lax.while_loop(lambda x: True, f, X),
    ],
)
def test_a_function_that_raises_is_traced_once(use):
    calls = []

    def f(x, a=2.0):
        calls.append(a)
        raise KeyError("mine")

    for i in range(2):
        with pytest.raises(KeyError, match="mine"):
            use(f)
        assert calls == [2.0] * (i + 1)


# Forms of calls -------------------------------------------------------------------------------------------------------


def compiled_once(f: Any, *calls: Any) -> list[Any]:
    """What each call gives; all of them together compile one program, and no call is traced twice."""
    outs = []
    with steps() as seen:
        for call in calls:
            outs.append(call(f))
            before = seen.total()
            outs += [call(f), call(f)]
            assert seen.total() == before
    assert seen["compile"] == 1 and seen["trace"] <= len(calls), dict(seen)
    return outs


def test_positional_and_by_name_share_a_program():
    f = jx.jit(lambda x, y: x * y)
    calls = [lambda f: f(X, 2.0), lambda f: f(X, y=2.0), lambda f: f(y=2.0, x=X), lambda f: f(x=X, y=2.0)]
    for out in compiled_once(f, *calls):
        np.testing.assert_array_equal(out, X * 2)


def test_the_order_of_names_is_no_kind_of_call():
    f = jx.jit(lambda a, b, c, n: {"d": a - b["x"] * c, "n": jnp.float32(n)}, static_argnames="n", donate_argnames="c")
    tree = {"x": jnp.asarray(X), "y": 3.0}
    with steps() as seen:
        for _ in range(2):
            for names in ("abcn", "ncba", "bnca", "cabn"):
                c = jnp.asarray(X + 1)
                given = {"a": X, "b": tree, "c": c, "n": 4}
                out = f(**{name: given[name] for name in names})
                np.testing.assert_allclose(out["d"], X - X * (X + 1), rtol=1e-6)
                assert float(out["n"]) == 4 and c.is_deleted() and not tree["x"].is_deleted()
    assert seen["trace"] == seen["compile"] == 1


def test_methods_and_callable_objects():
    class Model:
        def apply(self, x, a=2.0):
            return x * a

        def __call__(self, x, a=2.0):
            return x * a

    model = Model()
    for fun in (model.apply, model, functools.partial(lambda k, x, a=2.0: x * a * k, 1.0)):
        jx.clear_caches()
        for out in compiled_once(jx.jit(fun), lambda f: f(X, 2.0), lambda f: f(X, a=2.0)):
            np.testing.assert_array_equal(out, X * 2)
        np.testing.assert_array_equal(jx.jit(fun)(X), X * 2)


# keep_unused, inline, device, backend, shardings ---------------------------------------------------------------------


def test_keep_unused():
    fun = lambda x, y: x + 1
    for keep, parameters in ((False, 1), (True, 2)):
        f = jx.jit(fun, keep_unused=keep)
        lowered = f.lower(X, BIG)
        assert lowered.as_text().split("->")[0].count("%arg") == parameters
        np.testing.assert_array_equal(lowered.compile()(X, BIG), X + 1)
        np.testing.assert_array_equal(f(X, BIG), X + 1)
    unread = jnp.asarray(X)
    unread.delete()
    np.testing.assert_array_equal(jx.jit(fun)(X, unread), X + 1)
    with pytest.raises(DeletedArrayError):
        jx.jit(fun, keep_unused=True)(X, unread)


def test_keep_unused_counts_donated_arguments_right():
    f = jx.jit(lambda a, b, c: (c * 2, a), keep_unused=True, donate_argnums=2)
    c = jnp.asarray(BIG)
    place = c.unsafe_buffer_pointer()
    out, same = f(X, BIG, c)
    assert out.unsafe_buffer_pointer() == place and c.is_deleted()
    np.testing.assert_array_equal(out, BIG * 2)
    np.testing.assert_array_equal(same, X)


def test_inlined_functions_leave_their_equations():
    inner = jx.jit(lambda x: jnp.sin(x) * 2, inline=jx.Inline.JAX_EARLY)
    outer = jx.jit(lambda x: inner(x) + inner(jnp.cos(x)))
    names = [eqn.primitive.name for eqn in outer.trace(X).jaxpr.eqns]
    assert names == ["sin", "mul", "cos", "sin", "mul", "add"]
    np.testing.assert_allclose(outer(X), 2 * np.sin(X) + 2 * np.sin(np.cos(X)), rtol=1e-6)
    with steps() as seen:
        np.testing.assert_allclose(inner(X), 2 * np.sin(X), rtol=1e-6)
    assert seen["compile"] == 1
    grads = [eqn.primitive.name for eqn in jx.make_jaxpr(jx.grad(lambda x: inner(x).sum()))(X).eqns]
    assert "jit" not in grads and "cos" in grads
    np.testing.assert_allclose(jx.vmap(jx.grad(inner))(X), 2 * np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(jx.jit(jx.vmap(inner))(X), 2 * np.sin(X), rtol=1e-6)


def test_inlined_functions_that_capture_tracers():
    def outer(x):
        return jx.jit(lambda y: x * y, inline=jx.Inline.JAX_EARLY)(x + 1)

    np.testing.assert_allclose(jx.jit(outer)(3.0), 12.0)
    np.testing.assert_allclose(jx.jit(jx.grad(outer))(3.0), 7.0)


def test_device_and_backend():
    device = jx.devices()[0]
    for options in ({"device": device}, {"backend": "cpu"}):
        np.testing.assert_array_equal(jx.jit(lambda x: x + 1, **options)(X), X + 1)
    for options, kind, text in [({"device": "cpu"}, ValueError, "jitscope.devices"), ({"backend": "tpu"}, RuntimeError, "'tpu'"),
                                ({"device": device, "backend": "cpu"}, ValueError, "not both"),
                                ({"in_shardings": 1}, TypeError, "shardings"),
                                ({"out_shardings": 1}, TypeError, "shardings")]:  # fmt: skip
        with pytest.raises(kind, match=text):
            jx.jit(lambda x: x, **options)


def test_compiler_options_of_a_stage_join_those_of_jit():
    lowered = jx.jit(lambda x: jnp.sin(x)).lower(X)
    np.testing.assert_allclose(lowered.compile({"xla_backend_optimization_level": 0})(X), np.sin(X), rtol=1e-6)
    with pytest.raises(ValueError, match="xla_no_such_option"):
        lowered.compile(compiler_options={"xla_no_such_option": 1})


# Donation ------------------------------------------------------------------------------------------------------------


def test_use_after_donation_names_the_argument_the_function_and_the_line():
    @functools.partial(jx.jit, donate_argnames="state")
    def step(state, x):
        return {"w": state["w"] + x}

    state = {"w": jnp.asarray(BIG)}
    step(state, 1.0)
    for use in (
        lambda: step(state, 1.0),
        lambda: np.asarray(state["w"]),
        lambda: state["w"] + 1,
        lambda: float(state["w"][0]),
    ):
        with pytest.raises(DeletedArrayError) as caught:
            use()
        message = str(caught.value)
        assert "as argument state['w'] of step" in message and "step(state, 1.0)" in message, message
        assert "in line" in message and "use that call's result" in message


def test_the_memory_of_donations_holds_no_programs():
    f = jx.jit(lambda x: x + 1, donate_argnums=0)
    f(jnp.asarray(X))
    program = weakref.ref(next(iter(f._caches.calls.values())).program)
    del f
    jx.clear_caches()
    gc.collect()
    assert program() is None


def test_many_donations_are_told_apart():
    f = jx.jit(lambda a, b: (a + 1, b * 2), donate_argnums=(0, 1))
    pairs = [(jnp.asarray(X), jnp.asarray(BIG)) for _ in range(5)]
    for a, b in pairs:
        f(a, b)
    for a, b in pairs:
        for x, name in ((a, "argument a of"), (b, "argument b of")):
            with pytest.raises(DeletedArrayError, match=name):
                np.asarray(x)
    alone = jnp.asarray(X)
    alone.delete()
    with pytest.raises(DeletedArrayError, match="deleted or donated to a computation"):
        np.asarray(alone)


# Methods and partials ------------------------------------------------------------------------------------------------


class Model:
    """A model."""

    def __init__(self, k):
        self.k = k

    @functools.partial(jx.jit, static_argnums=0)
    def scaled(self, x: Any, a: float = 1.0) -> Any:
        """Scales."""
        return x * self.k * a

    @functools.partial(jx.jit, static_argnames=("self", "n"))
    def powers(self, x, n):
        return [x**i * self.k for i in range(n)]

    @classmethod
    @functools.partial(jx.jit, static_argnums=0)
    def made(cls, x):
        return x * (cls.__name__ == "Model")

    @staticmethod
    @jx.jit
    def free(x):
        return x * 2

    @jx.jit
    def plain(self, x):
        return x


def test_methods_with_a_static_self():
    one, two = Model(2.0), Model(3.0)
    for model in (one, two, one):
        np.testing.assert_allclose(model.scaled(X), X * model.k, rtol=1e-6)
        np.testing.assert_allclose(model.scaled(x=X, a=2.0), X * model.k * 2, rtol=1e-6)
        np.testing.assert_allclose(Model.scaled(model, X), X * model.k, rtol=1e-6)
        np.testing.assert_allclose(model.powers(X, 3)[2], X**2 * model.k, rtol=1e-6)
        np.testing.assert_allclose(model.powers(n=2, x=X)[1], X * model.k, rtol=1e-6)
    np.testing.assert_array_equal(one.made(X), X)
    np.testing.assert_array_equal(Model.free(X), X * 2)
    np.testing.assert_array_equal(jx.vmap(one.scaled)(X), X * 2)


def test_bound_methods_look_like_methods():
    bound = Model(2.0).scaled
    assert isinstance(bound, types.MethodType) and inspect.ismethod(bound)
    assert (bound.__name__, bound.__doc__, bound.__func__) == ("scaled", "Scales.", Model.scaled)
    assert list(inspect.signature(bound).parameters) == ["x", "a"]
    assert list(inspect.signature(Model.scaled).parameters) == ["self", "x", "a"]
    assert "Scales." in inspect.getsource(Model.scaled)
    model = bound.__self__
    assert model.scaled == model.scaled and hash(model.scaled) == hash(model.scaled)
    np.testing.assert_allclose(jx.jit(bound)(X), X * 2)
    np.testing.assert_allclose(Model.scaled.lower(model, X).compile()(X), X * 2)


def test_a_method_whose_self_is_no_tree_says_what_to_do():
    with pytest.raises(TypeError, match="argument self of plain") as caught:
        Model(1.0).plain(X)
    assert "register_dataclass" in str(caught.value) and "static_argnames='self'" in str(caught.value)


@jx.tree_util.register_pytree_node_class
class Node:
    def __init__(self, w):
        self.w = w

    def tree_flatten(self):
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, data, children):
        return cls(*children)

    @jx.jit
    def apply(self, x):
        return self.w * x


def test_methods_of_trees_trace_self():
    with steps() as seen:
        for k in (1.0, 2.0, 3.0):
            np.testing.assert_allclose(Node(jnp.float32(k)).apply(X), X * k, rtol=1e-6)
    assert seen["trace"] == 1
    grads = jx.grad(lambda node: node.apply(X).sum())(Node(2.0))
    assert isinstance(grads, Node)
    np.testing.assert_allclose(grads.w, X.sum(), rtol=1e-6)


def test_partials():
    part = functools.partial(jx.jit, static_argnames="n")

    @part
    def power(x, n=2):
        return x**n

    np.testing.assert_allclose(power(X, n=3), X**3, rtol=1e-6)
    np.testing.assert_allclose(functools.partial(power, n=3)(X), X**3, rtol=1e-6)
    np.testing.assert_allclose(jx.jit(functools.partial(power, n=3))(X), X**3, rtol=1e-6)
    np.testing.assert_allclose(jx.jit(functools.partial(lambda a, b: a - b, X))(X), X * 0)
    assert pickle.loads(pickle.dumps(Model.free)) is Model.free


def test_disable_jit_runs_python_all_the_way_down():
    seen = []
    inner = jx.jit(lambda x: seen.append(x) or x * 2)

    @jx.jit
    def f(x, n=2):
        for _ in range(int(x)):
            x = inner(x)
        return x

    with jx.disable_jit():
        assert f(2.0) == 8.0 and seen == [2.0, 4.0]
        assert jx.grad(lambda x: f.__wrapped__(x, 1) if x > 100 else inner(x))(3.0) == 2.0
    with jx.disable_jit(), jx.disable_jit(False), pytest.raises(jx.errors.ConcretizationTypeError):
        f(2.0)


def test_functions_that_cannot_be_compiled():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    for fun in (generator, coroutine):
        with pytest.raises(TypeError, match="generator or a coroutine"):
            jx.jit(fun)
    with pytest.raises(TypeError, match="jit takes a function; it got"):
        jx.jit(X)


# Stages --------------------------------------------------------------------------------------------------------------


def test_what_stages_know_of_arguments_and_results():
    f = jx.jit(lambda x, n, *, k: {"o": x * n, "k": k["a"]}, static_argnames="n", donate_argnames="x")
    traced = f.trace(X, 2, k={"a": 1.0})
    lowered = traced.lower()
    for stage in (traced, lowered, lowered.compile()):
        assert stage.in_tree == jx.tree.structure(((X,), {"k": {"a": 0}}))
        assert stage.out_tree == jx.tree.structure({"o": 0, "k": 0})
        assert jx.tree.map(lambda a: a.short(), stage.in_avals) == (("f32[3]",), {"k": {"a": "f32[]"}})
        (x,), named = stage.args_info
        assert (x.donated, x.shape, x.dtype, named["k"]["a"].donated) == (True, (3,), np.float32, False)
        assert stage.donate_argnums == (0,)
        assert stage.out_info == {
            "o": jx.ShapeDtypeStruct((3,), np.float32),
            "k": jx.ShapeDtypeStruct((), np.float32, weak_type=True),
        }
    assert traced.out_avals["o"].short() == "f32[3]"
    assert type(lowered.compiler_ir()).__name__ == "Module" and "HloModule" in lowered.compiler_ir("hlo").as_hlo_text()
    assert lowered.as_text() == lowered.as_text(dialect="stablehlo")
    with pytest.raises(ValueError, match="stablehlo"):
        lowered.compiler_ir("mhlo")
    with pytest.raises(NotImplementedError, match="cuda"):
        traced.lower(lowering_platforms=("cuda",))
    memory = lowered.compile().memory_analysis()
    assert memory.argument_size_in_bytes == memory["argument"] and memory.temp_size_in_bytes == memory["temp"]


def test_compiled_stages_donate_and_take_keywords():
    compiled = jx.jit(lambda x, *, k: x + k, donate_argnums=0).lower(BIG, k=1.0).compile()
    x = jnp.asarray(BIG)
    place = x.unsafe_buffer_pointer()
    out = compiled(x, k=1.0)
    assert x.is_deleted() and out.unsafe_buffer_pointer() == place
    np.testing.assert_allclose(compiled.call(BIG, k=2.0), BIG + 2, rtol=1e-6)
    with pytest.raises(DeletedArrayError, match="argument x of <lambda>"):
        compiled(x, k=1.0)


# Programs as data ----------------------------------------------------------------------------------------------------


def shown(x):
    y = jnp.sin(x) * 2
    return jx.jit(lambda z: jnp.cos(z))(y)


def test_a_jaxpr_is_data():
    closed = jx.make_jaxpr(shown)(X)
    assert isinstance(closed, jx.ir.ClosedJaxpr) and isinstance(closed.jaxpr, jx.ir.Jaxpr)
    paths = [(path, eqn.primitive.name) for path, eqn in jx.ir.walk(closed.jaxpr)]
    assert paths == [("e0", "sin"), ("e1", "mul"), ("e2", "jit"), ("e2/e0", "cos")]
    assert jx.ir.count(closed.jaxpr) == 4
    literal = closed.eqns[1].invars[1]
    assert (
        isinstance(literal, jx.ir.Literal) and literal.value == 2.0 and isinstance(closed.eqns[1].outvars[0], jx.ir.Var)
    )
    (out,) = jx.ir.eval_jaxpr(closed.jaxpr, closed.consts, X)
    np.testing.assert_allclose(out, np.cos(np.sin(X) * 2), rtol=1e-6)
    grads = jx.grad(lambda x: jx.ir.jaxpr_as_fun(closed)(x)[0].sum())(X)
    np.testing.assert_allclose(grads, -np.sin(np.sin(X) * 2) * 2 * np.cos(X), rtol=1e-5)
    where = jx.ir.source_position(closed.eqns[0])
    assert where is not None and (where.function, where.text.strip()) == ("shown", "y = jnp.sin(x) * 2")


def test_a_jaxpr_is_printed_with_its_source_lines():
    closed = jx.make_jaxpr(shown)(X)
    line = shown.__code__.co_firstlineno
    printed = closed.pretty_print(source_info=True)
    rows = [row for row in printed.splitlines() if " # " in row]
    assert len(rows) == 4 and all(__file__ in row for row in rows)
    assert f"{__file__}:{line + 1}:8 (shown)" in rows[0] and "sin" in rows[0]
    assert f":{line + 2}:" in rows[2] and "(<lambda>)" in next(row for row in rows if " cos " in row)
    assert closed.pretty_print() == str(closed) and "#" not in str(closed)
    without = [row.split(" # ")[0].rstrip() for row in closed.jaxpr.pretty_print(source_info=True).splitlines()]
    assert without == str(closed).splitlines()


@pytest.mark.parametrize("flags", [{"xla_backend_optimization_level": [True]}, {1: True}], ids=["value", "name"])
def test_compiler_options_that_cannot_be_options_are_refused_with_what_they_are(flags: Any) -> None:
    with pytest.raises(TypeError, match="XLA option"):
        jx.jit(jnp.sin, compiler_options=flags)
    with pytest.raises(TypeError, match="XLA option"):
        jx.jit(jnp.sin).lower(jnp.ones(3)).compile(flags)


@pytest.mark.parametrize("inline", [True, False, jx.Inline.JAX_LATE, jx.Inline.AUTO])
def test_only_early_inlining_takes_the_call_apart(inline: object) -> None:
    inner = jx.jit(lambda x: jnp.sin(x) * 2, inline=inline)
    assert [e.primitive.name for e in jx.make_jaxpr(inner)(1.0).eqns] == ["jit"]
