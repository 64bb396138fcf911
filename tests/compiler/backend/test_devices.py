"""Devices: several of them in one process, values moved between them, and the arrays that are alive."""

from __future__ import annotations

import copy
import gc
import pickle
import textwrap
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import random
from jitscope.backend.array import Array
from jitscope.core.errors import DeletedArrayError
from jitscope.xla import devices
from tests.compiler.programs import in_new_process


CPU = jx.devices()[0]


def in_process(code: str, **environment: str) -> None:
    """Run code in a new process, which must succeed."""
    in_new_process(START + textwrap.dedent(code), **environment)


START = """
import numpy as np
import jitscope as jx, jitscope.numpy as jnp
from jitscope import lax, random

def raises(error, words, make):
    try:
        made = make()
    except error as found:
        assert words in str(found), found
    else:
        raise AssertionError(made)
"""


# On one device --------------------------------------------------------------------------------------------------------


def test_devices() -> None:
    assert jx.devices() == jx.devices("cpu") == [CPU]
    with pytest.raises(RuntimeError, match="'gpu'"):
        jx.devices("gpu")


def test_device_put_makes_arrays_of_trees() -> None:
    x = {"a": 1, "b": [np.arange(3.0), None], "c": jnp.ones(2)}
    for device in (None, CPU, {"a": CPU, "b": None, "c": [CPU][0]}, jnp.ones(1).sharding):
        put = jx.device_put(x, device)
        assert put["c"] is x["c"] and put["b"][1] is None and put["a"].weak_type and put["b"][0].dtype == np.float32
        assert put["b"][0].devices() == {CPU} and put["a"].device == CPU
    x["b"][0][0] = 7  # no memory is shared
    assert float(put["b"][0][0]) == 0
    with pytest.raises(TypeError, match=r"str"):
        jx.device_put("a")
    for wrong in (5, "gpu", {"a": CPU, "b": CPU}, (CPU, CPU)):
        with pytest.raises(ValueError, match="device"):
            jx.device_put(x, wrong)


def test_device_put_copies_gives_away_and_accepts_what_jax_accepts() -> None:
    x = jnp.arange(3.0)
    assert jx.device_put(x, may_alias=True) is x and jx.device_put(x, CPU, src=CPU, donate=True) is x
    other = jx.device_put(x, CPU, may_alias=False)
    assert other is not x and other.unsafe_buffer_pointer() != x.unsafe_buffer_pointer() and (other == x).all()
    assert jx.device_put([x], CPU, donate=[True], may_alias=False)[0].tolist() == [0, 1, 2] and x.is_deleted()
    with pytest.raises(ValueError, match="not both"):
        jx.device_put(x, donate=True, may_alias=True)


def test_kinds_of_memory_by_name() -> None:
    """On a CPU the host's memory is the device's: what is put there stays, and no type says otherwise."""
    space = jx.memory.Space
    x = jnp.arange(3.0)
    assert jx.device_put(x, space.Host) is x and jx.device_put({"a": x}, {"a": space.Device})["a"] is x
    assert x.aval.memory_space is space.Device and jx.typeof(x).memory_space is space.Device
    assert jx.jit(lambda x: jx.device_put(x + 1, space.Host))(x).tolist() == [1, 2, 3]
    assert jx.vmap(jx.grad(lambda x: jx.device_put(x, space.Host) ** 2))(x).tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match=r"Space\.Any is no place"):
        jx.device_put(x, space.Any)


def test_an_array_that_is_made_on_a_device_is_not_weak() -> None:
    """As in JAX, where `device` is given."""
    assert jnp.full(3, 1.0).weak_type and not jnp.full(3, 1.0, device=CPU).weak_type
    assert not jnp.full(3, 1.0, device=jnp.ones(1).sharding).weak_type


def test_device_put_in_transformations() -> None:
    x = jnp.arange(3.0)
    for device in (None, CPU):
        f = lambda x: jx.device_put({"a": jnp.sin(x)}, device)["a"] * 2  # noqa: B023
        np.testing.assert_allclose(jx.jit(f)(x), 2 * np.sin(x))
        np.testing.assert_allclose(jx.vmap(f)(x), 2 * np.sin(x))
        slopes = 2 * np.cos(np.asarray(x))
        np.testing.assert_allclose(jx.grad(lambda x: f(x).sum())(x), slopes, rtol=1e-6)  # noqa: B023
        np.testing.assert_allclose(jx.jit(jx.grad(lambda x: jx.jit(f)(x).sum()))(x), slopes, rtol=1e-6)  # noqa: B023
        np.testing.assert_allclose(jx.jacfwd(f)(x), np.diag(slopes), rtol=1e-6)
        np.testing.assert_allclose(jx.jit(jx.vmap(jx.grad(f)))(x), slopes, rtol=1e-6)
    assert "device_put" in str(jx.make_jaxpr(lambda x: jx.device_put(x, CPU))(1.0))
    assert jx.jit(lambda k: jx.device_put(k, CPU))(random.key(0)).dtype == random.key(0).dtype
    assert float(jx.lax.scan(lambda c, x: (jx.device_put(c + x, CPU), None), 0.0, x)[0]) == 3


