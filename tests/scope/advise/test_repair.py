"""Rewrites for errors while tracing: made of the user's code, tried by tracing, and equal to what Python computes."""

from __future__ import annotations

import functools
import itertools
import linecache
import math
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope
import jitscope.lax
import jitscope.numpy
from jitscope.core.unfinished_traces import unfinished
from jitscope_scope import observe
from jitscope_scope.advise.diagnostic import Fix
from jitscope_scope.advise.repair import repairs
from jitscope_scope.advise.run.errors import explained
from jitscope_scope.source_code.edits import applied
from jitscope_widgets import validate
from tests.extent import examples


NAMES = {"functools": functools, "jax": jitscope, "jnp": jitscope.numpy, "lax": jitscope.lax, "np": np}
_numbers = itertools.count()


def run(text: str, **scope: Any) -> tuple[dict[str, Any], Exception | None]:
    """Run a program under a file name of its own; its names, and the error that ended it."""
    file = f"<repair {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {**NAMES, **scope, "__name__": "program"}
    try:
        exec(compile(text, file, "exec"), names)
    except Exception as error:
        return names, error
    return names, None


def fixes_of(error: Exception | None) -> list[Fix]:
    assert error is not None
    told, where = explained(error), unfinished(error)[0].where
    assert told is not None and where is not None
    return repairs(error, told.id, where)


