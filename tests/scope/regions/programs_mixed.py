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
""")
