"""What this machine can do, measured by small programs of our own: how fast it moves data, and how fast it computes.

Moving: the triad a = b + s·c of STREAM (McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers",
1995), which reads two arrays and writes one, for working sets from the size of a cache to far beyond. Computing: a product of two
square matrices. Both run as XLA runs them, with as many threads. The best of several runs counts: what disturbs only makes them slower.
Data that lies nearer is moved no slower: a rate for a larger working set holds for smaller ones. Starting: a kernel that computes one element.

A peak is measured again when a kernel was faster (`remeasure`): then the machine was busy with something else before.

The triad's result takes the memory of an argument. Other results are written to memory that the operating system hands out anew at
each call if they are large, a page at a time, which may take longer than writing to it: that rate is measured by itself.
"""

from __future__ import annotations

import bisect
import math
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jitscope.core import dtypes
from jitscope.core.errors import Unavailable
from jitscope.xla import client, profiler
from jitscope.xla.program import Executable


SIZES = tuple(1 << n for n in (18, 21, 24, 27))
"""Bytes that one run of the triad reads and writes."""
FRESH = 1 << 25
"""Bytes of an array from which on malloc takes its memory from the operating system, and gives it back, each time: at most 32 MiB in
glibc (M_MMAP_THRESHOLD in mallopt(3))."""
_SIDES = (384, 1024)
_SIDES_OF_GPU = (1024, 4096)
_SECONDS = 0.06  # for each measurement
_MOST = 40


@dataclass(frozen=True)
class Bandwidth:
    """Bytes a second at each of `SIZES`."""

    bytes: tuple[int, ...]
    rates: tuple[float, ...]

    def at(self, size: float) -> float:
        """The rate for a kernel that moves so many bytes: between two sizes that were measured, between their rates."""
        at = bisect.bisect_left(self.bytes, size)
        if at in (0, len(self.bytes)):
            return self.rates[min(at, len(self.bytes) - 1)]
        low, high = self.bytes[at - 1], self.bytes[at]
        part = math.log(size / low) / math.log(high / low)
        return self.rates[at - 1] ** (1 - part) * self.rates[at] ** part


@dataclass
class Peaks:
    """The peaks of one device: bytes a second, the bytes a second of fresh memory, the seconds of a kernel of one element, the time when they were
    measured (seconds since 1970), the seconds that it took, and operations a second by dtype, `known` as they were asked for."""

    device: Any
    bandwidth: Bandwidth
    fresh: float
    dispatch: float
    at: float
    seconds: float
    known: dict[str, float] = field(default_factory=dict)

    def moving(self, size: float, result: float) -> float:
        """The seconds it takes at least to move so many bytes, `result` of them to an array."""
        return size / self.bandwidth.at(size) + (result / self.fresh if result >= FRESH else 0.0)

    def flops(self, dtype: str) -> float:
        """Operations a second in products of matrices of "f32", "f64", "f16" or "bf16"."""
        if dtype not in self.known:
            start = time.perf_counter()
            self.known[dtype] = _fastest_product(dtype, self.device)
            self.seconds += time.perf_counter() - start
        return self.known[dtype]

    def remeasure(self) -> None:
        """Measure once more what is known; the better of two measurements counts."""
        start = time.perf_counter()
        rates = zip(self.bandwidth.rates, _bandwidth(self.device).rates, strict=True)
        self.bandwidth = Bandwidth(SIZES, tuple(map(max, rates)))
        for dtype, rate in self.known.items():
            self.known[dtype] = max(rate, _fastest_product(dtype, self.device))
        self.seconds += time.perf_counter() - start


_known: dict[Any, Peaks] = {}
_one_at_a_time = threading.Lock()


