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
=== heat equation in place
u = rng.normal(size=(20, 20))
---
for t in range(30):
    u[1:-1, 1:-1] = u[1:-1, 1:-1] + .2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
=== heat equation, an alias outside
u = rng.normal(size=30); outside = [u]
---
for t in range(40):
    u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
=== two buffers that are exchanged
a = rng.normal(size=30); b = np.zeros(30)
---
for k in range(51):
    b[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])
    a, b = b, a
=== logistic regression
X = rng.normal(size=(100, 5)); y = (rng.random(100) > .5) * 1.0; w = np.zeros(5)
---
for i in range(20):
    p = 1 / (1 + np.exp(-(X @ w)))
    g = X.T @ (p - y) / 100
    w = w - .5 * g
=== losses in a list
X = rng.normal(size=(50, 4)); y = rng.normal(size=50); w = np.zeros(4); losses = []
---
for i in range(30):
    e = X @ w - y
    losses.append(np.mean(e ** 2))
    w = w - 0.01 * (X.T @ e)
=== losses as Python numbers
X = rng.normal(size=(50, 4)); y = rng.normal(size=50); w = np.zeros(4); losses = []
---
for i in range(30):
    e = X @ w - y
    losses.append(float(np.mean(e ** 2)))
    w = w - 0.01 * (X.T @ e)
=== states in a list
s = rng.normal(size=3); states = []
---
for i in range(30):
    s = s * 0.9 + 0.1
    states.append(s)
=== power method that stops by value
M = rng.normal(size=(8, 8)); M = M @ M.T + 9 * np.eye(8); v = np.ones(8); old = 0.0
---
for i in range(500):
    v = M @ v
    n = np.sqrt((v * v).sum())
    v = v / n
    if abs(n - old) < 1e-9 * n:
        break
    old = n
=== Newton by value
x = 3.0 + rng.random(); k = 0
---
while abs(x * x - 2) > 1e-10 and k < 5000:
    x = x - 0.01 * (x * x - 2)
    k += 1
=== pendulum on Python numbers
import math
x = rng.random() * 1.0; v = 0.0; xs = []
x = float(x)
---
for k in range(300):
    acc = -math.sin(x)
    v = v + 0.01 * acc
    x = x + 0.01 * v
    xs.append(x)
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
=== rows one by one
A = rng.normal(size=(30, 6)); W = 1.0; out = np.zeros_like(A)
---
for i in range(len(A)):
    r = A[i]
    out[i] = r / np.sqrt((r * r).sum() + W)
=== image filter by windows
img = rng.normal(size=(12, 12)); ker = rng.normal(size=(3, 3)); res = np.zeros((10, 10))
---
for i in range(10):
    for j in range(10):
        res[i, j] = (img[i:i + 3, j:j + 3] * ker).sum()
=== median of thirds by windows around a pixel
img = rng.normal(size=(12, 12)); res = np.zeros((12, 12))
---
for i in range(1, 11):
    for j in range(1, 11):
        res[i, j] = img[i - 1:i + 2, j - 1:j + 2].mean()
=== edit distance
a = (rng.random(20) * 4).astype(int); b = (rng.random(25) * 4).astype(int); d = np.zeros((21, 26))
d[:, 0] = np.arange(21); d[0] = np.arange(26)
---
for i in range(1, 21):
    for j in range(1, 26):
        cost = 0 if a[i - 1] == b[j - 1] else 1
        d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
=== knapsack
weights = np.array([3, 4, 5, 9, 4]); gains = rng.normal(size=5) + 3.0; best = np.zeros((6, 31))
---
for i in range(1, 6):
    for c in range(31):
        best[i, c] = best[i - 1, c]
        if weights[i - 1] <= c:
            best[i, c] = max(best[i, c], best[i - 1, c - weights[i - 1]] + gains[i - 1])
=== network by hand
H = rng.normal(size=(20, 6)); T = rng.normal(size=(20, 1)); W1 = rng.normal(size=(6, 5)) * .1; W2 = rng.normal(size=(5, 1)) * .1
---
for epoch in range(40):
    h = np.tanh(H @ W1)
    o = h @ W2
    e = o - T
    g2 = h.T @ e / 20
    g1 = H.T @ ((e @ W2.T) * (1 - h ** 2)) / 20
    W1 -= 0.05 * g1
    W2 -= 0.05 * g2
=== momentum
X = rng.normal(size=(40, 3)); y = rng.normal(size=40); w = np.zeros(3); m = np.zeros(3)
---
for t in range(50):
    g = X.T @ (X @ w - y) / 40
    m = 0.9 * m + g
    w = w - 0.05 * m
=== Adam
X = rng.normal(size=(40, 3)); y = rng.normal(size=40); w = np.zeros(3); m = np.zeros(3); s = np.zeros(3)
---
for t in range(1, 60):
    g = X.T @ (X @ w - y) / 40
    m = 0.9 * m + 0.1 * g
    s = 0.999 * s + 0.001 * g ** 2
    w = w - 0.01 * (m / (1 - 0.9 ** t)) / (np.sqrt(s / (1 - 0.999 ** t)) + 1e-8)
