"""Loading and unloading, what each cell reports, names of cells, and the side panel."""

import copy
import threading

import pytest

from jitscope.core.errors import Unavailable
from jitscope_kernel import eager_runs
from jitscope_scope import observe
from jitscope_widgets import validate
from jitscope_widgets.view_data import without_views


CALL = "def double(x):\n    return x * 2\n\n"
NOTHING = "Nothing was compiled: "


def state(ip) -> dict:
    """Everything in a shell that the extension touches."""
    magics = ip.magics_manager.magics
    return {
        "magics": {kind: set(table) for kind, table in magics.items()},
        "events": {name: list(callbacks) for name, callbacks in ip.events.callbacks.items()},
        "text": list(ip.input_transformers_cleanup),
        "lines": list(ip.input_transformer_manager.line_transforms),
        "trees": list(ip.ast_transformers),
        "names": set(ip.user_ns),
        "cells": observe.ledger().cell_of,
        "shown": "showtraceback" in vars(ip),
        "meta": copy.copy(dict(ip.meta)),
    }


# --- loading ----------------------------------------------------------------------------------------------------------


def test_unloading_leaves_everything_as_it_was(bare_shell) -> None:
    before = state(bare_shell.ip)
    for _ in range(2):
        bare_shell.ip.run_line_magic("load_ext", "jitscope")
        assert bare_shell.ip.find_cell_magic("jit")
        bare_shell.ip.run_line_magic("unload_ext", "jitscope")
        assert state(bare_shell.ip) == before


def test_programs_of_cells_from_before_the_extension_name_their_cell(bare_shell) -> None:
    bare_shell.cell("import jitscope as jx\n@jx.jit\ndef early(x):\n    return x + 1\nearly(2.0)")
    bare_shell.ip.run_line_magic("load_ext", "jitscope")
    (row,) = observe.ledger().function_rows("early")
    (function,) = observe.compilation_document(row)["source"]["functions"]
    assert function["cell"] == "In [1]"


def test_loading_twice_is_harmless(shell, capsys: pytest.CaptureFixture[str]) -> None:
    before = state(shell.ip)
    shell.ip.run_line_magic("load_ext", "jitscope")
    assert "already loaded" in capsys.readouterr().out
    assert state(shell.ip) == before
    shell.ip.run_line_magic("reload_ext", "jitscope")
    after = state(shell.ip)
    assert {name: len(value) for name, value in after.items() if name not in ("cells", "shown")} == {
        name: len(value) for name, value in before.items() if name not in ("cells", "shown")
    }
    ran = shell.cell(f"%%jit\n{CALL}double(jnp.ones(3))")
    assert ran.functions == ["double"]


def test_unloading_inside_a_cell(shell) -> None:
    ran = shell.cell("%unload_ext jitscope\n1")
    assert ran.result == 1
    assert "Cell magic `%%jit` not found" in shell.cell("%%jit\n1").error
    assert shell.cell("'%%jit'\n1").result == 1


def test_a_magic_of_someone_else_stays(bare_shell) -> None:
    def jit(line, cell):
        return "theirs"

    bare_shell.ip.register_magic_function(jit, "cell", "jit")
    bare_shell.cell("%load_ext jitscope")
    assert bare_shell.cell("%%jit --quiet\n1").result == 1
    bare_shell.cell("%unload_ext jitscope")
    assert bare_shell.cell("%%jit\n1").result == "theirs"

    bare_shell.cell("%load_ext jitscope")
    bare_shell.ip.register_magic_function(jit, "cell", "jit")
    assert bare_shell.cell("%%jit\n1").result == "theirs"
    bare_shell.cell("%unload_ext jitscope")
    assert bare_shell.cell("%%jit\n1").result == "theirs"


def test_functions_outlive_the_extension(shell) -> None:
    shell.cell(f"%%jit\n{CALL}")
    shell.cell("%unload_ext jitscope")
    assert shell.cell("double(jnp.ones(2))").result.tolist() == [2, 2]


