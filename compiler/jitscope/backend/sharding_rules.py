"""Sharding rules: which axes of an operation's operands and results are cut alike, written like an einsum (`i j, j k -> i k`)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..named_tuple import NamedTuple


_TOKEN = re.compile(r"\s*(\.\.\.\d*|[A-Za-z]\w*|[()])")
Axis = tuple[str, ...]


class ShardingRule(NamedTuple):
    """For each value its axes: each the names of its factors, of which there are several in `(a b)`. A name that begins with `...`
    stands for all leading axes. `special`: reduction, need_replication and permutation factors. `sizes`: of factors that stand
    in brackets alone."""

    operands: tuple[tuple[Axis, ...], ...]
    results: tuple[tuple[Axis, ...], ...]
    special: tuple[tuple[str, ...], ...]
    sizes: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls,
        text: str,
        *,
        reduction_factors: Sequence[str] = (),
        need_replication_factors: Sequence[str] = (),
        permutation_factors: Sequence[str] = (),
        **sizes: int,
    ) -> ShardingRule:
        """The rule of a text. Raises ValueError for one that is none, and for factors that it does not have."""
        sides = text.split("->")
        if len(sides) != 2:
            raise ValueError(f"the sharding rule {text!r} is to have one '->' between operands and results")
        operands, results = (tuple(_axes(part, text) for part in side.split(",")) for side in sides)
        special = (tuple(reduction_factors), tuple(need_replication_factors), tuple(permutation_factors))
        known = {name for value in (*operands, *results) for axis in value for name in axis}
        named = [name for names in special for name in names]
        unknown = [name for name in [*named, *sizes] if name not in known]
        if unknown:
            raise ValueError(f"the sharding rule {text!r} has no factors {unknown}")
        if len(set(named)) < len(named):
            raise ValueError(f"the sharding rule {text!r} has a factor that is of two kinds: {named}")
        return cls(operands, results, special, tuple(sizes.items()))


def _axes(part: str, text: str) -> tuple[Axis, ...]:
    found: list[Axis] = []
    inner: list[str] | None = None
    at = 0
    while part[at:].strip():
        token = _TOKEN.match(part, at)
        if token is None:
            raise ValueError(f"the sharding rule {text!r} has {part[at:].strip()!r}, which names no factor")
        at, word = token.end(), token[1]
        if word in "()":
            if (word == "(") == (inner is not None) or (inner is not None and len(inner) < 2):
                raise ValueError(f"the sharding rule {text!r}: brackets hold two factors or more, and no brackets")
            if inner is not None:
                found.append(tuple(inner))
            inner = None if inner is not None else []
        elif inner is not None:
            inner.append(word)
        else:
            found.append((word,))
    if inner is not None or any(axis[0].startswith("...") for axis in found[1:]):
        raise ValueError(f"the sharding rule {text!r}: brackets are closed, and '...' stands first")
    return tuple(found)


def rule_attribute(
    sdy: Any, rule: ShardingRule, taken: Sequence[tuple[int, ...]], given: Sequence[tuple[int, ...]]
) -> Any:
    """The rule as Shardy has it, for operands and results of these shapes. Raises ValueError where they do not fit."""
    sides = []
    for what, values, shapes in (("operands", rule.operands, taken), ("results", rule.results, given)):
        if len(values) != len(shapes):
            raise ValueError(f"the sharding rule is of {len(values)} {what}, and there are {len(shapes)}")
        sides.append([_expanded(value, shape) for value, shape in zip(values, shapes)])
    sizes = _sizes(rule, [*sides[0], *sides[1]], [*taken, *given])
    numbers = {name: i for i, name in enumerate(sizes)}
    mapping = lambda value: sdy.TensorMappingAttr.get(
        [sdy.DimMappingAttr.get([numbers[n] for n in axis]) for axis in value]
    )
    return sdy.OpShardingRuleAttr.get(
        list(sizes.values()), *[list(map(mapping, side)) for side in sides], *[_numbers(names, numbers) for names in rule.special],
        is_custom=True,
    )  # fmt: skip


def _expanded(value: tuple[Axis, ...], shape: tuple[int, ...]) -> list[Axis]:
    if value and value[0][0].startswith("..."):
        more = len(shape) - (len(value) - 1)
        value = (*[(f"{value[0][0]}/{i}",) for i in range(more)], *value[1:])
    if len(value) != len(shape):
        raise ValueError(f"the sharding rule has {len(value)} axes {value} for a value of shape {shape}")
    return list(value)


def _sizes(rule: ShardingRule, values: list[list[Axis]], shapes: list[tuple[int, ...]]) -> dict[str, int]:
    """Of all factors, in the order in which they are met."""
    sizes: dict[str, int] = dict.fromkeys([n for value in values for axis in value for n in axis], 0) | dict(rule.sizes)
    axes = [(axis, n) for value, shape in zip(values, shapes) for axis, n in zip(value, shape)]
    for axis, n in sorted(axes, key=lambda pair: len(pair[0])):
        unknown = [name for name in axis if not sizes[name]]
        if len(unknown) == 1:
            sizes[unknown[0]] = n // max(1, math.prod(sizes[name] for name in axis if name not in unknown))
        found = math.prod(sizes[name] for name in axis)
        if found != n:
            raise ValueError(
                f"the sharding rule: {' '.join(axis)} is an axis of {n}, and its factors have the sizes {[sizes[name] for name in axis]} (0: "
                "give it as an argument of that name)"
            )
    return sizes


def _numbers(names: Sequence[str], numbers: Mapping[str, int]) -> list[int]:
    return sorted(i for n, i in numbers.items() if n.split("/")[0] in names)
