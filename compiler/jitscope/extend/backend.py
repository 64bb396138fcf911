"""`jitscope.extend.backend`: what programs run on, under the names of `jax.extend.backend`."""

from __future__ import annotations

from typing import Any

from ..api.processes import check_backend
from ..backend.compile import clear_executables as clear_in_memory_compilation_cache
from ..core.config import settings
from ..xla.devices import Device, default_device, get_client


def get_backend(platform: Any = None) -> Any:
    """The client of PJRT (jaxlib's `Client`: `platform`, `platform_version`, `devices()`, …). Raises RuntimeError for a
    platform that is not there."""
    if isinstance(platform, Device):
        return platform.client
    check_backend(platform)
    return get_client()


def get_default_device() -> Device:
    """Where arrays are put that are not told where: what `jax_default_device` says, else the first device."""
    return settings().default_device or default_device()


def backends() -> dict[str, Any]:
    """The clients by the names of their platforms."""
    client = get_client()
    return {client.platform: client}


def backend_xla_version(platform: str | None = None) -> int | None:
    """The version of XLA's C interface that the client has, None where it has none."""
    return getattr(get_backend(platform), "xla_version", None)


__all__ = ["backend_xla_version", "backends", "clear_in_memory_compilation_cache", "get_backend", "get_default_device"]
