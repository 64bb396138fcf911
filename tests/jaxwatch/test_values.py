"""Values, comparisons and hunts for NaNs in programs of jax: they are run by parts, and that is the program that jax runs."""

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jitscope
from jitscope.core.errors import Unavailable
from jitscope_kernel.nans import find_nan
from jitscope_scope import observe
from jitscope_scope.advise.nans import by_parts
from jitscope_widgets import validate
from tests.kernel_ext.conftest import bare_shell  # noqa: F401


x = jnp.linspace(0.5, 2.0, 6).reshape(2, 3)
captured = jnp.arange(3.0)


def nested(v, n, key):
    y = jnp.tanh(v) * n + captured

    def step(c, r):
        return jnp.sqrt(c + 0.5), jax.nn.relu(r - 1)

    c, rs = lax.scan(step, y, jnp.arange(4.0), reverse=True)
    z = lax.while_loop(lambda s: s[1] < 3, lambda s: (s[0] / 2, s[1] + 1), (c, 0))[0]
    w = lax.cond(n > 1, jnp.sin, jnp.cos, z)
    return w + jax.random.normal(key, (2, 3)), rs


def trained(p, v):
    loss = jax.checkpoint(lambda p: jnp.square(jax.nn.softmax(v @ p["w"].T) - 1).mean())
    return jax.value_and_grad(loss)(p)


PROGRAMS = {
    "loops, branches, keys": lambda: (jax.jit(nested), (x, 2.0, jax.random.key(0))),
    "a derivative": lambda: (jax.jit(trained), ({"w": jnp.ones((2, 3))}, x)),
    "custom derivatives": lambda: (jax.grad(lambda v: jax.nn.silu(jax.nn.relu(v)).sum()), (x,)),
    "linear algebra": lambda: (lambda a: jnp.linalg.solve(a @ a.T + jnp.eye(2), jnp.ones(2)), (x,)),
}


@pytest.mark.parametrize("case", PROGRAMS.values(), ids=PROGRAMS)
def test_the_values_are_those_of_the_program(watcher, case):
    function, args = case()
    count = len(list(observe.ledger()))
    seen = jitscope.inspect(function)(*args)
    document = seen.values.document
    validate(document)
    assert len(list(observe.ledger())) <= count + 1, "what was run by parts is no news"
    assert "bit by bit" in document["differs"] or float(document["differs"].split(" by ")[1].split(",")[0]) < 1e-5
    results = [np.asarray(v) for v in jax.tree.leaves(function(*args)) if v.dtype.kind == "f"]
    rows = document["rows"]
    for result in results:
        same = [row for row in rows if row["size"] % result.size == 0 and row["max"] is not None]
        assert any(np.isclose(row["max"], result.max(), rtol=1e-4) for row in same)
    assert all(row["line"] is not None for row in rows if row["path"].startswith("e"))


def test_each_iteration_of_a_loop_is_looked_at(watcher):
    seen = jitscope.inspect(jax.jit(nested))(x, 2.0, key := jax.random.key(0))
    document = seen.values.document
    assert {loop["count"]: loop["looked"] for loop in document["loops"]} == {4: "all", 3: "all"} and key is not None
    (root,) = [row for row in document["rows"] if row["label"] == "sqrt"]
    c, seen_values = np.tanh(np.asarray(x)) * 2 + np.arange(3), []
    for _ in range(4):
        c = np.sqrt(c + 0.5)
        seen_values.append(c)
    assert root["iterations"] == 4 and np.isclose(root["mean"], np.mean(seen_values), rtol=1e-4)


def test_a_mapped_while_loop_ends_row_by_row(watcher):
    """jax's condition is one truth for each row, and rows that are done stay as they are."""

    def steps(n):
        going = lambda s: s[0] != 1
        return lax.while_loop(going, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]

    f, n = jax.jit(jax.vmap(steps)), jnp.array([1, 7, 27, 97])
    document = jitscope.inspect(f)(n).values.document
    assert document["differs"] == "The results are those of the compiled program, bit by bit."
    (said,) = [one for one in document["remarks"] if "rows" in one]
    assert (
        "ran 118 iterations for each of its 4 rows" in said and f"needed 0 to 118, {int(f(n).sum())} of the 472" in said
    )


def masked(v):
    dead = jnp.log(-v)
    return jnp.where(v > 0, v, dead), jnp.sqrt(v - 2)


def soft(v):
    e = jnp.exp(v * 100)
    return e / e.sum()


def stepwise(v):
    return lax.scan(lambda c, r: (jnp.log(c - r), c), v, jnp.arange(5.0))[0].sum()


def meeting(v):
    dead = jnp.log(-v)
    return jnp.sqrt(-v) + dead


def apart(v):
    dead = jnp.log(-v)
    return jnp.arcsin(v * 9), dead


