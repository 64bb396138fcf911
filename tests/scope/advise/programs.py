"""The programs of `cases/`: small ones that step on a sharp bit, and look-alikes that do not.

A file has cells, `# %% trigger` and `# %% clean`; `raises` after it says that the program ends in an error, `run`
that the sharp bit shows when it runs. The lines on which a diagnostic is due end in `#<- id`. A program that does not import the
library begins with `HEADER`; one that loads the extension is a notebook, its cells parted by `# %%`.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import NamedTuple

from jitscope_scope.advise.program import Program as Checked, of_cells


HEADER = """\
import jitscope as jax
import jitscope.numpy as jnp
from jitscope import lax
import numpy as np
"""
_IMPORTS = re.compile(r"^(?:import|from) (?:jitscope|jax)\b|import .*\b(?:jitscope|jax)\b", re.MULTILINE)
_NEXT = "\0"
CASES = Path(__file__).parent / "cases"


class Program(NamedTuple):
    """`wanted` are the (id, line) that are due; `late` says that a look alone cannot tell; `cells` are a notebook's, whose lines
    are counted through."""

    name: str
    text: str
    wanted: frozenset[tuple[str, int]]
    raises: bool
    late: bool
    cells: tuple[str, ...] = ()

    @property
    def apart(self) -> bool:
        """Whether it needs a process in which nothing has run: what sets the number of devices."""
        return "num_cpu_devices" in self.text

    def checked(self) -> Checked:
        """The program as `jitscope check` reads it."""
        return of_cells(list(self.cells), "<program>") if self.cells else Checked("<program>", self.text)

    def write(self, folder: Path) -> Path:
        """Leave it in a folder, as a file that `jitscope check` reads."""
        file = folder / f"{self.name}.{'ipynb' if self.cells else 'py'}"
        body = [{"cell_type": "code", "source": cell} for cell in self.cells]
        file.write_text(json.dumps({"cells": body, "nbformat": 4}) if self.cells else self.text)
        return file

    def line(self, cell: int | None, line: int) -> int:
        """A line of a cell (from 1), counted through."""
        return line + sum(one.count("\n") + 1 for one in self.cells[: (cell or 1) - 1])


@functools.cache
def in_files() -> dict[str, list[Program]]:
    """All programs of `cases/`, by their files."""
    return {file.stem: _in_file(file) for file in sorted(CASES.glob("*.txt"))}


def programs() -> list[Program]:
    return [program for some in in_files().values() for program in some]


def _in_file(file: Path) -> list[Program]:
    parts = re.split(r"^# %% (trigger|clean)((?: raises)?(?: run)?)\n", file.read_text(), flags=re.MULTILINE)[1:]
    found = []
    for i in range(0, len(parts), 3):
        kind, raises, body = parts[i : i + 3]
        book = "%load_ext jitscope" in body
        if book:
            body = body.partition("# %%\n")[2].rstrip("\n").replace("\n# %%\n", "\n" + _NEXT)
        lines = (body if _IMPORTS.search(body) else HEADER + body).splitlines()
        wanted = {
            (id, number)
            for number, line in enumerate(lines, 1)
            if "#<-" in line
            for id in line.partition("#<-")[2].split()
        }
        assert bool(wanted) == (kind == "trigger"), (file, body)
        text = "\n".join(line.partition("  #<-")[0] for line in lines) + "\n"
        cells = tuple(text.rstrip("\n").split("\n" + _NEXT)) if book else ()
        name = f"{file.stem}-{kind}-{i // 3}"
        text = text.replace(_NEXT, "")
        found.append(Program(name, text, frozenset(wanted), "raises" in raises, "run" in raises, cells))
    return found
