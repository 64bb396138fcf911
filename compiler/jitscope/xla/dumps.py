"""Compiling a program once more for what XLA tells about it: the files it writes on the way, and how long its phases take.

Files come out through a temporary folder, which is removed. Writing them takes time within the phases, so these are measured in a
compilation of their own; XLA does the same in both.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from ..named_tuple import NamedTuple
from . import profiler, progress
from .cpu_tuning import HAS_OLDER_EMITTER
from .program import Executable, compile_options, to_the_end


WITH_LLVM: dict[str, str] = {} if HAS_OLDER_EMITTER else {"xla_dump_emitter_re": "^llvm$"}
"""Options with which XLA writes LLVM's IR, before and after its passes. That of jaxlib 0.10 does so without. Asked for what else emitters
write (`.*`), all releases may end the process; for all whose names have llvm in them, the compiler for GPUs waits for itself for ever."""


class Source(NamedTuple):
    """What it takes to compile a program again: its MLIR bytecode, the executable made of it, and XLA's options by name."""

    lowered: bytes
    executable: Executable
    options: Mapping[str, bool | int | float | str]

    @classmethod
    def of(cls, entry: Any, same_names: bool = False) -> Self:
        """That of a compiled program, as a row of the ledger knows it. `same_names`: XLA's instructions are called as in the program that
        runs, for which another library's own names are needed; without it names of operations tell their equations."""
        given = getattr(entry, "as_given", None) if same_names else None
        return cls(given or entry.lowered, entry.executable, entry.overrides)

    def compile(self, **more: bool | int | float | str) -> Executable:
        """Compile it. Raises XlaError."""
        known, overrides = self.executable, {**self.options, **more}
        if (own := getattr(known, "compile_anew", None)) is not None:
            return own(self.lowered, overrides)
        options = compile_options(overrides=overrides)
        return Executable.compile(self.lowered, known.outputs, known.device, options, known.callbacks)


class DumpFile(NamedTuple):
    """One file: its number in the order of writing (None for those that have none), what the name says besides, the content."""

    number: int | None
    name: str
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class CompilationDump(NamedTuple):
    """The module's name, the files XLA wrote, the phases of compiling, and the seconds that the two compilations took together."""

    module: str
    files: tuple[DumpFile, ...]
    phases: tuple[profiler.Phase, ...]
    seconds: float


def compiled_again(source: Source) -> CompilationDump:
    """Compile a program twice: once for the times, once for the files. Raises XlaError, and RuntimeError while the profiler is
    recording something else."""
    start = time.perf_counter()
    progress.step("compiling it once more, for the times of the passes")
    phases = profiler.phases(source.compile)
    progress.step("compiling it a second time, for what each pass leaves")
    files = _written(source, xla_dump_hlo_pass_re=".*")
    return CompilationDump(source.executable.hlo_modules()[0].name, files, tuple(phases), time.perf_counter() - start)


def compiled_once_more(source: Source, **options: str) -> CompilationDump:
    """Compile a program once for what XLA tells of the result: the optimised program, its buffers, its kernels; neither the states
    between the passes nor how long they took. `options`: XLA's, by name, that have it tell more. Raises XlaError."""
    start = time.perf_counter()
    progress.step("compiling it once more, for what XLA writes of it")
    files = _written(source, **options)
    return CompilationDump(source.executable.hlo_modules()[0].name, files, (), time.perf_counter() - start)


def _written(source: Source, **options: str) -> tuple[DumpFile, ...]:
    # After a Ctrl-C XLA goes on writing: the folder is removed by what waits for it.
    return to_the_end(lambda: _read(source, options))


def _read(source: Source, options: Mapping[str, str]) -> tuple[DumpFile, ...]:
    with tempfile.TemporaryDirectory(prefix="jitscope-") as folder:
        source.compile(xla_dump_to=folder, xla_dump_hlo_as_text=True, **options)
        return tuple(
            dump_file(path, _NAME.fullmatch(path.name)) for path in sorted(Path(folder).iterdir()) if path.is_file()
        )


_NAME = re.compile(r"module_\d+\.(?P<module>.*?)\.(?:(?P<number>\d{4})\.)?(?P<rest>[^/]+)")


def dump_file(path: Path, named: re.Match[str] | None) -> DumpFile:
    """A file that XLA wrote, of which its name tells the `number` and the `rest`; None where the name has none."""
    number = named["number"] if named is not None else None
    return DumpFile(
        int(number) if number else None, named["rest"] if named is not None else path.name, path.read_bytes()
    )
