"""What bounds a kernel, after the roofline model (Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model",
CACM 2009): its time against what its bytes and its operations need at this machine's measured rates."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..cost import Work
from .peaks import Peaks, kind_of


EXPLAINED = 0.1
"""The part of a kernel's time that moving or computing must explain; below that, neither bounds it."""


class Verdict(NamedTuple):
    """bound: "memory", "arithmetic", "overhead" (neither explains a tenth of the time: starting the kernel, waiting for single
    values, steps that cannot overlap) or "unknown"; needs: the seconds that its bytes or its operations need at the machine's
    rates, the larger of the two; why: what is not known, in words."""

    bound: str
    needs: float | None
    why: str = ""


def verdict_of(seconds: float, work: Work, result: float, element: str, peaks: Peaks) -> Verdict:
    """What bounds a kernel that takes some seconds in one run that nothing disturbs, of that work, so many bytes of result and that element type."""
    if work.bytes is None or work.flops is None:
        return Verdict("unknown", None, work.why)
    moving = peaks.moving(work.bytes, result)
    computing = work.flops / peaks.flops(kind_of(element))
    needs = max(moving, computing)
    if needs < EXPLAINED * seconds:
        return Verdict("overhead", needs)
    return Verdict("memory" if moving >= computing else "arithmetic", needs)


_ELEMENT = re.compile(r"\b(?!token|opaque)([a-z]+\d+\w*|pred)\[")


def element_of(kinds: str) -> str:
    """The first element type in a printed HLO type that is a float's or complex, else the first at all."""
    found = _ELEMENT.findall(kinds)
    return next((each for each in found if each[0] in "fbc"), found[0] if found else "f32")
