"""`jitscope check`: what a look and a run find together, and what the command writes."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import jitscope
from jitscope_kernel import check as kernel_check, cli
from jitscope_kernel.check import check, look_at
from jitscope_kernel.checking_answers import PlacedDiagnostic, text
from jitscope_scope.advise import CATALOGUE
from jitscope_scope.advise.code.newer import python_needed
from jitscope_scope.advise.program import read
from jitscope_scope.advise.run.values import look_at_run
from jitscope_scope.source_code.edits import applied, moved
from tests.extent import one_in
from tests.scope.advise.programs import HEADER, Program, programs
from tests.scope.advise.test_look import begins_well


def ran(file: Path) -> list[PlacedDiagnostic]:
    """What a run finds; the warnings of a program that is checked are its own."""
    with warnings.catch_warnings(record=True):
        return check(read(str(file)), run=True)


@pytest.mark.parametrize("program", one_in(15, [p for p in programs() if not p.apart and not p.cells]))
def test_a_run_finds_what_is_due_and_edits_mend_it(program: Program, tmp_path: Path) -> None:
    file = program.write(tmp_path)
    found = ran(file)
    assert {(one.one.id, one.line) for one in found} == program.wanted
    assert not [one.one.message for one in found if not begins_well(one.one.message, program.text)]
    for k, one in enumerate(found):
        edits = one.one.fix.edits
        written = re.match(r"Write `([^`…]+)`", one.one.fix.text)
        ast.parse(written[1] if written else "")
        if edits:
            file, fixed = tmp_path / f"mended_{k}.py", applied(program.text, edits)
            file.write_text(fixed)
            left = {(other.one.id, other.line) for other in ran(file)}
            assert left == {(id, moved(line, edits)) for id, line in program.wanted - {(one.one.id, one.line)}}, fixed
            if one.one.severity == "error":
                compare(program.text, fixed, numpy=one.one.id == "item-assignment")


def test_modules_beside_a_program_are_told_of_and_installed_ones_are_not(tmp_path: Path) -> None:
    helper = "def positive(x):\n    return x if x > 0 else -x\n"
    (tmp_path / "beside_it.py").write_text(helper)
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "installed_there.py").write_text(helper)
    main = "import jitscope\nimport sys\nsys.path.append({path!r})\nfrom {module} import positive\njitscope.jit(positive)(1.0)\n"
    places = {}
    for module in ("beside_it", "installed_there"):
        (tmp_path / f"{module}_main.py").write_text(main.format(path=str(tmp_path / "site-packages"), module=module))
        answer = look_at(read(str(tmp_path / f"{module}_main.py")), run=True)
        places[module] = [(Path(one.file).name, one.line, one.one.id) for one in answer.found]
        assert [(Path(one.file).name, one.line) for one in answer.ended] == [(f"{module}_main.py", 5)]
        assert text(answer).count("as is told above") == bool(places[module])
        sys.modules.pop(module)
    assert places == {"beside_it": [("beside_it.py", 2, "branch-on-tracer")], "installed_there": []}


def test_pythons_own_warnings_of_syntax_are_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.py").write_text("import jitscope\npattern = '\\d'\nif pattern is 'a': pass\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cli.main(["check", str(tmp_path / "old.py")]) == 0
    assert capsys.readouterr().err == ""


def compare(text: str, fixed: str, numpy: bool) -> None:
    """A program that is mended gives what its first form gives without `jit`, by NumPy itself for what arrays of the library
    cannot do; where that form has no meaning, there is nothing to compare."""
    text = text.replace("jitscope.numpy as jnp", "numpy as jnp") if numpy else text
    try:
        with jitscope.disable_jit():
            expected = results(text)
    except Exception:
        return
    for mine, theirs in zip(results(fixed), expected, strict=True):
        for leaf, other in zip(jitscope.tree.leaves(mine), jitscope.tree.leaves(theirs), strict=True):
            if callable(leaf) and callable(other):  # a function of its own in each
                continue
            np.testing.assert_allclose(np.asarray(leaf), np.asarray(other), rtol=1e-5, atol=1e-6, err_msg=fixed)


def results(text: str) -> list[Any]:
    """What the expressions that stand alone at the top of a program give."""
    tree, scope = ast.parse(text), {"results": [], "__name__": "program"}
    for k, node in enumerate(tree.body):
        if isinstance(node, ast.Expr):
            tree.body[k] = ast.parse(f"results.append({ast.unparse(node)})").body[0]
    exec(compile(ast.unparse(tree), "<program>", "exec"), scope)
    return scope["results"]


@pytest.mark.parametrize("program", one_in(3, [p for p in programs() if p.cells]))
def test_notebooks_that_run_one_after_another_find_what_is_due(program: Program, tmp_path: Path) -> None:
    answer = look_at(read(str(program.write(tmp_path))), run=True)
    assert {(one.one.id, program.line(one.cell, one.line)) for one in answer.found} == program.wanted
    assert not InteractiveShell.initialized()


def test_each_of_several_programs_has_a_process_of_its_own(tmp_path: Path) -> None:
    """The devices, the environment and the modules beside it are its own, and so is its death."""
    files = {str(program.write(tmp_path)): program for program in programs() if program.apart}
    assert all("num_cpu_devices" in program.text for program in files.values())
    places = [tmp_path / folder / "main.py" for folder in "abc"]
    for file in places:
        file.parent.mkdir()
        (file.parent / "beside_main.py").write_text(f"PLACE = {file.parent.name!r}\n")
        own = f"import os\nfrom beside_main import PLACE\nassert (PLACE, os.environ.get('SET')) == ({file.parent.name!r}, None)\n"
        file.write_text(f"{own}os.environ['SET'] = '1'\n")
    places[1].write_text("import os\nos._exit(5)\n")
    found: dict[str, set[tuple[str, int]]] = {file: set() for file in files}
    document = json.loads(command("--run", "--json", *files, *map(str, places), apart=True).stdout)
    for one in document["diagnostics"]:
        found[one["file"]].add((one["id"], one["line"]))
    assert found == {file: program.wanted for file, program in files.items()}
    died = [(one["file"], one["error"]) for one in document["ended"] if one["file"] not in files]
    assert died == [(str(places[1]), "exit code 5")]


def command(*arguments: str, apart: bool = False) -> subprocess.CompletedProcess[str]:
    """What `jitscope check` does; `apart`: in a process of its own."""
    if apart:
        return subprocess.run([sys.executable, "-m", "jitscope", "check", *arguments], capture_output=True, text=True)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(record=True):
        status = cli.main(["check", *arguments])
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


TEXT = (
    HEADER
    + """
