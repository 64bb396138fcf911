"""Compiled programs on disk: loaded by other processes, told of by the ledger, and not kept where that would be wrong."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend.disk import environment, key as disk_key, known_operations, report, source
from jitscope.backend.disk.answer import Answer
from jitscope.core.primitive import Primitive
from jitscope.ops.families import Elementwise
from jitscope_kernel import cli
from jitscope_scope.observe import documents, ledger
from tests.compiler.disk_folders import ON, X, answer, cache_in, found, pinned, written
from tests.compiler.programs import floats, in_new_process, sin, steps


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with cache_in(tmp_path / "cache", monkeypatch) as path:
        yield path


# Hits -----------------------------------------------------------------------------------------------------------------


SESSION = """
    import sys, json, numpy as np
    import jitscope as jx, jitscope.numpy as jnp
    from jitscope.core import records
    seen = []
    records.listen(lambda r: seen.append((r.step, r.detail.get("disk") and r.detail["disk"].found)))

    x = np.linspace(0.1, 0.9, 9, dtype=np.float32).reshape(3, 3)
    def loss(w, x):
        return jnp.mean(jnp.tanh(x @ w) ** 2)
    def loop(x):
        return jx.lax.fori_loop(0, 5, lambda i, s: s * 1.1 + i, x)
    outs = [
        jx.jit(jx.value_and_grad(loss))(x, x), jx.jit(jnp.sort)(x), jx.jit(loop)(x), jx.jit(lambda x: x + 1, donate_argnums=0)(x),
        jx.jit(lambda k: jx.random.normal(k, (4,)))(jx.random.key(0)), jnp.linalg.inv(x + jnp.eye(3)),
        jx.jit(lambda x: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32))(x), jnp.arange(7)[::2], jnp.concatenate([x, x]).sum(0),
        jx.jit(lambda x: jx.vmap(jnp.linalg.det)(jnp.stack([x, x + 1])))(x), jx.jit(lambda: jnp.zeros((0, 3)))(),
        jx.lax.top_k(x, 2), jx.jit(lambda z: z * 1j)(x), jx.grad(lambda x: jx.jit(jnp.sin)(x).sum())(x),
    ]
    text = repr([np.asarray(o).tolist() for o in jx.tree.leaves(outs)])
    # The bindings, that is; Python makes the name of the package known when it looks for it.
    print(json.dumps({"outs": text, "seen": seen, "mlir": [m for m in sys.modules if m.startswith("jaxlib.mlir")]}))
