"""The bound that is stated for a region holds on values that were not tried."""

from __future__ import annotations

import numpy as np
import pytest

from jitscope_scope.regions.answers import CannotCompile
from jitscope_scope.regions.differences import Differences, joined, sensitivity
from jitscope_scope.regions.homes import is_array
from jitscope_scope.regions.parts import ALLOWED_32
from jitscope_scope.regions.proving import compared, floor_of, largest
from tests.scope.regions.programs import parsed
from tests.scope.regions.test_programs import applied, names_of, watched


PROGRAMS = parsed("""
=== marks of a walk by its last days
price = 100 * np.exp(np.cumsum(0.01 * rng.normal(size=300))); z = np.zeros(300)
---
for t in range(20, 300):
    window = price[t - 20:t]
    z[t] = (price[t] - window.mean()) / window.std()
=== sums of small differences of large numbers
x = 1e6 + rng.normal(size=(50, 30)); s = np.zeros(50)
---
for k in range(50):
    s[k] = ((x[k] - x[k].mean()) ** 2).sum()
=== a recurrence that enlarges what it is given
u = rng.random(40); y = np.zeros(41)
---
for k in range(40):
    y[k + 1] = 1.3 * y[k] + np.exp(u[k]) / 3.0
=== what is left of sums of numbers that are far larger
import jitscope.numpy as jnp
A = jnp.asarray(1e3 * rng.uniform(1, 2, (40, 3)).astype(np.float32)); b = A.sum(1); w = jnp.asarray(rng.uniform(0.9, 1, 3).astype(np.float32))
---
for i in range(20):
    g = jnp.sum(A * (jnp.sum(A * w, axis=1) - b)[:, None], axis=0) / 40
    w = w - 1e-7 * g
""")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_bound_holds_on_other_seeds(program, monkeypatch) -> None:
    regions, _ = watched(program, monkeypatch)
    (region,) = [r for r in regions if r.verdict == "compile"]
    assert region.same is not None
    assert region.same.seen_abs <= region.same.max_abs
    for seed in range(1, 13):
        plain, edited = names_of(program, seed), names_of(program, seed)
        exec(compile(program.cell, "<plain>", "exec"), plain)
        exec(compile(applied(program.cell, regions, 2), "<edited>", "exec"), edited)
        for n, v in plain.items():
            if isinstance(v, np.ndarray) or is_array(v):
                np.testing.assert_allclose(edited[n], v, rtol=0, atol=region.same.max_abs, err_msg=f"{n}, seed {seed}")


def test_whole_numbers_have_no_rounding() -> None:
    assert joined([Differences(), Differences()]).bound().max_abs == 0.0


def test_a_bound_is_as_large_as_what_a_program_makes_of_a_rounding() -> None:
    x = np.array([1.0, 2.0])
    moved = sensitivity({"y": 100 * x}, [{"y": 100 * x * (1 + 1e-3)}], 1e-3, 1e-8)
    assert moved == pytest.approx(200 * np.finfo(float).eps)
    assert Differences(rounding=moved).bound().max_abs == pytest.approx(64 * moved)


def test_a_list_of_numbers_has_one_size_as_an_array_has() -> None:
    a, b = [0.0, 1e-16, 1.0], [1e-17, 2e-16, 1.0]
    assert compared(a, b, "means", 1).max_abs == pytest.approx(1e-16)
    with pytest.raises(CannotCompile, match="differ"):
        compared(a, [0.0, 1e-6, 1.0], "means", 1)
    with pytest.raises(CannotCompile, match="would become"):
        compared(a, [0.0, np.float64(1e-16), 1.0], "means", 1)


def test_what_is_left_of_larger_values_in_containers_has_their_rounding() -> None:
    values = {
        "r": np.float32([1e-7]),
        "layers": [{"w": np.float32([3.0, np.inf])}, ("array of jax", np.float32([30.0]))],
    }
    assert largest(values) == 30.0
    near = np.float32([1e-7 + 1e-5])
    assert not compared(values["r"], near, "r", 1, floor=largest(values)).bits
    with pytest.raises(CannotCompile, match="would differ"):
        compared(values["r"], near, "r", 1)


@pytest.mark.parametrize(("other", "hopeless"), [(1.01, False), (900.0, True)])
def test_what_no_noise_would_allow_is_known_before_noise_is_measured(other: float, hopeless: bool) -> None:
    """Beside values up to 1000."""
    one, two = (np.array([x], np.float32) for x in (1.0, other))
    with pytest.raises(CannotCompile) as raised:
        compared(one, two, "x", 1, ALLOWED_32, 1e3)
    assert getattr(raised.value, "hopeless", None) is hopeless
    floor = floor_of("x", 1e3, {"x": float("inf")})
    if not hopeless:
        compared(one, two, "x", 1, ALLOWED_32, floor)
    else:
        with pytest.raises(CannotCompile):
            compared(one, two, "x", 1, ALLOWED_32, floor)
