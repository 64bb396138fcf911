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


def _parsed(text: str) -> list[Program]:
    found = []
    for part in text.strip().split("\n=== ")[0:]:
        head, _, body = part.removeprefix("=== ").partition("\n")
        name, _, says = head.partition(" -> ")
        before, _, cell = body.partition("\n---\n")
        word, _, line = says.partition(" @ ")
        found.append(Program(name, before, cell, word or "compile", int(line or 0)))
    return found


COMPILED = _parsed("""
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
=== a straight stretch
x = rng.normal(size=1000); y = rng.normal(size=1000)
---
a = np.exp(-x * x) * np.cos(y)
b = np.sqrt(a * a + y * y)
c = np.tanh(a + b) * x
d = c / (1 + b * b) + a
""")


CUT = _parsed("""
=== draws -> random @ 2
s = 0.0
---
for i in range(5):
    s = s + np.random.randn(3).mean()
=== draws of a generator -> random @ 2
s = 0.0
---
for i in range(5):
    s = s + rng.normal()
=== draws of Python's -> random @ 2
import random
s = 0.0
---
for i in range(5):
    s = s + random.random()
=== a walk of Metropolis -> random @ 2
x = 0.0; kept = []
---
for i in range(20):
    new = x + rng.normal()
    if np.log(rng.random()) < 0.5 * (x * x - new * new):
        x = new
    kept.append(x)
=== prints -> input or output @ 3
s = np.zeros(3)
---
for i in range(3):
    s = s + 1
    print(s)
=== prints seldom -> input or output @ 4
s = np.zeros(3)
---
for i in range(30):
    s = s + 1
    if i % 10 == 0:
        print(s.sum())
=== time -> time @ 2
import time
s = 0.0
---
for i in range(3):
    s = s + 0 * time.perf_counter()
=== grows a dict -> object @ 2
seen = {}
---
for i in range(9):
    seen[i % 3] = seen.get(i % 3, 0) + 1
=== whole numbers without a bound -> object @ 2
p, q = 1, 1
---
for k in range(200):
    p, q = q, p + q
=== a factorial -> object @ 2
f = 1
---
for k in range(1, 60):
    f = f * k
=== exceptions as control flow -> exception @ 2
x = np.ones(3); n = 0
---
for k in range(9):
    try:
        x[k] = 2
    except IndexError:
        n += 1
=== an assertion -> exception @ 2
x = np.ones(3)
---
for k in range(9):
    assert x.sum() > 0
    x = x * 0.5
=== an array of objects -> object @ 1
x = np.array([1, 2 ** 80], dtype=object)
---
for k in range(3):
    x = x + 1
=== a view that is stored into -> effect @ 1
x = np.zeros(10); v = x[2:5]
---
for k in range(9):
    x[k] = x[k] + v.sum() + 1
=== a second name inside -> effect @ 2
x = np.zeros(10)
---
for k in range(9):
    y = x
    y[k] = k * 2.0
=== the old one is the new one -> effect @ 2
x = rng.normal(size=10); old = x.copy()
---
for k in range(9):
    old = x
    x += 0.5
=== the same array in a list -> object @ 3
x = np.zeros(4); kept = []
---
for k in range(9):
    x += 1
    kept.append(x)
=== an object's attribute -> object @ 2
class Model: pass
m = Model(); m.w = np.zeros(3)
---
for k in range(9):
    m.w = m.w + 1
=== a generator -> effect @ 2
def steps():
    for k in range(5):
        yield k
s = 0.0
---
s0 = 1
for k in steps():
    s = s + k
=== a function that keeps something -> effect @ 2
calls = []
def f(x):
    calls.append(1)
    return x * 2
y = np.ones(3)
---
for k in range(5):
    y = f(y)
=== a function with a global -> effect @ 2
count = 0
def g(x):
    global count
    count += 1
    return x * 2
y = np.ones(3)
---
for k in range(5):
    y = g(y)
=== writes into `out=` -> effect @ 2
x = np.ones(4); y = np.zeros(4)
---
for k in range(5):
    np.multiply(x, 2.0, out=y)
=== sorts in place -> effect @ 2
x = np.array([3.0, 1.0, 2.0])
---
for k in range(5):
    x.sort()
=== makes text -> value read by Python @ 2
x = np.array([3.0, 1.0]); name = ""
---
for k in range(3):
    name = f"{x[0]}"
=== another library -> other library @ 3
import fractions
s = 0
---
s1 = 1
for k in range(5):
    s = fractions.Fraction(1, 3)
=== shapes of values -> shape
x = rng.normal(size=30); n = 0.0
---
for k in range(5):
    n = n + x[x > 0].sum()
=== growing slices -> shape @ 2
x = rng.normal(size=30); out = np.zeros(30)
---
for k in range(1, 30):
    out[k] = x[:k].sum()
=== an array that grows -> shape
x = np.zeros(1)
---
for k in range(9):
    x = np.append(x, k * 1.0)
=== a file -> input or output @ 2
import os
lines = 0
---
for k in range(2):
    with open(os.devnull, "w") as f:
        f.write("a")
=== chaos -> value read by Python
x = rng.random(100)
---
for k in range(300):
    x = 0.999 * np.sin(np.pi * x) * np.exp(-x + 0.4)
=== warns -> effect
x = np.array([1.0, 0.0])
---
for k in range(3):
    y = x / np.array([1.0, 0.0])
""")
