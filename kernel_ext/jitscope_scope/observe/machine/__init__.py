"""A program's code as LLVM and the processor get it: `objects` (the functions in object files), `disassembly` (their instructions in
blocks), `classes` and `mix` (what these do), `flow` (loops), `llvm` (LLVM's IR), `linking` (which kernel runs which function),
`document` (all of it as plain data), `listing` (as text)."""

from __future__ import annotations

import time
import weakref
import zlib
from typing import Any

from jitscope.core.errors import Unavailable
from jitscope.xla import hlo_module
from jitscope.xla.dumps import WITH_LLVM, DumpFile, Source, compiled_once_more
from jitscope.xla.errors import XlaError
from jitscope.xla.serialized import Parts, parts_of

from ...annotations import MachineDocument
from .. import accelerators
from ..fusion import Kernels
from ..hlo_origins import flow_of_program
from ..ledger import Row
from .document import Code, machine_document, read


__all__ = ["code_of", "instrument", "machine_document"]

_MOST = 4
_written: weakref.WeakKeyDictionary[Any, tuple[tuple[DumpFile, ...], float]] = weakref.WeakKeyDictionary()
"""What compiling again wrote, compressed, and the seconds it took: of the last few programs, while these are there."""


def code_of(row: Row) -> Code:
    """All about the code of a row's program. It is compiled once more for LLVM's IR, and not run. Raises Unavailable where the
    program is no longer there, XlaError where it cannot be compiled again."""
    entry = row.needed("entry")
    if name := accelerators.name_of(row):
        raise Unavailable(
            f"{row.function} runs on {name}: here the code of programs for the CPU is read. For GPUs that jitscope knows, "
            '%asm f(x) and inspect(f)(x).on("h200") have PTX and LLVM\'s IR of each kernel'
        )
    start = time.perf_counter()
    files, spent = _files(entry)
    after = hlo_module.computations(hlo_module.optimized(entry.executable))
    kernels = Kernels(flow_of_program(entry, after), row.positions(), row.shares or {})
    parts, notes = _parts(Source.of(entry))
    code = read(Code(row.title, kernels.all(), kernels.runs, after, parts, files, notes=notes))
    code.seconds = time.perf_counter() - start + spent
    return code


def _parts(source: Source) -> tuple[Parts | None, list[str]]:
    """The parts of an executable, and what is to be said of them. One that was loaded from disk keeps no object files."""
    try:
        found = parts_of(source.executable)
        if found.objects or not any(step.kind == "kernel" for step in found.steps):
            return found, []
        return parts_of(source.compile()), [_FROM_DISK]
    except (XlaError, ValueError):
        return None, []


_FROM_DISK = (
    "The executable was loaded from disk and keeps no object files: the machine code is that of compiling it again."
)


def _files(entry: Any) -> tuple[list[DumpFile], float]:
    """What compiling again writes, and the seconds that it took earlier if that is not done again now."""
    key, spent = entry.executable, 0.0
    if key in _written:
        packed, spent = _written[key]
    else:
        start = time.perf_counter()
        found = compiled_once_more(Source.of(entry), **WITH_LLVM).files
        packed = tuple(
            file._replace(content=zlib.compress(file.content)) for file in found if file.name.endswith((".ll", ".o"))
        )
        for old in list(_written)[: max(0, len(_written) + 1 - _MOST)]:
            del _written[old]
        _written[key] = packed, time.perf_counter() - start
    return [file._replace(content=zlib.decompress(file.content)) for file in packed], spent


def instrument(row: Row, given: object = None, function: str = "") -> MachineDocument:
    """The machine document of a row's program; see `machine_document`. Nothing is run. `function`: one whose code is wanted whole.
    Raises Unavailable and XlaError as `code_of` does, ValueError where there is no function of that name."""
    return machine_document(code_of(row), function)
