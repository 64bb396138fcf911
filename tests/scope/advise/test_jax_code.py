"""The look at programs that import jax, and libraries written for it: nothing is said of `jax_programs/`, which are fine; into them
traps are planted here, one at a time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jitscope_scope.advise import look
from tests.scope.advise.programs import HEADER, in_files


PROGRAMS = {path.stem: path.read_text() for path in sorted((Path(__file__).parent / "jax_programs").glob("*.py"))}
JAX_HEADER = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\nimport numpy as np\n"


def found(text: str) -> list[tuple[str, int]]:
    return [(one.id, one.span.line) for one in look(text, "<program>")]


@pytest.mark.parametrize("file", [file for file, some in in_files().items() if not all(p.cells for p in some)])
def test_programs_in_jaxs_spelling_give_the_same(file: str) -> None:
    assert JAX_HEADER.count("\n") == HEADER.count("\n")
    wrong = {}
    for program in (p for p in in_files()[file] if not p.cells):
        every = look(program.text.replace(HEADER, JAX_HEADER), "<program>")
        given = {(one.id, one.span.line) for one in every}
        due = given <= program.wanted if program.late else given == program.wanted
        if not due or any("jitscope." in one.message for one in every):
            wrong[program.name] = every
    assert wrong == {}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_of_programs_that_are_fine(name: str) -> None:
    assert found(PROGRAMS[name]) == []


# (program, a line of it, what stands there instead, the sharp bit): the mark # <- is at the line that is due.
PLANTED = [
    ("linen_attention", "        x = x + y\n", "        x = x + y * np.random.rand()  # <-\n", "host-nondeterminism"),
    ("linen_mlp", "            x = nn.relu(x)", "            x = nn.relu(x)\n            print(x)  # <-", "trace-time-print"),
    ("linen_attention", "        mask = nn.make_causal_mask(tokens)", "        mask = nn.make_causal_mask(tokens) * np.random.rand()  # <-", "host-nondeterminism"),
    ("linen_conv_batchnorm", "        x = jnp.mean(x, axis=(1, 2))", '        x = jnp.mean(x, axis=(1, 2))\n        text = f"{x}"  # <-', "trace-time-print"),
    ("nnx_train", "        self.count[...] += 1", "        self.count[...] += 1\n        import random\n        x = x * random.random()  # <-", "host-nondeterminism"),
    ("nnx_train", "    logits = model(batch", "    import time\n    begun = time.time()  # <-\n    logits = model(batch", "host-nondeterminism"),
    ("linen_mlp", "    rng = jax.random.fold_in(rng, state.step)", "    rng = jax.random.fold_in(rng, state.step)\n    print(batch)  # <-", "trace-time-print"),
    ("linen_mlp", "    state = state.apply_gradients(grads=grads)", "    state.apply_gradients(grads=grads)  # <-", "update-result-dropped"),
    ("linen_mlp", "    state = state.apply_gradients(grads=grads)", "    if jnp.isnan(loss):  # <-\n        return state, {}", "branch-on-tracer"),
    ("linen_conv_batchnorm", "    images = jax.random.uniform(image_key, (4, 8, 8, 3))", "    labels = jax.random.uniform(image_key)\n    images = jax.random.uniform(image_key, (4, 8, 8, 3))  # <-", "key-reuse"),
    ("linen_attention", "            targets = tokens[:, 1:]", "            targets = tokens[:, 1:]\n            targets = targets[targets > 0]  # <-", "data-dependent-shape"),
    ("linen_attention", "            targets = tokens[:, 1:]", "            targets = tokens[:, 1:]\n            targets[0] = 0  # <-", "item-assignment"),
    ("nnx_train", "    metrics.update(loss=loss, logits=logits, labels=batch[\"y\"])\n    optimizer", '    top = jnp.max(jnp.abs(batch["x"]))\n    if top > 1:  # <-\n        return\n    optimizer', "branch-on-tracer"),
    ("nnx_functional", "    model = nnx.merge(graphdef, state)", "    import time\n    start = time.time()  # <-\n    model = nnx.merge(graphdef, state)", "host-nondeterminism"),
    ("nnx_functional", "    for i in range(5):", "    for i in range(5):\n        f = jax.jit(lambda s: s)  # <-\n        f(x)", "recompile-fresh-function"),
    ("equinox_mnist", "    pred_y = jax.vmap(model)(x)\n    return jnp.mean(y ==", "    pred_y = jax.vmap(model)(x)\n    best = jnp.max(pred_y)\n    if best > 0:  # <-\n        return best\n    return jnp.mean(y ==", "branch-on-tracer"),
    ("equinox_mnist", "    pred_y = jax.vmap(model)(x)\n    return jnp.mean(y ==", "    pred_y = jax.vmap(model)(x)\n    pred_y.at[0].set(0.0)  # <-\n    return jnp.mean(y ==", "update-result-dropped"),
    ("equinox_rnn", "            return self.cell(inp, carry), None", "            noise = jrandom.normal(jrandom.PRNGKey(0), carry.shape)  # <-\n            return self.cell(inp, carry + noise), None", "key-not-threaded"),
    ("equinox_rnn", "        out = jnp.round(out)", "        out = jnp.round(out)\n        count = int(jnp.sum(out))  # <-", "host-call-on-tracer"),
    ("numpyro_regression", "    predictions = Predictive(model, samples)(predict_key, age=age)", "    a = random.normal(predict_key)\n    predictions = Predictive(model, samples)(predict_key, age=age)  # <-", "key-reuse"),
    ("plain_loops", "    def not_yet(state):\n        x, i = state", "    def not_yet(state):\n        x, i = state\n        if i > 50:  # <-\n            return False", "branch-on-tracer"),
    ("plain_loops", "    y, path = integrate(jnp.array([1.0, 0.0]), 0.1, steps=10)", '    y, path = integrate(jnp.array([1.0, 0.0]), 0.1, steps=[10])  # <-', "static-unhashable"),
    ("plain_loops", "    slope = grad(lambda x: clipped(x, 1.0).sum())(jnp.array([3.0, 4.0]))", "    slope = grad(lambda x: x * x)(3)  # <-", "grad-bad-signature"),
    ("plain_gaussian_process", "    mean = cross.T @ cho_solve(factor, y)", "    mean = cross.T @ cho_solve(factor, y)\n    mean = mean.astype(jnp.float64)  # <-", "x64-truncation"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "line", "planted", "id"),
    [p for p in PLANTED if p[3]],
    ids=lambda v: v if isinstance(v, str) and "\n" not in v and len(v) < 30 else "",
)
def test_a_planted_trap_is_caught_at_its_line(name: str, line: str, planted: str, id: str) -> None:
    assert PROGRAMS[name].count(line) == 1, line
    text = PROGRAMS[name].replace(line, planted)
    due = [number for number, one in enumerate(text.splitlines(), 1) if "# <-" in one]
    assert [id] * len(due) == [id]
    assert found(re.sub(r"  # <-", "", text)) == [(id, due[0])]


FINE = {
    "an optimizer's update in a branch": """
