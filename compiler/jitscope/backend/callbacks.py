"""Python functions that programs call: what they are given, and what of theirs is believed.

The functions get `Array`s and give anything NumPy makes an array of. That is checked against what was promised before XLA
sees it: XLA would read past its end, or read other bits.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from .. import tree
from ..control.bodies import name_of
from ..core import call_sites, dtypes, source
from ..core.avals import ShapedArray, physical, refuse_masked
from ..core.errors import CallbackResultError
from ..core.meshes_in_force import meshes_in_force
from ..core.messages import with_advice
from ..core.trace import Tracer, evaluation, leak_error, using
from ..xla import client
from ..xla.callbacks import Site
from ..xla.dtypes import in_bytes
from .array import Array, array_on, device_for, one_device, to_array


class HostFunction:
    """`function` as programs call it: leaves of arguments that lie as `in_tree` says (args, kwargs), to results that lie as
    `out_tree` says. `what` called it ("pure_callback"), written at `where`. Get it from `host_function`."""

    __slots__ = ("__weakref__", "_sites", "function", "in_tree", "out_tree", "what", "where")

    def __init__(
        self, what: str, function: Callable[..., Any], in_tree: Any, out_tree: Any, where: source.Position | None
    ):
        self.what, self.function, self.in_tree, self.out_tree, self.where = what, function, in_tree, out_tree, where
        self._sites: dict[Any, Site] = {}

    def __repr__(self) -> str:
        return name_of(self.function)

    def site(self, avals_in: tuple[ShapedArray, ...], avals_out: tuple[ShapedArray, ...], threaded: bool) -> Site:
        """The place where a program calls the function; it lives as long as this object does."""
        key = (avals_in, avals_out, threaded)
        found = self._sites.get(key)
        if found is None:
            itself = weakref.ref(self)  # whoever keeps the program keeps this object

            def call(*views: np.ndarray) -> list[np.ndarray]:
                owner = itself()
                assert owner is not None
                arrays = [_array(v, aval) for v, aval in zip(views, avals_in)]
                return [x.astype(in_bytes(x.dtype), copy=False) for x in owner._call(arrays, avals_out)]

            found = self._sites.setdefault(key, Site(call, threaded))
        return found

    def evaluate(self, args: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Array]:
        """Call it now, outside any program."""
        arrays = [_strong(x) for x in args]
        device = _device_of(arrays)
        return [_array(x, aval, device) for x, aval in zip(self._call(arrays, avals), avals)]

    def evaluate_each(
        self, args: Sequence[Any], dims: Sequence[int | None], size: int, avals: Sequence[ShapedArray]
    ) -> list[Array]:
        """Call it now for each example of arguments mapped along `dims`; the results stacked."""
        arrays = [_strong(x) for x in args]
        values: list[Any] = [x if d is None else np.moveaxis(numbers_of(x), d, 0) for x, d in zip(arrays, dims)]
        rows, device = [], _device_of(arrays)
        for i in range(size):
            given = [
                v if d is None else _array(v[i], _element(x.aval, d), device) for v, d, x in zip(values, dims, arrays)
            ]
            rows.append(self._call(given, avals))
        columns = zip(*rows) if rows else [[]] * len(avals)
        below = [physical(aval) for aval in avals]
        stacked = [np.array(column, b.dtype).reshape(size, *b.shape) for column, b in zip(columns, below)]
        return [_array(x, aval.update(shape=(size, *aval.shape)), device) for x, aval in zip(stacked, avals)]

    def _call(self, arrays: list[Array], avals: Sequence[ShapedArray]) -> list[np.ndarray]:
        # Under the mesh of the caller, what the function computes would wait for the devices that wait for it.
        with using(evaluation()), meshes_in_force(None), call_sites.written_at(None):
            args, kwargs = self.in_tree.unflatten(arrays)
            return self._checked(self.function(*args, **kwargs), avals)

    # What came back

    def _checked(self, out: Any, avals: Sequence[ShapedArray]) -> list[np.ndarray]:
        """The results in the promised dtypes' NumPy form. Raises CallbackResultError."""
        leaves, structure = tree.flatten(out)
        if structure != self.out_tree and _outline(structure) != _outline(self.out_tree):
            raise self._broken(
                f"returned {_told(out, structure)} where {_told(None, self.out_tree)} was promised",
                _WANTED.get(str(self.out_tree), "return a tree of that structure"),
            )
        return [self._leaf(leaf, aval, i) for i, (leaf, aval) in enumerate(zip(leaves, avals))]

    def _leaf(self, leaf: Any, aval: ShapedArray, i: int) -> np.ndarray:
        if isinstance(leaf, Tracer):
            raise leak_error(leaf)
        if dtypes.is_extended(aval.dtype):
            if type(leaf) is not Array or leaf.aval.strong() is not aval:
                found = leaf.aval.short() if type(leaf) is Array else f"a {type(leaf).__name__}"
                raise self._broken(f"returned {found}{self._at(i)} where keys, {aval.short()}, were promised")
            return numbers_of(leaf)
        try:
            refuse_masked(leaf)
            value = np.asarray(leaf)
            dtype: Any = dtypes.canonicalize(value.dtype)
        except (TypeError, ValueError) as error:
            raise self._broken(f"returned something that is not an array{self._at(i)}: {error}") from None
        if (value.shape, dtype) != (aval.shape, aval.dtype):
            found = ShapedArray(value.shape, dtype).short() if dtypes.is_supported(dtype) else f"dtype {value.dtype}"
            raise self._broken(
                f"returned {found}{self._at(i)} where {aval.short()} was promised",
                f"return an array of shape {aval.shape} and dtype {aval.dtype.name}, or promise another one",
            )
        return np.asarray(value, dtype, order="C")

    def _at(self, i: int) -> str:
        path = tree.paths_in(self.out_tree)[i]
        return f" at result{path}" if path else ""

    def _broken(self, what: str, advice: str = "return what was promised, or promise something else") -> Exception:
        line = source.position_text(self.where, f", called by {self.what} in ")
        return CallbackResultError(with_advice(f"the callback {self} {what}{line}", advice))


