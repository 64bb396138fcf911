"""Symbolic zeros, and undefined primals."""

from __future__ import annotations

from .avals import ShapedArray, aval_of, tangent_aval


class Zero:
    """A tangent or cotangent known to be zero: rules skip the work for it. `aval` is the aval it would have."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(x: object) -> Zero:
        """`zero_of`, by JAX's name."""
        return zero_of(x)


class UndefinedPrimal:
    """Stands for an operand in which an equation is linear, when it is transposed: its value is not known."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


def zero_of(x: object) -> Zero:
    """The zero tangent of a value."""
    return Zero(tangent_aval(aval_of(x)))


def is_linear(x: object) -> bool:
    """Whether an operand is one that a transposed equation is linear in."""
    return type(x) is UndefinedPrimal


def is_zero(x: object) -> bool:
    """Whether a tangent or cotangent is known to be zero."""
    return type(x) is Zero
