"""More programs that are compiled, where something stands in the way of the plain loop: turns that print or keep, names that change hands, masks,
bounds of whole numbers, texts, objects in lists."""

from tests.scope.regions.programs import parsed


IN_PARTS = parsed("""
=== leaves the loop in a turn that it looks at
x = 1.0 + rng.random(8); kept = 0
---
for k in range(200):
    x = 0.5 * (x + 2 / x)
    if k % 10 == 9:
        kept = kept + 1
        if abs(x * x - 2).max() < 1e-10:
            break
=== parameters in a dict, prints now and then
X = rng.normal(size=(16, 4)); Y = np.sin(X.sum(1, keepdims=True)); p = {"W": rng.normal(size=(4, 1)) * 0.5, "b": np.zeros(1)}
---
for epoch in range(40):
    err = X @ p["W"] + p["b"] - Y
    p["W"] = p["W"] - 0.05 * X.T @ err / 16
    p["b"] = p["b"] - 0.05 * err.mean(0)
    if epoch % 10 == 0:
        print(epoch, round(float((err ** 2).mean()), 3))
=== says nothing where it is not asked to
def descend(x, turns, verbose=False):
    for k in range(turns):
        x = x - 0.1 * np.sin(x)
        if verbose:
            print(k, x)
    return x
x = rng.normal(size=8)
---
y = descend(x, 60)
=== a leapfrog with a new array in each turn
u = rng.normal(size=30); u_prev = u.copy()
---
for t in range(60):
    u_next = np.zeros_like(u)
    u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    u_next[0] = u_next[-1] = 0.0
    u_prev, u = u, u_next
=== a trajectory, row by row
def f(s): return np.array([s[1], -np.sin(s[0])])
path = np.zeros((200, 2)); path[0] = rng.normal(size=2)
---
for k in range(199):
    s = path[k]
    a = f(s); b = f(s + 0.05 * a)
    path[k + 1] = s + 0.1 * b
=== a trajectory, a row that is read after the store
path = np.zeros((50, 3)); path[0] = rng.normal(size=3); far = 0.0
---
for k in range(49):
    s = path[k]
    path[k + 1] = 0.9 * s + 0.1
    far = far + np.abs(s).max()
=== means of rows that a mask picks
pts = rng.normal(size=(60, 2)) + 3 * rng.integers(0, 3, size=(60, 1)); centres = pts[[0, 20, 40]].copy()
---
for it in range(8):
    near = ((pts[:, None] - centres[None]) ** 2).sum(2).argmin(1)
    for j in range(3):
        if (near == j).any():
            centres[j] = pts[near == j].mean(axis=0)
=== sums, counts and largest of what a mask picks
x = rng.normal(size=50); edges = np.linspace(-1.5, 1.5, 20); out = np.zeros((20, 4))
---
for k in range(20):
    above = x[x > edges[k]]
    out[k, 0] = above.sum()
    out[k, 1] = len(above)
    out[k, 2] = np.max(np.abs(above))
    out[k, 3] = (above ** 2).mean()
=== bodies that bounce, a column of a mask
p = rng.random((20, 2)); v = rng.normal(size=(20, 2)) * 0.02
---
for t in range(80):
    p += v
    low = p[:, 1] < 0
    v[low, 1] *= -1
    p[low, 1] = -p[low, 1]
    out = p[:, 0] > 1
    v[out] = -v[out]
=== indices that are held in range
img = rng.random((12, 10)); out = np.zeros((12, 10))
---
for i in range(12):
    for j in range(10):
        up, left = max(i - 1, 0), int(np.clip(j - 1, 0, 9))
        down = min(i + 1, len(img) - 1)
        out[i, j] = img[up, j] + img[down, left] + img[i - 1, j - 1]
=== a generator of remainders
state = int(rng.integers(1, 1000)); vals = np.zeros(100)
---
for i in range(100):
    state = (1103515245 * state + 12345) % 2 ** 31
    vals[i] = state / 2 ** 31
=== bits that are shifted round
bits = int(rng.integers(1, 1000)); vals = np.zeros(100)
---
for i in range(100):
    bit = (bits ^ (bits >> 2) ^ (bits >> 3) ^ (bits >> 5)) & 1
    bits = (bits >> 1) | (bit << 15)
    vals[i] = bits / 2 ** 16
=== whole parts of numbers, a sum of steps
x = rng.random(40) * 9; out = np.zeros(10); total = 0
---
for i in range(40):
    k = int(np.floor(x[i]))
    out[k] += x[i] - k
    total += i * 2
=== edit distance of texts
a = "kitten sitting"; b = "sitting kittens"; d = np.zeros((15, 16), dtype=int); d[0] = np.arange(16) + rng.integers(1)
d[:, 0] = np.arange(15); vowels = 0
---
for i in range(1, len(a) + 1):
    for j in range(1, len(b) + 1):
        d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (0 if a[i - 1] == b[j - 1] else 1))
    if a[i - 1] == "i":
        vowels += 1
=== median of small whole numbers
img = rng.integers(0, 256, size=(12, 12)).astype(np.uint8); out = img.copy(); means = np.zeros((12, 12))
---
for i in range(1, 11):
    for j in range(1, 11):
        out[i, j] = np.median(img[i - 1:i + 2, j - 1:j + 2])
        means[i, j] = img[i - 1:i + 2, j - 1:j + 2].mean() + img[i, j] / 255
=== the share of right answers
X = rng.normal(size=(50, 3)); y = (X[:, 0] > 0).astype(int); w = np.zeros(3); share = np.zeros(40)
---
for k in range(40):
    p = 1 / (1 + np.exp(-(X @ w)))
    w = w - 0.1 * X.T @ (p - y) / 50
    share[k] = np.mean((p > 0.5) == y)
=== insertion sort
a = rng.random(16)
---
for i in range(1, len(a)):
    key = a[i]
    j = i - 1
    while j >= 0 and a[j] > key:
        a[j + 1] = a[j]
        j -= 1
    a[j + 1] = key
=== a sandpile, topples counted
grid = np.zeros((7, 7), dtype=int); grid[3, 3] = 60 + rng.integers(9); topples = 0
---
while (grid >= 4).any():
    tall = grid >= 4
    grid[tall] -= 4
    grid[1:] += tall[:-1]
    grid[:-1] += tall[1:]
    grid[:, 1:] += tall[:, :-1]
    grid[:, :-1] += tall[:, 1:]
    topples += int(tall.sum())
=== a histogram, whose values decide an index up to the end of their range
x = rng.random(60); x[3] = 0.99999; hist = np.zeros(20, dtype=int)
---
for v in x:
    b = int(v * 20)
    hist[b] += 1
=== lists that grow in a while loop
x = 0.3 + 0.1 * float(rng.random()); xs, ks = [x], []; err = 1.0; k = 0
---
while err > 1e-9 and len(xs) < 500:
    new = x - 0.1 * (x ** 3 - x - 1)
    err = abs(new - x)
    x = new
    k += 1
    xs.append(x)
    ks.append(k)
=== a while loop that is left, longer than its first piece
t, y = 0.0, 1.0 + float(rng.random()); ts, ys = [t], [y]
---
while t < 50.0:
    if y < 0.001:
        break
    y = y - 0.02 * y
    t = t + 0.01
    ts.append(t)
    ys.append(y)
=== steps from the lists' ends
def f(t, y): return -0.5 * y + t
ts, ys = [0.0], [1.0 + float(rng.random())]; h = 0.01
---
for n in range(90):
    k1 = f(ts[-1], ys[-1])
    k2 = f(ts[-1] + h, ys[-1] + h * k1)
    ys.append(ys[-1] + h / 2 * (k1 + k2))
    ts.append(ts[-1] + h)
=== arrays in a list that is read at its end
path = [rng.normal(size=2)]
---
while len(path) < 40:
    path.append(0.9 * path[-1] + 0.01)
=== functions that a function made
def growth(rate, power):
    def f(x): return rate * x * (1 - x ** power)
    return f
table = rng.random(3)
def lookup(t):
    return lambda i: t[i % 3]
f, g = growth(1.2 + 0.1 * rng.random(), 2), growth(0.7, 3); at = lookup(table); x = rng.random(4) * 0.5; s = 0.0
---
for k in range(50):
    x = g(f(x)) + 0.01
    s += at(k)
=== Cholesky, rows up to a count
B = rng.normal(size=(9, 9)); A = B @ B.T + 9 * np.eye(9); n = 9; L = np.zeros((n, n))
---
for i in range(n):
    for j in range(i + 1):
        s = A[i, j] - L[i, :j] @ L[j, :j]
        if i == j:
            L[i, j] = np.sqrt(s)
        else:
            L[i, j] = s / L[j, j]
=== averages of what was before, sizes that grow
x = rng.normal(size=40); mean, top, spread, back = np.zeros(40), np.zeros(40), np.zeros(40), np.zeros(40)
---
for i in range(1, 40):
    lo = max(0, i - 6)
    mean[i] = x[lo:i + 1].mean()
    top[i] = np.max(x[:i])
    spread[i] = np.sqrt(np.mean((x[lo:i] - mean[i]) ** 2))
    back[i] = x[-i:].sum() + x[i - 40:].sum()
=== parts that are filled, every second place
x = np.zeros(30); y = rng.normal(size=30)
---
for i in range(1, 30):
    x[i:] += 0.1
    x[i::2] = x[i::2] * 0.5
    x[2:i] = 0.01 * i
    y[:i] = y[:i] + x[:i]
=== a history in a dict
X = rng.normal(size=(20, 3)); y = X @ np.ones(3); w = np.zeros(3); hist = {"loss": [], "norm": [1.5]}
---
for i in range(30):
    r = X @ w - y
    hist["loss"].append(float(r @ r))
    hist["norm"].append(np.sqrt(w @ w))
    w = w - 0.02 * X.T @ r / 20
=== errors of each turn in an attribute
class Perceptron:
    def __init__(self, n):
        self.w, self.errors = np.zeros(n), []
    def output(self, x): return np.where(x @ self.w >= 0, 1, -1)
    def fit(self, X, y, epochs):
        for _ in range(epochs):
            wrong = 0
            for xi, yi in zip(X, y):
                if self.output(xi) != yi:
                    self.w = self.w + 0.1 * yi * xi
                    wrong += 1
            self.errors.append(wrong)
        return self
X = rng.normal(size=(25, 3)); y = np.where(X @ np.array([1, -1, 0.5]) > 0, 1, -1)
---
model = Perceptron(3).fit(X, y, 6)
=== a list of pairs
x, v = 1.0, float(rng.random()); pts = [(x, v)]; marks = []
---
for i in range(50):
    v = v - 0.01 * x
    x = x + 0.01 * v
    pts.append((x, v))
    if x > 0.9:
        marks.append((i, x))
=== a sandpile, parts of parts
grid = np.zeros((7, 7), dtype=int); grid[3, 3] = 60 + rng.integers(9)
---
while (grid >= 4).any():
    tall = grid >= 4
    grid[tall] -= 4
    grid[1:, :][tall[:-1, :]] += 1
    grid[:-1, :][tall[1:, :]] += 1
    grid[:, 1:][tall[:, :-1]] += 1
    grid[:, :-1][tall[:, 1:]] += 1
=== jitscope's arrays until a value says so
import jitscope.numpy as jnp
a = jnp.linspace(1.0, 5.0, 9) + float(rng.random()); x = jnp.ones(9); n = 0
---
while float(jnp.abs(x * x - a).max()) > 1e-3 and n < 300:
    x = 0.5 * (x + a / x)
    n += 1
=== jitscope's arrays, and a branch on a value that Python asks for
import jitscope.numpy as jnp
a = jnp.linspace(0.0, 3.0, 9) * (1 + float(rng.random())); x = a; rate = 1.0
---
for i in range(30):
    new = x - rate * 0.1 * jnp.sin(x)
    if float(jnp.sum(new ** 2)) > 30.0:
        rate = rate * 0.5
    x = new
=== a walk of jitscope's random keys
import jitscope, jitscope.numpy as jnp
key = jitscope.random.key(int(rng.integers(99))); x = jnp.zeros(4)
---
for i in range(12):
    key, sub = jitscope.random.split(key)
    x = 0.9 * x + jitscope.random.normal(sub, (4,))
=== reflections, products over parts that begin where the turn does
A = rng.normal(size=(9, 6)); R = A.copy(); Q = np.eye(9); C = rng.normal(size=(9, 9))
---
for k in range(6):
    v = R[k:, k].copy()
    v[0] += np.sign(v[0]) * np.linalg.norm(v)
    v /= np.linalg.norm(v)
    R[k:, k:] -= 2 * np.outer(v, v @ R[k:, k:])
    Q[:, k:] -= 2 * np.outer(Q[:, k:] @ v, v)
    C[k:, k:] = C[k:, k:] + 0.1 * np.outer(C[k:, k:].dot(v), v)
=== reflections, made of views of what they change
R = rng.normal(size=(7, 5)); Q = np.eye(7)
---
for k in range(5):
    x = R[k:, k]
    e = np.zeros_like(x)
    e[0] = np.sign(x[0]) * np.linalg.norm(x)
    v = x + e
    v = v / np.linalg.norm(v)
    R[k:, :] -= 2 * np.outer(v, v @ R[k:, :])
    Q[:, k:] -= 2 * np.outer(Q[:, k:] @ v, v)
=== places that a mask picks, kept while the rest goes on
F = 1 + 0.1 * rng.random((7, 8, 3)); wall = rng.random((7, 8)) < 0.3; w = np.array([0.5, 0.3, 0.2])
---
for it in range(6):
    F[:, :, 1] = np.roll(F[:, :, 1], 1, axis=1)
    kept = F[wall, :]
    kept = kept[:, [0, 2, 1]]
    rho = F.sum(axis=2)
    F += -0.6 * (F - rho[:, :, None] * w)
    F[wall, :] = kept
=== views of an array that each turn makes
nodes = rng.random((30, 2)); tris = np.array([[k, (7 * k + 3) % 30, (11 * k + 5) % 30] for k in range(30)]); K = np.zeros(30)
---
for tri in tris:
    p = nodes[tri]
    x, y = p[:, 0], p[:, 1]
    K[tri[0]] += (x[1] - x[0]) * (y[2] - y[0])
p[:, 0] = 5.0
seen = x + y
=== a function that calls itself, by sizes
def cycle(u):
    if len(u) < 4:
        return u
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    u[::2] = cycle(u[::2].copy())
    return u
u = rng.normal(size=33)
---
norm = 0.0
for k in range(5):
    u = cycle(u)
    norm = norm + u @ u
=== rows that change places, parts of them that move, in elimination with pivots
A = rng.normal(size=(6, 6)); L = np.eye(6); P = np.eye(6)
---
for k in range(5):
    i = np.argmax(np.abs(A[k:, k])) + k
    if i != k:
        A[[k, i], k:] = A[[i, k], k:]
        L[[k, i], :k] = L[[i, k], :k]
        P[[k, i]] = P[[i, k]]
    for j in range(k + 1, 6):
        L[j, k] = A[j, k] / A[k, k]
        A[j, k:] -= L[j, k] * A[k, k:]
=== the best and where, in a tuple, and a tuple that the stretch makes
D = rng.normal(size=(7, 6)); where = (0, 0); best = -9.0; last = (1.0, 2)
---
top, spot = 0.0, (0, 1)
for i in range(7):
    for j in range(6):
        if D[i, j] > best:
            best, where = D[i, j], (i, j)
    last = (last[1] * 0.5, i)
total = D[where] + D[spot] + last[0]
""")
