"""Programs that recompile, and whether an edit spares it: `out` must be what it was. UNIQUE is another number in each run.

True: an edit is offered; False: none may be, since the likely one gives something else, raises, or saves nothing.
"""

PROGRAMS: dict[str, tuple[bool, str]] = {
    "a key that is None, in one loop": (True, """\
@jax.jit
def update(params, x):
    y = x @ params["w"] * UNIQUE
    if params.get("b") is not None:
        y = y + params["b"]
    return y.sum()
params = {"w": jnp.ones((4, 3)), "b": None}
for i in range(4):
    if i == 2:
        params = {"w": params["w"], "b": jnp.array([100.0, 100.0, 100.0])}
    out.append(update(params, jnp.ones((5, 4))))
"""),
    "a key that is missing": (True, """\
f = jax.jit(lambda s: s["a"] * UNIQUE + (s["b"] if "b" in s else 0))
state = {"a": jnp.ones(3)}
for i in range(3):
    out.append(f(state))
    state = {**state, "b": jnp.full(3, 5.0)}
"""),
    "a key that is missing in a display": (True, """\
f = jax.jit(lambda s: s["a"] * UNIQUE + (s["b"] if "b" in s else 0))
more = {"a": jnp.ones(3), "b": jnp.full(3, 7.0)}
out.append(f({"a": jnp.ones(3)}))
out.append(f({**more}))
"""),
    "None by name, else an array": (True, """\
@jax.jit
def f(x, bias=None):
    return x * UNIQUE if bias is None else x * UNIQUE + bias
for bias in (None, jnp.full(3, 2.0)):
    out.append(f(jnp.ones(3), bias=bias))
"""),
    "None that is left out, else an array": (True, """\
@jax.jit
def f(x, bias=None):
    return x * UNIQUE if bias is None else x * UNIQUE + bias
out.append(f(jnp.ones(3)))
out.append(f(jnp.ones(3), jnp.full(3, 2.0)))
"""),
    "None that is left out, else an array by name": (True, """\
@jax.jit
def f(x, bias=None):
    return x * UNIQUE if bias is None else x * UNIQUE + bias
out.append(f(jnp.ones(3)))
out.append(f(jnp.ones(3), bias=jnp.full(3, 2.0)))
"""),
    "None that neither zeros nor ones stand for": (False, """\
f = jax.jit(lambda x, p: jnp.exp(x) * UNIQUE if p is None else x**p)
for p in (None, jnp.full(3, 2.0)):
    out.append(f(jnp.arange(3.0), p))
"""),
    "a list, then a tuple": (True, """\
f = jax.jit(lambda t: t[0] * UNIQUE - t[1])
out.append(f((jnp.ones(3), jnp.zeros(3))))
out.append(f([jnp.ones(3), jnp.arange(3.0)]))
"""),
    "a list, then a tuple, asked for by type": (False, """\
f = jax.jit(lambda t: t[0] * UNIQUE if isinstance(t, list) else t[1])
out.append(f((jnp.ones(3), jnp.zeros(3))))
out.append(f([jnp.ones(3), jnp.arange(3.0)]))
"""),
    "integers where floats were": (True, """\
f = jax.jit(lambda x: x / UNIQUE)
for x in (jnp.ones(3), jnp.arange(3)):
    out.append(f(x))
"""),
    "integers whose result stays one": (False, """\
f = jax.jit(lambda x: x + x.shape[0])
for x in (jnp.ones(3) * UNIQUE, jnp.arange(3)):
    out.append(f(x))
"""),
    "a dtype that is asked for": (False, """\
f = jax.jit(lambda x: x * UNIQUE if x.dtype == jnp.int32 else x - UNIQUE)
for x in (jnp.ones(3), jnp.arange(3)):
    out.append(f(x))
"""),
    "a weak scalar, then an array": (True, """\
f = jax.jit(lambda m, x: 0.5 * m + x * UNIQUE)
m = 0.0
for x in np.ones(3, np.float32):
    m = f(m, x)
    out.append(m)
"""),
    "by name, then by position": (True, """\
def scale(x, by):
    return x * UNIQUE - by
f = jax.jit(scale)
out.append(f(jnp.ones(3), jnp.arange(3.0)))
out.append(f(jnp.ones(3), by=jnp.arange(3.0)))
"""),
    "a static rate": (True, """\
@functools.partial(jax.jit, static_argnames="rate")
def f(x, rate):
    return x * rate - UNIQUE
for i in range(3):
    out.append(f(jnp.ones(3), rate=0.25 * i))
"""),
    "a static number that is asked for": (False, """\
@functools.partial(jax.jit, static_argnames="n")
def f(x, n):
    return x * UNIQUE if n > 1 else x - UNIQUE
for n in (1, 2, 3):
    out.append(f(jnp.ones(3), n=n))
"""),
    "a static number that is a size": (False, """\
@functools.partial(jax.jit, static_argnames="n")
def f(x, n):
    return jnp.zeros(n) + x * UNIQUE
for n in (1, 2, 3):
    out.append(f(jnp.float32(1), n=n))
"""),
    "static objects that hold the same": (True, """\
class Config:
    def __init__(self, n):
        self.n = n
f = jax.jit(lambda cfg, x: x * cfg.n + UNIQUE, static_argnums=0)
for _ in range(3):
    out.append(f(Config(3), jnp.ones(3)))
"""),
    "static objects that cannot be hashed by what they hold": (False, """\
class Config:
    def __init__(self, n):
        self.n = [n]
f = jax.jit(lambda cfg, x: x * cfg.n[0] + UNIQUE, static_argnums=0)
for _ in range(3):
    out.append(f(Config(3), jnp.ones(3)))
"""),
    "a transformation in a loop, and once before it": (True, """\
def f(x):
    return jnp.sin(x).sum() * UNIQUE
out.append(jax.jit(jax.grad(f))(jnp.ones(3)))
for i in range(3):
    out.append(jax.jit(jax.grad(f))(jnp.ones(3)))
"""),
    "a transformation in a function that is called in a loop, and once before it": (True, """\
def f(x):
    return jnp.sin(x).sum() * UNIQUE
def run(x):
    return jax.jit(jax.grad(f))(x)
first = jax.jit(jax.grad(f))
out.append(first(jnp.ones(3)))
del first
for i in range(3):
    out.append(run(jnp.ones(3)))
"""),
    "a lambda in a loop": (True, """\
for _ in range(3):
    out.append(jax.jit(lambda x: x * UNIQUE)(jnp.ones(3)))
"""),
    "a lambda that reads what a loop changes inside an object": (False, """\
class cfg: rate = UNIQUE
for _ in range(3):
    f = jax.jit(lambda x: x * cfg.rate)
    out.append(f(jnp.ones(3)))
    cfg.rate = cfg.rate / 2
"""),
    "a lambda that reads a list which grows": (False, """\
terms = [UNIQUE]
for _ in range(3):
    f = jax.jit(lambda x: x * len(terms) + sum(terms))
    out.append(f(jnp.ones(3)))
    terms.append(1.0)
"""),
    "a function made by one with side effects": (False, """\
made = []
def make():
    made.append(1)
    return lambda x: x * UNIQUE
for _ in range(3):
    f = jax.jit(make())
    out.append(f(jnp.ones(3)))
"""),
    "a captured number": (True, """\
for k in range(3):
    f = jax.jit(lambda x: x * k + UNIQUE)
    out.append(f(jnp.ones(3)))
"""),
    "a captured number that is asked for": (False, """\
for k in range(3):
    f = jax.jit(lambda x: x * UNIQUE if k > 0 else x - UNIQUE)
    out.append(f(jnp.ones(3)))
"""),
    "a captured text": (False, """\
for mode in ("sum", "mean", "max"):
    f = jax.jit(lambda x: getattr(x, mode)() * UNIQUE)
    out.append(f(jnp.ones(3)))
"""),
    "a captured function": (False, """\
for act in (jnp.sin, jnp.cos, jnp.tanh):
    f = jax.jit(lambda x: act(x) * UNIQUE)
    out.append(f(jnp.ones(3)))
"""),
    "a captured optimizer": (False, """\
import collections
Tx = collections.namedtuple("Tx", "init update")
def sgd(learning_rate):
    return Tx(lambda p: 0 * p, lambda g: -learning_rate * g)
def train(lr):
    tx = sgd(lr)
    @jax.jit
    def step(p):
        return p + tx.update(p * UNIQUE)
    return step(jnp.ones(3))
for lr in (0.1, 0.2, 0.3):
    out.append(train(lr))
"""),
    "a nested function of an argument": (True, """\
def train(lr):
    @jax.jit
    def step(w):
        return w - lr * w * UNIQUE
    return step(jnp.ones(2))
for lr in (0.1, 0.2, 0.3):
    out.append(train(lr))
"""),
    "donated in one place": (True, """\
def moved(x):
    return x * UNIQUE
out.append(jax.jit(moved)(jnp.ones(3)))
out.append(jax.jit(moved, donate_argnums=0)(jnp.ones(3)))
"""),
    "a smaller last batch, row by row": (True, """\
f = jax.jit(lambda w, x: jax.nn.softmax(jnp.tanh(x @ w) * UNIQUE))
data = jnp.arange(20.0).reshape(10, 2)
for start in range(0, 10, 4):
    y = f(jnp.ones((2, 3)), data[start : start + 4])
    out.append(y)
"""),
    "a smaller last batch that is averaged": (False, """\
f = jax.jit(lambda x: x.mean() * UNIQUE)
for start in range(0, 10, 4):
    out.append(f(jnp.arange(10.0)[start : start + 4]))
"""),
    "an argument that is taken from an iterator": (True, """\
f = jax.jit(lambda x: x / UNIQUE)
rows = iter([jnp.ones(3), jnp.arange(3), jnp.arange(3) + 1])
for _ in range(3):
    out.append(f(next(rows)))
"""),
    "a call that finds the program of one that is converted": (True, """\
f = jax.jit(lambda x, n: (x + n) * UNIQUE)
out.append(f(1.0, 10))
out.append(f(2.0, 20))
out.append(f(1, 10))
"""),
    "a call that finds the program of one that is padded": (False, """\
f = jax.jit(lambda w, x: jax.nn.softmax(jnp.tanh(x @ w) * UNIQUE))
data = jnp.arange(20.0).reshape(10, 2)
for start in range(0, 10, 4):
    y = f(jnp.ones((2, 3)), data[start : start + 4])
    out.append(y)
out.append(f(jnp.ones((2, 3)), data[:2]))
"""),
    "a function that prints to a list while it is traced": (False, """\
seen = []
@jax.jit
def f(x):
    seen.append(x.dtype)
    return x / UNIQUE
for x in (jnp.ones(3), jnp.arange(3)):
    out.append(f(x))
"""),
}  # fmt: skip
