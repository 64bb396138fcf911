"""Times by arithmetic on a chip's data sheet: the roofline (Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance
Model", CACM 2009) for kernels, rings for collectives. No measurement, and no statement of XLA's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..annotations import TargetBound
from ..observe.cost import Work
from ..observe.hlo_flow import Op
from .chips import Chip


PRODUCTS = ("dot", "convolution")
_EXACT = re.compile(r"operand_precision=\{[^}]*highest")
_ELEMENT = re.compile(r"^\(?([a-z]+\d+\w*)\[")


class Roofline(NamedTuple):
    """Seconds that the larger of both needs, of memory and of arithmetic (None: not known), which one it is, and what was assumed."""

    seconds: float | None
    bound: TargetBound
    moving: float | None = None
    computing: float | None = None
    note: str = ""


def roofline(work: Work, chip: Chip, unit: str) -> Roofline:
    """What a kernel of that work needs at the chip's peak rates, where everything that it reads and writes is in the chip's memory. `unit`:
    the rate that its arithmetic is taken to have (see `unit_of`)."""
    moving = None if work.bytes is None else work.bytes / chip.bandwidth
    rate = chip.rates.get(unit)
    computing = None if work.flops is None or rate is None else work.flops / rate
    if moving is None:
        return Roofline(None, "unknown", moving, computing, work.why or "the bytes that it moves are not known")
    if computing is None:
        why = work.why or f"the data sheet states no rate of {unit} arithmetic"
        return Roofline(moving, "memory", moving, None, f"memory alone: {why}")
    if computing > moving:
        return Roofline(computing, "arithmetic", moving, computing, f"arithmetic at the data sheet's rate of {unit}")
    return Roofline(moving, "memory", moving, computing, "bytes over the data sheet's bandwidth")


def unit_of(members: Iterable[Op], chip: Chip) -> str:
    """The quickest unit that may do a kernel's arithmetic: those for products of matrices where it has one, otherwise the vector units.
    f32 products are taken at the rate of TF32 (GPUs) or bf16 (TPUs) unless their precision is "highest"."""
    for op in members:
        if op.opcode in PRODUCTS or (op.opcode == "custom-call" and "gemm" in (op.does.custom_call_target or "")):
            element = _element(op.sources[0][1] if op.sources else op.does.type)
            if element in ("bf16", "f16"):
                return element if chip.platform == "cuda" else "bf16"
            if element == "f32" and not _EXACT.search(op.does.attributes):
                return "tf32" if chip.platform == "cuda" else "bf16"
            return element
    kinds = {_element(op.does.type) for op in members}
    return "f64" if "f64" in kinds else "f32"


def _element(kind: str) -> str:
    found = _ELEMENT.match(kind)
    return found[1] if found else ""


def exchange(kind: str, size: float, devices: int, chip: Chip) -> float | None:
    """Seconds of a collective among so many devices, each of which gives or gets `size` bytes in all, over rings at the data sheet's rate of
    one link direction; None without such a link. (Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009.)"""
    if chip.link is None or devices < 2:
        return None
    share = (devices - 1) / devices
    moved = {"all-reduce": 2 * share * size, "collective-permute": size}.get(kind, share * size)
    return moved / chip.link
