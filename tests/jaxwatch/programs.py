"""Programs of jax and of libraries written for it. Each is a function that makes what it needs, calls what it compiles, and gives
a tree of arrays; `NAMES` says what it compiles under which names."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


P = jax.sharding.PartitionSpec


def transformer():
    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def layer(p, x):
        with jax.named_scope("attention"):
            h = norm(x)
            weights = jax.nn.softmax(h @ p["q"] @ (h @ p["k"]).T)
            x = x + weights @ h @ p["v"]
        with jax.named_scope("mlp"):
            return x + jax.nn.gelu(norm(x) @ p["a"]) @ p["b"]

    def loss(p, x):
        for one in p:
            x = layer(one, x)
        return (x**2).mean()

    keys = jax.random.split(jax.random.key(0), 10)
    p = [{n: jax.random.normal(keys[5 * i + j], (8, 8)) / 3 for j, n in enumerate("qkvab")} for i in range(2)]
    return jax.jit(jax.value_and_grad(loss))(p, jnp.ones((4, 8)))


def rnn():
    def step(p, h, x):
        h = jnp.tanh(h @ p["w"] + x @ p["u"])
        return h, h

    @jax.jit
    def gradient(p, xs):
        return jax.grad(lambda p: (lax.scan(functools.partial(step, p), jnp.zeros(4), xs)[1] ** 2).sum())(p)

    return gradient({"w": jnp.eye(4) / 2, "u": jnp.ones((3, 4)) / 3}, jnp.linspace(0, 1, 15).reshape(5, 3))


def conv_linen():
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(4, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1)
            return nn.Dense(3)(x)

    net = Net()
    x = jnp.linspace(0, 1, 2 * 8 * 8).reshape(2, 8, 8, 1)
    params = net.init(jax.random.key(0), x)

    @jax.jit
    def gradient(params, x):
        return jax.grad(lambda p: (net.apply(p, x) ** 2).sum())(params)

    return gradient(params, x)


def conv_nnx():
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.conv = nnx.Conv(1, 2, (3, 3), rngs=rngs)
            self.out = nnx.Linear(2 * 4 * 4, 3, rngs=rngs)

        def __call__(self, x):
            return self.out(nnx.relu(self.conv(x)).reshape(x.shape[0], -1))

    net = Net(nnx.Rngs(0))

    @nnx.jit
    def step(net, x):
        return nnx.value_and_grad(lambda net: (net(x) ** 2).sum())(net)

    value, gradient = step(net, jnp.ones((2, 4, 4, 1)))
    return value, nnx.to_pure_dict(gradient)


def equinox_filter_jit():
    import equinox as eqx

    mlp = eqx.nn.MLP(3, 2, 4, 2, key=jax.random.key(0))

    @eqx.filter_jit
    def step(mlp, x):
        return eqx.filter_grad(lambda mlp: (jax.vmap(mlp)(x) ** 2).sum())(mlp)

    return eqx.filter(step(mlp, jnp.ones((5, 3))), eqx.is_array)


def numpyro_nuts():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    x, y = np.linspace(0, 1, 6, dtype=np.float32), np.linspace(1, 3, 6, dtype=np.float32)

    def model():
        a, b = numpyro.sample("a", dist.Normal(0, 5)), numpyro.sample("b", dist.Normal(0, 5))
        numpyro.sample("y", dist.Normal(a + b * x, 0.1), obs=y)

    fit = MCMC(NUTS(model), num_warmup=5, num_samples=5, progress_bar=False)
    fit.run(jax.random.key(0))
    return fit.get_samples()


def optax_step():
    import optax

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
    p = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}

    @jax.jit
    def train(p, state, x):
        grads = jax.grad(lambda p: ((x @ p["w"] + p["b"]) ** 2).sum())(p)
        updates, state = optimizer.update(grads, state, p)
        return optax.apply_updates(p, updates), state

    state = optimizer.init(p)
    for _ in range(2):
        p, state = train(p, state, jnp.ones((4, 3)))
    return p


def custom_vjp():
    @jax.custom_vjp
    def clipped(x):
        return jnp.sin(x)

    clipped.defvjp(lambda x: (clipped(x), x), lambda x, g: (jnp.clip(g * jnp.cos(x), -0.1, 0.1),))
    return jax.jit(jax.grad(lambda x: (clipped(x) * x).sum()))(jnp.linspace(0, 3, 6))


def custom_jvp():
    @jax.custom_jvp
    def safe(x):
        return jnp.log(x)

    safe.defjvp(lambda p, t: (safe(p[0]), t[0] / jnp.maximum(p[0], 1e-3)))
    return jax.jit(jax.vmap(jax.grad(lambda x: safe(x) * 2.0)))(jnp.linspace(0.1, 3, 6))


def remat():
    @functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
    def block(x, w):
        return jnp.tanh(x @ w) @ w

    return jax.jit(jax.grad(lambda x, w: block(block(x, w), w).sum()))(jnp.ones((3, 3)), jnp.eye(3) / 2)


def shard_map():
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
    mapped = jax.shard_map(lambda a: lax.psum((a * 2).sum(), "i"), mesh=mesh, in_specs=P("i"), out_specs=P())
    return jax.jit(mapped)(jnp.arange(8.0))


def sharded():
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
    x = jax.device_put(jnp.arange(16.0).reshape(8, 2), jax.sharding.NamedSharding(mesh, P("i")))
    return jax.jit(lambda x: (jnp.sin(x) @ x.T).sum(0))(x)


def loops():
    def inner(c, k):
        return lax.fori_loop(0, 3, lambda i, a: a.at[i].add(jnp.sin(a[i]) * k), c), k

    @jax.jit
    def f(x):
        y, ks = lax.scan(inner, x, jnp.arange(3.0))
        z = lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 2 + 1, y)
        z = lax.cond(z[0] > 1, lambda a: a - lax.map(jnp.cos, a), lambda a: a, z)
        return lax.switch(1, [jnp.sin, jnp.tanh, lambda v: v], z), ks

    return f(jnp.linspace(0.1, 1, 4))


def pmap():
    return jax.pmap(lambda x: x * lax.psum(x, "i"), axis_name="i")(jnp.arange(len(jax.devices()), dtype=jnp.float32))


def callbacks():
    seen = []

    @jax.jit
    def f(x):
        jax.debug.callback(lambda v: seen.append(float(v)), x.sum())
        y = jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential")
        return y * 2

    out = f(jnp.ones(3))
    jax.effects_barrier()
    assert seen == [3.0]
    return out


def donation():
    @functools.partial(jax.jit, donate_argnums=0)
    def update(state, x):
        return jax.tree.map(lambda s: s * 0.9 + x, state)

    state = {"a": jnp.ones(4), "b": jnp.zeros(4)}
    for i in range(3):
        state = update(state, jnp.float32(i))
    return state


def static_arguments():
    @functools.partial(jax.jit, static_argnames=("n", "mode"))
    def power(x, n, mode="up"):
        for _ in range(n):
            x = x * x if mode == "up" else x + x
        return x

    return power(jnp.ones(3), 2), power(jnp.ones(3), n=3), power(jnp.ones(3), 2, mode="down")


def ahead_of_time():
    f = jax.jit(lambda x, w: jnp.maximum(x @ w, 0).sum(0))
    x, w = jnp.ones((2, 3)), jnp.ones((3, 4))
    return f.lower(x, w).compile()(x, w), f(x, w)


def disable_jit():
    @jax.jit
    def f(x):
        return jnp.sin(x) * 2 if x.sum() > 0 else x

    with jax.disable_jit():
        return f(jnp.ones(3))


def debug_nans():
    @jax.jit
    def f(x):
        return jnp.sqrt(x) + 1

    with jax.debug_nans(True):
        first = f(jnp.ones(3))
        try:
            f(-jnp.ones(3))
        except FloatingPointError:
            return first, f(jnp.full(3, 4.0))
    raise AssertionError("a NaN went unseen")


def linear_algebra():
    @jax.jit
    def f(a, b):
        a = a @ a.T + jnp.eye(4)
        return jnp.linalg.solve(a, b), jnp.linalg.cholesky(a), jnp.sort(jnp.linalg.eigh(a)[0])

    return f(jnp.arange(16.0).reshape(4, 4) / 10, jnp.ones(4))


def random_numbers():
    @jax.jit
    def f(key):
        a, b = jax.random.split(key)
        return jax.random.normal(a, (3,)) + jax.random.choice(b, 5, (3,))

    return f(jax.random.key(3))


def hessian():
    @jax.jit
    def energy(x):
        return jnp.tanh(x) * x

    return jax.jit(jax.hessian(lambda x: (energy(x) * energy(energy(x))).sum()))(jnp.linspace(0, 1, 3))


def method():
    class Model:
        def __init__(self):
            self.scale = 3.0

        @functools.partial(jax.jit, static_argnums=0)
        def apply(self, x):
            return jnp.exp(-x) * self.scale

    return Model().apply(jnp.ones(3))


def outside_jit():
    @jax.jit
    def f(x):
        return jnp.sin(x).sum()

    x = jnp.ones(3)
    return jax.grad(f)(x), jax.vmap(f)(jnp.ones((2, 3))), x * 2 + 1, jnp.linalg.norm(x)


PROGRAMS = [
    transformer, rnn, conv_linen, conv_nnx, equinox_filter_jit, numpyro_nuts, optax_step, custom_vjp, custom_jvp, remat, shard_map,
    sharded, loops, pmap, callbacks, donation, static_arguments, ahead_of_time, disable_jit, debug_nans, linear_algebra,
    random_numbers, hessian, method, outside_jit,
]  # fmt: skip
