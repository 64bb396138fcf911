"""A good target document, with numbers of XLA's compiler for an H100 (jaxlib 0.10.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.widgets.parts import position, quantity


def target() -> dict[str, Any]:
    """Two kernels that stay apart, with XLA's reason."""
    return {
        "kind": "target",
        "version": 1,
        "title": "block",
        "chip": {
            "name": "h100",
            "title": "NVIDIA H100 80GB HBM3",
            "told": "H100",
            "platform": "cuda",
            "devices": 1,
            "memory": quantity(84929347584.0, "B", "modelled"),
            "bandwidth": quantity(3.35232e12, "B/s", "modelled"),
            "rates": {"f32": 67e12, "bf16": 989.5e12},
            "source": "NVIDIA H100 Tensor Core GPU data sheet (SXM)",
        },
        "sentence": "Modelled by XLA for H100; nothing was run.",
        "remarks": [],
        "kernels": [
            _kernel("loop_multiply_fusion", "loop", ["e0", "e1"], 16777216.0, 5.0047e-6),
            _kernel("input_exponential_reduce_fusion", "reduction", ["e5"], 16781312.0, 5.0059e-6)
            | {"registers": 32, "stack": 8},
        ],
        "decisions": [
            _decision("e0.1.0", "e1.3.0", True, "fused by priority fusion", ["e0"], ["e1"]),
            _decision("fusion.1", "e5.7.0", False, "will execute slower if fused", ["e0", "e1"], ["e5"])
            | {
                "fused_seconds": quantity(1.436e-4, "s", "modelled"),
                "apart_seconds": quantity(3.149e-5, "s", "modelled"),
            },
        ],
        "decisions_left_out": 0,
        "boundaries": [
            {"giver": "loop_multiply_fusion", "reader": "input_exponential_reduce_fusion", "decision": 1, "seen": ""},
        ],
        "collectives": [],
        "memory": {
            "argument": quantity(8388608.0, "B", "modelled"),
            "result": quantity(4096.0, "B", "modelled"),
            "temporary": quantity(8388608.0, "B", "modelled"),
            "aliased": quantity(0.0, "B", "modelled"),
            "code": quantity(0.0, "B", "modelled"),
            "peak": quantity(None, "B"),
            "total": quantity(16781312.0, "B", "modelled"),
            "fits": True,
        },
        "steps": [
            _step("loop_multiply_fusion"),
            _step("input_exponential_reduce_fusion", ends="copy-done", beside=["loop_multiply_fusion"]),
        ],
        "schedule": [
            "001: kCustomKernel [source | next=002 (1)] loop_multiply_fusion grid: [4096, 1, 1] threads: [128, 1, 1]"
        ],
        "code": [
            {
                "kernel": "loop_multiply_fusion",
                "function": "loop_multiply_fusion",
                "ptx": "ret;",
                "llvm": "ret void",
                "cut": True,
            }
        ],
        "graph": None,
        "seconds": quantity(1.00106e-5, "s", "modelled"),
        "cost": quantity(0.7, "s"),
        "positions": {path: position(line) for path, line in (("e0", 3), ("e1", 3), ("e5", 4))},
    }


def _kernel(name: str, what: str, paths: list[str], size: float, seconds: float) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "fusion",
        "what": what,
        "members": 3,
        "paths": paths,
        "bytes": quantity(size, "B", "modelled"),
        "flops": quantity(4194304.0, "flop", "modelled"),
        "seconds": quantity(seconds, "s", "modelled"),
        "bound": "memory",
        "cycles": quantity(None, "cycle"),
        "runs": 1,
        "blocks": 4096,
        "threads": 128,
        "registers": None,
        "shared": 0,
        "stack": None,
        "function": name,
        "note": "",
    }


def _decision(
    producer: str, consumer: str, fused: bool, reason: str, gives: list[str], reads: list[str]
) -> dict[str, Any]:
    return {
        "producer": producer,
        "consumer": consumer,
        "fused": fused,
        "reason": reason,
        "producer_paths": gives,
        "consumer_paths": reads,
        "fused_seconds": quantity(None, "s"),
        "apart_seconds": quantity(None, "s"),
    }


def _step(kernel: str, inside: str = "", ends: str = "", beside: Sequence[str] = ()) -> dict[str, Any]:
    return {"kernel": kernel, "inside": inside, "ends": ends, "beside": list(beside), "waits": False, "queue": "0"}
