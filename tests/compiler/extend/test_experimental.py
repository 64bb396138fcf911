"""What `jitscope.experimental` has under JAX's names."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import checkify
from jitscope.experimental import buffer_callback as buffers


def twice(context, out, x, *, offset=None):
    assert context.stage is buffers.ExecutionStage.EXECUTE
    values = np.asarray(x)
    np.asarray(out)[...] = values * 2 + (0 if offset is None else np.asarray(offset))


def test_functions_that_write_into_buffers():
    x = jnp.arange(3.0)
    f = buffers.buffer_callback(twice, jx.ShapeDtypeStruct((3,), np.float32), vmap_method="broadcast_all")
    for wrap in (lambda f: f, jx.jit):
        np.testing.assert_array_equal(wrap(f)(x), [0, 2, 4])
        np.testing.assert_array_equal(wrap(lambda x: f(x, offset=x))(x), [0, 3, 6])
        rows = jnp.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(wrap(jx.vmap(f))(rows), np.arange(6.0).reshape(2, 3) * 2)
    np.testing.assert_array_equal(jnp.arange(3.0), x)  # arguments are not written to

    def tree(context, out, x):
        assert out["a"].writeable and not x.writeable and (x.shape, x.ndim, x.dtype) == ((3,), 1, np.float32)
        np.from_dlpack(out["a"])[...] = np.asarray(x).sum()
        np.asarray(out["b"])[1] = 7

    promised = {"a": jx.ShapeDtypeStruct((), np.float32), "b": jx.ShapeDtypeStruct((3,), np.float32)}
    found = jx.jit(buffers.buffer_callback(tree, promised, input_output_aliases={0: 1}))(x + 1)
    assert float(found["a"]) == 6 and found["b"].tolist() == [1, 7, 3]


def test_effects_and_what_does_not_fit():
    seen = []

    def note(context, out, x):
        seen.append(float(np.asarray(x)))

    f = buffers.buffer_callback(note, jx.ShapeDtypeStruct((), np.float32), has_side_effect=True)
    jx.jit(jx.vmap(f))(jnp.arange(3.0))
    jx.jit(lambda x: (f(x), x)[1])(5.0)
    assert seen == [0, 1, 2, 5]
    quiet = buffers.buffer_callback(note, jx.ShapeDtypeStruct((), np.float32))
    jx.jit(lambda x: (quiet(x), x)[1])(6.0)
    assert seen == [0, 1, 2, 5]
    with pytest.raises(NotImplementedError, match="vmap_method"):
        jx.vmap(quiet)(jnp.arange(3.0))
    for aliases, text in (({0: 1}, "result 1"), ({0: 0}, r"float32\[2\]")):
        wrong = buffers.buffer_callback(note, jx.ShapeDtypeStruct((2,), np.float32), input_output_aliases=aliases)
        with pytest.raises(ValueError, match=text):
            wrong(1.0)
    with pytest.raises(TypeError, match="a function, not int"):
        buffers.buffer_callback(3, jx.ShapeDtypeStruct((), np.float32))  # pyright: ignore[reportArgumentType]
    with pytest.raises(RuntimeError, match="no streams"):
        _ = buffers.ExecutionContext().stream


def test_rooms_under_their_names(tmp_path):
    experimental = importlib.import_module("jitscope.experimental")
    assert importlib.import_module("jitscope.experimental.checkify").check is checkify.check
    assert experimental.checkify.checkify is checkify.checkify and {"checkify", "buffer_callback"} <= set(
        dir(experimental)
    )
    with experimental.enable_x64(), experimental.disable_x64():
        assert jnp.zeros(1).dtype == np.float32
    with pytest.raises(AttributeError, match="nothing_there"):
        _ = experimental.nothing_there
    cache = importlib.import_module("jitscope.experimental.compilation_cache.compilation_cache")
    before = jx.config.compilation_cache_dir
    try:
        cache.set_cache_dir(tmp_path)
        assert jx.config.compilation_cache_dir == str(tmp_path)
        cache.reset_cache()
        assert jx.config.compilation_cache_dir is None
    finally:
        jx.config.update("compilation_cache_dir", before)


def test_optimizer_states_as_trees():
    optimizers = importlib.import_module("jitscope.example_libraries.optimizers")
    make, update, params = optimizers.momentum(0.1, 0.9)
    state = update(0, {"w": jnp.ones(2), "b": (jnp.ones(()),)}, make({"w": jnp.arange(2.0), "b": (jnp.ones(()),)}))
    marked = optimizers.unpack_optimizer_state(state)
    assert set(marked) == {"w", "b"} and isinstance(marked["w"], optimizers.JoinPoint)
    (inner,) = marked["w"]
    assert len(jx.tree.leaves(inner)) == 2 and len(jx.tree.leaves(marked)) == 2
    again = optimizers.pack_optimizer_state(marked)
    assert jx.tree.structure(again) == jx.tree.structure(state)
    jx.tree.map(np.testing.assert_array_equal, params(again), params(state))
    with pytest.raises(TypeError, match="JoinPoint"):
        optimizers.pack_optimizer_state({"w": 1.0})


def test_processes_by_their_older_names():
    assert (jx.host_count(), jx.host_id(), jx.host_ids()) == (1, 0, [0])
    assert {"ProfileData", "ProfileEvent", "ProfilePlane"} <= set(dir(jx.profiler))
