"""The compiled form of a region whose statements stay as they are: edits make one, which lives as long as the session or the program.

A region is traced when something that it reads is another than before, and compiled when the traced program is a new one; a later run
that finds all as it was traces nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Hashable
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .descriptions import description


if TYPE_CHECKING:
    from .traced_arrays import Tracing


MOST = 64
"""So many traced forms, and compiled programs, are kept; the oldest go first."""


def is_part(view: Any, part: Any) -> bool:
    """Whether a view is this part of an array: its memory is the same, place by place."""
    kinds = [(v.__array_interface__["data"], v.shape, v.strides, v.dtype) for v in (view, part)]
    return kinds[0] == kinds[1]


class GrowingList:
    """Stands for a list while a turn that appends to it is traced: it takes elements, and is not to be read."""

    def __init__(self) -> None:
        self._elements: list[object] = []

    def append(self, value: object) -> None:
        """Takes an element."""
        self._elements.append(value)

    def taken(self) -> tuple[object, ...]:
        """The elements."""
        return tuple(self._elements)

    def __getattr__(self, name: str) -> Any:
        raise ReadWhileItGrows(f"`.{name}` of a list is used while what is called appends to the list")

    def _read(self, *_: Any) -> Any:
        raise ReadWhileItGrows("a list is read while what is called appends to it")

    __len__ = __getitem__ = __setitem__ = __iter__ = __contains__ = __bool__ = __add__ = __iadd__ = _read


class ReadWhileItGrows(TypeError):
    """Raised where a list is read that a compiled loop appends to."""


class Compiled:
    """Calls a region's function, which is made anew in each run. `arrays` says whose arrays it is of: "numpy", "jitscope", "jax",
    or "mixed with jitscope" and "mixed with jax". `traces` counts how often it was traced."""

    def __init__(self, arrays: str) -> None:
        self.arrays, self.traces = arrays, 0
        self._library = import_module("jax" if arrays.endswith("jax") else "jitscope")
        self._forms: dict[Hashable, Callable[..., Any]] = {}
        self._programs: dict[str, Callable[..., Any]] = {}

    def __call__(
        self, function: FunctionType, given: tuple[Any, ...], places: Collection[tuple[object, object]]
    ) -> Any:
        """What the function gives for `given`. `places`, pairs of an object and an attribute, key or index in it, are those that are
        handed in or made: what is in them is not traced with."""
        if any("Tracer" in type(v).__name__ for v in self._library.tree.leaves(given)):
            return self._library.jit(function)(*given)
        with self._as_the_cell_has_it():
            kinds = self._kinds(given)
            now = description(function, places)
            form = self._forms.get((now, kinds)) if now is not None else None
            if form is None:
                form = self._traced(function, given)
                if now is not None and description(function, places) == now:  # else tracing changed what it reads
                    _keep(self._forms, (now, kinds), form)
            return self._given_back(form(*given))

    def _traced(self, function: FunctionType, given: tuple[Any, ...]) -> Callable[..., Any]:
        self.traces += 1
        lowered = self._library.jit(function).lower(*given)
        if self._library.__name__ != "jax" or self._library.config.jax_use_simplified_jaxpr_constants:
            # The text does not have its constants, and jitscope knows the programs that it compiled.
            return lowered.compile()
        text = f"{lowered.as_text()}{lowered.out_tree}{self._kinds(given)}"
        if text not in self._programs:
            _keep(self._programs, text, lowered.compile())
        return self._programs[text]

    def _kinds(self, given: tuple[Any, ...]) -> Hashable:
        """Shapes and types of what is handed in, and the settings in force."""
        leaves, tree = self._library.tree.flatten(given)
        kinds = tuple(
            (
                type(v),
                getattr(v, "dtype", None),
                getattr(v, "shape", ()),
                getattr(v, "weak_type", None),
                getattr(v, "sharding", None),
            )
            for v in leaves
        )
        config = self._library.config
        return kinds, tree, tuple(getattr(config, n, None) for n in config.values)

    def _as_the_cell_has_it(self) -> contextlib.AbstractContextManager[None]:
        """64 bits, and traced arrays that follow NumPy's protocols, where the cell's arrays are NumPy's."""
        if self.arrays in ("jitscope", "jax"):
            return contextlib.nullcontext()
        return traced_by(self._library.__name__).numpy_traced()

    def _given_back(self, results: Any) -> Any:
        if self.arrays in ("jitscope", "jax"):
            return results
        return traced_by(self._library.__name__).values_of(results, mixed=self.arrays != "numpy")


def traced_by(library: str) -> Tracing:
    """What stands for NumPy's arrays while the library traces."""
    from . import traced_arrays

    return traced_arrays.traced_by(library)


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    while len(kept) >= MOST:
        del kept[next(iter(kept))]
    kept[key] = value
