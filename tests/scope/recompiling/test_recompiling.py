"""Recompilations: every part of the key has a cause that is read back with its line, and every fix is proved by running it."""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend.dispatch import Configuration
from jitscope.backend.signature import ANY_DEVICE, Leaf, Signature
from jitscope.backend.tracing import TraceKey
from jitscope.core.avals import ShapedArray
from jitscope.core.config import Settings, override
from jitscope_scope import observe
from jitscope_scope.advise.recompiling import checking, edited
from jitscope_scope.advise.recompiling.rowwise import result_axis
from jitscope_scope.advise.run.misses import recompilations_paid
from jitscope_scope.observe.differences import PARTS
from jitscope_scope.observe.ledger import Ledger
from jitscope_scope.observe.recompiling.cards import FileEdit
from jitscope_scope.observe.recompiling.groups import groups
from jitscope_scope.observe.recompiling.remedies import remedy
from jitscope_scope.observe.recompiling.stale import stale, stale_cards
from jitscope_scope.observe.recorded_calls import recorder
from jitscope_scope.source_code.edits import Edit, Span, applied
from jitscope_widgets import validate
from tests.scope.recompiling_programs import HEADER, PROGRAMS, QUIET
from tests.scope.redefinitions import CHANGES


_numbers = itertools.count(1)


