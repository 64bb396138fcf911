"""What long work tells of itself: steps and, while XLA compiles, the seconds so far; nothing where nobody listens."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import jitscope as jx
from jitscope.xla import progress
from jitscope.xla.program import to_the_end
from jitscope_scope import observe


Told = list[tuple[str, float, int]]


def listener(told: Told) -> progress.Listener:
    return lambda what, seconds: told.append((what, seconds, threading.get_ident()))


def test_steps_are_told_with_the_seconds_so_far() -> None:
    told: Told = []
    progress.step("before")
    with progress.told_to(listener(told)):
        progress.step("one")
        time.sleep(0.01)
        progress.step("two")
        progress.tick()
    progress.step("after")
    assert [what for what, _, _ in told] == ["one", "two", "two"]
    assert 0 <= told[0][1] < told[1][1] <= told[2][1]


def test_somebody_who_waits_for_xla_is_told_in_his_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    told: Told = []
    done = threading.Event()

    def work() -> int:
        assert done.wait(60)
        return 3

    def tell(what: str, seconds: float) -> None:
        told.append((what, seconds, threading.get_ident()))
        if len(told) == 4:
            done.set()

    with progress.told_to(tell):
        progress.step("compiling")
        assert to_the_end(work) == 3
    assert {what for what, _, _ in told} == {"compiling"} and len(told) >= 4
    assert {who for _, _, who in told} == {threading.get_ident()}


def test_an_error_of_the_listener_ends_the_wait() -> None:
    def ended(what: str, seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress.told_to(ended):
        progress.step("compiling")


def test_passes_tell_what_they_are_at() -> None:
    seen = jx.inspect(lambda x: jx.numpy.tanh(x @ x).sum() + x.max())(np.ones((8, 8), np.float32))
    told: Told = []
    with progress.told_to(listener(told)):
        passes: Any = observe.look(seen._row, "passes")
    steps = [what for what, _, _ in told]
    assert "compiling it once more, for the times of the passes" in steps
    states = list(dict.fromkeys(what for what in steps if what.startswith("comparing state ")))
    count = len(passes["states"])
    assert states == [f"comparing state {n} of {count}" for n in range(1, count + 1)]
