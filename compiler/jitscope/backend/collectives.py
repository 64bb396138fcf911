"""Operations between devices, as lowering rules ask for them; on one device they are what is left of them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.avals import ShapedArray, physical
from ..core.jaxpr import ClosedJaxpr
from ..core.varying import manual
from .run_number import NUMBER, RunNumber


class Collectives:
    """The part of a lowering context that speaks of devices."""

    if TYPE_CHECKING:
        module: Any
        hlo: Any
        ir: Any
        avals_in: list[ShapedArray]
        avals_out: list[ShapedArray]
        effects: Any

        def type(self, aval: ShapedArray) -> Any: ...
        def scalar(self, value: Any, dtype: Any) -> Any: ...
        def inline_jaxpr(self, closed: ClosedJaxpr, *values: Any) -> list[Any]: ...
        def inner_jaxpr(self, closed: ClosedJaxpr, values: Sequence[Any], segment: str = "") -> list[Any]: ...

    def manual_computation(
        self,
        values: Sequence[Any],
        closed: ClosedJaxpr,
        mesh: Any,
        ins: Sequence[Any],
        outs: Sequence[Any],
        axes: Sequence[Any],
    ) -> list[Any]:
        """A program that sees one device's parts along `axes`."""
        meshes = self.module.meshes
        count = 1 if meshes.group is None else meshes.mesh.size
        if count != mesh.size:
            raise ValueError(
                f"shard_map over {mesh} needs {mesh.size} devices, and this program runs on {count}. What to do: put a mesh of "
                "devices in force (jitscope.set_mesh), or pass one as mesh="
            )
        if meshes.group is None:
            return self.inner_jaxpr(closed, values)
        from ..core.resharding import outside
        from ..core.shardings import PartitionSpec

        already = meshes.manual
        given, made = (
            [(mesh, outside(s, already), physical(a).ndim) for s, a in zip(specs, avals)]
            for specs, avals in ((ins, self.avals_in), (outs, self.avals_out))
        )
        operands, types = list(values), [self.type(a) for a in self.avals_out]
        block, run = self._on_each(closed, axes)
        # The operation's region sees nothing from outside, so that the number of the run goes in and out by itself.
        number, same = self.type(NUMBER), (mesh, PartitionSpec(), 0)
        if run.taken:
            operands, given = [*operands, self.module.run.get()], [*given, same]
        if run.given:
            types, made = [*types, number], [*made, same]
        is_open = len(already) + len(axes) < len(mesh.axis_names)  # along the others nothing was said
        operation = self.module.mlir.sdy.ManualComputationOp(
            types, operands, meshes.many(given, is_open), meshes.many(made, is_open), meshes.axes(mesh, axes)
        )
        holder = block.owner
        block.append_to(operation.regions[0])
        holder.erase()
        results = list(operation.results)
        if run.given:
            self.module.run.now = results.pop()
        return results

    def _on_each(self, closed: ClosedJaxpr, axes: Sequence[Any]) -> tuple[Any, RunNumber]:
        """The block of a program that sees one device's parts along `axes`, in an operation that only holds it, and its number of the
        run: that it calls Python is known when it is written."""
        module, meshes = self.module, self.module.meshes
        holder = module.mlir.sdy.ManualComputationOp(
            [], [], meshes.many([]), meshes.many([]), meshes.axes(meshes.mesh, axes)
        )
        block = holder.regions[0].blocks.append(*[self.type(a) for a in closed.in_avals])
        run, already, functions = RunNumber(block), meshes.manual, module.functions
        meshes.manual, module.functions = (*already, *axes), {}
        module.runs.append(run)
        try:
            with self.ir.InsertionPoint(block):
                results = self.inner_jaxpr(closed, list(block.arguments))
                module.mlir.sdy.ReturnOp(run.results(results, bool(self.effects)))
        finally:
            module.runs.pop()
            meshes.manual, module.functions = already, functions
        return block, run

    def _groups(self, axes: Sequence[Any], groups: Any = None) -> Any:
        """The devices, by their numbers in the mesh, that differ along these axes alone; of those, `groups` of their numbers along
        the axes (short ones end in -1)."""
        here = manual()
        assert here is not None
        names, sizes = list(here.mesh.axis_names), here.mesh.axis_sizes
        numbers = np.arange(int(np.prod(sizes))).reshape(sizes)
        at = [names.index(a) for a in axes]
        moved = np.moveaxis(numbers, at, range(len(sizes) - len(at), len(sizes)))
        count = int(np.prod([sizes[i] for i in at]))
        rows = moved.reshape(-1, count)
        if groups is not None:
            longest = max(map(len, groups))
            padded = [[row[i] for i in group] + [-1] * (longest - len(group)) for row in rows for group in groups]
            rows = np.array(padded)
        return self.ir.DenseIntElementsAttr.get(np.ascontiguousarray(rows, dtype=np.int64))

    def partitioned(self, values: Sequence[Any], closed: ClosedJaxpr, how: Any) -> list[Any]:
        """A program that the user divides among the devices (`backend.partitioning.Partitioning`)."""
        if self.module.meshes.group is None or self.module.meshes.manual:
            return self.inline_jaxpr(closed, *values)
        from .partitioning import custom_call

        return custom_call(self, values, how)

    def _channel(self) -> Any:
        self.module.channels += 1
        return self.hlo.ChannelHandle.get(self.module.channels, 1)

    @property
    def apart(self) -> bool:
        """Whether there are other devices."""
        return self.module.meshes.group is not None

    @property
    def is_divided(self) -> bool:
        """Whether XLA divides what is computed among devices: there are others, and the code is not one device's own."""
        meshes = self.module.meshes
        return meshes.group is not None and len(meshes.manual) < len(meshes.mesh.axis_names)

    def when_partitioned(self, x: Any, tell: Callable[[Any], None]) -> None:
        """Have `tell(sharding)` called with the layout of a value when the partitioner has chosen it. Inside of shard_map a value is
        a device's own: P()."""
        from ..core.shardings import NamedSharding, PartitionSpec
        from ..xla.inspecting import TARGET, question
        from .spreading import chosen

        meshes, shape = self.module.meshes, tuple(self.ir.RankedTensorType(x.type).shape)
        group, mesh = meshes.group, meshes.mesh
        if meshes.manual:
            if len(meshes.manual) < len(mesh.axis_names):
                raise NotImplementedError(
                    "inspect_array_sharding and visualize_array_sharding do not say how a value lies inside of a shard_map over some "
                    "axes of a mesh. What to do: look at it outside of the shard_map"
                )
            tell(NamedSharding(mesh, PartitionSpec()))
            return
        named = lambda hlo: tell(chosen(hlo.to_proto(), shape, group, mesh).said)
        config = self.ir.StringAttr.get(question(named))
        self.hlo.CustomCallOp(
            [x.type], [x], call_target_name=TARGET, has_side_effect=self.ir.BoolAttr.get(True),
            api_version=self.ir.IntegerAttr.get(self.ir.IntegerType.get_signless(32), 1), backend_config=config
        )  # fmt: skip

    def all_reduce(self, x: Any, axes: Sequence[Any], combine: str, groups: Any = None) -> Any:
        """`add`, `maximum` or `minimum` over the devices along the axes."""
        if not self.apart:
            return x
        operation = self.hlo.AllReduceOp(
            [x.type], [x], self._groups(axes, groups), channel_handle=self._channel(), use_global_device_ids=self.ir.UnitAttr.get()
        )  # fmt: skip
        self._combination(operation, x, combine)
        return operation.results[0]

    def _combination(self, operation: Any, x: Any, combine: str) -> None:
        kind = self.ir.RankedTensorType.get([], self.ir.RankedTensorType(x.type).element_type)
        block = operation.regions[0].blocks.append(kind, kind)
        with self.ir.InsertionPoint(block):
            self.hlo.return_([getattr(self.hlo, combine)(*block.arguments)])

    def all_gather(self, x: Any, axes: Sequence[Any], dimension: int, groups: Any = None) -> Any:
        """The parts of the devices along the axes, one after another along a dimension that is there."""
        aval = self.avals_out[0]
        if not self.apart:
            return self.hlo.reshape(self.type(aval), x)
        kind = self.ir.RankedTensorType(x.type)
        shape = list(kind.shape)
        shape[dimension] *= self._count(axes, groups)
        return self.hlo.AllGatherOp(
            [self.ir.RankedTensorType.get(shape, kind.element_type)], [x], dimension, self._groups(axes, groups),
            channel_handle=self._channel(), use_global_device_ids=self.ir.UnitAttr.get(),
        ).results[0]  # fmt: skip

    def reduce_scatter(self, x: Any, axes: Sequence[Any], dimension: int, groups: Any = None) -> Any:
        """The sum over the devices along the axes, of which each gets its share of a dimension."""
        if not self.apart:
            return x
        kind = self.ir.RankedTensorType(x.type)
        shape = list(kind.shape)
        shape[dimension] //= self._count(axes, groups)
        operation = self.hlo.ReduceScatterOp(
            self.ir.RankedTensorType.get(shape, kind.element_type), x, dimension, self._groups(axes, groups),
            channel_handle=self._channel(), use_global_device_ids=self.ir.UnitAttr.get(),
        )  # fmt: skip
        self._combination(operation, x, "add")
        return operation.result

    def all_to_all(self, x: Any, axes: Sequence[Any], split: int, concat: int, groups: Any = None) -> Any:
        """The dimension `split` cut, a part for each device along the axes, what comes put one after another along `concat`."""
        if not self.apart:
            return x
        count = self._count(axes, groups)
        return self.hlo.AllToAllOp(
            [x], split, concat, count, self._groups(axes, groups), channel_handle=self._channel()
        ).results[0]

    def collective_permute(self, x: Any, axes: Sequence[Any], perm: Sequence[tuple[int, int]]) -> Any:
        """What the device that the pairs say has; zeros where none is said."""
        if not self.apart:
            return x if (0, 0) in perm else self.hlo.subtract(x, x)
        rows = np.asarray(self._groups(axes)).tolist()
        pairs = [[row[a], row[b]] for row in rows for a, b in perm]
        found = np.array(pairs, np.int64).reshape(-1, 2)
        return self.hlo.collective_permute(x, self.ir.DenseIntElementsAttr.get(found), channel_handle=self._channel())

    def _count(self, axes: Sequence[Any], groups: Any) -> int:
        """How many devices exchange with each other."""
        here = manual()
        assert here is not None
        return int(np.prod([here.mesh.shape[a] for a in axes])) if groups is None else len(groups[0])

    def device_number(self, axis: Any) -> Any:
        """The number of the device along an axis, an i32 scalar."""
        here = manual()
        assert here is not None
        names, sizes = list(here.mesh.axis_names), here.mesh.axis_sizes
        if not self.apart:
            return self.scalar(0, np.int32)
        at = names.index(axis)
        stride = int(np.prod(sizes[at + 1 :], dtype=int))
        number = self._partition(here.mesh)
        number = self.hlo.divide(number, self.scalar(stride, np.uint32))
        number = self.hlo.remainder(number, self.scalar(sizes[at], np.uint32))
        return self.hlo.convert(self.type(ShapedArray((), np.dtype(np.int32))), number)

    def _partition(self, mesh: Any) -> Any:
        """The number of the device in the mesh, a ui32 scalar."""
        from ..core.meshes import ordered
        from ..core.shardings import PartitionSpec

        meshes = self.module.meshes
        left = [name for name in mesh.axis_names if name not in meshes.manual]
        if not left:
            return self.hlo.partition_id()
        kind = self.type(ShapedArray((), np.dtype(np.uint32)))
        none, one = meshes.many([]), meshes.many([(mesh, PartitionSpec(), 0)])
        operation = self.module.mlir.sdy.ManualComputationOp(
            [kind], [], none, one, meshes.axes(mesh, ordered(mesh, left))
        )
        with self.ir.InsertionPoint(operation.regions[0].blocks.append()):
            self.module.mlir.sdy.ReturnOp([self.hlo.partition_id()])
        return operation.results[0]