def run(text: str) -> tuple[str, Ledger]:
    """A program as a file of its own, run; what was compiled is nowhere else."""
    text = text.replace("UNIQUE", f"{3 + next(_numbers) / 2048}")
    file, ledger = f"<program {next(_numbers)}>", Ledger()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules["program"] = types.ModuleType("program")
    try:
        exec(compile(text, file, "exec"), vars(module))
    finally:
        ledger.close()
    return text, ledger


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls are recorded, and the module of the program is there, as in a notebook; no edit is refused since compiling took long here."""
    monkeypatch.setattr(checking, "MOST_SECONDS", 600.0)
    stop = recorder.begin()
    yield
    stop()
    sys.modules.pop("program", None)


def parts_of(program: str) -> tuple[str, int, str]:
    """The program that recompiles, the line that pays, and the fixed one, "" where edits make it."""
    before, _, fixed = PROGRAMS[program][1].partition("# fixed\n")
    (line,) = [at for at, text in enumerate((HEADER + before).splitlines(), 1) if "#<-" in text]
    return HEADER + before, line, HEADER + fixed if fixed else ""


def made(ledger: Ledger) -> int:
    """How many programs were traced for calls."""
    return sum(row.what in ("compiled", "recompiled", "reused") and not row.nested for row in ledger)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_cause_is_told_with_its_line_and_its_fix_holds(program: str) -> None:
    before, line, fixed = parts_of(program)
    text, ledger = run(before)
    (group,) = groups(ledger)
    assert group.cause == PROGRAMS[program][0]
    assert [site.line for site in group.sites()] == [line]
    found = remedy(group)
    assert found is not None and found.replay is not None
    assert found.replay.before == made(ledger) > found.replay.after
    if not fixed:
        edits = edited(group)
        assert isinstance(edits, FileEdit), edits
        assert edits.programs == found.replay.after
        fixed = applied(text, [Edit(Span(*edit[:4]), edit[4]) for edit in edits.edits])
        ast.parse(fixed)
    assert made(run(fixed)[1]) == found.replay.after
    document = observe.recompilations_document(ledger, program, edited)
    validate(document)
    (card,) = document["cards"]
    fix, (count, after) = card["fix"], found.replay[:2]
    if fix["edits"]:
        assert f": {count} " in fix["checked"] and f" become {after}, with the same results" in fix["checked"]
    else:
        assert not fix["checked"] and f" {count} " in fix["text"] and f" would become {after}, " in fix["text"]


def test_every_cause_but_those_of_several_devices_has_a_program() -> None:
    causes = {cause for cause, _ in PROGRAMS.values()}
    # "class" is no recompilation: tests/jaxwatch/test_reasons.py and below. "device": test_two_devices of tests/scope/advise; "sharding": tests/many_devices/test_recompiling.py; "kind": below.
    assert set(PARTS) - causes == {"first", "redefined", "class", "device", "sharding", "kind"}


@pytest.mark.parametrize("program", QUIET)
def test_what_nobody_would_call_a_recompilation(program: str) -> None:
    _, ledger = run(HEADER + QUIET[program])
    assert observe.recompilations_document(ledger, program)["cards"] == []
    assert not any(row.what == "recompiled" for row in ledger)


# Every part of the key -------------------------------------------------------------------------------------------------


SETTINGS: dict[str, tuple[Any, str]] = {
    "enable_x64": (True, "x64"),
    "numpy_dtype_promotion": ("strict", "option"),
    "explicit_x64_dtypes": ("allow", "option"),
    "numpy_rank_promotion": ("warn", "option"),
    "default_matmul_precision": ("highest", "option"),
    "default_device": (None, "option"),  # a device, which is there when the test runs
    "mesh": (None, "option"),  # one of the devices that are there
    "default_prng_impl": ("rbg", "option"),
    "random_seed_offset": (7, "option"),
    "debug_key_reuse": (True, "option"),
    "check_static_indices": (True, "option"),
    "debug_nans": (True, "option"),
    "debug_infs": (True, "option"),
    "sharp_bits": (True, "option"),
    "check_tracer_leaks": (True, "option"),
    "enable_checks": (True, "option"),
    "no_execution": (True, "option"),
    "legacy_prng_key": ("warn", "option"),
    "threefry_partitionable": (False, "option"),
    "user_contexts": ((("mine", 3),), "option"),
}
NOT_TRACED = {"disable_jit"}
"""With it nothing is traced."""


def test_the_table_has_every_option_of_the_key() -> None:
    assert set(Settings._fields) == SETTINGS.keys() | NOT_TRACED


@pytest.mark.parametrize("name", SETTINGS)
def test_an_option_of_the_key_is_read_back(name: str) -> None:
    value, cause = SETTINGS[name]
    made = {"default_device": lambda: jx.devices()[0], "mesh": lambda: jx.make_mesh((1,), ("rows",))}
    found = read_back(lambda f, x: f(x), options={name: made[name]() if name in made else value})
    assert found == (cause, name)


X = np.ones(3, np.float32)


class Node:
    """A tree whose static data prints alike and is not equal."""

    def __init__(self, x: Any, data: Any) -> None:
        self.x, self.data = x, data


class Silent:
    def __repr__(self) -> str:
        return "Silent()"


jx.tree_util.register_pytree_node(Node, lambda n: ((n.x,), n.data), lambda data, c: Node(c[0], data))

Mutation = tuple[Callable[..., Any], dict[str, Any], str, str]
MUTATIONS: dict[str, Mutation] = {
    # part of the key: (the second call, options of the second jit, cause, path)
    "TraceKey.axes": (lambda f, x: jx.vmap(f, axis_name="i")(x[None]), {}, "option", "axis 'i'"),
    "TraceKey.in_tree": (lambda f, x: f((x,)), {}, "tree structure", "x"),
    "TraceKey.in_tree, static data": (lambda f, x: f(Node(x, Silent())), {}, "tree structure", "x"),
    "TraceKey.avals: shape": (lambda f, x: f(x[:2]), {}, "shape", "x"),
    "TraceKey.avals: dtype": (lambda f, x: f(x.astype(np.float16)), {}, "dtype", "x"),
    "TraceKey.avals: weak_type": (lambda f, x: f(1.0), {}, "weak type", "x"),
    "TraceKey.statics": (lambda f, x: f(x, 2), {}, "static value", "n"),
    "TraceKey.statics, another object": (lambda f, x: f(x, Silent()), {}, "static object", "n"),
    "Configuration.arguments: donated": (lambda f, x: f(x), {"donate_argnums": 0}, "donation", "donated arguments"),
    "Configuration.arguments: static": (lambda f, x: f(x), {"static_argnums": ()}, "option", "static arguments"),
    "Configuration.options": (
        lambda f, x: f(x),
        {"compiler_options": {"xla_cpu_enable_fast_math": False}},
        "option",
        "compiler option xla_cpu_enable_fast_math",
    ),
    "Configuration.auto_static": (lambda f, x: f(x), {"auto_static": True}, "option", "auto_static"),
    "Configuration.shardings": (lambda f, x: f(x), {"out_shardings": jx.devices()[0]}, "sharding", "out_shardings"),
    "Configuration.keep_unused": (lambda f, x: f(x), {"keep_unused": True}, "option", "keep_unused"),
}
ELSEWHERE = {
    "TraceKey.settings": "SETTINGS above",
    "TraceKey.avals: mark": "test_sharding_is_told",
    "Configuration.device": "test_ledger.test_device, in a process with two devices",
}


def test_the_table_has_every_part_of_the_key() -> None:
    parts = {part.partition(",")[0].partition(":")[0] for part in [*MUTATIONS, *ELSEWHERE]}
    assert parts == {f"{kind.__name__}.{name}" for kind in (TraceKey, Configuration) for name in kind._fields}
    avals = {part.partition(": ")[2] for part in [*MUTATIONS, *ELSEWHERE] if part.startswith("TraceKey.avals")}
    assert avals - {""} == set(ShapedArray.__slots__) - {"__weakref__", "_short", "ndim"}


def test_every_part_of_a_recorded_key_is_compared() -> None:
    """A part that is added to the record must be told by `differences`, or be no part of the key."""
    told = {"function", "leaves", "tree", "statics", "options", "x64", "device", "structure"}
    assert set(Signature._fields) == told | {"cleared", "dropped", "made", "attributes", "classes", "held"}
    assert set(Leaf._fields) == {"path", "shape", "dtype", "weak_type", "sharding"}


def read_back(
    second: Callable[..., Any],
    jit: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    firsts: Any = ((X,),),
) -> Any:
    """Cause and path of what a second call is traced for; its line is the one that makes it."""
    factor = 3 + next(_numbers) / 2048

    def traced(x: Any, n: Any = 1) -> Any:
        leaves = jx.tree_util.tree_leaves(x)
        return sum(jnp.asarray(leaf) for leaf in leaves) * factor

    ledger, base = Ledger(), {"static_argnums": 1}
    first = jx.jit(traced, **base)
    for value in firsts:
        first.trace(*value)
    with override.unchecked(**(options or {})):
        compiled = jx.jit(traced, **{**base, **(jit or {})})
        second(compiled.trace if options else compiled, X)
    ledger.close()
    row = [row for row in ledger.function_rows("traced") if not row.derived][-1]
    assert row.call_site is not None and row.call_site.file == __file__
    return row.cause, row.differences[0].path


@pytest.mark.parametrize("part", MUTATIONS)
def test_a_part_of_the_key_is_read_back(part: str) -> None:
    second, options, cause, path = MUTATIONS[part]
    firsts: Any = {
        "static data": [(Node(X, Silent()),)],
        "statics": [(X, 1), (X, Silent())],
        "weak": [(np.float32(2),)],
    }
    chosen = next((values for word, values in firsts.items() if word in part), [(X,)])
    assert read_back(second, options, firsts=chosen) == (cause, path)


def test_sharding_is_told() -> None:
    """No array is laid out over several devices yet; its aval has the place for it."""
    leaves = [Leaf.of("x", ShapedArray((4,), np.float32, False, layout)) for layout in (None, "rows")]
    old, new = (Signature(1, (leaf,), "*", (), (), False, ANY_DEVICE, 0, 0, 0, None) for leaf in leaves)  # pyright: ignore
    (difference,) = observe.differences(old, new)
    assert (difference.part, difference.path, difference.after) == ("sharding", "x", "rows")


def test_static_in_one_call_and_an_array_in_the_other() -> None:
    ledger = Ledger()
    f = jx.jit(lambda x, mode: x * 1.0625, auto_static=True)
    f(X, "fast"), f(X, 1.0)
    ledger.close()
    (group,) = groups(ledger)
    assert (group.cause, group.paths) == ("kind", ["mode"])
    g = jx.jit(lambda x, mask: x * 1.125 if mask is None else x * mask, auto_static=True)
    ledger = Ledger()
    g(X, None), g(X, X)
    ledger.close()
    (group,) = groups(ledger)
    assert (group.cause, group.paths) == ("none", ["mask"])


# Cards ----------------------------------------------------------------------------------------------------------------


def test_a_long_loop_is_one_small_card() -> None:
    text = HEADER + "f = jax.jit(lambda x: x * UNIQUE)\nfor n in range(1, 41):\n    f(jnp.ones(n))\n"
    _, ledger = run(text)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert (card["compilations"], card["because"]) == (39, "axis 0 of x grows from 1 to 40, 40 sizes")
    matrix = card["matrix"]
    assert [column["label"] for column in matrix["columns"]] == ["1", "2", "3", "38", "39", "40"]
    assert (matrix["columns_left"], matrix["columns_left_after"]) == (34, 3)
    assert matrix["rows"][0]["cells"] == [f"f32[{n}]" for n in (1, 2, 3, 38, 39, 40)]
    lost = sum(row.spent for row in ledger if row.what == "recompiled")
    assert card["seconds"]["value"] == pytest.approx(lost) and card["sites"][0]["seconds"] == pytest.approx(lost)


def test_arguments_that_changed_alike_are_told_together() -> None:
    text = "f = jax.jit(lambda t, s: sum(t) * s * UNIQUE)\n"
    text += "for dtype in ('float32', 'bfloat16'):\n    f([jnp.ones(2, dtype)] * 5, jnp.ones(2))\n"
    text += "f([jnp.ones(2)] * 5, jnp.ones(2, 'int32'))\n"
    _, ledger = run(HEADER + text)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert card["because"] == "t[0], t[1], t[2] and 2 more changed dtype: f32 → bf16 and s changed dtype: f32 → i32"
    row = next(row for row in ledger if row.what == "recompiled")
    assert row.because == "recompiled because t[0], t[1], t[2] and 2 more changed dtype: f32 → bf16"


def test_a_captured_array_that_looks_like_the_one_before_is_another() -> None:
    text = "def step(n, x):\n    f = jax.jit(lambda y: y * n + x.sum() * UNIQUE)\n    f(x)\nfor n in (1, 2, 1):\n    step(n, jnp.ones(4))\n"
    _, ledger = run(HEADER + text)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert card["because"].endswith("is made anew, and the captured n changed: 1 → 2 and x is another f32[4]")
    rows = {row["path"]: (row["cells"], row["changed"]) for row in card["matrix"]["rows"]}
    assert rows["n"] == (["1", "2", "1"], [False, True, True])
    assert rows["x"] == (["f32[4]", "f32[4], object 2", "f32[4], object 3"], [False, True, True])
    assert rows["function"][0] == ["object 1", "object 2", "object 3"]


def test_an_attribute_is_no_global_of_its_name() -> None:
    text = """