def test_autoreload(shell) -> None:
    shell.cell("%load_ext autoreload\n%autoreload 2")
    ran = shell.cell(f"%%jit\n{CALL}double(jnp.ones(3))")
    assert ran.functions == ["double"]
    assert shell.cell("%%jit\ndouble(jnp.ones(3))").document["reused"] == [{"function": "double", "calls": 1}]
    shell.cell("%autoreload 0\n%unload_ext autoreload")


# --- reports ----------------------------------------------------------------------------------------------------------


def test_a_cell_that_compiles_shows_one_document(shell) -> None:
    ran = shell.cell(f"%%jit\n{CALL}def unused(x): ...\ndef constant(): ...\ndouble(jnp.ones(3))\ndouble(jnp.ones(3))")
    document = ran.document
    validate(document)
    assert ran.functions == ["double"]
    assert document["cell"] == f"In [{ran.count}]"
    assert document["left_alone"] == [{"name": "constant", "reason": "takes no arguments"}]
    assert document["error"] is None
    assert document["note"] == ""
    assert "double(x: f32[3]) -> f32[3]" in ran.texts[-1]
    compilation = document["compilations"][0]
    function = compilation["source"]["functions"][0]
    assert function["lines"] == CALL.rstrip().splitlines()
    assert (function["label"], function["first_line"]) == (f"In [{ran.count}]", 2)
    (node,) = [node for node in compilation["graph"]["nodes"] if node["kind"] == "equation"]
    assert node["positions"][0]["text"] == "    return x * 2"
    assert node["positions"][0]["cell"] == f"In [{ran.count}]"


def test_the_view_comes_last(shell) -> None:
    ran = shell.cell(f"%%jit\nfrom IPython.display import display\n{CALL}display('mine')\ndouble(jnp.ones(3));")
    assert ran.texts[0] == "'mine'"
    assert "double" in ran.texts[1]
    assert len(ran.shown) == 2


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (CALL, "Nothing was compiled yet: double will be when first called with arrays."),
        (
            f"{CALL}del double",
            f"{NOTHING}the cell calls none of its functions, and their names stand for something else now.",
        ),
        ("1 + 1", f"{NOTHING}this cell defines no function, and what it calls was compiled before or is not compiled."),
        ("def f(): ...\nf()", "Nothing was compiled: every definition in this cell stays Python."),
        ("1 / 0", "Nothing was compiled before the error."),
    ],
)
def test_nothing_compiled_says_why(shell, body: str, note: str) -> None:
    ran = shell.cell(f"%%jit\n{body}")
    validate(ran.document)
    assert ran.document["compilations"] == []
    assert ran.document["note"] == note
    assert note in " ".join(ran.texts[-1].split())


ELEMENTS = """\
def filled(n):
    out = jnp.zeros((n, n))
    for i in range(n):
        for k in range(n):
            out = out.at[i, k].set(0.5 * i)
    return out
"""


def test_a_python_loop_over_elements_is_told_of(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager_runs, "_LEAST_SECONDS", 0.0)  # a quick machine takes less
    monkeypatch.setattr(eager_runs, "_LEAST_SHARE", 0.0)
    shell.cell(ELEMENTS)
    shell.cell("filled(4)")
    ran = shell.cell("%%jit\nfilled(40)")
    assert not ran.error, ran.traceback
    assert "filled ran 1,600 operations outside jit, one by one, in " in ran.document["note"]
    assert "all of them in line 5 of In [2] (out = out.at[i, k].set(0.5 * i))" in ran.document["note"]
    assert "Nothing was compiled" not in ran.document["note"]
    assert "one by one" not in shell.cell("%%jit\nfilled(3)").document["note"]


