"""The parts of a dimension expression: factors (a variable, or an operation on expressions), and products of those.

Each has a `key`, nested tuples that order and compare it: first by size, then by its text.
"""

from __future__ import annotations

from typing import Any, TypeAlias


OPERATIONS = ("floordiv", "mod", "max", "min")


class Factor:
    """A dimension variable, or one of OPERATIONS on two operands (each an int or a `Dim`)."""

    __slots__ = ("key", "operands", "operation", "size", "variable")

    def __init__(self, variable: str | None = None, operation: str = "", operands: tuple[Any, ...] = ()):
        self.variable, self.operation, self.operands = variable, operation, operands
        if variable is not None:
            self.size, self.key = 1, (1, variable)
        else:
            self.size = 1 + sum(1 if isinstance(o, int) else o.size for o in operands)
            self.key = (self.size, operation, *[_number_key(o) if isinstance(o, int) else o.key for o in operands])

    def variables(self) -> set[str]:
        if self.variable is not None:
            return {self.variable}
        return {name for o in self.operands if not isinstance(o, int) for name in o.variables()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factor) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.variable or f"{self.operation}({', '.join(map(_shown, self.operands))})"


class Term:
    """A product of factors with exponents, the largest factor first. The empty product is the number one."""

    __slots__ = ("_hash", "factors", "key", "size")

    def __init__(self, factors: tuple[tuple[Factor, int], ...]):
        self.factors = factors
        self.size = sum(1 + exponent * f.size for f, exponent in factors)
        self.key = (self.size, tuple((f.key, exponent) for f, exponent in factors))
        self._hash = hash(self.key)

    def single(self) -> Factor | None:
        """The factor, if the term is just one."""
        return self.factors[0][0] if len(self.factors) == 1 and self.factors[0][1] == 1 else None

    @property
    def variable(self) -> str | None:
        """The variable, if the term is just one."""
        factor = self.single()
        return factor.variable if factor is not None else None

    def variables(self) -> set[str]:
        return {name for f, _ in self.factors for name in f.variables()}

    def __mul__(self, other: Term) -> Term:
        return Term(combined(self.factors, 1, other.factors, 1))

    def divided(self, other: Term) -> Term | None:
        """The quotient, or None if it is not a term."""
        factors = combined(self.factors, 1, other.factors, -1)
        return None if any(exponent < 0 for _, exponent in factors) else Term(factors)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Term) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        parts = sorted(self.factors, key=lambda pair: pair[0].key)
        return "*".join(str(f) if exponent == 1 else f"{f}^{exponent}" for f, exponent in parts)


ONE = Term(())
Pairs: TypeAlias = tuple[tuple[Any, int], ...]


def combined(left: Pairs, times_left: int, right: Pairs, times_right: int) -> Pairs:
    """The sum of two sums, each multiplied by a number: pairs of a part (factor or term) and its count, largest first. Parts
    whose count becomes zero go."""
    counts: dict[Any, int] = {part: count * times_left for part, count in left}
    for part, count in right:
        counts[part] = counts.get(part, 0) + count * times_right
    return sorted_pairs(counts)


def sorted_pairs(counts: dict[Any, int]) -> Pairs:
    kept = [(part, count) for part, count in counts.items() if count]
    return tuple(sorted(kept, key=lambda pair: pair[0].key, reverse=True)) if len(kept) > 1 else tuple(kept)


def variable_term(name: str) -> Term:
    return Term(((Factor(name), 1),))


def operation_term(operation: str, left: Any, right: Any) -> Term:
    return Term(((Factor(None, operation, (left, right)), 1),))


def _shown(operand: Any) -> str:
    return f"- {-operand}" if isinstance(operand, int) and operand < 0 else str(operand)


def _number_key(number: int) -> tuple[Any, ...]:
    return 1, ((ONE.key, number),)
