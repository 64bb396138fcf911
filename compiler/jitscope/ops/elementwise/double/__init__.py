"""Functions of float32 arrays that are computed in float64 and rounded once.

XLA calls the C library for each number; these formulas are sums, products and choices alone, which run in vectors. They are off by no more
than 0.501 units in the last place, XLA's own by up to 5.4: `docs/compiler.md` has the table. The polynomials are long enough for 2**-33.
"""

from .rule import *
