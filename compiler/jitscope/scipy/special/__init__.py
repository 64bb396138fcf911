"""`jitscope.scipy.special`: the special functions of SciPy that JAX has, element by element.

Operands broadcast against each other; integers and booleans become floats. float16 and bfloat16 are computed as
float32. Complex numbers are taken where a function says so, else refused. Outside of its domain a function gives NaN.
docs/special.md lists domains and accuracy.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ...core.late import late as _late
from .bessel import *
from .entropy import *
from .error import *
from .exponential import *
from .gammas import *
from .harmonics import *
from .hypergeometric import *
from .zetas import *


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from ...nn.normalizing import logsumexp as logsumexp
else:
    _late(globals(), {"...nn.normalizing": "logsumexp"})
