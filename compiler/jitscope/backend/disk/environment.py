"""What the machine code of a program depends on beside its equations: options, device, versions, processor."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from ...core.digest import blake2b
from ...xla.program import compiler_version, default_options
from .machine import cores, cpu
from .source import PACKAGE


Options = tuple[tuple[str, Any], ...]


@lru_cache(maxsize=256)
def program_parts(options: Options, device: Any, source: str) -> MappingProxyType[str, str]:
    """The parts of the environment that a program depends on, in words."""
    return MappingProxyType(
        {
            "options": ", ".join(f"{name}={value!r}" for name, value in options) or "none",
            "flags": _flags(),
            "device": f"{device.device_kind}:{device.id}",
            "jaxlib": compiler_version(),
            PACKAGE: source,
            "cpu": cpu(),
            "cores": str(cores()),
        }
    )


def asks_for_dumps(options: Options) -> bool:
    """Whether XLA is to write files while it compiles."""
    return "xla_dump" in os.environ.get("XLA_FLAGS", "") or any(name.startswith("xla_dump") for name, _ in options)


@cache
def _flags() -> str:
    """XLA's options where a call gives none, XLA_FLAGS among them."""
    digest = blake2b(default_options(), digest_size=6).hexdigest()
    given = os.environ.get("XLA_FLAGS", "").strip()
    return f"{digest} ({given})" if given else digest
