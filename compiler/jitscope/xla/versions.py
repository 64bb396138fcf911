"""Which releases of jaxlib this runs on, and all that differs between them.

jaxlib promises no stable interface. What differs is told by what the installed one has, not by its number, so that a release nobody
has tried may still work. docs/versions.md says what was verified.
"""

from __future__ import annotations

import re
import warnings
from functools import cache, reduce
from importlib import import_module
from types import ModuleType
from typing import Any

from jaxlib.version import __version__ as JAXLIB

from .runtime import xc


OLDEST, VERIFIED = "0.10.2", ("0.10", "0.11", "0.12")
"""The oldest release that is supported, and the minor releases that are supported: docs/versions.md says how far each was verified."""

# What we use of jaxlib; of several with a stroke between them, one. In brackets, the parameters that are given.
_USED = {
    "xla_client": """
        ArrayCopySemantics.ALWAYS_COPY ArrayImpl(aval,sharding,arrays,committed,_skip_checks)
        ArrayImpl._rewrap_with_aval_and_sharding CompileOptions.ParseFromString DeviceAssignment.create DeviceList GSPMDSharding
        HloSharding.from_proto HloSharding.from_string HloSharding.replicate HloSharding.tuple_sharding
        HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL HostBufferSemantics.ZERO_COPY SingleDeviceSharding Traceback.get_traceback
        array_result_handler(aval,sharding,committed) batched_block_until_ready
        batched_copy_array_to_devices_with_sharding batched_device_put(aval,sharding,xs,devices,committed,force_copy,host_buffer_semantics,enable_x64)
        encode_inspect_sharding_callback make_cpu_client register_custom_call_as_batch_partitionable
        register_custom_call_partitioner register_custom_call_target
        """,
    "_jax": """
        Device JaxRuntimeError approx_top_k_reduction_output_size buffer_to_dlpack_managed_tensor(buffer,stream) collect_garbage
        get_distributed_runtime_client get_distributed_runtime_service hlo_module_cost_analysis make_gloo_tcp_collectives
        mlir.mlir_module_to_xla_computation mlir.refine_polymorphic_shapes mlir.serialize_portable_artifact pytree.PyTreeRegistry LoadedExecutable.execute_sharded
        LoadedExecutable.serialize LoadedExecutable.hlo_modules LoadedExecutable.get_compiled_memory_stats
        ExecuteResults.consume_with_handlers Traceback.raw_frames Client.compile_and_load
        Client.deserialize_executable(serialized,executable_devices,compile_options,host_callbacks) Client.live_arrays
        """,
    "_hlo": "HloInstruction HloModule HloPrintOptions XlaComputation hlo_module_from_text",
    "_pretty_printer": "text brk nest group concat nil Doc._format",
    "_profiler": "ProfileOptions ProfilerSession TraceMe start_server",
    "_profile_data": "ProfileData.from_serialized_xspace",
    "lapack": "_lapack.initialize batch_partitionable_targets registrations",
}


def missing() -> list[str]:
    """What we use of jaxlib and the installed one lacks, as "module.name", or "module.name(parameter)" where a function does not take a
    parameter that it is given; empty when all is there."""
    return [
        f"{module}.{lack}" for module, used in _USED.items() for one in used.split() for lack in _lacks(module, one)
    ]


def _lacks(module: str, used: str) -> list[str]:
    name, _, parameters = used.rstrip(")").partition("(")
    found = _found(_module(module), name)
    if found is _ABSENT:
        return [name]
    taken = _parameters(found)
    return [f"{name}({one})" for one in parameters.split(",") if one and taken and one not in taken]


def _parameters(function: Any) -> set[str]:
    """The names of a native function's parameters, over all its forms; empty where it does not tell."""
    forms = getattr(getattr(function, "__init__", function), "__nb_signature__", None) or getattr(
        function, "__nb_signature__", ()
    )
    return {name for form in forms for name in re.findall(r"(\w+): ", str(form[0]))}


_ABSENT = object()


def _found(root: object, dotted: str) -> Any:
    return reduce(lambda at, name: getattr(at, name, _ABSENT), dotted.split("."), root)


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(f"jaxlib.{name}")
    except ImportError:
        return None


def is_verified(version: str = JAXLIB) -> bool:
    """Whether a version of jaxlib is of a minor release that was verified."""
    return ".".join(version.split(".")[:2]) in VERIFIED and not is_older(version)


def is_older(version: str = JAXLIB) -> bool:
    """Whether a version of jaxlib is older than the oldest that is supported."""
    return _numbers(version, 3) < _numbers(OLDEST, 3)


def _numbers(version: str, count: int) -> tuple[int, ...]:
    return tuple(int(re.match(r"\d*", part)[0] or 0) for part in version.split(".")[:count])  # pyright: ignore[reportOptionalSubscript]


def warn_if_unverified(version: str = JAXLIB) -> None:
    """Say that nobody has tried this jaxlib, and what it lacks, where that is so."""
    if is_verified(version):
        return
    known = f"jitscope is verified with jaxlib {OLDEST} to {VERIFIED[-1]}"
    if is_older(version):
        text = f'jaxlib {version} is installed, which is too old: {known}. What to do: pip install "jaxlib>={OLDEST}"'
    elif lacking := missing():
        text = f"jaxlib {version} is installed; {known}. It lacks {', '.join(lacking)}: what needs that will fail. "
        text += f'What to do, if something does not work: pip install "jaxlib=={VERIFIED[-1]}.*"'
    else:
        text = (
            f"jaxlib {version} is installed; {known}. All names and parameters that jitscope uses are there; whether programs run as they "
            "should is not known: `jitscope doctor` tries some"
        )
    warnings.warn(text, RuntimeWarning, stacklevel=2)


# What differs


TAKES_SKIP_CHECKS = "_skip_checks" in _parameters(xc.array_result_handler)
"""Whether jaxlib looks at each result of a program unless it is told not to (before 0.11)."""


def result_handler(aval: Any, sharding: Any) -> Any:
    """jaxlib's result handler for one result."""
    return xc.array_result_handler(aval, sharding, committed=True)


if TAKES_SKIP_CHECKS:

    def result_handler(aval: Any, sharding: Any) -> Any:
        return xc.array_result_handler(aval, sharding, committed=True, _skip_checks=True)


def same_memory(buf: Any) -> Any:
    """Another object for a buffer's memory."""
    return buf._rewrap_with_aval_and_sharding(buf.aval, buf._sharding)


@cache
def printing(printer: Any) -> dict[str, Any]:
    """What jaxlib's pretty printer has to be told beside the width to print plain text."""
    plain = {"use_color": False, "annotation_prefix": " # ", "source_map": None}
    formats = getattr(printer, "OutputFormat", None)  # since 0.10.1
    return plain if formats is None else {**plain, "output_format": formats.TEXT, "separable_lines": False}
