"""The hunt for the first NaN (or infinity): from a bad result back to the operation that made it.

Nothing is evaluated equation by equation. A program is compiled once more so that it also says of each value whether it has a bad
element (`programs`); from these flags the hunt walks back from the bad result to the equation that made it (`search`). What runs more
than once or by choice is entered: of a loop a compiled program tells since which iteration each part of the carry has been bad, and that
iteration is looked at as a program of its own (`frames`). What was found has the values of its operands and the way from there to the
result (`finding`).
"""

from ..watching import infinities, nans, nans_and_infinities
from .finding import BadInput, Finding, Iteration, Step, message
from .search import HasCallbacks, Hunt, failure, find_first


__all__ = ["BadInput", "Finding", "HasCallbacks", "Hunt", "Iteration", "Step", "failure", "find_first", "infinities",
           "message", "nans", "nans_and_infinities"]  # fmt: skip
