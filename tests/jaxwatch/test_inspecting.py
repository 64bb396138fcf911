"""`jitscope.inspect` and the magics on functions written for jax."""

import functools
import random
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jitscope
from jitscope_kernel import user_calls
from jitscope_scope import observe
from jitscope_scope.observe.comparing.sides import side_of
from jitscope_scope.observe.memory import names_of
from jitscope_widgets import validate
from tests.kernel_ext.conftest import bare_shell  # noqa: F401


x = jnp.linspace(0.0, 1.0, 12).reshape(3, 4)
ran = []


def plain(v, w):
    ran.append(1) if not isinstance(w, jax.core.Tracer) else None
    return jnp.tanh(v @ w).sum()


def wrapped_by_nnx():
    from flax import nnx

    @nnx.jit
    def step(model, v):
        return model(v).sum()

    return step, (nnx.Linear(4, 2, rngs=nnx.Rngs(0)), x)


def wrapped_by_equinox():
    import equinox as eqx

    @eqx.filter_jit
    def step(model, v):
        return jax.vmap(model)(v).sum()

    return step, (eqx.nn.MLP(4, 2, 3, 1, key=jax.random.key(0)), x)


CASES = {
    "a function": lambda: (plain, (x, x.T)),
    "a jitted function": lambda: (jax.jit(plain), (x, x.T)),
    "a derivative": lambda: (jax.grad(plain), (x, x.T)),
    "a partial": lambda: (functools.partial(plain, x), (x.T,)),
    "a static argument": lambda: (jax.jit(lambda v, n: v * n, static_argnums=1), (x, 3)),
    "text": lambda: (lambda v, kind: jnp.sin(v) if kind == "sin" else v, (x, "sin")),
    "a flag and an axis": lambda: (lambda v, flag, axis: v.sum(axis) if flag else v, (x, True, 1)),
    "names in a list": lambda: (lambda v, names: jnp.sin(v) if names == ["a"] else v, (x, ["a"])),
    "an object": lambda: (lambda v, random: v * random.random(), (x, random.Random(0))),
    "sizes": lambda: (jax.random.normal, (jax.random.key(0), (3, 4))),
    "nnx.jit": wrapped_by_nnx,
    "eqx.filter_jit": wrapped_by_equinox,
    "a model of equinox's": lambda: (wrapped_by_equinox()[0].__wrapped__, wrapped_by_equinox()[1]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("called", [False, True], ids=["new", "called before"])
def test_a_call_is_compiled_and_not_run(watcher, case, called):
    function, args = case()
    ran.clear()
    if called and hasattr(function, "lower"):
        function(*args)
    seen = jitscope.inspect(function)(*args)
    assert not ran
    validate(seen.document)
    assert seen.document["silent"] == ["transformations"]
    assert seen.kernels and seen.graph.document["nodes"] and "lambda" in seen.jaxpr
    assert "stablehlo" in seen.stablehlo and "HloModule" in seen.hlo and "HloModule" in seen.hlo_before
    for text in (seen.stablehlo, seen.hlo, seen.hlo_before):
        assert not re.search(r"~\w+\.\d|FileNames|StackFrames|stack_frame_id", text)
    assert re.search(r'op_name="jit\([^)]*\)/', seen.hlo) and "ROOT" in seen.hlo
    assert seen.memory["peak"] > 0
    assert all(k["paths"] for k in seen.kernels if k["kind"] != "copy")


def test_a_model_of_equinox_s_is_asked_about_as_it_is_called(bare_shell):  # noqa: F811
    cell = "def far(model, x):\n    return jnp.sqrt(jax.vmap(model)(x) - 50).sum()\n"
    cell += "model = eqx.nn.MLP(4, 2, 8, 2, key=jax.random.key(0))\nx = jnp.ones((3, 4))"
    bare_shell.cell(f"%load_ext jitscope\nimport jax, jax.numpy as jnp, equinox as eqx\n{cell}")
    for call in ("far(model, x)", "eqx.filter_grad(far)(model, x)"):
        hunted = bare_shell.cell(f"%nans {call}").document
        assert hunted["found"] and hunted["operation"]["primitive"] == "sqrt"
    for call in ("model(x[0])", "jax.vmap(model)(x)"):
        assert bare_shell.cell(f"%timejit {call}").document["title"].endswith("MLP")
    stepped = bare_shell.cell("%step far(model, x)").document
    assert any(step.get("line") == 4 for step in stepped["steps"]) and not stepped["error"]
    assert "No sharp bits" in bare_shell.cell("%sharpbits").texts[0]


def test_arguments_are_called_by_their_own_names_where_others_are_not_read(watcher):
    f = jax.jit(lambda unread, tree, skipped, v, w: (tree["b"] * v.sum(), w + 1), donate_argnums=4)
    seen = jitscope.inspect(f)(x, {"a": x, "b": x}, x, x.T, jnp.arange(3))
    after = seen.document["fusion"]["after"]["nodes"]
    assert [(n["label"], *n["types"]) for n in after if n["kind"] == "input"] == [
        ("tree['b']", "f32[3,4]"),
        ("v", "f32[4,3]"),
        ("w", "s32[3]"),
    ]
    assert names_of(seen._row).arguments == [(2, "tree['b']"), (4, "v"), (5, "w")]
    assert side_of(seen._row, seen._given).donated == ["w"]


def test_what_was_compiled_before_it_was_watched_is_compiled_again():
    from jitscope_scope import jaxwatch

    f = jax.jit(lambda v: jnp.cos(v) * 3)
    f(x)
    jaxwatch.attach()
    try:
        assert jitscope.inspect(f)(x).kernels
    finally:
        jaxwatch.detach()


def test_steady_times_and_passes(watcher):
    w = jnp.ones((4, 3))
    seen = jitscope.inspect(jax.jit(plain))(x, w).measure()
    steady = seen.timing.document["steady"]
    assert steady["median"]["value"] > 0 and steady["median"]["note"].endswith("the arguments of the call")
    assert seen.passes.document["passes"]
    validate(seen.memory.document)
    assert seen.machine.document["functions"]


def test_a_measured_program_leaves_donated_arguments(watcher):
    f = jax.jit(lambda s, v: s + v, donate_argnums=0)
    state = jnp.ones((3, 4))
    seen, before = jitscope.inspect(f)(state, x), len(observe.ledger().small)
    seen.measure()
    assert len(observe.ledger().small) == before, "what copies them is none of the user's programs"
    assert not state.is_deleted() and float(state.sum()) == 12


def test_the_magics_take_functions_of_jax(bare_shell):  # noqa: F811
    bare_shell.cell("%load_ext jitscope\nimport jax, jax.numpy as jnp")
    bare_shell.cell("x = jnp.ones((3, 3))\ndef f(v):\n    return jnp.sin(v @ v)\ng = jax.jit(f)")
    assert "sin" in bare_shell.cell("%jaxpr f(x)").texts[0]
    assert bare_shell.cell("%jaxpr --graph g(x)").document["nodes"]
    assert "HloModule" in bare_shell.cell("%hlo g(x)").texts[0]
    assert bare_shell.cell("%fusion jax.grad(lambda v: f(v).sum())(x)").document["kernels"]
    assert bare_shell.cell("%timejit g(x)").document["steady"]["runs"]
    assert bare_shell.cell("%passes g(x)").document["passes"]
    assert "dot" in bare_shell.cell("%jaxpr x @ x + 1").texts[0]


def test_a_function_that_a_library_wraps_is_the_source(watcher):
    import equinox as eqx

    @eqx.filter_jit
    def fit(mlp, v):
        return eqx.filter_grad(lambda mlp: (jax.vmap(mlp)(v) ** 2).sum())(mlp)

    document = jitscope.inspect(fit)(eqx.nn.MLP(1, 1, 4, 1, key=jax.random.key(0)), jnp.ones((3, 1))).document
    outer, inner = [one["name"] for one in document["source"]["functions"]]
    assert outer == "fit" and inner.startswith("lambda, line ")
    assert sum(mark["forward"] + mark["backward"] for mark in document["source"]["marks"]) > 20


PARTLY_NEEDED = {
    "an argument": (jax.jit(lambda n, u, v: v * n, static_argnums=0), (3, x, x + 1)),
    "the last operation": (jax.jit(lambda v: (v * 2, jnp.sin(v * 2))[0]), (x,)),
    "a result of an inner program": (jax.jit(lambda v: jax.jit(lambda w: (jnp.cos(w), w + 1))(v)[1]), (x,)),
}


@pytest.mark.parametrize("case", PARTLY_NEEDED)
def test_programs_of_which_nothing_needs_a_part_run_on_the_arguments_of_the_call(watcher, case):
    function, args = PARTLY_NEEDED[case]
    function(*args)
    seen = jitscope.inspect(function)(*args)
    assert "bit by bit" in repr(seen.values)
    assert "arguments of the call" in repr(seen.measure().timing)
    assert "v: f32[3,4]" in seen.document["signature"], "the call of the trace is known"


def test_arguments_that_a_library_hands_on_are_those_of_the_call(watcher):
    from flax import nnx

    model = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

    @nnx.jit
    def step(model, v):
        return model(v)

    step(model, x), step(model, x)
    counted = int(model.rngs.count[...])
    assert "bit by bit" in repr(jitscope.inspect(step)(model, x).values)
    assert int(model.rngs.count[...]) == counted


def test_a_program_that_calls_python_is_compiled_again_but_not_run(watcher):
    called = []

    @jax.jit
    def host(v):
        return jax.pure_callback(lambda a: called.append(1) or a, jax.ShapeDtypeStruct(v.shape, v.dtype), v) * 2

    seen = jitscope.inspect(host)(x)
    for instrument in (seen.passes, seen.machine, seen.memory):
        validate(instrument.document)
    assert not called
    with pytest.raises(jitscope.observe.Unavailable, match="was traced by jax"):
        _ = seen.transformations


WRAPPED = {
    "equinox": wrapped_by_equinox,
    "nnx": wrapped_by_nnx,
    "partial": lambda: (functools.partial(jax.jit(lambda y, v: jnp.sin(v) * y), 2.0), (x,)),
}


@pytest.mark.parametrize("case", WRAPPED)
def test_of_a_wrapped_call_the_executable_is_a_part(watcher, monkeypatch, case):
    monkeypatch.setattr(user_calls, "_SECONDS", 0.01)
    function, args = WRAPPED[case]()
    function(*args)
    before = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(args) if not callable(leaf)]
    seen = jitscope.inspect(function)(*args)
    there = list(jitscope.observe.ledger())
    call = seen.measure().timing.document["call"]
    assert list(jitscope.observe.ledger()) == there, "with copies of the arguments it is the same program"
    assert call.endswith(
        (
            "is the executable, the rest is Python and the way to it.",
            "nearly all of that is the executable.",
            "the machine was not equally free for both.",
        )
    )
    after = [leaf for leaf in jax.tree_util.tree_leaves(args) if not callable(leaf)]
    for one, leaf in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, leaf)
    assert "call" not in jitscope.inspect(jax.jit(plain))(x, x.T).measure().timing.document