class Config:
    def __init__(self, rate):
        self.rate = rate * 10
def make(config):
    return jax.jit(lambda x: x * config.rate * UNIQUE)
for rate in (0.1, 0.2, 0.3):
    make(Config(rate))(jnp.ones(3))
"""
    _, ledger = run(HEADER + text)
    (card,) = observe.recompilations_document(ledger, "", edited)["cards"]
    assert "rate" not in {row["path"] for row in card["matrix"]["rows"]}
    assert "rate is 1.0, then 2.0" in card["fix"]["text"]  # that of the object


def test_a_cause_that_is_not_alone_says_what_else_changed() -> None:
    text = """
class Model:
    def step(self, x):
        return x * UNIQUE
model = Model()
for n in (3, 4, 5):
    jax.jit(model.step)(jnp.ones(n))
"""
    _, ledger = run(HEADER + text)
    cards = observe.recompilations_document(ledger, "", edited)["cards"]
    (told,) = [card["fix"]["text"] for card in cards if card["cause"] == "function"]
    assert told.endswith("By the keys of the recorded calls that alone spares nothing: x changed as well.")


def test_what_compiled_nothing_is_not_counted_as_a_compilation() -> None:
    """A shape that was met before is traced again for a function made anew, and its program is known."""
    text = (
        "def k(x):\n    return (x * UNIQUE).sum()\nfor n in (3, 5, 3, 5):\n    jax.jit(lambda x: k(x))(jnp.ones(n))\n"
    )
    _, ledger = run(HEADER + text)
    assert [row.what for row in ledger if not row.nested] == ["compiled", "recompiled", "reused", "reused"]
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert (card["compilations"], card["retraces"]) == (1, 2)
    assert "recorded calls 4 traces would become 2, " in card["fix"]["text"]
    (bit,) = recompilations_paid(row for row in ledger)
    assert " is compiled again and traced again 2 times in this line (" in bit.message


def test_one_structure_leaves_the_shapes_as_they_are() -> None:
    """What a call lacks may be given; that makes no shape another, and a call of the same structure is what a call is compared with."""
    text = (
        "f = jax.jit(lambda d: sum(v.sum() for v in d.values()) * UNIQUE)\nx, y = jnp.ones(3), jnp.ones(2)\n"
        "for d in ({'a': x}, {'a': x, 'b': y}, {'a': jnp.ones(4), 'c': y}, {'a': y, 'b': x}):\n"
        "    f(d)\n"
    )
    _, ledger = run(HEADER + text)
    cards = {card["cause"]: card for card in observe.recompilations_document(ledger, "")["cards"]}
    assert "recorded calls 3 compilations would become 2, " in cards["tree structure"]["fix"]["text"]
    last = [row for row in ledger if not row.nested][-1]
    assert {one.part for one in last.differences} == {"shape"}


def test_of_several_values_those_that_decide_are_named() -> None:
    text = """
