"""What looks like a sharp bit and is none stays silent; what a look cannot be sure of is told as less than an error.

Each program has the lines on which something is due, with its id and severity; all were met in published code in this form or another.
"""

import ast

import pytest

from jitscope_scope.advise import look
from jitscope_scope.advise.program import of_cells
from jitscope_scope.source_code.text import Code


JAX = "import jax, time, functools\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import lax\n"
FIRST = JAX.count("\n") + 1

FINE = {
    "a flag that is False in all calls": """
@jax.jit
def f(x, *, debug=False):
    if debug:
        print("x", x)
    return x
f(1.0)
""",
    "an index that is a text is a dict's": """
def metrics(w):
    out = jax.tree.map(jnp.mean, {"norm": w})
    out["lr"] = 0.1
    return out
""",
    "a buffer of 64 bits is handed over as a copy in 32": """
buffer, counts = np.zeros(3), np.arange(3)
step = jax.jit(lambda x, n: x * n)
for i in range(3):
    buffer[:] = i
    counts[0] = i
    y = step(buffer, counts)
""",
    "an array of NumPy's that is donated stays as it was": """
step = jax.jit(lambda w: w * 2, donate_argnums=0)
def one_numpy():
    w = np.ones(1000, np.float32)
    step(w)
    return (w == 1).all()
""",
    "what a function reads while it is traced is no program's": """
table = np.zeros((4, 2), np.float32)
@jax.jit
def act(s):
    return jnp.argmax(jnp.asarray(table)[s])
table[1, 1] = 5.0
""",
    "loops give trees": """
w, aux = lax.scan(lambda w, x: (w - x, {"max": w.max()}), jnp.ones(3), jnp.ones((5, 3)))
aux["steps"] = 5
state = lax.while_loop(lambda s: s["n"] < 3, lambda s: s, {"n": 0})
state["n"] = 0
""",
    "a list of parts is one": """
parts = jnp.split(jnp.ones(6), 3)
parts[0] = parts[0] * 2
""",
    "what is rebound by attribute is a new key": """
class Agent:
    def __init__(self, seed):
        self.key = jax.random.key(seed)
        self.keys = {"a": jax.random.key(1)}

    def act(self):
        self.key, sub = jax.random.split(self.key)
        first = jax.random.normal(sub)
        self.key, sub = jax.random.split(self.key)
        self.keys["a"], own = jax.random.split(self.keys["a"])
        self.keys["a"], own = jax.random.split(self.keys["a"])
        return first, jax.random.normal(sub), own
""",
    "a method may give a new key": """
class Agent:
    def act(self):
        a = jax.random.normal(self.key)
        self.advance()
        return a + jax.random.normal(self.key)
""",
    "arrays that go together are shuffled in one order": """
def shuffled(key, arrays):
    return [jax.random.permutation(key, a) for a in arrays]

def split_of(key, arrays):
    found = []
    for a in arrays:
        found.append(jax.random.permutation(key, a))
    return found
""",
    "an attribute of an object from elsewhere may be another key each time": """
import models
net = models.make()
for step in range(3):
    x = jax.random.bernoulli(net.rng)
""",
    "a property may give another key each time": """
class Net:
    @property
    def rng(self):
        self.key, own = jax.random.split(self.key)
        return own

net = Net()
for step in range(3):
    x = jax.random.bernoulli(net.rng)
""",
    "cases of match exclude each other": """
def draw(key, kind):
    match kind:
        case "normal":
            x = jax.random.normal(key)
        case _:
            x = jax.random.normal(key) + 1
    return x
""",
    "equal models are made of one key": """
net, critic = Net(), Net()
key = jax.random.key(0)
params = net.init(key, jnp.ones((1, 4)))
target = net.init(key, jnp.ones((1, 4)))
other = critic.init(key, jnp.ones((1, 4)))
""",
    "two arrays are shuffled alike": """
def shuffled(key, images, labels):
    return jax.random.permutation(key, images), jax.random.permutation(key, labels)
""",
    "tests draw what they like": """
def test_it():
    key = jax.random.key(0)
    assert (jax.random.normal(key) * jax.random.normal(key)).shape == ()
""",
    "references can be changed, in loops too": """
from jax.experimental import pallas as pl
def kernel(x_ref, o_ref, flag_ref):
    def body(i, _):
        o_ref[i] = o_ref[i] + x_ref[i]
        flag_ref[0] = 1
    lax.fori_loop(0, 3, body, None)
f = jax.jit(lambda x: pl.pallas_call(kernel, out_shape=x)(x))
""",
    "a parameter may be a reference": """
def outer(buffer):
    def body(i, carry):
        buffer[i] = carry
        return carry
    return lax.fori_loop(0, 3, body, 1.0)
""",
    "variables of libraries keep traced values": """
def make(variable):
    @jax.jit
    def step(x):
        variable.value = x + 1
        return x
    return step
""",
    "shard_map that runs has values": """
@functools.partial(jax.shard_map, mesh=mesh, in_specs=spec, out_specs=spec)
def f(x):
    print(x)
    return 2 * x
f(jnp.arange(6.0))
""",
    "vmap has all values but those it maps": """
def flow(t0, t1, key):
    times = jnp.linspace(t0, t1, 6)
    return times[times >= 0.5] + jax.random.normal(key)
jax.vmap(lambda k: flow(0.0, 1.0, k))(jax.random.split(jax.random.key(0), 2))
""",
    "derivatives have values": """
def f(x):
    return x * 2 if x > 0 else x
jax.jacfwd(f)(1.0)
jax.hessian(f)(1.0)
""",
    "jit of the same function in a loop": """
def run(n, x):
    def body(x):
        return jnp.sin(x)
    for _ in range(n):
        x = jax.jit(body)(x)
    return x
""",
    "one program for each model": """
for model in models:
    loss = jax.jit(lambda x: model(x).sum())
    print(loss(jnp.ones(3)))
for build in builders:
    def loss(p):
        return build(p).sum()
    step = jax.jit(jax.grad(loss))
    for _ in range(100):
        p = step(p)
""",
    "what is made to be compiled": """
for n in (1, 2):
    program = jax.jit(lambda x: x * 2).lower(jnp.ones(n)).compile()
""",
    "lowering reads no donated array": """
update = jax.jit(lambda p: p + 1, donate_argnums=0)
p = jnp.ones(3)
new = update(p)
text = update.lower(p).as_text()
shape = jax.eval_shape(update, p)
""",
    "methods of one's own": """
class Buffer:
    def insert(self, state, item):
        return state.at[0].set(item)
    def append(self, state, item):
        return self.insert(state, item)
buffer = Buffer()
@jax.jit
def step(state, x):
    state = buffer.insert(state, x)
    buffer.append(state, x)
    return other.add(state, x)
""",
    "a stack is as it was": """
frames = []
def scoped(f):
    def run(params, x):
        frames.append(params)
        try:
            return f(x)
        finally:
            frames.pop()
    return run
g = jax.jit(scoped(jnp.sin))
""",
    "a local name is not the module's function": """
def shift(i, x):
    return x + 1 if i % 2 == 0 else x
@jax.jit
def first(x):
    shift = functools.partial(jnp.roll, shift=1)
    return shift(x)
@jax.jit
def second(x):
    for i in range(4):
        x = shift(i, x)
    return x
""",
    "nor is one that is something else by then": """
@jax.jit
def f(x):
    return g(x, 1)
def g(x, n):
    return x if x > 0 else -x
g = make_another()
""",
    "an argument is not the import of its name": """
@jax.jit
def f(x, np, time):
    return np.sin(x) + time.time(x)
""",
    "a class's names are not its methods'": """
class Model:
    def clip(x):
        return x if x > 0 else 0
    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return clip(x)
""",
    "what is known of other libraries' functions is nothing": """
from jax._src import dtypes
@jax.jit
def f(x):
    return x * 2 if dtypes.dtype(x) == jnp.float32 else x
""",
    "what is compared with a text is none of arrays": """
@jax.jit
def f(batch):
    kind = batch["kind"]
    if kind == "train" or kind in ("a", "b"):
        return batch["x"] * 2
    return batch["x"]
""",
    "NumPy does not look into dicts": """
@jax.jit
def f(x):
    metrics = {"loss": x.sum()}
    return np.sum(metrics)
""",
    "a helper that waits": """
step = jax.jit(lambda x: jnp.sin(x))
def wait(tree):
    jax.tree.map(lambda leaf: leaf.block_until_ready(), tree)
    return tree
start = time.time()
y = wait(step(1.0))
print(time.time() - start)
start = time.time()
y = step(1.0)
unknown(y)
print(time.time() - start)
""",
    "a truth or a text of a result waits": """
step = jax.jit(lambda x: jnp.sin(x))
start = time.time()
y = step(1.0)
assert y > 0
print(time.time() - start)
start = time.time()
y = step(1.0)
print(f"{y} after {time.time() - start}")
start = time.time()
for _ in range(3):
    y = step(y)
    if stop(y):
        break
print(time.time() - start)
""",
    "the small operations of a script": """
start = time.time()
n = jnp.zeros(3) + 1
print(time.time() - start)
""",
    "an error that is caught": """
x = jnp.zeros(3)
try:
    x[0] = 1.0
except TypeError as error:
    print(error)
""",
    "keys of a dict are texts": """
@jax.jit
def f(metrics):
    for name in metrics.keys():
        print(name)
    return {f"train/{name}": value.mean() for name, value in metrics.items()}
""",
    "a parameter is another name": """
step = jax.jit(lambda params: params, donate_argnums=0)
params = jnp.ones(3)
new = step(params)
def other(params):
    return params
""",
    "another vmap maps the keys": """
def train(lr, key):
    return lr * jax.random.normal(key)
jax.vmap(jax.vmap(train, in_axes=(None, 0)), in_axes=(0, None))(rates, keys)
""",
    "what a program with references is given": """
from jax.experimental import pallas as pl
def kernel(x_ref, o_ref, n):
    for i in range(3):
        o_ref[i] = x_ref[i] * 2
    o_ref.at[0][1] = 3
buffer = jax.new_ref(jnp.ones(3))
@jax.jit
def f(x, other):
    buffer[0] = x
    other[:, 1] = x
""",
    "the host is called back": """
@jax.jit
def f(x):
    def save(x):
        print(time.time(), np.asarray(x))
    jax.debug.callback(save, x)
    return x
""",
    "a name of a function that is traced as well": """
@jax.jit
def pipeline(x):
    last = None
    def body(carry):
        nonlocal last
        last = carry * 2
        return carry
    y = body(x)
    return y + last
""",
}


