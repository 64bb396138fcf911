"""Why jax traced a function again: each case changes one thing, and that one is named."""

import collections
import dataclasses
import functools
import os
import sys
import sysconfig

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jitscope_kernel import jax_cells
from jitscope_kernel.check import check
from jitscope_scope import jaxwatch, observe
from jitscope_scope.advise.program import read
from jitscope_scope.observe.documents import signature_text
from jitscope_widgets import validate
from jitscope_widgets.words import compiled_words
from tests.scope.titles import TITLES


x = np.linspace(0, 1, 4, dtype=np.float32)


def fresh(**options):
    def f(x, p=None, mode="a"):
        return (x * 2).sum()

    return jax.jit(f, static_argnames=("mode",), **options)


def config(f):
    f(x)
    with jax.default_matmul_precision("float32"):
        f(x)


def loop_of_lambdas(_):
    for k in range(2):
        jax.jit(lambda v: v + k)(x)  # noqa: B023


def nested(_):
    def make():
        def inner(v):
            return v * 3

        return inner

    for _ in range(2):
        jax.jit(make())(x)


class Model:
    def __init__(self):
        self.w = 3

    @functools.partial(jax.jit, static_argnums=0)
    def apply(self, v):
        return v * self.w


def methods(_):
    Model().apply(x)
    Model().apply(x)


def committed(f):
    f(x)
    f(jax.device_put(x, jax.devices()[1]))


def mapped(_):
    f = jax.pmap(lambda p: p["w"] * 2)
    f({"w": np.ones(2, np.float32)})
    f({"w": np.ones((2, 3), np.float32)})


def mapped_with_static(_):
    f = jax.pmap(lambda v, n: v**n, static_broadcasted_argnums=1)
    f(np.ones(2, np.float32), 2)
    f(np.ones(2, np.float32), 3)


CASES = {
    "shape": ("shape", lambda f: (f(x), f(np.ones(5, np.float32)))),
    "dtype": ("dtype", lambda f: (f(x), f(np.ones(4, np.int32)))),
    "weak type": ("weak type", lambda f: (f(jnp.float32(2)), f(2.0))),
    "structure": ("tree structure", lambda f: (f(x, {"a": x}), f(x, {"b": x}))),
    "a tuple of the same arrays": (
        "tree structure",
        lambda f: (f(x, (x, x)), f(x, collections.namedtuple("Two", "a b")(x, x))),
    ),
    "None": ("none", lambda f: (f(x, None), f(x, x))),
    "static value": ("static value", lambda f: (f(x, mode="a"), f(x, mode="b"))),
    "static value by position": ("static value", lambda f: (f(x, None, mode="a"), f(x, None, "b"))),
    "a static value by position": ("call form", lambda f: (f(x, None, mode="a"), f(x, None, "a"))),
    "under pmap": ("shape", mapped),
    "static under pmap": ("static value", mapped_with_static),
    "by keyword": ("call form", lambda f: (f(x), f(x=x))),
    "configuration": ("option", config),
    "lambdas in a loop": ("closure", loop_of_lambdas),
    "a nested function": ("function", nested),
    "another instance": ("static object", methods),
    "another device": ("device", committed),
}


@pytest.mark.parametrize(("cause", "calls"), CASES.values(), ids=CASES)
def test_the_cause_is_named(rows, cause, calls):
    f = fresh()
    calls(f)
    made = [row for row in rows() if row.what in ("compiled", "recompiled")]
    assert len(made) == 2
    assert made[0].because == "first compilation" or made[0].against is None
    assert made[1].cause == cause, made[1].because
    document = observe.recompilations_document(rows(), "all")
    validate(document)
    assert document["cards"][0]["cause"] == cause


def test_a_default_device_takes_the_device_along(rows):
    f, (device,) = fresh(), jax.devices()[1:2]
    f(x)
    with jax.default_device(device):
        f(x)
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert (card["cause"], card["because"].partition(" ")[0]) == ("option", "jax_default_device")
    assert "2 compilations would become 1" in card["fix"]["text"]


