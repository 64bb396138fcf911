"""Around the error function: erfcx, Dawson's integral, the Faddeeva function, Owen's T."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..ops.elementwise import (
    abs_p,
    atan_p,
    erf_p,
    erfc_p,
    exp_p,
    floor_p,
    imag_p,
    max_p,
    real_p,
    sign_p,
)
from ..ops.linear import mul_p
from . import tables
from .approximations import by_width, chebyshev, choose, is_nan, largest, polynomial
from .primitive import DERIVED, special


def exp_of_square(x: Any) -> Any:
    """exp(x²), the rounding of the square taken into account (Cody, 1969)."""
    coarse = floor_p(x * 16.0) * 0.0625
    return exp_p(coarse * coarse) * exp_p((x - coarse) * (x + coarse))


@special("erfcx", DERIVED)
def erfcx_p(x: Any) -> Any:
    """exp(x²) erfc(x)."""
    size = abs_p(x)
    shrunk = choose(size < math.inf, 1.0 - 5.5 / (size + 2.75), 1.0)
    right = chebyshev(shrunk, -1, 1, tables.ERFCX) / (1.0 + 2.0 * size)
    beyond = x < -math.sqrt(math.log(largest(x) / 2))
    left = choose(beyond, -1.0, x < 0.0, x, 0.0)
    infinite = -math.inf * choose(beyond, x, -1.0)
    return choose(beyond, infinite, x < 0.0, 2.0 * exp_of_square(left) - right, right)


@special("dawson", DERIVED)
def dawson_p(x: Any) -> Any:
    """exp(-x²) times the integral of exp(t²) from 0 to x."""
    square = x * x
    far = square > 10.0
    near = x * chebyshev(choose(far, 0.0, square), 0, 10, tables.DAWSON_NEAR)
    large = choose(far, x, 4.0)
    return choose(far, chebyshev(1.0 / large / large, 0, 0.1, tables.DAWSON_FAR) / (2.0 * large), near)


# The Faddeeva function -----------------------------------------------------------------------------------------------


@functools.cache
def _weideman(n: int) -> tuple[float, list[float]]:
    """The constant and the coefficients of Weideman's rational series (SIAM J. Numer. Anal. 31, 1994)."""
    scale = math.sqrt(n / math.sqrt(2))
    m = 2 * n
    t = scale * np.tan(np.arange(-m + 1, m) * np.pi / (2 * m))
    f = np.concatenate([[0.0], np.exp(-t * t) * (scale * scale + t * t)])
    a = np.real(np.fft.fft(np.fft.fftshift(f))) / (2 * m)
    return scale, a[n:0:-1].tolist()


def _upper_plane(z: Any) -> Any:
    """w(z) for z in the upper half plane: Weideman's series, and far out Laplace's continued fraction."""
    size = max_p(abs_p(real_p(z)), abs_p(imag_p(z)))
    far, infinite = size > by_width(z, 30.0, 200.0), size == math.inf
    near = choose(far, 0j, z)
    scale, coefficients = _weideman(by_width(z, 24, 48))
    turned = 1j * near
    down = 1.0 / (scale - turned)
    series = down * (1 / math.sqrt(math.pi) + 2.0 * down * polynomial((scale + turned) * down, coefficients))
    large = choose(far & ~infinite, z, 1 + 1j)
    inverse = 1.0 / large
    square = inverse * inverse
    tail = 1j / math.sqrt(math.pi) * inverse * polynomial(square, (6.5625, 1.875, 0.75, 0.5, 1.0))
    return choose(infinite, 0j, far, tail, series)


@special("wofz", DERIVED, accepts="c")
def wofz_p(z: Any) -> Any:
    """exp(-z²) erfc(-i z)."""
    below = imag_p(z) < 0.0
    upper = _upper_plane(choose(below, -z, z))
    lower = choose(below, z, 0j)
    return choose(below, 2.0 * exp_p(-lower * lower) - upper, upper)


# Owen's T ------------------------------------------------------------------------------------------------------------


def _by_height(t: Any, out: Any, h: Any, a: Any) -> Any:
    return mul_p(t, exp_p(-0.5 * h * h) * erf_p(a * h * math.sqrt(0.5)) * (-0.5 / math.sqrt(2 * math.pi)))


def _by_angle(t: Any, out: Any, h: Any, a: Any) -> Any:
    squares = 1.0 + a * a
    return mul_p(t, exp_p(-0.5 * squares * h * h) / (2 * math.pi * squares))


@functools.cache
def _nodes() -> tuple[list[float], list[float]]:
    """The squares of the positive nodes of Gauss and Legendre's rule of 26 points, and its weights over 2 π."""
    nodes, weights = np.polynomial.legendre.leggauss(26)
    return np.square(nodes[13:]).tolist(), (weights[13:] / (2 * np.pi)).tolist()


@special("owens_t", _by_height, _by_angle)
def owens_t_p(h: Any, a: Any) -> Any:
    """T(h, a), by quadrature for |a| ≤ 1 (Patefield and Tandy, 2000, method T5), else from T(a h, 1/a)."""
    height, slope = abs_p(h), abs_p(a)
    steep = slope > 1.0
    far = choose(height == 0.0, 0.0, slope * height)
    flat, high = choose(steep, 1.0 / slope, slope), choose(steep, far, height)
    square, half = flat * flat, -0.5 * high * high
    total: Any = 0.0
    for node, weight in zip(*_nodes()):
        grown = 1.0 + square * node
        total = total + weight * exp_p(half * grown) / grown
    area = flat * total
    area = choose(high == 0.0, atan_p(flat) * (0.5 / math.pi), area)
    inner, outer = height * math.sqrt(0.5), far * math.sqrt(0.5)
    whole = choose(
        far <= 0.67,
        0.25 - 0.25 * erf_p(inner) * erf_p(outer),
        0.25 * (erfc_p(inner) + erfc_p(outer) - erfc_p(inner) * erfc_p(outer)),
    )
    even = 0.125 * erfc_p(inner) * erfc_p(-inner)
    out = sign_p(a) * choose(slope == 1.0, even, steep, whole - area, area)
    return choose(is_nan(h) | is_nan(a), h + a, out)
