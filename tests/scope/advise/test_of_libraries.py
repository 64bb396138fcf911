"""Sharp bits of programs for flax and equinox, and programs that look like them and are fine."""

from __future__ import annotations

import re

import pytest

from jitscope_scope.advise import look


KEYS = """
import jax, jax.numpy as jnp, flax.linen as nn
from flax import nnx
net = nn.Dropout(0.5)
key = jax.random.key(1)
"""
TRAPS = {
    "a key of the module": """
@jax.jit
def step(x):
    return net.apply({}, x, deterministic=False, rngs={"dropout": key})  # <- key-not-threaded
""",
    "in the loss inside of a step": """
@jax.jit
def step(params, x):
    def loss(params):
        return net.apply(params, x, rngs={"dropout": key}).sum()  # <- key-not-threaded
    return jax.grad(loss)(params)
""",
    "in a loss that a step differentiates": """
def loss(params, x):
    return net.apply(params, x, rngs={"dropout": key}).sum()  # <- key-not-threaded
@jax.jit
def step(params, x):
    return jax.value_and_grad(loss)(params, x)
""",
    "the argument of a function round a loop": """
def run(xs, rng):
    def body(carry, x):
        return carry, net.apply({}, x, rngs={"dropout": rng})  # <- key-not-threaded
    return jax.lax.scan(body, 0, xs)
""",
    "a dict of the module": """
rngs = {"dropout": key, "noise": key}
@jax.jit
def step(x):
    return net.apply({}, x, rngs=rngs)  # <- key-not-threaded
""",
    "a seed": """
@nnx.jit
def step(model, x):
    return model(x, rngs=nnx.Rngs(0))  # <- key-not-threaded
""",
}
OBJECTS = {
    "a mean of batches": """
bn = nnx.BatchNorm(4, rngs=nnx.Rngs(0))
@jax.jit
def run(bn, x):
    return bn(x).sum()  # <- trace-time-mutation
run(bn, jnp.ones((2, 4)))
""",
    "masks of a module": """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 4, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
    def __call__(self, x):
        return self.drop(self.linear(x))
net = Net(nnx.Rngs(0))
@jax.jit
def run(net, x):
    y = net(x)  # <- trace-time-mutation
    return y.sum()
run(net, jnp.ones((2, 3)))
""",
    "a count that a module keeps": """
class Counter(nnx.Module):
    def __init__(self):
        self.n = nnx.Variable(jnp.array(0))
    def __call__(self, x):
        self.n[...] += 1
        return x * 2
counter = Counter()
@jax.jit
def run(counter, x):
    return counter(x)  # <- trace-time-mutation
run(counter, jnp.ones(3))
""",
    "an optimizer of nnx under plain jit": """
model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
@jax.jit
def step(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda model: model(x).sum())(model)
    optimizer.update(model, grads)  # <- trace-time-mutation
    return loss
step(model, optimizer, jnp.ones((4, 3)))
""",
    "a variable of a module's": """
class Counter(nnx.Module):
    def __init__(self):
        self.count = nnx.Variable(0)
@jax.jit
def count(counter, x):
    counter.count.value += 1  # <- trace-time-mutation
    return x
count(Counter(), jnp.ones(3))
""",
    "a stream of keys from outside": """
rngs = nnx.Rngs(0)
@nnx.jit
def step(x):
    return x + jax.random.normal(rngs(), x.shape)  # <- trace-time-mutation
@jax.jit
def other(x):
    return x + jax.random.normal(rngs.noise(), x.shape)  # <- trace-time-mutation
""",
    "members that begin equal": """
class Ensemble(nn.Module):
    @nn.compact
    def __call__(self, x):
        members = nn.vmap(nn.Dense, variable_axes={"params": 0}, split_rngs={"params": False}, axis_size=4)  # <- key-not-threaded
        return members(3)(x)
""",
    "layers that begin equal": """
layers = nn.scan(nn.Dense, variable_axes={"params": 0},
                 split_rngs={"params": False, "dropout": True}, length=4)  # <- key-not-threaded
""",
    "a mask that all rows share": """
class Block(nnx.Module):
    def __init__(self, rngs):
        self.drop = nnx.Dropout(0.5, rngs=rngs)
    def __call__(self, x):
        return self.drop(x)
class Net(nnx.Module):
    def __init__(self, rngs):
        self.block = Block(rngs)
    def __call__(self, x):
        return self.block(x)
def run(x, net):
    return net(x)
net = Net(nnx.Rngs(0))
xs = jnp.ones((3, 4))
rows = nnx.vmap(run, in_axes=(0, None))  # <- key-not-threaded
rows(xs, net)
nnx.vmap(run, in_axes=(0, None))(xs, net)  # <- key-not-threaded
@nnx.vmap(in_axes=(None, 0))  # <- key-not-threaded
def one(drop, x):
    return drop(x)
one(nnx.Dropout(0.1, rngs=nnx.Rngs(1)), xs)
""",
    "an array among the static fields": """
class Scaled(eqx.Module):
    scale: jax.Array = eqx.field(static=True)  # <- pytree-array-in-aux
    width: int = eqx.field(static=True)
    weight: jax.Array = eqx.field(converter=jnp.asarray)
""",
    "an array by jaxtyping": """
class Scaled(eqx.Module):
    scale: Float[Array, "n"] = eqx.field(static=True)  # <- pytree-array-in-aux
""",
}
OBJECTS_FINE = {
    "a module that changes nothing": """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 4, rngs=rngs)
    def __call__(self, x):
        return self.linear(x)
net = Net(nnx.Rngs(0))
@jax.jit
def run(net, x):
    return net(x).sum()
run(net, jnp.ones((2, 3)))
""",
    "a module that is given back": """
drop = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
@jax.jit
def run(drop, x):
    y = drop(x)
    return y, drop
y, drop = run(drop, jnp.ones(3))
""",
    "masks under nnx.jit": """
drop = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
@nnx.jit
def run(drop, x):
    return drop(x)
run(drop, jnp.ones(3))
""",
    "masks that are turned off": """
drop = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
drop.eval()
@jax.jit
def run(drop, x):
    return drop(x)
run(drop, jnp.ones(3))
""",
    "a count in a branch": """
class Counter(nnx.Module):
    def __init__(self):
        self.n = nnx.Variable(jnp.array(0))
    def __call__(self, x, train=False):
        if train:
            self.n[...] += 1
        return x * 2
counter = Counter()
@jax.jit
def run(counter, x):
    return counter(x)
run(counter, jnp.ones(3))
""",
    "a stream of keys that is given, or made inside": """
rngs = nnx.Rngs(0)
noise = rngs.normal((3,))
@nnx.jit
def step(x, rngs):
    return x + jax.random.normal(rngs(), x.shape)
@jax.jit
def create(n):
    rngs = nnx.Rngs(n)
    return jax.random.normal(rngs(), (3,))
""",
    "an object of nnx gives another key each time": """
class Model(nnx.Module):
    def __call__(self, x, rngs):
        def body(x, block):
            return block(x, rngs=rngs), None
        return jax.lax.scan(body, x, self.blocks)
""",
    "variables that jit changes where they are not turned off": """
optimizer = nnx.Optimizer(nnx.Linear(3, 2, rngs=nnx.Rngs(0)), optax.adam(1e-3), wrt=nnx.Param)
@jax.jit
def step(optimizer, params):
    optimizer.update(params, jax.grad(loss)(nnx.with_vars(params, hijax=False)))
step(optimizer, params)
""",
    "variables that jit changes": """
nnx.var_defaults(hijax=True)
model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
metrics = nnx.Variable({})
@jax.jit
def step(optimizer, model, grads, metrics):
    optimizer.update(model, grads)
    metrics["a"] = 1
    metrics["b"] += jnp.ones(3)
step(optimizer, model, nnx.state(model), metrics)
""",
    "nnx gives back what changed": """
model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
@nnx.jit
def step(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda model: model(x).sum())(model)
    optimizer.update(model, grads)
    return loss
step(model, optimizer, jnp.ones((4, 3)))
""",
    "the changed object is returned": """
model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
@jax.jit
def step(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda model: model(x).sum())(model)
    optimizer.update(model, grads)
    return loss, (model, optimizer)
loss, (model, optimizer) = step(model, optimizer, jnp.ones((4, 3)))
""",
    "optax gives what is new": """
optimizer = optax.adam(1e-3)
@jax.jit
def step(params, state, grads):
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state
@jax.jit
def other(params, sink):
    sink.update(a=params)
    return sink
""",
    "each row with a mask of its own": """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.drop = nnx.Dropout(0.5, rngs=rngs)
    def __call__(self, x):
        return self.drop(x)
axes = nnx.StateAxes({nnx.RngState: 0, ...: None})
@nnx.split_rngs(splits=3)
@nnx.vmap(in_axes=(axes, 0))
def run(net, x):
    return net(x)
run(Net(nnx.Rngs(0)), jnp.ones((3, 4)))
""",
    "no mask at all": """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.line = nnx.Linear(4, 4, rngs=rngs)
class Line(nnx.Module):
    def __init__(self, rngs):
        self.line = nnx.Linear(4, 4, rngs=rngs)
    def __call__(self, x):
        return self.line(x)
@nnx.vmap(in_axes=(None, 0))
def run(net, x):
    return net(x)
run(Line(nnx.Rngs(0)), jnp.ones((3, 4)))
@nnx.vmap(in_axes=(None, 0))
def inner(net, x):
    return net.line(x)
inner(Net(nnx.Rngs(0)), jnp.ones((3, 4)))
""",
    "what is shared is drawn once": """
shared = nn.vmap(nn.Dense, variable_axes={"params": None}, split_rngs={"params": False})
split = nn.vmap(nn.Dense, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": False})
""",
    "static fields that have a hash": """
class Scaled(eqx.Module):
    names: tuple[str, ...] = eqx.field(static=True)
    weight: jax.Array
class Other:
    scale: jax.Array = eqx.field(static=True)
""",
}
FINE = {
    "the key is an argument": """
@jax.jit
def step(x, key):
    return net.apply({}, x, rngs={"dropout": key})
""",
    "of the argument's step": """
@jax.jit
def step(x, i):
    own = jax.random.fold_in(key, i)
    return net.apply({}, x, rngs={"dropout": own}), net.apply({}, x, rngs={"dropout": jax.random.fold_in(key, i)})
""",
    "the loss takes the key of its step": """
@jax.jit
def step(params, x, key):
    def loss(params):
        return net.apply(params, x, rngs={"dropout": key}).sum()
    return jax.grad(loss)(params)
""",
    "nothing is dropped": """
@jax.jit
def evaluate(x):
    return net.apply({}, x, deterministic=True, rngs={"dropout": key})
""",
    "parameters are made once": """
@jax.jit
def start(x):
    return net.init({"params": key, "dropout": key}, x)
@nnx.jit
def create(n):
    return nnx.Linear(n, n, rngs=nnx.Rngs(0))
""",
    "no function is compiled": """
def step(x):
    return net.apply({}, x, rngs={"dropout": key})
""",
    "a step is made with each key": """
def compiled(key):
    return jax.jit(lambda x: net.apply({}, x, rngs={"dropout": key}))
""",
}


LIBRARIES = """
import jax, jax.numpy as jnp, optax, equinox as eqx, flax.linen as nn
from flax import nnx
from jaxtyping import Array, Float
"""


@pytest.mark.parametrize("name", [*OBJECTS, *OBJECTS_FINE])
def test_modules_of_libraries(name: str) -> None:
    text, due = marked(LIBRARIES + {**OBJECTS, **OBJECTS_FINE}[name])
    assert [(one.id, one.span.line) for one in look(text, "<program>")] == due


def marked(text: str) -> tuple[str, list[tuple[str, int]]]:
    """A program without its marks, and what these say is due at which lines."""
    due = [(line.partition("# <- ")[2], n) for n, line in enumerate(text.splitlines(), 1) if "# <- " in line]
    return re.sub(r"  # <- .*", "", text), due


@pytest.mark.parametrize("name", [*TRAPS, *FINE])
def test_masks_of_one_key(name: str) -> None:
    text, due = marked(KEYS + {**TRAPS, **FINE}[name])
    assert bool(due) == (name in TRAPS)
    assert [(one.id, one.span.line) for one in look(text, "<program>")] == due
