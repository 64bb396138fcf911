"""Why kernels of which one reads what the other gives are two, as XLA's fusion pass says it."""

from typing import Literal, TypedDict

from .fusion import BoundaryObservation
from .parts import Position, Quantity


class PairEnd(TypedDict):
    """One of two kernels, and the operation in it that gives, or reads, the value between them."""

    kernel: str
    opcode: str
    paths: list[str]
    positions: list[Position]


class KernelPair(TypedDict):
    """Two kernels of which the second reads what the first gives."""

    giver: PairEnd
    reader: PairEnd
    bytes: int
    """Of what goes between them."""
    reason: str
    """XLA's words; "" where it says nothing of these two."""
    observed: list[BoundaryObservation]
    """What can be seen between them, none of it proved to be the cause."""


class ReasonsDocument(TypedDict):
    """The pairs of kernels of a program: those of which XLA says something first, then those with most bytes between them."""

    kind: Literal["reasons"]
    version: Literal[1]
    title: str
    pairs: list[KernelPair]
    left_out: int
    """Pairs that are not here."""
    told: int
    """Pairs of which XLA says something, those left out with them."""
    decisions: int
    """Pairs of operations that XLA's pass decided about."""
    fused: int
    """How many of these it fused."""
    cost: Quantity
