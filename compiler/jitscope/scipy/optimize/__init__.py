"""`jitscope.scipy.optimize`: minima of functions of vectors."""

from .minimizing import OptimizeResults as OptimizeResults, minimize as minimize