def test_small_programs_are_listed_by_operation_and_line(shell) -> None:
    """Of what XLA was asked to compile nothing is missing."""
    shell.cell("from jitscope.xla.program import Executable\nmade = []\ncompiling = Executable.compile.__func__")
    shell.cell("Executable.compile = classmethod(lambda cls, *a, **k: [made.append(1), compiling(cls, *a, **k)][1])")
    try:
        ran = shell.cell("%%jit\nfor n in range(31, 34):\n    y = jnp.sin(jnp.arange(float(n)))\nz = jnp.cumsum(y) * y")
    finally:
        shell.cell("Executable.compile = classmethod(compiling)")
    made = len(shell.names["made"])
    (ledger,) = shell.cell("%ledger").documents
    validate(ledger)
    by = {(one["operation"], one["line"]): one["programs"] for one in ledger["small"]["operations"]}
    assert ran.document["note"].startswith(f"jitscope compiled {made} small programs for operations outside jit, in ")
    assert sum(by.values()) == ledger["small"]["programs"] == made
    assert by["sin", 3] == 3 and by["cumsum", 4] == 1


def test_operations_that_an_instrument_runs_are_no_news(shell) -> None:
    shell.cell("%%jit\ndef f(x):\n    return jnp.sinh(x * 3.5).cumsum() / 7\nx = jnp.ones(13)\nf(x)")
    before = shell.cell("%ledger").document["small"]
    assert shell.cell("%values f(x)").document["rows"]
    assert shell.cell("%ledger").document["small"] == before


def test_small_programs_of_an_earlier_cells_function_are_told_with_that_cell(shell) -> None:
    shell.cell("def halves(n):\n    return jnp.cumprod(jnp.full(n, 0.5))")  # In [2]
    shell.cell("\nhalves(37)")
    (ledger,) = shell.cell("%ledger").documents
    (cumprod,) = [one for one in ledger["small"]["operations"] if one["operation"] == "cumprod"]
    assert (cumprod["cell"], cumprod["line"]) == ("In [2]", 2)
    assert ", line 2 of In [2] (return jnp.cumprod(jnp.full(n, 0.5)))" in cumprod["said"]


def test_the_time_of_a_program_that_was_there_says_so(shell) -> None:
    cell = "import jitscope as jx\ndef f(x):\n    return x * 3.21875\n{} = jx.jit(f)\n{}(jnp.ones(3))"
    shell.cell(cell.format("first", "first"))
    assert "; the program was compiled before)" not in shell.cell("%timejit first(jnp.ones(3))").texts[0]
    shell.cell(cell.format("second", "second"))
    ran = shell.cell("%timejit second(jnp.ones(3))")
    assert "compile" not in {stage["name"] for stage in ran.document["stages"]}
    assert "; the program was compiled before)" in " ".join(ran.texts[0].split())


def test_quiet_shows_nothing(shell) -> None:
    ran = shell.cell(f"%%jit --quiet\n{CALL}double(jnp.ones(3));")
    assert (ran.shown, ran.stdout, ran.stderr) == ([], "", "")
    assert shell.cell("%%jit --quiet\n1 / 0").shown == []


def test_a_cell_run_again_shows_its_programs_again(shell) -> None:
    first = shell.cell(f"%%jit\n{CALL}double(jnp.ones(3));")
    again = shell.cell(f"%%jit\n{CALL}double(jnp.ones(3))\ndouble(jnp.ones(3));")
    validate(again.document)
    assert again.functions == first.functions == ["double"]
    assert [document["compilations"][0]["cache"] for document in (first.document, again.document)] == [
        "compiled",
        "reused",
    ]
    assert again.document["compilations"][0]["jaxpr"] == first.document["compilations"][0]["jaxpr"]
    assert again.document["compilations"][0]["fusion"]["kernels"]
    assert again.document["reused"] == []
    assert again.document["note"] == ""


def test_calls_of_earlier_functions_are_reported(shell) -> None:
    shell.cell(f"%%jit --quiet\n{CALL}double(jnp.ones(3));")
    ran = shell.cell("%%jit\ndouble(jnp.ones(3))\ndouble(jnp.ones(3));")
    assert ran.document["reused"] == [{"function": "double", "calls": 2}]
    assert ran.document["note"] == "Nothing had to be compiled: the programs were there already."
    ran = shell.cell("%%jit\ndouble(jnp.ones((3, 2)));")
    (card,) = ran.document["recompilations"]["cards"]
    assert "f32[3]" in card["because"] and "f32[3,2]" in card["because"]
    assert ran.document["compilations"][0]["recompilations"]["cards"][0]["because"] == card["because"]


