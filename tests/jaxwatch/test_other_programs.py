"""What is another program, of another function, class, model or mesh, and no recompilation."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jitscope_scope import observe


x = np.linspace(0, 1, 4, dtype=np.float32)


def _equinox():
    eqx = pytest.importorskip("equinox")

    class One(eqx.Module):
        w: jax.Array

        def __call__(self, v):
            return self.w * v

        def run(self, v):
            return self.w * v

    class Two(eqx.Module):
        w: jax.Array
        b: jax.Array

        def __call__(self, v):
            return self.w * v + self.b

        def run(self, v):
            return self.w * v + self.b

    return eqx, One(jnp.ones(4)), Two(jnp.ones(4), jnp.ones(4))


def two_methods_of_one_name():
    eqx, one, two = _equinox()
    for model in (one, two):
        eqx.filter_jit(model.run)(x)


def two_classes_under_filter_jit():
    eqx, one, two = _equinox()
    predict = eqx.filter_jit(lambda model, v: model(v))
    predict(one, x), predict(two, x)


def two_classes_under_jit():
    _, one, two = _equinox()
    predict = jax.jit(lambda model, v: model(v))
    predict(one, x), predict(two, x)


def a_model_of_two():
    eqx, one, two = _equinox()

    class Both(eqx.Module):
        parts: tuple

        def __call__(self, v):
            return sum(part(v) for part in self.parts)

    predict = eqx.filter_jit(lambda model, v: model(v))
    predict(one, x), predict(Both((one, two)), x)


def two_classes_under_nnx():
    nnx = pytest.importorskip("flax.nnx")

    class One(nnx.Module):
        def __init__(self):
            self.a = nnx.Param(jnp.ones(4))

        def __call__(self, v):
            return self.a * v

    class Two(nnx.Module):
        def __init__(self):
            self.a, self.b = nnx.Param(jnp.ones(4)), nnx.Param(jnp.ones(4))

        def __call__(self, v):
            return self.a * v + self.b

    predict = nnx.jit(lambda model, v: model(v))
    predict(One(), x), predict(Two(), x)


def two_optimizers():
    optax = pytest.importorskip("optax")
    step = jax.jit(lambda p, s, g: (p - g, s))
    for optimizer in (optax.sgd(0.1, momentum=0.9), optax.adam(0.1)):
        step(x, optimizer.init(x), x)


def functions_as_static_arguments():
    apply = jax.jit(lambda f, v: f(v), static_argnums=0)
    apply(jnp.sin, x), apply(jnp.cos, x), apply(lambda v: v + 1, x)


def functions_in_one_decorator():
    def logged(f):
        def wrapper(v):
            return f(v)

        return wrapper

    def double(v):
        return v * 2

    def triple(v):
        return v * 3

    for f in (double, triple, jnp.sin, jnp.cos, jnp.tan):
        jax.jit(logged(f))(x)


def partials_of_functions():
    def call(f, v):
        return f(v)

    for f in (jnp.sin, jnp.cos, jnp.tan, jnp.exp):
        jax.jit(functools.partial(call, f))(x)


def loops_of_two_functions():
    jax.lax.scan(lambda c, v: (c + v, None), jnp.float32(0), x)
    jax.lax.scan(lambda c, v: ({"a": c["a"] * v}, None), {"a": jnp.float32(1)}, np.ones(7, np.float32))


def meshes_of_two_sizes():
    def loss(v):
        return (v * v).sum()

    def laid_out(*sizes):
        mesh = jax.make_mesh(sizes, ("batch", "rest")[: len(sizes)], devices=jax.devices()[: math.prod(sizes)])
        return jax.device_put(np.ones(8, np.float32), jax.sharding.NamedSharding(mesh, jax.P("batch")))

    two, four, square = laid_out(2), laid_out(4), laid_out(2, 2)
    jax.jit(loss)(two), jax.jit(jax.grad(loss))(two)
    jax.jit(loss)(four)
    jax.jit(jax.grad(loss))(four)
    jax.jit(loss)(square)


def optimizers_one_of_which_wraps_its_state():
    optax = pytest.importorskip("optax")
    params = {"w": np.ones(3, np.float32)}

    def fit(tx):
        @jax.jit
        def step(params, state):
            updates, state = tx.update(jax.tree.map(jnp.ones_like, params), state, params)
            return optax.apply_updates(params, updates), state

        return step(params, tx.init(params))

    fit(optax.adam(optax.cosine_decay_schedule(1e-2, 10)))
    fit(optax.inject_hyperparams(optax.adam)(learning_rate=1e-2))


def states_of_two_models():
    linen = pytest.importorskip("flax.linen")
    step = jax.jit(lambda state, v: state.apply_fn({"params": state.params}, v).sum())
    for width in (3, 4, 5):
        step(_state(linen, width), x)


def _state(linen, width):
    optax, train_state = pytest.importorskip("optax"), pytest.importorskip("flax.training.train_state")
    net = linen.Dense(width)
    params = net.init(jax.random.key(0), x)["params"]
    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-2))


def two_shapes_once_each():
    f = jax.jit(lambda v: v + 1)
    f(x)
    f(np.ones((5, 2), np.float32))


NO_RECOMPILATIONS = (
    two_methods_of_one_name, two_classes_under_filter_jit, two_classes_under_jit, a_model_of_two, two_classes_under_nnx,
    two_optimizers, functions_as_static_arguments, functions_in_one_decorator, partials_of_functions, loops_of_two_functions,
    two_shapes_once_each, optimizers_one_of_which_wraps_its_state, states_of_two_models, meshes_of_two_sizes,
)  # fmt: skip


@pytest.mark.parametrize("calls", NO_RECOMPILATIONS)
def test_what_is_another_program_has_no_card(rows, calls):
    calls()
    made = [row for row in rows() if row.what in ("compiled", "recompiled")]
    assert len(made) >= 2
    document = observe.recompilations_document(observe.loud(rows()), "all")
    assert document["cards"] == [], [row.because for row in made]


def test_another_class_is_told_in_one_line_and_the_next_size_of_it_is_compared_with_its_own(rows):
    _, one, two = _equinox()
    predict = jax.jit(lambda model, v: model(v))
    predict(one, x), predict(two, x)
    assert (rows()[1].what, rows()[1].because) == ("compiled", "another program: model is another: One → Two")
    for n in (1, 4):
        predict(one, np.ones((n, 4), np.float32))
    assert all(row.against.id != rows()[1].id for row in rows()[2:])
    (card,) = observe.recompilations_document(observe.loud(rows()), "all")["cards"]
    assert (card["cause"], card["compilations"]) == ("shape", 2)


def test_what_differs_of_static_data_is_named_without_addresses(rows):
    linen = pytest.importorskip("flax.linen")
    step = jax.jit(lambda state, v: state.apply_fn({"params": state.params}, v).sum())
    first = _state(linen, 3)
    step(first, x), step(_state(linen, 3).replace(apply_fn=first.apply_fn), x)
    (difference,) = rows()[1].differences
    assert difference.before == difference.after and "0x" not in difference.before
    assert difference.before.startswith("TrainState[GradientTransformationExtraArgs(init=<function")
    assert difference.detail == "static data, not equal though it prints alike"
