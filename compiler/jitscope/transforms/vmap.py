"""vmap: operations on one example become operations on a whole axis of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..core import call_sites
from ..core.avals import ShapedArray, aval_of
from ..core.axes import bind_axis
from ..core.jaxpr import ClosedJaxpr
from ..core.part_types import nothing, varying, with_varying
from ..core.references import Reference
from ..core.staging import jaxpr_as_fun, mark_made, recording, trace_to_jaxpr
from ..core.trace import Trace, Tracer, current_trace, using
from ..core.varying import checked_axes
from ..ops.linear import broadcast_in_dim_p, moveaxis


class BatchAxis:
    """The axis being mapped over; the contract is `core.primitive.Axis`. `names`: the axes of a mesh along which it lies; `mesh` is
    theirs where types say so (Explicit axes), None where the user does (`spmd_axis_name`)."""

    __slots__ = ("mesh", "name", "names", "size")

    def __init__(self, name: Hashable, size: int, names: tuple[Any, ...] = (), mesh: Any = None):
        self.name, self.size, self.names, self.mesh = name, size, names, mesh

    def move(self, x: Any, dim: int | None, to: int = 0) -> Any:
        if dim is not None:
            return moveaxis(x, dim, to)
        shape = aval_of(x).shape
        full = (*shape[:to], self.size, *shape[to:])
        mark = aval_of(x).mark
        x = broadcast_in_dim_p(x, shape=full, broadcast_dimensions=tuple(i + (i >= to) for i in range(len(shape))))
        return x if self.mesh is None else self._beside_others(x, mark, to)

    def _beside_others(self, x: Any, mark: Any, to: int) -> Any:
        """A value that is the same for all examples, laid out as those that are not."""
        from ..core.resharding import reshard_p
        from ..core.shardings import NamedSharding, PartitionSpec

        whole = NamedSharding(self.mesh, PartitionSpec(*[None] * (aval_of(x).ndim - 1)))
        mark = whole if mark is None else getattr(mark, "laid", mark) or whole
        return reshard_p(x, sharding=mark.beside(to, self.names))

    def align(self, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[list[Any], int]:
        ranks = [aval_of(x).ndim - (d is not None) for x, d in zip(args, dims)]
        rank = max(ranks)
        to = next((d for d, r in zip(dims, ranks) if d is not None and r == rank), 0)
        aligned = [self._place(x, d, to) if r == rank or (d is None and r) else x for x, d, r in zip(args, dims, ranks)]
        if rank:
            # Scalars that differ between examples meet arrays: repeat them over the array's shape.
            shape = next(aval_of(x).shape for x, r in zip(aligned, ranks) if r == rank)
            shape = (*shape[:to], self.size, *shape[to + 1 :])
            aligned = [
                broadcast_in_dim_p(x, shape=shape, broadcast_dimensions=(to,)) if d is not None and r == 0 else x
                for x, d, r in zip(aligned, dims, ranks)
            ]
        return aligned, to

    def _place(self, x: Any, dim: int | None, to: int) -> Any:
        scalar = dim is None and not aval_of(x).shape
        return x if scalar else self.move(x, dim, to)


class BatchTracer(Tracer):
    """One example's view of a value that holds all examples along axis `dim`."""

    __slots__ = ("dim", "value")

    def __init__(self, trace: BatchTrace, value: Any, dim: int):
        self.tracing, self.value, self.dim = trace, value, dim
        aval = aval_of(value)
        mark = aval.mark if aval.mark is None else aval.mark.without(dim)
        self.aval = ShapedArray(aval.shape[:dim] + aval.shape[dim + 1 :], aval.dtype, aval.weak_type, mark)

    val = property(lambda self: self.value, doc="All examples, under JAX's name.")
    batch_dim = property(lambda self: self.dim, doc="The axis of the examples, under JAX's name.")

    def underlying(self) -> Any:
        return self.value

    def text(self) -> str:
        return f"VmapTracer(aval={self.aval.long()}, batched={aval_of(self.value).long()})"

    def origin(self) -> str:
        made = self.value.origin() if isinstance(self.value, Tracer) else ""
        return "one example of a value mapped by vmap" + (f"; {made}" if made else "")