import jax, optax
opt = optax.adam(1e-3)
@jax.jit
def step(ok, grads, state, params):
    return jax.lax.cond(ok, lambda: opt.update(grads, state, params), lambda: (grads, state))
""",
    "an optimizer of another library": """
import jax, tensorflow as tf
from flax.training import train_state
def step(optimizer, gradients, variables):
    optimizer.apply_gradients(zip(gradients, variables))
""",
    "a tree map for what its function does": """
import jax
jax.tree.map(lambda x, y: check(x, y), {"a": 1}, {"a": 1})
jax.tree.map(lambda x, y: None, {"a": 1}, {"a": 1})
""",
    "the first iterable of a comprehension": """
import jax
key = jax.random.key(0)
xs = [jax.random.normal(k) for k in jax.random.split(key, 3)]
""",
    "shapes by functions": """
import jax, jax.numpy as jnp
from jax import lax
@jax.jit
def f(x, y):
    if jnp.shape(x) != jnp.shape(y):
        shape = lax.broadcast_shapes(jnp.shape(x), jnp.shape(y))
        x = jnp.broadcast_to(x, shape)
    if jnp.ndim(x) > 1 and jnp.size(y) > 3 and jnp.result_type(x) == jnp.float32:
        return x
    return jnp.zeros(jnp.shape(y))
