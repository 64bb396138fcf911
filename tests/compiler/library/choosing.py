"""Which functions a run of the tests takes: all, or a tenth and those whose modules the last commit touches."""

from __future__ import annotations

import inspect
import os
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path

from tests.compiler.library.answers import Library
from tests.compiler.library.samples import Function


ROOT = Path(__file__).resolve().parents[3]
PART = 10


def chosen(library: Library, functions: Sequence[Function]) -> list[Function]:
    if os.environ.get("JITSCOPE_GENERATED") == "all":
        return list(functions)
    seed, touched = _git("rev-parse", "HEAD") or "0", _touched()
    return [f for f in functions if _drawn(f.name, seed) or _file(library, f.name) in touched or f.file in touched]


def _drawn(name: str, seed: str) -> bool:
    return zlib.crc32(f"{seed} {name}".encode()) % PART == 0


def _touched() -> set[str]:
    """Files that the last commit and the working tree change, and the names of changed files of samples."""
    lines = (_git("diff", "--name-only", "HEAD~1") or "").split()
    return {str(ROOT / line) for line in lines} | {Path(line).stem for line in lines if "library/samples/" in line}


def _git(*args: str) -> str:
    try:
        done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):  # no git, or no history: the tenth alone
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _file(library: Library, name: str) -> str:
    try:
        return inspect.getsourcefile(inspect.unwrap(library.function(name))) or ""
    except (AttributeError, TypeError):
        return ""
