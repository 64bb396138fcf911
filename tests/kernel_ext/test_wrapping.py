"""Which functions are compiled, and that the step leaves no trace but that."""

import ast

import pytest
from IPython.core.error import UsageError

from jitscope_kernel.magics import JitscopeMagics, parser_of
from jitscope_kernel.request import Request, read
from jitscope_kernel.wrapping import CellRefusal, plan, wrap


MANY = """
import functools

def plain(x):
    def inner():
        yield 1
    return [y for y in inner()]

def with_defaults(x, /, n=2, *args, mode="a", **rest): ...
def _underscored(x: "int") -> "int": return (lambda y: y)(x)
def no_parameters(): ...
def generator(x):
    if x:
        yield x
def delegating(x): yield from x
async def asynchronous(x): ...
@functools.cache
def decorated(x): ...
class Model:
    def method(self, x): ...
named = lambda x: x
typed: object = lambda x: x
if True:
    def conditional(x): ...
else:
    def other(x): ...
for _ in range(2):
    def looped(x): ...
with open("f") as f:
    def inside(x): ...
try:
    def tried(x): ...
except ValueError:
    def excepted(x): ...
finally:
    class Finally: ...
match 1:
    case 1:
        def matched(x): ...
"""


def names(definitions):
    return [definition.name for definition in definitions]


def test_plain_functions_at_the_top_level_are_compiled_and_others_are_not() -> None:
    decided = plan(ast.parse(MANY), Request())
    assert names(decided.compiled) == ["plain", "with_defaults", "_underscored"]
    reasons = {definition.name: definition.reason for definition in decided.left_alone}
    assert reasons == {
        "no_parameters": "takes no arguments",
        "generator": "a generator",
        "delegating": "a generator",
        "asynchronous": "async",
        "decorated": "decorated with @functools.cache",
        "Model": "a class",
        "named": "a lambda",
        "typed": "a lambda",
        "conditional": "defined inside an if, not at the cell's top level",
        "other": "defined inside an if, not at the cell's top level",
        "looped": "defined inside a for, not at the cell's top level",
        "inside": "defined inside a with, not at the cell's top level",
        "tried": "defined inside a try, not at the cell's top level",
        "excepted": "defined inside a try, not at the cell's top level",
        "Finally": "a class",
        "matched": "defined inside a match, not at the cell's top level",
    }


def test_names_and_skip_choose() -> None:
    tree = ast.parse("def f(x): ...\ndef g(x): ...\ndef h(x): ...\n")
    decided = plan(tree, Request(names=("g", "f")))
    assert names(decided.compiled) == ["f", "g"]
    assert [(one.name, one.reason) for one in decided.left_alone] == [("h", "not named in the %%jit line")]
    decided = plan(tree, Request(skip=("g",)))
    assert names(decided.compiled) == ["f", "h"]
    assert [(one.name, one.reason) for one in decided.left_alone] == [("g", "left out by --skip")]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(names=("k",)), "defines no function 'k' at its top level; there is f"),
        (Request(skip=("k",)), "defines no function 'k'"),
        (Request(names=("cached",)), "cached cannot be compiled: it is decorated with @cache"),
        (Request(names=("empty",)), "empty cannot be compiled: it is a function that takes no arguments"),
        (Request(names=("f",), skip=("f",)), "both named and skipped"),
        (Request(static={"k": ("n",)}), "--static k:…: no function 'k' is compiled"),
        (
            Request(static={"f": ("n",)}, skip=("f",)),
            "--static f:…: f is not compiled in this cell: it is left out by --skip; it",
        ),
        (
            Request(donate={"cached": ("x",)}),
            "--donate cached:…: cached is not compiled in this cell: it is decorated with @cache; there is f.",
        ),
        (Request(static={"f": ("n",)}), "f has no parameter 'n'; it has x, mode, more"),
        (Request(donate={"f": ("more",)}), "more stands for any number of arguments"),
    ],
)
def test_what_is_not_there_is_refused(request_: Request, said: str) -> None:
    tree = ast.parse("def f(x, *more, mode=1): ...\n@cache\ndef cached(x): ...\ndef empty(): ...\n")
    with pytest.raises(CellRefusal) as refused:
        plan(tree, request_)
    assert said in str(refused.value)


def test_of_two_definitions_of_one_name_both_are_compiled() -> None:
    decided = plan(ast.parse("def f(x): ...\ndef f(x, n): ...\n"), Request(names=("f",), static={"f": ("n",)}))
    assert names(decided.compiled) == ["f", "f"]


def test_code_keeps_its_file_lines_and_columns() -> None:
    text = "x = 1\n\ndef f(x: int, y=x) -> int:\n    '''doc'''\n    return x + y\n"
    tree = ast.parse(text)
    wrap(tree, Request(static={"f": ("y",)}))

    def code_of(tree: ast.Module):
        module = compile(tree, "cell", "exec")
        return next(
            constant for constant in module.co_consts if hasattr(constant, "co_code") and constant.co_name == "f"
        )

    before, after = code_of(ast.parse(text)), code_of(tree)
    assert after == before
    assert (after.co_filename, after.co_firstlineno) == ("cell", 3)
    assert list(after.co_positions()) == list(before.co_positions())


# --- the line ---------------------------------------------------------------------------------------------------------

PARSER = parser_of(JitscopeMagics.jit)


def test_a_line_is_read() -> None:
    asked = read(PARSER, "f g --skip h --static f:n,mode --static f:k --static g:n --donate f:x --quiet")
    assert asked == Request(("f", "g"), ("h",), {"f": ("n", "mode", "k"), "g": ("n",)}, {"f": ("x",)}, quiet=True)
    assert read(PARSER, "") == Request()
    assert read(PARSER, "-h").help


@pytest.mark.parametrize(
    "line", ["--frob", "--static", "--static n", "--static f:", "--static f:1", "--donate :x", "'f"]
)
def test_a_mistake_in_the_line_is_said(line: str) -> None:
    with pytest.raises(UsageError, match="%%jit: "):
        read(PARSER, line)
