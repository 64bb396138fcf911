"""`jitscope.lax`: the operations one by one, under JAX's names. Nothing is promoted or broadcast, but scalars.

A façade: the primitives and their rules live in `ops`.
"""

import importlib as _importlib
from typing import Any as _Any

from ..control.cond import cond as cond, platform_dependent as platform_dependent, switch as switch
from ..control.fori_loop import fori_loop as fori_loop, map as map
from ..control.linear_solve import custom_linear_solve as custom_linear_solve
from ..control.scan import scan as scan
from ..control.while_loop import while_loop as while_loop
from ..ops.collective import (
    all_gather as all_gather,
    all_to_all as all_to_all,
    axis_index as axis_index,
    axis_size as axis_size,
    pbroadcast as pbroadcast,
    pmax as pmax,
    pmean as pmean,
    pmin as pmin,
    ppermute as ppermute,
    pshuffle as pshuffle,
    psum as psum,
    psum_scatter as psum_scatter,
    pswapaxes as pswapaxes,
)
from ..ops.indexing import (
    GatherDimensionNumbers as GatherDimensionNumbers,
    GatherScatterMode as GatherScatterMode,
    ScatterDimensionNumbers as ScatterDimensionNumbers,
    gather as gather,
    scatter as scatter,
    scatter_add as scatter_add,
    scatter_max as scatter_max,
    scatter_min as scatter_min,
    scatter_mul as scatter_mul,
)
from ..ops.split import split as split
from ..special.associative_scan import associative_scan as associative_scan
from ..special.custom_root import custom_root as custom_root
from .convolutions import (
    ConvDimensionNumbers as ConvDimensionNumbers,
    conv as conv,
    conv_dimension_numbers as conv_dimension_numbers,
    conv_general_dilated as conv_general_dilated,
    conv_with_general_padding as conv_with_general_padding,
    padtype_to_pads as padtype_to_pads,
)
from .elementwise import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    bitcast_convert_type as bitcast_convert_type,
    bitwise_and as bitwise_and,
    bitwise_not as bitwise_not,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    cbrt as cbrt,
    ceil as ceil,
    clamp as clamp,
    clz as clz,
    complex as complex,
    conj as conj,
    convert_element_type as convert_element_type,
    cos as cos,
    cosh as cosh,
    digamma as digamma,
    div as div,
    eq as eq,
    erf as erf,
    erf_inv as erf_inv,
    erfc as erfc,
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    floor as floor,
    ge as ge,
    gt as gt,
    imag as imag,
    integer_pow as integer_pow,
    is_finite as is_finite,
    le as le,
    lgamma as lgamma,
    log as log,
    log1p as log1p,
    logistic as logistic,
    lt as lt,
    max as max,
    min as min,
    mul as mul,
    ne as ne,
    neg as neg,
    nextafter as nextafter,
    polygamma as polygamma,
    population_count as population_count,
    pow as pow,
    real as real,
    reciprocal as reciprocal,
    rem as rem,
    round as round,
    rsqrt as rsqrt,
    select as select,
    select_n as select_n,
    shift_left as shift_left,
    shift_right_arithmetic as shift_right_arithmetic,
    shift_right_logical as shift_right_logical,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    stop_gradient as stop_gradient,
    sub as sub,
    tan as tan,
    tanh as tanh,
)
from .marks import optimization_barrier as optimization_barrier
from .reductions import (
    Precision as Precision,
    argmax as argmax,
    argmin as argmin,
    batch_matmul as batch_matmul,
    cummax as cummax,
    cummin as cummin,
    cumprod as cumprod,
    cumsum as cumsum,
    dot as dot,
    dot_general as dot_general,
    reduce_and as reduce_and,
    reduce_max as reduce_max,
    reduce_min as reduce_min,
    reduce_or as reduce_or,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
    reduce_xor as reduce_xor,
    sort as sort,
    sort_key_val as sort_key_val,
    top_k as top_k,
)
from .structural import (
    broadcast as broadcast,
    broadcast_in_dim as broadcast_in_dim,
    broadcasted_iota as broadcasted_iota,
    collapse as collapse,
    concatenate as concatenate,
    dynamic_index_in_dim as dynamic_index_in_dim,
    dynamic_slice as dynamic_slice,
    dynamic_slice_in_dim as dynamic_slice_in_dim,
    dynamic_update_index_in_dim as dynamic_update_index_in_dim,
    dynamic_update_slice as dynamic_update_slice,
    dynamic_update_slice_in_dim as dynamic_update_slice_in_dim,
    expand_dims as expand_dims,
    full as full,
    full_like as full_like,
    index_in_dim as index_in_dim,
    iota as iota,
    pad as pad,
    reshape as reshape,
    rev as rev,
    slice as slice,
    slice_in_dim as slice_in_dim,
    squeeze as squeeze,
    transpose as transpose,
)


# Modules that most programs never touch, and what of them is a name of this one.
_LATE = {"linalg": None, "fft": "fourier", "FftType": "fourier"}


def __getattr__(name: str) -> _Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = _importlib.import_module(f"{__name__}.{_LATE[name] or name}")
    return getattr(found, name) if _LATE[name] else found
