"""Compiled functions as bytes, loaded again here and in another process."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.experimental import serialize_executable as serial


TABLE = jnp.arange(3000.0).reshape(1000, 3)
KEY = jx.random.key(1)
X = np.array([3.0, -1.0, 2.0], np.float32)
MATRIX = np.array([[2.0, 1, 0], [0, 3, 1], [1, 0, 4]], np.float32)


def solved(params, x, *, scale):
    bits = jx.random.bits(KEY, (2,))
    return {"a": jnp.linalg.solve(params["w"], jnp.sort(x)) * scale + TABLE.sum(0), "bits": bits, "unread": x > 0}


def compiled():
    return jx.jit(solved).lower({"w": MATRIX}, X, scale=2.0).compile()


def expected():
    return np.linalg.solve(MATRIX, np.sort(X)) * 2 + np.asarray(TABLE).sum(0)


def test_a_loaded_function_is_called_as_the_one_that_was_compiled() -> None:
    first = compiled()
    wanted = first({"w": MATRIX}, X, scale=2.0)  # a sort that has run
    loaded = serial.deserialize_and_load(*serial.serialize(first))
    again = serial.deserialize_and_load(*serial.serialize(loaded))
    for function in (loaded, again):
        found = function({"w": MATRIX}, X, scale=2.0)
        jx.tree.map(np.testing.assert_array_equal, found, wanted)
        np.testing.assert_allclose(found["a"], expected(), rtol=1e-5)
        assert (function.in_tree, function.out_tree, function.fun_name) == (first.in_tree, first.out_tree, "solved")
        assert function.in_avals == first.in_avals and function.out_info == first.out_info
    with pytest.raises(TypeError, match=r"compiled for x: f32\[3\]; it got f32\[4\]"):
        loaded({"w": MATRIX}, jnp.ones(4), scale=2.0)
    with pytest.raises(TypeError, match="arguments of another structure"):
        loaded({"w": MATRIX}, X)


def test_memory_that_is_given_away_is_given_away_after_loading() -> None:
    first = jx.jit(lambda x, y: x + y, donate_argnums=1).lower(X, X).compile()
    loaded = serial.deserialize_and_load(*serial.serialize(first))
    x, y = jnp.asarray(X), jnp.asarray(X) + 0
    np.testing.assert_array_equal(loaded(x, y), 2 * X)
    assert y.is_deleted() and not x.is_deleted()


def test_another_process_loads_it(tmp_path) -> None:
    code, *_ = serial.serialize(compiled())
    program = """
import pickle, sys
import numpy as np
import jitscope as jx
from jitscope.experimental import serialize_executable as serial
code, shapes = pickle.loads(open(sys.argv[1], "rb").read())
structure = jx.tree.structure
in_tree, out_tree = structure((({"w": 0}, 0), {"scale": 0})), structure({"a": 0, "bits": 0, "unread": 0})
loaded = serial.deserialize_and_load(code, in_tree, out_tree)
print(np.asarray(loaded({"w": shapes[0]}, shapes[1], scale=2.0)["a"]).tolist())
"""
    file = tmp_path / "program"
    file.write_bytes(pickle.dumps((code, (MATRIX, X))))
    ran = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    np.testing.assert_allclose(eval(ran.stdout), expected(), rtol=1e-5)


def test_what_cannot_be_taken_along_is_refused() -> None:
    calls = jx.jit(lambda x: jx.pure_callback(lambda a: a, jx.ShapeDtypeStruct((3,), np.float32), x)).lower(X).compile()
    with pytest.raises(ValueError, match="it calls Python, or uses references"):
        serial.serialize(calls)
    code, *trees = serial.serialize(jx.jit(jnp.sin).lower(X).compile())
    other = pickle.dumps({**pickle.loads(code), "machine": "jaxlib 0.1 on an abacus"})
    with pytest.raises(ValueError, match=r"was compiled for jaxlib 0\.1 on an abacus, and this is"):
        serial.deserialize_and_load(other, *trees)
    with pytest.raises(NotImplementedError, match="execution_devices is one device"):
        serial.deserialize_and_load(code, *trees, execution_devices=[])
