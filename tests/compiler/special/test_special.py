"""Special functions against SciPy over their whole domains, ends and poles included, and their derivatives against
differences.

Dtypes, shapes and maps are tested with the rest of the library (tests/oracle).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special as oracle

import jitscope as jx
from jitscope import lax, numpy as jnp
from jitscope.scipy import special
from jitscope.scipy.stats import expon
from jitscope.special.error import erfcx_p
from tests.compiler import matrix
from tests.compiling import once
from tests.extent import QUICK, some
from tests.samples import dtypes_of


INF, NAN = np.inf, np.nan
LINE = np.concatenate([np.linspace(-30, 30, 241), [0.0, -0.0, INF, -INF, NAN, 1e-10, -1e-3, 1e3, -1e4, 1e6]])
POSITIVE = np.concatenate([np.linspace(0.01, 60, 240), [0.0, INF, NAN, 1e-10, 1e-3, 1e3, 1e6]])
SHAPES = np.array([1e-8, 1e-3, 0.1, 0.5, 1, 1.5, 3, 7.9, 8.1, 20, 49, 60, 190, 210, 1e3, 1e5])
UNIT = np.array([0, 1e-8, 1e-3, 0.1, 0.3, 0.45, 0.5, 0.55, 0.75, 0.9, 0.99, 1])


def grid(*axes: Any) -> list[np.ndarray]:
    """All combinations."""
    return [a.ravel() for a in np.meshgrid(*map(np.asarray, axes))]


def scaled(shapes: np.ndarray, factors: Any) -> list[np.ndarray]:
    """Shapes, and points in proportion to them."""
    a, f = grid(shapes, factors)
    return [a, a * f]


@dataclasses.dataclass
class Case:
    """A function on a grid. `errors`: how far from SciPy in float32 and float64, relative to the value, or where that
    is small to `least`. `floor`: what is smaller may underflow. `wanted`: SciPy's function, if it has another name or
    order."""

    name: str
    args: list[np.ndarray]
    errors: tuple[float, float] = (1e-5, 1e-13)
    least: float = 0.0
    floor: tuple[float, float] = (1e-36, 1e-290)
    wanted: Callable[..., Any] | None = None
    ours: Callable[..., Any] | None = None
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.kind}".strip()


def integers_first(fun: Callable[..., Any]) -> Callable[..., Any]:
    return lambda n, x: fun(n.astype(int), x)


def first(fun: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: fun(x)[0]


def second(fun: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: fun(x)[1]


COMPLEX = np.concatenate(
    [(np.linspace(-12, 12, 33)[:, None] + 1j * np.linspace(-3, 9, 25)).ravel(), [1e4 + 1e-3j, 40, 250 + 1j, 30j, 0.5]]
)
HALVES = np.array([-3, -2.5, -1, -0.5, 0.3, 0.5, 1, 2, 3.5, 6])

CASES = [
    Case("erf", [LINE]),
    Case("erfc", [LINE], (3e-5, 1e-12)),
    Case("erfcx", [LINE]),
    Case("erfcx", [np.abs(COMPLEX.real) / 2 - 2 + 1j * COMPLEX.imag], least=1e-3, kind="complex"),
    Case("erfinv", [np.concatenate([np.linspace(-1, 1, 81), [NAN, 1.5, -2]])]),
    Case("dawsn", [LINE]),
    Case("wofz", [COMPLEX], least=1e-30),
    Case("wofz", [LINE[np.isfinite(LINE)]], kind="real"),
    Case("ndtr", [LINE], (3e-5, 1e-12)),
    Case("log_ndtr", [LINE], (3e-5, 1e-12)),
    Case("ndtri", [np.concatenate([np.linspace(0, 1, 201), [1e-30, 1e-9, 1 - 1e-6, -0.5, 1.5, NAN]])], least=0.1),
    Case("owens_t", grid(np.linspace(-5, 5, 21), [0, 0.1, 0.5, 1, 1.1, 3, 50, -0.7, -INF, NAN]), (1e-5, 1e-11)),
    Case("exp1", [POSITIVE]),
    Case("expi", [LINE], least=0.1),
    Case("expi", [POSITIVE], (1e-5, 1e-12), least=0.1, kind="far"),
    Case(
        "expn",
        grid([0, 1, 2, 3, 7, 50, 1000, 6000], [0, 1e-6, 0.3, 1, 1.1, 3, 20, 70, INF, NAN, -1]),
        wanted=integers_first(oracle.expn),
    ),
    Case("sici", [LINE], wanted=first(oracle.sici), ours=first(special.sici), kind="sine"),
    Case(
        "sici",
        [np.append(np.abs(LINE), -2)],
        least=0.1,
        wanted=second(oracle.sici),
        ours=second(special.sici),
        kind="cosine",
    ),
    Case(
        "fresnel",
        [np.append(np.linspace(-9, 9, 145), [0, INF, -INF, NAN])],
        wanted=first(oracle.fresnel),
        ours=first(special.fresnel),
        kind="sine",
    ),
    Case(
        "fresnel",
        [np.append(np.linspace(-9, 9, 145), [0, INF, -INF, NAN])],
        wanted=second(oracle.fresnel),
        ours=second(special.fresnel),
        kind="cosine",
    ),
    Case("spence", [POSITIVE[POSITIVE < INF]], least=0.1),
    Case("gammaln", [LINE], (1e-5, 1e-12), least=1),
    Case("gammasgn", [np.append(LINE[LINE != -INF], np.arange(-5, 5) + 0.5)]),
    Case("gamma", [np.concatenate([np.arange(-20, 30) + 0.3, [0, -0.0, -2, INF, NAN, 5]])], (3e-5, 1e-13)),
    Case("gamma", [COMPLEX], (3e-5, 1e-12), kind="complex"),
    Case("loggamma", [POSITIVE[POSITIVE > 0]], (1e-5, 1e-12), least=1),
    Case("loggamma", [COMPLEX], (1e-5, 1e-13), least=1, kind="complex"),
    Case(
        "digamma",
        [np.concatenate([POSITIVE, np.arange(-9, 0) + 0.3])],
        (2e-5, 1e-12),
        least=1,
    ),
    Case(
        "polygamma",
        grid([0, 1, 2, 5], np.linspace(0.2, 20, 30)),
        (2e-5, 1e-11),
        least=1e-3,
        wanted=integers_first(oracle.polygamma),
        ours=lambda n, x: special.polygamma(n.astype(int), x),
    ),
    Case("zeta", grid([1.1, 1.5, 2, 5, 20], [0.1, 0.5, 1, 2.5, 30])),
    Case("factorial", [np.arange(-3, 20) + 0.0], (3e-5, 1e-13)),
    Case("comb", grid([0, 1, 3, 7.5, 50, 1e4], [0, 1, 2, 5, -1]), (3e-5, 1e-11)),
    Case("poch", grid([-3, -1.5, 0, 0.5, 2, 9, 300], [-2, 0, 0.5, 1, 3]), (3e-5, 1e-12)),
    Case("beta", grid([0.1, 0.5, 2, 9], [0.3, 3, 12]), (1e-5, 1e-12)),
    Case("betaln", grid(SHAPES, SHAPES), (1e-5, 3e-10), least=0.1),  # SciPy's is 1e-10 off
    Case(
        "gammainc",
        scaled(SHAPES, [0, 1e-8, 0.1, 0.5, 0.75, 0.95, 1, 1.01, 1.2, 1.5, 3, 10, INF, NAN, -1]),
        (1e-5, 1e-12),
    ),
    Case(
        "gammaincc",
        scaled(SHAPES, [0, 1e-8, 0.1, 0.5, 0.75, 0.95, 1, 1.01, 1.2, 1.5, 3, 10, INF, NAN, -1]),
        (1e-5, 1e-12),
    ),
    Case(
        "gammaincc", grid([1e-10, 1e-5, 0.1, 0.5, 0.9, 0, INF, -1, NAN], [1e-6, 0.1, 0.5, 1, 1.05, 2, 20]), kind="small"
    ),
    Case(
        "betainc",
        grid([1e-3, 0.5, 1, 3, 7.9, 20, 1e3, 1e5], [1e-3, 0.5, 1, 3, 8.1, 20, 1e3, 1e5], UNIT),
        (2e-4, 1e-10),
        least=3e-2,
        kind="middle",
    ),
    Case("betainc", grid([0.5, 1, 3, 9, 50], [0.5, 1, 3, 20], [1e-4, 0.01, 0.1, 0.3]), (1e-5, 1e-12), kind="tail"),
    Case(
        "betainc",
        grid([0, 1, INF, -1, NAN], [1, 2, INF], [0, 0.5, 1, 1.5]),
        wanted=lambda a, b, x: _beta_ends(a, b, x),
        kind="ends",
    ),
    Case("i0e", [LINE]),
    Case("i0", [np.linspace(-20, 20, 81)]),
    Case("i1e", [LINE]),
    Case("i1", [np.linspace(-20, 20, 81)]),
    Case("entr", [POSITIVE], least=1e-3),
    Case("rel_entr", grid([0, 0.1, 1, 1.001, 5], [0, 0.3, 1, 1.1, 4])),
    Case("kl_div", grid([0, 0.1, 1, 1.001, 5], [0, 0.3, 1, 1.1, 4]), least=1e-2),
    Case("xlogy", grid([0, 0.5, -1, NAN], [0, 0.5, 3, NAN])),
    Case("xlog1py", grid([0, 0.5, -1, NAN], [-1, 1e-6, 3, NAN])),
    Case("boxcox", grid([0.1, 1, 3, 20], [-1, -1e-9, 0, 1e-6, 0.5, 2])),
    Case("boxcox1p", grid([-0.5, 1e-6, 3, 20], [-1, -1e-9, 0, 1e-6, 0.5, 2])),
    Case("logit", [np.concatenate([UNIT, [-0.0, 0.500001, -1, 2, NAN]])]),
    Case("expit", [LINE], (1e-5, 1e-12)),
    Case(
        "hyp1f1",
        grid(HALVES, [0.3, 0.5, 1, 2, 3.5, 6], [-200, -50, -8, -1, -0.3, 0, 0.3, 1, 5, 20, 60]),
        (1e-4, 1e-11),
        least=1e-3,
    ),
    Case(
        "hyp2f1",
        grid(HALVES, [-1, 0.3, 1, 2, 3.5], [0.3, 0.5, 2, 3.5, 6], [-50, -5, -1, -0.3, 0, 0.3, 0.7, 0.89, 0.91, 0.97]),
        (1e-3, 1e-10),
        least=1e-3,
    ),
    Case(
        "hyp2f1",
        [
            np.array(c, float)
            for c in zip(
                *[
                    (0.5, 0.3, 2, 1),
                    (0.5, 1.5, 2, 1),
                    (-2, 1, 3, 1),
                    (1, 1, -2, 0.5),
                    (1, 2, 3, 1.5),
                    (-2, 3, 1, 4),
                    (0, 1, 2, 0.5),
                    (1, 2, 2, 0.5),
                    (3, 1, 3, -4),
                ]
            )
        ],
        kind="ends",
    ),
]


def _beta_ends(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """All mass lies at 0 for a = 0 or b = ∞, at 1 the other way round."""
    low, high = (a == 0) | (b == INF), (a == INF)
    inside = (a >= 0) & (x <= 1) & ~(low & high)
    at_ends = np.where(low, np.where(x > 0, 1.0, 0.0), np.where(x < 1, 0.0, 1.0))
    ordinary = oracle.betainc(np.where(low | high | ~inside, 1, a), np.where(low, 1, b), np.where(inside, x, 0.5))
    return np.where(inside, np.where(low | high, at_ends, ordinary), NAN)


def wrong(got: np.ndarray, want: np.ndarray, case: Case, wide: bool) -> np.ndarray:
    """Where a result is too far off."""
    error, floor = case.errors[wide], case.floor[wide]
    with np.errstate(all="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        close = np.abs(got - want) <= error * np.maximum(np.abs(want), case.least)
        under = np.abs(want) < floor
        over = np.isinf(got) & (np.abs(want) > (0 if wide else 1e38)) & (not wide)
    return ~(same | close | (under & (np.abs(got) <= floor)) | over)


@pytest.mark.parametrize("wide", [False, True], ids=["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_scipy(case: Case, wide: bool) -> None:
    with jx.enable_x64(wide):
        args = [a.astype(_dtype(a, wide)) for a in case.args]
        got = np.asarray((case.ours or getattr(special, case.name))(*map(jnp.asarray, args)))
    exact = [a.astype(np.complex128 if np.iscomplexobj(a) else np.float64) for a in args]
    with np.errstate(all="ignore"):
        want = (case.wanted or getattr(oracle, case.name))(*exact)
    assert got.dtype == _dtype(want, wide)
    bad = np.flatnonzero(wrong(got, want, case, wide))
    shown = [(*(float(a[i].real) for a in args), complex(got[i]), complex(want[i])) for i in bad[:5]]
    assert not bad.size, f"{bad.size} of {got.size}: {shown}"


def _dtype(a: np.ndarray, wide: bool) -> Any:
    names = ("complex64", "complex128") if np.iscomplexobj(a) else ("float32", "float64")
    return np.dtype(names[wide])


# Derivatives ---------------------------------------------------------------------------------------------------------


def slope(fun: Callable[..., Any], args: list[np.ndarray], at: int, step: float = 1e-3) -> np.ndarray:
    """The derivative by differences of fourth order."""

    def moved(by: float) -> np.ndarray:
        return fun(*[a + by * size if i == at else a for i, a in enumerate(args)])

    size = step * np.clip(np.abs(args[at]), 0.1, 1)
    return (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * size)


FREE = np.array([-7.4, -2.4, -0.6, 0.3, 0.9, 1.7, 4.4, 9.1])
ABOVE = np.array([0.2, 0.9, 1.3, 2.8, 5.1, 14.0, 90.0])
INSIDE = np.array([0.1, 0.2, 0.45, 0.6, 0.83, 0.91])

EVERYWHERE = "erf erfc erfcx dawsn log_ndtr ndtr gammaln gamma digamma i0 i0e i1 i1e expit"
# by name: points, and the operands it is differentiated in
SMOOTH: dict[str, tuple[list[np.ndarray], tuple[int, ...]]] = {
    **{name: ([FREE], (0,)) for name in EVERYWHERE.split()},
    **{name: ([ABOVE], (0,)) for name in "exp1 expi spence entr loggamma factorial".split()},
    **{name: ([INSIDE], (0,)) for name in "erfinv ndtri logit".split()},
    "owens_t": (grid([-2.1, 0.4, 1.3], [-3.0, 0.3, 0.8, 1.7]), (0, 1)),
    "expn": (grid([1, 2, 5], [0.2, 0.8, 1.5, 6]), (1,)),
    "gammainc": (scaled(np.array([0.3, 1, 1.2, 2, 6, 30, 300, 2e3]), [0.5, 0.9, 1.02, 1.1, 1.6]), (0, 1)),
    "gammaincc": (scaled(np.array([0.3, 1, 1.2, 2, 6, 30, 300, 2e3]), [0.5, 0.9, 1.02, 1.1, 1.6]), (0, 1)),
    "betainc": (grid([0.4, 2, 2.3, 12, 60], [0.7, 1, 2, 3.1, 25], [0.1, 0.4, 0.7]), (0, 1, 2)),
    "beta": (grid([0.4, 2.3, 12], [0.7, 9.1]), (0, 1)),
    "betaln": (grid([0.4, 2.3, 12], [0.7, 9.1]), (0, 1)),
    "poch": (grid([0.4, 2.3, 12], [0.7, 2.1]), (0, 1)),
    "comb": (grid([6.3, 12], [0.7, 2.1]), (0, 1)),
    "zeta": (grid([1.4, 3.2, 7], [0.3, 1.6, 9]), (0, 1)),
    "rel_entr": (grid([0.3, 1.9], [0.4, 1.8, 7]), (0, 1)),
    "kl_div": (grid([0.3, 1.9], [0.4, 1.8, 7]), (0, 1)),
    "xlogy": (grid([-0.3, 1.9], [0.4, 1.8, 7]), (0, 1)),
    "xlog1py": (grid([-0.3, 1.9], [0.4, 1.8, 7]), (0, 1)),
    "boxcox": (grid([0.3, 1.9, 6], [-1.2, 0.0, 0.4, 2.5]), (0, 1)),
    "boxcox1p": (grid([-0.3, 1.9, 6], [-1.2, 0.0, 0.4, 2.5]), (0, 1)),
    "hyp1f1": (grid([-1.3, 0.7, 2.2], [0.8, 2.6], [-12, -0.7, 0.4, 3.1, 40]), (0, 1, 2)),
    "hyp2f1": (grid([-1.3, 0.7], [0.4, 1.9], [0.8, 2.6], [-3.0, -0.4, 0.3, 0.8, 0.92]), (0, 1, 2, 3)),
}  # fmt: skip


def compiled(fun: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """The function of float64 arrays, quickly compiled."""
    run = jx.jit(fun, compiler_options=QUICK)
    return lambda *xs: np.asarray(run(*map(jnp.asarray, xs)))


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_are_those_of_scipys_function(name: str) -> None:
    """In reverse mode; in the last operand also the second one, forward over reverse."""
    args, smooth = SMOOTH[name]
    args = [a.astype(float) for a in args]
    fun, reference = getattr(special, name), getattr(oracle, name)
    if name == "expn":
        reference = integers_first(reference)
    with jx.enable_x64(True):
        every = compiled(lambda *xs: jnp.stack(jx.grad(lambda *ys: jnp.sum(fun(*ys)), smooth)(*xs)))
        found = every(*args)
        last = smooth[-1]
        one = lambda *xs: jx.grad(lambda *ys: jnp.sum(fun(*ys)), last)(*xs)
        ahead = lambda *xs: jx.jvp(
            lambda x: one(*xs[:last], x, *xs[last + 1 :]), (xs[last],), (jnp.ones_like(xs[last]),)
        )[1]
        bend = np.asarray(once(ahead)(*map(jnp.asarray, args)))
        bent = slope(lambda *xs: every(*xs)[-1], args, last)
    for i, got in zip(smooth, found):
        near(got, slope(reference, args, i), 1e-6)
    near(bend, bent, 3e-6)


def near(found: np.ndarray, want: np.ndarray, error: float) -> None:
    """Up to the error of differences, which is that of the function."""
    np.testing.assert_allclose(found, want, rtol=error, atol=1e-9 * min(np.max(np.abs(want)), 1e3))


def test_functions_of_two_results_have_derivatives() -> None:
    x = np.array([-9.3, -1.2, 0.4, 3.7, 4.2, 5.5])
    with jx.enable_x64(True):
        for name in ("sici", "fresnel"):
            fun, reference = getattr(special, name), getattr(oracle, name)
            found = jx.jvp(fun, (jnp.asarray(x),), (jnp.ones(6),))[1]
            for got, pick in zip(found, (first, second)):
                np.testing.assert_allclose(got, slope(pick(reference), [x], 0), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["loggamma", "gamma", "wofz", "erfcx"])
def test_complex_derivatives_are_quotients_in_all_directions(name: str) -> None:
    z = np.array([0.3 + 0.2j, -2.3 + 0.7j, 3 - 4j, 9 + 2j, -1.5 - 3j])
    fun, reference = getattr(special, name), getattr(oracle, name)
    with jx.enable_x64(True):
        for direction in (1, 1j):
            found = jx.jvp(fun, (jnp.asarray(z),), (jnp.full(5, direction + 0j),))[1]
            h = 1e-4
            want = (8 * (reference(z + h * direction) - reference(z - h * direction))
                    - (reference(z + 2 * h * direction) - reference(z - 2 * h * direction))) / (12 * h)  # fmt: skip
            np.testing.assert_allclose(found, want, rtol=1e-9)


# The derivative of samples -------------------------------------------------------------------------------------------


def test_samples_of_the_gamma_distribution_move_with_the_shape() -> None:
    """A quantile as a function of the shape, for all regions of both arguments."""
    shape, at = grid([0.2, 0.9, 3, 20, 60, 150, 250, 4e3], [1e-3, 0.1, 0.5, 0.9, 0.999])
    x = oracle.gammaincinv(shape, at)
    want = slope(lambda a: oracle.gammaincinv(a, at), [shape], 0)
    for wide, error in ((False, 2e-5), (True, 1e-6)):
        with jx.enable_x64(wide):
            dtype = np.float64 if wide else np.float32
            found = lax.random_gamma_grad(jnp.asarray(shape.astype(dtype)), jnp.asarray(x.astype(dtype)))
        np.testing.assert_allclose(found, want, rtol=error)


def test_density_that_underflows_does_no_harm() -> None:
    a, x = jnp.float32(1e6), jnp.float32(1e6 - 2e4)
    assert abs(float(lax.random_gamma_grad(a, x)) - 0.99) < 0.01
    assert float(lax.igamma(a, x)) == 0


# Orders, degrees, and other integers ---------------------------------------------------------------------------------


def test_bessel_functions_of_integer_order() -> None:
    z = np.array([-3.0, 0, 1e-3, 0.7, 5, 20])
    want = np.array([oracle.jv(k, z) for k in range(5)])
    for wide, error in ((False, 2e-6), (True, 1e-14)):
        with jx.enable_x64(wide):
            found = special.bessel_jn(jnp.asarray(z, float), v=4)
            slopes = jx.jacfwd(lambda t: special.bessel_jn(t, v=4))(jnp.asarray(0.7))
            again = jx.jacrev(lambda t: special.bessel_jn(t, v=4))(jnp.asarray(0.7))
        np.testing.assert_allclose(found, want, atol=error)
        np.testing.assert_allclose(slopes, [oracle.jvp(k, 0.7) for k in range(5)], atol=error)
        np.testing.assert_allclose(again, slopes, atol=error)


def test_spherical_harmonics_of_all_orders() -> None:
    n, m = (np.array(a) for a in zip(*[(n, m) for n in range(7) for m in range(-n, n + 1)]))
    theta, phi = np.linspace(0, np.pi, n.size), np.linspace(-3, 6, n.size)
    want = oracle.sph_harm_y(n, m, theta, phi)
    with jx.enable_x64(True):
        found = special.sph_harm_y(n, m, theta, phi)
        total = lambda t: jnp.sum(jnp.real(special.sph_harm_y(n, m, t, phi, n_max=6)))
        slopes = jx.grad(total)(jnp.asarray(theta))
    np.testing.assert_allclose(found, want, atol=1e-14)
    inner = slice(1, -1)
    moved = slope(lambda t: oracle.sph_harm_y(n, m, t, phi).real, [theta], 0)
    np.testing.assert_allclose(slopes[inner], moved[inner], atol=1e-7)


def test_bernoulli_numbers() -> None:
    with jx.enable_x64(True):
        np.testing.assert_allclose(special.bernoulli(40), oracle.bernoulli(40), rtol=1e-11)


def test_orders_that_are_no_integers() -> None:
    """By the recurrence n Eₙ₊₁(x) = e⁻ˣ - x Eₙ(x), which holds for all orders."""
    n, x = grid([0.5, 1.5, 2.25], [0.1, 0.7, 0.99, 1.5])
    with jx.enable_x64(True):
        now, after = (np.asarray(special.expn(k, x)) for k in (n, n + 1))
    np.testing.assert_allclose(n * after, np.exp(-x) - x * now, rtol=1e-12)


# Transformations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", some([d.name for d in (*dtypes_of(erfcx_p), *dtypes_of(erfcx_p, wide=True))], "float32")
)
def test_rules(dtype: str) -> None:
    report = matrix.report(erfcx_p, np.dtype(dtype))
    assert sum(report.counts.values())
    assert not report.failures, "\n".join(map(str, report.failures))


def test_one_equation_each() -> None:
    x = jnp.ones(3)
    for fun in (special.gammaln, special.erfcx, special.expi, special.dawsn):
        assert len(jx.make_jaxpr(fun)(x).eqns) == 1
    assert [e.primitive.name for e in jx.make_jaxpr(lax.igamma)(x, x).eqns] == ["igamma"]


def test_maps_over_one_operand() -> None:
    a, x = jnp.array([0.5, 2.0, 9.0]), jnp.array([0.3, 1.5])
    found = jx.vmap(lambda a: jx.vmap(lambda x: lax.igamma(a, x))(x))(a)
    np.testing.assert_allclose(found, oracle.gammainc(np.asarray(a)[:, None], np.asarray(x)), rtol=1e-5)


def test_without_jit_too() -> None:
    with jx.disable_jit():
        np.testing.assert_allclose(
            special.gammainc(2.0, jnp.array([0.5, 3.0])), oracle.gammainc(2, [0.5, 3]), rtol=1e-6
        )
        assert abs(float(jx.grad(special.expi)(1.0)) - np.e) < 1e-5


def test_narrow_floats_are_computed_wide() -> None:
    x = jnp.asarray(np.linspace(0.5, 20, 9), jnp.bfloat16)
    found = special.expi(x)
    assert found.dtype == jnp.bfloat16
    want = oracle.expi(np.asarray(x).astype(float))
    np.testing.assert_allclose(np.asarray(found).astype(float), want, rtol=4e-3)


# Errors --------------------------------------------------------------------------------------------------------------


def test_there_is_no_derivative_by_the_order() -> None:
    with pytest.raises(ValueError, match="order n"):
        jx.grad(special.expn)(2.0, 1.5)


def test_sums_of_logarithms_stay_apart() -> None:
    """XLA merges two logarithms whose operands differ by a factor: special functions may hold both."""
    x = jnp.asarray(np.linspace(0.5, 3, 20000), jnp.float32)
    found = jx.jit(lambda x: jnp.sum(special.xlogy(2.0, x)) + jnp.sum(jnp.log(2 * x)))(x)
    want = np.sum(2 * np.log(np.asarray(x, float))) + np.sum(np.log(2 * np.asarray(x, float)))
    assert abs(float(found) - want) < 1e-4 * abs(want)


SLOPES: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(jnp, name) for name in "arcsinh expm1 sinc".split()},
    **{name: getattr(special, name) for name in "i0 i1 log_ndtr".split()},
    **{name: getattr(jx.nn, name) for name in "elu selu celu".split()},
    "hypot": lambda x: jnp.hypot(x, 1.5),
    "the exponential distribution": expon.logcdf,
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_in_single_precision_are_those_in_double(name: str) -> None:
    """Nowhere is a first or second derivative what is left of two equal numbers; it is 0 or finite where they get very small."""
    sizes = np.concatenate([np.logspace(-8, 1.4, 60), [1.5, 0.25, 0.2499999, 12.0, 30.0, 87.0]])
    x = np.concatenate([-sizes, sizes]).astype(np.float32)
    first = jx.vmap(jx.grad(SLOPES[name]))
    both = jx.jit(lambda x: (first(x), jx.vmap(jx.grad(jx.grad(SLOPES[name])))(x)), compiler_options=QUICK)
    found = both(x)
    with jx.enable_x64(True):
        wanted = both(x.astype(float))
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(got, float), want, rtol=5e-5, atol=1e-35)


def test_slopes_of_large_numbers_and_of_equal_sides() -> None:
    slope = lambda fun, x: np.asarray(jx.grad(lambda v: fun(v).astype(jnp.float32))(x), float)
    for dtype, large in ((np.float16, 6e4), (jnp.bfloat16, 1e30), (np.float32, 1e30), (np.float32, -3e37)):
        np.testing.assert_allclose(slope(jnp.arcsinh, dtype(large)), 1 / abs(float(dtype(large))), rtol=1e-2)
    assert slope(jnp.arcsinh, np.float32(np.inf)) == 0
    assert slope(special.erfcx, np.float32(-40)) == -np.inf
    for x, y in ((3.0, 3.0), (-2.0, 2.0), (2.0, -2.0)):
        got = jx.grad(jnp.hypot, (0, 1))(x, y)
        np.testing.assert_allclose(got, np.array([x, y]) / np.hypot(x, y), rtol=1e-6)
    assert not np.any(jx.grad(jnp.hypot, (0, 1))(0.0, 0.0))
