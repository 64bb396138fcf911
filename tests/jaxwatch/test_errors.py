"""Errors that end a trace of jax's: the line, what was traced up to it, the way there."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jitscope.core import source
from jitscope_scope import jaxwatch, observe
from jitscope_scope.jaxwatch import document_of_stop
from jitscope_scope.source_code import edits as source_edits
from jitscope_widgets import validate
from tests.kernel_ext.conftest import bare_shell  # noqa: F401


def branch(x, w):
    y = jnp.sin(x) * w
    z = y.sum()
    if z > 0:
        return y
    return -y


def number(x, w):
    n = jnp.floor(x[0])
    return jnp.zeros(int(n)) + w


def numpys(x, w):
    y = x * w
    return np.sin(y)


def index(x, w):
    at = x[0].astype(int)
    return [1, 2, 3][at]


def inside(x, w):
    def body(c, _):
        d = c * w
        return (d if d.sum() > 0 else c), None

    return lax.scan(body, jnp.cos(x), None, length=2)[0]


def shapes(x, w):
    y = jnp.sin(x)
    return y @ jnp.ones((3, 2))


def unused(x, w):
    return "text"


LINES = Path(__file__).read_text().splitlines()
CASES = {
    branch: ("if z > 0", ["sin", "mul", "reduce_sum", "gt"]),
    number: ("int(n)", ["floor"]),
    numpys: ("np.sin(y)", ["mul"]),
    index: ("[1, 2, 3][at]", ["convert_element_type"]),
    shapes: ("y @ jnp.ones((3, 2))", ["sin", "broadcast_in_dim"]),
    inside: ("d.sum() > 0", ["mul", "reduce_sum", "gt"]),
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_an_error_shows_the_way_to_it(watcher, function):
    asked, primitives = CASES[function]
    with pytest.raises(Exception) as caught:
        jax.jit(function)(jnp.ones(4), jnp.float32(2))
    document = document_of_stop(caught.value)
    validate(document)
    nodes = {node["id"]: node for node in document["graph"]["nodes"]}
    stop = nodes[document["stop"]]
    assert asked in document["asked"] and stop["mark"] == "stop"
    line = stop["positions"][0]["line"]
    assert asked.removeprefix("if ") in LINES[line - 1]
    labels = [node["label"] for node in nodes.values() if node["kind"] == "equation"]
    assert [label for label in labels if label in primitives] == primitives
    way = {node["label"] for node in nodes.values() if node.get("mark") == "path"}
    assert primitives[-1] in way and "x" in way


def test_other_errors_have_no_trace(watcher):
    for function, kind in ((unused, TypeError), (lambda x, w: 1 / 0, ZeroDivisionError)):
        with pytest.raises(kind) as caught:
            jax.jit(function)(jnp.ones(4), jnp.float32(2))
        assert document_of_stop(caught.value) is None


def test_nothing_is_kept_of_it(watcher):
    with jax.checking_leaks():
        with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
            jax.jit(branch)(jnp.ones(4), jnp.float32(2))
        assert document_of_stop(caught.value)
        del caught
        assert float(jax.jit(lambda v: v.sum())(jnp.ones(3))) == 3


SETUP = "import jax, jax.numpy as jnp, numpy as np\nfrom jax import lax\nx = jnp.arange(4.0)"
REWRITES = {
    "a branch": ("def f(v):\n    if v.sum() > 0:\n        return v\n    return 0.0 * v", "x", ["jnp.where(", "lax.cond("]),
    "a while loop": ("def f(v):\n    while v.sum() > 1:\n        v = v / 2\n    return v", "x", ["lax.while_loop("]),
    "a range": (
        "def f(v, n):\n    for i in range(n):\n        v = v * 2\n    return v",
        "x, 3",
        ["lax.fori_loop(", 'static_argnames="n"'],
    ),
    "NumPy's function": ("def f(v):\n    return np.sin(v) + 1", "x", ["jnp.sin(v)"]),
    "a mask": ("def f(v):\n    return v[v > 1].sum()", "x", ["jnp.where(v > 1"]),
    "a flag": ("def f(v, train):\n    if train:\n        return v * 2\n    return v", "x, True", ['static_argnames="train"']),
    "an assignment": ("def f(v):\n    v[0] = 1.0\n    return v", "x", [".at[0].set(1.0)"]),
    "a size": ("def f(v):\n    return jnp.nonzero(v)[0]", "x", ["size=v.size"]),
    "a size beside the array": ("def f(v, n):\n    return v.reshape(n, -1)", "x, 2", ['static_argnames="n"']),
    "an axis": ("def f(v, axis):\n    return jnp.sum(v, axis=axis)", "x, 0", ['static_argnames="axis"']),
    "a number of classes": ("def f(v, n):\n    v = v.astype(int)\n    return jax.nn.one_hot(v, n)", "x, 5", ['static_argnames="n"']),
    "a slice by int, behind another call": ("def f(v, k):\n    return jnp.sort(v)[-int(k):]", "x, 2", ['static_argnames="k"']),
    "two sizes, one after the other": ("def f(v, n, m):\n    return v[:n].sum() + jnp.ones(m)", "x, 3, 2", ['static_argnames=("n", "m")']),
    "a product of two": ("def f(v, n, m):\n    return v[: n * m]", "x, 1, 2", ['static_argnames=("n", "m")']),
    "a number": ("def f(v):\n    return float(v.sum()) * 2", "x", ["v.sum().astype(float)"]),
}  # fmt: skip


@pytest.mark.parametrize(("case", "marked"), [*((case, True) for case in REWRITES), ("a branch", False)])
def test_rewrites_were_traced_by_jax_and_run(bare_shell, case, marked):  # noqa: F811
    code, args, expected = REWRITES[case]
    assert not bare_shell.cell(f"%load_ext jitscope\n{SETUP}").error
    text = f"{'%%jit' if marked else ''}\n@jax.jit\n{code}\nf({args})"
    ran = bare_shell.cell(text)
    (document,) = ran.documents
    document = document["error"]["stopped"] if marked else document
    fixes = document["fixes"]
    assert len(fixes) >= len(expected)
    for part in expected:
        (fix,) = [fix for fix in fixes if any(part in edit["text"] for edit in fix["edits"])]
        assert fix["checked"].startswith("It was traced") or "may give other values: " in fix["text"]
        again = bare_shell.cell(applied(text, fix["edits"]))
        assert not again.error, again.traceback
    assert bare_shell.cell(f"f({args})").error == "", "the last rewrite is what f is now"
    kinds = [one.error.partition(":")[0] for one in (bare_shell.cell(text), ran)]
    assert kinds[0] == kinds[1] != "", "nothing of a trial is left in jax's caches"


EAGER = {
    "an element": ("x[0] = 10.0", "x = x.at[0].set(10.0)"),
    "a slice": ("x[1:] *= 2", "x = x.at[1:].multiply(2)"),
    "of an attribute": ("class A: pass\na = A()\na.w = x\na.w[0] += 1", "a.w = a.w.at[0].add(1)"),
    "of a tree": ("d = {'w': x}\nd['w'][1] = 3", "d['w'] = d['w'].at[1].set(3)"),
    "in a function that runs": ("def change(v):\n    v[0] = 1.0\n    return v\nchange(x)", "v = v.at[0].set(1.0)"),
    "of what a call gives": ("jnp.sort(x)[0] = 3", ""),
}


@pytest.mark.parametrize(("case", "marked"), [*((case, True) for case in EAGER), ("an element", False)])
def test_an_assignment_outside_of_jit_has_its_rewrite(bare_shell, case, marked):  # noqa: F811
    code, expected = EAGER[case]
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    text = f"%%jit\n{code}" if marked else code
    ran = bare_shell.cell(text)
    assert ran.error.startswith("TypeError")
    (document,) = ran.documents if marked or expected else [{"items": []}]
    validate(document)
    told = document.get("diagnostics") if marked else document
    if not expected:
        assert told is None
        return
    (item,) = told["items"]
    assert item["id"] == "item-assignment" and [edit["text"] for edit in item["fix"]["edits"]] == [expected]
    again = bare_shell.cell(applied(text, item["fix"]["edits"]))
    assert not again.error, again.traceback


LOGICAL = {
    "and": ("mask = x > 0.2 and x < 0.8", "(x > 0.2) & (x < 0.8)"),
    "a chain": ("mask = 0.2 < x < 0.8", "(0.2 < x) & (x < 0.8)"),
    "not": ("mask = not (x > 0.5)", "~(x > 0.5)"),
    "in an argument": ("y = jnp.where(x > 0.8 or x < 0.2, x, 0)", "(x > 0.8) | (x < 0.2)"),
    "in a function that runs": (
        "def window(v):\n    return (v > 0.2 and v < 0.8) * v\nwindow(x)",
        "(v > 0.2) & (v < 0.8)",
    ),
    "the larger one": ("y = max(x, x * 2)", "jnp.maximum(x, x * 2)"),
    "a branch": ("if x > 0.2 and x < 0.8:\n    y = x", ""),
    "a branch on one": ("if x > 0.2:\n    y = x\nelse:\n    y = -x", ""),
    "of NumPy": ("n = np.arange(3)\nmask = n > 1 and n < 3", ""),
}


@pytest.mark.parametrize("case", LOGICAL)
def test_a_truth_of_all_elements_outside_of_jit_has_its_rewrite(bare_shell, case):  # noqa: F811
    code, expected = LOGICAL[case]
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    ran = bare_shell.cell(code)
    assert ran.error.startswith("ValueError")
    if not expected:
        assert not ran.documents
        return
    (item,) = ran.documents[0]["items"]
    assert item["id"] == "logical-op-on-tracer" and [edit["text"] for edit in item["fix"]["edits"]] == [expected]
    again = bare_shell.cell(applied(code, item["fix"]["edits"]))
    assert not again.error, again.traceback


OF_TYPES = {
    "a body that gives no pair": "def f(v):\n    return lax.scan(lambda c, x: c * 2, v, jnp.arange(3))",
    "sizes that do not fit": "def f(v):\n    return jnp.concatenate([v[None], v], 0)",
    "sizes of a product": "def f(v):\n    return jnp.dot(v, v[1:])",
}


@pytest.mark.parametrize("case", OF_TYPES)
def test_types_that_do_not_fit_are_no_sizes_that_are_traced(bare_shell, case):  # noqa: F811
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    assert bare_shell.cell(f"%%jit\n@jax.jit\n{OF_TYPES[case]}\nf(x)").error.startswith("TypeError")
    items = [item for document in bare_shell.cell("%sharpbits").documents for item in document["items"]]
    assert [item["id"] for item in items if item["id"] == "traced-shape-arg"] == []


OUTSIDE = {
    "a branch under vmap": (
        "def one(v):\n    if v > 0:\n        return v\n    return -v\njax.vmap(one)(x)",
        ("branch-on-tracer", 2, "jnp.where(v > 0, v, -v)"),
    ),
    "a tracer that was kept": (
        "kept = []\n@jax.jit\ndef leak(v):\n    kept.append(v)\n    return v\nleak(x)\nkept[0] + 1",
        ("tracer-leak", 4, "Return the value from the function"),
    ),
    "one array donated twice": (
        "@jax.jit(donate_argnums=(0, 1))\ndef both(a, b):\n    return a + b, a - b\nboth(x, x)",
        ("donation-misuse", 4, "Give one of them a copy"),
    ),
    "one array donated and read": (
        "step = jax.jit(lambda p, t: p + t, donate_argnums=0)\ntarget = x\nstep(x, target)",
        ("donation-misuse", 3, "Give one of them a copy"),
    ),
    "an array of NumPy's under grad": (
        "def f(p):\n    return (np.square(p['w']) * 2).sum()\njax.grad(f)({'w': x})",
        ("host-call-on-tracer", 2, "Write `jnp.square(p['w'])`"),
    ),
    "an array that NumPy alone has under vmap": (
        "def f(v):\n    return np.asarray(v) * 2\njax.vmap(f)(x)",
        ("host-call-on-tracer", 2, "Write `jnp.asarray(v)`"),
    ),
    "an integer in a tree under grad": (
        "jax.grad(lambda b, t: b * t['w'].sum(), argnums=1)(1.0, {'w': x, 'n': [1.0, 3]})",
        ("grad-bad-signature", 1, "Pass floats"),
    ),
    "objects of a class that was defined again": (
        "def pair():\n    class Old: pass\n    flat = lambda old: ((), None)\n"
        "    jax.tree_util.register_pytree_node(Old, flat, lambda _, parts: Old())\n    return Old()\n"
        "jax.tree.map(lambda a, b: a, pair(), pair())",
        ("pytree-registered-twice", 6, "Make the objects again"),
    ),
    "a derivative of an array": (
        "def f(v):\n    return v * 2\njax.grad(f)(x)",
        ("grad-bad-signature", 3, "Sum the result"),
    ),
    "a view of a result": ("out = np.asarray(x)\nout[0] = 1", ("item-assignment", 2, "Write `np.array(x)` in line 1")),
    "a view of a view": (
        "rows = np.asarray(x).reshape(2, 2)[1:]\nrows.sort()",
        ("item-assignment", 2, "Make `rows` a copy"),
    ),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_an_error_of_jaxs_that_stops_no_trace_has_what_to_do(bare_shell, case):  # noqa: F811
    code, (id, line, words) = OUTSIDE[case]
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    documents = bare_shell.cell(code).documents
    (item,) = [item for document in documents if document["kind"] == "diagnostics" for item in document["items"]]
    validate(documents[0])
    assert (item["id"], item["position"]["line"]) == (id, line) and words in item["fix"]["text"]
    assert "static" not in item["fix"]["text"] and "only shapes and dtypes" not in item["message"], (
        "nothing here was staged out"
    )


@pytest.mark.parametrize(("call", "told"), [
    ("grad(lambda b, t: b * t['w'].sum(), argnums=1)(1.0, {'w': x, 'n': [1.0, 3]})", "argument 1['n'][1] is int32[], and gradients are of floats."),
    ("value_and_grad(lambda b, t: t, argnums=(1, 0))(x, np.arange(3))", "argument 1 is int32[3], and gradients are of floats."),
    ("jacfwd(lambda t: t['w'])({'w': x, 'k': True})", "argument 0['k'] is bool[], and gradients are of floats."),
])  # fmt: skip
def test_an_argument_without_a_derivative_is_named(bare_shell, call, told):  # noqa: F811
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    ran = bare_shell.cell(f"jax.{call}")
    assert ran.error.startswith("TypeError: ") and "-valued inputs (input dtype" in ran.error, "an error is jax's own"
    (item,) = ran.documents[0]["items"]
    assert told in item["evidence"]


@pytest.mark.parametrize("marked", [True, False])
def test_a_static_argument_of_a_function_that_another_cell_compiles_is_told_in_words(bare_shell, marked):  # noqa: F811
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    assert not bare_shell.cell("def ones(n, v):\n    return jnp.ones((n,)) * v\nones(3, 1)").error
    ran = bare_shell.cell("%%jit\njax.jit(ones)(3, 1)" if marked else "jax.jit(ones)(3, 1)")
    (document,) = ran.documents
    (fix,) = (document["error"]["stopped"] if marked else document)["fixes"]
    assert 'jit(ones, static_argnames="n")' in fix["text"] and not fix["edits"]
    assert fix["checked"] == "It was traced with this change."
    assert not bare_shell.cell('jax.jit(ones, static_argnames="n")(3, 1)').error


def applied(text, edits):
    made = [source_edits.Edit(source_edits.Span(**span_of(e)), e["text"]) for e in edits]
    return source_edits.applied(text, made)


def span_of(edit):
    return {name: edit[name] for name in ("line", "column", "end_line", "end_column")}


def test_a_helper_is_tried_and_left_as_it_is(bare_shell):  # noqa: F811
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    code = (
        "@jax.jit\ndef helper(v):\n    if v.sum() > 0:\n        v = v + 1\n    return v\n"
        "@jax.jit\ndef caller(v):\n    return helper(v) * 2\ncaller(x)"
    )
    ran = bare_shell.cell(code)
    (document,) = ran.documents
    assert [fix["checked"] for fix in document["fixes"]] == ["It was traced with this change."] * 2
    assert bare_shell.cell("caller(x)").error.startswith("TracerBoolConversionError")
    assert bare_shell.cell("helper(x)").error.startswith("TracerBoolConversionError")
    assert not jaxwatch.current().faults


BRANCH = "if v.sum() > 0:\n{0}    v = v + 1\n{0}return v"
IN_FUNCTION, IN_METHOD = BRANCH.format("    "), BRANCH.format("        ")
WRAPPED = {
    "a method that another calls": (
        f"class Model:\n    def help(self, v):\n        {IN_METHOD}\n    @functools.partial(jax.jit, static_argnums=0)\n"
        "    def run(self, v):\n        return self.help(v) * 2\nModel().run(x)"
    ),
    "a gradient": f"def g(v):\n    {IN_FUNCTION}.sum()\njax.jit(jax.grad(g))(x)",
    "a gradient inside": f"def g(v):\n    {IN_FUNCTION}.sum()\n@jax.jit\ndef f(v):\n    return jax.value_and_grad(g)(v)\nf(x)",
    "a batch": f"def one(v):\n    {IN_FUNCTION}\njax.jit(jax.vmap(one))(x * jnp.ones((3, 1)))",
    "a closure": f"def make(k):\n    @jax.jit\n    def f(v):\n        v = v * k\n        {IN_METHOD}\n    return f\nmake(3.0)(x)",
    "linen": (
        "import flax.linen as nn\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, v):\n"
        f"        {IN_METHOD}\njax.jit(Net().apply)({{}}, x)"
    ),
    "nnx": (
        "from flax import nnx\nclass Net(nnx.Module):\n    def __init__(self):\n        self.w = nnx.Param(x)\n"
        f"    def __call__(self, v):\n        v = v * self.w\n        {IN_METHOD}\n"
        "@nnx.jit\ndef run(net, v):\n    return net(v)\nrun(Net(), x)"
    ),
    "equinox": (
        f"import equinox as eqx\nclass Net(eqx.Module):\n    w: jax.Array\n    def __call__(self, v):\n        v = v * self.w\n        {IN_METHOD}\n"
        "@eqx.filter_jit\n@eqx.filter_value_and_grad\ndef loss(net, v):\n    return net(v).sum()\nloss(Net(x), x)"
    ),
}  # fmt: skip


DIRECT = {
    "scan": f"def body(v, w):\n    {IN_FUNCTION}, w\nlax.scan(body, x, x)",
    "fori_loop": f"def body(i, v):\n    {IN_FUNCTION}\nlax.fori_loop(0, 3, body, x)",
    "a gradient of a jitted function": f"@jax.jit\ndef g(v):\n    {IN_FUNCTION}.sum()\njax.grad(g)(x)",
    "a batch of a jitted function": f"@jax.jit\ndef one(v):\n    {IN_FUNCTION}\njax.vmap(one)(x * jnp.ones((3, 1)))",
}  # fmt: skip


@pytest.mark.parametrize("case", DIRECT)
def test_rewrites_are_tried_where_jaxs_functions_are_called_directly(bare_shell, case):  # noqa: F811
    as_in_a_kernel = "jax.config.update('jax_traceback_filtering', 'tracebackhide')"
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}\n{as_in_a_kernel}")
    ran = bare_shell.cell(DIRECT[case])
    (document,) = ran.documents
    (fix, *_) = document["fixes"]
    assert fix["checked"] == "It was traced with this change."
    again = bare_shell.cell(applied(DIRECT[case], fix["edits"]))
    assert not again.error, again.traceback
    kinds = [one.error.partition(":")[0] for one in (bare_shell.cell(DIRECT[case]), ran)]
    assert kinds[0] == kinds[1] != "", "nothing of a trial is left in jax's caches"
    assert not jaxwatch.current().faults
    jax.config.update("jax_traceback_filtering", "auto")


@pytest.mark.parametrize("case", WRAPPED)
def test_rewrites_are_tried_where_others_call_the_function(bare_shell, case):  # noqa: F811
    bare_shell.cell(f"%load_ext jitscope\nimport functools\n{SETUP}")
    ran = bare_shell.cell(WRAPPED[case])
    (document,) = ran.documents
    fixes = document["fixes"]
    assert [fix["checked"] for fix in fixes] == ["It was traced with this change."] * 2
    assert "jnp.where(v.sum() > 0, v + 1, v)" in fixes[0]["edits"][0]["text"]
    again = bare_shell.cell(applied(WRAPPED[case], fixes[0]["edits"]))
    assert not again.error, again.traceback
    kinds = [one.error.partition(":")[0] for one in (bare_shell.cell(WRAPPED[case]), ran)]
    assert kinds[0] == kinds[1] != "", "nothing of a trial is left in jax's caches"
    assert not jaxwatch.current().faults


FLAG = "@jax.jit\ndef run(v, train):\n    return inner(v, not train)\nrun(x, False)"
SAID = {
    "a flag of another cell's function": ("def inner(v, deterministic):\n    return v if deterministic else -v", FLAG, "Make train static"),
    "a flag where another cell asks": (
        "def inner(v, train):\n    if train:\n        return v\n    return -v",
        "@jax.jit\ndef run(v, train):\n    return inner(v, train)\nrun(x, False)",
        'Make train static, jit(run, static_argnames="train")',
    ),
    "a gradient of nothing": ("def nothing(v):\n    v.sum()", "jax.grad(nothing)(x)", "Return the number that is to be differentiated"),
    "a text among numbers": ("", "jnp.sum([1.0, 'a'])", "Take out what is no number."),
    "a text among numbers of an argument": ("f = jax.jit(lambda v: v)", "f([1.0, 'a'])", "Make it static: "),
    "a donated array": ("y = x + 1\nz = jax.jit(lambda v: v + 1, donate_argnums=0)(y)", "y + 1", "or do not donate that"),
    "a list that is static": ("f = jax.jit(lambda v, n: v, static_argnames='n')", "f(x, n=[3])", "a tuple in place of a list"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_to_do_is_said_under_the_cell(bare_shell, case):  # noqa: F811
    before, text, advice = SAID[case]
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    bare_shell.cell(before)
    ran = bare_shell.cell(text)
    (document,) = ran.documents
    fixes = document.get("fixes") or [one["fix"] for one in document["items"]]
    assert ran.error and advice in fixes[0]["text"]


def test_what_an_error_and_a_look_find_is_told_once_in_a_jit_cell(bare_shell):  # noqa: F811
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    ran = bare_shell.cell("%%jit\ng = jax.jit(lambda v: v + 1, donate_argnums=0)\ny = x + 1\nz = g(y)\ny + 1")
    (one,) = ran.document["diagnostics"]["items"]
    assert ran.error and one["id"] == "donation-misuse" and one["fix"]["text"].startswith("Give the result its name")


def test_what_trying_a_rewrite_compiles_is_not_told(bare_shell):  # noqa: F811
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    bare_shell.cell("x")
    jax.clear_caches()
    mark = observe.ledger().mark()
    known = "with jax.ensure_compile_time_eval():\n        n = jnp.linspace(0.0, 1.0, 11).sum()"
    ran = bare_shell.cell(f"@jax.jit\ndef f(v):\n    {known}\n    {IN_FUNCTION}\nf(x)")
    assert [fix["checked"] for fix in ran.documents[0]["fixes"]]
    names = [one.name for one in observe.ledger().small_since(mark)]
    assert names and len(names) == len(set(names))


REFUSED = """\
import dataclasses, sys, types
import jax, jax.numpy as jnp, numpy as np
class Plain:
    pass
