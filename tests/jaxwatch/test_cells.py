"""jax in the cells of a shell: what is shown, and that the cell does what it does without the extension."""

import re
import subprocess
import sys

import jax
import pytest

import jitscope_widgets
from jitscope.xla import hlo_module
from jitscope_kernel import eager_runs, jax_cells
from jitscope_scope import jaxwatch, observe
from jitscope_scope.jaxwatch import marks
from jitscope_widgets import validate
from tests.kernel_ext.conftest import bare_shell, fresh_kernel, shell  # noqa: F401
from tests.scope import stale_values
from tests.scope.redefinitions import CHANGES


SETUP = "import functools\nimport jax, jax.numpy as jnp, numpy as np\nfrom jax import lax\nx = jnp.ones((3, 3))"


@pytest.fixture
def cells(bare_shell):  # noqa: F811
    jax.clear_caches()
    assert not bare_shell.cell("%load_ext jitscope").error
    assert not bare_shell.cell(SETUP).error
    watcher = jaxwatch.current()
    yield bare_shell
    assert not watcher.faults, list(watcher.faults)


def test_what_jax_compiled_is_shown_under_a_marked_cell(cells):
    ran = cells.cell("%%jit\n@jax.jit\ndef f(v):\n    return jnp.cos(v @ v) + 1\nf(x)\nf(x)\nf(x)")
    assert not ran.error
    document = ran.document
    validate(document)
    assert ran.functions == ["f"]
    (compilation,) = document["compilations"]
    lines = {p["line"] for n in compilation["graph"]["nodes"] for p in n["positions"]}
    assert lines == {4} and compilation["graph"]["nodes"][1]["positions"][0]["cell"] == "In [3]"
    assert document["reused"] == [{"function": "f", "calls": 2, "at_least": True}]
    assert document["left_alone"] == [], "that the mark compiles nothing of jax's is no news"
    (timing,) = [compilation["timing"]]
    assert [stage["name"] for stage in timing["stages"]] == ["trace", "lower", "compile"]


def test_small_programs_are_one_line_with_their_number(cells):
    ran = cells.cell("%%jit\n(x * 3 + 1).sum()")
    document = ran.document
    count = len(document["note"]) and int(document["note"].split("jax compiled ")[1].split(" ")[0])
    assert count >= 3 and document["compilations"] == []
    assert "outside jit" in document["note"]


def test_where_listeners_were_removed_nothing_is_claimed(cells):
    ran = cells.cell("%%jit\njax.monitoring.clear_event_listeners()\njax.jit(lambda v: v * 11)(x)")
    assert ran.document["note"].startswith("What jax compiled is not known")
    assert cells.cell("%%jit\njax.jit(lambda v: v * 12)(x)").functions == ["<lambda>"]


def test_other_cells_have_a_line(cells):
    ran = cells.cell("g = jax.jit(lambda v: jnp.sin(v) * 2)\ng(x)")
    assert not ran.documents
    (text,) = ran.texts
    assert text.startswith("jax compiled <lambda> in ")
    assert not cells.cell("g(x)").texts
    (text,) = cells.cell("g(x[:2])").texts
    assert (
        "<lambda>: recompiled because v changed shape: " in text and " (axis 0). %%jit as the cell's first line" in text
    )


def test_of_small_programs_alone_nothing_is_promised():
    small = [observe.Small("add", 1.0, None, "jax")] * 2
    assert jax_cells.in_words([], small) == "jax compiled 2 small programs outside jit in 2 s: operation add took 2 s."


def test_the_dearest_are_named_with_their_lines(fresh_kernel):  # noqa: F811
    for text in (
        "%load_ext jitscope",
        SETUP,
        "from jitscope_scope.observe import small\nsmall._LONG = 0.0\nxs = jnp.ones((7, 2))",
    ):
        assert not fresh_kernel.cell(text).error
    ran = fresh_kernel.cell("%%jit\nhalf = 0.5\nrows = [row for row in xs]")
    assert "small program" in ran.document["note"]
    assert " in line 3 of In [4] (rows = [row for row in xs])" in ran.document["note"], ran.document["note"]
    (document,) = fresh_kernel.cell("%ledger").documents
    validate(document)
    there = [one for one in document["small"]["operations"] if one["text"] == "rows = [row for row in xs]"]
    assert there and {(one["line"], one["library"]) for one in there} == {(3, "jax")}


