"""The trace of a function, line by line: each step against Python's own account of the run, and the tape against the printed jaxpr."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import jitscope as jx
import jitscope.numpy as jnp
import jitscope_widgets
from jitscope import lax
from jitscope.core import call_sites
from jitscope_widgets import validate
from jitscope_widgets.documents.trace import TraceDocument


def square(v: Any) -> Any:
    return v * v


def straight(x: Any) -> Any:
    y = jnp.sin(x)
    z = y + 2 * x
    return z / y


def branching(x: Any) -> Any:
    if x.ndim == 1:
        y = jnp.sin(x)
    elif x.ndim == 2:
        y = jnp.cos(x)
    else:
        y = jnp.tan(x)
        y = y + 1
    for _ in ():
        y = y * 2
    return y


def looping(x: Any) -> Any:
    total = 0.0
    for step in (1, 2, 3):
        total = total + square(x) * step
    return total


def scanning(x: Any) -> Any:
    def body(carry: Any, item: Any) -> Any:
        carry = carry + item
        return carry, carry * item

    return lax.scan(body, 0.0, x)


def compiled_inside(x: Any) -> Any:
    inner = jx.jit(square)
    return inner(x) + inner(x)


def caught(x: Any) -> Any:
    y = x
    try:
        bool(x.sum() > 0)
    except jx.errors.TracerBoolConversionError:
        y = x + 1
    return y


def asking(x: Any) -> Any:
    y = x * 2
    if y.sum() > 0:
        return y
    return -y


PROGRAMS = [straight, branching, looping, scanning, compiled_inside, caught]


def stepped(function: Callable[..., Any], *args: Any) -> TraceDocument:
    document = jx.step(function)(*args).document
    validate(document)
    return document


def lines_run(function: Callable[..., Any], document: TraceDocument) -> list[int]:
    """The lines of a function that ran, from its own first one, in order."""
    number = next(at for at, code in enumerate(document["codes"]) if code["function"] == function.__name__)
    first = document["codes"][number]["position"]["line"]
    ran = [step for step in document["steps"] if step["kind"] in ("line", "error")]
    return [step["line"] - first for step in ran if document["calls"][step["call"]]["code"] == number]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_the_tape_is_the_jaxpr(function: Callable[..., Any]) -> None:
    document = stepped(function, jnp.ones(3))
    jaxpr = jx.make_jaxpr(function)(jnp.ones(3)).jaxpr
    tape = document["tapes"][0]["lines"]
    assert [re.split(r" = |\[", line)[1 if "= " in line else 0].split()[0] for line in map(bare, tape)] == [
        eqn.primitive.name for eqn in jaxpr.eqns
    ]
    assert document["error"] == "" and document["left_out"] == 0
    last = document["steps"][-1]
    assert last["kind"] == "return" and last["tapes"] == [{"tape": 0, "length": len(jaxpr.eqns)}]


def bare(line: str) -> str:
    """An equation without the types of its results."""
    results, _, rest = line.partition(" = ")
    return f"{results.split(':')[0]} = {rest}"


@pytest.mark.parametrize("function", [straight, branching, looping], ids=lambda f: f.__name__)
def test_a_step_writes_the_equations_that_stem_from_its_line(function: Callable[..., Any]) -> None:
    """Positions of equations are found from tracebacks, steps by following lines."""
    document = stepped(function, jnp.ones(3))
    jaxpr = jx.make_jaxpr(function)(jnp.ones(3)).jaxpr
    stems = [call_sites.user_position(eqn.traceback) for eqn in jaxpr.eqns]
    seen = 0
    for step in document["steps"]:
        length = step["tapes"][0]["length"]
        if step["kind"] == "line":
            assert {where.line for where in stems[seen:length] if where} <= {step["line"]}
            seen = length
    assert seen == len(stems)


def test_branches_that_were_not_taken_are_told() -> None:
    def of(*shape: int) -> list[tuple[int, int, str]]:
        document = stepped(branching, jnp.ones(shape))
        first = document["codes"][0]["position"]["line"]
        return [(one["first"] - first, one["last"] - first, one["why"]) for one in document["calls"][0]["skipped"]]

    assert of(3) == [(3, 7, "not taken"), (9, 9, "not reached")]
    assert of(3, 3) == [(2, 2, "not taken"), (6, 7, "not taken"), (9, 9, "not reached")]
    assert of() == [(2, 2, "not taken"), (4, 4, "not taken"), (9, 9, "not reached")]


def test_each_iteration_and_each_call_is_a_step() -> None:
    document = stepped(looping, 2.0)
    assert lines_run(looping, document) == [1, 2, 3, 2, 3, 2, 3, 2, 4]
    kinds = [step["kind"] for step in document["steps"]]
    assert kinds.count("call") == 3 and kinds.count("return") == 4
    assert [call["depth"] for call in document["calls"]] == [0, 1, 1, 1]
    steps = [
        name["text"]
        for step in document["steps"]
        for name in step["names"]
        if name["name"] == "step" and name["changed"]
    ]
    assert steps == ["1", "2", "3"]


class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def tree_flatten(self) -> tuple[Any, None]:
        return (self.a, self.b), None

    @classmethod
    def tree_unflatten(cls, _aux: None, children: Any) -> Pair:
        return cls(*children)


def test_what_takes_trees_apart_and_rebuilds_them_is_no_step() -> None:
    """It runs as often as the library likes, and no line asks for it; what the function calls is told, a constructor, too."""
    jx.tree_util.register_pytree_node_class(Pair)

    def swapped(p: Pair) -> Any:
        q = jx.tree.map(square, Pair(p.b, p.a))
        return q.a

    document = stepped(swapped, Pair(1.0, 2.0))
    assert [call["depth"] for call in document["calls"]] == [0, 1, 1, 1]  # __init__, square, square


def test_a_name_stands_for_its_variable_of_the_tape() -> None:
    document = stepped(straight, jnp.ones(3))
    names = {name["name"]: name["text"] for name in document["steps"][1]["names"]}
    assert names == {"x": "a:f32[3]", "y": "b:f32[3]", "z": "d:f32[3]"}
    assert [name["name"] for name in document["steps"][1]["names"] if name["changed"]] == ["z"]
    assert document["tapes"][0]["lines"][0] == "b:f32[3] = sin a"
    assert document["tapes"][0]["takes"] == "a:f32[3]"


def test_a_loop_s_body_has_a_tape_of_its_own() -> None:
    document = stepped(scanning, jnp.ones(3))
    (body,) = document["tapes"][1:]
    assert body["name"] == "body" and [line.split()[2] for line in body["lines"]] == ["add", "mul"]
    inside = [step for step in document["steps"] if len(step["tapes"]) == 2 and step["kind"] == "line"]
    assert [step["tapes"][1]["length"] for step in inside] == [1, 2]


def test_an_error_ends_the_steps_at_its_line() -> None:
    document = stepped(asking, jnp.ones(3))
    assert document["error"].startswith("TracerBoolConversionError: ")
    last = document["steps"][-1]
    assert last["kind"] == "error" and last["told"] == document["error"]
    assert lines_run(asking, document) == [1, 2]
    assert {one["why"] for one in document["calls"][0]["skipped"]} == {"not reached"}
    text = jitscope_widgets.text(document)
    assert "up to an error" in text and "Not reached" in text and "Not taken" not in text


def test_an_error_that_was_caught_ends_nothing() -> None:
    document = stepped(caught, jnp.ones(3))
    assert lines_run(caught, document) == [1, 2, 3, 4, 5, 6] and document["error"] == ""


def test_the_steps_are_bounded_and_what_is_left_out_is_counted() -> None:
    def long(x: Any) -> Any:
        for _ in range(300):
            x = x + 1
        return x

    document = stepped(long, 1.0)
    assert len(document["steps"]) == 200 and len(document["tapes"][0]["lines"]) == 300
    assert document["left_out"] == 2 * 300 + 3 - 200
    assert "the first 200 lines" in jitscope_widgets.text(document)


def test_transformations_are_named_and_nothing_of_it_is_filed() -> None:
    known = len(list(jx.observe.ledger()))
    differentiated = stepped(jx.grad(straight_sum), jnp.ones(3))
    assert any("(differentiated)" in name["text"] for step in differentiated["steps"] for name in step["names"])
    assert "written after the last line" in jitscope_widgets.text(differentiated)
    mapped = stepped(jx.vmap(square), jnp.ones(3))
    assert mapped["steps"][0]["names"][0]["text"] == "a:f32[] (one of a batch)"
    assert len(list(jx.observe.ledger())) == known


def straight_sum(x: Any) -> Any:
    y = jnp.sin(x)
    return y.sum()


def test_a_compiled_function_is_traced_anew_though_it_is_known() -> None:
    f = jx.jit(lambda x, n: looping(x) * n, static_argnums=1)
    f(1.0, 2)
    assert len(stepped(f, 1.0, 2)["steps"]) > 10


def test_what_is_printed_stands_at_its_line_and_nowhere_else(capsys: pytest.CaptureFixture[str]) -> None:
    def loud(x: Any) -> Any:
        print("here is", x.shape)
        return x

    document = stepped(loud, jnp.ones(2))
    assert [step["printed"] for step in document["steps"]] == ["here is (2,)\n", "", ""]
    assert capsys.readouterr().out == ""


def test_no_code_of_the_user_s_values_runs() -> None:
    class Touchy:
        def __repr__(self) -> str:
            raise RuntimeError("asked")

        __str__ = __len__ = __bool__ = __eq__ = __hash__ = __repr__  # pyright: ignore

    def holding(x: Any) -> Any:
        kept = Touchy()
        pair = (kept, x, [1, 2, 3, 4, 5], {"k": x})
        return pair[1]

    document = stepped(holding, 1.0)
    assert document["error"] == ""
    (text,) = [n["text"] for n in document["steps"][1]["names"] if n["name"] == "pair"]
    assert text == "(a Touchy, a:f32[], [1, 2, 3, 4, … 1 more], {'k': a:f32[]})"


def test_generators_comprehensions_and_recursion() -> None:
    def many(x: Any) -> Any:
        rows = [x * k for k in range(3)]
        return sum(row for row in rows) + power(x, 3)

    def power(x: Any, n: int) -> Any:
        if n == 0:
            return 1.0
        return x * power(x, n - 1)

    document = stepped(many, 2.0)
    assert document["error"] == ""
    depths = [call["depth"] for call in document["calls"] if document["codes"][call["code"]]["function"] == "power"]
    assert depths == [1, 2, 3, 4]


def test_markup_in_the_source_stays_text() -> None:
    def marked(x: Any) -> Any:
        tag = "<script>alert(1)</script>"
        return x + len(tag)

    html = jitscope_widgets.html(stepped(marked, 1.0))
    assert "<script>alert" not in html and "&lt;script&gt;alert" in html
