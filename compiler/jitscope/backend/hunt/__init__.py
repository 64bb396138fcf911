"""The hunt for the first NaN (or infinity): from a bad result back to the operation that made it.

Nothing is evaluated equation by equation. A program is compiled once more so that it also says of each value whether it has a bad
element (`programs`); from these flags the hunt walks back from the bad result to the equation that made it (`search`). What runs more
than once or by choice is entered: of a loop a compiled program tells since which iteration each part of the carry has been bad, and that
iteration is looked at as a program of its own (`frames`). What was found has the values of its operands and the way from there to the
result (`finding`).
"""

from ..watching import infinities as infinities, nans as nans, nans_and_infinities as nans_and_infinities
from .finding import Finding as Finding, Given as Given, Iteration as Iteration, Step as Step, message as message
from .search import HasCallbacks as HasCallbacks, Hunt as Hunt, failure as failure, find_first as find_first