def peaks_of(device: Any) -> Peaks:
    """The peaks of a device, measured when they are asked for first and kept for the process: a second or less."""
    with _one_at_a_time:
        if device not in _known:
            start, at = time.perf_counter(), time.time()
            bandwidth = _bandwidth(device)
            fresh = _fresh(bandwidth, device) if device.platform == "cpu" else math.inf
            dispatch = _triad(12, device, quantile=0.1)
            _known[device] = Peaks(device, bandwidth, fresh, dispatch, at, time.perf_counter() - start)
        return _known[device]


def kind_of(element: str) -> str:
    """The dtype whose peak an element type of HLO is held against: integers and truth values that of floats as wide."""
    if element in ("f64", "c128", "s64", "u64"):
        return "f64"
    return element if element in ("f16", "bf16") else "f32"


def _bandwidth(device: Any) -> Bandwidth:
    rates = [size / _triad(size, device) for size in SIZES]
    return Bandwidth(SIZES, tuple(max(rates[at:]) for at in range(len(rates))))


def _fastest_product(dtype: str, device: Any) -> float:
    """Operations a second."""
    sides = _SIDES if device.platform == "cpu" else _SIDES_OF_GPU
    return max(2 * side**3 / _product(dtype, side, device) for side in sides)


def _triad(size: int, device: Any, quantile: float = 0.0) -> float:
    n = size // 12
    text = f"""module @triad {{
      func.func @main(%b: tensor<{n}xf32> {{tf.aliasing_output = 0 : i32}}, %c: tensor<{n}xf32>) -> tensor<{n}xf32> {{
        %s = stablehlo.constant dense<3.0> : tensor<{n}xf32>
        %p = stablehlo.multiply %s, %c : tensor<{n}xf32>
        %a = stablehlo.add %b, %p : tensor<{n}xf32>
        return %a : tensor<{n}xf32>
      }}
    }}"""
    return _best_run(text, [((n,), np.dtype(np.float32))] * 2, ((n,), np.dtype(np.float32)), device, True, quantile)


def _fresh(bandwidth: Bandwidth, device: Any) -> float:
    """Bytes a second at which memory is handed out: what a copy into fresh memory takes longer than moving its bytes."""
    size = 3 * FRESH // 2
    kind, form = f"tensor<{size // 4}xf32>", ((size // 4,), np.dtype(np.float32))
    text = f"""module @fresh {{
      func.func @main(%b: {kind}) -> {kind} {{
        %a = stablehlo.negate %b : {kind}
        return %a : {kind}
      }}
    }}"""
    longer = _best_run(text, [form], form, device) - 2 * size / bandwidth.at(2 * size)
    return size / longer if longer > 0 else math.inf


def _product(dtype: str, side: int, device: Any) -> float:
    kind = f"tensor<{side}x{side}x{dtype}>"
    text = f"""module @product {{
      func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
        %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}
        return %c : {kind}
      }}
    }}"""
    form = ((side, side), np.dtype(_DTYPES[dtype]))
    return _best_run(text, [form] * 2, form, device)


_DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": dtypes.bfloat16}


def _best_run(
    text: str, inputs: list[Any], output: Any, device: Any, in_place: bool = False, quantile: float = 0.0
) -> float:
    """The seconds of a program's kernels in its fastest run, or in that `quantile` of its runs, as the profiler records them. `in_place`: its result takes the memory of
    its first argument, so that no page of fresh memory is met."""
    executable = Executable.compile(text, [output], device)
    bufs = [client.put(np.ones(shape, dtype), device) for shape, dtype in inputs]
    client.block_until_ready(bufs)

    def run(_: None = None) -> float:
        start = time.perf_counter()
        outs = executable.run(bufs)
        client.block_until_ready(outs)
        if in_place:
            bufs[0] = outs[0]
        return time.perf_counter() - start

    run()
    times = int(np.clip(_SECONDS / run(), 3, _MOST))
    runs = profiler.record_runs(lambda: None, run, times)
    best = float(np.quantile([sum(event.seconds for event in each.events) for each in runs], quantile))
    if best <= 0:
        raise Unavailable(
            f"the profiler recorded no kernels on {device.device_kind}: it may lack the permission to do so"
        )
    return best
