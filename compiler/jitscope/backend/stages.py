"""Ahead-of-time stages: `jit(f).trace(x)` → `.lower()` → `.compile()` → a call. Each shows what it holds."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import tree
from ..control.discharge import uses_refs
from ..control.refs import AbstractRef, Ref
from ..core import call_sites, records
from ..core.annotations import (
    ArrayLike,
    DTypeLike,
    JitFunction,
    ManualAxisType,
    Orders,
    PartitionSpec,
    PyTree,
    PyTreeDef,
    Rewrite,
    Sharding,
    SupportsShape,
    TraceEntry,
)
from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import ExtendedDType, explicit
from ..core.errors import later
from ..core.folding import folding
from ..core.formats import Format, Layout
from ..core.jaxpr import ClosedJaxpr
from ..core.part_types import laid_of
from ..core.staging import eval_jaxpr
from ..core.trace import Tracer
from ..symbolic.dimension import Dim
from ..xla import mlir
from ..xla.spread import MeshLayouts, Spread
from .arguments import Arguments
from .array import Array, array_on, device_for, is_put, one_device
from .compile import Program, compile_jaxpr, lower_closed, options_of
from .input_layouts import as_they_lie, check_orders, orders_asked, orders_of, run, seen_in_rows
from .memory import ReferenceProgram
from .module_text import jitted_module
from .placement import checked_sharding, layouts_text
from .rewrite_notes import rewrites_of
from .tracing import traced_for
from .watching import with_watches


class ShapeDtypeStruct:
    """Shape and dtype of an array that need not exist; stages and `eval_shape` take it in place of an array.

    `shape` is a tuple of ints, `dtype` anything NumPy takes as one, or a key dtype. `sharding` is None or where the array
    would be (a sharding, or a PartitionSpec for the mesh in force). Raises ValueError without a dtype, for a `sharding` that is none or does not fit, and TypeError
    for a PartitionSpec without a mesh in force.
    """

    __slots__ = ("dtype", "is_ref", "layout", "shape", "sharding", "weak_type")
    manual_axis_type = None

    def __init__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike,
        *,
        sharding: Sharding | Format | PartitionSpec | None = None,
        weak_type: bool = False,
        manual_axis_type: ManualAxisType | None = None,
        is_ref: bool = False,
    ):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct needs a dtype")
        if manual_axis_type is not None:
            raise later("manual_axis_type of ShapeDtypeStruct")
        if None in shape:
            raise ValueError(f"the shape of ShapeDtypeStruct is of integers, it cannot have None: {shape}")
        self.shape: tuple[Any, ...] = tuple(n if isinstance(n, Dim) else operator.index(n) for n in shape)
        self.dtype: Any = dtype if isinstance(dtype, ExtendedDType) else np.dtype(dtype)
        self.layout = sharding.layout if isinstance(sharding, Format) else None
        where = sharding.sharding if isinstance(sharding, Format) else sharding
        self.sharding = None if where is None else checked_sharding(where, self.shape)
        self.weak_type, self.is_ref = weak_type, bool(is_ref)

    @classmethod
    def like(cls, x: ArrayLike | SupportsShape) -> ShapeDtypeStruct:
        """The shape, dtype and weak type of an array, or of anything that has a shape and a dtype; where an array was put,
        too. Raises TypeError for others."""
        aval = aval_like(x)
        if isinstance(x, cls):
            where = x.sharding if x.layout is None else x.format
        else:
            where = x.sharding if isinstance(x, Array) and x.committed else None
        return cls(
            aval.shape,
            aval.dtype,
            sharding=where,
            weak_type=aval.weak_type,
            is_ref=isinstance(aval, AbstractRef),
        )

    @property
    def aval(self) -> ShapedArray | AbstractRef:
        """What an array (or a reference) like this is while tracing: its dtype is the canonical one."""
        inner = ShapedArray(self.shape, explicit(self.dtype), self.weak_type)
        if self.sharding is not None:
            from .spreading import typed

            inner = typed(inner, self.sharding)
        return AbstractRef(inner) if self.is_ref else inner

    @property
    def format(self) -> Format:
        """Where the array would lie, and in which order its axes would lie in memory."""
        return Format(self.layout, self.sharding)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def update(self, **changes: object) -> ShapeDtypeStruct:
        """A copy with some of shape, dtype, sharding, weak_type and is_ref changed. Raises TypeError for other names."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "layout"}
        fields["sharding"] = self.sharding if self.layout is None else self.format
        return ShapeDtypeStruct(**{**fields, **changes})

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a ShapeDtypeStruct of a scalar has no len()")
        return self.shape[0]

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.format, self.weak_type, self.is_ref))

    def __repr__(self) -> str:
        sharding = f", sharding={self.sharding}" if self.sharding is not None else ""
        sharding += f", format={self.layout}" if self.layout is not None else ""
        weak = ", weak_type=True" if self.weak_type else ""
        ref = ", is_ref=True" if self.is_ref else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{sharding}{weak}{ref})"


