"""What bounds a kernel, after the roofline model (Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model",
CACM 2009): its time against what its bytes and its operations need at this machine's measured rates."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...annotations import Bound, Nearest
from ..cost import Work
from .peaks import Peaks, kind_of


REACHED = 0.5
"""The part of a kernel's time that moving, computing or starting it must explain to be what bounds it; below that, nothing is said to."""


class Verdict(NamedTuple):
    """bound: "memory", "arithmetic", "overhead" (a kernel that computes one element takes half of its time or more), "neither" or
    "unknown"; needs: the seconds that its bytes or its operations need at the machine's rates, the larger of the two, and which
    that is; why: what is not known, in words."""

    bound: Bound
    needs: float | None = None
    nearest: Nearest | None = None
    why: str = ""


def verdict_of(seconds: float, work: Work, result: float, element: str, peaks: Peaks) -> Verdict:
    """What bounds a kernel that takes some seconds in one run that nothing disturbs, of that work, so many bytes of result and that element type."""
    if work.bytes is None or work.flops is None:
        return Verdict("unknown", why=work.why)
    moving = peaks.moving(work.bytes, result)
    computing = work.flops / peaks.flops(kind_of(element))
    needs, nearest = max((moving, "memory"), (computing, "arithmetic"))
    longest, bound = max((needs, nearest), (peaks.dispatch, "overhead"))
    return Verdict(bound if longest >= REACHED * seconds else "neither", needs, nearest)


_ELEMENT = re.compile(r"\b(?!token|opaque)([a-z]+\d+\w*|pred)\[")


def element_of(kinds: str) -> str:
    """The first element type in a printed HLO type that is a float's or complex, else the first at all."""
    found = _ELEMENT.findall(kinds)
    return next((each for each in found if each[0] in "fbc"), found[0] if found else "f32")
