"""The hypergeometric functions ₁F₁ and ₂F₁ of real numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..ops.elementwise import abs_p, digamma_p, exp_p, floor_p, lgamma_p, log1p_p, log_p
from ..ops.linear import mul_p
from .approximations import by_width, choose, constant_like, epsilon
from .gamma import EULER_GAMMA, gamma_sign, is_pole, reciprocal_gamma
from .loops import EXTRA, repeat
from .primitive import DERIVED, differentiated, special


def hypergeometric_series(above: Sequence[Any], below: Sequence[Any], x: Any, limit: int = 10000) -> Any:
    """The sum of Π (aᵢ)ₖ / Π (bⱼ)ₖ xᵏ / k! over k.

    It goes on until what the terms would be if no factor came near 0 is small: those of the derivatives vanish no
    earlier.
    """

    def step(k: Any, term: Any, size: Any, total: Any) -> tuple[Any, ...]:
        ratio, bound = x / (k + 1.0), abs_p(x) / (k + 1.0)
        for a in above:
            ratio, bound = ratio * (a + k), bound * (abs_p(a + k) + 1.0)
        for b in below:
            down = choose(b + k == 0.0, 1.0, b + k)  # zero only where the sum has ended, or the result is infinite
            ratio, bound = ratio / down, bound / abs_p(down)
        term = term * ratio
        return term, size * bound, total + term

    one, least = constant_like(x, 1), epsilon(x) * EXTRA
    return repeat(step, (one, one, one), lambda term, size, total: size > least * abs_p(total), limit)[2]


def _falling_series(above: Sequence[Any], x: Any) -> Any:
    """The asymptotic sum of Π (aᵢ)ₖ xᵏ / k!, up to where its terms no longer fall."""

    def step(k: Any, term: Any, total: Any) -> tuple[Any, Any]:
        ratio = x / (k + 1.0)
        for a in above:
            ratio = ratio * (a + k)
        term = choose(abs_p(ratio) < 1.0, term * ratio, 0.0)
        return term, total + term

    one, least = constant_like(x, 1), epsilon(x) * EXTRA
    return repeat(step, (one, one), lambda term, total: abs_p(term) > least * abs_p(total), 100)[1]


# 1F1 -----------------------------------------------------------------------------------------------------------------


def _kummer(a: Any, b: Any, x: Any) -> Any:
    """₁F₁(a; b; x): the series (DLMF 13.2.2), for negative x that of eˣ ₁F₁(b - a; b; -x) (13.2.39), whose terms do not
    alternate, and far out the asymptotic one (13.7.2)."""
    mirrored = (x < 0.0) & ~is_pole(a)
    first, size = choose(mirrored, b - a, a), abs_p(x)
    other = choose(x < 0.0, b - a, a)
    spread = (1.0 + abs_p(b - other)) * (1.0 + abs_p(1.0 - other))
    far = (size > by_width(x, 40.0, 100.0)) & (size > spread) & ~is_pole(other)
    series = hypergeometric_series([first], [b], choose(far, 0.0, mirrored, -x, x))
    series = series * exp_p(choose(mirrored & ~far, x, 0.0))
    large = choose(far, size, 1.0)
    start = choose(far, other, 1.0)
    tail = _falling_series([b - start, 1.0 - start], choose(far, 1.0 / large, 0.0))
    scale = lgamma_p(b) - lgamma_p(start) + choose(x > 0.0, large, 0.0) + (start - b) * log_p(large)
    tail = gamma_sign(b) * gamma_sign(start) * exp_p(scale) * tail
    wrong = is_pole(b) & (a != 0.0) & ~(is_pole(a) & (a > b))
    return choose(wrong, math.inf, far, tail, series)


def _kummer_slope(t: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return mul_p(t, a / b * hyp1f1_p(a + 1.0, b + 1.0, x))


hyp1f1_p = special("hyp1f1", DERIVED, DERIVED, _kummer_slope)(_kummer)


# 2F1 -----------------------------------------------------------------------------------------------------------------


def _brought(a: Any, b: Any, c: Any, x: Any, negative: Any) -> tuple[Any, Any, Any]:
    """Another b, and an x from 0 on, of a function that times a factor is the one wanted: for negative x by Pfaff's
    transformation (DLMF 15.8.1)."""
    factor = exp_p(choose(negative, -a * log1p_p(choose(negative, -x, 0.0)), 0.0))
    return choose(negative, c - b, b), choose(negative, x / (x - 1.0), x), factor


def _gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    """₂F₁(a, b; c; x): for x from 0 to 0.9 the series (DLMF 15.2.1), up to 1 those in 1 - x (15.8.4 and 15.8.10)."""
    cancels = ((a == c) | (b == c)) & (x < 1.0)
    power = exp_p(choose(cancels, -choose(b == c, a, b) * log1p_p(choose(cancels, -x, 0.0)), 0.0))
    swap = is_pole(b) & ~is_pole(a)
    a, b = choose(swap, b, a), choose(swap, a, b)
    finite = is_pole(a) | is_pole(b)
    negative = (x < 0.0) & ~finite
    b, z, factor = _brought(a, b, c, x, negative)
    close = ((z > 0.9) & (z < 1.0)) & ~finite
    # Euler's transformation (15.8.1): a positive c - a - b
    sharp = (c - a - b < 0.0) & close
    factor = factor * exp_p(choose(sharp, (c - a - b) * log1p_p(choose(close, -z, 0.0)), 0.0))
    a, b = choose(sharp, c - a, a), choose(sharp, c - b, b)
    close = close & ~is_pole(a) & ~is_pole(b)
    rest = c - a - b
    whole = abs_p(rest - floor_p(rest + 0.5)) < math.sqrt(epsilon(x))
    series = hypergeometric_series([a, b], [c], choose(close | ~(z < 1.0) & ~finite, 0.0, z))
    apart, same = close & ~whole, close & whole
    split = _split(*[choose(apart, v, o) for v, o in zip((a, b, c, z), (0.3, 0.4, 1.1, 0.95))])
    merged = _merged(*[choose(same, v, o) for v, o in zip((a, b, c, z), (0.5, 0.5, 2.0, 0.95))])
    at_one = choose(rest > 0.0, _at_one(a, b, c), math.inf)
    found = factor * choose(apart, split, same, merged, (z == 1.0) & ~finite & ~negative, at_one, series)
    wrong = is_pole(c) & ~(is_pole(a) & (a > c)) | (x > 1.0) & ~finite
    return choose(x == 0.0, 1.0, wrong, math.inf, cancels, power, found)


def _at_one(a: Any, b: Any, c: Any) -> Any:
    """Γ(c) Γ(c - a - b) / (Γ(c - a) Γ(c - b))."""
    size = exp_p(lgamma_p(c) + lgamma_p(c - a - b))
    return gamma_sign(c) * gamma_sign(c - a - b) * size * reciprocal_gamma(c - a) * reciprocal_gamma(c - b)


def _split(a: Any, b: Any, c: Any, x: Any) -> Any:
    """The two series in 1 - x, where c - a - b is not an integer."""
    rest, away = c - a - b, 1.0 - x
    left = _at_one(a, b, c) * hypergeometric_series([a, b], [1.0 - rest], away)
    right = _at_one(c - a, c - b, c) * hypergeometric_series([c - a, c - b], [1.0 + rest], away)
    return left + exp_p(rest * log_p(away)) * right


def _merged(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Their limit where c - a - b is an integer m from 0 on (Abramowitz and Stegun 15.3.10 and 15.3.11)."""
    m, away = floor_p(c - a - b + 0.5), 1.0 - x
    log_away = log_p(away)

    def finite(k: Any, term: Any, total: Any) -> tuple[Any, Any]:
        term = choose(
            k + 1.0 < m, term * (a + k) * (b + k) / ((k + 1.0) * choose(k + 1.0 < m, k + 1.0 - m, 1.0)) * away, 0.0
        )
        return term, total + term

    one, zero = constant_like(x, 1), constant_like(x, 0)
    first = choose(m > 0.0, one, 0.0)
    head = repeat(finite, (first, first), lambda term, total: abs_p(term) > 0.0, 10000)[1]

    def infinite(k: Any, term: Any, turn: Any, total: Any) -> tuple[Any, ...]:
        turn = turn + (1.0 / (a + m + k) + 1.0 / (b + m + k) - 1.0 / (k + 1.0) - 1.0 / (k + 1.0 + m))
        term = term * (a + m + k) * (b + m + k) / ((k + 1.0) * (k + 1.0 + m)) * away
        return term, turn, total + term * turn

    turn = log_away + EULER_GAMMA - digamma_p(m + 1.0) + digamma_p(a + m) + digamma_p(b + m)
    going = lambda term, turn, total: abs_p(term) > epsilon(x) * EXTRA
    tail = repeat(infinite, (one, turn, turn), going, 1000)[2]
    scale = gamma_sign(c) * exp_p(lgamma_p(c))
    head = exp_p(lgamma_p(choose(m > 0.0, m, 1.0))) * reciprocal_gamma(a + m) * reciprocal_gamma(b + m) * head
    odd = floor_p(m * 0.5) * 2.0 != m
    power = exp_p(m * log_away - lgamma_p(m + 1.0)) * reciprocal_gamma(a) * reciprocal_gamma(b) * tail
    return scale * (choose(m > 0.0, head, zero) - choose(odd, -power, power))


def _by_series(a: Any, b: Any, c: Any, x: Any) -> Any:
    """The series alone: what is differentiated with respect to a, b and c. Near 1 it converges slowly."""
    other, z, factor = _brought(a, b, c, x, x < 0.0)
    return factor * hypergeometric_series([a, other], [c], choose(z < 1.0, z, math.nan), 40000)


def _share(i: int) -> Any:
    return lambda t, out, *args: mul_p(t, hyp2f1_grads[i](*args))


def _gauss_slope(t: Any, out: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    return mul_p(t, a * b / c * hyp2f1_p(a + 1.0, b + 1.0, c + 1.0, x))


hyp2f1_p = special("hyp2f1", _share(0), _share(1), _share(2), _gauss_slope)(_gauss)
hyp2f1_grads = [differentiated(f"hyp2f1_grad_{i}", _by_series, i, 4) for i in range(3)]
