"""Five programs that XLA treats differently, as cells, each with a call of what it defines."""

LOAD = "%load_ext jitscope\nimport jitscope as jx, jitscope.numpy as jnp"

LAYER = """%%jit
def layer(x, w, b):
    z = x @ w + b
    return 1.05 * jnp.where(z > 0, z, 1.67 * (jnp.exp(z) - 1))

x, w, b = jnp.ones((64, 20)), jnp.ones((20, 7)), jnp.zeros(7)
layer(x, w, b);"""

LOSS = """%%jit
def loss(z, y):
    shifted = z - z.max(axis=1, keepdims=True)
    scores = shifted - jnp.log(jnp.exp(shifted).sum(axis=1, keepdims=True))
    return -(scores * y).sum(axis=1).mean()

z, y = jnp.ones((64, 10)), jnp.eye(10)[jnp.arange(64) % 10]
loss(z, y);"""

GRADIENT = """%%jit
def energy(v, x):
    return (jnp.tanh(x @ v) ** 2).sum()

def gradient(v, x):
    return jx.grad(energy)(v, x)

v, x = jnp.ones((20, 7)), jnp.ones((64, 20))
gradient(v, x);"""

CHAIN = """%%jit
def chain(x):
    for _ in range(12):
        x = jnp.sin(x) * 2 + 1
    return x

x = jnp.linspace(0, 1, 1000)
chain(x);"""

PICKED = """%%jit
def picked(x, i):
    rows = x[i]
    return jnp.concatenate([rows.T, rows.T * 2], axis=1).sum(axis=0)

x, i = jnp.arange(300.0).reshape(30, 10), jnp.array([3, 1, 4, 1, 5])
picked(x, i);"""

# cell, the call it makes (in names that still stand when all cells have run), the name of the function looked at
PROGRAMS = {
    "layer": (LAYER, "layer(jnp.ones((64, 20)), jnp.ones((20, 7)), jnp.zeros(7))"),
    "loss": (LOSS, "loss(jnp.ones((64, 10)), jnp.eye(10)[jnp.arange(64) % 10])"),
    "gradient": (GRADIENT, "gradient(jnp.ones((20, 7)), jnp.ones((64, 20)))"),
    "chain": (CHAIN, "chain(jnp.linspace(0, 1, 1000))"),
    "picked": (PICKED, "picked(jnp.arange(300.0).reshape(30, 10), jnp.array([3, 1, 4, 1, 5]))"),
}
