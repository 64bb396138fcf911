"""What XLA's compiler for GPUs writes down of the kernels that it made: their order, their code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from jitscope.xla.dumps import DumpFile


class Thunk(NamedTuple):
    """A step of the program's schedule: what kind it is, the kernel that it starts ("" for none), the instruction that it is of, the grid of
    blocks and the threads of each, bytes of shared memory that it asks for, its own line."""

    number: int
    kind: str
    kernel: str
    instruction: str
    grid: tuple[int, ...]
    threads: tuple[int, ...]
    shared: int | None
    text: str


_LINE = re.compile(r"^\s*(\d+): (\w+)\s*(?:\[[^\]]*\])?\s*(.*)$")
_KERNEL = re.compile(r"^(\S+)\s+grid: \[([\d, ]+)\] threads: \[([\d, ]+)\]\s*(?:shared_memory: (\d+) bytes)?")
_ANNOTATION = re.compile(r'profile_annotation: "([^"]*)"[^}]*?thunk_id: (\d+)')


def thunks_of(files: Iterable[DumpFile]) -> list[Thunk]:
    """The schedule, in the order in which it is started; nothing where none was written."""
    names: dict[int, str] = {}
    sequence = ""
    for file in files:
        if file.name.endswith("thunk_metadata.txt"):
            names = {int(number): name for name, number in _ANNOTATION.findall(file.text)}
        elif file.name.endswith("thunk_sequence.txt"):
            sequence = file.text
    return list(_thunks(sequence, names))


def _thunks(sequence: str, names: Mapping[int, str]) -> Iterator[Thunk]:
    for line in sequence.splitlines():
        if (found := _LINE.match(line)) is None:
            continue
        number, kernel = int(found[1]), _KERNEL.match(found[3])
        sizes = [tuple(int(n) for n in kernel[i].split(",")) if kernel else () for i in (2, 3)]
        shared = int(kernel[4]) if kernel and kernel[4] else None
        yield Thunk(
            number,
            found[2],
            kernel[1] if kernel else "",
            names.get(number, ""),
            sizes[0],
            sizes[1],
            shared,
            line.strip(),
        )


_ENTRY = re.compile(r"^\.(?:visible|weak) \.entry ([\w$]+)\(", re.MULTILINE)
_DEFINE = re.compile(r"^define [^@\n]*ptx_kernel [^@\n]*@\"?([\w.$]+)\"?\(.*?^\}", re.MULTILINE | re.DOTALL)


def ptx_of(files: Iterable[DumpFile]) -> dict[str, str]:
    """PTX by kernel: what belongs to the file (version, target, constants) before it."""
    found: dict[str, str] = {}
    for file in files:
        if file.name.endswith(".ptx"):
            found |= _entries(file.text)
    return found


def _entries(text: str) -> dict[str, str]:
    starts = list(_ENTRY.finditer(text))
    head = text[: starts[0].start()].strip() if starts else ""
    ends = [one.start() for one in starts[1:]] + [len(text)]
    return {one[1]: f"{head}\n\n{text[one.start() : end].strip()}\n" for one, end in zip(starts, ends)}


def llvm_of(files: Iterable[DumpFile], before: bool = False) -> dict[str, str]:
    """LLVM's IR by kernel, as LLVM's passes leave it, or as XLA hands it to them."""
    ending = "ir-no-opt.ll" if before else "ir-with-opt.ll"
    return {
        found[1]: f"{found[0]}\n"
        for file in files
        if file.name.endswith(ending)
        for found in _DEFINE.finditer(file.text)
    }