def stacked(v):
    kept, roots = lax.scan(lambda c, r: (c + 1, (jnp.arcsin(c), jnp.sqrt(2.5 - c))), v, jnp.arange(3.0))[1]
    return roots + kept


def rooted(v):
    return jnp.where(v > 0, jnp.sqrt(v), 0.0).sum()


HUNTS = {
    "one that does not reach the result": (masked, jnp.full(2, 1.5), ("sqrt", "negative number", "silent-nan"), ()),
    "softmax": (soft, jnp.arange(3.0), ("div", "exp of 100", "silent-nan"), ()),
    "an iteration": (stepwise, jnp.full(2, 5.0), ("log", "logarithm", "silent-nan"), (2,)),
    "a backward pass": (jax.grad(rooted), jnp.zeros(2), ("mul", "0 times an infinity", "where-grad-nan"), ()),
    "two that meet, the later one first": (meeting, jnp.ones(2), ("log", "negative number", "silent-nan"), ()),
    "two in other results": (jax.jit(apart), jnp.ones(2), ("log", "negative number", "silent-nan"), ()),
    "in the stack of a loop, after one": (stacked, jnp.ones(2), ("asin", "arcsin of 2", "silent-nan"), (1,)),
}


@pytest.mark.parametrize("case", HUNTS.values(), ids=HUNTS)
def test_the_first_nan_is_found(watcher, case):
    function, argument, (primitive, why, kind), iterations = case
    found = find_nan(function)(argument)
    validate(found.document)
    assert (found.found, found.primitive, found.iterations) == (True, primitive, iterations)
    assert why in found.document["cause"] and found.document["sharp_bit"] == kind
    python = getattr(function, "__wrapped__", function)
    lines = range(python.__code__.co_firstlineno, python.__code__.co_firstlineno + 4)
    assert found.line in lines
    made = [np.isnan(x).any() for x in found.inputs]
    assert not any(made) and np.isnan(found.outputs[0]).any()


def test_a_nan_that_the_compiled_program_alone_has_is_placed(watcher):
    """XLA makes x / (c * d) of (x / c) / d up to jaxlib 0.10, and c * d is 0 in float32."""

    @jax.jit
    def f(x):
        a = jnp.sin(x) / 1e-30
        b = a / 1e-30
        return b + 1

    if not np.isnan(f(jnp.zeros(3))).any():
        pytest.skip("this XLA leaves the divisions as they are")
    found = find_nan(f)(jnp.zeros(3))
    document = found.document
    assert found.primitive == "div" and found.line == f.__wrapped__.__code__.co_firstlineno + 3
    assert (
        "by itself 0 divided by 1e-30 is 0" in document["cause"]
        and "run equation by equation it does not" in document["differs"]
    )
    assert [step["primitive"] for step in document["route"]] == ["add"] and not np.isnan(found.inputs[0]).any()


def test_a_nan_that_stands_in_the_program_is_found_where_it_is_chosen(watcher):
    f = jax.jit(lambda v, n: jnp.where(v.sum() > n, v, jnp.full(3, jnp.nan)).sum())
    document = jitscope.inspect(f)(jnp.ones(3), 0.0).values.document
    assert document["first_bad"] is None and any(row.get("written") for row in document["rows"])
    document = jitscope.inspect(f)(jnp.ones(3), 9.0).values.document
    assert document["rows"][document["first_bad"]]["label"] == "select_n"


def test_a_nan_that_was_captured_is_named(watcher):
    weights = jnp.array([1.0, np.nan, 2.0])
    found = find_nan(jax.jit(lambda v: (v * weights).sum()))(jnp.ones(3))
    validate(found.document)
    assert found.found and found.primitive is None
    assert "captured value 0" in str(found.document["given"])


def quotient(v):
    return v / v.sum()


def entropy(v):
    return (v * jnp.log(v)).sum()


def raised(v):
    return jnp.exp(v) / jnp.exp(v).sum()


FIXES = {
    "a quotient": (quotient, jnp.zeros(3), "jnp.where(v.sum() == 0, 1, v.sum())", lambda v: v * 0),
    "of a batch": (jax.jit(jax.vmap(quotient)), jnp.eye(2)[:1] * 0, "jnp.where(v.sum() == 0, 1, v.sum())", lambda v: v * 0),
    "a logarithm": (entropy, jnp.arange(3.0), "jnp.where(v > 0, v, 1.0)", lambda v: 2 * np.log(2)),
    "a backward pass": (jax.grad(rooted), jnp.arange(2.0), "jnp.where(v > 0, v, 1.0)", lambda v: v / 2),
}  # fmt: skip


