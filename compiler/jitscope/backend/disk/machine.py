"""The processor that programs are compiled for."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

from ...core.digest import blake2b


@cache
def cpu() -> str:
    """The processor and its instruction sets, in words and a hash."""
    told = _told_by_linux() or _told_by_others()
    model = next((line.split(":", 1)[1].strip() for line in told if line.startswith("model name")), told[0])
    return f"{model}, {blake2b(repr(told).encode(), digest_size=6).hexdigest()}"


@cache
def instruction_sets() -> frozenset[str]:
    """The instruction sets that the system names; none where it does not."""
    line = next((line for line in _told_by_linux() if line.startswith("flags")), "")
    return frozenset(line.partition(":")[2].split())


@cache
def has_wide_vectors() -> bool:
    """Whether the processor is one of AMD's with vectors of 512 bits, which run at full speed there."""
    return "avx512f" in instruction_sets() and any("AuthenticAMD" in line for line in _told_by_linux())


_DECISIVE = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ", "isa", "uarch", "cpu\t")


def _told_by_linux() -> list[str]:
    """The lines about the first processor that decide which code runs on it."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(16384).decode("utf-8", "replace").split("\n\n")[0]
    except OSError:
        return []
    return [line for line in first.splitlines() if line.startswith(_DECISIVE)]


def _told_by_others() -> list[str]:
    variables = ("PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PROCESSOR_REVISION")
    machine = os.uname().machine if hasattr(os, "uname") else ""
    kind = _sysctl("machdep.cpu.brand_string") if sys.platform == "darwin" else ""
    return [f"{sys.platform} {machine} {kind}".strip(), *[os.environ.get(name, "") for name in variables]]


def _sysctl(name: str) -> str:
    """What macOS calls its processor."""
    size = ctypes.c_size_t(256)
    text = ctypes.create_string_buffer(size.value)
    try:
        failed = ctypes.CDLL(None).sysctlbyname(name.encode(), text, ctypes.byref(size), None, 0)
    except (OSError, AttributeError):
        return ""
    return "" if failed else text.value.decode("utf-8", "replace")


@cache
def cores() -> int:
    """How many processors this process may use: XLA divides loops by them when it compiles."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
