"""Small programs on disk: all in one file, entry after entry.

A new session meets dozens of operations; one file holds them all. Entries are appended under a lock, so a process that is
killed can leave at most one unfinished entry, at the end, which the next to append cuts off. Readers take no lock: they
look at what is complete, and check an entry before they use it. When the file is full it is written anew, without the
entries used longest ago, beside its place, and renamed into it; who has the old one open reads on in that.

A second file, the index, says where each entry is, so that nobody needs to read the first one through. It may be missing,
wrong or behind: what it does not tell is read from the entries, and the next to append mends it.
"""

from __future__ import annotations

import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from .disk_entry import HEAD, USED, USED_AT, Damaged, Entry, Head, read_head, unpack
from .disk_folder import locked, open_mine, replace_by, write_all


Name = tuple[bytes, bytes]
MAGIC = b"jitscopk"
START = len(MAGIC) + 16
"""Both files begin with these letters and a number: a file that was written anew is told by it, and so is an index of
another one."""
_PLACE = struct.Struct("<16s16sQI")
"""What the index says of an entry: program, environment, where it stands, its size."""
_PLACES = np.dtype([("name", "S32"), ("at", "<u8"), ("size", "<u4")])
_FRESH = 86400.0
_ROOM = 0.6
"""So full is the file after it was written anew."""


