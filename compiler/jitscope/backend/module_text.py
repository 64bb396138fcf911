"""A lowered module as `as_text()` prints it: with the name and the attributes that JAX gives its modules, which tools read. (The program that
is compiled goes without.)"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..xla import mlir


def jitted_module(module: Any, name: str, devices: int, results: Sequence[str]) -> Any:
    """The module of a jitted function `name`, which runs on so many devices and gives `results`, with what JAX says of it."""
    ir = mlir.bindings().ir
    with module.context, mlir.location():
        attributes, i32 = module.operation.attributes, ir.IntegerType.get_signless(32)
        attributes["sym_name"] = ir.StringAttr.get(re.sub(r"[^\w.-]", "_", f"jit_{name}").strip("_"))
        attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(i32, devices)
        attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(i32, 1)
        for operation in module.body.operations:
            if operation.operation.name == "sdy.mesh":
                axes = re.findall(r'"([^"]+)"=(\d+)', str(operation.operation.attributes["mesh"]))
                said = ", ".join(f'{{name = "{axis}", size = {size} : i64}}' for axis, size in axes)
                operation.operation.attributes["stablehlo.mesh"] = ir.Attribute.parse(f"{{axes = [{said}]}}")
            elif "main" in str(operation.operation.attributes["sym_name"]):
                _name_results(ir, operation.operation, results)
    return module


def _name_results(ir: Any, main: Any, results: Sequence[str]) -> None:
    count = len(ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results)
    known = main.attributes["res_attrs"] if "res_attrs" in main.attributes else [ir.DictAttr.get({})] * count
    named = [
        ir.DictAttr.get({**{a.name: a.attr for a in own}, "jax.result_info": ir.StringAttr.get(name)})
        for own, name in zip(known, results)
    ]
    if len(named) == count:
        main.attributes["res_attrs"] = ir.ArrayAttr.get(named)
