"""The transformations document: the programs before and after each step, against those that the library makes by itself."""

import gc
import re

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import count
from jitscope.core.staging import eval_jaxpr
from jitscope.core.steps import Recorder, recorder, recording_steps
from jitscope_scope import observe
from jitscope_scope.observe.instruments import look
from jitscope_widgets import validate
from jitscope_widgets.text import text


W, X = np.full((4, 3), 0.5, np.float32), np.ones((5, 4), np.float32)


def loss(w, x):
    y = jnp.tanh(x @ w)
    return (y * y).sum()


def steps_of(fun, *args):
    document = jx.inspect(fun)(*args).transformations.document
    validate(document)
    return document


def names(document):
    return [(step["depth"], step["transform"], step["function"]) for step in document["steps"]]


def equations(program):
    bare = [line for line in program["lines"] if re.match(r" *(\w+ )?(takes|gives) ", line["text"])]
    return len(program["lines"]) - len(bare) + program["left_out"]  # what it takes and gives are lines, too


def test_a_gradient_is_jvp_then_linearize_then_transpose():
    document = steps_of(jx.grad(loss), W, X)
    assert names(document) == [(0, "jvp", "loss"), (0, "linearize", "loss"), (0, "transpose", "loss")]
    jvp, linearize, transpose = document["steps"]
    with_x = lambda w: loss(w, X)
    assert equations(jvp["before"]) == count(jx.make_jaxpr(with_x)(W).jaxpr)
    assert equations(jvp["after"][0]) == count(jx.make_jaxpr(lambda w, t: jx.jvp(with_x, (w,), (t,)))(W, W).jaxpr)
    known, linear = linearize["after"]
    assert known["title"].startswith("what depends on values") and linear["title"].startswith("what is linear")
    pushed = jx.linearize(with_x, W)[1]
    assert equations(linear) == count(pushed.jaxpr) == equations(transpose["before"])
    # what the compiled program does is what the parts that run do: values, then cotangents
    whole = count(jx.inspect(jx.grad(loss))(W, X).jaxpr.jaxpr)
    assert equations(known) + equations(transpose["after"][0]) == whole


def test_what_stems_from_what_goes_by_the_place_it_was_written():
    document = steps_of(jx.grad(loss), W, X)
    lines = {one["position"]["line"]: number for number, one in enumerate(document["origins"])}
    first = loss.__code__.co_firstlineno
    assert set(lines) <= {first + 1, first + 2}
    tanh = [line for line in document["steps"][0]["after"][0]["lines"] if " tanh " in line["text"]]
    assert [line["transforms"] for line in tanh] == [[]]
    same = [line for line in document["steps"][0]["after"][0]["lines"] if line["origin"] == tanh[0]["origin"]]
    assert any(line["transforms"] == ["jvp"] for line in same)
    back = [line for line in document["steps"][2]["after"][0]["lines"] if line["origin"] is not None]
    assert back and all("transpose" in line["transforms"] for line in back)
    graph = jx.inspect(jx.grad(loss))(W, X).document["graph"]
    written = {node["id"]: node["positions"][0] for node in graph["nodes"] if node["positions"]}
    for one in document["origins"]:
        assert one["paths"]
        assert all(written[path]["line"] == one["position"]["line"] for path in one["paths"])


def test_a_loop_in_a_gradient_names_what_its_body_takes_and_what_jvp_made():
    def summed(x):
        return lax.scan(lambda c, x: (jnp.sin(c) * x, None), x[0], x)[0]

    document = steps_of(jx.grad(summed), np.ones(3, np.float32))
    transpose = document["steps"][2]
    before = [line for line in transpose["before"]["lines"] if line["origin"] is not None]
    assert before and all(line["transforms"] == ["jvp"] for line in before)
    texts = [line["text"] for line in document["steps"][0]["before"]["lines"]]
    at = next(i for i, one in enumerate(texts) if " = scan" in one)
    # the letters that the body's equations read are those that it says it takes
    carry, element = re.fullmatch(r"  takes (\w+):f32\[\], (\w+):f32\[\]", texts[at + 1]).groups()
    assert re.fullmatch(rf"  (\w+):f32\[\] = sin {carry}", texts[at + 2])
    assert texts[at + 3].endswith(f" {element}")
    assert texts[at + 4] == f"  gives {texts[at + 3].split()[0]}"


