"""`jitscope.experimental`: where programs look for what `jax.experimental` has; most names have a home elsewhere."""

import importlib as _importlib
from typing import Any as _Any

from ..api.callbacks import io_callback as io_callback
from ..core.config import enable_x64 as enable_x64, override as _override


def disable_x64() -> _override:
    """Context manager: 64-bit dtypes off inside the block."""
    return enable_x64(False)


_ROOMS = ("buffer_callback", "checkify", "compilation_cache", "hijax", "layout", "sparse")


def __getattr__(name: str) -> _Any:
    if name in _ROOMS:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
