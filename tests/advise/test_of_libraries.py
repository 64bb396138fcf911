"""Sharp bits of programs for flax and equinox, and programs that look like them and are fine."""

from __future__ import annotations

import re

import pytest

from jitscope.advise import look


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


def marked(text: str) -> tuple[str, list[tuple[str, int]]]:
    """A program without its marks, and what these say is due at which lines."""
    due = [(line.partition("# <- ")[2], n) for n, line in enumerate(text.splitlines(), 1) if "# <- " in line]
    return re.sub(r"  # <- .*", "", text), due


@pytest.mark.parametrize("name", [*TRAPS, *FINE])
def test_masks_of_one_key(name: str) -> None:
    text, due = marked(KEYS + {**TRAPS, **FINE}[name])
    assert bool(due) == (name in TRAPS)
    assert [(one.id, one.span.line) for one in look(text, "<program>")] == due
