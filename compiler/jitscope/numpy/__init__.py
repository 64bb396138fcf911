"""NumPy's functions on arrays that live on the device: `import jitscope.numpy as jnp`.

Names, arguments and defaults are those of `jax.numpy`, promotion of dtypes is JAX's. Outside any trace every function
runs as one compiled program; while tracing it records its equations.

All take arrays, also NumPy's, and numbers; for anything else, lists included, they raise TypeError, unless they take a list of
arrays. All raise ValueError for shapes that do not broadcast (ShapeError), axes that do not exist (AxisError) and sizes that are
negative, TypeError for sizes that are no ints and dtypes that do not exist, NotImplementedError for `out`, since arrays cannot
be written to. Below stands what a function raises besides.
"""

from ..api.arrays import Array as _Array
from ..core.late import late as _late
from ..eager import operations as _operations  # noqa: F401  (puts the evaluating trace in place)
from . import operators as _operators  # (fills in the operators of arrays and tracers)
from .applying import *
from .arithmetic import *
from .counting import *
from .creation import *
from .dtypes import (
    astype as astype,
    bfloat16 as bfloat16,
    bool_ as bool_,
    broadcast_shapes as broadcast_shapes,
    can_cast as can_cast,
    cdouble as cdouble,
    character as character,
    complex64 as complex64,
    complex128 as complex128,
    complex_ as complex_,
    complexfloating as complexfloating,
    csingle as csingle,
    double as double,
    dtype as dtype,
    e as e,
    euler_gamma as euler_gamma,
    finfo as finfo,
    flexible as flexible,
    float4_e2m1fn as float4_e2m1fn,
    float6_e2m3fn as float6_e2m3fn,
    float6_e3m2fn as float6_e3m2fn,
    float8_e3m4 as float8_e3m4,
    float8_e4m3 as float8_e4m3,
    float8_e4m3b11fnuz as float8_e4m3b11fnuz,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    float8_e8m0fnu as float8_e8m0fnu,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    float_ as float_,
    floating as floating,
    generic as generic,
    iinfo as iinfo,
    inexact as inexact,
    inf as inf,
    int1 as int1,
    int2 as int2,
    int4 as int4,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int_ as int_,
    integer_ as _integer,
    iscomplexobj as iscomplexobj,
    isdtype as isdtype,
    isrealobj as isrealobj,
    isscalar as isscalar,
    issubdtype as issubdtype,
    iterable as iterable,
    nan as nan,
    ndim as ndim,
    newaxis as newaxis,
    number as number,
    object_ as object_,
    pi as pi,
    promote_types as promote_types,
    result_type as result_type,
    shape as shape,
    signedinteger as signedinteger,
    single as single,
    size as size,
    uint as uint,
    uint1 as uint1,
    uint2 as uint2,
    uint4 as uint4,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    unsignedinteger as unsignedinteger,
)
from .editing import *
from .einstein import *
from .grids import *
from .joining import *
from .linear import *
from .logic import *
from .neighbours import *
from .padding import (
    pad as pad,
)
from .polynomials import *
from .quantiles import *
from .ranges import *
from .reductions import (
    all as all,
    any as any,
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
    max as max,
    min as min,
    prod as prod,
    ptp as ptp,
    sum as sum,
)
from .repeating import *
from .rounding import *
from .running import *
from .selecting import *
from .sets import *
from .sorting import *
from .statistics import *
from .structure import *
from .transcendental import *
from .triangles import *
from .ufuncs import *


# Names that mean the same.
abs, true_divide, mod, pow = absolute, divide, remainder, power
amax, amin, around, conj = max, min, round, conjugate
bitwise_not = bitwise_invert = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
acos, acosh, asin, asinh, atan, atan2, atanh = arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh
degrees, radians = rad2deg, deg2rad
bool, integer, ndarray = bool_, _integer, _Array

__array_api_version__ = _operators.API_VERSION


# What most programs never touch is loaded when first used.
__getattr__, __dir__ = _late(
    globals(),
    {
        ".fft": ".",
        ".linalg": ".",
        ".files": "ComplexWarning array_repr array_str fromfile fromiter fromstring get_printoptions load printoptions save savez "
        "set_printoptions",
        ".fitting": "poly polydiv polyfit roots",
        ".floats": "frexp ldexp spacing",
        ".histograms": "histogram2d histogramdd",
        ".integers": "gcd lcm packbits unpackbits",
        ".masks": "mask_indices place",
        ".special": "i0",
        ".standard": "__array_namespace_info__",
        ".windows": "bartlett blackman hamming hanning kaiser",
    },
)
__all__ = [name for name in __dir__() if not name.startswith("_") and name != "annotations"]  # pyright: ignore[reportUnsupportedDunderAll]
