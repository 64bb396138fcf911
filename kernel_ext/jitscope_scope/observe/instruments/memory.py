"""Memory over the schedule."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Show memory",
    "Every buffer of the compiled program over its schedule: what is in use at each step, the peak, what is kept for the backward pass, and the line of each buffer.",
    "The program is compiled once more; it is not run.",
    "jitscope_scope.observe.memory",
)
