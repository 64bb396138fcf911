"""Small programs of NumPy's arrays and of jitscope's together."""

from tests.scope.regions.programs import parsed


MIXED = parsed("""
=== gradients of jitscope, weights of NumPy
import jitscope, jitscope.numpy as jnp
X = rng.normal(size=(20, 3)).astype(np.float32); y = (X @ np.ones(3)).astype(np.float32); w = np.zeros(3, np.float32); losses = []
def loss(w): return jnp.mean((X @ w - y) ** 2)
g = jitscope.grad(loss)
---
for i in range(30):
    w = w - 0.1 * np.asarray(g(w))
    losses.append(float(loss(w)))
=== a count of Python's among an optimizer's moments
import jitscope.numpy as jnp
state = {"w": jnp.ones(3), "m": (jnp.zeros(3), 0)}; target = jnp.asarray(rng.normal(size=3).astype(np.float32))
---
for i in range(20):
    m, t = state["m"]
    m = 0.9 * m + 0.1 * (state["w"] - target)
    state = {"w": state["w"] - 0.1 * m / (1 - 0.9 ** (t + 1)), "m": (m, t + 1)}
=== NumPy's inputs among jitscope's arrays
import jitscope, jitscope.numpy as jnp
x = jnp.ones(4); A = rng.normal(size=(4, 4)).astype(np.float32) * 0.2
---
for i in range(30):
    u = np.sin(i * 0.1)
    x = jnp.tanh(A @ x + u)
=== jitscope's arrays read by NumPy's functions
import jitscope, jitscope.numpy as jnp
x = jnp.ones(4); A = rng.normal(size=(4, 4)).astype(np.float32) * 0.2; norms = []
---
for i in range(30):
    x = jnp.tanh(A @ x + 1)
    norms.append(np.linalg.norm(x))
=== rows of NumPy's that jitscope fills
import jitscope, jitscope.numpy as jnp
x = jnp.ones(4); out = np.zeros((30, 4), np.float32)
---
for i in range(30):
    x = jnp.sin(x) + 0.1
    out[i] = x
=== NumPy's state, stored into, of jitscope's values
import jitscope, jitscope.numpy as jnp
x = rng.random(6).astype(np.float32); f = jitscope.jit(lambda v: jnp.sin(v) * 0.9)
---
for i in range(30):
    x[1:-1] = f(x)[1:-1]
    x[0] += 0.01
=== whole numbers kept of jitscope's arrays that are computed eagerly
import jitscope.numpy as jnp
grid = jnp.asarray((rng.random((9, 9)) < 0.4).astype(np.int32)); alive = []; last = 0
---
for t in range(6):
    near = sum(jnp.roll(grid, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    grid = ((near == 3) | ((grid == 1) & (near == 2))).astype(jnp.int32)
    alive.append(int(grid.sum()))
    last = int(grid.max())
=== batches in an order that NumPy draws
import jitscope, jitscope.numpy as jnp
X = rng.normal(size=(24, 3)).astype(np.float32); y = X @ np.ones(3, np.float32); p = {"w": jnp.zeros(3)}
g = jitscope.grad(lambda p, X, y: jnp.mean((X @ p["w"] - y) ** 2)); size = 6
---
for epoch in range(3):
    order = rng.permutation(24)
    for i in range(0, 24, size):
        batch = order[i:i + size]
        d = g(p, X[batch], y[batch])
        p = {k: p[k] - 0.1 * d[k] for k in p}
=== blocks of jitscope's arrays
import jitscope, jitscope.numpy as jnp
X = jnp.asarray(rng.normal(size=(24, 3)).astype(np.float32)); w = jnp.zeros(3); size = 4
---
for k in range(len(X) // size):
    block = X[k * size:(k + 1) * size]
    w = 0.5 * w + block.mean(axis=0)
=== histories of jitscope's arrays in a loop that a value leaves
import jitscope.numpy as jnp
A = jnp.asarray(np.diag([3.0, 2.0, 1.0]).astype(np.float32) + 0.1); x = jnp.ones(3); old = jnp.zeros(()); hist = []; xs = []; turns = []
---
for k in range(60):
    y = A @ x
    lam = jnp.linalg.norm(y)
    x = y / lam
    hist.append(float(lam))
    turns.append(k)
    xs.append(x)
    if jnp.abs(lam - old) < 1e-3:
        break
    old = lam
=== histories of jitscope's arrays while a value says so
import jitscope.numpy as jnp
x = jnp.asarray(1 + rng.random(4).astype(np.float32)); sizes = []
---
while x @ x > 0.01:
    x = 0.7 * jnp.sin(x)
    sizes.append(x @ x)
=== a search along a line in each turn of jitscope's arrays
import jitscope, jitscope.numpy as jnp
A = jnp.asarray(np.diag([3.0, 2.0, 0.5]).astype(np.float32)); x = jnp.asarray(rng.normal(size=3).astype(np.float32)); steps = []
def f(x): return jnp.sum(jnp.cosh(A @ x))
df = jitscope.grad(f)
---
for k in range(4):
    g = df(x)
    t = 1.0
    while not f(x - t * g) <= f(x) - 0.3 * t * jnp.dot(g, g) and t > 1e-3:
        t = max(0.5 * t, 1e-3)
    x = x - t * g
    steps.append(t)
=== the last losses of jitscope's arrays decide when it is enough
import jitscope.numpy as jnp
X = jnp.asarray(rng.normal(size=(20, 2)).astype(np.float32)); y = X @ jnp.ones(2); w = jnp.zeros(2); losses = []; far = []; r = y
---
for k in range(60):
    r = X @ w - y
    losses.append(jnp.mean(r ** 2))
    if k > 0 and abs(losses[-1] - losses[-2]) < 1e-3:
        break
    if losses[-1] > 0.1 or not k:
        far.append(float(losses[-1]))
    w = w - 0.1 * (X.T @ r) / len(y)
=== places that jitscope's arrays say, as Python's numbers
import jitscope.numpy as jnp
cdf = jnp.cumsum(jnp.asarray(rng.dirichlet(np.ones(3), size=3).astype(np.float32)), axis=1); us = jnp.asarray(rng.random(30).astype(np.float32)); state = 0; path = []; seen = jnp.zeros(3)
---
for u in us:
    state = min(int(jnp.searchsorted(cdf[state], u)), 2)
    seen = seen.at[state].add(1.0 if 0.2 < u < 0.9 else 0.5)
    path.append(state)
=== an order that NumPy draws for jitscope's arrays, one by one
import jitscope, jitscope.numpy as jnp
X = jnp.asarray(rng.normal(size=(12, 3)).astype(np.float32)); y = X @ jnp.ones(3); w = jnp.zeros(3); totals = []
g = jitscope.grad(lambda w, x, t: 0.5 * (x @ w - t) ** 2)
---
for epoch in range(3):
    total = 0.0
    for i in rng.permutation(12):
        w = w - 0.05 * g(w, X[i], y[i])
        total += float(jnp.sum(w))
    totals.append(total / 12)
=== the best of dicts of jitscope's arrays
import jitscope, jitscope.numpy as jnp
p = {"a": jnp.ones(2), "b": jnp.zeros(())}; v = {k: jnp.zeros_like(q) for k, q in p.items()}; best = float("inf"); best_p = None; trace = []
def loss(p): return jnp.sum((p["a"] * 2 + p["b"] - 1) ** 2)
---
for step in range(6):
    value, g = jitscope.value_and_grad(loss)(p)
    for k in p:
        v[k] = 0.8 * v[k] - 0.06 * g[k]
        p[k] = p[k] + v[k]
    trace.append(float(value))
    if trace[-1] < best:
        best = trace[-1]
        best_p = dict(p)
=== a function that each turn of jitscope's arrays makes
import jitscope.numpy as jnp
from jitscope import lax
rho = jnp.asarray(rng.normal(size=6).astype(np.float32)); phi = jnp.zeros(6); log = []
---
for step in range(5):
    def relax(i, p):
        return 0.5 * (jnp.roll(p, 1) + jnp.roll(p, -1)) - rho
    new = lax.fori_loop(0, 3, relax, phi)
    log.append((step, float(jnp.abs(new - phi).max())))
    phi = new - new.mean()
=== a loss that begins without bound, beside NumPy's rows
import jitscope, jitscope.numpy as jnp
X = rng.normal(size=(20, 3)).astype(np.float32); w = jnp.zeros(3); kept = np.zeros((8, 3)); rate = 0.1; before = np.inf
def loss(w): return jnp.mean((jnp.asarray(X) @ w - 1.0) ** 2)
---
for k in range(8):
    w = w - rate * jitscope.grad(loss)(w)
    kept[k] = np.asarray(w)
    now = float(loss(w))
    if now > before:
        rate *= 0.5
    before = now
=== patience of jitscope's arrays, said where it ends
import jitscope.numpy as jnp
w = jnp.asarray(rng.uniform(1, 2, 3).astype(np.float32)); best = float("inf"); best_w = w; wait = 0; hist = []
---
for k in range(40):
    w = 0.5 * w + 0.1
    hist.append(float(jnp.sum(w)))
    if hist[-1] < best - 0.05:
        best, best_w, wait = hist[-1], w, 0
    else:
        wait += 1
        if wait > 2:
            print("enough after", len(hist))
            break
=== powers of the turn's number, and a method's count under a branch, among jitscope's arrays alone
import jitscope.numpy as jnp
class Told:
    def __init__(self): self.n, self.m = 0, jnp.zeros(3)
    def of(self, x):
        self.n, self.m = self.n + 1, 0.5 * self.m + x
        return self.m
told = Told(); g = jnp.asarray(rng.uniform(1, 2, 3).astype(np.float32)); s = jnp.zeros(3); y = s
---
for t in range(1, 21):
    s = s + g / (1 - 0.99999**t)
    if s[0] > 2e5:
        y = told.of(s / t)
=== functions of Python's of arrays and of the turn's number
import math, jitscope.numpy as jnp
u = jnp.asarray(rng.random(30).astype(np.float32)); x = jnp.zeros(2); logs = []; taken = 0
---
for i in range(30):
    new = x + 0.1 * math.cos(0.3 * i)
    if math.log(u[i]) < -0.5:
        x = new
        taken += 1
    logs.append(x)
=== moments that an optimizer of jitscope's arrays makes in the first turn
import jitscope.numpy as jnp
class Momentum:
    def __init__(self): self.m, self.t = {}, 0
    def step(self, params, grads):
        self.t += 1
        for k in params:
            if k not in self.m:
                self.m[k] = jnp.zeros_like(params[k])
            self.m[k] = 0.9 * self.m[k] + 0.1 * grads[k]
            params[k] = params[k] - 0.1 * self.m[k] / (1 - 0.9 ** self.t)
        return params
opt = Momentum(); params = {"w": jnp.asarray(rng.random(3).astype(np.float32)), "b": jnp.ones(2)}
---
for i in range(20):
    params = opt.step(params, {k: 2 * v for k, v in params.items()})
""")
