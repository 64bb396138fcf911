"""The chips that programs can be compiled for without being there: what XLA has to be told of them, and what their data sheets say.

Rates are peaks without structured sparsity; what NVIDIA's data sheets state with it is halved here. Of what a data sheet does not state
(sizes of caches, limits of blocks), the driver's own figures stand, as XLA has them in its target files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple


Platform = Literal["cuda", "tpu"]


class Chip(NamedTuple):
    """A chip. memory: bytes; bandwidth: of its memory, bytes a second; link: bytes a second to other chips, one way, None where there is no
    link of its own; rates: operations a second by what is computed ("f32" and "f64": by the vector units; "tf32", "bf16", "f16": products
    of matrices by the units made for them); proto: what XLA is told of a GPU, "" for TPUs, which its compiler knows by name."""

    name: str
    platform: Platform
    title: str
    memory: float
    bandwidth: float
    link: float | None
    rates: Mapping[str, float]
    source: str
    proto: str = ""


class Silicon(NamedTuple):
    """What the driver says of a GPU: multiprocessors, units of f32 in each, bytes of shared memory of each and of a block at most, bytes of
    the cache, GHz, compute capability, bytes of memory."""

    cores: int
    units: int
    shared: int
    shared_of_block: int
    cache: int
    clock: float
    capability: tuple[int, int]
    memory: int


_PROTO = """gpu_device_info {{
  threads_per_block_limit: 1024 threads_per_warp: 32 threads_per_core_limit: {threads} core_count: {s.cores} fpus_per_core: {s.units}
  shared_memory_per_block: 49152 shared_memory_per_core: {s.shared} shared_memory_per_block_optin: {s.shared_of_block}
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: {bandwidth:.0f} l2_cache_size: {s.cache} device_memory_size: {s.memory} clock_rate_ghz: {s.clock}
  cuda_compute_capability {{ major: {s.capability[0]} minor: {s.capability[1]} }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 }}
runtime_version {{ major: 12 minor: 9 patch: 0 }}
device_description_str: "{title}"
"""


def _gpu(
    name: str,
    title: str,
    silicon: Silicon,
    bandwidth: float,
    link: float | None,
    rates: Mapping[str, float],
    source: str,
) -> Chip:
    threads = 1536 if silicon.capability == (8, 9) else 2048
    proto = _PROTO.format(s=silicon, threads=threads, bandwidth=bandwidth, title=title)
    return Chip(name, "cuda", title, silicon.memory, bandwidth, link, rates, source, proto)


def _tera(**rates: float) -> dict[str, float]:
    return {name: rate * 1e12 for name, rate in rates.items()}


_HOPPER = _tera(f32=67, f64=34, tf32=494.5, bf16=989.5, f16=989.5)
_TPU_LAYOUT = "Google Cloud's pages on TPU versions"

CHIPS: dict[str, Chip] = {
    chip.name: chip
    for chip in (
        _gpu(
            "a100", "NVIDIA A100-SXM4-80GB", Silicon(108, 64, 167936, 166912, 41943040, 1.41, (8, 0), 85100068864),
            2.03904e12, 3e11, _tera(f32=19.5, f64=9.7, tf32=156, bf16=312, f16=312), "NVIDIA A100 Tensor Core GPU data sheet (80 GB, SXM)",
        ),
        _gpu(
            "h100", "NVIDIA H100 80GB HBM3", Silicon(132, 128, 233472, 232448, 52428800, 1.98, (9, 0), 84929347584),
            3.35232e12, 4.5e11, _HOPPER, "NVIDIA H100 Tensor Core GPU data sheet (SXM)",
        ),
        _gpu(
            "h200", "NVIDIA H200 141GB HBM3e", Silicon(132, 128, 233472, 232448, 52428800, 1.98, (9, 0), 151397597184),
            4.8e12, 4.5e11, _HOPPER, "NVIDIA H200 Tensor Core GPU data sheet (SXM)",
        ),
        _gpu(
            "b200", "NVIDIA B200", Silicon(148, 128, 233472, 232448, 132644864, 1.965, (10, 0), 191514411008),
            7.67232e12, 9e11, _tera(f32=75, f64=37, tf32=1125, bf16=2250, f16=2250), "NVIDIA HGX B200 data sheet, an eighth of its eight GPUs",
        ),
        _gpu(
            "l4", "NVIDIA L4", Silicon(58, 128, 102400, 101376, 50331648, 2.04, (8, 9), 23580639232),
            3e11, None, _tera(f32=30.3, tf32=60, bf16=121, f16=121), "NVIDIA L4 Tensor Core GPU data sheet",
        ),
        _gpu(
            "rtx4090", "NVIDIA GeForce RTX 4090", Silicon(128, 128, 102400, 101376, 75497472, 2.52, (8, 9), 25393692672),
            1.008e12, None, _tera(f32=82.6, f64=1.29, tf32=82.6, bf16=165.2, f16=165.2), "NVIDIA Ada GPU architecture whitepaper, appendix on the RTX 4090",
        ),
        Chip("v4", "tpu", "TPU v4", 32 * 2**30, 1.228e12, 3e11, _tera(bf16=275), _TPU_LAYOUT),
        Chip("v5e", "tpu", "TPU v5e", 16 * 2**30, 8.19e11, 2e11, _tera(bf16=197), _TPU_LAYOUT),
        Chip("v5p", "tpu", "TPU v5p", 95 * 2**30, 2.765e12, 6e11, _tera(bf16=459), _TPU_LAYOUT),
        Chip("v6e", "tpu", "TPU v6e", 32 * 2**30, 1.638e12, 4e11, _tera(bf16=918), _TPU_LAYOUT),
    )
}  # fmt: skip
"""All chips by name."""

KINDS = {
    "NVIDIA A100-SXM4-80GB": "a100",
    "NVIDIA H100 80GB HBM3": "h100",
    "NVIDIA H200": "h200",
    "NVIDIA B200": "b200",
    "NVIDIA L4": "l4",
    "NVIDIA GeForce RTX 4090": "rtx4090",
}
"""GPUs by what the driver calls them."""

SMALLEST = {"v4": "2x2x1", "v5e": "2x2", "v5p": "2x2x1", "v6e": "2x2"}
"""The smallest topology of each TPU that its compiler takes; a program for one chip is compiled for one of these."""
EXAMPLES = {"v4": "2x2x2", "v5e": "4x4", "v5p": "2x2x2", "v6e": "4x4"}
