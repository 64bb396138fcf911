"""`jitscope.nn`: what neural networks are made of, under JAX's names: activations, softmax and its relatives, attention.

`initializers` draws parameters; it is loaded when first used.
"""

import importlib as _importlib
from typing import Any as _Any

from ..numpy import tanh as tanh
from .activations import (
    celu as celu,
    elu as elu,
    gelu as gelu,
    glu as glu,
    hard_sigmoid as hard_sigmoid,
    hard_silu as hard_silu,
    hard_tanh as hard_tanh,
    identity as identity,
    leaky_relu as leaky_relu,
    log1mexp as log1mexp,
    log_sigmoid as log_sigmoid,
    mish as mish,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    sigmoid as sigmoid,
    silu as silu,
    soft_sign as soft_sign,
    softplus as softplus,
    sparse_plus as sparse_plus,
    sparse_sigmoid as sparse_sigmoid,
    squareplus as squareplus,
)
from .attention import dot_product_attention as dot_product_attention
from .block_scaling import (
    get_scaled_dot_general_config as get_scaled_dot_general_config,
    scaled_dot_general as scaled_dot_general,
    scaled_matmul as scaled_matmul,
)
from .encoding import one_hot as one_hot
from .normalizing import (
    log_softmax as log_softmax,
    logmeanexp as logmeanexp,
    logsumexp as logsumexp,
    softmax as softmax,
    standardize as standardize,
)


# Names that mean the same.
swish, hard_swish = silu, hard_silu


def __getattr__(name: str) -> _Any:
    if name == "initializers":
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "initializers"})