def scored(p, v):
    a = jnp.tanh(v @ p)
    b = (a * v[:, :1])[..., None] * p
    c = jnp.exp(b[:, 0] * -jnp.exp(p[0]))
    d = (c[..., None] * b).sum(-1) + p[0] * a
    return jnp.sin(d) * c


@jax.jit
def scored_apart(p, v):
    return scored(p, v).sum()


def test_the_backward_pass_of_what_is_compiled_apart_is_told_as_such(watcher):
    seen = jitscope.inspect(jax.jit(jax.grad(scored_apart)))(jnp.ones((3, 3)), x[:, :3])
    validate(seen.document)
    nodes = {node["id"]: node for node in seen.document["graph"]["nodes"]}
    (back,) = [
        one["id"] for one in nodes.values() if one["kind"] == "scope" and "transpose" in one.get("transforms", ())
    ]
    inside = [one for one in nodes.values() if one["kind"] == "equation" and one["id"].startswith(f"{back}/")]
    assert len(inside) > 20 and all("transpose" in one["transforms"] for one in inside)
    groups = [one["label"] for one in nodes.values() if one["kind"] == "group" and one["scope"] == back]
    assert groups == ["scored (backward)"], "called once, however its equations follow each other"
    assert {"scored_apart", "scored_apart (backward)"} <= {one["label"] for one in seen.fusion.document["blocks"]}