# %% one
x = jnp.zeros(3)
# %% two
x.at[0].set(1.0)
print("printed")
"""
)


def test_json_and_the_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(TEXT)
    done = command("--json", "--run", str(file), apart=True)
    (one,) = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == 1 and "printed" in done.stderr
    assert (one["id"], one["severity"], one["cell"], one["line"]) == ("update-result-dropped", "warning", 3, 9)
    assert (one["column"], one["end_line"], one["end_column"]) == (0, 9, 16)
    assert one["message"] and one["fix"].startswith("Write `x = x.at[0].set(1.0)`")
    file.write_text(HEADER + "x = jnp.zeros(3)\n")
    assert command("--json", str(file)).returncode == 0
    assert command("--ignore", "update-result-dropped", str(file)).returncode == 0


def test_sarif(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(TEXT)
    (run,) = json.loads(command("--sarif", str(file)).stdout)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "update-result-dropped" and result["level"] == "warning"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 9
    file = tmp_path / "my book.ipynb"
    file.write_text(notebook(HEADER, "x = jnp.zeros(3)\nx.at[0].set(1.0)\ny = 1"))
    (result,) = json.loads(command("--sarif", str(file)).stdout)["runs"][0]["results"]
    (where,) = result["locations"]
    assert where["physicalLocation"] == {"artifactLocation": {"uri": file.as_posix().replace(" ", "%20")}}
    assert where["logicalLocations"] == [{"fullyQualifiedName": "cell 2, line 2"}]


def notebook(*cells: str) -> str:
    body = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps(
        {
            "cells": [{"cell_type": "markdown", "source": "text"}, *body],
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
        }
    )


def test_a_notebook_is_looked_at_and_run_cell_by_cell(tmp_path: Path) -> None:
    file = tmp_path / "book.ipynb"
    cells = [
        "%load_ext jitscope\n" + HEADER,
        "%%jit\ndef f(x):\n    return x if x > 0 else -x",
        "g = jax.jit(lambda x: x * 2)\nfor n in (2, 3):\n    g(jnp.ones(n))\nx = jnp.zeros(3)\nx.at[0].set(1.0)",
        "%%bash\necho [",
        "!true\nf(1.0)",
        "%time this is\nnever run",
    ]
    file.write_text(notebook(*cells))
    looked = [(one.one.id, one.cell, one.line) for one in check(read(str(file)))]
    assert looked == [("branch-on-tracer", 2, 3)]
    done = command("--run", "--json", str(file))
    found = [(one["id"], one["cell"], one["line"]) for one in json.loads(done.stdout)["diagnostics"]]
    assert found == [("branch-on-tracer", 2, 3), ("recompile-shape", 3, 3)]
    assert json.loads(done.stdout)["skipped"] == [
        {"file": str(file), "cell": 6, "reason": "is no Python: line 2: invalid syntax"}
    ]


UNREADABLE = {
    "bytes": ("book.ipynb", "\xff", "is not text"),
    "no cells": ("book.ipynb", "{}", "it has no cells"),
    "a number of cells": ("book.ipynb", '{"cells": 3}', "it has no cells"),
    "a cell of nothing": ("book.ipynb", '{"cells": [{}]}', "it has no cells"),
    "a file cut short": ("book.ipynb", '{"cells": [', "it is no JSON: line 1"),
    "an empty notebook": ("book.ipynb", "", "it is empty"),
    "no Python": ("program.py", "x = 1\ndef f(:\n", "is no Python: line 2: invalid syntax"),
}
BRANCHING = "import jax\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\nf(1.0)\n"


def test_a_fault_of_the_look_is_told_and_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looked = kernel_check.look

    def failing(text: str, file: str, *more: Any) -> Any:
        if file.endswith("odd.py"):
            raise KeyError("odd")
        return looked(text, file, *more)

    monkeypatch.setattr(kernel_check, "look", failing)
    odd, good = tmp_path / "odd.py", tmp_path / "good.py"
    odd.write_text(BRANCHING)
    good.write_text(BRANCHING)
    assert cli.main(["check", str(odd), str(good)]) == 1
    said = capsys.readouterr().out
    assert "odd.py: left out: jitscope failed to look at it (KeyError: 'odd')" in said
    assert "good.py: line 4: branch-on-tracer" in said


def test_the_edit_of_a_branch_takes_the_return_behind_it_in(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(BRANCHING)
    [one] = [placed.one for placed in check(read(str(file)))]
    edited = applied(BRANCHING, one.fix.edits)
    assert edited == "import jax\n@jax.jit\ndef f(x):\n    return jax.numpy.where(x > 0, x, -x)\nf(1.0)\n"


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_read_is_listed_and_hides_nothing(what: str, tmp_path: Path) -> None:
    """Alone it is an error of the command's; beside others they are answered."""
    name, text, reason = UNREADABLE[what]
    file, good = tmp_path / name, tmp_path / "good.py"
    file.write_text(text, encoding="latin-1")
    good.write_text(BRANCHING)
    done = command(str(file))
    assert done.returncode == 2 and reason in done.stdout and "No file could be read." in done.stdout
    done = command(str(good), str(file))
    assert done.returncode == 1 and "branch-on-tracer" in done.stdout and f"{name}: left out: " in done.stdout
    answer = json.loads(command("--json", str(file), str(good)).stdout)
    assert [one["id"] for one in answer["diagnostics"]] == ["branch-on-tracer"]
    ((skipped),) = answer["skipped"]
    assert (skipped["file"], skipped["cell"]) == (str(file), None) and reason in skipped["reason"]
    (run,) = json.loads(command("--sarif", str(file), str(good)).stdout)["runs"]
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["level"] == "warning" and reason in notification["message"]["text"]
    good.write_text("x = 1\n")
    assert command(str(good), str(file)).returncode == 1  # something was left out
    assert command(str(tmp_path / "nothing.py")).returncode == 2


