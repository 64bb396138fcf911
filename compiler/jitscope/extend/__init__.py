"""`jitscope.extend`: operations and lowering rules of your own.

A primitive is one object whose methods are its rules:

    class Softsign(Elementwise): ...          a class, for an operation with rules of its own
    softsign_p = Elementwise("softsign", partial, hlo=...)      one statement, for a regular one

`Primitive` documents the five duties: `abstract`, `lower`, `jvp`, `transpose`, `batch`. What is derived from them
(evaluation, jit, grad, vmap, documents and views) works at once. `register_lowering` gives an existing operation another
lowering rule, for all platforms or one.
"""

from ..core.avals import ShapedArray, aval_of
from ..core.late import late as _late
from ..core.primitive import HigherOrder, Primitive
from ..core.zeros import (
    UndefinedPrimal,
    Zero,
    is_linear,
    is_zero,
    zero_of,
)
from ..ops.families import (
    Bilinear,
    Discrete,
    DiscreteElementwise,
    Elementwise,
    Linear,
    Reduce,
    Structural,
    add_tangents,
    pure,
)
from ..ops.linear import instantiate
from .lowering_rules import primitive_of, register_lowering


__all__ = ["Bilinear", "Discrete", "DiscreteElementwise", "Elementwise", "HigherOrder", "Linear", "Primitive",
           "Reduce", "ShapedArray", "Structural", "UndefinedPrimal", "Zero", "add_tangents", "aval_of", "instantiate",
           "is_linear", "is_zero", "primitive_of", "pure", "register_lowering", "zero_of"]  # fmt: skip

__getattr__, __dir__ = _late(
    globals(), {f".{module}": "." for module in ("backend", "core", "linear_util", "mlir", "source_info_util")}
)