def test_what_equinox_and_nnx_transform_has_its_name_and_place(watcher):
    import equinox as eqx
    from flax import nnx

    for function, title in (
        (eqx.filter_jit(eqx.filter_grad(total)), "filter_grad of total"),
        (eqx.filter_value_and_grad(total), "filter_value_and_grad of total"),
        (eqx.filter_jit(eqx.filter_vmap(total)), "filter_vmap of total"),
        (nnx.jit(nnx.grad(total)), "grad of total"),
        (nnx.jit(nnx.value_and_grad(total)), "value_and_grad of total"),
    ):
        document = jitscope.inspect(function)(x).document
        lines = {p["line"] for node in document["graph"]["nodes"] for p in node["positions"]}
        assert (document["function"], lines) == (title, {total.__code__.co_firstlineno + 1})


def total(v):
    return (v * 2).sum()


@pytest.mark.parametrize("jit", ["jax.jit", "nnx.jit", "jx.jit"])
def test_a_lambda_is_found_by_the_name_that_the_user_gave_it(bare_shell, jit):  # noqa: F811
    for cell in (
        "%load_ext jitscope",
        "import jax, jax.numpy as jnp, jitscope as jx\nfrom flax import nnx\nx = jnp.ones((3, 4))",
        f"f = {jit}(lambda v: v * 2 + 1)\nf(x)\ny = f(x[:2])",
    ):
        assert not bare_shell.cell(cell).error
    (card,) = bare_shell.cell("%recompiles f").documents[0]["cards"]
    assert card["function"] == "<lambda>" and card["compilations"] == 1
    ran = bare_shell.cell(f"%%jit --vs f\ng = {jit}(lambda v: v * 3 + 1)\ny = g(x)")
    assert "comparison" in [document["kind"] for document in ran.documents]
    assert not bare_shell.cell("%recompiles unknown").documents
