"""An estimate of which part of a kernel's time belongs to which of the operations that it computes.

The time of a fused kernel is measured as a whole. Its parts are estimated by the work of its members: so many elements of arithmetic,
division, transcendental functions and moving, and so many bytes read and written from outside of the kernel, each at a number of seconds.
These are fitted to what was measured of fused kernels that stem from one line alone, near a usual relation where there are few of them:
the smallest sum of squares of relative errors, with a penalty for leaving that relation (Hoerl, Kennard, "Ridge Regression", Technometrics
1970), found one coordinate after the other. A small loop that XLA runs in one piece is split among its kernels in the same way.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from jitscope.xla.hlo_module import Computation, Instruction

from ...annotations import Kernel
from ..cost import Costs
from ..hlo import bytes_of
from .bounds import owners_of
from .roofline import element_of


Key = TypeVar("Key", bound=Hashable)
Share = TypeVar("Share", float, np.ndarray)
Part = tuple[Sequence[str], float]
"""The paths of the equations that an operation stems from, and its part of a kernel's time."""

WORK = ("arithmetic", "division", "transcendental", "moving", "bytes")
USUAL = np.array([0.1e-9, 0.4e-9, 1.5e-9, 0.03e-9, 0.05e-9])
"""Seconds for one element or byte of each, as far as nothing was measured: only how they relate to each other matters."""
_PENALTY = 0.3
_LEAST = 0.05
"""A rate is at least this part of the usual one: a line that computes takes some time."""
_ROUNDS = 60
_SLOW = "exponential exponential-minus-one log log-plus-one tanh tan sine cosine logistic power erf atan2 cbrt".split()
_DIVISION = "divide remainder sqrt rsqrt".split()
_MOVING = (
    "broadcast reshape bitcast transpose slice dynamic-slice dynamic-update-slice pad concatenate iota convert copy reverse gather "
    "get-tuple-element tuple constant bitcast-convert"
).split()
_CLASSES = {**dict.fromkeys(_SLOW, 2), **dict.fromkeys(_DIVISION, 1), **dict.fromkeys(_MOVING, 3)}
_PRODUCTS = ("dot", "convolution")
_GATHERING = ("reduce", "reduce-window", "scatter", "sort", "select-and-scatter")
"""What works on each element that it is given."""