@pytest.mark.usefixtures("every_object")
@pytest.mark.parametrize("case", FIXES.values(), ids=FIXES)
def test_fixes_of_a_nan_are_run_and_leave_no_trace(watcher, case):
    function, argument, text, right = case
    with np.errstate(all="ignore"):
        before = np.asarray(function(argument))
    found = find_nan(function)(argument)
    (fix,) = found.document["fixes"]
    assert [edit["text"] for edit in fix["edits"]] == [text]
    assert fix["checked"].startswith("Run with these arguments: the NaN is gone")
    assert np.asarray(function(argument)).tobytes() == before.tobytes()
    lines = Path(__file__).read_text().splitlines()
    edit = fix["edits"][0]
    line = lines[edit["line"] - 1]
    fixed = line[: edit["column"]] + edit["text"] + line[edit["end_column"] :]
    given = {"jnp": jnp}
    exec("def f(v):\n" + fixed, given)
    python = jax.grad(given["f"]) if function is FIXES["a backward pass"][0] else given["f"]
    assert np.allclose(python(argument[0] if argument.ndim == 2 else argument), right(argument), atol=1e-6)


def test_objects_that_a_run_would_change_have_no_fixes(watcher):
    from flax import nnx

    class Count(nnx.Module):
        def __init__(self):
            self.n = nnx.Variable(jnp.zeros(()))

        def __call__(self, v):
            self.n[...] += 1
            return v / v

    count = Count()
    found = find_nan(nnx.jit(lambda count, v: count(v)))(count, jnp.zeros(2))
    assert found.primitive == "div" and found.document["fixes"] == [] and float(count.n[...]) == 0


def test_arguments_that_have_one_and_results_without_one(watcher):
    f = jax.jit(lambda v: v + 1)
    assert "had one already" in find_nan(f)(jnp.array([1.0, np.nan])).document["sentence"]
    assert "gives no NaN" in find_nan(f)(x).document["sentence"]


@pytest.mark.parametrize(("at", "hidden"), [(6.0, False), (-1.0, True)])
def test_a_where_is_accused_of_what_it_does_not_take(watcher, at, hidden):
    def energy(v):
        r2 = (v**2).sum(-1)
        return jnp.where(r2 < at, 1 / r2**3, 0.0).sum()

    found = find_nan(jax.grad(energy))(jnp.array([[0.0, 0], [1, 2]])).document
    assert (found["where"] is not None) is hidden
    assert found["sharp_bit"] == ("where-grad-nan" if hidden else "grad-singular-point")


def test_what_is_not_run_again_says_why(watcher):
    def told(v):
        jax.debug.print("{}", v)
        return v

    with pytest.raises(Unavailable, match="calls Python functions"):
        jitscope.inspect(told)(x).values  # noqa: B018
    with pytest.raises(ValueError, match="%nans --callbacks"):
        find_nan(jax.jit(told))(x)
    v = jnp.ones(7)
    gone = jitscope.inspect(jax.jit(lambda v: v + 1))(v)
    v.delete()
    with pytest.raises(Unavailable, match="are gone"):
        gone.values  # noqa: B018
    with pytest.raises(Unavailable, match="compiler_options"):
        jitscope.inspect(soft)(captured).compare(options={"xla_backend_optimization_level": 0})


def test_a_nan_of_an_infinity_that_was_given_names_the_argument(watcher):
    found = find_nan(jax.jit(lambda p, v: v @ (p["q"] + 1)))({"q": jnp.full((3, 2), jnp.inf)}, x * 0).document
    assert found["cause"].endswith("; p['q'] had infinities already"), found["cause"]


def test_a_hunt_that_takes_too_long_says_so_in_a_sentence(monkeypatch):
    monkeypatch.setattr(by_parts, "PartsReport", functools.partial(by_parts.PartsReport, seconds=0.0))
    with pytest.raises(Unavailable, match=r"^the hunt stopped in line \d+: it took more than 0 s$"):
        find_nan(jax.jit(lambda v: jnp.log(v - v) * 0))(x)


