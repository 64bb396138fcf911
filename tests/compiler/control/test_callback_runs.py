"""Runs of programs with callbacks: exceptions, Ctrl-C, threads, contexts, callbacks that compute."""

from __future__ import annotations

import contextvars
import os
import signal
import threading
import time
import traceback
import warnings
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import debug, lax
from jitscope.xla import callbacks as runtime


pytestmark = pytest.mark.timeout(120)
F32 = np.float32
S = jx.ShapeDtypeStruct


def scalar(dtype: Any = F32) -> Any:
    return S((), dtype)


# Exceptions -------------------------------------------------------------------------------------------------------------


class Mine(Exception):
    pass


def fails(a):
    try:
        return {}["missing"]
    except KeyError as error:
        raise Mine("in the callback") from error


@pytest.mark.parametrize("place", ["eager", "jit", "scan", "while", "grad", "vmap", "compiled"])
def test_an_exception_comes_back_as_itself(place):
    def f(x):
        debug.callback(fails, x)
        return x

    run = {
        "eager": lambda: f(1.0),
        "jit": lambda: jx.jit(f)(1.0),
        "scan": lambda: lax.scan(lambda c, x: (f(c), x), 0.0, jnp.ones(3)),
        "while": lambda: jx.jit(lambda x: lax.while_loop(lambda c: c < 2, f, x))(1.0),
        "grad": lambda: jx.jit(jx.grad(f))(1.0),
        "vmap": lambda: jx.vmap(f)(jnp.ones(2)),
        "compiled": lambda: jx.jit(f).lower(1.0).compile()(1.0),
    }[place]
    with pytest.raises(Mine, match="in the callback") as caught:
        run()
    assert isinstance(caught.value.__cause__, KeyError)
    shown = "".join(traceback.format_exception(caught.value))
    assert "in fails" in shown and 'return {}["missing"]' in shown and "JaxRuntimeError" not in shown


def test_after_an_exception_everything_goes_on():
    calls: list[float] = []

    def host(a):
        calls.append(float(a))
        if a > 2:
            raise Mine(float(a))
        return a

    f = jx.jit(lambda x: lax.fori_loop(0, 5, lambda i, c: jx.pure_callback(host, scalar(), c) + 1, x))
    for _ in range(3):
        calls.clear()
        with pytest.raises(Mine, match=r"3\.0"):
            f(1.0)
        assert calls == [1, 2, 3]  # none after the failure
        assert float(f(-5.0)) == 0
    assert not runtime._runs


def test_an_exception_is_not_printed_to_stderr(capfd):
    with pytest.raises(Mine):
        jx.jit(lambda x: debug.callback(fails, x))(1.0)
    assert capfd.readouterr().err == ""


def test_system_exit_and_warnings_pass():
    def leave(_):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        jx.jit(lambda x: debug.callback(leave, x))(1.0)
    with pytest.warns(UserWarning, match="look out"):
        jx.jit(lambda x: debug.callback(lambda _: warnings.warn("look out", stacklevel=1), x))(1.0)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_program_at_its_next_callback():
    calls: list[int] = []
    runs = threading.Event()

    def called(i: Any) -> None:
        calls.append(int(i))
        runs.set()
        time.sleep(0.01)

    slow = jx.jit(lambda x: lax.fori_loop(0, 2000, lambda i, c: (debug.callback(called, i), c + 1)[1], x))
    slow.lower(0.0).compile()
    thread = threading.Thread(target=lambda: (runs.wait(), os.kill(os.getpid(), signal.SIGINT)))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        slow(0.0)
    thread.join()
    assert 1 <= len(calls) < 1000
    assert float(jx.jit(lambda x: jx.pure_callback(lambda a: a, scalar(), x))(3.0)) == 3


# Threads, contexts, callbacks that compute ----------------------------------------------------------------------------


def test_eight_threads_run_one_program_and_each_gets_its_own():
    @jx.jit
    def f(x):
        def host(a):
            if int(a) % 3 == 0:
                raise Mine(int(a))
            return np.asarray(a) * 2

        y = jx.pure_callback(host, scalar(), x)
        return lax.fori_loop(0, 3, lambda i, c: jx.pure_callback(lambda c: c + 1, scalar(), c), y)

    wrong: list[Any] = []

    def work(first: int) -> None:
        for i in range(first, first + 20):
            try:
                if float(f(float(i))) != 2 * i + 3 or i % 3 == 0:
                    wrong.append(i)
            except Mine as error:
                if error.args != (i,):
                    wrong.append((i, error))

    run_threads([lambda k=k: work(100 * k) for k in range(8)])
    assert not wrong and not runtime._runs


def run_threads(works: list[Any]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_eight_threads_compile_programs_with_callbacks():
    got: dict[int, float] = {}

    def work(k: int) -> None:
        f = jx.jit(lambda x: jx.pure_callback(lambda a: np.asarray(a) + F32(k), scalar(), x) * (k + 1))
        got[k] = float(f(1.0))

    run_threads([lambda k=k: work(k) for k in range(8)])
    assert got == {k: (1.0 + k) * (k + 1) for k in range(8)}


def test_callbacks_run_in_the_context_of_the_caller():
    name: contextvars.ContextVar[int] = contextvars.ContextVar("name", default=-1)
    seen: list[tuple[int, int]] = []
    x = jnp.ones((200, 200), np.int32)

    def work(k: int) -> None:
        name.set(k)
        for _ in range(5):
            g(k)

    g = jx.jit(lambda k: debug.callback(lambda a: seen.append((name.get(), int(a))), k + 0 * jnp.sum(x)))
    run_threads([lambda k=k: work(k) for k in range(6)])
    assert sorted(seen) == sorted((k, k) for k in range(6) for _ in range(5))


def test_callbacks_may_compute_and_call_themselves():
    square = jx.jit(lambda x: x @ x)

    @jx.jit
    def f(x):
        return jx.pure_callback(lambda a: square(jnp.sin(a)), S((200, 200), F32), jnp.cos(x)) @ x

    x = jnp.ones((200, 200))
    inner = np.sin(np.cos(np.ones((200, 200), F32)))
    want = inner @ inner @ np.ones((200, 200), F32)
    results: list[Any] = []
    run_threads([lambda: results.extend(f(x) for _ in range(2))] * 8)
    for got in results:
        np.testing.assert_allclose(got, want, rtol=1e-4)

    @jx.jit
    def factorial(n):
        def host(n):
            return np.asarray(1 if n <= 1 else int(n) * int(factorial(int(n) - 1)), np.int32)

        return jx.pure_callback(host, scalar(np.int32), n)

    assert int(factorial(8)) == 40320


def test_a_callback_inside_a_trace_sees_values():
    def f(x):
        with jx.ensure_compile_time_eval():
            y = jx.pure_callback(lambda a: np.asarray(a) * 2, scalar(), 3.0)
        return x * float(y)

    assert float(jx.jit(f)(2.0)) == 12
    # The callback of an eager call under a transformation computes outside of it.
    g = jx.grad(lambda x: (debug.callback(lambda a: jx.grad(jnp.sin)(a), x), x * x)[1])
    assert float(g(3.0)) == 6
