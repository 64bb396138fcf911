"""What is printed of a tracer: JAX 0.12.0.1 printed these texts for these programs."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx


X = np.arange(4, dtype=np.float32)
GRAD_OF_ONE = "GradTracer(primal={}, typeof(tangent)=f32[])"
PROGRAMS = {
    "jit": (lambda show: jx.jit(show)(X), "JitTracer(float32[4])"),
    "scan": (lambda show: jx.lax.scan(lambda c, x: (show(c), x), 1.0, X), "JitTracer(~float32[])"),
    "a key": (lambda show: jx.jit(show)(jx.random.key(0)), "JitTracer(key<fry>[])"),
    "vmap": (lambda show: jx.vmap(show)(X), "VmapTracer(aval=float32[], batched=float32[4])"),
    "jvp": (
        lambda show: jx.jvp(show, (jx.numpy.array(X),), (jx.numpy.array(X),)),
        "JVPTracer(primal=[0. 1. 2. 3.], tangent=[0. 1. 2. 3.])",
    ),
    "jacfwd": (
        lambda show: jx.jacfwd(show)(jx.numpy.array(X)),
        "JVPTracer(primal=[0. 1. 2. 3.], tangent=VmapTracer(aval=float32[4], batched=float32[4,4]))",
    ),
    "jit of jvp": (
        lambda show: jx.jit(lambda x: jx.jvp(show, (x,), (x,)))(X),
        "JVPTracer(primal=JitTracer(float32[4]), tangent=JitTracer(float32[4]))",
    ),
    "grad": (lambda show: jx.grad(show)(1.0), GRAD_OF_ONE.format("1.0")),
    "grad of grad": (lambda show: jx.grad(jx.grad(show))(1.0), GRAD_OF_ONE.format(GRAD_OF_ONE.format("1.0"))),
    "jit of grad": (lambda show: jx.jit(jx.grad(show))(1.0), GRAD_OF_ONE.format("JitTracer(~float32[])")),
    "vmap of grad": (
        lambda show: jx.vmap(jx.grad(show))(X),
        GRAD_OF_ONE.format("VmapTracer(aval=float32[], batched=float32[4])"),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_tracers_are_printed_as_jax_prints_them(name):
    run, text = PROGRAMS[name]
    seen = []

    def show(x):
        seen.append((repr(x), str(x), f"{x}", "{}".format(x)))  # noqa: UP032
        return x

    run(show)
    assert seen[0] == (text,) * 4


def test_a_format_shows_the_value_that_is_known():
    seen = []
    jx.grad(lambda x: (seen.append(f"{x:.2f}"), x)[1])(1.0)
    assert seen == ["1.00"]
