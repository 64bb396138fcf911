"""What XLA's passes did."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Show passes",
    "What each of XLA's passes did to the program, step by step, and what became of each line.",
    "The program is compiled twice more; it is not run.",
    "jitscope_scope.observe.passes",
)
