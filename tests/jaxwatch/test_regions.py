"""Regions of eager jax: found, written for jax, and applied; among them the tutorial's program that keeps its state in an object."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scope.regions import programs_mixed
from tests.scope.regions.programs import Program, parsed
from tests.scope.regions.test_programs import applied, test_edits_keep_the_program as applied_and_kept, watched


PROGRAMS = parsed("""
=== Newton's method on arrays of jax
import jax.numpy as jnp
a = jnp.asarray(rng.random(5).astype(np.float32) + 1); x = jnp.ones(5)
---
for i in range(20):
    x = 0.5 * (x + a / x)
=== rows of jax's arrays in a list
import jax.numpy as jnp
s = jnp.ones(3) * 0.3; path = [s]
---
for _ in range(9):
    s = s + 0.1 * jnp.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 2 * s[2]])
    path.append(s)
=== descent by jax's gradients
import jax, jax.numpy as jnp
X = jnp.asarray(rng.normal(size=(20, 3)).astype(np.float32)); y = X @ jnp.array([1.0, 2.0, 3.0]); losses = []
params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
def loss(p): return jnp.mean((X @ p["w"] + p["b"] - y) ** 2)
---
for i in range(20):
    value, g = jax.value_and_grad(loss)(params)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, g)
    losses.append(float(value))
=== the Poisson log-normal model without jit
import jax, jax.numpy as jnp, optax
Y = rng.poisson(3.0, size=(12, 4)).astype(np.float32); O = np.log(rng.random((12, 4)) + 1.0).astype(np.float32)
X = np.ones([12, 1]).astype(np.float32)
def log_stirling(n):
    n_ = n + (n == 0)
    return jnp.log(jnp.sqrt(2 * jnp.pi * n_)) + n_ * jnp.log(n_ / jnp.exp(1))
class PLN:
    def __init__(self, Y, O, X):
        self.Y, self.O, self.X = Y, O, X
        self.n, self.p = Y.shape
        self.M, self.S = jnp.full(Y.shape, 0.0), jnp.full(Y.shape, 1.0)
        self.B = jnp.zeros((X.shape[1], self.p))
        self.Sigma, self.Omega = jnp.eye(self.p), jnp.eye(self.p)
    def get_Sigma(self, n, M, S):
        return 1 / n * (M.T @ M + jnp.diag(jnp.sum(S**2, axis=0)))
    def get_ELBO(self, optim_params):
        B, M, S = optim_params
        S2, XB = jnp.square(S), self.X @ B
        A = jnp.exp(self.O + M + XB + S2 / 2)
        elbo = self.n / 2 * jnp.log(jnp.linalg.det(self.Omega))
        elbo += jnp.sum(-A + self.Y * (self.O + M + XB) + 0.5 * jnp.log(S2))
        elbo -= 0.5 * jnp.trace(M.T @ M + jnp.diag(jnp.sum(S2, axis=0)) @ self.Omega)
        elbo += 0.5 * self.n * self.p - jnp.sum(log_stirling(self.Y))
        return -elbo
    def fit(self, N_iter, lr):
        ELBO = jnp.zeros(N_iter)
        optimizer = optax.chain(optax.scale_by_adam(), optax.scale(-lr))
        opt_state = optimizer.init((self.B, self.M, self.S))
        for i in range(N_iter):
            loss_value, grads = jax.value_and_grad(self.get_ELBO, 0)((self.B, self.M, self.S))
            updates, opt_state = optimizer.update(grads, opt_state, (self.B, self.M, self.S))
            self.B, self.M, self.S = optax.apply_updates((self.B, self.M, self.S), updates)
            self.Sigma = self.get_Sigma(self.n, self.M, self.S)
            self.Omega = jnp.linalg.inv(self.Sigma)
            ELBO = ELBO.at[i].set(loss_value)
        return ELBO
