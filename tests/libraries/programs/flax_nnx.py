"""flax.nnx: a transformer block, networks with state, transformations that keep track of modules."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


X = jnp.asarray(np.sin(np.arange(64.0)).reshape(2, 8, 4), jnp.float32)


class Block(nnx.Module):
    def __init__(self, dim, rngs):
        self.norm1, self.norm2 = nnx.LayerNorm(dim, rngs=rngs), nnx.RMSNorm(dim, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, dim, qkv_features=8, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(dim, 8, rngs=rngs), nnx.Linear(8, dim, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)

    def __call__(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, mask=nnx.make_causal_mask(jnp.ones(x.shape[:2])))
        return x + self.dropout(self.down(nnx.gelu(self.up(self.norm2(x)))))


def transformer():
    model = Block(4, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        value, grads = nnx.value_and_grad(lambda m: ((m(X) - X[:, ::-1]) ** 2).mean())(model)
        optimizer.update(model, grads)
        return value

    values = [step(model, optimizer) for _ in range(5)]
    model.eval()
    return jnp.stack(values), model(X)  # not the biases of the keys: nothing depends on them, Adam moves them by noise


class CNN(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.head = nnx.Linear(4 * 9, 3, rngs=rngs)
        self.calls = nnx.Variable(jnp.array(0))

    def __call__(self, x):
        self.calls[...] += 1
        x = nnx.avg_pool(nnx.relu(self.norm(self.conv(x))), (2, 2), (2, 2))
        return self.head(x.reshape(x.shape[0], -1))


def cnn():
    images = jnp.asarray(np.sin(np.arange(8 * 36.0)).reshape(8, 6, 6, 1), jnp.float32)
    model = CNN(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        def loss(model):
            return optax.softmax_cross_entropy_with_integer_labels(model(images), jnp.arange(8) % 3).mean()

        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(model, grads)
        return value

    values = [step(model, optimizer) for _ in range(4)]
    return jnp.stack(values), model.calls[...], model.norm.mean[...], model.norm.var[...]


def functional():
    """Modules taken apart and put together, in JAX's own transformations."""
    model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
    graph, params, rest = nnx.split(model, nnx.Param, ...)
    grads = jax.jit(jax.grad(lambda p: (nnx.merge(graph, p, rest)(X) ** 2).sum()))(params)
    nnx.update(model, jax.tree.map(lambda x: 2 * x, params))
    return jax.tree.leaves(grads), model(X), model.kernel[...].sum()


def lifted():
    @nnx.vmap(in_axes=0, out_axes=0)
    def make(key):
        return nnx.Linear(4, 4, rngs=nnx.Rngs(key))

    models = make(jax.random.split(jax.random.key(0), 3))

    @nnx.scan(in_axes=(0, nnx.Carry), out_axes=nnx.Carry)
    def forward(model, x):
        return nnx.tanh(model(x))

    @nnx.remat
    def checkpointed(model, x):
        return nnx.relu(model(x))

    layer = nnx.Linear(4, 4, rngs=nnx.Rngs(1))
    grads = nnx.grad(lambda m: checkpointed(m, X).sum())(layer)
    chosen = nnx.cond(jnp.array(True), lambda m, x: m(x), lambda m, x: x, layer, X)
    return forward(models, X), jax.tree.leaves(grads), chosen


def recurrent():
    rnn = nnx.RNN(nnx.GRUCell(4, 5, rngs=nnx.Rngs(0)))
    lstm = nnx.RNN(nnx.LSTMCell(4, 3, rngs=nnx.Rngs(1)))
    return rnn(X), lstm(X)


def references():
    """Variables as mutable arrays."""
    layer = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
    graph, state = nnx.split(layer)
    refs = jax.tree.map(jax.new_ref, state)

    @jax.jit
    def double(refs):
        for ref in jax.tree.leaves(refs):
            ref[...] = ref[...] * 2

    double(refs)
    return nnx.merge(graph, jax.tree.map(lambda r: r[...], refs))(X)


PARTS = [transformer, cnn, functional, lifted, recurrent, references]