_known: weakref.WeakValueDictionary[Any, HostFunction] = weakref.WeakValueDictionary()


def host_function(
    what: str, function: Callable[..., Any], in_tree: Any, out_tree: Any, key: Any = None
) -> HostFunction:
    """The one HostFunction for these: programs that call the same functions are the same. `key` stands for `function` where
    that is made anew each time; None: for the function itself."""
    where = call_sites.here()
    if key is None:
        plain = isinstance(function, (FunctionType, BuiltinFunctionType, MethodType))
        key = function if plain else id(function)  # callable objects may be equal and do different things
    whole = (what, key, in_tree, out_tree, where)
    try:
        found = _known.get(whole)
    except TypeError:  # static data in a tree, or a method's object, that has no hash
        return HostFunction(what, function, in_tree, out_tree, where)
    if found is None:
        found = _known.setdefault(whole, HostFunction(what, function, in_tree, out_tree, where))
    return found


# Values ---------------------------------------------------------------------------------------------------------------


def _array(x: np.ndarray, aval: ShapedArray, device: Any = None) -> Array:
    """A copy of values (of a program's buffers, say) as an array."""
    values = np.asarray(x, physical(aval).dtype)
    if device is None or client.is_device(device):
        return Array(client.put(values, device), aval.strong())
    return array_on(Array(client.put(values), aval.strong()), device)


def _device_of(arrays: Sequence[Array]) -> Any:
    return None if one_device() else device_for(arrays)


def _strong(x: Any) -> Array:
    array = to_array(x)
    if isinstance(array, Tracer):
        raise leak_error(array)
    return Array(array.buf, array.aval.strong()) if array.aval.weak_type else array


def numbers_of(x: Array) -> np.ndarray:
    """The values; of keys, those of the array below."""
    return np.asarray(Array(x.buf, physical(x.aval)))


def _element(aval: ShapedArray, dim: int) -> ShapedArray:
    return aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :])


_WANTED = {
    str(tree.structure(None)): "return None",
    str(tree.structure(0)): "return one array (np.asarray makes one of a list)",
}

# Structures -----------------------------------------------------------------------------------------------------------


def _outline(structure: Any) -> Any:
    """The structure, with all kinds of sequences alike: NumPy's functions return named tuples and lists of results."""
    node = structure.node_data()
    if node is None:
        return "*"
    kind, data = node
    children = tuple(map(_outline, structure.children()))
    if isinstance(kind, type) and issubclass(kind, (tuple, list)):
        return ("sequence", children)
    return (kind, data, children)


def _told(out: Any, structure: Any) -> str:
    """A structure in words."""
    if structure.node_data() is None:
        return f"{type(out).__name__}" if out is not None else "one array"
    if not structure.num_leaves and structure.node_data()[0] is type(None):
        return "None"
    return str(tree.unflatten(structure, ["*"] * structure.num_leaves)).replace("'*'", "*")
