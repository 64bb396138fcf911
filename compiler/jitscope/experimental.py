"""What older programs find in `jax.experimental`; each name has a home elsewhere now."""

from .api.callbacks import io_callback as io_callback
from .core.config import enable_x64 as enable_x64, override as _override


def disable_x64() -> _override:
    """Context manager: 64-bit dtypes off inside the block."""
    return enable_x64(False)
