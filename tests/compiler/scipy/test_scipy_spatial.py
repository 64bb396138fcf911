"""Rotations where no sample reaches: what Euler angles lose, conversions there and back, SciPy's answers, derivatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Reference, Slerp as ReferenceSlerp

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.scipy.spatial.transform import Rotation, Slerp


PROPER = ["".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] != s[2]]
SEQUENCES = PROPER + [s.upper() for s in PROPER]


def some(n: int = 6) -> np.ndarray:
    return np.random.default_rng(8).normal(size=(n, 4))


@jx.jit
def there_and_back(rotations: dict[str, Rotation]) -> dict[str, tuple[jx.Array, jx.Array]]:
    """By sequence, Euler angles, and the matrices that these make."""
    angles = {seq: rotation.as_euler(seq) for seq, rotation in rotations.items()}
    return {seq: (x, Rotation.from_euler(seq, x).as_matrix()) for seq, x in angles.items()}


def test_all_twenty_four_kinds_of_euler_angles_are_scipys():
    with jx.enable_x64():
        rotation, wanted = Rotation.from_quat(some()), Reference.from_quat(some())
        for seq, (angles, matrix) in there_and_back(dict.fromkeys(SEQUENCES, rotation)).items():
            np.testing.assert_allclose(angles, wanted.as_euler(seq), atol=1e-9, err_msg=seq)
            np.testing.assert_allclose(matrix, wanted.as_matrix(), atol=1e-9, err_msg=seq)


@pytest.mark.parametrize("wide", [False, True])
def test_where_euler_angles_are_ambiguous_the_third_is_zero(wide):
    def made(seq):
        middle = [0.0, 180.0] if seq[0].lower() == seq[2].lower() else [90.0, -90.0]
        return Rotation.from_euler(seq, jnp.array([[10.0, m, 30.0] for m in middle]), degrees=True)

    with jx.enable_x64(wide):
        rotations = jx.jit(lambda: {seq: made(seq) for seq in SEQUENCES[::5]})()
        for seq, (angles, matrix) in there_and_back(rotations).items():
            np.testing.assert_allclose(angles[:, 2], 0, atol=1e-5, err_msg=seq)
            np.testing.assert_allclose(matrix, rotations[seq].as_matrix(), atol=1e-9 if wide else 2e-6, err_msg=seq)


def test_conversions_go_there_and_back():
    with jx.enable_x64():
        rotation = Rotation.from_quat(some())
        ways = [
            Rotation.from_matrix(rotation.as_matrix()),
            Rotation.from_rotvec(rotation.as_rotvec(True), True),
            Rotation.from_mrp(rotation.as_mrp()),
            rotation.inv().inv(),
            rotation * rotation.inv() * rotation,
        ]
        for way in ways:
            same = way.as_quat(canonical=True)
            np.testing.assert_allclose(same, rotation.as_quat(canonical=True), atol=1e-12)


@pytest.mark.parametrize("axis", range(4))
def test_matrices_of_half_turns(axis):
    """Each component of the quaternion in turn is the greatest, and the scalar may be 0."""
    quat = np.eye(4, dtype="float32")[axis]
    found = Rotation.from_matrix(Rotation(quat).as_matrix()).as_quat(canonical=True)
    np.testing.assert_allclose(found, quat, atol=1e-6)


def test_the_mean_is_scipys():
    with jx.enable_x64():
        quat, weights = some(), np.arange(1.0, 7)
        found, wanted = Rotation.from_quat(quat).mean(weights), Reference.from_quat(quat).mean(weights)
        np.testing.assert_allclose(found.as_matrix(), wanted.as_matrix(), atol=1e-9)


def test_vectors_are_turned_and_turned_back():
    with jx.enable_x64():
        rotation, vectors = Rotation.from_quat(some(3)), np.arange(9.0).reshape(3, 3)
        turned = rotation.apply(vectors)
        np.testing.assert_allclose(turned, Reference.from_quat(some(3)).apply(vectors), atol=1e-12)
        np.testing.assert_allclose(rotation.apply(turned, inverse=True), vectors, atol=1e-12)
        np.testing.assert_allclose(jx.jit(lambda i: rotation.apply(turned, inverse=i))(True), vectors, atol=1e-12)


def test_degrees_may_be_an_operand():
    asked = jx.jit(lambda d: Rotation.from_euler("zx", jnp.array([30.0, 60.0]), d).as_rotvec(d))
    np.testing.assert_allclose(
        asked(True), Rotation.from_euler("zx", jnp.array([30.0, 60.0]), True).as_rotvec(True), rtol=1e-5
    )
    np.testing.assert_allclose(asked(False), Rotation.from_euler("zx", jnp.array([30.0, 60.0])).as_rotvec(), rtol=1e-5)


def test_rotations_are_trees_and_have_derivatives():
    turn = lambda angle: Rotation.from_euler("z", angle).apply(jnp.array([1.0, 0, 0]))
    np.testing.assert_allclose(jx.jacobian(turn)(0.0), [0, 1, 0], atol=1e-6)
    stack = jx.vmap(lambda q: Rotation.from_quat(q))(jnp.asarray(some(), "float32"))
    assert isinstance(stack, Rotation) and len(stack) == 6 and not stack.single
    assert len(Rotation.identity(3)) == 3 and Rotation.identity().single
    small = jx.jacobian(lambda v: Rotation.from_rotvec(v).as_rotvec())(jnp.array([1e-5, 2e-5, 0]))
    np.testing.assert_allclose(small, np.eye(3), atol=1e-4)


def test_random_rotations_are_uniform():
    made = Rotation.random(jx.random.key(0), 4000)
    np.testing.assert_allclose(np.asarray(made.as_matrix()).mean(0), 0, atol=0.05)
    # The angle of a uniform rotation has the density (1 - cos) / pi, so the mean pi / 2 + 2 / pi.
    assert abs(float(made.magnitude().mean()) - (np.pi / 2 + 2 / np.pi)) < 0.05
    assert Rotation.random(jx.random.key(1)).single


def test_slerp_is_scipys():
    with jx.enable_x64():
        times, quat, asked = np.array([0.0, 1, 3, 4]), some(4), np.array([0.0, 0.3, 1, 2.5, 3.7, 4])
        made = Slerp.init(times, Rotation.from_quat(quat))
        wanted = ReferenceSlerp(times, Reference.from_quat(quat))(asked)
        np.testing.assert_allclose(made(asked).as_matrix(), wanted.as_matrix(), atol=1e-12)
        assert made(2.0).single
        speed = jx.vmap(jx.grad(lambda t: (made(t) * made(1.0).inv()).magnitude()))(jnp.array([1.5, 2.5]))
        np.testing.assert_allclose(speed[0], speed[1], rtol=1e-9)
