"""Symbolic dimensions: sizes of axes that are not known yet, as expressions of dimension variables.

A `Dim` stands in shapes where an int would. It is a sum of terms with integer coefficients, in a normal form: equal
expressions have one form, and what is known to be a number is an int, never a Dim.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray
from ..core.errors import InconclusiveDimensionOperation, TracerIntegerConversionError
from ..core.messages import with_advice
from ..core.operators import Operators
from .terms import ONE, Pairs, Term, combined, operation_term, sorted_pairs, variable_term
from .value import dim_as_value_p


_of_values: Any = Operators
"""What operators do where the other operand is a value: what they do for tracers."""


class Dim:
    """A size that depends on dimension variables. Comparisons that do not hold (or fail) for all values of the variables,
    within the constraints of their scope, raise InconclusiveDimensionOperation; `==` is then False."""

    __slots__ = ("_hash", "key", "scope", "size", "terms")
    __array_ufunc__ = None
    __array_priority__ = 1000

    def __init__(self, terms: Pairs, scope: Any):
        """Of terms in normal form: see `normal`."""
        self.terms, self.scope = terms, scope
        self.size = sum(1 + abs(count) * term.size for term, count in terms)
        self.key = (self.size, tuple((term.key, count) for term, count in terms))
        self._hash = hash(self.key)

    def variables(self) -> set[str]:
        """The names of the dimension variables in it."""
        return {name for term, _ in self.terms for name in term.variables()}

    def single(self) -> Term | None:
        """The term, if the expression is just one."""
        return self.terms[0][0] if len(self.terms) == 1 and self.terms[0][1] == 1 else None

    # Arithmetic

    def __add__(self, other: Any) -> Any:
        return self._linear(1, other, 1) if is_dimension(other) else _of_values.__add__(self, other)

    def __radd__(self, other: Any) -> Any:
        return self._linear(1, other, 1) if is_dimension(other) else _of_values.__radd__(self, other)

    def __sub__(self, other: Any) -> Any:
        return self._linear(1, other, -1) if is_dimension(other) else _of_values.__sub__(self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._linear(-1, other, 1) if is_dimension(other) else _of_values.__rsub__(self, other)

    def __neg__(self) -> Any:
        return self._linear(-1, 0, 0)

    def __pos__(self) -> Dim:
        return self

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Dim):
            return self._linear(operator.index(other), 0, 0) if _is_int(other) else _of_values.__mul__(self, other)
        same_scope(self, other, "mul")
        counts: dict[Term, int] = {}
        for a, m in self.terms:
            for b, n in other.terms:
                product = a * b
                counts[product] = counts.get(product, 0) + m * n
        return normal(sorted_pairs(counts), self.scope)

    def __rmul__(self, other: Any) -> Any:
        return self._linear(operator.index(other), 0, 0) if _is_int(other) else _of_values.__rmul__(self, other)

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, Dim):
            return _of_values.__pow__(self, power)
        if not _is_int(power) or power < 0:
            kind = "negative" if _is_int(power) else "non-integer"
            raise ValueError(f"Symbolic dimension cannot be raised to {kind} powers: '{self}' ** '{power}'")
        result: Any = 1
        for _ in range(power):
            result = self * result
        return result

    def __rpow__(self, other: Any) -> Any:
        return _of_values.__rpow__(self, other)

    def __floordiv__(self, other: Any) -> Any:
        return self._divided(other)[0] if is_dimension(other) else _of_values.__floordiv__(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _divided(other, self)[0] if _is_int(other) else _of_values.__rfloordiv__(self, other)

    def __mod__(self, other: Any) -> Any:
        return self._divided(other)[1] if is_dimension(other) else _of_values.__mod__(self, other)

    def __rmod__(self, other: Any) -> Any:
        return _divided(other, self)[1] if _is_int(other) else _of_values.__rmod__(self, other)

    def __divmod__(self, other: Any) -> Any:
        return self._divided(other) if is_dimension(other) else _of_values.__divmod__(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _divided(other, self) if _is_int(other) else _of_values.__rdivmod__(self, other)

    def __truediv__(self, other: Any) -> Any:
        return _of_values.__truediv__(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _of_values.__rtruediv__(self, other)

    def _linear(self, times: int, other: Any, times_other: int) -> Any:
        if isinstance(other, Dim):
            same_scope(self, other, "for linear combination")
            return normal(combined(self.terms, times, other.terms, times_other), self.scope)
        number = operator.index(other) * times_other
        if times == 1 and not number:
            return self
        return normal(combined(self.terms, times, ((ONE, number),), 1), self.scope)

    def _divided(self, divisor: Any) -> tuple[Any, Any]:
        return _divided(self, divisor)

    # Comparisons

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dim):
            if self.scope is not other.scope:
                return False
            if self.key == other.key:
                return True
        elif not _is_int(other):
            return False
        elif not self.scope.rules:
            return False
        difference = self._linear(1, other, -1)
        return not isinstance(difference, Dim) and difference == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self._hash

    def __ge__(self, other: Any) -> Any:
        return at_least(self, other, ">=") if is_dimension(other) else _of_values.__ge__(self, other)

    def __le__(self, other: Any) -> Any:
        return at_least(other, self, "<=") if is_dimension(other) else _of_values.__le__(self, other)

    def __gt__(self, other: Any) -> Any:
        return not at_least(other, self, ">") if is_dimension(other) else _of_values.__gt__(self, other)

    def __lt__(self, other: Any) -> Any:
        return not at_least(self, other, "<") if is_dimension(other) else _of_values.__lt__(self, other)

    def __bool__(self) -> bool:
        low, high = self.scope.bounds(self, _decides_zero)
        if low > 0 or high < 0:
            return True
        raise InconclusiveDimensionOperation(
            f"whether symbolic dimension '{self}' is zero is inconclusive: it is for some values of the dimension variables, not "
            f"for others.{self.scope.described()}"
        )

    # As a value

    def __int__(self) -> int:
        raise InconclusiveDimensionOperation(
            f"Symbolic dimension '{self}' used in a context that requires a constant: its size is known when the exported "
            "function is called, not while it is traced"
        )

    def __index__(self) -> int:
        raise TypeError(
            f"symbolic dimension '{self}' cannot be interpreted as an integer: its size is known when the exported function "
            "is called, not while it is traced"
        )

    @property
    def aval(self) -> ShapedArray:
        """As a value in a program, it is an integer that gives way in promotion."""
        return ShapedArray((), dtypes.default_int(), True)

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def dtype(self) -> Any:
        return dtypes.default_int()

    def dimension_as_value(self) -> Any:
        """The size as an integer to compute with."""
        return dim_as_value_p.bind(dim=self)

    __jitscope_array__ = dimension_as_value

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: Any) -> Dim:
        return self

    def __str__(self) -> str:
        parts = []
        for term, count in self.terms:
            size = abs(count)
            text = str(size) if term == ONE else str(term) if size == 1 else f"{size}*{term}"
            parts.append(f"{'+' if count > 0 else '-'} {text}")
        text = " ".join(parts)
        return text[2:] if text.startswith("+ ") else text

    __repr__ = __str__


def symbolic_dim_bounds(dimension: Any) -> tuple[float, float]:
    """The least and the greatest value that a size can have, as far as they can be told: (-inf, inf) where nothing is known. Raises TypeError
    for what is no size."""
    if isinstance(dimension, Dim):
        return dimension.scope.bounds(dimension, lambda low, high: False)
    value = operator.index(dimension)
    return value, value


def is_symbolic_dim(p: Any) -> bool:
    """Whether a size is symbolic."""
    return isinstance(p, Dim)


def size(n: Any) -> Any:
    """A size as an int, or as it is if it is symbolic. Raises TypeError for what is not a size, a traced number too."""
    if isinstance(n, Dim):
        return n
    try:
        return operator.index(n)
    except TracerIntegerConversionError as error:
        raise TypeError(str(error)) from None  # the class that JAX has for sizes


def extent(part: slice, size: Any) -> tuple[Any, Any, int]:
    """Of a slice of an axis: the first element, how many, and the step. Raises InconclusiveDimensionOperation where the
    place of a symbolic bound cannot be told."""
    if not any(isinstance(x, Dim) for x in (part.start, part.stop, size)):
        start, stop, step = part.indices(size)
        return start, len(range(start, stop, step)), step
    step = 1 if part.step is None else operator.index(part.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def bound(x: Any, default: Any) -> Any:
        if x is None:
            return default
        x = x if isinstance(x, Dim) else operator.index(x)
        return min_dim(high, x) if x >= 0 else max_dim(low, size + x)

    start, stop = bound(part.start, low if step > 0 else high), bound(part.stop, high if step > 0 else low)
    distance = stop - start if step > 0 else start - stop
    return start, max_dim(0, distance + abs(step) - 1) // abs(step), step


def reach(n: Any, step: int) -> Any:
    """The length of `n` elements that are `step` apart."""
    if step == 1:
        return n
    return max_dim(0, (n - 1) * step + 1) if isinstance(n, Dim) else (n - 1) * step + 1 if n else 0


def is_static(shape: Iterable[Any]) -> bool:
    """Whether all sizes are numbers."""
    for n in shape:
        if isinstance(n, Dim):
            return False
    return True


def is_dimension(x: Any) -> bool:
    """Whether something is a size: an int or a symbolic dimension."""
    return isinstance(x, Dim) or _is_int(x)


def _is_int(x: Any) -> bool:
    return isinstance(x, (int, np.integer))


def normal(terms: Pairs, scope: Any) -> Any:
    """The expression of sorted terms: the scope's equations are put to use, and a number is an int."""
    for _ in range(len(scope.rules)):
        more = next(filter(None, (_rewritten(term, count, scope) for term, count in terms)), None)
        if more is None:
            break
        terms = combined(terms, 1, more, 1)
    if not terms:
        return 0
    return terms[0][1] if terms[0][0] == ONE else Dim(terms, scope)


