"""`jitscope.scipy.signal`: convolutions, trends, and spectra of stretches of a signal."""

from .convolving import (
    convolve as convolve,
    convolve2d as convolve2d,
    correlate as correlate,
    correlate2d as correlate2d,
    fftconvolve as fftconvolve,
)
from .detrending import detrend as detrend
from .inverse import istft as istft
from .spectra import csd as csd, stft as stft, welch as welch
