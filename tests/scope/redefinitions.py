"""Programs in which something that a compiled function `f` called is defined again, and what is to be told of it."""

CHANGES = {
    "a helper": (
        "def act(x): return jnp.maximum(x, 0)\nf = jax.jit(lambda x: act(x))\nf(1.0)",
        "def act(x): return jnp.tanh(x)",
        ["keeps the act that it was traced with; act was defined again"],
    ),
    "a helper's helper": (
        "def low(x): return x * 2\ndef mid(x): return low(x) + 1\n@jax.jit\ndef f(x): return mid(x)\nf(1.0)",
        "def low(x): return x * 3",
        ["keeps the low that it was traced with; low was defined again"],
    ),
    "a compiled helper": (
        "@jax.jit\ndef act(x): return x * 2\nf = jax.jit(lambda x: act(x))\nf(1.0)",
        "@jax.jit\ndef act(x): return x * 5",
        ["keeps the act that it was traced with; act was defined again"],
    ),
    "another function of the name": (
        "def relu(x): return jnp.maximum(x, 0)\ndef soft(x): return jnp.log1p(jnp.exp(x))\nact = relu\n"
        "f = jax.jit(lambda x: act(x))\nf(1.0)",
        "act = soft",
        ["keeps the act that it was traced with, relu; act is soft now"],
    ),
    "a lambda": (
        "act = lambda x: x * 2\nf = jax.jit(lambda x: act(x))\nf(1.0)",
        "act = lambda x: x * 4",
        ["keeps the act that it was traced with; act was defined again"],
    ),
    "a default": (
        "def act(x, slope=0.1): return x * slope\nf = jax.jit(lambda x: act(x))\nf(1.0)",
        "def act(x, slope=0.2): return x * slope",
        ["keeps the act that it was traced with; act was defined again"],
    ),
    "a helper without operations": (
        "def rate(): return 0.5\nf = jax.jit(lambda x: x * rate())\nf(1.0)",
        "def rate(): return 0.25",
        ["keeps the rate that it was traced with; rate was defined again"],
    ),
    "a class that is called": (
        "class Act:\n    def __call__(self, x): return x * 2\n@jax.jit\ndef f(x): return Act()(x)\nf(1.0)",
        "class Act:\n    def __call__(self, x): return x * 3",
        ["keeps the Act that it was traced with; Act was defined again"],
    ),
    "a module": (
        "import types\nlayers = types.ModuleType('layers')\nlayers.jnp = jnp\n"
        "exec('def act(x): return x * 2', layers.__dict__)\nf = jax.jit(lambda x: layers.act(x))\nf(1.0)",
        "exec('def act(x): return x * 3', layers.__dict__)",
        ["keeps the layers.act that it was traced with; layers.act was defined again"],
    ),
    "a decorated helper that stays": (
        "import functools\ndef logged(g):\n    @functools.wraps(g)\n    def wrapper(*a): return g(*a)\n    return wrapper\n"
        "@logged\ndef act(x): return x * 2\n@jax.jit\ndef f(x): return act(x)\nf(1.0)",
        "pass",
        [],
    ),
    "a library's decorated function": (
        "solve_triangular = jax.scipy.linalg.solve_triangular\n@jax.jit\n"
        "def f(x): return solve_triangular(jnp.eye(2) * x, jnp.ones(2)).sum()\nf(1.0)",
        "pass",
        [],
    ),
    "a decorated helper": (
        "import functools\ndef logged(g):\n    @functools.wraps(g)\n    def wrapper(*a): return g(*a)\n    return wrapper\n"
        "@logged\ndef act(x): return x * 2\n@jax.jit\ndef f(x): return act(x)\nf(1.0)",
        "@logged\ndef act(x): return x * 3",
        ["keeps the act that it was traced with; act was defined again"],
    ),
    "another decorator": (
        "import functools\ndef logged(g):\n    @functools.wraps(g)\n    def wrapper(*a): return g(*a)\n    return wrapper\n"
        "@logged\ndef act(x): return x * 2\n@jax.jit\ndef f(x): return act(x)\nf(1.0)",
        "def doubled(g):\n    @functools.wraps(g)\n    def wrapper(*a): return g(*a) * 2\n    return wrapper\n@doubled\ndef act(x): return x * 2",
        ["keeps the act that it was traced with; act was defined again"],
    ),
    "the same text": ("def act(x): return x * 2\nf = jax.jit(lambda x: act(x))\nf(1.0)", "\n\ndef act(x): return x * 2", []),
    "a docstring": (
        "def act(x):\n    'Twice.'\n    return x * 2\nf = jax.jit(lambda x: act(x))\nf(1.0)",
        "def act(x):\n    'Two times.'\n    return x * 2",
        [],
    ),
    "a branch that did not run": (
        "def one(x): return x\ndef two(x): return x * 2\n@jax.jit\ndef f(x):\n    if x.ndim: return two(x)\n    return one(x) + 1\nf(1.0)",
        "def two(x): return x * 3",
        [],
    ),
    "the function itself": (
        "def act(x): return x * 2\n@jax.jit\ndef f(x): return act(x)\nf(1.0)",
        "def act(x): return x * 3\n@jax.jit\ndef f(x): return act(x)\nf(1.0)",
        [],
    ),
    "traced again": ("def act(x): return x * 2\nf = jax.jit(lambda x: act(x))\nf(1.0)", "def act(x): return x * 3\nf.clear_cache()", []),
    "the class of an object": (
        "class Act:\n    def __call__(self, x): return x * 2\nact = Act()\nf = jax.jit(lambda x: act(x))\nf(1.0)",
        "class Act:\n    def __call__(self, x): return x * 3",
        [],
    ),
    "a method of that name": (
        "class Box:\n    def act(self, x): return x * 2\nbox = Box()\n@jax.jit\ndef f(x): return box.act(x)\nf(1.0)",
        "def act(x): return x * 3",
        [],
    ),
    "a local of that name": (
        "@jax.jit\ndef f(x):\n    def act(x): return x * 2\n    return act(x)\nf(1.0)",
        "def act(x): return x * 3",
        [],
    ),
    "a method of a class": (
        "class Net:\n    def act(self, x): return x * 2\n    def __call__(self, x): return self.act(x) + 1\nnet = Net()\n"
        "@jax.jit\ndef f(x): return net(x)\nf(1.0)",
        "def act(self, x): return x * 3\nNet.act = act",
        ["keeps the self.act that it was traced with; self.act was defined again"],
    ),
    "what an object does when it is called": (
        "class Net:\n    def __call__(self, x): return x * 2\nnet = Net()\n@jax.jit\ndef f(x): return net(x)\nf(1.0)",
        "Net.__call__ = lambda self, x: x * 3",
        ["keeps the net.__call__ that it was traced with, __call__; net.__call__ is a lambda now"],
    ),
    "the code of the function itself": (
        "def act(x): return x * 2\nf = jax.jit(act)\nf(1.0)",
        "def other():\n    def act(x): return x * 3\n    return act\nact.__code__ = other().__code__.replace(co_qualname='act')",
        ["keeps the code that it was traced with; act was defined again"],
    ),
    "a method's code": (
        "class Net:\n    def act(self, x): return x * 2\nnet = Net()\nf = jax.jit(net.act)\nf(1.0)",
        "class New:\n    def act(self, x): return x * 3\nNet.act.__code__ = New.act.__code__.replace(co_qualname='Net.act')",
        ["keeps the code that it was traced with; act was defined again"],
    ),
    "a method of another object of the class": (
        "class Net:\n    def act(self, x): return x * 2\n    def other(self, x): return x\nnet = Net()\nf = jax.jit(net.act)\nf(1.0)",
        "Net.other = lambda self, x: x * 3",
        [],
    ),
    "a function that an object holds": (
        "class Net:\n    def __init__(self): self.act = lambda x: x * 2\n    def run(self, x): return (lambda y: y + 1)(self.act(x))\n"
        "net = Net()\nf = jax.jit(net.run)\nf(1.0)",
        "act = lambda x: x * 3",
        [],
    ),
}  # fmt: skip
"""By what happens: the program, what comes after it, and what is said of `f`."""
