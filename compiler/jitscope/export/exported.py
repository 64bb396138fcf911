"""Exported functions as objects, with JAX's fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from ..core.annotations import Mesh, PyTree
from ..core.avals import ShapedArray
from ..xla import mlir, portable
from .calling import call_exported
from .checks import DisabledSafetyCheck
from .layouts import over
from .serializing import ArtifactError, from_bytes, to_bytes


__all__ = ["Exported", "deserialize", "maximum_supported_calling_convention_version",
           "minimum_supported_calling_convention_version"]  # fmt: skip


minimum_supported_calling_convention_version = 9
maximum_supported_calling_convention_version = 10


@dataclasses.dataclass(frozen=True, eq=False)
class Exported:
    """A function as a StableHLO module, with what is needed to call it: also inside jit, and under grad if its pullback is
    there.

    `in_tree` is the structure of (positional arguments, named ones), `in_avals` and `out_avals` are flat; their shapes may
    have symbolic dimensions. `nr_devices`: over how many it runs; `in_shardings_jax` and `out_shardings_jax` say how arguments and
    results lie. `mlir_module_serialized` is the module as a portable artifact; it takes those arguments that
    `module_kept_var_idx` names. `uses_global_constants`: its shapes have to be refined before it is compiled. There are no
    effects. `in_shardings_hlo` and `out_shardings_hlo` are XLA's form of the shardings; as in JAX, functions that were read have it.
    """

    fun_name: str
    in_tree: Any
    in_avals: tuple[ShapedArray, ...]
    out_tree: Any
    out_avals: tuple[ShapedArray, ...]
    _in_named_shardings: tuple[Any, ...]
    _out_named_shardings: tuple[Any, ...]
    in_shardings_hlo: tuple[Any, ...]
    out_shardings_hlo: tuple[Any, ...]
    nr_devices: int
    platforms: tuple[str, ...]
    ordered_effects: tuple[Any, ...]
    unordered_effects: tuple[Any, ...]
    disabled_safety_checks: Sequence[DisabledSafetyCheck]
    mlir_module_serialized: bytes
    calling_convention_version: int
    module_kept_var_idx: tuple[int, ...]
    uses_global_constants: bool
    _get_vjp: Callable[[Exported], Exported] | None

    def mlir_module(self, serialized: bool = True) -> Any:
        """The StableHLO module as text; with `serialized=False`, as an object of XLA's own bindings."""
        module = portable.read(self.mlir_module_serialized)
        return mlir.module_text(module) if serialized else module

    def in_shardings_jax(self, mesh: Mesh) -> tuple[Any, ...]:
        """How each argument lies over a mesh: a NamedSharding, or None where nothing was said. Raises ValueError for a mesh whose
        axes have other sizes, names or types than those it was exported for."""
        return tuple(over(s, mesh) for s in self._in_named_shardings)

    def out_shardings_jax(self, mesh: Mesh) -> tuple[Any, ...]:
        """The same of the results."""
        return tuple(over(s, mesh) for s in self._out_named_shardings)

    def has_vjp(self) -> bool:
        """Whether its pullback is there."""
        return self._get_vjp is not None

    def vjp(self) -> Exported:
        """The pullback as an exported function: of the flat arguments and a cotangent of every result, to a cotangent of
        every argument (float0 for those of integers). Raises ValueError if it was serialized without."""
        if self._get_vjp is None:
            raise ValueError(
                f"No VJP is available: {self.fun_name} was exported without its derivative. Serialize it with vjp_order=1 (2 "
                "for second derivatives, …)"
            )
        return self._get_vjp(self)

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """Bytes for `deserialize`, in the format of jax.export. `vjp_order`: how many times it can be differentiated then.

        Raises ValueError where the derivative is not there, or a tree has nodes of a class that is not registered.
        """
        return to_bytes(self, vjp_order)

    def call(self, *args: PyTree, **kwargs: PyTree) -> PyTree:
        """The result, for arguments of the structure, shapes and dtypes it was exported for; shapes with symbolic
        dimensions there fit any sizes (also symbolic ones) that solve for the dimensions. What was exported for several devices
        runs where its arguments are, or the program around it. Raises ValueError for others, and for another number of devices."""
        return call_exported(self, args, kwargs)

    def __repr__(self) -> str:
        return f"Exported(fun_name={self.fun_name}, ...)"

    __str__ = __repr__


def deserialize(blob: bytes | bytearray) -> Exported:
    """The exported function in bytes, of `Exported.serialize` or of jax.export. Raises ArtifactError for bytes that are
    something else, damaged, incomplete, or of a version this installation does not read."""
    found = from_bytes(bytes(blob), Exported)
    try:
        portable.read(found.mlir_module_serialized)
    except mlir.MlirError as error:
        raise ArtifactError(f"this installation cannot read the module of {found.fun_name}: {error}") from None
    return found
