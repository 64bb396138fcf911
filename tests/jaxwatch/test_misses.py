"""Wrong results of jax's that nobody raises for: what a notebook tells of them unasked."""

import jax
import jax.numpy as jnp
import pytest

from jitscope_scope import jaxwatch
from jitscope_scope.advise.run.errors import explained
from tests.kernel_ext.conftest import bare_shell, shell  # noqa: F401
from tests.scope.advise.stale_programs import misfits


@pytest.fixture
def cells(bare_shell):  # noqa: F811
    jax.clear_caches()
    assert not bare_shell.cell("%load_ext jitscope").error
    setup = "import functools\nimport jax, jax.numpy as jnp, numpy as np\nfrom jax import lax\nx, m = jnp.arange(3.), jnp.ones((3, 3))"
    assert not bare_shell.cell(setup).error
    watcher = jaxwatch.current()
    yield bare_shell
    assert not watcher.faults, list(watcher.faults)


def told(cells) -> list[tuple[str, int, str]]:
    """What %sharpbits lists: id, line, message."""
    ran = cells.cell("%sharpbits")
    assert not ran.error, ran.traceback
    items = [one for document in ran.documents for one in document.get("items", ())]
    return [(one["id"], one["position"]["line"], one["message"]) for one in items]


INDICES = {
    "x[5] + 1": "Index 5 is outside of axis 0, which has size 3: the element at the edge is read, whatever the arguments are.",
    "x[-5] + 1": "Index -5 is outside of axis 0, which has size 3: the element at the edge is read, whatever the arguments are.",
    "m[:, 3].sum()": "Index 3 is outside of axis 1, which has size 3: the element at the edge is read, whatever the arguments are.",
    "x.at[4].set(1.0)": "Index 4 is outside of axis 0, which has size 3: what is written is dropped, whatever the arguments are.",
    "jax.grad(lambda x: x[4] ** 2)(x)": "Index 4 is outside of axis 0, which has size 3: the element at the edge is read, whatever the arguments are.",
    "jax.vmap(lambda r: r[3])(m)": "Index 3 is outside of its axis, which has size 3: the element at the edge is read, whatever the arguments are.",
    "jax.vmap(lambda r: r.at[3].set(1.0))(m)": "Index 3 is outside of its axis, which has size 3: what is written is dropped, whatever the arguments are.",
    "jax.vmap(lambda r: r[2])(m)": "",
    "lax.dynamic_slice(x, (2,), (3,))": "The window 2:5 is outside of axis 0, which has size 3: it is moved until it fits, whatever the arguments are.",
    "jnp.take(x, 7)": "Index 7 is outside of axis 0, which has size 3: NaN (of whole numbers the least or the largest) is read, whatever the "
    "arguments are.",
    "(lambda at: (at(x, -1), at(x, 5)))(jax.jit(lambda x, i: x[i]))": "Index 5 is outside of axis 0, which has size 3: the element at the edge is read, whatever the arguments are.",
    "x.at[4].get(mode='fill')": "",
    "jnp.take(x, 7, mode='clip')": "",
    "(x[2], x[-1], x[-3], x[2:9], x[5:], x.at[-1].add(2.0), m[0, -3])": "",
    "lax.cond(x[0] > 5, lambda: x[7], lambda: x[0])": "",
    "x[n]": "",
    "x[jnp.minimum(n, 2)]": "",
}  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
def test_an_index_outside_of_its_axis_whatever_the_arguments_are_is_told(cells, index: str) -> None:
    assert not cells.cell(f"@jax.jit\ndef f(x, m, n):\n    return {index}\nf(x, m, 9)").error
    said = INDICES[index]
    assert told(cells) == ([("oob-index", 3, said)] if said else [])


def test_an_index_is_told_at_the_line_that_calls_the_library_each_time(cells) -> None:
    text = "@jax.jit\ndef f(x):\n    return jnp.take(x, 7)\nf(x)\n@jax.jit\ndef g(x):\n    y = x * 2\n    return jnp.take(y, 8)\ng(x)"
    assert not cells.cell(text).error
    assert [(id, line) for id, line, _ in told(cells)] == [("oob-index", 3), ("oob-index", 8)]


