"""Exporting: a traced function becomes a portable module with its signature."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..api import vjp
from ..backend.array import Array, to_array
from ..backend.dispatch import JitFunction
from ..backend.lowering import lower_jaxpr
from ..control.callbacks import calls_python
from ..core import dtypes
from ..core.avals import physical, tangent_aval
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.staging import jaxpr_as_fun, trace_to_jaxpr
from ..xla import mlir, portable
from . import artifact as files
from .artifact import Artifact, ArtifactError
from .calling import call_artifact


_PLATFORMS = ("cpu",)


def export(fun_jit: Any, *, platforms: Sequence[str] | None = None) -> Callable[..., Exported]:
    """The function that exports a jitted function for arguments (arrays or ShapeDtypeStructs).

    Raises TypeError for a function that is not jitted, NotImplementedError for platforms other than the CPU or a function
    with callbacks.
    """
    if not isinstance(fun_jit, JitFunction):
        raise TypeError(f"export takes a jitted function: export(jit({getattr(fun_jit, '__name__', 'f')}))")
    wanted = tuple(platforms or _PLATFORMS)
    if wanted != _PLATFORMS:
        raise NotImplementedError(f"this release exports for the CPU, not for {', '.join(wanted)}")

    def exporting(*args: Any, **kwargs: Any) -> Exported:
        stage = fun_jit.trace(*args, **kwargs)
        closed = stage.jaxpr
        if closed.effects or calls_python(closed.jaxpr):
            raise NotImplementedError(
                f"{stage.fun_name} calls Python functions, by callbacks or debug.print: it cannot be exported, since those "
                "would not be there"
            )
        found = _artifact(closed, stage.fun_name, stage.in_tree, stage.out_tree)
        return Exported(found, closed)

    return exporting


def _artifact(closed: ClosedJaxpr, name: str, in_tree: Any, out_tree: Any) -> Artifact:
    module = lower_jaxpr(ClosedJaxpr(closed.jaxpr, list(map(_constant, closed.consts))), name)
    version = portable.version()
    return Artifact(
        name,
        in_tree,
        out_tree,
        tuple(closed.in_avals),
        tuple(closed.out_avals),
        version,
        _PLATFORMS,
        portable.write(module, version),
    )


def _constant(x: Any) -> np.ndarray:
    """A captured value as numbers (of a key: its words)."""
    array = to_array(x)
    return np.asarray(Array(array.buf, physical(array.aval)))


def _pullback(closed: ClosedJaxpr, name: str) -> ClosedJaxpr:
    """The program of the flat arguments and the cotangents of the results that have some."""
    count = len(closed.in_avals)
    has = [_has_tangent(a) for a in closed.out_avals]
    wanted = [_has_tangent(a) for a in closed.in_avals]

    def fun(*flat: Any) -> list[Any]:
        given = iter(flat[count:])
        outs, pull = vjp(lambda *xs: jaxpr_as_fun(closed)(*xs), *flat[:count])
        cts = [next(given) if h else np.zeros(a.shape, dtypes.float0) for h, a in zip(has, closed.out_avals)]
        assert len(outs) == len(cts)
        return [ct for ct, w in zip(pull(cts), wanted) if w]

    avals = [*closed.in_avals, *[tangent_aval(a) for a, h in zip(closed.out_avals, has) if h]]
    return trace_to_jaxpr(fun, avals, DebugInfo(f"vjp_{name}"))


def _has_tangent(aval: Any) -> bool:
    return tangent_aval(aval).dtype != dtypes.float0


class Exported:
    """An exported function. `call` calls it, also inside jit and (with its pullback) under grad; `serialize` gives bytes."""

    def __init__(self, artifact: Artifact, closed: ClosedJaxpr | None = None):
        self._artifact, self._closed = artifact, closed

    fun_name = property(lambda self: self._artifact.name)
    in_tree = property(lambda self: self._artifact.in_tree, doc="The structure of (positional arguments, named ones).")
    out_tree = property(lambda self: self._artifact.out_tree)
    in_avals = property(lambda self: self._artifact.in_avals)
    out_avals = property(lambda self: self._artifact.out_avals)
    platforms = property(lambda self: self._artifact.platforms)
    stablehlo_version = property(lambda self: self._artifact.stablehlo)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The result. Raises TypeError for arguments of another structure, shape or dtype than it was exported for."""
        artifact = self._artifact
        if artifact.pullback is None and self.has_vjp():
            artifact = self._with_pullbacks(1)
        return call_artifact(artifact, args, kwargs)

    def has_vjp(self) -> bool:
        """Whether its pullback is there."""
        return self._artifact.pullback is not None or self._closed is not None

    def vjp(self) -> Exported:
        """The pullback as an exported function, of the flat arguments and the cotangents of the flat results.

        Raises ValueError if it was serialized without.
        """
        pullback = self._with_pullbacks(1).pullback
        assert pullback is not None
        return Exported(pullback, None if self._closed is None else _pullback(self._closed, self.fun_name))

    def serialize(self, vjp_order: int = 0) -> bytes:
        """Bytes for `deserialize`. `vjp_order`: how many times it can be differentiated then.

        Raises ValueError where the derivative is not there, or a tree has nodes of a class that is not registered.
        """
        return files.to_bytes(self._with_pullbacks(vjp_order))

    def mlir_module(self) -> str:
        """The StableHLO module as text."""
        return mlir.module_text(portable.read(self._artifact.module))

    def _with_pullbacks(self, order: int) -> Artifact:
        if order <= 0:
            return dataclasses.replace(self._artifact, pullback=None)
        if self._closed is None:
            return _checked_order(self._artifact, order)
        closed = _pullback(self._closed, self.fun_name)
        flat_in = tree.structure((tuple(range(len(closed.in_avals))), {}))
        flat_out = tree.structure([0] * len(closed.out_avals))
        found = _artifact(closed, f"vjp_{self.fun_name}", flat_in, flat_out)
        return dataclasses.replace(self._artifact, pullback=Exported(found, closed)._with_pullbacks(order - 1))

    def __repr__(self) -> str:
        shapes = ", ".join(a.short() for a in self.in_avals)
        return f"Exported({self.fun_name}({shapes}))"


def _checked_order(artifact: Artifact, order: int) -> Artifact:
    found, depth = artifact, 0
    while found.pullback is not None:
        found, depth = found.pullback, depth + 1
    if depth < order:
        raise ValueError(
            f"{artifact.name} was serialized with vjp_order={depth}, so it has no derivative of order {order}: use "
            f"serialize(vjp_order={order}) where it is exported"
        )
    return artifact


def deserialize(blob: bytes | bytearray) -> Exported:
    """The exported function in bytes. Raises ArtifactError for bytes that are something else, damaged, incomplete, or of a
    version this installation does not read."""
    found = files.from_bytes(bytes(blob))
    try:
        portable.read(found.module)
    except mlir.MlirError as error:
        raise ArtifactError(
            f"{found.name} was exported as StableHLO {found.stablehlo}, which this installation cannot read: {error}"
        ) from None
    return Exported(found)
