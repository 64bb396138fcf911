"""Programs that keep their state in objects: attributes, methods that read and bind them, and functions that return in the middle of loops."""

from tests.scope.regions.programs import parsed


WITH_OBJECTS = parsed("""
=== a perceptron, rows in a method's loop and stores under a branch
class Perceptron:
    def __init__(self, n):
        self.w, self.b, self.turns = np.zeros(n), 0.0, 12
X = rng.normal(size=(40, 3)); y = np.where(X @ np.array([1.0, -2.0, 0.5]) > 0.1, 1, -1); p = Perceptron(3)
---
for _ in range(p.turns):
    for i in range(X.shape[0]):
        if y[i] * (np.dot(X[i], p.w) + p.b) <= 0:
            p.w += 0.1 * y[i] * X[i]
            p.b += 0.1 * y[i]
=== methods that call methods, and a list in the object
class Model:
    def __init__(self, n):
        self.w_, self.errors = np.zeros(n + 1), []
    def net(self, X):
        return np.dot(X, self.w_[1:]) + self.w_[0]
    def predict(self, X):
        return np.where(self.net(X) >= 0.0, 1, -1)
X = rng.normal(size=(90, 2)); y = np.where(X[:, 0] > X[:, 1], 1, -1); model = Model(2); w = model.w_
---
for _ in range(6):
    errors = 0
    for xi, target in zip(X, y):
        update = 0.1 * (target - model.predict(xi))
        model.w_[1:] += update * xi
        model.w_[0] += update
        errors += int(update != 0.0)
    model.errors.append(errors)
=== methods that bind numbers and store into arrays
class Pendulum:
    def __init__(self, angle):
        self.angle, self.speed, self.t, self.seen = angle, 0.0, 0.0, np.zeros(3)
    def force(self):
        return -9.81 * np.sin(self.angle)
    def step(self, dt):
        self.speed += dt * self.force()
        self.angle += dt * self.speed
        self.t += dt
        self.seen[0] = self.angle
        self.seen[1:] += self.speed
    def kick(self, by):
        if self.speed > 0:
            self.speed = self.speed * (1 - by)
            return by
        return 0.0
p = Pendulum(1.0 + 0.1 * rng.random()); seen = p.seen; kicks = 0.0
---
for k in range(80):
    p.step(0.01)
    kicked = p.kick(0.01)
    kicks = kicks + kicked
=== a function that returns in the middle of a loop
w = 7; h = 6; img = np.zeros((6, 7), dtype=np.int32); c0 = 0.1 * rng.random()
def escape(c, most):
    z = 0j
    for n in range(most):
        if abs(z) > 2:
            return n
        z = z * z + c
    return most
---
for i in range(h):
    for j in range(w):
        img[i, j] = escape(complex(-2 + 0.4 * j, -1 + c0 + 0.4 * i), 30)
=== returns under branches, and out of a loop in a loop
a = np.sort(rng.random(30)); b = rng.random(25) * 1.2; places = np.zeros(25, dtype=int); kinds = np.zeros(25)
def find(x, table):
    if x < table[0]:
        return -1
    low, high = 0, len(table) - 1
    while high - low > 1:
        mid = (low + high) // 2
        if table[mid] == x:
            return mid
        if table[mid] < x:
            low = mid
        else:
            high = mid
    return low
def nested(x, y):
    if x > 0.2:
        if y > 0.5:
            return 1.0
        x = x * 2
    z = 3 * x
    return z + y
def kind(x, y):
    for i in range(3):
        for j in range(3):
            if x * i + y * j > 1.5:
                return 1.0 * (10 * i + j)
        if x > 1.1:
            return -2.0
    return 0.5
---
for k in range(25):
    places[k] = find(b[k], a)
    kinds[k] = kind(b[k], a[k]) + nested(b[k], a[k])
=== rows that change places under a branch, and the nearest of a list
A = rng.normal(size=(8, 8)); b = rng.normal(size=8); P = rng.normal(size=(60, 2)); centers = P[:3].copy(); labels = np.zeros(60, dtype=int)
---
for k in range(7):
    p = k + np.argmax(np.abs(A[k:, k]))
    if p != k:
        A[[k, p]] = A[[p, k]]
        b[[k, p]] = b[[p, k]]
    for i in range(k + 1, 8):
        m = A[i, k] / A[k, k]
        A[i, k:] -= m * A[k, k:]
        b[i] -= m * b[k]
for i in range(60):
    labels[i] = np.argmin([np.sum((P[i] - c) ** 2) for c in centers])
=== masks made of rows of masks
grid = np.zeros((12, 12), dtype=np.int8); grow = rng.random((30, 12, 12)) < 0.2; strike = rng.random((30, 12, 12)) < 0.02; burned = []
---
for step in range(30):
    fire = grid == 2
    near = np.zeros((12, 12), dtype=bool)
    near[1:, :] |= fire[:-1, :]
    near[:, 1:] |= fire[:, :-1]
    new = grid.copy()
    new[fire] = 0
    new[(grid == 1) & (near | strike[step])] = 2
    new[(grid == 0) & grow[step]] = 1
    grid = new
    burned.append((grid == 2).sum())
=== NumPy's arrays among jitscope's
import jitscope, jitscope.numpy as jnp
targets = rng.normal(size=(40, 2)); centers = jnp.array(targets[:4]); inertia = []; hist = np.zeros((8, 4)); total = 0.0
---
for it in range(8):
    d = jnp.sum((targets[:, None, :] - centers[None]) ** 2, axis=-1)
    lab = np.asarray(jnp.argmin(d, axis=1))
    onehot = np.eye(4)[lab]
    sums = onehot.T @ targets
    hist[it] = onehot.sum(0)
    centers = jnp.array(sums / np.maximum(onehot.sum(0), 1)[:, None])
    total = total + 0.5 * hist[it, 0]
    inertia.append(float(jnp.min(d, axis=1).sum()))
=== what NumPy holds of a compiled array
import jitscope.numpy as jnp
x = jnp.ones(5); low = np.zeros(5)
---
for k in range(4):
    x = x * 0.5
    y = x + 1
    low = np.asarray(y)
=== a gradient of jitscope's, a state of NumPy's
import jitscope, jitscope.numpy as jnp
A = rng.normal(size=(30, 5)); y = A @ np.arange(5.0); w = np.zeros(5); m = np.zeros(5); order = rng.integers(0, 30, size=(12, 6))
def loss(w, A, y):
    return jnp.mean((A @ w - y) ** 2)
slope = jitscope.grad(loss)
---
for it in range(12):
    rows = order[it]
    g = np.asarray(slope(jnp.asarray(w), A[rows], y[rows]))
    m = 0.9 * m + 0.1 * g
    w = w - 0.1 * m
    if m[0] > 0.5:
        m = m * 0.5
=== losses in a dict of an object, shares of what is right
class Logistic:
    def __init__(self):
        self.w, self.told = np.zeros(4), {"loss": [], "right": []}
    def step(self, X, y):
        p = 1 / (1 + np.exp(-(X @ self.w)))
        self.w -= 0.1 * (X.T @ (p - y) / len(y))
        return -np.mean(np.log(np.where(y > 0, p, 1 - p)))
model = Logistic(); X = rng.normal(size=(30, 4)); y = (X[:, 0] > 0) * 1.0; kinds = rng.integers(0, 3, 30).astype(np.int32)
---
for e in range(12):
    model.told["loss"].append(model.step(X, y))
    p = X @ model.w
    model.told["right"].append(float(np.mean((p > 0) == y)) + (kinds / 7)[e] + kinds.std())
=== a function that keeps an object of the function that made it
def growth(rates):
    def f(x): return rates["a"] * x * (1 - x)
    return f
f = growth({"a": 3.2}); x = rng.random(4)
---
for k in range(50):
    x = f(x)
=== two functions on one line
f = lambda x: 0.9 * x; g = lambda x: 0.9 * x + 1e-12
x = rng.random(4)
---
for k in range(50):
    x = f(x)
=== elements of a dict by the count of a loop
kept = {k: np.full(3, float(k)) for k in range(9)}; total = np.zeros(3)
---
for k in range(9):
    total = total + kept[k]
=== functions that an object keeps, and a method that binds inside an expression
class Walker:
    def __init__(self, grad, energy):
        self.grad, self.energy, self.taken = grad, energy, 0
    def leap(self, q, p):
        p = p - 0.05 * self.grad(q)
        for _ in range(4):
            q = q + 0.1 * p
            p = p - 0.1 * self.grad(q)
        return q, -p
    def step(self, q, p, u):
        q1, p1 = self.leap(q, p)
        if np.log(u) < self.energy(q) + p @ p / 2 - self.energy(q1) - p1 @ p1 / 2:
            self.taken += 1
            return q1
        return q
A = np.array([[2.0, 0.6], [0.6, 1.0]]); w = Walker(lambda q: A @ q, lambda q: 0.5 * q @ A @ q)
q = np.zeros(2); rows = np.zeros((30, 2)); ps = rng.normal(size=(30, 2)); us = rng.random(30)
---
for i in range(30):
    q = w.step(q, ps[i], us[i])
    rows[i] = q
=== layers that keep what they were given, forwards and backwards
class Layer:
    def __init__(self, n, m, act, slope):
        self.W, self.b, self.act, self.slope = rng.normal(size=(n, m)) * 0.4, np.zeros(m), act, slope
    def forward(self, x):
        self.x, self.z = x, x @ self.W + self.b
        return self.act(self.z)
    def backward(self, g):
        g = g * self.slope(self.z)
        back = g @ self.W.T
        self.W -= 0.1 * self.x.T @ g
        self.b -= 0.1 * g.sum(axis=0)
        return back
def slope(z): return 1 - np.tanh(z) ** 2
class Net:
    def __init__(self, *layers): self.layers = layers
    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x
net = Net(Layer(2, 5, np.tanh, slope), Layer(5, 1, lambda z: z, np.ones_like)); X = rng.normal(size=(12, 2)); y = X[:, :1]
---
for e in range(8):
    g = 2 * (net(X) - y) / len(X)
    for layer in reversed(net.layers):
        g = layer.backward(g)
=== weights in a list of dicts, gradients that a function gives in a dict
def gradients(params, X, y):
    h = np.maximum(0, X @ params[0]["w"])
    d = 2 * (h @ params[1]["w"] - y) / len(X)
    dh = d @ params[1]["w"].T
    dh[h <= 0] = 0
    return (d ** 2).sum(), [{"w": X.T @ dh}, {"w": h.T @ d}]
params = [{"w": rng.normal(size=(3, 6))}, {"w": rng.normal(size=(6, 1))}]; X = rng.normal(size=(15, 3)); y = X[:, :1] ** 2
---
for k in range(7):
    loss, grads = gradients(params, X, y)
    for i, (p, g) in enumerate(zip(params, grads)):
        for n in p:
            p[n] -= 0.01 * g[n]
=== moments that are made in the first turn
class Adam:
    def __init__(self): self.m, self.t = {}, 0
    def update(self, params, grads):
        self.t += 1
        for k in params:
            if k not in self.m:
                self.m[k] = np.zeros_like(params[k])
            self.m[k] = 0.9 * self.m[k] + 0.1 * grads[k]
            params[k] -= 0.1 * self.m[k] / (1 - 0.9 ** self.t)
params = {"a": np.ones(3), "b": np.ones(2)}; seen = []; X = rng.normal(size=(9, 3)); opt = Adam()
---
for _ in range(6):
    r = X @ params["a"] + params["b"].sum()
    seen.append(float(r @ r))
    opt.update(params, {"a": X.T @ r / 9, "b": np.full(2, r.mean())})
=== parameters that are made anew in each turn
def stepped(p, g): return {k: p[k] - 0.1 * g[k] for k in p}
params = {"a": np.ones(3), "b": np.zeros(())}; X = rng.normal(size=(9, 3))
---
for k in range(6):
    r = X @ params["a"] + params["b"]
    params = stepped(params, {"a": X.T @ r / 9, "b": r.mean()})
=== an object of a class that has another below it, made in each turn
class State:
    def __init__(self, x, v): self.x, self.v = x, v
class Rule:
    def slope(self, s): return State(s.v, -s.x)
    def step(self, s, h):
        k = self.slope(s)
        return State(s.x + h * k.x, s.v + h * k.v)
class Half(Rule):
    def step(self, s, h): return super().step(super().step(s, h / 2), h / 2)
rule = Half(); s = State(np.ones(3), np.zeros(3)); e = np.zeros(9)
---
for k in range(9):
    s = rule.step(s, 0.1)
    e[k] = s.x @ s.x + s.v @ s.v
=== settings in a dict of tuples and lists, unpacked
def slope(s, cfg, p):
    (l, m), (a, b), g = cfg["L"], p, cfg["g"]
    return np.array([s[1], -g / l * np.sin(s[0]) - a * s[1] + b * m])
cfg = {"dt": 0.01, "g": 9.81, "L": [1.0, 0.8]}; s = np.array([0.3, 0.0]); seen = np.zeros((9, 2)); p = (0.2, 1.5)
---
for k in range(9):
    s = s + cfg["dt"] * slope(s, cfg, p)
    seen[k] = s
=== a list of named tuples that a method makes
from collections import namedtuple
Seen = namedtuple("Seen", "mean cov value")
class Filter:
    def __init__(self, m, P):
        self.m, self.P, self.history = m, P, []
    def update(self, z):
        v = z - self.m
        self.P = self.P + 0.1 * np.eye(2)
        self.m = self.m + self.P @ np.linalg.inv(self.P + np.eye(2)) @ v
        self.history.append(Seen(self.m, value=v @ v, cov=self.P))
        return v @ v
kf = Filter(np.zeros(2), np.eye(2)); zs = rng.normal(size=(25, 2)); total = 0.0
---
for z in zs:
    total += kf.update(z)
=== a named tuple that turns replace, with a method and a default
from typing import NamedTuple
class State(NamedTuple):
    q: np.ndarray
    p: np.ndarray
    t: float = 0.0
    def energy(self):
        return 0.5 * self.p @ self.p + 0.5 * self.q @ self.q
def step(s, dt):
    p = s.p - 0.5 * dt * s.q
    q = s.q + dt * p
    return s._replace(q=q, p=p - 0.5 * dt * q, t=s.t + dt)
s = State(rng.random(3), np.zeros(3)); energies = []; seen = [s]
---
for k in range(30):
    s = step(s, 0.01)
    energies.append(s.energy())
    q, _, when = s
=== attributes that become NumPy's in the first turn
class Control:
    def __init__(self):
        self.sum, self.last = 0.0, 0.0
    def __call__(self, err):
        self.sum += err * 0.1
        d, self.last = err - self.last, err
        return 2.0 * err + 0.3 * self.sum + 0.1 * d
class Plant:
    def __init__(self, a):
        self.x, self.a = np.zeros(2), a
    def step(self, u):
        self.x = self.x + 0.05 * np.array([self.x[1], np.clip(u, -2.0, 2.0) - self.a * self.x[0]])
        return self.x[0]
control, plant = Control(), Plant(rng.random()); us = []; y = 0.0
---
for k in range(20):
    u = control(1.0 - y)
    y = plant.step(u)
    us.append(u)
=== layers that give pairs of parameters, an optimizer whose state the first of nested loops makes
class Layer:
    def __init__(self, n, m):
        self.W, self.dW = rng.normal(size=(n, m)) * 0.4, np.zeros((n, m))
    def forward(self, x):
        self.x = x
        return np.tanh(x @ self.W)
    def backward(self, g):
        self.dW = self.x.T @ g
        return g @ self.W.T
    def params(self):
        return [(self.W, self.dW)]
class Momentum:
    def __init__(self):
        self.state = {}
    def step(self, params):
        for i, (p, g) in enumerate(params):
            if i not in self.state:
                self.state[i] = np.zeros_like(p)
            self.state[i] = 0.9 * self.state[i] - 0.1 * g
            p += self.state[i]
def params(layers):
    found = []
    for layer in layers:
        found.extend(layer.params())
    return found
X = rng.normal(size=(12, 3)); y = X[:, :1] ** 2; layers = [Layer(3, 4), Layer(4, 1)]; opt = Momentum(); losses = []
---
for epoch in range(5):
    order = rng.permutation(len(X))
    for start in range(0, len(X), 4):
        part = order[start:start + 4]
        out = X[part]
        for layer in layers:
            out = layer.forward(out)
        grad = out - y[part]
        for layer in reversed(layers):
            grad = layer.backward(grad)
        opt.step(params(layers))
    losses.append(np.mean(grad ** 2))
    if epoch % 2 == 0:
        print(epoch, len(losses))
=== a diagonal that a method fills, in an object
class Charges:
    def __init__(self, n):
        self.x, self.v = rng.normal(size=n), np.zeros(n)
    def step(self):
        d = self.x[:, None] - self.x[None, :]
        r = np.abs(d) + 0.1
        np.fill_diagonal(r, 1.0)
        self.v = 0.9 * self.v + 0.01 * (d / r ** 3).sum(axis=1)
        self.x = self.x + 0.1 * self.v
charges = Charges(6); spread = []
---
for k in range(12):
    charges.step()
    spread.append(charges.x.std())
=== patches of pictures, sizes by name, weights that a loop after it changes
class Conv:
    def __init__(self, n):
        self.K = rng.normal(size=(n, 3, 3))
    def forward(self, image):
        self.image = image
        h, w = image.shape
        out = np.zeros((len(self.K), h - 2, w - 2))
        for i in range(h - 2):
            for j in range(w - 2):
                out[:, i, j] = np.sum(image[i:i + 3, j:j + 3] * self.K, axis=(1, 2))
        return out
images = rng.normal(size=(5, 6, 7)); conv = Conv(2); moments = {"m": [0.0], "t": 0}; seen = 0.0
---
for k in range(5):
    out = conv.forward(images[k])
    flat = np.maximum(out, 0).reshape(-1)
    moments["t"] += 1
    for q, (param, g) in enumerate(((conv.K, conv.K * flat.mean()),)):
        moments["m"][q] = 0.9 * moments["m"][q] + 0.1 * g
        param -= 0.1 * moments["m"][q] / (1 - 0.9 ** moments["t"])
    seen += flat[0]
=== gates of a cell, parts of one product by a number of the object's
class Cell:
    def __init__(self, n):
        self.n, self.W = n, rng.normal(size=(3 * n, 2 * n)) * 0.4
    def step(self, x, state):
        h, c = state
        z = self.W @ np.concatenate([x, h])
        n = self.n
        f, g = 1 / (1 + np.exp(-z[:n])), np.tanh(z[2 * n:])
        c = f * c + g
        return z[n:2 * n] * np.tanh(c), c
cell = Cell(4); xs = rng.normal(size=(6, 4)); losses = []
---
for epoch in range(3):
    state = (np.zeros(4), np.zeros(4))
    loss = 0.0
    for t in range(len(xs)):
        state = cell.step(xs[t], state)
        loss += np.sum(state[0] ** 2)
    losses.append(loss)
=== places in a list of an object's, sizes that a method reads
class Wave:
    def __init__(self, n):
        self.now, self.prev, self.sources, self.t = np.zeros((n, n)), np.zeros((n, n)), [(3, 4), (6, 2)], 0.0
    def around(self):
        n, m = self.now.shape
        return (np.roll(self.now, 1, 0) + np.roll(self.now, -1, 1)) / (n * m)
    def advance(self):
        new = self.now - 0.3 * self.prev + self.around()
        for k, (i, j) in enumerate(self.sources):
            new[i, j] += np.sin((2 + k) * self.t)
        self.prev, self.now = self.now * 0.9, new * 0.9
        self.t += 0.01
wave = Wave(9); seen = []
---
for k in range(40):
    wave.advance()
    seen.append(wave.now[4, 4])
=== a loop inside of one whose turns begin with draws, in a method
class Model:
    def __init__(self, seed):
        self.u = np.random.default_rng(seed).random(40)
    def update(self):
        self.u = 0.5 * (np.roll(self.u, 1) + np.roll(self.u, -1)) + 0.01 * np.sin(self.u)
ends = []
---
for seed in (3, 4):
    model = Model(seed)
    for k in range(60):
        model.update()
    ends.append(model.u.max())
=== layers that turns go back through, what they made in a list
X = rng.normal(size=(8, 5)); losses = []
---
net = [{"W": rng.normal(size=(a, b)) * 0.3, "b": np.zeros(b)} for a, b in zip([5, 3, 5], [3, 5])]
for epoch in range(20):
    acts = [X]
    for n, layer in enumerate(net):
        z = acts[-1] @ layer["W"] + layer["b"]
        acts.append(np.tanh(z) if n < 1 else z)
    delta = (acts[-1] - X) / X.size
    losses.append(float((delta ** 2).sum()))
    for n in reversed(range(len(net))):
        gW, gb = acts[n].T @ delta, delta.sum(axis=0)
        if n > 0:
            delta = (delta @ net[n]["W"].T) * (1 - acts[n] ** 2)
        for key, g in (("W", gW), ("b", gb)):
            net[n][key] = net[n][key] - 0.5 * g
=== functions that share what the function that made them keeps
def make(rate):
    kept = {"level": 0.0, "turns": 0}
    def step(x):
        kept["level"] += rate * (x - kept["level"])
        kept["turns"] += 1
        return kept["level"]
    return step, lambda: 2 * kept["level"]
step, level = make(0.3); x = rng.normal(size=40); out = np.zeros(40)
---
for i in range(40):
    out[i] = step(x[i]) + level()
last = level()
=== variables of the maker that a function binds, before a branch and under one
def make():
    calls, last = 0, 0.0
    def f(x, a):
        nonlocal calls, last
        calls, last = calls + 1, x * np.exp(x) - a
        return last
    return f, lambda: (calls, last)
f, told = make(); a = rng.uniform(1, 50, 12); roots = np.zeros(12); w = 0.0
---
for i in range(12):
    lo, hi = 0.0, 5.0
    while hi - lo > 1e-3:
        mid = 0.5 * (lo + hi)
        if f(mid, a[i]) > 0:
            hi = mid
        else:
            lo = mid
    roots[i] = lo
    if a[i] > 20.0:
        w = f(lo, 0.5)
seen = told()
""")
