"""What devices exchange."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Show communication",
    "What the devices exchange: the collectives of the compiled program with their bytes and lines, and the shardings of arguments and results.",
    "Nothing is compiled or run: it is read from the compiled program.",
    "jitscope_scope.observe.communication",
)