def test_a_plain_cell_shows_a_card_when_a_function_recompiled(shell) -> None:
    assert shell.cell("1 + 1").shown == []
    shell.cell(f"%%jit --quiet\n{CALL}")
    assert shell.cell("double(jnp.ones(3));").shown == []
    assert shell.cell("double(jnp.ones(3));").shown == []
    ran = shell.cell("double(jnp.ones(4));")
    (card,) = ran.document["cards"]
    validate(ran.document)
    assert (card["function"], card["cause"], card["compilations"]) == ("double", "shape", 1)
    assert [row["cells"] for row in card["matrix"]["rows"]] == [["f32[3]", "f32[4]"]]
    (text,) = ran.texts
    assert "double: axis 0 of x is 3, then 4 (1 recompilation, " in text and len(text.splitlines()) < 12
    assert shell.cell("1 + 1").shown == []
    assert len(shell.cell("%timejit double(jnp.ones(4))").shown) == 1


LOOP = "for k in range(4):\n    y = jx.jit(lambda x: x * k + 0.1875)(jnp.ones(3))\n"


def test_a_fix_of_the_cell_is_an_edit_of_it(shell) -> None:
    shell.cell("import jitscope as jx, jitscope.numpy as jnp")
    ran = shell.cell(LOOP)
    (card,) = ran.document["cards"]
    assert (card["cause"], card["compilations"]) == ("closure", 3)
    fix = card["fix"]
    assert fix["position"]["cell"] == f"In [{ran.count}]" and "4 compilations become 1" in fix["checked"]
    assert fix["before"] == LOOP.splitlines()[:2]
    assert [edit["text"] for edit in fix["edits"]] == [
        "compiled = jx.jit(lambda x, k: x * k + 0.1875)\n", "compiled", ", k"]  # fmt: skip


def test_a_cell_run_again_is_quiet(shell) -> None:
    shell.cell("import jitscope as jx, jitscope.numpy as jnp")
    for number in (1.0, 2.0, 3.0):
        shell.ip.user_ns["number"] = number
        assert shell.cell("@jx.jit\ndef rerun(x):\n    return x * number + 0.4375\nrerun(jnp.ones(3));").shown == []
    (card,) = shell.cell("%recompiles rerun").document["cards"]
    assert card["quiet"] and card["cause"] == "redefined" and (card["compilations"], card["retraces"]) == (2, 0)


def test_a_helper_that_was_defined_again_is_told_below_the_cell_that_calls_what_keeps_it(shell) -> None:
    shell.cell("def act(x):\n    return jnp.maximum(x, 0)")
    first = shell.ip.execution_count
    shell.cell("%%jit --quiet\ndef layer(x):\n    return act(x)\nlayer(-jnp.ones(3));")
    shell.cell("def act(x):\n    return jnp.tanh(x)")
    ran = shell.cell("layer(-jnp.ones(3));")
    told = f"layer keeps the act that it was traced with; act was defined again in In [{first + 1}]."
    assert ran.stderr == f"{told} Run In [{first}] again, or call layer.clear_cache(): layer is traced anew then.\n"
    assert shell.cell("layer(-jnp.ones(3));").stderr == "", "it is told once"
    items = [one for one in shell.cell("%sharpbits").document["items"] if one["id"] == "stale-capture"]
    assert [(one["message"], one["position"]["line"], one["position"]["column"]) for one in items] == [
        (told.replace("layer", "`layer`", 1), 3, 11)
    ]
    shell.cell("layer.clear_cache()")
    assert shell.cell("layer(-jnp.ones(3))").stderr == ""


def test_a_cell_that_registers_a_class_once_more_is_told_which_one_did(shell) -> None:
    register = "jx.tree_util.register_pytree_node(Dataset, lambda d: ((), None), lambda _, c: Dataset())"
    first = shell.ip.execution_count
    assert not shell.cell("class Dataset: ...").error
    assert not shell.cell(register).error
    assert f"registered as a pytree already, by line 1 of In [{first + 1}]: " in str(shell.cell(register).exception)
    again = "@jx.tree_util.register_static\nclass Mode: ..."
    assert not shell.cell(again).error and not shell.cell(again).error


