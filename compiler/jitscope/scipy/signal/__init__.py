"""`jitscope.scipy.signal`: convolutions, trends, and spectra of stretches of a signal."""

from .convolving import *
from .detrending import detrend as detrend
from .inverse import istft as istft
from .spectra import *
