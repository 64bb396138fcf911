"""NumPy's functions on arrays that live on the device: `import jitscope.numpy as jnp`.

Names, arguments and defaults are those of `jax.numpy`, promotion of dtypes is JAX's. Outside any trace every function
runs as one compiled program; while tracing it records its equations.
"""

import importlib as _importlib
from typing import Any as _Any

from ..api.arrays import Array as _Array
from ..eager import operations as _operations  # noqa: F401  (puts the evaluating trace in place)
from . import operators as _operators  # (fills in the operators of arrays and tracers)
from .applying import (
    apply_along_axis as apply_along_axis,
    apply_over_axes as apply_over_axes,
    fromfunction as fromfunction,
    piecewise as piecewise,
    vectorize as vectorize,
)
from .arithmetic import (
    absolute as absolute,
    divide as divide,
    divmod as divmod,
    fabs as fabs,
    float_power as float_power,
    floor_divide as floor_divide,
    fmax as fmax,
    fmin as fmin,
    fmod as fmod,
    positive as positive,
    power as power,
    reciprocal as reciprocal,
    remainder as remainder,
    sign as sign,
    square as square,
)
from .counting import (
    bincount as bincount,
    corrcoef as corrcoef,
    cov as cov,
    histogram as histogram,
    histogram_bin_edges as histogram_bin_edges,
    interp as interp,
)
from .creation import (
    array as array,
    asarray as asarray,
    copy as copy,
    empty as empty,
    empty_like as empty_like,
    from_dlpack as from_dlpack,
    frombuffer as frombuffer,
    full as full,
    full_like as full_like,
    ones as ones,
    ones_like as ones_like,
    zeros as zeros,
    zeros_like as zeros_like,
)
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
from .editing import (
    choose as choose,
    delete as delete,
    fill_diagonal as fill_diagonal,
    insert as insert,
    put as put,
    put_along_axis as put_along_axis,
    resize as resize,
    trim_zeros as trim_zeros,
)
from .einstein import (
    einsum as einsum,
    einsum_path as einsum_path,
)
from .grids import (
    c_ as c_,
    index_exp as index_exp,
    ix_ as ix_,
    mgrid as mgrid,
    ogrid as ogrid,
    r_ as r_,
    ravel_multi_index as ravel_multi_index,
    s_ as s_,
    unravel_index as unravel_index,
)
from .joining import (
    append as append,
    array_split as array_split,
    block as block,
    column_stack as column_stack,
    concat as concat,
    concatenate as concatenate,
    dsplit as dsplit,
    dstack as dstack,
    hsplit as hsplit,
    hstack as hstack,
    split as split,
    stack as stack,
    unstack as unstack,
    vsplit as vsplit,
    vstack as vstack,
)
from .linear import (
    cross as cross,
    dot as dot,
    inner as inner,
    kron as kron,
    matmul as matmul,
    matvec as matvec,
    outer as outer,
    tensordot as tensordot,
    trace as trace,
    vdot as vdot,
    vecdot as vecdot,
    vecmat as vecmat,
)
from .logic import (
    allclose as allclose,
    array_equal as array_equal,
    array_equiv as array_equiv,
    bitwise_count as bitwise_count,
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    invert as invert,
    isclose as isclose,
    iscomplex as iscomplex,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    isneginf as isneginf,
    isposinf as isposinf,
    isreal as isreal,
    left_shift as left_shift,
    less as less,
    less_equal as less_equal,
    logical_not as logical_not,
    not_equal as not_equal,
    right_shift as right_shift,
    select as select,
)
from .neighbours import (
    diff as diff,
    ediff1d as ediff1d,
    gradient as gradient,
    trapezoid as trapezoid,
    unwrap as unwrap,
)
from .padding import (
    pad as pad,
)
from .polynomials import (
    convolve as convolve,
    correlate as correlate,
    polyadd as polyadd,
    polyder as polyder,
    polyint as polyint,
    polymul as polymul,
    polysub as polysub,
    polyval as polyval,
    vander as vander,
)
from .quantiles import (
    median as median,
    nanmedian as nanmedian,
    nanpercentile as nanpercentile,
    nanquantile as nanquantile,
    percentile as percentile,
    quantile as quantile,
)
from .ranges import (
    arange as arange,
    geomspace as geomspace,
    indices as indices,
    linspace as linspace,
    logspace as logspace,
    meshgrid as meshgrid,
)
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
from .repeating import (
    repeat as repeat,
    roll as roll,
    tile as tile,
)
from .rounding import (
    angle as angle,
    ceil as ceil,
    clip as clip,
    conjugate as conjugate,
    copysign as copysign,
    floor as floor,
    heaviside as heaviside,
    imag as imag,
    modf as modf,
    nan_to_num as nan_to_num,
    nextafter as nextafter,
    real as real,
    rint as rint,
    round as round,
    signbit as signbit,
    trunc as trunc,
)
from .running import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    nancumprod as nancumprod,
    nancumsum as nancumsum,
)
from .selecting import (
    argwhere as argwhere,
    compress as compress,
    extract as extract,
    flatnonzero as flatnonzero,
    nonzero as nonzero,
    take as take,
    take_along_axis as take_along_axis,
    where as where,
)
from .sets import (
    intersect1d as intersect1d,
    isin as isin,
    setdiff1d as setdiff1d,
    setxor1d as setxor1d,
    union1d as union1d,
    unique as unique,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
)
from .sorting import (
    argpartition as argpartition,
    argsort as argsort,
    digitize as digitize,
    lexsort as lexsort,
    partition as partition,
    searchsorted as searchsorted,
    sort as sort,
    sort_complex as sort_complex,
)
from .statistics import (
    average as average,
    mean as mean,
    nanargmax as nanargmax,
    nanargmin as nanargmin,
    nanmax as nanmax,
    nanmean as nanmean,
    nanmin as nanmin,
    nanprod as nanprod,
    nanstd as nanstd,
    nansum as nansum,
    nanvar as nanvar,
    std as std,
    var as var,
)
from .structure import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    broadcast_arrays as broadcast_arrays,
    broadcast_to as broadcast_to,
    expand_dims as expand_dims,
    flip as flip,
    fliplr as fliplr,
    flipud as flipud,
    matrix_transpose as matrix_transpose,
    moveaxis as moveaxis,
    permute_dims as permute_dims,
    ravel as ravel,
    reshape as reshape,
    rollaxis as rollaxis,
    rot90 as rot90,
    squeeze as squeeze,
    swapaxes as swapaxes,
    transpose as transpose,
)
from .transcendental import (
    arccos as arccos,
    arccosh as arccosh,
    arcsin as arcsin,
    arcsinh as arcsinh,
    arctan as arctan,
    arctan2 as arctan2,
    arctanh as arctanh,
    cbrt as cbrt,
    cos as cos,
    cosh as cosh,
    deg2rad as deg2rad,
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    hypot as hypot,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    rad2deg as rad2deg,
    sin as sin,
    sinc as sinc,
    sinh as sinh,
    sqrt as sqrt,
    tan as tan,
    tanh as tanh,
)
from .triangles import (
    diag as diag,
    diag_indices as diag_indices,
    diag_indices_from as diag_indices_from,
    diagflat as diagflat,
    diagonal as diagonal,
    eye as eye,
    identity as identity,
    tri as tri,
    tril as tril,
    tril_indices as tril_indices,
    tril_indices_from as tril_indices_from,
    triu as triu,
    triu_indices as triu_indices,
    triu_indices_from as triu_indices_from,
)
from .ufuncs import (
    add as add,
    bitwise_and as bitwise_and,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    frompyfunc as frompyfunc,
    logaddexp as logaddexp,
    logaddexp2 as logaddexp2,
    logical_and as logical_and,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    subtract as subtract,
    ufunc as ufunc,
)


