"""What the arguments of inner programs are called in the graph of the program that holds them."""

from __future__ import annotations

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
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
