"""Abstract values: what is known about a value while tracing (shape, dtype, weak type, sharding)."""

from __future__ import annotations

import enum
import functools
import math
import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from . import call_sites, dtypes, source, users_source
from .annotations import DTypeLike, ManualAxisType, NamedSharding
from .config import settings
from .dtypes import DType, canonicalize, python_dtype
from .jax_values import jax_kind, refuse
from .memory_spaces import MemorySpace
from .operators import Operators
from .references import Reference


__all__ = ["AbstractValue", "ShapedArray"]


Shape = tuple[int, ...]
_interned: WeakValueDictionary[Any, ShapedArray] = WeakValueDictionary()
_known: dict[Any, Any] = _interned.data  # pyright: ignore[reportAttributeAccessIssue]  (asked directly: most avals are there already)


marked: set[bool] = set()
"""Empty as long as no aval of this process says anything about several devices: then nobody needs to look."""


class AbstractValue:
    """Base of avals."""

    __slots__ = ()


class ShapedArray(AbstractValue):
    """The aval of an array. Interned: equal avals are one object, so `is` compares and hashing is by identity.

    `shape` is logical (a key counts as one element), `weak_type` marks values that stem from Python scalars and give way
    in promotion, `mark` is what the type says of several devices: None, or see `core.part_types`.
    """

    __slots__ = ("__weakref__", "_short", "dtype", "mark", "ndim", "shape", "weak_type")
    _short: str
    shape: Shape
    dtype: DType
    weak_type: bool
    mark: Any
    ndim: int

    def __new__(
        cls, shape: Shape, dtype: DTypeLike, weak_type: bool = False, sharding: NamedSharding | None = None
    ) -> ShapedArray:
        key = (shape, dtype, weak_type, sharding)
        try:
            known = _known.get(key)
        except TypeError:  # the shape is a list
            known = None
        if known is not None and (found := known()) is not None:
            return found
        if type(shape) is not tuple or not isinstance(dtype, (np.dtype, dtypes.ExtendedDType)):
            dtype = dtype if isinstance(dtype, dtypes.ExtendedDType) else np.dtype(dtype)
            return ShapedArray(tuple(shape), dtype, weak_type, sharding)
        if len(shape) and _too_large(shape, dtype):
            raise too_large(shape, dtype)
        self = object.__new__(cls)
        self.shape, self.dtype, self.weak_type, self.mark = key
        self.ndim = len(shape)
        if sharding is not None:
            marked.add(True)
        return _interned.setdefault(key, self)

    def __reduce__(self):
        return ShapedArray, (self.shape, self.dtype, self.weak_type, self.mark)

    def update(
        self,
        shape: Shape | None = None,
        dtype: DTypeLike | None = None,
        weak_type: bool | None = None,
        **changes: object,
    ) -> ShapedArray:
        """A copy with some fields changed. Raises TypeError for other names."""
        return ShapedArray(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.weak_type if weak_type is None else weak_type,
            **{"sharding": self.mark, **changes},
        )

    @property
    def sharding(self) -> NamedSharding:
        """How it lies along the Explicit axes of a mesh: a NamedSharding, whole where the type says nothing (over the mesh in force, which
        may have no axes)."""
        laid = getattr(self.mark, "laid", self.mark)
        if laid is not None:
            return laid
        from .meshes import get_abstract_mesh  # programs on one device do not ask
        from .shardings import NamedSharding, PartitionSpec

        return NamedSharding(get_abstract_mesh(), PartitionSpec(*[None] * self.ndim))

    @property
    def memory_space(self) -> MemorySpace:
        """`memory.Space.Device`: on a CPU the memory of device and host is one, and types say nothing of it."""
        return MemorySpace.Device

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Size in memory, in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def to_tangent_aval(self) -> ShapedArray:
        """The aval of tangents of such an array."""
        return tangent_aval(self)

    def at_least_vspace(self) -> ShapedArray:
        """`to_tangent_aval`, by the name that libraries know it by."""
        return self.to_tangent_aval()

    def to_ct_aval(self) -> ShapedArray:
        """The aval of cotangents of such an array: what is reduced over mesh axes is unreduced in them, and the other way round."""
        return cotangent_aval(self)

    def str_short(self, short_dtypes: bool = False) -> str:
        """float32[3,4], or with `short_dtypes` f32[3,4]."""
        if short_dtypes or self.dtype == dtypes.float0:
            return self.short()
        return f"{self.dtype.name}{self._shape_text()}"

    def _shape_text(self) -> str:
        if self.mark is not None:
            return self.mark.shape_text(self.shape)
        return f"[{','.join(map(str, self.shape))}]"

    def strong(self) -> ShapedArray:
        """The same without a weak type."""
        return ShapedArray(self.shape, self.dtype, False, self.mark) if self.weak_type else self

    def strip_weak_type(self) -> ShapedArray:
        """JAX's name of `strong`."""
        return self.strong()

    def __str__(self) -> str:
        return f"{'~' if self.weak_type else ''}{self.str_short()}"

    def __repr__(self) -> str:
        return f"ShapedArray({self.str_short()}{', weak_type=True' if self.weak_type else ''})"

    def brief(self) -> str:
        """`short`, and whether it is weak: ~f32[]."""
        return f"~{self.short()}" if self.weak_type else self.short()

    def long(self) -> str:
        """`str_short`, and whether it is weak: ~float32[]."""
        return f"~{self.str_short()}" if self.weak_type else self.str_short()

    def short(self) -> str:
        """As in a jaxpr: f32[3,4]."""
        try:
            return self._short
        except AttributeError:
            self._short = self._shortened()
            return self._short

    def _shortened(self) -> str:
        return f"{dtypes.short_name(self.dtype)}{self._shape_text()}"

    @property
    def vma(self) -> frozenset:
        """Inside `shard_map`: the mesh axes over which the value varies."""
        return getattr(self.mark, "varying", frozenset())

    @property
    def manual_axis_type(self) -> ManualAxisType:
        """Inside `shard_map`: what is known of the value along the mesh axes over which a function sees one device."""
        from .manual_axis_type import ManualAxisType  # programs on one device do not ask

        mark = self.mark
        if not hasattr(mark, "varying"):
            return ManualAxisType()
        return ManualAxisType(varying=mark.varying, unreduced=mark.unreduced, reduced=mark.reduced)

    mat = manual_axis_type


