"""What is decided from times and results alone, against NumPy and with planted times."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from jitscope.xla.choice import Choice
from jitscope_scope.tune.choosing import _simplest_first
from jitscope_scope.tune.racing import LEAST, Ratio, halved, is_clear, is_hopeless, ratio_of, repeats_for
from jitscope_scope.tune.same import allowed, same
from jitscope_scope.tune.space import Candidate


RNG = np.random.default_rng(0)


def pairs(ratio: float, noise: float, number: int = 40, seed: int = 0) -> list[tuple[float, float]]:
    """Times of a form that takes `ratio` of the plain one's, on a machine that is disturbed for several runs at a time."""
    rng = np.random.default_rng(seed)
    load = np.repeat(1 + rng.pareto(2, number // 4 + 1), 4)[:number]
    jitter = np.exp(noise * rng.normal(size=(number, 2)))
    return [(float(load[i] * jitter[i, 0]), float(load[i] * ratio * jitter[i, 1])) for i in range(number)]


@pytest.mark.parametrize("true", (0.4, 0.9, 1.0, 1.3))
def test_the_interval_holds_the_planted_ratio(true: float) -> None:
    held = 0
    for seed in range(60):
        low, centre, high = ratio_of(pairs(true, 0.05, seed=seed))
        assert low <= centre <= high
        held += low <= true <= high
    assert held >= 57


def test_no_difference_is_rarely_taken_for_one() -> None:
    wrong = sum(is_clear(ratio_of(pairs(1.0, 0.1, seed=seed)), 40) for seed in range(200))
    assert wrong <= 2


def test_a_clear_winner_needs_pairs() -> None:
    few = pairs(0.5, 0.01, 4)
    assert not is_clear(ratio_of(few), len(few))
    many = pairs(0.5, 0.01, LEAST)
    assert is_clear(ratio_of(many), len(many))
    assert not is_clear(Ratio(0.97, 0.975, 0.985), 100)


def test_halving_keeps_the_fastest_and_drops_the_planted_slow() -> None:
    true = {"a": 0.5, "b": 0.7, "c": 0.9, "slow": 1.5, "slower": 2.0}
    going, out = halved({name: ratio_of(pairs(ratio, 0.02, seed=3)) for name, ratio in true.items()})
    assert going == ["a", "b"]
    assert {"slow", "slower"} <= set(out)
    assert halved({"slow": Ratio(1.1, 1.2, 1.3)}) == ([], ["slow"])
    alike = {name: Ratio(0.4, 0.5, 0.6) for name in "abcd"}
    assert len(halved(alike)[0]) == 4  # none of them may be told to be the slower


def test_of_forms_that_are_as_fast_the_simplest_is_taken() -> None:
    forms = {
        "both": (Ratio(0.49, 0.50, 0.51), Candidate("a, b", "both", Choice())),
        "one": (Ratio(0.50, 0.515, 0.53), Candidate("a", "one", Choice())),
        "slower": (Ratio(0.8, 0.9, 1.0), Candidate("b", "slower", Choice())),
    }
    assert _simplest_first(forms) == ["one", "both", "slower"]
    forms["one"] = (Ratio(0.6, 0.62, 0.64), forms["one"][1])
    assert _simplest_first(forms)[0] == "both"
    assert _simplest_first({}) == []


def test_much_slower_first_runs_end_a_form() -> None:
    assert is_hopeless([(1.0, 2.0), (1.0, 1.5), (2.0, 4.0)])
    assert not is_hopeless([(1.0, 2.0), (1.0, 1.2), (2.0, 4.0)])
    assert not is_hopeless([])


def test_short_runs_are_repeated() -> None:
    assert [repeats_for(once) for once in (1e-6, 1e-3, 0.1)] == [8, 2, 1]


@given(st.sampled_from(["float32", "float64", "bfloat16", "complex64"]), st.integers(1, 40))
def test_differences_are_those_of_numpy(name: str, size: int) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    a = RNG.normal(size=size).astype(dtype)
    b = (a.astype(np.complex128) * (1 + 1e-3 * RNG.normal(size=size))).real.astype(dtype)
    if dtype.kind == "c":
        b = (a * np.float32(1.0001)).astype(dtype)
    found = same([a], [b])
    wide = np.complex128 if dtype.kind == "c" else np.float64
    gaps = np.abs(a.astype(wide) - b.astype(wide))
    assert found.max_abs == gaps.max()
    assert found.bits == (a.tobytes() == b.tobytes())
    assert found.max_rel == pytest.approx((gaps / np.maximum(np.abs(a.astype(wide)), 1e-300)).max())


def test_rounding_passes_and_a_wrong_number_does_not() -> None:
    x = RNG.normal(size=(200, 300)).astype(np.float32)
    sums, others = x.sum(0), x[::-1].astype(np.float64).sum(0).astype(np.float32)
    found = same([sums], [others])
    assert not found.why
    assert 0 < found.ulp < 1e5
    wrong = sums.copy()
    wrong[7] += 0.01 * abs(sums).max()
    assert "differs by" in same([sums], [wrong]).why
    assert "differs by" in same([sums], [others], tolerance=0.0).why
    assert not same([sums], [sums.copy()], tolerance=0.0).why
    size = np.maximum(np.abs(sums), np.sqrt(np.mean(sums.astype(np.float64) ** 2)))
    assert found.share == pytest.approx((np.abs(sums.astype(np.float64) - others) / size).max())
    assert same([np.full(3, 198898.0)], [np.full(3, 129583.0)]).why


def test_nan_and_infinities_have_to_stand_in_the_same_places() -> None:
    a = np.array([1.0, np.nan, np.inf, -np.inf])
    assert same([a], [a.copy()]).bits
    near = a * (1 + 1e-15)
    assert not same([a], [near]).why
    for at, value in ((0, np.nan), (1, 0.0), (2, -np.inf), (3, 5.0)):
        b = a.copy()
        b[at] = value
        assert "other places" in same([a], [b]).why


def test_whole_numbers_and_truth_values_have_to_be_equal() -> None:
    a = np.arange(5)
    assert not same([a, a > 2], [a.copy(), a > 2]).why
    assert same([a], [a + (a == 3)]).why == "the result has 1 other whole numbers or truth values"
    assert same([a, a > 2], [a, a > 1]).why.startswith("result 1 ")


def test_what_is_allowed_is_half_of_the_digits() -> None:
    assert allowed(np.float32) == pytest.approx(3.45e-4, rel=0.01)
    assert allowed(np.float64) == pytest.approx(1.49e-8, rel=0.01)
    assert allowed(ml_dtypes.bfloat16) == pytest.approx(0.088, rel=0.01)


def test_zeros_and_empty_results() -> None:
    zero = np.zeros(3, np.float32)
    assert not same([zero], [-zero]).bits
    assert not same([zero], [-zero]).why
    assert same([zero], [zero + np.float32(1e-3)]).why
    assert same([np.zeros((0, 3))], [np.zeros((0, 3))]).bits
