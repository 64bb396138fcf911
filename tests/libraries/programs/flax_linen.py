"""flax.linen: networks with state, lifted transformations, training with optax."""

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


X = jnp.asarray(np.sin(np.arange(64.0)).reshape(16, 4), jnp.float32)
IMAGES = jnp.asarray(np.sin(np.arange(8 * 12 * 12.0)).reshape(8, 12, 12, 1), jnp.float32)


class MLP(nn.Module):
    features: tuple = (8, 8, 1)

    @nn.compact
    def __call__(self, x):
        for n in self.features[:-1]:
            x = nn.gelu(nn.Dense(n)(x))
        return nn.Dense(self.features[-1])(x)


def mlp():
    model = MLP()
    params = model.init(jax.random.key(0), X)
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-2))

    @jax.jit
    def step(state):
        def loss(params):
            return jnp.mean((state.apply_fn(params, X) - X.sum(1, keepdims=True)) ** 2)

        value, grads = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=grads), value

    values = []
    for _ in range(10):
        state, value = step(state)
        values.append(value)
    return jnp.stack(values), state.params, nn.tabulate(MLP(), jax.random.key(0))(X).count("Dense")


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.avg_pool(nn.relu(x), (2, 2), (2, 2))
        x = nn.Conv(6, (3, 3), strides=2, padding="VALID")(x)
        x = nn.GroupNorm(3)(x)
        x = nn.Dropout(0.25, deterministic=not train)(x.reshape(x.shape[0], -1))
        return nn.Dense(3)(x)


def cnn():
    model, labels = CNN(), jnp.arange(8) % 3
    variables = model.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, IMAGES, train=False)
    params, stats = variables["params"], variables["batch_stats"]
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))
    state = optimizer.init(params)

    @jax.jit
    def step(params, stats, state, key):
        def loss(params):
            out, new = model.apply(
                {"params": params, "batch_stats": stats},
                IMAGES,
                train=True,
                mutable=["batch_stats"],
                rngs={"dropout": key},
            )
            return optax.softmax_cross_entropy_with_integer_labels(out, labels).mean(), new["batch_stats"]

        (value, stats_), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, new_state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), stats_, new_state, value

    values = []
    for i in range(5):
        params, stats, state, value = step(params, stats, state, jax.random.key(i))
        values.append(value)
    return jnp.stack(values), stats, model.apply({"params": params, "batch_stats": stats}, IMAGES, train=False)


def attention():
    class Block(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            h = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8)(h, h, mask=mask)
            return x + nn.Dense(x.shape[-1])(nn.silu(nn.Dense(8)(nn.RMSNorm()(x))))

    x = X.reshape(2, 8, 4)
    mask = nn.make_causal_mask(jnp.ones((2, 8)))
    params = Block().init(jax.random.key(0), x, mask)
    out, pull = jax.vjp(lambda p: Block().apply(p, x, mask), params)
    embedded = nn.Embed(10, 4)
    table = embedded.init(jax.random.key(1), jnp.arange(3))
    return (
        out,
        pull(jnp.ones_like(out)),
        embedded.apply(table, jnp.arange(3)),
        embedded.apply(table, X[0], method="attend"),
    )


def recurrent():
    rnn = nn.RNN(nn.LSTMCell(5))
    both = nn.Bidirectional(nn.RNN(nn.GRUCell(3)), nn.RNN(nn.GRUCell(3)))
    x = X.reshape(2, 8, 4)
    first, second = rnn.init(jax.random.key(0), x), both.init(jax.random.key(1), x)
    grads = jax.grad(lambda p: (rnn.apply(p, x) ** 2).sum())(first)
    return rnn.apply(first, x), jax.jit(both.apply)(second, x), grads


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x, _=None):
        return nn.tanh(nn.Dense(4)(x)), x.mean()


def lifted():
    """scan over layers with their own parameters, remat, vmap over models, while and cond inside modules."""
    scanned = nn.scan(nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)()
    variables = scanned.init(jax.random.key(0), X)
    grads = jax.grad(lambda v: (scanned.apply(v, X)[0] ** 2).sum())(variables)
    many = nn.vmap(nn.Dense, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, axis_size=3)(2)
    several = many.init(jax.random.key(1), X)

    class Chosen(nn.Module):
        @nn.compact
        def __call__(self, x, pred):
            a, b = nn.Dense(4, name="a"), nn.Dense(4, name="b")
            if self.is_initializing():
                return a(x) + b(x)
            return nn.cond(pred, lambda m, x: a(x), lambda m, x: b(x), self, x)

    chosen = Chosen().init(jax.random.key(2), X, True)
    jitted = nn.jit(Layer)()
    params = jitted.init(jax.random.key(3), X)
    broadcast = nn.scan(Layer, variable_broadcast="params", split_rngs={"params": False}, length=4)()
    shared = broadcast.init(jax.random.key(4), X)
    return (scanned.apply(variables, X), grads, many.apply(several, X), Chosen().apply(chosen, X, jnp.array(False)),
            jitted.apply(params, X), broadcast.apply(shared, X))  # fmt: skip


def norms_and_layers():
    out = {}
    x = IMAGES[:2]
    for name, layer in {
        "instance": nn.InstanceNorm(), "spectral": None, "weight": None, "transpose": nn.ConvTranspose(2, (3, 3), strides=(2, 2)),
        "local": nn.ConvLocal(2, (3, 3), strides=(3, 3)), "general": nn.DenseGeneral((2, 3), axis=(-2, -1)), "prelu": nn.PReLU(),
    }.items():  # fmt: skip
        if layer is not None:
            params = layer.init(jax.random.key(0), x)
            out[name] = layer.apply(params, x)
    dense = nn.Dense(3)
    weight = nn.WeightNorm(dense)
    params = weight.init(jax.random.key(0), X)
    out["weight"] = weight.apply(params, X)
    out["eval"] = jax.tree.map(lambda s: jnp.array(s.shape), jax.eval_shape(dense.init, jax.random.key(0), X))
    return out


def saved():
    params = MLP().init(jax.random.key(0), X)
    data = flax.serialization.to_bytes(params)
    again = flax.serialization.from_bytes(jax.tree.map(jnp.zeros_like, params), data)
    flat = flax.traverse_util.flatten_dict(params, sep="/")
    lazy = MLP().lazy_init(jax.random.key(0), jax.ShapeDtypeStruct(X.shape, X.dtype))
    frozen = flax.core.freeze(params)
    return again, float(len(flat)), lazy, frozen["params"]["Dense_0"]["kernel"]


PARTS = [mlp, cnn, attention, recurrent, lifted, norms_and_layers, saved]
