"""`jitscope.scipy.integrate`: integrals of sampled functions."""

from ..numpy import trapezoid


__all__ = ["trapezoid"]
