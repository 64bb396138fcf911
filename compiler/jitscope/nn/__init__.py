"""`jitscope.nn`: what neural networks are made of, under JAX's names: activations, softmax and its relatives, attention.

`initializers` draws parameters; it is loaded when first used.
"""

from ..core.late import late as _late
from ..numpy import tanh as tanh
from .activations import *
from .attention import dot_product_attention as dot_product_attention
from .block_scaling import *
from .encoding import one_hot as one_hot
from .normalizing import *


# Names that mean the same.
swish, hard_swish = silu, hard_silu


__getattr__, __dir__ = _late(globals(), {".initializers": "."})
