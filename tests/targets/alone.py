"""Compiles modules with a plugin and jaxlib alone, and prints what the plugin says of their memory: `python alone.py REQUESTS.json`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main(path: str) -> None:
    from jaxlib import xla_client
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, stablehlo

    told: Any = json.loads(Path(path).read_text())
    api = xla_client.load_pjrt_plugin_dynamically(told["platform"], told["library"])
    xla_client.initialize_pjrt_plugin(told["platform"])
    topology: Any = xla_client.make_c_api_device_topology(api, told["name"], **told["options"])
    device = topology._make_compile_only_devices()[0]
    context, registry = ir.Context(), ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    devices = import_module("jaxlib._jax").DeviceList((device,))
    found: dict[str, dict[str, int]] = {}
    for name, module in told["modules"].items():
        with context:
            parsed = ir.Module.parse(Path(module).read_bytes())
        stats = device.client.compile(parsed, devices, options).get_compiled_memory_stats()
        fields = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes", "alias_size_in_bytes")
        found[name] = {field: getattr(stats, field) for field in fields}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