def _too_large(shape: Shape, dtype: Any) -> bool:
    """Whether an array has no place in any memory: XLA ends the process where a number of bytes does not fit into 63 bits."""
    size = 1
    for n in shape:
        if type(n) is not int:  # a size without a value, of an exported function
            return False
        size *= n
    return size * max(getattr(dtype, "itemsize", 8), 8) > MOST_BYTES


MOST_BYTES = 2**62


def too_large(shape: Shape, dtype: Any) -> MemoryError:
    """The error for an array that is larger than any memory."""
    place = source.position_text(call_sites.here(), ", in ")
    return MemoryError(
        f"an array of shape ({', '.join(map(str, shape))}{',' * (len(shape) == 1)}) and dtype {dtypes.short_name(dtype)} is larger "
        f"than any memory: a size in it is wrong, or a product of sizes{place}"
    )


def physical(aval: ShapedArray) -> ShapedArray:
    """The aval of the array below: a key array `key<fry>[3]` is `u32[3,2]`, float0 is bool; others are their own."""
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        return ShapedArray(aval.shape + aval.dtype.element_shape, aval.dtype.physical)
    if aval.dtype == dtypes.float0:
        return ShapedArray(aval.shape, dtypes.bool_)
    return aval


conversions: dict[type, Callable[[Any], Any]] = {}
"""What makes arrays of values of types that libraries registered (`interpreters.xla.canonicalize_dtype_handlers`)."""
avals_of_types: dict[type, Callable[[Any], ShapedArray]] = {}
"""What says the avals of such values (`core.pytype_aval_mappings`)."""

_SCALARS = tuple(dtypes.PYTHON_SCALARS)


def is_python_scalar(x: Any) -> bool:
    """Whether a value is a bool, int, float or complex of Python's (NumPy's scalars, which are some of these by inheritance, are not)."""
    return type(x) in dtypes.PYTHON_SCALARS or (isinstance(x, _SCALARS) and not isinstance(x, np.generic))


