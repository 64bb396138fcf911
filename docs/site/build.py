"""Builds the site of README, docs, lessons and API with Sphinx: `python docs/site/build.py FOLDER`.

`--notebooks NAME …` runs only these, the others are shown as they are; `--modules NAME …` makes the API pages of these only: for a
quick look, and for tests.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from sphinx.cmd.build import main as sphinx


HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import api  # noqa: E402
import document_pages  # noqa: E402
import teaching_pages  # noqa: E402

from jitscope_widgets.static_files import FOLDER, PAGE_VIEW, view_problem  # noqa: E402


# What the pages are made of, and what they link to.
STAGED = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs",
    "widgets/jitscope_widgets/documents",
    "examples/alias.py",
    "examples/tour.ipynb",
    "examples/many-devices.ipynb",
    "examples/targets.ipynb",
    "examples/programs/two_processes.py",
    "examples/lessons",
)
STAGED += tuple(
    f"tests/oracle/{name}"
    for name in ("README.md", "letters.py", "library.py", "operands.py", "part.py", "sampling.py", "tables.py")
)
_LEFT = shutil.ignore_patterns("site", "__pycache__", ".ipynb_checkpoints", "*.pyc")


def build(target: Path, notebooks: Sequence[str] | None = None, modules: Sequence[str] | None = None) -> int:
    """Leave the site in `target`/html; gives Sphinx's exit code, which is not 0 if there was a warning."""
    if problem := view_problem():
        print(problem, file=sys.stderr)
        return 1
    start = time.perf_counter()
    source, pages, cache = (target / name for name in ("source", "html", "cache"))
    for old in (source, pages, cache):
        shutil.rmtree(old, ignore_errors=True)
    stage(source)
    if notebooks is not None:
        leave_as_they_are(path for path in source.rglob("*.ipynb") if path.stem not in notebooks)
    api.write(source / "api", modules)
    document_pages.write(source / "documents")
    teaching_pages.write(source / "teaching")
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    code = sphinx(["-W", "--keep-going", "-q", "-T", "-j", "auto", "-d", str(cache), str(source), str(pages)])
    if code == 0:
        print(
            f"The site was built in {time.perf_counter() - start:.0f} s. It needs no server: open {pages / 'index.html'}"
        )
    return code


def stage(source: Path) -> None:
    """What the site is made of, laid out as in the repository, so that links between the files hold; on top of it the start page."""
    for name in STAGED:
        origin, copy = ROOT / name, source / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if origin.is_dir():
            shutil.copytree(origin, copy, ignore=_LEFT)
        else:
            shutil.copy(origin, copy)
    shutil.copytree(HERE, source, ignore=_LEFT, dirs_exist_ok=True)
    shutil.copy(FOLDER / PAGE_VIEW, source / "static" / "jitscope-view.js")


def leave_as_they_are(notebooks: Iterable[Path]) -> None:
    """Let MyST-NB show these without running them."""
    for path in notebooks:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["metadata"]["mystnb"] = {"execution_mode": "off"}
        path.write_text(json.dumps(notebook), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--notebooks", nargs="*", metavar="NAME")
    parser.add_argument("--modules", nargs="*", metavar="NAME")
    given = parser.parse_args()
    return build(given.target.resolve(), given.notebooks, given.modules)


if __name__ == "__main__":
    sys.exit(main())
