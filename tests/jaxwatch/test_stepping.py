"""The traces of jax's functions, line by line."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jitscope
import jitscope_widgets
from jitscope_widgets import validate
from jitscope_widgets.documents.trace import TraceDocument
from tests.scope.observe.test_stepping import Pair


def square(v: Any) -> Any:
    return v * v


def wave(x: Any) -> Any:
    if x.ndim == 1:
        y = jnp.sin(x)
    else:
        y = jnp.cos(x)
    for step in (1, 2):
        y = square(y) + step * x
    return y


def stepped(function: Any, *args: Any) -> TraceDocument:
    document = jitscope.step(function)(*args).document
    validate(document)
    assert document["library"] == "jax"
    return document


@pytest.mark.parametrize("jitted", [False, True], ids=["plain", "jitted"])
def test_the_tape_is_the_jaxpr(jitted: bool) -> None:
    function = jax.jit(wave) if jitted else wave
    function(jnp.ones(3))  # what jax knows already is traced all the same
    document = stepped(function, jnp.ones(3))
    assert document["error"] == ""
    made = [eqn.primitive.name for eqn in jax.make_jaxpr(wave)(jnp.ones(3)).jaxpr.eqns]
    assert [line.split(" = ")[1].split("[")[0].split()[0] for line in document["tapes"][0]["lines"]] == made
    assert [(call["depth"], call["skipped"] != []) for call in document["calls"]] == [(0, True), (1, False), (1, False)]
    assert document["calls"][0]["skipped"][0]["why"] == "not taken"


def test_what_takes_trees_apart_and_rebuilds_them_is_no_step() -> None:
    jax.tree_util.register_pytree_node_class(Pair)
    document = stepped(lambda p: jax.tree.map(square, Pair(p.b, p.a)).a, Pair(1.0, 2.0))
    assert [call["depth"] for call in document["calls"]] == [0, 1, 1, 1]  # __init__, square, square


def test_an_error_ends_the_steps_at_its_line() -> None:
    def asking(x: Any) -> Any:
        y = x * 2
        if y > 0:
            return y
        return -y

    document = stepped(asking, jnp.float32(1.0))
    assert document["error"].startswith("TracerBoolConversionError: ")
    assert [step["kind"] for step in document["steps"]] == ["line", "error"]
    assert len(document["tapes"][0]["lines"]) == 2


def test_transformations_are_named() -> None:
    differentiated = stepped(jax.grad(lambda x: jnp.sin(x) * x), 1.0)
    assert "(differentiated)" in differentiated["steps"][0]["names"][0]["text"]
    assert "after the last of them" in jitscope_widgets.text(differentiated)
    mapped = stepped(jax.vmap(square), jnp.ones(3))
    assert mapped["steps"][0]["names"][0]["text"] == "a:f32[] (one of a batch)"


def test_a_loop_s_body_has_a_tape_of_its_own() -> None:
    def summed(x: Any) -> Any:
        def body(carry: Any, item: Any) -> Any:
            return carry + item, carry

        return jax.lax.scan(body, jnp.float32(0), x)

    document = stepped(summed, jnp.ones(3))
    assert any(tape["name"] == "body" for tape in document["tapes"][1:])
    assert document["tapes"][0]["lines"][-1].split(" = ")[1].startswith("scan")
