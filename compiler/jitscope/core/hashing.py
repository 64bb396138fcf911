"""The structural hash of a jaxpr: equal programs have equal hashes, whatever cell or function they came from.

It covers equations, parameters, avals with weak types, literals, and small captured constants by content; positions and
names do not count. Objects that are equal only to themselves (callbacks) count by identity and are kept alive beside
the hash.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from .avals import ShapedArray
from .digest import blake2b
from .dtypes import ExtendedDType
from .jaxpr import Atom, ClosedJaxpr, Jaxpr, Literal, Var


SMALL = 8
"""Captured arrays of at most so many elements are part of the program; larger ones become hidden arguments."""


class StructuralHash:
    """`digest`: 32 bytes. `kept`: objects hashed by identity."""

    __slots__ = ("digest", "kept")

    def __init__(self, digest: bytes, kept: list[Any]):
        self.digest, self.kept = digest, kept


def structural_hash(closed: ClosedJaxpr, embedded: Sequence[Any] = ()) -> StructuralHash:
    """The hash of a program; `embedded` are the values of constants that are written into it."""
    writer = _Writer()
    writer.jaxpr(closed.jaxpr)
    for value in embedded:
        writer.value(value)
    return StructuralHash(blake2b("".join(writer.out).encode(), digest_size=32).digest(), writer.kept)


def written(value: Any) -> str:
    """A parameter or constant as text: the same for equal ones (of objects that are equal only to themselves: for one), and other
    for all others."""
    writer = _Writer()
    writer.value(value)
    return "".join(writer.out)


class _Writer:
    """Writes a program as text in which every part is delimited and variables are numbers."""

    def __init__(self):
        self.out: list[str] = []
        self.kept: list[Any] = []
        self._inner: dict[Jaxpr, str] = {}

    def inner(self, jaxpr: Jaxpr) -> str:
        """The digest of a program inside another, which may be called often, each time through others: it is written once."""
        known = self._inner.get(jaxpr)
        if known is None:
            outer, self.out = self.out, []
            self.jaxpr(jaxpr)
            known = self._inner[jaxpr] = blake2b("".join(self.out).encode(), digest_size=32).hexdigest()
            self.out = outer
        return known

    def jaxpr(self, jaxpr: Jaxpr) -> None:
        numbers: dict[Var, str] = {}
        out = self.out

        def define(var: Var) -> str:
            number = numbers[var] = f"{len(numbers)}"
            return f"{number}:{var.aval.brief()}"

        def read(atom: Atom) -> str:
            return self._literal(atom) if type(atom) is Literal else numbers[atom]  # pyright: ignore

        out.append(f"({' '.join(map(define, jaxpr.constvars))};{' '.join(map(define, jaxpr.invars))}.")
        # Dead equations are not compiled, and may read arguments that the program does not take; the others keep their
        # number, which is the path of their operations.
        for i, eqn in jaxpr.live()[0]:
            out.append(f"\n{i}:{eqn.primitive.name}@{eqn.primitive.generation}<{' '.join(map(read, eqn.invars))}>")
            for name, value in eqn.primitive.program_params(eqn.params).items():
                out.append(f"{name}=")
                self.value(value)
            out.append(f">{' '.join(map(define, eqn.outvars))}")
        out.append(f"\n>{' '.join(map(read, jaxpr.outvars))})")

    def _literal(self, literal: Literal) -> str:
        return f"{np.asarray(literal.value).tobytes().hex()}:{literal.aval.brief()}"

    def value(self, value: Any) -> None:
        """A parameter or constant."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self.out.append(f"{type(value).__name__}:{value!r},")
        elif isinstance(value, (tuple, list)):
            self.out.append("(")
            for item in value:
                self.value(item)
            self.out.append("),")
        elif isinstance(value, ClosedJaxpr):
            self.out.append(self.inner(value.jaxpr))
            for const in value.consts:
                self.value(const)
        elif isinstance(value, (np.ndarray, np.generic)):
            self.out.append(f"{value.dtype}{value.shape}{value.tobytes().hex()},")
        elif isinstance(value, (np.dtype, ExtendedDType)):
            self.out.append(f"{value.name},")
        elif isinstance(value, ShapedArray):
            self.out.append(f"{value!r},")
        elif isinstance(value, enum.Enum):
            self.out.append(f"{type(value).__qualname__}.{value.name},")
        elif dataclass_fields := getattr(value, "__dataclass_fields__", None):
            self.out.append(type(value).__qualname__)
            self.value(tuple((name, getattr(value, name)) for name in dataclass_fields))
        else:
            self.kept.append(value)
            self.out.append(f"{type(value).__qualname__}@{id(value)},")
