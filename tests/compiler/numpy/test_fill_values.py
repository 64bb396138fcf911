"""What stands where an array has no elements: beside it (pad), and where there are fewer than asked for (unique)."""

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from tests.extent import ALL


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("form", ["slice", "row", "number in a vector"])
def test_slices_that_are_missing_are_the_given_slice(axis: int, form: str) -> None:
    x = np.random.default_rng(axis).integers(0, 2, (4, 4, 4))
    rest = np.delete(x.shape, axis)
    value = {"slice": np.arange(np.prod(rest)).reshape(rest) + 5, "row": np.arange(4) + 5}.get(form, np.array([5]))
    found = np.unique(x, axis=axis)
    size = found.shape[axis] + 3
    missing = np.repeat(np.expand_dims(np.broadcast_to(value, rest), axis), 3, axis)
    wanted = np.concatenate([found, missing], axis)
    compiled = jx.jit(jnp.unique, static_argnames=("axis", "size"))
    for unique in (jnp.unique, compiled) if ALL or axis == 1 else (compiled,):
        np.testing.assert_array_equal(unique(x, axis=axis, size=size, fill_value=value), wanted)


def test_of_no_elements_all_slices_are_the_given_slice() -> None:
    none = np.zeros((0, 2, 3))
    np.testing.assert_array_equal(
        jnp.unique(none, axis=0, size=2, fill_value=np.arange(3.0)), np.broadcast_to(np.arange(3.0), (2, 2, 3))
    )


def test_a_vector_of_one_fills_an_array_of_any_rank() -> None:
    np.testing.assert_array_equal(jnp.unique(np.eye(2), size=4, fill_value=np.array([7])), [0, 1, 7, 7])
    with pytest.raises(ValueError, match=r"fill_value of shape \(2,\) does not fit slices of shape \(\)"):
        jnp.unique(np.eye(2), size=4, fill_value=np.array([7, 8]))
    with pytest.raises(ValueError, match=r"fill_value of shape \(2,\) does not fit slices of shape \(3,\)"):
        jnp.unique(np.eye(3), axis=0, size=4, fill_value=np.array([7, 8]))


@pytest.mark.parametrize("values", [0, 2.5, np.float32(3), ((1, 2),), np.array([1.0, 2.0])])
@pytest.mark.parametrize("width", [0, 1, (1, 2)])
def test_what_is_padded_stays_weak(values, width) -> None:
    number, array = jnp.asarray(1.5)[None], jnp.ones(1)
    assert number.weak_type and not array.weak_type
    for x in (number, array):
        padded = jnp.pad(x, width, constant_values=values)
        assert padded.weak_type == x.weak_type and padded.dtype == x.dtype
        np.testing.assert_array_equal(padded, np.pad(np.asarray(x), width, constant_values=values))
