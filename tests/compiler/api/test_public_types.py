"""What type checkers and editors see of the public names: pyright over a user's file, and the tables behind names that are loaded late."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jitscope.lax import primitives
from jitscope.numpy import operators


ROOT = Path(__file__).resolve().parents[3]
COMPILER = ROOT / "compiler"
USER = Path(__file__).parents[1] / "typed_program.py"


def _late_modules() -> list[str]:
    files = [
        p
        for p in COMPILER.rglob("*.py")
        if re.search(r"^else:\n    (?:_, _names = )?_late\(", p.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    return sorted(".".join(p.relative_to(COMPILER).with_suffix("").parts).removesuffix(".__init__") for p in files)


def _names_for_checkers(module: str) -> set[str]:
    """What stands below `if TYPE_CHECKING:` in a module."""
    namespace = importlib.import_module(module)
    tree = ast.parse(inspect.getsource(namespace))
    (block,) = [n for n in tree.body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    names: set[str] = set()
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            if alias.name == "*":
                origin = importlib.import_module(
                    "." * statement.level + (statement.module or ""), namespace.__package__
                )
                names |= set(origin.__all__)
            else:
                assert alias.name == alias.asname  # so that it counts as public
                names.add(alias.name)
    return names


@pytest.mark.parametrize("module", _late_modules())
def test_what_is_loaded_late_is_there_for_type_checkers(module: str) -> None:
    find = importlib.import_module(module).__getattr__
    places = inspect.getclosurevars(find).nonlocals["places"]
    assert _names_for_checkers(module) == set(places)


def _stub(name: str) -> ast.Module:
    return ast.parse((COMPILER / "jitscope" / name).read_text(encoding="utf-8"))


def test_the_operators_for_type_checkers_are_those_of_the_table() -> None:
    (cls,) = [n for n in _stub("core/operators.pyi").body if isinstance(n, ast.ClassDef)]
    told = {n.name: n for n in cls.body if isinstance(n, ast.FunctionDef)}
    table = operators.table()
    assert set(table) <= set(told)
    assert set(told) - set(table) == {f"__{n}__" for n in ("array", "bool", "int", "float", "complex", "index")}
    for name, function in table.items():
        if not isinstance(function, property) and not name.startswith("__"):
            args = told[name].args
            parameters = [a.arg for a in (*args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs)]
            assert parameters == list(inspect.signature(function).parameters), name


def test_the_primitives_for_type_checkers_are_those_of_the_table() -> None:
    told = {n.target.id for n in _stub("lax/primitives.pyi").body if isinstance(n, ast.AnnAssign)}  # pyright: ignore[reportAttributeAccessIssue]
    assert told - {"PRIMITIVES", "OF_LINALG"} == set(primitives.PRIMITIVES)


def test_a_users_file_has_the_types_that_it_says() -> None:
    """Each line that ends in `# type: T` reveals T; each that ends in `# error: rule` has that error; there is no other."""
    run = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(USER)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    told = json.loads(run.stdout)["generalDiagnostics"]
    found = {}
    for diagnostic in told:
        line = diagnostic["range"]["start"]["line"]
        revealed = re.fullmatch(r'Type of ".*" is "(.*)"', diagnostic["message"], re.DOTALL)
        found[line] = f"type: {revealed[1]}" if revealed else f"error: {diagnostic.get('rule')}"
    lines = USER.read_text(encoding="utf-8").splitlines()
    said = {i: text.partition("  # ")[2] for i, text in enumerate(lines) if re.search(r"  # (type|error): ", text)}
    assert found == said