def test_a_program_over_several_devices_has_no_profile(cells):
    """The times of a kernel are those of all devices together."""
    cells.cell(
        "from jax.sharding import NamedSharding, PartitionSpec as P\nmesh = jax.make_mesh((4,), ('d',))\n"
        "spread = jax.device_put(jnp.arange(16.0), NamedSharding(mesh, P('d')))\nshare = jax.jit(lambda v: v / v.sum())"
    )
    ran = cells.cell("%profile share(spread)")
    assert "<lambda> runs on several devices: " in ran.stderr + ran.error and ran.shown == []
    assert cells.cell("%profile share(jnp.arange(16.0))").document["kind"] == "profile"


def test_a_square_that_nobody_meant_is_told_outside_of_jit(cells):
    """By the code alone where nothing is asked for: one number is made of it, and nobody made a column of a vector."""
    cells.cell("w, X, y = jnp.ones((3, 1)), jnp.ones((17, 3)), jnp.arange(17.0)")
    cells.cell("loss = jnp.mean((X @ w - y) ** 2)\ntable = X @ w - y\npairs = ((y[:, None] - y) ** 2).mean()")
    cells.cell(
        "def loss(w, X, y):\n    error = y - X @ w\n    return (error**2).mean()\njax.grad(loss)(w, X[:13], y[:13])"
    )
    (document,) = cells.cell("%sharpbits").documents
    validate(document)
    told = [(one["id"], one["position"]["line"]) for one in document["items"]]
    assert told == [("silent-broadcast", 1), ("silent-broadcast", 2)]
    assert document["items"][0]["message"].startswith("f32[17,1] and f32[17] are subtracted as [17,17]: ")


def test_listening_looks_at_the_runs_of_jaxs_programs(cells):
    cells.cell("%sharpbits on\nn = jnp.array(100_000)")
    ran = cells.cell("m = n * n\nrow = jax.jit(lambda v, i: v.at[i].set(0.0))(x, jnp.array([0, 7]))")
    ran = cells.cell("%%jit\n@jax.jit\ndef f(v):\n    return v * jnp.log(v)\nf(x * 0)\nf(x * 0)")
    assert [one["id"] for one in ran.document["diagnostics"]["items"]] == ["silent-nan"]
    (document,) = cells.cell("%sharpbits").documents
    found = {one["id"]: one["message"] for one in document["items"]}
    assert {"int-overflow", "oob-index", "silent-nan"} == set(found)
    assert "10000000000 does not fit, and became 1410065408" in found["int-overflow"]
    cells.cell("%sharpbits off")
    assert cells.cell("%%jit\nf(x * 0)").document["reused"] == [{"function": "f", "calls": 1, "at_least": True}]


def test_an_error_without_a_rewrite_has_what_to_do_in_words(cells):
    text = "t = 0.0\n    for i in range(n):\n        t = t + v * i\n    while t.sum() > 1:\n        t = t / 2"
    ran = cells.cell(f"@jax.jit\ndef f(v, n):\n    {text}\n    return t\nf(x, 4)")
    assert ran.error
    (stopped,) = [one for one in ran.documents if one["kind"] == "stopped"]
    (fix,) = stopped["fixes"]
    assert fix["text"].startswith("Make it a `lax.fori_loop` from `0` to `n`, whose body is a function")
    assert not fix["checked"] and not fix["edits"]


MESH = "P = jax.P\nmesh = jax.make_mesh((4,), ('data',))\ny = jax.device_put(jnp.ones((8, 2)), jax.NamedSharding(mesh, P('data', None)))"
MAPPED = "s = jax.shard_map(lambda a: a * 2, mesh=mesh, in_specs=P('data'), out_specs=P('data'))"