def test_retraces_that_compile_nothing_are_told(shell) -> None:
    shell.cell("import jitscope as jx, jitscope.numpy as jnp")
    (card,) = shell.cell("for _ in range(5):\n    jx.jit(lambda x: x * 0.3125)(jnp.ones(3));").document["cards"]
    assert (card["compilations"], card["retraces"]) == (0, 4) and card["seconds"]["value"] > 0


def test_looking_at_a_program_is_no_recompilation(shell) -> None:
    shell.cell(f"%%jit --quiet\n{CALL}double(jnp.ones(3));")
    ran = shell.cell("%timejit double(jnp.ones(17))")
    assert [document["kind"] for document in ran.documents] == ["timing"]


def test_a_cell_that_shows_recompilations_itself_gets_no_second_card(shell) -> None:
    shell.cell(f"%%jit --quiet\n{CALL}double(jnp.ones(3));")
    ran = shell.cell("double(jnp.ones(41))\n%recompiles double")
    assert [document["title"] for document in ran.documents] == ["Recompilations of double"]
    ran = shell.cell("%recompiles double\ndouble(jnp.ones(43));")
    assert len(ran.documents) == 2


def test_a_budget_of_a_cell(shell) -> None:
    shell.cell(f"%%jit --quiet\n{CALL}")
    shell.cell("%%jit --quiet --max-compiles 2\nfor n in (21, 22):\n    double(jnp.ones(n))")
    ran = shell.cell("%%jit --quiet --max-compiles 2\nfor n in range(23, 30):\n    double(jnp.ones(n))")
    assert type(ran.exception).__name__ == "TooManyCompilations"
    assert "double was compiled 3 times, and at most 2 are allowed" in str(ran.exception)
    assert "axis 0 of x grows" in str(ran.exception) and "fix: Pad axis 0 of x" in str(ran.exception)
    assert not shell.cell("double(jnp.ones(31)), double(jnp.ones(32)), double(jnp.ones(33));").error
    assert "from 0, not -1" in shell.cell("%%jit --max-compiles -1\n1").stderr