NEWER = {
    "def f[T](x: T) -> T: return x\n": "3.12",
    "class Box[T]:\n    x: T\n": "3.12",
    "type Pair = tuple[int, int]\n": "3.12",
    "def f[T](x: T) -> T: return x f\n": "",
    "type of\n": "",
}


@pytest.mark.parametrize("text", NEWER)
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_syntax_newer_than_this_python_is_called_so(text: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(text)
    says = f"needs Python {NEWER[text]}, and this is Python 3.11" if NEWER[text] else "is no Python: line 1"
    assert f"program.py: left out: {says}" in command(str(file)).stdout


def test_a_newer_form_alone_is_what_is_missing() -> None:
    """Known in texts that no supported Python reads yet, too."""
    assert python_needed("try:\n    pass\nexcept ValueError, TypeError:\n    pass\nx = t'{1}'\n") in ("3.14", "")
    assert python_needed("x = = 1\n") == ""


def test_remarks_of_one_kind_are_one_in_each_file(tmp_path: Path) -> None:
    file = tmp_path / "test_program.py"
    body = "    @jax.jit\n    def f(x):\n        nonlocal n\n        n += 1\n        return x\n"
    file.write_text(f"import jax\ndef test_f():\n    n = 0\n{body * 3}")
    told = command(str(file)).stdout.splitlines()
    assert told[0] == f"{file}: line 7: trace-time-mutation (remark)" and told[3] == "  likewise in line 12, line 17"
    assert told[4].startswith("3 sharp bits")
    assert len(json.loads(command("--json", str(file)).stdout)["diagnostics"]) == 3


TWICE = """
@jax.jit
def f(x):
    print(x); print(f"{x} and {x + 1}")
    return x[7] + x[9]
f(jnp.arange(5))
y = jnp.zeros(3)
y.at[0].set(1.0); y.at[1].set(2.0)
jax.jit(lambda x: np.sin(x) + np.cos(x))(1.0)
"""


def test_two_of_one_kind_in_a_line_are_told_with_their_columns(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(HEADER + TWICE)
    told = [line.rpartition("program.py: ")[2] for line in text(look_at(read(str(file)), run=True)).splitlines()]
    assert [line for line in told if line.startswith("line ")] == [
        "line 8, columns 5-12: trace-time-print (warning)",
        "line 8, columns 15-39: trace-time-print (warning)",
        "line 9, columns 12-15: oob-index (warning)",
        "line 9, columns 19-22: oob-index (warning)",
        "line 12, columns 1-16: update-result-dropped (warning)",
        "line 12, columns 19-34: update-result-dropped (warning)",
        "line 13, columns 19-27: host-call-on-tracer (error)",
        "line 13, columns 31-39: host-call-on-tracer (error)",
        "line 13: the program ended here, as is told above",
    ]


def test_nothing_is_said_of_what_was_not_looked_for(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(HEADER + "x = jnp.zeros(3)\n")
    kinds = f"None of the {len(CATALOGUE)} kinds was found by looking at the code"
    assert command(str(file)).stdout == f"{kinds}.\n"
    assert command(str(file), str(file)).stdout == f"{kinds} of 2 files.\n"
    assert command("--run", str(file)).stdout == f"{kinds} and running it.\n"
    file.write_text(HEADER + "x = jnp.zeros(3)\n1 / 0\n")
    done = command("--run", str(file))
    assert done.stdout.splitlines() == [
        f"{file}: line 6: the program ended here with ZeroDivisionError: division by zero",
        f"{kinds} and running it, as far as it ran.",
    ]
    assert done.returncode == 1
    (run,) = json.loads(command("--run", "--sarif", str(file)).stdout)["runs"]
    assert not run["invocations"][0]["executionSuccessful"] and not run["results"]
    assert "ZeroDivisionError" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_a_folder_is_all_programs_below_it(tmp_path: Path) -> None:
    places = ("a.py", "inner/b.py", "inner/c.ipynb", ".hidden/d.py", "lib/site-packages/e.py", "venv/f.py", "g.txt")
    for place in places:
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(notebook(BRANCHING) if place.endswith("ipynb") else BRANCHING)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    (tmp_path / ".hidden" / "empty").mkdir()
    found = json.loads(command("--json", str(tmp_path)).stdout)["diagnostics"]
    assert [Path(one["file"]).relative_to(tmp_path).as_posix() for one in found] == list(places[:3])
    done = command("--run", str(tmp_path))
    assert done.returncode == 2 and "name the programs" in done.stderr
    done = command(str(tmp_path / ".hidden" / "empty"))
    assert done.returncode == 2 and "empty: left out: has no program and no notebook below it" in done.stdout


def test_cells_that_are_to_raise_are_gone_past(tmp_path: Path) -> None:
    """The run ends at the first that fails and was not to; those behind it are listed."""
    cells = [
        HEADER,
        "jax.jit(lambda x: -x if x < 0 else x)(1.0)",
        "x = jnp.zeros(3)[0]",
        "y = x + z",
        "",
        "w = 1",
        "def",
    ]
    book = json.loads(notebook(*cells))
    book["cells"][2]["metadata"] = {"tags": ["raises-exception"]}
    file = tmp_path / "book.ipynb"
    file.write_text(json.dumps(book))
    done = command("--run", "--json", str(file))
    answer = json.loads(done.stdout)
    assert [(one["id"], one["cell"]) for one in answer["diagnostics"]] == [("branch-on-tracer", 2)]
    (ended,) = answer["ended"]
    assert (ended["cell"], ended["line"], ended["error"]) == (4, 1, "NameError: name 'z' is not defined")
    assert [(one["cell"], one["reason"].partition(":")[0]) for one in answer["skipped"]] == [
        (7, "is no Python"),
        (6, "not run"),
    ]
    assert done.returncode == 1
    assert "cell 6: left out: not run: cell 4 ended with NameError" in command("--run", str(file)).stdout


def test_a_program_that_ends_early_is_told_up_to_there(tmp_path: Path) -> None:
    endings = ["raise SystemExit(3)", "1 / 0", "import sys; sys.exit()", "raise KeyboardInterrupt"]
    files = [str(tmp_path / f"program_{i}.py") for i in range(len(endings))]
    for file, ending in zip(files, endings):
        body = f"f = jax.jit(lambda x: x + 1)\nf(jnp.ones(2))\nf(jnp.ones(3))\n{ending}\n"
        Path(file).write_text(HEADER + body)
    done = command("--run", "--json", *files)
    found = [(one["file"], one["id"]) for one in json.loads(done.stdout)["diagnostics"]]
    assert found == [(file, "recompile-shape") for file in files]
    assert [(one["file"], one["line"], one["error"]) for one in json.loads(done.stdout)["ended"]] == [
        (files[0], 8, "sys.exit(3)"),
        (files[1], 8, "ZeroDivisionError: division by zero"),
        (files[3], 8, "KeyboardInterrupt"),
    ]
    assert done.returncode == 1


def test_a_program_runs_as_python_runs_it(tmp_path: Path) -> None:
    """A file of a package has its package; the bytes may say how they are encoded; what ends it is told."""
    package = tmp_path / "own_package" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package.parent / "sizes.py").write_text("SIZES = (2, 3)\n")
    file = package / "train.py"
    body = "from ..sizes import SIZES\nf = jax.jit(lambda x: x + 1)\nfor n in SIZES:\n    f(jnp.ones(n))  # größer\nimport sys; sys.exit('no data')\n"
    file.write_bytes(("\ufeff" + HEADER + body).encode())
    other = tmp_path / "latin.py"
    other.write_bytes(b"# -*- coding: latin-1 -*-\nname = '\xe4'\nraise KeyboardInterrupt\n")
    done = command("--run", "--json", str(file), str(other))
    assert [(one["id"], one["line"]) for one in json.loads(done.stdout)["diagnostics"]] == [("recompile-shape", 8)]
    ended = json.loads(done.stdout)["ended"]
    assert [one["error"] for one in ended] == ["sys.exit('no data')", "KeyboardInterrupt"]


def test_a_program_is_run_with_its_own_arguments(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    body = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--sizes", type=int, nargs="+")
parser.add_argument("rest")
given = parser.parse_args()
f = jax.jit(lambda x: x + 1)
for n in given.sizes:
    f(jnp.ones(n))
import sys; sys.exit(repr((sys.argv[0], given.rest)))
"""
    file.write_text(HEADER + body)
    done = command("--json", "--run", str(file), "--", "--sizes", "2", "3", "--", "--json")
    assert [(one["id"], one["line"]) for one in json.loads(done.stdout)["diagnostics"]] == [("recompile-shape", 12)]
    assert json.loads(done.stdout)["ended"][0]["error"] == f"sys.exit({repr((str(file), '--json'))!r})"
    assert done.returncode == 1
    done = command("--run", str(file))
    assert "required: rest" in done.stderr
    for refused in ((str(file), "--", "2"), ("--run", str(file), str(file), "--", "2")):
        done = command(*refused)
        assert done.returncode == 2 and "give --run and one .py file" in done.stderr


def test_every_id_of_a_program_is_in_the_catalogue() -> None:
    assert {id for program in programs() for id, _ in program.wanted} <= set(CATALOGUE)
    assert f"{len(CATALOGUE)} kinds of code" in (Path(__file__).parents[3] / "README.md").read_text()


def test_each_line_is_told_though_its_program_is_known(tmp_path: Path) -> None:
    """Outside of jit the library keeps the program of the first line."""
    lines = [
        "y = x.at[5].set(1.0)",
        "z = x.at[5].set(1.0)",
        "a = jnp.log(-x - 1)",
        "b = jnp.log(-x - 1)",
        "c = n * 4",
        "d = n * 4",
    ]
    head = ["import jitscope as jx", "import jitscope.numpy as jnp", "x = jnp.arange(5.0)", "n = jnp.int32(2**30)"]
    file = tmp_path / "lines.py"
    file.write_text("\n".join([*head, *lines]) + "\n")
    found = [(one.one.id, one.line) for one in ran(file)]
    assert found == [
        ("oob-index", 5),
        ("oob-index", 6),
        ("silent-nan", 7),
        ("silent-nan", 8),
        ("int-overflow", 9),
        ("int-overflow", 10),
    ]


DEBUGGED = {
    "a where, compiled": ("jax.jit(jax.grad(safe_log))(0.0)", "where-grad-nan", 4),
    "a where": ("jax.grad(safe_log)(0.0)", "where-grad-nan", 4),
    "a root, compiled": ("jax.jit(jax.grad(length))(jnp.zeros(2))", "grad-singular-point", 6),
    "a root": ("jax.grad(length)(jnp.zeros(2))", "grad-singular-point", 6),
    "a value, compiled": ("jax.jit(entropy)(jnp.array([0.0, 0.5]))", "silent-nan", 8),
    "a value": ("entropy(jnp.array([0.0, 0.5]))", "silent-nan", 8),
}


@pytest.mark.parametrize("what", DEBUGGED)
def test_what_debug_nans_raises_is_told_as_what_it_is(what: str, tmp_path: Path) -> None:
    call, id, line = DEBUGGED[what]
    file = tmp_path / "program.py"
    file.write_text(
        "import jitscope as jax\nimport jitscope.numpy as jnp\n"
        "def safe_log(x):\n    return jnp.where(x > 0, jnp.log(x), 0.0)\n"
        "def length(x):\n    return jnp.sqrt((x**2).sum())\n"
        "def entropy(p):\n    return -(p * jnp.log(p)).sum()\n"
        f"with jax.debug_nans(True):\n    {call}\n"
    )
    assert [(one.one.id, one.line) for one in check(read(str(file)), run=True)] == [(id, line)]


def test_fixes_have_the_names_of_the_program(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import jitscope as js\nfrom jitscope import numpy as np2\n@js.jit\ndef f(x, key):\n    print(x)\n"
        "    y = np2.sin(x) if x > 0 else js.random.normal(key)\n    return y + js.random.uniform(key)\n"
        "try:\n    f(1.0, js.random.key(0))\nexcept TypeError:\n    pass\n"
    )
    for run in (False, True):
        found = check(read(str(file)), run=run)
        texts = [one.one.fix.text for one in found] + [edit.text for one in found for edit in one.one.fix.edits]
        assert len(found) == 3 and not any("jax." in text or "jnp." in text for text in texts), texts
        assert any("js.random.split(key)" in text for text in texts)
        assert any("np2.where(x > 0, np2.sin(x), js.random.normal(key))" in text for text in texts)


def test_a_look_at_the_values_of_a_run_leaves_nothing_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs loops as a whole, which go on by themselves: a process that ends meanwhile may crash."""
    waited: list[Any] = []
    closed = jitscope.make_jaxpr(
        lambda x, i: jitscope.lax.fori_loop(0, 3, lambda _, y: y.at[i].add(1.0), x),
    )(jitscope.numpy.ones(3), 1)
    before = type(jitscope.numpy.ones(1)).block_until_ready
    monkeypatch.setattr(
        type(jitscope.numpy.ones(1)), "block_until_ready", lambda one: (waited.append(one), before(one))[1]
    )
    look_at_run(closed, "f", [jitscope.numpy.ones(3), jitscope.numpy.array(1)], [jitscope.numpy.ones(3)])
    assert [one.shape for one in waited] == [(3,)]


def test_a_notebook_is_run_where_it_lies(tmp_path: Path) -> None:
    """As a kernel would: modules and data beside it are found; what is not run behind a failure is one line."""
    (tmp_path / "beside_the_notebook.py").write_text("WIDTH = 3\n")
    (tmp_path / "width.txt").write_text("3")
    read_both = "from beside_the_notebook import WIDTH\nimport pathlib\nassert WIDTH == int(pathlib.Path('width.txt').read_text())"
    file = tmp_path / "book.ipynb"
    file.write_text(notebook(read_both, "1 / 0", "x = 1", "x = 2"))
    here, path = Path.cwd(), list(sys.path)
    answer = look_at(read(str(file)), run=True)
    assert [one.cell for one in answer.ended] == [2] and (Path.cwd(), sys.path) == (here, path)
    assert f"{file}: cells 3, 4: left out: not run: cell 2 ended with ZeroDivisionError" in text(answer)


def test_each_cell_of_a_notebook_is_told_of(tmp_path: Path) -> None:
    """A line has its number in its cell: the same in two cells is two lines."""
    cells = [f"jax.jit(lambda x: {sign}x if x > 0 else x)(1.0)" for sign in ("-", "+")]
    file = tmp_path / "book.ipynb"
    file.write_text(notebook(HEADER, *cells))
    for options in ((), ("--run",)):
        told = command(*options, str(file)).stdout
        assert f"{file}: cell 2, line 1: branch-on-tracer" in told
    assert f"{file}: cell 3, line 1: branch-on-tracer" in command(str(file)).stdout


def test_a_leak_is_held_by_the_users_name_and_not_by_what_ipython_showed(tmp_path: Path) -> None:
    keeping = "log = []\n@jax.jit\ndef keep(x):\n    log.append(x * 2)\n    return x\nkeep(1.0)\nlog"
    file = tmp_path / "book.ipynb"
    file.write_text(notebook(HEADER, keeping, "with jax.checking_leaks():\n    keep(jnp.ones(2))"))
    said = [line for one in ran(file) for line in one.one.evidence]
    assert "it is held by the global variable log[1] of __main__" in said


def test_what_the_program_went_past_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(HEADER + "total = jax.jit(lambda w: w.sum(), donate_argnums=0)\ntotal(jnp.ones(1000))\n")
    assert [(one.one.id, one.one.severity) for one in ran(file)] == [("donation-misuse", "warning")]
