"""The order in which kernels are listed: what takes the time, or what the program computes, before what only moves it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .looks import MOVES
from .sentences import say
from .words import Document, kernel_names


_COUNTER = re.compile(r"(pred|[su]\d+)\[\]")


def listed(kernels: Sequence[Document]) -> list[tuple[str, Document]]:
    """Kernels with their names: those that took most time first; where none was timed, those that compute before those that only
    fill, move or count, each in the order in which they run."""
    named = list(zip(kernel_names(kernels), kernels, strict=True))
    timed = any(map(_share, kernels))
    return sorted(named, key=lambda one: -_share(one[1]) if timed else _only_moves(one[1]))


def order_words(kernels: Sequence[Document]) -> str:
    """What is said above a list that is not in the order in which kernels run; else ""."""
    if [kernel for _, kernel in listed(kernels)] == list(kernels):
        return ""
    return say("kernels by time" if any(map(_share, kernels)) else "kernels by kind")


def _share(kernel: Document) -> float:
    share = kernel.get("share")
    return share if isinstance(share, int | float) and math.isfinite(share) else 0.0


def _only_moves(kernel: Document) -> bool:
    if kernel["kind"] == "loop" or not kernel["members"]:
        return False
    return all(member["opcode"] in MOVES or _COUNTER.match(member["type"]) for member in kernel["members"])