class BatchTrace(Trace):
    """Applies `batch` rules under `parent`."""

    __slots__ = ("axis", "parent", "recorder")

    def __init__(self, parent: Trace, axis: BatchAxis):
        self.parent, self.axis, self.recorder = parent, axis, recording(parent)

    def split(self, x: Any) -> tuple[Any, int | None]:
        """The value of all examples and the axis they lie along (None: it is the same for all)."""
        if isinstance(x, BatchTracer) and x.tracing.axis is self.axis:
            return x.value, x.dim
        return x, None

    def join(self, value: Any, dim: int | None) -> Any:
        """A value of this trace, whose examples lie along the axis `dim` of `value` (None: `value` itself)."""
        if dim is None:
            return value
        return value.example(self, dim) if isinstance(value, Reference) else BatchTracer(self, value, dim)

    def process(self, primitive, args, params):
        values, dims = zip(*map(self.split, args)) if args else ((), ())
        if all(d is None for d in dims) and self.axis.name not in primitive.named_axes(**params):
            return self.parent.process(primitive, values, params)
        recorder = self.recorder if call_sites.replaying() else None  # else the call stack shows this function
        start = len(recorder.eqns) if recorder is not None else 0
        with using(self.parent):
            out, out_dims = primitive.batch(self.axis, values, dims, **params)
        if recorder is not None:
            mark_made(recorder, start, "vmap")
        if primitive.multiple_results:
            return [self.join(v, d) for v, d in zip(out, out_dims)]
        return self.join(out, out_dims)


call_sites.rules_run_by[BatchTrace.process.__code__] = "vmap"


def vmap_flat(
    fun: Callable[..., Sequence[Any]], axis: BatchAxis, values: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], list[int | None]]:
    """Results of the flat function `fun` for all examples, and the axis they lie along."""
    trace = BatchTrace(current_trace(), axis)
    with using(trace), bind_axis(axis.name, axis.size):
        outs = fun(*[trace.join(v, d) for v, d in zip(values, dims)])
    pairs = [trace.split(out) for out in outs]
    return [v for v, _ in pairs], [d for _, d in pairs]


def vmap_jaxpr(
    closed: ClosedJaxpr, axis: BatchAxis, dims: Sequence[int | None], force: Sequence[bool] | None = None
) -> tuple[ClosedJaxpr, list[int | None]]:
    """The program for all examples, and the axis of each result; those marked in `force` are mapped along axis 0."""
    key = ("vmap", axis.name, axis.size, axis.names, axis.mesh, tuple(dims), None if force is None else tuple(force))
    if key not in closed.derived:
        closed.derived[key] = _vmap_jaxpr(closed, axis, dims, force)
    return closed.derived[key]


def _vmap_jaxpr(closed, axis, dims, force):
    out_dims: list[int | None] = []

    def fun(*args):
        outs, found = vmap_flat(jaxpr_as_fun(closed), axis, args, dims)
        if force is not None:
            outs = [axis.move(x, d, 0) if f else x for x, d, f in zip(outs, found, force)]
            found = [0 if f else d for d, f in zip(found, force)]
        out_dims.extend(found)
        return outs

    avals = [with_axis(a, d, axis) for a, d in zip(closed.in_avals, dims)]
    return trace_to_jaxpr(fun, avals, closed.jaxpr.debug), out_dims


def with_axis(aval: ShapedArray, dim: int | None, axis: BatchAxis) -> ShapedArray:
    """The type of all examples of something, along the axis `dim`."""
    if dim is None:
        return aval
    mark = aval.mark if aval.mark is None else aval.mark.beside(dim, axis.names)
    found = ShapedArray((*aval.shape[:dim], axis.size, *aval.shape[dim:]), aval.dtype, aval.weak_type, mark)
    along = checked_axes(axis.names) if axis.names else nothing
    return with_varying(found, varying(found) | along) if along else found
