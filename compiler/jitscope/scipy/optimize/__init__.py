"""`jitscope.scipy.optimize`: minima of functions of vectors."""

from .minimizing import *
