"""Compiled programs on disk: what one process compiled, the next one loads. It needs no MLIR for that and lowers nothing.

`find` and `keep` are asked for each program that the caches in memory do not know. Nothing here ever fails a user's call:
a folder that cannot be used is told of once, a damaged entry is passed over and replaced.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..core.config import value_of
from ..core.hashing import StructuralHash
from ..core.jaxpr import ClosedJaxpr
from ..xla import lapack
from ..xla.callbacks import calls_python
from ..xla.errors import XlaError
from ..xla.program import Executable, Output, RuntimeFailure
from . import disk_key
from .disk_entry import NEEDS_LAPACK, Damaged, Entry, Head, pack, told
from .disk_files import Files
from .disk_folder import Unusable, default_folder, prepare
from .disk_key import Options, Refusal, Wanted as Wanted
from .disk_pack import Pack
from .disk_writer import writer


SMALL = 16 << 10
"""Entries up to this size go into the pack."""
PACK_SHARE, PACK_MOST = 1 / 8, 16 << 20
"""The part of all room that the pack may take, and the most."""
UNLIMITED = 1 << 62


class Answer(NamedTuple):
    """What the disk had to say about a program. `before`: the seconds it took to compile when it was put there. `differs`:
    (component, there, here) of the stored entry of the same program that is nearest. `why`: why it is not kept. `program`:
    how `jitscope cache explain` calls it, where the disk knows no program with these equations."""

    found: bool
    before: float = 0.0
    differs: tuple[tuple[str, str, str], ...] = ()
    why: str = ""
    program: str = ""

    def sentence(self, seconds: float) -> str:
        """In words; `seconds` is what this compilation took."""
        if self.found:
            return f"loaded from disk in {duration(seconds)}, compiled before in {duration(self.before)}"
        if self.why:
            return f"not kept on disk: {self.why}"
        if self.differs:
            parts = [f"{name} {there} (here {here})" for name, there, here in self.differs]
            return f"on disk only for {', '.join(parts)}"
        return f"not on disk yet (program {self.program})"


def duration(seconds: float) -> str:
    """95 ms, 1.2 s"""
    number, unit = (seconds, "s") if seconds >= 1 else (1000 * seconds, "ms")
    return f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"


class Store:
    """The programs in one folder. Raises Unusable when it is made."""

    def __init__(self, root: str, limit: int):
        self.root, self.limit = root, UNLIMITED if limit < 0 else limit
        self.folder = prepare(root)
        self.files, self.pack = Files(self.folder), Pack(os.path.join(self.folder, "small.pack"))
        self.writes = True

    def read(self, name: tuple[bytes, bytes], use: bool = True) -> Entry | None:
        """The entry of that name, which counts as used now if `use`; None if there is none that is whole."""
        return self.pack.read(name, use) or self.files.read(name, use)

    def write(self, name: tuple[bytes, bytes], data: bytes) -> None:
        """Put an entry where it belongs, unless there is no room for it. Raises OSError."""
        try:
            self._put(name, data)
        except FileNotFoundError:  # somebody removed the folder
            prepare(self.root)
            self._put(name, data)

    def _put(self, name: tuple[bytes, bytes], data: bytes) -> None:
        room = min(int(PACK_SHARE * self.limit), PACK_MOST)
        if len(data) <= min(SMALL, room // 4):
            self.pack.append(name, data, room)
        elif len(data) <= self.limit // 2:
            self.files.write(name, data, self.limit - min(room, self.pack.size))

    def discard(self, name: tuple[bytes, bytes]) -> None:
        """Forget an entry that is whole and of no use: the next one of that name takes its place."""
        self.pack.discard(name)
        self.files.discard(name)

    def names(self, program: bytes) -> list[tuple[bytes, bytes]]:
        """The entries of a program, made in whatever environment."""
        return self.pack.environments(program) + self.files.environments(program)

    def heads(self) -> Iterator[tuple[float, Head, bytes]]:
        """All entries: when they were used last, their fixed part and their text."""
        yield from self.pack.heads()
        yield from self.files.heads()

    def clear(self) -> int:
        """Remove all entries; their number."""
        return self.pack.clear() + self.files.clear()


_stores: dict[tuple[str | None, int], Store | None] = {}
_lock = threading.Lock()


def store() -> Store | None:
    """The folder in use; None where the cache is off or its folder cannot be used."""
    if not value_of("compilation_cache"):
        return None
    root, limit = value_of("compilation_cache_dir"), value_of("compilation_cache_max_size")
    if limit == 0:
        return None
    try:
        return _stores[root, limit]
    except KeyError:
        return _make_store(root, limit)


def _make_store(root: str | None, limit: int) -> Store | None:
    why = ""
    with _lock:
        if (root, limit) not in _stores:
            made = None
            try:
                made = Store(root or default_folder(), limit)
            except Unusable as error:
                why = str(error)
            _stores[root, limit] = made
    if why:
        _tell(why)
    return _stores[root, limit]


def _after_fork() -> None:
    """Locks may be held by threads that are not there any more."""
    global _lock
    _lock = threading.Lock()
    _stores.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _tell(why: str) -> None:
    text = (
        f"compiled programs are not kept on disk: {why}. Name a folder of yours in JITSCOPE_COMPILATION_CACHE_DIR, or "
        "switch this off with JITSCOPE_COMPILATION_CACHE=0"
    )
    if threading.current_thread() is threading.main_thread():
        warnings.warn(text, UserWarning, stacklevel=2)
        return
    try:
        warnings.warn(text, UserWarning, stacklevel=2)
    except UserWarning:  # an error would be lost in this thread
        print(f"jitscope: {text}", file=sys.stderr)


def wanted(
    closed: ClosedJaxpr, structure: StructuralHash, options: Options, device: Any, donated: Sequence[int]
) -> Wanted | Refusal | None:
    """What to look for on disk, or why a program is not kept there; None where the cache is off or cannot be used."""
    here = store()
    return None if here is None else disk_key.wanted(closed, structure, options, device, donated, here.folder)


def find(program: Wanted, outputs: Sequence[Output], device: Any) -> tuple[Executable, Entry] | None:
    """A program and the entry it comes from, or None. `outputs` are its results as (shape, dtype). Raises
    ForkedProcessError."""
    here = store()
    if here is None or not here.names(program.program) or (key := program.key()) is None:
        return None
    if (entry := here.read(key.name)) is None:
        return None
    if entry.head.needs & NEEDS_LAPACK:
        lapack.register()
    try:
        return Executable.deserialize(entry.executable, outputs, device), entry
    except (XlaError, ValueError):
        here.discard(key.name)
        return None


def miss(program: Wanted | Refusal) -> Answer:
    """Why a program was not found: what differs in the entry of the same program that is nearest."""
    here = store()
    if isinstance(program, Refusal):
        return Answer(False, why=program.why)
    if here is None or not (names := here.names(program.program)):
        return Answer(False, program=short_name(program.program))
    if (key := program.key()) is None:
        return Answer(False, why=f"{disk_key.PACKAGE}'s own source cannot be read, or was changed since it was loaded")
    stored = [here.read(name, use=False) for name in names[-16:]]
    candidates = [differences(entry.text, key.parts) for entry in stored if entry is not None]
    nearest = min(filter(None, candidates), key=len, default=())
    return Answer(False, differs=nearest, program="" if nearest else short_name(program.program))


def short_name(program: bytes) -> str:
    """What people see of a program's hash."""
    return program.hex()[:12]


