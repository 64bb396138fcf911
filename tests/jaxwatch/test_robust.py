"""Whatever happens round the watcher, the user's code goes on; nothing of it stays behind."""

import gc
import importlib
import os
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jitscope_scope import jaxwatch, observe
from jitscope_scope.jaxwatch import marks, private, watching
from jitscope_scope.jaxwatch.private import names


x = np.linspace(0, 1, 4, dtype=np.float32)


def marked(closed):
    """Whether an equation of a program, at any level, has a mark."""
    return any("~" in str(eqn.source_info.name_stack) for eqn in marks._equations(closed.jaxpr))


@pytest.mark.parametrize("stage", ["entered", "local", "compiled", "scoping"])
def test_a_fault_of_ours_never_reaches_the_call(monkeypatch, stage):
    jax.clear_caches()
    watcher = jaxwatch.attach()
    try:
        monkeypatch.setattr(private, stage, lambda *_: 1 / 0)
        assert np.array_equal(jax.jit(lambda v: v + 1)(x), x + 1)
        assert watcher.faults
        monkeypatch.undo()
        count = len(observe.ledger())
        assert np.array_equal(jax.jit(lambda v: v + 2)(x), x + 2)
        assert len(observe.ledger()) == count + 1
        assert not marks.sweep()
    finally:
        jaxwatch.detach()


def test_a_foreign_listener_that_raises_leaves_no_marks(watcher):
    def raises(event, seconds, **told):
        if "to_mlir" in event:
            raise ValueError("not ours")

    jaxwatch.detach()
    jax.monitoring.register_event_duration_secs_listener(raises)
    watcher.attach()
    try:
        f = jax.jit(lambda v: jnp.sin(v) * 3)
        with pytest.raises(ValueError, match="not ours"):
            f(x)
    finally:
        private.monitoring("unregister_event_duration_listener")(raises)
    watcher.mend()
    assert not marked(f.trace(x).jaxpr)
    assert np.allclose(f(x), np.sin(x) * 3)
    watcher.detach()


def test_listeners_that_somebody_cleared_are_put_back(watcher, rows):
    jax.monitoring.clear_event_listeners()
    f = jax.jit(lambda v: v * 4)
    f(x)  # our start marks it, and no end is told
    watcher.mend()
    assert not marked(f.trace(x).jaxpr)
    count = len(rows())
    jax.jit(lambda v: v * 5)(x)
    assert len(rows()) == count + 1
    from jax._src import monitoring

    assert len(monitoring.get_event_duration_listeners()) == len(monitoring.get_scalar_listeners()) == 1


def test_threads_that_lower_shared_functions(watcher, rows):
    @jax.jit
    def shared(v):
        return jnp.tanh(v) + 1

    wrong = []

    def work(k):
        for n in range(4):
            got = jax.jit(lambda v: shared(v) * k + shared(v * n))(x)  # noqa: B023
            if not np.allclose(got, (np.tanh(x) + 1) * k + np.tanh(x * n) + 1, atol=1e-5):
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in (2, 3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong and not marks._marked
    made = [row for row in rows() if row.function == "<lambda>"]
    assert len(made) == 8
    for row in made:
        kernels = observe.compilation_document(row)["fusion"]["kernels"]
        assert all(kernel["paths"] for kernel in kernels)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_marks_of_a_child_are_told_from_those_of_its_parent():
    ours = marks.token()
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, marks.token().encode())
        os._exit(0)
    theirs = os.read(reading, 100).decode()
    os.wait()
    assert theirs and theirs != ours


def test_caches_that_are_cleared_and_modules_that_are_reloaded(watcher, rows):
    f = jax.jit(lambda v: v - 3)
    f(x)
    jax.clear_caches()
    assert np.array_equal(f(x), x - 3)
    importlib.reload(importlib.import_module("jax.nn"))
    assert np.allclose(jax.jit(jax.nn.relu)(x - 0.5), np.maximum(x - 0.5, 0))
    assert [row.what for row in rows()][:2] == ["compiled", "recompiled"]


def test_an_interrupt_while_tracing_leaves_no_marks(watcher):
    def interrupted(v):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jax.jit(interrupted)(x)
    assert not marks._marked
    assert np.array_equal(jax.jit(lambda v: v * 9)(x), x * 9)


def test_arrays_and_functions_are_not_kept_alive(watcher, rows):
    big = jnp.ones(1000)
    held = weakref.ref(big)

    def make(captured):
        def f(v, w):
            return v.sum() + w.sum() + captured.sum()

        return f

    f = make(big)
    ref = weakref.ref(f)
    array = jnp.zeros(500)
    given = weakref.ref(array)
    jax.jit(f)(x, array)
    del f, big, array, make
    jax.clear_caches()
    gc.collect()
    assert given() is None
    assert ref() is None and held() is None


