"""The static look finds each sharp bit at its line, and nothing in programs that are fine."""

import re

import pytest

import jitscope
from jitscope_scope.advise import look
from jitscope_scope.advise.code.ipython import python_of
from jitscope_scope.advise.program import of_cells
from jitscope_scope.source_code.edits import applied
from jitscope_scope.source_code.text import Cell
from tests.scope.advise.programs import HEADER, in_files


@pytest.mark.parametrize("file", in_files())
def test_each_program_gives_what_is_due(file: str) -> None:
    wrong: dict[str, object] = {}
    for program in in_files()[file]:
        checked = program.checked()
        told = look(checked.text, checked.file, checked.cells)
        found = {(one.id, one.span.line) for one in told}
        if not (found <= program.wanted if program.late else found == program.wanted):
            wrong[program.name] = found ^ program.wanted
        elif badly := [one.message for one in told if not begins_well(one.message, checked.text)]:
            wrong[program.name] = badly
    assert wrong == {}


def begins_well(said: str, text: str) -> bool:
    """Whether a sentence begins with a capital, or with a name: the program's, or one of a library or of a type."""
    first = re.match(r"[a-z]\w*", said)
    if first is None or said[first.end()] in ".([:" or hasattr(jitscope, first[0]) or hasattr(jitscope.numpy, first[0]):
        return True
    return re.search(rf"\b{first[0]}\b", text) is not None


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
    ("below", "found"),
    [
        ("@jx.jit\ndef h(v):\n    return pool(v, 2)\nh(1.0)", []),
        ("def h(v):\n    return pool(v, 2)\nh(1.0)", []),
        ("def h(v, n):\n    return pool(v, n)\nh(1.0, 2)", ["branch-on-tracer"]),
        ("def h(v):\n    return pool(v, 2)\npool(1.0, 2)", ["branch-on-tracer"]),
        ("class H:\n    def h(self, v):\n        return pool(v, 2)\nH().h(1.0)", ["branch-on-tracer"]),
        ("", ["branch-on-tracer"]),
    ],
)
def test_what_compiled_functions_alone_call_is_a_part_of_them(below: str, found: list[str]) -> None:
    checked = of_cells(
        ["import jitscope as jx", f"%%jit\ndef pool(x, k):\n    return x * k if k > 1 else x\n{below}"], "a.ipynb"
    )
    assert [one.id for one in look(checked.text, checked.file, checked.cells)] == found


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
    checked = of_cells(["import jitscope as jx", f"{line}\n{cell}"], "a.ipynb")
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


UNDER_A_TEST = """
def outer(box, given=None):
    def inner(x):
        if given is None:
            if jnp.all(x > box):
                return largest(x)
        return x * 2
    return jax.jit(inner) if given is not None else inner
def largest(x):
    return np.max(jnp.cumsum(x))
"""


def test_what_only_a_test_of_the_program_lets_through_is_no_certain_error() -> None:
    diagnostics = look(HEADER + "import numpy as np\n" + UNDER_A_TEST, "<program>")
    assert [(one.id, one.severity) for one in diagnostics] == [
        ("branch-on-tracer", "info"),
        ("host-call-on-tracer", "info"),
    ]
    assert "only where `given is None` (line 9) lets it" in diagnostics[0].message
    always = look(
        HEADER + "import numpy as np\n" + UNDER_A_TEST + "\njax.jit(lambda x: largest(x))(1.0)\n", "<program>"
    )
    assert [one.severity for one in always] == ["info", "error"]


@pytest.mark.parametrize("condition", ["jnp.any(x > 0)", "True", "x[0] > 1"])
def test_a_test_of_traced_values_leaves_an_error_certain(condition: str) -> None:
    text = f"@jax.jit\ndef f(x):\n    if {condition}:\n        return int(x)\n    return x\n"
    assert [one.severity for one in look(HEADER + text, "<program>")][-1] == "error"


@pytest.mark.parametrize(("static", "enough"), [("", False), ("static_argnames='size'", True)])
def test_a_fix_that_is_not_enough_says_what_is_left(static: str, enough: bool) -> None:
    """The window of a traced size has no length either."""
    text = f"@jax.jit({static})\ndef crop(x, i, size):\n    return x[i : i + size]\n"
    [one] = look(HEADER + text, "<program>")
    assert bool(one.fix.edits) is enough
    assert ("That alone is not enough: `size` is not known while tracing" in one.fix.text) is not enough