def test_vmap_of_a_gradient_comes_after_the_gradient():
    document = steps_of(jx.vmap(jx.grad(loss), (None, 0)), W, np.ones((7, 5, 4), np.float32))
    assert names(document)[-1] == (0, "vmap", "loss")
    assert [name for _, name, _ in names(document)] == ["jvp", "linearize", "transpose", "vmap"]
    assert {depth for depth, *_ in names(document)[:-1]} == {1}
    last = document["steps"][-1]
    assert last["after"][0]["title"] == "all 7 examples"
    assert "f32[7,5,4]" in last["after"][0]["lines"][0]["text"] and "f32[5,4]" in last["before"]["lines"][0]["text"]


def test_transformations_inside_of_a_jitted_function_and_of_a_loop_are_there():
    inner = jx.jit(lambda w: jx.grad(loss)(w, X))

    def train(w):
        step = lambda w, _: (w - 0.1 * inner(w), None)
        return lax.scan(step, w, None, length=3)[0]

    document = steps_of(train, W)
    assert [name for _, name, _ in names(document)] == ["jvp", "linearize", "transpose"]
    assert names(steps_of(lambda w: jx.jvp(lambda w: loss(w, X), (w,), (w,))[1], W))[0][1] == "jvp"


def test_second_derivatives_hold_the_first():
    twice = jx.grad(lambda w: jx.grad(loss)(w, X).sum())
    found = names(steps_of(twice, W))
    assert [(depth, name) for depth, name, _ in found] == [
        (1, "jvp"), (1, "linearize"), (1, "transpose"), (0, "jvp"), (0, "linearize"), (0, "transpose")
    ]  # fmt: skip


def test_the_function_runs_once_more_and_what_it_prints_is_not_seen(capsys):
    runs = []

    def counted(w):
        runs.append(1)
        print("traced")
        return (w * w).sum()

    seen = jx.inspect(jx.grad(counted))(W)
    before = len(runs)
    capsys.readouterr()
    rows = len(observe.ledger())
    assert seen.transformations.document["cost"]["value"] > 0
    assert len(runs) == before + 1 and capsys.readouterr().out == ""
    assert len(observe.ledger()) == rows and recorder() is None
    np.testing.assert_allclose(jx.jit(jx.grad(counted))(W), 2 * W)


def test_what_calls_python_is_not_traced_again_and_what_is_gone_cannot_be():
    def calling(x):
        jx.debug.callback(lambda v: None, x)
        return x + 1

    with pytest.raises(Unavailable, match="calls Python functions while it runs"):
        _ = jx.inspect(calling)(np.float32(1)).transformations
    row = jx.inspect(lambda x: x * 3)(np.float32(2))._row
    gc.collect()
    with pytest.raises(Unavailable, match="no longer"):
        look(row, "transformations")


def test_a_function_without_transformations_says_so():
    document = steps_of(loss, W, X)
    assert document["steps"] == []
    assert "No transformation was called" in text(document)


def test_the_text_has_each_step_with_its_lines():
    told = text(steps_of(jx.grad(loss), W, X))
    assert "  1. jvp of loss\n" in told and "  3. transpose of loss\n" in told and "# line" in told
    assert told.count(" = dot_general") >= 4  # in all programs, before and after
    assert told.count("  before\n") == 3 and told.count("  after: ") == 4


# What each step says it made, evaluated -------------------------------------------------------------------------------


@jx.custom_jvp
def bent(x):
    return 2 * jnp.clip(x, -1, 1)


@bent.defjvp
def _(primals, tangents):
    return bent(*primals), 3 * jnp.cos(primals[0]) * tangents[0]


@jx.custom_vjp
def steered(x):
    return jnp.sin(x)


steered.defvjp(lambda x: (steered(x), x), lambda x, ct: (5 * ct * x,))


