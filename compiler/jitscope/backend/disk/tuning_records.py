"""How programs were tuned, on disk: one small file for each, beside its compiled forms. A record holds in the environment that it was
measured in, and in no other."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from .folder import open_mine, prepare, replace_by
from .store import Store


SUFFIX = ".tuned"
_MOST = 64
"""Records of one program, in as many environments: the oldest are let go."""
_numbers = itertools.count()

Records = dict[str, Any]


def read(store: Store, program: bytes) -> Records:
    """The records of a program by environment (in hexadecimal digits), oldest first; none where they cannot be read."""
    try:
        with os.fdopen(open_mine(_path(store, program)), "rb") as file:
            found = import_module("json").loads(file.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(store: Store, program: bytes, environment: bytes, record: Mapping[str, Any]) -> None:
    """Keep a record in place of that of the same environment. Raises OSError."""
    known = read(store, program)
    known.pop(environment.hex(), None)
    _put(store, program, {**dict(list(known.items())[1 - _MOST :]), environment.hex(): dict(record)})


def remove(store: Store, program: bytes, environment: bytes) -> bool:
    """Remove the record of an environment; whether there was one. Raises OSError."""
    known = read(store, program)
    if known.pop(environment.hex(), None) is None:
        return False
    if known:
        _put(store, program, known)
    else:
        with suppress(FileNotFoundError):
            os.unlink(_path(store, program))
    return True


def _put(store: Store, program: bytes, records: Records) -> None:
    path = _path(store, program)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        prepare(store.root)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    replace_by(path, f"{path}.{os.getpid()}.{next(_numbers)}.part", import_module("json").dumps(records).encode())


def _path(store: Store, program: bytes) -> str:
    name = program.hex()
    return os.path.join(store.folder, name[:2], name + SUFFIX)
