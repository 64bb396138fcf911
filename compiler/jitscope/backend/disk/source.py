"""The version of the compiler that made a program: a hash of its source, which somebody may be at work on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache

from ...core.digest import blake2b
from .folder import open_mine, replace_by


PACKAGE = __name__.split(".")[0]
FOLDERS = (
    "xla", "core", "symbolic", "ops", "transforms", "control", "special", "backend", "api", "random", "checkify", "export",
    "extend",
)  # fmt: skip
"""Where what decides the way from a jaxpr to its program is written: all operations and what lowers them."""
_loaded = time.time()


@cache
def source_version(folder: str) -> str | None:
    """A hash of the source between a jaxpr and its program; None where it cannot be read, or is no longer what this
    process runs. What it was when the files had the times and sizes they have is noted in `folder`: the files need not be
    read again, just as Python does not compile them again."""
    package = os.path.abspath(os.path.join(__file__, "../../.."))
    try:
        files = [file for one in FOLDERS for file in _python_files(os.path.join(package, one))]
        if not files or max(found.st_mtime for _, found in files) > _loaded:
            return None
        names = [path[len(package) + 1 :] for path, _ in files]
        stamps = repr([(name, f.st_size, f.st_mtime_ns) for name, (_, f) in zip(names, files)])
        state = blake2b(f"{package} {stamps}".encode(), digest_size=16).hexdigest()
        note = os.path.join(folder, "source")
        source = _noted(note, state)
        if source is None:
            source = _contents([(name, path) for name, (path, _) in zip(names, files)])
            with suppress(OSError):
                replace_by(note, f"{note}.part", f"{state} {source}".encode())
        return source
    except OSError:
        return None


def _python_files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if entry.name.endswith(".py"):
                yield entry.path, entry.stat()
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _python_files(entry.path)


def _contents(files: Sequence[tuple[str, str]]) -> str:
    """A hash of files, given by name and path."""
    found = blake2b(digest_size=8)
    for name, path in files:
        with open(path, "rb", buffering=0) as file:
            text = file.read()
        found.update(f"{name} {len(text)}\n".encode() + text)
    return found.hexdigest()


def _noted(note: str, state: str) -> str | None:
    """The hash that was noted for a state of the files."""
    try:
        with os.fdopen(open_mine(note), "rb", buffering=0) as file:
            noted, _, source = file.read(100).decode("ascii").partition(" ")
    except (OSError, ValueError):
        return None
    return source if noted == state and len(source) == 16 else None