f = jax.jit(lambda x, n, scale: x[:n] * scale * UNIQUE, static_argnums=(1, 2))
for n, scale in ((1, 2.0), (2, 3.0), (2, 4.0), (3, 4.0)):
    f(jnp.ones(5), n, scale)
"""
    _, ledger = run(HEADER + text)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert card["fix"]["text"].startswith("n decides what the program is (")
    assert card["fix"]["text"].endswith(" scale is only computed with.")


def test_one_axis_more_is_nothing_to_pad() -> None:
    _, ledger = run(
        HEADER + "f = jax.jit(lambda x: x * UNIQUE)\nf(jnp.ones(3))\nf(jnp.ones((3, 3)))\nf(jnp.ones((2, 3, 3)))\n"
    )
    (card,) = observe.recompilations_document(ledger, "", edited)["cards"]
    assert card["fix"]["text"] == (
        "One program for each number of axes is right where each of them is meant; else give x the same number in every call."
    )


def test_a_static_value_that_decides_is_not_advised_away() -> None:
    text = """
f = jax.jit(lambda x, n: x * n * UNIQUE, static_argnums=1)
g = jax.jit(lambda x, n: sum([jnp.sin(x)] * n) * UNIQUE, static_argnums=1)
h = jax.jit(lambda x, n: x * UNIQUE if n == "a" else -x * UNIQUE, static_argnums=1)
k = jax.jit(lambda x, n: jax.lax.scan(lambda c, _: (c * 2, None), x * UNIQUE, None, length=n)[0], static_argnums=1)
for one, other in ((f, 2), (f, 3), (g, 2), (g, 3), (h, "a"), (h, "b"), (k, 2), (k, 3)):
    one(jnp.ones(3), other)