class Estimate:
    """How the time of kernels is split among their members."""

    def __init__(self, kernels: Sequence[Kernel], computations: Sequence[Computation], costs: Costs):
        self.kernels = {kernel["name"]: kernel for kernel in kernels}
        self.instructions = {i.name: i for c in computations for i in c.instructions}
        fused = {name for c in computations for i in c.instructions if i.opcode == "fusion" for name in i.calls}
        self.fused = {i.name for c in computations if c.name in fused for i in c.instructions}
        self.costs = costs
        self.rates = USUAL
        self.known = 0
        """Kernels of one line that the rates were fitted to."""

    def fit(self, measured: Sequence[tuple[Kernel, float]]) -> None:
        """Take the seconds of a run of kernels that belong to one line each."""
        works = [(self._work(kernel), seconds) for kernel, seconds in measured if kernel["kind"] in ("fusion", "other")]
        known = [(work, seconds) for work, seconds in works if work.any() and seconds > 0]
        if known:
            self.rates = fitted(np.array([work for work, _ in known]), np.array([seconds for _, seconds in known]))
        self.known = len(known)

    def members(self, kernel: Kernel) -> list[float]:
        """The part of each member in a kernel's time; they add up to 1, or are all 0 where nothing is known."""
        if kernel["kind"] == "loop":
            found = [self._seconds(self.kernels[m["name"]]) for m in kernel["members"] if m["name"] in self.kernels]
        else:
            found = [float(self._member(m["name"], m["opcode"], m["type"]) @ self.rates) for m in kernel["members"]]
        whole = sum(found)
        return [one / whole if whole else 0.0 for one in found]

    def parts(self, kernel: Kernel) -> list[Part]:
        """The parts of a kernel's time with the equations they stem from; those of which none is known left out."""
        members, found = kernel["members"], self.members(kernel)
        if kernel["kind"] == "loop":
            inner = [self.kernels[m["name"]] for m in members if m["name"] in self.kernels]
            parts = [(paths, own * part) for one, part in zip(inner, found) for paths, own in self.parts(one)]
        else:
            parts = [(member["paths"], part) for member, part in zip(members, found) if member["paths"]]
        whole = sum(part for _, part in parts)
        if not whole:
            return [(kernel["paths"], 1.0)] if kernel["paths"] else []
        return [(paths, part / whole) for paths, part in parts]

    def equations(self, kernel: Kernel) -> dict[str, float]:
        """The parts of a kernel's time by the path of the equation; an operation that stems from several belongs to them in equal parts."""
        found: dict[str, float] = {}
        for paths, part in self.parts(kernel):
            for path in paths:
                found[path] = found.get(path, 0.0) + part / len(paths)
        return found

    def _seconds(self, kernel: Kernel) -> float:
        """What a kernel takes by its work."""
        found = float(self._work(kernel) @ self.rates)
        return found or float(bytes_of(kernel["type"])) * float(self.rates[4])

    def _work(self, kernel: Kernel) -> np.ndarray:
        works = [self._member(m["name"], m["opcode"], m["type"]) for m in kernel["members"]]
        return np.sum(works, axis=0) if works else np.zeros(len(WORK))

    def _member(self, name: str, opcode: str, kind: str) -> np.ndarray:
        """The work of an operation: see WORK."""
        found = np.zeros(len(WORK))
        instruction = self.instructions.get(name)
        if opcode in _PRODUCTS and instruction is not None:
            found[0] = self.costs.instruction(instruction).flops or 0.0
        elif opcode in _GATHERING and instruction is not None:
            found[0] = max([_elements(kind), *(_elements(self._type(one)) for one in instruction.operands)])
        else:
            found[_CLASSES.get(opcode, 0)] = _elements(kind)
        found[4] = self._outside(instruction, kind)
        return found

    def _outside(self, instruction: Instruction | None, kind: str) -> float:
        """The bytes that an operation reads and writes outside of its kernel."""
        if instruction is None:
            return float(bytes_of(kind))
        inside = instruction.name in self.fused
        given = [one for one in instruction.operands if not inside or self._opcode(one) == "parameter"]
        written = bytes_of(instruction.type) if instruction.is_root or not inside else 0
        return float(written + sum(bytes_of(self._type(one)) for one in given))

    def _type(self, name: str) -> str:
        return self.instructions[name].type if name in self.instructions else ""

    def _opcode(self, name: str) -> str:
        return self.instructions[name].opcode if name in self.instructions else ""


def _elements(kind: str) -> float:
    """How many elements a printed type has."""
    width = bytes_of(f"{element_of(kind)}[]") if kind else 0
    return bytes_of(kind) / width if width else 0.0


def fitted(works: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """The seconds of each kind of work, none of it for nothing, that explain best what some kernels took: `works` (kernels, kinds), `seconds`
    (kernels,). What no kernel does keeps its relation to the others."""
    scale = float(np.median(seconds / np.maximum(works @ USUAL, 1e-15)))
    usual = USUAL * scale
    a = works * usual / seconds[:, None]  # relative to what was measured, in multiples of the usual
    found = np.ones(len(USUAL))
    for _ in range(_ROUNDS):
        for j in range(len(found)):
            rest = 1.0 - a @ found + a[:, j] * found[j]
            found[j] = max(_LEAST, float(a[:, j] @ rest + _PENALTY) / float(a[:, j] @ a[:, j] + _PENALTY))
    return usual * found


def shares_of(
    kernels: Sequence[tuple[Share, Sequence[Part]]], owners: Mapping[str, Sequence[Key]], innermost: bool = False
) -> dict[Key, Share]:
    """The estimated share of each owner of equations, from kernels given as (share, parts of its time); see `bounds_of`. A share is a
    number, or an array of one for each call."""
    found: dict[Key, Share] = {}
    for share, parts in kernels:
        for key, part in split(parts, owners, innermost).items():
            found[key] = found[key] + share * part if key in found else share * part
    return found


def split(parts: Sequence[Part], owners: Mapping[str, Sequence[Key]], innermost: bool = False) -> dict[Key, float]:
    """The part of each owner in a kernel's time. An operation that stems from several equations belongs to them in equal parts."""
    found: dict[Key, float] = {}
    for paths, part in parts:
        each = [own for path in paths if (own := owners_of(path, owners, innermost))]
        for own in each:
            for key in own:
                found[key] = found.get(key, 0.0) + part / len(each)
    return found
