"""Networks with state, optimisation and inference, in the style of what people write with jax's libraries. As in `programs`, each
function makes what it needs, calls what it compiles, and gives a tree of arrays."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


IMAGES = np.linspace(0, 1, 4 * 8, dtype=np.float32).reshape(4, 8)


# --- networks with state ----------------------------------------------------------------------------------------------


def linen_with_state():
    import flax.linen as nn
    import optax
    from flax.training import train_state

    class State(train_state.TrainState):
        stats: dict

    class Block(nn.Module):
        width: int

        @nn.compact
        def __call__(self, x, train: bool):
            x = nn.Dense(self.width)(x)
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
            x = nn.Dropout(0.5, deterministic=not train)(nn.relu(x))
            return x

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train: bool):
            for i in range(2):
                x = Block(6, name=f"block_{i}")(x, train)
            return nn.Dense(1)(x)

    net = Net()
    variables = net.init(jax.random.key(0), IMAGES, train=False)
    state = State.create(
        apply_fn=net.apply, params=variables["params"], tx=optax.sgd(0.1), stats=variables["batch_stats"]
    )

    @jax.jit
    def train(state, x, key):
        def loss(params):
            out, changed = state.apply_fn(
                {"params": params, "batch_stats": state.stats},
                x,
                train=True,
                mutable=["batch_stats"],
                rngs={"dropout": key},
            )
            return (out**2).mean(), changed

        (value, changed), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=grads).replace(stats=changed["batch_stats"]), value

    @jax.jit
    def evaluate(state, x):
        return net.apply({"params": state.params, "batch_stats": state.stats}, x, train=False)

    for i in range(3):
        state, value = train(state, IMAGES, jax.random.key(i))
    return state.params, state.stats, value, evaluate(state, IMAGES)


def linen_lifted():
    import flax.linen as nn

    class Cell(nn.Module):
        @nn.compact
        def __call__(self, carry, x):
            return nn.GRUCell(4)(carry, x)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, xs):
            scanned = nn.scan(Cell, variable_broadcast="params", split_rngs={"params": False}, in_axes=0, out_axes=0)
            _, ys = scanned()(jnp.zeros(4), xs)
            dense = nn.remat(nn.Dense)(3)
            return nn.LayerNorm()(dense(ys))

    net, xs = Net(), jnp.linspace(0, 1, 15).reshape(5, 3)
    params = jax.jit(net.init)(jax.random.key(0), xs)
    return jax.jit(jax.grad(lambda p: (net.apply(p, xs) ** 2).sum()))(params)


def nnx_optimizer():
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(8, 6, rngs=rngs)
            self.norm = nnx.BatchNorm(6, rngs=rngs)
            self.dropout = nnx.Dropout(0.2, rngs=rngs)
            self.last = nnx.Linear(6, 1, rngs=rngs)

        def __call__(self, x):
            return self.last(nnx.relu(self.dropout(self.norm(self.first(x)))))

    net = Net(nnx.Rngs(0, dropout=1))
    optimizer = nnx.Optimizer(net, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def train(net, optimizer, x):
        def loss(net):
            return (net(x) ** 2).mean()

        value, grads = nnx.value_and_grad(loss)(net)
        optimizer.update(net, grads)
        return value

    net.train()
    values = [train(net, optimizer, IMAGES) for _ in range(3)]
    net.eval()
    graph, state = nnx.split(net)

    @jax.jit
    def evaluate(state, x):
        return nnx.merge(graph, state)(x)

    return values, evaluate(state, IMAGES)


def nnx_lifted():
    from flax import nnx

    @nnx.vmap(in_axes=0, out_axes=0)
    def make(key):
        return nnx.Linear(4, 4, rngs=nnx.Rngs(key))

    @nnx.jit
    def run(layers, x):
        @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
        def through(x, layer):
            return nnx.tanh(layer(x))

        return through(x, layers)

    return run(make(jax.random.split(jax.random.key(0), 3)), jnp.ones((2, 4)))


def equinox_partition():
    import equinox as eqx
    import optax

    class Net(eqx.Module):
        layers: list
        scale: jax.Array
        act: Callable = eqx.field(static=True)

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.layers = [eqx.nn.Linear(8, 6, key=first), eqx.nn.Linear(6, 1, key=second)]
            self.scale, self.act = jnp.ones(()), jax.nn.relu

        def __call__(self, x):
            for layer in self.layers[:-1]:
                x = self.act(layer(x))
            return self.layers[-1](x) * lax.stop_gradient(self.scale)

    net = Net(jax.random.key(0))
    optimizer = optax.adamw(1e-2)
    state = optimizer.init(eqx.filter(net, eqx.is_inexact_array))

    @eqx.filter_value_and_grad
    def loss(net, x):
        return (jax.vmap(net)(x) ** 2).mean()

    @eqx.filter_jit
    def train(net, state, x):
        value, grads = loss(net, x)
        updates, state = optimizer.update(grads, state, eqx.filter(net, eqx.is_inexact_array))
        return eqx.apply_updates(net, updates), state, value

    for _ in range(3):
        net, state, value = train(net, state, IMAGES)
    dynamic, static = eqx.partition(net, eqx.is_array)

    @jax.jit
    def frozen(dynamic, x):
        return jax.vmap(eqx.combine(dynamic, static))(x)

    return eqx.filter(net, eqx.is_array), value, frozen(dynamic, IMAGES)


def equinox_state():
    import equinox as eqx

    class Net(eqx.Module):
        norm: eqx.nn.BatchNorm
        last: eqx.nn.Linear

        def __call__(self, x, state):
            x, state = self.norm(x, state)
            return self.last(x), state

    def make(key):
        return Net(eqx.nn.BatchNorm(8, axis_name="batch", mode="batch"), eqx.nn.Linear(8, 2, key=key))

    net, state = eqx.nn.make_with_state(make)(jax.random.key(0))

    @eqx.filter_jit
    def run(net, state, x):
        batched = jax.vmap(net, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
        return batched(x, state)

    out, state = run(net, state, jnp.asarray(IMAGES))
    return out, run(net, state, jnp.asarray(IMAGES))[0]


def transformed_by_hand():
    """Parameters collected by a stack of frames, as haiku does."""
    frames = []

    def parameter(name, shape, init):
        params, key = frames[-1]
        if name not in params:
            params[name] = init(jax.random.fold_in(key, len(params)), shape)
        return params[name]

    def transform(f):
        def run(params, key, x):
            frames.append((params, key))
            try:
                return f(x)
            finally:
                frames.pop()

        def init(key, x):
            params = {}
            run(params, key, x)
            return params

        return init, lambda params, x: run(dict(params), None, x)

    def linear(x, width, name):
        w = parameter(f"{name}/w", (x.shape[-1], width), jax.random.normal)
        return x @ w + parameter(f"{name}/b", (width,), lambda key, shape: jnp.zeros(shape))

    def forward(x):
        return linear(jnp.tanh(linear(x, 5, "first")), 2, "second")

    init, apply = transform(forward)
    params = jax.jit(init)(jax.random.key(1), IMAGES)
    return jax.jit(jax.grad(lambda p, x: jnp.square(apply(p, x)).sum()))(params, IMAGES)


# --- optimisation and inference ---------------------------------------------------------------------------------------


def optax_schedules():
    import optax

    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 2, 6)
    mask = {"w": True, "b": False}
    optimizer = optax.MultiSteps(
        optax.chain(optax.clip(1.0), optax.masked(optax.add_decayed_weights(0.1), mask), optax.lion(schedule)), 2
    )
    params = {"w": jnp.ones((8, 2)), "b": jnp.zeros(2)}
    state = optimizer.init(params)

    @jax.jit
    def train(params, state, x):
        value, grads = jax.value_and_grad(lambda p: jnp.abs(x @ p["w"] + p["b"]).mean())(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    values = []
    for _ in range(4):
        params, state, value = train(params, state, IMAGES)
        values.append(value)
    return params, values


def optax_lbfgs():
    import optax

    def loss(w):
        return jnp.sum((w[1:] - w[:-1] ** 2) ** 2 + (1 - w[:-1]) ** 2)

    optimizer = optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(loss)

    @jax.jit
    def step(w, state):
        value, grad = value_and_grad(w, state=state)
        updates, state = optimizer.update(grad, state, w, value=value, grad=grad, value_fn=loss)
        return optax.apply_updates(w, updates), state

    w = jnp.array([-1.0, 2.0, 0.5])
    state = optimizer.init(w)
    for _ in range(2):
        w, state = step(w, state)
    return w


def numpyro_svi():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Predictive, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    x = np.linspace(0, 1, 6, dtype=np.float32)

    def model(x, y=None):
        slope = numpyro.sample("slope", dist.Normal(0, 2))
        noise = numpyro.sample("noise", dist.HalfNormal(1))
        with numpyro.plate("points", x.shape[0]):
            return numpyro.sample("y", dist.Normal(slope * x, noise), obs=y)

    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
    result = svi.run(jax.random.key(0), 5, x, 2 * x, progress_bar=False)
    drawn = Predictive(model, guide=guide, params=result.params, num_samples=3)(jax.random.key(1), x)
    return result.losses, result.params, drawn["y"]


def numpyro_chains():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    groups = np.array([0, 0, 1, 1, 2, 2])
    seen = np.array([0.1, 0.3, 1.2, 0.9, -0.5, -0.4], np.float32)

    def model():
        mean, spread = numpyro.sample("mean", dist.Normal(0, 1)), numpyro.sample("spread", dist.HalfNormal(1))
        with numpyro.plate("groups", 3):
            effect = numpyro.sample("effect", dist.TransformedDistribution(
                dist.Normal(0, 1), dist.transforms.AffineTransform(mean, spread)))  # fmt: skip
        numpyro.sample("seen", dist.StudentT(4.0, effect[groups], 0.2), obs=seen)

    fit = MCMC(NUTS(model), num_warmup=4, num_samples=4, num_chains=2, chain_method="vectorized", progress_bar=False)
    fit.run(jax.random.key(0))
    return fit.get_samples(group_by_chain=True)


class Env(NamedTuple):
    position: jax.Array
    speed: jax.Array


def policy_gradient():
    """An agent in an environment with resets, rolled out by a scan and trained by another."""

    def act(env, push):
        speed = 0.9 * env.speed + 0.1 * push
        env = Env(env.position + speed, speed)
        done = jnp.abs(env.position) > 1.0
        fresh = Env(jnp.zeros(()), jnp.zeros(()))
        return jax.tree.map(lambda a, b: jnp.where(done, a, b), fresh, env), 1.0 - jnp.abs(env.position), done

    def rollout(params, key):
        def step(carry, key):
            env, total = carry
            logits = params @ jnp.stack([env.position, env.speed, jnp.ones(())])
            action = jax.random.categorical(key, logits)
            env, reward, done = act(env, action.astype(jnp.float32) - 1)
            return (env, total + reward), (jax.nn.log_softmax(logits)[action], reward, done)

        start = (Env(jnp.zeros(()), jnp.zeros(())), 0.0)
        _, (logp, rewards, done) = lax.scan(step, start, jax.random.split(key, 6))

        def back(ahead, now):
            reward, ended = now
            ahead = reward + 0.9 * jnp.where(ended, 0.0, ahead)
            return ahead, ahead

        _, returns = lax.scan(back, 0.0, (rewards, done), reverse=True)
        return -(logp * lax.stop_gradient(returns - returns.mean())).sum(), rewards.sum()

    @jax.jit
    def train(params, key):
        def update(params, key):
            def loss(p):
                values, rewards = jax.vmap(rollout, (None, 0))(p, jax.random.split(key, 4))
                return values.mean(), rewards.mean()

            grad, reward = jax.grad(loss, has_aux=True)(params)
            return params - 0.1 * grad, reward

        return lax.scan(update, params, jax.random.split(key, 3))

    return train(jnp.zeros((3, 3)), jax.random.key(0))


TRAINING = [
    linen_with_state, linen_lifted, nnx_optimizer, nnx_lifted, equinox_partition, equinox_state, transformed_by_hand,
    optax_schedules, optax_lbfgs, numpyro_svi, numpyro_chains, policy_gradient,
]  # fmt: skip
LONG = (numpyro_chains, numpyro_svi, linen_lifted, optax_lbfgs, nnx_lifted, equinox_state)
"""These take long to compile."""
