"""What a piece of machine code consists of: how many instructions do what, and on vectors of which width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import get_args

from jitscope.core.words import counted

from ...annotations import Mix
from .classes import ARITHMETIC, Class, element_of, memory_of, width_of
from .disassembly import Instruction


_ORDER: tuple[Class, ...] = get_args(Class)


def mix_of(machine: str, instructions: Iterable[Instruction]) -> Mix:
    """The counts of a piece of code.

    total; counts: by what the instructions do, each in one class; reads, writes: those that read or write memory, whatever else
    they do; bits: of the widest vectors that arithmetic is done on, None where it is done on single numbers, or there is none;
    lanes: how many numbers of which type these hold ("8 × f32"), "" where the names of the instructions do not tell.
    """
    found = list(instructions)
    counts = Counter(one.what for one in found)
    memory = [memory_of(machine, one.mnemonic, one.operands) for one in found if one.what not in ("branch", "other")]
    bits, lanes = _vectors(machine, found)
    return {
        "total": len(found),
        "counts": {what: counts[what] for what in _ORDER if counts[what]},
        "reads": sum(reads for reads, _ in memory),
        "writes": sum(writes for _, writes in memory),
        "bits": bits,
        "lanes": lanes,
    }


def _vectors(machine: str, instructions: Sequence[Instruction]) -> tuple[int | None, str]:
    wide = [
        (bits, element_of(machine, one.mnemonic, one.operands))
        for one in instructions
        if one.what in ARITHMETIC and (bits := width_of(machine, one.mnemonic, one.operands)) is not None
    ]
    if not wide:
        return None, ""
    most = max(bits for bits, _ in wide)
    elements = Counter(element for bits, element in wide if bits == most and element is not None)
    if not elements:
        return most, ""
    name, size = elements.most_common(1)[0][0]
    return most, f"{most // size} × {name}"


_TOLD = tuple(what for what in _ORDER if what not in ("move", "branch", "other"))


def sentence_of(mix: Mix) -> str:
    """`66 instructions on vectors of 256 bits (8 × f32): 24 fused multiply-add, 12 float arithmetic, 30 moves, jumps and the like; 4
    read memory, 4 write it`"""
    width = f" on vectors of {mix['bits']} bits" if mix["bits"] else ""
    lanes = f" ({mix['lanes']})" if mix["lanes"] else ""
    parts = [f"{mix['counts'][what]} {what}" for what in _TOLD if mix["counts"].get(what)]
    rest = mix["total"] - sum(mix["counts"].get(what, 0) for what in _TOLD)
    parts += [f"{rest} moves, jumps and the like"] if parts and rest else []
    works = f": {', '.join(parts)}" if parts else ""
    return (
        f"{counted(mix['total'], 'instruction')}{width}{lanes}{works}; "
        f"{mix['reads']} read memory, {mix['writes']} write it"
    )
