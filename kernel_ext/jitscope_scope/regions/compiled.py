"""The compiled form of a region whose statements stay as they are: edits make one, which lives as long as the session or the program.

A region is traced when something that it reads is another than before, and compiled when the traced program is a new one; a later run
that finds all as it was traces nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Hashable, Iterator
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .descriptions import description
from .rectangles import are_apart, columns_of, put_back, rectangles
from .sources import sources


if TYPE_CHECKING:
    from .traced_arrays import Tracing

__all__ = [
    "Compiled",
    "GrowingList",
    "are_apart",
    "chosen_by",
    "columns_of",
    "first_carry",
    "is_part",
    "kinds",
    "put_back",
    "rectangles",
    "sizes",
    "sources",
    "traced_by",
]

MOST = 64
"""So many traced forms, and compiled programs, are kept; the oldest go first."""


def first_carry(library: Any, turn: Callable[[Any], Any], start: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a loop carries into its first turn: `start` in the shapes and types that a turn makes of it, and zeros for what turns alone make."""
    arrays, after = import_module(f"{library.__name__}.numpy"), library.eval_shape(turn, start)
    alike = lambda value, seen: arrays.broadcast_to(arrays.asarray(value, seen.dtype), seen.shape)
    zeros = lambda seen: arrays.zeros(seen.shape, seen.dtype)
    given, (kinds, form) = library.tree.leaves(start), library.tree.flatten(after[: len(start)])
    if len(given) != len(kinds):
        return library.tree.map(alike, start, after[: len(start)])  # which raises, and says where they differ
    first = library.tree.unflatten(form, [alike(v, k) for v, k in zip(given, kinds, strict=True)])
    return first + library.tree.map(zeros, after[len(start) :])


def chosen_by(library: Any) -> Callable[[Any, Any, Any], Any]:
    """What a branch on a value leaves behind: one of two values, which may be trees of arrays."""
    where = import_module(f"{library.__name__}.numpy").where
    return lambda test, yes, no: yes if yes is no else library.tree.map(lambda p, q: where(test, p, q), yes, no)


def is_part(view: Any, part: Any) -> bool:
    """Whether a view is this part of an array: its memory is the same, place by place."""
    kinds = [(v.__array_interface__["data"], v.shape, v.strides, v.dtype) for v in (view, part)]
    return kinds[0] == kinds[1]


def kinds(*values: Any) -> str:
    """Of which types values are, with the element types and the number of axes of arrays."""
    return ", ".join(map(_kind, values))


def _kind(value: Any) -> str:
    name = type(value).__name__
    if hasattr(value, "dtype") and hasattr(value, "ndim"):
        return f"{name} {value.dtype} {value.ndim}"
    if type(value) not in (list, tuple) or not value:
        return name
    same = {(v.dtype, v.shape) for v in value if hasattr(v, "dtype")} if hasattr(value[0], "dtype") else ()
    alike = f" {' '.join(map(str, *same))}" if len(same) == 1 else ""
    return f"{name} of {type(value[0]).__name__}{alike}"


def sizes(*values: Any) -> tuple[Any, ...]:
    """The shapes of arrays, the lengths of lists, and other values themselves."""
    return tuple(len(v) if isinstance(v, list) else getattr(v, "shape", v) for v in values)


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


class _Latest:
    """A region compiled by the library's own `jit`. Where that traces, it traces the function of the run that calls, whose objects are there;
    none is kept."""

    def __init__(self, jit: Callable[..., Any]) -> None:
        self.traces = 0
        self._function: FunctionType | None = None

        def latest(*given: Any) -> Any:
            assert self._function is not None
            self.traces += 1
            return self._function(*given)

        self._jitted = jit(latest)

    def lowered(self, function: FunctionType, given: tuple[Any, ...]) -> Any:
        """The program of the function."""
        with self._of(function):
            return self._jitted.lower(*given)

    def __call__(self, function: FunctionType, given: tuple[Any, ...]) -> Any:
        """What the program gives; the function is traced for kinds of arguments, and settings, that are new."""
        with self._of(function):
            return self._jitted(*given)

    @contextlib.contextmanager
    def _of(self, function: FunctionType) -> Iterator[None]:
        self._function = function
        try:
            yield
        finally:
            self._function = None


class Compiled:
    """Calls a region's function, which is made anew in each run. `arrays` says whose arrays it is of: "numpy", "jitscope", "jax",
    or "mixed with jitscope" and "mixed with jax". `traces` counts how often it was traced."""

    def __init__(self, arrays: str) -> None:
        self.arrays, self.traces = arrays, 0
        self._library = import_module("jax" if arrays.endswith("jax") else "jitscope")
        self._forms: dict[Hashable, _Latest] = {}
        self._others: dict[Hashable, Callable[..., Any]] = {}
        """Programs that were compiled for another reading of the same text."""
        self._programs: dict[str, Callable[..., Any]] = {}

    def __call__(
        self, function: FunctionType, given: tuple[Any, ...], places: Collection[tuple[object, object]]
    ) -> Any:
        """What the function gives for `given`. `places`, pairs of an object and an attribute, key or index in it, are those that are
        handed in or made: what is in them is not traced with."""
        if any("Tracer" in type(v).__name__ for v in self._library.tree.leaves(given)):
            return self._library.jit(function)(*given)
        with self._as_the_cell_has_it():
            now = description(function, places)
            form = self._forms.get(now) if now is not None else None
            if form is not None:
                return self._given_back(self._run(form, function, given, places, now))
            kinds = self._kinds(given)
            program = self._others.get((now, kinds)) if now is not None else None
            if program is not None:
                return self._given_back(program(*given))
            form = self._traced(function, given, kinds)
            known = now is not None and description(function, places) == now  # else tracing changed what it reads
            if isinstance(form, _Latest):
                if known:
                    _keep(self._forms, now, form)
                return self._given_back(form(function, given))
            if known:
                _keep(self._others, (now, kinds), form)
            return self._given_back(form(*given))

    def _run(
        self,
        form: _Latest,
        function: FunctionType,
        given: tuple[Any, ...],
        places: Collection[tuple[object, object]],
        now: Hashable,
    ) -> Any:
        """What a form gives that this function has been traced as, or one that reads the same."""
        before = form.traces
        results = form(function, given)
        if form.traces != before:
            self.traces += 1
            if description(function, places) != now:
                self._forms.pop(now, None)
        return results

    def _traced(self, function: FunctionType, given: tuple[Any, ...], kinds: Hashable) -> Any:
        """A new form; the compiled program where one of the same text is there."""
        self.traces += 1
        form = _Latest(self._library.jit)
        lowered = form.lowered(function, given)
        if self._library.__name__ != "jax" or self._library.config.jax_use_simplified_jaxpr_constants:
            # The text does not have its constants, and jitscope knows the programs that it compiled.
            return form
        text = f"{lowered.as_text()}{lowered.out_tree}{kinds}"
        if text in self._programs:
            return self._programs[text]
        _keep(self._programs, text, lowered.compile())
        return form

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
