"""Arrays whose axes lie in memory in another order than row by row, and programs that take or give such ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..control.discharge import uses_refs
from ..core.annotations import Arguments, Shardings, TraceEntry
from ..core.avals import ShapedArray, physical
from ..core.formats import Format, Layout
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.staging import trace_to_jaxpr
from ..named_tuple import NamedTuple
from ..xla import client
from ..xla.spread import Spread, called
from .array import Array, Shard, is_put, sharding_of, shards_of, stays
from .caches import CacheEntry
from .compile import Program, compile_jaxpr


class Orders(NamedTuple):
    """How a program takes its arguments and gives its results: for each a Layout, Layout.AUTO, or None (row by row)."""

    ins: tuple[Any, ...]
    outs: tuple[Any, ...]

    def taking(self, hidden: int, kept: Sequence[int]) -> Orders:
        """The same for a program of captured arrays and some of the arguments."""
        return Orders((*[None] * hidden, *[self.ins[i] for i in kept]), self.outs)


class ArrayInLayout(Array):
    """An array whose axes lie in another order: `memory` is its buffer, `layout` the order. What knows nothing of orders gets `buf`, a
    copy row by row, which is made when it is first asked for."""

    __slots__ = ("_rows", "layout", "memory")

    def __init__(self, memory: Any, aval: ShapedArray, layout: Layout):
        self.memory = memory  # pyright: ignore[reportAttributeAccessIssue]
        self.aval, self.layout, self._rows = aval, layout, None

    @property
    def buf(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._rows is None or client.is_deleted(self.memory):
            rows = Array(reordered(self.memory, physical(self.aval), None), self.aval)
            self._rows = (stays(rows) if is_put(self.memory) else rows).buf
        return self._rows

    def as_it_lies(self) -> Array:
        """The array over its memory, for who knows of the order."""
        return Array(self.memory, self.aval)

    def __array__(self, dtype: Any = None, context: Any = None, copy: bool | None = None) -> np.ndarray:
        by_strides = self.aval.dtype.isbuiltin == 1 and not (self.layout.tiling or client.is_spread(self.memory))
        if not by_strides:
            return Array(self.buf, self.aval).__array__(dtype, context, copy)
        order = self.layout.major_to_minor
        rows = self.as_it_lies().__array__()  # in the order of memory, whatever its shape says
        value = rows.reshape([self.aval.shape[i] for i in order]).transpose(np.argsort(order))
        if dtype is not None and np.dtype(dtype) != value.dtype:
            return value.astype(dtype)
        return value.copy() if copy else value

    def __buffer__(self, flags: int, /) -> memoryview:
        return memoryview(self.__array__())

    def called(self, at: Any) -> ArrayInLayout:
        """The array, known by another placement on its device."""
        return ArrayInLayout(client.called(self.memory, at), self.aval, self.layout)

    place = property(lambda self: client.device_of(self.memory))
    sharding = property(lambda self: sharding_of(self.memory))
    format = property(lambda self: Format(self.layout, self.sharding))
    global_shards = property(lambda self: self._shards())
    addressable_shards = property(lambda self: [s for s in self._shards() if s.data is not None])

    def _shards(self) -> list[Shard]:
        found = shards_of(self.as_it_lies())
        for shard in found:
            if shard.data is not None:
                shard.data = ArrayInLayout(shard.data.buf, shard.data.aval, self.layout)
        return found

    def on_device_size_in_bytes(self) -> int:
        return client.nbytes(self.memory)

    def is_deleted(self) -> bool:
        return client.is_deleted(self.memory)

    def delete(self) -> None:
        client.delete(self.memory)
        self._rows = None

    def is_ready(self) -> bool:
        return client.is_ready(self.memory)

    def block_until_ready(self) -> Array:
        client.block_until_ready([self.memory])
        return self

    def unsafe_buffer_pointer(self) -> int:
        return client.pointer(self.memory)


def with_layout(array: Array, layout: Layout) -> Array:
    """The array over memory of that layout."""
    return array if layout.is_default else ArrayInLayout(array.buf, array.aval, layout)


# Moving --------------------------------------------------------------------------------------------------------------


def reordered(buf: Any, aval: ShapedArray, layout: Any) -> Any:
    """A buffer of the same values in another order (None: row by row), where it lies."""
    at, place = buf._sharding, client.device_of(buf)
    if client.is_spread(buf):
        place = Spread(place, (at,), (at,), at.said.mesh if at.said is not None else place.mesh, None)
    closed = _identity(aval.shape, aval.dtype)
    orders = Orders((layout_of(buf),), (layout,))
    program = compile_jaxpr(closed, (), place, orders=orders)
    return called(program.run([buf])[0].buf, at)


@lru_cache(256)
def _identity(shape: tuple[int, ...], dtype: Any) -> ClosedJaxpr:
    return trace_to_jaxpr(lambda x: [x], [ShapedArray(shape, dtype)], DebugInfo("reordered"))


def layout_of(buf: Any) -> Layout:
    """The order of a buffer. Raises DeletedArrayError."""
    return Layout(*client.layout_of(buf))


def in_order(array: Array, layout: Layout, always: bool = False) -> Array:
    """An array, whatever its order, in this one; `always` a copy."""
    if not always and _same(layout_of(array.memory), layout):
        return array
    buf = array.buf if layout.is_default else reordered(array.memory, physical(array.aval), layout)
    return with_layout(Array(buf, array.aval), layout_of(buf))


def _same(one: Layout, other: Layout) -> bool:
    return one.major_to_minor == other.major_to_minor and (one.tiling or ()) == (other.tiling or ())


# Programs ------------------------------------------------------------------------------------------------------------


def orders_asked(shardings: Shardings | None, arguments: Arguments) -> tuple[Any, ...] | None:
    """The orders in which a program is to take its arguments: as `in_shardings` say, else as they lie; None where all is as usual.
    Raises ValueError for orders of other ranks, and for arrays that the user put in another."""
    wanted = None if shardings is None else shardings.layouts(arguments)
    leaves = arguments.leaves
    if wanted is None and not any(map(_said_by, leaves)):
        return None
    wanted = wanted or [None] * len(leaves)
    return tuple(_asked(x, w, name) for x, w, name in zip(leaves, wanted, arguments.names()))


def _said_by(x: Any) -> Any:
    """The order that an argument says by itself."""
    if type(x) is ArrayInLayout:
        return x.layout
    layout = None if isinstance(x, Array) else getattr(x, "layout", None)  # of a ShapeDtypeStruct
    return layout if isinstance(layout, Layout) else None


def _asked(x: Any, wanted: Any, name: str) -> Any:
    own = _said_by(x)
    if wanted is None or wanted is Layout.AUTO:
        return own if wanted is None else wanted
    wanted.check(np.shape(x), f"argument {name}")
    put = own is not None or (isinstance(x, Array) and is_put(x.memory))
    if put and not _same(own or Layout(range(len(wanted.major_to_minor))), wanted):
        raise ValueError(
            f"argument {name} lies in memory as {x.format.layout}, and in_shardings says {wanted}. What to do: "
            "jitscope.device_put(x, Format(layout, x.sharding)) before, or leave the layout out"
        )
    return wanted


def as_they_lie(leaves: Sequence[Any]) -> list[Any]:
    """The arguments of a call, of arranged ones the memory."""
    return [x.as_it_lies() if type(x) is ArrayInLayout else x for x in leaves]


def orders_of(traced: TraceEntry, ins: tuple[Any, ...] | None, shardings: Shardings | None) -> Orders | None:
    """The orders of a program; None where all are the usual ones. Results that a layout constraint gives are as XLA makes them."""
    from ..control.layout_constraint import layout_constraint_p

    jaxpr = traced.closed.jaxpr
    outs = None if shardings is None else shardings.layouts_of_results(traced)
    told = {v for e in jaxpr.eqns if e.primitive is layout_constraint_p for v in e.outvars}
    if ins is None and outs is None and not told:
        return None
    if uses_refs(jaxpr):
        raise NotImplementedError(
            f"{jaxpr.debug.name} reads or writes references: its arguments and results lie row by row. What to do: leave the Formats out, "
            "and pass jitscope.numpy.array(x) of an array in another order"
        )
    for i, (layout, var) in enumerate(zip(outs or (), jaxpr.outvars)):
        if isinstance(layout, Layout):
            layout.check(physical(var.aval).shape, f"result {i} of {jaxpr.debug.name}")
    found = [
        Layout.AUTO if w is None and v in told else w
        for w, v in zip(outs or [None] * len(jaxpr.outvars), jaxpr.outvars)
    ]
    return Orders(ins or (None,) * len(jaxpr.invars), tuple(found))


class LaidOutEntry(CacheEntry):
    """What a key answers with whose program takes or gives arrays in orders of their own."""

    __slots__ = ()

    def reordered(self, places: Sequence[int]) -> CacheEntry:
        ready = LaidOutEntry(self.program, self.out_tree, places)
        ready.tally = self.tally
        return ready

    def run(self, bufs: Sequence[Any]) -> Any:
        self.tally.calls += 1
        bufs = bufs if self.places is None else [bufs[i] for i in self.places]
        outs = run(self.program, bufs)
        return outs[0] if self.single is not None else self.out_tree.unflatten(outs)


def check_orders(program: Program, leaves: Sequence[Any], name: str, paths: Sequence[str]) -> None:
    """Raises ValueError for arrays that the user put in another order than a compiled program takes."""
    orders = program.executable.orders()[0] if program.orders or any(type(x) is ArrayInLayout for x in leaves) else ()
    for i, order in zip(program.kept, orders[len(program.hidden) :]):
        x, taken = leaves[i], Layout(*order)
        put = type(x) is ArrayInLayout or (type(x) is Array and is_put(x.buf))
        if put and not _same(x.format.layout, taken):
            raise ValueError(
                f"{name} was compiled for {paths[i]} that lies in memory as {taken}; it lies as {x.format.layout}. What to do: "
                "jitscope.device_put(x, compiled.input_formats[0][i])"
            )


def run(program: Program, bufs: Sequence[Any]) -> list[Any]:
    """The results of a program with orders, for buffers in any."""
    given = list(bufs)
    if program.orders is None:
        return program.run(given)
    taken, made, asked = program.orders
    for i, order in zip(program.kept, taken[len(program.hidden) :]):
        given[i] = taken_so(given[i], Layout(*order))
    outs = program.run(given)
    return [_result(x, Layout(*order), wanted) for x, order, wanted in zip(outs, made, asked)]


def taken_so(buf: Any, layout: Layout | None = None) -> Any:
    """A buffer in this order, whatever its own is (None: row by row)."""
    if _same(layout_of(buf), layout or Layout(range(len(buf.aval.shape)))):
        return buf
    return reordered(buf, ShapedArray(buf.aval.shape, np.dtype(buf.aval.dtype)), layout)


def seen_in_rows(run: Callable[[Any], Any], program: Program) -> Callable[[Any], Any]:
    """What looks at the arguments of a program and runs it, for arguments in any order."""
    return run if program.orders is None else lambda bufs: run(list(map(taken_so, bufs)))


def _result(x: Any, made: Layout, asked: Any) -> Any:
    """A result in the order asked for. (XLA gives an argument that is a result, too, in its own.)"""
    if type(x) is not Array:
        return x
    x = with_layout(x, made)
    return in_order(x, asked) if isinstance(asked, Layout) else x
