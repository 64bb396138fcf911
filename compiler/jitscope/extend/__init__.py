"""`jitscope.extend`: operations and lowering rules of your own.

A primitive is one object whose methods are its rules:

    class Softsign(Elementwise): ...          a class, for an operation with rules of its own
    softsign_p = Elementwise("softsign", partial, hlo=...)      one statement, for a regular one

`Primitive` documents the five duties: `abstract`, `lower`, `jvp`, `transpose`, `batch`. What is derived from them
(evaluation, jit, grad, vmap, documents and views) works at once. `register_lowering` gives an existing operation another
lowering rule, for all platforms or one.
"""

from ..core.avals import ShapedArray as ShapedArray, aval_of as aval_of
from ..core.primitive import HigherOrder as HigherOrder, Primitive as Primitive
from ..core.zeros import (
    Linear as LinearOperand,
    Zero as Zero,
    is_linear as is_linear,
    is_zero as is_zero,
    zero_of as zero_of,
)
from ..ops.families import (
    Bilinear as Bilinear,
    Discrete as Discrete,
    DiscreteElementwise as DiscreteElementwise,
    Elementwise as Elementwise,
    Linear as Linear,
    Reduce as Reduce,
    Structural as Structural,
    add_tangents as add_tangents,
    pure as pure,
)
from ..ops.linear import instantiate as instantiate
from .lowering_rules import primitive_of as primitive_of, register_lowering as register_lowering


__all__ = [
    "Bilinear",
    "Discrete",
    "DiscreteElementwise",
    "Elementwise",
    "HigherOrder",
    "Linear",
    "LinearOperand",
    "Primitive",
    "Reduce",
    "ShapedArray",
    "Structural",
    "Zero",
    "add_tangents",
    "aval_of",
    "instantiate",
    "is_linear",
    "is_zero",
    "primitive_of",
    "pure",
    "register_lowering",
    "zero_of",
]
