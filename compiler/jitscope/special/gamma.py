"""Around the gamma function: Stirling's correction, the density of the gamma distribution, the beta function."""

from __future__ import annotations

import math
from typing import Any

from ..ops.elementwise import abs_p, digamma_p, exp_p, floor_p, lgamma_p, log1p_p, log_p, max_p, min_p
from ..ops.linear import mul_p
from .approximations import by_width, choose, constant_like, excess_of_log, polynomial, riemann_zeta
from .primitive import special


LARGE = 8.0
"""From here on Stirling's series gives full precision."""
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
EULER_GAMMA = 0.5772156649015329


def stirling_correction(a: Any) -> Any:
    """log Γ(a) - (a - ½) log a + a - ½ log 2π for a of at least `LARGE` (DLMF 5.11.1)."""
    down = 1.0 / a
    terms = by_width(a, STIRLING[:4], STIRLING)
    return down * polynomial(down * down, terms[::-1])


def log_gamma_density(a: Any, x: Any) -> Any:
    """log(xᵃ e⁻ˣ / Γ(a)) for positive a and x.

    For large a as Loader's saddle point (Fast and accurate computation of binomial probabilities, 2000), where the
    direct formula is a small difference of large numbers.
    """
    large = a >= LARGE
    big = choose(large, a, LARGE)
    away = (x - big) / big
    excess = choose(away < -0.5, log_p(x / big) - away, excess_of_log(away))
    saddle = 0.5 * log_p(big) - HALF_LOG_2PI + big * excess - stirling_correction(big)
    return choose(large, saddle, a * log_p(x) - x - lgamma_p(a))


def log_gamma_1p(a: Any) -> Any:
    """log Γ(1 + a), exact near 0 (DLMF 5.7.3)."""
    small = abs_p(a) < 0.5
    near = choose(small, a, 0.0)
    powers = [riemann_zeta(k) / k for k in range(by_width(a, 22, 48), 1, -1)]
    return choose(small, -near * polynomial(-near, [*powers, EULER_GAMMA]), lgamma_p(a + 1.0))


def log_gamma_fall(a: Any, more: Any) -> Any:
    """log Γ(a) - log Γ(a + more) + more · log(a + more) for a of at least `LARGE`, by Stirling, its large parts taken
    together."""
    ratio = more / a
    return 0.5 * log1p_p(ratio) - a * excess_of_log(ratio) + (stirling_correction(a) - stirling_correction(a + more))


def log_beta_times_low(a: Any, b: Any, ordinary: Any = True) -> Any:
    """log(min(a, b) B(a, b)): finite where one of them vanishes. Where a and b are not `ordinary`, positive and finite, it
    is log|B(a, b)|."""
    low, high = min_p(a, b), max_p(a, b)
    large = (high >= LARGE) & ordinary
    near = choose(large, 1.0, high)
    one = constant_like(low, 1) if ordinary is True else choose(ordinary, constant_like(low, 1), 0.0)
    first = lgamma_p(low + one)
    rest = lgamma_p(near + one) - lgamma_p(low + near + one)
    plain = rest + one * log1p_p(choose(one == 0.0, 0.0, low) / choose(one == 0.0, 1.0, near))
    big = choose(large, high, LARGE)
    falling = log_gamma_fall(big, low)
    middle = first + choose(large, falling - low * log_p(low + big), plain)
    small = choose(large & (low >= LARGE), low, LARGE)
    both = (
        HALF_LOG_2PI + 0.5 * log_p(small) + stirling_correction(small) - small * (1.0 + log1p_p(big / small)) + falling
    )
    return choose(large & (low >= LARGE), both, middle)


def _share(i: int) -> Any:
    return lambda t, out, *ab: mul_p(t, digamma_p(ab[i]) - digamma_p(ab[0] + ab[1]))


