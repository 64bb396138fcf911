"""The static look finds each sharp bit at its line, and nothing in programs that are fine."""

import pytest

from jitscope.advise import look
from jitscope.advise.code.text import Cell
from jitscope.advise.diagnostic import applied
from jitscope.advise.program import of_cells
from tests.advise.programs import HEADER, Program, programs


@pytest.mark.parametrize("program", programs(), ids=lambda p: p.name)
def test_each_program_gives_what_is_due(program: Program) -> None:
    found = {(one.id, one.span.line) for one in look(program.text, "<program>")}
    assert found <= program.wanted if program.late else found == program.wanted


def found(text: str, cells: tuple[Cell, ...] = ()) -> list[tuple[str, int]]:
    return [(one.id, one.span.line) for one in look(HEADER + text, "<program>", cells)]


def test_what_a_notebook_shows_is_not_dropped() -> None:
    text = "x = jnp.zeros(3)\nx.at[0].set(1.0)\n"
    assert found(text) == [("update-result-dropped", 6)]
    assert found(text, (Cell(1, 6),)) == []


def test_a_cell_with_the_magic_compiles_its_plain_functions() -> None:
    text = "def f(x):\n    return x if x > 0 else -x\n"
    assert found(text) == []
    assert found(text, (Cell(1, 4), Cell(5, 6, True))) == [("branch-on-tracer", 6)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%%jit", ["flag-arg-traced", "branch-on-tracer"]),
        ("%%jit g", ["flag-arg-traced"]),
        ("%%jit --skip g --quiet", ["branch-on-tracer"]),
        ("%%jit --static g:train,x", ["branch-on-tracer"]),
        ("%%jit --static=g:train --static h:y", []),
        ("%%jitter", []),
    ],
)
def test_what_the_line_of_the_magic_asks_for_is_heeded(line: str, found: list[str]) -> None:
    cell = "def g(x, train):\n    return 2 * x if train else x\ndef h(y):\n    return y if y > 0 else -y\ng(1.0, True)"
    checked = of_cells(["import jax", f"{line}\n{cell}"], "a.ipynb")
    assert sorted(one.id for one in look(checked.text, checked.file, checked.cells)) == sorted(found)


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("# jitscope: ok", True),
        ("# jitscope: ok branch-on-tracer", True),
        ("# jitscope: ok key-reuse", False),
        ("# fine", False),
    ],
)
def test_a_comment_silences_its_line(comment: str, silent: bool) -> None:
    assert (found(f"f = jax.jit(lambda x: x if x > 0 else -x)  {comment}\n") == []) is silent


def test_a_comment_on_a_line_of_its_own_silences_the_file() -> None:
    lines = "f = jax.jit(lambda x: x if x > 0 else -x)\ng = jax.jit(lambda x: -x if x > 0 else x)\n"
    assert len(found(lines)) == 2
    assert found(lines + "# jitscope: ok branch-on-tracer\n") == []


@pytest.mark.parametrize(
    "text", ["def f(:", "x = 1\n", "", "import numpy as np\nnp.zeros(3)[0] = 1\n", "\0", "x = '''"]
)
def test_what_is_no_program_or_not_ours_is_left_alone(text: str) -> None:
    assert look(text, "<program>") == []


def test_a_program_that_nests_too_deeply_is_left_alone() -> None:
    assert look(HEADER + "x = " + "(" * 5000 + ")" * 5000, "<program>") == []
    assert look(HEADER + "x = jnp.sin(" + "-" * 3000 + "1)", "<program>") == []


@pytest.mark.parametrize("program", [p for p in programs() if p.wanted], ids=lambda p: p.name)
def test_edits_replace_what_they_say(program: Program) -> None:
    """Applied, a fix leaves a valid program without the diagnostic that it fixes."""
    for one in look(program.text, "<program>"):
        if one.fix.edits:
            fixed = applied(program.text, one.fix.edits)
            again = {(o.id, o.span.line) for o in look(fixed, "<program>")}
            compile(fixed, "<program>", "exec")
            assert (one.id, one.span.line) not in again, fixed
