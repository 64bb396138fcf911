"""What a hunt says: the operation, the cause told from its numbers, the `where`, and fixes that hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import find_nan, lax
from jitscope_scope.source_code.edits import Edit, Span, applied
from jitscope_widgets import validate
from tests.programs import lstm, resnet


pytestmark = pytest.mark.usefixtures("every_object")  # a fix is tried on the function that is found for its code


def where_log(x):
    return jnp.where(x > 0, jnp.log(x), 0.0).sum()  # where


def where_named(x):
    y = jnp.sqrt(x)  # where
    return jnp.where(x > 0, y, 0.0).sum()


def where_other(x):
    return jnp.where(x == 0, 1.0, jnp.sin(x) / x).sum()  # where


def softmax(x):
    e = jnp.exp(x)  # fix
    return e / e.sum(axis=-1, keepdims=True)


def entropy(p):
    return -(p * jnp.log(p)).sum()  # fix


def normalize(v):
    return v / jnp.linalg.norm(v, axis=-1, keepdims=True)  # fix


def whiten(x):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0))  # fix


def norm(x):
    return jnp.linalg.norm(x)  # fix


def distance(x):
    s = (x**2).sum()
    return jnp.sqrt(s)  # fix


def spread(x):
    return jnp.var(x, ddof=1)


def half(x):
    y = x.astype(jnp.float16)
    return (y * y - y * y).sum()


def power(x):
    return x**0.5


FIXED: list[tuple[Callable[..., Any], Any, str, str]] = [
    (jx.grad(where_log), [0.0, 1, 2], "where-grad-nan", "0 divided by 0"),
    (jx.grad(where_named), [0.0, 1], "where-grad-nan", "0 divided by 0: the derivative of sqrt is infinite at 0"),
    (jx.jit(jx.grad(where_other)), [0.0, 1], "where-grad-nan", "the where does not take it, its derivative does"),
    (softmax, [[1.0, 1000], [1, 2]], "silent-nan", "exp of 1000, beyond the largest f32"),
    (jx.vmap(softmax), [[1.0, 1000], [1, 2]], "silent-nan", "a softmax of numbers too large for exp"),
    (entropy, [0.0, 1], "silent-nan", "0 times an infinity; the infinity is the logarithm of 0"),
    (normalize, [[0.0, 0], [3, 4]], "silent-nan", "0 divided by 0: a vector of norm 0 is normalized"),
    (whiten, [[1.0, 2]], "silent-nan", "0 divided by 0: the divisor is a root of 0"),
    (jx.grad(norm), [0.0, 0], "grad-singular-point", "the derivative of sqrt is infinite at 0"),
    (jx.grad(distance), [0.0, 0], "grad-singular-point", "the derivative of sqrt is infinite at 0"),
]


@pytest.mark.parametrize(("f", "x", "bit", "why"), FIXED, ids=[str(i) for i in range(len(FIXED))])
def test_the_cause_and_a_fix_that_removes_the_nan(f, x, bit, why):
    x = np.array(x, np.float32)
    hunt = find_nan(f)(x)
    document = hunt.document
    validate(document)
    json.dumps(document, allow_nan=False)
    assert hunt.found and document["sharp_bit"] == bit and why in document["cause"]
    (fix,) = document["fixes"]
    assert fix["checked"].startswith("Run with these arguments: the NaN is gone")
    text = Path(__file__).read_text(encoding="utf-8")
    assert any(mark in text.splitlines()[fix["position"]["line"] - 1] for mark in ("# where", "# fix"))
    edits = [Edit(Span(e["line"], e["column"], e["end_line"], e["end_column"]), e["text"]) for e in fix["edits"]]
    names: dict[str, Any] = {"__name__": "fixed"}
    exec(compile(applied(text, edits), "fixed.py", "exec"), names)
    changed = next(g for g, *_ in names["FIXED"] if _name(g) == _name(f))
    before, after = np.asarray(f(x)), np.asarray(changed(x))
    finite = np.isfinite(before)
    assert np.isfinite(after).all() and np.allclose(before[finite], after[finite], atol=1e-5)


def _name(f: Any) -> tuple[str, str]:
    return type(f).__name__, getattr(f, "__name__", "")


def test_a_where_that_takes_the_value_is_not_accused():
    def energy(x):
        r2 = (x**2).sum(-1)
        return jnp.where(r2 < 6, 1 / r2**3, 0.0).sum()

    document = find_nan(jx.grad(energy))(np.array([[0, 0], [1, 2]], np.float32)).document
    assert document["sharp_bit"] == "grad-singular-point" and document["where"] is None


def logistic(x):
    e = jnp.exp(x)
    return e / (1 + e)


def weights(x):
    e = jnp.exp(x)
    return e / e.sum()


@pytest.mark.parametrize(
    ("function", "shape", "offered"), [(logistic, (3,), 0), (weights, (3,), 1), (weights, (3, 1), 0)]
)
def test_the_maximum_is_subtracted_where_it_changes_no_quotient(function, shape, offered):
    document = find_nan(function)(jnp.full(shape, 200.0)).document
    assert document["found"] and len(document["fixes"]) == offered


CAUSES = [
    (spread, [3.0], "a variance of too few elements"),
    (half, [300.0, 1], "an infinity minus an infinity; the infinity is 300 times 300, beyond the largest f16"),
    (
        lambda x: (lambda y: y[1] - y[2])(jnp.exp(x)),
        [90.0, 91, 92],
        "an infinity before it is the exp of 90, beyond the largest f32",
    ),
    (power, [-1.0, 4], "a negative number, -1, to the power 0.5"),
    (lambda x: jnp.arcsin(x), [0.5, 1.5], "arcsin of 1.5: it has values from -1 to 1"),
    (lambda x: jnp.log(x), [-2.0], "the logarithm of a negative number, -2"),
    (lambda x: jnp.sqrt(x), [-2.0], "the square root of a negative number, -2"),
    (lambda x: x + jnp.nan, [1.0], "a NaN that is written in the program"),
    (lambda x: x.astype(jnp.bfloat16) * 1e38, [100.0], "beyond the largest bf16"),
    (lambda x: x @ (x * 1e38), [2.0, 2], "a sum of products beyond the largest f32"),
    (lambda x: 1 / x, [0.0, 1], "1 divided by 0"),
    (lambda x: x * 2 - x, [1.0, np.inf], "an infinity minus an infinity; x had infinities already"),
    (lambda x: jnp.where(x > 0, x, -jnp.inf) - x.min() * jnp.inf, [-1.0], "the infinity is written in the program"),
    (jx.grad(lambda x: jnp.std(x)), [1.0, 1], "the derivative of sqrt is infinite at 0"),
]


@pytest.mark.parametrize(("f", "x", "why"), CAUSES)
def test_causes_are_told_from_the_numbers(f, x, why):
    document = find_nan(f)(np.array(x, np.float32)).document
    validate(document)
    assert why in document["cause"]
    assert document["fixes"] == []  # none of these can be proved


def test_what_the_object_gives():
    def f(x):
        return lax.fori_loop(0, 9, lambda i, c: jnp.log(c), x)

    hunt = find_nan(f)(np.array([50.0, 3.0], np.float32))
    assert (hunt.primitive, hunt.iterations, hunt.index) == ("log", (3,), (1,))
    assert hunt.inputs[0].shape == (2,) and hunt.inputs[0][1] < 0 and np.isnan(hunt.outputs[0][1])
    assert "iteration 3 of 9" in repr(hunt) and "first NaN: log" in repr(hunt)
    assert not find_nan(jnp.sin)(1.0).found and "no NaN" in repr(find_nan(jnp.sin)(1.0))
    given = find_nan(lambda x, y: x + y)(np.float32(1), np.array([1, np.nan], np.float32))
    assert "because y had one already" in repr(given) and "[1] is nan" in repr(given)


def test_functions_with_callbacks_are_run_only_if_asked():
    def f(x):
        jx.debug.callback(lambda x: None, x)
        return jnp.log(x)

    with pytest.raises(ValueError, match="callbacks=True"):
        find_nan(f)(-1.0)
    assert find_nan(f, callbacks=True)(-1.0).primitive == "log"


def test_donated_arguments_are_still_there():
    f = jx.jit(lambda x: jnp.log(x), donate_argnums=0)
    x = jnp.asarray(np.array([-1.0], np.float32))
    assert find_nan(f)(x).primitive == "log"
    assert not x.is_deleted()


def test_the_users_function_is_as_it_was_after_fixes_were_tried():
    code = where_log.__code__
    assert find_nan(jx.grad(where_log))(np.array([0.0, 1], np.float32)).document["fixes"]
    assert where_log.__code__ is code and np.isnan(np.asarray(jx.grad(where_log)(0.0)))


def test_a_recurrent_network(monkeypatch):
    original = lstm.cell

    def cell(params, state, x):
        state, y = original(params, state, x)
        return jx.tree.map(lambda s: jnp.where(x.sum() == 0, jnp.log(-1 - s * s), s), state), y

    monkeypatch.setattr(lstm, "cell", cell)
    params, xs, ys = lstm.arguments(steps=12)
    xs = np.array(xs)
    xs[7] = 0
    hunt = find_nan(lstm.loss)(params, xs, ys)
    assert (hunt.primitive, hunt.iterations) == ("log", (7,)) and hunt.report.finding.position.function == "<lambda>"


def test_a_residual_network():
    params, momentum, images, labels = resnet.arguments(blocks=1)
    images = np.array(images)
    images[1] = np.nan
    hunt = find_nan(resnet.program)(params, momentum, images, labels)
    assert hunt.report.given[0].name == "images" and "already" in hunt.document["sentence"]


def test_gradients_outside_of_jit_are_searched_as_one_program(tmp_path):
    from jitscope_kernel.check import check, read

    file = tmp_path / "eager.py"
    file.write_text(
        "import jitscope as jx\nimport jitscope.numpy as jnp\n\ndef f(x):\n    y = jnp.sqrt(x)\n    z = y * 2\n"
        "    return jnp.where(x > 0, z, 0.0).sum()\n\njx.grad(f)(jnp.array([0.0, 1.0]))\n"
        "def fine(x):\n    safe = jnp.where(x > 0, x, 1.0)\n    return jnp.where(x > 0, jnp.sqrt(safe), 0.0).sum()\n\n"
        "jx.grad(fine)(jnp.array([0.0, 1.0]))\n"
    )
    (found,) = check(read(str(file)), run=True)
    assert (found.one.id, found.line) == ("where-grad-nan", 5) and "the where in line 7" in found.one.message


def test_the_way_to_the_result_is_marked_in_the_graph():
    def total(p):
        def add(c, x):
            return c + x * jnp.log(x), None

        return lax.scan(add, 0.0, p)[0] * 2.0 + p.sum()

    document = find_nan(total)(jnp.array([1.0, 0.0])).document
    validate(document)
    marked = {node["id"]: node for node in document["graph"]["nodes"] if node.get("mark")}
    (stop,) = [node for node in marked.values() if node["mark"] == "stop"]
    assert (stop["id"], stop["label"]) == (document["operation"]["path"], "mul")
    assert {one["path"] for one in document["route"]} <= set(marked) and "out0" in marked
    assert not any(node["label"] in ("log", "reduce_sum") for node in marked.values())


def test_a_large_program_has_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jitscope_scope.advise.nans.document.MOST_EQUATIONS", 10)

    def long(x):
        for _ in range(6):
            x = jnp.log(x) * 1.5
        return x

    document = find_nan(long)(jnp.array([2.0])).document
    validate(document)
    assert document["operation"]["primitive"] == "log" and "graph" not in document
