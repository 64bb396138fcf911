"""The look at scripts as they are published: training loops, environments, samplers, configurations, packages of several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitscope_scope.advise import look


HEADER = """\
import jax
import jax.numpy as jnp
import numpy as np
import functools
import dataclasses
"""
LINES = HEADER.count("\n")

FINE = {
    "grad hands on what it does not differentiate by": """
@jax.jit
def order(theta, x):
    def f(t, i):
        if i == 0:
            return jnp.sin(t)
        return jax.grad(f)(t, i - 1) * t
    return f(theta, 3) + x
""",
    "axes that a list is made of": """
@functools.partial(jax.vmap, in_axes=[0] + [None] * 2)
def fit(key, k, most):
    return jax.random.normal(key, (k,)) + jnp.full((most,), -1.0).sum()
""",
    "axes that the program does not tell": """
def mapped(xs, n, axes):
    return jax.vmap(lambda x, n: jnp.arange(n) * x, in_axes=axes)(xs, n)
""",
    "a default that nobody overrides, in a function inside": """
@jax.jit
def gather(x, *, rows=16):
    def kernel():
        return [i * 4 for i in range(rows)]
    return x + jnp.array(kernel()).sum()
""",
    "an argument of a function inside has the name of what a loop changes": """
@jax.jit
def density(a):
    def f(x):
        return a * x**2
    g = jnp.linspace(0.0, 1.0, 4)
    return g, f(g)
for i in range(3):
    x = jnp.ones(3) * i
    x, y = density(float(x.sum()))
""",
    "all leaves in one order": """
@jax.jit
def shuffled(key, batch):
    return jax.tree.map(lambda x: jax.random.permutation(key, x), batch)
""",
    "what is put back after the trace": """
class Hooks:
    callback = None
@jax.jit
def run(x):
    old = Hooks.callback
    Hooks.callback = print
    y = x * 2
    Hooks.callback = old
    return y
""",
    "a module that is told to draw nothing": """
@jax.jit
def evaluate(model, params, x, key):
    return model.apply(params, x, deterministic=True, rngs={"dropout": key})
def main(model, params, batches):
    key = jax.random.key(0)
    return [evaluate(model, params, x, key) for x in batches]
""",
    "a key that is folded in with the step": """
@jax.jit
def step(state, x, key):
    key = jax.random.fold_in(key, state.step)
    def loss(p):
        return state.apply_fn(p, x, rngs={"dropout": key}).mean()
    return jax.grad(loss)(state.params)
def main(state, batches):
    key = jax.random.key(0)
    for x in batches:
        g = step(state, x, key)
""",
    "options that differ in each iteration need a program each": """
def split(layers, shardings):
    for name in layers:
        def stack(*xs):
            return jnp.stack(xs)
        yield jax.jit(stack, out_shardings=shardings[name])(*layers[name])
""",
    "a configuration that has a hash": """
@dataclasses.dataclass(frozen=True)
class Config:
    n: int = 2
@dataclasses.dataclass(eq=False)
class Model:
    n: int = 2
    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x * self.n
class Named:
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 1
@functools.partial(jax.jit, static_argnames="config")
def apply(x, config):
    return x * config.n
apply(jnp.ones(2), config=Config())
apply(jnp.ones(2), config=Named())
Model()(jnp.ones(2))
""",
    "an attribute that may be NumPy's": """
class Buffer:
    def __init__(self, n, host):
        self.data = jnp.zeros((n, 3))
        if host:
            self.data = np.zeros((n, 3))
    def add(self, i, x):
        self.data[i] = x
class Other:
    rows: np.ndarray
    def __init__(self, n):
        self.rows = jnp.zeros(n)
    def add(self, i, x):
        self.rows[i] = x
class Third:
    def __init__(self, n):
        self.cells = jnp.zeros(n)
def fill(third, i):
    third.cells = np.zeros(3)
def put(self, i):
    self.cells[i] = 1
""",
    "an array of NumPy that is indexed by what is known": """
TABLE = np.arange(10)
@jax.jit
def look_up(x):
    total = TABLE[x.ndim] + TABLE[0]
    for k in range(3):
        total = total + TABLE[k] * x
    return total + jnp.asarray(TABLE)[0] + x[TABLE]
""",
    "a static object that a test may change, or that is told apart by value": """
class Env:
    def __init__(self, g):
        self.g = g
    def __eq__(self, other):
        return self.g == other.g
    def __hash__(self):
        return hash(self.g)
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, v):
        return v - self.g
class Sim:
    def __init__(self, g):
        self.g, self.t = g, 0
    def reset(self):
        self.g = 9.8
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, v):
        return v - self.g
def main(moon):
    env = Env(9.8)
    v = env.step(jnp.ones(2))
    env.g = 1.6
    v = env.step(v)
    sim = Sim(9.8)
    v = sim.step(v)
    if moon:
        sim.g = 1.6
    v = sim.step(v)
    sim.reset()
    return sim.step(v)
""",
    "a flag that is static in the function that is given it": """
def block(x, *, heads, causal=True):
    if causal:
        x = jnp.tril(x)
    return x * heads
