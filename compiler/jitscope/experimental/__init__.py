"""`jitscope.experimental`: where programs look for what `jax.experimental` has; most names have a home elsewhere."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

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

if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from . import (
        buffer_callback as buffer_callback,
        checkify as checkify,
        compilation_cache as compilation_cache,
        compute_on as compute_on,
        custom_partitioning as custom_partitioning,
        hijax as hijax,
        jet as jet,
        layout as layout,
        mesh_utils as mesh_utils,
        multihost_utils as multihost_utils,
        ode as ode,
        pjit as pjit,
        serialize_executable as serialize_executable,
        shard_map as shard_map,
        sparse as sparse,
    )
else:
    _late(globals(), {f".{module}": "." for module in _MODULES.split()})
