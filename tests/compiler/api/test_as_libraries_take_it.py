"""What libraries and JAX's pages take for granted. Oracle: what JAX 0.12.0.1 answered."""

import inspect

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import _src


def test_scalar_types_are_found_among_numpys():
    """TensorFlow Probability looks NumPy's types up in sets of these."""
    assert np.int32 in {jnp.int32, jnp.int64} and jnp.int32 in {np.int32}
    assert jnp.int32 == np.int32 and jnp.int32 == np.dtype("int32") and np.dtype("int32") == jnp.int32
    assert np.int64 not in {jnp.int32} and {jnp.bfloat16: 1}[jnp.bfloat16] == 1


def test_a_long_array_is_written_without_its_values():
    assert repr(jnp.ones((512, 512))) == "Array(shape=(512, 512), dtype=float32)"
    assert repr(jnp.full(1 << 18, 2.0)) == "Array(shape=(262144,), dtype=float32, weak_type=True)"
    assert repr(jnp.ones((1 << 18) - 1)).startswith("Array([1., 1., 1., ..., 1., 1., 1.], ")
    assert str(jnp.ones((512, 512))) == str(np.ones((512, 512), np.float32))


def test_a_mapped_value_shows_all_its_examples():
    seen = []
    jx.vmap(lambda x: seen.append((np.asarray(x.val).tolist(), x.batch_dim)) or x, in_axes=1)(jnp.arange(4.0).reshape(2, 2))  # fmt: skip
    assert seen == [([[0.0, 1.0], [2.0, 3.0]], 1)]


def test_numbers_and_names_of_arguments_complete_each_other():
    infer = _src.api_util.infer_argnums_and_argnames  # pyright: ignore[reportAttributeAccessIssue]

    def fun(a, b, *, c, d=1):
        return a, b, c, d

    signature = inspect.signature(fun)
    assert infer(signature, (0, -3), None) == ((0, -3), ("a", "b"))
    assert infer(signature, None, ("b", "c")) == ((1,), ("b", "c"))
    assert infer(signature, None, None) == ((), ())
    assert infer(signature, 1, "a") == ((1,), ("a",))
