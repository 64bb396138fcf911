"""Compiled programs on disk: loaded by other processes, safe from damage, other users, full disks and kill -9."""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend import disk, disk_entry, disk_files, disk_folder, disk_key, disk_pack, disk_report, disk_source
from jitscope.backend.disk_writer import Writer, writer
from jitscope.core.primitive import Primitive
from jitscope.observe import documents, ledger
from jitscope.ops.families import Elementwise
from jitscope_kernel import cli
from tests.compiler.programs import floats, in_new_process, steps


X = floats(6)
ON = {"JITSCOPE_COMPILATION_CACHE": "1"}


def pinned(code: str) -> str:
    """The code, in which the compiler's source counts as one and the same: somebody may be at work on it."""
    head = 'from jitscope.backend import disk_key\ndisk_key.source_version = lambda folder: "the source"\n'
    return head + textwrap.dedent(code)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache, on, in a new folder; nothing is known in memory. Somebody may be at work on the source meanwhile."""
    monkeypatch.setattr(disk_key, "source_version", lambda folder: "the source")
    disk_key._parts.cache_clear()
    names = ("compilation_cache", "compilation_cache_dir", "compilation_cache_max_size")
    before = {name: jx.config.read(name) for name in names}
    path = tmp_path / "cache"
    jx.config.update("compilation_cache_dir", path)
    jx.config.update("compilation_cache", True)
    jx.clear_caches()
    yield path
    writer.flush()
    for name, value in before.items():
        jx.config.update(name, value)
    jx.clear_caches()
    disk_key._parts.cache_clear()


def written() -> None:
    """Wait until everything is on disk, and forget what is in memory."""
    assert writer.flush(30)
    jx.clear_caches()


def answer(fun: Any, *args: Any, **options: Any) -> disk.Answer:
    """What the disk said when the function was compiled."""
    with steps() as seen:
        jx.block_until_ready(jx.jit(fun, **options)(*args))
    (record,) = [r for r in seen.records if r.step == "compile"]
    assert seen["lower"] == (not record.detail["disk"].found)
    return record.detail["disk"]


def found(fun: Any, *args: Any, **options: Any) -> bool:
    return answer(fun, *args, **options).found


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


@pytest.mark.smoke
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


def test_eager_operations_go_into_one_pack(folder):
    for n in range(3, 9):
        jnp.sin(jnp.ones(n)), jnp.cumsum(jnp.ones(n))
    written()
    files = [p for p in folder.rglob("*") if p.is_file() and not p.name.endswith(".lock")]
    assert [p.name for p in files] == ["small.pack"]
    entries = disk_report.folder().entries
    assert len(entries) >= 12 and {"sin", "cumsum"} <= {e.function for e in entries}
    assert all(e.usable and e.seconds > 0 for e in entries)


def test_large_programs_get_a_file_each(folder, monkeypatch):
    monkeypatch.setattr(disk, "SMALL", 0)
    assert not found(jnp.tan, X) and not found(jnp.cosh, X)
    written()
    files = list(folder.rglob("*.jsx"))
    assert len(files) == 2 and not (folder / "programs-1" / "small.pack").exists()
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
        note = next(s for s in document["timing"]["stages"] if s["name"] == "compile")["seconds"]["note"]
        return row.because, row.disk_said, note

    first = because(jx.jit(lambda x: x * 3))
    written()
    (entry,) = disk_report.folder().entries
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
    "jaxlib": lambda m: m.setattr(disk_key, "compiler_version", lambda: "0.10.99"),
    "jitscope": lambda m: m.setattr(disk_key, "source_version", lambda folder: "another"),
    "cpu": lambda m: m.setattr(disk_key, "cpu", lambda: "another processor"),
    "cores": lambda m: m.setattr(disk_key, "cores", lambda: 1234),
    "flags": lambda m: m.setattr(disk_key, "_flags", lambda: "xla_other=1"),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_environment_counts_and_a_miss_names_it(part, folder, monkeypatch):
    f = lambda x: x * 5 - 1
    first = answer(f, X)
    assert first == disk.Answer(False, program=first.program) and first.program
    written()
    with monkeypatch.context() as changed:
        PARTS[part](changed)
        disk_key._parts.cache_clear()
        said = answer(f, X)
        assert not said.found and [name for name, *_ in said.differs] == [part]
        assert said.sentence(0.1).startswith(f"on disk only for {part} ")
        written()
    disk_key._parts.cache_clear()
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
    assert disk_key.cpu() and disk_key.cores() >= 1
    code = "from jitscope.backend import disk_key; print(disk_key._flags())"
    plain, fast = in_new_process(code, XLA_FLAGS=""), in_new_process(code, XLA_FLAGS="--xla_cpu_enable_fast_math=true")
    assert plain != fast.split()[0] and "--xla_cpu_enable_fast_math=true" in fast
    assert in_new_process(code, XLA_FLAGS="") == plain


def test_a_changed_source_file_changes_the_version(tmp_path, monkeypatch):
    """As in an editable install, where somebody works on the compiler."""
    package, cache = tmp_path / "jitscope", tmp_path / "cache"
    for room in (*disk_source.ROOMS, "numpy"):
        (package / room).mkdir(parents=True)
        (package / room / "a.py").write_text("x = 1\n")
    cache.mkdir()
    version = lambda: disk_source.source_version.__wrapped__(str(cache))
    monkeypatch.setattr(disk_source, "__file__", str(package / "backend" / "disk_source.py"))
    assert version() is None  # what was loaded is not known
    monkeypatch.setattr(disk_source, "_loaded", time.time() + 60)
    first = version()
    assert first == version() and (cache / "source").read_text().endswith(first)
    for note in ("", "another state", "0" * 32 + " short", (cache / "source").read_text()[:40]):
        (cache / "source").write_text(note)
        assert version() == first
    with monkeypatch.context() as changed:
        changed.setattr(disk_source, "_contents", None)  # the note is enough
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
    for room in ("export", "checkify", "extend", "lax", "random"):
        importlib.import_module(f"jitscope.{room}")
    modules = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "jitscope"]
    written = {id(x): x.name for m in modules for x in list(vars(m).values()) if isinstance(x, Primitive)}
    known = {id(x) for x in disk_key.library_primitives()}
    assert {"sin", "scan", "cond", "dot_general", "jit", "sort"} <= set(written.values())
    assert [name for i, name in written.items() if i not in known] == []


def test_operations_of_users_are_not_kept(folder):
    """Another session may define another operation under the same name."""
    for builder in ("sine", "cosine"):
        mine_p = Elementwise("of_mine", hlo=builder)
        mine_p.generation = 0  # what it would be, the first of its name in a session of its own
        said = answer(lambda x, p=mine_p: p(x) * 2, X)
        assert said == disk.Answer(False, why="the operation of_mine is defined outside jitscope")
        nested = answer(lambda x, p=mine_p: jx.jit(lambda y: p(y) + 1)(x) * 2, X)
        assert nested.why == said.why
        written()


def test_objects_of_the_process_are_not_kept(folder):
    holding_p = Holding("sin")
    said = answer(lambda x: holding_p.bind(x, callback=print), X)
    assert said.why.startswith("it holds objects of this process")
    written()
    assert not disk_report.folder().entries


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
        from jitscope.backend import disk_key
        print(disk_key.asks_for_dumps(()))
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
    assert len(calls) >= 2 and not disk_report.folder().entries


# Damage ---------------------------------------------------------------------------------------------------------------


KEY = disk_key.Key(b"p" * 16, b"e" * 16, {"jaxlib": "1", "cpu": "a"})
WHOLE = disk_entry.pack(KEY, "f", 1.5, b"bytecode" * 20, b"machine code" * 50, 0)


def test_an_entry_is_what_was_put_in():
    entry = disk_entry.unpack(WHOLE, KEY.name)
    assert entry.unpack_lowered()() == b"bytecode" * 20 and entry.executable == b"machine code" * 50
    assert entry.head.seconds == 1.5 and entry.head.size == len(WHOLE)
    told = disk_entry.told(entry.text)
    assert told["function"] == "f" and told["parts"] == KEY.parts and abs(told["made"] - time.time()) < 600


@given(st.text(), st.dictionaries(st.text(), st.text(), max_size=4))
def test_the_text_of_an_entry_is_json(function, parts):
    data = disk_entry.pack(disk_key.Key(*KEY.name, parts), function, 1.0, b"", b"", 0)
    text = disk_entry.unpack(data, KEY.name).text
    assert disk_entry.told(text) == {**json.loads(text), "function": function, "parts": parts}


def test_names_that_are_no_unicode_are_kept():
    told = disk_entry.told(disk_entry.unpack(disk_entry.pack(KEY, "f\udc80", 1.0, b"", b"", 0)).text)
    assert told["function"] == "f\udc80"


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_every_changed_byte_is_noticed(at, change):
    damaged = bytearray(WHOLE)
    damaged[at] ^= change
    if disk_entry.USED_AT <= at < disk_entry.USED_AT + 8:  # when it was used last may change
        assert disk_entry.unpack(bytes(damaged), KEY.name).executable == b"machine code" * 50
    else:
        with pytest.raises(disk_entry.Damaged):
            disk_entry.unpack(bytes(damaged), KEY.name)


@given(st.one_of(st.binary(max_size=300), st.integers(0, len(WHOLE) - 1).map(lambda n: WHOLE[:n]),
                 st.binary(min_size=1, max_size=20).map(lambda b: WHOLE + b),
                 st.binary(max_size=200).map(lambda b: WHOLE[: disk_entry.HEAD] + b)))  # fmt: skip
def test_anything_else_is_no_entry(data):
    with pytest.raises(disk_entry.Damaged):
        disk_entry.unpack(data, KEY.name)


def test_an_entry_of_another_program_is_not_taken():
    for name in ((b"q" * 16, b"e" * 16), (b"p" * 16, b"f" * 16)):
        with pytest.raises(disk_entry.Damaged, match="another program"):
            disk_entry.unpack(WHOLE, name)


DAMAGE = {
    "cut in half": lambda data: data[: len(data) // 2],
    "cut in its head": lambda data: data[:40],
    "empty": lambda data: b"",
    "a byte in the middle": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]
    ),
    "another kind of file": lambda data: b"\x7fELF" + os.urandom(2000),
    "zeros": lambda data: bytes(len(data)),
    "something behind": lambda data: data + b"more",
}


@pytest.mark.parametrize("small", [1 << 20, 0], ids=["pack", "file"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entries_are_passed_over_and_replaced(folder, monkeypatch, small, damage):
    monkeypatch.setattr(disk, "SMALL", small)
    f = lambda x: jnp.sin(x) * 2 + x
    assert not found(f, X)
    written()
    (path,) = [p for p in folder.rglob("*") if p.suffix in (".jsx", ".pack")]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    disk._stores.clear()
    if not (damage == "something behind" and small):  # which does not touch the pack's entry
        assert not found(f, X)
        written()
    np.testing.assert_allclose(jx.jit(f)(X), np.sin(X) * 2 + X, rtol=1e-6)
    jx.clear_caches()
    for _ in range(2):
        assert found(f, X)
        disk._stores.clear()
        jx.clear_caches()
    assert not found(lambda x: f(x) * 7, X)
    written()
    assert found(lambda x: f(x) * 7, X) and found(f, X)


@pytest.mark.parametrize("small", [1 << 20, 0], ids=["pack", "file"])
@pytest.mark.parametrize("code", [b"no program", b"jsx1\0\0\0\0" + b"no program"], ids=["ours", "XLA's"])
def test_a_whole_entry_that_xla_refuses_is_replaced(folder, monkeypatch, small, code):
    monkeypatch.setattr(disk, "SMALL", small)
    f = lambda x: jnp.sin(x) * 2 + x
    with monkeypatch.context() as changed:
        changed.setattr(disk, "pack", lambda *a: disk_entry.pack(*a[:4], code, a[5]))
        assert not found(f, X)
        written()
    disk._stores.clear()
    assert len(disk_report.folder().entries) == 1
    assert not found(f, X)
    written()
    assert found(f, X)


def test_an_unfinished_entry_at_the_end_of_the_pack_is_cut_off(folder):
    assert not found(jnp.sin, X) and not found(jnp.cos, X)
    written()
    path = folder / "programs-1" / "small.pack"
    whole = path.read_bytes()
    for n, torn in enumerate((WHOLE[:-1], WHOLE[:100], WHOLE[:10], b"torn")):
        another = lambda x, n=n: x + float(n)
        path.write_bytes(whole + torn)
        disk._stores.clear()
        assert found(jnp.sin, X) and found(jnp.cos, X)
        jx.clear_caches()
        assert not found(another, X)
        written()
        assert path.read_bytes().startswith(whole) and torn not in path.read_bytes()
        assert len(disk_report.folder().entries) == 3
        disk._stores.clear()
        assert found(jnp.cos, X) and found(another, X)
        jx.clear_caches()


def test_links_are_not_followed(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(disk, "SMALL", 0)
    assert not found(jnp.sin, X)
    written()
    (path,) = folder.rglob("*.jsx")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert not found(jnp.sin, X)
    written()
    assert found(jnp.sin, X) and not path.is_symlink()


# Room -----------------------------------------------------------------------------------------------------------------


def entry(i: int, size: int, environment: int = 0) -> tuple[tuple[bytes, bytes], bytes]:
    """An entry whose content follows from its number."""
    key = disk_key.Key(i.to_bytes(16, "big"), environment.to_bytes(16, "big"), {"cpu": str(environment)})
    code = random.Random(i).randbytes(size)
    return key.name, disk_entry.pack(key, f"f{i}", 1.0, b"", code, 0)


def right(store: disk.Store, i: int, size: int) -> bool | None:
    """Whether the store's entry of a number is the right one; None if there is none."""
    found = store.read(entry(i, size)[0], use=False)
    return None if found is None else found.executable == random.Random(i).randbytes(size)


