"""What every equation computes."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Show values",
    "What every equation computes on the arguments of the call: statistics, the first NaN, histograms and pictures of the arrays.",
    "The program is run equation by equation, and once as it is compiled; the arguments must still exist.",
    "jitscope_scope.observe.values",
)
