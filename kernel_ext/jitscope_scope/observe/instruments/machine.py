"""The machine code of the kernels."""

from __future__ import annotations

from .offer import Offer


OFFER = Offer(
    "Show machine code and LLVM's IR",
    "The code that each kernel runs: LLVM's IR before and after its passes, and the processor's instructions with their loops.",
    "The program is compiled once more; it is not run.",
    "jitscope_scope.observe.machine",
)
