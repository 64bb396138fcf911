"""Prepare and check a release; `make release VERSION=0.2.0` runs both.

`prepare VERSION` gives package.json, CITATION.cff and the recipe for conda the version, and CHANGELOG.md a section of that name with what stood under "Unreleased".
`check FOLDER` installs the wheel and the source distribution of a folder, each into an empty environment, and runs a cell there.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path


ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
CELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jitscope")
shell.run_cell_magic("jit", "", "import jitscope.numpy as jnp\\ndef layer(x):\\n    return jnp.sin(x) + 1\\nlayer(jnp.arange(3.0))")
import jitscope
assert jitscope.__version__ == {version!r}, jitscope.__version__
"""


class ReleaseError(Exception):
    """A release that cannot be made as asked; the message says why."""


def released(changelog: str, version: str, day: datetime.date) -> str:
    """The changelog with an empty section "Unreleased" and what it held under the version and its day. Raises ReleaseError where nothing
    is unreleased, and for a version that has a section."""
    if re.search(rf"^## {re.escape(version)}\b", changelog, re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md has a section {version}")
    head, mark, rest = changelog.partition("\n## Unreleased\n")
    text = rest.partition("\n## ")[0]
    if not mark or not text.strip():
        raise ReleaseError("CHANGELOG.md has nothing under Unreleased")
    return f"{head}{mark}\n## {version} ({day.isoformat()})\n{rest}"


def prepare(version: str) -> None:
    """Write the version and the section. Raises ReleaseError for what is no version, and where files are changed already."""
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"{version!r} is no version such as 0.2.0 or 0.2.0rc1")
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout:
        raise ReleaseError("there are changes that are not committed")
    changelog = ROOT / "CHANGELOG.md"
    text = released(changelog.read_text(encoding="utf-8"), version, datetime.date.today())
    for name in ("package.json", "package-lock.json"):
        path = ROOT / name
        found = json.loads(path.read_text(encoding="utf-8"))
        for holder in (found, found.get("packages", {}).get("")):
            if holder is not None:
                holder["version"] = version
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    changelog.write_text(text, encoding="utf-8")
    for path in (ROOT / "CITATION.cff", ROOT / ".github" / "conda" / "recipe.yaml"):
        said = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"^( *version: ).*$", rf"\g<1>{version}", said, flags=re.MULTILINE), encoding="utf-8")


def check(folder: Path) -> None:
    """Raises ReleaseError where a distribution of the folder cannot be installed or used."""
    version = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["version"]
    found = [*folder.glob(f"jitscope-{version}-*.whl"), *folder.glob(f"jitscope-{version}.tar.gz")]
    if len(found) != 2:
        raise ReleaseError(f"{folder} has not one wheel and one source distribution of {version}")
    for distribution in found:
        with tempfile.TemporaryDirectory() as empty:
            venv.create(empty, with_pip=True)
            python = next(
                path for path in (Path(empty, "bin/python"), Path(empty, "Scripts/python.exe")) if path.exists()
            )
            _run(distribution, str(python), "-m", "pip", "install", "--quiet", str(distribution))
            said = _run(distribution, str(python), "-c", CELL.format(version=version), cwd=empty)
            if "equation" not in said:
                raise ReleaseError(f"{distribution.name}: a cell shows nothing:\n{said}")
        print(f"{distribution.name}: installed, and a cell was compiled and shown")


def _run(distribution: Path, *command: str, cwd: str | None = None) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    if ran.returncode:
        raise ReleaseError(
            f"{distribution.name}: {' '.join(command[1:4])} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}"
        )
    return ran.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("prepare").add_argument("version")
    commands.add_parser("check").add_argument("folder", type=Path)
    given = parser.parse_args()
    try:
        prepare(given.version) if given.command == "prepare" else check(given.folder)
    except ReleaseError as error:
        print(f"No release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
