"""The jaxlib this is written against, and what we use of it."""

from functools import reduce

from jaxlib.version import __version__ as JAXLIB

from .layout import _printer
from .runtime import _jax, xc


VERIFIED = "0.10.2"

_USED = {
    "xla_client": """
        ArrayCopySemantics.ALWAYS_COPY ArrayImpl._rewrap_with_aval_and_sharding CompileOptions DeviceAssignment.create DeviceList
        HloSharding.replicate HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL SingleDeviceSharding
        Traceback.get_traceback array_result_handler batched_block_until_ready
        batched_copy_array_to_devices_with_sharding batched_device_put make_cpu_client register_custom_call_target
        """,
    "_jax": """
        JaxRuntimeError buffer_to_dlpack_managed_tensor collect_garbage hlo_module_cost_analysis
        mlir.mlir_module_to_xla_computation pytree.PyTreeRegistry LoadedExecutable.execute_sharded
        LoadedExecutable.serialize LoadedExecutable.hlo_modules LoadedExecutable.get_compiled_memory_stats
        ExecuteResults.consume_with_handlers Traceback.raw_frames Client.compile_and_load
        Client.deserialize_executable Client.live_arrays
        """,
    "_pretty_printer": "text brk nest group concat nil Doc._format OutputFormat.TEXT",
}


def missing() -> list[str]:
    """What we use of jaxlib and the installed one lacks; empty when all is there."""
    roots = {"xla_client": xc, "_jax": _jax, "_pretty_printer": _printer}
    return [f"{root}.{name}" for root, names in _USED.items() for name in names.split() if not _has(roots[root], name)]


def _has(root: object, dotted: str) -> bool:
    absent = object()
    return reduce(lambda at, name: getattr(at, name, absent), dotted.split("."), root) is not absent


def is_verified() -> bool:
    """Whether the installed jaxlib is the one that was verified."""
    return JAXLIB == VERIFIED
