"""The process that loads a plugin and compiles: run as a file, without jitscope and without jax.

It reads one request a line (JSON) from standard input and answers each with one line on a pipe of its own, whose number it is told; what
the plugin prints goes to standard error. It ends when its input does, when nothing was asked for ten minutes, and at once when the process
that started it is gone.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


IDLE = 600.0


def main() -> None:
    """Compile until there are no more requests."""
    os.dup2(2, 1)
    compilers: list[_Compiler] = []

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if not compilers:
            compilers.append(_Compiler(request))
        return compilers[0].compile(request)

    serve(answer, IDLE)


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]], idle: float | None = None) -> None:
    """Answer requests until nothing was asked for `idle` seconds; an error is an answer, too. (`jitscope_scope.tune` has such a process,
    too.)"""
    answers = os.fdopen(int(sys.argv[-1]), "w", encoding="utf-8")
    asked: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        try:
            request = asked.get(timeout=idle)
        except queue.Empty:
            return
        try:
            said = answer(request)
        except Exception as problem:
            said = {"error": f"{problem}" or type(problem).__name__}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def _listen(asked: queue.Queue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        asked.put(json.loads(line))
    os._exit(0)  # whoever asked is gone, also in the middle of a compilation


class _Compiler:
    """A plugin that was loaded, with the topologies that were asked for."""

    def __init__(self, request: dict[str, Any]):
        from jaxlib import xla_client

        self.platform = request["platform"]
        self.api = xla_client.load_pjrt_plugin_dynamically(self.platform, request["library"])
        xla_client.initialize_pjrt_plugin(self.platform)
        self.topologies: dict[tuple[str, str], Any] = {}

    def compile(self, request: dict[str, Any]) -> dict[str, Any]:
        """Compile a module for the first devices of a topology; XLA's files lie in the request's folder afterwards."""
        _jax: Any = import_module("jaxlib._jax")
        start = time.perf_counter()
        devices = self.devices(request)[: request["devices"]]
        ready = time.perf_counter()
        module = _module(Path(request["module"]).read_bytes())
        program = devices[0].client.compile(module, _jax.DeviceList(tuple(devices)), _options(request))
        done = time.perf_counter()
        made = program.hlo_modules()[0]
        Path(request["folder"], "optimised.hlo").write_text(_text(made), encoding="utf-8")
        _serialize(program, request["folder"])
        return {
            "device": str(getattr(devices[0], "device_kind", devices[0])),
            "topology_seconds": ready - start,
            "seconds": done - ready,
            "memory": _memory(program),
        }

    def devices(self, request: dict[str, Any]) -> list[Any]:
        from jaxlib import xla_client

        key = request["topology"], request["proto"]
        if key not in self.topologies:
            if self.platform == "cuda":
                options = {"target_config": request["proto"], "topology": request["topology"]}
                made = xla_client.make_c_api_device_topology(self.api, "", **options)
            else:
                made = xla_client.make_c_api_device_topology(self.api, f"{request['chip']}:{request['topology']}")
            self.topologies[key] = made
        return list(self.topologies[key]._make_compile_only_devices())


def _module(content: bytes) -> Any:
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    context, registry = ir.Context(), ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    with context:
        return ir.Module.parse(content)


def _options(request: dict[str, Any]) -> Any:
    from jaxlib import xla_client

    options = xla_client.CompileOptions()
    build, count = options.executable_build_options, request["devices"]
    options.num_replicas = build.num_replicas = 1
    options.num_partitions = build.num_partitions = count
    if count > 1:
        import numpy as np

        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = bool(request["shardy"])
        options.device_assignment = build.device_assignment = xla_client.DeviceAssignment.create(
            np.arange(count).reshape(1, count)
        )
    named = [("xla_dump_to", request["folder"]), ("xla_dump_hlo_as_text", True)] if request["dump"] else []
    options.env_option_overrides = [*named, *request["options"].items()] if named or request["options"] else []
    return options


def _text(module: Any) -> str:
    _hlo: Any = import_module("jaxlib._hlo")
    options = _hlo.HloPrintOptions()
    options.print_metadata = options.print_backend_config = options.include_layout_in_shapes = True
    options.print_large_constants = False
    return module.to_string(options)


def _serialize(program: Any, folder: str) -> None:
    """The executable's bytes: the machine code of a GPU's kernels is in them."""
    try:
        Path(folder, "executable").write_bytes(program.serialize())
    except Exception as problem:  # what cannot be had is not shown
        print("the executable cannot be written:", problem, file=sys.stderr)


_MEMORY = {
    "argument": "argument_size_in_bytes",
    "output": "output_size_in_bytes",
    "temp": "temp_size_in_bytes",
    "alias": "alias_size_in_bytes",
    "code": "generated_code_size_in_bytes",
    "peak": "peak_memory_in_bytes",
}


def _memory(program: Any) -> dict[str, int]:
    try:
        stats = program.get_compiled_memory_stats()
    except Exception as problem:
        print("the memory is not told:", problem, file=sys.stderr)
        return {}
    return memory_of(stats)


def memory_of(stats: Any) -> dict[str, int]:
    """The bytes that a program needs, by what for, as far as its statistics have them."""
    return {name: int(getattr(stats, field)) for name, field in _MEMORY.items() if hasattr(stats, field)}


if __name__ == "__main__":
    main()
