"""The process round the compiler: threads, forks, Ctrl-C, memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
from jitscope.core import call_sites
from jitscope.core.axes import current_axes
from jitscope.core.staging import WATCH_EVERY, watcher
from jitscope.core.trace import evaluating
from tests.compiler.programs import add, cos, floats, in_new_process, mul, needs_proc, sin, total


X = floats(3)


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What `work(k)` gives in threads that start together; what it raises is raised here."""
    start = threading.Barrier(count, timeout=30)
    outs: list[Any] = [None] * count
    errors: list[BaseException] = []

    def run(k: int) -> None:
        try:
            start.wait()
            outs[k] = work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    [t.start() for t in threads], [t.join(60) for t in threads]
    if errors:
        raise errors[0]
    return outs


# Threads --------------------------------------------------------------------------------------------------------------


def test_threads_trace_and_compile_at_once():
    shared = jx.jit(lambda x: mul(sin(x), x))

    def work(k: int) -> Any:
        own = jx.jit(jx.grad(lambda x: total(mul(shared(x), float(k + 1)))))
        return [np.asarray(own(X)), np.asarray(shared(floats(k + 2))), np.asarray(jx.vmap(shared)(floats(2, k + 1)))]

    for k, (gradient, called, mapped) in enumerate(in_threads(6, work)):
        np.testing.assert_allclose(gradient, (k + 1) * (np.sin(X) + X * np.cos(X)), rtol=1e-5)
        np.testing.assert_allclose(called, np.sin(floats(k + 2)) * floats(k + 2), rtol=1e-5)
        np.testing.assert_allclose(mapped, np.sin(floats(2, k + 1)) * floats(2, k + 1), rtol=1e-5)


def test_interleaved_traces_do_not_see_each_other():
    """Two threads take turns in the middle of their traces."""
    turn = threading.Barrier(2, timeout=20)

    def work(k: int) -> Any:
        def f(x):
            for i in range(5):
                turn.wait()
                x = add(x, float(k * 100 + i))
                turn.wait()
            return x

        closed = jx.make_jaxpr(f)(X)
        return [float(eqn.invars[1].value) for eqn in closed.eqns]

    assert in_threads(2, work) == [[0, 1, 2, 3, 4], [100, 101, 102, 103, 104]]


def test_settings_and_axes_belong_to_the_thread():
    both = threading.Barrier(2, timeout=20)

    def work(k: int) -> Any:
        seen: list[Any] = []

        def f(x):
            both.wait()
            seen.append((current_axes(), x.aval.short()))
            return x

        with jx.enable_x64(k == 1):
            jx.vmap(f, axis_name=f"axis{k}")(np.ones(3))
            both.wait()
            seen.append((jx.config.enable_x64, evaluating()))
        return seen

    first, second = in_threads(2, work)
    assert first == [((("axis0", 3),), "f32[]"), (False, True)]
    assert second == [((("axis1", 3),), "f64[]"), (True, True)]


def test_a_thread_started_while_tracing_evaluates():
    outs: list[Any] = []

    def f(x):
        thread = threading.Thread(target=lambda: outs.append(np.asarray(jx.jit(sin)(X))))
        thread.start(), thread.join()
        return cos(x)

    jx.jit(f)(X)
    np.testing.assert_allclose(outs[0], np.sin(X), rtol=1e-6)


def test_one_program_from_many_threads():
    f = jx.jit(lambda x, k: add(mul(x, x), k))
    f(X, 0.0)

    def work(k: int) -> bool:
        return all(np.allclose(f(X, float(k + n)), X * X + k + n, rtol=1e-6) for n in range(100))

    assert all(in_threads(4, work))


def test_eager_operations_and_clearing_from_many_threads():
    def work(k: int) -> bool:
        for n in range(10):
            if k == 0:
                jx.clear_caches()
            elif not np.allclose(add(sin(floats(n + 1)), 1.0), np.sin(floats(n + 1)) + 1, rtol=1e-5):
                return False
        return True

    assert all(in_threads(3, work))


# Long traces ----------------------------------------------------------------------------------------------------------


def test_a_growing_trace_is_watched():
    seen: list[tuple[int, Any]] = []
    token = watcher.set(
        lambda trace: seen.append((len(trace.eqns), call_sites.user_position(trace.eqns[-1].traceback)))
    )
    try:

        def unrolled(x):
            for _ in range(2500):
                x = add(x, 1.0)  # the line
            return x

        jx.make_jaxpr(unrolled)(1.0)
    finally:
        watcher.reset(token)
    assert [n for n, _ in seen] == [WATCH_EVERY, 2 * WATCH_EVERY]
    assert all(position.text.strip() == "x = add(x, 1.0)  # the line" for _, position in seen)