def differences(text: bytes, parts: dict[str, str]) -> tuple[tuple[str, str, str], ...]:
    """(component, there, here) where the environment in an entry's text is another one."""
    try:
        there = told(text)["parts"]
    except Damaged:
        return ()
    names = dict.fromkeys([*parts, *there])
    shown = [(name, str(there.get(name, "unknown")), parts.get(name, "unknown")) for name in names]
    return tuple(part for part in shown if part[1] != part[2])


def keep(program: Wanted, function: str, executable: Executable, lowered: bytes, seconds: float) -> None:
    """Write a program to disk, soon; to be called before it runs for the first time. Programs that call Python are not
    kept."""
    here = store()
    if here is None or not here.writes or executable.callbacks or calls_python(lowered):
        return
    code = None
    if len(lowered) < _QUICK or any(word in lowered for word in _BEFORE_THE_FIRST_RUN):
        try:
            code = executable.serialize()
        except RuntimeFailure:
            return
    writer.submit(partial(_write, here, program, function, executable if code is None else code, lowered, seconds))


_QUICK = 2048
"""The machine code of programs so small (in bytes of bytecode) is copied at once, in less than a millisecond; that of
others, which can take 30, beside the first run."""
_BEFORE_THE_FIRST_RUN = (b"sort", b"top_k")
"""XLA cannot copy a sort any more once it has run."""


def _write(
    here: Store, program: Wanted, function: str, code: Executable | bytes, lowered: bytes, seconds: float
) -> None:
    if not here.writes or (key := program.key()) is None:
        return
    if isinstance(code, Executable):
        try:
            code = code.serialize()
        except RuntimeFailure:
            return
    needs = NEEDS_LAPACK if b"lapack_" in lowered or b"tridiagonal_solve_perturbed" in lowered else 0
    try:
        here.write(key.name, pack(key, function, seconds, lowered, code, needs))
    except OSError as error:
        here.writes = False
        _tell(f"{here.root} cannot be written to: {error.strerror or error}")
