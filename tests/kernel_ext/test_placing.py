"""Lines and columns are those of the cell that a person has, whatever IPython and its magics make of it."""

import ast
import io
import linecache
import tokenize
import traceback

import pytest
from hypothesis import given, settings, strategies as st
from IPython.core.interactiveshell import InteractiveShell

from jitscope.core import source
from jitscope_kernel import session
from jitscope_kernel.cell_places import _lines_of
from jitscope_scope.advise.code.ipython import edits_in, lines_in, without_magics
from tests.extent import examples


# --- the map ----------------------------------------------------------------------------------------------------------

STATEMENTS = [
    "x = 1",
    "é = 'ü' + \"ñ\"; z = é",
    "def f(a, b=2):\n    return (a +\n            b)",
    "if x:\n\ty = [1,\n\t     2]",
    "for i in range(3):\n    %pwd\n    w = i",
    "t = '''\n! no command \\\n>>> no prompt\n'''",
    "x = (1\n     % 2)",
    "# a comment",
    "",
    "class A:\n    b = {'k': 3}",
]
OF_IPYTHON = [
    "!ls",
    "! ls \\\n    -d . \\\n    -l",
    "%timeit \\\n    sum([1])",
    "%time q = 5",
    "files = !ls \\\n   -a",
    "v = %pwd",
    "len?",
    "f??",
    "%matplotlib \\\n   inline",
    "!echo ü {x}",
]
MANNERS = {
    "as it is": lambda text: text,
    "indented": lambda text: "\n".join(f"    {line}" if line else line for line in text.split("\n")),
    "with empty lines": lambda text: f"\n\n{text}\n\n",
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "pasted from Python": lambda text: "\n".join(
        (">>> " if not n or not line[:1].isspace() else "... ") + line for n, line in enumerate(text.split("\n"))
    ),
    "pasted from IPython": lambda text: "\n".join(
        ("In [1]: " if not n else "   ...: ") + line for n, line in enumerate(text.split("\n"))
    ),
    "timed": lambda text: f"%%time\n{text}",
    "marked": lambda text: f"%%jit\n{text}",
}
SHELL = InteractiveShell()


def tokens(text: str) -> list[tuple[int, int, str]]:
    """Names and numbers, where they stand: line from 1, column in characters."""
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(t.start[0], t.start[1], t.string) for t in found if t.type in (tokenize.NAME, tokenize.NUMBER)]


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.sampled_from(STATEMENTS + OF_IPYTHON), min_size=1, max_size=5), st.sampled_from(sorted(MANNERS)))
def test_a_position_in_what_runs_is_one_in_the_text(parts: list[str], manner: str) -> None:
    cell = MANNERS[manner]("\n".join(parts))
    typed = lines_in(cell)
    python = without_magics(cell)
    assert len(python.text.split("\n")) == len(typed)
    transformed = SHELL.transform_cell(cell)
    if manner != "timed" and not transformed.startswith("get_ipython().run_cell_magic"):
        lines = _lines_of(cell, transformed)
        assert lines is not None or not parts[0].strip()
        for line, column, text in tokens(transformed) if lines is not None else ():
            written = transformed.replace("\r\n", "\n").split("\n")[line - 1]
            if "get_ipython()" not in written and not written.startswith("'%%jit"):
                shift = python.shifts[lines[line - 1] - 1] if python.shifts else 0
                assert typed[lines[line - 1] - 1][column + shift :].startswith(text), (cell, line, text)
    try:
        ast.parse(python.text)
    except SyntaxError:
        return
    own = [(n, c, t) for n, c, t in tokens(python.text) if t not in ("pass", "None", "0")]
    for line, column, text in own:
        shift = python.shifts[line - 1] if python.shifts else 0
        assert typed[line - 1][column + shift :].startswith(text), (cell, line, text)
    for line, column, text in own[:3]:  # an edit of a token changes that token alone
        done = edits_in(cell, [(line, column, line, column + len(text), text)])
        assert done is None or done[0][1] == column + (python.shifts[line - 1] if python.shifts else 0)
        assert done is not None or "\\" in cell or "%" in cell or "'''" in cell