f = jax.jit(functools.partial(block, heads=2))
g = jax.jit(block, static_argnames=("heads", "causal"))
f(jnp.ones((2, 2)))
g(jnp.ones((2, 2)), heads=2, causal=False)
""",
    "functions that are to fail": """
import pytest
def lambdas():
    with pytest.raises(TypeError):
        jax.jit(lambda x: float(x))(1.0)
def named(case):
    @jax.jit
    def bad(x):
        return float(x)
    with case.assertRaises(TypeError):
        bad(1.0)
def inside():
    with pytest.raises(TypeError):
        @jax.jit
        def bad(x):
            return float(x)
        bad(1.0)
def made():
    def bad(x):
        return float(x)
    f = jax.jit(bad)
    with pytest.raises(TypeError, match="tracer"):
        f(1.0)
""",
}


@pytest.mark.parametrize("name", FINE)
def test_scripts_that_are_fine_are_silent(name: str) -> None:
    found = look(HEADER + FINE[name].lstrip(), "<program>")
    assert [(one.id, one.span.line - LINES) for one in found] == []


TOLD = {
    "an argument that grad hands on, traced by its caller": (
        """
@jax.jit
def step(w, x, y):
    def loss(w, x, y):
        if y.sum() > 0:
            return (w * x).sum()
        return -w.sum()
    return jax.grad(loss)(w, x, y)
""",
        [("branch-on-tracer", 4, "error")],
    ),
    "what value_and_grad gives": (
        """
@jax.jit
def step(w, x):
    loss, g = jax.value_and_grad(lambda w: ((w - x) ** 2).sum())(w)
    print(f"loss = {loss}")
    return w - 0.1 * g
""",
        [("trace-time-print", 4, "warning")],
    ),
    "what a name gives that value_and_grad made": (
        """
def loss_fn(w, x):
    return (w * x).sum()
grad_fn = jax.value_and_grad(loss_fn)
@jax.jit
def step(w, x):
    loss, g = grad_fn(w, x)
    if loss > 3:
        return w
    return w - g
""",
        [("branch-on-tracer", 7, "error")],
    ),
    "a sum over devices": (
        """
@functools.partial(jax.pmap, axis_name="i")
def normalize(x):
    if jax.lax.psum(x.sum(), "i") > 0:
        return x
    return -x
""",
        [("branch-on-tracer", 3, "error")],
    ),
    "one dropout key for all steps, through a function inside": (
        """
@jax.jit
def step(state, x, dropout_key):
    def loss(p):
        return state.apply_fn(p, x, train=True, rngs={"dropout": dropout_key}).mean()
    return jax.grad(loss)(state.params)
def main(state, batches):
    key, dropout_key = jax.random.split(jax.random.key(0))
    for x in batches:
        g = step(state, x, dropout_key)
""",
        [("key-reuse", 9, "warning")],
    ),
    "a dict by its name": (
        """
config = {"layers": 2}
@functools.partial(jax.jit, static_argnames=["config"])
def forward(x, config):
    return x * config["layers"]
forward(jnp.ones(3), config=config)
""",
        [("static-unhashable", 5, "error")],
    ),
    "a dataclass that can be changed": (
        """
@dataclasses.dataclass
class Config:
    n: int = 2
@functools.partial(jax.jit, static_argnums=1)
def apply(x, cfg):
    return x * cfg.n
cfg = Config()
apply(jnp.ones(2), cfg)
""",
        [("static-unhashable", 8, "error")],
    ),
    "a dataclass with a static self": (
        """
@dataclasses.dataclass
class Env:
    g: float = 9.8
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, v):
        return v - self.g
env = Env()
env.step(jnp.ones(2))
""",
        [("static-unhashable", 8, "error")],
    ),
    "a static object that a method changes": (
        """
class Sim:
    def __init__(self, damping):
        self.damping = damping
    def set_damping(self, value):
        self.damping = value
    @functools.partial(jax.jit, static_argnums=0)
    def advance(self, x):
        return x * (1.0 - self.damping)
sim = Sim(0.1)
sim.advance(jnp.ones(2))
sim.set_damping(0.5)
sim.advance(jnp.ones(2))
""",
        [("static-mutable-stale", 8, "warning")],
    ),
    "a static object that is changed in a function": (
        """
class Env:
    def __init__(self, g):
        self.g = g
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, v):
        return v - self.g
def main():
    env = Env(9.8)
    v = env.step(jnp.ones(2))
    env.g = 1.6
    return env.step(v)
""",
        [("static-mutable-stale", 6, "warning")],
    ),
    "an attribute that only ever is an array": (
        """
class Buffer:
    def __init__(self, n):
        self.data = jnp.zeros((n, 3))
        self.at = 0
    def add(self, x):
        self.data[self.at] = x
        self.at += 1
""",
        [("item-assignment", 6, "error")],
    ),
    "an array of NumPy that a tracer indexes": (
        """
TABLE = np.arange(10)
@jax.jit
def look_up(i):
    return TABLE[i] + 1
""",
        [("host-call-on-tracer", 4, "error")],
    ),
    "an array of NumPy that counts traced labels": (
        """
