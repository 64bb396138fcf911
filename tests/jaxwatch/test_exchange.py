"""Arrays, keys and tracers of one library given to the other."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest


jax = pytest.importorskip("jax")
import jax.numpy as jaxnp  # noqa: E402

import jitscope as jx  # noqa: E402
import jitscope.numpy as jnp  # noqa: E402
from jitscope import lax, random  # noqa: E402
from jitscope.errors import DeletedArrayError  # noqa: E402


OURS, THEIRS = jnp.arange(16.0), jaxnp.arange(16.0)
REF = np.arange(16, dtype=np.float32)


def is_ours(x: object) -> bool:
    return isinstance(x, jx.Array)


TAKEN = {
    "jit": lambda y: jx.jit(lambda x: x * 2)(y),
    "jit, a tree": lambda y: jx.jit(lambda p: p["w"] * 2)({"w": y}),
    "jit, by name": lambda y: jx.jit(lambda x: x * 2)(x=y),
    "captured": lambda y: jx.jit(lambda x: x + y)(OURS),
    "asarray and two": lambda y: jnp.asarray(y) * 2,
    "array and two": lambda y: jnp.array(y) * 2,
    "a sum on the left": lambda y: OURS + y,
    "elementwise": lambda y: jnp.add(y, y),
    "an operation": lambda y: lax.add(y, y),
    "vmap": lambda y: jx.vmap(lambda x: x * 2)(y),
    "grad": lambda y: jx.grad(lambda x: (x * x).sum())(y),
    "where": lambda y: jnp.where(y > -1, OURS * 2, 0.0),
    "a tracer and an array": lambda y: jx.jit(lambda x: y + x)(OURS),
    "scan": lambda y: lax.scan(lambda c, x: (c, x * 2), 0.0, y)[1],
}


@pytest.mark.parametrize("name", TAKEN)
def test_arrays_of_jax_are_taken(name: str) -> None:
    found = TAKEN[name](THEIRS)
    assert is_ours(found) and found.dtype == np.float32
    np.testing.assert_array_equal(found, 2 * REF)


def test_other_places_for_arrays_of_jax() -> None:
    assert OURS[jaxnp.arange(3)].tolist() == [0, 1, 2]
    assert OURS.at[0].set(THEIRS[3])[0] == 3
    assert jnp.stack([OURS, THEIRS]).shape == (2, 16)
    assert jx.eval_shape(lambda x: x, THEIRS).shape == (16,)
    assert str(jx.make_jaxpr(lambda x: x + THEIRS)(THEIRS)).count("f32[16]") == 3
    assert (OURS == THEIRS).all()


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint32", "int4", "bfloat16", "float8_e4m3fn", "float16", "complex64"]
)
def test_dtypes_stay(dtype: str) -> None:
    x = jaxnp.asarray(np.arange(5) % 2, dtype)
    y = jx.jit(lambda x: x)(x)
    assert y.dtype == x.dtype and np.asarray(y).tobytes() == np.asarray(x).tobytes()


def test_wide_and_weak_types_stay() -> None:
    with jax.enable_x64(True):
        wide = jaxnp.arange(3.0)
    assert wide.dtype == np.float64 and jnp.asarray(wide).dtype == jx.jit(lambda x: x)(wide).dtype == np.float64
    weak = jaxnp.asarray(1.0) * 1
    assert weak.weak_type and jnp.asarray(weak).weak_type and (jnp.ones(2, jnp.bfloat16) * weak).dtype == jnp.bfloat16


def test_memory_is_shared_and_each_library_leaves_the_others_alone() -> None:
    big = np.arange(1000, dtype=np.float32)
    theirs = jaxnp.asarray(big) + 0
    ours = jnp.asarray(theirs)
    assert ours.unsafe_buffer_pointer() == theirs.unsafe_buffer_pointer()
    jx.jit(lambda x: x * 2 + 1, donate_argnums=0)(ours).block_until_ready()
    assert ours.is_deleted() and np.array_equal(np.array(theirs), big)
    ours = jnp.asarray(theirs)
    jax.jit(lambda x: x * 2 + 1, donate_argnums=0)(theirs).block_until_ready()
    del theirs
    junk = [jaxnp.full(1000, 7.0) for _ in range(20)]
    assert np.array_equal(ours, big) and len(junk) == 20
    copy = jnp.array(jaxnp.asarray(big))
    assert np.array_equal(copy, big)


def test_one_program_for_arrays_of_both() -> None:
    traces = []

    @jx.jit
    def f(x):
        traces.append(1)
        return x + 1

    f(OURS), f(THEIRS), f(THEIRS), f(OURS)
    assert len(traces) == 1


def test_a_deleted_array_of_jax_is_refused() -> None:
    gone = jaxnp.arange(3.0)
    gone.delete()
    with pytest.raises(DeletedArrayError, match=r"the array of JAX \(f32\[3\]\) was deleted"):
        jx.jit(lambda x: x)(gone)


def test_an_array_on_several_devices_is_refused_with_what_to_do() -> None:
    if jax.device_count() < 2:
        pytest.skip("jax has one device here")
    mesh = jax.sharding.Mesh(jax.devices()[:2], "a")
    spread = jax.device_put(np.arange(4.0, dtype=np.float32), jax.sharding.NamedSharding(mesh, jax.P("a")))
    with pytest.raises(TypeError, match=r"on 2 devices .* jitscope\.numpy\.asarray\(jax\.device_get\(x\)\)"):
        jx.jit(lambda x: x)(spread)
    assert jnp.asarray(jax.device_get(spread)).tolist() == [0, 1, 2, 3]


def test_the_device_that_jax_was_told_stays() -> None:
    code = """