def test_a_number_in_place_of_an_array_is_what_a_library_makes_static(rows):
    f = equinox.filter_jit(lambda x, y: x * y)
    f(x, x)
    f(x, 2.0)
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert card["because"] == "y changed: f32[4] → 2.0"
    assert card["fix"]["text"] == "Pass y as an array in every call, or as a static value in every call."


def test_the_cause_is_named_though_nothing_needs_a_part_of_the_program(rows):
    f = jax.jit(lambda x, unused: (jnp.cos(x), x * 2)[1])
    for n in (3, 4):
        f(np.ones(n), x)
    assert [(row.what, [d.path for d in row.differences]) for row in rows()] == [
        ("compiled", []),
        ("recompiled", ["x"]),
    ]


def test_functions_that_a_library_jits_are_told_apart_by_their_definitions(rows):
    eqx = pytest.importorskip("equinox")

    def f(v):
        return v * 2

    first = eqx.filter_jit(f)
    first(x)

    def f(v):
        return v + 2

    second = eqx.filter_jit(f)
    for n in (4, 5):
        second(np.ones(n))
    assert [(row.what, row.position.line - test_functions_that_a_library_jits_are_told_apart_by_their_definitions.__code__.co_firstlineno) for row in rows()] == [
        ("compiled", 3), ("compiled", 9), ("recompiled", 9),
    ]  # fmt: skip


def test_a_map_over_devices_outside_jit_is_operations_and_no_program_of_its_own(rows):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), "d")
    p = jax.sharding.PartitionSpec("d")
    f = jax.shard_map(lambda v: v * 2, mesh=mesh, in_specs=p, out_specs=p)
    f(np.ones(8, np.float32)), f(np.ones((4, 2), np.float32))
    assert rows() == [] and observe.recompilations_document(rows(), "all")["cards"] == []
    assert {one.name for one in observe.ledger().small} >= {"shard_map"}


def test_a_second_shape_from_one_line_and_a_third_from_any_have_a_card(rows):
    f, g = jax.jit(lambda v: v + 1), jax.jit(lambda v: v + 2)
    for n in (3, 4):
        f(np.ones(n, np.float32))
    g(np.ones(3, np.float32))
    g(np.ones(4, np.float32))
    g(np.ones(5, np.float32))
    cards = observe.recompilations_document(observe.loud(rows()), "all")["cards"]
    assert sorted((card["cause"], card["compilations"]) for card in cards) == [("shape", 1), ("shape", 2)]


def test_a_dtype_ranks_before_static_data_that_changed_too(rows):
    @jax.tree_util.register_pytree_node_class
    class State:
        def __init__(self, t, note):
            self.t, self.note = t, note

        def tree_flatten(self):
            return (self.t,), self.note

        @classmethod
        def tree_unflatten(cls, note, children):
            return cls(*children, note)

    f = jax.jit(lambda state: jax.tree.map(lambda v: v * 1.5, state))
    f(State(jnp.int32(0), "a" * 300)), f(State(jnp.float32(0), "b" * 300))
    row = rows()[-1]
    assert row.cause == "dtype"
    assert len(row.because) < 250, row.because


def test_functions_of_installed_libraries_have_a_card_only_for_the_users_own_arguments(rows, monkeypatch):
    library = {"jax": jax}
    exec(
        compile(
            "@jax.jit\ndef inner(v): return v + 1\ndef outer(v): return inner(v)\n",
            os.path.join(sysconfig.get_path("purelib"), "lib.py"),
            "exec",
        ),
        library,
    )
    for n in (3, 4, 5):
        library["outer"](np.ones(n, np.float32))
    assert observe.recompilations_document(rows(), "all")["cards"] == []
    for n in (6, 7, 8):
        library["inner"](np.ones(n, np.float32))
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert (card["function"], card["compilations"]) == ("inner", 3)