def struct_of(aval: ShapedArray, sharding: Any = None) -> ShapeDtypeStruct:
    """The aval as a `ShapeDtypeStruct`, with how it lies: as `sharding` says, else along Explicit axes."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding or laid_of(aval), weak_type=aval.weak_type)


def aval_like(x: Any, what: str = "an argument") -> ShapedArray:
    """The aval of a value, or of anything that says its shape and dtype. Raises TypeError naming `what`."""
    try:
        return aval_of(x)
    except TypeError as error:
        shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
        if shape is None or dtype is None or isinstance(x, np.ndarray):
            raise TypeError(f"{what} is not an array: {error}") from None
        return ShapedArray(tuple(shape), explicit(dtype), bool(getattr(x, "weak_type", False)))


class MemoryStats(dict):
    """Bytes a program needs: argument, output, temp, alias, code, peak; also by the names XLA gives them."""

    argument_size_in_bytes = property(lambda self: self["argument"])
    output_size_in_bytes = property(lambda self: self["output"])
    temp_size_in_bytes = property(lambda self: self["temp"])
    alias_size_in_bytes = property(lambda self: self["alias"])
    generated_code_size_in_bytes = property(lambda self: self["code"])
    peak_memory_in_bytes = property(lambda self: self["peak"])


def trace_stage(function: JitFunction, args: tuple, kwargs: dict[str, Any]) -> TracedStage:
    """Trace a jitted function for arguments or ShapeDtypeStructs."""
    arguments = Arguments(function._spec, args, kwargs, function._auto)
    named = zip(arguments.leaves, arguments.names())
    avals = tuple([aval_like(x, f"argument {name} of {function._name}") for x, name in named])
    device = _named_by_structs(arguments.leaves) or function._place(arguments.leaves)
    asked = orders_asked(function._shardings, arguments)
    traced = traced_for(function, arguments, avals, device, layouts_text(arguments.leaves))
    if not (one_device() and function._shardings is None):
        device = _spread(function, arguments, avals, traced, device)
    orders = orders_of(traced, asked, function._shardings)
    return TracedStage(function, traced, arguments.in_tree, device, arguments.donated(), arguments.statics, orders)


def _named_by_structs(leaves: Sequence[Any]) -> Any:
    """The device on which ShapeDtypeStructs say that arrays would be, if one of them does."""
    said = (getattr(x.sharding, "_device", None) for x in leaves if isinstance(x, ShapeDtypeStruct))
    return next((device for device in said if device is not None), None)


def _spread(function: JitFunction, arguments: Arguments, avals: Sequence[Any], traced: TraceEntry, device: Any) -> Any:
    """The device, or how the program is spread over several."""
    from .spreading import layout_for, says_nothing, spread_for

    shardings, leaves = function._shardings, arguments.leaves
    asked = [None] * len(leaves) if shardings is None else shardings.wanted(arguments)
    layouts = []
    for leaf, aval, wanted in zip(leaves, avals, asked):
        said = wanted or (leaf.sharding if isinstance(leaf, ShapeDtypeStruct) else None)
        said = None if says_nothing(said) else said
        array = leaf.array if type(leaf) is Ref else leaf
        known = array.memory._sharding if isinstance(array, Array) else None
        layouts.append(known if said is None else layout_for(said, aval))
    if uses_refs(traced.closed.jaxpr):
        return ReferenceProgram(traced.closed).spread(layouts, device)
    return spread_for(traced.closed, layouts, device, function._where_results_lie(traced))


class _Stage:
    """What every stage knows of its arguments and results."""

    _stage: TracedStage

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self._stage._function._name

    @property
    def in_tree(self) -> Any:
        """The structure of the arguments: ((positional, …), {name: …}), static ones left out."""
        return self._stage._in_tree

    @property
    def in_avals(self) -> Any:
        """The avals of the arguments, in their structure."""
        return self.in_tree.unflatten(self._stage.jaxpr.in_avals)

    @property
    def args_info(self) -> Any:
        """An ArgInfo for each array of the arguments, in their structure."""
        donated = set(self._stage._donated)
        from .arg_info import ArgInfo  # for those who ask

        return self.in_tree.unflatten([ArgInfo(a, i in donated) for i, a in enumerate(self._stage.jaxpr.in_avals)])

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The numbers, among all arrays of the arguments, of those whose memory is given away."""
        return tuple(self._stage._donated)

    @property
    def out_tree(self) -> Any:
        """The structure of the result."""
        return self._stage._traced.out_tree

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the result, with how they lie where `out_shardings` or their types say it."""
        stage = self._stage
        avals, asked = stage.jaxpr.out_avals, stage._function._shardings
        told = [None] * len(avals) if asked is None else asked.results(stage._traced)
        return self.out_tree.unflatten(map(struct_of, avals, told))

    def _leaves(self, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of a call as it was lowered, with or without what is static."""
        stage = self._stage
        leaves, in_tree = tree.flatten((args, kwargs))
        if in_tree == stage._in_tree:
            return leaves
        try:
            given = Arguments(stage._function._spec, args, kwargs, stage._function._auto)
        except ValueError:  # something unhashable stands where a static argument was
            given = None
        if given is not None and given.in_tree == stage._in_tree:
            if given.statics.key == stage._statics.key:
                return given.leaves
            raise TypeError(f"{self.fun_name} was traced for other values of its static arguments")
        raise TypeError(
            f"{self.fun_name} was traced for arguments of another structure: {stage._in_tree}, now {in_tree}"
        )