def _rewritten(term: Term, count: int, scope: Any) -> Pairs | None:
    """What to add to a sum that has `term * count` so that an equation of the scope is put to use; None: there is none."""
    parts = [(term, ONE)]
    if len(term.factors) > 1:
        parts += [(Term((pair,)), Term(tuple(p for p in term.factors if p is not pair))) for pair in term.factors]
    for part, rest in parts:
        found = scope.rules.get(part)
        if found is not None and count % found[1] == 0:
            value, times = found
            added = tuple((t * rest, n) for t, n in terms_of(value))
            return combined(((term, -count),), 1, added, count // times)
    return None


def terms_of(x: Any) -> Pairs:
    """The terms of a size."""
    return x.terms if isinstance(x, Dim) else ((ONE, int(x)),) if x else ()


def variable(name: str, scope: Any) -> Any:
    """The dimension variable of that name."""
    return normal(((variable_term(name), 1),), scope)


def operation(name: str, left: Any, right: Any, scope: Any) -> Any:
    """An operation of `terms.OPERATIONS` that cannot be carried out."""
    return normal(((operation_term(name, left, right), 1),), scope)


def same_scope(a: Dim, b: Dim, when: str) -> None:
    if a.scope is not b.scope:
        a.scope.refuse(b, when)


def _scope(a: Any, b: Any, when: str) -> Any:
    if isinstance(a, Dim) and isinstance(b, Dim):
        same_scope(a, b, when)
    return a.scope if isinstance(a, Dim) else b.scope


def _divided(dividend: Any, divisor: Any) -> tuple[Any, Any]:
    """Quotient and remainder, by division of polynomials; where that does not come out even, as operations."""
    scope = _scope(dividend, divisor, "for operation floordiv")
    if not isinstance(divisor, Dim):
        divisor = operator.index(divisor)
        if divisor == 0:
            raise ZeroDivisionError(f"division of symbolic dimension '{dividend}' by zero")
    if not isinstance(dividend, Dim):
        dividend = operator.index(dividend)
    lead, times = terms_of(divisor)[0]
    quotient: Any = 0
    rest: Any = dividend
    while isinstance(rest, Dim):
        term, count = rest.terms[0]
        part = term.divided(lead)
        if part is None or count % times:
            return _undivided(dividend, divisor, scope)
        share = normal(((part, count // times),), scope)
        quotient, rest = quotient + share, rest - share * divisor
    if not isinstance(divisor, Dim):
        return quotient + rest // divisor, rest % divisor
    return (quotient, 0) if rest == 0 else _undivided(dividend, divisor, scope)


def _undivided(dividend: Any, divisor: Any, scope: Any) -> tuple[Any, Any]:
    return operation("floordiv", dividend, divisor, scope), operation("mod", dividend, divisor, scope)


def at_least(a: Any, b: Any, shown: str) -> bool:
    """Whether a >= b for all values of the variables (False: for none). Raises InconclusiveDimensionOperation."""
    first, second = (a, b) if shown in (">=", "<") else (b, a)
    scope = _scope(a, b, f"when comparing '{first}' {shown} '{second}'")
    low, high = scope.bounds(a - b, _decides_order)
    if low >= 0:
        return True
    if high < 0:
        return False
    raise InconclusiveDimensionOperation(
        with_advice(
            f"Symbolic dimension comparison '{first}' {shown} '{second}' is inconclusive: it holds for some values of the "
            f"dimension variables, not for others.{scope.described()}",
            "give the scope a constraint that decides it (constraints=['a >= b']), or compute with sizes in a way "
            "that needs no comparison (max_dim, min_dim)",
        )
    )


def _decides_order(low: float, high: float) -> bool:
    return low >= 0 or high < 0


def _decides_zero(low: float, high: float) -> bool:
    return low > 0 or high < 0


def _decides_larger(low: float, high: float) -> bool:
    return low >= 0 or high <= 0


def max_dim(d1: Any, d2: Any) -> Any:
    """The larger of two sizes."""
    return _extreme("max", d1, d2)


def min_dim(d1: Any, d2: Any) -> Any:
    """The smaller of two sizes."""
    return _extreme("min", d1, d2)


def _extreme(name: str, a: Any, b: Any) -> Any:
    if not (isinstance(a, Dim) or isinstance(b, Dim)):
        return max(a, b) if name == "max" else min(a, b)
    scope = _scope(a, b, f"for operation {name}")
    difference = a - b
    low, high = scope.bounds(difference, _decides_larger)
    if low >= 0:
        return a if name == "max" else b
    if high <= 0:
        return b if name == "max" else a
    return operation(name, a, b, scope)


# Evaluation ----------------------------------------------------------------------------------------------------------

SIZES: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": max_dim,
    "min": min_dim,
}


class UnknownVariable(ValueError):
    """A dimension variable that has no value, where `known` have one."""

    def __init__(self, variable: str, known: Mapping[str, Any]):
        super().__init__(
            f"Encountered dimension variable '{variable}' that is not appearing in the shapes of the function arguments. "
            f"The following dimension variables are appearing there: {list(known)}. A size that no shape has is unknown "
            f"when the exported function is called: give an argument, say of shape ({variable}, 0), that has it."
        )


def evaluated(
    x: Any,
    values: Mapping[str, Any],
    apply: Mapping[str, Callable[[Any, Any], Any]] = SIZES,
    number: Callable[[int], Any] = int,
) -> Any:
    """A size where its variables have `values`; `apply` has the operations on them, `number` makes one of an int.

    Raises UnknownVariable for a variable without a value.
    """
    if not isinstance(x, Dim):
        return number(x)

    def of_factor(factor: Any) -> Any:
        if factor.variable is None:
            left, right = (evaluated(o, values, apply, number) for o in factor.operands)
            return apply[factor.operation](left, right)
        if factor.variable in values:
            return values[factor.variable]
        other = variable(factor.variable, x.scope)
        if isinstance(other, Dim) and other.single() == variable_term(factor.variable):
            raise UnknownVariable(factor.variable, values)
        return evaluated(other, values, apply, number)

    def of_term(term: Term, count: int) -> Any:
        result = None if count == 1 and term != ONE else number(count)
        for factor, exponent in term.factors:
            for _ in range(exponent):
                value = of_factor(factor)
                result = value if result is None else apply["mul"](result, value)
        return result

    total = None
    for term, count in x.terms:
        part = of_term(term, count)
        total = part if total is None else apply["add"](total, part)
    return total