@pytest.mark.parametrize(
    "body",
    [
        "assert jnp.all(x > 0)",
        "assert x.sum() > 0 and jnp.all(x > 0)",
        "if x.sum() > 3: raise ValueError",
        "if not x[0] > 0:\n        raise ValueError",
        "if x.sum() > 3: return x\n    else: raise ValueError",
    ],
)
def test_what_raises_is_no_branch_of_a_cond(body: str) -> None:
    found = look(f"{HEADER}@jax.jit\ndef f(x):\n    {body}\n    return x\n", "<program>")
    assert found
    for one in found:
        assert "checkify.check" in one.fix.text and "cond" not in one.fix.text and not one.fix.edits


def test_a_loop_that_makes_a_list_longer_is_no_while_loop() -> None:
    loop = "    many = []\n    while jnp.sum(x) < 9:\n        x = 2 * x\n        many.append(x)\n    return many\n"
    [one] = look(f"{HEADER}@jax.jit\ndef f(x):\n{loop}", "<program>")
    assert "mask" in one.fix.text and "while_loop" not in one.fix.text and not one.fix.edits


def test_a_second_call_of_numpy_around_the_first_is_told() -> None:
    [one] = look(f"{HEADER}@jax.jit\ndef f(x):\n    return np.any(np.isnan(x))\n", "<program>")
    assert "That alone is not enough" in one.fix.text and one.fix.text.endswith("Write `jnp.any(jnp.isnan(x))`.")


def test_a_fix_writes_no_half_call() -> None:
    text = "import time\nstep = jax.jit(lambda x, **more: x)\nstart = time.time()\n"
    text += "y = step((jnp.ones(3), jnp.ones(4)), count=2 ** 13, cells=2 ** 4)\nprint(time.time() - start)\n"
    [one] = look(HEADER + text, "<program>")
    assert one.id == "misleading-timing" and "jax.block_until_ready(step(…));" in one.fix.text


@pytest.mark.parametrize(
    "text", ["def f(:", "x = 1\n", "", "import numpy as np\nnp.zeros(3)[0] = 1\n", "\0", "x = '''"]
)
def test_what_is_no_program_or_not_ours_is_left_alone(text: str) -> None:
    assert look(text, "<program>") == []


def test_a_program_that_nests_too_deeply_is_left_alone() -> None:
    assert look(HEADER + "x = " + "(" * 5000 + ")" * 5000, "<program>") == []
    assert look(HEADER + "x = jnp.sin(" + "-" * 3000 + "1)", "<program>") == []


@pytest.mark.parametrize("file", [file for file, some in in_files().items() if any(p.wanted for p in some)])
def test_edits_replace_what_they_say(file: str) -> None:
    """Applied, a fix leaves a valid program without the diagnostic that it fixes."""
    for program in (p for p in in_files()[file] if p.wanted):
        text, name, cells = (checked := program.checked()).text, checked.file, checked.cells
        for one in look(text, name, cells):
            if one.fix.edits:
                fixed = applied(text, one.fix.edits)
                again = {(o.id, o.span.line) for o in look(fixed, name, cells)}
                compile(fixed, "<program>", "exec")
                assert (one.id, one.span.line) not in again, (program.name, fixed)


IPYTHON = {
    "%matplotlib inline\nx = 1": (),
    "files = !ls\nfor name in files:\n    !echo $name\n": (),
    "y = (x\n     % 3)\ns = '''\n% no magic\n!neither\n'''\n%ls\nf?\n?f\njnp.sum??": (),
    "a = f(\n    x,\n)\nb = 'it is # no comment' \\\n  % 3\n%time y = f(x)": (5,),
    "t = %timeit -o -n 10 -r3 f(x)\nu = %magic of mine": (0,),
    "%timeit -n 10 -r 3 f(x)\n%time for i in range(3): f(x)\n%timeit": (0,),
    "for i in range(2):\n    %time y = f(x)\n    %pwd": (1,),
    "path = '\\\\' + join(\n    x\n    % 3)\n%time y = f(x)": (3,),
    "%%time\ny = f(x)\n": (1, 2),
    "%%timeit -n 3\nf(x)": (1,),
    "%%bash\nls | (": (),
}