class Pack:
    """The file at `path`. All methods may be called by several threads and processes at once."""

    def __init__(self, path: str):
        self.path, self.index = path, f"{path}.index"
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._start = b""
        self._end = 0
        self._places = bytearray()
        self._of_no_use: set[int] = set()

    # One entry

    def read(self, name: Name, use: bool = True) -> Entry | None:
        """The program's entry, checked, which counts as used now if `use`; None if there is none that is whole."""
        with self._lock:
            place = self._place(name)
            if place is None:
                return None
            try:
                with self._open() as file:
                    if file.read(START) != self._start:  # written anew a moment ago
                        self._look()
                        place = self._find(name) or (0, 0)
                    file.seek(place[0])
                    entry = unpack(file.read(place[1]), name)
            except (OSError, Damaged):
                self._of_no_use.add(place[0])
                return None
            if use:
                self._mark_used(place[0], entry.head.used)
            return entry

    def _place(self, name: Name) -> tuple[int, int] | None:
        found = self._find(name)
        if found is None:
            self._look()
            found = self._find(name)
        return found

    def _find(self, name: Name) -> tuple[int, int] | None:
        """Where the entry of that name that was added last stands, and its size."""
        for _, at, size in reversed(self._places_of(b"".join(name))):
            return None if at in self._of_no_use else (at, size)
        return None

    def _places_of(self, begin: bytes) -> list[tuple[Name, int, int]]:
        """The places of entries whose names begin so."""
        found, at = [], self._places.find(begin)
        while at >= 0:
            if at % _PLACE.size == 0:
                program, environment, *place = _PLACE.unpack_from(self._places, at)
                found.append(((program, environment), *place))
            at = self._places.find(begin, at + 1)
        return found

    def _mark_used(self, at: int, used: float) -> None:
        """Note in the file that an entry is in use, once a day. Not worth a lock: in a file that is written anew meanwhile
        the note is lost, and nothing else."""
        now = time.time()
        if now - used >= _FRESH:
            with suppress(OSError), os.fdopen(open_mine(self.path, os.O_RDWR), "r+b", buffering=0) as file:
                if file.read(START) == self._start:
                    file.seek(at + USED_AT)
                    file.write(USED.pack(now))

    def discard(self, name: Name) -> None:
        """Look past an entry, so that another of its name is added behind it."""
        with self._lock:
            if (place := self._find(name)) is not None:
                self._of_no_use.add(place[0])

    def append(self, name: Name, data: bytes, room: float) -> bool:
        """Add an entry, unless there is one by now; the file is written anew where it would take more than `room` bytes.
        False where others held the lock for too long. Raises OSError."""
        with locked(f"{self.path}.lock") as mine, self._lock:
            if not mine:
                return False
            self._look()
            if self._find(name) is not None:
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
            self._write_index()
            return True

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            write_all(descriptor, data)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, self._end)
            raise

    # All entries

    def names(self) -> list[Name]:
        """The entries there are."""
        with self._lock:
            self._look()
            return list(dict.fromkeys((p, e) for p, e, *_ in _PLACE.iter_unpack(self._places)))

    def environments(self, program: bytes) -> list[Name]:
        """The names of the entries of a program, whatever their environment."""
        with self._lock:
            found = self._places_of(program)
            if not found:
                self._look()
                found = self._places_of(program)
            return list(dict.fromkeys(name for name, *_ in found))

    def heads(self) -> Iterator[tuple[float, Head, bytes]]:
        """All entries: when they were used last, their fixed part and their text."""
        with self._lock:
            self._look()
            last = {(p, e): at for p, e, at, _ in _PLACE.iter_unpack(self._places)}
            with suppress(OSError), self._open() as file:
                for at in last.values():
                    file.seek(at)
                    with suppress(Damaged):
                        head = read_head(file.read(HEAD))
                        yield head.used, head, file.read(head.text_size)

    @property
    def size(self) -> int:
        """The bytes that both files take."""
        total = 0
        for path in (self.path, self.index):
            with suppress(OSError):
                total += os.stat(path).st_size
        return total

    def clear(self) -> int:
        """Remove the files; the number of entries there were. Raises OSError."""
        with locked(f"{self.path}.lock"), self._lock:
            count = len(self.names())
            for path in (self.path, self.index):
                with suppress(FileNotFoundError):
                    os.unlink(path)
            self._forget()
        return count

    # Reading the files

    def _open(self, path: str = "") -> Any:
        return os.fdopen(open_mine(path or self.path), "rb", buffering=0)

    def _look(self) -> None:
        """Take note of what was added since the last look; of everything, if the file is another one."""
        try:
            with self._open() as file:
                size = os.fstat(file.fileno()).st_size
                start = file.read(START)
                if start != self._start or size < self._end:
                    self._forget()
                    if len(start) < START or not start.startswith(MAGIC):
                        return
                    self._start, self._end = start, START
                    self._read_index(file, size)
                if size > self._end:
                    file.seek(self._end)
                    self._take(file.read())
        except OSError:
            self._forget()

    def _read_index(self, file: Any, size: int) -> None:
        """What the index tells, if it is this file's, its entries follow one another, and the last one is there."""
        with suppress(OSError, Damaged), self._open(self.index) as index:
            if index.read(START) != self._start:
                return
            told = index.read()
            told = told[: len(told) - len(told) % _PLACE.size]
            places = np.frombuffer(told, _PLACES)
            ends = places["at"] + places["size"]
            if not len(ends) or ends[-1] > size or places["at"][0] != START or (places["at"][1:] != ends[:-1]).any():
                return
            file.seek(int(places["at"][-1]))
            if read_head(file.read(HEAD)).size == places["size"][-1]:
                self._places, self._end = bytearray(told), int(ends[-1])

    def _take(self, data: bytes) -> None:
        at, start = 0, self._end
        while at < len(data):
            try:
                head = read_head(data, at)
            except Damaged:
                break
            if at + head.size > len(data):
                break
            self._places += _PLACE.pack(*head.name, start + at, head.size)
            at += head.size
        self._end = start + at

    # Writing the files

    def _write_index(self) -> None:
        """Add the entry that was added last to the index; where that is behind or another file's, write it anew."""
        before = START + len(self._places) - _PLACE.size
        try:
            descriptor = open_mine(self.index, os.O_RDWR)
            try:
                if os.fstat(descriptor).st_size == before and os.read(descriptor, START) == self._start:
                    os.lseek(descriptor, before, os.SEEK_SET)
                    write_all(descriptor, self._places[-_PLACE.size :])
                    return
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            pass
        replace_by(self.index, f"{self.index}.new", self._start + self._places)

    def _write_anew(self, room: float) -> None:
        """Write a file of the entries used last, as many as take `_ROOM` of the room, and put it in place of this one."""
        kept: list[bytes] = []
        total = 0
        used = sorted(((used, head.size, head.name) for used, head, _ in self.heads()), reverse=True)
        for _, size, name in used:
            if total + size > _ROOM * room:
                break
            if (data := self._contents(name)) is not None:
                kept.append(data)
                total += size
        number = os.urandom(START - len(MAGIC))
        replace_by(self.path, f"{self.path}.new", b"".join([MAGIC, number, *reversed(kept)]))
        self._forget()
        self._look()

    def _contents(self, name: Name) -> bytes | None:
        """The bytes of a whole entry."""
        place = self._find(name)
        if place is not None:
            with suppress(OSError, Damaged), self._open() as file:
                file.seek(place[0])
                data = file.read(place[1])
                unpack(data, name)
                return data
        return None
