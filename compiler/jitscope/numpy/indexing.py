"""Reading elements: x[index] in all of NumPy's forms.

Outside any trace, numbers and the starts of slices are operands: a[0] and a[1], or a[i:i + n] for every i, share a program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend.array import Array, one_device, to_array
from ..backend.placement import beside
from ..core import notices
from ..core.avals import aval_of
from ..core.config import settings
from ..core.dtypes import is_extended
from ..core.forgetful_caches import RecencyCache
from ..core.trace import evaluating
from ..eager.running import Programs, Run, compile_function
from ..xla import client
from ._index import INT, NEW, SLICE, Index, Item, parse
from .operands import check_whole
from .reading import narrowed, read


def getitem(self: Any, idx: Any, /) -> Any:
    """x[index]. Integers out of bounds are moved into bounds; with the option check_static_indices they raise IndexError.

    Raises IndexError for too many parts and for an integer index of an axis of size 0, TypeError for parts that are not
    index (lists among them), NonConcreteBooleanIndexError for traced masks.
    """
    x, index = self, idx
    if settings().check_static_indices:
        parse(index, aval_of(x).shape, strict=True)
    if not evaluating() or type(x) is not Array or is_extended(x.aval.dtype):
        return read(x, parse(index, aval_of(x).shape))
    if notices.thorough_listeners:
        return read(x, parse(index, x.aval.shape))
    if type(index) is int and x.aval.shape:
        return _element(x, index)
    if isinstance(index, (Array, np.ndarray)) and index.dtype == np.bool_ and index.ndim:
        parse(index, x.aval.shape)
        check_whole("getitem", x.aval, range(index.ndim))
        if one_device() or not client.is_spread(x.buf):
            return beside(x, np.asarray(x)[np.asarray(index)], x.aval.weak_type)
        return getitem(x, np.nonzero(np.asarray(index)))
    key = (x.aval, plain(index), settings())
    if not one_device() and client.is_spread(x.buf) and (apart := _gathered(x, index)) is not None:
        return apart
    known = _known.get(key)
    if known is None:
        index = parse(index, x.aval.shape)
        if key[1] is None:
            return read_eagerly(x, index)
        known = _known.again(key) or _known.keep(key, program_for(x.aval, index, {}))
    run, bufs = known
    return run([x.buf, *bufs])


def _gathered(x: Array, index: Any) -> Any:
    """What strided slices of an array over several devices give, gathered as JAX does there; None where there are none."""
    parts = [part for part in (index if type(index) is tuple else (index,)) if isinstance(part, slice)]
    if all(part.step in (None, 1) for part in parts):
        return None
    found = parse(index, x.aval.shape)
    shape, items = list(found.shape), list(found.items)
    for i, item in enumerate(items):
        if item.kind == SLICE and item.value[2] != 1 and item.value[1] < shape[item.axis]:
            start, size, step = item.value
            x = getitem(x, (*[slice(None)] * item.axis, np.arange(start, start + size * step, step)))
            shape[item.axis], items[i] = size, Item(SLICE, item.axis, (0, size, 1))
    return (
        None if shape == list(found.shape) else read_eagerly(x, found._replace(items=tuple(items), shape=tuple(shape)))
    )


# Outside any trace ---------------------------------------------------------------------------------------------------

_programs = Programs()
_known = Programs()
_numbers = RecencyCache(1 << 14)


def number_buffer(i: int) -> Any:
    """The buffer of a small integer, kept for the next time."""
    buf = _numbers.get(i)
    if buf is None:
        buf = _numbers.again(i)
        if buf is None:
            buf = _numbers.keep(i, client.put(np.asarray(i, np.int32)))
    return buf


def _element(x: Array, i: int) -> Any:
    aval = x.aval
    size = aval.shape[0]
    if size == 0:
        raise IndexError(f"index {i} is out of bounds for axis 0, which has size 0")
    i = min(max(i + size if i < 0 else i, 0), size - 1)
    return _elements[aval, settings()]([x.buf, number_buffer(i)])


def _element_program(aval: Any, options: Any) -> Run:
    def element(x: Any, i: Any) -> Any:
        return read(x, Index((Item(INT, 0, i), *_rest(aval.shape, 1)), aval.shape, (), 0))

    return compile_function(element, [aval, _INDEX], "getitem")


_elements = Programs(_element_program)
_INDEX = aval_of(np.int32(0))


def _rest(shape: tuple[int, ...], first: int) -> list[Item]:
    return [Item(SLICE, axis, (0, shape[axis], 1)) for axis in range(first, len(shape))]


def opened(index: Index) -> tuple[tuple, list[Any], list[Any], Callable[[Sequence[Any]], Index]]:
    """An index of concrete values as its structure, the avals and buffers of its numbers and arrays, and the way back:
    from tracers of these to an index. Starts of slices with step 1 are among the numbers."""
    avals: list[Any] = []
    bufs: list[Any] = []
    structure: list[Any] = []

    def operand(aval: Any, buf: Any) -> None:
        avals.append(aval)
        bufs.append(buf)

    for item in index.items:
        kept: Any = None
        if item.kind == INT:
            operand(_INDEX, number_buffer(item.value))
        elif item.kind == SLICE and item.value[2] == 1 and 0 < item.value[1] < index.shape[item.axis]:
            kept = item.value[1]
            operand(_INDEX, number_buffer(item.value[0]))
        elif item.kind == SLICE:
            kept = item.value
        elif item.kind != NEW:
            array = to_array(narrowed(item.value) if isinstance(item.value, np.ndarray) else item.value)
            operand(array.aval, array.buf)
        structure.append((item.kind, item.axis, kept, item.clipped))

    def again(values: Sequence[Any]) -> Index:
        given = iter(values)
        items = []
        for kind, axis, kept, clipped in structure:
            if kind == INT:
                items.append(Item(INT, axis, next(given), clipped))
            elif kind == SLICE:
                items.append(Item(SLICE, axis, (next(given), kept, 1) if isinstance(kept, int) else kept))
            else:
                items.append(Item(kind, axis, None if kind == NEW else next(given)))
        return Index(tuple(items), *index[1:])

    return (tuple(structure), *index[1:]), avals, bufs, again


def plain(index: Any) -> Any:
    """An index of numbers and slices as a key; None for others."""
    if type(index) is tuple:
        parts = tuple([plain(part) for part in index])
        return None if None in parts else parts
    if type(index) is slice:
        bounds = (index.start, index.stop, index.step)
        return bounds if all(b is None or type(b) is int for b in bounds) else None
    return index if type(index) is int or index is Ellipsis else "new" if index is None else None


def program_for(aval: Any, index: Index, options: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The program that reads at an index of that structure, and the buffers of the index's numbers and arrays."""
    if aval.mark is not None:  # how a part would lie that a program for any start reads
        check_whole(
            "getitem", aval, [i.axis for i in index.items if i.kind == SLICE and i.value[1] != index.shape[i.axis]]
        )
    structure, avals, bufs, again = opened(index)
    key = (aval, settings(), structure, *avals, *options.items())
    run = _programs.get(key)
    if run is None:
        run = _programs.again(key) or _programs.keep(
            key,
            compile_function(lambda x, *values: read(x, again(values), **options), [aval, *avals], "getitem"),
        )
    return run, bufs


def read_eagerly(x: Array, index: Index, **options: Any) -> Any:
    """The elements at an index, by a program for its structure."""
    run, bufs = program_for(x.aval, index, options)
    return run([x.buf, *bufs])