def scanned(x):
    last, each = lax.scan(lambda c, row: (jnp.tanh(c * x + row),) * 2, jnp.zeros(3), jnp.ones((2, 3)))
    return each.sum(0) * last


def doubled(x):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, 1.5 * c[1] * x), (0, x))[1]


def chosen(x):
    return lax.cond(x[0] > 0, jnp.sin, lambda x: x * x, x)


A = np.array([0.3, -0.4, 0.7], np.float32)
REVERSIBLE = {
    "custom_jvp": lambda x: bent(2 * x) * x,
    "custom_vjp": lambda x: steered(2 * x) * x,
    "checkpoint": lambda x: jx.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x * x),
    "scan": scanned,
    "vmap of scan": lambda x: jx.vmap(scanned)(jnp.stack([x, 2 * x])).sum(0),
    "checkpoint of scan": jx.checkpoint(scanned),
    "cond": chosen,
    "grad of grad": lambda x: jx.grad(lambda y: (jx.grad(lambda z: (z**3).sum())(y) ** 2).sum())(x),
    "jit of custom_jvp": jx.jit(lambda x: bent(x) * x),
}


def recorded_steps(fun, *args):
    steps = Recorder(most=99)
    with recording_steps(steps):
        made = fun(*args)
    assert not steps.missed and not steps.left_out
    return steps.steps, made


def run(jaxpr, *values):
    n = len(jaxpr.constvars)
    return [np.asarray(x) for x in eval_jaxpr(jaxpr, values[:n], *values[n:])]


@pytest.mark.parametrize("name", REVERSIBLE)
def test_the_steps_of_a_backward_pass_compute_what_it_computes(name):
    fun, ct = REVERSIBLE[name], np.array([1.0, -2.0, 0.5], np.float32)

    def both(x):
        out, pull = jx.vjp(fun, x)
        return out, pull, pull(ct)

    steps, (out, pull, (cotangent,)) = recorded_steps(both, A)
    jvp, linearize, transpose = [step for step in steps if step.depth == 0]
    assert [step.transform for step in (jvp, linearize, transpose)] == ["jvp", "linearize", "transpose"]
    (_, both_passes), (_, known), (_, linear), (_, back) = *jvp.after, *linearize.after, *transpose.after
    assert linearize.before is both_passes
    close = lambda got, real: np.testing.assert_allclose(got, real, 1e-5, 1e-6)
    for jaxpr in (jvp.before, known):
        close(run(jaxpr, A)[0], out)
    # the residuals are those that the backward pass really has
    close(run(back, *pull.residuals, ct)[0], cotangent)
    if name == "custom_vjp":  # only its transpose is known
        return
    real = jx.jvp(fun, (A,), (ct,))[1]
    close(run(both_passes, A, ct)[1], real)
    for jaxpr in (linear, transpose.before):
        close(run(jaxpr, *pull.residuals, ct)[0], real)


def test_forward_and_mapped_steps_compute_what_they_compute():
    examples = np.stack([A, 2 * A, -A, A[::-1]])
    for fun in (doubled, scanned, chosen, bent, steered, jx.grad(lambda x: scanned(x).sum()), jx.jacrev(chosen)):
        *_, step = recorded_steps(jx.vmap(fun), examples)[0]
        assert (step.transform, step.after[0][0]) == ("vmap", "all 4 examples")
        each = np.stack([run(step.before, one)[0] for one in examples])
        np.testing.assert_allclose(run(step.after[0][1], examples)[0], each, 1e-5, 1e-6)
        np.testing.assert_allclose(each, np.stack([fun(one) for one in examples]), 1e-5, 1e-6)
    (step,), (_, tangent) = recorded_steps(lambda x: jx.jvp(doubled, (x,), (x,)), A)
    np.testing.assert_allclose(run(step.after[0][1], A, A)[1], tangent, 1e-5)
    np.testing.assert_allclose(tangent, 4 * 1.5**3 * A**4, 1e-5)


