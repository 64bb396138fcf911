"""`jitscope.scipy.linalg`: SciPy's functions of matrices that JAX has, along the last two axes; leading axes are
batches.

Integers become the default float; float16 and bfloat16 are refused, since LAPACK has neither. A matrix for which LAPACK
fails gives NaN instead of an error: a compiled program cannot raise.
"""

from .decompositions import *
from .equations import *
from .matrix_functions import *
from .special_matrices import *
from .tridiagonal import *
