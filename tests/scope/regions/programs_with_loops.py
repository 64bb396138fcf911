"""More programs that are compiled: loops under branches, what loops go through, loops that are left between their printing turns, and lists
that a turn makes for itself."""

from tests.scope.regions.programs import parsed


WITH_LOOPS = parsed("""
=== a sieve, loops under a branch on a value
prime = np.ones(60, bool); low = 2 if rng.random() < 2 else 3
---
i = low
while i * i < 60:
    if prime[i]:
        for j in range(i * i, 60, i):
            prime[j] = False
    i += 1
=== Newton only where it is asked for, a loop that is left under a branch
x = rng.random(20) * 4; done = np.zeros(20); turns = 0
---
for k in range(20):
    z = x[k]
    if z > 1.0:
        y = z
        for it in range(40):
            new = 0.5 * (y + z / y)
            turns += 1
            if abs(new - y) < 1e-9:
                break
            y = new
        done[k] = y
    else:
        done[k] = -1.0
=== pairs of a loop's rows, counted from one
steps = rng.normal(size=(40, 2)); w = rng.random(40); x = 0.0; y = 0.0; xs = np.zeros(41)
---
for i, (e, f) in enumerate(steps, 1):
    x = 0.8 * y + 0.6 * e
    y = 0.8 * x + 0.6 * f
    xs[i] = x
for (e, f), v in zip(steps, w):
    x = x + v * e - f
for k, (u, v) in enumerate(zip(w, w[::-1])):
    y = y + k * u * v
=== rows in twos, backwards
p = rng.normal(size=(12, 2)); area = 0.0; b = rng.normal(size=30); y = np.zeros(31)
---
for (px, py), (qx, qy) in zip(p[:-1], p[1:]):
    area += px * qy - qx * py
for i in reversed(range(30)):
    y[i] = b[i] - 0.5 * y[i + 1]
=== a window that is turned round
x = rng.normal(size=60); d = rng.normal(size=60); w = np.zeros(4); e = np.zeros(60)
---
for n in range(4, 60):
    xn = x[n - 3:n + 1][::-1]
    e[n] = d[n] - w @ xn
    w += 0.02 * e[n] * xn
=== k means, means in a comprehension
p = rng.normal(size=(60, 2)) + 3 * rng.integers(0, 2, 60)[:, None]; c = p[[0, 30, 59]].copy()
---
for it in range(30):
    near = ((p[:, None] - c[None]) ** 2).sum(-1).argmin(1)
    new = np.array([p[near == k].mean(axis=0) if (near == k).any() else c[k] for k in range(3)])
    moved = np.linalg.norm(new - c)
    c = new
    if moved < 1e-12 and it > 5:
        break
=== places of a sorted row
edges = np.sort(rng.random(20)); x = rng.random(9)
---
for k in range(25):
    at = np.searchsorted(edges, x)
    x = (x + 0.37 * at) % 1.0
=== prints now and then, until the loss no longer falls
A = rng.normal(size=(30, 4)); b = rng.normal(size=30); w = np.zeros(4); best = np.inf
---
for epoch in range(400):
    grad = 2 * A.T @ (A @ w - b) / 30
    w = w - 0.1 * grad
    loss = ((A @ w - b) ** 2).mean()
    if loss < best - 1e-9:
        best = loss
    else:
        break
    if epoch % 10 == 0:
        print(epoch, f"{loss:.5f}")
=== activations in a list of each turn
Ws = [rng.normal(size=(5, 5)) * 0.3 for _ in range(3)]; x = rng.normal(size=5); goal = np.zeros(5)
---
for it in range(20):
    acts = [x]
    for W in Ws:
        acts.append(np.tanh(W @ acts[-1]))
    delta = acts[-1] - goal
    for i in reversed(range(len(Ws))):
        delta = delta * (1 - acts[i + 1] ** 2)
        step = np.outer(delta, acts[i])
        delta = Ws[i].T @ delta
        Ws[i] = Ws[i] - 0.1 * step
=== bodies that keep what they have in slots
class Body:
    __slots__ = ("x", "v", "n")
    def __init__(self, x):
        self.x, self.v, self.n = x, np.zeros(2), 0
    def move(self, h):
        self.v = self.v - h * self.x
        self.x = self.x + h * self.v
        self.n += 1
bodies = [Body(rng.normal(size=2)) for k in range(3)]
---
for i in range(30):
    for b in bodies:
        b.move(0.01)
=== energies of jitscope's arrays now and then
import jitscope
import jitscope.numpy as jnp
class Ensemble:
    def __init__(self, x):
        self.x, self.t = x, 0
    def step(self, h):
        self.x = self.x - h * self.x
        self.t += 1
    def energy(self):
        return jnp.mean(self.x ** 2)
e = Ensemble(jnp.asarray(rng.normal(size=5).astype(np.float32))); energies = []
---
for i in range(20):
    e.step(0.1)
    if i % 5 == 4:
        energies.append(e.energy())
=== functions that keep functions
def system(k, c, m):
    def pull(x, v):
        return (-k * x - c * v) / m
    def step(x, v, h):
        a = pull(x, v)
        new = x + h * v + 0.5 * h * h * a
        return new, v + 0.5 * h * (a + pull(new, v + h * a))
    return step
step = system(rng.random(3), 0.1, 1.5); x = np.ones(3); v = np.zeros(3); xs = []
---
for _ in range(30):
    x, v = step(x, v, 0.01)
    xs.append(x)
=== methods that keep lists
class Economy:
    def __init__(self, k):
        self.k, self.path, self.log, self.x = k, [], {"k": [0.5]}, 0.0
    def step(self):
        self.k = (0.25 * self.k ** 0.33 + 0.95 * self.k) / 1.03
        self.x = self.x * 0.5 + 1
        self.path.append(self.k)
        self.path.append(self.k[:2].sum() + self.k * 2)
        self.log["k"].append(self.x)
all_of = [Economy(rng.random(3) + 0.1), Economy(rng.random(3) + 2)]
---
for t in range(25):
    for e in all_of:
        e.step()
=== a method of jitscope's arrays that keeps a list
import jitscope.numpy as jnp
class Walk:
    def __init__(self, x): self.x, self.seen = x, []
    def step(self, h):
        self.x = jnp.sin(self.x) + h
        self.seen.append(self.x)
w = Walk(jnp.asarray(rng.random(3).astype(np.float32)))
---
for t in range(12):
    w.step(0.1)
=== a table of lists
n, m = 9, 11; a = [int(v) for v in rng.integers(0, 4, n)]; b = [int(v) for v in rng.integers(0, 4, m)]
L = [[0] * (m + 1) for _ in range(n + 1)]; third = L[3]
---
for i in range(1, n + 1):
    for j in range(1, m + 1):
        if a[i - 1] == b[j - 1]:
            L[i][j] = L[i - 1][j - 1] + 1
        else:
            L[i][j] = max(L[i - 1][j], L[i][j - 1])
longest = L[n][m]
=== what a branch, or a loop without a turn, may leave as it was
x = rng.random(20); flag = np.float64(5); other = 3.0; last = -1; v = np.full(3, 2.0); rows = rng.random((20, 3)); left = 7; gap = 0.0
---
for i in range(20):
    if x[i] > 0.95:
        flag = x[i]
    if x[i] > 2 * rows[i, 0]:
        last = i
        v = rows[i]
    if x[i] > 0.97:
        left = i
        break
while gap > 0.5:
    gap = gap / 2
    other = gap
=== rotations by elements of an array that each turn makes
H = rng.normal(size=(6, 6)); H = H + H.T
---
for sweep in range(4):
    R = H.copy()
    Qt = np.eye(6)
    for j in range(5):
        for i in range(5, j, -1):
            a, b = R[i - 1, j], R[i, j]
            rho = np.hypot(a, b)
            top, bottom = (a * R[i - 1] + b * R[i]) / rho, (a * R[i] - b * R[i - 1]) / rho
            R[i - 1], R[i] = top, bottom
            first, second = (a * Qt[i - 1] + b * Qt[i]) / rho, (a * Qt[i] - b * Qt[i - 1]) / rho
            Qt[i - 1], Qt[i] = first, second
    H = R @ Qt.T
=== elements of a list that is stored into
order = [float(k % 7) for k in range(20)]; s = 0.0
---
for t in range(9):
    for i in range(1, 19):
        a, b = order[i - 1], order[i + 1]
        s = s + a * b
        order[i] = 0.5 * (a + b)
=== a long list
reach = [0] + [10 ** 6] * 900
---
for v in range(1, 901):
    for c in (1, 5, 12):
        if c <= v and reach[v - c] + 1 < reach[v]:
            reach[v] = reach[v - c] + 1
=== a chain of states by summed probabilities, whose last is one
P = rng.random((4, 4)); P /= P.sum(1, keepdims=True); cum = np.cumsum(P, axis=1); u = rng.random(300) * 0.001 + 0.9985
chain = np.zeros(300, dtype=int); s = 0
---
for t in range(300):
    s = np.searchsorted(cum[s], u[t])
    chain[t] = s
=== elimination by outer products, parts of two axes whose size moves
A = rng.normal(size=(7, 7)) + 7 * np.eye(7); L = np.eye(7); heights = np.zeros(7); widths = np.zeros((7, 7))
---
for k in range(6):
    L[k + 1:, k] = A[k + 1:, k] / A[k, k]
    A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], A[k, k + 1:]) / A[k, k]
    A[k + 1:, k] = 0.0
    heights[k] = A[k:, k:].max()
    widths[k] = A[k:].sum(axis=0)
    A[:, k + 1:] *= 1.01
=== slices that move by steps
u = rng.normal(size=40); v = rng.normal(size=(40, 3)); s = 0.0
---
for k in range(10):
    u[k:k + 9:2] = 0.5 * u[k + 1:k + 10:2] + 0.1
    v[k:k + 6:3, 1] = u[k:k + 2]
    s = s + v[k:k + 7:2].sum() + u[k + 3:k + 8:4] @ v[0, :2]
=== elimination with pivots, the place of the largest number of a part
A = rng.normal(size=(7, 8)); lows = np.zeros(7, dtype=int)
---
for k in range(7):
    p = k + np.argmax(np.abs(A[k:, k]))
    lows[k] = A[k, k:].argmin()
    row = A[k].copy()
    A[k] = A[p]
    A[p] = row
    for i in range(k + 1, 7):
        A[i, k:] -= A[i, k] / A[k, k] * A[k, k:]
=== alignment in a table of lists, by way of a name
s = rng.integers(0, 4, 9).tolist(); t = rng.integers(0, 4, 8).tolist(); score = [[-2 * (i + j) for j in range(9)] for i in range(10)]
---
for i in range(1, len(s) + 1):
    for j in range(1, len(t) + 1):
        match = score[i - 1][j - 1] + (1 if s[i - 1] == t[j - 1] else -1)
        score[i][j] = max(match, score[i - 1][j] - 2, score[i][j - 1] - 2)
best = score[-1][-1]
=== a function that reads what the loop changes
theta = rng.normal(size=(6, 6)); u = rng.random((20, 6, 6)); us = rng.random((20, 6, 6)); energies = []
def local(th): return -np.cos(th - np.roll(theta, 1, axis=0)) - np.cos(th - np.roll(theta, 1, axis=1))
---
for s in range(20):
    new = theta + u[s]
    ok = us[s] < np.exp(-np.clip(local(new) - local(theta), 0, None))
    theta = np.where(ok, new, theta)
    energies.append(local(theta).mean())
=== functions that read, by way of another one, what is stored into and counted
x = rng.random(12); k = 0
def left(j): return x[j - 1] * 0.5
def both(): return left(k) + x[k]
---
for k in range(1, 12):
    x[k] = np.sin(both()) + left(k)
=== a function of a function that reads what its loop changes
def run(n):
    theta, scale = np.linspace(0.0, 1.0, 7), 0.5
    def slope(v): return np.sin(v + theta) * scale
    for k in range(n):
        theta = theta + 0.1 * slope(theta * 2)
    return theta
---
out = run(25)
=== frames that begin at products
x = rng.normal(size=400); hop, size = 16, 32; S = np.zeros((20, 17)); starts = np.arange(20) * 9; means = np.zeros(20)
---
for m in range(20):
    S[m] = np.abs(np.fft.rfft(x[m * hop:m * hop + size]))
    means[m] = x[starts[m]:starts[m] + size].mean()
=== neighbours that the text names, some of which are passed over
grid = (rng.random((12, 12)) < 0.4) * 1; ages = np.zeros((12, 12), int)
---
for t in range(20):
    total = np.zeros(grid.shape, dtype=int)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy == 0 and dx == 0:
                continue
            total += np.roll(np.roll(grid, dy, axis=0), dx, axis=1)
    grid = ((total == 3) | ((grid == 1) & (total == 2))) * 1
    ages = (ages + 1) * grid
=== neighbours inside of a wall, a loop that is left by a value
heights = rng.random(40); places = np.arange(40); flat = np.zeros(40)
---
for i in range(40):
    lowest = heights[i]
    for d in (-2, -1, 1, 2, 3):
        j = i + d
        if j < 0 or j >= 40:
            continue
        if heights[j] > 0.9:
            flat[i] = 1.0
            break
        if heights[j] < lowest:
            lowest = heights[j]
            places[i] = j
    flat[i] += lowest
=== Metropolis over rows of two arrays at once, what was taken last
moves = rng.normal(size=(60, 2)); logs = np.log(rng.random(60)); x = np.zeros(2); kept = np.zeros((60, 2)); best = x; low = 9.0
---
for i, (d, u) in enumerate(zip(moves, logs[:60])):
    y = x + d
    e = (y ** 2).sum() / 2
    if u < (x ** 2).sum() / 2 - e:
        x = y
        if e < low:
            best, low = x, e
    kept[i] = x
=== Collatz, whole numbers that are checked
longest = 1; of = 1
---
for start in range(1, 200):
    n, length = start, 1
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        length += 1
    if length > longest:
        longest, of = length, start
=== common divisors by Euclid
pairs = 0
---
for a in range(1, 30):
    for b in range(1, 30):
        p, q = a, b
        while q:
            p, q = q, p % q
        if p == 1:
            pairs += 1
=== powers that grow, among flags of bits
f = 1; bits = 0
---
for k in range(1, 16):
    f = f * k
    bits = (bits << 1) ^ (f & 5)
    bits = bits % 1021
=== a step that becomes NumPy's in the first turn, and lists that take both kinds
t, y, h = 0.0, rng.random(2) + 0.5, 0.05; ts, ys, rejected = [t], [y], 0
def f(y):
    return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])
---
while t < 4.0:
    k1 = f(y)
    k2 = f(y + h * k1)
    new = y + h / 2 * (k1 + k2)
    err = np.max(np.abs(new - y - h * k1))
    if err < 5e-3:
        t = t + h
        y = new
        ts.append(t)
        ys.append(y)
    else:
        rejected += 1
    h = h * min(2.0, max(0.3, 0.9 * np.sqrt(5e-3 / (err + 1e-16))))
=== nothing before the loop, and a number after its first turn or a later one
x = rng.random(9); found = None; total = 0
---
for i in range(9):
    if x[i] > 0.63:
        found = x[i]
    total = total + x[i]
=== counts that are looked for among known ones
walls = {(1, 2), (2, 2), (0, 3)}; V = np.zeros((4, 5)); goal = {(3, 4): 1.0}; delta, sweeps = 1.0, 0; cost = rng.random((4, 5)) * 0.1
---
while delta > 1e-3:
    delta = 0.0
    for i in range(4):
        for j in range(5):
            if (i, j) in walls:
                continue
            new = 1.0
            if (i, j) not in goal:
                best = -np.inf
                for di, dj in [(-1, 0), (1, 0), (0, -1), (0, 1)]:
                    a, b = min(max(i + di, 0), 3), min(max(j + dj, 0), 4)
                    if (a, b) not in walls:
                        best = max(best, V[a, b])
                new = 0.9 * best - cost[i, j] * (1 if i in (0, 3) else 2)
            delta = max(delta, abs(new - V[i, j]))
            V[i, j] = new
    sweeps += 1
=== steps that a number picks among known ones
moves = ((-1, 0), (1, 0), (0, -1), (0, 1)); acts = rng.integers(4, size=60); seen = np.zeros((5, 5)); i = j = 0; u = rng.random(60)
---
for k in range(60):
    a = int(acts[k] if u[k] < 0.5 else np.argmax(seen[i, j]))
    di, dj = moves[a]
    i, j = min(max(i + di, 0), 4), min(max(j + dj, 0), 4)
    if (i, j) != (4, 4):
        seen[i, j] += u[k]
=== spins of eight bits, a whole number that sums of them are added to, in functions
def around(s):
    return np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)
def energy(s):
    return -int(np.sum(s * (np.roll(s, 1, 0) + np.roll(s, 1, 1)), dtype=np.int64))
start = rng.choice(np.array([-1, 1], np.int8), size=(8, 8)); draws = rng.random((3, 12, 2, 8, 8)); rows = []
i, j = np.indices((8, 8)); black = (i + j) % 2 == 0; white = ~black; T = np.array([1.5, 2.0, 3.0])
---
for k, t in enumerate(T):
    s = start.copy(); e = 0; m = 0.0
    for turn in range(12):
        for half, colour in enumerate((black, white)):
            delta = 2 * s * around(s)
            accept = (draws[k, turn, half] < np.exp(-delta / t)) & colour
            s[accept] *= -1
        e += energy(s)
        m += abs(s.mean())
    rows.append((t, m / 12, e / 12))
=== the largest of several arrays, labels that are counted
sites = rng.random((4, 10, 10)) < 0.6; biggest = np.zeros(4, dtype=int); L = 10
def labels(open_sites):
    lab = np.where(open_sites, np.arange(1, L * L + 1).reshape(L, L), 0)
    changed = True
    while changed:
        old = lab
        up = np.zeros_like(lab)
        up[1:] = lab[:-1]
        left = np.zeros_like(lab)
        left[:, 1:] = lab[:, :-1]
        lab = np.where(open_sites, np.max([lab, up, left], axis=0), 0)
        changed = bool((lab != old).any())
    return lab
---
for i, s in enumerate(sites):
    lab = labels(s)
    counts = np.bincount(lab.ravel(), minlength=L * L + 1)
    counts[0] = 0
    biggest[i] = max(biggest[i], counts.max())
=== a root that is Python's count or NumPy's parent
n = 4; inside = rng.random((n, n)) < 0.7; parent = np.arange(n * n); parent[n * n - 1] = 2
---
for i in range(n):
    for j in range(n):
        for di, dj in ((0, 1), (1, 0)):
            a, b = i + di, j + dj
            if a < n and b < n and inside[i, j] and inside[a, b]:
                r = i * n + j
                while parent[r] != r:
                    r = parent[r]
                parent[r] = min(parent[r], a * n + b)
r = 3
for i in range(n):
    r = i * n
    while parent[r] != r:
        r = parent[r]
=== members of clusters, of which there may be none
X = rng.normal(size=(40, 2)); centers = X[:5] * 3
---
while True:
    label = ((X[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
    new = centers.copy()
    for k in range(5):
        members = X[label == k]
        if len(members) > 0:
            new[k] = members.mean(axis=0)
    shift = np.linalg.norm(new - centers)
    centers = new
    if shift < 1e-9:
        break
=== what a wall reflects, direction by direction
solid = rng.random((6, 5)) < 0.3; f = rng.random((4, 6, 5)); back = [2, 3, 0, 1]
---
for step in range(12):
    g = f - 0.1 * (f - f.mean(axis=0))
    for i in range(4):
        g[i, solid] = f[back[i], solid]
    f = np.roll(g, 1, axis=1)
=== places, pairs and triples that iterators give
import itertools
img = rng.random((6, 5)); p = rng.random((7, 2)); xs = [0.5, 1.5, -2.0]; out = np.zeros((6, 5)); areas = []; best = 0.0; s = 0.0
---
for i, j in np.ndindex(img.shape):
    out[i, j] = img[i - 1, j] + i * j if 0 < i else img[i, j]
for at in np.ndindex(6, 5):
    out[at] = 0.5 * out[at] + s
for (i, j), v in np.ndenumerate(img):
    s = 0.9 * s + i * v - j
for a, b, c in itertools.combinations(range(len(p)), 3):
    area = abs((p[b, 0] - p[a, 0]) * (p[c, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[c, 0] - p[a, 0]))
    areas.append(area)
    if area > best:
        best = area
for (i, u), (j, v) in itertools.combinations(enumerate(xs), 2):
    s = 0.5 * s + i * u - j * v
for u, v in itertools.product(xs, repeat=2):
    s = 0.5 * s + u * v
for k, u in enumerate(np.linspace(0, 1, 9)):
    s = 0.5 * s + k * u
for u, v in zip(xs[1:], xs):
    s = 0.5 * s + u - v
=== what a loop inside of another one appends, at most as often as both say
x = rng.normal(size=9); apart = []; back = []
---
for i in range(1, 9):
    for j in range(i):
        apart.append(x[i] - x[j])
    for j in range(i + 1, 9 - i):
        back.append(x[i] * x[j])
=== a grid of numbers in a dict, the best of which is noted, and one that is left by a value
import itertools
x = rng.normal(size=20); y = 1.3 * x + 0.4; scores = {}; least = np.inf; chosen = None; found = 0.0
---
for a, b in itertools.product(np.linspace(0, 2, 6), np.linspace(-1, 1, 5)):
    r = np.mean((y - a * x - b) ** 2)
    scores[a, b] = r
    if r < least:
        least = r
        chosen = (a, b)
for i, j in itertools.product(range(20), range(20)):
    found = 0.5 * found + x[i] * y[j]
    if found > 0.9:
        break
=== orders that are drawn before loops, and a sorted list
X = rng.normal(size=(12, 3)); t = rng.normal(size=12) > 0; w = np.zeros(3); wrong = []; n = 12; s = 0.0; xs = [0.3, -0.2, 0.9]
---
for epoch in range(4):
    many = 0
    for i in rng.permutation(len(X)):
        if (w @ X[i] > 0.0) != t[i]:
            w = w + X[i] * (0.5 if t[i] else -0.5)
            many += 1
    wrong.append(many)
for i in rng.permutation(n):
    s = 0.5 * s + X[i, 0] * i
for v in sorted(xs):
    s = 0.5 * s + v
=== numbers that are stored at lists of places
near = [[int(j) for j in rng.integers(0, 9, k % 4 + 1)] for k in range(9)]; x = rng.random(9); flow = np.zeros(9)
---
for i in range(9):
    flow[near[i]] += x[i] / len(near[i])
for i in range(9):
    if x[i] > 0.5:
        x[near[i]] = 0.9 * x[i]
=== prints in turns that the count of `enumerate` picks, of two arrays at once
X = rng.normal(size=(60, 3)); y = rng.normal(size=60); w = np.zeros(3); loss = 0.0
---
for i, (x, t) in enumerate(zip(X, y)):
    e = x @ w - t
    w -= 0.01 * e * x
    loss = 0.9 * loss + 0.1 * e * e
    if (i + 1) % 20 == 0:
        print(i, f"{loss:.3f}", f"{t:.3f}")
=== splines of a degree, by a function that calls itself
t = np.linspace(0, 1, 12); c = rng.normal(size=8); degree = 2; y = np.zeros(20)
def N(i, p, u):
    if p == 0:
        return 1.0 if t[i] <= u < t[i + 1] else 0.0
    a = (u - t[i]) / (t[i + p] - t[i]) * N(i, p - 1, u)
    return a + (t[i + p + 1] - u) / (t[i + p + 1] - t[i + 1]) * N(i + 1, p - 1, u)
---
for k, u in enumerate(np.linspace(0.21, 0.71, 20)):
    for i in range(8):
        y[k] += c[i] * N(i, degree, u)
""")