def test_a_shard_map_outside_jit_is_small_programs_with_what_to_do(cells):
    """It compiles again in each call, as the number of programs shows."""
    assert not cells.cell(f"{MESH}\n{MAPPED}\nz = y + 1").error
    programs = []
    for _ in range(2):
        document = cells.cell("%%jit\ns(y)").document
        assert (
            document["compilations"] == [] and "shard_map outside jit runs operation by operation" in document["note"]
        )
        programs.append(int(document["note"].split("jax compiled ")[1].split(" ")[0]))
    assert programs[1] > 0
    (ledger,) = cells.cell("%ledger").documents
    assert "shard_map" in {one["operation"] for one in ledger["small"]["operations"]}
    document = cells.cell("%%jit\njax.jit(s)(y)").document
    assert len(document["compilations"]) == 1 and "outside jit runs" not in document["note"]


def test_which_device_has_which_part_of_jaxs_arrays(cells):
    cells.cell(MESH)
    whole, cut = cells.cell("%sharding {'a': x, 'b': y}").documents
    validate(cut)
    assert (cut["title"], cut["type"], cut["spec"]) == ("{'a': x, 'b': y}['b']", "f32[8,2]", "P('data')")
    assert [tile["devices"] for tile in cut["tiles"]] == [[f"CPU {i}"] for i in range(4)]
    assert (whole["devices"], whole["spec"]) == (1, None)
    assert "3 has no arrays in it" in cells.cell("%sharding 3").error


def test_another_layout_is_told_by_its_spec(cells):
    cells.cell(f"{MESH}\n@jax.jit\ndef f(v):\n    return v.sum(0)")
    cells.cell("f(y)\nf(jnp.ones((8, 2)))")
    (document,) = cells.cell("%recompiles").documents
    (card,) = document["cards"]
    assert card["because"].startswith("v changed sharding: P('data', None) of Mesh('data': 4")
    assert [row["cells"] for row in card["matrix"]["rows"] if row["path"] == "v"] == [
        ["f32[8,2] P('data', None)", "f32[8,2]"]
    ]


def test_a_nan_that_is_printed_without_a_name(cells):
    cells.cell("f = jax.jit(lambda v: jnp.log(v - v - 1))\ndata = jnp.asarray(np.array([1, np.nan]))")
    told = "A NaN is printed in line {}. Where it comes from: %nans f(x)"
    assert told.format(1) in cells.cell("print('loss', f(x))").texts
    assert told.format(1) in cells.cell("text = f'{f(x)}'").texts
    assert told.format(2) in cells.cell("for i in range(2):\n    print(i, f(x)[0, 0])").texts
    assert not cells.cell("print(data)").texts, "data may have missing values"
    assert not cells.cell("print(x)").texts
    cells.cell("%config JitscopeMagics.watch = 'none'")
    assert not hasattr(type(jax.numpy.ones(1)).__str__, "__wrapped__")
    assert not cells.cell("print(f(x))").texts


LOOP = """\
def filled(n):
    out = jnp.zeros((n, n))
    for i in range(n):
        for k in range(n):
            out = out.at[i, k].set(x[0, 0])
    return out
"""


def test_a_python_loop_over_elements_is_told_of(cells):
    cells.cell(LOOP)
    cells.cell("filled(4)")
    note = cells.cell("%%jit\nfilled(30)").document["note"]
    count = int(re.search(r"filled ran ([\d,]+) operations outside jit", note)[1].replace(",", ""))
    assert count >= 2 * 30 * 30 and "in line 5 of In [3] (out = out.at[i, k].set(x[0, 0]))" in note
    assert "one by one" not in cells.cell("%%jit\njax.jit(lambda v: v - 3)(x)").document["note"]


