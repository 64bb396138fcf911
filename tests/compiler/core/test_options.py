"""Options that watch, refuse, guard and log; and the bits of Threefry's older form."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import errors, random
from jitscope.core.checking import check_jaxpr
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Var


# Refusing -------------------------------------------------------------------------------------------------------------


def test_no_tracing_lets_known_programs_run() -> None:
    f = jx.jit(lambda x: x + 1)
    f(jnp.ones(2))
    with jx.no_tracing():
        assert float(f(jnp.ones(2))[0]) == 2
        for call in (lambda: f(jnp.ones(3)), lambda: jx.jit(lambda x: x)(1), lambda: jx.make_jaxpr(f)(jnp.ones(4))):
            with pytest.raises(RuntimeError, match="no_tracing is set"):
                call()
    assert f(jnp.ones(3)).shape == (3,)


def test_no_execution_lets_programs_be_looked_at() -> None:
    f, x = jx.jit(lambda x: x + 1), jnp.ones(2)
    f(x)
    with jx.no_execution():
        for call in (
            lambda: f(x),
            lambda: x + x,
            lambda: jnp.sin(x),
            lambda: jnp.linalg.inv(jnp.eye(2)),
            lambda: jx.grad(lambda x: f(x).sum())(x),
            lambda: f.lower(x).compile()(x),
        ):
            with pytest.raises(RuntimeError, match="no_execution is set"):
                call()
        assert jx.eval_shape(f, x).shape == (2,) and "add" in str(jx.make_jaxpr(f)(x)) and f.lower(x).compile()
    np.testing.assert_array_equal(f(x), [2, 2])


def test_a_context_of_ones_own_belongs_to_the_keys_of_caches() -> None:
    mode, other, seen = jx.make_user_context(1), jx.make_user_context("a"), []

    @jx.jit
    def f(x):
        seen.append((mode.value, other.value))
        return x * mode.value

    found = [int(f(3))]
    with mode(2):
        found += [int(f(3)), int(f(3))]
        with other("b"), mode(4):
            found.append(int(f(3)))
    found.append(int(f(3)))
    assert found == [3, 6, 6, 12, 3] and seen == [(1, "a"), (2, "a"), (4, "b")]
    assert (mode.value, other.value) == (1, "a")


# Guards ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["disallow", "disallow_explicit"])
@pytest.mark.parametrize("guard", [jx.transfer_guard, jx.transfer_guard_host_to_device])
def test_transfers_from_the_host_are_refused(level: str, guard) -> None:
    f, x, n = jx.jit(lambda x: x + 1), jnp.ones(3), np.ones(3, np.float32)
    f(x), f(n), x + n, x[1:]
    with guard(level):
        for implicit in (lambda: f(n), lambda: x + n, lambda: jnp.asarray(n), lambda: f(1.0), lambda: jnp.zeros(3)):
            with pytest.raises(errors.JaxRuntimeError, match=r"(?s)Disallowed host-to-device transfer of .*device_put"):
                implicit()
        np.testing.assert_array_equal(f(x), [2, 2, 2])
        assert float(x.sum()) == 3 and x[1:].shape == (2,) and jx.jit(lambda x: x + n)(x).shape == (3,)
        assert jx.device_put(x, jx.devices()[0]) is x
        if level == "disallow":
            assert jx.device_put(n).shape == (3,) and float(jx.device_put(2.0)) == 2
        else:
            with pytest.raises(errors.JaxRuntimeError, match="explicit"):
                jx.device_put(n)
        with jx.transfer_guard("allow"):
            jnp.asarray(n)
    jnp.asarray(n)


def test_guards_of_one_way_and_of_all() -> None:
    with jx.transfer_guard("disallow"), jx.transfer_guard_host_to_device("allow"):
        jnp.asarray(np.ones(3))
    with jx.transfer_guard_host_to_device("allow"), jx.transfer_guard("disallow"), pytest.raises(RuntimeError):
        jnp.asarray(np.ones(3))
    with jx.transfer_guard_device_to_host("disallow_explicit"), jx.transfer_guard_device_to_device("disallow"):
        assert np.asarray(jnp.arange(3)).tolist() == [0, 1, 2]
    jx.config.update("jax_transfer_guard", "disallow")
    try:
        with pytest.raises(RuntimeError):
            jnp.asarray(np.ones(3))
    finally:
        jx.config.update("jax_transfer_guard", None)
    jnp.asarray(np.ones(3))


def test_transfers_are_logged(caplog) -> None:
    n = np.ones(3, np.float32)
    with jx.transfer_guard("log"):
        jnp.asarray(n), jx.device_put(n)
    assert [r.message for r in caplog.records] == ["host-to-device transfer of float32[3]"]
    caplog.clear()
    with jx.transfer_guard("log_explicit"):
        jnp.asarray(n), jx.device_put(n)
    assert len(caplog.records) == 2


# Logging --------------------------------------------------------------------------------------------------------------


def test_compilations_are_logged(caplog) -> None:
    @jx.jit
    def stretched(x):
        return x * 3.25 + 17.125

    with jx.log_compiles():
        stretched(jnp.ones(5))
        stretched(jnp.ones(5))
    lines = [r.message for r in caplog.records if "stretched" in r.message]
    assert lines[0].startswith("Finished tracing + transforming stretched for jit in ")
    assert any(line.startswith(("Finished XLA compilation of jit(stretched)", "Finished loading")) for line in lines)
    assert all(r.levelno == logging.WARNING and r.name.startswith("jitscope") for r in caplog.records)
    count = len(caplog.records)
    stretched(jnp.ones(6))
    assert len(caplog.records) == count


def test_misses_are_explained(caplog) -> None:
    @jx.jit
    def explained(x, *, flag=1):
        return x + flag

    jx.config.update("jax_explain_cache_misses", True)
    try:
        explained(jnp.ones(2))
        explained(jnp.ones(2))
        explained(jnp.ones(3))
        explained(jnp.ones(3, np.int32))
    finally:
        jx.config.update("jax_explain_cache_misses", False)
    first, shape, dtype = [r.message for r in caplog.records]
    assert all("TRACING CACHE MISS at" in m and __file__ in m for m in (first, shape, dtype))
    assert "never seen function: explained" in first
    assert "f32[2]" in shape and "f32[3]" in shape
    assert "x changed dtype: f32 → i32" in dtype


# Keys -----------------------------------------------------------------------------------------------------------------


def test_raw_keys_are_refused_or_warned_of() -> None:
    raw, key = random.PRNGKey(0), random.key(0)
    with jx.legacy_prng_key("error"):
        for use in (random.normal, random.split, jx.jit(random.bits), lambda k: random.fold_in(k, 1), random.key_data):
            with pytest.raises(ValueError, match=r"random\.key\(seed\)"):
                use(raw)
            use(key)
    with jx.legacy_prng_key("warn"):
        with pytest.warns(UserWarning, match="legacy_prng_key") as caught:
            random.normal(raw, (7,))
        assert len(caught) == 1
        random.normal(key)
    random.normal(raw)


# Checks ---------------------------------------------------------------------------------------------------------------


def test_programs_are_checked() -> None:
    with jx.enable_checks(), warnings.catch_warnings():
        warnings.simplefilter("error")
        f = jx.jit(lambda x: jx.lax.scan(lambda c, y: (c * y, jnp.sin(c)), x, jnp.arange(3.0))[0])
        assert float(jx.grad(f)(2.0)) == 0 and jx.vmap(jx.hessian(lambda x: (x**3).sum()))(jnp.ones((2, 2))).shape

    eqn = jx.make_jaxpr(jnp.sin)(1.0).eqns[0]
    x, y, z = (Var(eqn.outvars[0].aval) for _ in range(3))

    def program(operand, out, result, results=None):
        made = JaxprEqn([operand], [out], eqn.primitive, eqn.params, results or eqn.effects, eqn.traceback)
        return Jaxpr([], [x], [result], [made])

    check_jaxpr(program(x, y, y))
    wide = Var(jx.make_jaxpr(jnp.sin)(jnp.ones(2)).eqns[0].outvars[0].aval)
    for wrong, text in [
        (program(z, y, y), "nothing before it defines"),
        (program(x, y, z), "nothing defines"),
        (program(x, x, x), "twice"),
        (program(x, wide, wide), "its abstract rule says"),
    ]:
        with pytest.raises(errors.JaxprTypeError, match=text):
            check_jaxpr(wrong)