@special("betaln", _share(0), _share(1), weak=True)
def betaln_p(a: Any, b: Any) -> Any:
    """The logarithm of |Γ(a) Γ(b) / Γ(a + b)|."""
    low = min_p(a, b)
    ordinary = (low > 0.0) & (max_p(a, b) < math.inf)
    return log_beta_times_low(a, b, ordinary) - choose(ordinary, log_p(choose(ordinary, low, 1.0)), 0.0)


def is_pole(x: Any) -> Any:
    """Whether Γ has a pole at x."""
    return (x <= 0.0) & (floor_p(x) == x)


def gamma_sign(x: Any) -> Any:
    """The sign of Γ(x): that of the zero for zeros; NaN at the other poles, where it depends on the side, and at -∞."""
    whole = floor_p(x)
    below = x < 0.0
    odd = floor_p(whole * 0.5) * 2.0 != whole
    minus_zero = (x == 0.0) & (1.0 / x < 0.0)
    return choose((below & (x == whole)) | (x != x), math.nan, (below & odd) | minus_zero, -1.0, constant_like(x, 1))


def reciprocal_gamma(x: Any) -> Any:
    """1 / Γ(x), which is 0 at the poles."""
    pole = is_pole(x)
    safe = choose(pole, 1.0, x)
    return choose(pole, 0.0, gamma_sign(safe) * exp_p(-lgamma_p(safe)))


def _pochhammer_base(t: Any, out: Any, z: Any, m: Any) -> Any:
    return mul_p(t, out * (digamma_p(z + m) - digamma_p(z)))


def _pochhammer_count(t: Any, out: Any, z: Any, m: Any) -> Any:
    return mul_p(t, out * digamma_p(z + m))


@special("poch", _pochhammer_base, _pochhammer_count)
def poch_p(z: Any, m: Any) -> Any:
    """Γ(z + m) / Γ(z): 0 where only Γ(z) has a pole, infinite where only Γ(z + m) has one, and the limit where both
    have."""
    end, count = z + m, abs_p(m)
    start = min_p(z, end)
    large = start >= LARGE
    base = choose(large, start, LARGE)
    rise = count * log_p(base + count) - log_gamma_fall(base, count)
    rise = choose(m < 0.0, -rise, rise)
    below, above = is_pole(z), is_pole(end)
    both = below & above
    # Γ(z + m) / Γ(z) is (-1)ᵐ Γ(1 - z) / Γ(1 - z - m)
    top, bottom = choose(both, 1.0 - z, above, 1.0, end), choose(both, 1.0 - end, below, 1.0, z)
    size = exp_p(choose(large, rise, lgamma_p(top) - lgamma_p(bottom)))
    odd = both & (floor_p(m * 0.5) * 2.0 != m)
    size = gamma_sign(top) * gamma_sign(bottom) * choose(odd, -size, size)
    return choose(m == 0.0, 1.0, below & ~above, 0.0, above & ~below, math.inf, size)


gamma_sign_p = special("gammasgn", None)(gamma_sign)


# Combinations --------------------------------------------------------------------------------------------------------


def _by_all(t: Any, out: Any, n: Any, k: Any) -> Any:
    return mul_p(t, out * (digamma_p(n + 1.0) - digamma_p(n - k + 1.0)))


def _by_taken(t: Any, out: Any, n: Any, k: Any) -> Any:
    return mul_p(t, out * (digamma_p(n - k + 1.0) - digamma_p(k + 1.0)))


@special("comb", _by_all, _by_taken, weak=True)
def comb_p(n: Any, k: Any) -> Any:
    """The binomial coefficient of n over k for 0 ≤ k ≤ n, 1 / ((n + 1) B(n - k + 1, k + 1)), elsewhere 0."""
    possible = (k <= n) & (k >= 0.0)
    n, k = choose(possible, n, 0.0), choose(possible, k, 0.0)
    rest, taken = n - k + 1.0, k + 1.0
    size = min_p(rest, taken) / (n + 1.0) * exp_p(-log_beta_times_low(rest, taken))
    return choose(possible, size, 0.0)
