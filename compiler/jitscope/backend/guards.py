"""Options that keep XLA from giving wrong results, or from ending the process (`long_chains`).

XLA on the CPU (jaxlib 0.10.2) merges reductions and elementwise operations of some 10,000 elements into library kernels; two
logarithms whose operands differ by a constant factor become one there: sum(log(x) + log(2 x)) gives 2 sum(log(x)). The same
goes for log1p and expm1. A program with two such therefore keeps the library for matrix products alone. JAX 0.10.2 gives
the wrong result.

Whether there are two such is decided on the safe side: two operands count as multiples of each other if the same sums, products
and other operations of several values lead to them from the same values, in whatever order and grouping, and whatever the constants
and the functions of one number on the way are; and so do those inside of loops and branches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.hashing import written
from ..core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, subjaxprs
from ..core.primitive import Primitive
from ..ops import elementwise as ew
from ..special.primitive import Special
from ..xla.cpu_tuning import LIBRARY_FOR_PRODUCTS_ALONE, LONG_CHAINS, NOT_FUSED


_KINDS: dict[Primitive, tuple[str, ...]] = {
    ew.log_p: ("log",),
    ew.log2_p: ("log",),
    ew.log1p_p: ("log1p",),
    ew.expm1_p: ("expm1",),
    ew.sinh_p: ("expm1",),
}
_KINDS |= dict.fromkeys(
    (ew.erf_inv_p, ew.lgamma_p, ew.digamma_p, ew.polygamma_p, ew.asinh_p, ew.acosh_p, ew.atanh_p), ("log", "log1p")
)
"""The operations concerned, with those that XLA computes by them."""
_PLAIN = (ew.log_p, ew.log1p_p, ew.expm1_p)

_UNKNOWN = ("call_exported",)
"""Operations of which nobody knows what they compute."""


def guards(jaxpr: Jaxpr, tuned: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """XLA flags for a program: those that it needs, and before them the kinds of operations that XLA's library is best left out for, the
    width of vectors and whether short loops are kept, or what it was `tuned` to."""
    from .library_types import library_types  # when something is compiled
    from .short_loops import short_loops
    from .vector_width import vector_width

    return {**library_types(jaxpr), **vector_width(jaxpr), **short_loops(jaxpr), **(tuned or {}), **needs(jaxpr)}


def needs(jaxpr: Jaxpr) -> dict[str, Any]:
    """XLA flags without which a program would give wrong results, end the process, or take much too long to compile."""
    from .long_chains import is_better_not_fused, may_be_too_long  # when something is compiled

    chains = LONG_CHAINS.value if LONG_CHAINS.holds() and may_be_too_long(jaxpr) else {}
    apart = NOT_FUSED.value if NOT_FUSED.holds() and is_better_not_fused(jaxpr) else {}
    return {**chains, **apart, **_logarithms(jaxpr)}


def _logarithms(jaxpr: Jaxpr) -> dict[str, Any]:
    if not LIBRARY_FOR_PRODUCTS_ALONE.holds():
        return {}
    counts: dict[Jaxpr, Counter[str]] = {}
    several = max(_counts(jaxpr, counts).values(), default=0) > 1
    return LIBRARY_FOR_PRODUCTS_ALONE.value if several and _Origins(counts).endanger(jaxpr) else {}


def _counts(jaxpr: Jaxpr, known: dict[Jaxpr, Counter[str]]) -> Counter[str]:
    """How many of each kind there are at all levels; those of a loop count twice, since it may be unrolled."""
    if jaxpr not in known:
        count: Counter[str] = Counter()
        for _, eqn in jaxpr.live()[0]:
            count.update(_KINDS.get(eqn.primitive, ("log", "log") if eqn.primitive.name in _UNKNOWN else ()))
            iterations = 2 if eqn.primitive.name in ("scan", "while") else 1
            for inner in _inner_jaxprs(eqn):
                for _ in range(iterations):
                    count.update(_counts(inner, known))
        known[jaxpr] = count
    return known[jaxpr]


def _inner_jaxprs(eqn: JaxprEqn) -> list[Jaxpr]:
    if isinstance(eqn.primitive, Special):
        return [eqn.primitive.program([x.aval for x in eqn.invars]).jaxpr]
    return [inner.jaxpr for _, inner in subjaxprs(eqn.params)]


_CALLS = ("jit", "custom_jvp_call", "custom_vjp_call", "remat2")
_SAME_VALUES = {"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose"}
_ASSOCIATIVE = {"max", "min", "and", "or", "xor"}
_SYMMETRIC, _SWAPPED = {"eq", "ne"}, {"gt": "lt", "ge": "le"}
_ALONE: tuple[str, frozenset[Any]] = ("", frozenset())
_SCALING = {"mul", "div", "neg"}
_CONSTANT: Hashable = "constant"

Origin = tuple[int, int]
"""Two numbers: values with the same first one are equal, with the same second one equal but for constants on the way."""


MOST_STEPS = 20_000
"""So many equations are looked at, those of a program called several times each time."""


class _TooLong(Exception):
    """There are more."""


class _Origins:
    """Where the operands of the operations concerned come from."""

    def __init__(self, counts: dict[Jaxpr, Counter[str]]):
        self.counts = counts
        self.numbers: dict[Hashable, int] = {_CONSTANT: 0}
        self.operands: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        self.hidden: Counter[str] = Counter()
        self.parts: dict[int, tuple[str, frozenset[Any]]] = {}
        self.steps = 0

    def endanger(self, jaxpr: Jaxpr) -> bool:
        """Whether two operations of one kind may have operands that are multiples of each other, but not equal."""
        try:
            self.follow(jaxpr, [self.fresh() for _ in jaxpr.invars])
        except _TooLong:
            return True
        several = any(len(equal) > 1 for alike in self.operands.values() for equal in alike.values())
        return several or any(n > 1 or kind in self.operands for kind, n in self.hidden.items() if n)

    def number(self, key: Hashable) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def fresh(self) -> Origin:
        n = self.number(object())
        return n, n

    def follow(self, jaxpr: Jaxpr, arguments: Sequence[Origin]) -> list[Origin]:
        """The origins of a program's results."""
        origins: dict[Any, Origin] = {v: (self.number(v), 0) for v in jaxpr.constvars}
        origins.update(zip(jaxpr.invars, arguments))

        def of(atom: Atom) -> Origin:
            return (self.number(_literal(atom)), 0) if isinstance(atom, Literal) else origins[atom]

        self.steps += len(jaxpr.eqns)
        if self.steps > MOST_STEPS:
            raise _TooLong
        for _, eqn in jaxpr.live()[0]:
            origins.update(zip(eqn.outvars, self.results(eqn, [of(a) for a in eqn.invars])))
        return [of(a) if isinstance(a, Literal) or a in origins else self.fresh() for a in jaxpr.outvars]

    def results(self, eqn: JaxprEqn, given: list[Origin]) -> list[Origin]:
        for kind in _KINDS.get(eqn.primitive, ()):
            if eqn.primitive in _PLAIN:
                self.operands[kind][given[0][1]].add(given[0][0])
            else:
                self.hidden[kind] += 1
        jaxprs = _inner_jaxprs(eqn)
        if len(jaxprs) == 1 and (eqn.primitive.name in _CALLS or isinstance(eqn.primitive, Special)):
            return self.follow(jaxprs[0], given)
        for inner in jaxprs:
            for kind, n in self.counts[inner].items():
                self.hidden[kind] += 2 * n
        if jaxprs or eqn.primitive.name in _UNKNOWN or len(eqn.outvars) != 1:
            self.hidden.update(("log", "log") if eqn.primitive.name in _UNKNOWN else ())
            return [self.fresh() for _ in eqn.outvars]
        exact = self.number(
            (
                eqn.primitive,
                *[a for a, _ in given],
                *[(name, written(p)) for name, p in sorted(eqn.params.items())],
                eqn.outvars[0].aval,
            )
        )
        varying = [a for a, b in given if b]
        found = self.parts.get(varying[0], _ALONE) if len(varying) == 1 else _ALONE
        if eqn.primitive.name in _SAME_VALUES or (eqn.primitive.name in _SCALING and found[0] == "product"):
            self.parts[exact] = found
        return [(exact, self.alike(eqn, given, exact))]

    def alike(self, eqn: JaxprEqn, origins: list[Origin], exact: int) -> int:
        """The second number of a result: scaling by a constant does not change it, nor does a function of one number, since
        XLA makes log(sqrt(x)) into log(x) / 2; other constants are all the same."""
        name, given = eqn.primitive.name, [b for _, b in origins]
        varying = [b for b in given if b]
        if not varying and given:
            return 0
        scaled = name in ("mul", "pow") or (name == "div" and given[0])
        nothing_added = name in ("add", "sub") and any(_is_zero(a) for a in eqn.invars)
        if name == "neg" and self.parts.get(origins[0][0], _ALONE)[0] in ("sum", "difference"):
            return self.sum(exact, [(0, 0), origins[0]], True)
        if _is_plain(eqn) or ((scaled or nothing_added or name == "select_n") and len(set(varying)) == 1):
            return varying[0]
        if len(set(given)) == 1:
            return given[0]
        if name in ("mul", "div"):
            return self.product(exact, origins, name == "div")
        if name in ("add", "sub"):
            return self.sum(exact, origins, name == "sub")
        if name in _ASSOCIATIVE:
            return self.kept(exact, name, frozenset().union(*[self.within(x, name) for x in origins]))
        if name in _SWAPPED:
            name, given = _SWAPPED[name], given[::-1]
        return self.number((name, eqn.outvars[0].aval.shape, *(sorted(given) if name in _SYMMETRIC else given)))

    def within(self, origin: Origin, kind: str) -> frozenset[Any]:
        """The operands, each once, of a value that operations of this kind make of them; of others the value itself."""
        exact, alike = origin
        found, parts = self.parts.get(exact, _ALONE)
        return parts if found == kind else frozenset((alike,))

    def kept(self, exact: int, kind: str, parts: frozenset[Any]) -> int:
        """The second number of what operations of a kind make of their operands, in whatever order and grouping."""
        self.parts[exact] = kind, parts
        return self.number((kind, parts))

    def product(self, exact: int, origins: list[Origin], divides: bool) -> int:
        """Of factors: each a number, and whether it is divided by."""
        factors: set[tuple[int, bool]] = set()
        for i, origin in enumerate(origins):
            found = self.within(origin, "product")
            pairs = [f if isinstance(f, tuple) else (f, False) for f in found]
            factors |= {(f, down != (divides and i == 1)) for f, down in pairs if f}
        return self.kept(exact, "product", frozenset(factors))

    def sum(self, exact: int, origins: list[Origin], subtracts: bool) -> int:
        """Of terms, whatever their signs; but x + 1 and 1 - x, where all that varies is subtracted, are not alike."""
        terms: set[int] = set()
        signs: set[bool] = set()
        for i, origin in enumerate(origins):
            minus = self.parts.get(origin[0], _ALONE)[0] == "difference"
            terms |= self.within(origin, "difference" if minus else "sum")
            signs |= {minus != (subtracts and i == 1)} if origin[1] else set()
        return self.kept(exact, "difference" if signs == {True} and 0 in terms else "sum", frozenset(terms))


def _is_plain(eqn: JaxprEqn) -> bool:
    """Whether each element of the result comes from one number of the one operand."""
    if len(eqn.invars) != 1:
        return False
    return eqn.primitive.name in _SAME_VALUES or eqn.invars[0].aval.shape == eqn.outvars[0].aval.shape


def _literal(atom: Literal) -> Hashable:
    return atom.aval.brief(), repr(atom.value)


def _is_zero(atom: Atom) -> bool:
    return isinstance(atom, Literal) and not np.any(atom.value)
