"""What a user installs: the wheel and the source distribution, built from a copy of the checkout."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.extent import full


pytestmark = pytest.mark.long
PACKAGES = {
    "jitscope": "compiler/jitscope",
    "jitscope_scope": "kernel_ext/jitscope_scope",
    "jitscope_kernel": "kernel_ext/jitscope_kernel",
    "jitscope_widgets": "widgets/jitscope_widgets",
}
FRONT_END = ["view.js", "view.iife.js", "loader.js"]
NOT_COPIED = [".git", ".venv*", "node_modules", "build", "__pycache__", ".*_cache", "screenshots"]
LAB = "share/jupyter/labextensions/jitscope/"


@pytest.fixture(scope="module")
def distributions(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel built from it; npm must not run, the front end is built."""
    assert (root / "labextension/dist/package.json").is_file(), "the front end is not built: make front"
    folder = tmp_path_factory.mktemp("distributions")
    checkout = folder / "a checkout"
    shutil.copytree(root, checkout, ignore=shutil.ignore_patterns(*NOT_COPIED))
    # Isolated, the build would fetch its requirements.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(checkout)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "npm" not in built.stdout
    return folder


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> set[str]:
    (path,) = distributions.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def installed(distributions: Path) -> Path:
    """A folder with the contents of the wheel, as pip lays them out."""
    (path,) = distributions.glob("*.whl")
    target = distributions / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(target), str(path)], check=True)
    return target


def test_wheel_holds_every_module_and_nothing_else(root: Path, wheel: set[str]) -> None:
    expected = {
        f"{name}/{path.relative_to(root / folder).as_posix()}"
        for name, folder in PACKAGES.items()
        for path in (root / folder).rglob("*.py")
    }
    assert {name for name in wheel if name.endswith(".py")} == expected
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.startswith("jitscope-")} == set(PACKAGES)
    assert not [name for name in wheel if name.startswith("jitscope_widgets/js/") or "__pycache__" in name]


def test_wheel_holds_the_built_front_end(wheel: set[str]) -> None:
    assert {f"jitscope_widgets/static/{name}" for name in FRONT_END} <= wheel
    extension = {name.partition(".data/data/")[2] for name in wheel if ".data/data/" in name}
    assert LAB + "package.json" in extension
    assert any(name.startswith(LAB + "static/remoteEntry") for name in extension)
    assert all(name.startswith(LAB) for name in extension)


def test_wheel_holds_the_tables_that_views_read(root: Path, wheel: set[str]) -> None:
    tables = {f"jitscope_widgets/{path.name}" for path in (root / "widgets/jitscope_widgets").glob("*.json")}
    assert "jitscope_widgets/sentences.json" in tables and tables <= wheel


def test_packages_are_marked_as_typed(wheel: set[str]) -> None:
    assert {f"{name}/py.typed" for name in PACKAGES} <= wheel


def test_one_version_for_python_and_the_front_end(root: Path, distributions: Path) -> None:
    version = json.loads((root / "package.json").read_text())["version"]
    assert json.loads((root / "package-lock.json").read_text())["version"] == version
    assert (distributions / f"jitscope-{version}-py3-none-any.whl").is_file()
    assert f"## {version}" in (root / "CHANGELOG.md").read_text()


def test_extension_loads_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The installed files are used, not the checkout's, and a cell is compiled and shown."""
    script = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jitscope")
import jitscope, jitscope_kernel, jitscope_widgets
for module in (jitscope, jitscope_kernel, jitscope_widgets):
    assert pathlib.Path(module.__file__).is_relative_to(sys.argv[1]), module
cell = "import jitscope.numpy as jnp\\ndef layer(x):\\n    return jnp.sin(x) + 1\\nlayer(jnp.arange(3.0))"
shell.run_cell_magic("jit", "", cell)
"""
    command = [sys.executable, "-c", script, str(installed)]
    environment = os.environ | {"IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path)}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert "layer(" in ran.stdout
    assert "equation" in ran.stdout


def newer_pythons() -> Iterator[str]:
    """Commands of Pythons on which today's jax runs, this one first."""
    others = sorted(map(str, Path.home().glob(".pyenv/versions/3.1[23].*/bin/python3")), reverse=True)
    for command in (sys.executable, *filter(None, map(shutil.which, ("python3.13", "python3.12"))), *others):
        asked = [command, "-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))"]
        if subprocess.run(asked, capture_output=True).returncode == 0:
            yield command


