"""What to tell of when asking for help."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

import numpy as np

from ..core.config import OPTIONS, config
from ..xla import versions
from .devices import devices


try:
    __version__ = importlib.metadata.version("jitscope")
except importlib.metadata.PackageNotFoundError:  # imported from its sources, without being installed
    __version__ = "unknown"


def print_environment_info(return_string: bool = False) -> str | None:
    """Print versions, devices, the platform and the options that are set: what to say when asking a question or reporting a
    fault. With `return_string` the text is given, not printed."""
    found = devices()
    kinds = ", ".join(sorted({f"{d.platform} {d.device_kind}" for d in found}))
    changed = {name: config.read(name) for name, option in OPTIONS.items() if config.read(name) != option.default}
    rows = [
        ("jitscope", __version__),
        ("jaxlib", versions.JAXLIB),
        ("numpy", np.__version__),
        ("python", sys.version.replace("\n", " ")),
        ("devices", f"{len(found)}, {kinds}"),
        ("process_count", "1"),
        ("platform", platform.platform()),
        ("options", ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "all as they come"),
    ]
    width = max(len(name) for name, _ in rows) + 1
    text = "\n".join(f"{name + ':':{width}} {value}" for name, value in rows)
    if return_string:
        return text
    print(text)
    return None
