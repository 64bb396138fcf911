"""A notebook in the style of jax's own documentation: what it prints, gives and raises is the same while it is watched, and each cell
shows what jax compiled in it, at its lines."""

import re

from jitscope_scope import jaxwatch
from jitscope_widgets import validate
from tests.jaxwatch.compilations import counted
from tests.kernel_ext.conftest import bare_shell  # noqa: F401


# Cells in their order: what jax compiles of functions, the error that ends the cell, its text.
NOTEBOOK = [
    # first steps
    ("", "", "import functools\nimport numpy as np\nimport jax\nimport jax.numpy as jnp\nfrom jax import grad, jit, lax, random, vmap"),
    ("", "", "x_jnp = jnp.linspace(0, 10, 5)\nprint(2 * jnp.sin(x_jnp) * jnp.cos(x_jnp))\nisinstance(x_jnp, jax.Array)"),
    ("", "TypeError", "a = jnp.arange(4)\na[0] = 10"),
    ("", "", "b = a.at[0].set(10)\nprint(a, b, b.at[1:3].multiply(2).at[::2].get())"),
    ("norm", "", "@jit\ndef norm(X):\n    X = X - X.mean(0)\n    return X / X.std(0)\nX = random.normal(random.key(1701), (6, 3))\nnorm(X)"),
    ("", "NonConcreteBooleanIndexError", "@jit\ndef positive(v):\n    return v[v < 0]\npositive(X)"),
    ("logistic", "", "def logistic(v):\n    return jnp.sum(1 / (1 + jnp.exp(-v)))\nprint(grad(logistic)(x_jnp))\nprint(grad(jit(grad(jit(grad(logistic)))))(1.0))"),
    ("f g", "", "@jit\ndef f(v):\n    print('f runs with', v)\n    return jnp.dot(v + 1, v)\n@jit\ndef g(v):\n    return f(v) * 2\ng(x_jnp), f(x_jnp)"),
    # sizes that are known while tracing
    ("", "TypeError", "@jit\ndef flat(v):\n    return v.reshape(jnp.array(v.shape).prod())\nflat(X)"),
    ("flat", "", "@jit\ndef flat(v):\n    return v.reshape(np.prod(v.shape))\nflat(X)"),
    ("power", "", "@functools.partial(jit, static_argnums=1)\ndef power(v, n):\n    return v if n == 0 else v * power(v, n - 1)\npower(2.0, 3), power(2.0, n=2)"),
    # sharp bits
    ("impure", "", "total = 0.0\n@jit\ndef impure(v):\n    return v + total\nprint(impure(4.0))\ntotal = 10.0\nprint(impure(5.0))"),
    ("", "TracerBoolConversionError", "@jit\ndef relu(v):\n    if v < 0:\n        return 0.0 * v\n    return v\nrelu(2.0)"),
    ("", "ConcretizationTypeError", "@jit\ndef count(v):\n    return [i for i in range(int(v))]\ncount(3)"),
    ("", "TracerArrayConversionError", "@jit\ndef outside(v):\n    return np.log(v)\noutside(3.0)"),
    ("leak", "", "kept = []\n@jit\ndef leak(v):\n    kept.append(v * 2)\n    return v\nleak(1.0)"),
    ("", "UnexpectedTracerError", "kept[0] + 1"),
    ("", "", "print(jnp.arange(10)[11], jnp.arange(10.0).at[11].get(mode='fill'), jnp.sum(jnp.array([1, 2, 3])))"),
    ("", "TypeError", "jnp.sum([1, 2, 3])"),
    ("", "FloatingPointError", "with jax.debug_nans(True):\n    jnp.log(-jnp.ones(2))"),
    ("<lambda>", "", "with jax.enable_x64(True):\n    print(jit(lambda v: v * 2)(np.arange(3.0)).dtype)"),
    ("", "TypeError", "jit(lambda p, q: jnp.sin(p) @ q)(X, X)"),
    # control flow
    ("relu", "", "@jit\ndef relu(v):\n    return lax.cond(v < 0, lambda u: 0.0 * u, lambda u: u, v)\nrelu(2.0), relu(-2.0)"),
    ("scanned", "", "@jit\ndef scanned(v):\n    def step(carry, row):\n        carry = carry * 0.5 + row\n        return carry, carry.sum()\n    return lax.scan(step, jnp.zeros(3), v)\nscanned(X)"),
    ("collatz", "", "@jit\ndef collatz(n):\n    return lax.while_loop(\n        lambda s: s[0] != 1,\n        lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),\n        (n, 0),\n    )[1]\ncollatz(6)"),
    ("scan", "", "print(lax.fori_loop(0, 5, lambda i, s: s + i, 0))"),
    # random numbers
    ("", "", "key = random.key(0)\nkey, one, two = random.split(key, 3)\nrandom.uniform(one, (2,)), random.randint(two, (3,), 0, 9)"),
    # trees
    ("update", "", "params = {'w': jnp.ones((3, 2)), 'b': (jnp.zeros(2), None)}\n@jit\ndef update(p, v):\n    def loss(p):\n        return jnp.mean((v @ p['w'] + p['b'][0]) ** 2)\n    return jax.tree.map(lambda q, d: q - 0.1 * d, p, grad(loss)(p))\nfor _ in range(3):\n    params = update(params, X)\njax.tree.map(jnp.shape, params), params['b'][0]"),
    ("scale", "", "@jax.tree_util.register_pytree_node_class\nclass Pair:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n    def tree_flatten(self):\n        return (self.a, self.b), None\n    @classmethod\n    def tree_unflatten(cls, aux, parts):\n        return cls(*parts)\n@jit\ndef scale(pair):\n    return jax.tree.map(lambda v: v * 3, pair)\nvars(scale(Pair(1.0, 2.0)))"),
    ("", "ValueError", "jax.tree.map(lambda p, q: p + q, [1, 2], [1, 2, 3])"),
    # transformations
    ("predict", "", "def predict(w, v):\n    return jnp.tanh(v @ w).sum()\nper_example = jit(vmap(grad(predict), in_axes=(None, 0)))\nper_example(jnp.ones(3), X)"),
    ("clipped", "", "@jax.custom_jvp\ndef clipped(v):\n    return jnp.log(v)\n@clipped.defjvp\ndef _(primals, tangents):\n    return clipped(primals[0]), tangents[0] / jnp.maximum(primals[0], 0.5)\njit(grad(clipped))(0.1)"),
    ("shouted", "", "@jit\ndef shouted(v):\n    jax.debug.print('v is {}', v)\n    return v + 1\nprint(shouted(1.0))\njax.effects_barrier()"),
    ("", "", "lowered = jit(predict).lower(jnp.ones(3), X)\nprint('stablehlo' in lowered.as_text(), lowered.out_info)"),
    ("", "", "print(jax.make_jaxpr(predict)(jnp.ones(3), X))"),
]  # fmt: skip


