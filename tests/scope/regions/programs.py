"""Small programs of the kinds that people write in notebooks: what comes before the cell, the cell, and what is to be said of its loop."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """`says` is "compile", or the word of the cut that has to be found; `line` the cut's line in the cell."""

    name: str
    before: str
    cell: str
    says: str = "compile"
    line: int = 0


def parsed(text: str) -> list[Program]:
    """Programs out of a text: `=== name -> word @ line`, what comes before, `---`, the cell."""
    found = []
    for part in text.strip().split("\n=== ")[0:]:
        head, _, body = part.removeprefix("=== ").partition("\n")
        name, _, says = head.partition(" -> ")
        before, _, cell = body.partition("\n---\n")
        word, _, line = says.partition(" @ ")
        found.append(Program(name, before, cell, word or "compile", int(line or 0)))
    return found


COMPILED = parsed("""
=== two buffers that are exchanged
a = rng.normal(size=30); b = np.zeros(30)
---
for k in range(51):
    b[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])
    a, b = b, a
=== Runge and Kutta with functions
def rhs(s):
    return np.array([s[1], -s[0] - 0.1 * s[1]])
def step(s, h):
    a = rhs(s)
    b = rhs(s + h / 2 * a)
    c = rhs(s + h / 2 * b)
    d = rhs(s + h * c)
    return s + h / 6 * (a + 2 * b + 2 * c + d)
s = rng.normal(size=2)
---
for _ in range(200):
    s = step(s, 0.01)
=== momentum
X = rng.normal(size=(40, 3)); y = rng.normal(size=40); w = np.zeros(3); m = np.zeros(3)
---
for t in range(50):
    g = X.T @ (X @ w - y) / 40
    m = 0.9 * m + g
    w = w - 0.05 * m
=== a branch on a value
s = 0.0; x = rng.normal(size=50)
---
for i in range(50):
    if x[i] > 0:
        s = s + x[i]
    else:
        s = s - 2 * x[i]
=== float32 stays
x = rng.normal(size=20).astype(np.float32)
---
for i in range(20):
    x = x * np.float32(0.5) + np.float32(1)
=== a network of a class, layers in lists
class Net:
    def __init__(self, sizes):
        self.W = [rng.normal(size=(a, b)) * 0.3 for a, b in zip(sizes[:-1], sizes[1:])]
        self.b = [np.zeros(b) for b in sizes[1:]]
    def forward(self, x):
        self.acts = [x]
        for W, b in zip(self.W, self.b):
            x = np.tanh(x @ W + b)
            self.acts.append(x)
        return x
    def backward(self, g, lr):
        for k in range(len(self.W) - 1, -1, -1):
            g = g * (1 - self.acts[k + 1] ** 2)
            gW, gb = self.acts[k].T @ g, g.sum(0)
            g = g @ self.W[k].T
            self.W[k] -= lr * gW
            self.b[k] -= lr * gb
X = rng.normal(size=(12, 3)); Y = np.tanh(X[:, :1] * X[:, 1:2]); net = Net([3, 5, 1])
---
for epoch in range(30):
    out = net.forward(X)
    net.backward((out - Y) / len(X), 0.1)
=== bodies in a list
class Body:
    def __init__(self): self.pos, self.vel = rng.normal(size=3), rng.normal(size=3) * 0.1
bodies = [Body() for _ in range(3)]
---
for step in range(20):
    for a in bodies:
        acc = np.zeros(3)
        for b in bodies:
            if a is not b:
                r = b.pos - a.pos
                acc += r / (np.linalg.norm(r) ** 3 + 0.1)
        a.vel = a.vel + 0.01 * acc
    for a in bodies:
        a.pos = a.pos + 0.01 * a.vel
=== rows that are taken apart
sir = np.zeros((200, 3)); sir[0] = [0.99, 0.01, 0.0]; beta = 0.3 + 0.01 * rng.random()
---
for t in range(199):
    S, I, R = sir[t]
    sir[t + 1] = [S - 0.1 * beta * S * I, I + 0.1 * (beta * S * I - 0.1 * I), R + 0.01 * I]
=== Mandelbrot, pixel by pixel
out = np.zeros((5, 6), dtype=int); shift = float(rng.random()) * 0.01
---
for i in range(5):
    for j in range(6):
        c = complex(-2 + 3 * j / 6 + shift, -1 + 2 * i / 5)
        z = 0j
        k = 0
        while abs(z) <= 2 and k < 20:
            z = z * z + c
            k += 1
        out[i, j] = k
=== value iteration
P = rng.dirichlet(np.ones(6), size=(6, 3)); R = rng.random((6, 3)); V = np.zeros(6); sweeps = 0
---
while True:
    delta = 0
    for s in range(6):
        v = V[s]
        V[s] = max(R[s, a] + 0.9 * P[s, a] @ V for a in range(3))
        delta = max(delta, abs(v - V[s]))
    sweeps += 1
    if delta < 1e-6:
        break
=== distances in a comprehension
A = rng.normal(size=(8, 3))
---
D = np.array([[np.sqrt(np.sum((A[i] - A[j]) ** 2)) for j in range(8)] for i in range(8)])
=== patience, and the best so far
X = rng.normal(size=(20, 3)); y = X @ np.ones(3) + 0.1 * rng.normal(size=20); w = np.zeros(3); best, bad = np.inf, 0
---
for it in range(300):
    r = X @ w - y
    loss = float(r @ r) / 20
    if loss < best - 1e-3:
        best, bad = loss, 0
    else:
        bad += 1
        if bad > 5:
            break
    w = w - 0.02 * X.T @ r / 20
=== ways to give change, coins in a list
coins = [1, 5, 10]; ways = np.zeros(41, dtype=np.int64); ways[0] = 1 + rng.integers(3)
---
for c in coins:
    for a in range(c, 41):
        ways[a] += ways[a - c]
=== a lambda
import math
k = 1.0 + rng.random(); total = 0.0
f = lambda x: math.exp(-k * x * x)
---
for i in range(1, 50):
    total += f(0.04 * i)
=== descent by jitscope's gradients, losses in a list
import jitscope, jitscope.numpy as jnp
X = jnp.asarray(rng.normal(size=(20, 3)).astype(np.float32)); y = X @ jnp.array([1.0, 2.0, 3.0]); w = jnp.zeros(3); losses = []
def loss(w): return jnp.mean((X @ w - y) ** 2)
---
for i in range(20):
    value, g = jitscope.value_and_grad(loss)(w)
    w = w - 0.05 * g
    losses.append(float(value))
=== Adam of a library, losses in NumPy's array
import jitscope, jitscope.numpy as jnp
from jitscope import optimizers
X = jnp.asarray(rng.normal(size=(20, 3)).astype(np.float32)); y = X @ jnp.array([1.0, 2.0, 3.0]); w = jnp.zeros(3)
def loss(w): return jnp.mean((X @ w - y) ** 2)
opt = optimizers.adam(0.1); state = opt.init(w); losses = np.zeros(20)
---
for i in range(20):
    losses[i] = loss(w)
    updates, state = opt.update(jitscope.grad(loss)(w), state)
    w = optimizers.apply_updates(w, updates)
=== a derivative that was made before, arrays of NumPy kept
import jitscope, jitscope.numpy as jnp
def f(x): return jnp.stack([x[0] ** 2 + x[1] - 3.0, jnp.exp(x[0]) - x[1] - 1.0])
J = jitscope.jacfwd(f); starts = rng.uniform(0.5, 2, size=(5, 2)).astype(np.float32); roots = []
---
for s in starts:
    x = jnp.asarray(s)
    for _ in range(4):
        x = x - jnp.linalg.solve(J(x), f(x))
    roots.append(np.asarray(x))
=== names of the compiler's that stand for something else in the cell
import statistics as jnp
lax = ["air", "port"]; x = rng.normal(size=9); after = 0.0
---
for k in range(20):
    x = 0.9 * x + 0.01
after = jnp.mean([1.0, float(len(lax))])
""")