def aval_of(x: object) -> ShapedArray:
    """The aval of a tracer, an array, a NumPy value or a Python scalar.

    Raises TypeError for anything else; the message names the type.
    """
    aval = getattr(x, "aval", None)
    if aval is not None:
        return aval if type(aval) is ShapedArray or (kind := jax_kind(x)) is None else _aval_of_jax(x, kind)
    if type(x) in dtypes.PYTHON_SCALARS:
        return _of_scalar(type(x), settings().enable_x64)
    if isinstance(x, (np.ndarray, np.generic)):
        refuse_masked(x)
        if not dtypes.is_supported(x.dtype) and x.dtype.byteorder != ">":
            raise TypeError(not_an_array(x))
        return ShapedArray(x.shape, canonicalize(x.dtype))
    for scalar in _SCALARS:
        if isinstance(x, scalar):
            return _of_scalar(scalar, settings().enable_x64)
    if type(x) in avals_of_types:
        return avals_of_types[type(x)](x)
    raise TypeError(not_an_array(x))


@functools.cache
def _of_scalar(kind: type, enable_x64: bool) -> ShapedArray:
    """The aval of Python's scalars of a type, under that option, which is the one in force: kept, since often nobody else holds it."""
    return ShapedArray((), python_dtype(kind), kind is not bool)


def _aval_of_jax(x: Any, kind: str) -> ShapedArray:
    """The aval of an array of JAX, of whatever dtype it has. Raises TypeError for its keys and tracers."""
    if kind != "array":
        raise refuse(x, kind)
    return ShapedArray(x.shape, np.dtype(x.dtype), x.weak_type)


def scalar_of_aval(value: Any, aval: ShapedArray) -> Any:
    """A number as a scalar of just this aval. Python and NumPy scalars have the dtype that `enable_x64` says; where that is
    another one, a NumPy scalar that carries its aval is made."""
    usual = python_dtype(type(value)) if aval.weak_type else canonicalize(aval.dtype)
    return value if usual == aval.dtype else _scalar_class(aval)(value)


def exact(value: Any) -> Any:
    """A NumPy scalar that keeps its dtype, also where `enable_x64` is off."""
    return value if canonicalize(value.dtype) == value.dtype else _scalar_class(ShapedArray((), value.dtype))(value)


@functools.lru_cache(None)
def _scalar_class(aval: ShapedArray) -> type:
    return type(f"scalar_{aval.dtype}", (aval.dtype.type,), {"aval": aval})


def from_protocol(x: Any) -> Any:
    """What an object says that it is as an array (`__jax_array__`, `__jitscope_array__`); others are themselves."""
    kind = type(x)
    if issubclass(kind, Operators):  # what these give is for JAX
        return x
    give = getattr(kind, "__jax_array__", None) or getattr(kind, "__jitscope_array__", None)
    give = give or conversions.get(kind)
    return x if give is None or jax_kind(x) is not None else give(x)


def refuse_masked(x: Any) -> None:
    """Raises ValueError for a masked array: its mask would be lost."""
    if type(x) is not np.ndarray and hasattr(x, "filled") and isinstance(x, np.ma.MaskedArray):
        raise ValueError(
            "a masked array of NumPy has no counterpart here, and without its mask it would mean something else. What to do: "
            "pass x.filled(value), or x.data and x.mask as two arrays"
        )


def not_an_array(x: Any) -> str:
    """Why `x` cannot be an array, in words."""
    if isinstance(x, np.ndarray):
        hint = (
            "give its elements one number type, e.g. np.asarray(x, dtype=float)"
            if x.dtype == object
            else "convert it to a number type first"
        )
        return f"a NumPy array of dtype {x.dtype} is not an array of numbers: {hint}"
    if isinstance(x, Reference):
        return f"a reference {x.aval.short()} is not an array: read it first, ref[...]"
    if (kind := jax_kind(x)) in ("key", "tracer"):
        return str(refuse(x, kind))
    if hasattr(x, "aval"):
        return f"a {type(x).__name__} says what an array is like, it has no values"
    passed = passed_in_numpy(x, "x")
    how = f": {passed}" if passed else how_to_pass(type(x))
    return f"a value of type {class_name(type(x))} is not an array, a number or a tree of those{how}"


