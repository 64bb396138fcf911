"""`debug.breakpoint`: the running program's values in the frames of its trace."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import debug, lax


class Script(io.StringIO):
    """Commands for the debugger, one a line."""

    def __init__(self, *commands: str):
        super().__init__("\n".join(commands) + "\n")


def session(f, *args, commands=("c",), **options):
    """What the debugger said while f(stop, *args) ran, where stop() is the breakpoint; and the result."""
    out, script = io.StringIO(), Script(*commands)
    stop = lambda **more: debug.breakpoint(stdin=script, stdout=out, **{"num_frames": 4, **options, **more})
    result = f(stop, *args)
    jx.effects_barrier()
    return out.getvalue(), result


def compiled(stop, x):
    factor = 3.0

    @jx.jit
    def inner(y, params):
        z = jnp.sin(y) * factor
        stop()
        return z + params["w"]

    return inner(x, {"w": jnp.arange(2.0)})


def test_values_of_the_run_not_of_the_trace():
    commands = ("up", "z", "p y + 1", "pp params", "factor", "z.shape", "vars", "nothing_there", "1 +", "c")
    text, result = session(compiled, jnp.array([0.5, 1.0]), commands=commands)
    wanted = np.sin(np.array([0.5, 1.0], np.float32)) * 3
    np.testing.assert_allclose(result, wanted + np.arange(2), rtol=1e-6)
    said = text.split("(jdb) ")[1:]
    assert said[1].startswith("Array([1.438276") and said[2] == f"{jnp.array([1.5, 2.0])!r}\n"
    assert said[3] == f"{{'w': {jnp.arange(2.0)!r}}}\n" and said[4] == "3.0\n" and said[5] == "(2,)\n"
    assert "z = Array(" in said[6] and "params = {'w'" in said[6]
    assert "NameError" in said[7] and "SyntaxError" in said[8]


def test_places():
    text, _ = session(
        compiled, jnp.ones(2), commands=("where", "list", "down", "up", "up", "x", "w", "u", "u", "u", "c")
    )
    said = text.split("(jdb) ")
    assert __file__ in said[0] and "-> " in said[0] and "stop = lambda" in said[0]
    assert said[1].startswith("Traceback:") and "in compiled" in said[1] and "in inner" in said[1]
    assert "This is the innermost frame." in said[3]
    assert any(line.startswith("Array([1., 1.]") for line in text.replace("(jdb) ", "").splitlines())
    assert "This is the outermost frame." in text


def test_outside_of_traces_and_under_transformations():
    text, result = session(lambda stop, x: (stop(), x * 2)[1], jnp.float32(4), commands=("up", "x", "c"))
    assert "Array(4., dtype=float32)" in text and float(result) == 8

    def loop(stop, x):
        def step(c, y):
            stop(ordered=True)
            return c + y, None

        return lax.scan(step, x, jnp.arange(3.0))[0]

    text, result = session(loop, 10.0, commands=["up", "(float(c), float(y))", "c"] * 3)
    assert [line for line in text.replace("(jdb) ", "").splitlines() if line.startswith("(")] == ["(10.0, 0.0)", "(10.0, 1.0)", "(11.0, 2.0)"]  # fmt: skip
    assert float(result) == 13

    def mapped(stop, x):
        return jx.vmap(lambda row: (stop(), row.sum())[1])(x)

    text, _ = session(mapped, jnp.arange(4.0).reshape(2, 2), commands=["up", "row.tolist()", "c"] * 2)
    assert "[0.0, 1.0]" in text and "[2.0, 3.0]" in text

    def slope(stop, x):
        def f(y):
            z = y * y
            stop()
            return z

        return jx.jit(jx.grad(f))(x)

    text, result = session(slope, 3.0, commands=("up", "float(z)", "c"))
    assert "9.0" in text and float(result) == 6


def test_a_token_orders_by_data():
    def f(stop, x):
        @jx.jit
        def g(x):
            y = stop(token={"a": x * 2})
            stop(token=x)  # nobody uses what it gives back: it does not stop
            return y["a"] + 1

        return g(x)

    text, result = session(f, 2.0, commands=("c",))
    assert text.count("Entering jdb") == 1 and float(result) == 5
    with pytest.raises(ValueError, match="not both"):
        debug.breakpoint(ordered=True, token=1.0)


def test_debuggers_of_ones_own_and_frames():
    seen = []
    debug.register_debugger("own", lambda frames, thread, **options: seen.append((frames, options)), -5)
    with pytest.raises(ValueError, match="already"):
        debug.register_debugger("own", print, 1)
    with pytest.raises(ValueError, match="no debugger 'none'"):
        debug.breakpoint(backend="none")

    def outer(x):
        @jx.jit
        def f(y):
            debug.breakpoint(backend="own", num_frames=2, mark=7)
            debug.breakpoint(backend="own", filter_frames=False)
            return y

        return f(x)

    outer(jnp.float32(5))
    (frames, options), (everything, _) = seen
    assert [frame.function for frame in frames] == ["f", "outer"] and options == {"mark": 7}
    assert float(frames[0].locals["y"]) == 5 == float(frames[1].locals["x"]) and frames[0].filename == __file__
    assert frames[0].source[frames[0].lineno - frames[0].first].strip().startswith("debug.breakpoint(")
    assert len(everything) > len(frames) and any("jitscope" in frame.filename for frame in everything)


PROGRAM = """
import jitscope as jx, jitscope.numpy as jnp

@jx.jit
def f(x):
    y = x * 2
    jx.debug.breakpoint()
    return y

print("result", f(jnp.float32(21)))
"""


@pytest.mark.parametrize(("typed", "code"), [("float(y)\nc\n", 0), ("p y\nq\n", 0), ("float(y)\n", 0)])
def test_in_a_process_of_its_own(tmp_path, typed, code):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, input=typed, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == code, done.stderr
    assert "-> " in done.stdout and "jx.debug.breakpoint()" in done.stdout and "42." in done.stdout
    assert ("result 42.0" in done.stdout) == typed.endswith("c\n")
