"""Initializers of complex weights: numbers in a disc."""

import numpy as np
import pytest

from jitscope import random
from jitscope.nn import initializers


@pytest.mark.timeout(120)
@pytest.mark.parametrize("shape", [(4, 3, 2), (40, 50)])
def test_numbers_that_are_cut_at_a_radius(shape: tuple[int, ...]) -> None:
    """Small arrays, too: XLA took minutes over the root of a logarithm of complex numbers made of random bits."""
    key = random.PRNGKey(3)
    found = np.asarray(initializers.he_normal(dtype="complex64")(key, shape))
    for_radius, for_angle = random.split(key)
    part, turn = (np.asarray(random.uniform(k, shape), np.float64) for k in (for_radius, for_angle))
    radius = np.sqrt(
        -np.log(1 - (1 - np.exp(-4.0)) * part)
    )  # the level of each number in the distribution of |z| cut at 2
    deviation = np.sqrt(2 / np.prod(shape[:-1]))
    np.testing.assert_allclose(found, radius * np.exp(2j * np.pi * turn) * deviation / 0.95311164380491208, rtol=2e-5)