=== Mandelbrot with masks
c = rng.normal(size=(10, 10)) * 0.5 + 1j * rng.normal(size=(10, 10)) * 0.5; z = c * 0; k = np.zeros((10, 10))
---
for i in range(30):
    z = np.where(abs(z) < 2, z * z + c, z)
    k = k + (abs(z) < 2)
=== a branch on a value
s = 0.0; x = rng.normal(size=50)
---
for i in range(50):
    if x[i] > 0:
        s = s + x[i]
    else:
        s = s - 2 * x[i]
=== the largest and where
x = rng.normal(size=50); best = -1.0; where = 0.0
---
for i in range(50):
    if x[i] > best:
        best = x[i]
        where = i * 1.0
=== continue
x = rng.normal(size=50); s = 0.0
---
for i in range(50):
    if x[i] < 0:
        continue
    s = s + np.sqrt(x[i])
=== float32 stays
x = rng.normal(size=20).astype(np.float32)
---
for i in range(20):
    x = x * np.float32(0.5) + np.float32(1)
=== complex numbers
z = rng.normal(size=6) + 1j * rng.normal(size=6)
---
for i in range(20):
    z = z / (1 + abs(z)) + 0.1j
=== whole numbers of NumPy wrap around alike
h = np.arange(10, dtype=np.int64) + (rng.random(10) * 9).astype(np.int64)
---
for i in range(60):
    h = h * 6364136223846793005 + 1442695040888963407
=== Kalman filter
ys = rng.normal(size=40); m = np.zeros(2); P = np.eye(2); F = np.array([[1.0, 0.1], [0.0, 1.0]]); Hm = np.array([[1.0, 0.0]])
---
for y in ys:
    m = F @ m
    P = F @ P @ F.T + 0.01 * np.eye(2)
    S = Hm @ P @ Hm.T + 0.1
    K = P @ Hm.T / S
    m = m + (K @ (y - Hm @ m))
    P = P - K @ Hm @ P
=== hidden Markov model, forwards
T = rng.random((4, 4)); T = T / T.sum(1, keepdims=True); E = rng.random((4, 3)); obs = (rng.random(30) * 3).astype(int); a = np.ones(4) / 4
---
for o in obs:
    a = (a @ T) * E[:, o]
    a = a / a.sum()
=== enumerate
x = rng.normal(size=20); out = np.zeros(20)
---
for i, v in enumerate(x):
    out[i] = v * v + i
=== zip
x = rng.normal(size=20); y = rng.normal(size=20); s = 0.0
---
for a, b in zip(x, y):
    s = s + a * b
=== N bodies
pos = rng.normal(size=(5, 3)); vel = np.zeros((5, 3)); mass = np.ones(5)
---
for t in range(20):
    d = pos[None, :, :] - pos[:, None, :]
    r3 = ((d ** 2).sum(-1) + 0.5) ** 1.5
    acc = (d * (mass[None, :, None] / r3[:, :, None])).sum(1)
    vel = vel + 0.01 * acc
    pos = pos + 0.01 * vel
=== a loop in a function
def smooth(x, n):
    for i in range(n):
        x = 0.5 * x + 0.25 * np.roll(x, 1) + 0.25 * np.roll(x, -1)
    return x
a = rng.normal(size=20)
---
b = smooth(a, 40)
=== a function that changes its argument
def relax(u, n):
    for i in range(n):
        u[1:-1] = 0.5 * u[1:-1] + 0.25 * (u[2:] + u[:-2])
a = rng.normal(size=20); b = a
---
relax(a, 40)
=== jitscope's own arrays
import jitscope.numpy as jnp
w = jnp.asarray(rng.normal(size=5).astype(np.float32))
---
for i in range(20):
    w = w - 0.1 * jnp.sin(w)
=== an object's attribute
class Model: pass
m = Model(); m.w = rng.normal(size=3); m.turns = 0
---
for k in range(9):
    m.w = m.w * 0.5 + 1
    m.turns += 1
=== a pendulum that keeps its state
class Pendulum:
    def __init__(self, angle): self.angle, self.speed, self.drag = angle, 0.0, 0.1
    def slope(self, angle, speed): return speed, -9.81 * np.sin(angle) - self.drag * speed
    def step(self, h):
        a, b = self.slope(self.angle, self.speed)
        c, d = self.slope(self.angle + h / 2 * a, self.speed + h / 2 * b)
        self.angle = self.angle + h * c
        self.speed = self.speed + h * d