@dataclasses.dataclass(frozen=True)
class Options:
    n: int
    sizes: dict
grid = np.ones(3)
frames = types.ModuleType("frames")
frames.__file__ = "/lib/site-packages/frames.py"
sys.modules["frames"] = frames
Column = frames.Column = type("Column", (), {"__module__": "frames", "to_numpy": lambda self: None})
"""


@pytest.mark.parametrize(
    ("cell", "said", "fix"),
    [
        (
            "for _ in range(2):\n    jax.tree_util.register_pytree_node(Plain, lambda d: ((), None), lambda _, c: Plain())",
            "Duplicate custom PyTreeDef type registration",
            "Define the class and register it in one cell",
        ),
        (
            "jax.jit(lambda v: v * 2)(Plain())",
            "A value of type Plain is not an array",
            "@jax.tree_util.register_dataclass",
        ),
        ("jnp.mean({'a': Plain()}['a'])", "A value of type Plain is not an array", "@jax.tree_util.register_dataclass"),
        (
            "jax.jit(lambda c: c + 1)(Column())",
            "A value of type frames.Column is not an array",
            "Pass x.to_numpy() for it, if its elements are numbers.",
        ),
        (
            "jax.jit(lambda c: 1.0, static_argnums=0)(Options(1, {}))",
            "sizes is a dict, which has none",
            "Make sizes a tuple of pairs",
        ),
        (
            "jax.jit(lambda v, w: v + w, static_argnums=1)(1.0, grid)",
            "A static argument is an array, of type numpy.ndarray",
            "Take it out of the static arguments",
        ),
        (
            "jax.jit(lambda v: v['act'](v['x']))({'act': jax.nn.relu, 'x': 1.0})",
            "A function, of type jax.custom_jvp, stands where arrays do.",
            "Make it static",
        ),
    ],
)
def test_what_jax_cannot_take_is_said_of_its_class(bare_shell, cell, said, fix):  # noqa: F811
    for text in ("%load_ext jitscope", REFUSED):
        assert not bare_shell.cell(text).error
    ran = bare_shell.cell(cell)
    (item,) = ran.document["items"]
    assert (
        ran.error and said in item["message"] and fix in item["fix"]["text"] and "Traceback" not in " ".join(ran.texts)
    )


MISMATCHES = {
    "a carry that grows": (
        "lax.scan(lambda c, v: (jnp.concatenate([c, v[None]]), None), jnp.zeros(1), x)",
        "loop-carry-mismatch",
        "Make the array of its final size",
    ),
    "a carry": ("lax.scan(lambda c, v: (c * v, v), jnp.int32(1), x)", "loop-carry-mismatch", "Start with a carry"),
    "a carry of another structure": ("lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1], 1), (0, x))", "loop-carry-mismatch", "the same containers, keys and lengths"),
    "a scan of no pair": ("lax.scan(lambda c, v: c + v, 0.0, x)", "loop-carry-mismatch", "Return a pair"),
    "a result beside the one": ("jax.grad(lambda v: (v.sum(), v))(x)", "grad-bad-signature", "Ask for has_aux=True"),
    "branches of other structures": ("lax.cond(True, lambda v: (v, v), lambda v: v, x)", "cond-branch-mismatch", "the same containers, keys and lengths"),
    "branches": ("lax.cond(True, lambda v: v, lambda v: 0.0, x)", "cond-branch-mismatch", "Convert one of the results"),
    "a size that a function of the library asks for": (
        "jax.jit(lambda v, k: jax.lax.top_k(v, k))(x, 2)",
        "traced-shape-arg",
        "static_argnames",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MISMATCHES)
def test_what_stops_a_function_of_jaxs_has_its_id_and_what_to_do(bare_shell, case):  # noqa: F811
    call, id, words = MISMATCHES[case]
    bare_shell.cell(f"%load_ext jitscope\n{SETUP}")
    assert bare_shell.cell(call).error
    items = [one for document in bare_shell.cell("%sharpbits").documents for one in document["items"]]
    assert [one["id"] for one in items] == [id] and words in items[0]["fix"]["text"]


def test_the_way_through_a_librarys_own_code_is_left_out(tmp_path, monkeypatch, bare_shell):  # noqa: F811
    """A library that is given a function of the user's traces its own lines round it."""
    library = tmp_path / "site-packages" / "minimiser.py"
    library.parent.mkdir()
    monkeypatch.setattr(source, "_installed", lambda: (f"{library.parent}/",))
    library.write_text(
        "import jax\ndef run(f, x):\n    def body(x):\n        y = x * 2\n        z = y + 1\n        return f(z)\n    return jax.jit(body)(x)\n"
    )
    for text in (
        "%load_ext jitscope",
        f"import sys; sys.path.insert(0, {str(library.parent)!r})\nimport minimiser, jax.numpy as jnp",
    ):
        assert not bare_shell.cell(text).error
    ran = bare_shell.cell("def f(z):\n    w = jnp.sin(z)\n    return w if w > 0 else z\nminimiser.run(f, 1.0)")
    (document,) = [one for one in ran.documents if one["kind"] == "stopped"]
    assert [step["text"] for step in document["steps"] if step["kind"] == "line"] == ["w = jnp.sin(z)"]


