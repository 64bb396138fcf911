"""What the variables' constraints say about an expression: a lower and an upper bound, by elimination of terms.

A fact is an expression c with c >= 0 (or c = 0). To bound e = k t + …, where t is its largest term, take a fact in which t
is the largest term too, c = m t + …: then s e + |k| c, with s = -m sign(k), is free of t. As c >= 0, s e is at most the upper
bound of that, which is found in the same way. Facts about single terms are kept as numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from ..core.errors import InconclusiveDimensionOperation
from .dimension import Dim, normal, operation
from .terms import ONE, Factor, Pairs, Term, combined


Enough = Callable[[float, float], bool]
INF = math.inf


def never(low: float, high: float) -> bool:
    """Nothing is enough: the best bounds there are."""
    return False


class Facts:
    """What is known in a scope."""

    def __init__(self, scope: Any):
        self.scope = scope
        self.seen: set[Term] = set()
        self.ranges: dict[Term, tuple[float, float]] = {}
        self.others: dict[Term, set[tuple[bool, Pairs]]] = {}
        """Facts about sums, by their largest term: whether the sum is zero (else at least zero), and its terms."""

    def copy(self) -> Facts:
        made = Facts(self.scope)
        made.seen, made.ranges = set(self.seen), dict(self.ranges)
        made.others = {term: set(facts) for term, facts in self.others.items()}
        return made

    # Learning

    def learn(self, x: Any, zero: bool = False, shown: str = "") -> None:
        """That x >= 0, or that x = 0. Raises ValueError if that contradicts what is known."""
        if not isinstance(x, Dim):
            if x < 0 or (zero and x):
                raise ValueError(f"Unsatisfiable constraint: {shown or f'{x} >= 0'}")
            return
        self._keep(x.terms, zero, shown)
        for made_zero, made in self._consequences(x, zero, shown):
            self._keep(made.terms, made_zero, "")

    def _keep(self, terms: Pairs, zero: bool, shown: str) -> None:
        alone = [pair for pair in terms if pair[0] != ONE]
        if len(alone) > 1:
            self.others.setdefault(terms[0][0], set()).add((zero, terms))
            return
        ((term, count),) = alone
        number = terms[-1][1] if len(terms) > 1 else 0
        low, high = self.ranges.get(term, (-INF, INF))
        if zero and number % count:
            raise ValueError(f"Unsatisfiable constraint: {shown}")
        if zero or count > 0:
            low = max(low, _up(-number, count))
        if zero or count < 0:
            high = min(high, _down(-number, count))
        if low > high:
            raise ValueError(f"Unsatisfiable constraint: {shown}")
        self.ranges[term] = low, high

    def _consequences(self, x: Dim, zero: bool, shown: str) -> set[tuple[bool, Dim]]:
        found = set()
        for term, count in x.terms:
            if term == ONE:
                continue
            for other_zero, other, times, share in self._eliminating(term, count, largest=False):
                if times <= 0 and not zero:
                    continue
                made = normal(combined(x.terms, times, other, share), self.scope)
                both = zero and other_zero
                if isinstance(made, Dim):
                    found.add((both, made))
                elif made < 0 or (both and made):
                    raise ValueError(f"Unsatisfiable constraints: {shown or f'{x} >= 0'}")
        return found

    def _eliminating(self, term: Term, count: int, largest: bool = True) -> Iterator[tuple[bool, Pairs, int, int]]:
        """Facts with which `term * count` can be eliminated: whether zero, the fact, what to multiply the expression by, and
        what the fact. `largest`: only those in which the term is the largest."""
        sign, share = (1 if count > 0 else -1), abs(count)
        low, high = self.ranges.get(term, (-INF, INF))
        if low > -INF:
            yield low == high, ((term, 1), (ONE, -int(low))) if low else ((term, 1),), -sign, share
        if high < INF and low != high:
            yield False, ((term, -1), (ONE, int(high))) if high else ((term, -1),), sign, share
        groups = [self.others.get(term, ())] if largest else list(self.others.values())
        for zero, fact in itertools.chain.from_iterable(map(list, groups)):
            own = next((n for t, n in fact if t == term), None)
            if own is not None:
                yield zero, fact, -own * sign, share

    # Bounds

    def bounds(self, x: Any, enough: Enough = never) -> tuple[float, float]:
        """The least and the greatest value, as far as they can be told; once `enough` says so, no better ones are sought."""
        if not isinstance(x, Dim):
            return x, x
        known = self.scope.known_bounds
        if x in known:
            low, high, best = known[x]
            if best or enough(low, high):
                return low, high
        self.learn_parts(x)
        low, high = self._bounds(x.terms, enough)
        known[x] = low, high, enough is never
        return low, high

    def _bounds(self, terms: Pairs, enough: Enough) -> tuple[float, float]:
        if not terms:
            return 0, 0
        (term, count), rest = terms[0], terms[1:]
        if term == ONE:
            return count, count
        low, high = -INF, INF
        for zero, fact, times, share in self._eliminating(term, count):
            least, most = self._bounds(combined(terms, times, fact, share), never)
            if times > 0:
                high = min(high, _down(most, times))
                low = max(low, _up(least, times)) if zero else low
            else:
                low = max(low, _up(most, times))
                high = min(high, _down(least, times)) if zero else high
            if enough(low, high):
                return low, high
        factor = term.single()
        if factor is not None and factor.operation in ("max", "min"):
            pairs = [self._bounds(combined(rest, 1, _terms(o), count), never) for o in factor.operands]
            choose = max if (factor.operation == "max") == (count > 0) else min
            low, high = max(low, choose(p[0] for p in pairs)), min(high, choose(p[1] for p in pairs))
        return low, high

    # What holds for every expression

    def learn_parts(self, x: Any) -> None:
        """What is known of the terms of an expression by their kind alone."""
        for term, _ in _terms(x):
            if term != ONE and term not in self.seen:
                self.seen.add(term)
                self._learn_term(term)

    def _learn_term(self, term: Term) -> None:
        whole = normal(((term, 1),), self.scope)
        factor = term.single()
        if factor is None:
            self._learn_product(term, whole)
        elif factor.variable is not None:
            self.learn(whole - 1)
        else:
            for operand in factor.operands:
                self.learn_parts(operand)
            {"mod": self._learn_mod, "floordiv": self._learn_floordiv}.get(factor.operation, self._learn_extreme)(
                factor, whole
            )

    def _between(self, low: float, x: Any, high: float) -> None:
        if low > -INF:
            self.learn(x - int(low))
        if high < INF:
            self.learn(int(high) - x)

    def _learn_product(self, term: Term, whole: Any) -> None:
        ranges = []
        for factor, exponent in term.factors:
            alone = normal(((Term(((factor, 1),)), 1),), self.scope)
            self.learn_parts(alone)
            low, high = self.bounds(alone)
            ranges.append(_power(low, high, exponent))
        corners = [0 if 0 in c else math.prod(c) for c in itertools.product(*ranges)]
        self._between(min(corners), whole, max(corners))

    def _learn_mod(self, factor: Factor, whole: Any) -> None:
        divisor = factor.operands[1]
        low, high = self.bounds(divisor)
        if low > 0:
            self.learn(whole)
            self.learn(divisor - 1 - whole)
            self._between(-INF, whole, high - 1)
        elif high < 0:
            self.learn(whole - divisor - 1)
            self.learn(-whole)
            self._between(low + 1, whole, INF)

    def _learn_floordiv(self, factor: Factor, whole: Any) -> None:
        dividend, divisor = factor.operands
        (low, high), (least, most) = self.bounds(dividend), self.bounds(divisor)
        if least <= 0 <= most:
            raise InconclusiveDimensionOperation(f"Possible division by 0 in division by {divisor}")
        corners = [_quotient(a, b) for a in (low, high) for b in (least, most)]
        self._between(min(corners), whole, max(corners))
        if least >= 0:
            rest = operation("mod", dividend, divisor, self.scope)
            self.learn_parts(rest)
            self.learn(dividend - divisor * whole - rest, zero=True)

    def _learn_extreme(self, factor: Factor, whole: Any) -> None:
        larger = factor.operation == "max"
        choose, sign = (max, 1) if larger else (min, -1)
        (low, high), (least, most) = map(self.bounds, factor.operands)
        self._between(choose(low, least), whole, choose(high, most))
        for operand in factor.operands:
            self.learn((whole - operand) * sign)


def _terms(x: Any) -> Pairs:
    return x.terms if isinstance(x, Dim) else ((ONE, x),) if x else ()


def _down(x: float, by: int) -> float:
    return x // by if math.isfinite(x) else x if by > 0 else -x


def _up(x: float, by: int) -> float:
    return -(-x // by) if math.isfinite(x) else x if by > 0 else -x


def _power(low: float, high: float, exponent: int) -> tuple[float, float]:
    a, b = low**exponent, high**exponent
    if exponent % 2 == 0 and low < 0 < high:
        return 0, max(a, b)
    return min(a, b), max(a, b)


def _quotient(a: float, b: float) -> float:
    """The limit of a // b where either may be infinite."""
    apart = (a >= 0) != (b >= 0)
    if math.isfinite(a):
        return a // b if math.isfinite(b) else -1 if apart else 0
    return -INF if apart else INF
