"""Truncated Newton-CG, the whole optimizer compiled: the table of the paper that introduced JAX.

Each Newton step solves `H p = -g` by conjugate gradients that stop early; `H v` is the directional derivative of the gradient.
All loops (steps, conjugate gradients, line search) are `while_loop`s, so that one compiled program does everything. The same
algorithm in Python, for NumPy and autograd, is `minimize_in_python`.

    python examples/programs/newton_cg.py
"""

from typing import Any, NamedTuple

import numpy as np


MAX_STEPS, TOLERANCE = 30, 1e-3
"""Newton steps at most; the size of the gradient, relative to that at the start, at which the search ends."""
SHRINK, ENOUGH, MAX_HALVINGS = 0.5, 1e-4, 20
"""Line search: how much shorter each try is, the share of the promised descent that is enough, tries at most."""


class Found(NamedTuple):
    """Where the search ended, the function there, the steps taken, and the products with the Hessian."""

    x: Any
    value: Any
    steps: Any
    products: Any


def minimizer(jax, jnp):
    """`minimize(fun, x, max_products)`: the minimum of a function of a vector, from x on."""
    lax = jax.lax

    def newton_direction(grad, x, g, max_products):
        size = jnp.sqrt(g @ g)
        stop = jnp.minimum(0.5, jnp.sqrt(size)) * size

        def unfinished(state):
            _, _, _, rest, products, convex = state
            return (rest > stop**2) & (products < max_products) & convex

        def conjugate_step(state):
            p, r, d, rest, products, _ = state
            hd = jax.jvp(grad, (x,), (d,))[1]
            curvature = d @ hd
            convex = curvature > 0
            length = jnp.where(convex, rest / jnp.where(convex, curvature, 1.0), 0.0)
            p, r = p + length * d, r - length * hd
            new_rest = r @ r
            return p, r, r + (new_rest / rest) * d, new_rest, products + 1, convex

        start = (jnp.zeros_like(g), -g, -g, g @ g, 0, True)
        p, _, _, _, products, _ = lax.while_loop(unfinished, conjugate_step, start)
        # Where the function bends down at once, nothing was solved: go down the slope.
        return jnp.where(p @ p > 0, p, -g), products

    def line_search(fun, x, value, slope, p):
        def too_long(state):
            length, new, tries = state
            return ~(new <= value + ENOUGH * length * slope) & (tries < MAX_HALVINGS)

        def shorten(state):
            length, _, tries = state
            return SHRINK * length, fun(x + SHRINK * length * p), tries + 1

        length, new, _ = lax.while_loop(too_long, shorten, (jnp.ones_like(value), fun(x + p), 0))
        return length, new

    def minimize(fun, x, max_products):
        grad = jax.grad(fun)

        def unfinished(state):
            _, g, _, steps, _ = state
            return (g @ g > limit) & (steps < MAX_STEPS)

        def newton_step(state):
            x, g, value, steps, products = state
            p, more = newton_direction(grad, x, g, max_products)
            length, value = line_search(fun, x, value, g @ p, p)
            x = x + length * p
            return x, grad(x), value, steps + 1, products + more

        g = grad(x)
        limit = TOLERANCE**2 * (g @ g)
        x, _, value, steps, products = lax.while_loop(unfinished, newton_step, (x, g, fun(x), 0, 0))
        return Found(x, value, steps, products)

    return minimize


def minimize_in_python(fun, grad, hessian_products, x, max_products):
    """The same algorithm with Python's loops; `hessian_products(x)` gives the function v → H v."""
    g, value, steps, products = grad(x), fun(x), 0, 0
    limit = TOLERANCE**2 * (g @ g)
    while g @ g > limit and steps < MAX_STEPS:
        product, size = hessian_products(x), np.sqrt(g @ g)
        stop = (min(0.5, np.sqrt(size)) * size) ** 2
        p, r, d, rest, count = np.zeros_like(g), -g, -g, g @ g, 0
        while rest > stop and count < max_products:
            hd = product(d)
            count += 1
            curvature = d @ hd
            if curvature <= 0:
                break
            p, r = p + rest / curvature * d, r - rest / curvature * hd
            rest, before = r @ r, rest
            d = r + rest / before * d
        if not p @ p > 0:
            p = -g
        length, slope, new, tries = 1.0, g @ p, fun(x + p), 0
        while not new <= value + ENOUGH * length * slope and tries < MAX_HALVINGS:
            length *= SHRINK
            new, tries = fun(x + length * p), tries + 1
        x, value = x + length * p, new
        g, steps, products = grad(x), steps + 1, products + count
    return Found(x, value, steps, products)


# The problems: a function of the data and of `np`, which is jitscope.numpy, jax.numpy or autograd.numpy -------------------


class Problem(NamedTuple):
    """`make(np, scan)` gives `fun(x, *data)`; `scan` is lax.scan, or None where loops are Python's. `data()` is NumPy arrays,
    `start` their number of parameters."""

    title: str
    make: Any
    data: Any
    parameters: int
    max_products: int