def test_an_entry_of_another_process_in_the_persistent_cache_says_so(tmp_path):
    import subprocess
    import sys

    program = (
        "import sys, jax, jax.numpy as jnp\n"
        "jax.config.update('jax_compilation_cache_dir', sys.argv[1])\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
        "jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
        "from jitscope_scope import jaxwatch, observe\n"
        "watcher = jaxwatch.attach()\n"
        "jax.jit(lambda v: jnp.tanh(v) * jnp.tanh(v + 1) * jnp.cos(v))(jnp.ones(8))\n"
        "row = list(observe.ledger())[-1]\n"
        "summary = observe.compilation_document(row)['fusion']['summary']\n"
        "assert not watcher.faults, watcher.faults\n"
        "print(bool(row.disk), summary['unknown']['kernels'], 'another process' in summary['sentence'], 'loaded from disk' in row.because)\n"
        "row.entry.compile_again()\n"
        "again = observe.compilation_document(row)['fusion']\n"
        "assert again['summary']['unknown']['kernels'] == 0 and all(k['paths'] for k in again['kernels'])\n"
        "import jitscope\n"
        "f = jax.jit(lambda v: jnp.sinh(v) * 2)\n"
        "x = jnp.ones(8)\n"
        "seen = jitscope.inspect(f)(x)\n"
        "kernels = seen.again().kernels\n"
        "assert kernels and all(k['paths'] for k in kernels), kernels\n"
        "assert jitscope.inspect(f)(x).kernels == kernels and float(f(x)[0]) > 2\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["False 0 False False", "True 1 True True"]


def test_nothing_compiles_twice_in_the_first_cell_that_is_watched():
    import subprocess
    import sys

    program = (
        "import jax, jax.numpy as jnp\nfrom jitscope_scope import jaxwatch\nmade = []\n"
        "jax.monitoring.register_event_duration_secs_listener(\n"
        "    lambda event, _, **told: made.append(told['fun_name']) if event.endswith('backend_compile_duration') else None)\n"
        "jaxwatch.attach()\njnp.ones(3), jax.jit(lambda v: v * 2)(jnp.ones(3)), jnp.ones(3)\n"
        "print(len(made), len(set(made)))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert said[0] == said[1]


def test_jitscope_does_not_import_jax():
    import subprocess
    import sys

    code = "import sys, jitscope, jitscope.numpy, jitscope_kernel, jitscope_scope.jaxwatch; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_a_version_lacks_is_told(monkeypatch):
    assert jaxwatch.capabilities() == []
    consequence = "kernels have no origins: equations cannot be marked"
    absent = names.Name("jax._src.source_info_util", "Absent", "marks", consequence)
    monkeypatch.setattr(names, "NAMES", [*names.NAMES, absent])
    assert jaxwatch.capabilities() == [("jax._src.source_info_util.Absent", consequence)]
    jax.clear_caches()
    watcher = jaxwatch.attach()
    try:
        count = len(observe.ledger())
        jax.jit(lambda v: v * 11)(x)
        row = list(observe.ledger())[count]
        assert observe.compilation_document(row)["fusion"]["summary"]["unknown"]["kernels"] == 1
        assert not watcher.faults
    finally:
        jaxwatch.detach()
    assert watching.current() is None


def test_the_table_of_names_is_true():
    for one in names.NAMES:
        importlib.import_module(one.where)
    assert jaxwatch.capabilities() == private.unread() == []
    absent = names.Frame("jax._src.pjit", "_trace_for_jit", "fun absent", "", "causes")
    assert _unread_with(absent) == [("jax._src.pjit._trace_for_jit: absent", "causes")]
    assert _unread_with(absent._replace(function="gone", variables="fun")) == [("jax._src.pjit.gone: fun", "causes")]


def _unread_with(frame):
    before, names.FRAMES = names.FRAMES, [frame]
    try:
        return names.unread()
    finally:
        names.FRAMES = before


def test_names_of_other_releases_are_not_missed(monkeypatch):
    gone = names.Name("jax._src.core", "absent", "", "", until="0.9")
    coming = gone._replace(until="", since="99.0")
    monkeypatch.setattr(names, "NAMES", [gone, coming, gone._replace(until="99.0")])
    assert [one.name for one in jaxwatch.capabilities()] == ["jax._src.core.absent"]
