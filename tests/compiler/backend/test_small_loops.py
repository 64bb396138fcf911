"""Small loops are compiled into one function each, which saves most of the time of an iteration."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.jaxpr import walk
from jitscope.xla import program
from jitscope.xla.runtime import xc
from jitscope_scope import observe
from tests.compiler.jaxlibs import tuned


pytestmark = tuned
A = (np.random.default_rng(0).standard_normal((40, 40)) / 8).astype(np.float32)
LOOPS = {
    "matrix and vector": lambda A: lax.fori_loop(0, 30, lambda i, x: jnp.tanh(A @ x) + 0.1, jnp.ones(A.shape[0])),
    "scan": lambda A: lax.scan(lambda c, row: (0.9 * c + row, jnp.sum(c)), jnp.zeros(A.shape[1]), A)[1],
    "gradient": jx.grad(
        lambda A: jnp.sum(lax.scan(lambda c, row: (jnp.sin(c + row), None), jnp.zeros(A.shape[1]), A)[0])
    ),
    "nested": lambda A: lax.fori_loop(
        0, 5, lambda i, x: lax.fori_loop(0, i, lambda j, y: A @ y, x), jnp.ones(A.shape[0])
    ),
    "inverse": lambda A: lax.fori_loop(0, 3, lambda i, x: jnp.linalg.inv(x + 3 * jnp.eye(6)), A[:6, :6]),
    "sorted": lambda A: lax.fori_loop(0, 3, lambda i, x: jnp.sort(x + 0.1 * x[::-1], axis=0), A[:6, :6]),
}
MARK = "xla_cpu_small_call"


@pytest.mark.parametrize("name", LOOPS)
def test_results_are_those_of_loops_in_pieces(name: str) -> None:
    lowered = jx.jit(LOOPS[name]).lower(A)
    compiled = lowered.compile()
    outputs = [((a.shape), np.dtype(a.dtype)) for a in (jx.eval_shape(LOOPS[name], A),)]
    pieces = program.Executable.compile(lowered.bytecode(), outputs, options=xc.CompileOptions())
    (want,) = pieces.run([jnp.asarray(A).buf])
    np.testing.assert_allclose(compiled(A), np.asarray(want), rtol=1e-5, atol=1e-6)
    if name in ("matrix and vector", "nested"):
        assert MARK in compiled.as_text()


def test_large_loops_stay_in_pieces() -> None:
    large = jx.jit(lambda x: lax.fori_loop(0, 3, lambda i, x: jnp.sin(x), x)).lower(np.ones(100_000, np.float32))
    assert MARK not in large.compile().as_text()


def test_flags_go_first() -> None:
    """XLA reads them once, so another process is asked."""
    code = """
import jitscope as jx, jitscope.numpy as jnp
from jitscope import lax, observe
from jitscope.core.jaxpr import walk
loop = jx.jit(lambda A: lax.fori_loop(0, 30, lambda i, x: A @ x, jnp.ones(40))).lower(jnp.ones((40, 40)))
print("xla_cpu_small_call" in loop.compile().as_text())
"""
    flags = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=0"
    for more, expected in (({}, "True"), ({"XLA_FLAGS": flags}, "False")):
        done = subprocess.run([sys.executable, "-c", code], env=os.environ | more, capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr


def test_options_are_the_defaults_but_for_that() -> None:
    given = xc.CompileOptions().SerializeAsString()
    ours = program.compile_options().SerializeAsString()
    assert ours != given and program.default_options().startswith(given)
    assert b"xla_cpu_small_while_loop_byte_threshold" in ours
    options = xc.CompileOptions.ParseFromString(ours)
    assert (options.num_replicas, options.num_partitions, options.device_assignment) == (1, 1, None)


def test_a_loop_that_runs_in_one_piece_is_timed_with_all_its_equations() -> None:
    def loop(A):
        def step(i, x):
            with jx.named_scope("inside"):
                return jnp.tanh(A @ x)

        return lax.fori_loop(0, 30, step, jnp.ones(A.shape[0]))

    times = observe.kernel_times(jx.jit(loop), A)
    (whole,) = [one for one in times if one.opcode in ("call", "while")]
    parts = [one for one in times if one is not whole]
    inside = {path for one in (whole, *parts) for path in one.paths if "/" in path}
    equations = {
        f"{path}"
        for path, eqn in walk(jx.make_jaxpr(loop)(A).jaxpr)
        if "/" in path and eqn.primitive.name in ("dot_general", "tanh")
    }
    assert equations and equations <= inside
    if whole.opcode == "call":
        assert equations <= set(whole.paths) and "inside" in whole.scopes
