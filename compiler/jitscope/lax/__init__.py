"""`jitscope.lax`: the operations one by one, under JAX's names. Nothing is promoted, Python's numbers neither (1 is int32, 1.5
float32); scalars and axes of size 1 are repeated.

A façade: the primitives and their rules live in `ops`.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..control.cond import *
from ..control.fori_loop import *
from ..control.linear_solve import *
from ..control.scan import *
from ..control.while_loop import *
from ..core.late import late as _late_names
from ..ops.split import *
from ..special.associative_scan import *
from ..special.custom_root import *
from .convolutions import *
from .elementwise import *
from .marks import *
from .products import *
from .reductions import *
from .shapes import *
from .structural import *


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from ..api.many_devices import with_sharding_constraint as with_sharding_constraint
    from ..ops.exchanges import *
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
    from ..ops.ragged_exchange import ragged_all_to_all as ragged_all_to_all
    from . import linalg as linalg
    from .applying import scatter_apply as scatter_apply
    from .convolution_forms import (
        conv_general_dilated_local as conv_general_dilated_local,
        conv_general_dilated_patches as conv_general_dilated_patches,
        conv_transpose as conv_transpose,
    )
    from .convolution_shapes import (
        conv_general_permutations as conv_general_permutations,
        conv_general_shape_tuple as conv_general_shape_tuple,
        conv_shape_tuple as conv_shape_tuple,
        conv_transpose_shape_tuple as conv_transpose_shape_tuple,
    )
    from .fourier import FftType as FftType, fft as fft
    from .many_devices import precv as precv, psend as psend
    from .primitives import *
    from .ragged import (
        RaggedDotDimensionNumbers as RaggedDotDimensionNumbers,
        ragged_dot as ragged_dot,
        ragged_dot_general as ragged_dot_general,
    )
    from .random_bits import (
        RandomAlgorithm as RandomAlgorithm,
        rng_bit_generator as rng_bit_generator,
        rng_uniform as rng_uniform,
    )
    from .reducing import (
        reduce as reduce,
        reduce_window as reduce_window,
        reduce_window_shape_tuple as reduce_window_shape_tuple,
    )
    from .special import (
        bessel_i0e as bessel_i0e,
        bessel_i1e as bessel_i1e,
        betainc as betainc,
        igamma as igamma,
        igamma_grad_a as igamma_grad_a,
        igammac as igammac,
        polynomial as polynomial,
        random_gamma_grad as random_gamma_grad,
        zeta as zeta,
    )
    from .varying import pcast as pcast
else:
    # Modules that most programs never touch, and what of them is a name of this one.
    _late, _known = _late_names(
        globals(),
        {
            ".linalg": ".",
            ".fourier": "fft FftType",
            ".random_bits": "RandomAlgorithm rng_bit_generator rng_uniform",
            ".special": "bessel_i0e bessel_i1e betainc igamma igamma_grad_a igammac polynomial random_gamma_grad zeta",
            ".applying": "scatter_apply",
            ".convolution_forms": "conv_general_dilated_local conv_general_dilated_patches conv_transpose",
            ".convolution_shapes": "conv_general_permutations conv_general_shape_tuple conv_shape_tuple conv_transpose_shape_tuple",
            ".reducing": "reduce reduce_window reduce_window_shape_tuple",
            ".ragged": "RaggedDotDimensionNumbers ragged_dot ragged_dot_general",
            "..api.many_devices": "with_sharding_constraint",
            "..ops.indexing": "GatherDimensionNumbers GatherScatterMode ScatterDimensionNumbers gather scatter scatter_add scatter_max "
            "scatter_min scatter_mul scatter_sub",
            "..ops.exchanges": "all_gather all_to_all axis_index axis_size pbroadcast pmax pmean pmin ppermute pshuffle psum psum_scatter "
            "pswapaxes",
            ".varying": "pcast",
            ".many_devices": "precv psend",
            "..ops.ragged_exchange": "ragged_all_to_all",
        },
    )

    def _find(name: str) -> _Any:
        if name.endswith("_p"):
            return _importlib.import_module(f"{__name__}.primitives").find(name)
        return _late(name)

    def _names() -> list[str]:
        return sorted({*_known(), *_importlib.import_module(f"{__name__}.primitives").PRIMITIVES})

    globals().update(__getattr__=_find, __dir__=_names)  # a `def` of that name would be all names to type checkers
