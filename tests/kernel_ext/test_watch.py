"""Loops that unroll are named while they do."""

import pytest


def body(cell: str) -> str:
    return f"%%jit --quiet\n{cell}"


def test_the_loop_is_named(shell) -> None:
    ran = shell.cell(
        body(
            "def f(x):\n    for i in range(700):\n        x = jnp.sin(x)\n        x = x + 1 * 2 - x\n    return x\nf(jnp.ones(3));"
        )
    )
    (line,) = ran.stderr.splitlines()
    assert line.startswith(
        f"In [{ran.count}], line 5: the loop in line 3, `for i in range(700):`, unrolls; this line made about"
    )
    assert "of f so far" in line and "Ctrl-C" in line


def test_each_loop_once(shell) -> None:
    cell = """def f(x):
    for i in range(2000):
        x = jnp.sin(x)
    while x.ndim:
        x = [x := jnp.cos(x) for _ in range(2000)][-1]
        break
    return x
f(jnp.ones(3));"""
    ran = shell.cell(body(cell))
    assert [line.partition(":")[0] for line in ran.stderr.splitlines()] == [
        f"In [{ran.count}], line 4",
        f"In [{ran.count}], line 6",
    ]
    assert "the loop in line 6" in ran.stderr.splitlines()[1]


def test_a_loop_in_the_caller_is_found(shell) -> None:
    cell = """def step(x):
    return jnp.sin(x)
def f(x):
    for _ in range(1500):
        x = step.__wrapped__(x)
    return x
f(jnp.ones(3));"""
    ran = shell.cell(body(cell))
    assert "line 3: the loop in line 5, `for _ in range(1500):`, unrolls" in ran.stderr


def test_a_loop_outside_the_compiled_function_is_not_blamed(shell) -> None:
    cell = "def f(x):\n    return chain(x, 1200)\ndef chain(x, n):\n    return x if n == 0 else chain.__wrapped__(x * 2, n - 1)\n"
    cell += "import sys\nsys.setrecursionlimit(20_000)\nfor _ in range(2):\n    chain.__wrapped__\n    f.__wrapped__\n"
    cell += "for y in [jnp.ones(3)]:\n    f(y)\n"
    ran = shell.cell("%%jit --quiet --static chain:n\n" + cell)
    shell.cell("sys.setrecursionlimit(3000)")
    assert "this line made about" in ran.stderr or ran.error.startswith("RecursionError")
    assert "for y in" not in ran.stderr


def test_a_short_loop_is_not_mentioned(shell) -> None:
    assert (
        shell.cell(
            body("def f(x):\n    for _ in range(300):\n        x = jnp.sin(x)\n    return x\nf(jnp.ones(3));")
        ).stderr
        == ""
    )


@pytest.mark.timeout(120)
def test_a_very_long_program_says_so(shell) -> None:
    lines = "\n".join(f"    x = x + {i}" for i in range(400))
    cell = f"def g(x):\n{lines}\n    return x\ndef f(x):\n    return [g.__wrapped__(x) for _ in range(51)]\njx.jit(f.__wrapped__).trace(jnp.ones(3));"
    ran = shell.cell(body(cell))
    assert "f has 20,000 equations so far" in ran.stderr


def test_a_watch_that_fails_says_so_and_the_trace_goes_on(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from jitscope_kernel import watch

    monkeypatch.setattr(watch, "_loop_around", lambda *_: 1 / 0)
    ran = shell.cell(
        body("def f(x):\n    for i in range(1200):\n        x = jnp.sin(x)\n    return x\nf(jnp.ones(3)).shape")
    )
    assert ran.result == (3,)
    assert "division by zero" in ran.stderr
