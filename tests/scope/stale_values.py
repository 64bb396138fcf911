"""Programs in which a value that a compiled function `f` read when it was traced changes, and what is to be told below the cell that calls it."""

_STATIC = (
    "class Net:\n    def __init__(self): self.k, self.steps = 2.0, 0\n    @functools.partial(jax.jit, static_argnums=0)\n"
    "    def __call__(self, x): return x * self.k\nf = Net()\nf(x)"
)

CHANGES = {
    "an element of a dict": (
        "cfg = {'lr': 0.5, 'n': 3}\n@jax.jit\ndef f(x): return x * cfg['lr']\nf(x)",
        "cfg['lr'] = 0.25",
        "f keeps cfg['lr'] = 0.5, with which it was traced; cfg['lr'] is 0.25 now. Pass `cfg['lr']` as an argument of f: it reads it at each call then.",
    ),
    "an attribute": (
        "class Box: pass\nbox = Box()\nbox.lr = 0.5\n@jax.jit\ndef f(x): return x * box.lr\nf(x)",
        "box.lr = 0.25",
        "f keeps box.lr = 0.5, with which it was traced; box.lr is 0.25 now.",
    ),
    "a field of a slotted dataclass": (
        "import dataclasses\n@dataclasses.dataclass(slots=True)\nclass Box: lr: float = 0.5\nbox = Box()\n@jax.jit\ndef f(x): return x * box.lr\nf(x)",
        "box.lr = 0.25",
        "f keeps box.lr = 0.5, with which it was traced; box.lr is 0.25 now.",
    ),
    "an element of a list in a dict": (
        "cfg = {'w': [1.0, 2.0]}\n@jax.jit\ndef f(x): return x * cfg['w'][1]\nf(x)",
        "cfg['w'][1] = 3.0",
        "f keeps cfg['w'][1] = 2.0, with which it was traced; cfg['w'][1] is 3.0 now.",
    ),
    "a list that is looped over": (
        "w = [1.0, 2.0]\n@jax.jit\ndef f(x): return sum(x * a for a in w)\nf(x)",
        "w.append(3.0)",
        "f keeps w = [1.0, 2.0], with which it was traced; w is [1.0, 2.0, 3.0] now.",
    ),
    "what a helper reads": (
        "RATE = 0.5\ndef scaled(x): return x * RATE\n@jax.jit\ndef f(x): return scaled(x) + 1\nf(x)",
        "RATE = 0.25",
        "f keeps RATE = 0.5, which scaled read when it was traced; RATE is 0.25 now. "
        "Pass `RATE` as an argument of f and scaled: they read it at each call then.",
    ),
    "what a helper reads that leaves no operation": (
        "RATE = 0.5\ndef rate(): return RATE\n@jax.jit\ndef f(x): return x * rate()\nf(x)",
        "RATE = 0.25",
        "f keeps RATE = 0.5, which rate read when it was traced; RATE is 0.25 now.",
    ),
    "what a differentiated loss reads": (
        "L2 = 0.5\ndef loss(w): return (w * w).sum() * L2\n@jax.jit\ndef f(w): return w - jax.grad(loss)(w)\nf(x)",
        "L2 = 5.0",
        "f keeps L2 = 0.5, which loss read when it was traced; L2 is 5.0 now.",
    ),
    "what a loop's body reads": (
        "G = 0.5\n@jax.jit\ndef f(x):\n    def body(c, t): return c * G + t, c\n    return jax.lax.scan(body, 0.0, x)[0]\nf(x)",
        "G = 0.25",
        "f keeps G = 0.5, with which it was traced; G is 0.25 now.",
    ),
    "an attribute of the object whose method it is": (
        "class Net:\n    k = 2.0\n    def act(self, x): return x * self.k\nnet = Net()\nf = jax.jit(net.act)\nf(x)",
        "net.k = 5.0",
        "act keeps self.k = 2.0, with which it was traced; self.k is 5.0 now. Pass `self.k`, or the object with its class registered as a "
        "pytree, as an argument of act: it reads it at each call then.",
    ),
    "an attribute of an object that is called": (
        "class Net:\n    k = 2.0\n    def __call__(self, x): return x * self.k\nnet = Net()\n@jax.jit\ndef f(x): return net(x)\nf(x)",
        "net.k = 5.0",
        "f keeps self.k = 2.0, which Net.__call__ read when it was traced; self.k is 5.0 now.",
    ),
    "what a closure holds": (
        "def make(rate):\n    box = {'r': rate}\n    @jax.jit\n    def f(x): return x * box['r']\n    return f, box\nf, box = make(2.0)\nf(x)",
        "box['r'] = 3.0",
        "f keeps box['r'] = 2.0, with which it was traced; box['r'] is 3.0 now.",
    ),
    "a small array of NumPy that is stored into": (
        "w = np.ones(3, np.float32)\n@jax.jit\ndef f(x): return x * w\nf(x)",
        "w[:] = 0",
        "f keeps the values of w (numpy float32[3]), with which it was traced; they are others now.",
    ),
    "a branch that did not run": (
        "cfg = {'on': False, 'decay': 0.5}\n@jax.jit\ndef f(x):\n    if cfg['on']:\n        x = x * cfg['decay']\n    return x + 1\nf(x)",
        "cfg['decay'] = 0.25",
        "",
    ),
    "a branch that ran": (
        "cfg = {'on': True, 'decay': 0.5}\n@jax.jit\ndef f(x):\n    if cfg['on']:\n        x = x * cfg['decay']\n    return x + 1\nf(x)",
        "cfg['decay'] = 0.25",
        "f keeps cfg['decay'] = 0.5, with which it was traced; cfg['decay'] is 0.25 now.",
    ),
    "what stands behind a return": (
        "decay = 0.5\n@jax.jit\ndef f(x):\n    if x.ndim == 1:\n        return x + 2\n    return x * decay\nf(x)",
        "decay = 0.25",
        "",
    ),
    "a helper of a branch that did not run": (
        "decay = 0.5\ndef less(x): return x * decay\n@jax.jit\ndef f(x):\n    if x.ndim > 1:\n        x = less(x)\n    return x + 2\nf(x)",
        "decay = 0.25",
        "",
    ),
    "changed, and changed back": (
        "cfg = {'lr': 0.5}\nA = 1.0\n@jax.jit\ndef f(x): return x * cfg['lr'] * A\nf(x)",
        "cfg['lr'], A = 0.25, 2.0\ncfg['lr'], A = 0.5, 1.0",
        "",
    ),
    "traced again since": ("cfg = {'lr': 0.5}\n@jax.jit\ndef f(x): return x * cfg['lr']\nf(x)", "cfg['lr'] = 0.25\nf.clear_cache()\nf(x)", ""),
    "an argument of that name": (
        "cfg = {'lr': 0.5}\n@jax.jit\ndef f(x, cfg): return x * cfg['lr']\nf(x, cfg)\nf = functools.partial(f, cfg=cfg)",
        "cfg['lr'] = 0.25",
        "",
    ),
    "a static argument": (
        "class Box: lr = 0.5\nbox = Box()\n@functools.partial(jax.jit, static_argnums=1)\ndef g(x, box): return x * box.lr\ng(x, box)\nf = lambda x: g(x, box)",
        "box = Box()\nbox.lr = 0.25\ng(x, box)",
        "",
    ),
    "an attribute of a static object": (
        _STATIC,
        "f.k = 5.0",
        "__call__ keeps self.k = 2.0, with which it was traced; self.k is 5.0 now. Pass `self.k`, or the object with its class registered as a "
        "pytree, as an argument of __call__: it reads it at each call then.",
    ),
    "a list of a static object": (
        "class Net: rates = [1.0, 2.0]\nclass Top:\n    def __init__(self): self.net = Net()\n    @functools.partial(jax.jit, static_argnums=0)\n"
        "    def __call__(self, x): return x * self.net.rates[1]\nf = Top()\nf(x)",
        "f.net.rates[1] = 3.0",
        "__call__ keeps self.net.rates[1] = 2.0, with which it was traced; self.net.rates[1] is 3.0 now.",
    ),
    "a static object that is changed, and changed back": (_STATIC, "f.k = 5.0\nf.k = 2.0", ""),
    "what nothing reads of a static object": (_STATIC, "f.steps += 1", ""),
    "a static object that is equal to none after its change": (
        "class Net:\n    k = 2.0\n    def __hash__(self): return hash(self.k)\n    def __eq__(self, other): return self.k == other.k\n"
        "    @functools.partial(jax.jit, static_argnums=0)\n    def __call__(self, x): return x * self.k\nf = Net()\nf(x)",
        "f.k = 5.0",
        "",
    ),
    "a counter of traces": (
        "n = 0\nseen = {'n': 0}\nshapes = []\n@jax.jit\ndef f(x):\n    global n\n    n += 1\n    seen['n'] += 1\n    shapes.append(x.shape)\n    return x + 1\nf(x)",
        "f(jnp.ones(4)); f(jnp.ones(5))\nn, seen['n'] = 7, 7",
        "",
    ),
    "an equal array made anew": ("w = jnp.ones(3)\n@jax.jit\ndef f(x): return x * w\nf(x)", "w = jnp.ones(3)", ""),
    "a number of an object that nothing reads": (
        "class Box: pass\nbox = Box()\nbox.lr, box.steps = 0.5, 1\n@jax.jit\ndef f(x): return x * box.lr\nf(x)",
        "box.steps = 2",
        "",
    ),
}  # fmt: skip
"""By what changes: the program, what comes after it, and how the line begins that is told of a call of `f`."""
