"""Whole programs, from examples/programs: the same file runs with jitscope and with jax; some also with what people used before.

The table of the paper that introduced JAX sets truncated Newton-CG, compiled as a whole, beside the same with autograd and
NumPy. The tutorial's Poisson log-normal model is measured at each of its levels.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples" / "programs"))

import allconv  # noqa: E402
import black_scholes  # noqa: E402
import nbody  # noqa: E402
import newton_cg  # noqa: E402
import pln  # noqa: E402
import rnn  # noqa: E402
import transformer  # noqa: E402


OAKS = ROOT / "build" / "oaks"
"""Where `pip download --no-deps pyPLNmodels -d build/oaks` puts the counts; synthetic ones take their place."""

RATE, STEPS, EAGER_STEPS = 1e-4, 10, 2
"""Of the Poisson log-normal fit: learning rate, steps in one run of a compiled level, and without any compilation."""


class Whole(NamedTuple):
    """`prepare(lib)` gives a function without arguments that runs the program once and gives its result. `budget`: the ratio
    to jax; `before`: the library of a second comparison, what runs there, and the least times it is slower than ours."""

    title: str
    prepare: Callable[[Any], Callable[[], Any]]
    budget: float | None = None
    before: tuple[str, Callable[[], Callable[[], Any]], float | None] | None = None


def compiled(module: Any) -> Callable[[Any], Callable[[], Any]]:
    """A program with `make(jax, jnp)` and `arguments()`, compiled as a whole."""

    def prepare(lib: Any) -> Callable[[], Any]:
        fun, args = lib.J.jit(module.make(lib.J, lib.jnp)), lib.array(module.arguments())
        return lambda: fun(*args)

    return prepare


# Truncated Newton-CG --------------------------------------------------------------------------------------------------


def newton(name: str) -> Callable[[Any], Callable[[], Any]]:
    problem = newton_cg.PROBLEMS[name]

    def prepare(lib: Any) -> Callable[[], Any]:
        solve = lib.J.jit(newton_cg.solver(problem, lib.J, lib.jnp))
        args = lib.array((newton_cg.start(problem), *problem.data()))
        return lambda: solve(*args)

    return prepare


def newton_in_python(name: str, record_once: bool = False) -> Callable[[], Callable[[], Any]]:
    """With autograd and NumPy, in double precision as is their habit."""
    problem = newton_cg.PROBLEMS[name]

    def prepare() -> Callable[[], Any]:
        autograd, anp = importlib.import_module("autograd"), importlib.import_module("autograd.numpy")
        data = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in problem.data()]
        start = newton_cg.start(problem)
        return lambda: newton_cg.solve_in_python(problem, autograd, anp, start, *data, record_once=record_once)

    return prepare


# Poisson log-normal ---------------------------------------------------------------------------------------------------


def pln_data() -> tuple[Any, Any, Any]:
    try:
        oaks = pln.read_oaks(OAKS)
    except pln.MissingOaks:
        oaks = pln.synthetic_oaks()
    return pln.tutorial_data(*oaks)


def _optax(lib: Any) -> Any:
    return importlib.import_module("jitscope.optimizers" if lib.name == "jitscope" else "optax")


def pln_pieces(lib: Any) -> Callable[[], Any]:
    """Level 1: a Python loop over compiled pieces."""
    fit = pln.level_1(lib.J, lib.jnp, _optax(lib), RATE)
    optim_params, other_params = pln.parameters(lib.jnp, *pln_data())
    return lambda: fit(optim_params, dict(other_params), STEPS)


def pln_eager(lib: Any) -> Callable[[], Any]:
    """No jit."""
    data = lib.array(pln_data())
    return lambda: pln.fit_no_jit(lib.J, lib.jnp, _optax(lib), *data, EAGER_STEPS, RATE)


def pln_scan(lib: Any) -> Callable[[], Any]:
    """Level 2, compiled ahead of time."""
    data = pln_data()
    run, _ = pln.compile_level_2(lib.J, lib.jnp, _optax(lib), *data, STEPS, RATE)
    params = pln.parameters(lib.jnp, *data)
    return lambda: run(*params)


def pln_container(level: str) -> Callable[[Any], Callable[[], Any]]:
    """Levels 3 and up, inside one jit: the scan alone would be traced anew in each call."""

    def prepare(lib: Any) -> Callable[[], Any]:
        data, fit = lib.array(pln_data()), pln.LEVELS[level]
        whole = lib.J.jit(lambda Y, O, X: fit(lib.J, lib.jnp, _optax(lib), Y, O, X, STEPS, RATE))
        return lambda: whole(*data)

    return prepare


def pln_compilation(lib: Any) -> float:
    """Seconds from nothing to level 2's compiled program."""
    lib.J.clear_caches()
    data = pln_data()
    return pln.compile_level_2(lib.J, lib.jnp, _optax(lib), *data, STEPS, RATE)[1]


