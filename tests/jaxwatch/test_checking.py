"""`jitscope check --run` on programs of jax's: the programs of tests/scope/advise, in jax's spelling, that a look alone cannot tell, and
their look-alikes."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

import jax
import pytest

from jitscope_kernel.check import check
from jitscope_scope.advise.program import read
from tests.extent import one_in
from tests.scope.advise.programs import HEADER, Program, programs


JAX = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\nimport numpy as np\n"
SEEN = [
    p
    for p in programs()
    if HEADER in p.text and not p.cells and (p.late or p.raises or p.name.startswith("values"))
    and not p.name.startswith("devices")  # a process chooses its devices once
]  # fmt: skip
OTHERWISE = {
    "styles_arrays-trigger-17": "jax cuts NumPy's 64 bits without a word",
    "values-trigger-18": "jax cuts NumPy's 64 bits without a word",
    "styles_arrays-trigger-35": "jax donates in silence; its error is in the line that reads",
    "manners_silent-trigger-16": "jax cuts NumPy's 64 bits without a word",
    "numbers_silent-trigger-3": "told by the NaN that it makes",
    "manners_raising-trigger-15": "jax donates in silence; its error is in the line that reads",
    "manners_silent-trigger-21": "a derivative outside of jit that is zero has no operation",
    "styles_trees-trigger-7": "jax compares static data at the second call",
    "styles_trees-trigger-8": "jax compares static data at the second call",
    "styles_trees-trigger-33": "a derivative outside of jit that is zero has no operation",
    "more_styles-trigger-24": "of a loop of jax's, a key that it carries on as it was is told as key-not-threaded",
    "values-trigger-20": "a derivative outside of jit that is zero has no operation",
    "values-trigger-21": "a derivative outside of jit that is zero has no operation",
    "values-trigger-27": "a branch that vmap made is a selection like any other",
}  # fmt: skip


def found(text: str, folder: Path) -> set[tuple[str, int]]:
    """What a run finds. Warnings are shown as the program would show them; of these programs only those that donate in vain have one."""
    file = folder / "program.py"
    file.write_text(text)
    with (
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(record=True) as shown,
    ):
        diagnostics = {(one.one.id, one.line) for one in check(read(str(file)), run=True)}
    assert all(str(one.message).startswith("Some donated buffers") for one in shown), shown
    return diagnostics


@pytest.mark.parametrize("program", one_in(3, [p for p in SEEN if p.name not in OTHERWISE]))
def test_a_run_shows_the_same_in_jaxs_spelling(program: Program, tmp_path: Path) -> None:
    assert found(program.text.replace(HEADER, JAX), tmp_path) == program.wanted
    assert (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision) == (False, None)


def test_what_jax_does_not_know_is_told_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "shaping.py").write_text("import jax.numpy as jnp\ndef counted(k):\n    return jnp.arange(k)\n")
    file = tmp_path / "main.py"
    file.write_text(
        "import jax\nfrom shaping import counted\n@jax.jit\ndef up_to(n):\n    return counted(n)\nup_to(5)\n"
    )
    [told] = check(read(str(file)), run=True)
    assert (Path(told.file).name, told.line, told.one.id) == ("shaping.py", 3, "traced-shape-arg")
    assert told.one.message == (
        "Python needs this value as a number, but while a function is traced only shapes and dtypes are known, not values."
    )
    assert told.one.evidence == ("the value is a traced int32[]", "it depends on the value of the argument n of up_to")
    assert "static_argnames='n'" in told.one.fix.text


def test_a_member_of_an_enum_is_a_flag(tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    text = "import enum\nMode = enum.Enum('Mode', 'FAST SLOW')\nf = jax.jit(lambda x, mode: x if mode is Mode.FAST else -x)\n"
    file.write_text(f"{JAX}{text}f(1.0, Mode.FAST)\n")
    [told] = check(read(str(file)), run=True)
    assert told.one.id == "flag-arg-traced" and "a member of an enum is no array" in told.one.message


LIBRARIES = {
    "layers of flax": """
import jax, jax.numpy as jnp, flax.linen as nn
class Model(nn.Module):
    @nn.compact
    def __call__(self, ids):
        return nn.Embed(10, 4)(ids)  #<- oob-index
model = Model()
params = model.init(jax.random.key(0), jnp.array([1]))
jax.jit(model.apply)(params, jnp.array([3, 12]))
""",
    "layers of equinox": """
import jax, jax.numpy as jnp, equinox as eqx
table = eqx.nn.Embedding(10, 4, key=jax.random.key(0))
@eqx.filter_jit
def look_up(table, ids):
    return jax.vmap(table)(ids)  #<- oob-index
look_up(table, jnp.array([3, 12]))
""",
    "a loss that is a NaN from the third step on": """
