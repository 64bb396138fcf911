"""The transformations document: the programs before and after each step, against those that the library makes by itself."""

import gc

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, observe
from jitscope.core.jaxpr import count
from jitscope.core.steps import recorder
from jitscope.observe.instruments import look
from jitscope_widgets.schema import validate
from jitscope_widgets.text import text


W, X = np.full((4, 3), 0.5, np.float32), np.ones((5, 4), np.float32)


def loss(w, x):
    y = jnp.tanh(x @ w)
    return (y * y).sum()


def steps_of(fun, *args):
    document = jx.inspect(fun)(*args).transformations.document
    validate(document)
    return document


def names(document):
    return [(step["depth"], step["transform"], step["function"]) for step in document["steps"]]


def equations(program):
    return len(program["lines"]) - 2 + program["left_out"]  # what it takes and gives are lines, too


def test_a_gradient_is_jvp_then_linearize_then_transpose():
    document = steps_of(jx.grad(loss), W, X)
    assert names(document) == [(0, "jvp", "loss"), (0, "linearize", "loss"), (0, "transpose", "loss")]
    jvp, linearize, transpose = document["steps"]
    with_x = lambda w: loss(w, X)
    assert equations(jvp["before"]) == count(jx.make_jaxpr(with_x)(W).jaxpr)
    assert equations(jvp["after"][0]) == count(jx.make_jaxpr(lambda w, t: jx.jvp(with_x, (w,), (t,)))(W, W).jaxpr)
    known, linear = linearize["after"]
    assert known["title"].startswith("what depends on values") and linear["title"].startswith("what is linear")
    pushed = jx.linearize(with_x, W)[1]
    assert equations(linear) == count(pushed.jaxpr) == equations(transpose["before"])
    # what the compiled program does is what the parts that run do: values, then cotangents
    whole = count(jx.inspect(jx.grad(loss))(W, X).jaxpr.jaxpr)
    assert equations(known) + equations(transpose["after"][0]) == whole


def test_what_stems_from_what_goes_by_the_place_it_was_written():
    document = steps_of(jx.grad(loss), W, X)
    lines = {one["position"]["line"]: number for number, one in enumerate(document["origins"])}
    first = loss.__code__.co_firstlineno
    assert set(lines) <= {first + 1, first + 2}
    tanh = [line for line in document["steps"][0]["after"][0]["lines"] if " tanh " in line["text"]]
    assert [line["transforms"] for line in tanh] == [[]]
    same = [line for line in document["steps"][0]["after"][0]["lines"] if line["origin"] == tanh[0]["origin"]]
    assert any(line["transforms"] == ["jvp"] for line in same)
    back = [line for line in document["steps"][2]["after"][0]["lines"] if line["origin"] is not None]
    assert back and all("transpose" in line["transforms"] for line in back)
    graph = jx.inspect(jx.grad(loss))(W, X).document["graph"]
    written = {node["id"]: node["positions"][0] for node in graph["nodes"] if node["positions"]}
    for one in document["origins"]:
        assert one["paths"]
        assert all(written[path]["line"] == one["position"]["line"] for path in one["paths"])


def test_vmap_of_a_gradient_comes_after_the_gradient():
    document = steps_of(jx.vmap(jx.grad(loss), (None, 0)), W, np.ones((7, 5, 4), np.float32))
    assert names(document)[-1] == (0, "vmap", "loss")
    assert [name for _, name, _ in names(document)] == ["jvp", "linearize", "transpose", "vmap"]
    assert {depth for depth, *_ in names(document)[:-1]} == {1}
    last = document["steps"][-1]
    assert last["after"][0]["title"] == "all 7 examples"
    assert "f32[7,5,4]" in last["after"][0]["lines"][0]["text"] and "f32[5,4]" in last["before"]["lines"][0]["text"]


def test_transformations_inside_of_a_jitted_function_and_of_a_loop_are_there():
    inner = jx.jit(lambda w: jx.grad(loss)(w, X))

    def train(w):
        step = lambda w, _: (w - 0.1 * inner(w), None)
        return lax.scan(step, w, None, length=3)[0]

    document = steps_of(train, W)
    assert [name for _, name, _ in names(document)] == ["jvp", "linearize", "transpose"]
    assert names(steps_of(lambda w: jx.jvp(lambda w: loss(w, X), (w,), (w,))[1], W))[0][1] == "jvp"


def test_second_derivatives_hold_the_first():
    twice = jx.grad(lambda w: jx.grad(loss)(w, X).sum())
    found = names(steps_of(twice, W))
    assert [(depth, name) for depth, name, _ in found] == [
        (1, "jvp"), (1, "linearize"), (1, "transpose"), (0, "jvp"), (0, "linearize"), (0, "transpose")
    ]  # fmt: skip


def test_the_function_runs_once_more_and_what_it_prints_is_not_seen(capsys):
    runs = []

    def counted(w):
        runs.append(1)
        print("traced")
        return (w * w).sum()

    seen = jx.inspect(jx.grad(counted))(W)
    before = len(runs)
    capsys.readouterr()
    rows = len(observe.ledger())
    assert seen.transformations.document["cost"]["value"] > 0
    assert len(runs) == before + 1 and capsys.readouterr().out == ""
    assert len(observe.ledger()) == rows and recorder() is None
    np.testing.assert_allclose(jx.jit(jx.grad(counted))(W), 2 * W)


def test_what_calls_python_is_not_traced_again_and_what_is_gone_cannot_be():
    def calling(x):
        jx.debug.callback(lambda v: None, x)
        return x + 1

    with pytest.raises(ValueError, match="calls Python functions while it runs"):
        _ = jx.inspect(calling)(np.float32(1)).transformations
    row = jx.inspect(lambda x: x * 3)(np.float32(2))._row
    gc.collect()
    with pytest.raises(LookupError, match="no longer"):
        look(row, "transformations")


def test_a_function_without_transformations_says_so():
    document = steps_of(loss, W, X)
    assert document["steps"] == []
    assert "No transformation was called" in text(document)


def test_the_text_has_each_step_with_its_lines():
    told = text(steps_of(jx.grad(loss), W, X))
    assert "1. jvp of loss, before:" in told and "3. transpose of loss" in told and "# line" in told