def test_a_watcher_may_stop_the_trace():
    class Enough(Exception):
        pass

    def stop(trace):
        raise Enough

    token = watcher.set(stop)
    try:
        with pytest.raises(Enough):
            jx.jit(lambda x: [x := add(x, 1.0) for _ in range(5000)][-1])(1.0)
    finally:
        watcher.reset(token)
    assert evaluating()


INTERRUPTED = """
    import os, signal, threading, time, numpy as np, jitscope as jx
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a process started in the background ignores it
    from jitscope.ops.elementwise import sin_p as sin
    from jitscope.ops.linear import add_p as add
    from jitscope.core.trace import evaluating

    def unrolled(x, n):
        for i in range(n):
            x = sin(add(x, float(i)))
            if i == 1000:
                traced.set()
        return x

    f = jx.jit(unrolled, static_argnums=1)
    f(1.0, 1)
    traced, sent = threading.Event(), []

    def interrupt(when):
        def work():
            when()
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=work).start()

    def interrupted(call, when):
        interrupt(when)
        try:
            call()
        except KeyboardInterrupt:
            late = time.process_time() - sent[-1]
            assert late < 5, f"it took {late} s of the processor"
        else:
            raise AssertionError("not interrupted")
        assert evaluating()
        assert abs(float(f(1.0, 1)) - np.sin(1.0)) < 1e-6
        assert abs(float(jx.jit(lambda x: add(sin(x), 0.25))(2.0)) - np.sin(2.0) - 0.25) < 1e-6
"""


def test_ctrl_c_while_tracing_a_long_loop():
    assert (
        in_new_process(
            INTERRUPTED
            + """
    interrupted(lambda: f(1.0, 100_000_000), traced.wait)
    traced.clear()
    interrupted(lambda: jx.grad(lambda x: f(x, 100_000_000))(1.0), traced.wait)
    print("good")
    """
        )
        == "good"
    )


def test_ctrl_c_while_compiling():
    """The user's call is over at once. XLA works on in a thread, which must crash neither the process nor its end."""
    assert (
        in_new_process(
            INTERRUPTED
            + """
    lowered = threading.Event()
    from jitscope.backend import compile as programs
    original = programs.Executable.compile
    def noticed(*args, **kwargs):
        threading.Timer(0.2, lowered.set).start()
        return original(*args, **kwargs)
    programs.Executable.compile = noticed
    interrupted(lambda: f(1.0, 3000), lowered.wait)
    junk = [bytes([i]) * 100_000 for i in range(200)]
    print("good")
    """
        )
        == "good"
    )


def test_a_loop_unrolled_very_often_can_be_traced():
    jaxpr = jx.make_jaxpr(lambda x: [x := add(x, 1.0) for _ in range(100_000)][-1])(1.0)
    assert len(jaxpr.eqns) == 100_000


# Forks ----------------------------------------------------------------------------------------------------------------


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
FORKED = """
    import os, sys, threading, warnings
    warnings.simplefilter("ignore")
    import numpy as np, jitscope as jx, jitscope.numpy as jnp
    from jitscope.ops.linear import add_p as add

    def in_child(call):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            threading.Timer(20, lambda: os._exit(9)).start()
            try:
                text = "gave " + repr(call())
            except BaseException as error:
                text = f"{type(error).__name__}: {error}"
            os.write(write, text.encode())
            os._exit(0)
        os.close(write)
        text = os.fdopen(read).read()
        _, status = os.waitpid(pid, 0)
        return text if status == 0 else f"died with {status}"
"""


@needs_fork
def test_a_forked_child_is_refused_and_told_of_spawn():
    out = in_new_process(
        FORKED
        + """
    x = jx.device_put(np.arange(3.0, dtype=np.float32))
    f = jx.jit(lambda x: add(x, x))
    f(x), f(1.0), add(x, x), jnp.sum(x)
    calls = {
        "known program": lambda: f(x), "by name": lambda: f(x=x), "number": lambda: f(1.0), "new program": lambda: f(np.ones(7)),
        "new function": lambda: jx.jit(lambda y: y)(x), "operation": lambda: add(x, x), "jnp": lambda: jnp.sum(x),
        "new operation": lambda: jnp.cumsum(x), "put": lambda: jx.device_put(np.ones(3)), "gradient": lambda: jx.grad(f)(1.0),
        "compile": lambda: f.lower(np.ones(9)).compile(), "random": lambda: jx.random.uniform(jx.random.key(0)),
        "devices": lambda: jx.devices(), "sum": lambda: x + 1,
    }
    for name, call in calls.items():
        text = in_child(call)
        assert text.startswith("ForkedProcessError") and "spawn" in text, (name, text)
    assert in_child(lambda: np.asarray(x).tolist()) == "gave [0.0, 1.0, 2.0]"
    assert in_child(lambda: str(x.aval)) == "gave 'float32[3]'"
    assert in_child(lambda: [e.primitive.name for e in jx.make_jaxpr(lambda x: add(x, x))(1.0).eqns]) == "gave ['add']"
    np.testing.assert_array_equal(f(x), [0, 2, 4])
    print("good")
    """
    )
    assert out == "good"


