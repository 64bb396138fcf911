"""The regions of a file: its cells are run once, in order, in a process of their own, and watched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..advise.program import read


def of_file(path: Path) -> list[dict[str, object]]:
    """The regions of a program or a notebook, in the form of `Region.as_json`. Its cells are run; what they print is dropped.
    Raises ProgramError where the file is no program that can be read, and RuntimeError, with one line, where a cell raises."""
    read(str(path))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "regions.json"
        environment = {
            **os.environ,
            "JITSCOPE_COMPILATION_CACHE": "0",
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        }
        command = [sys.executable, "-m", "jitscope_scope.regions.running", str(path), str(out)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if not out.exists():
            last = done.stderr.strip().rpartition("\n")[2]
            raise RuntimeError(last or f"its process ended with {done.returncode}")
        return json.loads(out.read_text(encoding="utf-8"))