# Names that mean the same.
abs, true_divide, mod, pow = absolute, divide, remainder, power
amax, amin, around, conj = max, min, round, conjugate
bitwise_not = bitwise_invert = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
acos, acosh, asin, asinh, atan, atan2, atanh = arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh
degrees, radians = rad2deg, deg2rad
bool, integer, ndarray = bool_, _integer, _Array

_ROOMS = ("fft", "linalg")
_LATER = {
    "files": "ComplexWarning array_repr array_str fromfile fromiter fromstring get_printoptions load printoptions save savez "
    "set_printoptions",
    "fitting": "poly polydiv polyfit roots",
    "floats": "frexp ldexp spacing",
    "histograms": "histogram2d histogramdd",
    "integers": "gcd lcm packbits unpackbits",
    "masks": "mask_indices place",
    "special": "i0",
    "standard": "__array_namespace_info__",
    "windows": "bartlett blackman hamming hanning kaiser",
}
_LATER = {name: module for module, names in _LATER.items() for name in names.split()}
__array_api_version__ = _operators.API_VERSION


def __getattr__(name: str) -> _Any:
    """What most programs never touch is loaded when first used."""
    if name in _ROOMS:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        found = globals()[name] = getattr(_importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_LATER})


__all__ = [name for name in __dir__() if not name.startswith("_") and name != "annotations"]  # pyright: ignore[reportUnsupportedDunderAll]