@needs_fork
def test_a_child_forked_before_anything_ran_may_compute():
    out = in_new_process(
        FORKED
        + """
    from jitscope.xla import mlir
    mlir.context()
    print(in_child(lambda: float(jx.jit(lambda x: add(x, x))(1.0))))
    print(float(jx.jit(lambda x: add(x, x))(2.0)))
    """
    )
    assert out == "gave 2.0\n4.0"


@needs_fork
def test_multiprocessing_with_fork_fails_clearly_and_with_spawn_works(tmp_path):
    module = tmp_path / "work_of_a_pool.py"
    module.write_text("import jitscope as jx\n\ndef work(x):\n    return float(jx.jit(lambda x: x * 2)(x))\n")
    out = in_new_process(
        f"""
        import sys, warnings
        warnings.simplefilter("ignore")
        sys.path.insert(0, {str(tmp_path)!r})
        import multiprocessing, jitscope as jx, jitscope.numpy
        from work_of_a_pool import work
        work(1.0)
        if __name__ == "__main__":
            try:
                with multiprocessing.get_context("fork").Pool(1) as pool:
                    pool.map(work, [1.0])
            except RuntimeError as error:
                print(type(error).__name__, "spawn" in str(error))
        """
    )
    assert out == "ForkedProcessError True"


# Leaving --------------------------------------------------------------------------------------------------------------


def test_the_process_ends_quietly():
    out = in_new_process(
        """
        import threading, jitscope as jx, jitscope.numpy as jnp, numpy as np
        from jitscope_scope import observe
        x = jnp.ones((200, 200))
        f = jx.jit(lambda x: x @ x)
        threading.Thread(target=lambda: [f(x) for _ in range(50)]).start()
        y = f(x)
        print("end")
        """
    )
    assert out == "end"


def test_nothing_leaks_over_many_compilations():
    out = in_new_process(
        """
        import gc, jitscope as jx, numpy as np
        from jitscope_scope import observe
        from jitscope.ops.linear import add_p
        def round(n):
            for i in range(n):
                jx.jit(lambda x: add_p(x, float(i % 3)))(np.ones(1000, np.float32))
            gc.collect()
            return len(gc.get_objects()), len(jx.live_arrays())
        round(30)
        objects, arrays = round(30)
        more, same = round(30)
        print(more - objects < 30 * 60, same == arrays)
        """
    )
    assert out == "True True"


@needs_proc
def test_programs_are_let_go_before_memory_mappings_run_out():
    """Each compiled program holds a dozen mappings, of which a process may have 65,530; beyond it would crash."""
    code = """
import jitscope as jx, jitscope.numpy as jnp
from jitscope.backend import compile
from jitscope.eager import operations
from jitscope.xla import mappings

jnp.arange(3.0).sum()
compile._HIGHEST_SHARE = mappings.share_used()
assert compile._HIGHEST_SHARE > 0
for i in range(2 * compile._LOOK_EVERY):
    assert float(jx.jit(lambda x: x * i)(2.0)) == 2.0 * i
assert len(compile._entries) < 1.5 * compile._LOOK_EVERY, len(compile._entries)
assert not len(operations._programs)
assert float(jnp.sin(0.0)) == 0
print("ended well")
"""
    assert "ended well" in in_new_process(code)


@needs_proc
def test_many_compilations_keep_memory_bounded():
    """The memory of programs that were let go is handed back: 4 rounds of compiling take no more than one and a little."""
    code = """
import gc
import jitscope as jx, jitscope.numpy as jnp

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20

def compile_many(first, count=16):
    for i in range(first, first + count):
        jx.jit(lambda x: jnp.sin(jnp.sin(x) * i + x.sum()) @ x)(jnp.arange(8.0))

compile_many(0)
one = resident()
for turn in range(1, 4):
    jx.clear_caches()
    gc.collect()
    compile_many(1000 * turn)
assert resident() < one + 12, (one, resident())
jx.clear_caches()
gc.collect()
assert resident() < one, (one, resident())
print("bounded")
"""
    assert "bounded" in in_new_process(code, timeout=300)


def test_the_alias_brings_the_modules_that_jax_brings(root):
    code = """
    import sys
    import alias, jax
    names = "lax nn numpy random tree tree_util sharding typing custom_derivatives".split()
    print([name for name in names if f"jax.{name}" not in sys.modules], jax.numpy is sys.modules["jax.numpy"])
    """
    paths = os.pathsep.join(filter(None, (str(root / "examples"), os.environ.get("PYTHONPATH"))))
    assert in_new_process(code, PYTHONPATH=paths) == "[] True"