"""
    _, ledger = run(HEADER + text)
    advice = [one.fix.text for row in ledger for one in recompilations_paid([row])]
    assert [one.partition(":")[0].partition(" (")[0] for one in advice] == [
        "n is only computed with", "n decides what the program is", "Call with few values of n", "n decides what the program is",
    ]  # fmt: skip


def test_a_wide_key_keeps_what_changed() -> None:
    """A shape before what is only weak in some."""
    text = "f = jax.jit(lambda t, x: t['a19'] * UNIQUE + x)\nfor n in (2, 3):\n    f({f'a{i}': one(i, n) for i in range(20)}, 1.0)\n"
    mixed = "jnp.ones(n) if i == 19 else 1.0 if n == 2 else jnp.float32(1)"
    for one, shown, left in (("jnp.ones(n if i == 19 else 1)", 1, 20), (mixed, 8, 13)):
        (card,) = observe.recompilations_document(run(f"{HEADER}one = lambda i, n: {one}\n{text}")[1], "")["cards"]
        row = card["matrix"]["rows"][0]
        assert (row["path"], row["cells"]) == ("t['a19']", ["f32[2]", "f32[3]"])
        assert (len(card["matrix"]["rows"]), card["matrix"]["rows_left"]) == (shown, left)


def test_functions_are_told_apart_by_where_they_are_defined() -> None:
    _, ledger = run(
        HEADER
        + """
