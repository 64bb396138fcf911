"""Programs that are compiled or traced again, one for each kind of cause, and what they become.

`#<-` marks the line that pays. UNIQUE is another number in each run, so that no program is known from elsewhere. What comes
after `# fixed` is the program as the words of the fix say; where it is missing, the edits of the fix make it.
"""

HEADER = """\
import functools
import jitscope as jax
import jitscope.numpy as jnp
import numpy as np
"""

PROGRAMS: dict[str, tuple[str, str]] = {
    "last batch": ("shape", """\
f = jax.jit(lambda b: (b * UNIQUE).sum())
x = jnp.ones(81)
for start in range(0, 81, 32):
    f(x[start : start + 32])  #<-
# fixed
f = jax.jit(lambda b: (b * UNIQUE).sum())
x = jnp.ones(81)
for start in range(0, 81, 32):
    batch = x[start : start + 32]
    f(jnp.pad(batch, (0, 32 - batch.shape[0])))
"""),
    "growing, few sizes": ("shape", """\
@jax.jit
def scores(xs):
    return jax.vmap(lambda x: jnp.tanh(x).sum() * UNIQUE)(xs)
xs = jnp.ones((1, 2))
for _ in range(3):
    scores(xs)  #<-
    xs = jnp.concatenate([xs, xs[:1]])
"""),
    "growing": ("shape", """\
f = jax.jit(lambda b: (b * UNIQUE).sum())
for n in range(1, 10):
    f(jnp.ones(n))  #<-
# fixed
f = jax.jit(lambda b: (b * UNIQUE).sum())
for n in range(1, 10):
    f(jnp.pad(jnp.ones(n), (0, (1 << (n - 1).bit_length()) - n)))
"""),
    "ragged in two arguments": ("shape", """\
f = jax.jit(lambda a, b: a * UNIQUE + b)
for n in (5, 3, 9, 4, 7):
    f(jnp.ones((2, n)), jnp.zeros(n))  #<-
"""),
    "last batch, row by row": ("shape", """\
f = jax.jit(lambda w, x: jax.nn.softmax(jnp.tanh(x @ w) * UNIQUE))
data = jnp.ones((10, 2))
for start in range(0, 10, 4):
    y = f(jnp.ones((2, 3)), data[start : start + 4])  #<-
"""),
    "typed keys and their bits": ("dtype", """\
f = jax.jit(lambda keys: jax.vmap(lambda key: jax.random.normal(key, (3,)))(keys) * UNIQUE)
f(jax.random.split(jax.random.PRNGKey(0), 4))
f(jax.random.split(jax.random.key(0), 4))  #<-
# fixed
f = jax.jit(lambda keys: jax.vmap(lambda key: jax.random.normal(key, (3,)))(keys) * UNIQUE)
f(jax.random.split(jax.random.key(0), 4))
f(jax.random.split(jax.random.key(0), 4))
"""),
    "dtype": ("dtype", """\
f = jax.jit(lambda x: x * UNIQUE)
f(jnp.ones(3))
f(jnp.array([1, 2, 3]))  #<-
"""),
    "weak type": ("weak type", """\
f = jax.jit(lambda x: x * jnp.float32(UNIQUE))
x = 1.0
for _ in range(3):
    x = f(x)  #<-
"""),
    "static number": ("static value", """\
f = jax.jit(lambda x, lr: x * lr + UNIQUE, static_argnames="lr")
for k in range(4):
    f(jnp.ones(3), lr=0.1 * k)  #<-
"""),
    "static number of a decorated function": ("static value", """\
@functools.partial(jax.jit, static_argnums=(1, 2))
def scaled(x, by, power):
    return (x * by + UNIQUE) ** power

for by in (1.5, 2.5):
    scaled(jnp.ones(3), by, 2)  #<-
"""),
    "static object": ("static object", """\
class Config:
    def __init__(self, n):
        self.n = n

f = jax.jit(lambda cfg, x: x * cfg.n + UNIQUE, static_argnums=0)
for _ in range(3):
    f(Config(3), jnp.ones(3))  #<-
"""),
    "growing list": ("tree structure", """\
f = jax.jit(lambda t: sum(t) * UNIQUE)
trajectory = []
for i in range(4):
    trajectory.append(jnp.ones(3))
    f(trajectory)  #<-
# fixed
f = jax.jit(lambda t: t.sum(0) * UNIQUE)
trajectory = jnp.zeros((4, 3))
for i in range(4):
    trajectory = trajectory.at[i].set(jnp.ones(3))
    f(trajectory)
"""),
    "None against array": ("none", """\
f = jax.jit(lambda x, mask: x * UNIQUE if mask is None else x * mask)
f(jnp.ones(3), None)
f(jnp.ones(3), jnp.ones(3))  #<-
# fixed
f = jax.jit(lambda x, mask: x * mask * UNIQUE)
f(jnp.ones(3), jnp.ones(3))
f(jnp.ones(3), jnp.ones(3))
"""),
    "None where ones change nothing": ("none", """\
f = jax.jit(lambda x, mask: x.mean() * UNIQUE if mask is None else (x * mask).sum() / mask.sum() * UNIQUE)
for mask in (None, jnp.ones(3)):
    f(jnp.arange(3.0), mask)  #<-
"""),
    "a key that is not read": ("tree structure", """\
f = jax.jit(lambda s: s["a"] * UNIQUE)
f({"a": jnp.ones(3)})
f({"a": jnp.ones(3), "b": jnp.ones(2)})  #<-
"""),
    "a list for a tuple": ("tree structure", """\
f = jax.jit(lambda t: t[0] * UNIQUE + t[1])
f((jnp.ones(3), jnp.ones(3)))
f([jnp.ones(3), jnp.ones(3)])  #<-
"""),
    "call form": ("call form", """\
def shifted(x, by):
    return x * UNIQUE + by

f = jax.jit(shifted)
f(jnp.ones(3), jnp.ones(3))
f(jnp.ones(3), by=jnp.ones(3))  #<-
"""),
    "lambda in a loop": ("function", """\
for _ in range(4):
    y = jax.jit(lambda x: x * UNIQUE)(jnp.ones(3))  #<-
"""),
    "jit in a loop": ("function", """\
def step(x):
    return x * UNIQUE

for _ in range(4):
    fast = jax.jit(functools.partial(step))
    y = fast(jnp.ones(3))  #<-
"""),
    "nested def in a function": ("function", """\
def norm(v):
    @jax.jit
    def inner(x):
        return x * UNIQUE
    return inner(v)  #<-

for _ in range(4):
    norm(jnp.ones(3))
"""),
    "factory": ("function", """\
def make(k):
    return jax.jit(lambda x: x * k + UNIQUE)

for _ in range(4):
    y = make(2.0)(jnp.ones(3))  #<-
"""),
    "captured number": ("closure", """\
for k in range(4):
    f = jax.jit(lambda x: x * k + UNIQUE)
    y = f(jnp.ones(3))  #<-
"""),
    "captured number of a nested def": ("closure", """\
def train(rates):
    total = jnp.zeros(3)
    for rate in rates:
        @jax.jit
        def step(x):
            return x * rate + UNIQUE
        total = step(total)  #<-
    return total

train([0.1, 0.2, 0.3])
"""),
    "captured default": ("closure", """\
for k in range(4):
    y = jax.jit(lambda x, k=k: x * k + UNIQUE)(jnp.ones(3))  #<-
"""),
    "donation": ("donation", """\
def moved(x):
    return x * UNIQUE

jax.jit(moved)(jnp.ones(3))
jax.jit(moved, donate_argnums=0)(jnp.ones(3))  #<-
"""),
    "precision": ("option", """\
f = jax.jit(lambda x, y: x @ y * UNIQUE)
x = jnp.ones((3, 3))
f(x, x)
with jax.default_matmul_precision("highest"):
    f(x, x)  #<-
# fixed
f = jax.jit(lambda x, y: x @ y * UNIQUE)
x = jnp.ones((3, 3))
with jax.default_matmul_precision("highest"):
    f(x, x)
    f(x, x)
"""),
    "x64": ("x64", """\
f = jax.jit(lambda x: x * UNIQUE)
x = jnp.ones(3)
f(x)
with jax.enable_x64():
    f(x)  #<-
# fixed
f = jax.jit(lambda x: x * UNIQUE)
x = jnp.ones(3)
with jax.enable_x64():
    f(x)
    f(x)
"""),
    "cleared caches": ("cache", """\
f = jax.jit(lambda x: x * UNIQUE)
f(jnp.ones(3))
jax.clear_caches()
f(jnp.ones(3))  #<-
# fixed
f = jax.jit(lambda x: x * UNIQUE)
f(jnp.ones(3))
f(jnp.ones(3))
"""),
    "last batch of a loader, in a comprehension": ("shape", """\
class Loader:
    def __init__(self, data, size): self.data, self.size = data, size
    def __iter__(self):
        for i in range(0, len(self.data), self.size):
            yield self.data[i:i + self.size]
predict = jax.jit(lambda w, x: jax.nn.sigmoid(x @ w + UNIQUE))
w = jnp.ones(3)
scores = [predict(w, batch) for batch in Loader(jnp.ones((10, 3)), 4)]  #<-
"""),
    "dtype of tables of NumPy's": ("dtype", """\
@jax.jit
def standard(x): return (x - x.mean()) / (x.std() + UNIQUE)
for table in (np.ones(3, np.float32), np.arange(3)):
    standard(table)  #<-
"""),
    "weak start of an average": ("weak type", """\
ema = jax.jit(lambda m, x: 0.9 * m + x * UNIQUE)
m = 0.0
for x in np.ones(3, np.float32):
    m = ema(m, x)  #<-
"""),
    "static rate beside a static count": ("static value", """\
@functools.partial(jax.jit, static_argnames=("rate", "n"))
def dropout(x, rate, n): return x * (1 - rate) * UNIQUE + n
for epoch in range(3):
    dropout(jnp.ones(2), rate=0.1 * epoch, n=2)  #<-
"""),
    "static object that is called": ("static object", """\
class Kernel:
    def __init__(self, width): self.width = width
    def __call__(self, r): return jnp.exp(-r / self.width)
gram = jax.jit(lambda r, kernel: kernel(r) * UNIQUE, static_argnames="kernel")
for _ in range(3):
    gram(jnp.ones(2), kernel=Kernel(2.0))  #<-
"""),
    "static data of a class": ("tree structure", """\
@functools.partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["rate"])
class Step:
    def __init__(self, w, rate):
        self.w, self.rate = w, rate
f = jax.jit(lambda step: step.w * step.rate * UNIQUE)
for i in range(4):
    f(Step(jnp.ones(3), 0.5**i))  #<-
# fixed
@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "rate"], meta_fields=[])
class Step:
    def __init__(self, w, rate):
        self.w, self.rate = w, rate
f = jax.jit(lambda step: step.w * step.rate * UNIQUE)
for i in range(4):
    f(Step(jnp.ones(3), 0.5**i))
"""),
    "argument of a partial": ("closure", """\
def scaled(scale, x):
    return x * scale * UNIQUE
for i in range(4):
    g = jax.jit(functools.partial(scaled, i * 1.0))
    g(jnp.ones(3))  #<-
# fixed
def scaled(scale, x):
    return x * scale * UNIQUE
g = jax.jit(scaled)
for i in range(4):
    g(i * 1.0, jnp.ones(3))
"""),
    "none for a bias": ("none", """\
@jax.jit
def score(q, bias=None):
    return q * UNIQUE if bias is None else q * UNIQUE + bias
score(jnp.ones(3), None)
score(jnp.ones(3), jnp.ones(3))  #<-
"""),
    "lambda in a method": ("function", """\
class Trainer:
    def step(self, w):
        return jax.jit(lambda v: v * UNIQUE)(w)  #<-
t = Trainer()
w = jnp.ones(2)
for _ in range(3):
    w = t.step(w)
"""),
    "value_and_grad in a loop": ("function", """\
def loss(w): return (w ** 2).sum() * UNIQUE
w = jnp.ones(2)
for _ in range(3):
    v, g = jax.jit(jax.value_and_grad(loss))(w)  #<-
"""),
    "closure of a nested function in a loop": ("closure", """\
def train(lr):
    @jax.jit
    def step(w): return w - lr * w * UNIQUE
    return step(jnp.ones(2))  #<-
for lr in (0.1, 0.2, 0.3):
    train(lr)
"""),
}  # fmt: skip

QUIET: dict[str, str] = {
    "functions beside each other": """\
def make(k):
    return jax.jit(lambda x: x * k + UNIQUE)

double, triple = make(2.0), make(3.0)
for _ in range(3):
    double(jnp.ones(3)), triple(jnp.ones(3))
""",
    "two classes": """\
class First:
    @functools.partial(jax.jit, static_argnums=0)
    def forward(self, x):
        return x * UNIQUE

class Second:
    @functools.partial(jax.jit, static_argnums=0)
    def forward(self, x):
        return x + UNIQUE

first, second = First(), Second()
for _ in range(3):
    first.forward(jnp.ones(3)), second.forward(jnp.ones(3))
""",
    "the library's own functions": """\
for n in range(2, 6):
    x = jnp.ones(n) * UNIQUE
    jnp.sum(x), jnp.linalg.norm(x), jax.nn.softmax(x), jnp.interp(x, x, x)
    jax.grad(lambda x: (x**2).sum())(x)
    jax.random.normal(jax.random.key(0), (n,))
""",
    "values alone": """\
f = jax.jit(lambda x, n: x * n * UNIQUE, static_argnums=1)
for i in range(4):
    f(jnp.ones(3) * i, 2)
""",
}