class TracedStage(_Stage):
    """A traced function: `jaxpr`, and what all stages know of arguments and results."""

    def __init__(
        self,
        function: JitFunction,
        traced: TraceEntry,
        in_tree: PyTreeDef,
        device: Any,
        donated: tuple,
        statics: Any,
        orders: Orders | None,
    ):
        self._function, self._traced, self._in_tree = function, traced, in_tree
        self._device, self._donated, self._statics, self._orders = device, donated, statics, orders
        self._stage = self
        self._taken = ReferenceProgram(traced.closed) if uses_refs(traced.closed.jaxpr) else None

    @property
    def _pure(self) -> tuple[ClosedJaxpr, Sequence[int]]:
        """What is compiled, and the arguments whose memory it may take."""
        taken = self._taken
        return (self.jaxpr, self._donated) if taken is None else (taken.closed, taken.donated(self._donated))

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program, with the values that it captured."""
        return self._traced.closed

    @property
    def out_avals(self) -> PyTree:
        """The avals of the result, in its structure."""
        return self.out_tree.unflatten(self.jaxpr.out_avals)

    @property
    def effects(self) -> frozenset[Any]:
        """What the program does besides computing its results, such as printing."""
        return frozenset(self.jaxpr.jaxpr.effects)

    def note(self) -> records.Record:
        """What the steps of this program have in common."""
        return records.Record(
            "",
            self.fun_name,
            self._traced.number,
            position=self.jaxpr.jaxpr.debug.defined,
            call_site=call_sites.calling(),
        )

    def lower(self, *, lowering_platforms: Sequence[str] | None = None) -> LoweredStage:
        """The StableHLO program. Raises NotImplementedError for platforms other than ("cpu",)."""
        if lowering_platforms is not None and tuple(lowering_platforms) != ("cpu",):
            raise NotImplementedError(f"this release lowers for the CPU, not for {tuple(lowering_platforms)}")
        return LoweredStage(self)

    def __call__(self, *args: PyTree, **kwargs: PyTree) -> PyTree:
        """Run the equations on arguments of the same structure, static ones left out or as they were; under a transformation
        too. Raises TypeError for another structure and for other static values."""
        with folding:
            outs = eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *self._leaves(args, kwargs))
            return self.out_tree.unflatten(outs)

    def __repr__(self) -> str:
        return f"Traced({self.fun_name}, {len(self.jaxpr.eqns)} equations)"


class LoweredStage(_Stage):
    """A lowered function: `as_text()` shows its StableHLO (or unoptimised HLO)."""

    def __init__(self, traced: TracedStage):
        self._stage = traced
        self._bytecode: bytes | None = None

    def _module(self) -> Any:
        return mlir.parse(self.bytecode())

    def _described(self) -> bytes:
        """The bytecode with named scopes and places; programs that are run have paths alone, so that moving a cell compiles nothing."""
        stage = self._stage
        return lower_closed(
            *stage._pure, stage._function._keep_unused, debug_info=True, device=stage._device, orders=stage._orders
        )

    def bytecode(self) -> bytes:
        """The module as MLIR bytecode."""
        if self._bytecode is None:
            start, stage = time.perf_counter(), self._stage
            self._bytecode = lower_closed(
                *stage._pure, stage._function._keep_unused, device=stage._device, orders=stage._orders
            )
            records.emit(stage.note().step_of("lower", time.perf_counter() - start))
        return self._bytecode

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The program as text; `dialect` is "stablehlo" (also None) or "hlo", `debug_info` adds the equations' paths,
        named scopes and places in the source.

        Raises ValueError for another dialect.
        """
        code = self._described() if debug_info else self.bytecode()
        if dialect in (None, "stablehlo"):
            return mlir.module_text(self._told(mlir.parse(code)), debug_info)
        if dialect == "hlo":
            return _hlo().text(_hlo().unoptimized(code), metadata=debug_info)
        raise _unknown_dialect(dialect)

    def rewrites(self) -> list[Rewrite]:
        """What is written as other operations for the CPU, in the order of the program, and by which rules."""
        return rewrites_of(self._stage)

    def _told(self, module: Any) -> Any:
        device = self._stage._device
        names = ["result" + path for path in tree.leaf_paths(self.out_tree.unflatten([0] * self.out_tree.num_leaves))]
        return jitted_module(module, self.fun_name, len(device.group.devices) if type(device) is Spread else 1, names)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program as an object of XLA's own bindings: an MLIR module ("stablehlo", also None) or an XlaComputation ("hlo"), which
        has as_hlo_text().

        Raises ValueError for another dialect.
        """
        if dialect in (None, "stablehlo"):
            return mlir.with_classes(self._module())
        if dialect == "hlo":
            return _hlo().computation(self.bytecode())
        raise _unknown_dialect(dialect)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate for the program before optimisation: "flops", "bytes accessed", …"""
        return _hlo().cost_analysis(_hlo().unoptimized(self.bytecode()))

    def compile(
        self, compiler_options: dict[str, Any] | None = None, *, device_assignment: Sequence[Any] | None = None
    ) -> CompiledStage:
        """Compile (or find the program of the same structure).

        `compiler_options` are XLA flags by name, beside those given to jit. `device_assignment` is None or one device
        to compile for.

        Raises ValueError for flags that XLA does not know, TypeError for values that are no bool, int, float or text,
        NotImplementedError for several devices (shardings name them).
        """
        stage, function = self._stage, self._stage._function
        traced, device = stage._traced, stage._device
        if device_assignment is not None:
            if len(device_assignment) != 1:
                raise NotImplementedError(
                    "device_assignment is one device: layouts of arguments and results say several"
                )
            device = device_assignment[0]
        options = options_of({**dict(function._options), **(compiler_options or {})})
        closed, donated = stage._pure
        program = compile_jaxpr(
            closed,
            options,
            device,
            traced.number,
            stage.note(),
            donated,
            self._bytecode,
            keep_unused=function._keep_unused,
            orders=stage._orders,
        )
        if stage._taken is not None:
            stage._taken.settle(program)
        if program.entry.tuned:
            self._bytecode = program.lowered  # what was compiled may be lowered otherwise
        return CompiledStage(stage, program, device)

    def __repr__(self) -> str:
        return f"Lowered({self.fun_name})"


