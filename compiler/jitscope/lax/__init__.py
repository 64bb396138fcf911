"""`jitscope.lax`: the operations one by one, under JAX's names. Nothing is promoted, Python's numbers neither (1 is int32, 1.5
float32); scalars and axes of size 1 are repeated.

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
    scatter_sub as scatter_sub,
)
from ..ops.split import split as split
from ..special.associative_scan import associative_scan as associative_scan
from ..special.custom_root import custom_root as custom_root
from .convolutions import (
    ConvDimensionNumbers as ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
    conv as conv,
    conv_dimension_numbers as conv_dimension_numbers,
    conv_general_dilated as conv_general_dilated,
    conv_with_general_padding as conv_with_general_padding,
    padtype_to_pads as padtype_to_pads,
)
from .elementwise import (
    AccuracyMode as AccuracyMode,
    RoundingMethod as RoundingMethod,
    Tolerance as Tolerance,
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
    mulhi as mulhi,
    ne as ne,
    neg as neg,
    nextafter as nextafter,
    polygamma as polygamma,
    population_count as population_count,
    pow as pow,
    real as real,
    reciprocal as reciprocal,
    reduce_precision as reduce_precision,
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
from .marks import (
    after_all as after_all,
    composite as composite,
    create_token as create_token,
    dce_sink as dce_sink,
    optimization_barrier as optimization_barrier,
)
from .products import (
    DotAlgorithm as DotAlgorithm,
    DotAlgorithmPreset as DotAlgorithmPreset,
    DotDimensionNumbers as DotDimensionNumbers,
    Precision as Precision,
    PrecisionLike as PrecisionLike,
    batch_matmul as batch_matmul,
    dot as dot,
    dot_general as dot_general,
    scaled_dot as scaled_dot,
)
from .reductions import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    argmax as argmax,
    argmin as argmin,
    cumlogsumexp as cumlogsumexp,
    cummax as cummax,
    cummin as cummin,
    cumprod as cumprod,
    cumsum as cumsum,
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
from .shapes import (
    broadcast_like as broadcast_like,
    broadcast_shapes as broadcast_shapes,
    broadcast_to_rank as broadcast_to_rank,
    dtype as dtype,
    index_take as index_take,
    shape_as_value as shape_as_value,
    stack as stack,
    stage as stage,
    tile as tile,
    unstack as unstack,
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
    empty as empty,
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
_LATE: dict[str, str | None] = {
    "linalg": None,
    **{
        name: module
        for module, names in {
            "fourier": "fft FftType",
            "random_bits": "RandomAlgorithm rng_bit_generator rng_uniform",
            "special": "bessel_i0e bessel_i1e betainc igamma igamma_grad_a igammac random_gamma_grad zeta",
            "applying": "scatter_apply",
            "convolution_forms": "conv_general_dilated_local conv_general_dilated_patches conv_transpose",
            "convolution_shapes": "conv_general_permutations conv_general_shape_tuple conv_shape_tuple "
            "conv_transpose_shape_tuple",
            "reducing": "reduce reduce_window reduce_window_shape_tuple",
            "ragged": "RaggedDotDimensionNumbers ragged_dot ragged_dot_general",
            "many_devices": "pcast precv psend ragged_all_to_all with_sharding_constraint",
        }.items()
        for name in names.split()
    },
}


def __getattr__(name: str) -> _Any:
    if name not in _LATE:
        if name.endswith("_p"):
            return _importlib.import_module(f"{__name__}.primitives").find(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = _importlib.import_module(f"{__name__}.{_LATE[name] or name}")
    return getattr(found, name) if _LATE[name] else found


def __dir__() -> list[str]:
    primitives = _importlib.import_module(f"{__name__}.primitives").PRIMITIVES
    return sorted({*globals(), *_LATE, *primitives})