EDITS = {
    "plain": ("def f(x):\n    return x\n", "return x", "return -x"),
    "below a command that goes on": ("! ls \\\n    -d .\ndef f(x):\n    return x", "return x", "return -x"),
    "prompts": (">>> def f(x):\n...     return x", "return x", "return -x"),
    "indented": ("\n  def f(x):\n      return x", "return x", "return -x"),
    "in what is timed": ("%timeit -n 3 f(x)", "f(x)", "g(x)"),
    "below two magics": ("%%time\n%%jit\ndef f(x):\n    return x", "return x", "return -x"),
}


@pytest.mark.parametrize("kind", EDITS)
def test_edits_are_made_in_the_text_that_was_written(kind: str) -> None:
    cell, before, after = EDITS[kind]
    python = without_magics(cell)
    line = next(n for n, text in enumerate(python.text.split("\n"), 1) if before in text)
    column = python.text.split("\n")[line - 1].index(before)
    (found,) = edits_in(cell, [(line, column, line, column + len(before), after)]) or [None]
    assert found is not None
    lines = cell.split("\n")
    lines[line - 1] = lines[line - 1][: found[1]] + after + lines[line - 1][found[3] :]
    assert "\n".join(lines) == cell.replace(before, after)


@pytest.mark.parametrize(
    "cell, edit",
    {
        "in a command": ("x = !ls\ny = 1", (1, 0, 1, 8, "z = 2")),
        "no Python any more": ("x = 1", (1, 4, 1, 5, "(")),
        "no such line": ("x = 1", (4, 0, 4, 1, "y")),
        "prompts that would be lost": ("%%bash\nls", (1, 0, 1, 0, "x = 1\n")),
    }.values(),
)
def test_an_edit_without_a_place_is_none(cell: str, edit: tuple) -> None:
    found = edits_in(cell, [edit])
    assert found is None or cell.startswith("%%bash")
    if found is not None:
        assert ast.parse(without_magics(cell).text)


# --- in cells ---------------------------------------------------------------------------------------------------------

IMPORTS = "import jitscope as jax, jitscope.numpy as jnp"
BODY = "def g(x):\n    if x > 0:\n        return x\n    return -x\njax.jit(g)(1.0)"
WAYS = {
    "a command that goes on": ("! true \\\n   and more\n" + BODY, 4),
    "two of them, and empty lines": ("\n\n! true \\\n   a\n%matplotlib --list \\\n\n" + BODY, None),
    "timed": ("%%time\n" + BODY, 3),
    "timed, below a command": ("%%time\n\n! true \\\n   a\n" + BODY, 6),
    "timed in a loop": ("%%timeit -n 1 -r 1\n" + BODY, 3),
    "profiled": ("%%prun -q\n" + BODY, 3),
    "marked and timed": ("%%jit\n%%time\n" + BODY, 4),
    "timed and marked": ("%%time\n%%jit\n" + BODY, 4),
    "marked and profiled": ("%%jit\n%%prun -q\n" + BODY, 4),
    "profiled and marked": ("%%prun -q\n%%jit\n" + BODY, 4),
    "marked and timed in a loop": ("%%jit\n%%timeit -n 1 -r 1\n" + BODY, 4),
    "pasted": ("\n".join((">>> " if line[0] != " " else "... ") + line for line in BODY.split("\n")), 2),
    "indented": ("\n".join("  " + line for line in BODY.split("\n")), 2),
}


