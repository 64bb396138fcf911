"""Scopes: the dimension variables that belong together, and the constraints they fulfil."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..core.call_sites import here
from ..core.messages import with_advice
from ..named_tuple import NamedTuple
from .bounds import Enough, Facts
from .dimension import Dim
from .parsing import parse
from .terms import Term, operation_term


class Constraint(NamedTuple):
    """`difference` is zero, or (`zero` false) at least zero; `shown` is how the user wrote it."""

    zero: bool
    difference: Any
    shown: str


class SymbolicScope:
    """A scope of dimension variables. Expressions of one scope can be mixed, those of two cannot.

    `constraints_str`: texts `a >= b`, `a <= b` or `a == b` of dimension expressions. An equation is used from left to right,
    to simplify: its left side is one term, perhaps with a factor. Raises ValueError for constraints that cannot be parsed or
    cannot be met, NotImplementedError for two equations of one term.
    """

    def __init__(self, constraints_str: Sequence[str] = ()):
        if isinstance(constraints_str, str):
            raise ValueError(f"The symbolic constraints should be a sequence of strings. Got {constraints_str!r}")
        self.rules: dict[Term, tuple[Any, int]] = {}
        self.constraints: list[Constraint] = []
        self.known_bounds: dict[Dim, tuple[float, float, bool]] = {}
        self.texts = tuple(constraints_str)
        self._facts: Facts | None = None
        self._created = _caller()
        for text in constraints_str:
            self._add(text)
            self.known_bounds.clear()
        if self.constraints:
            self._facts = self._learnt()

    def bounds(self, x: Any, enough: Enough) -> tuple[float, float]:
        """The least and the greatest value of an expression, as far as they can be told (see `bounds`)."""
        facts = self._facts.copy() if self._facts is not None else self._learnt()
        return facts.bounds(x, enough)

    def _learnt(self) -> Facts:
        facts = Facts(self)
        for zero, difference, shown in self.constraints:
            facts.learn_parts(difference)
            facts.learn(difference, zero, shown)
            self.known_bounds.clear()
        return facts

    def _add(self, text: str) -> None:
        if not isinstance(text, str):
            raise ValueError(f"SymbolicScope constraint must be a string: got {text!r}")
        sign = next((s for s in ("==", ">=", "<=") if s in text), None)
        if sign is None:
            raise ValueError("Constraint parsing error: must contain one of '==' or '>=' or '<='")
        left, right = (_expression(part, self) for part in text.split(sign, 1))
        if sign == "<=":
            left, right = right, left
        self._process(sign == "==", left, right, text)

    def _process(self, zero: bool, left: Any, right: Any, text: str) -> None:
        difference = left - right
        if not isinstance(difference, Dim):
            if difference < 0 or (zero and difference):
                raise ValueError(f"Unsatisfiable explicit constraint: {text}")
            return
        if zero:
            self._simplify(left, right, text)
        self.constraints.append(Constraint(zero, difference, text))

    def _simplify(self, left: Any, right: Any, text: str) -> None:
        if not isinstance(left, Dim) or len(left.terms) > 1:
            raise ValueError(
                f"Invalid equality constraint: {text}. The left-hand-side must be of the form `term * coefficient`."
            )
        term, count = next(iter(left.terms))
        if term in self.rules:
            raise NotImplementedError(f"Found multiple equality constraints with the same left-hand-side: {term}")
        self.rules[term] = right, count
        factor = term.single()
        if (
            count == 1
            and not isinstance(right, Dim)
            and right == 0
            and factor is not None
            and factor.operation == "mod"
        ):
            dividend, divisor = factor.operands
            if isinstance(divisor, int):  # a multiple of a number: its division is exact
                exact = Dim(((operation_term("floordiv", dividend, divisor), divisor),), self)
                self._process(True, exact, dividend, f"{exact} == {dividend}")

    def refuse(self, other: Dim, when: str, own: str = "", others: str = "unknown") -> NoReturn:
        """Raise ValueError for an expression of another scope."""
        raise ValueError(
            with_advice(
                f"Invalid mixing of symbolic scopes {when}.\nExpected {own}scope {self}\n"
                f"and found for '{other}' ({others}) scope {other.scope}",
                "make all symbolic shapes of a function in one scope, by one call of symbolic_args_specs, or by "
                "symbolic_shape(..., scope=scope) with one SymbolicScope",
            )
        )

    def described(self) -> str:
        """The scope as a line of a message, if it has constraints."""
        return f"\nUsing symbolic scope {self}" if self.constraints else ""

    def __str__(self) -> str:
        lines = [f"{id(self)} created at {self._created}"]
        if self.constraints:
            lines += [" with constraints:", *[f"  {c.shown}" for c in self.constraints]]
        return "\n".join(lines)

    __repr__ = __str__


def _expression(text: str, scope: SymbolicScope) -> Any:
    (found,) = parse(text, None, repr(text), scope)
    return found


def _caller() -> str:
    where = here()
    return f"{where.file}:{where.line} ({where.function})" if where else "unknown"