def taken(store: disk.Store) -> int:
    return store.pack.size + sum(f.size for f in store.files.all())


@pytest.mark.parametrize("size", [500, 30_000], ids=["pack", "files"])
def test_the_folder_stays_in_its_bounds(tmp_path, size):
    limit = 40 * size
    store = disk.Store(str(tmp_path), limit)
    for i in range(200):
        store.write(*entry(i, size))
        assert taken(store) <= limit
        assert right(store, i, size)
    kept = [i for i in range(200) if right(store, i, size) is not None]
    assert 3 <= len(kept) < 40
    assert len(disk.Store(str(tmp_path), limit).names((199).to_bytes(16, "big"))) == 1


@pytest.mark.parametrize("size", [500, 30_000], ids=["pack", "files"])
def test_what_was_used_longest_ago_goes_first(tmp_path, monkeypatch, size):
    monkeypatch.setattr(disk_files, "_FRESH", 0)
    monkeypatch.setattr(disk_pack, "_FRESH", 0)
    limit = 100 * size
    store = disk.Store(str(tmp_path), limit)
    for i in range(120):
        store.write(*entry(i, size))
        time.sleep(0.002)
        if i >= 3:
            assert store.read(entry(3, size)[0]) is not None  # which is in use
    assert right(store, 3, size) and right(disk.Store(str(tmp_path), limit), 3, size)
    assert right(store, 2, size) is None and right(store, 4, size) is None
    assert right(store, 119, size) and right(store, 118, size)


