"""The folder on disk: where it is, and that nobody else can put native code into it."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path


FORMAT = "programs-1"
"""The subfolder of this way of writing entries; others are somebody else's."""


class Unusable(OSError):
    """The folder cannot be used; the message says why."""


def default_folder() -> str:
    """Where programs are kept unless the option compilation_cache_dir says otherwise. Raises Unusable where the system
    tells no place for caches."""
    home = Path(os.path.expanduser("~"))
    if not home.is_absolute():
        raise Unusable("this user has no home folder")
    if given := os.environ.get("XDG_CACHE_HOME"):
        base = Path(given)
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = home / ".cache"
    return str(base / "jitscope")


def prepare(root: str) -> str:
    """The subfolder for entries, made if need be and readable by its owner alone. Raises Unusable."""
    folder = os.path.join(root, FORMAT)
    try:
        os.makedirs(root, mode=0o700, exist_ok=True)
        above = os.stat(root)
        _check(root, above)
        if os.name == "posix" and above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
            raise Unusable(f"everybody may write to {root}, and so put native code into it: chmod o-w {root}")
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
        _check(folder, found)
        if stat.S_IMODE(found.st_mode) & 0o077 and os.name == "posix":
            os.chmod(folder, 0o700)
    except Unusable:
        raise
    except OSError as error:
        raise Unusable(f"{root} cannot be used: {error.strerror or error}") from None
    return folder


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise Unusable(f"{path} is not a folder")
    if not is_mine(found):
        raise Unusable(f"{path} belongs to another user (number {found.st_uid}), who could put native code into it")


def is_mine(found: os.stat_result) -> bool:
    """Whether a file belongs to this user. Windows has its own access lists, and user folders are private there."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def open_mine(path: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file of this user's, no link to one. Raises OSError."""
    # Without O_NONBLOCK, a FIFO in the file's place would be waited for.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600)
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and is_mine(found):
        return descriptor
    os.close(descriptor)
    raise PermissionError(f"{path} is no file of this user's")


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_by(path: str, beside: str, data: bytes) -> None:
    """Write `data` to the file `beside` and rename it to `path`, so that nobody sees half of it. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(beside)  # left by a killed process
    try:
        descriptor = open_mine(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_all(descriptor, data)
        finally:
            os.close(descriptor)
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(beside)
        if os.name != "nt" or not isinstance(error, PermissionError):  # Windows: somebody reads the old one
            raise
