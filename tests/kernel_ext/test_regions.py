"""`%%regions` and `%regions` in a shell: the cell stays itself, and what is said of it."""

import numpy as np

from jitscope.xla import program


SETUP = "import numpy as np\na = np.linspace(0.0, 1.0, 3)\n"
LOOP = "x = a.copy()\nfor i in range(30000):\n    x = turned(x)\n"


def test_a_watched_cell_is_the_plain_cell(shell) -> None:
    shell.cell(SETUP + "def turned(v):\n    return v + 0.01 * np.sin(v)")
    ran = shell.cell(
        "%%regions --runs 500\ndef half(v):\n    return v / 2\n" + LOOP + "print(half(x).shape)\nx.sum() > 0"
    )
    assert "(3,)" in ran.stdout and "Out" in ran.stdout, "a last expression is shown"
    said = "\n".join(ran.texts)
    said = " ".join(said.split())
    assert "1 of 1 stretch is worth compiling" in said and "lines 5 to 6 ✓ compile" in said  # as the editor counts them
    assert "no effect seen in this run; reads x" in said and "checked: It ran on the recorded values" in said
    names = shell.names
    assert "__regions__" not in names
    plain = names["a"].copy()
    for _ in range(30000):
        plain = plain + 0.01 * np.sin(plain)
    np.testing.assert_array_equal(names["x"], plain)
    assert "__regions__" not in names["half"].__code__.co_names


def test_a_loop_that_ends_a_cell_is_seen_under_the_number_of_the_cell(shell) -> None:
    shell.cell(SETUP + "def turned(v):\n    return v + 0.01 * np.sin(v)")
    number = shell.cell("'the cell before'").count + 1
    (document,) = shell.cell("%%regions\n" + LOOP.rstrip()).documents
    assert [(one["line"], one["end_line"]) for one in document["regions"]] == [(3, 4)]
    assert document["title"] == f"In [{number}]"
    shell.cell("for i in range(300):\n    a = a * 1.001")
    (document,) = shell.cell("%regions").documents
    assert document["title"] == f"In [{number + 1}]"


def test_the_last_cell_is_run_on_copies(shell) -> None:
    shell.cell(SETUP)
    shell.cell("for i in range(300):\n    a[0] = a[0] * 1.001 + (np.random.rand() if a[0] < 9 else 0.0)")
    before, state = shell.names["a"].copy(), np.random.get_state()[1].copy()
    said = "\n".join(shell.cell("%regions").texts)
    assert "draws from NumPy's random generator" in said
    np.testing.assert_array_equal(shell.names["a"], before)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_an_effect_is_not_repeated(shell, tmp_path) -> None:
    file = tmp_path / "kept"
    shell.cell(f"for i in range(3):\n    with open({str(file)!r}, 'a') as f:\n        f.write('a')")
    said = "\n".join(shell.cell("%regions").texts)
    assert "not run again" in said
    assert file.read_text() == "aaa"


def test_an_error_is_the_cells_own(shell) -> None:
    ran = shell.cell("%%regions\nfor i in range(3):\n    y = 1 / (2 - i)")
    assert isinstance(ran.exception, ZeroDivisionError)
    assert shell.names["i"] == 2
    assert "__regions__" not in shell.names


def test_what_cannot_be_watched_is_one_sentence(shell) -> None:
    refused = shell.cell("%%regions\na = 1\ndef f(x) return")
    assert "this cell cannot be run: expected ':', in line 3: def f(x) return" in refused.stderr
    assert "--runs takes how often the cell runs" in shell.cell("%regions --runs -3").stderr
    shell.cell("async def f():\n    return 1\nawait f()")
    assert "'await' outside function, in line 3: await f()" in shell.cell("%regions").documents[0]["note"]
    shell.cell("a = 1")
    ran = shell.cell("%regions --apply")
    assert "There is no edit to apply" in ran.stdout and "No loop and no long stretch" in ran.texts[-1]


def test_code_of_a_watched_cell_is_the_cells(shell) -> None:
    ran = shell.cell("%%regions\nimport jitscope.numpy as jnp\nnp_x = jnp.ones(7)\ny = jnp.cos(np_x) * 3")
    assert f"In [{ran.count}], line 4" in " ".join(shell.cell("%ledger").texts)


def test_a_line_below_long_cells_where_it_is_asked_for(shell) -> None:
    loop = "import time\nfor k in range(2):\n    time.sleep(0.6)"
    assert "%regions" not in shell.cell(loop).stderr
    shell.cell("%config JitscopeMagics.regions = True")
    assert "%regions" not in shell.cell("for k in range(2):\n    pass").stderr
    assert "%regions" not in shell.cell("time.sleep(1.1)").stderr
    assert "%regions" not in shell.cell(f"%%regions\n{loop}").stderr
    assert "has a loop in line 2: %regions" in shell.cell(loop).stderr
    shell.cell("%config JitscopeMagics.regions = False")


def test_the_price_is_that_of_a_session_which_has_not_compiled_it(shell, monkeypatch) -> None:
    compiled = []
    compile_ = program.Executable.compile
    monkeypatch.setattr(
        program.Executable, "compile", lambda *args, **options: compiled.append(1) or compile_(*args, **options)
    )
    shell.cell(SETUP + "def turned(v):\n    return v + 0.01 * np.sin(v)")
    counts = []
    for _ in range(2):
        ran = shell.cell("%%regions --runs 500\n" + LOOP)
        assert "1 of 1 stretch is worth compiling" in " ".join("\n".join(ran.texts).split())
        assert "Recompilations" not in "\n".join(ran.texts)
        counts.append(len(compiled))
        compiled.clear()
    assert counts[0] == counts[1] > 0


def test_the_session_runs_again_by_its_python(shell) -> None:
    """Magics stand in cells whose names others need; lines count from the cell's own first one."""
    shell.cell(f"%load_ext jitscope\n{SETUP}def turned(v):\n    return v + 0.01 * np.sin(v)")
    loop = LOOP.replace("30000", "3000")  # processes of their own run it, again and watched
    number = shell.cell(f"%%time\n{loop}").count
    (document,) = shell.cell("%regions --session --runs 500").documents
    assert document["title"] == f"In [{number}]" and [one["cell"] for one in document["regions"]] == [number]
    (region,) = document["regions"]
    assert (region["line"], region["end_line"], region["verdict"]) == (3, 4, "compile")
    assert "500 runs known" in region["reason"]
    (document,) = shell.cell("%regions --session").documents
    assert document["regions"][0]["verdict"] == "not worth it"
    (document,) = shell.cell("%regions --runs 500").documents  # the last cell that is more than a magic
    assert document["title"] == f"In [{number}]" and document["regions"][0]["verdict"] == "compile"


def test_what_the_magic_compiles_is_not_measured_without_it(shell) -> None:
    shell.cell("import jitscope.numpy as jnp\nb = jnp.arange(3.0)")
    shell.cell("%%jit\ndef turned(v):\n    return v + 0.01 * jnp.sin(v)\n\nturned(b)")
    shell.cell("def twice(v):\n    return turned(turned(v))")
    shell.cell("x = b\nfor i in range(200):\n    x = twice(x)")
    (document,) = shell.cell("%regions --session --runs 500").documents
    (region,) = document["regions"]
    assert region["verdict"] == "cannot" and region["edit"] is None and region["eager_s"] is None
    assert "`twice` ran as plain Python here, without %%jit" in region["reason"]
