"""Small programs whose turns make lists of Python's, read while they grow."""

from tests.scope.regions.programs import parsed


WITH_LISTS = parsed("""
=== the free server of a list
d = rng.random(60).tolist(); free = [0.0, 0.0, 0.0]; ends = []
---
for i in range(60):
    k = free.index(min(free))
    free[k] = free[k] + d[i]
    ends.append(free[k] * (1 + free.index(max(free))))
=== edit distance, a row of Python's in each turn
a = "kitten sits"; b = "sitting there"; prev = list(range(len(b) + 1))
---
for i in range(1, len(a) + 1):
    cur = [i]
    for j in range(1, len(b) + 1):
        cost = 0 if a[i - 1] == b[j - 1] else 1
        cur.append(min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + cost))
    prev = cur
dist = prev[-1]
=== means of a list in each turn
X = rng.normal(size=(12, 3)); y = X @ np.ones(3); w = np.zeros(3); hist = []
---
for epoch in range(5):
    losses = []
    for i in range(12):
        e = X[i] @ w - y[i]
        w = w - 0.05 * e * X[i]
        losses.append(e ** 2)
    hist.append(np.mean(losses))
    worst = max(losses)
    first, last, count = losses[0], losses[-1], len(losses)
=== rows of constants that are stored into
prices = rng.random(8); room = 11; best = [0.0] * (room + 1); weights = [2, 3, 1, 4, 5, 2, 3, 4]
---
for k in range(8):
    new = best[:]
    for c in range(weights[k], room + 1):
        new[c] = max(best[c], best[c - weights[k]] + prices[k])
    best = new
=== stages of a step in a list
A = rng.normal(size=(3, 3)); s = rng.random(3); coef = [0.5, 0.25, 0.125]
---
for t in range(6):
    stages = []
    for c in coef:
        stages.append(A @ s * c)
    s = s + 0.1 * np.sum(stages, axis=0) + 0.01 * np.array(stages).max(axis=0)
=== a comprehension in each turn
v = [float(k * k) for k in range(9)]; s = 0.0
---
for t in range(5):
    new = [0.5 * (v[(i - 1) % 9] + v[(i + 1) % 9]) for i in range(9)]
    s += sum(new)
    v = new
=== a table of rows, a list for each
xs = np.linspace(-2, 1, 9); ys = np.linspace(-1, 1, 7); table = []
---
for y in ys:
    row = []
    for x in xs:
        z, n = 0.0, 0
        zi = 0.0
        while z * z + zi * zi < 4 and n < 20:
            z, zi = z * z - zi * zi + x, 2 * z * zi + y
            n += 1
        row.append(n)
    table.append(row)
=== the longest rising part, a list of before
x = rng.integers(0, 50, 40); best = []
---
for i in range(40):
    b = 1
    for j in range(i):
        if x[j] < x[i]:
            b = max(b, best[j] + 1)
    best.append(b)
=== states of before, a list of arrays
y0 = rng.random(3); A = rng.normal(size=(3, 3)) * 0.3; states = [y0, A @ y0]
---
for k in range(10):
    states.append(states[k] * 0.5 + A @ states[k + 1])
=== a list read from the end by a computed index
f = [1.0, 2.0, 3.0]; w = rng.random(9)
---
for k in range(9):
    f.append(f[k - 3] * 0.5 + w[k] + f[-2] * 0.1)
=== two names of the last row, rows kept
rows = []; x = rng.random(5)
---
for i in range(4):
    row = []
    for j in range(5):
        row.append(x[j] * (i + 1))
    rows.append(row)
    kept = row
=== ints first, floats later
s = 0.0; x = rng.random(6)
---
for i in range(3):
    row = [0]
    for j in range(6):
        row.append(row[j] + x[j])
    s += row[-1]
=== a list and its copy
x = rng.random(6); s = 0.0
---
for i in range(3):
    row = [0.0] * 6
    for j in range(6):
        row[j] = x[j] * i
    was = row[:]
    row[2] = 9.0
    s += was[2] + row[2]
=== dicts that each turn stores one value into
u = rng.random(12); frames = {-1: u}; sums = {}; steps = np.linspace(0.1, 0.4, 6)
---
for n in range(9):
    u = np.tanh(u + 0.1 * np.roll(u, 1))
    frames[n] = u.copy()
    sums[n * 2] = (u.sum(), n)
roots = {}
for a in steps:
    v = 0.0
    for i in range(8):
        v = np.cos(v + a)
    roots[a] = v
=== a dict under the numbers that the text names
A = rng.random((6, 6)) + 6 * np.eye(6); b = rng.random(6); results = {}
---
for omega in (0.8, 1.0, -1.5):
    x = np.zeros(6)
    res = []
    for sweep in range(4):
        for i in range(6):
            x[i] = (1 - omega) * x[i] + omega * (b[i] - A[i, :i] @ x[:i] - A[i, i + 1:] @ x[i + 1:]) / A[i, i]
        res.append(np.linalg.norm(A @ x - b))
    results[omega] = res[-1]
=== steps by a table in a list, of which far more are made where its numbers are moved
A = [[], [1 / 2], [0, 3 / 4], [2 / 9, 1 / 3, 4 / 9]]; C = [0, 1 / 2, 3 / 4, 1]
B = np.array([2 / 9, 1 / 3, 4 / 9, 0]); D = B - np.array([7 / 24, 1 / 4, 1 / 3, 1 / 8])
def step(f, t, y, h):
    k = np.zeros((4, y.size))
    k[0] = f(t, y)
    for s in range(1, 4):
        z = y.copy()
        for j in range(s):
            z = z + h * A[s][j] * k[j]
        k[s] = f(t + C[s] * h, z)
    return y + h * (B @ k), h * (D @ k)
def swing(t, y):
    return np.array([y[1], 2.0 * (1 - y[0] ** 2) * y[1] - y[0]])
def solve(f, y, end, rtol=1e-6, h=0.01):
    t, ts, ys, rejected = 0.0, [0.0], [y], 0
    while t < end:
        h = min(h, end - t)
        new, gap = step(f, t, y, h)
        size = np.sqrt(np.mean((gap / (1e-9 + rtol * np.maximum(np.abs(y), np.abs(new)))) ** 2))
        if size <= 1:
            t = t + h
            y = new
            ts.append(t)
            ys.append(y)
        else:
            rejected += 1
        h = h * min(5.0, max(0.2, 0.9 * (size + 1e-16) ** (-1 / 3)))
    return np.array(ts), np.array(ys), rejected
start = np.array([2.0, 0.1 * rng.random()])
---
ts, ys, rejected = solve(swing, start, 1.0)
=== neighbours that are among the numbers of a list, a tuple, and one that is written there
born, live = [3], (2, 3); g = (rng.random((8, 8)) < 0.4).astype(np.int64)
---
for t in range(4):
    n = sum(np.roll(g, i, (0, 1)) for i in (-1, 1)) + np.roll(g, 1, 0)
    g = np.where(g == 1, np.isin(n, live), np.isin(n, born) | np.isin(n, [0, 9])).astype(np.int64)
=== lists and tuples of numbers given whole
w, v, k = list(rng.random(3)), [1, 2.5, True and 3], (0.5, 0.25, 1); x = rng.random(3); m = np.zeros(2, np.int64); big = [2**40, 3]
---
for t in range(4):
    x = np.cos(x) * np.array(k) + np.dot(v, x) * 0.1 + np.average(x, weights=k) + np.interp(x, np.sort(v), w)
    m = np.maximum(m, big) + np.asarray(big)
=== truth values, places, and a table, given whole
on, at, table = [True, False, True], [2, 0, 1], [[1.0, 2.0, 0.5], [0.5, 0.25, 1], [0.0, 1, 2]]; x = rng.random(3)
---
for t in range(4):
    x = np.take(x, at) + np.mean(on) * np.dot(table, x) / np.linalg.norm(np.matmul(table, x)) + table[0][1] * table[1][t % 3]
=== a list that is stored into, given whole
w = [0.5, 0.25, 0.75]; x = rng.random(3)
---
for t in range(5):
    w[t % 3] = float(np.sum(w)) / 3
    y = np.array(w)
    y[0] = t
    z = np.asarray(w, dtype=float)
    z[2] = t
    x = x * 0.5 + z + np.asarray(w) + y
=== lists that functions give whole, one of them has a name of its own for it
xs = [0.0, 0.5, 1.0]; w = (1.0, 2.5, 0.5); x = 0.3
def inner(x):
    w = x * 0.5
    return np.sin(w)
def outer(x):
    a = np.interp(x, xs, w) + inner(x)
    return a * 0.2
---
for t in range(5):
    x = 0.9 * x + 0.05 * outer(x) + xs[t % 3] * 0.1
=== lists in operations with arrays
w, lo = [1, 2], (0.25, 0.5); x = rng.random(2)
---
for t in range(5):
    x *= w
    x = np.where(lo < np.exp(x), x * 0.5, x) - 0.01 * (-x + w)
=== backpropagation through time, in dicts of a function
p = {"W": rng.normal(size=(3, 3)) * 0.3, "V": rng.normal(size=(2, 3))}; xs = rng.normal(size=(6, 3)); ys = rng.normal(size=(6, 2)); losses = []
def gradients(xs, ys, p):
    h, out, loss = {-1: np.zeros(3)}, {}, 0.0
    for t in range(len(xs)):
        h[t] = np.tanh(p["W"] @ h[t - 1] + xs[t])
        out[t] = p["V"] @ h[t]
        loss += np.sum((out[t] - ys[t]) ** 2)
    g = {k: np.zeros_like(v) for k, v in p.items()}
    back = np.zeros(3)
    for t in reversed(range(len(xs))):
        d = 2 * (out[t] - ys[t])
        g["V"] += np.outer(d, h[t])
        a = (1 - h[t] ** 2) * (p["V"].T @ d + back)
        g["W"] += np.outer(a, h[t - 1])
        back = p["W"].T @ a
    for k in g:
        np.clip(g[k], -5, 5, out=g[k])
    return loss, g
---
for it in range(8):
    loss, g = gradients(xs, ys, p)
    for k in p:
        p[k] -= 0.02 * g[k]
    losses.append(loss)
=== states in lists that a function makes and reads, from the second on
def path(A, x, n):
    states = {0: x}
    for t in range(1, n + 1):
        states[t] = np.sin(A @ states[t - 1]) + 0.1 * states[0]
    return states[n], states[n - 1]
A = rng.normal(size=(4, 4)); x = rng.normal(size=4)
---
for k in range(6):
    x, before = path(A, x, 5)
    A = A + 0.01 * np.outer(x, before)
=== lists of arrays that functions give, until what is kept no longer grows
def shares(X, centers):
    W = np.array([np.exp(-((X - c) ** 2).sum(axis=1)) for c in centers]).T
    return W / W.sum(axis=1, keepdims=True), np.log(W.sum(axis=1)).sum()
def moved(X, R):
    return [R[:, k] @ X / R[:, k].sum() for k in range(R.shape[1])]
X = rng.normal(size=(40, 2)); X[20:] += 2; centers = [np.zeros(2), np.ones(2), np.array([2.0, 0.5])]; old, trace = -np.inf, [1.0]
---
for it in range(60):
    R, ll = shares(X, centers)
    centers = moved(X, R)
    trace.append(ll)
    if abs(ll - old) < 1e-6:
        break
    old = ll
=== a filter's states in lists of a function, whose last one each turn reads
def forward(obs, A, B, start):
    alphas, scales = [], []
    a = start * B[:, obs[0]]
    for t in range(len(obs)):
        if t > 0:
            a = (alphas[-1] @ A) * B[:, obs[t]]
        c = a.sum()
        alphas.append(a / c)
        scales.append(c)
    return np.array(alphas), np.array(scales)
A = rng.dirichlet(np.ones(3), 3); B = rng.dirichlet(np.ones(4), 3); obs = rng.integers(0, 4, 12); start = np.ones(3) / 3; fits = []
---
for it in range(5):
    alpha, c = forward(obs, A, B, start)
    start = alpha.mean(axis=0)
    fits.append(np.log(c).sum())
=== a name that a loop inside is the first to bind
B = rng.normal(size=(6, 6)); M = B @ B.T; found = []
---
for k in range(3):
    v, last = np.ones(6), 0.0
    for it in range(200):
        w = M @ v
        size = np.linalg.norm(w)
        v = w / size
        if abs(size - last) < 1e-3:
            break
        last = size
    found.append(size)
    M = M - size * np.outer(v, v)
=== one value in several places, which has a name
A = np.eye(6); angles = rng.normal(size=30)
---
for k in range(30):
    p, c = k % 5, np.cos(angles[k])
    R = np.eye(6)
    R[p, p] = R[p + 1, p + 1] = c
    A = 0.5 * (A + R @ A)
=== rows that are compared with a tuple by its name
V = rng.random((5, 5)); goal = (4, 4)
---
for sweep in range(9):
    for i in range(5):
        for j in range(5):
            if (i, j) == goal:
                continue
            V[i, j] = 0.9 * max(V[min(i + 1, 4), j], V[i, min(j + 1, 4)]) - 0.01
=== numbers at the end of a range beyond which they overflow
rs = np.linspace(2.5, 4.0, 30); xs = []
---
for r in rs:
    x = 0.5
    for i in range(60):
        x = r * x * (1 - x)
    for i in range(5):
        x = r * x * (1 - x)
        xs.append(x)
=== the last two of a list that is empty at first, left where they are alike
x = rng.normal(size=6); A = rng.random((6, 6)); errors = []
---
for it in range(90):
    new = x - 0.05 * (A @ A.T @ x) - 0.1 * x
    errors.append(np.linalg.norm(new - x))
    x = new
    if it > 0 and abs(errors[-1] - errors[-2]) < 1e-3:
        break
=== a recurrence over the last three of a list, of which there are two
xs = [0.1, 0.3]; n = 0
---
for k in range(40):
    if k > 0:
        xs.append(0.5 * xs[-1] + 0.3 * xs[-2] - 0.2 * xs[-3])
    else:
        xs.append(0.5 * xs[-1] + 0.3 * xs[-2])
    n = len(xs)
=== living cells in a list, until there are none
b = (rng.random((9, 9)) < 0.4).astype(int); alive = []
---
for k in range(30):
    near = sum(np.roll(np.roll(b, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    b = ((near == 3) | ((b == 1) & (near == 2))).astype(int)
    alive.append(int(b.sum()))
    if alive[-1] == 0:
        break
=== columns that a list of whole numbers picks, of what a mask picks and of all, rows stored into
F = rng.random((4, 5, 3)); wall = np.zeros((4, 5), bool); wall[0] = True; back = [0, 2, 1]; x = rng.normal(size=(6, 5)); order = [3, 1, 0, 2, -1]; rows = [5, 4, 3]; total = np.zeros(5)
---
for it in range(12):
    F = np.roll(F, 1, axis=1)
    kept = F[wall, :][:, back]
    F = 0.9 * F + 0.1 * F.mean(axis=2)[:, :, None]
    F[wall, :] = kept
    x = 0.9 * x[:, order] + 0.1
    total += x[2, order]
    x[rows, 0] = total[0]
=== lists of arrays read from the end, and gone through in pairs, one of which is another list's too
xs = [rng.normal(size=3) for _ in range(9)]; Ps = [rng.normal(size=(3, 3)) for _ in range(9)]; s = np.zeros(3); later = [xs[-1]]; k = 0
---
for t in range(7, -1, -1):
    s = 0.5 * s + Ps[t] @ (xs[t + 1] - xs[t]) + 0.1 * Ps[-1][0]
    later.append(xs[t] + 0.3 * (later[-1] - s))
for x, P in zip(xs, Ps):
    s = s + 0.1 * P @ x
    k += 1
=== rows of a list of tuples taken apart, and lists of a turn in tuples that a list takes
grid = [(w, a, b) for w in (0.05, 0.1) for a in (0.05, 0.1) for b in (0.7, 0.8)]; r = rng.normal(size=8); found = []; states = []; u = r * 0.1
---
for w, a, b in grid:
    s2, risks = 1.0, []
    for t in range(len(r)):
        s2 = w + a * r[t] ** 2 + b * s2
        risks.append(s2)
    u = 0.5 * u + s2
    found.append((w * a, risks))
    states.append((s2, u))
=== arrays that turns make, store into and give to a list, or a dict
X = rng.normal(size=(20, 6)); y = X[:, 0] - X[:, 2]; seen = []
---
path = {}
for lam in [9.0, 3.0, 1.0]:
    beta = np.zeros(6)
    for sweep in range(4):
        for j in range(6):
            r = X[:, j] @ (y - X @ beta + X[:, j] * beta[j])
            beta[j] = np.sign(r) * max(abs(r) - lam, 0.0) / (X[:, j] @ X[:, j])
    seen.append(beta)
    path[lam] = 2 * beta
=== the last elements of a list that each turn makes, and of one that stays
theta0 = rng.uniform(0, 6, 9)
---
order = {}
for K in (0.3, 0.8, 1.5):
    theta, rs = theta0.copy(), []
    for n in range(30):
        theta = theta + 0.1 * K * np.sin(np.roll(theta, 1) - theta)
        rs.append(np.abs(np.exp(1j * theta).mean()))
    order[K] = np.mean(rs[-10:]) + max(rs[5:9]) - sum(rs[::7])
=== a list in a dict beside an object that is no dict or list of its own
import collections
x = 1.0; history = {"loss": []}; last = collections.deque(rng.random(2), maxlen=2)
---
for i in range(30):
    x = 0.9 * x + last[0]
    history["loss"].append(x)
=== places of neighbours in lists that are not all as long
n = 9; near = [[int(j) for j in rng.choice(n, k % 4 + 1, replace=False)] for k in range(n)]; x = rng.normal(size=n); P = rng.normal(size=(n, 2))
---
for sweep in range(12):
    new, Q = x.copy(), P.copy()
    for i, js in enumerate(near):
        new[i] = 0.5 * x[i] + 0.5 * np.mean(x[js]) + 0.1 * x[near[i][0]] * near[i][-1]
        Q[i] = P[i] + 0.3 * (P[near[i]].mean(axis=0) - P[i])
    x, P = new, Q
=== links under whole numbers in a dict
n = 12; links = {i: [int(j) for j in rng.choice(n, i % 3 + 1, replace=False)] for i in range(n)}; rank = np.ones(n) / n; places = []
---
for turn in range(60):
    new = np.full(n, 0.15 / n)
    for i in range(n):
        for j in links[i]:
            new[j] += 0.85 * rank[i] / len(links[i])
    delta = np.abs(new - rank).sum()
    rank = new
    places.append(j)
    if delta < 1e-9:
        break
=== sums and extremes over neighbours, some of whom there are none
n = 8; near = [list(range(k % 3)) for k in range(n)]; full = {k: (k, (k + 1) % n, 0)[: 2 + k % 2] for k in range(n)}; x = rng.random(n)
---
for turn in range(15):
    for k in range(n):
        x[k] = 0.5 * x[k] + sum(x[m] for m in near[k]) / (len(near[k]) + 1) + 0.1 * max(x[m] for m in full[k])
        x[k] = x[k] / 2 if any(x[m] > 1 for m in near[k]) else x[k]
=== shortest ways by edges and their lengths
n = 10; graph = [[(int(v), float(rng.uniform(1, 5))) for v in rng.choice(n, 1 + u % 3, replace=False)] for u in range(n)]; dist = [float("inf")] * n; dist[0] = 0.0
---
for sweep in range(n):
    changed = False
    for u in range(n):
        for v, w in graph[u]:
            if dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
                changed = True
    if not changed:
        break
""")
