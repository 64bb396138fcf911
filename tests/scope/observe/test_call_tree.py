"""The call tree of the source document: who wrote which equation, called from where; and what transformations made of it."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import sysconfig
from importlib import import_module

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn
from jitscope_scope import observe
from jitscope_scope.observe.calls import OFTENEST
from jitscope_widgets import validate


def source_of(fun, *args):
    """The source document of a function and the nodes of its graph by id."""
    jaxpr = jx.jit(fun).trace(*args).jaxpr.jaxpr
    row = next(row for row in reversed(list(observe.ledger())) if row.jaxpr is jaxpr)
    document = observe.compilation_document(row)
    validate(document)
    return document["source"], {node["id"]: node for node in document["graph"]["nodes"]}


def tree(source):
    """The calls as nested lists of (name, line)."""
    inside = {i: [] for i in range(len(source["calls"]))}
    for i, call in enumerate(source["calls"]):
        if call["parent"] is not None:
            inside[call["parent"]].append(i)

    def of(i):
        call = source["calls"][i]
        return source["functions"][call["function"]]["name"], call["line"], [of(j) for j in inside[i]]

    return of(0)


def line_of(fun, text):
    """The number of the line of a function that contains a text."""
    lines, first = inspect.getsourcelines(fun)
    (found,) = [first + i for i, line in enumerate(lines) if text in line]
    return found


def counts(source, name):
    """(forward, backward) equations by line of a function, in all its calls."""
    found = {}
    for mark in source["marks"]:
        if source["functions"][source["calls"][mark["call"]]["function"]]["name"] == name:
            forward, backward = found.get(mark["line"], (0, 0))
            found[mark["line"]] = forward + mark["forward"], backward + mark["backward"]
    return found


def scale(x, by):
    return jnp.sin(x) * by  # scale


def twice(x):
    x = scale(x, 2.0)  # first
    return scale(x, 3.0)  # second


def test_calls_from_different_lines_are_different_calls():
    source, nodes = source_of(twice, 1.0)
    first, second = line_of(twice, "# first"), line_of(twice, "# second")
    assert tree(source) == ("twice", None, [("scale", first, []), ("scale", second, [])])
    assert [len(mark["nodes"]) for mark in source["marks"]] == [2, 2]
    for mark in source["marks"]:
        for node in mark["nodes"]:
            assert nodes[node]["call"] == mark["call"] and nodes[node]["positions"][0]["line"] == mark["line"]
    shown = source["functions"][source["calls"][1]["function"]]
    assert (shown["name"], shown["lines"]) == ("scale", inspect.getsource(scale).splitlines())
    assert shown["first_line"] == inspect.getsourcelines(scale)[1]


def test_the_calls_of_a_loop_are_one():
    def looped(x):
        for i in range(5):
            x = scale(x, float(i))
        return x

    source, _ = source_of(looped, 1.0)
    assert tree(source) == ("looped", None, [("scale", line_of(looped, "x = scale"), [])])
    assert counts(source, "scale") == {line_of(scale, "# scale"): (10, 0)}


def test_comprehensions_are_part_of_their_function():
    def summed(x):
        return sum(
            scale(x, 2.0) + jnp.cos(x)  # inside
            for _ in range(3)
        )

    source, _ = source_of(summed, 1.0)
    assert {f["name"] for f in source["functions"]} == {"summed", "scale"}
    assert counts(source, "summed")[line_of(summed, "# inside")] == (6, 0)


def test_recursion_is_bounded():
    def power(x, n):
        return x if n == 0 else power(jnp.sin(x), n - 1)

    def deep(x):
        return power(x, 30)

    source, nodes = source_of(deep, 1.0)
    assert len(source["calls"]) == 1 + OFTENEST
    assert counts(source, "power") == {line_of(power, "power(jnp"): (30, 0)}
    assert all(node["call"] is not None for node in nodes.values() if node["kind"] == "equation")


def test_backward_equations_belong_to_the_line_of_the_forward_one():
    def loss(x):
        y = jnp.sin(x)  # sin
        return jnp.sum(y * y)  # square

    def gradient(x):
        return jx.grad(loss)(x)

    source, nodes = source_of(gradient, np.ones(3, np.float32))
    found = counts(source, "loss")
    (cosine,) = [n for n in nodes.values() if n["label"] == "cos"]
    assert cosine["positions"][0]["line"] == line_of(loss, "# sin") and "transpose" not in cosine["transforms"]
    assert found[line_of(loss, "# sin")][0] == 2 and found[line_of(loss, "# sin")][1] >= 1
    assert found[line_of(loss, "# square")][1] >= 1
    backward = [n for n in nodes.values() if "transpose" in n.get("transforms", ())]
    assert sum(b for _, b in found.values()) == len(backward)


def test_equations_say_what_made_them():
    def loss(x):
        return jnp.sum(jnp.exp(jnp.sin(x)) * x)

    def made(fun, *args):
        return [(n["label"], n["transforms"]) for n in source_of(fun, *args)[1].values() if n["kind"] == "equation"]

    def mapped(x):
        return jx.vmap(jnp.sin)(x) + 1

    def forward(x, t):
        return jx.jvp(loss, (x,), (t,))

    def backward(x):
        return jx.grad(loss)(x)

    def both(x):
        return jx.vmap(jx.grad(lambda x: jnp.sin(x)))(x)

    def looped(x):
        return jx.vmap(lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=3)[0])(x)

    x = np.ones(3, np.float32)
    assert made(mapped, x) == [("sin", ["vmap"]), ("add", [])]
    assert [t for label, t in made(forward, x, x) if label in ("sin", "exp")] == [[], []]
    assert ("cos", ["jvp"]) in made(forward, x, x) and ("mul", []) in made(forward, x, x)
    assert [label for label, t in made(backward, x) if not t] == ["sin", "exp", "mul", "reduce_sum"]
    assert all("transpose" in t for label, t in made(backward, x)[6:] if label != "cos")
    assert made(both, x)[:2] == [("sin", ["vmap"]), ("cos", ["jvp", "vmap"])]
    assert ("sin", ["vmap"]) in made(looped, x)


def test_rules_of_ones_own_stand_in_their_own_lines():
    @jx.custom_vjp
    def f(x):
        return jnp.sin(x)

    def forward(x):
        return jnp.sin(x), x

    def backward(x, g):
        return (jnp.exp(x) * g,)  # rule

    f.defvjp(forward, backward)

    def outer(x):
        return jx.grad(f)(x)

    source, nodes = source_of(outer, 1.0)
    (exp,) = [n for n in nodes.values() if n["label"] == "exp"]
    assert exp["positions"][0]["line"] == line_of(backward, "# rule") and exp["transforms"] == ["transpose"]
    assert counts(source, "backward") == {line_of(backward, "# rule"): (0, 2)}


@jx.jit
def shared(x):
    return jnp.sin(x) * 2  # shared


def test_a_program_that_is_called_twice_belongs_to_both_calls():
    def body(c, t):
        return c + shared(t), c  # in the loop

    def both(x):
        c, _ = lax.scan(body, x, jnp.ones(3))
        return shared(c)  # after

    source, _ = source_of(both, 1.0)
    called = [(name, line) for name, line, _ in tree(source)[2]]
    assert ("shared", line_of(both, "# after")) in called
    (inside,) = [inner for name, _, inner in tree(source)[2] if name == "body"]
    assert inside == [("shared", line_of(body, "# in the loop"), [])]
    assert counts(source, "shared") == {line_of(shared.__wrapped__, "# shared"): (4, 0)}


LIBRARY = """
import jitscope as jx
def kept(fun):
    def call(x):
        return fun(x)
    return jx.jit(call)
