"""Array: values, interop, memory, text."""

from __future__ import annotations

import gc
import hashlib
import sys

import ml_dtypes
import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend.array import array_from_numpy, to_array
from jitscope.core.formats import Format, Layout
from tests.compiler.programs import add, floats, in_new_process


DTYPES = [np.dtype(t) for t in ("bool", "int8", "int32", "uint8", "uint32", "float16", "float32", "complex64")]
DTYPES += [np.dtype(t) for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4)]


def sample(dtype, shape=(2, 3)):
    return (np.arange(int(np.prod(shape))) % 3).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 2)], ids=str)
def test_values_go_in_and_out(dtype, shape):
    x = sample(dtype, shape)
    a = jx.device_put(x)
    assert isinstance(a, jx.Array) and (a.aval.shape, a.aval.dtype) == (shape, dtype)
    out = np.asarray(a)
    assert out.dtype == dtype and out.shape == shape and not out.flags.writeable
    assert out.astype(np.float32 if dtype.kind != "c" else dtype).tolist() == x.astype(out.dtype).astype(
        np.float32 if dtype.kind != "c" else dtype).tolist()  # fmt: skip
    assert np.asarray(a, dtype=np.complex64).dtype == np.complex64


def test_wide_dtypes_are_narrowed_unless_asked_for():
    for wide, narrow in (("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"), ("complex128", "complex64")):
        assert jx.device_put(np.ones(2, wide)).aval.dtype == narrow
        with jx.enable_x64():
            assert jx.device_put(np.ones(2, wide)).aval.dtype == wide


def test_the_source_may_change_afterwards():
    x = np.zeros((64, 64), np.float32)
    a = jx.device_put(x)
    x[:] = 7
    assert np.asarray(a).sum() == 0
    out = np.array(a)
    out[:] = 7
    assert np.asarray(a).sum() == 0


def test_a_view_holds_the_memory():
    a = jx.device_put(floats(1000))
    view, place = np.asarray(a), a.unsafe_buffer_pointer()
    assert view.ctypes.data == place
    del a
    gc.collect()
    np.testing.assert_array_equal(view, floats(1000))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python asks classes for their memory since 3.12")
def test_the_memory_can_be_asked_for():
    a = jnp.arange(6, dtype=jnp.int8).reshape(2, 3)
    view = memoryview(a)
    assert view.readonly and (view.shape, bytes(view)) == ((2, 3), bytes(range(6)))
    assert hashlib.sha256(a).digest() == hashlib.sha256(bytes(range(6))).digest()
    assert np.frombuffer(a, np.int8).ctypes.data == a.unsafe_buffer_pointer()
    assert memoryview(jnp.zeros((), complex)).format in ("Zf", "=Zf") and memoryview(jnp.zeros((0, 2))).shape == (0, 2)
    f = jx.jit(lambda x: x, out_shardings=Format(Layout((1, 0)), a.sharding))
    assert bytes(f(a)) == bytes(view)
    a.delete()
    assert bytes(view) == bytes(range(6))
    for refused in (a, jnp.ones(2, jnp.bfloat16), jnp.ones(2, jnp.int4), jx.random.key(0)):
        with pytest.raises(BufferError):
            memoryview(refused)


def test_python_numbers():
    one = to_array(1.5)
    assert (float(one), int(to_array(3)), complex(to_array(1j)), bool(to_array(False))) == (1.5, 3, 1j, False)
    assert [10, 20, 30][to_array(2)] == 30 and list(range(to_array(np.uint8(3)))) == [0, 1, 2]
    assert jx.device_put(np.full((1, 1), 2.5, np.float32)).item() == 2.5
    assert (one.item(), jx.device_put(sample("int32")).tolist()) == (1.5, [[0, 1, 2], [0, 1, 2]])
    assert f"{one:.3f}" == "1.500" and f"{to_array(3)}" == "3"
    tenth = np.float32(0.1)
    assert f"{to_array(tenth)}" == f"{tenth}" and str(to_array(tenth)) == str(tenth)


def test_what_is_no_number_says_so():
    a = jx.device_put(floats(3))
    for convert, kind in ((float, TypeError), (int, TypeError), (complex, TypeError), (bool, ValueError),
                          (lambda x: [1][x], TypeError)):  # fmt: skip
        with pytest.raises(kind, match=r"f32\[3\]"):
            convert(a)
    with pytest.raises(TypeError, match="index"):
        [1, 2][to_array(1.0)]
    with pytest.raises(TypeError, match="scalar"):
        len(to_array(1.0))
    with pytest.raises(TypeError, match="scalar"):
        iter(to_array(1.0))
    with pytest.raises(TypeError, match=r"\.at\["):
        a[0] = 1.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


@pytest.mark.parametrize("make", [
    lambda: np.array([1, "a"], dtype=object), lambda: np.array(["a"]), lambda: np.array(["2020"], "M8[Y]"),
    lambda: np.zeros(2, [("x", "f4")]), lambda: np.longdouble(1), lambda: {1, 2}, lambda: "text", lambda: object(),
    lambda: b"bytes"])  # fmt: skip
def test_what_cannot_be_an_array_is_a_type_error(make):
    for use in (jx.device_put, to_array, jx.jit(lambda x: x), lambda x: add(x, 1.0), jx.grad(lambda x: 1.0),
                lambda x: jx.jit(lambda: x)()):  # fmt: skip
        with pytest.raises(TypeError):
            use(make())


def test_text():
    a = jx.device_put(np.array([1.5, -2], np.float32))
    assert repr(a) == "Array([ 1.5, -2. ], dtype=float32)" and str(a) == "[ 1.5 -2. ]"
    assert repr(to_array(2)) == "Array(2, dtype=int32, weak_type=True)"
    assert repr(jx.device_put(np.zeros((0, 3), np.int8))) == "Array([], shape=(0, 3), dtype=int8)"
    assert "..." in repr(jx.device_put(floats(2000))) and len(repr(jx.device_put(floats(2000)))) < 300
    key = jx.random.key(1)
    assert repr(key).startswith("Array((), dtype=key<fry>) overlaying:") and str(key) == repr(key)


def test_dispatch_does_not_wait():
    """A result is there before its values are; asking for them waits."""
    out = in_new_process(
        """
        import numpy as np, jitscope as jx, time
        from jitscope.ops.dot import dot_general
        def f(x):
            for _ in range(20):
                x = dot_general(x, x, (((1,), (0,)), ((), ())))
            return x
        f = jx.jit(f)
        x = jx.device_put(np.full((700, 700), 1e-3, np.float32))
        f(x).block_until_ready()
        for _ in range(5):  # on a busy machine the call may be held up
            start = time.perf_counter(); y = f(x); called = time.perf_counter() - start
            y.block_until_ready(); whole = time.perf_counter() - start
            if called < whole / 2:
                break
        print(called < whole / 2, y.is_ready())
        """
    )
    assert out == "True True"


def test_array_from_numpy_keeps_weak_types():
    assert array_from_numpy(np.float32(1), True).aval.weak_type
    assert not jx.device_put(np.float32(1)).aval.weak_type and jx.device_put(1.0).aval.weak_type


def test_only_arrays_without_axes_are_numbers():
    one = jnp.ones(1)
    for kind in (int, float, complex):
        with pytest.raises(TypeError, match=r"only an array without axes can become .*; x.item\(\) is its element"):
            kind(one)
        assert kind(one[0]) == kind(1)
    assert bool(one) and one.item() == 1
    with pytest.raises(ValueError, match="cannot have None"):
        jx.ShapeDtypeStruct((None, 2), np.int32)