def _hlo() -> Any:
    """What reads HLO: few programs ask for that."""
    from ..xla import hlo_module

    return hlo_module


def _unknown_dialect(dialect: Any) -> ValueError:
    return ValueError(f"dialect is 'stablehlo' or 'hlo', not {dialect!r}")


class CompiledStage(_Stage):
    """A compiled function: call it with arguments of the same structure, shapes and dtypes."""

    def __init__(self, traced: TracedStage, program: Program, device: Any):
        self._stage, self._program, self._device = traced, program, device

    def __call__(self, *args: PyTree, **kwargs: PyTree) -> PyTree:
        """Run on the arguments it was compiled for; static ones may be left out. Raises TypeError for another structure,
        other shapes, dtypes or static values, and for tracers; ValueError for arrays on other devices or in another
        layout."""
        with folding:
            return self._run(args, kwargs)

    call = __call__

    def _run(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        stage, name = self._stage, self.fun_name
        leaves = self._leaves(args, kwargs)
        if any(isinstance(x, Tracer) for x in leaves):
            raise TypeError(
                f"{name} is compiled, it cannot be traced or transformed any more: call the function it was made from"
            )
        place = self._device.group if isinstance(self._device, (Spread, MeshLayouts)) else self._device
        if (
            type(self._device) is not Spread
            and any(isinstance(x, Array) for x in leaves)
            and device_for(leaves) != place
        ):
            raise ValueError(f"{name} was compiled for {place}; its arguments are on {device_for(leaves)}")
        check_orders(self._program, leaves, name, stage.jaxpr.jaxpr.debug.arg_names)
        arrays = [x if type(x) is Ref else array_on(x, place) for x in as_they_lie(leaves)]
        if type(self._device) is Spread:
            self._check_layouts(leaves)
        for array, aval, path in zip(arrays, stage.jaxpr.in_avals, stage.jaxpr.jaxpr.debug.arg_names):
            same = (array.aval.shape, array.aval.dtype) == (aval.shape, aval.dtype)
            if not same or (type(array) is Ref) != isinstance(aval, AbstractRef):
                raise TypeError(f"{name} was compiled for {path}: {aval.short()}; it got {array.aval.short()}")
        bufs, taken = [a.buf for a in arrays], stage._taken
        plain = partial(run, self._program)
        watch = with_watches(stage.jaxpr, name, plain)
        watch = watch if watch is plain else seen_in_rows(watch, self._program)
        outs = watch(bufs) if taken is None else taken.run(self._program, bufs)
        return stage._traced.out_tree.unflatten(outs)

    def _check_layouts(self, leaves: Sequence[Any]) -> None:
        """Raises ValueError for arrays that were put elsewhere, or lie otherwise, than those it was compiled for."""
        for x, at, path in zip(leaves, self._device.ins, self._stage.jaxpr.jaxpr.debug.arg_names):
            stays = isinstance(x, Array) and is_put(x.memory)
            if stays and str(getattr(x.memory._sharding, "hlo", None)) != str(at.hlo):
                raise ValueError(
                    f"{self.fun_name} was compiled for {path} in the layout {at.said}; it lies as {x.sharding}. What to do: move it with "
                    "device_put(x, sharding), or lower for what lies so"
                )

    def as_text(self) -> str:
        """The optimised HLO."""
        return _hlo().text(_hlo().optimized(self._program.executable))

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate for the optimised program: "flops", "bytes accessed", …"""
        return self._program.executable.cost_analysis()

    def memory_analysis(self) -> MemoryStats:
        """Bytes: argument, output, temp, alias, code, peak; also as attributes, `temp_size_in_bytes` and so on."""
        return MemoryStats(self._program.executable.memory_stats())

    def runtime_executable(self) -> Any:
        """The program as jitscope holds it: its `raw` is jaxlib's object."""
        return self._program.executable

    @property
    def input_shardings(self) -> PyTree:
        """How each argument is laid out, in their structure; None for those that nobody reads."""
        kept = {*self._program.kept}
        return self.in_tree.unflatten([at if i in kept else None for i, at in enumerate(self._where_inputs_lie())])

    def _where_inputs_lie(self) -> list[Any]:
        device, count = self._device, self.in_tree.num_leaves
        return _said(device.ins if isinstance(device, (Spread, MeshLayouts)) else [None] * count, device)

    @property
    def output_shardings(self) -> PyTree:
        """How each result is laid out, in their structure."""
        device, count = self._device, self.out_tree.num_leaves
        found = self._program.executable.layouts if type(device) is Spread else getattr(device, "outs", None)
        layouts = [None] * count if found is None else found
        return self.out_tree.unflatten(_said(layouts, device))

    @property
    def input_formats(self) -> PyTree:
        """Where each argument lies and in which order its axes lie in memory, in their structure; of those that nobody reads, a
        Format that says nothing."""
        at = self._where_inputs_lie()
        kept, found = self._program.kept, [Format()] * len(at)
        for i, order in zip(kept, self._program.executable.orders()[0][len(self._program.hidden) :]):
            found[i] = Format(Layout(*order), at[i])
        return self.in_tree.unflatten(found)

    @property
    def output_formats(self) -> PyTree:
        """Where each result lies and in which order its axes lie in memory, in their structure."""
        orders = self._program.executable.orders()[1]
        return self.out_tree.unflatten(
            [Format(Layout(*order), at) for order, at in zip(orders, tree.leaves(self.output_shardings))]
        )

    def __repr__(self) -> str:
        return f"Compiled({self.fun_name})"


def _said(layouts: Sequence[Any], device: Any) -> list[Any]:
    """What a user knows layouts on a device, or over several, by."""
    from ..core.shardings import NamedSharding, PartitionSpec, SingleDeviceSharding

    if type(device) is not Spread:
        one = SingleDeviceSharding(device.group if type(device) is MeshLayouts else device)
        return [one if at is None or at.said is None else at.said for at in layouts]
    return [NamedSharding(device.mesh, PartitionSpec()) if at.said is None else at.said for at in layouts]
