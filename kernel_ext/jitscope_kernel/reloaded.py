"""Modules that were loaded anew from an edited file: what is shown of a file is the text that runs, not the one that was read first."""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any

from jitscope.core.source import is_installed

from .output import never_raising


@never_raising("reading what was loaded anew")
def read(_cell: object) -> None:
    """Read files of the user's anew that were edited and whose modules run the new text; where one was only edited, the old text runs on."""
    edited = {file for file in list(linecache.cache) if not is_installed(file) and _is_edited(file)}
    for module in list(sys.modules.values()) if edited else ():
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if file in edited and _runs(module, file):
            linecache.checkcache(file)


def _is_edited(file: str) -> bool:
    entry: Any = linecache.cache[file]
    if len(entry) != 4 or entry[1] is None:  # not read yet, or of no file
        return False
    try:
        now = os.stat(entry[3])
    except OSError:
        return False
    return (now.st_size, now.st_mtime) != (entry[0], entry[1])


def _runs(module: ModuleType, file: str) -> bool:
    """Whether the functions of a module and the methods of its classes are those of its file as it is."""
    try:
        with open(file, "rb") as text:
            now = compile(text.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return False
    values = list(vars(module).values())
    values += [one for value in values if isinstance(value, type) for one in vars(value).values()]
    functions = [inspect.unwrap(value) for value in values if callable(value)]
    own = [one.__code__ for one in functions if isinstance(one, FunctionType) and one.__code__.co_filename == file]
    known = set(_inside(now))
    return all(code in known for code in own)


def _inside(code: CodeType) -> list[CodeType]:
    found = [code]
    for one in found:
        found += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
    return found
