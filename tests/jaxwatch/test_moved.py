"""What jax moves out of a loop's body stays where the body was written, and what wraps a function in its definition belongs to it."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np

import jitscope


def softened(w):
    return jnp.log1p(jnp.exp(w))


def rolled(w, xs):
    def step(h, x):
        with jax.named_scope("cell"):
            h = jnp.tanh(softened(w) * h + x)
        return h, h

    return jax.lax.scan(step, jnp.zeros_like(w), xs)[1]


def loss(w, xs):
    return jnp.sum(rolled(w, xs) ** 2)


@jax.jit
def slope(w, xs):
    return jax.grad(loss)(w, xs) + 1.0


def test_equations_moved_out_of_a_loop_belong_to_the_function_that_has_the_loop():
    seen = jitscope.inspect(slope)(jnp.ones(8), jnp.ones((4, 8)))
    document = seen.document
    top = [
        node for node in document["graph"]["nodes"] if node["scope"] is None and node["kind"] not in ("input", "output")
    ]
    assert {node["label"] for node in top} <= {"loss", "loss (backward)", "add"}, top
    assert len([node for node in top if node["label"] == "loss"]) == 1
    marked = {path for mark in document["source"]["marks"] for path in mark["nodes"]}
    own = {path for node in document["graph"]["nodes"] if node["kind"] == "equation" for path in node["paths"]}
    assert own <= marked, own - marked
    line = softened.__code__.co_firstlineno + 1
    calls = document["source"]["calls"]
    names = [document["source"]["functions"][call["function"]]["name"] for call in calls]
    before_the_loop = [
        m for m in document["source"]["marks"] if m["line"] == line and any("/" not in p for p in m["nodes"])
    ]
    (mark,) = before_the_loop
    chain, at = [], mark["call"]
    while at is not None:
        chain.append(names[at])
        at = calls[at]["parent"]
    assert chain[-1] == "slope" and chain[-3:-1] == ["rolled", "loss"], chain


@jax.jit
@jax.shard_map(mesh=jax.sharding.Mesh(np.array(jax.devices()[:1]), "d"), in_specs=jax.P("d"), out_specs=jax.P("d"))
def wrapped(x):
    y = jnp.cos(x)
    return y * 2


def test_a_function_that_is_wrapped_where_it_is_defined_has_its_lines_once():
    source = jitscope.inspect(wrapped)(jnp.ones(4)).document["source"]
    assert [call["line"] for call in source["calls"]] == [None]
    first = inspect.unwrap(wrapped).__code__.co_firstlineno
    assert [mark["line"] - first for mark in source["marks"]] == [0, 3, 4]