class First:
    def forward(self, x):
        return x * UNIQUE

class Second:
    def forward(self, x):
        return x + UNIQUE

for model in (First(), Second()):
    for n in (2, 3):
        jax.jit(model.forward)(jnp.ones(n))
"""
    )
    found = groups(ledger)
    assert len(found) == 2 and {group.rows[0].position.function for group in found if group.rows[0].position} == {
        "First.forward", "Second.forward"}  # fmt: skip


def test_four_functions_of_one_line_are_a_function_made_anew() -> None:
    _, ledger = run(
        HEADER + "fs = [jax.jit(lambda x, k=k: x * k + UNIQUE) for k in range(6)]\nfor f in fs:\n    f(jnp.ones(3))\n"
    )
    (group,) = groups(ledger)
    assert (group.cause, group.paths, group.compilations) == ("closure", ["k"], 3)


def test_looking_is_no_recompilation() -> None:
    ledger = Ledger()
    f = jx.jit(lambda x: x * 1.1875)
    f(X)
    with ledger.looking():
        f.lower(np.ones(4, np.float32)).compile()
    f(np.ones(5, np.float32))
    ledger.close()
    assert [(row.what, row.cause) for row in ledger] == [("compiled", ""), ("compiled", ""), ("recompiled", "shape")]


def test_a_program_made_to_be_looked_at_is_nothing_to_compare_with() -> None:
    ledger = Ledger()

    def looked_at_first(x: Any) -> Any:
        return x * 1.2109375

    with ledger.looking():
        jx.jit(looked_at_first, auto_static=True).lower(X)
    jx.jit(looked_at_first)(X)
    ledger.close()
    assert [row.cause for row in ledger] == ["", ""] and not groups(ledger)


def test_what_transformations_make_of_a_function_are_other_functions() -> None:
    _, ledger = run(
        HEADER + "def f(x):\n    return (x * x * UNIQUE).sum()\nx = jnp.ones((3, 4))\n"
        "fs = [jax.jit(g) for g in (f, jax.grad(f), jax.value_and_grad(f), jax.vmap(f), jax.vmap(f, in_axes=1), jax.jacfwd(f))]\n"
        "for g in fs:\n    g(x)\n"
    )
    assert not groups(ledger)
    _, ledger = run(
        HEADER
        + "def f(x):\n    return (x * x * UNIQUE).sum()\nfor _ in range(3):\n    jax.jit(jax.grad(f))(jnp.ones(3))\n"
    )
    (group,) = groups(ledger)
    assert group.cause == "function"


def test_a_smaller_size_in_another_line_is_no_last_batch() -> None:
    f = HEADER + "@jax.jit\ndef f(x):\n    return x * UNIQUE\n"
    _, ledger = run(f + "for n in (8, 8, 3):\n    f(jnp.ones(n))\n")
    assert "the last batch is smaller" in observe.recompilations_document(ledger, "")["cards"][0]["because"]
    _, ledger = run(f + "f(jnp.ones(8))\nf(jnp.ones(8))\nf(jnp.ones(3))\n")
    assert observe.recompilations_document(ledger, "")["cards"][0]["because"] == "axis 0 of x is 8, then 3"


def test_data_that_the_option_widens_are_told_as_the_option() -> None:
    _, ledger = run(
        HEADER + "@jax.jit\ndef f(x, n):\n    return x * n * UNIQUE\nx = np.ones(3)\nf(x, 2)\n"
        "with jax.enable_x64(True):\n    f(x, 2)\n    f(x.astype(np.float32), 2)\n"
    )
    by_cause = {group.cause: observe.recompilations_document(group.rows, "")["cards"][0] for group in groups(ledger)}
    assert by_cause["x64"]["because"] == "enable_x64 changed: False → True (x: f32 → f64, n: i32 → i64)"
    assert by_cause["x64"]["fix"]["text"].startswith("Set enable_x64 once") and by_cause.keys() == {"x64", "dtype"}


def test_a_function_that_a_thread_runs_has_a_card_without_a_line() -> None:
    _, ledger = run(
        HEADER + "import threading\n@jax.jit\ndef f(x):\n    return x * UNIQUE\nf(jnp.ones(3))\n"
        "thread = threading.Thread(target=f, args=(jnp.ones(4),))\nthread.start()\nthread.join()\n"
    )
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert (card["cause"], card["sites"], card["compilations"]) == ("shape", [], 1)


BY_ROWS = {
    "x * 2 + b": 0,
    "jax.nn.softmax(x @ w, axis=-1)": 0,
    "(x @ w).T": 1,
    "jnp.where(x > 0, x, 0.1 * x.sum(axis=1, keepdims=True))": 0,
    "(w.T @ x.T).argmax(axis=0)": 0,
    "jnp.einsum('ij,ij->i', x, x) / x.shape[1]": 0,
    "x.reshape(x.shape[0], 3, 1)": 0,
    "jnp.ones_like(x) + b": 0,
    "x - x.mean(axis=0)": None,
    "x.sum()": None,
    "x * x.shape[0]": None,
    "x[::-1]": None,
    "jnp.cumsum(x, axis=0)": None,
    "x @ x.T": None,
    "jnp.arange(x.shape[0]) + x[:, 0]": None,
    "jnp.ones(x.shape[0]).sum() * x": None,
    "jax.lax.fori_loop(0, 3, lambda i, x: x - x.max(), x)": None,
    "(x, x)": None,
    "x.reshape(-1)": None,
}


@pytest.mark.parametrize("text", BY_ROWS)
def test_rows_that_are_made_of_one_row_may_be_padded(text: str) -> None:
    scope = {"jax": jx, "jnp": jnp, "w": np.arange(9.0, dtype=np.float32).reshape(3, 3), "b": 0.5}
    f = eval(f"lambda x, w: {text}", scope)
    one, other = (jx.make_jaxpr(f)(jnp.ones((n, 3)), scope["w"]).jaxpr for n in (4, 7))
    axis = result_axis(one, other, (0, None))
    assert axis == BY_ROWS[text]
    if axis is not None:
        x = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
        rows = np.take(f(jnp.asarray(x), scope["w"]), range(4), axis)
        np.testing.assert_allclose(f(jnp.asarray(x[:4]), scope["w"]), rows, 1e-6)


def test_what_was_captured_and_changed_is_told_with_the_recompilations() -> None:
    text = HEADER + "scale, unused = 2.0, 1\nclass Box:\n    size = 1.0\nbox = Box()\n"
    text += "f = jax.jit(lambda x: x * scale + box.size)\ng = jax.jit(lambda x: x.size * x)\nsize = 3\nf(1.0); g(1.0)\n"
    ledger, scope = Ledger(), {"__name__": "kept"}
    try:
        exec(text, scope)
        cards = lambda: observe.recompilations_document(ledger, "kept", stale=True)["cards"]
        assert cards() == []
        exec("scale, unused, size = 5.0, 2, 4", scope)
        (card,) = cards()
        assert (card["cause"], card["compilations"]) == ("stale", 0)
        assert "`scale` was 2.0 and is 5.0 now" in card["because"] and "unused" not in card["because"]
        validate(observe.recompilations_document(ledger, "kept", stale=True))
        assert observe.recompilations_document(ledger, "kept")["cards"] == []
        exec("scale = 2.0", scope)
        assert cards() == []
        exec("scale = 7.0; f.clear_cache()", scope)
        assert cards() == []
    finally:
        ledger.close()


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_called_and_defined_again_is_told(name: str) -> None:
    program, change, said = CHANGES[name]
    ledger, scope = Ledger(), {"__name__": "kept", "jax": jx, "jnp": jnp}
    try:
        exec(program, scope)
        assert not stale(ledger)
        before = float(scope["f"](1.0))
        exec(change, scope)
        assert [card["because"] for card in stale_cards(ledger)] == said
        if said:
            assert float(scope["f"](1.0)) == before, "it does run the old one"
            assert "clear_cache()" in stale_cards(ledger)[0]["fix"]["text"]
            scope["f"].clear_cache()
            assert float(scope["f"](1.0)) != before
            assert not stale(ledger)
    finally:
        ledger.close()
