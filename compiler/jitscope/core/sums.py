"""Sums that are left open: what an operation gives of values that are terms of a sum over mesh axes, or whose cotangents are.

A value is `unreduced` over axes of a mesh where what the devices along them have are the terms of a sum that nobody took yet. What is
linear may be done to each term by itself; all else needs the sum. A value is `reduced` over axes where all devices have it, and the
sum of its cotangents over these axes is left open: so the gradient of a weight comes out unreduced, and gradients of several batches
are added up before the devices exchange anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dtypes import is_inexact
from .errors import ShardingTypeError
from .messages import with_advice
from .part_types import NO_SUMS, Sums, nothing, sums_of
from .primitive import Primitive


SUM = "take the sum first: jitscope.sharding.reshard(x, spec), or lax.psum inside shard_map"
REDUCED = (
    "lay the other operand out with jitscope.sharding.reshard(x, P(..., reduced={...})), or lax.pcast(x, axes, to='reduced') inside "
    "shard_map; or this one without reduced"
)


def open_after(
    primitive: Primitive, avals: Sequence[Any], outs: Sequence[Any], params: dict[str, Any], axes: frozenset
) -> list[Sums]:
    """Over which axes sums of the results are open; operands are to vary over `axes`. Raises ShardingTypeError for operands that do not
    fit to each other, NotImplementedError for operations that are not linear in terms of a sum, ValueError for such that vary."""
    sums = [sums_of(a) for a in avals]
    terms = [s.unreduced for s in sums]
    if any(both := t & axes for t in terms):
        a = next(a for a, t in zip(avals, terms) if t & axes)
        raise ValueError(
            with_advice(
                f"{_said(primitive, avals)}: {a.short()} is a term of a sum over {_names(both)}, along which others vary",
                SUM,
            )
        )
    own = frozenset().union(*(s.reduced for s in sums)) - axes
    if params.get("unreduced"):
        terms = [*terms, frozenset(params["unreduced"])]
        if not any(terms[:-1]):
            return [Sums(terms[-1], nothing)] * len(outs)
    if any(terms):
        return [Sums(_terms(primitive, avals, outs, terms), nothing)] * len(outs)
    if primitive.sums == "dot" or not own:
        return [NO_SUMS] * len(outs)
    for a, s in zip(avals, sums):
        if a.shape and not own <= s.reduced and is_inexact(a.dtype):
            raise ShardingTypeError(
                with_advice(
                    f"{_said(primitive, avals)}: one operand is reduced over {_names(own)}, {a.short()} is not", REDUCED
                )
            )
    return [Sums(nothing, own)] * len(outs)


def refuse_terms(name: str, avals: Sequence[Any]) -> None:
    """Raises NotImplementedError for terms of a sum, where values are asked for."""
    if term := next((a for a in avals if sums_of(a).unreduced), None):
        raise NotImplementedError(
            with_advice(
                f"{name}: {term.short()} has no value yet, its sum over {_names(sums_of(term).unreduced)} is open", SUM
            )
        )


def _terms(primitive: Primitive, avals: Sequence[Any], outs: Sequence[Any], terms: Sequence[frozenset]) -> frozenset:
    """The axes over which the results of an operation are terms of sums, as its operands are."""
    how, own = primitive.sums, frozenset().union(*terms)
    if any(is_inexact(a.dtype) and not is_inexact(out.dtype) for a, t in zip(avals, terms) if t for out in outs):
        how = ""
    if (how == "each" and terms[0] == own) or (how == "choice" and not terms[0] and all(t == own for t in terms[1:])):
        return own
    if how == "all":
        if all(t == own for t in terms):
            return own
        other = next(a for a, t in zip(avals, terms) if t != own)
        raise ShardingTypeError(
            with_advice(
                f"{_said(primitive, avals)}: one operand is a term of a sum over {_names(own)}, {other.short()} is not",
                SUM,
            )
        )
    if (how == "product" and sum(map(bool, terms)) == 1) or (how == "quotient" and not terms[1]):
        other = next(a for a, t in zip(avals, terms) if not t)
        if own <= sums_of(other).reduced or not other.shape:
            return own
        raise ShardingTypeError(
            with_advice(
                f"{_said(primitive, avals)}: one operand is a term of a sum over {_names(own)}, and {other.short()} is not reduced over it",
                REDUCED,
            )
        )
    if how in ("product", "quotient", "dot"):
        raise ShardingTypeError(
            with_advice(f"{_said(primitive, avals)}: a product of terms is no term of the sum", SUM)
        )
    raise NotImplementedError(
        with_advice(
            f"{_said(primitive, avals)}: it is not linear, and an operand is a term of a sum over {_names(own)}", SUM
        )
    )


def _said(primitive: Primitive, avals: Sequence[Any]) -> str:
    return f"{primitive.name} of {' and '.join(a.short() for a in avals)}"


def _names(axes: frozenset) -> str:
    return ", ".join(sorted(map(str, axes)))