# Beside NumPy ---------------------------------------------------------------------------------------------------------


def nbody_in_numpy() -> Callable[[], Any]:
    def acceleration(x, masses):
        between = x[None, :, :] - x[:, None, :]
        squares = np.sum(between**2, axis=-1) + nbody.SOFTENING**2
        return np.einsum("ij,ijk->ik", masses / (squares * np.sqrt(squares)), between)

    def simulate():
        x, v, masses = nbody.arguments()
        a = acceleration(x, masses)
        for _ in range(nbody.STEPS):
            v = v + 0.5 * nbody.STEP * a
            x = x + nbody.STEP * v
            a = acceleration(x, masses)
            v = v + 0.5 * nbody.STEP * a
        return x, v

    return simulate


def prices_in_numpy() -> Callable[[], Any]:
    """With the derivatives worked out by hand."""
    ndtr = importlib.import_module("scipy.special").ndtr
    spot, strike, years, rate, volatility = black_scholes.arguments()

    def prices():
        root = np.sqrt(years)
        spread = volatility * root
        d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
        delta, density = ndtr(d1), np.exp(-0.5 * d1**2) * np.float32((2 * np.pi) ** -0.5)
        value = spot * delta - strike * np.exp(-rate * years) * ndtr(d1 - spread)
        return value, delta, density / (spot * spread), spot * density * root

    return prices


# All ------------------------------------------------------------------------------------------------------------------


def _newton(name: str, title: str, budget: float, paper: float) -> Whole:
    return Whole(f"Newton-CG, {title}", newton(name), budget, ("autograd", newton_in_python(name), paper))


WHOLE = {
    "quadratic": _newton("quadratic", "convex quadratic", 1.0, 114),
    "hmm": _newton("hmm", "HMM fit", 1 / 0.95, 153),
    "logistic": _newton("logistic", "logistic regression", 1.0, 3),
    "pln 0": Whole("Poisson log-normal, no jit", pln_eager),
    "pln 1": Whole("Poisson log-normal, level 1 (pieces)", pln_pieces, 1.05),
    "pln 2": Whole("Poisson log-normal, level 2 (scan)", pln_scan, 1.05),
    "pln 3": Whole("Poisson log-normal, level 3 (NamedTuple)", pln_container("3"), 1.05),
    "pln 3.5": Whole("Poisson log-normal, level 3.5 (dataclass)", pln_container("3.5"), 1.05),
    "pln 4": Whole("Poisson log-normal, level 4 (class)", pln_container("4"), 1.05),
    "allconv": Whole("all-convolutional network, one step", compiled(allconv), 1.05),
    "transformer": Whole("transformer block, gradient", compiled(transformer), 1.05),
    "rnn": Whole("LSTM in a scan, gradient", compiled(rnn), 1.05),
    "nbody": Whole("128 bodies, 100 steps", compiled(nbody), 1.05, ("numpy", nbody_in_numpy, None)),
    "options": Whole("200,000 options with derivatives", compiled(black_scholes), 1.05, ("numpy", prices_in_numpy, None)),
}  # fmt: skip

RECORDED_ONCE = {name: newton_in_python(name, record_once=True) for name in newton_cg.PROBLEMS}
"""The autograd programs with the gradient recorded once for each Newton step: less work than the paper's way."""


def whole_burst(name: str) -> Callable[[Any], Callable[[int], dict[str, float]]]:
    """The measure of a whole program: repetitions, each until its results are there."""

    def prepare(lib: Any) -> Callable[[int], dict[str, float]]:
        run = WHOLE[name].prepare(lib)
        return _timed(run, lib.J.block_until_ready, lib.threads)

    return prepare


def before_burst(make: Callable[[], Callable[[], Any]]) -> Callable[[Any], Callable[[int], dict[str, float]]]:
    """The measure of the same in the library before."""
    return lambda lib: _timed(make(), lambda result: result, lib.threads)


def _timed(
    run: Callable[[], Any], block: Callable[[Any], Any], clock: Callable[[], float]
) -> Callable[[int], dict[str, float]]:
    def burst(count: int) -> dict[str, float]:
        start = clock()
        for _ in range(count):
            block(run())
        return {"": (clock() - start) / count}

    return burst


def compilation_burst(lib: Any) -> Callable[[int], dict[str, float]]:
    """The measure of `pln_compilation`, with all caches empty."""
    return lambda count: {"": sum(pln_compilation(lib) for _ in range(count)) / count}


WHOLE_MEASURES = {f"whole:{name}": whole_burst(name) for name in WHOLE}
WHOLE_MEASURES |= {f"before:{name}": before_burst(w.before[1]) for name, w in WHOLE.items() if w.before}
WHOLE_MEASURES |= {f"before:{name}, recorded once": before_burst(make) for name, make in RECORDED_ONCE.items()}
WHOLE_MEASURES["compile:pln 2"] = compilation_burst