def test_device_get_gives_numpy_arrays() -> None:
    x = {"a": jnp.ones(2), "b": 3, "c": "text", "k": random.key(0), "n": None}
    got = jx.device_get(x)
    assert type(got["a"]) is np.ndarray and got["b"] == 3 and got["c"] == "text" and got["k"] is x["k"]
    assert jx.block_until_ready(x) is x and jx.copy_to_host_async(x) is x


def test_live_arrays_are_ours() -> None:
    x, k = jnp.arange(7.0), random.split(random.key(0), 5)
    found = jx.live_arrays()
    assert any(a is x for a in found) and any(a is k for a in found)
    assert all(type(a) is Array and not a.is_deleted() for a in found)
    assert len({id(a.buf) for a in found}) == len(found)
    same = Array(x.buf, x.aval)
    assert sum(a.buf is same.buf for a in jx.live_arrays("cpu")) == 1
    x.delete()
    assert not any(a is x or a is same for a in jx.live_arrays())
    number = id(k.buf)
    del k, found
    gc.collect()
    assert not any(id(a.buf) == number for a in jx.live_arrays())
    with pytest.raises(RuntimeError, match="platform"):
        jx.live_arrays("gpu")


# Arrays as objects ----------------------------------------------------------------------------------------------------


def test_where_an_array_is() -> None:
    x = jnp.ones((2, 3), "int4")
    assert x.device == CPU and x.devices() == {CPU} and x.platform() == "cpu" and x.to_device(CPU) is x
    assert x.sharding is jnp.ones(1).sharding and x.is_fully_addressable and x.is_fully_replicated
    assert x.nbytes == 6 and x.on_device_size_in_bytes() == 3 and x.addressable_data(0) is x
    for (shard,) in (x.addressable_shards, x.global_shards):
        assert shard.device == CPU and shard.index == (slice(None),) * 2 and shard.replica_id == 0
        np.testing.assert_array_equal(np.asarray(shard.data), np.ones((2, 3)))
    with pytest.raises(IndexError):
        x.addressable_data(1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_deleted_arrays(dtype: str) -> None:
    x = jnp.arange(3, dtype=dtype)
    x.delete()
    x.delete()
    assert x.is_deleted() and x.shape == (3,) and x.dtype == dtype and "deleted" in repr(x) and "deleted" in str(x)
    for use in (lambda: x + 1, lambda: jnp.sin(x), lambda: jnp.sum(x), lambda: jnp.concatenate([x, x]), lambda: copy.copy(x),
                lambda: x.on_device_size_in_bytes(), lambda: list(x), lambda: np.asarray(x), lambda: x[0], lambda: x.block_until_ready(), lambda: x.is_ready(),
                lambda: x.copy_to_host_async(), lambda: x.tolist(), lambda: jx.jit(lambda x: x)(x), lambda: bool(x.sum()),
                lambda: jx.block_until_ready([x]), lambda: x.unsafe_buffer_pointer(), lambda: x.__dlpack__(),
                lambda: pickle.dumps(x), lambda: copy.deepcopy(x), lambda: jx.device_put(x, may_alias=False)):  # fmt: skip
        with pytest.raises(DeletedArrayError):
            use()


@pytest.mark.parametrize("make", [lambda: jnp.arange(6.0).reshape(2, 3), lambda: jnp.asarray(2.0), lambda: random.key(5),
                                  lambda: jnp.ones((3, 2), "bfloat16"), lambda: jnp.ones(3, bool)])  # fmt: skip
def test_copies_and_pickles(make: Any) -> None:
    x = make()
    for again in (
        copy.copy(x),
        copy.deepcopy(x),
        pickle.loads(pickle.dumps(x)),
        pickle.loads(pickle.dumps(x, protocol=2)),
    ):
        assert again is not x and again.aval is x.aval and jnp.array_equal(again, x)
    nested = copy.deepcopy({"a": [x, x]})
    assert nested["a"][0] is nested["a"][1]


def test_dlpack() -> None:
    x = jnp.arange(3.0)
    shared = np.from_dlpack(x)
    assert shared.tolist() == [0, 1, 2] and shared.ctypes.data == x.unsafe_buffer_pointer()
    assert x.__dlpack_device__() == (1, 0) and x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)) is not None
    assert jnp.from_dlpack(np.arange(3.0, dtype="float32")).tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="host"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="key_data"):
        random.key(0).__dlpack__()