import jax, jitscope as jx, jitscope.numpy as jnp
x = jax.device_put(jax.numpy.arange(3.0), jax.devices()[2])
y = jnp.asarray(x)
print(y.device.id, jx.jit(lambda x: x + 1)(x).device.id, jnp.asarray(jax.numpy.arange(3.0)).device.id)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "JITSCOPE_NUM_CPU_DEVICES": "4"},
    )
    assert done.stdout == "2 2 0\n", done.stderr


KEYS = {
    "draw": lambda key: random.normal(key, (2,)),
    "split": random.split,
    "jit": lambda key: jx.jit(lambda k: random.normal(k))(key),
    "asarray": jnp.asarray,
    "an operator": lambda key: OURS + key,
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_jax_are_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(
        TypeError, match=r"a random key of JAX \(key<fry>\[\]\).*wrap_key_data\(jax\.random\.key_data\(key\)\)"
    ):
        KEYS[name](jax.random.key(0))


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_what_the_error_for_a_key_says_is_right(impl: str) -> None:
    key = jax.random.key(7, impl=impl)
    with pytest.raises(TypeError) as caught:
        random.bits(key, (3,))
    said = str(caught.value).partition("What to do: ")[2].partition(" is a key")[0]
    made = eval(said, {"jitscope": jx, "jax": jax, "key": key})
    np.testing.assert_array_equal(random.bits(made, (3,)), jax.random.bits(key, (3,)))


def test_older_keys_are_plain_arrays() -> None:
    key = jax.random.PRNGKey(3)
    np.testing.assert_array_equal(random.bits(key, (3,)), jax.random.bits(key, (3,)))


TRACERS = {
    "elementwise": lambda x: jnp.sin(x),
    "an operation": lambda x: lax.sin(x),
    "jit": lambda x: jx.jit(lambda y: y + 1)(x),
    "grad": lambda x: jx.grad(lambda y: y * y)(x[0]),
    "asarray": lambda x: jnp.asarray(x),
    "stack": lambda x: jnp.stack([x]),
    "with a tracer of ours": lambda x: jx.jit(lambda y: x + y)(OURS),
    "with a tracer of ours, turned": lambda x: jx.jit(lambda y: y + x)(OURS),
}


@pytest.mark.parametrize("name", TRACERS)
def test_tracers_of_jax_are_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(
        TypeError,
        match=r"a tracer of JAX \(float32\[(16)?\]\).*jitscope traces its own.*What to do: .*jax\.numpy in place of",
    ):
        jax.jit(TRACERS[name])(THEIRS)


GIVEN = {
    "a function": lambda x: jaxnp.sin(x),
    "where": lambda x: jaxnp.where(x > 0, x, 0),
    "asarray": lambda x: jaxnp.asarray(x),
    "stack": lambda x: jaxnp.stack([x, x]),
    "jit": lambda x: jax.jit(lambda y: y + 1)(x),
}


@pytest.mark.parametrize("name", GIVEN)
def test_tracers_of_ours_given_to_jax_are_refused_with_what_to_do(name: str) -> None:
    said = r"(?s)a function of JAX was given a tracer of jitscope, a traced .*What to do: .*jitscope\.numpy in place of jax\.numpy"
    with pytest.raises(ValueError, match=said):
        jx.jit(GIVEN[name])(OURS)


def test_arrays_of_ours_in_functions_of_jax() -> None:
    assert isinstance(jaxnp.asarray(OURS), jax.Array) and isinstance(THEIRS + OURS, jax.Array)
    np.testing.assert_array_equal(jax.jit(lambda x: x + OURS)(THEIRS), 2 * REF)
    np.testing.assert_array_equal(jax.jit(lambda x: OURS + x)(THEIRS), 2 * REF)
    np.testing.assert_array_equal(jax.grad(lambda x: (x * OURS).sum())(THEIRS), REF)
    with pytest.raises((TypeError, ValueError)):
        jaxnp.sin(OURS)  # JAX says what to do


def test_jitscope_imports_no_jax_for_it() -> None:
    code = "import sys, jitscope.numpy as jnp\nx = jnp.ones(3)\nhasattr(x, '__jax_array__')\ntry: x + object()\nexcept TypeError: print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
