"""Small programs that have no compiled form, each with the word of the cut that has to be found, and its line in the cell."""

from tests.scope.regions.programs import parsed


CUT = parsed("""
=== a draw in each turn, and one that a value decides about -> random @ 4
x = 0.0; new = 1.0
---
for i in range(20):
    new = 0.9 * new + 0.1 * rng.normal()
    k = rng.integers(3)
    if new < x or rng.random() < 0.3:
        x = new + k
=== a comparison of averages that begin equal -> differences
price = 100 * np.exp(np.cumsum(0.01 * rng.normal(size=3000))); cash, shares = 1000.0, 0.0; fast = slow = price[0]
---
for p in price:
    fast = 0.9 * fast + 0.1 * p
    slow = 0.98 * slow + 0.02 * p
    if fast > slow and shares == 0:
        cash, shares = 0.0, cash / p
    elif fast < slow and shares > 0:
        cash, shares = 0.999 * shares * p, 0.0
=== draws that a value decides about -> random @ 2
s = 0.0
---
for i in range(5):
    s = s + rng.normal() if s < 1 else s
=== a loop that has no turn when it is watched -> object @ 1
n = 0; s = 1.0
---
for i in range(n):
    s = s + 0.5 * i
=== draws in a branch -> random @ 4
import random
s = 0.0
---
for i in range(5):
    s = s + 0.5
    if s > 1:
        s = s - random.random()
=== draws until a value is reached -> random @ 2
s = 0.0
---
for i in range(50):
    s = s + np.random.randn()
    if s > 3:
        break
=== a draw from what the loop changes -> random @ 2
s = 1.0
---
for i in range(5):
    s = s + rng.poisson(s)
=== a draw of a second part of a test -> random @ 3
x = 0.0; new = 1.0
---
for i in range(20):
    new = new * 0.9
    if new < x or rng.random() < 0.3:
        x = new
=== prints -> input or output @ 3
s = np.zeros(3)
---
for i in range(3):
    s = s + 1
    print(s)
=== draws seldom -> random @ 4
s = np.zeros(3)
---
for i in range(30):
    s = s + 1
    if i % 10 == 0:
        s = s + rng.normal()
=== prints where a value says so -> input or output @ 4
s = np.zeros(3)
---
for i in range(30):
    s = s + 1
    if s.sum() > 80:
        print(s.sum())
=== prints all digits of what is rounded otherwise -> input or output
x = rng.normal(size=300)
---
for i in range(90):
    x = np.sin(x) + 0.1 * np.roll(x, 1)
    if i % 30 == 29:
        print(repr(float(np.sum(x * np.exp(x)))))
=== writes a file seldom -> input or output @ 4
import os
s = np.zeros(3)
---
for i in range(30):
    s = s + 1
    if i % 10 == 0:
        with open(os.devnull, "w") as f:
            f.write(str(s))
=== time -> time @ 2
import time
s = 0.0
---
for i in range(3):
    s = s + 0 * time.perf_counter()
=== grows a dict -> object @ 2
seen = {}
---
for i in range(9):
    seen[i % 3] = seen.get(i % 3, 0) + 1
=== whole numbers without a bound -> object @ 2
p, q = 1, 1
---
for k in range(200):
    p, q = q, p + q
=== a factorial -> object @ 2
f = 1
---
for k in range(1, 60):
    f = f * k
=== a list that is repeated, not multiplied -> object @ 1
w = [1, 2]; k = 2; s = 0; x = rng.random(2)
---
for t in range(6):
    s = s + len(w * k)
    x = x * w * 0.5
=== exceptions as control flow -> exception @ 2
x = np.ones(3); n = 0
---
for k in range(9):
    try:
        x[k] = 2
    except IndexError:
        n += 1
=== a loop in a try -> exception @ 1
class Found(Exception): pass
def check(v):
    if v > 9: raise Found
    return v
x = np.ones(3); s = 0.0
---
try:
    for v in x:
        s += check(v)
except Found:
    s = -1.0
=== an assertion -> exception @ 2
x = np.ones(3)
---
for k in range(9):
    assert x.sum() > 0
    x = x * 0.5
=== an array of objects -> object @ 1
x = np.array([1, 2 ** 80], dtype=object)
---
for k in range(3):
    x = x + 1
=== a second name inside -> effect @ 2
x = np.zeros(10)
---
for k in range(9):
    y = x
    y[k] = k * 2.0
=== a row that is read after a store into it -> effect @ 2
x = rng.normal(size=(9, 3))
---
for k in range(8):
    row = x[k]
    x[k] = x[k] * 0.5
    x[k + 1] = x[k + 1] + row
=== a row that another row is stored over -> effect @ 2
x = rng.normal(size=(9, 3)); where = np.array([0, 1, 2, 3, 4, 5, 6, 7])
---
for k in where:
    row = x[k]
    x[where[k]] = 0.0
    x[8] = x[8] + row
=== a remainder of what has no bound -> object @ 2
h = 7
---
for k in range(60):
    h = (h * 6364136223846793005 + 1) % 2 ** 61
=== the old one is the new one -> effect @ 2
x = rng.normal(size=10); old = x.copy()
---
for k in range(9):
    old = x
    x += 0.5
=== the same array in a list -> object @ 3
x = np.zeros(4); kept = []
---
for k in range(9):
    x += 1
    kept.append(x)
=== an exception before anything else -> exception @ 2
dets = []; bad = 0; mats = rng.normal(size=(5, 2, 2))
---
for m in mats:
    try:
        dets.append(np.linalg.inv(m)[0, 0])
    except np.linalg.LinAlgError:
        bad += 1
        dets.append(0.0)
=== a method that prints -> input or output @ 2
class Talker:
    def __init__(self): self.x = np.zeros(2)
    def step(self):
        self.x = self.x + 1
        print(self.x.sum())
w = Talker()
---
for k in range(3):
    w.step()
=== a method that reads the list it keeps -> object
class Walker:
    def __init__(self): self.x, self.path = 0.0, [1.0]
    def step(self):
        self.x = self.path[-1] * 0.5 + 1
        self.path.append(self.x)
w = Walker()
---
for k in range(9):
    w.step()
=== one array in two objects -> effect
class Layer:
    def __init__(self, w): self.w = w
shared = rng.normal(size=3); a, b = Layer(shared), Layer(shared)
---
for k in range(9):
    a.w -= 0.1 * b.w
=== a function that reads what the loop binds -> effect
import jitscope, jitscope.numpy as jnp
w = jnp.ones(3)
def penalty(v): return jnp.sum((v - w) ** 2)
---
for k in range(5):
    g = jitscope.grad(penalty)(jnp.zeros(3))
    w = w - 0.1 * g
=== an iterator that is used up -> effect @ 2
steps = iter([1.0, 2.0, 3.0]); s = 0.0
---
s0 = 1
for k in steps:
    s = s + k
=== a generator that is left before its end -> effect @ 2
def steps():
    for k in range(5):
        yield k
s = 0.0
---
s0 = 1
for k in steps():
    s = s + k
    if s > 4:
        break
=== a function that keeps something -> effect @ 2
calls = []
def f(x):
    calls.append(1)
    return x * 2
y = np.ones(3)
---
for k in range(5):
    y = f(y)
=== one array given twice to a function that stores into it -> effect @ 2
def smooth(to, of):
    for i in range(1, 9):
        to[i] = of[i - 1] + of[i + 1]
    return to
u = rng.normal(size=10)
---
for k in range(5):
    u = smooth(u, u)
=== what a function hands back under another name -> effect @ 2
def halved(a):
    a *= 0.5
    return a
u = rng.normal(size=10); v = u; s = 0.0
---
for k in range(5):
    v = halved(u)
    v[0] = 1.0
=== a list that takes the array of before under its other name -> effect @ 2
x0 = rng.normal(size=5); hist = []; x = x0
---
for k in range(9):
    hist.append(x)
    x = np.sin(x) + 0.1 * x
=== a list that takes arrays of another list -> effect @ 3
mean = np.zeros(4)
---
for k in range(9):
    pop = [mean + 0.1 * j for j in range(6)]
    elite = [pop[i] for i in np.argsort([(p ** 2).sum() for p in pop])[:2]]
    mean = np.mean(elite, axis=0)
=== a function that keeps an array that is stored into -> object @ 2
def reader(u):
    def f(i): return u[i - 1] * 0.5
    return f
u = rng.random(9); f = reader(u)
---
for k in range(1, 9):
    u[k] = f(k) + 1
=== makes text -> value read by Python @ 2
x = np.array([3.0, 1.0]); name = ""
---
for k in range(3):
    name = f"{x[0]}"
=== another library -> other library @ 3
import fractions
s = 0
---
s1 = 1
for k in range(5):
    s = fractions.Fraction(1, 3)
=== shapes of values -> shape
x = rng.normal(size=30); n = 0.0
---
for k in range(5):
    n = n + np.sort(x[x > 0])[0]
=== growing slices that are sorted -> shape @ 2
x = rng.normal(size=30); out = np.zeros(30)
---
for k in range(1, 30):
    out[k] = np.sort(x[:k])[k // 2]
=== an array that grows -> shape
x = np.zeros(1)
---
for k in range(29):
    x = np.append(x, k * 1.0)
=== a file -> input or output @ 2
import os
lines = 0
---
for k in range(2):
    with open(os.devnull, "w") as f:
        f.write("a")
=== chaos -> differences
x = rng.random(100)
---
for k in range(300):
    x = 0.999 * np.sin(np.pi * x) * np.exp(-x + 0.4)
=== warns -> effect
x = np.array([1.0, 0.0])
---
for k in range(3):
    y = x / np.array([1.0, 0.0])
=== nothing, or a number where a value says so -> object @ 1
x = rng.random(20); x[:2] = 0.0; found = None
---
for i in range(20):
    if x[i] > 0.5:
        found = x[i]
=== a deque that a method appends to -> object @ 1
from collections import deque
class Track:
    def __init__(self):
        self.x, self.last = np.ones(3), deque([0.0], maxlen=5)
    def step(self):
        self.x = 0.9 * self.x
        self.last.append(1.0)
t = Track()
---
for i in range(20):
    t.step()
=== a sum in a dict of a class of its own -> object @ 1
from collections import defaultdict
class Net:
    def __init__(self):
        self.w, self.sums = np.ones(3), defaultdict(float)
    def step(self):
        self.w = 0.9 * self.w
        self.sums["n"] += 1.0
net = Net(); net.step()
---
for i in range(20):
    net.step()
=== a class that is a list -> object @ 1
class Stack(list):
    def push(self, v):
        self.append(v)
class Net:
    def __init__(self):
        self.w, self.stack = np.ones(3), Stack()
    def step(self):
        self.w = self.w * 0.99
        self.stack.push(0.5)
net = Net()
---
for i in range(20):
    net.step()
=== draws in a function of another cell -> random @ 2
def walk(rng, n):
    for k in range(n):
        n = rng.binomial(5, 0.5) + n * 0
    return n
---
for i in range(20):
    x = walk(rng, 3)
=== objects are made -> object @ 2
class P:
    def __init__(self, v): self.v = v
---
for i in range(20):
    p = P(np.ones(3))
    x = p.v * 2
=== a view of a row under a branch -> effect
a = rng.random((20, 3)); row = a[0]; s = np.zeros(3)
---
for i in range(20):
    if s[0] < a[i, 0] + 2:
        row = a[i]
    s = s + row
=== ways to give change in a list, whose numbers have no bound -> object @ 3
ways = [1] + [0] * 30
---
for c in (1, 5, 10):
    for v in range(c, 31):
        ways[v] += ways[v - c]
=== a row of a table that has a name of its own -> object
L = [[0.0] * 6 for _ in range(5)]; row = L[2]
---
for t in range(9):
    for i in range(1, 5):
        for j in range(6):
            L[i][j] = L[i - 1][j] + row[j] + 1.0
=== the same row many times -> object
L = [[0.0] * 6] * 5
---
for t in range(9):
    for i in range(1, 5):
        for j in range(6):
            L[i][j] = L[i - 1][j] * 0.5 + 1.0
=== elements of a large dict by the count of a loop -> object @ 2
kept = {k: np.full(3, float(k)) for k in range(90)}; total = np.zeros(3)
---
for k in range(90):
    total = total + kept[k]
=== a dict that remembers -> object @ 9
known = {1: 1}; longest = 0
---
for n in range(2, 40):
    m, way = n, []
    while m not in known:
        way.append(m)
        m = 3 * m + 1 if m % 2 else m // 2
    steps = known[m]
    for v in reversed(way):
        steps += 1
        known[v] = steps
    if known[n] > longest:
        longest = known[n]
=== a queue -> object @ 4
from collections import deque
queue = deque([0]); reached = np.zeros(30)
---
while queue:
    v = queue.popleft()
    if v < 20:
        queue.append(v + 1)
    reached[v] = 1.0
=== a derivative of a function that counts its calls -> effect @ 2
import jitscope, jitscope.numpy as jnp
calls = 0
def f(x):
    global calls
    calls += 1
    return jnp.sum(x ** 2)
slope = jitscope.grad(f); x = jnp.ones(3)
---
for i in range(20):
    x = x - 0.1 * slope(x)
=== Pascal's triangle, whole numbers that grow -> object @ 2
start = 1
---
for n in range(6):
    row = [1]
    for k in range(5):
        row.append(row[-1] * (n - k) // (k + 1))
    total = row[-1]
=== a list of arrays that are stored into later -> object @ 4
u = rng.random(4); s = 0.0
---
for t in range(4):
    kept = []
    for k in range(3):
        kept.append(u)
        u[k] = u[k] * 0.5 + 1
    s = s + np.sum(kept)
=== two names of one list -> effect @ 3
s = 0.0
---
for t in range(4):
    a = [0.0] * 5
    b = a
    for k in range(5):
        a[k] = k * 0.5 + t
    s = s + b[3]
=== a row that is changed after it was kept -> object
rows = []
---
for i in range(4):
    row = [0.0] * 3
    rows.append(row)
    row[1] = i * 0.5
=== sizes that a value decides -> shape
x = rng.random(16); k = 8
---
for t in range(3):
    k = k - int(x[0] > 2)
    x = x[:k] * 0.5
=== a part that gets shorter and is summed up -> shape @ 2
x = rng.random(30); s = 0.0
---
for k in range(25):
    x = x[1:] * 0.5
    s = s + x.sum()
=== counts of what values decide -> shape @ 3
x = rng.random(40); s = 0.0
---
for t in range(6):
    x = 3.7 * x * (1 - x)
    s = s + np.bincount((x * 10).astype(int)).max()
=== a function that reads a global, beside a variable of the same name -> object @ 4
scale = 0.5
def f(y): return y * scale
---
def run(n):
    scale, x = 0.25, np.ones(5)
    for k in range(n):
        x = np.sin(x) * scale + f(x) + 0.1
    return x
out = run(50)
=== a function that reads what changes, and is handed on -> object @ 2
x = rng.random(5)
def f(y): return y * x.mean()
def twice(g, y): return g(g(y))
---
for k in range(20):
    x = x + 0.1 * twice(f, x)
=== a store under a branch, among arrays of both kinds -> effect @ 1
import jitscope.numpy as jnp
pts = rng.normal(size=(30, 2)).astype(np.float32)
centers = pts[:3].copy(); labels = np.arange(30) % 3
---
for it in range(6):
    d = jnp.sum((jnp.asarray(pts)[:, None, :] - centers[None]) ** 2, axis=-1)
    lab = np.asarray(jnp.argmin(d, axis=1))
    for k in range(3):
        mask = lab == k
        if mask.any():
            centers[k] = pts[mask].mean(axis=0)
=== a list that takes rows, which are views -> effect @ 3
X = rng.normal(size=(12, 3)); s = 0.0; kept = []
---
for row in X:
    s = s + row.sum()
    kept.append(row)
=== parts in a comprehension, which are views -> effect @ 1
X = rng.normal(size=(12, 4))
---
parts = [X[i].reshape(2, 2) for i in range(12)]
=== a comparison of averages that begin equal, in a loop of a function -> differences
price = 100 * np.exp(np.cumsum(0.01 * rng.normal(size=3000)))
---
def cross(price, a, b):
    fast = slow = price[0]
    held, cash = 0, 0.0
    for p in price:
        fast = (1 - a) * fast + a * p
        slow = (1 - b) * slow + b * p
        if fast > slow and held == 0:
            held, cash = 1, cash - p
        elif fast < slow and held == 1:
            held, cash = 0, cash + p
    return cash
cash = cross(price, 0.1, 0.02)
=== the same in a function that a loop calls, and that keeps its numbers -> differences @ 1
price = 100 * np.exp(np.cumsum(0.01 * rng.normal(size=3000))); fast = slow = price[0]; held = np.zeros(3000)
def made(a, b):
    def decide(fast, slow, p):
        fast = (1 - a) * fast + a * p
        slow = (1 - b) * slow + b * p
        return fast, slow, 1.0 if fast > slow else 0.0
    return decide
decide = made(0.1, 0.02)
---
for i in range(3000):
    fast, slow, held[i] = decide(fast, slow, price[i])
=== a count that is read beside the call that counts -> effect
calls = 0; x = 0.1
def f(v):
    global calls
    if v > 100:
        calls += 1
    return 0.5 * v + 1
---
for k in range(30):
    x = calls + f(x)
""")
