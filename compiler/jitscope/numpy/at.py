"""x.at[index]: changes that give a new array."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..backend.array import Array, to_array
from ..core.avals import aval_of
from ..core.dtypes import is_extended, promote
from ..core.errors import TypePromotionError
from ..core.trace import Tracer, evaluating
from ..ops.indexing import GatherScatterMode
from ..ops.linear import full
from ._fused import compile_function, program_cache, remember
from ._index import Index, parse
from ._operands import checked
from .arithmetic import divide, power
from .indexing import opened, plain, read_eagerly
from .reading import read
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
    bounds) or "promise_in_bounds". `unique_indices` and `indices_are_sorted` are promises that save time. Values broadcast to the
    shape of x[index] and are converted to the array's dtype. Where an index stands twice, `add`, `multiply`, `min` and
    `max` apply both values, `set` one of them.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any):
        self.array, self.index = array, index

    def __repr__(self) -> str:
        return f"Place({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
    ) -> Any:
        """x[index]. In mode "fill", elements out of bounds are `fill_value` (None: NaN, or the dtype's extreme)."""
        how = {
            "mode": mode_of(mode, GatherScatterMode.PROMISE_IN_BOUNDS),
            "fill_value": fill_value,
            "unique_indices": unique_indices,
            "indices_are_sorted": indices_are_sorted,
        }
        x, aval = checked("at", self.array)
        index = parse(self.index, aval.shape)
        return read_eagerly(x, index, **how) if evaluating() and type(x) is Array else read(x, index, **how)

    def set(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] = values."""
        return self._update("set", values, indices_are_sorted, unique_indices, mode)

    def add(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] += values."""
        return self._update("add", values, indices_are_sorted, unique_indices, mode)

    def subtract(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] -= values."""
        return self._update("subtract", values, indices_are_sorted, unique_indices, mode)

    def multiply(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] *= values."""
        return self._update("multiply", values, indices_are_sorted, unique_indices, mode)

    mul = multiply

    def divide(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] /= values. The result has the dtype of x / values."""
        factors = (
            _ones(self.array, values)
            .at[self.index]
            .multiply(values, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode)
        )
        return divide(self.array, factors)

    def power(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] **= values."""
        exponents = (
            _ones(self.array, values)
            .at[self.index]
            .multiply(values, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode)
        )
        return power(self.array, exponents)

    def min(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] = minimum(x[index], values)."""
        return self._update("min", values, indices_are_sorted, unique_indices, mode)

    def max(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] = maximum(x[index], values)."""
        return self._update("max", values, indices_are_sorted, unique_indices, mode)

    def apply(
        self,
        func: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Any:
        """x[index] = func(x[index]); once, also where an index stands twice."""
        clip = GatherScatterMode.CLIP
        return self.set(
            func(self.get(mode=clip)), indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode
        )

    def _update(self, how: str, values: Any, ordered: bool, unique: bool, mode: Any) -> Any:
        x, aval = checked("at", self.array)
        values, given = checked(f"at[...].{how}", values)
        _check_dtype(how, aval, given)
        options = (how, mode_of(mode, GatherScatterMode.FILL_OR_DROP), bool(unique), bool(ordered))
        traced = not evaluating() or isinstance(x, Tracer) or isinstance(values, Tracer)
        if traced or is_extended(aval.dtype):  # keys are told apart operation by operation (debug_key_reuse)
            return updated(x, parse(self.index, aval.shape), values, *options)
        x, values = to_array(x), to_array(values)
        key = (x.aval, values.aval, plain(self.index), options)
        known = _known.get(key)
        if known is None:
            known = _program_for(x.aval, values.aval, parse(self.index, aval.shape), options)
            if key[2] is not None:
                remember(_known, key, known)
        run, bufs = known
        return run([x.buf, values.buf, *bufs])


_programs, _known = program_cache(), program_cache()


def _program_for(x: Any, values: Any, index: Index, options: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The program that writes at an index of that structure, and the buffers of the index's numbers and arrays."""
    structure, avals, bufs, again = opened(index)
    key = (x, values, structure, *avals, *options)
    run = _programs.get(key)
    if run is None:
        run = remember(
            _programs,
            key,
            compile_function(
                lambda x, values, *places: updated(x, again(places), values, *options),
                [x, values, *avals],
                f"at_{options[0]}",
            ),
        )
    return run, bufs


def _ones(x: Any, values: Any) -> Any:
    x, aval = checked("at", x)
    dtype, _ = promote((aval.dtype, aval.weak_type), *[(v.dtype, v.weak_type) for v in (aval_of(values),)])
    return full(aval.shape, 1, dtype)


def _check_dtype(how: str, aval: Any, given: Any) -> None:
    try:
        fits = promote((aval.dtype, aval.weak_type), (given.dtype, given.weak_type))[0] == aval.dtype
    except TypePromotionError:
        fits = False
    if not fits and (is_extended(aval.dtype) or is_extended(given.dtype)):
        raise TypeError(f"at[...].{how}: an array of {aval.dtype} takes no values of {given.dtype}")
    if not fits:
        warnings.warn(
            f"at[...].{how}: values of {given.dtype.name} are converted to the array's {aval.dtype.name}, which "
            "does not hold them all; this will be an error. Convert them with .astype(...)",
            FutureWarning,
            stacklevel=4,
        )