def test_cells_compare_and_hunt(bare_shell):  # noqa: F811
    bare_shell.cell("%load_ext jitscope\nimport jax, jax.numpy as jnp\nx = jnp.zeros(3)")
    bare_shell.cell("@jax.jit\ndef f(v):\n    return jnp.cos(v)\nf(x)")
    ran = bare_shell.cell("%%jit --vs f\n@jax.jit\ndef f(v):\n    return jnp.cos(v) + 0.0\nf(x)")
    (compared,) = [d for d in ran.documents if d["kind"] == "comparison"]
    validate(compared)
    assert compared["results"]["equal"] and compared["pairs"] >= 10
    ran = bare_shell.cell("%%jit --nans\n@jax.jit\ndef g(v):\n    return v / v\ng(x)")
    (hunted,) = [d for d in ran.documents if d["kind"] == "nan-hunt"]
    assert hunted["operation"]["primitive"] == "div" and hunted["operation"]["position"]["line"] == 4
    assert bare_shell.cell("%values f(x)").document["rows"]
    hunted = bare_shell.cell("%nans jax.grad(lambda v: jnp.sqrt(v - v).sum())(x)").document
    assert hunted["title"] == "jax.grad(lambda v: jnp.sqrt(v - v).sum())"
    assert bare_shell.cell("%nans g(x)").document["found"]
    ran = bare_shell.cell("%%jit\nfor _ in range(3):\n    g(x)\n%nans g(x)\n%values f(x)\ng(x)\nf(x)")
    assert {one["function"]: one["calls"] for one in ran.documents[-1]["reused"]} == {"g": 4, "f": 1}
    bare_shell.cell("jax.config.update('jax_debug_nans', True)")
    bare_shell.cell("%nans g(x)")
    assert bare_shell.cell("g(x)").error.startswith("FloatingPointError"), "what the user asked jax for is still there"
    bare_shell.cell("jax.config.update('jax_debug_nans', False)")


def test_values_over_several_devices(watcher):
    mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    v = jax.device_put(jnp.arange(32.0).reshape(8, 4), jax.NamedSharding(mesh, jax.P("d")))

    def f(v):
        parts = jax.shard_map(lambda a: lax.psum(jnp.sin(a), "d"), mesh=mesh, in_specs=jax.P("d"), out_specs=jax.P())(v)
        return jnp.tanh(v).sum(0) + parts

    document = jitscope.inspect(jax.jit(f))(v).values.document
    validate(document)
    rows = {row["label"]: row for row in document["rows"]}
    numbers = np.arange(32, dtype=np.float32).reshape(8, 4)
    parts = np.sin(numbers).reshape(4, 2, 4).sum(0)
    for name, wanted in {"reduce_sum": np.tanh(numbers).sum(0), "shard_map": parts}.items():
        assert (rows[name]["min"], rows[name]["max"]) == pytest.approx((wanted.min(), wanted.max()), rel=1e-4)
    assert any("what each device computes there is not listed" in remark for remark in document["remarks"])
    assert "compiled program's" in document["differs"] or "bit by bit" in document["differs"]
    spread = jax.jit(
        lambda v: jax.shard_map(lambda a: lax.psum(a, "d"), mesh=mesh, in_specs=jax.P("d"), out_specs=jax.P())(v)
    )
    seen = jitscope.inspect(spread)(jnp.arange(8.0))
    assert "arguments of the call" in repr(seen.measure().timing)
    assert "arguments 8 B" in repr(seen.memory), "what is compiled once more is for as many devices"
    assert {row["label"]: row["max"] for row in seen.values.document["rows"]}["shard_map"] == 16.0


@pytest.mark.skipif(not hasattr(jax, "new_ref"), reason="this jax has no references")
def test_a_program_that_captured_a_reference_is_not_run_again(watcher):
    held = jax.new_ref(jnp.zeros(3))

    @jax.jit
    def bump(v):
        held[1] += v

    seen = jitscope.inspect(bump)(jnp.float32(2))
    with pytest.raises(Exception, match="references that it captured: it is not run again"):
        assert seen.values.document
    assert held[...].tolist() == [0, 0, 0]


def test_sums_that_lost_digits_in_a_run_are_told(bare_shell):  # noqa: F811
    bare_shell.cell("%load_ext jitscope\nimport jax, jax.numpy as jnp\nfrom jax import lax\n%sharpbits on")
    bare_shell.cell(
        "half = jnp.full(300, 0.5, jnp.bfloat16)\nids = jnp.zeros(400, int)\nx = half.mean() + half.cumsum()[9]"
    )
    bare_shell.cell("sum_ = lax.scan(lambda c, v: (c + v, None), half[0] * 0, half)[0]\ncount = half.at[ids].add(1)")
    (document,) = bare_shell.cell("%sharpbits").documents
    sums = [(one["id"], one["position"]["line"], one["message"]) for one in document["items"]]
    assert [one[:2] for one in sums] == [("low-precision-sum", 1), ("low-precision-sum", 2)]
    assert "after 274 additions the sum is 128, where the numbers that were added make 137." in sums[0][2]
    assert "8 significant bits: the sum is 256, where the numbers that were added make 400.5." in sums[1][2]


def test_an_infinity_that_a_where_does_not_take_is_no_cause(watcher):
    def where(x):
        return jnp.where(jnp.ones(2) > 0, -x, -jnp.inf).sum()

    sentence = find_nan(where)(jnp.array([1.0, jnp.inf])).document["sentence"]
    assert sentence == "where gives an infinity because x had infinities already."
    taken = find_nan(lambda x: jnp.where(x > 0, x, -jnp.inf).sum())(jnp.array([1.0, -1.0])).document
    assert taken["cause"] == "written in the program" and taken["operation"]
