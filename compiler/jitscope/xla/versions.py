"""Which releases of jaxlib this runs on, and all that differs between them.

jaxlib promises no stable interface. What differs is told by what the installed one has, not by its number, so that a release nobody
has tried may still work. docs/versions.md says what was verified.
"""

from __future__ import annotations

import warnings
from functools import cache, reduce
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from jaxlib.version import __version__ as JAXLIB

from .runtime import _jax, xc


OLDEST, NEWEST = (0, 8), (0, 10)
"""The minor releases that are verified, and all between them."""

# What we use of jaxlib; of several with a stroke between them, one.
_USED = {
    "xla_client": """
        ArrayCopySemantics.ALWAYS_COPY ArrayImpl._rewrap_with_aval_and_sharding|ArrayImpl.clone CompileOptions
        DeviceAssignment.create DeviceList HloSharding.replicate HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
        SingleDeviceSharding Traceback.get_traceback array_result_handler batched_block_until_ready
        batched_copy_array_to_devices_with_sharding batched_device_put make_cpu_client register_custom_call_target
        """,
    "_jax": """
        JaxRuntimeError buffer_to_dlpack_managed_tensor collect_garbage hlo_module_cost_analysis
        mlir.mlir_module_to_xla_computation pytree.PyTreeRegistry LoadedExecutable.execute_sharded
        LoadedExecutable.serialize|Client.serialize_executable LoadedExecutable.hlo_modules
        LoadedExecutable.get_compiled_memory_stats ExecuteResults.consume_with_handlers Traceback.raw_frames
        Client.compile_and_load Client.deserialize_executable Client.live_arrays
        """,
    "_hlo|_jax": "HloPrintOptions hlo_module_from_text",
    "_pretty_printer": "text brk nest group concat nil Doc._format",
    "_profiler": "ProfileOptions ProfilerSession",
    "_profile_data": "ProfileData.from_serialized_xspace",
}


def missing() -> list[str]:
    """What we use of jaxlib and the installed one lacks, as "module.name"; empty when all is there."""
    return [
        f"{module}.{names}" for module, used in _USED.items() for names in used.split() if not _any_has(module, names)
    ]


def _any_has(module: str, names: str) -> bool:
    holder = next((found for name in module.split("|") if (found := _module(name)) is not None), None)
    return any(_has(holder, name) for name in names.split("|"))


def _has(root: object, dotted: str) -> bool:
    absent = object()
    return reduce(lambda at, name: getattr(at, name, absent), dotted.split("."), root) is not absent


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(f"jaxlib.{name}")
    except ImportError:
        return None


def is_verified(version: str = JAXLIB) -> bool:
    """Whether a version of jaxlib is of a minor release that was verified."""
    return OLDEST <= _minor(version) <= NEWEST


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def warn_if_unverified(version: str = JAXLIB) -> None:
    """Say that nobody has tried this jaxlib, and what it lacks, where that is so."""
    if is_verified(version):
        return
    lacking = missing()
    lacks = (
        f"It lacks {', '.join(lacking)}: what needs that will fail"
        if lacking
        else "It has all the names that jitscope uses"
    )
    oldest, newest = (".".join(map(str, release)) for release in (OLDEST, NEWEST))
    warnings.warn(
        f"jaxlib {version} is installed; jitscope is verified with jaxlib {oldest} to {newest}. {lacks}. What to do, if something "
        f'does not work: pip install "jaxlib=={newest}.*"',
        RuntimeWarning,
        stacklevel=2,
    )


# What differs


hlo: Any = _module("_hlo") or _jax
"""The module with the classes of HLO: since 0.10.2 one of its own."""


def rewrapped(buf: Any, aval: Any, sharding: Any) -> Any:
    """Another object for a buffer's memory, with another aval and sharding (of the same device)."""
    return buf._rewrap_with_aval_and_sharding(aval, sharding)


def same_memory(buf: Any) -> Any:
    """Another object for a buffer's memory."""
    return buf._rewrap_with_aval_and_sharding(buf.aval, buf._sharding)


if not _has(xc, "ArrayImpl._rewrap_with_aval_and_sharding"):  # 0.8 to 0.9.1

    def rewrapped(buf: Any, aval: Any, sharding: Any) -> Any:
        return xc.ArrayImpl(aval, sharding, [buf], committed=True, _skip_checks=True)

    def same_memory(buf: Any) -> Any:
        return buf.clone()


def serialized(executable: Any) -> bytes:
    """A loaded executable as bytes."""
    return executable.serialize()


SERIALIZED_WITH_HEADER = _has(_jax, "LoadedExecutable.serialize")
"""Whether a message about devices, and before it its length, stand in front of the executable itself."""

if not SERIALIZED_WITH_HEADER:  # 0.8.0, 0.8.1

    def serialized(executable: Any) -> bytes:
        return executable.client.serialize_executable(executable)


def packs_bools(ir: Any, boolean: Any, context: Any) -> bool:
    """Whether an attribute of bools is made of bits, eight in a byte (before 0.10), and not of bytes."""
    try:
        ir.DenseElementsAttr.get(np.ones(2, np.uint8), type=boolean, shape=[2], context=context)
    except ValueError:
        return True
    return False


@cache
def printing(printer: Any) -> dict[str, Any]:
    """What jaxlib's pretty printer has to be told beside the width to print plain text."""
    plain = {"use_color": False, "annotation_prefix": " # ", "source_map": None}
    formats = getattr(printer, "OutputFormat", None)  # since 0.10.1
    return plain if formats is None else {**plain, "output_format": formats.TEXT, "separable_lines": False}


LACKS = f"jaxlib {JAXLIB} has no"


def lacking(what: str, since: str) -> NotImplementedError:
    """The error of what the installed release cannot do."""
    return NotImplementedError(f'{LACKS} {what}; since {since} it does: pip install "jaxlib>={since}"')


GROUPS_NEED_SPACE = _minor(JAXLIB) < (0, 9)
"""Whether XLA gives wrong numbers for a convolution of several groups without a spatial axis."""
