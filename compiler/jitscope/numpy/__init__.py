"""NumPy's functions on arrays that live on the device: `import jitscope.numpy as jnp`.

Names, arguments and defaults are those of `jax.numpy`, promotion of dtypes is JAX's. Outside any trace every function
runs as one compiled program; while tracing it records its equations.

All take arrays, also NumPy's, and numbers; for anything else, lists included, they raise TypeError, unless they take a list of
arrays. All raise ValueError for shapes that do not broadcast (ShapeError), axes that do not exist (AxisError) and sizes that are
negative, TypeError for sizes that are not ints and dtypes that do not exist, NotImplementedError for `out`, since arrays cannot
be written to. Below stands what a function raises besides.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..api.arrays import Array as _Array
from ..core.late import late as _late
from ..eager import operations as _operations  # noqa: F401  (puts the evaluating trace in place)
from . import operators as _operators  # noqa: F401  (fills in the operators of arrays and tracers)
from .applying import *
from .arithmetic import *
from .counting import *
from .creation import *
from .dtypes import *
from .dtypes import integer_ as _integer
from .editing import *
from .joining import *
from .linear import *
from .logic import *
from .methods import API_VERSION as _API_VERSION
from .ranges import *
from .reductions import *
from .repeating import *
from .rounding import *
from .running import *
from .selecting import *
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

__array_api_version__ = _API_VERSION


# What most programs never touch is loaded when first used.
if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from . import fft as fft, linalg as linalg
    from .einstein import *
    from .files import *
    from .fitting import poly as poly, polydiv as polydiv, polyfit as polyfit, roots as roots
    from .floats import frexp as frexp, ldexp as ldexp, spacing as spacing
    from .grids import *
    from .histograms import histogram2d as histogram2d, histogramdd as histogramdd
    from .integers import gcd as gcd, lcm as lcm, packbits as packbits, unpackbits as unpackbits
    from .masks import mask_indices as mask_indices, place as place
    from .neighbours import *
    from .padding import *
    from .polynomials import *
    from .quantiles import *
    from .sets import *
    from .special import i0 as i0
    from .standard import __array_namespace_info__ as __array_namespace_info__
    from .windows import (
        bartlett as bartlett,
        blackman as blackman,
        hamming as hamming,
        hanning as hanning,
        kaiser as kaiser,
    )
else:
    _, _names = _late(
        globals(),
        {
            ".fft": ".",
            ".linalg": ".",
            ".einstein": "einsum einsum_path",
            ".files": "ComplexWarning array_repr array_str fromfile fromiter fromstring get_printoptions load printoptions save savez "
            "set_printoptions",
            ".fitting": "poly polydiv polyfit roots",
            ".floats": "frexp ldexp spacing",
            ".grids": "c_ index_exp ix_ mgrid ogrid r_ ravel_multi_index s_ unravel_index",
            ".histograms": "histogram2d histogramdd",
            ".integers": "gcd lcm packbits unpackbits",
            ".masks": "mask_indices place",
            ".neighbours": "diff ediff1d gradient trapezoid unwrap",
            ".padding": "pad",
            ".polynomials": "convolve correlate polyadd polyder polyint polymul polysub polyval vander",
            ".quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
            ".sets": "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values",
            ".special": "i0",
            ".standard": "__array_namespace_info__",
            ".windows": "bartlett blackman hamming hanning kaiser",
        },
    )
    __all__ = [name for name in _names() if not name.startswith("_") and name != "annotations"]  # pyright: ignore[reportUnsupportedDunderAll]
