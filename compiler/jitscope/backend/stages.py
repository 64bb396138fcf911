"""Ahead-of-time stages: `jit(f).trace(x)` → `.lower()` → `.compile()` → a call. Each shows what it holds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .. import tree
from ..core import records, source
from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import canonicalize
from ..core.jaxpr import ClosedJaxpr
from ..core.trace import Tracer
from ..xla import hlo_module, mlir
from .array import Array, device_for, placed
from .compile import Program, compile_jaxpr, lower_closed


if TYPE_CHECKING:
    from .dispatch import JitFunction, Traced


class ShapeDtypeStruct:
    """Shape and dtype of an array that need not exist; stages take it in place of an array."""

    __slots__ = ("aval",)

    def __init__(self, shape: Any, dtype: Any, *, weak_type: bool = False):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct needs a dtype")
        self.aval = ShapedArray(tuple(int(n) for n in shape), canonicalize(dtype), weak_type)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    def __len__(self) -> int:
        return self.aval.shape[0]

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self.aval is other.aval

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"


def struct_of(aval: ShapedArray) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def trace_stage(function: JitFunction, args: tuple, kwargs: dict[str, Any]) -> TracedStage:
    """Trace a jitted function for arguments or ShapeDtypeStructs."""
    dynamic, statics = function._spec.bind(args, kwargs, function._auto)
    leaves, in_tree = tree.flatten(dynamic)
    avals = tuple(aval_of(x) for x in leaves)
    device = function._device or device_for(leaves)
    traced = function.trace_avals(dynamic, in_tree, avals, statics, device)
    donated = function._spec.donated_leaves(dynamic, statics)
    return TracedStage(function, traced, in_tree, device, donated, statics)


class TracedStage:
    """A traced function: `jaxpr`, `out_info` (shapes and dtypes of the result), `fun_name`."""

    def __init__(self, function: JitFunction, traced: Traced, in_tree: Any, device: Any, donated: tuple, statics: Any):
        self._function, self._traced, self._in_tree = function, traced, in_tree
        self._device, self._donated, self._statics = device, donated, statics
        self.fun_name = function._name

    @property
    def jaxpr(self) -> ClosedJaxpr:
        return self._traced.closed

    @property
    def in_avals(self) -> list[ShapedArray]:
        return self._traced.closed.in_avals

    @property
    def out_info(self) -> Any:
        return self._traced.out_tree.unflatten([struct_of(a) for a in self._traced.closed.out_avals])

    def note(self) -> records.Record:
        """What the steps of this program have in common."""
        return records.Record(
            "", self.fun_name, self._traced.number, position=self.jaxpr.jaxpr.debug.defined, call_site=source.here()
        )

    def lower(self) -> LoweredStage:
        """The StableHLO program."""
        return LoweredStage(self)

    def __repr__(self) -> str:
        return f"Traced({self.fun_name}, {len(self.jaxpr.eqns)} equations)"


class LoweredStage:
    """A lowered function: `as_text()` shows its StableHLO (or unoptimised HLO)."""

    def __init__(self, traced: TracedStage):
        self._stage = traced
        self._bytecode: bytes | None = None

    def _module(self) -> Any:
        return mlir.parse(self.bytecode())

    def bytecode(self) -> bytes:
        """The module as MLIR bytecode."""
        if self._bytecode is None:
            start = time.perf_counter()
            self._bytecode = lower_closed(self._stage.jaxpr, self._stage._donated)
            records.emit(self._stage.note().step_of("lower", time.perf_counter() - start))
        return self._bytecode

    @property
    def out_info(self) -> Any:
        return self._stage.out_info

    def as_text(self, dialect: str = "stablehlo", *, debug_info: bool = False) -> str:
        """The program as text; `dialect` is "stablehlo" or "hlo", `debug_info` adds the equations' paths.

        Raises ValueError for another dialect.
        """
        if dialect == "stablehlo":
            return mlir.module_text(self._module(), debug_info)
        if dialect == "hlo":
            return hlo_module.text(hlo_module.unoptimized(self.bytecode()), metadata=debug_info)
        raise ValueError(f"dialect is 'stablehlo' or 'hlo', not {dialect!r}")

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate for the program before optimisation: "flops", "bytes accessed", …"""
        return hlo_module.cost_analysis(hlo_module.unoptimized(self.bytecode()))

    def compile(self) -> CompiledStage:
        """Compile (or find the program of the same structure)."""
        stage, function = self._stage, self._stage._function
        traced = stage._traced
        program = compile_jaxpr(
            traced.closed, function._options, stage._device, traced.number, stage.note(), stage._donated, self._bytecode
        )
        return CompiledStage(stage, program)

    def __repr__(self) -> str:
        return f"Lowered({self._stage.fun_name})"


class CompiledStage:
    """A compiled function: call it with arguments of the same structure, shapes and dtypes."""

    def __init__(self, traced: TracedStage, program: Program):
        self._stage, self._program = traced, program

    @property
    def out_info(self) -> Any:
        return self._stage.out_info

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on the arguments it was compiled for; static ones may be left out. Raises TypeError for others."""
        stage, name = self._stage, self._stage.fun_name
        leaves = self._leaves(args, kwargs)
        if any(isinstance(x, Tracer) for x in leaves):
            raise TypeError(
                f"{name} is compiled, it cannot be traced or transformed any more: call the function it was made from"
            )
        if any(type(x) is Array for x in leaves) and device_for(leaves) != stage._device:
            raise TypeError(f"{name} was compiled for {stage._device}; its arguments are on {device_for(leaves)}")
        arrays = [placed(x, stage._device) for x in leaves]
        for array, aval, path in zip(arrays, stage.in_avals, stage.jaxpr.jaxpr.debug.arg_names):
            if (array.aval.shape, array.aval.dtype) != (aval.shape, aval.dtype):
                raise TypeError(f"{name} was compiled for {path}: {aval.short()}; it got {array.aval.short()}")
        return stage._traced.out_tree.unflatten(self._program.run([a.buf for a in arrays]))

    def _leaves(self, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        stage = self._stage
        leaves, in_tree = tree.flatten((args, kwargs))
        if in_tree == stage._in_tree:
            return leaves
        other = TypeError(
            f"{stage.fun_name} was compiled for arguments of another structure: {stage._in_tree}, now {in_tree}"
        )
        try:
            dynamic, statics = stage._function._spec.bind(args, kwargs, stage._function._auto)
        except (TypeError, ValueError):
            raise other from None
        leaves, in_tree = tree.flatten(dynamic)
        if statics.key != stage._statics.key:
            raise TypeError(f"{stage.fun_name} was compiled for other values of its static arguments")
        if in_tree != stage._in_tree:
            raise other
        return leaves

    def as_text(self) -> str:
        """The optimised HLO."""
        return hlo_module.text(hlo_module.optimized(self._program.executable))

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate for the optimised program: "flops", "bytes accessed", …"""
        return self._program.executable.cost_analysis()

    def memory_analysis(self) -> dict[str, int]:
        """Bytes: argument, output, temp, alias, code, peak."""
        return self._program.executable.memory_stats()

    def runtime_executable(self) -> Any:
        return self._program.executable

    def __repr__(self) -> str:
        return f"Compiled({self._stage.fun_name})"
