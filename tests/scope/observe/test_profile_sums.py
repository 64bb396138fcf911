"""How a recorded call is made up, where each kernel's seconds are a median of its own."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from jitscope_scope.observe.profiling.document import made_up
from jitscope_scope.observe.profiling.spans import Recording, Span


def _recording(kernels: list[list[float]], at_once: list[float], idle: list[float]) -> Recording:
    """Of calls with so many seconds of each kernel, at the same time as others, and without any."""
    spans = tuple(Span(str(n), "fusion", np.array(each), np.array(each), False) for n, each in enumerate(kernels))
    busy = np.sum(kernels, axis=0) - at_once
    return Recording((), spans, busy + idle, busy)


@given(st.integers(1, 5).flatmap(lambda calls: st.tuples(
    st.lists(st.lists(st.floats(1, 2), min_size=calls, max_size=calls), min_size=2, max_size=4),
    *[st.lists(st.floats(0, 0.9), min_size=calls, max_size=calls)] * 2)))  # fmt: skip
def test_no_part_is_less_than_nothing(seconds: tuple[list[list[float]], list[float], list[float]]) -> None:
    recorded, busy, together, between, held_up = made_up(_recording(*seconds))
    assert between >= 0 and 0 <= together <= busy and held_up >= 0
    if together or busy <= recorded:
        assert busy - together + between + held_up == pytest.approx(recorded)


def test_medians_of_kernels_that_add_up_to_more_than_a_call() -> None:
    """Three calls, in each of which another kernel was quick."""
    kernels = [[2.0, 9.0, 9.0], [9.0, 2.0, 9.0], [9.0, 9.0, 2.0]]
    assert made_up(_recording(kernels, [1.0] * 3, [0.5] * 3)) == (19.5, 27.0, 8.0, 0.5, 0.0)
    assert made_up(_recording(kernels, [0.0] * 3, [0.5] * 3)) == (20.5, 27.0, 0.0, 0.5, 0.0)


def test_what_is_no_kernel_is_that_of_single_calls() -> None:
    """Of four calls one had little at the same time, and long kernels."""
    kernels = [[4.0, 4.0, 4.0, 9.0], [4.0, 4.0, 9.0, 9.0], [4.0, 9.0, 9.0, 4.0]]
    recorded, busy, together, between, held_up = made_up(_recording(kernels, [3.0, 3.0, 3.0, 3.0], [0.5] * 4))
    assert between == 0.5 and busy - together + between + held_up == recorded


def test_kernels_that_are_held_up_leave_nothing_to_dispatch() -> None:
    """Three calls, in each of which another kernel took nine times as long: no more than half a second was no kernel."""
    kernels = [[1.0, 1.0, 9.0], [1.0, 9.0, 1.0], [9.0, 1.0, 1.0]]
    assert made_up(_recording(kernels, [0.0] * 3, [0.5] * 3)) == (11.5, 3.0, 0.0, 0.5, 8.0)
