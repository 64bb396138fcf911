"""The work of compiled programs: loops against unrolled programs as XLA counts them, routines against textbook loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla import hlo_module
from jitscope.xla.hlo_pieces import Pieces
from jitscope_scope.observe.cost import Costs, Work, bytes_written, depends_on_values, work_of
from tests.compiler.programs import floats
from tests.scope.xla_text import Program


X, W = floats(16, 128), floats(128, 128)
STEP = 2 * 16 * 128 * 128 + 16 * 128
"""A product of X and W, and tanh of each element."""


def module_of(fun: Any, *args: Any) -> Any:
    return hlo_module.optimized(jx.jit(fun).lower(*args).compile().runtime_executable())


def work(fun: Any, *args: Any) -> Work:
    return work_of(module_of(fun, *args))


def step(c: Any, w: Any) -> Any:
    return jnp.tanh(c @ w)


def unrolled(n: int) -> Any:
    def f(x, w):
        for _ in range(n):
            x = step(x, w)
        return x

    return f


def repeated(n: int) -> Any:
    return lambda x, w: lax.fori_loop(0, n, lambda _, c: step(c, w), x)


def test_without_loops_it_is_what_xla_says():
    module = module_of(unrolled(4), X, W)
    cost = hlo_module.cost_analysis(module)
    assert work_of(module) == (cost["flops"] + cost["transcendentals"], cost["bytes accessed"], "")
    assert work_of(module).flops == 4 * STEP


def asking_python(x):
    return jx.pure_callback(np.sort, jx.ShapeDtypeStruct(x.shape, x.dtype), jnp.sin(x)) * 2


def factorised_in_a_loop(x):
    return lax.fori_loop(0, 3, lambda _, a: jnp.linalg.cholesky(a, symmetrize_input=False) + 2 * jnp.eye(16), x)


@pytest.mark.parametrize("fun", [jnp.linalg.cholesky, lambda x: jnp.linalg.qr(x)[1], asking_python])
def test_routines_read_their_operands_and_write_their_results(fun):
    module = module_of(fun, floats(16, 16))
    assert "custom-call" in module.to_string()
    assert work_of(module).bytes == Program(module.to_string()).moved()


def test_routines_in_loops_count_as_often():
    module = module_of(factorised_in_a_loop, floats(16, 16))
    costs = Costs(module, computations := hlo_module.computations(module))
    (routine,) = [i for c in computations for i in c.instructions if i.opcode == "custom-call"]
    assert costs.instruction(routine) == (16**3 / 3, 2 * 16 * 16 * 4 + 4, "")
    assert work_of(module).flops >= 3 * 16**3 / 3


@pytest.mark.parametrize("n", [2, 5, 1000])
def test_a_loop_counts_as_often_as_it_turns(n):
    found = work(repeated(n), X, W)
    assert n * STEP <= found.flops <= n * (STEP + 4)  # and the counter of the loop
    one = work(unrolled(1), X, W)
    assert found.bytes == pytest.approx(n * one.bytes, rel=0.1)


@pytest.mark.parametrize("fun, steps", [
    (lambda x, w: lax.scan(lambda c, _: (repeated(3)(c, w), None), x, None, length=7)[0], 21),
    (lambda x, w: lax.scan(lambda c, _: (repeated(3)(step(c, w), w), None), x, None, length=5)[0], 20),
    (lambda x, w: jx.jit(repeated(4))(step(x, w), w), 5),
    (lambda x, w: lax.cond(x.sum() > 0, repeated(10), lambda x, w: step(x, w), x, w), 10),
    (lambda x, w: lax.cond(x.sum() > 0, repeated(2), repeated(6), x, w), 6),
    (lambda x, w: lax.map(lambda y: repeated(3)(y, w), jnp.stack([x, x, x])), 9),
], ids=range(6))  # fmt: skip
def test_nested_loops_and_branches(fun, steps):
    assert work(fun, X, W).flops == pytest.approx(steps * STEP, rel=0.01)


def test_a_gradient_through_a_scan():
    def loss(w, x, n):
        return lax.scan(lambda c, _: (step(c, w), None), x, None, length=n)[0].sum()

    # one product on the way there, two on the way back: for the weights and for the carry
    assert work(lambda w, x: jx.grad(loss)(w, x, 50), W, X).flops == pytest.approx(150 * 2 * 16 * 128 * 128, rel=0.05)


def test_what_is_not_known_is_said_to_be():
    found = work(lambda x: lax.while_loop(lambda c: c.sum() < 1e3, lambda c: c + 1, x), X)
    assert (found.flops, found.bytes) == (None, None) and "depends on the data" in found.why
    found = work(jnp.linalg.svd, W)
    assert found.flops is None and found.bytes > W.nbytes and "gesdd" in found.why


def factorization_steps(n: int, symmetric: bool) -> int:
    """Multiplications, divisions and additions of the textbook's loops for LU, or for Cholesky's lower half."""
    count = 0
    for k in range(n):
        count += n - k - 1
        for i in range(k + 1, n):
            count += 2 * ((i - k) if symmetric else (n - k - 1))
    return count


@pytest.mark.parametrize("fun, flops", [
    (jnp.linalg.cholesky, factorization_steps(128, True)),
    (lambda x: jx.scipy.linalg.lu_factor(x)[0], factorization_steps(128, False)),
    (lambda x: jx.scipy.linalg.solve_triangular(x, W), 128 * 128 * 128),
    (lambda x: jnp.linalg.inv(x), factorization_steps(128, False) + 2 * 128**3),
], ids=["cholesky", "lu", "triangular solve", "inverse"])  # fmt: skip
def test_routines_of_lapack(fun, flops):
    found = work(fun, W @ W.T + 128 * np.eye(128, dtype=np.float32))
    assert found.flops == pytest.approx(flops, rel=0.25)


def test_a_routine_in_a_loop_counts_each_time():
    def many(x, n):
        return lax.fori_loop(0, n, lambda _, c: jnp.linalg.inv(c), x)

    assert work(lambda x: many(x, 40), W).flops == pytest.approx(40 * work(jnp.linalg.inv, W).flops, rel=0.05)


def test_an_instruction_that_waits_for_another_is_counted_alone():
    text = """HloModule waits, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