import jax, jax.numpy as jnp, optax
optimizer = optax.sgd(1.0)
@jax.jit
def step(w, state):
    def loss(w):
        return jnp.log(w).sum()  #<- silent-nan
    value, grads = jax.value_and_grad(loss)(w)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(w, updates), state, value
w = jnp.array([1.2, 3.0])
state = optimizer.init(w)
for _ in range(6):
    w, state, value = step(w, state)
""",
    "keys that objects hold, of words and typed": """
import jax, jax.numpy as jnp
draws = jax.jit(lambda key, n: jax.random.uniform(key, (3,)) * n)
class Sampler:
    def __init__(self, key):
        self.key = key
    def draw(self):
        return jax.random.uniform(self.key, (3,))
old, new = Sampler(jax.random.PRNGKey(0)), Sampler(jax.random.key(0))
a = old.draw()
b = old.draw()  #<- key-reuse
c = new.draw()
d = draws(new.key, 2.0)  #<- key-reuse
third, words = Sampler(jax.random.key(1)), Sampler(jax.random.PRNGKey(1))
e = jax.random.split(third.key), jax.random.split(words.key)
f = third.draw()  #<- key-reuse
g = words.draw()  #<- key-reuse
""",
    "keys that objects hold and renew, that are made again, cloned, folded in": """
import jax, jax.numpy as jnp
class Sampler:
    def __init__(self, seed):
        self.key = jax.random.PRNGKey(seed)
    def draw(self):
        self.key, own = jax.random.split(self.key)
        return jax.random.uniform(own, (3,))
    def noise(self, step):
        return jax.random.normal(jax.random.fold_in(self.key, step), (2,))
one, other = Sampler(0), Sampler(0)
a = [one.draw(), one.draw(), other.draw(), *[one.noise(i) for i in range(3)]]
key = jax.random.key(0)
either = jax.jit(lambda key, flag: jax.lax.cond(flag, lambda k: jax.random.normal(k, (2,)), lambda k: jnp.ones(2), key))
b = [either(key, False), either(key, True)]
same = jax.jit(lambda key: jax.random.normal(key, (2,)))
c = same(key), same(jax.random.clone(key))
for k in jax.random.split(jax.random.key(1), 3):
    d = same(k)
words = jax.jit(lambda x: x.sum())
e = words(one.key), words(one.key)
""",
    "a captured value that changed": """
import jax.numpy as jnp, equinox as eqx
rate = 0.1
@eqx.filter_jit
def step(x):
    return x * rate  #<- stale-capture
step(jnp.ones(3))
rate = 0.5
step(jnp.ones(3))
""",
    "an optimizer that counts, a key that is split, integers that hash": """
import jax, jax.numpy as jnp, optax
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 0.1, 2, 5)))
@jax.jit
def step(w, state, key):
    grads = jax.grad(lambda w: ((w - jax.random.normal(key, (3,))) ** 2).sum())(w)
    updates, state = optimizer.update(grads, state, w)
    return optax.apply_updates(w, updates), state
w = jnp.ones(3)
state = optimizer.init(w)
for key in jax.random.split(jax.random.key(0), 3):
    w, state = step(w, state, key)
sums = jax.ops.segment_sum(w, jnp.array([0, 1, 5]), num_segments=2)
digest = (jnp.arange(4, dtype=jnp.uint32) * jnp.uint32(2654435761)) ^ jnp.uint32(7)
""",
    "what an eager shard_map prints has values": """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P
mesh = jax.make_mesh((1,), ("i",), axis_types=(AxisType.Auto,))
@jax.shard_map(mesh=mesh, in_specs=P("i"), out_specs=P("i"))
def f(x):
    print(x)
    return 2 * x
f(jnp.arange(6.0)), f(jnp.ones(6))
""",
    "a size that no traced call overrides, a mask of what is known": """
import functools, jax, jax.numpy as jnp
def draws(key, n=5):
    def step(carry, key):
        return carry, jnp.zeros(n) + jax.random.normal(key, (n,))
    return jax.lax.scan(step, 0, jax.random.split(key, 3))[1]
jax.jit(draws)(jax.random.key(0))
def flow(t0, t1, key):
    times = jnp.linspace(t0, t1, 6)
    return times[times >= 0.5] + jax.random.normal(key)
jax.vmap(lambda key: flow(0.0, 1.0, key))(jax.random.split(jax.random.key(0), 2))
""",
    "a library that takes keys apart and compiles for itself": """
import jax, jax.numpy as jnp, numpyro, numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
def model(y):
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
    numpyro.sample("y", dist.Normal(mu, 1.0), obs=y)