def test_one_entry_larger_than_all_room_is_not_written(tmp_path):
    store = disk.Store(str(tmp_path), 10_000)
    store.write(*entry(1, 50_000))
    store.write(*entry(2, 3_000))
    assert right(store, 1, 50_000) is None and right(store, 2, 3_000) and taken(store) < 10_000


def test_what_killed_processes_left_half_written_is_removed(tmp_path, monkeypatch):
    store = disk.Store(str(tmp_path), 1 << 30)
    store.write(*entry(1, 30_000))
    path = Path(store.files.path(entry(1, 30_000)[0]))
    old, new = path.with_suffix(".jsx.1.1.part"), path.with_suffix(".jsx.1.2.part")
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (0, 0))
    disk.Store(str(tmp_path), 1 << 30).write(*entry(2, 30_000))
    assert not old.exists() and new.exists() and right(store, 1, 30_000)


def test_a_pack_written_anew_by_another_is_noticed(tmp_path):
    limit = 80_000
    one, other = disk.Store(str(tmp_path), limit), disk.Store(str(tmp_path), limit)
    for i in range(60):
        (one if i % 7 else other).write(*entry(i, 300))
        for j in range(i + 1):
            for store in (one, other):
                assert right(store, j, 300) is not False
        assert right(one, i, 300) and right(other, i, 300)


