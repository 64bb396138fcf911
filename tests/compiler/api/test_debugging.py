"""`debug_nans`, `debug_infs` and `checking_leaks`: the line, the operands, the holder."""

from __future__ import annotations

import inspect
import threading
from types import ModuleType

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core import config as configuration, leaks


A = np.array([-1.0, 0.0, 1.0], np.float32)
kept: list = []


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def eager(x):
    return jnp.log(x)


def operator(x):
    return jnp.asarray(x) / 0.0


def compiled(x):
    return jx.jit(lambda x: jnp.sum(jnp.sqrt(x) * 2))(x)


def backward(x):
    return jx.grad(lambda x: (jnp.sqrt(jnp.abs(x)) * 0.0).sum())(x)


def compiled_backward(x):
    return jx.jit(jx.grad(lambda x: jnp.linalg.norm(x * 0)))(x)


def looped(x):
    return lax.fori_loop(0, 4, lambda i, c: jnp.arccos(c + 0.9), x)


def batched(x):
    return jx.vmap(lambda x: lax.cond(x > 0, jnp.sin, jnp.log, x))(x)


PROGRAMS = [
    (eager, "log"), (operator, "div"), (compiled, "sqrt"), (backward, "div"), (compiled_backward, "mul"), (looped, "acos"),
    (batched, "log"),
]  # fmt: skip


@pytest.mark.parametrize("wide", [False, True])
def test_numbers_of_python_have_the_dtype_that_they_are_computed_in(wide):
    with jx.enable_x64(wide), jx.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        jx.jit(lambda x: 0.0 / x)(0.0)
    kind = "f64[]" if wide else "f32[]"
    assert [line.split()[-2] for line in str(caught.value).split("\n")[-3:]] == [kind] * 3


@pytest.mark.parametrize(("f", "primitive"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_nan_is_reported_where_it_was_made(f, primitive):
    f(A)
    with jx.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        f(A)
    text = str(caught.value)
    first = text.splitlines()[0]
    assert f"first made by {primitive} in line " in first
    assert f"in line {line_of(f, 'jnp.' if f is not operator else '/')}, columns " in first
    assert "operand 0: f32[" in text
    f(A)  # the option holds in its block alone


def test_infinities_apart_from_nans():
    with jx.debug_infs(True):
        assert np.isnan(jnp.log(jnp.float32(-1)))
        with pytest.raises(FloatingPointError, match="gave an infinity: first made by log"):
            jnp.log(jnp.float32(0))
        with pytest.raises(FloatingPointError, match="first made by exp"):
            jx.jit(lambda x: jnp.exp(x) - 1)(1000.0)
    with jx.debug_nans(True), jx.debug_infs(True), pytest.raises(FloatingPointError, match="NaN or an infinity"):
        jnp.sqrt(jnp.float32(-1))


def test_results_without_nans_pass_and_integers_and_keys_are_left_alone():
    with jx.debug_nans(True):
        assert jx.jit(lambda x: x + 1)(A).tolist() == [0, 1, 2]
        assert jnp.arange(3).sum() == 3
        assert jx.jit(lambda k: jx.random.split(k))(jx.random.key(0)).shape == (2,)
        assert float(jx.jit(lambda x: jnp.where(x > 0, jnp.log(x), 0.0))(-1.0)) == 0


def test_donated_arguments_are_kept_for_the_search():
    f = jx.jit(lambda x: jnp.log(x), donate_argnums=0)
    with jx.debug_nans(True):
        x = jnp.asarray(A)
        with pytest.raises(FloatingPointError, match="operand 0"):
            f(x)
        assert not x.is_deleted()
    x = jnp.asarray(A)
    f(x)
    assert x.is_deleted()


def test_for_the_whole_process_and_by_thread():
    try:
        jx.config.update("jax_debug_nans", True)
        with pytest.raises(FloatingPointError):
            eager(A)
        found = []
        with jx.debug_nans(False):
            eager(A)
            thread = threading.Thread(target=lambda: found.append(_error(eager)))
            thread.start()
            thread.join()
        assert found == ["FloatingPointError"]
    finally:
        jx.config.update("debug_nans", False)
    assert configuration.watching == 0
    assert _error(eager) is None


def _error(f):
    try:
        f(A)
    except Exception as error:
        return type(error).__name__
    return None


def test_programs_with_callbacks_are_not_run_again():
    calls = []

    def f(x):
        jx.debug.callback(lambda x: calls.append(1), x)
        return jnp.log(x)

    with jx.debug_nans(True), pytest.raises(FloatingPointError, match="was not run again"):
        jx.jit(f)(-1.0)
    jx.effects_barrier()
    assert len(calls) == 1


# Leaks ---------------------------------------------------------------------------------------------------------------


class Model:
    pass


@pytest.mark.usefixtures("every_object")
def test_leaks_are_reported_with_what_holds_them():
    model = Model()

    def in_a_global(x):
        kept.append(x * 2)
        return x

    def in_an_attribute(x):
        model.cache = {"k": (x + 1,)}
        return x

    with jx.checking_leaks():
        with pytest.raises(jx.errors.UnexpectedTracerError, match=r"(?s)x \* 2.*global variable kept\[0\] of tests"):
            jx.jit(in_a_global)(1.0)
        kept.clear()
        with pytest.raises(jx.errors.UnexpectedTracerError, match=r"attribute cache\['k'\]\[0\] of an object of Model"):
            jx.jit(in_an_attribute)(1.0)
        model.cache = None
    jx.jit(lambda x: in_a_global(x) + 1)(1.0)
    kept.clear()


def test_what_holds_a_leak_has_the_name_that_a_person_gave():
    """IPython has results under names of its own, too; here they come first."""
    log = []
    module = ModuleType("notebook")
    vars(module).update({"_": log, "_7": log, "log": log})

    assert leaks._place_in(vars(module), log) == "log"
    assert leaks._place_in({"_": log}, log) == "_" and leaks._place_in([1, log], log) == 1


def test_what_does_not_leak_passes():
    def f(x):
        total, _ = lax.scan(lambda c, i: (c * x + i, c), x, jnp.arange(3.0))
        return jnp.sin(total) * jx.jit(jnp.cos)(x)

    expected = jx.grad(f)(1.0)
    with jx.checking_leaks():
        np.testing.assert_allclose(jx.jit(jx.grad(f))(1.0), expected, rtol=1e-6)


def test_every_way_of_making_a_nan_is_watched_and_nothing_stays_watched():
    x, n = jnp.zeros(3), np.array([np.nan, 1.0], np.float32)
    broken = jx.jit(lambda x: x / x)
    compiled = broken.lower(x).compile()
    ways = {
        "set": lambda: x.at[0].set(jnp.nan),
        "add": lambda: x.at[jnp.array([0, 2])].add(jnp.nan),
        "get": lambda: x.at[7].get(mode="fill", fill_value=jnp.nan),
        "array": lambda: jnp.array([1.0, float("nan")]),
        "asarray": lambda: jnp.asarray(n),
        "compiled": lambda: compiled(x),
        "jit": lambda: broken(x),
        "eager": lambda: x / x,
    }
    for name, make in ways.items():
        for _ in range(2):  # whether the program was known before, or watched before
            assert np.isnan(np.asarray(make())).any(), name
            with jx.debug_nans(), pytest.raises(FloatingPointError, match="NaN"):
                make()
            with jx.debug_infs():
                make()
    with jx.debug_nans():
        bad = jx.device_put(n)
        with pytest.raises(FloatingPointError):
            _ = bad[0]
        assert float(bad[1]) == 1 and bad[1:].shape == (1,)
    assert np.isnan(bad[0])