@pytest.mark.parametrize("order", ["jacfwd of jacrev", "jacrev of jacfwd", "hessian"])
def test_jacobians_of_jacobians_are_made_of_the_steps_that_they_are(order):
    outer, inner = {"jacfwd of jacrev": (jx.jacfwd, jx.jacrev), "jacrev of jacfwd": (jx.jacrev, jx.jacfwd)}.get(
        order, (jx.hessian, lambda f: f)
    )
    cubes = lambda x: (x**3).sum() * x[0]
    steps, made = recorded_steps(outer(inner(cubes)), A)
    names = [(step.depth, step.transform) for step in steps]
    reverse = [(2, "jvp"), (2, "linearize"), (3, "transpose"), (2, "vmap"), (1, "jvp"), (0, "vmap")]
    forward = [(2, "jvp"), (1, "vmap"), (0, "jvp"), (0, "linearize"), (1, "transpose"), (0, "vmap")]
    assert names == (forward if order == "jacrev of jacfwd" else reverse)
    real = 6 * np.diag(A) * A[0]
    real[0] += 3 * A**2
    real[:, 0] += 3 * A**2
    np.testing.assert_allclose(made, real, 1e-4)
    first, last = steps[0], steps[-1]
    np.testing.assert_allclose(run(first.before, A)[0], cubes(A), 1e-5)
    if order != "jacrev of jacfwd":  # the last step maps the derivative of the gradient over the unit vectors
        constants = len(last.before.constvars)
        assert [v.aval.shape for v in last.before.invars] == [(3,)] and constants <= 1
        values = [A] * constants
        rows = np.stack([run(last.before, *values, unit)[-1] for unit in np.eye(3, dtype=np.float32)])
        together = run(last.after[0][1], *values, np.eye(3, dtype=np.float32))[-1]
        np.testing.assert_allclose(rows, real, 1e-4)
        assert any(np.allclose(np.moveaxis(together, axis, 0), real, 1e-4) for axis in (0, 1))


def test_linear_transpose_is_one_step():
    weighted = lambda x: 2 * jnp.cumsum(x * A)
    steps, (made,) = recorded_steps(lambda ct: jx.linear_transpose(weighted, A)(ct), A)
    assert [(step.depth, step.transform, step.function) for step in steps] == [(0, "transpose", "<lambda>")]
    (step,) = steps
    constants = step.before.constvars or list(step.before.invars[:-1])
    values = [A] * len(constants)
    np.testing.assert_allclose(run(step.before, *values, A)[0], weighted(A), 1e-5)
    np.testing.assert_allclose(run(step.after[0][1], *values, A)[0], made, 1e-5)
    np.testing.assert_allclose(made, 2 * np.cumsum(A[::-1])[::-1] * A, 1e-5)


def lines_of(program, origins, *operations):
    """The lines that operations of a program were written at."""
    found = [line for line in program["lines"] if any(f" {name} " in line["text"] for name in operations)]
    assert found
    return {origins[line["origin"]]["position"]["line"] for line in found}


def test_rules_of_users_stand_at_their_own_lines():
    def forward(x):
        return jnp.sin(x), jnp.cos(x)

    def backward(kept, ct):
        return (ct * jnp.exp(kept),)

    custom = jx.custom_vjp(jnp.sin)
    custom.defvjp(forward, backward)
    document = steps_of(jx.grad(lambda x: custom(x).sum()), A)
    back = document["steps"][-1]["after"][0]
    assert lines_of(back, document["origins"], "exp", "mul") == {backward.__code__.co_firstlineno + 1}
    known = document["steps"][1]["after"][0]
    assert lines_of(known, document["origins"], "sin", "cos") == {forward.__code__.co_firstlineno + 1}
    document = steps_of(jx.grad(lambda x: bent(x).sum()), A)
    jvp = document["steps"][0]["after"][0]
    assert lines_of(jvp, document["origins"], "cos") == {bent.jvp.__code__.co_firstlineno + 2}
    assert lines_of(jvp, document["origins"], "clamp", "max", "min") == {bent.__wrapped__.__code__.co_firstlineno + 2}