@pytest.mark.parametrize("way", WAYS)
def test_errors_squiggles_and_edits_have_the_lines_of_the_cell(shell, way: str) -> None:
    cell, line = WAYS[way]
    shell.cell(IMPORTS)
    line = line or next(n for n, text in enumerate(cell.split("\n"), 1) if "if x > 0" in text)
    ran = shell.cell(cell)
    assert f"line {line} of g" in str(ran.exception), ran.exception
    frames = [f for f in traceback.extract_tb(ran.exception.__traceback__) if f.name == "g"]
    assert [f.lineno for f in frames] == [line]
    assert linecache.getline(frames[0].filename, line).strip().endswith("if x > 0:")
    items = session.of(shell.ip).sharp_bits.document()["items"]
    (item,) = [one for one in items if one["id"] == "branch-on-tracer"]
    lines = cell.split("\n")
    position = item["position"]
    assert position["line"] == line
    assert lines[line - 1][position["column"] : position["end_column"]] == "x > 0"
    if item["fix"] and item["fix"]["edits"]:
        (edit,) = item["fix"]["edits"]
        first, last = edit["line"] - 1, edit["end_line"] - 1
        changed = [lines[first][: edit["column"]] + edit["text"] + lines[last][edit["end_column"] :]]
        whole = "\n".join([*lines[:first], *changed, *lines[last + 1 :]])
        ast.parse(without_magics(whole).text)
        assert "jnp.where(x > 0, x, -x)" in whole


COMPILED = "def g(x):\n    y = jnp.sin(x)\n    return y * {}\ng(jnp.ones(3))"


@pytest.mark.parametrize(
    "way",
    ["%%jit\n%%time", "%%time\n%%jit", "%%jit\n%%prun -q", "%%prun -q\n%%jit", "%%jit\n%%timeit -n 1 -r 1"],
)
def test_a_cell_of_two_magics_is_compiled_and_its_kernels_have_their_lines(shell, way: str) -> None:
    ran = shell.cell(f"{way}\n{COMPILED.format(len(way) + 0.5)}")
    assert not ran.error
    assert ran.functions == ["g"]
    assert "Nothing was compiled" not in ran.document["note"]
    lines = {p["line"] for n in ran.document["compilations"][0]["graph"]["nodes"] for p in n["positions"]}
    assert lines == {4, 5}
    if "time" in way and "timeit" not in way:
        assert ran.result.shape == (3,)


@pytest.mark.parametrize("way", ["%%capture\n%%jit", "%%jit\n%%capture", "%%capture\n%%time"])
def test_a_captured_cell_has_the_lines_of_the_cell_around_it(shell, way: str) -> None:
    shell.cell(IMPORTS)
    shell.cell(f"{way}\n{BODY}")
    code = shell.names["g"].__code__ if hasattr(shell.names["g"], "__code__") else shell.names["g"].__wrapped__.__code__
    assert code.co_firstlineno == 3
    (item,) = [one for one in session.of(shell.ip).sharp_bits.document()["items"] if one["id"] == "branch-on-tracer"]
    assert (item["position"]["line"], item["position"]["text"]) == (4, "    if x > 0:")


def test_a_cell_that_is_no_python_says_so_below_the_mark(shell) -> None:
    ran = shell.cell("%%jit\n%%bash\nls")
    assert "%%bash below it runs its text in a way of its own" in ran.traceback + ran.stderr + str(ran.exception)


def test_a_syntax_error_has_its_line(shell) -> None:
    for cell in ("! true \\\n  a\nx = 1\ny = = 2", "%%time\n\nx = 1\ny = = 2"):
        ran = shell.cell(cell)
        assert isinstance(ran.exception, SyntaxError)
        assert ran.exception.lineno == 4


def test_a_magic_that_makes_its_text_has_the_line_that_asked(shell) -> None:
    ran = shell.cell("\n\nget_ipython().run_line_magic('time', ' + '.join(['1', '0 / 0']))")
    frames = traceback.extract_tb(ran.exception.__traceback__)
    assert frames[-1].lineno == 3


def test_everything_is_as_before_once_the_extension_is_unloaded(shell) -> None:
    kind = type(shell.ip.compile).__mro__[1]
    shell.cell("x = 1")
    assert source.cell_texts
    shell.cell("%unload_ext jitscope")
    assert type(shell.ip.compile) is kind
    assert "transform_cell" not in vars(shell.ip)
    assert not [file for file in source.cell_texts if "ipython-input" in file]
