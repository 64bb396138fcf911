"""Named scopes: names that travel with the positions of equations, and that programs do not depend on."""

import re

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core import records
from jitscope_scope import observe
from jitscope_widgets import validate


def scopes(closed, primitive):
    """The scopes of the equations of a primitive, by path, at all levels."""
    found = observe.positions_of(closed.jaxpr)
    eqns = {node["id"]: node for node in observe.jaxpr_graph(closed.jaxpr, "", found)["nodes"]}
    return [
        position.get("named_scope")
        for node in eqns.values()
        if node["kind"] != "group" and node["text"].split(" = ")[-1].split("[")[0].split()[0] == primitive
        for position in node["positions"]
    ]


@jx.named_scope("layer")
def layer(x):
    with jx.named_scope("attention"):
        x = jnp.sin(x)
    return jnp.cos(x)


def test_nested_scopes_stand_with_positions():
    closed = jx.make_jaxpr(lambda x: jnp.tanh(layer(x)))(1.0)
    assert (scopes(closed, "sin"), scopes(closed, "cos"), scopes(closed, "tanh")) == (
        ["layer/attention"],
        ["layer"],
        [None],
    )


def test_scopes_reach_into_calls_and_loops_once():
    inner = jx.jit(lambda x: lax.fori_loop(0, 2, lambda i, c: jx.named_call(jnp.sin, name="turn")(c), x))

    def f(x):
        with jx.named_scope("first"):
            x = inner(x)
        with jx.named_scope("second"):
            return inner(x)  # the same trace, elsewhere

    assert scopes(jx.make_jaxpr(f)(1.0), "sin") == ["first/turn", "second/turn"]


def test_transformations_keep_scopes():
    assert set(scopes(jx.make_jaxpr(jx.grad(layer))(1.0), "cos")) == {"layer/attention", "layer"}
    assert scopes(jx.make_jaxpr(jx.vmap(layer))(jnp.ones(2)), "sin") == ["layer/attention"]
    assert scopes(jx.make_jaxpr(jx.jit(jx.grad(layer)))(1.0), "sin") == ["layer/attention", "layer"]


def test_names_of_functions_and_what_is_no_name():
    def softmax(x):
        return jnp.exp(x)

    named = jx.named_call(softmax)
    assert scopes(jx.make_jaxpr(named)(1.0), "exp") == ["softmax"] and named.__name__ == "softmax"
    with pytest.raises(TypeError, match="the name must be a str"):
        jx.named_scope(3)
    with pytest.raises(TypeError, match="the name must be a str"):
        jx.named_call(softmax, name=3)


def test_an_exception_leaves_the_scope():
    with pytest.raises(ZeroDivisionError), jx.named_scope("broken"):
        _ = 1 / 0
    assert scopes(jx.make_jaxpr(jnp.sin)(1.0), "sin") == [None]


def test_programs_do_not_depend_on_names():
    def make(name):
        return jx.jit(lambda x: jx.named_scope(name)(jnp.sin)(x) * 7)

    make("one")(1.0)
    found = []
    stop = records.listen(lambda record: found.append(record.step))
    make("another")(1.0)
    stop()
    assert "reuse" in found and "compile" not in found


def test_texts_of_programs_show_scopes():
    closed = jx.make_jaxpr(layer)(1.0)
    assert re.findall(r"\[layer.*?\]", closed.pretty_print(name_stack=True)) == ["[layer/attention]", "[layer]"]
    assert "#" not in closed.pretty_print()
    both = closed.pretty_print(name_stack=True, source_info=True)
    assert "[layer/attention]" in both and "test_scopes.py" in both
    lowered = jx.jit(layer).lower(1.0)
    for dialect in ("stablehlo", "hlo"):
        text = lowered.as_text(dialect, debug_info=True)
        assert "e0 layer/attention/sin" in text and "e1 layer/cos" in text
        assert "layer" not in re.sub("(module @jit_|@|HloModule )layer", "", lowered.as_text(dialect))


def test_times_of_kernels_tell_their_scopes():
    def f(x):
        with jx.named_scope("first"):
            x = jnp.sin(x) @ x
        with jx.named_scope("second"):
            return jnp.cumsum(x, 0)

    found = observe.kernel_times(jx.jit(f), jnp.ones((300, 300)), calls=3)
    assert {scope for kernel in found for scope in kernel.scopes} == {"first", "second"}
    assert all(len(kernel.scopes) == 1 for kernel in found if kernel.paths)


def test_documents_show_scopes():
    f = jx.jit(lambda x: jnp.tanh(layer(x)))
    f(jnp.ones(3))
    row = next(row for row in reversed(observe.ledger().rows.values()) if row.entry is not None)
    document = observe.compilation_document(row)
    validate(document)
    names = {p.get("named_scope") for kernel in document["fusion"]["kernels"] for p in kernel["positions"]}
    assert {"layer/attention", "layer"} <= names
