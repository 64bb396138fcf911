"""Programs that draw random numbers in each turn of a loop, whatever the values are."""

from tests.scope.regions.programs import parsed


WITH_DRAWS = parsed("""
=== draws of NumPy's own generator
s = 0.0; np.random.seed(3)
---
for i in range(5):
    s = s + np.random.randn(3).mean()
=== draws of Python's
import random
random.seed(4); s = 0.0
---
for i in range(2, 17, 3):
    s = s + random.random() * i
=== a walk of Metropolis, prints now and then
x = 0.0; kept = []
---
for i in range(20):
    new = x + rng.normal()
    if np.log(rng.random()) < 0.5 * (x * x - new * new):
        x = new
    kept.append(x)
    if i % 10 == 0:
        print(i, len(kept))
=== one coordinate after the other, proposals that are stored into
x = np.zeros(3); current = 0.0; kept = np.zeros((12, 3)); taken = np.zeros(3)
---
for i in range(12):
    for j in range(len(x)):
        new = x.copy()
        new[j] += 0.7 * rng.normal()
        value = -np.sum(new ** 2)
        if np.log(rng.random()) < value - current:
            x = new
            current = value
            taken[j] += 1
    kept[i] = x
=== rows of data, each with a draw, and a permutation of minibatches
X = rng.normal(size=(12, 3)); Y = rng.normal(size=9); w = np.zeros(3)
---
for epoch in range(4):
    order = rng.permutation(len(X))
    for start in range(0, len(X), 4):
        part = order[start:start + 4]
        w = w + 0.1 * X[part].mean(axis=0)
    for row in X:
        w = w * 0.9 + row * rng.random()
    for row, y in zip(X, Y):
        w = w + 0.1 * row * y * rng.normal()
=== a swarm, draws as long as rows that are stored into
class Swarm:
    def __init__(self):
        self.x, self.best, self.rng = rng.normal(size=(4, 3)), np.full(4, 9.0), rng
    def step(self):
        for i in range(len(self.x)):
            self.x[i] += 0.1 * self.rng.normal(size=self.x.shape[1])
            f = np.sum(self.x[i] ** 2)
            if f < self.best[i]:
                self.best[i] = f
swarm = Swarm()
---
for k in range(6):
    swarm.step()
=== batches of a generator
def batches(X, y, size, rng):
    order = rng.permutation(len(X))
    for i in range(0, len(X), size):
        idx = order[i:i + size]
        yield X[idx], y[idx]
X = rng.normal(size=(24, 3)); y = rng.normal(size=24); w, v = np.zeros(3), np.zeros(3); losses = []
---
for epoch in range(5):
    total = 0.0
    for xb, yb in batches(X, y, 6, rng):
        e = xb @ w - yb
        total += np.sum(e ** 2)
        v = 0.9 * v - 0.01 * xb.T @ e
        w = w + v
    losses.append(total)
=== what a generator yields before its loop and in it, beside names like its own
def spirals(n, start):
    r = start
    yield r, 0
    for k in range(1, n):
        r = r * 1.1 + 0.1 * k
        yield r, k
r, k, total = 1.0, 2, 0.0
---
for radius, k in spirals(9, 0.5):
    total = total * r + radius * k
    r = 0.99 * r
=== draws in a function that returns early, in its loop, and in a helper
S = np.array([[2.0, 0.3], [0.3, 1.0]]); q = np.zeros(2); taken = 0; chain = np.zeros((20, 2))
def noise(scale):
    return scale * rng.normal(size=2)
def moved(q, eps, n):
    p = noise(1.0)
    old, q0 = p, q.copy()
    for i in range(n):
        p = p - eps * (S @ q) + 0.01 * rng.normal()
        q = q + eps * p
    if rng.random() < np.exp(0.5 * (q0 @ S @ q0 + old @ old - q @ S @ q - p @ p)):
        return q, True
    return q0, False
---
for k in range(20):
    q, ok = moved(q, 0.1, 5)
    taken += ok
    chain[k] = q
=== draws in a function that fills an array of its own
total = np.zeros(9)
def path(n):
    w = np.zeros(n)
    w[0] = rng.normal()
    for i in range(1, n):
        w[i] = 0.9 * w[i - 1] + rng.normal()
    return w
---
for k in range(12):
    total = total + path(9)
=== functions that count their calls, under a branch and in loops of others
calls = above = 0; x = rng.normal(size=4)
def f(v):
    global calls, above
    calls += 1
    if v.sum() > 0:
        above += 1
    return np.tanh(v) - 0.1
def slope(v):
    g = np.zeros_like(v)
    for i in range(len(v)):
        e = np.zeros_like(v)
        e[i] = 1e-3
        g[i] = (f(v + e) - f(v - e)).sum() / 2e-3
    return g
---
for k in range(15):
    x = 0.9 * x + 0.1 * slope(x)
    if k % 3 == 0:
        x = x + f(0.5 * x)
=== draws before a turn goes on with the next, and windows that begin where they say
x = rng.normal(size=30); best = 0.0; means = np.zeros(12)
---
for b in range(12):
    pick = rng.choice(30, size=2, replace=False)
    starts = rng.integers(0, 25, size=4)
    means[b] = np.concatenate([x[s:s + 5] for s in starts]).mean()
    if abs(x[pick[0]] - x[pick[1]]) < 0.3:
        continue
    best = max(best, x[pick[1]])
=== draws as many as the turn's own array has places
V = (rng.random((20, 6)) < 0.4).astype(float); W = 0.1 * rng.normal(size=(6, 4)); told = []
---
for epoch in range(12):
    p = 1 / (1 + np.exp(-V @ W))
    h = (rng.random(p.shape) < p).astype(float) + rng.normal(0, np.sqrt(W.size), len(p))[:, None]
    W += 0.1 * V.T @ (h - p) / len(V)
    told.append(p.mean())
=== draws in comprehensions and sums, the best of them picked from a list
target = rng.normal(size=5); mean = np.zeros(5); sigma = np.ones(5); best = []
---
for turn in range(12):
    pop = [mean + sigma * rng.normal(size=5) for _ in range(8)]
    scores = [((p - target) ** 2).sum() + 0.1 * turn for p in pop]
    elite = [0.9 * pop[i] + 0.1 * mean for i in np.argsort(scores)[:3]]
    mean = np.mean(elite, axis=0) + 0.01 * (sum(rng.random() for _ in range(6)) - 3)
    sigma = 0.9 * sigma + 0.1 * np.std(elite, axis=0)
    best.append(min(scores))
""")
