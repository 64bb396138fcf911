"""What a user installs: the wheel and the source distribution, built from a copy of the checkout."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest


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
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(path),
    ]
    subprocess.run(command, check=True)
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
