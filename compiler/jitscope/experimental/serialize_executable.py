"""`jitscope.experimental.serialize_executable`: compiled functions as bytes, for another process on an equal machine.

The bytes hold machine code, which `deserialize_and_load` loads, and pickled data: read only what you trust. `jitscope.export` is for
other machines and versions.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import stages
from ..backend.array import array_from_numpy
from ..backend.caches import TraceEntry
from ..backend.compile import Program, loaded_entry
from ..backend.disk.machine import cpu
from ..backend.disk.programs import needs_lapack
from ..backend.dispatch import JitFunction
from ..backend.static import StaticSpec
from ..core.annotations import PyTreeDef
from ..core.avals import physical
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, Var
from ..xla import client, lapack
from ..xla.program import Executable, compile_options, compiler_version


__all__ = ["deserialize_and_load", "serialize"]


def serialize(compiled: stages.CompiledStage) -> tuple[bytes, Any, Any]:
    """A compiled function (`jit(f).lower(x).compile()`) as bytes, with the structures of its arguments and of its result, which
    `deserialize_and_load` takes. Arrays that it captured are among the bytes.

    It is compiled once more, for this. Raises ValueError for functions that call Python or use references, NotImplementedError for
    those of several devices and of Formats.
    """
    stage, program = compiled._stage, compiled._program
    if program.executable.callbacks or stage._taken is not None:
        raise ValueError(f"{stage.fun_name} cannot be serialized: it calls Python, or uses references, of this process")
    if type(program) is not Program:
        raise NotImplementedError(f"{stage.fun_name} is compiled for a mesh of devices; one device can be serialized")
    if program.orders is not None:
        raise NotImplementedError(f"{stage.fun_name} is compiled for Formats: those are not kept among the bytes")
    debug, entry = stage.jaxpr.jaxpr.debug, program.entry
    found = {
        "machine": _machine(),
        "name": stage.fun_name,
        "arguments": (debug.arg_names, stage.jaxpr.in_avals),
        "results": stage.jaxpr.out_avals,
        "donated": program.donated,
        "kept": program.kept,
        "lowered": program.lowered,
        "options": dict(entry.overrides),
        "captured": [np.asarray(buf) for buf in program.hidden],
        "lapack": needs_lapack(program.lowered),
        "taken": entry.argument_avals,
        "code": _compiled_anew(program, compiled._device).serialize(),
    }
    return pickle.dumps(found), stage.in_tree, stage.out_tree


def _compiled_anew(program: Program, device: Any) -> Executable:
    """XLA cannot give the code of a program that it loaded, nor of a sort that has run."""
    outputs = [(below.shape, below.dtype) for below in map(physical, program.out_avals)]
    taken = tuple(len(program.hidden) + program.kept.index(i) for i in program.donated)
    options = compile_options(overrides=program.entry.overrides)
    return Executable.compile(program.lowered, outputs, device, options, (), taken)


def deserialize_and_load(
    serialized: bytes,
    in_tree: PyTreeDef,
    out_tree: PyTreeDef,
    backend: object = None,
    execution_devices: Sequence[Any] | None = None,
) -> stages.CompiledStage:
    """The compiled function that `serialize` made bytes of, on the first device, or on the one in `execution_devices`.

    Raises ValueError for the bytes of another version of jaxlib or another processor, NotImplementedError for several devices.
    """
    found = pickle.loads(serialized)
    if found["machine"] != _machine():
        raise ValueError(
            f"{found['name']} was compiled for {found['machine']}, and this is {_machine()}: compile it here, or use jitscope.export"
        )
    if execution_devices is not None and len(execution_devices) != 1:
        raise NotImplementedError("deserialize_and_load: execution_devices is one device")
    device = execution_devices[0] if execution_devices is not None else client.default_device()
    if found["lapack"]:
        lapack.register()
    names, avals = found["arguments"]
    debug = DebugInfo(found["name"], names)
    results: list[Any] = [Var(aval) for aval in found["results"]]
    outputs = [(below.shape, below.dtype) for below in map(physical, found["results"])]
    executable = Executable.deserialize(found["code"], outputs, device)
    entry = loaded_entry(executable, found["lowered"], found["taken"], found["options"])
    captured = [array_from_numpy(x, device=device).buf for x in found["captured"]]
    program = Program(entry, captured, found["kept"], len(avals), found["results"], False, found["donated"], debug)
    closed = ClosedJaxpr(Jaxpr([], [Var(aval) for aval in avals], results, [], debug=debug))
    return stages.CompiledStage(_traced(found, closed, in_tree, out_tree, device), program, device)


def _traced(found: dict[str, Any], closed: ClosedJaxpr, in_tree: Any, out_tree: Any, device: Any) -> stages.TracedStage:
    """What a compiled function asks of the trace it was made of: all but its equations."""

    def fun(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("only the compiled program was loaded")

    fun.__name__ = fun.__qualname__ = found["name"]
    unknown: Any = None  # the ledger's signature of the trace, and its static arguments
    traced = TraceEntry(closed, out_tree, unknown, 0)
    return stages.TracedStage(
        JitFunction(fun, StaticSpec(fun)), traced, in_tree, device, found["donated"], unknown, None
    )


def _machine() -> str:
    return f"{compiler_version()} on {cpu()}"
