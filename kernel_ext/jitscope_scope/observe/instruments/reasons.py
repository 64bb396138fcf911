"""Why kernels are not one."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Ask XLA why",
    "Why kernels that hand values on are not one: XLA's own reason for each pair, as its fusion pass says it.",
    "The program is compiled once more, in a process of its own; it is not run.",
    "jitscope_scope.observe.reasons",
)
