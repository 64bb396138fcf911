"""`jitscope.experimental`: where programs look for what `jax.experimental` has; most names have a home elsewhere."""

from ..api.callbacks import io_callback
from ..core.config import enable_x64, override as _override
from ..core.late import late as _late


__all__ = ["disable_x64", "enable_x64", "io_callback"]


def disable_x64() -> _override:
    """Context manager: 64-bit dtypes off inside the block."""
    return enable_x64(False)


_MODULES = (
    "buffer_callback checkify compilation_cache compute_on custom_partitioning hijax jet layout mesh_utils multihost_utils ode pjit "
    "serialize_executable shard_map sparse"
)

__getattr__, __dir__ = _late(globals(), {f".{module}": "." for module in _MODULES.split()})
