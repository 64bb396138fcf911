"""Portable StableHLO: programs as bytes that later versions of XLA read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from . import mlir
from .runtime import _jax


def version() -> str:
    """The StableHLO version that programs are written in: twelve weeks old, so that other installations read them."""
    hlo = mlir.bindings().hlo
    return hlo.get_version_from_compatibility_requirement(hlo.StablehloCompatibilityRequirement.WEEK_12)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError, mlir.bindings().ir.MLIRError) as error:
        raise mlir.MlirError(str(error)) from None


def write(module: Any, at: str, *, spread: bool = False) -> bytes:
    """The module as a portable artifact of StableHLO version `at`; it stays as it is. `spread`: it says layouts over devices
    (Shardy's operations are kept). Raises MlirError for operations that this version does not have."""
    with _refusals():
        return bytes(_jax.mlir.serialize_portable_artifact(mlir.to_bytecode(module), at, spread))


def read(artifact: bytes) -> Any:
    """The module of a portable artifact. Raises MlirError."""
    mlir.know_dialects_of(artifact)
    with _refusals():
        return mlir.bindings().hlo.deserialize_portable_artifact(mlir.context(), artifact)


def with_static_shapes(module: Any) -> Any:
    """The module with static shapes, those of the arguments of `main` being static: the sizes of all else follow, and
    assertions on them are checked. Raises MlirError."""
    with _refusals():
        code = _jax.mlir.refine_polymorphic_shapes(
            mlir.to_bytecode(module), enable_shape_assertions=True, validate_static_shapes=True
        )
    return mlir.parse(bytes(code))


def insert(module: Any, other: Any, prefix: str) -> Any:
    """Copy the functions of `other` into `module`, private and under names that begin with `prefix`; its function `main`."""
    if any(op.operation.name == "sdy.mesh" for op in other.body.operations):
        mlir.run_pass(other, "sdy-inline-meshes")  # their names may be others in `module`
    ir = mlir.bindings().ir
    names = {ir.StringAttr(op.attributes["sym_name"]).value for op in other.body.operations}
    main = None
    for function in other.body.operations:
        copy = function.operation.clone(ir.InsertionPoint(module.body))
        _rename_calls(copy, names, prefix, ir)
        own = ir.StringAttr(copy.attributes["sym_name"]).value
        copy.attributes["sym_name"] = ir.StringAttr.get(prefix + own)
        copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
        if own == "main":
            main = copy
    return main


def _rename_calls(operation: Any, names: set[str], prefix: str, ir: Any) -> None:
    for name in ("callee", "called_computations", "decomposition"):
        if name in operation.attributes:
            operation.attributes[name] = _renamed(operation.attributes[name], names, prefix, ir)
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                _rename_calls(inner.operation, names, prefix, ir)


def _renamed(attribute: Any, names: set[str], prefix: str, ir: Any) -> Any:
    if isinstance(attribute, ir.ArrayAttr):
        return ir.ArrayAttr.get([_renamed(a, names, prefix, ir) for a in attribute])
    called = ir.FlatSymbolRefAttr(attribute).value
    return ir.FlatSymbolRefAttr.get(prefix + called if called in names else called)


def call(function: Any, values: Sequence[Any], result_types: Sequence[Any]) -> list[Any]:
    """Call an inserted function at the current insertion point."""
    ir = mlir.bindings().ir
    name = ir.StringAttr(function.attributes["sym_name"]).value
    callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
    return list(ir.Operation.create("func.call", list(result_types), list(values), callee).results)


def signature(function: Any) -> tuple[list[Any], list[Any]]:
    """The types a function takes and gives."""
    ir = mlir.bindings().ir
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return list(kind.inputs), list(kind.results)


def custom_calls(module: Any) -> set[str]:
    """The names of the native functions a module calls."""
    ir, found = mlir.bindings().ir, set()

    def look(operation: Any) -> None:
        if operation.name == "stablehlo.custom_call":
            found.add(ir.StringAttr(operation.attributes["call_target_name"]).value)
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    look(inner.operation)

    look(module.operation)
    return found
