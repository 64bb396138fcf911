"""Numbers of a user's own over the graph: given by a function or by path, in every form of the view, found by the search."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.jaxpr import walk
from jitscope_widgets import html, text, to_graphviz, validate
from jitscope_widgets.envelope import pack, unpack
from jitscope_widgets.svg import svg


X = np.ones((6, 4), np.float32)


def summed(x):
    def step(carry, row):
        return jnp.tanh(carry + row), carry.sum()

    last, sums = lax.scan(step, x[0], x)
    return last * 2, sums


def elements(eqn):
    return None if eqn.primitive.name == "tanh" else int(np.prod(eqn.outvars[0].aval.shape))


def numbers_in(document):
    return {node["id"]: node["number"]["value"] for node in document["graph"]["nodes"] if "number" in node}


def test_a_function_gives_each_equation_its_number_also_in_loops():
    seen = jx.inspect(summed)(X)
    assert numbers_in(seen.document) == {}
    assert seen.with_numbers(elements, "elements") is seen
    validate(seen.document)
    wanted = {path: elements(eqn) for path, eqn in walk(seen.jaxpr.jaxpr)}
    assert numbers_in(seen.document) == {path: number for path, number in wanted.items() if number is not None}
    assert any("/" in path for path in wanted) and None in wanted.values()
    seen.with_numbers({"e0": 7})
    assert numbers_in(seen.document) == {"e0": 7}
    seen.with_numbers({})
    assert numbers_in(seen.document) == {} and "number" not in seen.document["graph"]["nodes"][0]


def test_they_stay_when_the_program_is_measured_and_when_it_is_saved():
    seen = jx.inspect(summed)(X).with_numbers(elements, "elements")
    given = numbers_in(seen.document)
    assert numbers_in(seen.measure().document) == given
    assert numbers_in(unpack(pack(seen.document).text)) == given


def test_every_form_of_the_view_says_them():
    seen = jx.inspect(lambda x: jnp.sin(x) * 2)(X).with_numbers({"e0": 0.0123, "e1": 4}, "cost <b>", "s")
    graph = seen.graph.document
    assert "cost <b>: 12.3 ms" in text(graph) and "cost <b>: 4 s" in text(graph)
    assert "sin · 12.3 ms" in svg(graph) and "sin · 12.3 ms" in to_graphviz(graph).source
    page = html(seen.document)
    assert "sin · 12.3 ms" in page and "after the names: cost &lt;b&gt;" in page and "<b>:" not in page
    assert "after the names" not in html(seen.with_numbers({}).document)


@pytest.mark.parametrize(
    ("numbers", "error", "said"),
    [
        (3, TypeError, "a function of an equation, or a dict by path"),
        ({"e9": 1}, ValueError, "no equation has the path 'e9'; the paths are e0, e1"),
        ({0: 1}, ValueError, "no equation has the path 0"),
        ({"e0": "large"}, TypeError, r"the number of e0 \(sin\) is 'large'"),
        ({"e0": True}, TypeError, "not an int or a float"),
        (lambda eqn: float("nan"), ValueError, r"the number of e0 \(sin\) is nan: only finite ones"),
    ],
)
def test_what_is_no_number_is_said(numbers, error, said):
    seen = jx.inspect(lambda x: jnp.sin(x) * 2)(X)
    with pytest.raises(error, match=said):
        seen.with_numbers(numbers)
    assert numbers_in(seen.document) == {}
