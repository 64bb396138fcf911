"""x.at[index]: changes that give a new array."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..backend.array import Array, to_array
from ..backend.placement import laid
from ..core import notices
from ..core.annotations import Array as AnyArray, ArrayLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..core.config import settings
from ..core.dtypes import canonicalize, is_extended, promote
from ..core.errors import TypePromotionError
from ..core.trace import Tracer, evaluating
from ..eager.running import Programs, compile_function
from ..ops.elementwise import lt_p
from ..ops.indexing import GatherScatterMode
from ..ops.linear import convert, full, where
from ._index import ARRAY, Index, parse
from ._ufunc import kind_of
from .arithmetic import divide, power
from .creation import asarray
from .indexing import opened, plain, read_eagerly
from .operands import operand_and_aval, scalar_of
from .reading import from_front, read
from .updates import updated


_MODES = {
    None: None,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
}


def mode_of(mode: Any, default: GatherScatterMode) -> GatherScatterMode:
    """A mode by name. Raises ValueError for an unknown one."""
    if isinstance(mode, GatherScatterMode):
        return mode
    if mode not in _MODES:
        raise ValueError(f"mode is 'fill', 'drop', 'clip', 'promise_in_bounds' or None, not {mode!r}")
    return _MODES[mode] or default


class Update(Protocol):
    """`x.at[index].set`, and those of its like."""

    def __call__(
        self,
        values: ArrayLike,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
        out_sharding: Sharding | PartitionSpec | None = None,
        wrap_negative_indices: bool = True,
    ) -> AnyArray: ...


class At:
    """`x.at`: `x.at[index]` names the place of an update."""

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __getitem__(self, index: Any) -> Place:
        return Place(self.array, index)

    def __repr__(self) -> str:
        return f"At({self.array!r})"


class Place:
    """`x.at[index]`: its methods give a new array in which the elements there are changed.

    `mode` says what happens to indices out of bounds: "drop" (the default: they are left out), "clip" (the nearest in
    bounds) or "promise_in_bounds". With `wrap_negative_indices=False` negative ones are out of bounds, else they count
    from the end. `unique_indices` and `indices_are_sorted` are promises that save time. Values broadcast to the shape of
    x[index] and are converted to the array's dtype. Where an index stands twice, `add`, `subtract`, `multiply`, `divide`,
    `power`, `min`, `max` and `apply` do their work twice, `set` takes one of the values.
    """

    __slots__ = ("array", "index")

    if TYPE_CHECKING:  # what the table below holds cannot be seen by type checkers
        set: Update
        add: Update
        subtract: Update
        multiply: Update
        mul: Update
        divide: Update
        power: Update
        min: Update
        max: Update

    def __init__(self, array: Any, index: Any):
        self.array, self.index = array, index

    def __repr__(self) -> str:
        return f"Place({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
        fill_value: ArrayLike | None = None,
        out_sharding: Sharding | PartitionSpec | None = None,
        wrap_negative_indices: bool = True,
    ) -> AnyArray:
        """x[index]. In mode "fill", elements out of bounds are `fill_value` (None: NaN, or the dtype's extreme); by default
        such indices are moved into bounds."""
        how = {
            "mode": mode_of(mode, GatherScatterMode.PROMISE_IN_BOUNDS),
            "fill_value": fill_value,
            "unique_indices": unique_indices,
            "indices_are_sorted": indices_are_sorted,
        }
        if out_sharding is not None:
            how["mode"], how["wrap_negative_indices"] = mode, wrap_negative_indices
            return laid(out_sharding, lambda x, index: Place(x, index).get(**how), self.array, self.index)
        x, aval = operand_and_aval("at", self.array)
        strict = settings().check_static_indices and how["mode"] is GatherScatterMode.PROMISE_IN_BOUNDS
        index = parse(self.index if wrap_negative_indices else _unwrapped(self.index, how["mode"]), aval.shape, strict)
        whole = evaluating() and type(x) is Array
        return read_eagerly(x, index, **how) if whole else read(x, index, **how)

    def apply(
        self,
        func: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
        wrap_negative_indices: bool = True,
    ) -> AnyArray:
        """x[index] = func(x[index]), func being a function of one element that works on arrays, too.

        Where index arrays may name a place twice, func is traced on a scalar and applied as often; that has no derivative.
        Raises NotImplementedError there for a func that uses traced values from outside.
        """
        how = mode_of(mode, GatherScatterMode.FILL_OR_DROP)
        x, aval = operand_and_aval("at", self.array)
        index = self.index if wrap_negative_indices else _unwrapped(self.index, how)
        parsed = parse(index, aval.shape)
        options = (how, bool(unique_indices), bool(indices_are_sorted))
        arrays = any(item.kind == ARRAY for item in parsed.items)
        if (not unique_indices and _may_repeat(parsed)) if arrays else not evaluating():
            return updated(x, parsed, func, "apply", *options)
        place = Place(x, index)
        values = func(place.get(mode=GatherScatterMode.CLIP))
        return place.set(values, mode=mode, unique_indices=unique_indices, indices_are_sorted=indices_are_sorted)

    def _update(
        self, how: str, values: Any, ordered: bool, unique: bool, mode: Any, out_sharding: Any, wraps: bool
    ) -> Any:
        if out_sharding is not None:
            place = lambda x, index, v: Place(x, index)._update(how, v, ordered, unique, mode, None, wraps)
            return laid(out_sharding, place, self.array, self.index, values)
        if how in _THROUGH_ONES:
            return self._through_ones(how, values, ordered, unique, mode, wraps)
        x, aval = operand_and_aval("at", self.array)
        values, given = operand_and_aval(
            f"at[...].{how}", asarray(values) if isinstance(values, (list, tuple)) else values
        )
        _check_dtype(how, aval, given)
        if type(values) is int and values >> 31 and kind_of(x) == "u":
            values = scalar_of(values, aval.dtype, False)  # wider than the weak int32 that it would be
        options = (how, mode_of(mode, GatherScatterMode.FILL_OR_DROP), bool(unique), bool(ordered))
        index = self.index if wraps else _unwrapped(self.index, options[1])
        traced = not evaluating() or isinstance(x, Tracer) or isinstance(values, Tracer)
        if traced or is_extended(aval.dtype):  # keys are told apart operation by operation (debug_key_reuse)
            return updated(x, parse(index, aval.shape), values, *options)
        x, values = to_array(x), to_array(values)
        key = (x.aval, values.aval, plain(index), options, settings())
        known = None if notices.thorough_listeners else _known.get(key) or _known.again(key)
        if known is None:  # who listens hears of each index
            known = _program_for(x.aval, values.aval, parse(index, aval.shape), options)
            if key[2] is not None:
                _known.keep(key, known)
        run, bufs = known
        return run([x.buf, values.buf, *bufs])

    def _through_ones(self, how: str, values: Any, ordered: bool, unique: bool, mode: Any, wraps: bool) -> Any:
        """x / y or x ** y, where y is 1 but at the index; of several values for a place it is the product."""
        place = Place(_ones(self.array, values), self.index)
        return _THROUGH_ONES[how](self.array, place._update("multiply", values, ordered, unique, mode, None, wraps))


_THROUGH_ONES = {"divide": divide, "power": power}


def _method(name: str, doc: str) -> Any:
    def method(
        self: Place,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        return self._update(
            name, values, indices_are_sorted, unique_indices, mode, out_sharding, bool(wrap_negative_indices)
        )

    method.__name__, method.__qualname__, method.__doc__ = name, f"Place.{name}", doc
    return method


for _name, _doc in {
    "set": "x[index] = values.",
    "add": "x[index] += values.",
    "subtract": "x[index] -= values.",
    "multiply": "x[index] *= values.",
    "divide": "x[index] /= values. The result has the dtype of x / values.",
    "power": "x[index] **= values.",
    "min": "x[index] = minimum(x[index], values).",
    "max": "x[index] = maximum(x[index], values).",
}.items():
    setattr(Place, _name, _method(_name, _doc))
Place.mul = Place.multiply  # pyright: ignore[reportAttributeAccessIssue]


def _unwrapped(index: Any, mode: GatherScatterMode) -> Any:
    """An index whose negative numbers are out of bounds: above them all, or, where these are moved into bounds, 0."""
    drops = mode is GatherScatterMode.FILL_OR_DROP

    def part(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            x = np.asarray(x)
        if isinstance(x, (bool, np.bool_)):
            return x
        if isinstance(x, (int, np.integer)):
            return int(x) if x >= 0 else _FAR if drops else 0
        if not isinstance(x, (np.ndarray, Array, Tracer)) or kind_of(x) != "i":
            return x
        if isinstance(x, np.ndarray):
            return np.where(x < 0, _FAR if drops else 0, x)
        x = convert(x, np.dtype(np.int64 if x.dtype.itemsize == 8 else np.int32))
        number = lambda n: np.asarray(n, x.dtype)[()]
        return where(lt_p(x, number(0)), number(_FAR if drops else 0), x)

    return tuple(map(part, index)) if isinstance(index, tuple) else index if isinstance(index, list) else part(index)


_FAR = 2**31 - 1


def _may_repeat(index: Index) -> bool:
    """Whether the index arrays may name a place twice."""
    arrays = [item for item in index.items if item.kind == ARRAY]
    if not all(isinstance(item.value, np.ndarray) for item in arrays):
        return True
    # Negative indices and those from the front may name the same place.
    columns = np.broadcast_arrays(*[from_front(item.value, index.shape[item.axis]) for item in arrays])
    rows = np.stack([column.ravel() for column in columns], -1)
    return len(np.unique(rows, axis=0)) < len(rows)


_programs, _known = Programs(), Programs()


def _program_for(x: Any, values: Any, index: Index, options: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The program that writes at an index of that structure, and the buffers of the index's numbers and arrays."""
    structure, avals, bufs, again = opened(index)
    key = (x, values, settings(), structure, *avals, *options)
    run = _programs.get(key)
    if run is None:
        run = _programs.again(key) or _programs.keep(
            key,
            compile_function(
                lambda x, values, *places: updated(x, again(places), values, *options),
                [x, values, *avals],
                f"at_{options[0]}",
            ),
        )
    return run, bufs


def _ones(x: Any, values: Any) -> Any:
    x, aval = operand_and_aval("at", x)
    dtype, _ = promote((aval.dtype, aval.weak_type), *[(v.dtype, v.weak_type) for v in (aval_of(values),)])
    return full(aval.shape, 1, dtype)


def _check_dtype(how: str, aval: Any, given: Any) -> None:
    """Raises as promotion does. (The first words of the warning are JAX's, by which programs filter it.)"""
    try:
        both = promote((aval.dtype, aval.weak_type), (given.dtype, given.weak_type))[0]
        fits = both == canonicalize(aval.dtype)
    except TypePromotionError:
        if not (is_extended(aval.dtype) or is_extended(given.dtype)):
            raise
        raise TypeError(f"at[...].{how}: an array of {aval.dtype} takes no values of {given.dtype}") from None
    if not fits:
        warnings.warn(
            f"scatter inputs have incompatible types: at[...].{how}: values of {given.dtype.name} are converted to the "
            f"array's {aval.dtype.name}, which does not hold them all; this will be an error. Convert them with .astype(...)",
            FutureWarning,
            stacklevel=4,
        )
