"""What the arguments of inner programs are called in the graph of the program that holds them."""

from __future__ import annotations

import functools
import linecache
from types import SimpleNamespace

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.jaxpr import count
from jitscope.core.source import Position
from jitscope_scope import observe
from jitscope_scope.observe.graph import nodes_by_path
from jitscope_scope.observe.groups.names import name_of_line
from jitscope_scope.observe.numbers import with_numbers
from tests.compiler.programs import floats


X = floats(3)


def test_arguments_of_inner_programs_are_called_by_what_they_are():
    def loop(x):
        return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 2), (0, x))

    def sum_and_largest(x):
        return lax.reduce((x, x), (0.0, 0.0), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0,))

    def graph_of(fun, *args):
        return observe.jaxpr_graph(jx.make_jaxpr(fun)(*args).jaxpr, "f", {})

    def inside(graph):
        return {n["label"] for n in graph["nodes"] if n["kind"] == "input" and n["scope"]}

    matrix = jnp.eye(3) * 2
    solve = graph_of(jnp.linalg.solve, matrix, X)
    assert not inside(solve)  # what goes in as it is is drawn as its own
    assert {e["to"].split("/")[0] for e in solve["edges"] if "/solve/" in e["to"]} == {"e4"}
    assert all("/in" not in e["from"] for e in solve["edges"])
    assert inside(graph_of(lambda a, b: jx.scipy.sparse.linalg.cg(lambda v: a @ v, b)[0], matrix, X)) == {"0 at first"}
    assert inside(graph_of(loop, X)) == {"0 at first"}
    assert inside(graph_of(jx.jit(lambda x: jx.jit(lambda n, y: y * n)(2.0, x)), X)) <= {"n", "2.0"}
    assert inside(graph_of(sum_and_largest, X)) == {"left value", "right value"}  # elements, or what came of some


def test_a_function_in_which_a_call_of_itself_is_all_there_is_has_one_box():
    """As of `relu`: a function that is compiled, and for which a rule is written."""

    @jx.custom_jvp
    @jx.jit
    def bent(x):
        return jnp.maximum(x, 0) * 2

    bent.defjvp(lambda primals, tangents: (bent(*primals), tangents[0]))
    looped = jx.jit(lambda x: lax.scan(lambda c, _: lax.scan(lambda d, _: (d * 2, None), c, length=3), x, length=3)[0])
    jaxpr = jx.make_jaxpr(lambda x: bent(x) + looped(x))(X).jaxpr
    graph = observe.jaxpr_graph(jaxpr, "f", {})
    scopes = [(n["label"], n["paths"]) for n in graph["nodes"] if n["kind"] == "scope"]
    assert scopes[0] == ("bent", ["e0", "e0/e0"])
    assert [label for label, _ in scopes[1:]] == ["<lambda>", "scan × 3", "scan × 3"]
    inside = [n for n in graph["nodes"] if n["scope"] == "e0"]
    assert [(n["id"], n["label"]) for n in inside] == [("e0/e0/e0", "max"), ("e0/e0/e1", "mul")]
    ids = {n["id"] for n in graph["nodes"]}
    assert all(e["from"] in ids and e["to"] in ids for e in graph["edges"])
    assert next(e["to"] for e in graph["edges"] if e["from"] == "in0") == "e0/e0/e0"
    assert sum(len(n["paths"]) for n in graph["nodes"]) == count(jaxpr)
    assert {p: n["id"] for p, n in nodes_by_path(graph).items()}["e0/e0"] == "e0"
    numbered = with_numbers(graph, jaxpr, {"e0/e0": 0.5, "e0/e0/e1": 2.0}, "part", "")
    assert {n["id"]: n["number"]["value"] for n in numbered["nodes"] if "number" in n} == {"e0": 0.5, "e0/e0/e1": 2.0}


class _Model:
    def __init__(self, inner):
        self.inner = inner

    @functools.partial(jx.jit, static_argnums=0)
    def __call__(self, x):
        return self.inner(x) * 2


def test_a_compiled_call_of_a_class_has_the_class_s_name():
    """One within another, whose equation comes first. A function with a rule of its own has its own name."""

    class Part(_Model):
        @functools.partial(jx.jit, static_argnums=0)
        def __call__(self, x):
            return jnp.sin(x) + self.inner

    @jx.custom_vjp
    def ruled(x):
        return jnp.sin(x) * 2

    ruled.defvjp(lambda x: (ruled(x), x), lambda x, g: (g * jnp.cos(x),))
    jaxpr = jx.make_jaxpr(lambda x: ruled(_Model(Part(1.0))(x)))(X).jaxpr
    graph = observe.jaxpr_graph(jaxpr, "f", {})
    assert [n["label"] for n in graph["nodes"] if n["kind"] == "scope"] == ["_Model", "Part", "ruled"]


def test_a_call_in_several_lines_is_called_by_what_it_calls():
    for number, (text, named) in enumerate(
        [("y = lax.sort(\n    x)", "lax.sort"), ("y = lax.sort(x,\n    1)", "y = lax.sort(x,")]
    ):
        file = f"<call {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        assert name_of_line([SimpleNamespace(position=Position(file, 1, 2, 4, 6, "f"))]) == named