"""


def test_what_a_library_traced_earlier_stands_where_it_is_called_again():
    """The library's own function is in no stack of the user's: what it called wrote the program, for `first` and for `again`."""
    library = {}
    exec(compile(LIBRARY, f"{sysconfig.get_path('purelib')}/library.py", "exec"), library)

    def model(x):
        return scale(x, 2.0) + 1  # model

    sampler = library["kept"](model)

    def first(x):
        return sampler(x)

    def again(x):
        return sampler(x) * 2  # again

    source_of(first, 1.0)
    source, _ = source_of(again, 1.0)
    called = ("model", line_of(again, "# again"), [("scale", line_of(model, "# model"), [])])
    assert tree(source) == ("again", None, [called])
    assert counts(source, "scale") == {line_of(scale, "# scale"): (2, 0)}


def test_the_librarys_own_code_is_folded():
    def outer(x):
        return nn.softmax(nn.relu(x))

    source, _ = source_of(outer, np.ones(3, np.float32))
    assert [f["name"] for f in source["functions"]] == ["outer"]
    assert {m["line"] for m in source["marks"]} == {line_of(outer, "softmax")}


def test_functions_of_other_files_and_cells(tmp_path):
    (tmp_path / "layers_elsewhere.py").write_text(
        "import jitscope.numpy as jnp\n\n\ndef layer(x):\n    return jnp.tanh(x)\n"
    )
    spec = importlib.util.spec_from_file_location("layers_elsewhere", tmp_path / "layers_elsewhere.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def outer(x):
        return module.layer(x) + 1

    source, _ = source_of(outer, 1.0)
    layer = source["functions"][1]
    assert (layer["name"], layer["label"], layer["first_line"]) == ("layer", "layers_elsewhere.py", 4)
    assert layer["lines"] == ["def layer(x):", "    return jnp.tanh(x)"]
    assert layer["file"] == str(tmp_path / "layers_elsewhere.py") and layer["cell"] is None


@pytest.mark.parametrize("name", ["transformer", "lstm", "resnet"])
def test_every_equation_of_whole_programs_has_its_call(name):
    module = import_module(f"tests.programs.{name}")
    source, nodes = source_of(module.program, *module.arguments())
    equations = {i: n for i, n in nodes.items() if n["kind"] in ("equation", "scope") and n["paths"]}
    assert sorted(i for mark in source["marks"] for i in mark["nodes"]) == sorted(equations)
    text = inspect.getsource(sys.modules[module.__name__]).splitlines()
    for node in equations.values():
        function = source["functions"][source["calls"][node["call"]]["function"]]
        line = node["positions"][0]["line"]
        assert function["first_line"] <= line < function["first_line"] + len(function["lines"])
        assert text[line - 1] == function["lines"][line - function["first_line"]]
    for call in source["calls"][1:]:
        parent = source["functions"][source["calls"][call["parent"]]["function"]]
        called = source["functions"][call["function"]]["name"]
        named = parent["lines"][call["line"] - parent["first_line"]]
        assert called in named or "scan(" in named or "grad(" in named or called == f"lambda, line {call['line']}"