p = Pendulum(1.0 + rng.random())
---
for k in range(100):
    p.step(0.01)
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
=== parameters in a dict
X = rng.normal(size=(16, 4)); Y = np.sin(X.sum(1, keepdims=True)); losses = []
params = {"W1": rng.normal(size=(4, 6)) * 0.5, "b1": np.zeros(6), "W2": rng.normal(size=(6, 1)) * 0.5}
---
for epoch in range(30):
    h = np.tanh(X @ params["W1"] + params["b1"])
    err = h @ params["W2"] - Y
    losses.append((err ** 2).mean())
    grads = {}
    grads["W2"] = h.T @ err / len(X)
    dh = err @ params["W2"].T * (1 - h ** 2)
    grads["W1"] = X.T @ dh / len(X)
    grads["b1"] = dh.mean(0)
    for k in params:
        params[k] -= 0.05 * grads[k]
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
=== game of life by shifted copies
b = (rng.random((12, 12)) < 0.3).astype(int)
---
for gen in range(20):
    near = sum(np.roll(np.roll(b, dy, 0), dx, 1) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0))
    b = ((near == 3) | ((b == 1) & (near == 2))).astype(int)
=== game of life cell by cell
b = (rng.random((8, 8)) < 0.3).astype(int)
---
for gen in range(4):
    new = b.copy()
    for i in range(8):
        for j in range(8):
            total = b[i, (j - 1) % 8] + b[i, (j + 1) % 8] + b[(i - 1) % 8, j] + b[(i + 1) % 8, j]
            if b[i, j] == 1:
                if total < 2 or total > 3:
                    new[i, j] = 0
            else:
                if total == 3:
                    new[i, j] = 1
    b = new
=== longest common subsequence
a = rng.integers(0, 4, 14); b = rng.integers(0, 4, 15); L = np.zeros((15, 16), dtype=int)
---
for i in range(1, 15):
    for j in range(1, 16):
        if a[i - 1] == b[j - 1]:
            L[i, j] = L[i - 1, j - 1] + 1
        else:
            L[i, j] = max(L[i - 1, j], L[i, j - 1])
=== Viterbi
A = np.log(rng.dirichlet(np.ones(4), size=4)); E = np.log(rng.dirichlet(np.ones(3), size=4)); obs = rng.integers(0, 3, 30)
d = np.zeros((30, 4)); back = np.zeros((30, 4), dtype=int)
---
for t in range(1, 30):
    scores = d[t - 1][:, None] + A
    back[t] = scores.argmax(axis=0)
    d[t] = scores.max(axis=0) + E[:, obs[t]]
=== rows that are taken apart
sir = np.zeros((200, 3)); sir[0] = [0.99, 0.01, 0.0]; beta = 0.3 + 0.01 * rng.random()
---
for t in range(199):
    S, I, R = sir[t]
    sir[t + 1] = [S - 0.1 * beta * S * I, I + 0.1 * (beta * S * I - 0.1 * I), R + 0.01 * I]
=== three lists on one line
S, I = 0.99, 0.01; Ss, Is = [S], [I]
---
for k in range(100):
    new = (0.3 + 0.01 * I) * S * I
    S -= 0.01 * new
    I += 0.01 * new
    Ss.append(S); Is.append(I)
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
=== a chain whose steps are drawn before
data = rng.normal(1.0, 2.0, size=20); steps = rng.normal(size=200); us = np.log(rng.random(200))
def logp(mu): return -0.5 * np.sum((data - mu) ** 2) / 4 - 0.5 * mu ** 2 / 100
mu, accepted, lp, chain = 0.0, 0, logp(0.0), np.zeros(200)
---
for i in range(200):
    prop = mu + 0.3 * steps[i]
    lpp = logp(prop)
    if us[i] < lpp - lp:
        mu, lp = prop, lpp
        accepted += 1
    chain[i] = mu
=== pieces of a set of examples
X = rng.normal(size=(32, 3)); y = X @ np.arange(3.0); w = np.zeros(3)
---
for epoch in range(10):
    for k in range(0, 32, 8):
        xb, yb = X[k:k + 8], y[k:k + 8]
        w -= 0.05 * xb.T @ (xb @ w - yb) / len(xb)
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
=== a perceptron's rows and labels
X = rng.normal(size=(30, 3)); y = np.where(X @ np.array([1.0, -2.0, 0.5]) > 0, 1, -1); w = np.zeros(3); mistakes = 0
---
for epoch in range(4):
    for xi, yi in zip(X, y):
        if yi * (w @ xi) <= 0:
            w = w + yi * xi
            mistakes += 1
=== whole numbers of 32 bits that wrap around, without a warning
np.seterr(over="ignore")
x = np.uint32(rng.integers(1, 2 ** 31)); vals = np.zeros(50, dtype=np.uint32)
---
for i in range(50):
    x = np.uint32(1664525) * x + np.uint32(1013904223)
    vals[i] = x
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
=== arrays of NumPy among jitscope's
import jitscope.numpy as jnp
A = rng.normal(size=(6, 6)).astype(np.float32) * 0.1; x = jnp.ones(6)
---
for i in range(30):
    x = jnp.tanh(A @ x + 0.1)
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
=== a straight stretch
x = rng.normal(size=1000); y = rng.normal(size=1000)
---
a = np.exp(-x * x) * np.cos(y)
b = np.sqrt(a * a + y * y)
c = np.tanh(a + b) * x
d = c / (1 + b * b) + a
""")