"""


def test_a_new_process_loads_everything_without_mlir_and_lowers_nothing(tmp_path):
    env = {**ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(tmp_path)}
    first = json.loads(in_new_process(pinned(SESSION), **env))
    second = json.loads(in_new_process(pinned(SESSION), **env))
    assert first["outs"] == second["outs"]
    assert ["compile", False] in first["seen"] and "lower" in dict(first["seen"])
    assert ["compile", True] in second["seen"] and ["compile", False] not in second["seen"]
    assert "lower" not in dict(second["seen"])
    assert first["mlir"] and not second["mlir"]


def test_a_loaded_program_is_the_compiled_one_in_every_respect(folder):
    def f(x, y):
        return {"a": jnp.sin(x) @ y, "b": jnp.sort(y, axis=0) + 1}

    args = floats(4, 5), floats(5, 3)
    outcomes = []
    for _ in range(2):
        stage = jx.jit(f).lower(*args).compile()
        executable = stage.runtime_executable()
        results = jx.tree.map(np.asarray, stage(*args))
        outcomes.append((results, stage.as_text(), stage.cost_analysis(), stage.memory_analysis(), executable.outputs))
        written()
    np.testing.assert_array_equal(outcomes[0][0]["a"], outcomes[1][0]["a"])
    np.testing.assert_array_equal(outcomes[0][0]["b"], outcomes[1][0]["b"])
    assert outcomes[0][1:3] == outcomes[1][1:3]
    assert {k: v for k, v in outcomes[0][3].items() if k != "code"} == {
        k: v for k, v in outcomes[1][3].items() if k != "code"
    }
    assert outcomes[0][4] == outcomes[1][4]


def test_views_of_a_loaded_program_are_those_of_the_compiled_one(folder):
    def view():
        f = jx.jit(lambda first, other: jnp.tanh(first @ other).sum())
        f(floats(4, 4), floats(4, 4))
        row = list(ledger())[-1]
        assert row.disk is not None
        document = documents.compilation_document(row)
        return row.disk.found, {k: document[k] for k in ("headline", "fusion", "graph", "jaxpr")}

    one, compiled = view()
    written()
    other, loaded = view()
    assert (one, other) == (False, True)
    assert json.dumps(compiled, sort_keys=True) == json.dumps(loaded, sort_keys=True)
    assert compiled["fusion"]["kernels"]


def test_donated_arguments_are_donated_by_a_loaded_program_too(folder):
    for expected in (False, True):
        x = jx.device_put(floats(1000))
        assert found(lambda x: x + 1, x, donate_argnums=0) is expected
        assert x.is_deleted()
        written()


def test_hidden_arguments_are_not_part_of_the_entry(folder):
    """Programs that differ in a large captured array alone share the entry, and give their own results."""

    def adding(big):
        return jx.jit(lambda x: x + big)

    for i, expected in ((1.0, False), (2.0, True)):
        big = np.full(100, i, np.float32)
        with steps() as seen:
            np.testing.assert_array_equal(adding(big)(np.ones(100, np.float32)), big + 1)
        assert [r.detail["disk"].found for r in seen.records if r.step == "compile"] == [expected]
        written()


def test_clear_caches_forgets_what_is_in_memory_alone(folder):
    assert not found(jnp.cos, X)
    written()
    assert found(jnp.cos, X)
    jx.clear_caches()
    assert found(jnp.cos, X)


def test_eager_operations_are_kept(folder):
    for n in range(3, 9):
        jnp.sin(jnp.ones(n)), jnp.cumsum(jnp.ones(n))
    written()
    entries = report.folder().entries
    assert len(entries) >= 12 and {"sin", "cumsum"} <= {e.function for e in entries}
    assert all(e.usable and e.seconds > 0 for e in entries)


def test_programs_get_a_file_each(folder):
    assert not found(jnp.tan, X) and not found(jnp.cosh, X)
    written()
    files = list(folder.rglob("*.jsx"))
    assert len(files) == 2
    assert found(jnp.tan, X) and found(jnp.cosh, X)


def test_several_threads_compile_and_load(folder):
    funs = [lambda x, i=i: jnp.sin(x) * float(i) + 1 for i in range(4)]
    for _ in range(2):
        failures: list[BaseException] = []

        def work(k: int, failures: list[BaseException] = failures) -> None:
            try:
                for i in range(4):
                    i = (i + k) % 4
                    np.testing.assert_allclose(jx.jit(funs[i])(X), np.sin(X) * i + 1, rtol=1e-5)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        written()
    assert all(found(f, X) for f in funs)


# What the ledger says -------------------------------------------------------------------------------------------------


def test_the_ledger_says_where_a_program_came_from(folder):
    def because(f):
        f(X)
        row = list(ledger())[-1]
        document = documents.compilation_document(row)
        note = next(s for s in document["timing"]["stages"] if s["name"] in ("compile", "load"))["seconds"]["note"]
        return row.because, row.disk_said, note

    first = because(jx.jit(lambda x: x * 3))
    written()
    (entry,) = report.folder().entries
    said = f"not on disk yet (program {entry.program})"
    assert first == ("first compilation", said, said) and len(entry.program) == 12
    said = because(jx.jit(lambda x: x * 3))
    assert said[0] == f"first compilation; {said[1]}" and said[1] == said[2]
    assert said[1].startswith("loaded from disk in ") and ", compiled before in " in said[1]


def test_with_the_cache_off_nothing_is_said_and_nothing_written(folder):
    jx.config.update("compilation_cache", False)
    with steps() as seen:
        jx.jit(lambda x: x * 3)(X)
    assert [r.detail for r in seen.records if r.step == "compile"] == [{}]
    jx.config.update("compilation_cache", True)
    jx.config.update("compilation_cache_max_size", 0)
    with steps() as seen:
        jx.jit(lambda x: x * 4)(X)
    assert [r.detail for r in seen.records if r.step == "compile"] == [{}]
    assert not folder.exists()


PARTS = {
    "jaxlib": lambda m: m.setattr(environment, "compiler_version", lambda: "0.10.99"),
    "jitscope": lambda m: m.setattr(disk_key, "source_version", lambda folder: "another"),
    "cpu": lambda m: m.setattr(environment, "cpu", lambda: "another processor"),
    "cores": lambda m: m.setattr(environment, "cores", lambda: 1234),
    "flags": lambda m: m.setattr(environment, "_flags", lambda: "xla_other=1"),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_environment_counts_and_a_miss_names_it(part, folder, monkeypatch):
    f = lambda x: x * 5 - 1
    first = answer(f, X)
    assert first == Answer(False, program=first.program) and first.program
    written()
    with monkeypatch.context() as changed:
        PARTS[part](changed)
        environment.program_parts.cache_clear()
        said = answer(f, X)
        assert not said.found and [name for name, *_ in said.differs] == [part]
        assert said.sentence(0.1).startswith(f"on disk only for {part} ")
        written()
    environment.program_parts.cache_clear()
    assert found(f, X)
    assert list(ledger())[-1].disk.found


def test_options_and_donation_count(folder):
    f = lambda x: x * 5 - 1
    assert not found(f, X)
    written()
    said = answer(f, X, compiler_options={"xla_cpu_enable_fast_math": True})
    assert said.differs == (("options", "none", "xla_cpu_enable_fast_math=True"),)
    assert not found(f, X, donate_argnums=0)
    written()
    assert (
        found(f, X, compiler_options={"xla_cpu_enable_fast_math": True})
        and found(f, X, donate_argnums=0)
        and found(f, X)
    )


def test_x64_counts(folder):
    f = lambda x: jnp.sum(x) * 2
    assert not found(f, X)
    written()
    with jx.enable_x64():
        assert not found(f, X.astype(np.float64))
    with jx.enable_x64(False):
        jx.clear_caches()
        assert found(f, X)


def test_flags_and_processor_are_read():
    assert environment.cpu() and environment.cores() >= 1
    code = "from jitscope.backend.disk import environment; print(environment._flags())"
    plain, fast = in_new_process(code, XLA_FLAGS=""), in_new_process(code, XLA_FLAGS="--xla_cpu_enable_fast_math=true")
    assert plain != fast.split()[0] and "--xla_cpu_enable_fast_math=true" in fast
    assert in_new_process(code, XLA_FLAGS="") == plain


def test_a_changed_source_file_changes_the_version(tmp_path, monkeypatch):
    """As in an editable install, where somebody works on the compiler."""
    package, cache = tmp_path / "jitscope", tmp_path / "cache"
    for folder in (*source.FOLDERS, "numpy"):
        (package / folder).mkdir(parents=True)
        (package / folder / "a.py").write_text("x = 1\n")
    cache.mkdir()
    version = lambda: source.source_version.__wrapped__(str(cache))
    monkeypatch.setattr(source, "__file__", str(package / "backend" / "disk" / "source.py"))
    assert version() is None  # what was loaded is not known
    monkeypatch.setattr(source, "_loaded", time.time() + 60)
    first = version()
    assert first == version() and (cache / "source").read_text().endswith(first)
    for note in ("", "another state", "0" * 32 + " short", (cache / "source").read_text()[:40]):
        (cache / "source").write_text(note)
        assert version() == first
    with monkeypatch.context() as changed:
        changed.setattr(source, "_contents", None)  # the note is enough
        assert version() == first
    (package / "numpy" / "a.py").write_text("x = 2\n")  # above the backend: it makes jaxprs, but lowers none
    assert version() == first
    os.utime(package / "ops" / "a.py", (1, 1))
    assert version() == first
    seen = [first]
    for change in (lambda: (package / "ops" / "a.py").write_text("x = 2\n"), lambda: (package / "ops" / "a.py").rename(package / "ops" / "b.py"),
                   lambda: (package / "ops" / "inside").mkdir() or (package / "ops" / "inside" / "a.py").write_text("")):  # fmt: skip
        change()
        seen.append(version())
    assert len(set(seen)) == 4
    shutil.rmtree(cache)
    assert version() == seen[-1]
    shutil.rmtree(package)
    assert version() is None


# What is not kept -----------------------------------------------------------------------------------------------------


class Holding(Primitive):
    """Holds a Python object among its parameters."""

    def abstract(self, x, /, **params):
        return x, frozenset()

    def lower(self, ctx, x, /, **params):
        return x


def test_all_operations_of_the_library_are_known():
    for name in dir(jx):
        getattr(jx, name)
    modules = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "jitscope"]
    everything = [x for m in modules for x in list(vars(m).values()) if isinstance(x, Primitive)]
    # one without rules is a mark in a graph: no program has it
    written = [x for x in everything if type(x).abstract is not Primitive.abstract]
    assert {"sin", "scan", "cond", "dot_general", "jit", "sort"} <= {x.name for x in written}
    assert known_operations.strangers(written) == []


def test_operations_of_users_are_not_kept(folder):
    """Another session may define another operation under the same name."""
    for builder in ("sine", "cosine"):
        mine_p = Elementwise("of_mine", hlo=builder)
        mine_p.generation = 0  # what it would be, the first of its name in a session of its own
        said = answer(lambda x, p=mine_p: p(x) * 2, X)
        assert said == Answer(False, why="the operation of_mine is defined outside jitscope")
        nested = answer(lambda x, p=mine_p: jx.jit(lambda y: p(y) + 1)(x) * 2, X)
        assert nested.why == said.why
        written()


def test_an_operation_whose_rule_was_replaced_by_hand_is_not_kept(folder):
    f = lambda x: jnp.sin(x) * 2
    assert not found(f, X)
    written()
    sin.lower = lambda ctx, x: ctx.hlo.cosine(x)
    try:
        assert answer(f, X).why == "the rule that lowers sin was replaced"
        np.testing.assert_allclose(jx.jit(f)(X), np.cos(X) * 2, rtol=1e-5)
        written()
    finally:
        del sin.lower
    assert found(f, X)


def test_objects_of_the_process_are_not_kept(folder):
    holding_p = Holding("sin")
    said = answer(lambda x: holding_p.bind(x, callback=print), X)
    assert said.why.startswith("it holds objects of this process")
    written()
    assert not report.folder().entries


def test_nothing_is_kept_while_a_lowering_rule_is_registered(folder):
    extend = pytest.importorskip("jitscope.extend")
    f = lambda x: jnp.sinh(x) * 2
    assert not found(f, X)
    written()
    take_back = extend.register_lowering(extend.primitive_of(np.sinh), lambda ctx, x: x)
    try:
        np.testing.assert_array_equal(jx.jit(f)(X), X * 2)
        assert answer(lambda x: f(x) + 1, X).why == "a lowering rule is registered for sinh"
        assert answer(lambda x: x + 77, X).why == "a lowering rule is registered for sinh"
    finally:
        take_back()
    np.testing.assert_allclose(jx.jit(f)(X), np.sinh(X) * 2, rtol=1e-5)


def test_what_xla_is_to_dump_is_compiled_each_time(folder, tmp_path):
    options = {"xla_dump_to": str(tmp_path / "dump"), "xla_dump_hlo_as_text": True}
    for _ in range(2):
        assert answer(lambda x: x + 5, X, compiler_options=options).why == "XLA is asked to write down what it does"
        assert list((tmp_path / "dump").iterdir())
        for file in (tmp_path / "dump").iterdir():
            file.unlink()
        written()
    code = """
        import jitscope as jx
        from jitscope.backend.disk import environment
        print(environment.asks_for_dumps(()))
        """
    assert in_new_process(code, XLA_FLAGS="--xla_dump_to=/nowhere") == "True"
    assert in_new_process(code, XLA_FLAGS="") == "False"


def test_programs_that_call_python_are_not_kept(folder):
    calls = []

    def call(x):
        calls.append(1)
        return np.asarray(x) * 2

    shape = jx.ShapeDtypeStruct(X.shape, X.dtype)
    if not hasattr(jx, "pure_callback"):
        pytest.skip("there are no callbacks yet")
    for _ in range(2):
        said = answer(lambda x: jx.pure_callback(call, shape, x) + 1, X)
        assert not said.found and said.why
        written()
    assert len(calls) >= 2 and not report.folder().entries


# Options and the command line -----------------------------------------------------------------------------------------


def test_options_by_their_names_by_jaxs_and_by_variables(tmp_path):
    code = """
        import jitscope as jx
        c = jx.config
        print(c.compilation_cache, c.compilation_cache_dir, c.compilation_cache_max_size)
        c.update("jax_enable_compilation_cache", False)
        c.update("jax_compilation_cache_dir", "a")
        c.update("jax_compilation_cache_max_size", -1)
        import os
        print(c.compilation_cache, c.compilation_cache_dir == os.path.abspath("a"), c.jax_compilation_cache_max_size)
        for name, value in (("compilation_cache", "maybe"), ("compilation_cache_dir", ""), ("compilation_cache_max_size", 1.5)):
            try: c.update(name, value)
            except ValueError as error: print(name in str(error))
        """
    env = {**ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(tmp_path), "JITSCOPE_COMPILATION_CACHE_MAX_SIZE": "77"}
    assert in_new_process(code, **env).splitlines() == [f"True {tmp_path} 77", "False True -1", "True", "True", "True"]
    with pytest.warns(UserWarning, match="however long they took to compile"):
        jx.config.update("jax_persistent_cache_min_compile_time_secs", 0)


def test_the_command_shows_names_without_control_characters(folder, capsys):
    def layer(x):
        return jnp.tanh(x) * 5

    layer.__name__ = "red\x1b[31m\r\x07"
    assert not found(layer, X)
    written()
    assert cli.main(["cache", "show"]) == 0
    out = capsys.readouterr().out
    assert "red" in out and not {"\x1b", "\r", "\x07"} & set(out)


def test_the_command_shows_explains_and_clears(folder, capsys, monkeypatch):
    def layer(x):
        return jnp.tanh(x) * 3

    assert not found(layer, X) and not found(jnp.sort, X)
    written()
    assert cli.main(["cache", "show"]) == 0
    out = capsys.readouterr().out
    assert f"{folder}: 2 programs, " in out and "of at most 1.07 GB" in out and "layer " in out and "no\n" not in out
    assert cli.main(["cache", "show", "layer", "--dir", str(folder)]) == 0
    assert "sort" not in capsys.readouterr().out
    monkeypatch.setattr(environment, "cpu", lambda: "another one")
    environment.program_parts.cache_clear()
    assert cli.main(["cache", "explain", "layer"]) == 0
    out = capsys.readouterr().out
    assert (
        "here: another one" in out
        and "not used here: another cpu" in out
        and f"jaxlib    {environment.compiler_version()}\n" in out
    )
    assert cli.main(["cache", "explain", "nobody"]) == 0
    assert capsys.readouterr().out == "No program of nobody is kept.\n"
    assert cli.main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "2 programs removed.\n"
    assert cli.main(["cache", "show"]) == 0
    assert "0 programs, " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["cache", "clear", "layer"])
    folder.rename(folder.parent / "away")
    assert cli.main(["cache", "show"]) == 0 and cli.main(["cache", "show", "--dir", str(folder)]) == 1
    assert capsys.readouterr().out == 2 * f"{folder} is not there: nothing is kept yet.\n"
    folder.write_text("a file")
    assert cli.main(["cache", "show"]) == 1
    assert "jitscope: " in capsys.readouterr().err
