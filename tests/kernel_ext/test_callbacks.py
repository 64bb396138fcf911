"""Callbacks in a notebook: their output belongs to the cell that ran the program, their exceptions are the cell's."""

import time

import pytest


pytestmark = pytest.mark.timeout(300)


def test_prints_come_in_the_cell_that_runs_the_program(kernel) -> None:
    first = kernel.send(
        "%%jit\ndef f(x):\n    jx.debug.print('saw {}', x, ordered=True)\n    return x * 2\n\nf(jnp.ones(()))",
        cell_id="one",
    )
    second = kernel.send("[f(jnp.float32(i)) for i in range(3)]\nprint('after')", cell_id="two")
    ran = kernel.wait(first)
    assert not ran.error, ran.traceback
    assert ran.stdout == "saw 1.0\n"
    assert ran.order == ["stdout", "result", "shown"]
    assert kernel.wait(second).stdout == "saw 0.0\nsaw 1.0\nsaw 2.0\nafter\n"


def test_prints_of_two_threads_come_where_each_belongs(kernel) -> None:
    setup = (
        "import contextvars, threading\n"
        "@jx.jit\ndef g(x):\n"
        "    y = x @ x\n"
        "    jx.debug.callback(lambda a: print('from', threading.current_thread().name, int(a)), y[0, 0])\n"
        "    return y\n"
        "g.lower(jnp.ones((300, 300))).compile();"
    )
    assert not kernel.cell(setup).error
    ran = kernel.cell(
        "def work(k):\n    g(jnp.ones((300, 300)) * k)\n"
        "threads = [threading.Thread(target=contextvars.copy_context().run, args=(work, k)) for k in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads];"
    )
    assert not ran.error, ran.traceback
    assert sorted(int(line.split()[-1]) for line in ran.stdout.splitlines()) == [0, 300, 1200, 2700]


def test_output_inside_a_view_and_under_capture(kernel) -> None:
    ran = kernel.cell("%%capture kept\njx.jit(lambda x: jx.debug.print('inside {}', x))(3)")
    assert ran.stdout == ""
    assert kernel.cell("print(kept.stdout, end='')").stdout == "inside 3\n"


def test_the_users_exception_with_the_users_frames(kernel) -> None:
    source = (
        "%%jit\ndef broken(x):\n"
        "    return jx.pure_callback(host, jx.ShapeDtypeStruct((), np.float32), x)\n\n"
        "def host(a, /, *, scale=0):\n    return 1 / scale\n\nbroken(jnp.ones(()))"
    )
    ran = kernel.cell(source.replace("%%jit", "%%jit broken"))
    assert ran.error.startswith("ZeroDivisionError")
    assert (
        "in host(" in ran.traceback and "return 1 / scale" in ran.traceback and "broken(jnp.ones(()))" in ran.traceback
    )
    for ours in ("callbacks.py", "dispatch.py", "JaxRuntimeError"):
        assert ours not in ran.traceback
    again = kernel.cell(
        "jx.jit(lambda x: jx.pure_callback(lambda a: 'text', jx.ShapeDtypeStruct((), np.float32), x))(1.0)"
    )
    assert again.error.startswith("CallbackResultError: the callback <lambda> returned something that is not an array")


def test_stop_ends_a_program_at_its_next_callback(kernel) -> None:
    request = kernel.send(
        "import time\n"
        "@jx.jit\ndef slow(x):\n"
        "    def turn(i, c):\n"
        "        jx.debug.callback(lambda i: time.sleep(0.02), i)\n"
        "        return c + 1\n"
        "    return jx.lax.fori_loop(0, 2000, turn, x)\n"
        "slow.lower(0.0).compile()\n"
        "import sys; print('ready', file=sys.stderr, flush=True)\n"
        "slow(0.0)"
    )
    kernel.wait(request, until="ready")
    time.sleep(0.3)
    start = time.monotonic()
    kernel.interrupt()
    ran = kernel.wait(request)
    assert ran.error.startswith("KeyboardInterrupt")
    assert time.monotonic() - start < 20
    assert kernel.cell("float(jx.jit(lambda x: x + 1)(1.0))").result == "2.0"