def test_what_was_compiled_again_is_told_while_the_cell_runs(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jitscope_kernel.live._AFTER", 0.0)
    monkeypatch.setattr("jitscope_kernel.live._PAUSE", 0.0)
    monkeypatch.setattr("jitscope_kernel.live._SHARE", 1e9)
    monkeypatch.setattr(shell.ip, "kernel", object(), raising=False)
    session = shell.ip.meta["jitscope"]
    stop = session.ledger.listen(session._written)
    shell.cell("import jitscope as jx, jitscope.numpy as jnp")
    ran = shell.cell("f = jx.jit(lambda x: x * 0.5625)\nfor n in (2, 3, 4, 5):\n    f(jnp.ones(n));")
    shell.cell("g = jx.jit(lambda x: x * 0.8125)\ng(jnp.ones(2));")
    settled = shell.cell("g(jnp.ones(3));")  # two shapes that two lines give, one each
    stop()
    assert not settled.documents
    counts = [document["cards"][0]["compilations"] for document in ran.documents]
    assert counts[0] == 1 and counts[-1] == 3 and counts == sorted(counts)


def test_what_a_nested_cell_reported_is_not_said_again(shell) -> None:
    shell.cell(f"%%jit --quiet\n{CALL}double(jnp.ones(3))")
    ran = shell.cell("get_ipython().run_cell('[double(jnp.ones(n)) for n in (5, 6)];')\nNone")
    assert len(ran.shown) == 1


def test_a_view_that_fails_leaves_the_result(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_, **__):
        raise RuntimeError("no view today")

    monkeypatch.setattr(observe, "cell_document", broken)
    ran = shell.cell(f"%%jit\n{CALL}double(jnp.ones(3))")
    assert ran.result.tolist() == [2, 2, 2]
    assert not ran.error
    assert "no view today" in ran.stderr


def test_the_button_measures(shell) -> None:
    from jitscope_kernel import session

    ran = shell.cell(f"%%jit\n{CALL}double(jnp.ones(3));")
    found = session.of(shell.ip)
    assert found is not None
    measure = found._answers(ran.document).measure
    assert measure is not None
    again = measure(ran.document["compilations"][0]["id"])
    validate(again)
    assert again["kind"] == "compilation"
    assert again["timing"]["steady"]["median"]["value"] > 0
    with pytest.raises(Unavailable):
        measure(10**9)


def test_instruments_are_asked_with_the_cell(shell) -> None:
    ran = shell.cell(f"%%jit --with passes,values\n{CALL}x = jnp.ones(3)\nx = double(x)")  # x is gone
    validate(ran.document)
    (compilation,) = ran.document["compilations"]
    assert [one["kind"] for one in compilation["instruments"].values()] == ["passes", "values"]
    assert "XLA's passes of double" in ran.shown[-1]["text/plain"]
    ran = shell.cell(f"%%jit --with passes,magic\n{CALL}double(jnp.ones(3));")
    assert "--with takes communication, machine" in ran.error and "'magic'" in ran.error


def test_names_from_users_are_text(shell) -> None:
    name = "<script>alert(1)</script>"
    ran = shell.cell(f"%%jit\ndef f(d):\n    return d['{name}'] * 2\nf({{'{name}': jnp.ones(3)}});")
    html = ran.shown[-1]["text/html"]
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert name in ran.document["compilations"][0]["signature"]


# --- many at once -----------------------------------------------------------------------------------------------------


def test_two_threads_trace_at_once(shell) -> None:
    ran = shell.cell(
        """%%jit
import threading
def f(x):
    for _ in range(100):
        x = jnp.sin(x) + 1
    return x
def g(x):
    for _ in range(100):
        x = jnp.cos(x) * 2
    return x
results = {}
threads = [threading.Thread(target=lambda h=h: results.__setitem__(h.__name__, h(jnp.ones(4)))) for h in (f, g)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sorted(results)"""
    )
    assert ran.result == ["f", "g"]
    assert sorted(ran.functions) == ["f", "g"]
    assert [one["equations"] for one in ran.document["compilations"]] == [200, 200]
    assert ran.stderr == ""


def test_cells_in_two_threads_do_not_see_each_others_reports(shell) -> None:
    """As in a kernel with subshells."""
    shell.cell(f"%%jit --quiet\n{CALL}")
    started, stop = threading.Event(), threading.Event()
    shell.names.update(started=started, stop=stop)
    other = threading.Thread(target=shell.ip.run_cell, args=("started.set(); stop.wait(10)",))
    other.start()
    started.wait(10)
    ran = shell.cell("%%jit\ndouble(jnp.ones(6))")
    stop.set()
    other.join()
    assert ran.functions == ["double"]


# --- the side panel ---------------------------------------------------------------------------------------------------


class FakeComm:
    def __init__(self, target_name="", data=None, **_):
        self.comm_id = f"comm-{id(self)}"
        self.sent = [data] if data else []
        self.closed = False

    def on_msg(self, callback):
        self.message = callback

    def on_close(self, callback):
        self.close_callback = callback

    def send(self, data):
        if self.closed:
            raise OSError("closed")
        self.sent.append(data)

    def close(self):
        self.closed = True


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch):
    import comm

    from jitscope_kernel import panel, sharp_bits

    made = []
    monkeypatch.setattr(comm, "create_comm", lambda **options: made.append(FakeComm(**options)) or made[-1])
    monkeypatch.setattr(panel, "_PAUSE", 0.01)
    rows, ignored, ledger = [], [], observe.Ledger()
    bits = sharp_bits.SharpBits(ledger, lambda: ignored)
    one = panel.Panel(lambda: {"kind": "ledger", "version": 1, "rows": list(rows)}, bits, ignored.append)
    one.open()
    yield one, rows, made[0]
    one.close()
    ledger.close()


