"""Small programs whose arrays have another size in each turn."""

from tests.scope.regions.programs import parsed


OF_SIZES = parsed("""
=== a Fourier transform whose sizes double
x = rng.normal(size=16) + 1j * rng.normal(size=16); n = 16; size = 2
---
while size <= n:
    half = size // 2
    step = np.exp(-2j * np.pi * np.arange(half) / size)
    for start in range(0, n, size):
        even = x[start:start + half].copy()
        odd = x[start + half:start + size] * step
        x[start:start + half] = even + odd
        x[start + half:start + size] = even - odd
    size *= 2
=== a sum by halves
x = rng.normal(size=32); turns = 0
---
while len(x) > 1:
    x = x[::2] + x[1::2]
    turns += 1
=== a Fourier transform by stages
x = rng.normal(size=16) + 0j; n = 16
---
for stage in range(1, 5):
    size = 2 ** stage
    half = size // 2
    w = np.exp(-2j * np.pi * np.arange(half) / size)
    x = x.reshape(-1, size)
    even, odd = x[:, :half], x[:, half:] * w
    x = np.concatenate([even + odd, even - odd], axis=1).ravel()
=== a pyramid of averages
img = rng.random((16, 16)); sums = 0.0; level = 0
---
while img.shape[0] > 1:
    img = 0.25 * (img[::2, ::2] + img[1::2, ::2] + img[::2, 1::2] + img[1::2, 1::2])
    sums = sums + img.max() * level
    level += 1
=== an option tree, a value for each strike
strikes = np.linspace(80, 120, 5); N = 12; S0, u, r = 100.0, 1.02, 0.001; d = 1 / u; q = (1 + r - d) / (u - d); prices = np.zeros(5)
---
for j in range(5):
    S = S0 * u ** np.arange(N, -N - 1, -2.0)
    V = np.maximum(strikes[j] - S, 0.0)
    for k in range(N):
        S = S[:-1] / u
        V = np.maximum((q * V[:-1] + (1 - q) * V[1:]) / (1 + r), strikes[j] - S)
    prices[j] = V[0]
=== the points of a curve by de Casteljau
P = rng.normal(size=(6, 2)); ts = np.linspace(0, 1, 7); out = np.zeros((7, 2))
---
for i, t in enumerate(ts):
    pts = P.copy()
    while len(pts) > 1:
        pts = (1 - t) * pts[:-1] + t * pts[1:]
    out[i] = pts[0]
=== differences of differences, their first elements kept
x = rng.normal(size=12); n = 12; firsts = np.zeros(8); firsts[0] = x[0]
---
for k in range(1, 8):
    x = x[1:] - x[:-1]
    firsts[k] = x[0]
=== three points at a time
x = rng.random(30)
---
for k in range(9):
    x = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
=== a part that is used up before the loop ends
x = rng.random(30); y = rng.random(25)
---
for k in range(33):
    x = x[1:] * 0.5
while y.size > 2:
    y = y[3:] + y[:-3]
=== a part that gets shorter, beside an array of its length
x = rng.random(30); w = rng.random(29)
---
for k in range(1):
    x = x[1:] * w
=== means of groups by counts of the nearest
X = rng.normal(size=(30, 2)); C = X[:4].copy(); K = 4
---
for _ in range(6):
    d = ((X[:, None, :] - C[None, :, :]) ** 2).sum(-1)
    lab = d.argmin(1)
    n = np.maximum(np.bincount(lab, minlength=4), 1)
    C = np.stack([np.bincount(lab, weights=X[:, k], minlength=K) / n for k in range(2)], axis=1)
=== votes of neighbours
X = rng.normal(size=(20, 2)); y = rng.integers(0, 3, 20); Q = rng.normal(size=(7, 2)); said = np.zeros(7, int)
---
for i in range(7):
    near = np.argsort(((X - Q[i]) ** 2).sum(1))[:5]
    said[i] = np.bincount(y[near]).argmax()
=== counts of words in each turn, whole numbers as weights
z = rng.integers(0, 5, size=40); w = rng.integers(0, 9, size=40); pi = np.ones(5) / 5; K = 5; s = 0.0
---
for t in range(6):
    n = np.bincount(z, w, minlength=K)
    pi = 0.5 * pi + 0.5 * n / n.sum()
    s = s + np.bincount((z + t) % 3, minlength=4)[2]
=== correlations at each lag
x = rng.normal(size=40); N = 40; acf = np.zeros(10); half = np.zeros(10); y = rng.normal(size=40)
---
for lag in range(10):
    acf[lag] = x[:N - lag] @ x[lag:]
    half[lag] = np.mean((x[:N - lag] - y[lag:]) ** 2)
=== Levinson's recursion
x = rng.normal(size=90); order = 8; acf = np.array([x[:90 - k] @ x[k:] for k in range(order + 1)]) / 90; a = np.zeros(order + 1); a[0] = 1.0; e = acf[0]; ks = np.zeros(order)
---
for m in range(1, order + 1):
    k = -(acf[m] + a[1:m] @ acf[m - 1:0:-1]) / e
    ks[m - 1] = k
    prev = a.copy()
    a[1:m] = prev[1:m] + k * prev[m - 1:0:-1]
    a[m] = k
    e = e * (1 - k * k)
=== a product of polynomials, place by place
p = rng.normal(size=9); q = rng.normal(size=9); c = np.zeros(9)
---
for k in range(9):
    c[k] = np.sum(p[:k + 1] * q[k::-1])
=== differences over more and more steps
x = np.cumsum(rng.normal(size=50)); far = np.zeros(12); n = 50
---
for k in range(1, 12):
    far[k] = np.sqrt(((x[k:] - x[:-k]) ** 2).mean())
=== powers of a series
f = rng.normal(size=8); g = np.zeros(8); g[0] = 1.0; n = 8
---
for k in range(1, 8):
    g[k] = (f[1:k + 1] * g[k - 1::-1]).sum() / k
=== regressions of what a mask picks
X = rng.normal(size=(30, 3)); y = X @ np.ones(3); group = rng.integers(0, 4, 30); W = np.zeros((4, 3)); res = np.zeros(4)
---
for g in range(4):
    mine = group == g
    A, b = X[mine].T @ X[mine], X[mine].T @ y[mine]
    W[g] = np.linalg.solve(A + 0.01 * np.eye(3), b)
    res[g] = ((y[mine] - X[mine] @ W[g]) ** 2).sum()
=== what a mask picks, in a loop inside a loop
X = rng.normal(size=(12, 3)); label = rng.integers(0, 3, 12); C = X[:3].copy(); spread = np.zeros((3, 3)); s = 0.0
---
for t in range(3):
    for k in range(3):
        mine = label == k
        part = X[mine]
        spread[k] = part.T @ part @ np.ones(3)
        s = s + part.sum()
    s = 0.5 * s
=== pairs beyond each one, in rows
x = rng.random((30, 3)); m = rng.random(30); pe = 0.0; far = np.zeros(30)
---
for i in range(29):
    d = x[i + 1:] - x[i]
    pe -= np.sum(m[i] * m[i + 1:] / np.sqrt(np.sum(d ** 2, axis=1) + 0.01))
    far[i] = np.linalg.norm(x[i + 1:] - x[i], axis=-1).max() + (d ** 2).sum(axis=1).min()
=== pairs beyond each one, in a function
x = rng.random((30, 3)); v = rng.random((30, 3)); m = rng.random(30); s = 0.0
def total(x, v):
    pe = 0.5 * np.sum(m[:, None] * v ** 2)
    for i in range(29):
        d = x[i + 1:] - x[i]
        pe -= np.sum(m[i] * m[i + 1:] / np.sqrt(np.sum(d ** 2, axis=1) + 0.01))
    return pe
---
for k in range(25):
    x = x * 1.01
    s = s + total(x, v)
=== a function that returns from a loop without an end
fields = rng.random((4, 9, 9)); reached = np.zeros(4, dtype=int)
def spread(sites):
    wet = np.zeros_like(sites)
    wet[0] = sites[0]
    count = wet.sum()
    while True:
        grown = wet.copy()
        grown[1:] |= wet[:-1]
        grown[:, 1:] |= wet[:, :-1]
        wet = grown & sites
        new = wet.sum()
        if new == count:
            return wet
        count = new
---
for i, f in enumerate(fields):
    reached[i] = spread(f < 0.7).sum()
=== all but one of a row, and all beside one of two
x = rng.random(25); y = np.arange(12).reshape(3, 4); scores = np.zeros(25); ends = np.zeros(11, dtype=int); order = rng.permutation(25)
---
for i in range(25):
    others = np.delete(x, i)
    scores[i] = np.log(np.exp(-(x[i] - others) ** 2).sum()) + np.delete(others, -1 - i % 3)[order[i] % 20]
    ends = ends + np.delete(y, order[i] % 12)
=== medians, quantiles and Python's sums of windows that end at edges, also where no number is in one
x = np.cumsum(rng.normal(size=30)); w = [float(v) for v in rng.random(30)]; y = np.zeros((30, 4)); z = x.copy(); z[12] = np.nan; m = 0.0
---
for i in range(len(x)):
    window = x[max(0, i - 4):i + 5]
    y[i, 0] = np.median(window)
    y[i, 1] = np.percentile(window, 25) + max(window)
    y[i, 2] = sum(w[max(0, i - 2):i + 1])
    y[i, 3] = np.median(z[max(0, i - 1):i + 2])
=== parts that are turned round, between ends that values decide, and beyond the end
tour = rng.permutation(12); x = rng.normal(size=12); s = 0.0
---
for i in range(1, 9):
    for j in range(i + 1, 11):
        if tour[i] > tour[j]:
            tour[i:j + 1] = tour[i:j + 1][::-1].copy()
        x[i:j] = x[i:j][::-1] * 0.9
        s += x[i:j + 5][::-1].max() + (x[:j][::-1] * x[:j]).sum()
=== elements in the order of memory
x = rng.random((6, 5)); counts = [0] * 4; total = 0.0
---
for v in np.nditer(x):
    counts[min(3, int(v * 4))] += 1
    total += v if v > 0.3 else 0.5
=== arrays in lists, read and stored into at places that loops count
words = [rng.integers(0, 7, size=n) for n in (4, 6, 3)]; z = [rng.random(4) for _ in range(3)]; rows = [rng.random(3) for _ in range(3)]; s = np.zeros(7)
---
for turn in range(5):
    for d in range(3):
        for n in range(len(words[d])):
            w, k = words[d][n], (n + turn) % 4
            z[d][k] += 0.1 * rows[d][k % 3]
            z[d][-1] = 0.5 * z[d][0]
            s[w] += z[d][k]
=== the least of rows that the loop makes, Python's infinity where none is less
limit = rng.random(); A = rng.random((3, 5)) + 1
---
for r in range(3):
    d = A[r] * (0.1 if limit > 0.63 else 10.0)
    best = np.inf
    for v in range(5):
        if d[v] < 5.0 and d[v] < best:
            best = d[v]
""")
