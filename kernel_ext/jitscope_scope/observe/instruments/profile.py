"""Where the time goes."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Profile kernels",
    "What each kernel and each line of the program takes, and whether memory, arithmetic or overhead bounds it.",
    "The program runs again for about two seconds on the arguments of its call, half of the time under XLA's profiler; the first time, a second more to measure this machine.",
    "jitscope_scope.observe.profiling.document",
)
