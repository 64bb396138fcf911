"""The line magics and their Python twins."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from IPython.core.error import UsageError

import jitscope
import jitscope.numpy as jnp
from jitscope_kernel import expressions, inspection
from jitscope_widgets import text, validate
from tests.extent import as_users


CELL = "%%jit --quiet\ndef layer(x, w, scale=2.0):\n    return jnp.tanh(x @ w) * scale\nx, w = jnp.ones((8, 3)), jnp.ones((3, 2))\n"


@pytest.fixture
def layer(shell):
    shell.cell(CELL)
    return shell


# --- %jaxpr -----------------------------------------------------------------------------------------------------------


def test_jaxpr_of_a_call(layer) -> None:
    layer.cell("calls = []\ndef f(x, y):\n    calls.append(x)\n    return x * y + 1")
    ran = layer.cell("%jaxpr f(x, y=jnp.float32(2))")
    (text,) = ran.texts
    assert re.match(r"\{ lambda ; a:f32\[8,3\] b:f32\[\]\. let", text)
    assert "mul" in text and "add" in text
    assert len(layer.names["calls"]) == 1
    assert "Tracer" in repr(layer.names["calls"][0])


def test_numbers_of_a_jaxpr_have_the_digits_of_their_type(layer) -> None:
    layer.cell("def f(x):\n    return x / 90**0.5")
    (text,) = layer.cell("%jaxpr f(x)").texts
    assert " 9.486833:f32[]" in text


def test_jaxpr_of_a_compiled_function_is_that_of_its_body(layer) -> None:
    (text,) = layer.cell("%jaxpr layer(x, w)").texts
    assert "dot_general" in text and "tanh" in text
    assert "jit[" not in text


def test_jaxpr_of_a_transformation(layer) -> None:
    (text,) = layer.cell("%jaxpr jx.grad(lambda w: layer(x, w).sum())(w)").texts
    assert "dot_general" in text
    (text,) = layer.cell("%jaxpr jx.vmap(jnp.sin)(x)").texts
    assert "sin" in text


@pytest.mark.parametrize(
    "call, operation",
    [
        ("jnp.reshape(x, (12, 2))", "reshape[dimensions=None new_sizes=(12, 2)]"),
        ("x.reshape(12, 2)", "reshape[dimensions=None new_sizes=(12, 2)]"),
        ("jx.random.bits(jx.random.key(0), (3,))", "random_bits[bit_width=32 shape=(3,)]"),
        ("jnp.power(x, 2)", "integer_pow[y=2] a"),
        ("either(x, [3, 8], up=True)", "integer_pow[y=3] a"),
    ],
)
def test_what_is_no_data_in_a_call_belongs_to_its_program(layer, call: str, operation: str) -> None:
    layer.cell("def either(x, powers, up=False):\n    return jnp.power(x, 3) if up else x")
    (text,) = layer.cell(f"%jaxpr {call}").texts
    assert operation in text and not layer.cell(f"%step {call}").document["error"]
    assert layer.cell(f"%nans {call}").document["found"] is False


def test_jaxpr_of_an_expression_of_arrays(layer) -> None:
    (text,) = layer.cell("%jaxpr x @ w + 1").texts
    assert text.startswith("{ lambda ; a:f32[8,3] b:f32[3,2]. let")
    (text,) = layer.cell("a = np.float32([1, 2])\n%jaxpr -a * 3").texts
    assert "neg" in text


def test_jaxpr_as_a_graph(layer) -> None:
    document = layer.cell("%jaxpr --graph layer(x, w)").document
    validate(document)
    assert {"dot_general", "tanh", "mul"} <= {node["label"] for node in document["nodes"]}


def test_jaxpr_inside_a_function_sees_its_names(layer) -> None:
    ran = layer.cell(
        "def look():\n    inside = jnp.ones(5)\n    get_ipython().run_line_magic('jaxpr', 'jnp.sin(inside)')\nlook()"
    )
    assert "f32[5]" in ran.texts[0]


def test_jaxpr_runs_nothing_and_shows_the_users_error(layer) -> None:
    ran = layer.cell("%jaxpr layer(x, x)")
    assert ran.error
    assert ran.document["kind"] == "stopped"  # how far the trace came; no program


# --- the others -------------------------------------------------------------------------------------------------------


def test_hlo(layer) -> None:
    (after,) = layer.cell("%hlo layer(x, w)").texts
    assert after.startswith("HloModule layer")
    assert "fusion(" in after
    (before,) = layer.cell("%hlo --before layer(x, w)").texts
    assert before.startswith("HloModule") and "fusion(" not in before
    (given,) = layer.cell("%hlo --stablehlo layer(x, w)").texts
    assert "stablehlo.dot_general" in given


@pytest.mark.parametrize(
    "line", ["%hlo layer(x, w) --stablehlo", "%hlo layer(x, w)   --stablehlo ", "%hlo --stablehlo layer(x, w)"]
)
def test_options_stand_before_or_behind_the_expression(layer, line: str) -> None:
    (given,) = layer.cell(line).texts
    assert "stablehlo.dot_general" in given


def test_what_stands_behind_an_expression_is_python_unless_it_is_an_option(layer) -> None:
    layer.cell("y = jnp.ones((8, 3))")
    (text,) = layer.cell("%jaxpr x --y").texts
    assert "neg" in text and "sub" in text
    assert "name 'bogus' is not defined" in layer.cell("%hlo layer(x, w) --bogus").traceback
    assert "needs an expression" in layer.cell("%hlo --before --stablehlo").traceback
    assert "there is no target 'nochip'" in layer.cell("%hlo layer(x, w) --target nochip").stderr


def test_llvm_and_machine_code(layer) -> None:
    document = layer.cell("%asm layer(x, w)").document
    validate(document)
    assert (document["kind"], document["title"], document.get("opens")) == ("machine", "layer", None)
    (code,) = layer.cell("%asm --text layer(x, w)").texts
    assert all(f"{one['name']}:" in code for one in document["functions"])
    document = layer.cell("%llvm layer(x, w)").document
    validate(document)
    assert document["opens"] == "llvm"
    (after,) = layer.cell("%llvm --text layer(x, w)").texts
    assert "define " in after and "target triple" in after


def test_machine_code_of_an_inspected_call(layer) -> None:
    seen = layer.names["inspected"] = jitscope.inspect(layer.names["layer"])(layer.names["x"], layer.names["w"])
    names = [one["name"] for one in seen.machine.document["functions"]]
    assert names and all(f"{name}:" in str(seen.asm) for name in names)
    assert all(name in seen.llvm and name in seen.llvm_before for name in names)
    assert seen.document["instruments"]["machine"] is seen.machine.document
    assert "Machine code of layer" in repr(seen.machine)


@as_users
def test_llvm_is_told_in_text_too(layer) -> None:
    (shown,) = layer.cell("%llvm layer(x, w)").texts
    assert shown.index("before LLVM's passes:") < shown.index("after LLVM's passes:")
    assert "define " in shown and "block 0" not in shown
    (shown,) = layer.cell("%asm layer(x, w)").texts
    assert "before LLVM's passes" not in shown and "block 0" in shown


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("nowhere", "name 'nowhere' is not defined"),
        ("layer", "layer is a function: write a call of it, such as layer(x)"),
        ("layer.nowhere", "has no attribute 'nowhere'"),
        ("lambda x: x", "such as (lambda x: x)(x)"),
        ("1 + 2", "1 + 2 is not a call and names no array"),
    ],
)
def test_what_cannot_be_traced_is_told(layer, expression: str, said: str) -> None:
    ran = layer.cell(f"%jaxpr {expression}")
    assert ran.error.startswith("UsageError") and said in ran.error


def test_what_a_program_does_not_have_is_told_without_a_traceback(layer) -> None:
    assert layer.cell("%communication layer(x, w)").error.startswith(
        "UsageError: the program of layer runs on one device"
    )


def test_numpy_in_a_magic_is_told_at_the_magics_line(layer) -> None:
    assert "in line 2 of <module>: %jaxpr np.sin(3.0)\n" in layer.cell("import numpy as np\n%jaxpr np.sin(3.0)").error


def test_an_expression_in_a_magic_is_measured_on_its_own_arguments(layer) -> None:
    assert layer.cell("%profile layer(x + 1, w * 2)").document["on"] == "the arguments of the call"


def test_what_an_expression_writes_is_told_as_such(layer) -> None:
    layer.cell("v = jnp.zeros(2)")
    ran = layer.cell("%nans v + sum(jnp.log(a - 1) / 2 for a in v)")
    (said,) = [text(ran.document).splitlines()[0]]
    assert said.endswith("made first by log in the expression.")
    small = layer.cell("%nans jnp.sum(jnp.tanh(v) / 3)") and layer.cell("%ledger").document["small"]["operations"]
    assert {one["cell"] for one in small if "tanh" in one["text"]} == {"the expression"}


def test_fusion(layer) -> None:
    document = layer.cell("%fusion layer(x, w)").document
    validate(document)
    assert (document["kind"], document["title"]) == ("fusion", "layer")
    assert document["kernels"]


def test_timejit(layer) -> None:
    document = layer.cell("%timejit layer(x, w)").document
    validate(document)
    assert document["steady"]["median"]["value"] > 0
    assert {"trace", "lower", "compile"} <= {stage["name"] for stage in document["stages"]}


def test_recompiles_and_ledger(layer) -> None:
    layer.cell("layer(x, w); layer(jnp.ones((5, 3)), w);")
    document = layer.cell("%recompiles layer").document
    validate(document)
    (card,) = document["cards"]
    assert (card["function"], card["cause"], card["compilations"]) == ("layer", "shape", 1)
    assert card["because"].startswith("axis 0 of x is ") and "would become" in card["fix"]["text"]
    assert "nothing called nothing_of_that_name was compiled" in layer.cell("%recompiles nothing_of_that_name").error
    assert layer.cell("%recompiles").document["cards"]
    document = layer.cell("%ledger").document
    validate(document)
    rows = [row for row in document["rows"] if row["function"] == "layer"]
    assert any(row["cell"] for row in rows)


@pytest.mark.parametrize("magic", ["jaxpr", "hlo", "fusion", "llvm", "asm", "timejit", "recompiles", "ledger"])
def test_every_magic_answers_to_help(layer, magic: str) -> None:
    ran = layer.cell(f"%{magic} -h")
    assert not ran.error
    assert f"%{magic}" in ran.stdout
    assert ran.shown == []
    assert layer.cell(f"%{magic} --help").stdout == ran.stdout
    assert not layer.cell(f"%{magic}?").error
    assert layer.cell(f"%{magic} --frob").error.startswith("UsageError")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "%jaxpr needs an expression, such as %jaxpr f(x)"),
        ("f(", "is not an expression"),
        ("x = 1", "is not an expression"),
        ("3 + 4", "names no array"),
        ("scale(x)", "scale is not a function but a int"),
    ],
)
def test_what_is_no_expression_is_said(layer, line: str, said: str) -> None:
    layer.cell("scale = 2")
    ran = layer.cell(f"%jaxpr {line}")
    assert ran.error.startswith("UsageError")
    assert said in ran.error
    assert "NameError" in layer.cell("%jaxpr undefined(x)").error


def test_braces_and_dollars_are_python(layer) -> None:
    assert "sin" in layer.cell("f = lambda d: jnp.sin(d['a'])\n%jaxpr f({'a': x})").texts[0]


# --- expressions ------------------------------------------------------------------------------------------------------


def test_a_call_is_read_but_not_made() -> None:
    def never(*args, **kwargs):
        raise AssertionError

    names = {"f": never, "xs": [1, 2], "options": {"k": 3}}
    call = expressions.read("f(*xs, 4, [x for x in xs if x in xs], **options, z=max(xs));", names)
    assert call == expressions.Call(never, (1, 2, 4, [1, 2]), {"k": 3, "z": 2}, "f")
    assert set(names) == {"f", "xs", "options"}


def test_an_expression_becomes_a_function_of_its_arrays() -> None:
    names = {"a": np.ones(2), "b": np.ones(2), "n": 3}
    call = expressions.read("a * jnp.sin(n) + np.sum(b) - a", {**names, "jnp": jnp, "np": np})
    assert len(call.args) == 2, "modules have `shape` and `dtype`, too"
    call = expressions.read("a * n + b.sum() - a", names)
    assert call.function(2, np.ones(1)) == 5
    assert len(call.args) == 2
    with pytest.raises(UsageError):
        expressions.read("n + 1", names)


def test_sharding_and_communication(layer, shell) -> None:
    assert shell.cell("%sharding jnp.zeros((0, 3))").document["part"] == "f32[0,3]"
    (document,) = shell.cell("%sharding x").documents
    assert (document["title"], document["type"], document["tiles"][0]["devices"]) == ("x", "f32[8,3]", ["CPU 0"])
    validate(document)
    assert [one["title"] for one in shell.cell("%sharding {'a': x, 'b': [w, 3]}").documents] == [
        "{'a': x, 'b': [w, 3]}['a']",
        "{'a': x, 'b': [w, 3]}['b'][0]",
    ]
    assert "no arrays" in shell.cell("%sharding 3").error
    assert "runs on one device: nothing is exchanged" in shell.cell("%communication layer(x, w)").error


def test_programs_for_another_platform(shell) -> None:
    ran = shell.cell("%%jit --target cuda:sm_90\ndef f(x):\n    return jnp.tanh(x) @ x\nf(jnp.ones((3, 3)))")
    text = ran.texts[-1]
    assert "for cuda:sm_90" in text and "--target h100" in text
    assert "stablehlo.tanh" in text and "stablehlo.dot_general" in text
    assert str(jitscope.inspect(shell.names["f"])(jitscope.numpy.ones((3, 3))).target("cuda:sm_90")).endswith(
        text.split("\n", 2)[2]
    )
    ran = shell.cell("%%jit --target cuda\ndef g(x):\n    return jnp.linalg.cholesky(x)\ng(jnp.eye(3))")
    assert "computes with the CPU's library" in ran.stderr
    ran = shell.cell("%%jit --target cpu:7\ndef h(x):\n    return x + 1\nh(jnp.eye(3))")
    assert "there is no target 'cpu:7'" in ran.stderr and ran.error == ""


def test_memory(layer, shell) -> None:
    shown = shell.cell("%memory layer(x, w)").shown[-1]["text/plain"]
    assert shown.startswith("Memory of layer: At most") and "In use at the peak" in shown


def test_values(layer, shell) -> None:
    shown = shell.cell("%values layer(x, w)").shown[-1]["text/plain"]
    assert shown.startswith("Values of layer:") and "dot_general" in shown and "compiled program" in shown


# --- inspect ----------------------------------------------------------------------------------------------------------


def test_inspect(layer, tmp_path: Path) -> None:
    names = layer.names
    seen = jitscope.inspect(names["layer"])(names["x"], names["w"])
    assert "dot_general" in str(seen.jaxpr)
    assert "stablehlo" in repr(seen.stablehlo) and "\n" in repr(seen.stablehlo)
    assert seen.hlo.startswith("HloModule")
    assert len(seen.kernels) == len(seen.document["fusion"]["kernels"]) > 0
    assert "trace" in repr(seen.timing)
    assert repr(seen).startswith("layer(x: f32[8,3], w: f32[3,2]")
    assert seen.memory["argument"] > 0 and dict(seen.memory) == seen._compiled.memory_analysis()
    assert seen.memory.document is seen.memory.document is seen.document["instruments"]["memory"]
    assert repr(seen.memory).startswith("Memory of layer: At most")
    assert {"text/html", "text/plain"} <= set(seen._repr_mimebundle_())
    page = seen.save(tmp_path / "seen.html").read_text()
    assert "data-jitscope-document" in page
    saved = json.loads(seen.save(tmp_path / "seen.json").read_text())
    validate(saved)
    assert saved == seen.document
    assert seen.measure().document["timing"]["steady"]["runs"] > 0


def test_every_graph_is_to_be_had_for_graphviz(layer) -> None:
    names = layer.names
    seen = jitscope.inspect(names["layer"])(names["x"], names["w"])
    for graph in (seen.graph, seen.graph_before, seen.graph_after):
        source = graph.to_graphviz().source
        assert "digraph jitscope" in source
        assert all(node["label"] in source for node in graph.document["nodes"])


def test_inspect_runs_no_user_code_twice_and_takes_any_callable(layer) -> None:
    calls = []

    def f(x, mode="a"):
        calls.append(mode)
        return x + 1

    seen = jitscope.inspect(f)(jitscope.ShapeDtypeStruct((4,), "float32"), mode="b")
    assert calls == ["b"]
    assert "f32[4]" in repr(seen)


def test_the_twins_of_ledger_and_recompiles(layer) -> None:
    layer.cell("layer(x, w); layer(jnp.ones((5, 3)), w);")
    assert inspection.recompiles(layer.names["layer"]).document == inspection.recompiles("layer").document
    assert "layer" in repr(inspection.ledger())


# --- NaNs -------------------------------------------------------------------------------------------------------------


def test_nans_of_a_call(layer) -> None:
    ran = layer.cell("def made(x):\n    return jnp.log(x).sum()\n%nans made(jnp.array([-1.0, 1.0]))")
    assert ran.document["kind"] == "nan-hunt" and ran.document["operation"]["primitive"] == "log"
    assert "no NaN" in layer.cell("%nans jnp.sin(jnp.float32(1))").document["sentence"]


def test_a_cell_looks_for_nans_where_it_is_asked_to(layer) -> None:
    ran = layer.cell(
        "%%jit --nans\ndef root(x):\n    return jnp.sqrt(x)\nroot(jnp.array([-1.0, 1.0]))\nroot(jnp.array([1.0]))"
    )
    cell, hunt = ran.documents
    assert (cell["kind"], hunt["kind"]) == ("cell", "nan-hunt") and hunt["operation"]["position"]["line"] == 3
    ran = layer.cell("%%jit --nans\ndef root(x):\n    return jnp.sqrt(x)\nroot(jnp.array([1.0]))")
    assert [one["kind"] for one in ran.documents] == ["cell"]


def test_a_result_with_a_nan_comes_with_the_way_to_hunt_it(layer) -> None:
    layer.cell("def root(x):\n    return jnp.sqrt(x).sum()\nbad = jnp.array([-1.0, 4.0])")
    ran = layer.cell("root(bad)")
    (offer,) = [text for text in ran.texts if "%nans" in text]
    assert offer.endswith(": %nans root(bad)")
    hunt = layer.cell(offer[offer.index("%nans") :]).document
    assert (hunt["kind"], hunt["operation"]["primitive"]) == ("nan-hunt", "sqrt")
    ran = layer.cell("%%jit\ndef loss(x):\n    return jnp.log(x)\nvalue = loss(bad)\nvalue")
    assert [text for text in ran.texts if text.endswith(": %nans loss(bad)")]
    numbers = {
        "float(root(bad))": "%nans root(bad)",
        "for k in range(2):\n    taken = root(bad).item()\nprint(taken)": "%nans root(bad)",
        "def inverse(x):\n    return 1 / x\ntaken = float(inverse(0 * bad[0]))": "%nans inverse(0 * bad[0])",
        "print(float(root(bad)))": "%nans root(bad)",
        "print(jnp.sqrt(bad)[0])": "%nans jnp.sqrt(bad)",
        "bad[1], root(bad), 2": "%nans root(bad)",
        "print('root', root(bad))": "%nans root(bad)",
        "y = root(bad)\nfor step in range(2):\n    print(f'{step} {y:.3f}')": "%nans root(bad)",
        "y, z = root(bad), 1\nprint(f'{z} {float(y):.3f}', len('a'))": "%nans and the call that made it",
        "print(root(0 * bad), root(bad))": "%nans root(0 * bad), or %nans root(bad)",
        "print('%.2f' % root(bad).item())": "%nans root(bad)",
        "%%jit\ndef other(x):\n    return jnp.log(x)\nprint(round(float(other(bad[0])), 2))": "%nans other(bad[0])",
        "seen = []\nfor k in range(2):\n    seen.append(float(root(bad)))": "%nans root(bad)",
        "log = {'loss': [0.5]}\nlog['loss'].append(root(bad).item())": "%nans root(bad)",
        "seen = [float(root(x)) for x in (bad, bad)]": "%nans and the call that made it",
        "def report():\n    y = root(bad)\n    print(float(y))\nreport()": "%nans and the call that made it",
    }
    for cell, hunt in numbers.items():
        assert [text for text in layer.cell(cell).texts if text.endswith(f": {hunt}")], cell
    quiet = (
        "root(jnp.abs(bad))",
        "root(bad);",
        "jnp.array([1.0, jnp.nan])",
        "bad.shape, 3",
        "best = float('inf')",
        "taken = float(bad[1])",
        "print(float(root(jnp.abs(bad))), f'{bad[1]:.2f}')",
        "import math\nprint(math.isnan(float(root(bad))))",
        "least = min(1.0, float(root(bad)));",
        "seen.append(float(bad[1]))",
        "seen = [float(x) for x in jnp.abs(bad)]\nprint(seen)",
    )
    for cell in quiet:
        assert not [text for text in layer.cell(cell).texts if "%nans" in text], cell


def test_a_call_that_is_not_known_is_not_called_by_a_name_of_the_session(layer) -> None:
    layer.cell("def f(x):\n    return jnp.sqrt(x)\nx = jnp.ones(2)")
    ran = layer.cell("seen = [float(f(x)) for x in (-x[0], -x[1])]")
    assert [text for text in ran.texts if text.endswith(": %nans and the call that made it")]


def test_a_cell_that_debug_nans_stopped_comes_with_the_way_to_hunt(layer) -> None:
    layer.cell("def root(x):\n    return jnp.sqrt(x).sum()\nbad = jnp.array([-1.0, 4.0])")
    ran = layer.cell("import jitscope\njitscope.config.update('debug_nans', True)\nroot(bad)")
    layer.cell("jitscope.config.update('debug_nans', False)")
    assert isinstance(ran.exception, FloatingPointError)
    assert [text for text in ran.texts if text.endswith("%nans root(bad)")]


# --- %step ------------------------------------------------------------------------------------------------------------


def test_step_shows_the_lines_of_the_cell_as_they_are_typed(layer) -> None:
    layer.cell(
        "%%jit --quiet\ndef bent(x):\n    y = layer(x, w)\n    if x.ndim == 1:\n        y = -y\n    return y\nbent(x)"
    )
    document = layer.cell("%step bent(x)").document
    validate(document)
    code = document["codes"][document["calls"][0]["code"]]
    assert code["function"] == "bent" and code["position"]["line"] == 2 and code["position"]["cell"].startswith("In [")
    assert code["lines"] == [
        "def bent(x):",
        "    y = layer(x, w)",
        "    if x.ndim == 1:",
        "        y = -y",
        "    return y",
    ]
    assert document["calls"][0]["skipped"] == [{"first": 5, "last": 5, "why": "not taken"}]
    assert [step["line"] for step in document["steps"] if step["kind"] == "line" and step["call"] == 0] == [3, 4, 6]
    entered = [document["codes"][call["code"]]["function"] for call in document["calls"]]
    assert entered == ["bent", "layer"]  # compiled before, and traced once more


def test_step_of_an_error_raises_nothing(layer) -> None:
    layer.cell("def asking(x):\n    return x if x > 0 else -x")
    document = layer.cell("%step asking(1.0)").document
    assert document["error"].startswith("TracerBoolConversionError") and document["steps"][-1]["kind"] == "error"
    assert jitscope.step(layer.names["asking"])(1.0).document["error"] == document["error"]


def test_lines_outside_of_the_cell_have_the_name_of_theirs(shell) -> None:
    shell.cell("import jitscope as jx, jitscope.numpy as jnp")
    defined = shell.cell("@jx.jit\ndef f(x):\n    return jnp.sin(x) * 2").count
    (text,) = shell.cell("%%jit\nf(jnp.ones(3))\nNone;").texts
    assert f"In [{defined}] line 3" in text
    assert re.search(
        r"f32\[3\] +line 3", shell.cell("%%jit\ndef f(x):\n    return jnp.cos(x) * 2\nf(jnp.ones(3))\nNone;").texts[0]
    )


# --- names of magics in Python ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "step(x)",
        "nans (x)",
        "profile(x).show()",
        "memory[0]",
        "hlo + 1",
        "tune is None",
        "sharpbits(x, 1)",
        "ledger.rows",
        "step, 1",
    ],
)
def test_a_line_of_python_is_no_magic(layer, line: str) -> None:
    ran = layer.cell(line)
    assert ran.error == f"NameError: name '{re.split(r'[^a-z]', line)[0]}' is not defined" and not ran.documents


@pytest.mark.parametrize(
    "line", ["recompiles", "ledger", "timejit layer(x, w)", "jaxpr layer(x, w)", "sharpbits --help"]
)
def test_other_lines_are_magics_without_their_sign(layer, line: str) -> None:
    ran = layer.cell(line)
    assert not ran.error and (ran.documents or ran.texts or ran.stdout)
