"""Many processes at one folder of compiled programs, some of them killed; and the thread that writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jitscope.backend.disk.store import Store
from jitscope.backend.disk.writer import Writer
from tests.compiler.disk_folders import ON, pinned, taken
from tests.compiler.programs import in_new_process
from tests.extent import ALL, full


# Many processes, and kill -9 ------------------------------------------------------------------------------------------


WRITERS = """
    import os, random, signal, sys, time
    sys.path.insert(0, {tests!r})
    from tests.compiler.disk_folders import entry, right
    from jitscope.backend.disk.store import Store

    def work(seed):
        random.seed(seed)
        store = Store({folder!r}, 400_000)
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
    killed = 0
    while killed < {kills}:
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
    store = Store({folder!r}, 400_000)
    states = [right(store, i, size_of(i)) for i in range(200)]
    assert False not in states and states.count(True) > 10, states
    for i in range(200):
        store.write(*entry(i, size_of(i)))
        assert right(store, i, size_of(i)), i
    print("good", killed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9")
@pytest.mark.parametrize("kills", [30, pytest.param(200, marks=full)])
def test_eight_writers_and_kill_9(tmp_path, kills):
    out = in_new_process(WRITERS.format(tests=str(Path(__file__).parents[3]), folder=str(tmp_path), kills=kills))
    assert out == f"good {kills}"
    assert taken(Store(str(tmp_path), 400_000)) <= 500_000


WORKER = """
    import numpy as np, jitscope as jx, jitscope.numpy as jnp, os, sys, time
    x = np.arange(6, dtype=np.float32)
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(6):
        np.testing.assert_allclose(jx.jit(lambda x: jnp.sin(x) * i + 1)(x), np.sin(x) * i + 1, rtol=1e-5)
    from jitscope.backend.disk.writer import writer
    writer.flush()
    print("done", flush=True)
"""


def start_worker(folder: Path) -> subprocess.Popen:
    environment = {**os.environ, **ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(folder)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-W", "error", "-c", pinned(WORKER)], stdin=pipe, stdout=pipe,
                            text=True, env=environment)  # fmt: skip


def test_real_programs_from_processes_of_which_some_are_killed(tmp_path):
    workers = [start_worker(tmp_path) for _ in range(8 if ALL else 5)]
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
    store = Store(str(tmp_path), 1 << 30)
    names = [head.name for _, head, _ in store.heads()]
    assert len(names) >= 6 and all(store.read(name) is not None for name in names)
    unfinished = [p for p in tmp_path.rglob("*.*") if p.suffix != ".jsx"]
    assert all(p.suffix == ".part" for p in unfinished) and len(unfinished) <= 3  # of the processes that were killed


# The thread that writes -----------------------------------------------------------------------------------------------


def test_jobs_are_done_in_order_and_failures_go_no_further():
    jobs, done = Writer(), []
    for i in range(50):
        jobs.submit(lambda i=i: done.append(i) if i != 7 else 1 / 0)
    assert jobs.flush(10)
    assert done == [i for i in range(50) if i != 7]


def test_the_thread_ends_and_begins_again(monkeypatch):
    monkeypatch.setattr("jitscope.backend.disk.writer._IDLE", 0.01)
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
    monkeypatch.setattr("jitscope.backend.disk.writer._AT_EXIT", 0.05)
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
    assert len(list(tmp_path.rglob("*.jsx"))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_has_a_thread_and_a_store_of_its_own(tmp_path):
    code = """
        import os, warnings
        warnings.simplefilter("ignore")
        import numpy as np, jitscope as jx
        from jitscope.backend.disk.in_use import store
        from jitscope.backend.disk.writer import writer
        before = store()
        writer.submit(lambda: None)
        writer.flush()
        pid = os.fork()
        if pid == 0:
            assert store() is not before
            jx.jit(lambda x: x + 1)(np.ones(3, np.float32))
            print(writer.flush(10), len(list(store().heads())), flush=True)
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
        """
    assert in_new_process(pinned(code), **ON, JITSCOPE_COMPILATION_CACHE_DIR=str(tmp_path)) == "True 1\n0"
