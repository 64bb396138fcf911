"""What jit compiles anew, what it finds again, and what it lets go."""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import jitscope as jx
from jitscope.backend import caches
from tests.compiler.programs import add, cos, exp, floats, mul, sin, steps, total


X = floats(3)


BIG = floats(50)


pytestmark = pytest.mark.usefixtures("nothing_compiled")


def plain(x: Any, y: float = 1.0) -> Any:
    """Adds."""
    return add(x, y)


compiled = jx.jit(plain)


def adder(held):
    return lambda x: add(x, held)


# Caches ---------------------------------------------------------------------------------------------------------------


def test_the_same_program_from_elsewhere_compiles_nothing():
    """A re-run cell, a fresh lambda, a partial, a bound method: traced again, compiled never again."""

    def cell():
        scope = {"sin": sin, "mul": mul}
        exec(compile("def f(x):\n    return mul(sin(x), 2.0)", "<cell>", "exec"), scope)
        return scope["f"]

    jx.jit(cell())(X)
    with steps() as seen:
        for fun in (cell(), lambda y: mul(sin(y), 2.0), functools.partial(lambda a, x: mul(sin(x), a), 2.0),
                    Scaled(2.0).apply, Scaled(2.0)):  # fmt: skip
            np.testing.assert_allclose(jx.jit(fun)(X), 2 * np.sin(X), rtol=1e-6)
    assert (seen["trace"], seen["reuse"], seen["compile"]) == (5, 5, 0)


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def apply(self, x):
        return mul(sin(x), self.scale)

    __call__ = apply


@pytest.mark.parametrize("transform", [lambda f: jx.grad(lambda x: total(f(x))), jx.vmap,
                                       lambda f: lambda x: jx.jvp(f, (x,), (x,)),
                                       lambda f: lambda x: jx.vjp(f, x)[1](x)])  # fmt: skip
def test_jit_of_a_fresh_transformation_compiles_nothing_new(transform):
    def f(x):
        return mul(sin(x), cos(x))

    jx.jit(transform(f))(X)
    with steps() as seen:
        jx.jit(transform(f))(X)
        jx.jit(transform(lambda x: mul(sin(x), cos(x))))(X)
    assert (seen["trace"], seen["compile"]) == (2, 0)


def test_transformations_of_a_jitted_function_compile_once():
    f = jx.jit(lambda x: total(mul(sin(x), x)))
    for transform in (
        jx.grad,
        lambda f: jx.vmap(f, in_axes=None, axis_size=2),
        lambda f: lambda x: jx.jvp(f, (x,), (x,)),
    ):
        first = transform(f)(X)
        with steps() as seen:
            second = transform(f)(X)
        assert not seen["compile"] and not seen["trace"]
        for a, b in zip(jx.tree.leaves(first), jx.tree.leaves(second)):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("of_one_function", [True, False])
def test_endless_recursion_ends_soon(of_one_function: bool):
    """At the second trace for the same types, as in JAX; with functions made anew, where Python ends it."""

    def fresh(x):
        return jx.jit(lambda y: fresh(y))(x)

    itself = jx.jit(lambda n, x: mul(itself(n - 1, x), x))
    with steps() as seen, pytest.raises(RecursionError) as raised:
        itself(3, X) if of_one_function else fresh(X)
    error: Any = raised.value
    assert not getattr(error, "__notes__", []), "nothing was kept beyond its trace"
    assert seen["trace"] == 0 and len(error.unfinished) == (1 if of_one_function else 16)
    assert not of_one_function or str(error).startswith("<lambda> calls itself with arguments of the same types")


def test_recursion_over_other_shapes_and_static_numbers_ends_by_itself():
    count = jx.jit(lambda n, x: mul(count(n - 1, x), x) if n else x, static_argnums=0)
    total_of = jx.jit(lambda x: x[0] if x.shape[0] == 1 else x[0] + total_of(x[1:]))
    for _ in range(2):
        np.testing.assert_allclose(count(3, X), X**4, rtol=1e-6)
        np.testing.assert_allclose(total_of(X), X.sum(), rtol=1e-6)


def test_globals_are_seen_anew_when_a_function_is_made_again():
    scope: dict[str, Any] = {"mul": mul, "scale": 2.0}
    for scale in (2.0, 3.0):
        scope["scale"] = scale
        exec("f = lambda x: mul(x, scale)", scope)
        np.testing.assert_allclose(jx.jit(scope["f"])(X), X * scale)


