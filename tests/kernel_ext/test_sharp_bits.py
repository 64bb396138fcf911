"""`%sharpbits`: what the cells of a session step on."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from jitscope.core import notices
from jitscope_kernel import session, sharp_bits
from jitscope_scope.advise import CATALOGUE


IMPORTS = "import jitscope as jax\nimport jitscope.numpy as jnp"


def found(shell) -> list[tuple[str, str, int]]:
    items = session.of(shell.ip).sharp_bits.document()["items"]
    return [(item["id"], item["position"]["cell"], item["position"]["line"]) for item in items]


def test_cells_are_looked_at_with_the_names_of_those_before(shell):
    shell.cell(IMPORTS)
    shell.cell("%%jit\ndef f(x):\n    return x if x > 0 else -x")
    shell.cell("x = jnp.zeros(3)\nx.at[0].set(1.0)\ny = x")
    assert [(id, line) for id, _, line in found(shell)] == [("branch-on-tracer", 3), ("update-result-dropped", 2)]
    (shown,) = shell.cell("%sharpbits").shown
    assert "In [3], line 3" in shown["text/plain"]
    for item in session.of(shell.ip).sharp_bits.document()["items"]:
        assert item["why"].endswith(f"{item['id']}`.") and "%sharpbits --explain" in item["why"]


def test_an_error_is_told_once_and_gone_with_its_cell(shell):
    shell.cell(IMPORTS)
    shell.cell("f = jax.jit(lambda x: x if x > 0 else -x)\nf(1.0)")
    (item,) = session.of(shell.ip).sharp_bits.document()["items"]
    assert (item["id"], item["origin"] != "look") == ("branch-on-tracer", True)
    assert item["fix"]["edits"]  # the run's own words, the look's edits


@pytest.mark.parametrize(("asks", "test"), [("if x > 0:", "x > 0"), ("match x:\n        case 1:", "x")])
def test_what_cannot_be_decided_is_named_in_a_compiled_cell(shell, asks: str, test: str) -> None:
    shell.cell(IMPORTS)
    deeper = "    " if "match" in asks else ""
    shell.cell(f"%%jit\ndef f(x):\n    {asks}\n{deeper}        return x\n    return -x\nf(2.0)")
    items = session.of(shell.ip).sharp_bits.document()["items"]
    said = f"`{test}` is not known while tracing, so Python cannot choose a branch."
    assert [item["message"] for item in items] == [said]


def test_values_are_looked_at_when_asked(shell):
    shell.cell(IMPORTS)
    shell.cell("n = jnp.array(100_000)\nm = n * n")
    assert found(shell) == []
    shell.cell("%sharpbits on")
    shell.cell("m = n * n")
    assert [id for id, _, _ in found(shell)] == ["int-overflow"]
    shell.cell("%sharpbits off")
    assert [id for id, _, _ in found(shell)] == ["int-overflow"]


OUTSIDE = {
    "jnp.take(x, i)": "Index 7 is outside of axis 0, which has size 5: NaN is read.",
    "x[-i]": "An index lies 2 before the first element of axis 0, which has size 5: the element at the edge is read.",
    "x[jnp.array([1, 0]) - i]": "An index lies 1 before the first element of axis 0, which has size 5: the element at the edge is read.",
    "x[i]": "Index 7 is outside of axis 0, which has size 5: the element at the edge is read.",
    "x.at[i].set(9.0)": "Index 7 is outside of axis 0, which has size 5: what is written there is dropped.",
    "x.at[i].add(9.0)": "Index 7 is outside of axis 0, which has size 5: what is written there is dropped.",
    "jax.lax.dynamic_update_index_in_dim(x, 9.0, i, 0)": "Index 7 is outside of axis 0, which has size 5: the element at the edge is written.",
    "jax.lax.dynamic_slice_in_dim(x, i, 2)": "The window 7:9 is outside of axis 0, which has size 5: the window is moved until it fits.",
    "jax.vmap(lambda r: r[i])(m)": "Index 7 is outside of its axis, which has size 5: the element at the edge is read.",
}


@pytest.mark.parametrize("index", OUTSIDE)
def test_what_becomes_of_an_index_outside_is_said_as_it_is(shell, index: str) -> None:
    shell.cell(f"{IMPORTS}\n%sharpbits on")
    shell.cell(
        f"x, m = jnp.arange(5.0), jnp.arange(10.0).reshape(2, 5)\nf = jax.jit(lambda x, m, i: {index})\nf(x, m, 7);"
    )
    (item,) = session.of(shell.ip).sharp_bits.document()["items"]
    assert (item["id"], item["message"]) == ("oob-index", OUTSIDE[index])


def test_looking_at_a_run_is_no_part_of_its_time(shell):
    steps = lambda ran: [one["name"] for one in ran.document["compilations"][0]["timing"]["stages"]]
    cell = "%%jit\ndef entropy(p):\n    return -(p * jnp.log(p)).sum()\nprint(entropy(jnp.zeros(3)))"
    shell.cell(IMPORTS)
    assert "first run" in steps(shell.cell(cell))
    shell.cell("%sharpbits on")
    assert "first run" not in steps(shell.cell(cell.replace("zeros(3)", "zeros(4)")))


def test_what_costs_nothing_is_told_unasked(shell):
    """What a trace meets; eager operations look at no index for it."""
    shell.cell(IMPORTS)
    text = "f = jax.jit(lambda x: x[5])\nfor n in range(3):\n    f(jnp.zeros(3))"
    shell.cell(text, cell_id="a")
    assert [(id, line) for id, _, line in found(shell)] == [("oob-index", 1)]
    assert notices.listeners and not notices.thorough_listeners
    shell.cell(text.replace("x[5]", "x[1]"), cell_id="a")
    assert found(shell) == []
    shell.cell("%unload_ext jitscope")
    assert not notices.listeners


def test_a_page_is_printed(shell):
    ran = shell.cell("%sharpbits --explain key-reuse")
    assert ran.stdout.startswith("key-reuse (warning)\n") and "Instead:" in ran.stdout
    assert "no sharp bit 'nothing'" in shell.cell("%sharpbits --explain nothing").error


def test_no_finding_is_no_proof(shell):
    shell.cell(IMPORTS)
    text = shell.cell("%sharpbits").shown[-1]["text/plain"]
    assert f"none of the {len(CATALOGUE)} kinds was found by looking at the code" in " ".join(text.split())


def test_recompilations_and_silence(shell):
    shell.cell(IMPORTS)
    shell.cell("f = jax.jit(lambda x: x * 2)\nfor n in (2, 3):\n    f(jnp.ones(n))")
    assert [(id, line) for id, _, line in found(shell)] == [("recompile-shape", 3)]
    shell.cell("g = jax.jit(lambda x: x if x > 0 else -x)  # jitscope: ok branch-on-tracer")
    assert len(found(shell)) == 1


def test_the_cell_that_loads_the_extension_counts(bare_shell):
    bare_shell.cell("import jitscope as jx")
    bare_shell.cell("%load_ext jitscope\nimport numpy as np")
    bare_shell.cell("@jx.jit\ndef f(x):\n    return x + np.random.normal()")
    assert [(id, line) for id, _, line in found(bare_shell)] == [("host-nondeterminism", 3)]


def test_a_cell_from_before_that_runs_again_is_no_second_one(bare_shell):
    text = "%load_ext jitscope\nimport jitscope as jax\nkey = jax.random.key(0)\na = jax.random.normal(key)"
    bare_shell.cell(text)
    bare_shell.cell(text)
    assert found(bare_shell) == []
    bare_shell.cell("b = jax.random.normal(key)")
    (item,) = session.of(bare_shell.ip).sharp_bits.document()["items"]
    assert (item["id"], item["position"]["cell"]) == ("key-reuse", "In [3]")
    assert "line 4 of In [2]" in item["message"]


def test_cells_as_an_editor_has_them(shell):
    bits = session.of(shell.ip).sharp_bits
    shell.cell(IMPORTS, cell_id="a")
    text = "f = jax.jit(lambda x: x * 2)\nfor n in (2, 3):\n    f(jnp.ones(n))"
    shell.cell(text, cell_id="b")
    written = lambda *cells: [
        (one.id, cell.label, one.span.line) for cell, one in bits.found(bits.written([("a", IMPORTS), *cells]))
    ]
    assert written(("b", text)) == [("recompile-shape", "In [3]", 3)]
    assert written(("b", "# more\n" + text)) == [("recompile-shape", "In [3]", 4)]
    assert written(("b", text.replace("ones(n)", "ones(3)"))) == []
    fresh = ("c", "x = jnp.zeros(3)\nx.at[0].set(1.0)\ny = x")
    assert written(("b", text), fresh, ("d", "def (")) == [
        ("recompile-shape", "In [3]", 3),
        ("update-result-dropped", "In [ ]", 2),
    ]


def test_places_are_those_of_the_text_that_was_written(shell):
    shell.cell(IMPORTS)
    shell.cell("\n\nf = jax.jit(lambda x: x * 2)\nfor n in (2, 3):\n    f(jnp.ones(n))")
    shell.cell("\n  g = jax.jit(lambda x: x * 3)\n  for n in (2, 3):\n      g(jnp.ones(n))")
    items = session.of(shell.ip).sharp_bits.document()["items"]
    places = [(one["position"]["line"], one["position"]["text"]) for one in items]
    assert places == [(5, "    f(jnp.ones(n))"), (4, "      g(jnp.ones(n))")]
    for item in items:
        where = item["position"]
        assert where["text"][where["column"] : where["end_column"]].startswith(("f(", "g("))


def test_ignored_ids(shell):
    shell.cell(IMPORTS)
    shell.cell("key = jax.random.key(0)\na = jax.random.normal(key)\nb = jax.random.normal(key)")
    assert [id for id, _, _ in found(shell)] == ["key-reuse"]
    assert "key-reuse" in shell.cell("%sharpbits --ignore key-reuse").stdout
    assert found(shell) == []
    assert "no sharp bit" in shell.cell("%sharpbits --ignore nothing").error
    shell.cell("%sharpbits --hear key-reuse")
    assert [id for id, _, _ in found(shell)] == ["key-reuse"]
    shell.cell("%config JitscopeMagics.ignore = ['key-reuse']")
    assert found(shell) == []


def test_a_compiled_cell_tells_them_in_its_view(shell):
    shell.cell(IMPORTS)
    ran = shell.cell("%%jit\nlog = []\ndef f(x):\n    log.append(x)\n    return x + 1\nf(jnp.ones(3)), f(jnp.ones(4))")
    text = ran.shown[-1]["text/plain"]
    assert "1 sharp bit (warning)\n\n  warning: tracer-leak  In [3], line 4, columns 5-17" in text
    assert "recompile-shape" not in text  # a card tells that
    assert "axis 0 of x is 3, then 4" in text
    ran = shell.cell("%%jit\ndef g(x):\n    return -x if x > 0 else x\ng(1.0)")
    assert "sharp bit" not in ran.shown[-1]["text/plain"]  # the error was told
    assert "sharp bit" not in shell.cell("%%jit\ndef h(x):\n    return -x\nh(1.0)").shown[-1]["text/plain"]


def test_a_terminal_tells_them_below_the_cell(tmp_path):
    script = tmp_path / "session.ipy"
    cells = [
        "%load_ext jitscope\nimport jitscope as jx, jitscope.numpy as jnp",
        "x = jnp.zeros(3)\nx.at[0].set(1.0)\ny = x",
        "f = jx.jit(lambda x: x if x > 0 else -x)",
        "f(1.0)",
    ]
    script.write_text(
        "from IPython.terminal.interactiveshell import TerminalInteractiveShell\n"
        "shell = TerminalInteractiveShell.instance(simple_prompt=True, colors='nocolor')\n"
        f"for cell in {cells!r}: shell.run_cell(cell, store_history=True)\n"
    )
    environment = os.environ | {"IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[:4] == [
        "1 sharp bit (warning)",
        "",
        "  warning: update-result-dropped  In [2], line 2, columns 1-16",
        "    2  x.at[0].set(1.0)",
    ]
    assert "       ^^^^^^^^^^^^^^^^" in done.stderr.splitlines()
    assert done.stderr.count("branch-on-tracer") == 1  # at the definition; the error tells itself


def test_a_long_look_at_one_program_silences_no_later_cell(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def slow(row):
        looked.append(row.id)
        end = time.thread_time() + (0.4 if len(looked) <= 2 else 0)
        while time.thread_time() < end:
            pass
        return of_program(row)

    of_program = sharp_bits.of_program
    monkeypatch.setattr(sharp_bits, "of_program", slow)
    monkeypatch.setattr(sharp_bits, "_LONG", 0.3)
    for n in (1, 2):
        shell.cell(f"%%jit\ndef f(x):\n    return x + {n}\nf(jnp.ones(3))")
    ran = shell.cell("%%jit\ndef err(p, y):\n    return jnp.mean((p - y) ** 2)\nerr(jnp.ones((50, 1)), jnp.ones(50))")
    assert [one["id"] for one in ran.document["diagnostics"]["items"]] == ["silent-broadcast"]
    shell.cell("%%jit\ndef g(x):\n    return x + 2\ng(jnp.ones(3))")
    assert len(looked) == len(set(looked)) >= 4, "each program is looked at once, what it shows or not"


def test_of_a_failed_trace_no_time_is_told(shell) -> None:
    ran = shell.cell("%%jit\ndef f(x, n):\n    return x[:n]\nf(jnp.ones(3), 2)")
    assert "static_argnames='n'" in ran.error
    (text,) = shell.cell("%ledger").texts
    assert "failed: IndexError" in text and "0 equations" not in text


def test_the_cache_that_kept_a_tracer_is_named(shell) -> None:
    shell.cell("import functools, jitscope as jx, jitscope.numpy as jnp")
    shell.cell(
        "@functools.cache\ndef basis(n):\n    return jnp.arange(n) * jnp.ones(n)\n@jx.jit\ndef f(x):\n    return basis(3) + x\nf(jnp.ones(3))"
    )
    (item,) = shell.cell("basis(3) + 1").document["items"]
    assert item["id"] == "tracer-leak" and item["message"].startswith("basis is cached by Python: ")
    (fix,) = shell.cell("f(jnp.ones((2, 3)))").document["fixes"]
    assert "basis.cache_clear()" in fix["text"]
    assert float(shell.cell("basis.cache_clear()\nfloat(basis(3)[2])").result) == 2


KEPT = {
    "a memo": (
        "memo = {}\ndef basis(n, x):\n    if n not in memo:\n        memo[n] = jnp.arange(n) * x\n    return memo[n]\n"
        "jx.jit(lambda x: basis(3, x).sum())(2.0);",
        "jx.jit(lambda x: basis(3, x).prod())(2.0)",
        ("memo[3]", 4, "`memo`"),
    ),
    "an attribute": (
        "class Net:\n    def __init__(self):\n        self.last = None\n    def __call__(self, x):\n        h = x * 2\n"
        "        self.last = h\n        return h.sum()\nnet = Net()\njx.jit(lambda x: net(x))(jnp.ones(3));",
        "net.last + 1",
        ("net.last", 6, "Return the value"),
    ),
    "a global": (
        "rot = None\ndef rotation(t):\n    global rot\n    if rot is None:\n        rot = jnp.stack([t, -t])\n    return rot\n"
        "jx.jit(lambda t: rotation(t).sum())(1.0);",
        "jx.grad(lambda t: rotation(t).sum())(1.0)",
        ("rot", 5, "Return the value"),
    ),
    "a list": (
        "history = []\ndef body(c, x):\n    c = c + x\n    history.append(c)\n    return c, c\n"
        "jx.lax.scan(body, 0.0, jnp.arange(4.0));",
        "jnp.stack(history)",
        ("history[0]", 4, "`history`"),
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_kept_a_tracer_and_the_line_that_stored_it_are_named(shell, name: str) -> None:
    program, later, (path, line, fix) = KEPT[name]
    assert not shell.cell(program).error
    assert shell.cell(later).error.startswith("UnexpectedTracerError")
    (item,) = session.of(shell.ip).sharp_bits.document()["items"]
    assert item["message"].startswith(f"`{path}` keeps a traced value, ")
    assert (item["id"], item["position"]["line"]) == ("tracer-leak", line) and fix in item["fix"]["text"]


def test_all_that_a_line_read_and_that_changed_is_told(shell) -> None:
    shell.cell("import functools\n%sharpbits on")
    shell.cell(
        "class Model:\n    def __init__(self):\n        self.scale, self.bias, self.rates = 2.0, jnp.zeros(2), [1.0]\n"
        "    @functools.partial(jx.jit, static_argnums=0)\n    def __call__(self, x):\n"
        "        return x * self.scale + self.bias + self.rates[0]\nm = Model()\nm(jnp.ones(2))"
    )
    before = shell.cell("m(jnp.ones(2)).tolist()").result
    shell.cell("m.rates[0] = 7.0\nm.bias = jnp.ones(2)\nm.scale = 5.0")
    assert shell.cell("m(jnp.ones(2)).tolist()").result == before, "it is stale"
    (item,) = [one for one in session.of(shell.ip).sharp_bits.document()["items"] if one["origin"] == "run"]
    assert (item["id"], item["position"]["line"]) == ("static-mutable-stale", 6)
    assert item["message"] == (
        "`self.scale` was 2.0 when __call__ was traced and is 5.0 now; `self.bias`, an array float32[2], has other values now than then; "
        "`self.rates[0]` was 1.0 and is 7.0 now: the compiled program keeps the old values."
    )


def test_a_function_that_nobody_can_call_any_more_keeps_nothing_old(shell) -> None:
    """Who looks at runs keeps it alive no longer than that."""
    shell.cell("%sharpbits on")
    shell.cell("def act(x):\n    return jnp.maximum(x, 0)")
    shell.cell("def layer(x):\n    return act(x) * 2\njx.jit(layer)(jnp.array([-1.0, 2.0]));")
    shell.cell("def act(x):\n    return jnp.tanh(x)\ndef layer(x):\n    return act(x) * 2")
    ran = shell.cell("jx.jit(layer)(jnp.array([-1.0, 2.0]))")
    assert found(shell) == [] and "keeps the act" not in ran.stderr


def test_a_test_that_lets_code_through_has_the_line_of_its_cell(shell) -> None:
    shell.cell("import jitscope as jx, jitscope.numpy as jnp\n\n\n")
    shell.cell(
        "memo = {}\ndef basis(n):\n    if n not in memo:\n        memo[n] = jnp.arange(n) * jnp.ones(n)\n    return memo[n]"
    )
    shell.cell("@jx.jit\ndef f(x):\n    return basis(3) + x\nf(jnp.ones(3))")
    (item,) = shell.cell("%sharpbits").document["items"]
    assert item["message"].endswith("It is traced only where `n not in memo` (line 3) lets it.")


@pytest.mark.parametrize("quoted", ["assert not said, said", "raise ValueError(said)"])
def test_an_error_of_ones_own_that_quotes_another_is_no_sharp_bit(shell, quoted: str) -> None:
    shell.cell("import jitscope as jx, jitscope.numpy as jnp\nsaid = ''")
    shell.cell("try:\n    jx.jit(lambda x: float(x))(1.0)\nexcept Exception as error:\n    said = str(error)")
    assert "known" in shell.names["said"]
    assert shell.cell(quoted).error
    found = [one for document in shell.cell("%sharpbits").documents for one in document["items"]]
    assert [one["position"]["cell"] for one in found] == ["In [3]"], (
        "the call that was caught is a sharp bit; the quotation is none"
    )
