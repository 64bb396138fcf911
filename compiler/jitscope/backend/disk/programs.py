"""The cache on disk as the backend uses it: `find` a program, say why it was a `miss`, `keep` one.

It is asked for each program that the caches in memory do not know. Nothing here ever fails a user's call: a folder that cannot
be used gives one warning, a damaged entry is passed over and replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.hashing import StructuralHash
from ...core.jaxpr import ClosedJaxpr
from ...xla import lapack
from ...xla.callbacks import calls_python
from ...xla.errors import XlaError
from ...xla.program import Executable, Output, RuntimeFailure
from . import key as keys
from .answer import Answer, differences, short_name
from .entry import NEEDS_LAPACK, Entry, pack
from .in_use import store, warn
from .key import DiskQuery, Options, Refusal
from .store import Store
from .writer import writer


def query_of(
    closed: ClosedJaxpr, structure: StructuralHash, options: Options, device: Any, donated: Sequence[int]
) -> DiskQuery | Refusal | None:
    """What to look for on disk, or why a program is not kept there; None where the cache is off or cannot be used."""
    here = store()
    return None if here is None else keys.disk_query(closed, structure, options, device, donated, here.folder)


def find(program: DiskQuery, outputs: Sequence[Output], device: Any) -> tuple[Executable, Entry] | None:
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


def miss(program: DiskQuery | Refusal) -> Answer:
    """Why a program was not found: what differs in the entry of the same program that is nearest."""
    here = store()
    if isinstance(program, Refusal):
        return Answer(False, why=program.why)
    if here is None or not (names := here.names(program.program)):
        return Answer(False, program=short_name(program.program))
    if (key := program.key()) is None:
        return Answer(False, why=f"{keys.PACKAGE}'s own source cannot be read, or was changed since it was loaded")
    stored = [here.read(name, use=False) for name in names[-16:]]
    candidates = [differences(entry.text, key.parts) for entry in stored if entry is not None]
    nearest = min(filter(None, candidates), key=len, default=())
    return Answer(False, differs=nearest, program="" if nearest else short_name(program.program))


def keep(program: DiskQuery, function: str, executable: Executable, lowered: bytes, seconds: float) -> None:
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


def keep_code(program: DiskQuery, function: str, code: bytes, lowered: bytes, seconds: float) -> None:
    """Write a program to disk whose machine code (what `Executable.serialize` gave) another process compiled in some seconds."""
    here = store()
    if here is not None:
        _write(here, program, function, code, lowered, seconds)


def needs_lapack(lowered: bytes) -> bool:
    """Whether a program calls routines of LAPACK, which are to be registered before it is loaded."""
    return b"lapack_" in lowered or b"tridiagonal_solve_perturbed" in lowered


_QUICK = 2048
"""The machine code of programs so small (in bytes of bytecode) is copied at once, in less than a millisecond; that of
others, which can take 30, beside the first run."""
_BEFORE_THE_FIRST_RUN = (b"sort", b"top_k")
"""XLA cannot copy a sort any more once it has run."""


def _write(
    here: Store, program: DiskQuery, function: str, code: Executable | bytes, lowered: bytes, seconds: float
) -> None:
    if not here.writes or (key := program.key()) is None:
        return
    if isinstance(code, Executable):
        try:
            code = code.serialize()
        except RuntimeFailure:
            return
    needs = NEEDS_LAPACK if needs_lapack(lowered) else 0
    try:
        here.write(key.name, pack(key, function, seconds, lowered, code, needs))
    except OSError as error:
        here.writes = False
        warn(f"{here.root} cannot be written to: {error.strerror or error}")