# Several devices ------------------------------------------------------------------------------------------------------


def test_eager_functions_and_compiled_ones_on_a_second_device() -> None:
    in_process(
        """
        a, b, c = jx.devices()
        x, y = jx.device_put(np.arange(6.0).reshape(2, 3), b), jx.device_put(np.ones((2, 3)), b)
        assert x.device == b and x.devices() == {b}
        for made in (x + y, x * 2, 2 - x, jnp.sin(x), x[0], x[0, 1], x[:, 1:], x[jnp.array([0])], x[np.array([1])], x @ y.T,
                     x.sum(), jnp.mean(x, axis=0), jnp.concatenate([x, y]), jnp.where(x > 1, x, y), x.at[0].set(1.0),
                     x.reshape(3, 2), x.T, jnp.sort(x), jnp.argmax(x), x.astype("int32"), jnp.linalg.norm(x), -x, x ** 2,
                     jnp.einsum("ij,ij->i", x, y), jnp.clip(x, 0, 1), jnp.cumsum(x, 1), jnp.zeros_like(x), x == y, abs(x),
                     jx.jit(lambda x: x @ y.T)(x), jx.jit(lambda x, n: x * n)(x, 3), jx.vmap(jnp.sin)(x),
                     jx.grad(lambda x: (x * y).sum())(x), jx.jit(jx.grad(lambda x: (x ** 2).sum()))(x),
                     lax.scan(lambda c, r: (c + r, c), jnp.zeros_like(x[0]), x)[1], lax.cond(True, jnp.sin, jnp.cos, x),
                     lax.fori_loop(0, 3, lambda i, v: v + i, x), jx.jvp(jnp.sin, (x,), (y,))[1]):
            assert made.device == b, made
        np.testing.assert_allclose(jx.jit(lambda x: x @ y.T)(x), np.asarray(x) @ np.asarray(y).T)
        assert jnp.ones(3).device == a and (jnp.ones((2, 3)) + 1).device == a

        twice, held = jx.jit(lambda v: v + v), jx.jit(lambda v: v + x[0])
        assert [twice(v).device for v in (jnp.ones(3), x, jnp.ones(3), np.ones(3))] == [a, b, a, a]
        assert held(y[0]).device == b and held(jx.device_put(np.ones(3), a)).device == a
        there = jx.jit(lambda v, k=2.0: v * k, device=c)
        assert there(np.ones(3)).device == there(jnp.ones(3)).device == there(x, 2.0).device == c
        assert jx.vjp(lambda v: jnp.sin(v) * 2, x)[1](np.ones((2, 3), np.float32))[0].device == b
        assert jx.jacrev(jnp.sin)(x).device == b

        put = jx.jit(lambda r, v: (r.__setitem__(0, v), r[...] * 2)[1])
        for device in (a, b, a):
            ref = jx.new_ref(jx.device_put(jnp.arange(3.0), device))
            out = put(ref, 5.0)
            ref[1] = 7.0
            assert ref.device == out.device == device, (device, ref.device, out.device)
            assert ref[...].tolist() == [5, 7, 2] and out.tolist() == [10, 2, 4]
            assert jx.jit(lambda: (ref.__setitem__(2, 1.0), ref[...])[1])().tolist() == [5, 7, 1] and ref.device == device

        moved = jx.device_put({"u": x, "v": [y, 1.0]}, {"u": c, "v": a})
        assert moved["u"].device == c and moved["v"][0].device == moved["v"][1].device == a
        assert (np.asarray(moved["u"]) == np.asarray(x)).all() and moved["u"].sharding is not x.sharding
        assert jx.device_put(1.0, moved["u"].sharding).device == c
        gone = jx.device_put(x + 0, c, donate=True)
        assert gone.device == c

        raises(ValueError, "different devices", lambda: jx.jit(lambda x, y: x + y)(x, moved["u"]))
        raises(Exception, "device", lambda: x + moved["u"])

        slope = jx.grad(lambda x: (jx.device_put(x, c) * 2).sum())(x)
        assert slope.device == b and (slope == 2).all()
        assert jx.vmap(lambda r: jx.device_put(r, c))(x).device == c
        assert jx.jit(lambda x: jx.device_put(x, b) + 1)(x).device == b
        assert jx.jit(lambda x: jx.device_put(x, c) + 1)(x).device == b  # as in JAX, nothing moves inside of a program
        """,
        JITSCOPE_NUM_CPU_DEVICES="3",
    )