def test_programs_whose_parameters_are_numbers_of_numpys_are_looked_at(cells) -> None:
    """Of two `vmap`s around a loop jax has axes that are such."""
    text = (
        "@jax.jit\ndef steps(c):\n    return jax.lax.while_loop(lambda s: (s[1] < 9) & (jnp.abs(s[0]) < 2), lambda s: (s[0] ** 2 + c, s[1] + 1), (c * 0, 0))[1]\n"
        "grid = jnp.linspace(-2, 1, 6)[None, :] + 1j * jnp.linspace(-1, 1, 4)[:, None]\njax.vmap(jax.vmap(steps))(grid).sum()"
    )
    assert not cells.cell(text).error and told(cells) == []


CACHED = {
    "a function": (
        "basis",
        "@functools.lru_cache(maxsize=None)\ndef basis(n):\n    return jnp.arange(n) * jnp.ones(n)\n@jax.jit\ndef f(x):\n    return basis(3) + x\nf(x);",
    ),
    "a method": (
        "Table.rows",
        "class Table:\n    @functools.cache\n    def rows(self, n):\n        return jnp.arange(n) * jnp.ones(n)\n"
        "table = Table()\n@jax.jit\ndef f(x):\n    return table.rows(3) + x\nf(x);",
    ),
}


@pytest.mark.parametrize("name", CACHED)
def test_the_cache_that_kept_a_tracer_is_named(cells, name: str) -> None:
    cached, program = CACHED[name]
    assert not cells.cell(program).error
    ran = cells.cell("f(jnp.ones((2, 3)))")
    assert ran.error.startswith("UnexpectedTracerError")
    (item,) = ran.document["items"]
    assert item["id"] == "tracer-leak" and item["message"].startswith(f"{cached} is cached by Python: ")
    assert f"{cached}.cache_clear()" in item["fix"]["text"]
    assert not cells.cell(f"{cached}.cache_clear()").error, "what it says can be done"