CARRIES = {
    "lax.fori_loop(0, 10, lambda i, s: (s[0] + i, s[1], s[0]), (x, x))": "loop_carry[1] is s: what <lambda> takes second, and returns.",
    "jax.jit(lambda n: lax.fori_loop(0, n, turn, (x, (x, 1.0))))(4)": "loop_carry[2] is particles: what turn takes second, and returns.",
    "jax.jit(lambda v: lax.fori_loop(0, 3, turn, (v, (v, 1.0))))(x)": "loop_carry[1] is particles: what turn takes second, and returns.",
    "lax.scan(lambda s, _: (s[0], None), (x, x), x)": "",
}
TURN = "def turn(i, particles):\n    place, (speed, mass) = particles\n    return place, (speed.sum(), mass)"


@pytest.mark.parametrize("call", CARRIES)
def test_what_a_loop_of_jaxs_carries_is_called_by_the_users_name(bare_shell, call):  # noqa: F811
    assert not bare_shell.cell("%load_ext jitscope").error
    assert not bare_shell.cell(f"import jax, jax.numpy as jnp\nfrom jax import lax\nx = jnp.ones(3)\n{TURN}").error
    ran = bare_shell.cell(call)
    notes = [note for note in getattr(ran.exception, "__notes__", []) if "loop_carry" in note]
    assert ran.error.startswith("TypeError") and notes == ([CARRIES[call]] if CARRIES[call] else [])
    assert CARRIES[call] in ran.traceback
