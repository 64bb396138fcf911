"""equinox: networks, filtered transformations, state, serialisation."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


X = jnp.asarray(np.sin(np.arange(64.0)).reshape(16, 4), jnp.float32)
Y = jnp.asarray((np.sin(np.arange(64.0)).reshape(16, 4) ** 2).sum(1, keepdims=True), jnp.float32)


def mlp():
    model = eqx.nn.MLP(4, 1, 8, 2, activation=jax.nn.tanh, key=jax.random.key(0))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_value_and_grad
    def loss(model, x, y):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @eqx.filter_jit
    def step(model, state):
        value, grads = loss(model, X, Y)
        updates, state = optimizer.update(grads, state, model)
        return eqx.apply_updates(model, updates), state, value

    values = []
    for _ in range(20):
        model, state, value = step(model, state)
        values.append(value)
    return jnp.stack(values), eqx.filter(model, eqx.is_array)


class CNN(eqx.Module):
    layers: list
    norm: eqx.nn.BatchNorm
    dropout: eqx.nn.Dropout
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 4)
        self.layers = [eqx.nn.Conv2d(1, 4, 3, key=keys[0]), eqx.nn.MaxPool2d(2, 2), eqx.nn.Conv2d(4, 4, 3, key=keys[1])]
        self.norm = eqx.nn.BatchNorm(4, axis_name="batch", mode="batch")
        self.dropout = eqx.nn.Dropout(0.3)
        self.head = eqx.nn.Linear(4 * 3 * 3, 3, key=keys[2])

    def __call__(self, x, state, key):
        x = jax.nn.relu(self.layers[0](x))
        x = self.layers[2](self.layers[1](x))
        x, state = self.norm(x, state)
        return self.head(self.dropout(jax.nn.gelu(x), key=key).ravel()), state


def cnn():
    images = jnp.asarray(np.sin(np.arange(8 * 12 * 12.0)).reshape(8, 1, 12, 12), jnp.float32)
    labels = jnp.arange(8) % 3
    model, state = eqx.nn.make_with_state(CNN)(jax.random.key(0))
    optimizer = optax.sgd(0.05, momentum=0.9)
    moments = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    def loss(model, state, keys):
        batched = jax.vmap(model, axis_name="batch", in_axes=(0, None, 0), out_axes=(0, None))
        logits, state = batched(images, state, keys)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), state

    @eqx.filter_jit
    def step(model, state, moments, key):
        grad = eqx.filter_value_and_grad(loss, has_aux=True)
        (value, state), grads = grad(model, state, jax.random.split(key, 8))
        updates, moments = optimizer.update(grads, moments)
        return eqx.apply_updates(model, updates), state, moments, value

    values = []
    for i in range(5):
        model, state, moments, value = step(model, state, moments, jax.random.key(i))
        values.append(value)
    inference = eqx.nn.inference_mode(model)
    out, _ = jax.vmap(inference, axis_name="batch", in_axes=(0, None, None), out_axes=(0, None))(images, state, None)
    return jnp.stack(values), out


def recurrent():
    cell = eqx.nn.GRUCell(4, 5, key=jax.random.key(1))
    lstm = eqx.nn.LSTMCell(4, 5, key=jax.random.key(2))

    @eqx.filter_jit
    def run(cell, lstm, xs):
        def step(carry, x):
            h, (c, d) = carry
            return (cell(x, h), lstm(x, (c, d))), h.sum()

        return jax.lax.scan(step, (jnp.zeros(5), (jnp.zeros(5), jnp.zeros(5))), xs)

    return run(cell, lstm, X)


def attention():
    block = eqx.nn.MultiheadAttention(2, 4, key=jax.random.key(3))
    norm = eqx.nn.LayerNorm(4)
    rope = eqx.nn.RotaryPositionalEmbedding(4)
    x = jax.vmap(norm)(X)
    mask = jnp.tril(jnp.ones((16, 16), bool))
    grads = eqx.filter_grad(lambda b: (b(x, x, x, mask=mask) ** 2).sum())(block)
    return block(x, x, x, mask=mask), rope(X), grads


def ensembles():
    @eqx.filter_vmap
    def make(key):
        return eqx.nn.MLP(4, 1, 4, 1, key=key)

    models = make(jax.random.split(jax.random.key(4), 3))

    @eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
    def evaluate(model, x):
        return jax.vmap(model)(x)

    jac = eqx.filter_jacrev(lambda m: jax.vmap(m)(X[:2]).sum())(
        jax.tree.map(lambda x: x[0] if eqx.is_array(x) else x, models)
    )
    return evaluate(models, X), eqx.filter(jac, eqx.is_array)


def checkpointed_loops():
    import equinox.internal as eqxi

    def run(x, kind):
        def cond(val):
            return val[0] < 7

        def body(val):
            i, y = val
            return i + 1, jnp.sin(y) * 1.1 + i * 0.1

        return eqxi.while_loop(cond, body, (jnp.array(0), x), max_steps=16, kind=kind, checkpoints=4)[1].sum()

    x = X[0]
    kinds = ("lax", "checkpointed", "bounded")
    values = [jax.jit(run, static_argnums=1)(x, kind) for kind in kinds]
    grads = [jax.jit(jax.grad(run), static_argnums=1)(x, kind) for kind in kinds[1:]]
    mapped = jax.vmap(lambda x: run(x, "checkpointed"))(X)
    return values, grads, mapped, jax.vmap(jax.grad(lambda x: run(x, "bounded")))(X[:3])


def errors():
    """1 where the error came, in an eager call, under jit and under vmap."""
    found = []

    def f(x):
        x = eqx.error_if(x, x < 0, "x must not be negative")
        return eqx.branched_error_if(x, x > 9, 0, ["too large"])

    for call in (
        lambda: eqx.filter_jit(f)(jnp.array(-1.0)),
        lambda: eqx.filter_jit(jax.vmap(f))(jnp.array([1.0, 11.0])),
    ):
        try:
            jax.block_until_ready(call())
        except Exception as error:
            found.append(float("negative" in str(error) or "too large" in str(error)))
        else:
            found.append(0.0)
    return jnp.array(found), eqx.filter_jit(f)(jnp.array(2.0))


def closures_and_shapes():
    model = eqx.nn.Linear(4, 2, key=jax.random.key(5))
    closed = eqx.filter_closure_convert(lambda x: model(x) * 2, X[0])
    shape = eqx.filter_eval_shape(jax.vmap(model), X)
    _, tangent = eqx.filter_jvp(
        lambda m: m(X[0]), (model,), (jax.tree.map(jnp.ones_like, eqx.filter(model, eqx.is_array)),)
    )
    _, pull = eqx.filter_vjp(lambda m, x: m(x), model, X[0])
    custom = eqx.filter_custom_vjp(lambda x, *, scale: jnp.sin(x) * scale)
    custom.def_fwd(lambda perturbed, x, *, scale: (jnp.sin(x) * scale, jnp.cos(x)))
    custom.def_bwd(lambda residual, grad, perturbed, x, *, scale: residual * grad * scale)
    jaxpr, _, _ = eqx.filter_make_jaxpr(lambda m, x: m(x))(model, X[0])
    leaves = eqx.filter(pull(jnp.ones(2)), eqx.is_array)
    return (
        closed(X[1]),
        jnp.array(shape.shape),
        tangent,
        leaves,
        jax.grad(lambda x: custom(x, scale=3.0))(0.5),
        float(len(jaxpr.jaxpr.eqns) > 0),
    )


def files():
    import io

    model = eqx.nn.MLP(4, 1, 4, 1, key=jax.random.key(6))
    buffer = io.BytesIO()
    eqx.tree_serialise_leaves(buffer, model)
    buffer.seek(0)
    other = eqx.tree_deserialise_leaves(buffer, eqx.nn.MLP(4, 1, 4, 1, key=jax.random.key(7)))
    edited = eqx.tree_at(lambda m: m.layers[0].bias, other, jnp.ones(4))
    return jax.vmap(other)(X), jax.vmap(edited)(X), float(eqx.tree_equal(model, other))


PARTS = [mlp, cnn, recurrent, attention, ensembles, checkpointed_loops, errors, closures_and_shapes, files]