@jax.jit
def histogram(labels):
    counts = np.zeros(4)
    for l in labels:
        counts[l] += 1
    return counts
""",
        [("host-call-on-tracer", 5, "error")],
    ),
    "a window of an array that vmap moves": (
        """
def moving(x, w):
    return jax.vmap(lambda i: x[i : i + w].mean())(jnp.arange(len(x) - w))
""",
        [("traced-slice-bound", 2, "error")],
    ),
    "a static object that a method changes in each turn of a loop": (
        """
class Sim:
    def __init__(self, dt):
        self.dt, self.t = dt, 0.0
    def tick(self):
        self.t += self.dt
    @functools.partial(jax.jit, static_argnums=0)
    def force(self, x):
        return jnp.sin(self.t) * x
def main():
    sim, x = Sim(0.1), jnp.ones(2)
    sim = Sim(0.2)
    for _ in range(3):
        x = x + sim.force(x)
        sim.tick()
""",
        [("static-mutable-stale", 8, "warning")],
    ),
    "a function of the module that a compiled one differentiates": (
        """
def energy(x, box, periodic):
    if periodic:
        x = x * 2
    if box > 0:
        x = x - box
    return (x**2).sum()
@jax.jit
def force(x, box):
    return -jax.grad(energy)(x, box, True)
""",
        [("branch-on-tracer", 4, "error")],
    ),
    "a function that fails where it is to, and elsewhere": (
        """
import pytest
@jax.jit
def bad(x):
    return float(x)
with pytest.raises(TypeError):
    bad(1.0)
bad(2.0)
""",
        [("host-call-on-tracer", 4, "error")],
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_traps_of_scripts_are_told_at_their_line(name: str) -> None:
    text, due = TOLD[name]
    found = look(HEADER + text.lstrip(), "<program>")
    assert [(one.id, one.span.line - LINES, one.severity) for one in found] == due


def test_a_function_that_reads_the_loop_s_number_is_not_moved_before_it() -> None:
    text = (
        "def f(xs):\n    for i in range(3):\n        def take(x):\n            return x[i]\n        jax.jit(take)(xs)\n"
    )
    [one] = look(HEADER + text, "<program>")
    assert one.id == "recompile-fresh-function"
    assert one.fix.text.endswith("reads `i` there, which can be its argument (a static one, if it is no array).")
    two = "def f(x, y):\n    return jax.jit(lambda a: a * y + x)(x)\nfor i in range(3):\n    f(1.0, 2.0)\n"
    [one] = look(HEADER + two, "<program>")
    assert one.fix.text.endswith(
        "reads `x` and `y` there, which can be its arguments (static ones, where they are no arrays)."
    )
    of_a_name = (
        "def move(f, tau): return f * tau\nfor tau in (1, 2):\n    g = jax.jit(lambda f: move(f, tau))\n    g(1.0)\n"
    )
    [one] = look(HEADER + of_a_name, "<program>")  # what it calls has a parameter of that name
    assert one.fix.text.endswith("reads `tau` there, which can be its argument (a static one, if it is no array).")


FLAG = "def f(x, train):\n    return x if train else -x\n"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (f"@jax.jit\n{FLAG}f(1.0, True)\n", "jax.jit(f, static_argnames='train')"),
        (
            f"import functools\n@functools.partial(jax.jit, static_argnames='x')\n{FLAG}f(1.0, True)\n",
            "add 'train' to the static arguments of f",
        ),
        (
            "import flax.linen as nn\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, train):\n        return x if train else -x\n"
            "net = Net()\njax.jit(net.apply)({}, 1.0, train=True)\n",
            "jax.jit(net.apply, static_argnames='train')",
        ),
    ],
)
def test_a_flag_is_made_static_where_the_function_is_compiled(text: str, fix: str) -> None:
    [one] = look(HEADER + text, "<program>")
    assert one.id == "flag-arg-traced" and fix in one.fix.text


WIDE = "import jax.numpy as jnp\nx = jnp.zeros(3, dtype=jnp.float64)\ndef f():\n    return jnp.ones(2, jnp.int64)\n"
ON = 'import jax\njax.config.update("jax_enable_x64", True)\n'


@pytest.mark.parametrize(
    ("file", "other", "text", "silent"),
    [
        ("tests/unit/test_f.py", "tests/conftest.py", WIDE, True),
        ("tests/unit/train.py", "tests/conftest.py", WIDE, False),
        ("pkg/sub/core.py", "pkg/__init__.py", WIDE, True),
        ("scripts/train.py", "scripts/settings.py", "import settings\n" + WIDE, True),
        ("scripts/train.py", "scripts/settings.py", WIDE, False),
    ],
)
def test_64_bit_types_may_be_turned_on_by_a_file_that_runs_before(
    tmp_path: Path, file: str, other: str, text: str, silent: bool
) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, content in ((file, text), (other, ON)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
        (tmp_path / "pkg/sub").mkdir(parents=True, exist_ok=True)
        (tmp_path / "pkg/sub/__init__.py").touch()
    found = {one.id for one in look(text, str(tmp_path / file))}
    assert found == (set() if silent else {"x64-truncation"})