def test_what_an_installed_library_does_has_the_users_line(tmp_path):
    """As in all other views: `einops.rearrange` calls reshape for the user."""
    code = "import jitscope.numpy as jnp\n\ndef turned(x):\n    return jnp.transpose(jnp.reshape(x, (2, -1)))\n"
    library: dict = {}
    exec(compile(code, str(tmp_path / "site-packages" / "turning.py"), "exec"), library)
    document = steps_of(jx.grad(lambda x: jnp.sin(library["turned"](x)).sum()), X[:4])
    assert document["origins"]
    assert {origin["position"]["file"] for origin in document["origins"]} == {__file__}


def test_what_nobody_but_the_view_calls_has_the_line_that_asks_for_it():
    custom = jx.custom_vjp(jnp.sin)
    custom.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (ct * jnp.cos(x),))
    document = steps_of(jx.vmap(custom), A)
    assert {origin["position"]["function"] for origin in document["origins"]} == {"steps_of"}


def mixed(w, x, n):
    a = x @ w
    b = w.T @ w
    c = lax.cond(n > 2, jnp.sin, jnp.cos, a)
    d = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, c))[1]
    return d.sum() + b.sum() + jnp.outer(x, x).sum() + lax.dynamic_slice(d, (n,), (2,)).sum()


MIXED = jnp.ones((5, 7)), jnp.ones((5, 11)), jnp.arange(11)


def mapped(w, xs, ns):
    return jx.vmap(mixed, in_axes=(None, 1, 0))(w, xs, ns)


def test_what_became_of_the_axis_of_the_examples():
    """Held against the program that vmap makes, and against XLA's text: it has no conditional, and computes both branches."""
    (step,) = steps_of(mapped, *MIXED)["steps"]
    batched = step["batched"]
    made = jx.make_jaxpr(jx.vmap(mixed, in_axes=(None, 1, 0)))(*MIXED)
    assert len(batched) == len(jx.make_jaxpr(mixed)(MIXED[0], MIXED[1][:, 0], MIXED[2][0]).eqns)
    types = {v.aval.short() for eqn in made.eqns for v in eqn.outvars}
    for one in batched:
        if one["axis"] is None:
            assert one["all"] == one["one"] and one["how"] == "shared"
            continue
        kind, _, shape = one["one"].partition("[")
        sizes = [size for size in shape.rstrip("]").split(",") if size]
        sizes.insert(one["axis"], "11")
        assert one["all"] == f"{kind}[{','.join(sizes)}]" and one["all"] in types
    how = {one["operation"]: one["how"] for one in batched if one["how"] not in ("one", "after", "shared")}
    assert how == {"cond": "branches", "while": "last", "dynamic_slice": "others"}
    compiled = jx.jit(mapped).lower(*MIXED).compile().as_text()
    assert " conditional(" not in compiled and " sine(" in compiled and " cosine(" in compiled


def test_products_of_each_example_and_shared_ones_are_told_apart():
    def one(w, x):
        return (w @ x).sum() + (w.T @ w).sum()

    def each(ws, x):
        return jx.vmap(one, in_axes=(0, 0))(ws, x)

    def shared(w, x):
        return jx.vmap(one, in_axes=(None, 0))(w, x)

    def products(fun, *args):
        (step,) = steps_of(fun, *args)["steps"]
        return [one["how"] for one in step["batched"] if one["operation"] == "dot_general"]

    assert products(each, jnp.ones((3, 4, 4)), jnp.ones((3, 4))) == ["products", "products"]
    assert products(shared, jnp.ones((4, 4)), jnp.ones((3, 4))) == ["one", "shared"]


def test_a_loop_that_ends_for_all_at_once_is_one_operation():
    def one(x):
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, jnp.sin(s[1])), (0, x))[1]

    (step,) = steps_of(jx.vmap(one), jnp.ones(4))["steps"]
    assert [one["how"] for one in step["batched"] if one["operation"] == "while"] == ["one"]


def test_the_text_says_what_could_not_be_one_operation():
    told = " ".join(text(steps_of(mapped, *MIXED)).split())
    assert re.search(r"vmap of mixed: \d+ of \d+ operations are one for all examples", told)
    assert "computes all branches for each example" in told and "until the last of them is done" in told
    assert "became broadcast_in_dim, gather" in told
