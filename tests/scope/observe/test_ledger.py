"""The ledger: every cache miss is explained by the part of the key that changed, and nothing is kept alive or grows."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend import caches
from jitscope_scope import observe
from jitscope_scope.observe.ledger import Ledger, Row
from jitscope_scope.observe.recompiling.cards import recompilations_document
from tests.compiler.programs import add, cos, exp, floats, in_new_process, mul, sin, steps, total
from tests.scope.titles import TITLES


X = floats(3)
ledger_module = sys.modules[Ledger.__module__]
_names = itertools.count()


# Explanations ---------------------------------------------------------------------------------------------------------
# A call is data; a mutation changes one part of it and says what the ledger must say.


@dataclasses.dataclass
class Call:
    """A call of a jitted function of a nested tree, a static argument and a number by name."""

    params: Any
    mode: Any = "train"
    scale: Any = dataclasses.field(default_factory=lambda: np.float32(2))
    jit: dict[str, Any] = dataclasses.field(default_factory=dict)
    static: tuple[str, ...] = ("mode",)
    context: Callable[[], Any] = contextlib.nullcontext
    again: bool = False

    def run(self, fun: Callable[..., Any]) -> None:
        with self.context():
            jx.jit(fun, static_argnames=self.static, **self.jit)(self.params, mode=self.mode, scale=self.scale)


def params() -> dict[str, Any]:
    return {
        "layers": [{"w": floats(3, 2), "b": floats(2)}, {"w": floats(2, 4), "b": floats(4)}],
        "extra": (floats(3), None),
    }


Found = tuple[str, str, str, str]
Mutation = tuple[Callable[[Call], None], Found]


def set_leaf(value: Any) -> Callable[[Call], None]:
    def change(call: Call) -> None:
        call.params["layers"][1]["w"] = value

    return change


def add_leaf(call: Call) -> None:
    call.params["layers"][0]["new"] = floats(5)


def drop_layer(call: Call) -> None:
    call.params["layers"].pop()


def tuple_of_layers(call: Call) -> None:
    call.params["layers"] = tuple(call.params["layers"])


def option(**values: Any) -> Callable[[Call], None]:
    return lambda call: call.jit.update(values)


def attribute(name: str, value: Any) -> Callable[[Call], None]:
    return lambda call: setattr(call, name, value)


LEAF, ANY = "params['layers'][1]['w']", "*"
MUTATIONS: dict[str, Mutation] = {
    "shape": (set_leaf(floats(3, 4)), ("shape", LEAF, "f32[2,4]", "f32[3,4]")),
    "rank": (set_leaf(floats(2, 4, 1)), ("shape", LEAF, "f32[2,4]", "f32[2,4,1]")),
    "dtype": (set_leaf(floats(2, 4).astype(np.float16)), ("dtype", LEAF, "f32", "f16")),
    "weak type": (attribute("scale", 2.0), ("weak type", "scale", "f32, not weak", "f32, weak")),
    "static value": (attribute("mode", "eval"), ("static value", "mode", "'train' (str)", "'eval' (str)")),
    "type of a static value": (attribute("mode", ("train",)), ("static value", "mode", "'train' (str)", "('train',) (tuple)")),
    "a leaf more": (add_leaf, ("tree structure", "params", ANY, ANY)),
    "a layer less": (drop_layer, ("tree structure", "params", ANY, ANY)),
    "another container": (tuple_of_layers, ("tree structure", ANY, ANY, ANY)),
    "None for an array": (lambda c: c.params.update(extra=None), ("tree structure", "params", ANY, ANY)),
    "function": (attribute("again", True), ("function", "function", ANY, ANY)),
    "donation": (option(donate_argnames="scale"), ("donation", "donated arguments", "()", "('scale',)")),
    "compiler option": (option(compiler_options={"xla_cpu_enable_fast_math": False}),
                        ("option", "compiler option xla_cpu_enable_fast_math", "not given", "False")),
    "auto_static": (option(auto_static=True), ("option", "auto_static", "False", "True")),
    "promotion": (attribute("context", lambda: jx.core.config.override(numpy_dtype_promotion="strict")),
                  ("option", "numpy_dtype_promotion", "'standard'", "'strict'")),
    "default device": (attribute("context", lambda: jx.default_device(jx.devices()[0])),
                       ("option", "default_device", "None", ANY)),
    "x64": (attribute("context", jx.enable_x64), ("x64", "enable_x64", "False", "True")),
}  # fmt: skip
CLASHING = [{"weak type", "x64"}, {"shape", "rank"}, {"shape", "dtype"}, {"rank", "dtype"}, {"static value", "type of a static value"},
            {"promotion", "default device"}, {"promotion", "x64"}, {"default device", "x64"},
            {"a leaf more", "a layer less"}, {"a leaf more", "another container"}, {"a leaf more", "None for an array"},
            {"a layer less", "another container"}, {"a layer less", "None for an array"},
            {"another container", "None for an array"}, {"a layer less", "shape"}, {"a layer less", "rank"},
            {"a layer less", "dtype"}, {"another container", "shape"}, {"another container", "rank"},
            {"another container", "dtype"}]  # fmt: skip


def make_function(name: str) -> Callable[..., Any]:
    def fun(params, mode, scale):
        return mul(total(params["layers"][0]["w"]), scale) if mode == "train" else scale

    fun.__name__ = fun.__qualname__ = name
    return fun


def explained(ledger: Ledger, *mutations: str) -> Row:
    """The row of a call that differs in these parts from the one before it."""
    name = f"mutated_{next(_names)}"
    fun = make_function(name)
    Call(params()).run(fun)
    call = Call(params())
    for mutation in mutations:
        MUTATIONS[mutation][0](call)
    call.run(make_function(name) if call.again else fun)
    first, last = ledger.function_rows(name)
    assert last.against is first and first.what in ("compiled", "reused")
    return last


def assert_found(row: Row, *mutations: str) -> None:
    wanted = [MUTATIONS[m][1] for m in mutations]
    found = [(d.part, d.path, d.before, d.after) for d in row.differences]
    assert len(found) == len(wanted), found
    for part, path, before, after in wanted:
        match = [f for f in found if f[0] == part and path in (f[1], ANY)]
        assert match, (part, path, found)
        for value, text in ((match[0][2], before), (match[0][3], after)):
            assert value and text in (value, ANY), (value, text)
    assert "unknown" not in row.because
    for difference in row.differences:
        said = (difference.before, difference.after) if difference.part != "function" else (difference.detail,)
        assert all(text in row.because for text in said), row.because


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_each_part_of_the_key_is_named_with_both_values(ledger, mutation):
    assert_found(explained(ledger, mutation), mutation)


@pytest.mark.parametrize(
    "pair", [p for p in itertools.combinations(MUTATIONS, 2) if set(p) not in CLASHING], ids="+".join
)
def test_two_changes_at_once_give_both(ledger, pair):
    assert_found(explained(ledger, *pair), *pair)


def test_the_detail_says_which_axis_and_which_leaves(ledger):
    assert explained(ledger, "shape").differences[0].detail == "axis 0"
    assert explained(ledger, "rank").differences[0].detail == "3 axes instead of 2"
    assert explained(ledger, "a leaf more").differences[0].detail == "gained params['layers'][0]['new']"
    gone = explained(ledger, "a layer less").differences[0].detail
    assert gone == "lost params['layers'][1]['b'], params['layers'][1]['w']"


def test_device():
    out = in_new_process(
        """
        import numpy as np, jitscope as jx
        from jitscope_scope import observe
        def on_a_device(x): return x
        f = jx.jit(on_a_device)
        ledger = observe.ledger()
        x = np.ones(3, np.float32)
        for device in jx.devices():
            f(jx.device_put(x, device))
            f(jx.device_put(x, device))
        jx.jit(on_a_device, device=jx.devices()[1])(x)
        for row in ledger.function_rows("on_a_device"):
            print(row.what, row.calls, [(d.part, d.path, d.before, d.after) for d in row.differences])
        """,
        JITSCOPE_CPU_DEVICES="2",
    )
    first, second, third = out.splitlines()
    assert first == "compiled 2 []"
    assert second == "recompiled 2 [('device', 'device', 'cpu:0', 'cpu:1')]"
    assert third.startswith("reused 1")


def test_axis_environment(ledger):
    inner = jx.jit(lambda x: sin(x))
    inner.__name__ = inner._name = "in_axes"
    jx.vmap(inner, axis_name="i")(X)
    jx.vmap(inner, axis_name="j")(X)
    rows = [row for row in ledger.function_rows("in_axes") if not row.derived]
    found = {(d.part, d.path, d.before, d.after) for d in rows[-1].differences}
    assert found == {("option", "axis 'i'", "3", "not given"), ("option", "axis 'j'", "not given", "3")}
    assert all(row.nested for row in rows)


def test_the_nearest_earlier_call_is_compared_with(ledger):
    def nearest(x, y):
        return add(mul(sin(x), cos(x)), exp(x))

    f = jx.jit(nearest)
    one, two, three = np.ones((2, 3), np.float32), np.ones((2, 3), np.float16), np.ones((4, 3), np.float16)
    f(one, one), f(three, three), f(two, one)
    last = ledger.function_rows("nearest")[-1]
    assert [(d.part, d.path) for d in last.differences] == [("dtype", "x")]
    assert last.against is ledger.function_rows("nearest")[0]
    f(X, X)
    assert ledger.function_rows("nearest")[-1].number == 4


def test_static_values_that_print_alike(ledger):
    class Config:
        def __init__(self, value):
            self.value = value

        def __repr__(self):
            return "Config()"

    def configured(x, config):
        return mul(x, config.value)

    f = jx.jit(configured, static_argnums=1)
    f(X, Config(1.0)), f(X, Config(2.0))
    (difference,) = ledger.function_rows("configured")[-1].differences
    assert (difference.part, difference.path, difference.before, difference.after) == (
        "static value", "config", "Config() (Config)", "Config() (Config)")  # fmt: skip
    assert difference.detail == "value is 1.0, then 2.0"
    g = jx.jit(configured_by_tuple, static_argnums=1)
    g(X, (0,) * 500), g(X, (0,) * 499 + (1,))
    (difference,) = ledger.function_rows("configured_by_tuple")[-1].differences
    assert difference.part == "static value" and len(difference.before) < 250


def configured_by_tuple(x, config):
    return mul(x, float(len(config)))


# When the key did not change -----------------------------------------------------------------------------------------


def only_difference(row: Row) -> tuple[str, str]:
    (difference,) = row.differences
    return difference.path, difference.detail


def test_cleared_caches(ledger):
    def cleared(x):
        return exp(x)

    f = jx.jit(cleared)
    f(X)
    jx.clear_caches()
    f(X)
    f.clear_cache()
    f(X)
    rows = ledger.function_rows("cleared")
    assert [row.what for row in rows] == ["compiled", "recompiled", "reused"]
    assert [only_difference(row) for row in rows[1:]] == [("cache", "the caches were cleared")] * 2
    assert "nothing was compiled" in rows[2].because


def test_a_cell_run_again(ledger):
    for number in range(3):
        scope = {"sin": sin, "mul": mul}
        exec(compile("def rerun(x):\n    return mul(sin(x), 11.0)", f"<cell {number}>", "exec"), scope)
        jx.jit(scope["rerun"])(X)
    rows = ledger.function_rows("rerun")
    assert [row.what for row in rows] == ["compiled", "reused", "reused"]
    assert rows[2].cause == "redefined" and rows[2].against in rows[:2]


def test_fresh_lambdas_on_one_line_and_on_others(ledger):
    for _ in range(3):
        jx.jit(lambda x: mul(cos(x), 13.0))(X)
    jx.jit(lambda x: mul(cos(x), 13.0))(X)
    rows = [row for row in ledger if row.function == "<lambda>"]
    assert [row.what for row in rows] == ["compiled", "reused", "reused", "reused"]
    assert [row.against is not None for row in rows] == [False, True, True, False]
    assert all(row.differences[0].part == "function" for row in rows[1:3])


def test_functions_that_capture_outer_tracers(ledger):
    def outer(x):
        def capturing(y):
            return add(x, y)

        inner = jx.jit(capturing)
        return add(inner(1.0), inner(1.0))

    jx.grad(outer)(1.0)
    rows = [row for row in ledger.function_rows("capturing") if row.nested]
    assert len(rows) == 2 and "outer trace" in only_difference(rows[1])[1]


def test_more_kinds_of_calls_than_are_remembered(ledger, monkeypatch):
    monkeypatch.setattr(caches, "MAX_KEYS", 8)

    def crowded(x, n):
        return x

    f = jx.jit(crowded, static_argnums=1)
    for n in [*range(12), 0]:
        f(X, n)
    last = ledger.function_rows("crowded")[-1]
    assert "more kinds of arguments" in only_difference(last)[1]


def test_two_threads_that_trace_at_once(ledger):
    meet = threading.Barrier(2, timeout=20)

    def met(x):
        meet.wait()
        return sin(x)

    f = jx.jit(met)
    outs: list[Any] = []
    threads = [threading.Thread(target=lambda: outs.append(np.asarray(f(X)))) for _ in range(2)]
    [t.start() for t in threads], [t.join() for t in threads]
    np.testing.assert_allclose(outs, [np.sin(X)] * 2, rtol=1e-6)
    rows = ledger.function_rows("met")
    assert len(rows) == 2 and only_difference(rows[1])[0] == "thread"


class Equal:
    """Objects that print and hash alike, and are equal where their scales are."""

    def __init__(self, scale):
        self.scale = scale

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return self.scale == other.scale

    def __repr__(self):
        return "Equal()"


def test_a_retrace_of_an_unknown_cause_is_blamed_on_nothing(ledger):
    def scaled(x, by):
        return mul(x, by.scale)

    f = jx.jit(scaled, static_argnums=1)
    for scale in (2.0, 3.0):
        np.testing.assert_allclose(f(X, Equal(scale)), X * scale)
    rows = ledger.function_rows("scaled")
    said = rows[1].because
    assert (
        said.startswith("recompiled for a reason that is not known: ") and "time" not in said and "thread" not in said
    ), said
    (card,) = recompilations_document(rows, "")["cards"]
    assert card["fix"] is None and "thread" not in card["because"], card


def test_calls_of_two_threads_one_after_the_other_are_no_reason(ledger):
    def scaled(x, by):
        return mul(x, by.scale)

    f = jx.jit(scaled, static_argnums=1)
    for scale in (2.0, 3.0):
        thread = threading.Thread(target=f, args=(X, Equal(scale)))
        thread.start(), thread.join()
    assert "is not known" in ledger.function_rows("scaled")[1].because


def test_a_failure_is_a_row_and_no_reason(ledger):
    fail = [True]

    def failing(x):
        if fail[0]:
            raise ValueError("user's own\nand more")
        return mul(sin(x), 43.0)

    f = jx.jit(failing)
    with pytest.raises(ValueError, match="and more"):
        f(X)
    fail[0] = False
    f(X)
    f(floats(4))
    rows = ledger.function_rows("failing")
    assert [row.what for row in rows] == ["failed", "compiled", "recompiled"]
    assert rows[0].because == "failed: ValueError: user's own"
    assert rows[1].because == "first compilation" and rows[2].against is rows[1]


def test_an_error_in_a_nested_function_shows_once(ledger):
    def deepest(x):
        raise ValueError("no")

    def middle(x):
        return jx.jit(deepest)(x)

    with pytest.raises(ValueError):
        jx.jit(middle)(X)
    assert [(row.function, row.nested) for row in ledger] == [("deepest", True), ("middle", False)]
    assert [row["function"] for row in observe.ledger_document(ledger)["rows"]] == ["middle"]


def test_a_function_first_used_inside_another(ledger):
    """Its own first call compiles it: that is no recompilation, and the time of tracing was spent before."""

    def helper(x):
        return mul(sin(x), 17.0)

    inner = jx.jit(helper)
    jx.jit(lambda x: inner(x))(X)
    inner(X)
    nested, own = ledger.function_rows("helper")
    assert (nested.nested, nested.what, own.nested, own.what, own.because) == (
        True, "traced", False, "compiled", "first compilation")  # fmt: skip
    assert "trace" not in own.seconds and own.seconds["compile"] > 0 and own.equations == 2
    assert "helper" in [row["function"] for row in observe.ledger_document(ledger)["rows"]]


def test_looking_first_and_calling_later_is_one_program(ledger):
    def looked_at(x):
        return mul(sin(x), 19.0)

    f = jx.jit(looked_at)
    f.trace(X)
    f.lower(X)
    f(X)
    f.lower(X).compile()
    (row,) = ledger.function_rows("looked_at")
    assert (row.what, row.number, row.calls) == ("compiled", 1, 1) and {
        "trace",
        "lower",
        "compile",
        "run",
    } <= row.seconds.keys()


# Rows, marks, calls ---------------------------------------------------------------------------------------------------


def test_calls_are_counted_without_records(ledger):
    def counted(x, k=None):
        return x if k is None else add(x, k)

    f = jx.jit(counted)
    mark = ledger.mark()
    f(X)
    with steps() as seen:
        for _ in range(5):
            f(X)
        for _ in range(3):
            f(X, k=1.0)
            f(x=X)
    assert seen == {"trace": 2, "lower": 1, "compile": 1, "reuse": 1, "run": 2}
    assert sum(row.calls for row in ledger.function_rows("counted")) == 12
    assert len(ledger.since(mark)) == 3
    mark = ledger.mark()
    f(X), f(X)
    assert ledger.since(mark) == [] and ledger.called_since(mark) == {"counted": 2}


def test_rows_belong_to_the_running_cell(ledger):
    def here(x):
        return sin(x)

    ledger.place_now = lambda: ("In [4]", "id4")
    jx.jit(here)(X)
    ledger.place_now = lambda: None
    jx.jit(here)(floats(5))
    assert [row.cell for row in ledger.function_rows("here")] == [("In [4]", "id4"), None]
    ledger.cell_of = {__file__: ("In [7]", "id7")}.get
    assert ledger.cell_of(__file__) == ("In [7]", "id7") and ledger.cell_of("elsewhere") is None
    document = observe.ledger_document(ledger)["rows"]
    assert [(row["cell"], row["cell_id"]) for row in document if row["function"] == "here"] == [
        ("In [4]", "id4"),
        ("In [7]", "id7"),
    ]


def test_derived_programs_have_rows_of_their_own(ledger):
    def loss(x):
        return total(mul(sin(x), 23.0))

    jx.grad(jx.jit(loss))(X)
    rows = [row for row in ledger if row.function == "loss" and row.derived]
    assert rows and all(
        row.what == "compiled" and "transformation" in row.because and row.seconds["compile"] > 0 for row in rows
    )
    told = [one for one in observe.ledger_document(ledger)["rows"] if one["id"] in {row.id for row in rows}]
    assert [one["calls"] for one in told] == [None] * len(rows), "nobody counts them"


@pytest.mark.parametrize("make", TITLES)
def test_programs_are_called_by_what_made_them(ledger, make):
    jx.clear_caches()
    make(jx, jnp, jnp.arange(3.0) + 1)
    made = [row for row in ledger if not row.nested and row.what != "traced"]
    assert [row.title for row in made] == TITLES[make]
    documents = [observe.compilation_document(row) for row in made]
    assert [document["function"] for document in documents] == TITLES[make]
    assert [document["timing"]["title"] for document in documents] == TITLES[make]
    listed = observe.ledger_document(ledger)["rows"]
    assert [row["signature"].partition("(")[0] for row in listed] == TITLES[make]


def test_durations_are_measured(ledger):
    def timed(x):
        return mul(sin(x), 29.0)

    jx.jit(timed)(X)
    (row,) = ledger.function_rows("timed")
    assert set(row.seconds) == {"trace", "lower", "compile", "run"} and all(0 < s < 60 for s in row.seconds.values())
