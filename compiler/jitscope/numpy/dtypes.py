"""Dtypes as users name them, and questions about them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import ml_dtypes
import numpy as np

from .. import tree as _tree
from ..backend.array import Array, array_from_numpy, array_on
from ..backend.placement import by_device, device_of_request, is_layout, laid_out
from ..backend.stages import ShapeDtypeStruct
from ..core import dtypes as _dtypes, notices
from ..core.annotations import Array as AnyArray, ArrayLike, Axes, Device, DTypeLike, Sharding
from ..core.avals import aval_of, from_protocol, is_python_scalar
from ..core.config import override, settings
from ..core.dtypes import canonicalize, explicit, is_extended, python_dtype
from ..core.meshes_in_force import current_mesh
from ..core.staging import capturing
from ..core.trace import Tracer, evaluating
from ..eager.functions import eager_jit
from ..ops.linear import convert_element_type_p, copy_p
from ..xla import client
from .operands import axes_of, broadcast_shape, finite_info, operand_and_aval, real_if_needed, shape_of


__all__ = ["astype", "bfloat16", "bool_", "broadcast_shapes", "can_cast", "cdouble", "character", "complex64",
           "complex128", "complex_", "complexfloating", "csingle", "double", "dtype", "e", "euler_gamma", "finfo",
           "flexible", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
           "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
           "float16", "float32", "float64", "float_", "floating", "generic", "iinfo", "inexact", "inf", "int1", "int2",
           "int4", "int8", "int16", "int32", "int64", "int_", "iscomplexobj", "isdtype", "isrealobj", "isscalar",
           "issubdtype", "iterable", "nan", "ndim", "newaxis", "number", "object_", "pi", "promote_types",
           "result_type", "shape", "signedinteger", "single", "size", "uint", "uint1", "uint2", "uint4", "uint8",
           "uint16", "uint32", "uint64", "unsignedinteger"]  # fmt: skip


class ScalarType(type):
    """A dtype that is also the constructor of its scalars: `float32(3)` is an array of shape () and that dtype. It is a class, of
    which NumPy's scalars of that dtype count as instances.

    It equals NumPy's dtype and scalar type, and hashes as the latter; `numpy.dtype(float32)` works.
    """

    dtype: np.dtype

    def __new__(cls, name: str, dtype: Any) -> ScalarType:
        own = {
            "dtype": np.dtype(dtype),
            "__module__": __package__,
            "__doc__": f"The dtype {name}: `{name}(x)` is x as an array of it.",
        }
        return super().__new__(cls, name, (), own)

    def __init__(self, *_: Any):
        pass

    def __call__(cls, x: ArrayLike | Sequence[Any]) -> AnyArray:
        """`x` as an array of this dtype. Raises TypeError for what is not an array and no number, ValueError for None."""
        if x is None:
            raise ValueError(f"{cls.__name__}: None is not an array")
        given: Any = x
        if hasattr(given, "__jitscope_array__"):
            given = given.__jitscope_array__()
        if isinstance(given, (Array, Tracer)):
            return astype(given, cls.dtype)  # pyright: ignore[reportArgumentType]
        exact = type(given) in (int, float) and _dtypes.is_integer(cls.dtype)  # then numpy checks the range
        if not _dtypes.is_complex(cls.dtype) and cls.dtype != _dtypes.bool_:
            for leaf in _tree.leaves(given):
                if type(leaf) is complex:
                    raise TypeError(f"{cls.__name__}: the complex number {leaf!r} is no real one: take its real part")
        to = requested(cls.dtype, cls.__name__)
        value = np.asarray(given, to if exact else None)
        return array_of(real_if_needed(value, cls.dtype).astype(to), given=True)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        return cls is other or cls.dtype == other

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)


bool_ = ScalarType("bool", np.bool_)
int1, uint1 = ScalarType("int1", ml_dtypes.int1), ScalarType("uint1", ml_dtypes.uint1)
int2, uint2 = ScalarType("int2", ml_dtypes.int2), ScalarType("uint2", ml_dtypes.uint2)
int4, uint4 = ScalarType("int4", ml_dtypes.int4), ScalarType("uint4", ml_dtypes.uint4)
int8, uint8 = ScalarType("int8", np.int8), ScalarType("uint8", np.uint8)
int16, uint16 = ScalarType("int16", np.int16), ScalarType("uint16", np.uint16)
int32, uint32 = ScalarType("int32", np.int32), ScalarType("uint32", np.uint32)
int64, uint64 = ScalarType("int64", np.int64), ScalarType("uint64", np.uint64)
bfloat16, float16 = ScalarType("bfloat16", ml_dtypes.bfloat16), ScalarType("float16", np.float16)
float32, float64 = ScalarType("float32", np.float32), ScalarType("float64", np.float64)
complex64, complex128 = ScalarType("complex64", np.complex64), ScalarType("complex128", np.complex128)
float8_e3m4 = ScalarType("float8_e3m4", ml_dtypes.float8_e3m4)
float8_e4m3 = ScalarType("float8_e4m3", ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz = ScalarType("float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = ScalarType("float8_e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = ScalarType("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = ScalarType("float8_e5m2", ml_dtypes.float8_e5m2)
float8_e5m2fnuz = ScalarType("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = ScalarType("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu)
float6_e2m3fn = ScalarType("float6_e2m3fn", ml_dtypes.float6_e2m3fn)
float6_e3m2fn = ScalarType("float6_e3m2fn", ml_dtypes.float6_e3m2fn)
float4_e2m1fn = ScalarType("float4_e2m1fn", ml_dtypes.float4_e2m1fn)
int_, uint, float_, complex_ = int64, uint64, float64, complex128
single, double, csingle, cdouble = float32, float64, complex64, complex128

generic, number, inexact, floating = np.generic, np.number, np.inexact, np.floating
integer_, signedinteger, unsignedinteger, complexfloating = (
    np.integer,
    np.signedinteger,
    np.unsignedinteger,
    np.complexfloating,
)
flexible, character, object_ = np.flexible, np.character, np.object_
dtype = np.dtype

e, pi, inf, nan, euler_gamma, newaxis = np.e, np.pi, np.inf, np.nan, np.euler_gamma, None

_CATEGORY = {"b": np.bool_, "i": np.signedinteger, "u": np.unsignedinteger, "f": np.floating, "c": np.complexfloating}


def requested(asked: Any, name: str) -> Any:
    """The dtype used for one that the user asked for. Warns where 64 bits were asked for and `enable_x64` is off."""
    try:
        found = _known.get((asked, settings()))
    except TypeError:  # not hashable
        found = None
    return _requested(asked, name) if found is None else found


_known: dict[Any, Any] = {}
_MAX_KNOWN = 256


def _requested(asked: Any, name: str) -> Any:
    if hasattr(asked, "aval") or isinstance(asked, np.ndarray):
        raise ValueError(f"{name}: an array was given as dtype; write x.dtype for the dtype of x")
    found = explicit(asked)
    if not is_extended(found) and not (isinstance(asked, type) and asked in _dtypes.PYTHON_SCALARS):
        wanted = np.dtype(asked)
        if wanted != found and wanted.newbyteorder("=") != found:
            warnings.warn(
                f"{name}: {wanted.name} was asked for and {found.name} is used: 64-bit types need the option "
                "enable_x64 (config.update('enable_x64', True))",
                UserWarning,
                stacklevel=5,
            )
            if notices.listeners:
                notices.tell(
                    "x64-truncation",
                    f"{wanted.name} becomes {found.name} here: 64-bit types are off.",
                    f'Turn them on first: jax.config.update("jax_enable_x64", True); or ask for {found.name}.',
                )
            return found
    if isinstance(asked, (type, str, np.dtype)) and len(_known) < _MAX_KNOWN:
        _known[asked, settings()] = found
    return found


def astype(
    x: ArrayLike, dtype: DTypeLike | None, /, *, copy: bool = False, device: Device | Sharding | None = None
) -> AnyArray:
    """`x` [...] in `dtype` (None: the default float). Floats are cut towards zero on the way to integers; complex
    numbers lose their imaginary part on the way to real ones, and are True where any of their parts is. Raises TypeError for key arrays and unknown dtypes."""
    x, aval = operand_and_aval("astype", x)
    dtype = requested(float if dtype is None else dtype, "astype")
    if aval.dtype == dtype and not aval.weak_type and hasattr(x, "aval"):
        return on_device(copy_p(x) if copy else x, device)
    return on_device(_converted(x, dtype), device)


def on_device(x: Any, device: Any) -> Any:
    """`x` put on a device; None leaves it where it is."""
    if device is not None and not client.is_device(device):
        device = device_of_request(device)
        if is_layout(device):
            from ..backend.constraint import resharded  # of several devices

            return resharded(x, device)
    return x if device is None or isinstance(x, Tracer) else by_device(array_on(x, device))


def array_of(values: Any, device: Any = None, given: bool = False, named: bool = True) -> Any:
    """NumPy's values as an array; while operations are recorded, as a constant of theirs. `given`: the user gave the values, a
    function of the library computed them otherwise. `named`: their dtype is the one to use, not NumPy's own choice."""
    if named and canonicalize(values.dtype) != values.dtype and settings().explicit_x64_dtypes == "allow":
        with override(enable_x64=True):
            return array_of(values, device, given)
    if (trace := capturing()) is not None:
        return on_device(trace.tracer(values if not values.shape else array_from_numpy(values)), device)
    array = array_from_numpy(values)
    return on_device(array, device) if device is not None or current_mesh() is None else over_mesh(array, given)