ENTRY main {
  p = f32[4]{0} parameter(0)
  first = f32[4]{0} copy(p)
  ROOT second = f32[4]{0} add(p, p), control-predecessors={first}
}
"""
    assert hlo_module.cost_analysis(Pieces(text).instruction("second"))["flops"] == 4


def test_the_end_of_what_another_instruction_began_is_not_asked_about():
    """XLA's reader crashes where it stands alone."""
    text = """HloModule ends

part {
  p = f32[4]{0} parameter(0)
  ROOT twice = f32[4]{0} add(p, p)
}

ENTRY main {
  p = f32[4]{0} parameter(0)
  begun = ((f32[4]{0}), f32[4]{0}, u32[]) call-start(p), to_apply=part
  ROOT whole = f32[4]{0} call-done(begun)
}
"""
    module = hlo_module.from_text(text)
    parsed = hlo_module.computations(module)
    (end,) = (i for c in parsed for i in c.instructions if hlo_module.is_end(i))
    assert Costs(module, parsed).instruction(end) == (None, None, "it ends what another operation began")
    with pytest.raises(ValueError, match="ends what another instruction began"):
        Pieces(text).instruction(end.name)


@pytest.mark.parametrize(
    ("function", "depends"),
    [
        (lambda k: jx.random.normal(jx.random.split(k)[0]) * 57.0, False),  # in kernels of their own, by branches
        (lambda k: lax.cond(jx.random.bits(k) > 59, jnp.sin, jnp.cos, 1.0), True),
        (lambda k: lax.cond(jx.random.key_data(k)[0] == 0, jnp.sin, jnp.cos, 1.0), True),
    ],
)
def test_what_takes_another_time_with_other_values(function: Any, depends: bool) -> None:
    assert depends_on_values(module_of(function, jx.random.key(0))) == depends


def rows_of_a_scan(x):
    return lax.scan(lambda c, _: (jnp.tanh(c * 1.1), c * c), x, None, length=50)[1]


@pytest.mark.parametrize(
    ("function", "args", "kind", "written"),
    [
        (rows_of_a_scan, (floats(16, 64),), "dynamic-update-slice", 16 * 64 * 4),
        (lambda x: lax.dynamic_update_slice(x, jnp.sin(x[:3]), (5,)), (floats(1000),), "dynamic-update-slice", 3 * 4),
        (lambda x, i: x.at[i].add(jnp.sin(x[:4])), (floats(1000), np.arange(4)), "scatter", 4 * 4),
    ],
)
def test_of_an_array_that_is_updated_what_is_put_in_counts(function, args, kind, written):
    """An array of 4,000 or 204,800 bytes, of which a kernel touches a few: counted by hand."""
    module = module_of(function, *args)
    computations = hlo_module.computations(module)
    roots, costs = {one.name: one.root for one in computations}, Costs(module, computations)
    found = [
        i for one in computations for i in one.instructions if i.opcode == "fusion" and roots[i.calls[0]].opcode == kind
    ]
    assert [bytes_written(computations, lambda _: 7)(i.name) for i in found] == [7 * written]
    assert written <= costs.instruction(found[0]).bytes <= 4 * written + 16
    assert bytes_written(computations, lambda _: None)(found[0].name) is None