mcmc = MCMC(NUTS(model), num_warmup=2, num_samples=2, num_chains=2, chain_method="sequential", progress_bar=False)
mcmc.run(jax.random.key(0), jnp.ones(4))
""",
    "a library that is handed a key once": """
import jax, jax.numpy as jnp, numpyro, numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
def model(x, y=None):
    w = numpyro.sample("w", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(w * x, 1.0), obs=y)
fit, draw = jax.random.split(jax.random.key(0))
guide = AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.Adam(0.1), Trace_ELBO())
result = svi.run(fit, 5, jnp.ones(4), jnp.ones(4), progress_bar=False)
state = svi.init(jax.random.key(1), jnp.ones(4), jnp.ones(4))
for _ in range(2):
    state, loss = svi.update(state, jnp.ones(4), jnp.ones(4))
    loss = svi.evaluate(state, jnp.ones(4), jnp.ones(4))
out = Predictive(guide, params=result.params, num_samples=3)(draw, jnp.ones(4))
""",
    "a key that the program hands to a library twice": """
import jax, jax.numpy as jnp, equinox as eqx, numpyro.distributions as dist
@eqx.filter_jit
def noisy(x, key):
    return x + jax.random.normal(key, x.shape)
keys = {"draw": jax.random.key(0), "noise": jax.random.key(1)}
x = dist.Normal(0.0, 1.0).sample(keys["draw"])
y = dist.Normal(0.0, 1.0).sample(keys["draw"])  #<- key-reuse
for _ in range(2):
    z = noisy(jnp.ones(2), keys["noise"])  #<- key-reuse
""",
    "objects that are made equal from one key": """