""",
    "an argument that is a tuple": """
import jax
@jax.jit
def f(x, rest, shape):
    assert rest == () and shape == x.shape
    return x
""",
    "an argument that vmap does not map": """
import jax, jax.numpy as jnp
def pool(x, size):
    if x.shape[0] % size != 0:
        x = x[: x.shape[0] // size * size]
    return jnp.max(x.reshape(-1, size), axis=1)
y = jax.vmap(pool, (0, None))(jnp.ones((2, 9)), 4)
z = jax.vmap(pool, in_axes=(0, None))(jnp.ones((2, 9)), 3)
""",
    "flags under filter_jit and nnx.jit": """
import equinox as eqx, jax, jax.numpy as jnp
from flax import nnx
@eqx.filter_jit
def f(model, x, train, mode="a", depth=2):
    if train and mode == "a":
        x = x * 2
    for _ in range(depth):
        x = model(x)
    return x
@nnx.jit
def step(model, x):
    model.count.value += 1
    model.last = x
    return model(x)
f(lambda x: x, jnp.ones(3), True, depth=[1, 2])
""",
    "modules that print and draw where nothing is traced, or shapes and flags": """
import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn
from flax import nnx
from functools import partial
import equinox as eqx
class Plain(nn.Module):
    @nn.compact
    def __call__(self, x):
        print("value", x, np.random.rand())
        return nn.Dense(3)(x)
plain = Plain()
x = jnp.ones((2, 3))
params = plain.init(jax.random.key(0), x)
y = plain.apply(params, x)
class Model(nn.Module):
    table: tuple = tuple(np.random.rand(3))
    def setup(self):
        self.block = nn.Dense(3)
    def encode(self, x, scale=1):
        return self.block(x) * scale
    def describe(self, x):
        print(x, np.random.rand())
        return x
    def __call__(self, x, train=False, rate=0.5):
        print(x.shape, train, rate, self.table, self.block)
        if train:
            x = x * rate
        return self.encode(x)
model = Model()
params = model.init(jax.random.key(0), x)
a = jax.jit(model.apply, static_argnums=(2,), static_argnames=("train",))(params, x, True)
b = jax.jit(partial(model.apply, train=True, rate=2.0))(params, x)
c = jax.jit(partial(model.apply, method=Model.encode))(params, x)
c2 = jax.jit(lambda p, v: model.apply(p, v, method="encode"))(params, x)
d = model.apply(params, x, method=Model.describe)
class Two:
    def __init__(self): self.n = 0
    def apply(self, params, x):
        return x
    def __call__(self, x):
        print(x, np.random.rand())
        return x
two = Two()
e = jax.jit(two.apply)(params, x)
class Net(nnx.Module):
    def __init__(self, rngs, n):
        self.a = nnx.Linear(3, 3, rngs=rngs)
        self.w = np.random.rand()
        self.n = n
        print("made", self.w, n)
    def __call__(self, x, verbose=False):
        if verbose:
            print(x.shape, self.n, verbose)
        return self.a(x)
    def show(self):
        print(self.a.kernel[...])
        return np.random.rand()
@nnx.jit
def train(net, x):
    return net(x)
net = Net(nnx.Rngs(0), 3)
train(net, x)
net.show()
print(net(x), np.random.rand())
class E(eqx.Module):
    l: eqx.nn.Linear
    def __call__(self, x, label):
        print(label, self.l.in_features)
        return self.l(x)
e = E(eqx.nn.Linear(3, 3, key=jax.random.key(0)))
@eqx.filter_jit
def run(e, x, label):
    return jax.vmap(e, in_axes=(0, None))(x, label)
run(e, x, "name")
run(e, x, "other")
""",
}


@pytest.mark.parametrize("name", FINE)
def test_what_looks_like_a_trap_and_is_none(name: str) -> None:
    assert found(FINE[name]) == []


def test_a_tree_map_that_only_computes_is_still_found_dropped() -> None:
    text = "import jax, jax.numpy as jnp\njax.tree.map(lambda p, g: jnp.add(p, -0.1 * g), params, grads)\n"
    assert found(text) == [("update-result-dropped", 2)]


IDIOMS = {
    "layers of equinox made of one key": """
import equinox as eqx, jax
key = jax.random.key(0)
a = eqx.nn.Linear(2, 2, key=key)
b = eqx.nn.Linear(2, 2, key=key)
""",
    "modules of flax made of one key": """
import jax, jax.numpy as jnp, flax.linen as nn
key = jax.random.key(0)
a = nn.Dense(2).init(key, jnp.ones((1, 3)))
b = nn.Dense(2).init(key, jnp.ones((1, 3)))
""",
    "a chain and its noise": """
import jax, numpyro
from numpyro.infer import MCMC, NUTS, Predictive
key, other = jax.random.split(jax.random.key(0))
mcmc = MCMC(NUTS(model), num_warmup=5, num_samples=5)
mcmc.run(key)
first = Predictive(model, num_samples=3)(other)
second = Predictive(model, num_samples=3)(other)
""",
    "one key for the dropout of each step": """
import jax, flax.linen as nn
key = jax.random.key(0)
for batch in batches:
    y = net.apply(params, batch, rngs={"dropout": key})  # <- key-reuse
""",
    "updates that nobody takes": """
import jax, optax, equinox as eqx
optax.apply_updates(params, updates)  # <- update-result-dropped
eqx.apply_updates(model, updates)  # <- update-result-dropped
""",
    "the state of an optimizer that nobody keeps": """
import jax, optax
tx = optax.chain(optax.clip(1.0), optax.adam(optax.constant_schedule(1e-3)))
plain = optax.chain(optax.clip(1.0), optax.sgd(1e-3))
state, none = tx.init(params), plain.init(params)
for batch in batches:
    updates, _ = tx.update(jax.grad(loss)(params, batch), state, params)  # <- update-result-dropped
    params = optax.apply_updates(params, updates)
    updates, _ = plain.update(jax.grad(loss)(params, batch), none, params)
    params = optax.apply_updates(params, updates)
""",
    "a key for each": """
import equinox as eqx, jax, jax.numpy as jnp, optax, flax.linen as nn
key = jax.random.key(0)
init, drop = jax.random.split(key)
model = nn.Dense(2)
params = model.init(init, jnp.ones((1, 3)))
optimizer = optax.adam(1e-3)
state = optimizer.init(params)
again = optimizer.init(params)
for step in range(3):
    y = model.apply(params, jnp.ones((1, 3)), rngs={"dropout": jax.random.fold_in(drop, step)})
    updates, state = optimizer.update(params, state)
    params = optax.apply_updates(params, updates)
layers = [eqx.nn.Linear(2, 2, key=k) for k in jax.random.split(drop, 3)]
""",
}


@pytest.mark.parametrize("name", IDIOMS)
def test_what_libraries_do_with_keys_and_updates(name: str) -> None:
    lines = IDIOMS[name].splitlines()
    due = [(line.partition("# <- ")[2], n) for n, line in enumerate(lines, 1) if "# <- " in line]
    assert found(re.sub(r"  # <- .*", "", IDIOMS[name])) == due