def over_mesh(array: Array, given: bool = True) -> Array:
    """A new array, whole on all devices of the mesh in force, if one is."""
    mesh = current_mesh()
    if mesh is None or not evaluating():
        return array
    from ..core.shardings import NamedSharding, PartitionSpec  # of several devices

    entries = [] if given or not mesh.explicit_axes else [None] * array.ndim
    return laid_out(array, NamedSharding(mesh, PartitionSpec(*entries)))


@eager_jit(static="dtype")
def _converted(x: Any, dtype: Any) -> Any:
    return convert_element_type_p(x, new_dtype=dtype, weak_type=False)


def result_type(*args: ArrayLike | DTypeLike) -> np.dtype:
    """The dtype of an operation on arrays, numbers and dtypes. Raises TypePromotionError where there is none,
    ValueError without arguments."""
    if not args:
        raise ValueError("result_type needs at least one argument")
    return _dtypes.promote(*map(typed, args))[0]


def typed(x: Any) -> tuple[Any, bool]:
    """The dtype and weak type of a value or of a dtype; Python's number types are weak."""
    if isinstance(x, ShapeDtypeStruct):  # which says how an array is, and is none: as in JAX
        return explicit(x.dtype), False
    if hasattr(x, "aval") or isinstance(x, (np.ndarray, np.generic)) or is_python_scalar(x):
        aval = aval_of(x)
        return aval.dtype, aval.weak_type
    if isinstance(x, type) and x in _dtypes.PYTHON_SCALARS:
        return python_dtype(x), x is not bool
    return _dtypes.named(x), False