@pytest.mark.parametrize("cell", IPYTHON)
def test_lines_of_ipython_leave_the_python_where_it_is(cell: str) -> None:
    found = python_of(cell)
    assert found is not None
    assert tuple(n for first, last in found.timed for n in range(first, last + 1)) == IPYTHON[cell]
    lines, ours = cell.split("\n"), found.text.split("\n")
    assert len(lines) == len(ours)
    kept = [now == was for now, was in zip(ours, lines)]
    magic = [bool(re.search(r"^\s*[%!?](?! 3| no|neither)|= [%!]|\?$", line)) for line in lines]
    if not cell.startswith("%%"):
        assert [not k for k in kept] == magic
    for now, was in zip(ours, lines):
        at = now.find("f(x)")
        assert at < 0 or was[at : at + 4] == "f(x)"


@pytest.mark.parametrize("cell", ["def broken(:", "x = = 3\n%ls", "x = 'open"])
def test_a_cell_that_is_no_python_leaves_the_others_readable(cell: str) -> None:
    assert python_of(cell) is None
    traps = ["import jitscope as jx", cell, "f = jx.jit(lambda x: print(x))\nf(1)"]
    checked = of_cells(traps, "a.ipynb")
    found = look(checked.text, checked.file, checked.cells)
    assert [(checked.place(one.span.line), one.id) for one in found] == [((3, 1), "trace-time-print")]


