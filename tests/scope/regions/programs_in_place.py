"""More programs that are compiled: calls that act on what they are given, functions that store into their arguments, functions in functions,
and single elements whose places values decide."""

from tests.scope.regions.programs import parsed


IN_PLACE = parsed("""
=== results written into arrays
y = rng.normal(size=20); low = np.empty(20); out = np.zeros(20, np.float32)
---
for i in range(30):
    np.multiply(y, 0.99, out=low)
    np.sin(low, low)
    low = np.clip(low, -0.5, 0.5, out=low)
    np.divide(1.0, y, out=low, where=np.abs(y) > 0.3)
    np.add(y, 0.01 * low, out=y)
    np.add(out, y.astype(np.float32), out=out)
=== sums gathered by index
src = rng.integers(0, 12, 60); dst = rng.integers(0, 12, 60); x = rng.random(12); seen = np.zeros((3, 4), int)
top = np.zeros(12); wide = (dst // 4, dst % 4)
---
for it in range(20):
    new = np.zeros(12)
    np.add.at(new, dst, x[src] / 5)
    np.subtract.at(new, src[:7], 0.01)
    np.maximum.at(top, dst, x[src])
    np.add.at(seen, (dst // 4, dst % 4), 1)
    if x[0] > 0.1:
        np.add.at(new, dst[:3], 0.5)
    x = 0.1 + 0.5 * new
=== fills, copies, sorts, a diagonal
a = rng.normal(size=(6, 6)); b = np.zeros((6, 6)); r = rng.normal(size=9)
---
for k in range(15):
    b.fill(0.5)
    np.fill_diagonal(b, 0)
    a = 0.5 * (a + b.T @ a)
    r[2:5] = r[2:5] - k
    r.sort()
    np.copyto(b, a)
=== the Ising model with draws made before
spins = rng.choice([-1, 1], size=(6, 6)); at = rng.integers(0, 6, (2, 200)); draws = rng.random(200); flips = 0
---
for t in range(200):
    i, j = at[0][t], at[1, t]
    s = spins[i, j]
    change = 2 * s * (spins[(i + 1) % 6, j] + spins[i - 1, j] + spins[i, (j + 1) % 6] + spins[i, j - 1])
    if change <= 0 or draws[t] < np.exp(-change / 2.3):
        spins[i, j] = -s
        flips += 1
=== pixels of rows
img = rng.integers(0, 16, size=(7, 9)).astype(np.uint8); counts = np.zeros(16, int)
---
for row in img:
    for pixel in row:
        counts[pixel] += 1
=== the game of life, stored into by a function
Z = rng.integers(0, 2, (12, 12))
def turn(Z):
    N = (Z[:-2, :-2] + Z[:-2, 1:-1] + Z[:-2, 2:] + Z[1:-1, :-2] + Z[1:-1, 2:] + Z[2:, :-2] + Z[2:, 1:-1] + Z[2:, 2:])
    birth = (N == 3) & (Z[1:-1, 1:-1] == 0)
    survive = ((N == 2) | (N == 3)) & (Z[1:-1, 1:-1] == 1)
    Z[...] = 0
    Z[1:-1, 1:-1][birth | survive] = 1
    return Z
---
for i in range(20):
    Z = turn(Z)
=== functions that store, one in the other
u = rng.random(20); v = np.zeros(20); outside = [u]
def edges(a, value):
    a[0] = value
    a[-1] = value
def diffuse(a, b, rate):
    b += a.mean()
    a[1:-1] += rate * (a[2:] - 2 * a[1:-1] + a[:-2])
    edges(a, 0.0)
    return a.max(), b
---
for k in range(30):
    most, v = diffuse(u, v, 0.2)
=== Runge and Kutta by functions in a function
def lotka(rate, turns, dt):
    def f(y):
        return np.array([rate * y[0] - 0.4 * y[0] * y[1], 0.1 * y[0] * y[1] - 0.4 * y[1]])
    def step(y, dt):
        a = f(y)
        b = f(y + dt / 2 * a)
        return y + dt * b
    path = np.empty((turns + 1, 2))
    path[0] = [10.0, 5.0]
    for i in range(turns):
        path[i + 1] = step(path[i], dt)
    return path
rate = 1.0 + rng.random()
---
path = lotka(rate, 40, 0.02)
=== results written into arrays of an object
class Buffer: pass
b = Buffer(); b.x = [np.zeros(3)]; x = np.ones(3)
---
for k in range(5):
    np.multiply(x, 2.0, out=b.x[0])
=== sorts in place
x = rng.normal(size=12)
---
for k in range(5):
    x[k] = x[k] + k
    x.sort()
=== lists that grow in a loop that is left by a value
X = rng.normal(size=(40, 3)); y = X @ np.arange(3.0); w = np.zeros(3); losses = []; path = [w]; rough = []; odd = []
---
for it in range(300):
    e = X @ w - y
    losses.append(float((e ** 2).mean()))
    path.append(w)
    if np.abs(e).max() > 0.01:
        rough.append(np.abs(e).max())
        if it % 2:
            odd.append(it)
    else:
        odd.append(-it)
    w = w - 0.2 * X.T @ e / 40
    if np.linalg.norm(e) < 1e-4:
        break
=== near pairs in a list
pts = rng.random((20, 2)); near = []; far = 0
---
for i in range(20):
    for j in range(20):
        d = np.sqrt((pts[i, 0] - pts[j, 0]) ** 2 + (pts[i, 1] - pts[j, 1]) ** 2)
        if 0 < d < 0.2:
            near.append(d)
        else:
            far += 1
=== a mixture of normal distributions, likelihoods in a list
x = np.concatenate([rng.normal(-2, 0.5, 60), rng.normal(1, 1, 90)])
mu = np.array([-1.0, 0.5]); sig = np.ones(2); w = np.ones(2) / 2; before = -np.inf; said = []
---
for it in range(200):
    dens = np.stack([w[k] / sig[k] * np.exp(-0.5 * ((x - mu[k]) / sig[k]) ** 2) for k in range(2)])
    r = dens / dens.sum(axis=0)
    n = r.sum(axis=1)
    mu = (r @ x) / n
    for k in range(2):
        sig[k] = np.sqrt((r[k] * (x - mu[k]) ** 2).sum() / n[k])
    w = n / len(x)
    now = np.log(dens.sum(axis=0)).sum()
    said.append(now)
    if now - before < 1e-3:
        break
    before = now
=== prints where it is left by a value
A = np.diag(np.arange(1.0, 6.0)) + 0.1; x = 0.5 + rng.random(5); old = 0.0; done = False
---
for k in range(500):
    x = A @ x
    x = x / np.linalg.norm(x)
    value = x @ A @ x
    if abs(value - old) < 1e-8:
        done = True
        print(f"after {k}: {value:.4f}")
        break
    old = value
=== an else of a loop
x = rng.random(6) * 9 + 1
---
for k in range(3 if x[0] > 0 else 4):
    x = 0.5 * (x + 2 / x)
    if np.abs(x * x - 2).max() < 1e-9:
        print("found", k)
        break
else:
    print("not found")
    k = -1
=== views made before, of an array that is read as well
u = rng.random((10, 12)); inner = u[1:-1, 1:-1]; edge = u[0]; column = u[::2, 3]; s = 0.0
---
for k in range(12):
    inner[...] = inner + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner)
    inner *= 0.999
    edge[:] = edge + 0.01 * inner[0].mean()
    column[1:3] = 0.5
    s = u.sum()
=== a view that sees what is stored into its array
x = np.zeros(10); v = x[2:5]
---
for k in range(9):
    x[k] = x[k] + v.sum() + 1
=== weights that are parts of one array of parameters
X = rng.normal(size=(30, 4)); y = X @ np.arange(4.0) + 1; params = np.zeros(5); w, b = params[:4], params[4:]; norms = []
---
for step in range(40):
    err = X @ w + b[0] - y
    w -= 0.05 * 2 * X.T @ err / len(y)
    b -= 0.05 * 2 * err.mean()
    norms.append(float(np.sqrt(params @ params)))
=== a straight stretch that gives what its loop filled another name
model = {"A": rng.random((4, 4)), "B": rng.random((4, 3))}; obs = rng.integers(3, size=20)
def forward(model, obs):
    alpha = np.ones((len(obs), 4))
    for t in range(1, len(obs)):
        alpha[t] = (alpha[t - 1] @ model["A"]) * model["B"][:, obs[t]]
        alpha[t] /= alpha[t].sum()
    return alpha
---
alpha = forward(model, obs)
beta = alpha[::-1]
total = np.log(beta).sum()
=== arrays that a loop over them changes, where they are written
W, b, X = rng.random((3, 2)), np.zeros(2), rng.random((9, 3)); y = X @ np.ones((3, 2)); losses = []; velocity = [np.zeros((3, 2)), np.zeros(2)]
---
for k in range(20):
    err = X @ W + b - y
    dW, db = X.T @ err, err.sum(axis=0)
    for d in (dW, db):
        np.clip(d, -1, 1, out=d)
        d *= 0.5
    for i, (p, g) in enumerate(zip([W, b], [dW, db])):
        velocity[i] = 0.9 * velocity[i] + g
        p -= 0.02 * velocity[i]
    losses.append(np.mean(err ** 2))
=== rows from the end, and lists of arrays without axes
c = rng.random(6); x = rng.random(5); total = 0.0; seen = []
---
for k in range(7):
    b1, b2 = 0.0 * x, 0.0 * x
    for a in reversed(c[1:]):
        b1, b2 = 2 * x * b1 - b2 + a, b1
    total += b1[0]
    seen.append(np.squeeze(np.max(b1, keepdims=True)))
=== a diagonal filled in a method that an object's steps call
class Gas:
    def __init__(self, n):
        self.x, self.v = rng.random((n, 2)) * 3, np.zeros((n, 2))
        self.f, self.e = self.forces()
    def forces(self):
        d = self.x[:, None, :] - self.x[None, :, :]
        r2 = (d ** 2).sum(axis=-1) + 0.5
        np.fill_diagonal(r2, np.inf)
        inv = 1.0 / r2
        return (inv[:, :, None] * d).sum(axis=1), inv.sum()
    def step(self, dt):
        self.v += 0.5 * dt * self.f
        self.x += dt * self.v
        self.f, self.e = self.forces()
        self.v += 0.5 * dt * self.f
gas = Gas(6); es = []
---
for k in range(50):
    gas.step(0.01)
    es.append(gas.e)
=== a diagonal filled in a function
def near(x):
    d = np.abs(x[:, None] - x[None, :])
    np.fill_diagonal(d, 9.0)
    return d.min(axis=1)
x = rng.random(8)
---
for k in range(30):
    x = x + 0.1 * near(x)
=== a copy that is handed over under a branch, after what goes on with the next turn
tour = np.arange(6); D = rng.random(6); moves = rng.integers(0, 6, size=(30, 2)); us = rng.random(30) - 0.4; length = 3.0
---
for (i, j), u in zip(moves, us):
    i, j = max(i, j), min(i, j)
    if i == j:
        continue
    new = tour.copy()
    new[i], new[j] = tour[j], tour[i]
    cost = (D * new).sum()
    if cost < length or u < 0.3:
        tour, length = new, cost
=== what a loop goes through, bound anew in its turns
x = rng.normal(size=12); s = 0.0
---
for k in range(4):
    for v in x:
        v *= 0.5
        if v < 0:
            v = -v
        s = 0.5 * s + v
    for i in range(12):
        i = (5 * i + 1) % 12
        s = s + x[i] * i
=== arrays of a list that a function clips, which is seen in a later run alone
def clip_all(gs):
    for g in gs:
        np.clip(g, -2e3, 2e3, out=g)
X = rng.normal(size=(5, 4)); Y = rng.normal(size=(5, 4)); s = 0.0
---
for t in range(12):
    X = X * 1.5
    Y = Y * 1.01
    clip_all([X, Y])
    s = s + X.sum()
=== gradients of a list clipped one by one, which is seen in a later run alone
a = rng.normal(size=5); b = rng.normal(size=4); s = 0.0
---
for t in range(12):
    a = a * 1.5 + 0.01
    b = b * 1.05
    for d in [a, b]:
        np.clip(d, -2e3, 2e3, out=d)
    s = s + a.sum()
""")
