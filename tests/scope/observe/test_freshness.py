"""Code that is run again sees today's world, and compiles only what is new.

A cell's text is run again and again in one namespace while something it depends on changes: the compiled function must give
what the Python function gives at that moment. And what did not change is traced anew, but compiled never again.
"""

from __future__ import annotations

import functools
import gc
import linecache
from itertools import count
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe
from tests.compiler.programs import floats, steps


X = floats(5)
_numbers = count()


class Notebook:
    """Cells run one after another in one namespace, each under a file name of its own."""

    def __init__(self):
        self.scope: dict[str, Any] = {"jx": jx, "jnp": jnp, "np": np, "functools": functools, "lax": jx.lax}

    def run(self, text: str) -> None:
        name = f"<cell {next(_numbers)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), self.scope)

    def __getitem__(self, name: str) -> Any:
        return self.scope[name]


USE = """
@jx.jit
def f(x):
    return helper(x)
"""
HELPERS = {
    "a helper": (
        USE,
        [
            "def helper(x): return jnp.sin(x)",
            "def helper(x): return jnp.cos(x)",
            "def helper(x): return jnp.sin(x) * 2",
            "def helper(x): return jnp.sin(x)",
        ],
    ),
    "a helper's helper": (
        USE + "\ndef helper(x): return inner(x) + 1\n",
        ["def inner(x): return x * 2", "def inner(x): return x * 3", "inner = jnp.tanh", "inner = lambda x: x * 2"],
    ),
    "a compiled helper": (
        USE,
        [
            "helper = jx.jit(lambda x: x + 1)",
            "helper = jx.jit(lambda x: x + 2)",
            "helper = jx.jit(lambda x: jnp.sin(x) + 1)",
        ],
    ),
    "a helper that is differentiated": (
        "@jx.jit\ndef f(x):\n    return jx.grad(lambda y: helper(y).sum())(x)\n",
        ["def helper(x): return x**2", "def helper(x): return x**3", "def helper(x): return jnp.sin(x)"],
    ),
    "a global": (
        "f = jx.jit(lambda x: x * scale)",
        ["scale = 2.0", "scale = 3.0", "scale = 2", "scale = np.float32(2)", "scale = jnp.ones(5)", "scale = np.arange(5.0)"],
    ),
    "a global array changed in place": (
        "f = jx.jit(lambda x: x * table)",
        ["table = np.ones(5, np.float32)", "table[2] = 7", "table[:] = 3", "table = np.ones(50, np.float32)[:5]"],
    ),
    "a large global array": (
        "f = jx.jit(lambda x: x.sum() * table)",
        ["table = jnp.arange(100.0)", "table = table + 1", "table = table.at[3].set(0)"],
    ),
    "a default": (
        "def f(x, a=default): return x * a\nf = jx.jit(f)",
        ["default = 2.0", "default = 3.0", "default = 2", "default = np.float32(4)", "default = jnp.arange(5.0)"],
    ),
    "a default by keyword": (
        "def f(x, *, n=default):\n    for _ in range(n): x = x + 1\n    return x\nf = jx.jit(f)",
        ["default = 2", "default = 3", "default = 0"],
    ),
    "a default that is a choice": (
        "def f(x, how=default): return jnp.sin(x) if how == 'sin' else jnp.cos(x)\nf = jx.jit(f, static_argnames='how')",
        ["default = 'sin'", "default = 'cos'", "default = 'sin'"],
    ),
    "a closure cell": (
        "def make():\n    k = value\n    return jx.jit(lambda x: x * k)\nf = make()",
        ["value = 2.0", "value = 3.0", "value = -2.0"],
    ),
    "a nonlocal variable": (
        "def make():\n    k = 0.0\n    def set_it(v):\n        nonlocal k\n        k = v\n    return jx.jit(lambda x: x * k), set_it\n"
        "f, set_it = make()\nset_it(value)",
        ["value = 2.0", "value = 3.0"],
    ),
    "an element of a list": ("f = jx.jit(lambda x: x * items[1])", ["items = [1.0, 2.0]", "items[1] = 5.0", "items.insert(0, 9.0)"]),
    "a function in a list": ("f = jx.jit(lambda x: steps[0](x))", ["steps = [jnp.sin]", "steps[0] = jnp.cos", "steps[0] = lambda x: x"]),
    "an entry of a dict": ("f = jx.jit(lambda x: x * table['k'])", ["table = {'k': 1.0}", "table['k'] = 5.0", "table = {'k': 7}"]),
    "an attribute": (
        "class Model:\n    k = factor\n    def __call__(self, x): return x * self.k\nmodel = Model()\nf = jx.jit(model)",
        ["factor = 2.0", "factor = 3.0"],
    ),
    "an attribute of an instance": (
        "f = jx.jit(lambda x: x * model.k)",
        ["class M: k = 1.0\nmodel = M()", "model.k = 4.0", "M.k = 9.0\nmodel = M()", "del model\nclass M: k = 2\nmodel = M"],
    ),
    "a method": (
        "f = jx.jit(model.apply)",
        [
            "class M:\n    k = 2.0\n    def apply(self, x): return x * self.k\nmodel = M()",
            "model.k = 3.0",
            "class M:\n    k = 2.0\n    def apply(self, x): return x + self.k\nmodel = M()",
            "M.apply = lambda self, x: x - self.k",
        ],
    ),
    "a decorator": (
        "@jx.jit\n@decorate\ndef f(x): return jnp.sin(x)",
        [
            "def decorate(f): return f",
            "def decorate(f): return lambda x: f(x) * 2",
            "def decorate(f):\n    @functools.wraps(f)\n    def wrapped(*args): return f(*args) + 1\n    return wrapped",
        ],
    ),
    "a module's attribute": (
        "f = jx.jit(lambda x: x * space.k)",
        ["import types\nspace = types.SimpleNamespace(k=1.0)", "space.k = 2.0", "space = types.SimpleNamespace(k=np.ones(5))"],
    ),
    "the body of a loop": (
        "f = jx.jit(lambda x: lax.fori_loop(0, 3, body, x))",
        ["def body(i, x): return x + i", "def body(i, x): return x * 2", "def body(i, x): return x + k\nk = 1.0", "k = 2.0"],
    ),
    "the body of a scan": (
        "f = jx.jit(lambda x: lax.scan(lambda c, y: (c + y * k, c), 0.0, x)[1])",
        ["k = 1.0", "k = 2.0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HELPERS)
def test_a_cell_run_again_sees_what_changed(name):
    cell, changes = HELPERS[name]
    notebook, wanted = Notebook(), []
    for change in changes:
        notebook.run(change)
        notebook.run(cell)
        for _ in range(2):
            got = notebook["f"](X)
            with jx.disable_jit():
                wanted = notebook["f"](X)
            np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=change)
            assert got.dtype == jnp.asarray(wanted).dtype


@pytest.mark.parametrize("name", HELPERS)
def test_a_cell_run_again_unchanged_compiles_nothing(name):
    cell, changes = HELPERS[name]
    notebook = Notebook()
    for change in changes[:1]:
        notebook.run(change)
    notebook.run(cell)
    first = notebook["f"](X)
    since = observe.ledger().mark()
    with steps() as seen:
        for above in ("", "# a comment above\n\n", "unrelated = 1\n"):
            notebook.run(above + cell)
            np.testing.assert_array_equal(notebook["f"](X), first)
    assert seen["trace"] >= 1 and not seen["compile"] and not seen["lower"]
    rows = list(observe.ledger().since(since))
    assert rows and not any(row.seconds.get("compile") for row in rows)


def loss(w, x):
    return jnp.sum(jnp.tanh(w * x) ** 2)


class Layer:
    def __init__(self, k):
        self.k = k

    def apply(self, x):
        return jnp.sin(x) * self.k


FRESH = {
    "a lambda": lambda: jx.jit(lambda x: jnp.sin(x) * 2)(X),
    "a nested def": lambda: jx.jit(_make(2.0))(X),
    "a partial": lambda: jx.jit(functools.partial(loss, X))(X),
    "a partial by keyword": lambda: jx.jit(functools.partial(loss, x=X))(X),
    "a bound method": lambda: jx.jit(Layer(2.0).apply)(X),
    "a callable object": lambda: jx.jit(jx.tree_util.Partial(loss, X))(X),
    "jit of grad": lambda: jx.jit(jx.grad(loss))(X, X),
    "jit of value_and_grad of a lambda": lambda: jx.jit(jx.value_and_grad(lambda w: loss(w, X)))(X),
    "jit of vmap": lambda: jx.jit(jx.vmap(jx.grad(loss), in_axes=(0, None)))(X, X),
    "jit of hessian": lambda: jx.jit(jx.hessian(lambda w: loss(w, X)))(X),
    "jit of jit of grad": lambda: jx.jit(jx.grad(jx.jit(lambda w: loss(w, X))))(X),
    "a scan over a lambda": lambda: jx.lax.scan(lambda c, x: (c * x, c), 1.0, X)[1],
    "a while_loop over lambdas": lambda: jx.lax.while_loop(lambda c: c < 10.0, lambda c: c * 2, 1.0),
    "a cond over lambdas": lambda: jx.lax.cond(True, lambda x: x * 2, lambda x: x * 3, X),
}


def _make(k):
    def inner(x):
        return jnp.cos(x) * k

    return inner


@pytest.mark.parametrize("name", FRESH)
def test_fresh_functions_compile_nothing_new(name):
    first = FRESH[name]()
    with steps() as seen:
        for _ in range(3):
            for one, other in zip(jx.tree.leaves(FRESH[name]()), jx.tree.leaves(first)):
                np.testing.assert_array_equal(one, other)
    assert not seen["compile"] and not seen["lower"]


def test_a_method_of_changed_state_is_another_program():
    assert float(jx.jit(Layer(2.0).apply)(1.0)) != float(jx.jit(Layer(3.0).apply)(1.0))
    layer = Layer(2.0)
    before = np.asarray(jx.jit(layer.apply)(X))
    layer.k = 4.0
    np.testing.assert_allclose(jx.jit(Layer(4.0).apply)(X), before * 2, rtol=1e-6)


def test_a_change_back_finds_its_program_again():
    notebook = Notebook()
    cell = "f = jx.jit(lambda x: jnp.exp(x) * scale)"
    for scale in (2.5, 3.5):
        notebook.run(f"scale = {scale}")
        notebook.run(cell)
        notebook["f"](X)
    with steps() as seen:
        for scale in (2.5, 3.5, 2.5):
            notebook.run(f"scale = {scale}")
            notebook.run(cell)
            np.testing.assert_allclose(notebook["f"](X), np.exp(X) * np.float32(scale), rtol=1e-6)
    assert seen["trace"] == 3 and not seen["compile"]


def test_what_was_asked_for_last_is_kept_though_older_programs_die_later(monkeypatch):
    monkeypatch.setattr("jitscope.backend.compile.ORPHANS", 1 << 20)
    older = [jx.jit(lambda x, k=k: jnp.sin(x) * (k + 2.125)) for k in range(15)]
    for f in older:
        f(X)
    notebook = Notebook()
    cell = "f = jx.jit(lambda x: jnp.exp(x) * 7.375)"
    notebook.run(cell)
    notebook["f"](X)
    notebook.scope["f"] = None
    gc.collect()
    del older, f
    gc.collect()
    with steps() as seen:
        notebook.run(cell)
        notebook["f"](X)
    assert seen["trace"] == 1 and not seen["compile"]