def pip(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def versions(python: Path) -> dict[str, str]:
    """What is installed, by name."""
    listed = pip(python, "list", "--format", "json")
    return {each["name"]: each["version"] for each in json.loads(listed.stdout)}


FIRST_CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
assert shell.run_cell("%load_ext jitscope").success
assert shell.run_cell("import jax, jax.numpy as jnp, flax.linen as nn, optax, equinox, numpyro").success
cell = '''%%jit
model, rule = nn.Dense(3), optax.adam(0.1)
params = model.init(jax.random.key(0), jnp.ones((4, 2)))

@jax.jit
def train(params, state, x):
    loss, slopes = jax.value_and_grad(lambda p: (model.apply(p, x) ** 2).mean())(params)
    steps, state = rule.update(slopes, state)
    return optax.apply_updates(params, steps), state, loss

params, state, loss = train(params, rule.init(params), jnp.ones((4, 2)))
'''
assert shell.run_cell(cell).success
"""


@full
def test_installing_beside_todays_jax_moves_no_version(distributions: Path, tmp_path: Path) -> None:
    """The newest jax, flax, optax, equinox and numpyro stay what they are, and a first training step is told."""
    command = next(newer_pythons(), None)
    if command is None:
        pytest.skip("today's jax needs Python 3.12 or newer, and none is here")
    subprocess.run([command, "-m", "venv", str(tmp_path / "venv")], check=True)
    folder = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = folder / "python"
    fetched = pip(python, "install", "--quiet", "jax", "flax", "optax", "equinox", "numpyro")
    if fetched.returncode:
        pytest.skip(f"jax and its libraries could not be fetched: {fetched.stderr.strip().splitlines()[-1]}")
    before = versions(python)
    (path,) = distributions.glob("*.whl")
    installed = pip(python, "install", "--quiet", str(path))
    assert installed.returncode == 0, installed.stderr
    after = versions(python)
    print(*(f"{name} {after[name]}" for name in ("jax", "jaxlib", "flax", "optax", "equinox", "numpyro", "jitscope")))
    assert {name: after.get(name) for name in before} == before
    assert (checked := pip(python, "check")).returncode == 0, checked.stdout

    environment = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "XLA_FLAGS")}
    environment |= {"IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path)}
    run = functools.partial(subprocess.run, capture_output=True, text=True, cwd=tmp_path, env=environment)
    ran = run([str(python), "-c", FIRST_CELLS])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "train(" in ran.stdout and "equation" in ran.stdout
    doctor = run([str(folder / "jitscope"), "doctor"])
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


def test_source_distribution_can_be_built_without_node(distributions: Path) -> None:
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"widgets/jitscope_widgets/static/{name}" for name in FRONT_END} <= names
    assert {"labextension/dist/package.json", "labextension/hatch_build.py", "package.json", "README.md"} <= names
    assert not [name for name in names if name.startswith(("node_modules", ".venv", "build"))]


def test_nothing_else_lies_where_an_editable_install_puts_it_on_the_path(root: Path) -> None:
    folders = [Path(folder) for folder in PACKAGES.values()]
    for parent in {folder.parent for folder in folders}:
        names = {path.name for path in (root / parent).iterdir()} - {"__pycache__"}
        assert names == {folder.name for folder in folders if folder.parent == parent}


def test_lock_file_names_no_registry(root: Path) -> None:
    assert '"resolved": "http' not in (root / "package-lock.json").read_text()


def test_the_recipe_for_conda_needs_what_the_package_needs(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load((root / ".github" / "conda" / "recipe.yaml").read_text())
    needed = [Requirement(one) for one in project["dependencies"]]
    said = [Requirement(one) for one in recipe["requirements"]["run"] if not one.startswith("python ")]
    renamed = {"graphviz": "python-graphviz"}
    assert {(one.name, one.specifier) for one in said if one.name != "graphviz"} == {
        (renamed.get(one.name, one.name), one.specifier) for one in needed
    }
    assert "graphviz" in {one.name for one in said}
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    assert recipe["context"]["version"] == json.loads((root / "package.json").read_text())["version"]
