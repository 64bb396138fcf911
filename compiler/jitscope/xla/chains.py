"""Programs with which a compiler that was asked for would end the process, refused before they get there.

XLA's older emitter for the CPU (`cpu_tuning.OLDER_EMITTER`), chosen by a user, goes from a kernel's result to its operands by recursion, on
a stack of a fixed size: some 6,000 operations one after the other end the process (jaxlib 0.10.2, x86-64). XLA's default emitters are
kept from longer chains of theirs by `backend.long_chains`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from .cpu_tuning import OLDER_EMITTER


MOST = 4_000
"""Operations one after the other that the older emitter is given."""

_SMALLEST = 4 * MOST  # bytes of a module with so many operations, at least
_FLAG = OLDER_EMITTER.value[0][0]
_PART = ("call", "fusion")  # of the computation they stand in, once XLA is at work
_OFF = rf"--{_FLAG}=(false|0)\b"


def refuse_long(module: Any, options: Any) -> None:
    """Raises ValueError for a program that XLA's older emitter, if these options choose it, would not survive."""
    if not isinstance(module, bytes) or len(module) < _SMALLEST or not _older(options):
        return
    from . import hlo_module  # for such a program alone

    length = longest(hlo_module.computations(hlo_module.unoptimized(module)))
    if length > MOST:
        raise ValueError(
            f"this program has {length:,} operations one after the other, and {_FLAG}=False chooses a compiler that ends the process "
            f"at some 6,000: it is not compiled so. What to do: leave {_FLAG} out (of compiler_options, or of XLA_FLAGS), or write the "
            "repeated part as a loop (lax.scan, lax.fori_loop)"
        )


def _older(options: Any) -> bool:
    chosen = dict(options.env_option_overrides).get(_FLAG)
    return (
        chosen in (False, 0, "false", "False", "0")
        if chosen is not None
        else bool(re.search(_OFF, os.environ.get("XLA_FLAGS", ""), re.IGNORECASE))
    )


def longest(computations: Iterable[Any]) -> int:
    """The most instructions of which each is an operand of the next; what a call runs counts at its place, a loop's body by itself.
    `computations`: of an HLO module (`hlo_module.Computation`)."""
    known: dict[str, int] = {}
    for computation in computations:  # those that are called stand before those that call them
        before: dict[str, int] = {}
        for i in computation.instructions:
            own = 1 + max((known.get(name, 0) for name in i.calls if i.opcode in _PART), default=0)
            before[i.name] = own + max((before.get(name, 0) for name in i.operands), default=0)
        known[computation.name] = max(before.values(), default=0)
    return max(known.values(), default=0)