@pytest.mark.parametrize("took", [0.4, 3.9])
def test_a_program_that_is_loaded_from_disk_is_no_compilation(rows, tmp_path, monkeypatch, took):
    options = {
        "jax_compilation_cache_dir": str(tmp_path), "jax_persistent_cache_min_entry_size_bytes": -1,
        "jax_persistent_cache_min_compile_time_secs": 0,
    }  # fmt: skip
    from jax._src import compilation_cache as cache
    from jax.experimental.compilation_cache import compilation_cache

    put = cache.put_executable_and_time
    monkeypatch.setattr(cache, "put_executable_and_time", lambda *args: put(*args[:-1], int(took)))
    before = {name: jax.config._read(name) for name in options}
    try:
        compilation_cache.reset_cache()
        for name, value in options.items():
            jax.config.update(name, value)
        f = jax.jit(lambda v: jnp.sin(v) * 3.25)
        for _ in range(3):
            jax.clear_caches()
            f(x)
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
    first, *others = rows()
    assert not first.loaded and all(row.loaded for row in others)
    document = observe.compilation_document(others[0])
    validate(document)
    assert document["cache"] == "loaded" and "loaded in " in compiled_words(document)
    assert [stage["name"] for stage in document["timing"]["stages"]] == ["trace", "lower", "load"]
    assert ("compiled before" in others[0].because) is (took > 1), "jax keeps whole seconds"
    assert others[0].because.endswith(", compiled before in at least 3 s") is (took > 1)
    assert jax_cells.in_words(others, []).count("compiled before in at least 6 s") == (took > 1)
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert (card["compilations"], card["retraces"]) == (0, 2)
    assert card["seconds"]["value"] == pytest.approx(sum(row.spent for row in others))
    assert [row["what"] for row in observe.ledger_document()["rows"]] == ["compiled", "loaded", "loaded"]


def test_what_a_library_bundles_is_told_by_the_values_in_it(rows):
    eqx = pytest.importorskip("equinox")

    class Net(eqx.Module):
        w: jax.Array
        times: int = eqx.field(static=True)
        limit: int

    @eqx.filter_jit
    def run(net, v, mode):
        return jnp.minimum(net.w * v * net.times, net.limit)

    for limit in (7, 8):
        run(Net(x, 2, limit), x, "train")
    first, second = rows()
    texts = [signature_text(row) for row in (first, second)]
    assert not any("0x" in text or "PyTreeDef" in text or "function" in text for text in texts), texts
    assert all(f"net.times=2, net.limit={n}, mode='train'" in text for n, text in zip((7, 8), texts)), texts
    assert [(d.path, d.before, d.after) for d in second.differences] == [("net.limit", "7 (int)", "8 (int)")]


def test_another_model_of_a_class_is_nothing_to_pad(rows):
    eqx = pytest.importorskip("equinox")
    run = eqx.filter_jit(lambda model, v: model(v))
    for width in (3, 4):
        run(eqx.nn.MLP(4, 2, width, 1, key=jax.random.key(0)), x)
    cards = observe.recompilations_document(rows(), "all")["cards"]
    (fix,) = [card["fix"]["text"] for card in cards if card["cause"] == "shape"]
    assert "model.width_size" in fix and fix.endswith(
        "changed, too: it is another model, and each has a program of its own."
    )


def test_what_a_library_bundles_is_not_told_beside_what_moved_out_of_it(rows):
    eqx = pytest.importorskip("equinox")
    run = eqx.filter_jit(lambda v, rate: v * rate)
    run(x, 2.0), run(x, jnp.float32(2))
    assert rows()[-1].because == "recompiled because rate changed: 2.0 → f32[]"