KEPT = {
    "a memo": (
        "memo = {}\ndef basis(n, x):\n    if n not in memo:\n        memo[n] = jnp.arange(n) * x\n    return memo[n]\n"
        "jax.jit(lambda x: basis(3, x).sum())(2.0);",
        "jax.jit(lambda x: basis(3, x).prod())(2.0)",
        ("memo[3]", 4),
    ),
    "an attribute": (
        "class Net:\n    def __init__(self):\n        self.last = None\n    def __call__(self, x):\n        h = x * 2\n"
        "        self.last = h\n        return h.sum()\nnet = Net()\njax.jit(lambda x: net(x))(jnp.ones(3));",
        "net.last + 1",
        ("net.last", 6),
    ),
    "a list": (
        "history = []\ndef body(c, x):\n    c = c + x\n    history.append(c)\n    return c, c\n"
        "jax.lax.scan(body, 0.0, jnp.arange(4.0));",
        "jnp.stack(history)",
        ("history[0]", 4),
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_kept_a_tracer_and_the_line_that_stored_it_are_named(cells, name: str) -> None:
    program, later, (path, line) = KEPT[name]
    assert not cells.cell(program).error
    ran = cells.cell(later)
    assert ran.error.startswith("UnexpectedTracerError")
    (item,) = ran.document["items"]
    assert (item["id"], item["position"]["line"]) == ("tracer-leak", line)
    assert item["message"].startswith(f"`{path}` keeps a traced value, ")


STALE = {
    "a memo": ("memo = {}\ndef basis(n, x):\n    if n not in memo:\n        memo[n] = jnp.arange(n) * x\n    return memo[n]", "`memo[3]` keeps", 4),
    "a cache": ("import functools\n@functools.cache\ndef basis(n, _=None):\n    return jnp.arange(n) * jnp.ones(n)", "basis is cached by Python", 4),
}  # fmt: skip


@pytest.mark.parametrize("name", STALE)
def test_a_tracer_that_was_kept_is_told_of_where_its_shape_does_not_fit(cells, name: str) -> None:
    program, said, line = STALE[name]
    call = "basis(3, x.sum())" if name == "a memo" else "basis(3)"
    assert not cells.cell(f"{program}\njax.jit(lambda x: x + {call})(jnp.ones(3));").error
    ran = cells.cell(f"jax.jit(lambda x: x + {call})(jnp.ones(4))")
    assert ran.error.startswith("TypeError: add got incompatible shapes")
    (fix,) = ran.document["fixes"]
    assert fix["text"].startswith(said) and (fix["position"]["cell"], fix["position"]["line"]) == ("In [3]", line)


@pytest.mark.parametrize("jitted", [True, False])
def test_no_operand_of_a_trace_that_fails_is_a_stale_one(jitted: bool) -> None:
    for name, function in misfits(jax, jnp).items():
        with pytest.raises(TypeError, match="shape") as failed:
            (jax.jit(function) if jitted else function)(jnp.ones(4))
        assert explained(failed.value) is None, name


def test_an_object_of_nnx_that_a_trace_from_outside_would_change_is_told_with_what_to_do(cells) -> None:
    assert not cells.cell("from flax import nnx\ndrop = nnx.Dropout(0.5, rngs=nnx.Rngs(0))").error
    ran = cells.cell("@jax.jit\ndef f(x):\n    return drop(x)\nf(x)")
    assert ran.error.startswith("TraceContextError")
    (item,) = ran.document["items"]
    assert (item["id"], item["position"]["line"]) == ("trace-time-mutation", 3) and "nnx.jit" in item["fix"]["text"]
    mended = cells.cell(
        "@nnx.jit\ndef f(drop, x):\n    return drop(x)\nbool((f(drop, jnp.ones(64)) == f(drop, jnp.ones(64))).all())"
    )
    assert (mended.error, mended.result) == ("", False), "it draws anew at each call"


MODULES = {
    "a mean": "bn = nnx.BatchNorm(4, rngs=nnx.Rngs(0))\n@jax.jit\ndef f(bn, x):\n    return bn(x).sum()\nf(bn, jnp.ones((2, 4)) * 3);",
    "a mask": "drop = nnx.Dropout(0.5, rngs=nnx.Rngs(0))\n@jax.jit\ndef f(drop, x):\n    return drop(x)\nf(drop, jnp.ones(8));",
}


@pytest.mark.parametrize("name", MODULES)
def test_what_plain_jit_loses_of_a_module_is_told(cells, name: str) -> None:
    assert not cells.cell("from flax import nnx").error
    assert not cells.cell(MODULES[name]).error
    ((id, line, said),) = told(cells)
    assert (id, line) == ("trace-time-mutation", 4) and "gives no object back" in said
    module = cells.names["bn" if name == "a mean" else "drop"]
    state = module.mean[...] if name == "a mean" else module.rngs.count[...]
    assert not state.any(), "it is as it was"


def test_a_derivative_that_is_always_zero_is_told(cells) -> None:
    ran = cells.cell("def loss(w):\n    return jnp.round(w).sum()\nprint(jax.jit(jax.grad(loss))(x))")
    assert ran.stdout == "[0. 0. 0.]\n"
    ((id, line, _),) = told(cells)
    assert (id, line) == ("grad-zero", 2)


@pytest.mark.parametrize(
    ("options", "call", "asked"),
    [
        ("--nans", "y = f(x)", ["%nans f(x)"]),
        ("--tune", "f(x)", ["%tune f(x)"]),
        ("--with profile", "g(x)", ["%profile f(x)"]),
        ("--vs f", "g(x)", ["jitscope.inspect(f)(x).compare(jitscope.inspect(f)(x))"]),
        ("--vs k", "jax.jit(lambda x: x + 1)(x)", ["k is not jitted, and has no program", "inspect(k)(x).compare"]),
    ],
)
def test_options_that_find_no_program_say_what_looks_at_any_call(cells, options, call, asked):
    cells.cell("def f(x):\n    return jnp.log(x)\ng = jax.jit(f)\ndef k(x):\n    return x + 1\ng(x), f(x), k(x)")
    ran = cells.cell(f"%%jit {options}\n{call}")
    assert not ran.error and all(one in ran.stderr for one in asked) and len(ran.stderr.splitlines()) == 1
    assert not cells.cell(f"%%jit {options}\n1 / 0").stderr