def test_two_jits_of_one_function_share_its_traces():
    def f(x):
        return sin(x)

    with steps() as seen:
        jx.jit(f)(X)
        jx.jit(f)(X)
        jx.jit(f, donate_argnums=0)(X)
    assert seen["trace"] == 2


def test_traces_die_with_the_function():
    def f(x, n=1):
        return sin(x)

    compiled = jx.jit(f, static_argnames="n")
    compiled(X, n=2)
    jx.grad(lambda x, f=compiled: total(f(x)))(X)
    fun, caches = weakref.ref(f), weakref.ref(compiled._caches)
    ready = weakref.ref(next(iter(compiled._caches.calls.values())))
    del f, compiled
    gc.collect()
    assert (fun(), caches(), ready()) == (None, None, None)


def test_captured_arrays_die_with_the_function():
    held = jx.device_put(BIG)
    alive = weakref.ref(held)
    f = jx.jit(adder(held))
    f(BIG)
    del held, f
    gc.collect()
    assert alive() is None


def test_the_caches_are_bounded(monkeypatch):
    monkeypatch.setattr(caches, "MAX_KEYS", 16)
    f = jx.jit(lambda x, n: x, static_argnums=1)
    for n in range(60):
        f(X, n)
    assert 0 < len(f._caches.traces) <= 16 and 0 < f._cache_size() <= 16
    g = jx.jit(lambda x: x)
    for n in range(40):
        g(jx.device_put(np.zeros(n, np.float32)))
    assert max(map(len, (g._caches.traces, g._caches.calls))) <= 16
    with steps() as seen:
        f(X, 59)
        f(X, 0)
    assert seen["trace"] == 1


def test_programs_without_functions_are_bounded(monkeypatch):
    """A program lives as long as a function uses it; of the others the last few are kept, for cells that are run again."""
    from jitscope.backend import compile as programs

    programs.clear_executables()
    monkeypatch.setattr("jitscope.backend.compile.ORPHANS", 5 * 400_000)

    def make(n):
        return jx.jit(lambda x: add(x, n + 0.25))

    functions = [make(n) for n in range(30)]
    for f in functions:
        f(X)
    with steps() as seen:
        for n in range(30):
            make(n)(X)
    assert not seen["compile"] and seen["reuse"] == 30
    del functions, f, seen
    gc.collect()
    assert 4 <= len(programs._orphans) <= 12
    with steps() as seen:
        make(29)(X), make(29)(X), make(0)(X)
    assert (seen["compile"], seen["reuse"]) == (1, 2)


def test_clear_caches_forgets_everything():
    f = jx.jit(sin)
    f(X)
    jx.clear_caches()
    assert f._cache_size() == 0
    with steps() as seen:
        f(X)
    assert (seen["trace"], seen["compile"]) == (1, 1)
    f.clear_cache()
    with steps() as seen:
        f(X)
    assert (seen["trace"], seen["compile"], seen["reuse"]) == (1, 0, 1)


def test_dead_equations_are_not_compiled():
    f = jx.jit(lambda x: (exp(x), sin(x))[1])
    assert "exponential" not in f.lower(X).as_text()
    assert [e.primitive.name for e in f.trace(X).jaxpr.eqns] == ["exp", "sin"]


def test_python_runs_once_for_each_kind_of_argument():
    runs = []
    f = jx.jit(lambda x: runs.append(1) or sin(x))
    for x in (X, X + 1, jx.device_put(X), X.tolist()[0], np.float64(1), 2.0, X.astype(np.float16)):
        f(x)
    assert len(runs) == 4


def test_a_failed_trace_is_not_remembered():
    fail = [True]

    @jx.jit
    def f(x):
        if fail[0]:
            raise KeyError("not yet")
        return sin(x)

    with pytest.raises(KeyError, match="not yet"):
        f(X)
    fail[0] = False
    np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)


def test_records_of_a_first_call():
    with steps() as seen:
        jx.jit(sin)(X)
    assert [r.step for r in seen.records] == ["trace", "lower", "compile", "run"]
    assert all(r.seconds > 0 for r in seen.records) and len({r.program for r in seen.records}) == 1
    assert seen.records[0].call_site is not None and seen.records[0].call_site.file == __file__