def test_a_model_of_other_widths_is_another_model(rows):
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):
        def __init__(self, width):
            self.first, self.second = (
                nnx.Linear(*sizes, rngs=nnx.Rngs(0), kernel_init=nnx.initializers.ones)
                for sizes in ((4, width), (width, 2))
            )
            for one in (self.first, self.second):
                del one.in_features, one.out_features

    run = nnx.jit(lambda net, v: v @ net.first.kernel[...] @ net.second.kernel[...])
    for width in (3, 5):
        run(Net(width), jnp.ones((6, 4)))
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert card["fix"]["text"].startswith("what the layers of net take and give changed, too: it is another model")
    run(Net(5), jnp.ones((7, 4)))
    fixes = [card["fix"]["text"] for card in observe.recompilations_document(rows(), "all")["cards"]]
    assert any(text.startswith("Pad axis 0 of v to 7") for text in fixes), fixes


def test_the_keys_of_a_program_have_no_empty_row(rows):
    """An equinox function is given what is no array of its arguments apart, which may be nothing."""
    run = equinox.filter_jit(lambda model, v: jax.vmap(model)(v))
    for size in (3, 5):
        run(equinox.nn.Linear(2, 2, key=jax.random.key(0)), jnp.ones((size, 2)))
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert {row["path"]: row["cells"] for row in card["matrix"]["rows"] if any(row["changed"])} == {
        "v": ["f32[3,2]", "f32[5,2]"]
    }
    assert all(any(row["cells"]) for row in card["matrix"]["rows"]), card["matrix"]["rows"]


def test_static_values_by_name_and_by_position_are_two_forms_of_a_call(rows):
    f = fresh()
    f(x, None, "a"), f(x, None, mode="a")
    assert rows()[-1].because == "recompiled because mode is given in another way: by position → by name"
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert card["fix"]["text"].startswith("Write all calls one way") and "caches" not in card["fix"]["text"]
    (changed,) = [row for row in card["matrix"]["rows"] if any(row["changed"])]
    assert (changed["path"], changed["cells"]) == ("mode", ["'a' by position", "'a' by name"])


def test_caches_that_were_cleared_are_no_change_of_the_call(rows):
    f = fresh()
    f(x)
    jax.clear_caches()
    f(x)
    again = [row for row in rows() if row.what == "recompiled"]
    assert [row.cause for row in again] == ["cache"] and "jax.clear_caches() was called" in again[0].because
    (card,) = observe.recompilations_document(rows(), "all")["cards"]
    assert "clear_caches" in card["fix"]["text"] and "thread" not in card["fix"]["text"]
    f(x)
    f.clear_cache()
    f(x)
    last = rows()[-1]
    assert (
        last.cause == "cache" and "jax had dropped the program" in last.because and "clear_caches" not in last.because
    )
    assert observe.recompilations_document([last], "all")["cards"][0]["fix"] is None


def test_calls_that_hit_write_no_row(rows):
    f = fresh()
    for _ in range(5):
        f(x)
    assert len(rows()) == 1


