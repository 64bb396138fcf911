"""What `jit` was told of layouts: `in_shardings` and `out_shardings`, for the arguments of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import tree
from ..core.annotations import Arguments, TracedStage, TraceEntry
from ..core.avals import aval_of
from ..core.formats import Format
from ..core.resharding import typed_as
from ..core.shardings import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from ..xla import client
from .array import Array, array_on, is_put, sharding_of, to_array
from .constraint import constrained, resharded
from .input_layouts import ArrayInLayout
from .spreading import moved_to, place_of, requested_sharding


class Shardings:
    """`ins` and `outs` as they were given: a sharding, a spec for the mesh in force, None (nothing is said), or a tree of
    those that is a prefix of the arguments (the result)."""

    def __init__(self, ins: Any, outs: Any):
        self.ins, self.outs = ins, outs
        leaves = [*tree.leaves(ins), *tree.leaves(outs)]
        for x in leaves:
            if not isinstance(x, (Sharding, PartitionSpec, Format)) and not client.is_device(x):
                raise TypeError(
                    f"in_shardings and out_shardings are shardings, PartitionSpecs, Formats, None, or trees of those, not {x!r}"
                )
        self.key = (tuple(leaves), str(tree.structure(ins)), str(tree.structure(outs)))
        self._leaves = leaves

    def place(self) -> Any:
        """Where programs with these layouts run; None where that is not said."""
        for x in map(requested_sharding, map(_where, self._leaves)):
            if isinstance(x, NamedSharding):
                return place_of(x.mesh)
            if isinstance(x, SingleDeviceSharding):
                return x._device
        return None

    def wanted(self, arguments: Arguments) -> list[Any]:
        """The layouts of the arguments; None where nothing is said."""
        return list(map(_asked, self._of_arguments(arguments)))

    def layouts(self, arguments: Arguments) -> list[Any] | None:
        """In which order the axes of the arguments are to lie in memory; None where nothing at all is said."""
        if not any(isinstance(x, Format) for x in tree.leaves(self.ins)):
            return None
        return list(map(_order, self._of_arguments(arguments)))

    def layouts_of_results(self, traced: TraceEntry) -> list[Any] | None:
        """The same of the results."""
        if not any(isinstance(x, Format) for x in tree.leaves(self.outs)):
            return None
        return list(map(_order, tree.broadcast_prefix(self.outs, traced.out_tree, "out_shardings")))

    def _of_arguments(self, arguments: Arguments) -> list[Any]:
        args, kwargs = arguments.dynamic
        if kwargs and tree.leaves(self.ins):
            raise ValueError("jit with in_shardings takes no arguments by name: pass them by position")
        given = self.ins
        if isinstance(given, (tuple, list)) and arguments.statics.positions:
            given = (
                tuple(x for i, x in enumerate(given) if i not in arguments.statics.positions)
                if len(given) > len(args)
                else given
            )
        flat = tree.broadcast_prefix(given, tree.structure(args), "in_shardings")
        return [*flat, *[None] * (len(arguments.leaves) - len(flat))]

    def arguments(self, arguments: Arguments, place: Any) -> list[Array]:
        """The arguments as arrays where they are asked for. Raises ValueError for those that the user put elsewhere."""
        found = []
        for name, x, sharding in zip(arguments.names(), arguments.leaves, self.wanted(arguments)):
            array = x.as_it_lies() if type(x) is ArrayInLayout and _stays(x, sharding) else to_array(x)
            if sharding is None:
                found.append(array if array.place is place or not client.is_device(place) else array_on(array, place))
                continue
            stays = is_put(array.buf)
            if stays and not _cut_alike(sharding, sharding_of(array.buf), array.shape):
                raise ValueError(
                    f"argument {name} lies otherwise than in_shardings says: {sharding_of(array.buf)}, not {sharding}. What to do: "
                    "move it with device_put(x, sharding), or leave the place in in_shardings None"
                )
            found.append(moved_to(array, sharding))
        return found

    def results(self, traced: TraceEntry | TracedStage) -> list[Any]:
        """The layouts of the results; None where XLA chooses."""
        return list(map(_asked, tree.broadcast_prefix(self.outs, traced.out_tree, "out_shardings")))

    def typed_results(self, out_tree: Any, leaves: Sequence[Any]) -> list[Any]:
        """The results of the function, whose types say that they lie along Explicit axes as asked."""
        asked = map(_asked, tree.broadcast_prefix(self.outs, out_tree, "out_shardings"))
        return [resharded(x, s) if _says_otherwise(x, s) else x for x, s in zip(leaves, asked)]

    def constrained(self, arguments: Arguments) -> list[Any]:
        """The arguments of a call inside a trace, laid out as asked."""
        return [x if s is None else constrained(x, s) for x, s in zip(arguments.leaves, self.wanted(arguments))]

    def constrained_results(self, traced: TraceEntry, outs: Sequence[Any]) -> list[Any]:
        return [x if s is None else constrained(x, s) for x, s in zip(outs, self.results(traced))]


def _cut_alike(one: Any, other: Any, shape: Sequence[int]) -> bool:
    """Whether both cut an array into the same parts, on whatever devices."""
    if one.is_equivalent_to(other, len(shape)):
        return True
    if any(isinstance(s, NamedSharding) and s.spec.unreduced for s in (one, other)):
        return False
    if one.is_fully_replicated or other.is_fully_replicated:
        return one.is_fully_replicated and other.is_fully_replicated
    parts, others = (list(s.devices_indices_map(tuple(shape)).values()) for s in (one, other))
    return parts == others


def _says_otherwise(x: Any, asked: Any) -> bool:
    aval = aval_of(x)
    explicit = isinstance(asked, NamedSharding) and asked.mesh.explicit_axes and len(asked.spec) <= aval.ndim
    return bool(explicit) and typed_as(aval, asked) is not aval


def _stays(x: Any, sharding: Any) -> bool:
    return sharding is None or sharding.is_equivalent_to(x.sharding, x.ndim)


def _order(x: Any) -> Any:
    return x.layout if isinstance(x, Format) else None


def _where(x: Any) -> Any:
    return x.sharding if isinstance(x, Format) else x


def _asked(x: Any) -> Any:
    x = requested_sharding(_where(x))
    return SingleDeviceSharding(x) if client.is_device(x) else x
