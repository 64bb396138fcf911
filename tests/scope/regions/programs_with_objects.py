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
=== an object in an object
class Layer:
    def __init__(self, w):
        self.w, self.count = w, 0
    def forward(self, x):
        return np.tanh(self.w @ x)
class Net:
    def __init__(self, a, b):
        self.first, self.second = Layer(a), Layer(b)
    def forward(self, x):
        return self.second.forward(self.first.forward(x))
net = Net(rng.normal(size=(4, 3)), rng.normal(size=(3, 4))); x = rng.random(3)
---
for k in range(30):
    x = net.forward(x)
    net.first.w *= 0.99
    net.second.w[0] = net.second.w[0] + 0.01 * x[0]
    net.first.count += 1
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
""")