# --- programs that were generated: Python's `if` and loops on numbers against the rewritten program under jit -----------------------


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function `f(x, y)` with a branch or a loop on the values of its arguments."""
    expression = st.sampled_from(["x + y", "x * 2 - y", "-x", "y - 1.5", "x * y + 0.25", "abs(x)"])
    test = st.sampled_from(["x > y", "x + y < 1", "0 < x < 2", "x > 0 and y > 0", "not x > y", "x > 1 or y < 0"])
    a, b, c, d = (draw(expression) for _ in range(4))
    lines = draw(
        st.sampled_from(
            [
                [f"if {draw(test)}:", f"    z = {a}", "else:", f"    z = {b}", "return z * 2"],
                [f"if {draw(test)}:", f"    return {a}", f"return {b}"],
                [
                    f"if {draw(test)}:",
                    f"    u = {a}",
                    f"    v = {b}",
                    "else:",
                    f"    v = {c}",
                    f"    u = {d}",
                    "return u - v",
                ],
                [f"z = {a}", f"if {draw(test)}:", f"    z = z + {b}", "    y = y + 1", "return z + y"],
                [f"if {draw(test)}:", f"    w = {a}", "    return w + 1", "else:", f"    w = {b}", "    return w - 1"],
                ["n = 0.0", "while x < 4:", "    x = x * 2 + 3", "    n += 1.0", "return x + n"],
                [f"z = {a}", "for i in range(k):", "    z = z + i * y", "return z"],
                [f"return {a} if {draw(test)} else {b}"],
            ]
        )
    )
    return "def f(x, y, k):\n" + "".join(f"    {line}\n" for line in lines)


@settings(max_examples=examples(30))
@given(programs(), st.tuples(*[st.floats(-3, 3, width=32)] * 2), st.integers(0, 4))
def test_rewritten_programs_compute_what_python_computes(text: str, values: tuple[float, float], k: int) -> None:
    names, error = run(text)
    assert error is None
    expected = names["f"](*map(np.float32, values), k)
    call = "out = jax.jit(f)(jnp.float32(x), jnp.float32(y), k)\n"
    _, error = run(text + call, x=values[0], y=values[1], k=k)
    found = fixes_of(error)
    assert found and all(fix.checked for fix in found), text
    for fix in found:
        fixed = applied(text + call, fix.edits)
        names, error = run(fixed, x=values[0], y=values[1], k=k)
        assert error is None, (fixed, error)
        np.testing.assert_allclose(np.asarray(names["out"]), expected, rtol=1e-5, atol=1e-5, err_msg=fixed)


# --- kinds of rewrites ---------------------------------------------------------------------------------------------------------------

KINDS = {
    "a static flag": ("@jax.jit\ndef f(x, train):\n    if train:\n        x = x * 2\n    return x\nf(1.0, True)\n", "static_argnames=\"train\""),
    "a loop over an int": (
        "@jax.jit\ndef f(x, n):\n    for i in range(int(n)):\n        x = x * 2\n    return x\nf(1.0, 3)\n",
        "x = lax.fori_loop(0, n.astype(int), step, x)",
    ),
    "a static size": ("def f(x, n):\n    return x + jnp.zeros(n)\njax.jit(f)(1.0, 3)\n", "jax.jit(f, static_argnames=\"n\")"),
    "numpy": ("@jax.jit\ndef f(x):\n    return np.sin(x).sum()\nf(jnp.ones(3))\n", "jnp.sin(x)"),
    "a mask": ("@jax.jit\ndef f(x):\n    return x[x > 0].sum()\nf(jnp.ones(3))\n", "jnp.where(x > 0, x, 0).sum()"),
    "a window": ("@jax.jit\ndef f(x, i):\n    return x[i:i + 2]\nf(jnp.ones(4), 1)\n", "lax.dynamic_slice_in_dim(x, i, 2)"),
    "a window before": ("@jax.jit\ndef f(x, n):\n    return x[n - 1:n]\nf(jnp.ones(4), 1)\n", "lax.dynamic_slice_in_dim(x, n - 1, 1)"),
    "a window of columns": ("@jax.jit\ndef f(x, n):\n    return x[:, n:2 + n]\nf(jnp.ones((4, 4)), 1)\n", "lax.dynamic_slice_in_dim(x, n, 2, axis=1)"),
    "a block": ("@jax.jit\ndef f(x, i):\n    k = 2\n    return x[..., i * k:(i + 1) * k, 0]\nf(jnp.ones((4, 4)), 1)\n", "lax.dynamic_slice_in_dim(x, i * k, k, axis=-2)[..., :, 0]"),
    "an element": ("@jax.jit\ndef f(x):\n    x[0] = 1.0\n    return x\nf(jnp.ones(4))\n", "x = x.at[0].set(1.0)"),
    "how many": ("@jax.jit\ndef f(x):\n    return jnp.nonzero(x)[0]\nf(jnp.ones(4))\n", "jnp.nonzero(x, size=x.size, fill_value=0)"),
    "a turn that is skipped": (
        "@jax.jit\ndef f(x):\n    s = 0.0\n    for v in x:\n        if v < 0:\n            continue\n        s += v\n    return s\nf(jnp.ones(3))\n",
        "        s = jnp.where(v < 0, s, s + v)\n    return s",
    ),
    "a turn of more than one line that is skipped": (
        "@jax.jit\ndef f(x):\n    s, n = 0.0, 0\n    for v in x:\n        if v < 0:\n            continue\n        s += v\n        n += 1\n    return s, n\n"
        "f(jnp.ones(3))\n",
        "n, s = lax.cond(~(v < 0), when_true, when_false, n, s)\n    return s, n",
    ),
    "a mask's number": ("@jax.jit\ndef f(x):\n    return len(x[x > 1]) + 1\nassert f(jnp.arange(4)) == 3\n", "return jnp.sum(x > 1) + 1"),
    "a mask of an update, at": (
        "@jax.jit\ndef f(x):\n    return x.at[jnp.isnan(x)].set(-2.0)\nassert f(jnp.array([1.0, jnp.nan])).tolist() == [1, -2]\n",
        "return jnp.where(jnp.isnan(x), -2.0, x)",
    ),
    "a mask of an assignment": (
        "@jax.jit\ndef f(x):\n    y = 2 * x\n    y[x > 1] = -1\n    return y\nassert f(jnp.arange(3)).tolist() == [0, 2, -1]\n",
        "    y = jnp.where(x > 1, -1, y)\n",
    ),
    "a static end": ("@jax.jit\ndef f(x, k):\n    return x[-k:]\nf(jnp.ones(4), 2)\n", "static_argnames=\"k\""),
    "a static end of an update": ("@jax.jit\ndef f(x, k):\n    return x.at[:k].set(0)\nf(jnp.ones(4), 2)\n", "static_argnames=\"k\""),
    "a mask of an update": ("@jax.jit\ndef f(x, k):\n    return x.at[:k].set(0)\nf(jnp.ones(4), 2)\n", "jnp.where(jnp.arange(x.shape[0]) < k, 0, x)"),
    "a method": (
        "class M:\n    def __call__(self, x):\n        return self.h(x)\n    def h(self, x):\n        return x if x > 0 else -x\n"
        "m = M()\njax.jit(m)(1.0)\n",
        "jnp.where(x > 0, x, -x)",
    ),
    "a method's flag": (
        "class M:\n    @functools.partial(jax.jit, static_argnums=0)\n    def f(self, x, train):\n        if train:\n            x = x * 2\n        return x\n"
        "assert M().f(1.0, True) == 2\n",
        "@functools.partial(jax.jit, static_argnums=(0, 2))",
    ),
    "a function inside": (
        "def make():\n    def inner(x):\n        if x > 0:\n            x = x + 1\n        return x\n    return inner\njax.jit(make())(1.0)\n",
        "x = jnp.where(x > 0, x + 1, x)",
    ),
    "an elif": (
        "@functools.partial(jax.jit, static_argnames=\"mode\")\ndef f(x, mode):\n    if mode == 1:\n        y = 5.0\n    elif x > 0:\n        y = x\n"
        "    else:\n        y = -x\n    return y\nassert f(-1.0, 2) == 1 and f(2.0, 2) == 2\nassert f(2.0, 1) == 5\n",
        "        y = 5.0\n    else:\n        y = jnp.where(x > 0, x, -x)\n    return y",
    ),
    "an elif with several lines": (
        "@functools.partial(jax.jit, static_argnames=\"mode\")\ndef f(x, mode):\n    y = z = x\n    if mode == 1:\n        y = 5.0\n    elif x > 0:\n"
        "        y = x * 2\n        z = y\n    return y + z\nassert f(-1.0, 2) == -2 and f(2.0, 2) == 8\nassert f(2.0, 1) == 7\n",
        "        y = 5.0\n    else:\n        def when_true(y, z):",
    ),
    "ifs in one another": (
        "@jax.jit\ndef f(x):\n    if x > 2:\n        y = 5.0\n    elif x > 0:\n        y = x\n    else:\n        y = -x\n    return y\n"
        "assert (f(3.0), f(1.0), f(-4.0)) == (5, 1, 4)\n",
        "    y = jnp.where(x > 2, 5.0, jnp.where(x > 0, x, -x))\n    return y\n",
    ),
    "ifs that return": (
        "@jax.jit\ndef f(x):\n    if x > 2:\n        return 5.0\n    if x > 0 and x < 9:\n        return x\n    return -x\n"
        "assert (f(3.0), f(1.0), f(-4.0)) == (5, 1, 4)\n",
        "def f(x):\n    return jnp.where(x > 2, 5.0, jnp.where((x > 0) & (x < 9), x, -x))\nassert",
    ),
    "the body of a scan": (
        "def body(c, x):\n    if x > c:\n        c = x\n    return c, c\njax.jit(lambda xs: lax.scan(body, 0.0, xs))(jnp.ones(3))\n",
        "c = jnp.where(x > c, x, c)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_offered_and_runs(name: str) -> None:
    text, wanted = KINDS[name]
    _, error = run(text)
    found = fixes_of(error)
    tried = [fix for fix in found if fix.checked or "may give other values: " in fix.text]
    fixed = [applied(text, fix.edits) for fix in tried]
    assert any(wanted in one for one in fixed), fixed
    for one in fixed:
        assert run(one)[1] is None, one
    again = run(text)[1]  # the user's functions are what they were
    assert type(again) is type(error)


@pytest.mark.parametrize("line", ["x = x.at[x > 0].set(v)", "x[x[:, 0] > 0] = 7"])
def test_masks_of_rows_and_values_that_are_counted_are_not_rewritten(line: str) -> None:
    assert (
        fixes_of(run(f"@jax.jit\ndef f(x, v):\n    {line}\n    return x\nf(jnp.ones((2, 3)), jnp.ones(6))\n")[1]) == []
    )


def test_words_on_a_mask_that_stops_the_trace_later_fit_its_rank_too() -> None:
    text = "@jax.jit\ndef f(x, e):\n    m = e == 1\n    y = x[m]\n    return x.at[m].set(y)\nf(jnp.ones((4, 3)), jnp.arange(4))\n"
    told = explained(run(text)[1])
    assert told is not None and "`jnp.where(m[:, None], x, 0)`" in told.fix.text


def test_what_fails_is_not_offered() -> None:
    text = "@jax.jit\ndef f(x):\n    if x > 0:\n        y = jnp.ones(2)\n    else:\n        y = jnp.ones(3)\n    return y\nf(1.0)\n"
    assert fixes_of(run(text)[1]) == []


@pytest.mark.parametrize(
    ("one", "other", "checked"), [("x", "x + 1", 1), ("x", "x.sum()", 0), ("x[None]", "x", 0), ("x", "0.0", 0)]
)
def test_a_choice_between_shapes_is_not_said_to_be_checked(one: str, other: str, checked: int) -> None:
    """`jnp.where` would give both the shape of both together; a number is filled in, which is said."""
    text = f"@jax.jit\ndef f(x):\n    return {one} if x[0] > 0 else {other}\nf(jnp.ones(2))\n"
    found = fixes_of(run(text)[1])
    assert [bool(fix.checked) for fix in found] == [bool(checked)]
    assert bool(found[0].edits) == (checked or other == "0.0")


@pytest.mark.parametrize(("by", "loops"), [("grad", 0), ("jacrev", 0), ("jacfwd", 1), ("jit", 1)])
def test_no_loop_is_offered_whose_turns_a_gradient_would_have_to_count(by: str, loops: int) -> None:
    text = f"@jax.jit\ndef f(x, n):\n    for i in range(n):\n        x = x * 2\n    return x\njax.{by}(f)(1.0, 3)\n"
    found = fixes_of(run(text)[1])
    assert sum("fori_loop" in fix.text for fix in found) == loops
    assert all(run(applied(text, fix.edits))[1] is None for fix in found if fix.checked)


@pytest.mark.parametrize(("flag", "static"), [("True", True), ("np.bool_(1)", True), ("jnp.array(True)", False)])
def test_an_array_is_not_made_static(flag: str, static: bool) -> None:
    text = f"@jax.jit\ndef f(x, m):\n    return not m\nf(1.0, {flag})\n"
    found = fixes_of(run(text)[1])
    assert any("static" in fix.text for fix in found) == static
    assert all(run(applied(text, fix.edits))[1] is None for fix in found)


@pytest.mark.parametrize("index", ["x[:n].sum()", "x[n:].mean()", "x[m].sum()", "x[jnp.abs(m)].max()"])
@pytest.mark.parametrize("shape", [(3,), (3, 3)])
def test_masks_choose_along_the_first_axis_of_arrays_of_any_rank(index: str, shape: tuple[int, ...]) -> None:
    """Of a square array a mask without further axes would choose columns, and trace all the same."""
    text = f"@jax.jit\ndef f(x, n, m):\n    m = m > 0\n    return {index.replace('jnp.abs(m)', '~m')}\n"
    text += f"out = f(jnp.arange(9.0)[:{math.prod(shape)}].reshape{shape}, 2, jnp.array([1, 0, 1]))\n"
    found = [fix for fix in fixes_of(run(text)[1]) if "static" not in fix.text]
    assert len(found) == 1 and ("[:, None]" in found[0].edits[0].text) == (len(shape) == 2)
    with jitscope.disable_jit():
        expected = run(text)[0]["out"]
    for fix in found:
        np.testing.assert_allclose(run(applied(text, fix.edits))[0]["out"], expected)


def test_a_later_error_is_said() -> None:
    text = "@jax.jit\ndef f(x):\n    y = x if x > 0 else -x\n    return float(y)\nf(1.0)\n"
    (fix,) = fixes_of(run(text)[1])
    assert "stops later, in line 4" in fix.text and not fix.checked


@pytest.mark.parametrize("use", ["jnp.zeros(n)", "x[:n]", "x.reshape(n, 1)"])
def test_a_rewrite_that_only_hands_the_tracer_on_to_the_next_line_is_no_fix(use: str) -> None:
    text = f"@jax.jit\ndef f(x):\n    n = int(x.sum())\n    return {use}\nf(jnp.ones(3))\n"
    assert not any("astype" in edit.text for fix in fixes_of(run(text)[1]) for edit in fix.edits)


@pytest.mark.parametrize("line", ["seen.append(1)", "send(x)", "global n; n = 1"])
def test_code_that_does_more_than_compute_is_not_run_again(line: str) -> None:
    told: list[Any] = []
    text = f"seen = []\n@jax.jit\ndef f(x):\n    {line}\n    return x if x > 0 else -x\nf(1.0)\n"
    names, error = run(text, send=told.append)
    found = fixes_of(error)
    assert found and not any(fix.checked for fix in found) and "Not checked" in found[0].text
    assert len(told) + len(names["seen"]) <= 1


def test_what_asks_for_a_value_is_not_kept_in_a_condition() -> None:
    text = "seen = []\n@jax.jit\ndef f(x):\n    seen.append(1)\n    if not np.isfinite(x).all():\n        x = x * 0\n    return x\nf(jnp.ones(3))\n"
    found = fixes_of(run(text)[1])
    assert found and not any("np.isfinite" in edit.text.replace("jnp.", "") for fix in found for edit in fix.edits)


def test_trying_leaves_no_trace_of_itself() -> None:
    """Neither a record, nor a program in a cache: the call after it fails as the first one did."""
    text = "@jax.jit\ndef g(x):\n    return x if x > 0 else -x\n\n@jax.jit\ndef f(x):\n    return g(x) + 1\nf(1.0)\n"
    names, error = run(text)
    records: list[Any] = []
    stop = observe.ledger().listen(records.append)
    try:
        assert fixes_of(error)
    finally:
        stop()
    assert records == []
    for call in (names["f"], names["g"]):
        with pytest.raises(jitscope.errors.TracerBoolConversionError):
            call(1.0)


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("sorted([x, 1.0])", "jnp.sort(jnp.array([x, 1.0]))"),
        ("all(x > k for k in (1, 2))", "jnp.all(jnp.array([x > k for k in (1, 2)]))"),
        ("x or 1.0", "jnp.where(x, x, 1.0)"),
        ("not x", "jnp.logical_not(x)"),
        ("not x > 1", "~(x > 1)"),
        ("x in (1.0, 2.0)", "(jnp.array([1.0, 2.0]) == x).any()"),
        ("float(x)", "x.astype(float)"),
    ],
)
def test_rewrites_take_what_stands_there(line: str, fixed: str) -> None:
    _, error = run(
        "import jitscope as jax, jitscope.numpy as jnp\n"
        f"def f(x):\n    x = jnp.sin(x)\n    return {line}\njax.jit(f)(1.0)\n"
    )
    assert error is not None
    one = explained(error)
    assert one is not None and [edit.text for edit in one.fix.edits] == [fixed]


def test_what_may_be_no_array_has_words_alone() -> None:
    _, error = run("@jax.jit\ndef f(x):\n    return max({'a': x, 'b': -x}.values())\nf(1.0)\n")
    assert error is not None
    one = explained(error)
    assert one is not None and not one.fix.edits and "jnp.max" in one.fix.text


# --- the document ----------------------------------------------------------------------------------------------------------------------


def documents() -> Iterator[dict[str, Any]]:
    for text, _ in KINDS.values():
        document = observe.stopped_document(run(text)[1])  # pyright: ignore[reportArgumentType]
        assert document is not None
        yield document


def test_documents_have_their_form_and_end_where_it_stopped() -> None:
    for document in documents():
        validate(document)
        nodes = {node["id"]: node for node in document["graph"]["nodes"]}
        assert nodes[document["stop"]]["mark"] == "stop" and document["steps"][-1]["kind"] == "stop"
        marked = {name for name, node in nodes.items() if node.get("mark") == "path"}
        assert marked and {node for step in document["steps"][:-1] for node in step["nodes"]} <= marked


def test_the_way_leads_from_the_guilty_arguments_alone() -> None:
    text = "@jax.jit\ndef f(a, b, c):\n    u = b * 2\n    v = a + 1\n    w = v * c\n    if w > 0:\n        return u\n    return w\nf(1.0, 2.0, 3.0)\n"
    document = observe.stopped_document(run(text)[1])  # pyright: ignore[reportArgumentType]
    assert document is not None
    told = [(step["kind"], step["text"], step["position"] and step["position"]["line"]) for step in document["steps"]]
    assert told == [
        ("argument", "a: f32[]", None),
        ("argument", "c: f32[]", None),
        ("line", "v = a + 1", 4),
        ("line", "w = v * c", 5),
        ("stop", "if w > 0", 6),
    ]
    assert any(node["label"] == "mul" and "mark" not in node for node in document["graph"]["nodes"])


def test_the_way_out_of_a_loop_names_all_that_the_call_was_given() -> None:
    text = (
        "@jax.jit\ndef f(a, b, c):\n    def body(carry, x):\n        return (carry + x if x > 0 else carry), x\n"
        "    return jax.lax.scan(body, a * 2, b)[0] + c\nf(1.0, jnp.ones(3), 2.0)\n"
    )
    document = observe.stopped_document(run(text)[1])  # pyright: ignore[reportArgumentType]
    assert document is not None
    told = [step["text"] for step in document["steps"] if step["kind"] == "argument"]
    assert told == ["a: f32[]", "b: f32[3]"]


NUMPYS = {
    "a function that NumPy wrote in Python": "np.zeros_like(x)",
    "one that calls others of NumPy": "np.average(x)",
    "a class of NumPy's": "np.poly1d(x)",
}


def test_a_folder_of_libraries_that_a_path_names_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "frames.py").write_text("import numpy as np\ndef doubled(values):\n    return np.asarray(values) * 2\n")
    monkeypatch.syspath_prepend(str(folder))
    document = observe.stopped_document(run("from frames import doubled\njax.jit(lambda x: doubled(x + 1))(1.0)\n")[1])  # pyright: ignore[reportArgumentType]
    monkeypatch.delitem(sys.modules, "frames")
    assert document is not None and document["steps"][-1]["text"] == "doubled(x + 1)"


@pytest.mark.parametrize("called", NUMPYS.values(), ids=NUMPYS)
def test_it_stops_at_the_users_line_and_not_inside_an_installed_library(called: str) -> None:
    text = (
        f"class Model:\n    def inner(self, x):\n        return {called} * 2\n    def outer(self, p):\n"
        "        return self.inner(p['x']) * p['y']\njax.jit(Model().outer)({'x': jnp.ones(3), 'y': 2.0})\n"
    )
    error = run(text)[1]
    document = observe.stopped_document(error)  # pyright: ignore[reportArgumentType]
    assert document is not None
    told = [(step["kind"], step["text"], step["position"] and step["position"]["line"]) for step in document["steps"]]
    assert told == [("argument", "p['x']: f32[3]", None), ("stop", called, 3)]
    if called == "np.zeros_like(x)":
        (fix,) = fixes_of(error)
        assert fix.checked and "return jnp.zeros_like(x) * 2" in applied(text, fix.edits)


@pytest.mark.parametrize("raised", ["raise ValueError('mine')", "undefined", "{}[0]"])
def test_errors_of_the_users_own_have_no_document(raised: str) -> None:
    error = run(f"@jax.jit\ndef f(x):\n    y = x * 2\n    {raised}\n    return y\nf(1.0)\n")[1]
    assert error is not None and observe.stopped_document(error) is None


def test_what_was_recorded_is_gone_with_the_error() -> None:
    names, error = run(
        "big = jnp.ones(1000)\n@jax.jit\ndef f(x):\n    y = big * x\n    return x if y.sum() > 0 else y\nf(1.0)\n"
    )
    array = weakref.ref(names["big"])
    kept = unfinished(error)  # pyright: ignore[reportArgumentType]
    assert kept[0].eqns
    names.clear()
    del error, kept, names
    import gc

    gc.collect()
    assert array() is None
