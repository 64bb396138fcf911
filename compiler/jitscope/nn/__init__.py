"""`jitscope.nn`: what neural networks are made of, under JAX's names: activations, softmax and its relatives, attention.

`initializers` draws parameters; it is loaded when first used.
"""

import importlib as _importlib
from typing import Any as _Any

from ..numpy import tanh as tanh
from .activations import *
from .attention import dot_product_attention as dot_product_attention
from .block_scaling import *
from .encoding import one_hot as one_hot
from .normalizing import *


# Names that mean the same.
swish, hard_swish = silu, hard_silu


def __getattr__(name: str) -> _Any:
    if name == "initializers":
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "initializers"})
