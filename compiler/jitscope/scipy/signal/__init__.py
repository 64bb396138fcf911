"""`jitscope.scipy.signal`: convolutions, trends, and spectra of stretches of a signal."""

from .convolving import *
from .detrending import *
from .inverse import *
from .spectra import *
