"""The programs in one folder: one file each, written beside its place and renamed into it.

A reader sees a whole file or none, however many processes write and whenever one is killed. When a file was last used is its
modification time; the files used longest ago go first when there is no room. Names are hashes, and their first two letters
the subfolder, so that no folder gets long.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import suppress

from ...named_tuple import NamedTuple
from .entry import HEAD, DamagedEntry, Entry, Head, read_head, unpack
from .folder import open_mine, prepare, replace_by


Name = tuple[bytes, bytes]
"""The two halves of a key, program and environment: 16 bytes each."""
UNLIMITED = 1 << 62
SUFFIX = ".jsx"
_BESIDE = ".part"
_ABANDONED = 3600.0
_FRESH = 600.0
"""A file used so lately (in seconds) need not be marked as used again."""
_KEPT = 0.9
"""The part of all room that the files take after some were removed."""
_SUBFOLDERS = 256
_WRITERS = 8
"""The folder is looked through before so many processes that write as much as this one can have filled it."""

_numbers = itertools.count()


class File(NamedTuple):
    """A file in the folder: bytes, and when it was used last in seconds since 1970."""

    path: str
    size: int
    used: float


class Store:
    """The programs below `root`, which take at most `limit` bytes (without bound if negative). All methods may be called by
    several threads and processes at once. Raises Unusable when it is made."""

    def __init__(self, root: str, limit: int):
        self.root, self.limit = root, UNLIMITED if limit < 0 else limit
        self.folder = prepare(root)
        self.writes = True
        self._left: int | None = None

    def path(self, name: Name) -> str:
        """Where an entry of that name is kept."""
        program, environment = name[0].hex(), name[1].hex()
        return os.path.join(self.folder, program[:2], f"{program}-{environment}{SUFFIX}")

    # Reading

    def read(self, name: Name, use: bool = True) -> Entry | None:
        """The entry of that name, checked, which counts as used now if `use`; None if there is none. A file that is damaged or
        not this user's is removed, or left alone if that cannot be done."""
        path = self.path(name)
        try:
            with os.fdopen(open_mine(path), "rb", buffering=0) as file:
                entry = unpack(file.read(), name)
        except FileNotFoundError:
            return None
        except (OSError, DamagedEntry):
            self.discard(name)
            return None
        if use:
            with suppress(OSError):
                if time.time() - os.stat(path).st_mtime > _FRESH:
                    os.utime(path)
        return entry

    def names(self, program: bytes) -> list[Name]:
        """The entries of a program, made in whatever environment."""
        start = program.hex()
        try:
            files = os.listdir(os.path.join(self.folder, start[:2]))
        except OSError:
            return []
        names = [name.removesuffix(SUFFIX) for name in files if name.startswith(start) and name.endswith(SUFFIX)]
        return [(program, bytes.fromhex(name[33:])) for name in names if len(name) == 65]

    def heads(self) -> Iterator[tuple[float, Head, bytes]]:
        """All entries: when they were used last, their fixed part and their text; what cannot be read is left out."""
        for found in self.files():
            with suppress(OSError, DamagedEntry), os.fdopen(open_mine(found.path), "rb") as file:
                head = read_head(file.read(HEAD))
                yield found.used, head, file.read(head.text_size)

    def files(self) -> Iterator[File]:
        """All files, unfinished ones too."""
        for part in _listed(self.folder):
            if len(part.name) == 2:
                yield from _files(part.path)

    # Writing

    def write(self, name: Name, data: bytes) -> None:
        """Put an entry into its place, unless it takes more than half of all room; then remove the files used longest ago
        while there is too little of it. Raises OSError."""
        if len(data) > self.limit // 2:
            return
        path = self.path(name)
        folder, beside = os.path.dirname(path), f"{path}.{os.getpid()}.{next(_numbers)}{_BESIDE}"
        if not os.path.isdir(folder):  # the first of it, or somebody removed everything
            prepare(self.root)
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
        replace_by(path, beside, data)
        self._make_room(folder, len(data))

    def discard(self, name: Name) -> None:
        """Remove an entry that is of no use."""
        with suppress(OSError):
            os.unlink(self.path(name))

    def clear(self) -> int:
        """Remove everything; the number of entries there were."""
        return sum(_removed(file) and file.path.endswith(SUFFIX) for file in list(self.files()))

    def _make_room(self, folder: str, written: int) -> None:
        """Look the whole folder through when it may be full. One of its parts tells how full all of them are."""
        if self._left is None:
            taken = _SUBFOLDERS * sum(_tidied(_files(folder)).values())
            self._left = (self.limit - taken) // _WRITERS if taken < self.limit // 2 else 0
        self._left -= written
        if self._left < 0:
            self._left = (self.limit - self._evict()) // _WRITERS

    def _evict(self) -> int:
        """Remove the files used longest ago while all take more room than there is; what is left, in bytes."""
        found = _tidied(self.files())
        total = sum(found.values())
        if total > self.limit:
            for file in sorted(found, key=lambda f: f.used):
                if total <= _KEPT * self.limit:
                    break
                _removed(file)
                total -= file.size
        return total


def _tidied(files: Iterator[File]) -> dict[File, int]:
    """The entries among some files, with their sizes. What killed processes left half written is removed."""
    found = list(files)
    for file in found:
        if file.path.endswith(_BESIDE) and time.time() - file.used > _ABANDONED:
            _removed(file)
    return {file: file.size for file in found if file.path.endswith(SUFFIX)}


def _removed(file: File) -> bool:
    with suppress(OSError):
        os.unlink(file.path)
        return True
    return False


def _files(folder: str) -> Iterator[File]:
    for entry in _listed(folder):
        with suppress(OSError):
            found = entry.stat(follow_symlinks=False)
            yield File(entry.path, found.st_size, found.st_mtime)


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
