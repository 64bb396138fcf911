"""Errors that end a trace of jax's: the line, what was traced up to it, the way there."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jitscope.jaxwatch import stopped
from jitscope_widgets import validate


def branch(x, w):
    y = jnp.sin(x) * w
    z = y.sum()
    if z > 0:
        return y
    return -y


def number(x, w):
    n = jnp.floor(x[0])
    return jnp.zeros(int(n)) + w


def numpys(x, w):
    y = x * w
    return np.sin(y)


def index(x, w):
    at = x[0].astype(int)
    return [1, 2, 3][at]


def inside(x, w):
    def body(c, _):
        d = c * w
        return (d if d.sum() > 0 else c), None

    return lax.scan(body, jnp.cos(x), None, length=2)[0]


def shapes(x, w):
    y = jnp.sin(x)
    return y @ jnp.ones((3, 2))


def unused(x, w):
    return "text"


LINES = Path(__file__).read_text().splitlines()
CASES = {
    branch: ("if z > 0", ["sin", "mul", "reduce_sum", "gt"]),
    number: ("int(n)", ["floor"]),
    numpys: ("np.sin(y)", ["mul"]),
    index: ("[1, 2, 3][at]", ["convert_element_type"]),
    shapes: ("y @ jnp.ones((3, 2))", ["sin", "broadcast_in_dim"]),
    inside: ("d.sum() > 0", ["mul", "reduce_sum", "gt"]),
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_an_error_shows_the_way_to_it(watcher, function):
    asked, primitives = CASES[function]
    with pytest.raises(Exception) as caught:
        jax.jit(function)(jnp.ones(4), jnp.float32(2))
    document = stopped(caught.value)
    validate(document)
    nodes = {node["id"]: node for node in document["graph"]["nodes"]}
    stop = nodes[document["stop"]]
    assert asked in document["asked"] and stop["mark"] == "stop"
    line = stop["positions"][0]["line"]
    assert asked.removeprefix("if ") in LINES[line - 1]
    labels = [node["label"] for node in nodes.values() if node["kind"] == "equation"]
    assert [label for label in labels if label in primitives] == primitives
    way = {node["label"] for node in nodes.values() if node.get("mark") == "path"}
    assert primitives[-1] in way and "x" in way


def test_other_errors_have_no_trace(watcher):
    for function, kind in ((unused, TypeError), (lambda x, w: 1 / 0, ZeroDivisionError)):
        with pytest.raises(kind) as caught:
            jax.jit(function)(jnp.ones(4), jnp.float32(2))
        assert stopped(caught.value) is None


def test_nothing_is_kept_of_it(watcher):
    with jax.checking_leaks():
        with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
            jax.jit(branch)(jnp.ones(4), jnp.float32(2))
        assert stopped(caught.value)
        del caught
        assert float(jax.jit(lambda v: v.sum())(jnp.ones(3))) == 3