IMPORTS = "import jax, jax.numpy as jnp\nfrom jax import jit"
OWN_IMPORTS = "import jitscope.numpy as jn"
POSITIVE = "def f(x):\n    if x > 0:\n        return x\n    return -x"
TIMES = "def f(x, n):\n    for _ in range(n):\n        x = x * 2\n    return x"
REDEFINED = {
    "each call of jit means the function before it": (
        [IMPORTS, f"{POSITIVE}\nf = jit(f, static_argnames='x')", f"{TIMES}\nf = jit(f, static_argnames='n')\nf(1.0, 2)"],
        [],
    ),
    "so do vmap, and what is traced stays so": (
        [IMPORTS, f"{POSITIVE}\njax.vmap(f)(jnp.ones(3))", "def f(x):\n    return jnp.abs(x)\njax.vmap(f)(jnp.ones(3))"],
        [(2, "branch-on-tracer")],
    ),
    "a function that is called later": (
        [IMPORTS, f"{POSITIVE}\ndef run(x):\n    return jit(f)(x)\nrun(1.0)", "def f(x):\n    return x\nf(2)"],
        [(2, "branch-on-tracer")],
    ),
    "a class and its objects": (
        [
            IMPORTS,
            "class A:\n    def __init__(self, k):\n        self.k = k\n    @jit(static_argnums=0)\n    def f(self, x):\n        return x * self.k\n"
            "a = A(2)\na.f(1.0)",
            "a.k = 3\na.f(1.0)",
            "class A:\n    def __init__(self, k):\n        self.k = k\n    @jit(static_argnums=0)\n    def f(self, x):\n        return x + self.k",
        ],
        [(2, "static-mutable-stale")],
    ),
    "what is compiled at each call is found by its function": (
        [IMPORTS, "k = 2.0\ndef f(x):\n    return x * k\njit(f)(1.0)\nk = 3.0\njit(f)(1.0)", "def f(x):\n    return k\nk = 4.0\njit(f)(1.0)"],
        [(2, "stale-capture")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REDEFINED)
def test_a_name_means_what_it_was_given_before(case: str) -> None:
    cells, expected = REDEFINED[case]
    checked = of_cells(cells, "a.ipynb")
    found = look(checked.text, checked.file, checked.cells)
    assert [(checked.place(one.span.line)[0], one.id) for one in found] == expected


MAGIC = {
    "jax": ([IMPORTS, f"%%jit\n{POSITIVE}\nf(jnp.ones(()))"], False),
    "a library": (["import flax.linen as nn", f"%%jit\n{POSITIVE}"], False),
    "jitscope": ([OWN_IMPORTS, f"%%jit\n{POSITIVE}\nf(jn.ones(()))"], True),
    "a helper that uses jax": ([IMPORTS, OWN_IMPORTS, "def g(x):\n    return jnp.sin(x)", f"%%jit\n{POSITIVE}\ng(f(1.0))"], False),
    "both are imported, jitscope is used": ([IMPORTS, OWN_IMPORTS, f"%%jit\n{POSITIVE}\nf(jn.ones(()))"], True),
    "both are used, the function uses jax": (
        [IMPORTS, OWN_IMPORTS, f"%%jit\n{POSITIVE.replace('x > 0', 'jnp.max(x) > 0')}\nf(jn.ones(()))"],
        False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MAGIC)
def test_the_magic_compiles_nothing_that_is_written_for_jax(case: str) -> None:
    cells, compiled = MAGIC[case]
    checked = of_cells(cells, "a.ipynb")
    found = [one.id for one in look(checked.text, checked.file, checked.cells)]
    assert found == (["branch-on-tracer"] if compiled else [])


def test_what_magics_measure_is_to_be_waited_for() -> None:
    cells = [
        "import jitscope as jx, jitscope.numpy as jnp\nf = jx.jit(lambda x: x @ x)\nx = jnp.ones((9, 9))",
        "%timeit f(x)\n%time y = f(x)\nt = %timeit -o f(x)",
        "%%time\nfor _ in range(3):\n    y = f(x)",
        "%timeit f(x).block_until_ready()\n%time jx.block_until_ready(f(x))\n%time print(f(x))\n%timeit len([1])\n%timejit f(x)",
        "%%timeit\ny = f(x)\ny.block_until_ready()",
        "%%time\ny = f(x)\nprint(y)",
    ]
    checked = of_cells(cells, "a.ipynb")
    found = look(checked.text, checked.file, checked.cells)
    assert {one.id for one in found} == {"misleading-timing"}
    places = [(*checked.place(one.span.line), one.span.column) for one in found]
    assert places == [(2, 1, 8), (2, 2, 10), (2, 3, 15), (3, 3, 8)]


@pytest.mark.parametrize(
    "body",
    [
        "    ok = bool(x > 0)\n    return x if ok else -x",  # the next line would ask
        "    n = int(x)\n    return jnp.zeros(n)",
        "    seen.append(float(x))\n    return x",  # a tracer would be kept
        "    x = jnp.ones(3) * x\n    return x[x > 0]",  # zeros in place of what was left out are not what was meant
        "    assert x > 0 and x < 1\n    return x",
    ],
)
def test_what_an_edit_cannot_mend_has_words_alone(body: str) -> None:
    found = look(HEADER + f"seen = []\ndef f(x):\n    x = jnp.sin(x)\n{body}\njax.jit(f)(1.0)\n", "<program>")
    assert found and not any(one.fix.edits for one in found) and all(one.fix.text for one in found)


NUMBERS = {
    "int(x.sum())\n    return x * n": "x.sum().astype(int)",
    "float(x.sum())\n    return round(n, 2) + jnp.maximum(n, x)": "x.sum().astype(float)",
    "int(x.sum())\n    return [x] * n": "",
    "int(x.sum())\n    return x + len('a' * n)": "",
    "int(x.sum())\n    return jnp.zeros(n)": "",
    "int(x.sum())\n    return x[[1, 2, 3][n]]": "",
    "int(x.sum())\n    return json.dumps(n)": "",
    "bool(x.sum() > 0)\n    return jnp.where(n, x, -x)": "x.sum() > 0",
    "bool(x.sum() > 0)\n    return len(json.dumps(3, sort_keys=n)) * x": "",
    "bool(x.sum() > 0)\n    return json.dumps(3, indent=4, sort_keys=n)": "",
}


@pytest.mark.parametrize("body", NUMBERS)
def test_an_edit_that_takes_a_number_away_leads_to_no_other_error(body: str) -> None:
    """The edited program runs, and one that would not is not offered."""
    text = f"{HEADER}import json\n@jax.jit\ndef f(x):\n    n = {body}\nout = f(jnp.arange(3.0))\n"
    (one,) = [one for one in look(text, "<program>") if one.span.line == HEADER.count("\n") + 4]
    assert [edit.text for edit in one.fix.edits] == ([NUMBERS[body]] if NUMBERS[body] else [])
    if one.fix.edits:
        names: dict[str, object] = {}
        exec(applied(text, one.fix.edits), names)
        assert names["out"] is not None


PRINTS = {
    'print("x", x)': 'jax.debug.print("x {}", x)',
    'print(f"sum {x.sum()} of {x.shape}")': 'jax.debug.print("sum {} of {}", x.sum(), x.shape)',
    'print("a", f"m={x.mean():.2f}")': 'jax.debug.print("a m={:.2f}", x.mean())',
    'print(f"{x!r}")': "",
    'print(f"{{}} {x}")': "",
}


@pytest.mark.parametrize("line", PRINTS)
def test_what_is_printed_is_printed_in_each_call_instead(line: str) -> None:
    (one,) = look(f"{HEADER}@jax.jit\ndef f(x):\n    {line}\n    return x\n", "<program>")
    assert [edit.text for edit in one.fix.edits] == ([PRINTS[line]] if PRINTS[line] else [])