def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype:
    """The dtype that holds both; `int`, `float` and `complex` are weak. 64-bit dtypes are not narrowed.

    Raises TypePromotionError where none does.
    """
    weak = [t is not bool and isinstance(t, type) and t in _dtypes.PYTHON_SCALARS for t in (a, b)]
    return _dtypes.promote_types(*zip([t if is_extended(t) else _plain(t) for t in (a, b)], weak))


_ABSTRACT = frozenset(
    (generic, number, inexact, floating, integer_, signedinteger, unsignedinteger, complexfloating, flexible, character,
     _dtypes.extended, _dtypes.prng_key)
)  # fmt: skip


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """Whether a dtype lies in a category (`floating`, `integer`, `dtypes.prng_key`, …) or equals another dtype.

    bfloat16 and the floats of 8 and 4 bits are floating, int4 and uint4 are integers. Raises TypeError for what is not a
    dtype.
    """
    return _lies_in(arg1, arg2)


def _lies_in(one: Any, other: Any) -> bool:
    if is_extended(other):
        return one is other
    if not _is_abstract(other):
        return not is_extended(one) and not _is_abstract(one) and _plain(one) == _plain(other)
    if is_extended(one):
        return issubclass(one.type, other)
    if _is_abstract(one):
        return issubclass(one, other)
    own = _plain(one)
    return issubclass(_CATEGORY.get(_dtypes.kind(own), own.type), other)


def _is_abstract(x: Any) -> bool:
    return isinstance(x, type) and x in _ABSTRACT