def quadratic(np, scan):
    def fun(x, a, b):
        return 0.5 * x @ (a @ x) - b @ x

    return fun


DIMENSION = 50


def quadratic_data():
    """A positive definite matrix with condition number 1,000, and a vector."""
    random = np.random.default_rng(0)
    q, _ = np.linalg.qr(random.standard_normal((DIMENSION, DIMENSION)))
    a = q @ np.diag(np.logspace(-1, 2, DIMENSION)) @ q.T
    return (0.5 * (a + a.T)).astype(np.float32), random.standard_normal(DIMENSION).astype(np.float32)


STATES, SYMBOLS, LENGTH = 3, 6, 100


def hidden_markov(np, scan):
    """The negative log-likelihood of a sequence, by the forward algorithm."""

    def softmax(x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    def fun(x, symbols):
        first, second = STATES * STATES, STATES * (STATES + SYMBOLS)
        transition = softmax(np.reshape(x[:first], (STATES, STATES)))
        emission = softmax(np.reshape(x[first:second], (STATES, SYMBOLS))).T
        initial = softmax(x[second:])

        def step(belief, symbol):
            joint = (belief @ transition) * emission[symbol]
            total = np.sum(joint)
            return joint / total, np.log(total)

        joint = initial * emission[symbols[0]]
        total = np.sum(joint)
        if scan is not None:
            _, parts = scan(step, joint / total, symbols[1:])
            likelihood = np.log(total) + np.sum(parts)
        else:
            belief, likelihood = joint / total, np.log(total)
            for symbol in symbols[1:]:
                belief, part = step(belief, symbol)
                likelihood = likelihood + part
        return -likelihood / len(symbols) + 1e-2 * np.sum(x**2)

    return fun


def markov_data():
    """A sequence that a hidden chain with long stays gave out."""
    random = np.random.default_rng(1)
    emission = random.dirichlet(np.full(SYMBOLS, 0.3), STATES)
    state, symbols = 0, []
    for _ in range(LENGTH):
        state = state if random.random() < 0.9 else int(random.integers(STATES))
        symbols.append(random.choice(SYMBOLS, p=emission[state]))
    return (np.asarray(symbols, np.int32),)


EXAMPLES, FEATURES = 10_000, 250


def logistic(np, scan):
    def fun(w, x, y):
        margin = y * (x @ w)
        return np.mean(np.log(1 + np.exp(-margin))) + 5e-5 * (w @ w)

    return fun


def logistic_data():
    random = np.random.default_rng(2)
    x = random.standard_normal((EXAMPLES, FEATURES)) * np.logspace(0, -1, FEATURES)
    y = np.sign(x @ random.standard_normal(FEATURES) + random.logistic(size=EXAMPLES))
    return x.astype(np.float32), y.astype(np.float32)


PROBLEMS = {
    "quadratic": Problem("convex quadratic", quadratic, quadratic_data, DIMENSION, 200),
    "hmm": Problem("HMM fit", hidden_markov, markov_data, STATES * (STATES + SYMBOLS + 1), 30),
    "logistic": Problem("logistic regression", logistic, logistic_data, FEATURES, 50),
}


def start(problem):
    """Where the search begins: small numbers, so that no two states of a chain are alike."""
    return (0.1 * np.random.default_rng(3).standard_normal(problem.parameters)).astype(np.float32)


def solver(problem, jax, jnp):
    """`solve(x, *data)`: to be compiled as a whole."""
    minimize, fun = minimizer(jax, jnp), problem.make(jnp, jax.lax.scan)

    def solve(x, *data):
        return minimize(lambda x: fun(x, *data), x, problem.max_products)

    return solve


def solve_in_python(problem, autograd, anp, x, *data, record_once=False):
    """With autograd and NumPy, in double precision. Products with the Hessian are derivatives of the gradient, here too; with
    `record_once`, the gradient is recorded once for each Newton step and only run backwards for each product."""
    fun = problem.make(anp, None)
    of_x = lambda x: fun(x, *data)
    grad = autograd.grad(of_x)
    if record_once:
        products = lambda x: autograd.make_hvp(of_x)(x)[0]
    else:
        along = autograd.differential_operators.make_jvp(grad)
        products = lambda x: lambda v: along(x)(v)[1]
    return minimize_in_python(of_x, grad, products, x.astype(np.float64), problem.max_products)


def main(jax, jnp):
    for problem in PROBLEMS.values():
        found = jax.jit(solver(problem, jax, jnp))(start(problem), *problem.data())
        print(f"{problem.title:<20} {int(found.steps):3} steps, {int(found.products):5} products with the Hessian: "
              f"{float(found.value):.5f}")  # fmt: skip


if __name__ == "__main__":
    import jitscope as jax
    import jitscope.numpy as jnp

    main(jax, jnp)