def test_the_panel_sends_the_ledger_when_it_opens_and_when_it_changes(panel) -> None:
    one, rows, first = panel
    assert without_views(first.sent) == [{"type": "ledger", "document": {"kind": "ledger", "version": 1, "rows": []}}]
    rows.append("a")
    one.changed()
    one.changed()
    one.flush()
    assert [message["document"]["rows"] for message in first.sent] == [[], ["a"]]
    one.flush()
    assert len(first.sent) == 2


def test_the_panel_sends_while_a_cell_runs(panel) -> None:
    one, rows, first = panel
    rows.append("a")
    one.changed()
    for _ in range(200):
        if len(first.sent) == 2:
            break
        threading.Event().wait(0.01)
    assert len(first.sent) == 2


def test_a_page_that_connects_is_answered_at_once(panel) -> None:
    one, _, first = panel
    second = FakeComm()
    one._opened(second, {})
    assert second.sent[0]["type"] == "ledger"
    first.close_callback({})
    second.message({"content": {"data": {"type": "ledger?"}}})
    one.changed()
    one.flush()
    assert [message["type"] for message in second.sent] == ["ledger", "diagnostics", "ledger", "ledger"]
    assert len(first.sent) == 1


def test_a_page_tells_its_cells_and_is_told_their_sharp_bits(panel) -> None:
    one, _, page = panel

    def told(type: str, **more) -> list[tuple[str, str, int]]:
        page.message({"content": {"data": {"type": type, **more}}})
        items = page.sent[-1]["document"]["items"]
        return [(item["id"], item["position"]["file"], item["position"]["line"]) for item in items]

    cells = [
        ("a", "import jitscope as jx, jitscope.numpy as jnp"),
        ("b", "x = jnp.zeros(3)\nx.at[0].set(1)\ny = x"),
        ("c", "("),
    ]
    cells = [{"id": id, "text": text} for id, text in cells]
    assert told("look", cells=cells) == [("update-result-dropped", "b", 2)]
    assert page.sent[-1]["cells"] == ["a", "b"]  # nothing can be said of a cell that is no Python
    assert page.sent[-1]["seconds"] > 0
    page.message({"content": {"data": {"type": "ignore", "id": "update-result-dropped"}}})
    assert told("look", cells=cells) == []
    one.ran("b", "x = jnp.zeros(3)")
    one.look()
    one._looks.flush()
    assert page.sent[-1]["document"]["items"] == []


def test_a_page_that_is_gone_is_no_error(panel) -> None:
    one, _, first = panel
    first.closed = True
    one.changed()
    one.flush()


TOLD_ONCE = {
    "a trace that stopped": "%%jit\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\nf(jnp.ones(3))",
    "shapes that do not fit": "%%jit\ndef f(x):\n    return x @ jnp.ones((4, 5))\nf(jnp.ones((2, 3)))",
    "an error of Python's": "%%jit\n1 / 0",
}


@pytest.mark.parametrize("case", TOLD_ONCE)
def test_an_error_is_told_once(shell, case: str) -> None:
    """By its traceback: below it stand its type and place, and the message only where somebody opens it."""
    ran = shell.cell(TOLD_ONCE[case])
    assert ran.error
    message = ran.document["error"]["message"]
    said, page = ran.texts[-1], ran.shown[-1]["text/html"].replace("&#x27;", "'")
    assert message in ran.traceback and message not in " ".join(said.split())
    assert f"{ran.document['error']['type']} in In [{ran.count}], line " in said
    assert "could not be traced" not in said
    folded = page.partition("<details>")[2].partition("</details>")[0]
    assert message in folded and page.count(message) == folded.count(message)


def test_unloading_within_a_cell_ends_what_counts_in_it(shell) -> None:
    from jitscope.eager import running

    before = running.due
    ran = shell.cell("%%jit\nfrom jitscope.eager import running\nseen = running.due\n%unload_ext jitscope")
    assert not ran.error
    assert shell.names["seen"] is not before and running.due is before