def _plain(x: Any) -> np.dtype:
    """The dtype itself, 64 bits wide for Python's types whatever `enable_x64` says."""
    return _dtypes.PYTHON_SCALARS[x] if isinstance(x, type) and x in _dtypes.PYTHON_SCALARS else np.dtype(x)


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """Whether a dtype is of a kind: a dtype, a tuple of kinds, or one of 'bool', 'signed integer', 'unsigned integer',
    'integral', 'real floating', 'complex floating', 'numeric'. Raises ValueError for other texts."""
    kinds = {
        "bool": "b",
        "signed integer": "i",
        "unsigned integer": "u",
        "integral": "iu",
        "real floating": "f",
        "complex floating": "c",
        "numeric": "iufc",
    }
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind not in kinds:
        raise ValueError(f"isdtype: kind {kind!r} is none of {', '.join(map(repr, kinds))}")
    own = np.dtype(dtype)
    return _dtypes.kind(own) in kinds[kind] if isinstance(kind, str) else own == np.dtype(kind)


def can_cast(
    from_: DTypeLike, to: DTypeLike, casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "safe"
) -> bool:
    """Whether NumPy's casting rule allows the conversion between two dtypes; `from_` may be an array, whose dtype is meant."""
    return np.can_cast(np.dtype(getattr(from_, "dtype", from_)), np.dtype(to), casting=casting)


def finfo(dtype: DTypeLike) -> ml_dtypes.finfo:
    """Limits of a float dtype (eps, max, min, tiny, bits, …); of a complex one, those of its parts. Raises ValueError
    for other dtypes."""
    found = _dtype_like(dtype)
    if not _dtypes.is_inexact(found):
        raise ValueError(f"finfo: {found} is not a float dtype; iinfo is for integers")
    return finite_info(found)


def iinfo(int_type: DTypeLike) -> ml_dtypes.iinfo:
    """Limits of an integer dtype (min, max, bits). Raises ValueError for other dtypes."""
    found = _dtype_like(int_type)
    try:
        return ml_dtypes.iinfo(found)
    except ValueError:
        raise ValueError(f"iinfo: {found} is not an integer dtype; finfo is for floats") from None


def _dtype_like(x: Any) -> Any:
    if hasattr(x, "aval"):
        return x.aval.dtype
    return python_dtype(x) if isinstance(x, type) and x in _dtypes.PYTHON_SCALARS else np.dtype(x)


def iscomplexobj(x: ArrayLike) -> bool:
    """Whether the dtype is complex."""
    if isinstance(x, (list, tuple)) and capturing() is not None:
        return any(map(iscomplexobj, x))  # there may be tracers among them
    return _dtypes.is_complex(aval_of(x).dtype) if hasattr(x, "aval") else np.iscomplexobj(x)


def isrealobj(x: ArrayLike) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def isscalar(element: object) -> bool:
    """Whether it is a number, a text or an array of shape []."""
    if np.isscalar(element):
        return True
    element = from_protocol(element)
    return getattr(element, "ndim", None) == 0 and hasattr(element, "dtype")


def shape(a: ArrayLike | Sequence[Any]) -> tuple[int, ...]:
    """The shape of an array, or of nested sequences."""
    own = getattr(a, "shape", None)
    if own is None and not isinstance(a, (list, tuple)):
        own = getattr(from_protocol(a), "shape", None)
    return np.shape(a) if own is None else tuple(own)


def ndim(a: ArrayLike | Sequence[Any]) -> int:
    """The number of axes of an array, or of nested sequences."""
    return len(shape(a))


def size(a: ArrayLike | Sequence[Any], axis: Axes = None) -> int:
    """The number of elements, or the size of one axis (the product of several)."""
    sizes = shape(a)
    return math.prod(sizes[i] for i in axes_of("size", axis, len(sizes)))


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of the given shapes broadcast to. Raises ValueError naming them, ShapeError for negative sizes."""
    return broadcast_shape(*[shape_of("broadcast_shapes", s) for s in shapes]) if shapes else ()


def iterable(y: object) -> bool:
    """Whether it can be iterated over: an array of shape [] cannot."""
    return hasattr(y, "__iter__") and getattr(y, "ndim", 1) != 0