def same(text):
    """Text without what differs from run to run: addresses, the numbers of cells, their files and lines, which %%jit makes one longer."""
    text = re.sub(r"Out\[\d+\]", "Out", re.sub(r"0x[0-9a-f]+", "0x", text))
    return re.sub(r"(/tmp/ipykernel_\d+/\d+\.py|<ipython-input-[^>]*>):?(\d+)?", "CELL", text)


def run(shell, cells, head=""):
    """What each cell left behind, and how often it compiled what."""
    found = []
    with counted() as compiled:
        for _, _, text in cells:
            ran = shell.cell(head + text)
            found.append((ran, dict(compiled)))
            compiled.clear()
    return found


def test_the_notebook_is_the_same_and_shows_what_was_compiled(bare_shell):  # noqa: F811
    plain = run(bare_shell, NOTEBOOK)
    bare_shell.ip.reset(new_session=False)
    assert not bare_shell.cell("%load_ext jitscope").error
    watched = run(bare_shell, NOTEBOOK, "%%jit\n")
    watcher = jaxwatch.current()
    for cell, (alone, without), (ran, compiled) in zip(NOTEBOOK, plain, watched, strict=True):
        _, error, text = cell
        assert ran.error.partition(":")[0] == alone.error.partition(":")[0] == error, (text, ran.traceback)
        assert compiled == without, text
        assert repr(ran.result) == repr(alone.result)
        if not error:
            assert same(ran.stdout) == same(alone.stdout), text
        document = ran.documents[-1]
        validate(document)
        check(cell, document)
    assert not watcher.faults, list(watcher.faults)


def check(cell, document):
    """Each function has its graph, kernels with origins, and lines of the notebook's cells."""
    functions, error, text = cell
    names = [one["function"].rpartition(" of ")[2] for one in document["compilations"] if one["fusion"]]
    assert {*names} == {*functions.split()}, text
    for one in document["compilations"]:
        places = [p for node in one["graph"]["nodes"] if node["kind"] == "equation" for p in node["positions"][:1]]
        assert len(places) == sum(node["kind"] == "equation" for node in one["graph"]["nodes"]), (text, one["function"])
        assert all(p["cell"] for p in places), (text, {(p["file"], p["line"]) for p in places if not p["cell"]})
        assert all(p["text"].strip() for p in places)
    stopped = (document["error"] or {}).get("stopped")
    if error.startswith(("Tracer", "Concretization", "NonConcrete")):
        assert stopped and stopped["graph"]["nodes"], text
