"""Programs of jax's that run on a GPU or a TPU of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jitscope.xla.hlo_module import Computation, Instruction

from ..annotations import Gpu
from .ledger import Row


def accelerator_of(row: Row) -> Any:
    """The GPU or TPU that a row's program runs on, as jaxlib's device; None for the CPU, for several devices, and where it is not known."""
    return getattr(row.entry.executable, "accelerator", None) if row.entry is not None else None


def is_gpu(device: Any) -> bool:
    """Whether a device is a GPU."""
    return device.platform in ("gpu", "cuda", "rocm")


def name_of(row: Row) -> str:
    """What that is called, such as "NVIDIA H200"; "" where it is none."""
    device = accelerator_of(row)
    return "" if device is None else str(device.device_kind)


def tensor_float_products(computations: Sequence[Computation]) -> int:
    """Products and convolutions of f32 in an optimised program for an NVIDIA GPU that may be computed in TF32, since the program does not ask for
    more: factors are rounded to 10 bits behind the point. Seen on an H200, where products of 8 to 1,024 rows were off by 3e-4 (rms), and by 3e-7
    with precision "highest"."""
    types = {i.name: i.type for c in computations for i in c.instructions}
    return sum(_is_tensor_float(i, types) for c in computations for i in c.instructions)


def _is_tensor_float(i: Instruction, types: Mapping[str, str]) -> bool:
    library = i.opcode == "custom-call" and _LIBRARY.search(i.custom_call_target or "") is not None
    if not library and i.opcode not in ("dot", "convolution"):
        return False
    factors = [types.get(name, "") for name in i.operands[:2]]
    said = i.attributes + i.backend_config.replace('"', "").lower()
    return bool(factors) and all(kind.startswith("f32[") for kind in factors) and not _PRECISE.search(said)


_LIBRARY = re.compile("cublas|cudnn")
_PRECISE = re.compile(r"operand_precision[=:][{\[](?!default)|\balgorithm[=:](?!alg_unset|\{)", re.IGNORECASE)
"""A precision or an algorithm that was asked for."""


def gpu_facts(row: Row, computations: Sequence[Computation]) -> Gpu | None:
    """What a fusion document tells of the GPU that a row's program runs on; None where it runs on none."""
    device = accelerator_of(row)
    if device is None or not is_gpu(device):
        return None
    name = name_of(row)
    capable = name.startswith("NVIDIA") and float(device.compute_capability) >= _TENSOR_FLOAT
    return {"name": name, "tensor_float": tensor_float_products(computations) if capable else 0}


_TENSOR_FLOAT = 8.0
"""The compute capability from which on GPUs have TF32 (Ampere)."""