# Other users ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_only_the_owner_can_read_and_write(folder, monkeypatch):
    before = os.umask(0)
    try:
        assert not found(jnp.sin, X)
        monkeypatch.setattr(disk, "SMALL", 0)
        assert not found(jnp.cos, X)
        written()
    finally:
        os.umask(before)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in folder.rglob("*")}
    assert {m for name, m in modes.items() if "." in name} == {0o600}
    assert {m for name, m in modes.items() if "." not in name} == {0o700}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "programs-1").chmod(0o777)
    disk._stores.clear()
    jx.clear_caches()
    assert found(jnp.sin, X)
    assert stat.S_IMODE((folder / "programs-1").stat().st_mode) == 0o700


def one_warning(call: Any) -> str:
    """The one warning that calling it twice gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
        call()
        writer.flush()
    (only,) = caught
    assert only.category is UserWarning
    return str(only.message)


needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")


@needs_root
@pytest.mark.parametrize("whose", [".", "programs-1"])
def test_a_folder_of_another_user_is_refused(folder, whose):
    (folder / "programs-1").mkdir(parents=True)
    os.chown(folder / whose, 12345, 12345)
    numbers = iter((1, 2))
    said = one_warning(lambda: jx.jit(lambda x: x + next(numbers))(X))
    np.testing.assert_array_equal(jx.jit(lambda x: x + 3)(X), X + 3)
    assert "belongs to another user (number 12345)" in said and "JITSCOPE_COMPILATION_CACHE_DIR" in said
    assert not list((folder / "programs-1").iterdir())


@needs_root
@pytest.mark.parametrize("small", [1 << 20, 0], ids=["pack", "file"])
def test_a_file_of_another_user_is_not_read(folder, monkeypatch, small):
    monkeypatch.setattr(disk, "SMALL", small)
    assert not found(jnp.sin, X)
    written()
    (path,) = [p for p in folder.rglob("*") if p.suffix in (".jsx", ".pack")]
    os.chown(path, 12345, 12345)
    disk._stores.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not found(jnp.sin, X)
        written()
    assert path.suffix == ".jsx" or "cannot be written to" in str(caught[0].message)


# Folders that cannot be used ------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made_gives_one_warning(folder):
    folder.write_text("a file")
    numbers = iter((1, 2))
    said = one_warning(lambda: jx.jit(lambda x: x + next(numbers))(X))
    assert str(folder) in said and "compiled programs are not kept on disk" in said
    assert folder.read_text() == "a file"
    with steps() as seen:
        jx.jit(lambda x: x + 50)(X)
    assert [r.detail for r in seen.records if r.step == "compile"] == [{}]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied"),
                                   OSError(30, "Read-only file system")], ids=lambda e: e.strerror)  # fmt: skip
@pytest.mark.parametrize("small", [1 << 20, 0], ids=["pack", "file"])
def test_a_full_or_read_only_folder_gives_one_warning_and_is_read_on(folder, monkeypatch, error, small):
    monkeypatch.setattr(disk, "SMALL", small)
    assert not found(jnp.sin, X)
    written()

    def fail(*args):
        raise error

    for module in (disk_folder, disk_pack):
        monkeypatch.setattr(module, "write_all", fail)
    numbers = iter(range(100, 110))
    said = one_warning(lambda: jx.jit(lambda x: x * float(next(numbers)))(X))
    assert next(numbers) == 102
    assert error.strerror in said and str(folder) in said
    jx.clear_caches()
    assert found(jnp.sin, X) and not found(jnp.tan, X)
    assert not list(folder.rglob("*.part"))


FULL = """
    import resource, sys, warnings
    import numpy as np, jitscope as jx
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    warnings.simplefilter("always")
    x = np.ones(5, np.float32)
    for i in range(3):
        assert float(jx.jit(lambda x: x.sum() + i)(x)) == 5 + i
    from jitscope.backend.disk_writer import writer
    writer.flush()
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_disk_that_is_really_full(tmp_path):
    environment = {**os.environ, **ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", pinned(FULL)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("compiled programs are not kept on disk") == 1 and str(tmp_path) in done.stderr
    assert disk.Store(str(tmp_path), 1 << 30).pack.names() == []


@needs_root
def test_a_user_without_rights(tmp_path):
    code = """
        import os, warnings
        import numpy as np, jitscope as jx
        os.setgid(12345), os.setuid(12345)
        warnings.simplefilter("error")
        try:
            jx.jit(lambda x: x + 1)(np.ones(3, np.float32))
        except UserWarning as warning:
            print("Permission denied" in str(warning) or "belongs to another user" in str(warning))
        print(float(jx.jit(lambda x: x.sum())(np.ones(3, np.float32))))
        """
    out = in_new_process(pinned(code), **ON, JITSCOPE_COMPILATION_CACHE_DIR=str(tmp_path / "cache"))
    assert out == "True\n3.0"
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_somebody_removes_is_made_again(folder, monkeypatch):
    for small in (1 << 20, 0):
        monkeypatch.setattr(disk, "SMALL", small)
        assert not found(jnp.sin, X)
        written()
        shutil.rmtree(folder)
        assert not found(jnp.sin, X)
        written()
        assert found(jnp.sin, X)
        shutil.rmtree(folder)
        jx.clear_caches()


def test_a_home_that_is_not_there_and_the_default_place(tmp_path):
    code = """
        import jitscope.backend.disk_folder as d
        try: print(d.default_folder())
        except d.Unusable as error: print(error)
        """
    home = str(tmp_path)
    if sys.platform == "linux":
        assert in_new_process(code, HOME=home, XDG_CACHE_HOME="") == f"{home}/.cache/jitscope"
        assert in_new_process(code, HOME=home, XDG_CACHE_HOME=f"{home}/x") == f"{home}/x/jitscope"
    assert in_new_process(code, HOME="nowhere", XDG_CACHE_HOME="") == "this user has no home folder"


# Many processes, and kill -9 ------------------------------------------------------------------------------------------


WRITERS = """
    import os, random, signal, sys, time
    sys.path.insert(0, {tests!r})
    from tests.compiler.test_disk_cache import entry, right
    from jitscope.backend import disk

    def work(seed):
        random.seed(seed)
        store = disk.Store({folder!r}, 400_000)
        while True:
            i = random.randrange(200)
            store.write(*entry(i, size_of(i)))
            j = random.randrange(200)
            if right(store, j, size_of(j)) is False:
                os._exit(3)

    def size_of(i):
        return 200 if i % 3 else 20_000

    def start(seed):
        pid = os.fork()
        if pid == 0:
            try:
                work(seed)
            except BaseException as error:
                print("failed:", repr(error), flush=True)
            finally:
                os._exit(4)
        return pid

    random.seed(0)
    running = [start(i) for i in range(8)]
    deadline, killed = time.monotonic() + {seconds}, 0
    while time.monotonic() < deadline:
        time.sleep(random.uniform(0, 0.03))
        at = random.randrange(8)
        os.kill(running[at], signal.SIGKILL)
        pid, status = os.waitpid(running[at], 0)
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
        killed += 1
        running[at] = start(killed + 100)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    store = disk.Store({folder!r}, 400_000)
    states = [right(store, i, size_of(i)) for i in range(200)]
    assert False not in states and states.count(True) > 10, states
    for i in range(200):
        store.write(*entry(i, size_of(i)))
        assert right(store, i, size_of(i)), i
    print("good", killed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9")
def test_eight_writers_and_kill_9(tmp_path):
    out = in_new_process(WRITERS.format(tests=str(Path(__file__).parents[2]), folder=str(tmp_path), seconds=4))
    assert out.startswith("good ") and int(out.split()[1]) > 20, out
    assert taken(disk.Store(str(tmp_path), 400_000)) <= 500_000


WORKER = """
    import numpy as np, jitscope as jx, jitscope.numpy as jnp, os, sys, time
    x = np.arange(6, dtype=np.float32)
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(6):
        np.testing.assert_allclose(jx.jit(lambda x: jnp.sin(x) * i + 1)(x), np.sin(x) * i + 1, rtol=1e-5)
    from jitscope.backend.disk_writer import writer
    writer.flush()
    print("done", flush=True)
"""


def start_worker(folder: Path) -> subprocess.Popen:
    environment = {**os.environ, **ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(folder)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-W", "error", "-c", pinned(WORKER)], stdin=pipe, stdout=pipe,
                            text=True, env=environment)  # fmt: skip


def test_real_programs_from_eight_processes_of_which_some_are_killed(tmp_path):
    workers = [start_worker(tmp_path) for _ in range(8)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    for i, worker in enumerate(workers[:3]):
        time.sleep(0.05 * (i + 1))
        worker.send_signal(signal.SIGKILL)
    for i, worker in enumerate(workers):
        out, _ = worker.communicate(timeout=60)
        assert i < 3 or (worker.returncode, out) == (0, "done\n")
    store = disk.Store(str(tmp_path), 1 << 30)
    assert len(store.pack.names()) >= 6
    assert all(store.read(name) is not None for name in store.pack.names())
    assert not any(p.suffix not in (".pack", ".lock") for p in tmp_path.rglob("*.*"))


# The thread that writes -----------------------------------------------------------------------------------------------


def test_jobs_are_done_in_order_and_failures_go_no_further():
    jobs, done = Writer(), []
    for i in range(50):
        jobs.submit(lambda i=i: done.append(i) if i != 7 else 1 / 0)
    assert jobs.flush(10)
    assert done == [i for i in range(50) if i != 7]


def test_the_thread_ends_and_begins_again(monkeypatch):
    monkeypatch.setattr("jitscope.backend.disk_writer._IDLE", 0.01)
    jobs, done = Writer(), []
    for i in range(3):
        jobs.submit(lambda i=i: done.append(i))
        assert jobs.flush(10)
        deadline = time.monotonic() + 10
        while any(t.name == "jitscope writes" and t.ident is not None for t in threading.enumerate()) and jobs._running:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert done == [0, 1, 2]


def test_when_too_much_waits_the_rest_is_dropped():
    jobs, go, done = Writer(), threading.Event(), []
    jobs.submit(go.wait)
    for i in range(3000):
        jobs.submit(lambda i=i: done.append(i))
    go.set()
    assert jobs.flush(10) and 1000 < len(done) < 1100


def test_closing_does_what_waits_and_takes_no_more(monkeypatch):
    jobs, done = Writer(), []
    for i in range(5):
        jobs.submit(lambda i=i: (time.sleep(0.01), done.append(i)))
    jobs.close()
    jobs.submit(lambda: done.append(9))
    assert jobs.flush(1) and done == [0, 1, 2, 3, 4]
    monkeypatch.setattr("jitscope.backend.disk_writer._AT_EXIT", 0.05)
    jobs, go = Writer(), threading.Event()
    jobs.submit(lambda: go.wait(10))
    jobs.submit(lambda: done.append(9))
    jobs.close()
    go.set()
    assert jobs.flush(10) and done == [0, 1, 2, 3, 4]


def test_a_script_that_ends_at_once_leaves_its_programs(tmp_path):
    code = """
        import numpy as np, jitscope as jx, jitscope.numpy as jnp
        def f(x):
            for i in range(60):
                x = jnp.sin(x) @ x
            return x
        jx.jit(f)(np.ones((20, 20), np.float32))
        """
    env = {**ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(tmp_path)}
    assert in_new_process(pinned(code), **env) == ""
    assert len(list(tmp_path.rglob("*.jsx"))) == 1 or (tmp_path / "programs-1" / "small.pack").stat().st_size > 1000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_has_a_thread_and_a_store_of_its_own(tmp_path):
    code = """
        import os, warnings
        warnings.simplefilter("ignore")
        import numpy as np, jitscope as jx
        from jitscope.backend import disk
        from jitscope.backend.disk_writer import writer
        before = disk.store()
        writer.submit(lambda: None)
        writer.flush()
        pid = os.fork()
        if pid == 0:
            assert disk.store() is not before
            jx.jit(lambda x: x + 1)(np.ones(3, np.float32))
            print(writer.flush(10), len(disk.store().pack.names()), flush=True)
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
        """
    assert in_new_process(pinned(code), **ON, JITSCOPE_COMPILATION_CACHE_DIR=str(tmp_path)) == "True 1\n0"


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


def test_the_command_shows_explains_and_clears(folder, capsys, monkeypatch):
    def layer(x):
        return jnp.tanh(x) * 3

    assert not found(layer, X) and not found(jnp.sort, X)
    written()
    assert cli.main(["cache", "show"]) == 0
    out = capsys.readouterr().out
    assert f"{folder}: 2 programs, " in out and "of at most 1 GB" in out and "layer " in out and "no\n" not in out
    assert cli.main(["cache", "show", "layer", "--dir", str(folder)]) == 0
    assert "sort" not in capsys.readouterr().out
    monkeypatch.setattr(disk_key, "cpu", lambda: "another one")
    disk_key._parts.cache_clear()
    assert cli.main(["cache", "explain", "layer"]) == 0
    out = capsys.readouterr().out
    assert "here: another one" in out and "not used here: another cpu" in out and "jaxlib    0.10.2\n" in out
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
