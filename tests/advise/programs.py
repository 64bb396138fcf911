"""The programs of `cases/`: small ones that step on a sharp bit, and look-alikes that do not.

A file has cells, `# %% trigger` and `# %% clean`; `raises` after it says that the program ends in an error, `run`
that the sharp bit shows when it runs. The lines on which a diagnostic is due end in `#<- id`. A program that does not import the
library begins with `HEADER`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


HEADER = """\
import jitscope as jax
import jitscope.numpy as jnp
from jitscope import lax
import numpy as np
"""
_IMPORTS = re.compile(r"^(?:import|from) jitscope\b|import .*\bjitscope\b", re.MULTILINE)
CASES = Path(__file__).parent / "cases"


class Program(NamedTuple):
    """`wanted` are the (id, line) that are due; `late` says that a look alone cannot tell."""

    name: str
    text: str
    wanted: frozenset[tuple[str, int]]
    raises: bool
    late: bool


def programs() -> list[Program]:
    """All programs of `cases/`."""
    return [program for file in sorted(CASES.glob("*.txt")) for program in _in_file(file)]


def _in_file(file: Path) -> list[Program]:
    parts = re.split(r"^# %% (trigger|clean)((?: raises)?(?: run)?)\n", file.read_text(), flags=re.MULTILINE)[1:]
    found = []
    for i in range(0, len(parts), 3):
        kind, raises, body = parts[i : i + 3]
        lines = (body if _IMPORTS.search(body) else HEADER + body).splitlines()
        wanted = {
            (id, number)
            for number, line in enumerate(lines, 1)
            if "#<-" in line
            for id in line.partition("#<-")[2].split()
        }
        assert bool(wanted) == (kind == "trigger"), (file, body)
        text = "\n".join(line.partition("  #<-")[0] for line in lines) + "\n"
        found.append(
            Program(f"{file.stem}-{kind}-{i // 3}", text, frozenset(wanted), "raises" in raises, "run" in raises)
        )
    return found