import jax, jax.numpy as jnp, equinox as eqx, flax.linen as nn
class Model(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear
    def __init__(self, key):
        a, b = jax.random.split(key)
        self.first, self.second = eqx.nn.Linear(2, 3, key=a), eqx.nn.Linear(3, 1, key=b)
keys = [jax.random.key(0), jax.random.key(1)]
model_key, layer_key = (lambda: keys[0]), (lambda: keys[1])
online, target = Model(model_key()), Model(model_key())
layer, same = eqx.nn.Linear(2, 2, key=layer_key()), eqx.nn.Linear(2, 2, key=layer_key())
class Noisy(nn.Module):
    @nn.compact
    def __call__(self, x, key):
        return nn.Dense(2)(x) + jax.random.normal(key, (2,))
noisy, own = Noisy(), [jax.random.key(2)]
params = noisy.init(jax.random.key(3), jnp.ones(2), own[0])
y = noisy.apply(params, jnp.ones(2), own[0])
""",
    "two arrays in one order": """
import jax, jax.numpy as jnp
key = jax.random.key(0)
def shuffled(key, x, y):
    return jax.random.permutation(key, x), jax.random.permutation(key, y)
a, b = shuffled(key, jnp.arange(6.0), jnp.arange(6))
""",
    "names that functions inside have of their own": """
import jax, jax.numpy as jnp
@jax.jit
def step(state, flag):
    def yes(s):
        return {**s, "n": s["n"] + 1}
    state = jax.lax.cond(flag, yes, lambda s: s, state)
    return jax.tree.map(lambda t: -t, state), [t * 2 for t in (1, 2)]
s, t = {"x": jnp.ones(2), "n": jnp.array(0)}, 0
for t in range(3):
    s, _ = step(s, t > 1)
""",
    "a name of the module that a function inside reads": """
import jax, jax.numpy as jnp
rate = 1.0
@jax.jit
def step(x):
    return jax.lax.map(lambda one: one * rate, x)  #<- stale-capture
for t in range(3):
    y = step(jnp.ones(2))
    rate = rate / 2
""",
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_run_sees_through_libraries(name: str, tmp_path: Path) -> None:
    lines = LIBRARIES[name].splitlines()
    due = {(line.partition("#<- ")[2], n) for n, line in enumerate(lines, 1) if "#<- " in line}
    assert found("\n".join(line.partition("  #<-")[0] for line in lines) + "\n", tmp_path) == due


@pytest.mark.parametrize(
    ("again", "id", "fix"),
    [
        ("f(a, b)", "recompile-pytree", "Pass an array that changes nothing in place of None for mask"),
        ("f(x=a)", "recompile-call-form", "Write all calls one way"),
    ],
)
def test_an_argument_more_is_no_other_way_to_write_a_call(again: str, id: str, fix: str, tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text(
        f"{JAX}@jax.jit\ndef f(x, mask=None):\n    return x if mask is None else x * mask\na, b = jnp.ones(2), jnp.zeros(2)\nf(a)\n{again}\n"
    )
    [told] = check(read(str(file)), run=True)
    assert (told.one.id, told.one.fix.text[: len(fix)]) == (id, fix)


def test_nothing_is_left_when_the_program_has_ended(tmp_path: Path) -> None:
    before = jax.config.jax_traceback_filtering
    found(f"{JAX}jax.jit(lambda x: 1 / x)(0.0)\njnp.zeros(3)[jnp.array([5])]\n", tmp_path)
    assert jax.config.jax_traceback_filtering == before
    from jax._src import api, monitoring

    assert api._post_hook_state.value is None
    assert not [
        one for one in monitoring.get_event_duration_listeners() if "jitscope" in getattr(one, "__module__", "")
    ]


DRAWS = [
    "r.bits(k)",
    "r.gamma(k, 2.0)",
    "r.poisson(k, 3.0)",
    "r.uniform(k)",
    "r.split(k)",
    "r.choice(k, 9)",
    "r.bernoulli(k)",
]


@pytest.mark.parametrize("make", ["r.key(0)", "r.PRNGKey(0)"])
def test_each_function_that_draws_uses_its_key(make: str, tmp_path: Path) -> None:
    """The keys are in lists, where a look does not follow them; `gamma` takes off the hook that tells of calls."""
    text = "from jax import random as r\n"
    for draw in DRAWS:
        text += f"ks, fs = [{make}], [lambda k: {draw}]\nfs[0](ks[0])\nfs[0](ks[0])\n"
    text += (
        f"ks, fs = [{make}], [lambda k: r.normal(r.fold_in(k, 1)), lambda k: r.normal(r.clone(k))]\n"
        if "PRNG" not in make
        else ""
    )
    text += "fs[0](ks[0])\nfs[-1](ks[0])\n" if "PRNG" not in make else ""
    assert found(text, tmp_path) == {("key-reuse", 4 + 3 * at) for at in range(len(DRAWS))}


def test_a_run_refutes_nothing_of_what_vmap_does_for_all_rows(tmp_path: Path) -> None:
    """Nothing is recorded there, and a row has no values either."""
    text = "log = []\ndef f(x):\n    print(x)\n    log.append(x)\n    return x\njax.vmap(f)(jnp.ones(3))\n"
    assert found(JAX + text, tmp_path) == {("trace-time-print", 7), ("tracer-leak", 8)}


KEYS = {
    "given back as it was": (
        "@jax.jit\ndef step(s):\n    return {'w': s['w'] + jax.random.normal(s['key']), 'key': s['key']}\n"
        "s = step({'w': 1.0, 'key': jax.random.key(0)})\n",
        {("key-not-threaded", 7)},
    ),
    "folded with a number of the program": (
        "@jax.jit\ndef step(w, key):\n    return w + jax.random.normal(jax.random.fold_in(key, 7)), key\nstep(1.0, jax.random.key(0))\n",
        {("key-not-threaded", 7)},
    ),
    "folded with a count": (
        "@jax.jit\ndef step(n, key):\n    return n + 1, key, jax.random.normal(jax.random.fold_in(key, n))\nstep(1, jax.random.key(0))\n",
        set(),
    ),
    "split": (
        "@jax.jit\ndef step(key):\n    key, own = jax.random.split(key)\n    return key, jax.random.normal(own)\nstep(jax.random.key(0))\n",
        set(),
    ),
    "carried on by a loop": (
        "@jax.jit\ndef walk(key):\n    def body(i, carry):\n        x, (k,) = carry\n        return x + jax.random.normal(k), (k,)\n"
        "    return lax.fori_loop(0, 3, body, (0.0, (key,)))[0]\nwalk(jax.random.key(0))\n",
        {("key-not-threaded", 9)},
    ),
    "carried on by a loop outside of jit": (
        "def body(i, carry):\n    x, k = carry\n    k, _ = k, None\n    return x + jax.random.normal(k), k\n"
        "lax.fori_loop(0, 3, body, (0.0, jax.random.key(0)))\n",
        {("key-not-threaded", 8)},
    ),
    "carried on by a while outside of jit": (
        "def body(carry):\n    x, k = carry\n    k, _ = k, None\n    return x + jax.random.uniform(k) + 1, k\n"
        "lax.while_loop(lambda carry: carry[0] < 3, body, (0.0, jax.random.key(0)))\n",
        {("key-not-threaded", 8)},
    ),
    "split by a loop outside of jit": (
        "def body(i, carry):\n    x, k, start = carry\n    k, own = jax.random.split(k)\n    return x + jax.random.normal(own), k, start\n"
        "key, start = jax.random.split(jax.random.key(0))\nlax.fori_loop(0, 3, body, (0.0, key, start))\n",
        set(),
    ),
}


@pytest.mark.parametrize("case", KEYS)
def test_a_key_that_stays_what_it_was_is_told(case: str, tmp_path: Path) -> None:
    text, due = KEYS[case]
    assert found(JAX + text, tmp_path) == due
