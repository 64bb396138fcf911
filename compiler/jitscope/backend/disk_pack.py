"""Small programs on disk: all in one file, entry after entry.

A new session meets dozens of operations; one file holds them all. Entries are appended under a lock, so a process that is
killed can leave at most one unfinished entry, at the end, which the next to append cuts off. Readers take no lock: they
index what is complete, and check an entry before they use it. When the file is full it is written anew, without the
entries used longest ago, beside its place, and renamed into it; who has the old one open reads on in that.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from .disk_entry import HEAD, USED, USED_AT, Damaged, Entry, Head, read_head, unpack
from .disk_folder import locked, open_mine, replace_by, write_all


Name = tuple[bytes, bytes]
MAGIC = b"jitscopk"
_START = len(MAGIC) + 16
"""The file begins with these letters and a number of its own: a file that was written anew is told by it, where the
system gives it the place of the old one."""
_FRESH = 86400.0
_ROOM = 0.6
"""So full is the file after it was written anew."""


class Place:
    """Where an entry stands in the file, and when it was used last."""

    __slots__ = ("at", "size", "used")

    def __init__(self, at: int, size: int, used: float):
        self.at, self.size, self.used = at, size, used


class Pack:
    """The file at `path`. All methods may be called by several threads and processes at once."""

    def __init__(self, path: str):
        self.path = path
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._index: dict[Name, Place] = {}
        self._by_program: dict[bytes, list[Name]] = {}
        self._end = 0
        self._start = b""

    def read(self, name: Name) -> Entry | None:
        """The program's entry, checked; None if there is none that is whole."""
        with self._lock:
            place = self._place(name)
            if place is None:
                return None
            try:
                with self._open() as file:
                    if file.read(_START) != self._start:  # written anew a moment ago
                        self._index_all(file)
                        place = self._index[name]
                    file.seek(place.at)
                    return unpack(file.read(place.size), name)
            except (OSError, Damaged, KeyError):
                self._index.pop(name, None)
                return None

    def _place(self, name: Name) -> Place | None:
        if name not in self._index:
            self._look()
        return self._index.get(name)

    def mark_used(self, name: Name) -> None:
        """Note in the file that the entry is in use, once a day. Not worth a lock: in a file that is written anew
        meanwhile the note is lost, and nothing else."""
        with self._lock:
            place, now = self._index.get(name), time.time()
            if place is None or now - place.used < _FRESH:
                return
            place.used = now
            with suppress(OSError), os.fdopen(open_mine(self.path, os.O_RDWR), "r+b", buffering=0) as file:
                if file.read(_START) == self._start:
                    file.seek(place.at + USED_AT)
                    file.write(USED.pack(now))

    def append(self, name: Name, data: bytes, room: float) -> bool:
        """Add an entry, unless there is one by now; the file is written anew where it would take more than `room` bytes.
        False where others held the lock for too long. Raises OSError."""
        with locked(f"{self.path}.lock") as mine, self._lock:
            if not mine:
                return False
            self._look()
            if name in self._index:
                return True
            if not self._end or self._end + len(data) > room:
                self._write_anew(room - len(data))
            descriptor = open_mine(self.path, os.O_RDWR | os.O_CREAT)
            try:
                if os.fstat(descriptor).st_size > self._end:
                    os.ftruncate(descriptor, self._end)  # somebody was killed while writing
                os.lseek(descriptor, self._end, os.SEEK_SET)
                self._write(descriptor, data)
            finally:
                os.close(descriptor)
            self._look()
            return True

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            write_all(descriptor, data)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, self._end)
            raise

    def discard(self, name: Name) -> None:
        """Look past an entry, so that another of its name is added behind it."""
        with self._lock:
            self._index.pop(name, None)

    def names(self) -> list[Name]:
        """The entries there are."""
        with self._lock:
            self._look()
            return list(self._index)

    def environments(self, program: bytes) -> list[Name]:
        """The names of the entries of a program, whatever their environment."""
        with self._lock:
            if program not in self._by_program:
                self._look()
            return list(self._by_program.get(program, ()))

    def heads(self) -> Iterator[tuple[Place, Head, bytes]]:
        """All entries with their fixed part and their text."""
        with self._lock:
            self._look()
            with suppress(OSError), self._open() as file:
                for place in list(self._index.values()):
                    file.seek(place.at)
                    with suppress(Damaged):
                        head = read_head(file.read(HEAD))
                        yield place, head, file.read(head.text_size)

    @property
    def size(self) -> int:
        """The bytes the file takes."""
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    def clear(self) -> int:
        """Remove the file; the number of entries it had. Raises OSError."""
        with locked(f"{self.path}.lock"), self._lock:
            count = len(self.names())
            with suppress(FileNotFoundError):
                os.unlink(self.path)
            self._forget()
        return count

    # Reading the file

    def _open(self) -> Any:
        return os.fdopen(open_mine(self.path), "rb", buffering=0)

    def _look(self) -> None:
        """Index what was added since the last look; all of it, if the file is another one."""
        try:
            with self._open() as file:
                if file.read(_START) != self._start or os.fstat(file.fileno()).st_size < self._end:
                    self._index_all(file)
                else:
                    file.seek(self._end)
                    self._take(file.read())
        except OSError:
            self._forget()

    def _index_all(self, file: Any) -> None:
        self._forget()
        file.seek(0)
        start = file.read(_START)
        if len(start) == _START and start.startswith(MAGIC):
            self._start, self._end = start, _START
            self._take(file.read())

    def _take(self, data: bytes) -> None:
        at, start = 0, self._end
        while at < len(data):
            try:
                head = read_head(data, at)
            except Damaged:
                break
            if at + head.size > len(data):
                break
            if head.name not in self._index:
                self._by_program.setdefault(head.program, []).append(head.name)
            self._index[head.name] = Place(start + at, head.size, head.used)
            at += head.size
        self._end = start + at

    def _write_anew(self, room: float) -> None:
        """Write a file of the entries used last, as many as take `_ROOM` of the room, and put it in place of this one."""
        kept: list[bytes] = []
        total = 0
        with suppress(FileNotFoundError), self._open() as file:
            for place in sorted(self._index.values(), key=lambda p: (p.used, p.at), reverse=True):
                if total + place.size > _ROOM * room:
                    break
                file.seek(place.at)
                data = file.read(place.size)
                with suppress(Damaged):
                    unpack(data)
                    kept.append(data)
                    total += place.size
        number = os.urandom(_START - len(MAGIC))
        replace_by(self.path, f"{self.path}.new", b"".join([MAGIC, number, *reversed(kept)]))
        self._forget()
        self._look()