def test_the_default_device() -> None:
    in_process(
        """
        a, b = jx.devices()
        def everything():
            key = random.key(0)
            return [jnp.zeros(3), jnp.arange(3), jnp.ones(()), jnp.asarray(1.0), jnp.array([1, 2.5]), jnp.linspace(0, 1, 5),
                    jnp.eye(3), jnp.full(2, 7), key, random.normal(key, (3,)), random.split(key), jx.device_put(np.ones(2)),
                    jx.jit(lambda: jnp.arange(4) * 2)(), jx.jit(lambda x: x + 1)(1.0), jnp.zeros(300_000), jnp.sin(1.0),
                    jnp.tri(3), jnp.float32(3), jnp.asarray(np.arange(3)) + 1, lax.fori_loop(0, 3, lambda i, c: c + i, 0)]
        for device, name in ((a, "cpu:0"), (b, "cpu:1")):
            for chosen in (device, name):
                with jx.default_device(chosen):
                    assert jx.config.default_device == device
                    places = [x.device for x in everything()]
                    assert set(places) == {device}, places
                    there = jx.device_put(jnp.ones(3), a)
                    assert (there + 1).device == a and jnp.sin(there).device == a and jx.jit(jnp.sin)(there).device == a
        assert {x.device for x in everything()} == {a} and jx.config.default_device is None
        jx.config.update("jax_default_device", b)
        assert {x.device for x in everything()} == {b}
        with jx.default_device(None):
            assert jnp.ones(1).device == a
        raises(ValueError, "cpu:0, cpu:1", lambda: jx.default_device("cpu:7"))
        raises(ValueError, "devices()", lambda: jx.default_device(3))
        """,
        JITSCOPE_NUM_CPU_DEVICES="2",
    )


def test_the_number_of_devices_that_xla_flags_ask_for() -> None:
    in_process(
        """
        assert jx.config.num_cpu_devices == 3 and len(jx.devices()) == 3
        """,
        XLA_FLAGS="--xla_cpu_use_thunk_runtime=true --xla_force_host_platform_device_count=3",
    )


def test_the_number_of_devices() -> None:
    in_process(
        """
        jx.config.update("jax_num_cpu_devices", 2)
        assert jx.config.num_cpu_devices == 2 and len(jx.devices()) == 2
        jx.config.update("num_cpu_devices", 2)
        raises(RuntimeError, "JITSCOPE_NUM_CPU_DEVICES", lambda: jx.config.update("num_cpu_devices", 4))
        raises(ValueError, "positive", lambda: jx.config.update("num_cpu_devices", 0))
        raises(AttributeError, "num_cpu_devices", lambda: jx.num_cpu_devices(3))
        from jitscope.core.config import override
        raises(ValueError, "whole process", lambda: override(num_cpu_devices=3))
        """
    )
    in_process('raises(ValueError, "JITSCOPE_NUM_CPU_DEVICES", jx.devices)', JITSCOPE_NUM_CPU_DEVICES="many")
    in_process(
        START + "assert jnp.ones(1).device == jx.devices()[1] == jx.jit(lambda: jnp.arange(3))().device",
        JITSCOPE_NUM_CPU_DEVICES="2",
        JITSCOPE_DEFAULT_DEVICE="cpu:1",
    )
    in_process('raises(ValueError, "JITSCOPE_DEFAULT_DEVICE", jx.devices)', JITSCOPE_DEFAULT_DEVICE="cpu:9")


def test_keys_on_a_second_device() -> None:
    in_process(
        """
        a, b = jx.devices()
        keys = jx.device_put(random.split(random.key(0), 3), b)
        for made in (keys, keys[1], random.normal(keys[0]), random.split(keys[0]), random.key_data(keys), keys == keys[0],
                     jx.vmap(random.bits)(keys), jnp.stack([keys[0], keys[1]]), random.fold_in(keys[0], 3)):
            assert made.device == b, made
        with jx.debug_key_reuse():
            random.normal(keys[2])
            raises(Exception, "used twice", lambda: random.uniform(keys[2]))
        """,
        JITSCOPE_NUM_CPU_DEVICES="2",
    )


def test_platforms_that_nobody_knows_are_refused() -> None:
    for platforms in ("cpu", "cuda,cpu"):
        devices.check_platforms(platforms)
    for platforms in ("nonsense", "cpu,nonsense", "cuda"):
        with pytest.raises(RuntimeError, match="no backend"):
            devices.check_platforms(platforms)
