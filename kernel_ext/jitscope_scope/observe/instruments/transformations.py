"""How the program came to be: jvp, linearize, transpose, vmap."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Show transformations",
    "The jaxpr before and after each transformation that was called while the function was traced: jvp, linearize, transpose, vmap.",
    "The function's Python code runs once more, on tracers, without what it prints; nothing is compiled or run.",
    "jitscope_scope.observe.transformations",
    of_libraries=False,
)
