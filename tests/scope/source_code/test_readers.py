"""What the user's source says, asked of its text: the names that it binds, what a call gives, which loop goes round a place."""

import ast
import linecache

import pytest

from jitscope.core.source import Position
from jitscope_scope.source_code.bindings import bound_by, pairs, read
from jitscope_scope.source_code.parameters import argument_for, default_values, is_generator, parameters, positional
from jitscope_scope.source_code.places import function_at, loop_around


BOUND = {
    "a, (b, *c) = x": "a b c",
    "for i in x:\n    y = i": "i y",
    "with open(x) as file:\n    line = file": "file line",
    "import numpy as np, os.path": "np os",
    "def f(x):\n    y = x": "f",
    "class A:\n    b = 1": "A",
    "try:\n    a = 1\nexcept ValueError as error:\n    b = 2": "a b error",
    "match x:\n    case [first, *rest]:\n        a = first\n    case {'k': k, **others}:\n        pass": "a first k others rest",
    "a = [b := i for i in x]": "a b",
    "a = lambda x: x": "a",
    "a.x = 1\na[0] += 2": "",
}


@pytest.mark.parametrize("text", BOUND)
def test_statements_bind_names(text: str) -> None:
    assert bound_by(*ast.parse(text).body) == {*BOUND[text].split()}


def test_adding_to_a_name_reads_it() -> None:
    assert read(ast.parse("total += x[i]\ny = 1")) == {"total", "x", "i"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, (b, c) = 1, [2, 3]", {"a": "1", "b": "2", "c": "3"}),
        ("a, b = x", {"(a, b)": "x"}),
        ("a, *b = 1, 2", {"(a, *b)": "(1, 2)"}),
        ("a, (b, c) = 1, x", {"a": "1", "(b, c)": "x"}),
    ],
)
def test_an_assignment_gives_each_name_its_value(text: str, expected: dict[str, str]) -> None:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.Assign)
    assert {ast.unparse(one): ast.unparse(value) for one, value in pairs(node.targets[0], node.value)} == expected


FUNCTION = ast.parse("def f(a, /, b, c=3, *rest, d, e=5, **more):\n    def g():\n        yield a").body[0]
GIVEN = {
    "f(1, 2)": {"a": "1", "b": "2"},
    "f(1, b=2, d=4)": {"a": "1", "b": "2", "d": "4"},
    "f(1, 2, 3, 4, 5)": {"a": "1", "b": "2", "c": "3"},
    "f(1, *x, d=4)": {"a": "1", "d": "4"},
    "f(1, 2, *x)": {"a": "1", "b": "2"},
}


@pytest.mark.parametrize("text", GIVEN)
def test_a_call_gives_parameters_values(text: str) -> None:
    assert isinstance(FUNCTION, ast.FunctionDef)
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    found = {name: argument_for(call, name, positional(FUNCTION)) for name in parameters(FUNCTION)}
    assert {name: ast.unparse(value) for name, value in found.items() if value is not None} == GIVEN[text]


def test_what_a_function_says_of_itself() -> None:
    assert isinstance(FUNCTION, ast.FunctionDef)
    assert parameters(FUNCTION) == ["a", "b", "c", "d", "e", "rest", "more"]
    assert {name: ast.unparse(one) for name, one in default_values(FUNCTION).items()} == {"c": "3", "e": "5"}
    assert not is_generator(FUNCTION) and is_generator(FUNCTION.body[0])  # pyright: ignore[reportArgumentType]


LOOPS = """\
for a in range(3):
    @decorated(1)
    def f(x, y=default()):
        while x:
            x = [inner(z) for z in x]
        return plain(lambda: deep())
    g = f(a)
"""


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("decorated(1)", 1),
        ("default()", 1),
        ("inner(z)", 5),
        ("plain(lambda: deep())", None),
        ("deep()", None),
        ("f(a)", 1),
    ],
)
def test_a_loop_goes_round_a_place_within_its_function(what: str, line: int | None) -> None:
    file = "<loops of a reader>"
    linecache.cache[file] = (len(LOOPS), None, LOOPS.splitlines(keepends=True), file)
    before = LOOPS[: LOOPS.rindex(what)].split("\n")
    column = len(before[-1])
    loop = loop_around(Position(file, len(before), len(before), column, column + len(what), "f"))
    assert (loop.lineno if loop is not None else None) == line
    assert function_at(file, 2, "f") is not None and function_at(file, 3, "f") is None
    assert function_at(file, 6, "<lambda>") is not None