pln = PLN(Y, O, X)
---
elbo = np.asarray(pln.fit(5, 1e-3))
""")


MIXED = parsed("""
=== batches of jax's arrays in an order that NumPy draws, until a loss is small
import jax, jax.numpy as jnp
X = jnp.asarray(rng.normal(size=(24, 3)).astype(np.float32)); y = X @ jnp.ones(3); w = {"w": jnp.zeros(3)}; losses = []
def loss(w, X, y): return jnp.mean((X @ w["w"] - y) ** 2)
---
for epoch in range(3):
    order = rng.permutation(24)
    for i in range(0, 24, 6):
        batch = order[i:i + 6]
        g = jax.grad(loss)(w, X[batch], y[batch])
        w = {k: w[k] - 0.1 * g[k] for k in w}
while loss(w, X, y) > 0.01:
    w = {k: w[k] - 0.1 * jax.grad(loss)(w, X, y)[k] for k in w}
    losses.append(float(loss(w, X, y)))
=== weights of NumPy of 64 bits by jax's compiled gradients
import jax, jax.numpy as jnp
X = rng.normal(size=(20, 3)); y = X @ np.ones(3); w = np.zeros(3)
g = jax.jit(jax.grad(lambda w, X, y: jnp.mean((X @ w - y) ** 2)))
---
for i in range(30):
    w -= 0.1 * np.asarray(g(w, X, y))
=== NumPy's state of 64 bits, stored into, of jax's values
import jax, jax.numpy as jnp
x = rng.random(6); f = jax.jit(lambda v: jnp.sin(v) * 0.9)
---
for i in range(30):
    x[1:-1] = np.asarray(f(x))[1:-1]
    x[0] += 0.01
=== NumPy's mean of what jax keeps, and a branch on it
import jax.numpy as jnp
x = jnp.linspace(0.0, 1.0, 8); w = rng.random(8); step = 0.5
---
for i in range(30):
    d = np.mean(np.asarray(x) * w)
    if d > 0.2:
        step = step * 0.9
    x = x - step * jnp.sin(x) * w
""")


def in_jax(program: Program) -> Program:
    return Program(*(text.replace("jitscope", "jax") for text in (program.name, program.before, program.cell)))


SPELT = [in_jax(program) for program in programs_mixed.MIXED if "NumPy" in program.name]


@pytest.mark.parametrize("program", [*PROGRAMS, *MIXED, *SPELT], ids=lambda p: p.name)
def test_edits_of_eager_jax(program, monkeypatch) -> None:
    applied_and_kept(program, monkeypatch)


def test_a_later_run_of_the_same_program_traces_nothing(monkeypatch) -> None:
    """The tutorial's program, and its edit: run again as it is, it is only executed; changed, it is traced."""
    import contextlib
    import io

    program = PROGRAMS[-1]
    cell = f"pln = PLN(Y, O, X)\n{program.cell}"
    again = Program(program.name, program.before, cell)
    regions, _ = watched(again, monkeypatch)
    names: dict[str, object] = {"np": np, "rng": np.random.default_rng(0), "__name__": "cell"}
    edited = applied(program.before, regions, 1)
    assert edited.index("def region_") < edited.index(
        "optimizer.init"
    )  # what stands before the loop is compiled with it
    exec(compile(edited, "<edited>", "exec"), names)
    (compiled,) = [v for n, v in names.items() if n.endswith("_compiled")]
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(3):
            exec(compile(cell, "<cell 2>", "exec"), names)
    assert compiled.traces == 1
    exec(compile(cell.replace("1e-3", "1e-2"), "<cell 2>", "exec"), names)
    assert compiled.traces == 2
    plain: dict[str, object] = {"np": np, "rng": np.random.default_rng(0), "__name__": "cell"}
    exec(compile(program.before, "<plain>", "exec"), plain)
    exec(compile(cell.replace("1e-3", "1e-2"), "<plain>", "exec"), plain)
    np.testing.assert_allclose(names["elbo"], plain["elbo"], rtol=1e-5)
