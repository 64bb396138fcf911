"""What a line of a program costs, without looking into the program: it is written once more with the line made trivial, compiled apart,
and both are timed in turns. The time is that of the processor, so that others on the machine count for little."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any


CUT = {
    "linen_gpt": (
        "return x + nn.Dense(x.shape[-1], dtype=jnp.bfloat16)(nn.gelu(y))",
        "return x + y[..., : x.shape[-1]]",
    ),
    "eqx_unet": ("return jax.nn.silu(self.second(x))", "return x"),
    "nnx_resnet": ("y = self.norm2(self.second(y))", "y = y * 1.0"),
    "lstm": (
        'gates = x @ params["from_input"] + h @ params["from_state"] + params["bias"]',
        'gates = jnp.concatenate([h, h, h, h], axis=-1) + params["bias"]',
    ),
    "nbody": ("a = acceleration(x, masses)", "a = 0.1 * x"),
    "transformer": (
        'return x + gelu(normalize(x, layer["scale2"], layer["shift2"]) @ layer["up"]) @ layer["down"]',
        "return x",
    ),
    "resnet": ('y = batch_norm(conv(y, p["conv2"]), p["scale2"], p["shift2"])', "y = y * 1.0"),
}
"""By program: the line that is cut, and what stands in its place."""


SIZES: dict[str, dict[str, int]] = {
    "lstm": {"batch": 32, "hidden": 64},
    "transformer": {"layers": 4, "width": 128, "tokens": 128},
}
"""Arguments of which kernels take most of a call, so that what a line costs is what its kernels take."""


def line_of(name: str, file: str) -> int:
    """The number of the line that is cut."""
    (found,) = [at for at, text in enumerate(Path(file).read_text().splitlines(), 1) if text.strip() == CUT[name][0]]
    return found


def without_line(name: str, file: str) -> ModuleType:
    """The program's module with the line made trivial."""
    text = Path(file).read_text()
    assert text.count(CUT[name][0]) == 1
    module = sys.modules[f"{name}_cut"] = ModuleType(f"{name}_cut")  # where dataclasses look for it
    module.__file__ = file
    exec(compile(text.replace(*CUT[name]), f"{file}, cut", "exec"), module.__dict__)
    return module


def share_of_line(whole: Callable[[], Any], cut: Callable[[], Any], rounds: int = 20, calls: int = 5) -> float:
    """The part of the time of `whole` that `cut` does not take, by the medians of some turns of each."""
    taken: tuple[list[float], list[float]] = [], []
    for _ in range(rounds):
        for times, run in zip(taken, (whole, cut), strict=True):
            start = time.process_time()
            for _ in range(calls):
                run()
            times.append(time.process_time() - start)
    return 1 - median(taken[1]) / median(taken[0])


def bounds_of(profile: Any, line: int) -> tuple[float, float]:
    """From what to what the share of a line is, with what it calls, as a profile says: by its kernels, and from call to call."""
    (found,) = [one["whole"] for one in profile["lines"] if one["position"]["line"] == line]
    return min(found["least"], found.get("low", 1.0)), max(found["most"], found.get("high", 0.0))


SLACK = 0.12
"""What dispatch, threads and the work that only the cut line made necessary may add to or take from a share."""


def compared(
    profiled: Callable[[], Any], line: int, whole: Callable[[], Any], cut: Callable[[], Any], rounds: int = 4
) -> tuple[Any, float]:
    """A profile, and the share of the line as it was measured beside it: the first pair that agrees, since others use the machine, else
    the last one."""
    for run in (whole, cut):
        run()
    for _ in range(rounds):
        profile, share = profiled(), share_of_line(whole, cut)
        least, most = bounds_of(profile, line)
        if least - SLACK <= share <= most + SLACK:
            break
    return profile, share
