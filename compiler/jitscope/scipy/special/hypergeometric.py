"""Hypergeometric functions."""

from __future__ import annotations

from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...special.hypergeometric import hyp1f1_p, hyp2f1_p
from ._operands import real_operands


__all__ = ["hyp1f1", "hyp2f1"]


@eager_jit(nested=True)
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's function ₁F₁(a; b; x), the sum of (a)ₖ/(b)ₖ xᵏ/k!, element by element [...]; ∞ for b = 0, -1, -2, …
    Raises ValueError for complex numbers."""
    return hyp1f1_p(*real_operands("hyp1f1", a, b, x))


@eager_jit(nested=True)
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Gauss's function ₂F₁(a, b; c; x), the sum of (a)ₖ (b)ₖ/(c)ₖ xᵏ/k!, continued to negative x, element by element
    [...]; for x > 1, and where c is 0, -1, -2, …, ∞ unless the sum ends before. Raises TypeError for complex numbers.
    """
    return hyp2f1_p(*real_operands("hyp2f1", a, b, c, x, error=TypeError))
