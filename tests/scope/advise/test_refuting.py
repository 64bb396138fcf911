"""What a run takes back of a look's alarms, and what it says in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitscope_kernel.check import check
from jitscope_kernel.checking_cells import run_cells
from jitscope_kernel.checking_files import run_file
from jitscope_scope.advise import Diagnostic
from jitscope_scope.advise.program import read
from jitscope_scope.source_code.edits import Span
from tests.scope.advise.programs import HEADER
from tests.scope.advise.test_check import notebook, ran


KEPT = {
    "what raises": (
        "f = jax.jit(lambda x: x if x > 0 else -x)\ntry:\n    f(1.0)\nexcept TypeError:\n    pass\n",
        "branch-on-tracer",
    ),
    "what is not reached": ("1 / 0\n@jax.jit\ndef f(x):\n    return x if x > 0 else -x\nf(1.0)\n", "branch-on-tracer"),
    "a function that nobody calls": ("@jax.jit\ndef f(x):\n    return x if x > 0 else -x\n", "branch-on-tracer"),
    "what is traced": ("@jax.jit\ndef f(x):\n    print(x)\n    return x\nf(1.0)\n", "trace-time-print"),
    "what vmap does for all rows": (
        "log = []\ndef f(x):\n    log.append(x)\n    return x\njax.vmap(f)(jnp.ones(3))\n",
        "tracer-leak",
    ),
}


@pytest.mark.parametrize("book", [False, True])
def test_a_run_refutes_what_it_traced_and_did_not_raise(book: bool, tmp_path: Path) -> None:
    """Whatever a look thinks: its alarms are put there by hand."""
    text = HEADER + (
        "@jax.jit\ndef traced(x):\n    return 2 * x\ndef plain(x):\n    return 3 * x\n"
        "def never(x):\n    return 4 * x\n@jax.jit\ndef raising(x):\n    return float(x)\n"
        "traced(1.0), plain(1.0)\ntry:\n    raising(1.0)\nexcept TypeError:\n    pass\n"
    )
    file = tmp_path / ("book.ipynb" if book else "program.py")
    file.write_text(notebook(text) if book else text)
    program = read(str(file))
    accused = [
        Diagnostic(id, str(file), Span(line, 4, line, 16), "")
        for line in (7, 9, 11, 14)
        for id in ("branch-on-tracer", "trace-time-print", "key-reuse")
    ]
    ran = run_cells(program, accused) if book else run_file(program, [], accused)
    assert [(one.id, one.span.line) for one in ran.refuted] == [
        ("branch-on-tracer", 7),
        ("branch-on-tracer", 9),
        ("trace-time-print", 9),
    ]


@pytest.mark.parametrize("what", KEPT)
def test_a_run_refutes_nothing_that_it_did_not_see(what: str, tmp_path: Path) -> None:
    text, id = KEPT[what]
    file = tmp_path / "program.py"
    file.write_text(HEADER + text)
    assert [one.one.id for one in check(read(str(file)), run=True)] == [id]


@pytest.mark.parametrize(
    ("mapped", "said"),
    [("jax.jit(jax.vmap(f))", "calls of the compiled function skip it"), ("jax.vmap(f)", "under vmap")],
)
def test_what_a_printed_tracer_is_of_is_said_as_it_is(mapped: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"{HEADER}def f(x):\n    print(x)\n    return x\n{mapped}(jnp.ones(3))\n")
    assert [said in one.one.message for one in ran(file)] == [True]
