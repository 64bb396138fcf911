"""Large programs on disk: one file each, written beside its place and renamed into it.

A reader sees a whole file or none, however many processes write and whenever one is killed. What a file was last used for
is its modification time; the files used longest ago go first when there is no room.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import suppress

from .disk_entry import HEAD, Damaged, Entry, Head, read_head, unpack
from .disk_folder import open_mine, replace_by


SUFFIX = ".jsx"
_BESIDE = ".part"
_ABANDONED = 3600.0
_FRESH = 600.0
"""A file used so lately need not be marked as used again."""
_ROOM = 0.9
_LOOK_EVERY = 64

_numbers = itertools.count()


class Found:
    """A file of a program, as the folder tells."""

    __slots__ = ("path", "size", "used")

    def __init__(self, path: str, size: int, used: float):
        self.path, self.size, self.used = path, size, used


class Files:
    """The files below `folder`. All methods may be called by several threads and processes at once."""

    def __init__(self, folder: str):
        self.folder = folder
        self._total: int | None = None
        self._written = 0

    def path(self, name: tuple[bytes, bytes]) -> str:
        program, environment = name[0].hex(), name[1].hex()
        return os.path.join(self.folder, program[:2], f"{program}-{environment}{SUFFIX}")

    def read(self, name: tuple[bytes, bytes], use: bool = True) -> Entry | None:
        """The program's entry, checked, which counts as used now if `use`; None if there is none. A file that is damaged or
        not this user's is removed, or left alone if that cannot be done."""
        try:
            entry = unpack(_contents(self.path(name)), name)
        except FileNotFoundError:
            return None
        except (OSError, Damaged):
            self.discard(name)
            return None
        if use:
            self._mark_used(self.path(name))
        return entry

    def discard(self, name: tuple[bytes, bytes]) -> None:
        with suppress(OSError):
            os.unlink(self.path(name))

    def _mark_used(self, path: str) -> None:
        with suppress(OSError):
            if time.time() - os.stat(path).st_mtime > _FRESH:
                os.utime(path)

    def write(self, name: tuple[bytes, bytes], data: bytes, room: float) -> None:
        """Put an entry into its place; then remove the files used longest ago while all take more than `room` bytes.
        Raises OSError."""
        path = self.path(name)
        with suppress(FileExistsError):
            os.mkdir(os.path.dirname(path), 0o700)
        replace_by(path, f"{path}.{os.getpid()}.{next(_numbers)}{_BESIDE}", data)
        self._make_room(len(data), room)

    def environments(self, program: bytes) -> list[tuple[bytes, bytes]]:
        """The names of the entries of a program, whatever their environment."""
        start = program.hex()
        try:
            files = os.listdir(os.path.join(self.folder, start[:2]))
        except OSError:
            return []
        names = [name.removesuffix(SUFFIX) for name in files if name.startswith(start) and name.endswith(SUFFIX)]
        return [(program, bytes.fromhex(name[33:])) for name in names if len(name) == 65]

    def all(self) -> Iterator[Found]:
        """The files there are."""
        for path, found in self._walk():
            if path.endswith(SUFFIX):
                yield Found(path, found.st_size, found.st_mtime)

    def heads(self) -> Iterator[tuple[float, Head, bytes]]:
        """All entries: when they were used last, their fixed part and their text; what cannot be read is left out."""
        for found in self.all():
            with suppress(OSError, Damaged):
                with os.fdopen(open_mine(found.path), "rb") as file:
                    head = read_head(file.read(HEAD))
                    yield found.used, head, file.read(head.text_size)

    def clear(self) -> int:
        """Remove all files; their number."""
        count = 0
        for path, _ in list(self._walk()):
            with suppress(OSError):
                os.unlink(path)
                count += path.endswith(SUFFIX)
        self._total = None
        return count

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """All files, unfinished ones too."""
        for shard in _listed(self.folder):
            if len(shard.name) == 2:
                for file in _listed(shard.path):
                    with suppress(OSError):
                        yield file.path, file.stat(follow_symlinks=False)

    def _make_room(self, written: int, room: float) -> None:
        """The folder is looked through when this process has filled it, and now and then, since others fill it too."""
        self._written += 1
        if self._total is not None:
            self._total += written
        if self._total is None or self._total > room or self._written % _LOOK_EVERY == 0:
            self._total = self._evict(room)

    def _evict(self, room: float) -> int:
        self._remove_abandoned()
        found = sorted(self.all(), key=lambda f: f.used)
        total = sum(f.size for f in found)
        if total <= room:
            return total
        for file in found:
            if total <= _ROOM * room:
                break
            with suppress(OSError):
                os.unlink(file.path)
            total -= file.size
        return total

    def _remove_abandoned(self) -> None:
        """Remove what killed processes left half written."""
        for path, found in list(self._walk()):
            if path.endswith(_BESIDE) and time.time() - found.st_mtime > _ABANDONED:
                with suppress(OSError):
                    os.unlink(path)


def _contents(path: str) -> bytes:
    with os.fdopen(open_mine(path), "rb") as file:
        return file.read()


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
