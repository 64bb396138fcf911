"""The modules of a program's own, which lie beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from jitscope_scope.advise import Diagnostic


def beside(found: Sequence[Diagnostic], file: str) -> list[Diagnostic]:
    """Those in modules of the program's own: files in or below the folder of `file`, or of its package, that nobody installed there. They
    are named from where `file` is named from."""
    root, _ = root_of_package(os.path.abspath(file))
    start = os.getcwd() if not os.path.isabs(file) else None
    own = [one for one in found if one.file.endswith(".py") and _is_own(os.path.abspath(one.file), root)]
    return [replace(one, file=os.path.relpath(one.file, start) if start else os.path.abspath(one.file)) for one in own]


def _is_own(path: str, root: str) -> bool:
    if not path.startswith(os.path.join(root, "")) or not os.path.isfile(path):
        return False
    folder = os.path.dirname(path)
    while folder != root:
        if is_left_out(folder):
            return False
        folder = os.path.dirname(folder)
    return True


def is_left_out(folder: str) -> bool:
    """Whether what lies in a folder is installed there, made, or hidden."""
    name = os.path.basename(folder)
    of_others = name in ("site-packages", "dist-packages", "node_modules", "__pycache__")
    return of_others or name.startswith(".") or os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def root_of_package(path: str) -> tuple[str, str]:
    """Where a file's imports are looked for, and the name of the package it is in."""
    folder, names = os.path.dirname(path), []
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        names.insert(0, name)
    return folder, ".".join(names)
