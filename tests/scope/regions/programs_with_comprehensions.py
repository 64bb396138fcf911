"""More programs that are compiled: comprehensions that are loops, few things that the text names, functions whose whole numbers are checked."""

from tests.scope.regions.programs import parsed


WITH_COMPREHENSIONS = parsed("""
=== a sum over rows, those alone that are wanted
rows = rng.normal(size=(50, 6)); total = 3
---
total = sum(float(np.dot(r, r)) for r in rows if r[0] > -5)
=== medians of what an expression gives
data = rng.normal(size=40); places = rng.integers(0, 40, (30, 11))
---
medians = np.array([np.median(part) for part in data[places]])
=== an object that learns in each turn of a comprehension
class Filter:
    def __init__(self, n, mu):
        self.w, self.line, self.mu = np.zeros(n), np.zeros(n), mu
    def update(self, x, d):
        self.line[1:] = self.line[:-1].copy()
        self.line[0] = x
        e = d - self.w @ self.line
        self.w = self.w + self.mu * e * self.line
        return e
xs = rng.normal(size=80); ds = np.convolve(xs, [0.5, -0.3, 0.2])[:80]; f = Filter(4, 0.02)
---
errors = [f.update(x, d) for x, d in zip(xs, ds)]
=== two of a kind, counted
spins = rng.choice([-1, 1], size=(8, 8)); us = rng.random((20, 2, 8, 8)); black = np.indices((8, 8)).sum(axis=0) % 2 == 0
---
for s in range(20):
    for c, mask in enumerate((black, ~black)):
        around = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        spins = np.where((us[s, c] < np.exp(-0.8 * spins * around)) & mask, -spins, spins)
=== steps to neighbours by a name, in a function that returns places
STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1)]
H = rng.random((9, 9)); ends = np.zeros((9, 9), dtype=int)
def lower(H, y, x):
    n, m = H.shape
    best, by, bx = H[y, x], y, x
    for dy, dx in STEPS:
        yy, xx = y + dy, x + dx
        if yy < 0 or yy >= n or xx < 0 or xx >= m:
            continue
        if H[yy, xx] < best:
            best, by, bx = H[yy, xx], yy, xx
    return by, bx
---
for y in range(9):
    for x in range(9):
        cy, cx = y, x
        for step in range(4):
            cy, cx = lower(H, cy, cx)
        ends[y, x] = cy * 9 + cx
=== how long Collatz takes, by a function
longest = 0
def length(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
---
for i in range(1, 120):
    steps = length(i)
    if steps > longest:
        longest = steps
=== numbers with no divisor, a function that returns in its loop
def is_prime(n):
    if n < 2:
        return False
    k = 2
    while k * k <= n:
        if n % k == 0:
            return False
        k += 1
    return True
count = 0; last = 0
---
for i in range(200):
    if is_prime(i):
        count += 1
        last = last * 3 % 101 + i
=== a model that is frozen
from dataclasses import dataclass
@dataclass(frozen=True)
class Chain:
    P: np.ndarray
    rates: np.ndarray
chain = Chain(rng.dirichlet(np.ones(4), 4), rng.random((4, 6))); seen = rng.integers(0, 6, 50); a = np.zeros((50, 4)); c = np.zeros(50); a[0] = 0.25
---
for t in range(1, 50):
    a[t] = (a[t - 1] @ chain.P) * chain.rates[:, seen[t]]
    c[t] = a[t].sum()
    a[t] /= c[t]
=== volatilities by halving, a lambda in the function, errors by math
import math
def volatility(price, S, K):
    lo, hi = 1e-3, 3.0
    while hi - lo > 1e-9:
        mid = 0.5 * (lo + hi)
        d = (math.log(S / K) + mid * mid / 2) / mid
        N = lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2)))
        if S * N(d) - K * N(d - mid) > price:
            hi = mid
        else:
            lo = mid
    return 0.5 * (lo + hi)
prices = [5 + 0.5 * k for k in range(30)]
---
found = [volatility(p, 100.0, 105.0) for p in prices]
=== a copy that is stored into and handed over, unless the loop is left
U = rng.random((10, 10)); told = 0.0
---
for it in range(200):
    V = U.copy()
    V[1:-1, 1:-1] = 0.25 * (U[2:, 1:-1] + U[:-2, 1:-1] + U[1:-1, 2:] + U[1:-1, :-2])
    if np.abs(V - U).max() < 1e-3:
        break
    U = V
    told += U.mean()
=== sums and extremes of generators over arrays, some of them with a start or a condition
W = rng.normal(size=40); X = rng.normal(size=(40, 3)); m = np.zeros(3); v = 0.0
---
for it in range(10):
    C = sum(w * np.outer(x - m, x - m) for w, x in zip(W, X))
    m = np.tanh(sum((w * x for w, x in zip(W, X)), np.ones(3)) * 0.01 + C[0] / 500)
    v = 0.5 * v + sum(w * i for i, w in enumerate(W)) / 99 + max(abs(w) for w in W) + sum(abs(w) for w in W if w < v)
    k = sum(1 for w in W if w > m[0])
    ok = all(w < 4 for w in W) and any(w > v for w in W)
=== arrays in a dict's comprehension
x = rng.normal(size=50)
---
grid = {float(g): np.tanh(x * g) for g in np.linspace(0, 1, 15)}
""")