def test_operations_that_a_library_runs_are_told_at_the_users_line(cells, monkeypatch):
    monkeypatch.setattr(eager_runs, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(eager_runs, "_LEAST_SHARE", 0.0)
    cells.cell("import optax\ngrads = {'w': x, 'b': x[0]}\ntx = optax.adam(1e-3)\nstate = tx.init(grads)")
    loop = "for _ in range(40):\n    updates, state = tx.update(grads, state)"
    cells.cell(loop)
    note = cells.cell(f"%%jit\n{loop}").document["note"]
    assert re.search(
        r"This cell ran [\d,]+ operations outside jit, .*: all of them in line 3 of In \[5\] \(updates, state = tx",
        note,
    )
    assert "Write the loop" not in note and "In a function that is jitted they are one program" in note


def test_the_setting_says_which_cells(cells):
    cells.cell("%config JitscopeMagics.watch = 'all'")
    assert cells.cell("jax.jit(lambda v: v * 5 - x.sum())(x)").functions == ["<lambda>"]
    cells.cell("%config JitscopeMagics.watch = 'none'")
    assert jaxwatch.current() is None
    assert not cells.cell("jax.jit(lambda v: v * 6)(x)").shown
    assert cells.cell("%%jit\njax.jit(lambda v: v * 7)(x)").document["compilations"] == []
    cells.cell("%config JitscopeMagics.watch = 'marked'")
    assert jaxwatch.current().attached


def test_an_import_in_the_cell_itself_is_enough(bare_shell):  # noqa: F811
    bare_shell.cell("%load_ext jitscope")
    ran = bare_shell.cell("%%jit\nimport jax\nimport jax.numpy as jnp\njax.jit(lambda v: v / 3)(jnp.ones(2))")
    assert ran.functions == ["<lambda>"] and not ran.error


BREAKS_WHEN_WRAPPED = {
    "a branch on a value": "def h(v):\n    return v if v > 0 else -v\nh(2.0)",
    "an int as a shape": "def h(n):\n    return jnp.zeros(n)\nh(3).shape",
    "a string": "def h(v, kind):\n    return v.sum(), kind\nh(x, 'relu')",
    "numpy inside": "def h(v):\n    return np.sin(np.asarray(v)).shape\nh(x)",
    "a generator's result": "def h(v):\n    return [float(a) for a in v[0]]\nh(x)",
    "jax arrays alone": "def h(v):\n    return v * 2\ntype(h(x)).__name__",
    "state": (
        "from flax import nnx\nmodel = nnx.Linear(2, 2, rngs=nnx.Rngs(0))\n"
        "def h(m, v):\n    m.bias[...] = v\n    return m(v)\nh(model, jnp.ones(2))\nmodel.bias[...].tolist()"
    ),
    "an equinox module": (
        "import equinox as eqx\nmlp = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))\n"
        "def h(m, v):\n    return jax.vmap(m)(v)\nh(mlp, x).shape"
    ),
}


@pytest.mark.filterwarnings("ignore:jax.core.:DeprecationWarning")  # what equinox names of an older jax
@pytest.mark.parametrize("code", BREAKS_WHEN_WRAPPED.values(), ids=BREAKS_WHEN_WRAPPED)
def test_a_marked_cell_of_jax_code_is_the_cell_without_the_mark(cells, code):
    plain = cells.cell(code)
    marked = cells.cell(f"%%jit\n{code}")
    assert not plain.error and not marked.error, marked.traceback
    assert repr(marked.result) == repr(plain.result)


def test_the_ledger_lists_programs_of_jax(cells):
    cells.cell("jax.jit(lambda v: v - 2)(x)")
    ran = cells.cell("%ledger")
    assert ran.document["rows"][-1]["calls"] is None
    assert "? where nobody counts" in ran.shown[0]["text/html"]
    assert "could not be made" not in ran.shown[0]["text/html"]


def test_looking_at_a_call_is_no_news_of_the_cell(cells):
    cells.cell("def f(v):\n    return jnp.cos(v) - 4")
    assert len(cells.cell("%timejit f(x)").shown) == 1


def test_jitscopes_own_cells_are_compiled_as_ever(cells):
    ran = cells.cell("%%jit\nimport jitscope.numpy as jn\ndef own(v):\n    return jn.sin(v) + 1\nown(jn.ones(3))")
    assert ran.functions == ["own"]


def test_a_recompilation_has_its_card(cells):
    cells.cell("@jax.jit\ndef step(v):\n    return v * 2")
    ran = cells.cell("for n in (3, 4, 5):\n    step(np.ones(n, np.float32))")
    card = ran.documents[-1]["cards"][0]
    assert card["cause"] == "shape" and card["function"] == "step"
    assert "step: axis 0 of v grows from 3 to 5" in "".join(cells.cell("%recompiles step").texts)


def test_nothing_is_left_after_unloading(cells):
    from jax._src import monitoring

    cells.cell("%%jit\njax.jit(lambda v: v - 1)(x)")
    assert monitoring.get_event_duration_listeners()
    steps = list(cells.ip.ast_transformers)
    cells.cell("%unload_ext jitscope")
    asked = (
        monitoring.get_event_duration_listeners, monitoring.get_scalar_listeners, monitoring.get_event_listeners,
        monitoring.get_event_time_span_listeners,
    )  # fmt: skip
    assert not any(ask() for ask in asked)
    assert jaxwatch.current() is None and len(cells.ip.ast_transformers) < len(steps)
    assert jax._src.api._post_hook_state.value is None
    assert "jax" in sys.modules


def test_an_error_in_a_cell_is_the_cells_own(cells):
    ran = cells.cell("%%jit\n@jax.jit\ndef f(v):\n    return v if v.sum() > 0 else -v\nf(x)")
    assert ran.error.startswith("TracerBoolConversionError")
    assert ran.document["error"]["position"]["line"] == 4


@pytest.mark.parametrize("name", CHANGES)
def test_a_helper_that_was_defined_again_is_told(cells, name):
    program, change, said = CHANGES[name]
    assert not cells.cell(program).error
    assert not cells.cell(change).error
    told = cells.cell("y = f(1.0)").stderr
    lines = [line.partition(" again in ")[0] for line in said]
    for line in lines:
        assert line.partition("; act is soft now")[0] in told, told
    assert bool(told) == bool(said)
    assert "clear_cache()" in told or not said
    again = cells.cell("f.clear_cache()\ny = f(1.0)")
    row = observe.ledger().function_rows(None)[-1]
    assert row.cause == ("redefined" if said else "cache"), row.because
    assert bool([one for one in again.documents if one.get("cards")]) is not bool(said), (
        "what was advised is no recompilation to mend"
    )


@pytest.mark.parametrize("name", stale_values.CHANGES)
def test_a_value_that_changed_is_told_below_the_cell_that_calls_what_keeps_it(cells, name):
    program, change, said = stale_values.CHANGES[name]
    cells.cell("x = jnp.ones(3)")
    for text in (program, change):
        ran = cells.cell(text)
        assert (ran.error, ran.stderr) == ("", ""), ran
    told = cells.cell("f(x)").stderr
    told = re.sub(r"\b(?:Net|Top)\.(act|__call__)(?= keeps|: it)", r"\1", told)  # as jax names a method
    assert bool(said) is told.startswith(said or "nothing"), told
    assert told.count("\n") == bool(said)
    if said:
        assert cells.cell("f(x)").stderr == "", "it is told once"


def test_a_function_and_a_partial_of_it_are_two(cells):
    ran = cells.cell("def act(v): return v * 2\nfor g in (jax.jit(act), jax.jit(functools.partial(act))): g(x)")
    assert not ran.error and not ran.documents, "they need a program each"


def test_what_is_told_stands_below_what_was_printed(fresh_kernel):  # noqa: F811
    program, change, _ = CHANGES["a helper"]
    for text in ("%load_ext jitscope\nimport jax, jax.numpy as jnp", program, change):
        assert not fresh_kernel.cell(text).error
    ran = fresh_kernel.cell("print('printed', f(1.0))")
    assert ran.order[:2] == ["stdout", "stderr"] and "keeps the act" in ran.stderr


def test_a_captured_value_that_changed_has_a_card_while_a_global_name_has_the_function(cells):
    assert not cells.cell("scale = 2.0\nf = jax.jit(lambda v: v * scale)\nf(x);\nscale = 3.0").error
    (card,) = cells.cell("%recompiles").document["cards"]
    assert card["cause"] == "stale" and "`scale` was 2.0 and is 3.0 now" in card["because"]
    assert cells.cell("f.clear_cache()\n%recompiles").document["cards"] == []


def test_what_follows_the_loading_of_the_extension_in_its_cell_is_watched(bare_shell):  # noqa: F811
    jax.clear_caches()
    ran = bare_shell.cell(
        "%load_ext jitscope\nimport jax, jax.numpy as jnp\ng = jax.jit(lambda v: v * 31)\nfor k in (1, 2, 3): g(jnp.ones(k))"
    )
    assert not ran.error
    assert any(text.startswith("jax compiled ") and "<lambda> (3 programs)" in text for text in ran.texts)
    (card,) = ran.document["cards"]
    assert card["sites"][0]["position"]["cell"] == "In [1]"
    assert "jax compiled <lambda> before it was watched" not in bare_shell.cell("%timejit g(jnp.ones(2))").traceback


def test_jax_is_watched_once_whatever_imports_it():
    """In a process where jax is not imported yet; the loading cell's code was compiled before the extension."""
    cell = "%load_ext jitscope\\ndef begin():\\n    import jax\\n    return jax\\njax = begin()\\njax.jit(lambda v: v + 41.0)(1.0)"
    code = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\nfrom jitscope_scope import jaxwatch\n"
        f"ip = InteractiveShell()\nran = ip.run_cell('{cell}')\nran.raise_error()\n"
        "assert jaxwatch.current() is not None\nassert [f for f in sys.meta_path if type(f).__module__ == 'jitscope_kernel.jax_cells'] == []\n"
        "from jitscope_scope import observe\nassert [row.function for row in observe.ledger() if row.library and row.number] == ['<lambda>']\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "jax compiled <lambda> in" in done.stdout


NANS = {
    "an array": ("log_of(-jnp.ones(3))", "%nans log_of(-jnp.ones(3))"),
    "a number of half precision": (
        "jnp.bfloat16(0) * log_of(-x[0]).astype('bfloat16')",
        "%nans jnp.bfloat16(0) * log_of(-x[0]).astype('bfloat16')",
    ),
    "an element": ("log_of(-x)[0, 0]", "%nans log_of(-x)[0, 0]"),
    "a row of a name": ("r = log_of(-x)\nr[0]", "%nans log_of(-x)"),
    "a part of a tuple": ("2, log_of(-x)", "%nans log_of(-x)"),
    "a part that is printed": ("print(log_of(-x)[0])", "%nans log_of(-x)"),
    "one of a list": ("[2, log_of(-x)]", "%nans and the call that made it"),
    "a name": ("r = log_of(-x)\nr", "%nans log_of(-x)"),
    "taken by float": ("val = float(log_of(-x).sum())", "%nans log_of(-x).sum()"),
}


@pytest.mark.parametrize("mark", ["", "%%jit\n"])
@pytest.mark.parametrize("kind", NANS)
def test_a_nan_that_an_array_of_jax_shows_is_told(cells, kind: str, mark: str):
    cell, advice = NANS[kind]
    cells.cell("log_of = jax.jit(lambda v: jnp.log(v))")
    ran = cells.cell(mark + cell)
    assert not ran.error
    assert [text for text in ran.texts if "NaN" in text and text.endswith(advice)], ran.texts
    if advice != "%nans and the call that made it":
        assert "log" in jitscope_widgets.text(cells.cell(advice).document)


@pytest.mark.usefixtures("ctrl_c")
def test_a_trace_that_the_user_interrupts_stopped_at_nothing(cells):
    cells.cell(
        "import _thread, time\n@jax.jit\ndef slow(v):\n    v = jnp.sin(v)\n    _thread.interrupt_main(); time.sleep(2)\n    return v"
    )
    ran = cells.cell("slow(x)")
    assert ran.error.startswith("KeyboardInterrupt") and not ran.documents


def test_arrays_of_jax_without_a_nan_say_nothing(cells):
    for cell in ("x", "jnp.arange(3)", "jax.random.key(0)", "2, {'a': x}", "jnp.ones(3) > 2"):
        assert not [text for text in cells.cell(cell).texts if "NaN" in text]


def test_large_constants_are_neither_printed_nor_read(cells):
    cells.cell(
        "import numpy as np\nlarge = np.arange(90_000, dtype=np.float32).reshape(300, 300)\nsmall = large[:3, :3]"
    )
    for name in ("large", "small"):
        ran = cells.cell(
            f"%%jit\n@jax.jit\ndef shift_{name}(y):\n    return (jnp.asarray({name}) * y).max()\nshift_{name}(jnp.array(1.5))"
        )
        (compilation,) = ran.document["compilations"]
        row = observe.ledger().row(compilation["id"])
        assert "lowered" not in vars(row.entry)
        assert len(row.entry.outline) < 10_000
        assert {p["line"] for n in compilation["graph"]["nodes"] for p in n["positions"]} <= {4}
        module = row.entry.executable.hlo_modules()[0]
        text = hlo_module.text(module, metadata=True)
        assert not marks.MARK.search(text) and 'op_name="' in text
        assert len(text) < 10_000
        assert hlo_module.cost_analysis(module)["flops"] > 0


COUNTER = """\
@jax.tree_util.register_pytree_node_class
class Counter:
    def __init__(self, start, up): self.start, self.up = start, up
    @jax.jit
    def step(self, by): return self.start + by if self.up else self.start - by
    def tree_flatten(self): return (self.start,), self.up
    @classmethod
    def tree_unflatten(cls, up, parts): return cls(*parts, up)
"""


def test_a_program_is_compared_with_those_of_the_same_definition_and_cells_are_those_that_define(cells):
    first = COUNTER.replace("@jax.jit", "@functools.partial(jax.jit, static_argnums=0)")
    for text in (first, "Counter(2, True).step(3)", COUNTER, "Counter(2, True).step(3)"):
        assert not cells.cell(text).error
    again = observe.ledger().function_rows("step")[-1]
    assert again.because.startswith("traced again because the function was defined again: In [3] → In [5]")
    ran = cells.cell("Counter(2, False).step(3)")
    row = observe.ledger().function_rows("step")[-1]
    assert (row.what, row.against, row.cause) == ("recompiled", again, "tree structure"), row.because
    assert [card["cause"] for one in ran.documents for card in one.get("cards", [])] == ["tree structure"]


@pytest.mark.parametrize(
    "run", ["%run -i {}", "import pathlib; exec(pathlib.Path({!r}).read_text())", "import runpy; runpy.run_path({!r})"]
)
def test_a_file_that_is_run_again_defines_its_functions_again(cells, run, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(
        "@jax.jit\ndef f(v):\n    return v * 2\nf(jnp.ones(3))\nfor k in range(2):\n    jax.jit(lambda v: v + 1)(jnp.ones(3))"
    )
    text = "import jax, jax.numpy as jnp\n" + file.read_text() if "runpy" in run else file.read_text()
    file.write_text(text)
    (first,) = cells.cell(run.format(str(file))).documents
    assert [card["function"] for card in first["cards"]] == ["<lambda>"]
    cells.cell(run.format(str(file)))
    again = observe.ledger().function_rows("f")[-1]
    made = "for k in range(2): jax.jit(eval('lambda v: v + 2'))(x)"
    assert [card["cause"] for one in cells.cell(made).documents for card in one["cards"]] == ["function"]
    assert again.cause == "redefined" and "the code that defines it was run again" in again.because, again.because


def test_a_function_whose_trace_failed_and_was_caught_is_told(cells):
    cell = "@jax.jit\ndef g(v):\n    return v if v.sum() > 0 else -v\ntry:\n    g(x)\nexcept Exception:\n    pass"
    assert cells.cell(f"%%jit\n{cell}").document["note"] == "g could not be traced."


@pytest.mark.parametrize("first", ["", "f(x)\n"])
def test_to_call_once_before_is_advised_where_nobody_did(cells, first):
    cells.cell("import time\nf = jax.jit(lambda v: v @ v)")
    document = cells.cell(f"%%jit\n{first}begin = time.time()\ny = f(x)\nprint(time.time() - begin)").document
    (fix,) = [item["fix"]["text"] for item in document["diagnostics"]["items"] if item["id"] == "misleading-timing"]
    assert (
        fix
        == f"Wait for the result inside the measurement: jax.block_until_ready(f(x)){'' if first else '; and call once before, to compile'}."
    )


def test_what_a_call_reuses_is_called_by_what_made_it(cells):
    cells.cell(
        "def f(v):\n    return (v * 2).sum()\ng = jax.jit(jax.grad(f))\ncompiled = jax.jit(f).lower(x).compile()\ng(x), compiled(x)"
    )
    assert cells.cell("%%jit\ng(x)").document["reused"] == [{"function": "grad of f", "calls": 1, "at_least": True}]
    assert (
        cells.cell("%%jit\ncompiled(x)")
        .document["note"]
        .endswith("what it calls was compiled before or is not compiled.")
    )


@pytest.mark.parametrize(
    ("most", "said"), [(1, "jax compiled f 3 times, more than --max-compiles 1; jax is not stopped by it.\n"), (3, "")]
)
def test_a_budget_counts_what_jax_compiles(cells, most, said):
    ran = cells.cell(
        f"%%jit --max-compiles {most}\n@jax.jit\ndef f(v):\n    return v + 1\nfor n in (2, 3, 4): f(jnp.ones(n))"
    )
    assert not ran.error and ran.stderr == said


LOOPS = {
    "a while whose body is made anew": (
        "def root(v):\n    return lax.while_loop(lambda s: abs(s * s - v) > 1e-3, lambda s: (s + v / s) / 2, v)\n"
        "for v in (2.0, 3.0, 4.0, 5.0):\n    root(v)",
        ("while", 2, 4),
    ),
    "a scan over a lambda": (
        "for k in range(5):\n    lax.scan(lambda c, v: (c + v * k, c), 0.0, x[0])",
        ("scan", 2, 5),
    ),
    "one body": ("def body(c, v):\n    return c + v, c\nfor k in range(5):\n    lax.scan(body, 0.0, x[0])", None),
    "another length each time": (
        "def body(c, v):\n    return c + v, c\nfor n in range(3, 8):\n    lax.scan(body, 0.0, jnp.ones(n))",
        None,
    ),
    "another number of iterations": (
        "def body(i, c):\n    return c + i\nfor n in range(3, 8):\n    lax.fori_loop(0, n, body, 0)",
        None,
    ),
    "under jit": (
        "@jax.jit\ndef root(v):\n    return lax.while_loop(lambda s: abs(s * s - v) > 1e-3, lambda s: (s + v / s) / 2, v)\n"
        "for v in (2.0, 3.0, 4.0, 5.0):\n    root(v)",
        None,
    ),
}


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("case", LOOPS)
def test_a_loop_outside_of_jit_that_is_compiled_again_is_told(cells, case, marked):
    text, told = LOOPS[case]
    compiled = []

    def listen(event, _, **found):
        if event.endswith("backend_compile_duration"):
            compiled.append(found.get("fun_name", ""))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        ran = cells.cell(("%%jit\n" if marked else "") + text)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert not ran.error
    if told is None:
        assert "Outside of jit its program" not in ran.stderr
        return
    name, line, count = told
    assert (
        f"jax compiled the {name} of line {line + marked} of In [{ran.count}] {count} times for arguments of the same kinds"
        in ran.stderr
    )
    assert len([one for one in compiled if name in one]) == count, compiled