@pytest.mark.parametrize("name", FINE)
def test_look_alikes_are_silent(name: str) -> None:
    assert [(one.id, one.span.line) for one in look(JAX + FINE[name].lstrip(), "<program>")] == []


TOLD = {
    "one order in each turn": (
        "def f(key):\n    for epoch in range(3):\n        order = jax.random.permutation(key, 10)\n    return order",
        [("key-reuse", 2, "warning")],
    ),
    "a key of a class of the program's": (
        "class State(NamedTuple):\n    key: jax.Array\ndef f(state):\n    for step in range(3):\n        x = jax.random.normal(state.key)\n    return x",
        [("key-reuse", 4, "warning")],
    ),
    "one distribution twice": (
        "def f(key):\n    return jax.random.normal(key), jax.random.normal(key)",
        [("key-reuse", 1, "warning")],
    ),
    "what is so by the letter is told once": (
        "def f(key):\n    x = jax.random.normal(key)\n    a, b = jax.random.split(key)\n    return x\n"
        "def g(key):\n    x = jax.random.normal(key)\n    return x, jax.random.uniform(key)",
        [("key-reuse", 2, "info")],
    ),
    "a seed in a function": (
        "@jax.jit\ndef f(x):\n    return x + jax.random.normal(jax.random.key(0))",
        [("key-not-threaded", 2, "info")],
    ),
    "a key that rows share as in_axes says": (
        "def f(x, key):\n    return x + jax.random.normal(key)\njax.vmap(f, in_axes=(0, None))(xs, key)",
        [("key-not-threaded", 1, "info")],
    ),
    "64 bits in a library": (
        "def f(n):\n    return jnp.zeros(n, jnp.int64)\ndef g(n):\n    return jnp.zeros(n, dtype=jnp.float64)",
        [("x64-truncation", 1, "info")],
    ),
    "64 bits at the top": ("x = jnp.zeros(3, jnp.int64)", [("x64-truncation", 0, "warning")]),
    "a tracer that is kept raises where it is used": (
        "kept = []\n@jax.jit\ndef f(x):\n    kept.append(x)\n    return x",
        [("tracer-leak", 3, "warning")],
    ),
    "a donation that may be of no use": (
        "f = jax.jit(lambda x: x.sum(), donate_argnums=0)\nx = jnp.ones(3)\ny = f(x)\nprint(x)",
        [("donation-misuse", 2, "warning")],
    ),
    "who counts traces": (
        "traces = []\n@jax.jit\ndef f(x):\n    traces.append(1)\n    return x",
        [("trace-time-mutation", 3, "info")],
    ),
    "shapes that the function around asks for": (
        "def shapes_of(x):\n    shapes = []\n    def body(c, x):\n        shapes.append(jnp.shape(c))\n        return c, x\n"
        "    lax.scan(body, x, x)\n    return shapes",
        [("trace-time-mutation", 3, "info")],
    ),
    "who counts traces in a function": (
        "def test_it():\n    n = 0\n    @jax.jit\n    def f(x):\n        nonlocal n\n        n += 1\n        return x\n"
        "m = 0\n@jax.jit\ndef g(x):\n    global m\n    m += 1\n    return x",
        [("trace-time-mutation", 5, "info"), ("trace-time-mutation", 11, "warning")],
    ),
    "an array is no reference": (
        "# freeze, hijax and pallas are words here\n@jax.jit\ndef f(x):\n    y = jnp.sin(x)\n    y[0] = 1\n    return y",
        [("item-assignment", 4, "error")],
    ),
    "an array beside references": (
        "r = jax.new_ref(jnp.ones(3))\n@jax.jit\ndef f(x):\n    y = jnp.sin(x)\n    y[0] = 1\n    return y",
        [("item-assignment", 4, "error")],
    ),
    "a print that a test of the program leaves out": (
        "@jax.jit\ndef f(x):\n    if VERBOSE:\n        print(x)\n    return x",
        [("trace-time-print", 3, "info")],
    ),
    "a flag that one call gives, or may give": (
        "@jax.jit\ndef f(x, debug=False):\n    if debug:\n        print(x)\n    return x\nf(1.0)\nf(1.0, **more)\n",
        [("trace-time-print", 3, "info")],
    ),
    "what is certain": ("@jax.jit\ndef f(x):\n    return x if x > 0 else -x", [("branch-on-tracer", 2, "error")]),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_a_look_cannot_know_is_told_as_less(name: str) -> None:
    text, due = TOLD[name]
    found = [(one.id, one.span.line - FIRST, one.severity) for one in look(JAX + text, "<program>")]
    assert found == due


def test_an_array_is_not_advised_where_a_size_stands() -> None:
    for line in ("return x[-int(k):]", "return x[: 2 * int(k)]", "return jnp.zeros((int(k), 2))"):
        (one,) = look(f"{JAX}@jax.jit\ndef f(x, k):\n    {line}\n", "<program>")
        assert one.id == "host-call-on-tracer"
        assert one.fix is not None and one.fix.text.startswith("Make `k` static") and not one.fix.edits


@pytest.mark.parametrize("call", ["jnp.full((3,), int(k))", "jnp.linspace(0, int(k), 5)", "jnp.tile(int(k), 3)"])
def test_a_value_beside_sizes_is_none(call: str) -> None:
    (one,) = look(f"{JAX}@jax.jit\ndef f(x, k):\n    return {call}\n", "<program>")
    assert one.fix is not None and "static" not in one.fix.text


def test_the_other_uses_of_keys_are_counted_as_places() -> None:
    text = """
key = jax.random.key(0)
x = jax.random.normal(key)
y = jax.random.uniform(key)
z = jax.random.gumbel(key)
"""
    (one,) = look(JAX + text, "<program>")
    assert one.message.endswith(" So does 1 other place of this program.")


def test_a_measured_cell_blames_what_is_compiled() -> None:
    cells = [
        "import jax, jax.numpy as jnp\nloop = jax.jit(lambda x: jnp.sin(x))",
        "%%time\nstart = jnp.ones(3)\nout = loop(start)",
    ]
    program = of_cells(cells, "a.ipynb")
    found = [(one.id, program.place(one.span.line)) for one in look(program.text, program.file, program.cells)]
    assert found == [("misleading-timing", (2, 3))]


def test_a_measured_cell_does_not_run_what_it_defines() -> None:
    cells = [
        "import jax, jax.numpy as jnp",
        "%%time\n@jax.jit\ndef f(x):\n    return jnp.linalg.inv(x)\nx = jnp.ones((3, 3))",
    ]
    program = of_cells(cells, "a.ipynb")
    assert look(program.text, program.file, program.cells) == []


def test_a_measurement_ends_with_its_cell() -> None:
    cells = [
        "import jax, time\nf = jax.jit(lambda x: -x)\nstart = time.time()\ny = f(1.0)",
        "print(time.time() - start)",
    ]
    program = of_cells(cells, "a.ipynb")
    assert look(program.text, program.file, program.cells) == []


SCOPES = {
    "x = 1\ndef f(): return x  #": "Module",
    "x = 1\ndef f(x): return x  #": "FunctionDef",
    "class A:\n    x = 1\n    def f(self): return x  #": None,
    "class A:\n    x = 1\n    y = x  #": "ClassDef",
    "x = 1\ny = [x for x in range(3)]  #": "ListComp",
    "x = 1\ndef f():\n    global x\n    x = 2\n    return x  #": "Module",
    "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n        return x  #": "FunctionDef",
    "y = [(x := i) for i in range(3)]\nz = x  #": "Module",
    "f = lambda x: x  #": "Lambda",
    "import x.y\nz = x  #": "Module",
}


@pytest.mark.parametrize("text", SCOPES)
def test_names_belong_to_the_scope_that_python_says(text: str) -> None:
    code = Code(text, "<program>")
    line = next(i for i, one in enumerate(text.split("\n"), 1) if one.endswith("#"))
    names = [n for n in code.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.lineno == line]
    name = next(n for n in names if n.id != "range")
    scope = code.scopes.binding(name.id, name)
    assert (type(scope).__name__ if scope is not None else None) == SCOPES[text]


OTHER_NAMES = {
    ("import jax", "jx = jax", "jx.jit"): True,
    ("import jitscope as jx", "jax = jx", "jax.jit"): True,
    ("import jax", "jit, grad = jax.jit, jax.grad", "jit"): True,
    ("import jax as j", "J = K = j", "K.jit"): True,
    ("import jax, mine", "jx = jax\njx = mine", "jx.jit"): False,
    ("import jax, mine", "jx = jax if mine.fast else mine", "jx.jit"): False,
    ("import jax, mine", "def choose():\n    global jx\n    jx = mine\njx = jax", "jx.jit"): False,
}


@pytest.mark.parametrize("names", OTHER_NAMES)
def test_a_library_is_known_by_a_name_that_a_cell_gives_it(names: tuple[str, str, str]) -> None:
    imports, given, jit = names
    program = of_cells(
        [imports, given, f"@{jit}\ndef f(x):\n    if x > 0:\n        return x\n    return -x"], "a.ipynb"
    )
    found = [one.id for one in look(program.text, program.file, program.cells)]
    assert found == ["branch-on-tracer"] * OTHER_NAMES[names]