def class_name(kind: type) -> str:
    """What a class is called: `pandas.Series`, where its library offers it there, else by the module that defines it."""
    root = kind.__module__.partition(".")[0]
    if getattr(sys.modules.get(root), kind.__qualname__, None) is kind and root != "builtins":
        return kind.__qualname__ if root == "__main__" else f"{root}.{kind.__qualname__}"
    return (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )


def as_numpy(kind: type) -> str:
    """How an object of a class gives its values as an array of NumPy's, with {} for its name; "" where it does not."""
    if kind.__module__ == "builtins" or issubclass(kind, (np.ndarray, np.generic)):
        return ""
    if hasattr(kind, "to_numpy"):
        return "{}.to_numpy()"
    if hasattr(kind, "detach") and hasattr(kind, "numpy"):
        return "{}.detach().cpu().numpy()"
    return "np.asarray({})" if hasattr(kind, "__array__") else ""


def passed_in_numpy(x: Any, name: str) -> str:
    """What to pass for an object of another library's class that NumPy can read, in words; "" for others."""
    how = as_numpy(type(x)) if is_of_library(type(x)) else ""
    if not how:
        return ""
    try:
        dtype = np.asarray(_READ_AS[how](x)).dtype
    except Exception:  # the other library's own reasons
        dtype = None
    how = how.format(name)
    if dtype is None or dtypes.is_supported(dtype):
        return f"pass {how}"
    return f"its elements are not all numbers ({how} has dtype {dtype}). Pass those that are, as an array of one number type"


_READ_AS: dict[str, Any] = {
    "{}.to_numpy()": lambda x: x.to_numpy(),
    "{}.detach().cpu().numpy()": lambda x: x.detach().cpu().numpy(),
    "np.asarray({})": np.asarray,
}


def is_of_library(kind: type) -> bool:
    """Whether a class is defined by Python or by an installed library, and not by the user."""
    if kind.__module__ == "builtins":
        return True
    file = str(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")
    return "site-packages" in file or "dist-packages" in file or source.is_stdlib(file) or source.is_internal(file)


def how_to_pass(kind: type) -> str:
    """How objects of a user's class become trees; nothing for Python's own values and for functions."""
    called = any("__call__" in vars(base) for base in kind.__mro__)
    if kind.__module__ in ("builtins", "numpy") or issubclass(kind, (type, enum.Enum)) or called:
        return ""
    name = kind.__name__
    how = as_numpy(kind)
    if how:
        return f": pass {how.format('x')} for it, if its elements are numbers"
    if is_of_library(kind):
        return f". Pass the arrays and numbers that the {name} holds"
    if hasattr(kind, "__dataclass_fields__"):
        return users_source.in_own_names(
            f". To make {name} a tree, write @jitscope.tree_util.register_dataclass above @dataclass"
        )
    if hasattr(kind, "tree_flatten") and hasattr(kind, "tree_unflatten"):
        return users_source.in_own_names(
            f". To make {name} a tree, write @jitscope.tree_util.register_pytree_node_class above class {name}"
        )
    return users_source.in_own_names(
        f". To make {name} a tree, write @jitscope.tree_util.register_dataclass and @dataclasses.dataclass above "
        f"class {name}, with its arrays as fields; or give it tree_flatten and tree_unflatten and write "
        f"@jitscope.tree_util.register_pytree_node_class above it"
    )


def tangent_aval(aval: ShapedArray) -> ShapedArray:
    """The aval of tangents: floats and complex numbers have their own, everything else float0. Of a reference: of
    what it holds."""
    if dtypes.is_inexact(aval.dtype):
        return aval if type(aval) is ShapedArray else aval.inner_aval  # pyright: ignore[reportAttributeAccessIssue]
    return ShapedArray(aval.shape, dtypes.float0)


def cotangent_aval(aval: ShapedArray) -> ShapedArray:
    """The aval of cotangents: that of tangents, and where sums are open the cotangents' were taken, and the other way round."""
    found = tangent_aval(aval)
    return found if found.mark is None else found.update(sharding=found.mark.swapped())
