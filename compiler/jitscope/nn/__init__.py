"""`jitscope.nn`: what neural networks are made of, under JAX's names: activations, softmax and its relatives, attention.

`initializers` draws parameters; it is loaded when first used.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.late import late as _late
from .activations import *
from .attention import *
from .block_scaling import *
from .encoding import *
from .normalizing import *


# Names that mean the same.
swish, hard_swish = silu, hard_silu


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from ..numpy import tanh as tanh
    from . import initializers as initializers
else:
    _late(globals(), {"..numpy": "tanh", ".initializers": "."})
