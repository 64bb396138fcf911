"""Compiling a row's program for a target: what is asked of the helper, and what comes back."""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jitscope.core.errors import Unavailable
from jitscope.xla import hlo_module
from jitscope.xla.dumps import WITH_LLVM, DumpFile, dump_file
from jitscope.xla.errors import XlaError
from jitscope.xla.hlo_module import Computation
from jitscope.xla.program import to_the_end

from ..annotations import TargetDocument
from ..observe.accelerators import name_of
from ..observe.hlo_flow import Flow, flow_of
from ..observe.hlo_origins import with_origins
from ..observe.ledger import Row
from . import decisions, dumps, resources
from .chips import KINDS
from .helper import CompilerLost, helper_for, limit
from .names import Target, target_of
from .ready import plugin_for
from .target_modules import TargetModule, lowered_for


Waiting = Callable[[float], None]
_CODE = {name: f"{value}|^ptx$" for name, value in WITH_LLVM.items()}
_OPTIONS: dict[str, dict[str, Any]] = {"cuda": {"xla_dump_hlo_pass_re": ".*", **_CODE}, "tpu": {}}
"""What XLA's compilers are asked to write down."""
_RECORD = {"xla_dump_fusion_visualization": True}
MOST_RECORDED = 800
"""Instructions of a program of which the record of all fusion decisions is asked for: it holds a picture for each of them, so that its cost grows
with the square. Of larger programs the times of XLA's model alone are known."""
_MOST = 8
_NAME = re.compile(r"(?:.*\.)?module_\d+\.(?P<module>.*?)\.(?:(?P<number>\d{4})\.)?(?P<rest>[^/]+)")
_PAGE = "_fusion."


@dataclass
class TargetProgram:
    """A program compiled for a target. hlo: the optimised program's text; files: what XLA wrote on the way; memory: bytes by what for, on
    each device; seconds: compiling; told_device: what the plugin calls the chip."""

    target: Target
    function: str
    lowered: TargetModule
    hlo: str
    files: Sequence[DumpFile]
    memory: dict[str, int]
    seconds: float
    told_device: str
    executable: bytes
    remarks: tuple[str, ...] = ()
    here: bool = False
    """Whether the chip is one of this machine, on which XLA tried tiles and libraries."""

    @cached_property
    def before(self) -> Sequence[Computation]:
        """The program before optimisation."""
        return self.lowered.before()

    @cached_property
    def after(self) -> Sequence[Computation]:
        """The program after it."""
        return hlo_module.parse(self.hlo)

    @cached_property
    def flow(self) -> Flow:
        """The optimised operations, with the equations that they stem from."""
        return with_origins(flow_of(self.before, optimized=False), flow_of(self.after, optimized=True))

    @cached_property
    def decisions(self) -> list[decisions.Decision]:
        """Why operations were fused, and why not, where the compiler keeps a record."""
        return decisions.decisions_of(self.files)

    @cached_property
    def thunks(self) -> list[dumps.Thunk]:
        """The schedule."""
        return dumps.thunks_of(self.files)

    @cached_property
    def ptx(self) -> dict[str, str]:
        """PTX by kernel."""
        return dumps.ptx_of(self.files)

    @cached_property
    def llvm(self) -> dict[str, str]:
        """LLVM's IR after its passes, by kernel."""
        return dumps.llvm_of(self.files)

    @cached_property
    def resources(self) -> dict[str, resources.Resources]:
        """Registers, shared memory and stack, by kernel."""
        return resources.resources_of(self.executable)

    @cached_property
    def functions(self) -> dict[str, dumps.Thunk]:
        """The thunk that starts the code of an instruction, by the instruction's name; its `kernel` is the name in PTX."""
        found = {thunk.instruction: thunk for thunk in self.thunks if thunk.instruction and thunk.kernel}
        by_kernel = {thunk.kernel: thunk for thunk in self.thunks if thunk.kernel}
        for computation in self.after:
            for i in computation.instructions:
                thunk = by_kernel.get(re.sub(r"[^\w]", "_", i.name))
                if thunk is not None:
                    found.setdefault(i.name, thunk)
        return found


def compiled_for(row: Row, target: Target | str, waiting: Waiting | None = None) -> TargetProgram:
    """A row's program compiled for a target, once: the last few are kept while the row is there. Raises ValueError for an unknown target and
    for a program that its compiler refuses, Unavailable where the compiler is not installed or does not fit or the program is gone,
    NotImplementedError for programs that only the CPU can run, CompilerLost where the helper process crashed or took too long."""
    wanted = target_of(target) if isinstance(target, str) else target
    kept = _kept.setdefault(row, {})
    key = (wanted.name, wanted.chip.proto, id(row.entry))
    if key not in kept:
        for old in list(kept)[: max(0, len(kept) + 1 - _MOST)]:
            del kept[old]
        kept[key] = _compile_here(row, wanted) if is_here(row, wanted) else _compile(row, wanted, waiting)
    return kept[key]


def is_here(row: Row, target: Target) -> bool:
    """Whether the row's program runs on that chip already."""
    return target.devices == 1 and target.name == chip_of(row)


def chip_of(row: Row) -> str:
    """The name of the chip that a row's program runs on: "h200"; "" for the CPU, and for what is not listed."""
    return KINDS.get(name_of(row), "")


