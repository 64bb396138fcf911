"""Arrays of NumPy while plain NumPy code is traced: they follow NumPy's protocols, hold a traced value, and are stored into in place.

Edits of regions with objects and containers use it, and those where NumPy's arrays stand among jitscope's or jax's: `Tracing` is of the library
that compiles. `numpy_traced` lets `np.zeros` and such make traced arrays in a notebook's own code, `lifted` hands values in, `values_of` gives
NumPy's back."""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import words


_VIEWS = frozenset("reshape ravel transpose squeeze swapaxes diagonal".split())
_MAKERS = (
    "array", "asarray", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "eye",
    "identity",
)  # fmt: skip
_OF_UPDATES = frozenset("set add get multiply mul apply power divide".split())
"""Methods that `x.at[…]` has, and not the array."""
_ROWS = 64
"""Python's loops over the rows of a traced array are written out up to this many."""


class ReadByPython(TypeError):
    """Raised where Python asks for the value of a traced array."""


class StoredUnderABranch(TypeError):
    """Raised where a form writes a store as a new array (`.at`), as it does under branches that values decide: this array is stored into
    in place."""


class TracedArray(NDArrayOperatorsMixin):
    """A traced array. A view reads from its base each time, and stores into it."""

    __array_priority__ = 1000
    by: ClassVar[Tracing]
    """Of which library the traced value is."""

    def __init__(
        self, value: Any, base: TracedArray | None = None, view: Callable[[Any], Any] | None = None, index: Any = None
    ) -> None:
        self._value, self._base, self._view, self._index = value, base, view, index
        self.writes = 0
        """How often it, or a view of it, was stored into."""

    @property
    def value(self) -> Any:
        """The traced value now."""
        if self._base is None or self._view is None:
            return self._value
        with self.by.library.enable_x64(True):
            return self._view(self._base.value)

    @property
    def root(self) -> TracedArray:
        """The array that owns the memory."""
        return self if self._base is None else self._base.root

    def put(self, new: Any) -> None:
        """Stores a whole array, as `x[...] = new` does."""
        dtype, shape = self.value.dtype, self.value.shape
        if not np.can_cast(self.by.numpy.asarray(new).dtype, dtype, "same_kind"):
            raise TypeError(f"{self.by.numpy.asarray(new).dtype} is not stored into {dtype}")
        new = self.by.numpy.broadcast_to(self.by.numpy.asarray(new, dtype), shape)
        self.root.writes += 1
        if self._base is None:
            self._value = new
        elif self._index is None:
            raise TypeError("a view that is no slice is stored into")
        else:
            self._base.put(self._base.value.at[self._index].set(new))

    def _new(self, *given: Any) -> TracedArray:
        return type(self)(*given)

    def __jax_array__(self) -> Any:
        """What the library's functions take in its place: as of an array of NumPy, without the bits that are off."""
        narrow = self.by.numpy.asarray(np.empty(0, self.value.dtype)).dtype
        return self.value if narrow == self.value.dtype else self.value.astype(narrow)

    __jitscope_array__ = __jax_array__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        if method not in ("__call__", "reduce") or options.keys() - {"axis", "keepdims", "dtype"}:
            raise TypeError(f"`{ufunc.__name__}.{method}` has no compiled counterpart")
        name = words.counterpart(ufunc)
        function = getattr(self.by.numpy, name, None) if name else None
        if function is None:
            raise TypeError(f"`{ufunc.__name__}` has no compiled counterpart")
        given = [_lowered(x) for x in (_as_numpy_takes(ufunc, inputs) if method == "__call__" else inputs)]
        result = function(*given) if method == "__call__" else function.reduce(*given, **options)
        if out is None:
            return tuple(map(self._new, result)) if isinstance(result, tuple) else self._new(result)
        target = out[0]
        if not isinstance(target, TracedArray):
            raise TypeError("a traced value is stored into an array that is not")
        if target.ndim == 0:
            return self._new(result)
        target.put(result)
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if (
            function is np.fill_diagonal
            and isinstance(args[0], TracedArray)
            and len(args) == 2
            and np.ndim(args[1]) == 0
        ):
            args[0][(np.arange(min(args[0].shape)),) * args[0].ndim] = args[1]
            return None
        if isinstance(target := options.get("out"), TracedArray):
            target.put(_lowered(function(*args, **{k: v for k, v in options.items() if k != "out"})))
            return target
        name = words.counterpart(function)
        if name is None or "out" in options or words.why_not_function(function, function.__name__):
            raise TypeError(f"`{function.__name__}` has no compiled counterpart")
        found: Any = self.by.numpy
        for part in name.split("."):
            found = getattr(found, part)
        if function.__name__ in words.AVERAGES and args and isinstance(args[0], TracedArray):
            args = (args[0].in_floats(), *args[1:])
        if function.__name__ in _VIEWS and isinstance(args[0], TracedArray):
            rest = [_lowered(a) for a in args[1:]]
            return self._new(None, args[0], lambda v: found(v, *rest, **options))
        return self.by.library.tree.map(
            self._new, found(*map(_lowered, args), **{k: _lowered(v) for k, v in options.items()})
        )

    def __getitem__(self, index: Any) -> TracedArray:
        index = _lowered(index)
        parts = index if isinstance(index, tuple) else (index,)
        if all(isinstance(p, (slice, int)) or p is None or p is Ellipsis or np.ndim(p) == 0 for p in parts):
            view = self._new(None, self, lambda v: v[index], index)
            return view if view.ndim else self._new(view.value)
        return self._new(self.value[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        value = _lowered(value)
        value = self.by.numpy.asarray(value) if isinstance(value, (list, tuple)) else value
        self.put(self.value.at[_lowered(index)].set(self.by.numpy.asarray(value, self.value.dtype)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "T":
            return self._new(None, self, lambda v: v.T)
        if name == "copy":
            return lambda *_: self._new(self.value)
        if name == "fill":
            return lambda v: self.put(_lowered(v))
        if name in words.STATIC_ATTRIBUTES:
            return getattr(self.value, name)
        if name in ("real", "imag"):
            return self._new(getattr(self.value, name))
        if name == "at":
            raise StoredUnderABranch
        if name not in words.ARRAY_METHODS or name in _OF_UPDATES:
            raise AttributeError(f"`.{name}` of an array has no compiled counterpart")

        def method(*args: Any, **options: Any) -> Any:
            with self.by.library.enable_x64(True):
                return called(*args, **options)

        def called(*args: Any, **options: Any) -> Any:
            given, named = [_lowered(a) for a in args], {k: _lowered(v) for k, v in options.items()}
            if name in _VIEWS:
                return self._new(None, self, lambda v: getattr(v, name)(*given, **named))
            whole = self.in_floats().value if name in words.AVERAGES else self.value
            return self._new(getattr(whole, name)(*given, **named))

        return method

    def in_floats(self) -> TracedArray:
        """The array that NumPy averages: truth values and whole numbers below 64 bits in float64."""
        return self._new(self.value.astype(np.float64)) if _is_narrow(self) else self

    def __len__(self) -> int:
        return self.value.shape[0]

    def __iter__(self) -> Iterator[TracedArray]:
        if len(self) > _ROWS:
            raise ReadByPython(f"Python goes through {len(self)} rows")
        return (self[k] for k in range(len(self)))

    def _read(self, *_: Any) -> Any:
        raise ReadByPython("Python asks for the value of an array")

    __bool__ = __float__ = __int__ = __complex__ = __index__ = __format__ = __array__ = _read
    __hash__ = None  # type: ignore[assignment]


def _in_64_bits(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method with NumPy's types, also where the cell's own functions of jitscope have those of 32 bits."""

    def method(self: TracedArray, *args: Any, **options: Any) -> Any:
        with self.by.library.enable_x64(True):
            return function(self, *args, **options)

    return method


def _beside(name: str) -> Callable[..., Any]:
    """The operator that is jitscope's own beside an array of jitscope's, as with an array of NumPy."""
    of_numpy = getattr(NDArrayOperatorsMixin, name)
    reflected = name.startswith("__r") and name != "__rshift__"
    word = f"__{name[3:]}" if reflected or (name.startswith("__i") and name != "__invert__") else name

    def operator(self: TracedArray, other: Any) -> Any:
        if not isinstance(other, self.by.compiled):
            return of_numpy(self, other)
        mine = self.__jax_array__()
        return getattr(other, word)(mine) if reflected else getattr(mine, word)(other)

    return operator


for _name in ("__array_ufunc__", "__array_function__", "__getitem__", "__setitem__", "put"):
    setattr(TracedArray, _name, _in_64_bits(getattr(TracedArray, _name)))
for _word in "add sub mul truediv floordiv mod pow matmul and or xor".split():
    for _name in (f"__{_word}__", f"__r{_word}__", f"__i{_word}__"):
        setattr(TracedArray, _name, _beside(_name))
for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(TracedArray, _name, _beside(_name))


def _is_narrow(x: Any) -> bool:
    """Whether this is of truth values or of whole numbers below 64 bits, of which NumPy and the library make other floats."""
    kind = (
        getattr(x.value, "dtype", None) if isinstance(x, TracedArray) else None
    )  # a count that is known is Python's number
    return kind is not None and np.dtype(kind).kind in "biu" and np.dtype(kind).itemsize < 8


def _as_numpy_takes(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands in the types in which NumPy computes with them."""
    if not any(map(_is_narrow, inputs)) or ufunc.nout != 1 or ufunc.signature is not None:
        return inputs
    kinds = [type(x) if type(x) in (int, float, complex) else np.dtype(getattr(x, "dtype", type(x))) for x in inputs]
    try:
        taken = ufunc.resolve_dtypes((*kinds, None))
    except TypeError:
        return inputs
    if taken[-1].kind not in "fc":
        return inputs
    return tuple(x.by.array(x.value.astype(t)) if _is_narrow(x) else x for x, t in zip(inputs, taken, strict=False))


def _lowered(x: Any) -> Any:
    if isinstance(x, TracedArray):
        return x.value
    if isinstance(x, (list, tuple)):
        return type(x)(_lowered(v) for v in x)
    if isinstance(x, slice):
        return slice(_lowered(x.start), _lowered(x.stop), _lowered(x.step))
    return x


class Tracing:
    """Traced arrays in place of NumPy's, of one library."""

    def __init__(self, name: str) -> None:
        self.__name__ = f"lifted_arrays_of_{name}"
        self.library, self.numpy = import_module(name), import_module(f"{name}.numpy")
        tracer = import_module("jitscope.core.trace" if name == "jitscope" else "jax.core").Tracer
        self.compiled: tuple[type, ...] = (self.library.Array, tracer)
        self.array = type("TracedArray", (TracedArray,), {"by": self, "__module__": __name__})
        self._in_the_cell = False
        self._wide = False
        self.library.tree_util.register_pytree_node(self.array, self._flattened, self._unflattened)

    def _flattened(self, x: TracedArray) -> tuple[tuple[Any], None]:
        if x._base is not None and x.root.writes:
            raise TypeError("a view outlives a store into its array (aliasing)")
        return (x.__jax_array__() if self._in_the_cell else x.value,), None

    def _unflattened(self, _: None, children: Any) -> Any:
        """In the cell's own calls of the library what a function is given of NumPy's is the library's, as it is when run eagerly."""
        return children[0] if self._in_the_cell else self.array(children[0])

    @contextlib.contextmanager
    def as_in_the_cell(self) -> Iterator[None]:
        """The library's functions with the types that they have in the cell, where NumPy's arrays among its own are of 64 bits."""
        before, self._in_the_cell = self._in_the_cell, True
        try:
            with self.library.enable_x64(self._wide):
                yield
        finally:
            self._in_the_cell = before

    def lifted(self, values: Any) -> Any:
        """The same tree with traced arrays in place of arrays and numbers."""
        return self.library.tree.map(lambda v: self.array(v), values)

    def as_numpys(self, carry: Any) -> Any:
        """What a loop carries, with traced arrays also in place of numbers that it began with."""
        is_ours = lambda v: isinstance(v, TracedArray)
        return self.library.tree.map(lambda v: v if is_ours(v) else self.array(v), carry, is_leaf=is_ours)

    def counted(self, k: Any) -> TracedArray:
        """The count of a compiled loop, as NumPy code takes it."""
        return self.array(k)

    def number(self, x: Any) -> Any:
        """How often a compiled loop runs, as the library takes it."""
        return _lowered(x)

    def chosen(self, test: Any, yes: Any, no: Any) -> Any:
        """One of two values: what a branch on a value leaves behind."""
        if yes is no:
            return yes
        if isinstance(yes, self.compiled) and isinstance(no, self.compiled):
            return self.numpy.where(_lowered(test), yes, no)
        with self.library.enable_x64(True):
            return self.array(self.numpy.where(_lowered(test), _lowered(yes), _lowered(no)))

    def apart(self, *values: Any) -> tuple[Any, ...]:
        """What a turn hands to the next one. Raises TypeError where one array has two names: a store into one would be lost on the other."""
        leaves = self.library.tree.leaves(values, is_leaf=lambda v: isinstance(v, TracedArray))
        arrays = [v for v in leaves if isinstance(v, TracedArray) and v.ndim]
        if len({id(a.root) for a in arrays}) < len(arrays):
            raise TypeError("one array has two names in the next turn (aliasing)")
        return values

    def values_of(self, results: Any, mixed: bool = False) -> Any:
        """NumPy's arrays and scalars in place of compiled ones; where both are `mixed`, in place of those that stand for NumPy's."""
        tree = self.library.tree
        is_ours = lambda v: isinstance(v, TracedArray)
        if mixed:
            return tree.map(lambda v: self.values_of(v) if is_ours(v) else v, results, is_leaf=is_ours)
        taken = self.library.device_get(tree.map(lambda v: v.value if is_ours(v) else v, results, is_leaf=is_ours))
        return tree.map(lambda v: np.array(v)[()], taken)

    @contextlib.contextmanager
    def numpy_traced(self) -> Iterator[None]:
        """Lets NumPy's functions that make arrays make traced ones, where a notebook's own code calls them; with NumPy's types."""
        before = {name: getattr(np, name) for name in _MAKERS}
        wide, self._wide = self._wide, bool(self.library.config.jax_enable_x64)

        def made(name: str) -> Callable[..., Any]:
            def make(*args: Any, **options: Any) -> Any:
                if sys._getframe(1).f_globals.get("__name__") not in ("__main__", "cell"):
                    return before[name](*args, **options)
                with self.library.enable_x64(True):
                    return self._made(name, before[name], args, options)

            return make

        for name in _MAKERS:
            setattr(np, name, made(name))
        of_math = {n: f for n, f in vars(math).items() if words.counterpart(f) and callable(f)}
        for name, function in of_math.items():
            setattr(math, name, self._of_traced(function))
        try:
            with self.library.enable_x64(True):
                yield
        finally:
            self._wide = wide
            for name, function in before.items():
                setattr(np, name, function)
            for name, function in of_math.items():
                setattr(math, name, function)

    def _of_traced(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of Python's `math` that takes traced numbers as well."""
        ours = getattr(self.numpy, words.counterpart(function) or "")

        def called(*given: Any) -> Any:
            if not any(isinstance(x, (TracedArray, self.compiled[1])) for x in given):
                return function(*given)
            with self.library.enable_x64(True):
                return self.array(ours(*(self.numpy.asarray(_lowered(x), np.float64) for x in given)))

        return called

    def _made(self, name: str, of_numpy: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name in ("array", "asarray"):
            if isinstance(args[0], self.compiled) and not args[1:] and not options:
                return self.array(args[0])
            parts = self.library.tree.leaves(list(args[:1]), is_leaf=lambda v: isinstance(v, TracedArray))
            if not any(isinstance(p, TracedArray) for p in parts):
                return self.array(self.numpy.asarray(of_numpy(*args, **options)))
            if name == "asarray" and isinstance(args[0], TracedArray) and not options:
                return args[0]
            return self.array(self.numpy.array(_lowered(args[0]), *args[1:], **options))
        likes = name.endswith("_like") and isinstance(args[0], TracedArray)
        if likes or any(isinstance(a, TracedArray) for a in [*args, *options.values()]):
            return self.array(getattr(self.numpy, name)(*map(_lowered, args), **options))
        return self.array(self.numpy.asarray(of_numpy(*args, **options)))


traced_by = functools.cache(Tracing)
"""The one of a library, by the name of its module."""
