"""`jitscope.scipy.integrate`: integrals of sampled functions."""

from ..numpy import trapezoid as trapezoid
