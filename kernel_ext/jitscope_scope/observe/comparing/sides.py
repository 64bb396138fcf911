"""What is compared: a program with what it takes to run it."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from jitscope.backend.call_arguments import CallArguments
from jitscope.core.digest import blake2b
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Jaxpr
from jitscope.xla.program import Executable, compile_options

from ..graph import argument_names
from ..ledger import Row, ledger
from ..rerunning import Rerun, rerun_of


@dataclass(frozen=True)
class Side:
    """One of two programs: its name, its jaxpr, how it is run, the arguments of its call, and the seconds of its compilation (None:
    not known) with what there is to say of them."""

    title: str
    jaxpr: Jaxpr
    rerun: Rerun
    given: CallArguments | None
    compile_seconds: float | None
    compile_note: str
    row: Row

    @property
    def executable(self) -> Any:
        return self.rerun.entry.executable

    @property
    def captured(self) -> list[Hashable]:
        """What tells the captured values apart, while they are known: dtype, shape and a digest; of what is no array, which it is."""
        closed = self.row.closed
        return [_told_apart(value) for value in closed.consts] if closed is not None else []

    @property
    def donated(self) -> list[str]:
        """The names of the arguments that the program may overwrite."""
        takes = self.row.takes
        if takes is None:
            return []
        names = dict(argument_names(self.jaxpr, takes, len(self.jaxpr.invars)))
        return [names.get(n, self.jaxpr.debug.argument(n)) for n in takes.donated]

    @property
    def argument_types(self) -> list[str]:
        return [str(v.aval) for v in self.jaxpr.invars]


def side_of(row: Row, given: CallArguments | None = None, title: str = "") -> Side:
    """The program of a row, on the arguments `given`. Raises Unavailable as `rerun_of`."""
    rerun = rerun_of(row, given)
    assert row.jaxpr is not None
    return Side(title or row.title_with_line, row.jaxpr, rerun, given or row.given, *_compiling(row), row)


def _told_apart(value: Any) -> Hashable:
    try:
        array = np.asarray(value)
    except TypeError:  # of keys, for one
        return id(value)
    return str(array.dtype), array.shape, blake2b(array.tobytes(), digest_size=16).digest()


_ON_DISK = "it was loaded from the cache on disk; the time is what lowering and compiling it took when it was put there"
_IN_WHOLE_SECONDS = (
    "it was loaded from the cache on disk, which keeps what compiling took when it was put there in whole seconds"
)
_FORGOTTEN = "the program was known; what compiling it took is no longer kept"


def _compiling(row: Row) -> tuple[float | None, str]:
    """The seconds that compiling a program took, and what to say of it where nothing was compiled for the row."""
    if row.disk is not None and row.disk.found:
        return row.disk.before, _IN_WHOLE_SECONDS if row.disk.at_least else _ON_DISK
    if "compile" in row.seconds:
        return row.seconds["compile"], ""
    made = ledger().rows.get(getattr(row.entry, "number", row.id))
    if made is None or made is row or made.library:
        return None, _FORGOTTEN
    seconds, _ = _compiling(made)
    whose = f"the program of {made.function}" if made.function != row.function else "an earlier program of the function"
    return seconds, f"{whose} is the same; the time is what compiling that took"


def side_with(row: Row, options: Mapping[str, Any], given: CallArguments | None = None) -> Side:
    """The program of a row, compiled once more with other options of XLA's. Raises Unavailable as `rerun_of`, ValueError for an
    unknown option, XlaError."""
    if row.library:
        raise Unavailable(
            f"{row.function} is compiled by {row.library}: compare it with {row.library}.jit(f, compiler_options={dict(options)})"
        )
    side = side_of(row, given)
    known, entry = side.executable, side.rerun.entry
    start = time.perf_counter()
    made = compile_options(overrides={**entry.overrides, **options})
    executable = Executable.compile(entry.lowered, known.outputs, known.device, made, known.callbacks)
    seconds = time.perf_counter() - start
    rerun = side.rerun._replace(entry=SimpleNamespace(executable=executable, lowered=entry.lowered))
    title = ", ".join(f"{name}={value}" for name, value in options.items())
    return Side(f"{row.title} with {title}", side.jaxpr, rerun, side.given, seconds, "", row)