_kept: weakref.WeakKeyDictionary[Row, dict[Any, TargetProgram]] = weakref.WeakKeyDictionary()


def target_document(row: Row, target: Target | str) -> TargetDocument:
    """The document of a row's program on a target; see `compiled_for`."""
    from .document import document_of

    return document_of(row, compiled_for(row, target))


def _compile(row: Row, target: Target, waiting: Waiting | None) -> TargetProgram:
    platform = target.chip.platform
    plugin = plugin_for(platform)
    if isinstance(plugin, str):
        raise Unavailable(plugin)
    lowered = lowered_for(row, platform)
    devices = _devices(row, target, lowered)
    with tempfile.TemporaryDirectory(prefix="jitscope-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        module = folder / "given.mlir"
        module.write_bytes(lowered.module)
        request = {
            "platform": platform,
            "library": plugin.library,
            "chip": target.chip.name,
            "topology": target.topology,
            "proto": target.chip.proto,
            "devices": devices,
            "shardy": lowered.shardy,
            "module": str(module),
            "folder": name,
            "dump": platform == "cuda",
            "options": _OPTIONS[platform],
        }
        asked = helper_for(platform)
        answer = asked.ask(request, limit(), waiting)
        hlo = (folder / "optimised.hlo").read_text(encoding="utf-8")
        executable = b""
        with contextlib.suppress(OSError):
            executable = (folder / "executable").read_bytes()
        files = _files(folder)

        def again(record: Path) -> None:
            asked.ask({**request, "folder": str(record), "options": _RECORD}, limit(), waiting)

        record, remarks = _record(folder, files, again) if platform == "cuda" else ([], ())
    return TargetProgram(
        target,
        row.title,
        lowered,
        hlo,
        [*files, *record],
        answer["memory"],
        answer["seconds"],
        answer["device"],
        executable,
        remarks,
    )


def _compile_here(row: Row, target: Target) -> TargetProgram:
    """By jax's own client, on the chip that the program runs on."""
    entry, start = row.needed("entry"), time.perf_counter()
    lowered = lowered_for(row, target.chip.platform)._replace(remarks=())
    with tempfile.TemporaryDirectory(prefix="jitscope-", ignore_cleanup_errors=True) as name:
        folder = Path(name)

        def compiled(into: Path, options: Mapping[str, Any]) -> Any:
            dump = {"xla_dump_to": str(into), "xla_dump_hlo_as_text": True, **options}
            return to_the_end(lambda: entry.executable.compile_anew(lowered.module, dump))

        made = compiled(folder, _OPTIONS["cuda"])
        files = _files(folder)
        record, remarks = _record(folder, files, lambda into: compiled(into, _RECORD))
    return TargetProgram(
        target,
        row.title,
        lowered,
        hlo_module.text(made.hlo_modules()[0], metadata=True, layouts=True, backend_config=True),
        [*files, *record],
        entry.executable.memory_stats(),
        time.perf_counter() - start,
        name_of(row),
        _serialized(made),
        remarks,
        here=True,
    )


def _serialized(made: Any) -> bytes:
    """The executable's bytes, in which the machine code is; none where they cannot be had."""
    try:
        return made.serialize()
    except Exception:  # another client's errors, of which XLA tells no classes
        return b""


def _record(
    folder: Path, files: Sequence[DumpFile], again: Callable[[Path], object]
) -> tuple[list[DumpFile], tuple[str, ...]]:
    """XLA's record of its fusion decisions, and what is to be said of it. The program is compiled once more: together with the states
    between the passes, XLA would write each picture of the record for every one of these."""
    size = decisions.size_before(files)
    if size > MOST_RECORDED:
        lost = f"XLA's record of its fusion decisions was not asked for, as the program has {size:,} instructions"
        return [], (f"{lost}: reasons are those of its model's times alone.",)
    record = folder / "record"
    record.mkdir()
    try:
        again(record)
    except (CompilerLost, ValueError, XlaError) as problem:
        return [], (f"XLA's record of its fusion decisions could not be had: {problem}",)
    return [file for file in _files(record) if _PAGE in file.name], ()


def _files(folder: Path) -> list[DumpFile]:
    """What XLA wrote into a folder."""
    return [_file(path) for path in sorted(folder.iterdir()) if path.is_file() and path.name not in _OURS]


_OURS = ("given.mlir", "optimised.hlo", "executable")


def _devices(row: Row, target: Target, lowered: TargetModule) -> int:
    """For how many devices it is compiled: those it was written for. Raises ValueError where the target has others."""
    if lowered.devices > target.devices:
        several = (
            f"{target.chip.name}:{lowered.devices}"
            if target.chip.platform == "cuda"
            else f"a topology of {target.chip.name}"
        )
        raise ValueError(
            f"{row.function} was written for {lowered.devices} devices, and {target.name} has {target.devices}: ask for "
            f"{several}" + ("" if target.chip.platform == "cuda" else f" with {lowered.devices} chips")
        )
    if target.chosen and lowered.devices == 1 < target.devices and target.chip.platform == "cuda":
        raise ValueError(
            f"{row.function} is a program for one device, and {target.name} asks for {target.devices}: give its arguments a mesh"
        )
    return lowered.devices


def _file(path: Path) -> DumpFile:
    return dump_file(path, None if _PAGE in path.name else _NAME.fullmatch(path.name))
