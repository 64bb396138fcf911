"""Programs over several devices run in a process of their own, which begins with that many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests import extent


def printed_by(module: str, *args: str, timeout: float = 300, quickly: bool = False) -> str:
    """What a module of this folder prints; warnings are errors, and so is another exit code than 0. `make test` compiles to plain
    machine code. `quickly`: only values matter."""
    way = extent.Way.AS_USERS if extent.ALL else extent.Way.QUICK if quickly else extent.Way.UNOPTIMIZED
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", f"{__package__}.{module}", *args],
        capture_output=True, text=True, timeout=timeout, cwd=Path(__file__).parents[2],
        env=os.environ | extent.flags(**way.options),
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    return run.stdout


def said_by(module: str, *args: str, timeout: float = 300, quickly: bool = False) -> Any:
    """The JSON that a module of this folder prints."""
    return json.loads(printed_by(module, *args, timeout=timeout, quickly=quickly))