def test_a_failed_trace_is_a_row(rows):
    f = jax.jit(lambda v: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        f(x)
    (row,) = rows()
    assert (row.what, row.error) == ("failed", ("ZeroDivisionError", "division by zero"))
    try:
        raise KeyError("around")
    except KeyError:
        jax.jit(lambda v: v + 2)(x)
    assert rows()[-1].what == "compiled"


def test_programs_that_transformations_make_outside_jit_are_no_recompilations(rows):
    @jax.jit
    def f(v):
        return jnp.sin(v).sum()

    jax.grad(f)(x)
    assert {row.what for row in rows()} == {"compiled"} and any(row.derived for row in rows())


@pytest.mark.parametrize("make", TITLES)
def test_programs_are_called_by_what_made_them(rows, make):
    jax.clear_caches()
    make(jax, jnp, jnp.arange(3.0) + 1)
    made = [row for row in rows() if not row.nested and row.what != "traced"]
    assert [row.title for row in made] == TITLES[make]
    assert [observe.compilation_document(row)["timing"]["title"] for row in made] == TITLES[make]


def test_operations_that_run_functions_of_the_user_are_programs_outside_jit_too(rows):
    jax.lax.scan(lambda c, v: (c + jnp.sin(v), None), jnp.float32(0), x)
    jnp.sort(x)
    (row,) = rows()
    assert row.equations > 0 and row.derived
    assert row.because == "jax compiled it outside jit, for an operation that runs a function"
    assert any(kernel["paths"] for kernel in observe.compilation_document(row)["fusion"]["kernels"])


def scaled_by_all(v):
    return v * jax.lax.psum(v, "i")


def test_a_function_under_pmap_is_called_by_its_name_and_each_equation_has_a_line(rows):
    call = sys._getframe().f_lineno + 1
    jax.pmap(scaled_by_all, axis_name="i")(np.ones(2, np.float32))
    (row,) = rows()
    assert (row.function, row.because) == ("scaled_by_all", "first compilation")
    nodes = observe.compilation_document(row)["graph"]["nodes"]
    first = scaled_by_all.__code__.co_firstlineno
    lines = {node["label"]: node["positions"][0]["line"] for node in nodes if node["kind"] == "equation"}
    # what pmap adds: jax 0.8 names no line of the function for it
    assert lines["squeeze"] in (first, call) and lines["mul"] == first + 1


def test_transformations_of_a_function_under_pmap_are_called_by_its_name(rows):
    jax.vmap(jax.pmap(scaled_by_all, axis_name="i"), in_axes=1)(np.ones((2, 3), np.float32))
    jax.grad(lambda v: jax.pmap(scaled_by_all, axis_name="i")(v).sum())(np.ones(2, np.float32))
    found = rows()
    assert len(found) > 1 and {row.function for row in found} == {"scaled_by_all"}
    assert {row.position.line for row in found} == {scaled_by_all.__code__.co_firstlineno}


def test_a_check_that_runs_a_program_tells_of_its_recompilations(tmp_path):
    file = tmp_path / "program.py"
    program = (
        '"""Its own text."""\nfrom __future__ import annotations\nimport functools\nimport jax, jax.numpy as jnp\n'
        '@functools.partial(jax.jit, static_argnames="n")\ndef f(x: Unknown, n):\n    return x * n\n'
        '"not its text"\nassert __doc__ == "Its own text."\nfor n in range(3):\n    f(jnp.ones(2), n=n)\n'
    )
    file.write_text(program)
    assert [(one.one.id, one.line) for one in check(read(str(file)), run=True)] == [("recompile-static-value", 11)]
    assert jaxwatch.current() is None


def test_a_call_after_the_trace_of_a_transformation_is_a_call(rows):
    @jax.jit
    def f(v):
        return jnp.sin(v).sum()

    jax.grad(f)(x)
    f(x)
    f(jnp.ones(7))
    *_, called, other = rows()
    assert (called.title, other.title) == ("f", "f")
    assert "outside jit" not in called.because and called.because.startswith("jax compiled it for a call")
    assert other.because == "compiled for other arguments than before"


def test_the_number_in_static_data_that_changed_is_named(rows):
    """`state.replace(tx=adam(lr))` in a loop: made once, the state would train with one rate."""

    @functools.partial(jax.tree_util.register_dataclass, data_fields=("w",), meta_fields=("update",))
    @dataclasses.dataclass
    class State:
        w: object
        update: object

    def sgd(rate):
        return lambda w: w - rate * w

    @jax.jit
    def step(state):
        return state.update(state.w)

    for rate in (0.5, 0.25):
        step(State(x, sgd(rate)))
    (card,) = observe.recompilations_document(rows(), "")["cards"]
    assert "rate is 0.5, then 0.25" in card["because"]
    assert "rate is 0.5, then 0.25. Hold that as an array." in card["fix"]["text"]
    assert "Make the object once" not in card["fix"]["text"] and "would become" not in card["fix"]["text"]
