"""What reasons say: which array, which line; and what is not said twice."""

from __future__ import annotations

import contextlib
import gc
import math
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from jitscope_scope.regions import alarms, finding, pricing, proving
from jitscope_scope.regions.answers import Region
from jitscope_scope.regions.cells import Cell
from jitscope_scope.regions.clock import Seconds, of_one
from jitscope_scope.regions.replaying import harmless
from tests.scope.regions.programs import Program
from tests.scope.regions.test_programs import watched


def found(before: str, cell: str, patch: pytest.MonkeyPatch) -> list[Region]:
    return watched(Program("reasons", before, cell), patch)[0]


def test_a_shape_that_changes_is_named_with_its_array_and_line(monkeypatch) -> None:
    cell = "for k in range(26):\n    s = V.sum()\n    V = 0.5 * (V[1:] + V[:-1])\n"
    (region,) = found("V = rng.normal(size=40); s = 0.0", cell, monkeypatch)
    assert (
        region.reason == "line 3: `V` has [40] before the loop and [14] after it: its shape changes from turn to turn"
    )
    assert [(c.line, c.why) for c in region.cuts] == [(3, "shape")]


def test_the_array_is_named_whose_memory_is_shared(monkeypatch) -> None:
    before = "buf = np.zeros(12); odd, even, late = buf[1::2], buf[::2], buf[8:]"
    cell = "for k in range(1, 4):\n    even[k] = even[k - 1] + odd[k] + late[0] + 1\n"
    (region,) = found(before, cell, monkeypatch)
    assert region.reason == "line 1: `even` is stored into and shares its memory with `late` (aliasing)"
    assert [(c.line, c.why) for c in region.cuts] == [(1, "effect")]


def test_arrays_that_lie_between_each_other_share_nothing(monkeypatch) -> None:
    before = "buf = np.zeros(12); odd, even = buf[1::2], buf[::2]"
    (region,) = found(before, "for k in range(1, 4):\n    even[k] = even[k - 1] + odd[k] + 1\n", monkeypatch)
    assert region.verdict == "compile", region.reason


def test_a_row_that_is_clipped_is_named(monkeypatch) -> None:
    cell = "for t in range(12):\n    X = X * 1.1\n    for row in X:\n        np.clip(row, -2, 2, out=row)\n"
    (region,) = found("X = rng.normal(size=(5, 4))", cell, monkeypatch)
    assert region.reason == "line 4: `row` is stored into, and is part of what the loop goes through"


def test_vectors_whose_signs_are_chosen_by_rounding_are_named(monkeypatch) -> None:
    cell = "for k in range(9):\n    U, s, V = np.linalg.svd(A)\n    A = A * 0.9\n"
    (region,) = found("A = rng.normal(size=(4, 4))", cell, monkeypatch)
    note = "rounding alone chooses the signs of the vectors in `U`, and may choose other ones"
    assert region.reason == f"line 2: {note}"


def test_numbers_that_the_text_has_keep_their_digits(monkeypatch) -> None:
    before = "import jitscope.numpy as jnp"
    (region,) = found(before, "h = 0.1\nx = jnp.sin(jnp.ones(3) * h)\ny = x @ x\n", monkeypatch)
    assert region.verdict == "compile" and "h = 0.1\n" in region.edit.partition("_results = ")[2], region


def test_fields_of_one_array_of_records_are_objects_not_aliases(monkeypatch) -> None:
    before = "bodies = np.zeros(4, dtype=[('x', float), ('v', float)]); x, v = bodies['x'], bodies['v']"
    (region,) = found(before, "for k in range(1, 4):\n    x[k] = x[k - 1] + v[k] + 1\n", monkeypatch)
    assert "aliasing" not in region.reason


_SMOOTH = """
def smooth(x):
    for i in range(3):
        x = 0.5 * x + 0.25 * np.roll(x, 1) + 0.25
    return x
x = rng.normal(size=9)
"""


def test_what_a_compiled_region_has_inside_is_not_told_again(monkeypatch) -> None:
    regions = found(_SMOOTH, "for k in range(5):\n    x = smooth(x)\n", monkeypatch)
    assert [(r.cell, r.line, r.verdict) for r in regions] == [(2, 1, "compile")]


def test_what_a_refused_loop_calls_is_told_by_itself(monkeypatch) -> None:
    regions = found(
        _SMOOTH, "for k in range(5):\n    x = smooth(x) + (rng.normal() if x[0] < 9 else 0.0)\n", monkeypatch
    )
    assert [(r.cell, r.line, r.verdict) for r in regions] == [(1, 2, "compile"), (2, 1, "cannot")]


def test_what_python_asks_of_compiled_arrays_is_a_value(monkeypatch) -> None:
    before = "import jitscope.numpy as jnp\nx = jnp.ones(3); names = ['a', 'b']; s = ''\nclass Kept: pass\nkept = Kept(); kept.x = x"
    *_, region = found(before, "for k in range(3):\n    kept.x = kept.x * int(kept.x.sum())\n", monkeypatch)
    assert [c.why for c in region.cuts] == ["value read by Python"]


_CELLS = """
class Body:
    def __init__(self, i):
        self.x, self.v, self.log = np.full(4, float(i)), np.ones(4), []
bodies = [Body(i) for i in range(240)]
w = np.linspace(0, 1, 50)
"""


def test_places_beyond_those_that_are_followed_are_not_called_removed(monkeypatch) -> None:
    cell = """\
for k in range(20):
    w = w + 0.001 * np.sin(w)
    for body in bodies[:5]:
        body.log.append(w * 1.0)
    bodies[239].x = bodies[239].x + np.sum(w)
"""
    reasons = [one.reason for one in found(_CELLS, cell, monkeypatch)]
    assert reasons[-1].endswith("objects and containers hold more than the 500 values that are followed")


def test_what_stays_where_nobody_follows_is_no_matter_of_shapes(monkeypatch) -> None:
    cell = "for k in range(20):\n    w = w + 0.001 * np.sin(w)\n    bodies[239].x = bodies[239].x + np.sum(w)\n"
    *_, region = found(_CELLS, cell, monkeypatch)
    assert region.reason.endswith("a value that it computes stays in an object or container that is not followed")
    assert [c.why for c in region.cuts] == ["object"]


def test_a_recursion_is_called_so(monkeypatch) -> None:
    before = "def half(u):\n    if len(u) < 4: return u\n    u[1:-1] = 0.5 * (u[2:] + u[:-2])\n    w = half(u[::2].copy())\n    return w\nu = np.ones(33)"
    *_, region = found(before, "s = 0.0\nfor k in range(5):\n    w = half(u)\n", monkeypatch)
    assert region.reason.startswith("line 3: `half` calls itself")


def test_the_statement_is_told_in_which_a_function_asks_for_a_value(monkeypatch) -> None:
    before = """
class Ball:
    def __init__(self): self.x, self.v = np.array([0.0, 1.0]), np.array([0.3, 0.0])
def step(ball, dt):
    ball.v = vars(ball)["v"] + dt * np.array([0.0, -9.81])
    ball.x = ball.x + dt * ball.v
    if ball.x[1] < 0:
        ball.v = -ball.v
ball = Ball(); t = 0.0
"""
    *_, region = found(before, "for k in range(30):\n    t = t + 0.01\n    step(ball, 0.01)\n", monkeypatch)
    assert region.reason.endswith("`if ball.x[1] < 0:` (in `step`)")
    assert [(c.line, c.why) for c in region.cuts] == [(3, "value read by Python")]


def test_a_dict_is_said_to_be_asked_with_a_traced_value(monkeypatch) -> None:
    before = "kept = {k: np.full(3, float(k)) for k in range(90)}; total = np.zeros(3)"
    *_, region = found(before, "for k in range(90):\n    total = total + kept[k]\n", monkeypatch)
    assert region.reason == "line 2: a dict or a set is asked with a value that is not known while tracing"


def test_what_grows_and_is_no_list_is_called_by_its_kind(monkeypatch) -> None:
    before = "from collections import deque\nqueue = deque([0]); reached = np.zeros(30)"
    cell = "while queue:\n    v = queue.popleft()\n    if v < 20: queue.append(v + 1)\n    reached[v] = 1.0\n"
    *_, region = found(before, cell, monkeypatch)
    assert region.reason == "line 3: `queue` grows, and is no list made before the loop but a deque"


def test_differences_are_said_to_grow_where_they_are_seen_to(monkeypatch) -> None:
    cell = "for k in range(300):\n    x = 0.999 * np.sin(np.pi * x) * np.exp(-x + 0.4)\n"
    (region,) = found("x = rng.random(100)", cell, monkeypatch)
    assert region.reason.startswith("line 1: differences grow: inputs moved by 1e-12 of their size change `x` by ")
    assert [c.why for c in region.cuts] == ["differences"]
    monkeypatch.setattr(proving, "TINY", 0.0)  # inputs that stay themselves show no growth
    (region,) = found("x = rng.random(100)", cell, monkeypatch)
    assert region.reason.startswith("line 1: `x` would differ by ")
    assert region.reason.endswith("more than is allowed")


def test_a_list_that_gets_the_same_array_each_time_is_named_with_it(monkeypatch) -> None:
    cell = "for k in range(9):\n    u[1:-1] += 0.1 * (u[2:] - u[:-2])\n    seen.append(u)\n"
    (region,) = found("u = rng.random(8); seen = []", cell, monkeypatch)
    assert region.reason == "line 3: `seen` gets `u`, or a view of it, and that is stored into"


@pytest.mark.parametrize(
    ("runs", "said"), [(50, "60 % counts as a gain (the edited"), (25, "80 % counts as a gain"), (15, "")]
)
def test_a_gain_within_the_margin_is_told(runs: int, said: str) -> None:
    """Paid back after 21 runs."""
    assert (said in (found := pricing.too_little(11.9e-3, 4.71e-3, 0.145, runs))) and bool(found) == bool(said)


def test_what_takes_longer_to_compile_than_to_run_is_left_in_the_middle(monkeypatch) -> None:
    monkeypatch.setattr(finding, "_most", lambda total: 1e-3)
    (region,) = found("x = rng.random(5)", "for k in range(50):\n    x = np.tanh(x)\n", monkeypatch)
    assert region.verdict == "not worth it"
    assert region.reason.startswith("compiling takes more than 1 ms")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no alarms")
@pytest.mark.parametrize("computing", [False, True])
def test_a_thread_is_started_to_the_end_before_time_is_up(computing, monkeypatch) -> None:
    start = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"
    begun, told, ran = getattr(threading, start), threading.Event(), []

    def started(function: Callable[[], object], *given: object, **named: object) -> object:
        thread = begun(lambda *a: (told.wait(), function(*a)), *given, **named)
        try:
            signal.raise_signal(signal.SIGPROF if computing else signal.SIGALRM)
            return thread
        finally:
            told.set()

    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    monkeypatch.setattr(threading, start, started)
    thread = threading.Thread(target=ran.append, args=(1,))
    with pytest.raises(TimeoutError), alarms.no_longer_than(1e6, TimeoutError(), computing):
        thread.start()
        while True:
            math.cos(1.0)
    thread.join()
    assert (ran, lost) == ([1], [])


def test_what_the_first_run_alone_took_is_shared_by_all(monkeypatch) -> None:
    proof = finding.proof
    monkeypatch.setattr(finding, "proof", lambda *given: replace(proof(*given), eager_s=0.0))
    (region,) = found("x = rng.random(5)", "for k in range(2000):\n    x = np.tanh(x)\n", monkeypatch)
    assert region.eager_s is not None
    assert region.eager_s < 1e-3  # of some milliseconds for a thousand runs


@pytest.mark.parametrize(
    ("runs", "seconds"),
    [
        ([(3e-5, 0.0, 0.0), (2e-5, 0.0, 0.0)], 2e-5),  # the clocks stood still
        ([(3e-5, 0.0, 0.0), (3e-5, 2e-5, 0.0)], 1e-5),  # it waited for other threads
        ([(3e-5, 8e-5, 2e-5), (2e-5, 8e-5, 2e-5)], 2e-5),
        ([(9e-3, 0.0, 3e-3), (9e-3, 4e-3, 3e-3)], 3e-3),  # a busy machine, and the process's clock late
    ],
)
def test_no_run_takes_no_time(runs, seconds) -> None:
    assert of_one([Seconds(*run) for run in runs]) == seconds


def test_what_memory_held_before_is_no_measure_of_a_bound(monkeypatch) -> None:
    cell = "for k in range(30):\n    old = u.copy()\n    u[1:] = 0.5 * (old[1:] + old[:-1])\n"
    (region,) = found("u = rng.random(9); old = np.full(9, 1e300)", cell, monkeypatch)
    assert region.same is not None
    assert region.same.max_abs < 1e-9


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("def run(x):\n    return x\nrun(3)", True),
        ("class Game:\n    def load(self):\n        return 1\nGame().load()", True),
        ("import numpy as np\ndef save(x):\n    np.save('x', x)\nsave(3)", False),
        ("open('x')", False),
        ("import subprocess\nsubprocess.run('x')", False),
        ("from os import remove\nremove('x')", False),
    ],
)
def test_cells_are_run_again_where_that_does_no_harm(cell: str, says: bool) -> None:
    assert harmless([cell]) is says


@pytest.mark.parametrize(
    ("cell", "note"),
    [
        (
            "for i in range(9):\n    r = np.random.default_rng(i)\n    s = s + r.normal()\n",
            "`np.random.default_rng` makes a random generator",
        ),
        (
            "for i in range(9):\n    np.random.seed(i)\n    s = s + np.random.normal()\n",
            "`np.random.seed` sets the state of NumPy's random generator",
        ),
        (
            "for i in range(9):\n    walker.step()\n    if walker.at > 1:\n        walker.step()\n",
            "`walker.rng.normal` draws from NumPy's random generator",
        ),
    ],
    ids=["made", "set", "an object's"],
)
def test_what_is_done_to_random_generators_is_said(cell: str, note: str, monkeypatch) -> None:
    regions = found(_WALKER, cell, monkeypatch)
    assert [c.note for r in regions if r.cell == 2 for c in r.cuts] == [note]


_WALKER = """
class Walker:
    def __init__(self):
        self.rng, self.at = np.random.default_rng(1), 0.0
    def step(self):
        self.at = self.at + self.rng.normal()
walker = Walker(); s = 0.0
"""


def test_passages_inside_of_a_passage_take_no_time_of_their_own() -> None:
    watch = finding.Watch({"np": np, "__name__": "__main__"})
    watch.run(Cell(1, _RECURSION, 1, 1))
    (seen,) = watch.recorder.seen.values()
    assert seen.count == 2
    assert seen.seconds <= watch.cell_seconds[0]


_RECURSION = """
def cycle(n):
    for k in range(1 + (n > 8)):
        try:
            if n < 4:
                raise ValueError
            cycle(n // 2)
        except ValueError:
            pass
cycle(64); cycle(3)
"""


def test_a_statement_is_told_once_where_a_part_of_it_is_compiled(monkeypatch) -> None:
    before = "x = rng.normal(size=9)"
    cell = "for k in range(3):\n    for i in range(20):\n        x = 0.5 * x + np.sin(x)\n    print(x.sum().tolist())\n"
    (region,) = found(before, cell, monkeypatch)
    assert (region.line, region.end_line, region.verdict) == (1, 4, "compile")
    assert region.reason.startswith("lines 2 to 3 in it: no effect seen in this run")
    assert [(c.line, c.why) for c in region.cuts] == [(4, "input or output")]


class Kept:
    """What a weak reference can be to."""


class Rung(set):
    """What a weak set keeps, where an alarm rings while it is told that something is gone."""

    def discard(self, item: object) -> None:
        super().discard(item)
        signal.raise_signal(signal.SIGALRM)


def _go_on() -> None:
    """Loops for a minute. (What a signal raises at a loop's jump back is not caught by a `with` in the same function: CPython counts the jump to none.)"""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        math.cos(1.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no alarms")
@pytest.mark.parametrize(
    "place",
    ["a callback of the collector", "a callback of a weak reference", "what a weak set calls", "what catches it"],
)
def test_time_is_up_where_what_is_raised_first_is_lost(place: str, monkeypatch) -> None:
    lost: list[object] = []  # what a weak reference's callback raised
    monkeypatch.setattr(sys, "unraisablehook", lambda told: lost.append(told.exc_type))

    def called(phase: object = "start", told: object = None) -> None:
        if phase != "stop" and timed:
            signal.raise_signal(signal.SIGALRM)

    timed = [True]
    kept = Kept()
    seen = weakref.ref(kept, called)
    by_the_collector = place == "a callback of the collector"
    gc.collect()  # nothing that earlier tests left behind goes while the alarm is heard
    gc.callbacks.extend([called] * by_the_collector)
    try:
        with pytest.raises(TimeoutError), alarms.no_longer_than(1e6, TimeoutError()):
            if by_the_collector:
                gc.collect()
            elif place == "a callback of a weak reference":
                del kept
            elif place == "what a weak set calls":
                weak = weakref.WeakSet([member := Kept()])
                weak.data = Rung(weak.data)
                del member
            else:
                with contextlib.suppress(TimeoutError):
                    called()
            _go_on()
    finally:
        timed.clear()  # what is kept may go later, when nobody hears the alarm any longer, which would end the process
        if by_the_collector:
            gc.callbacks.remove(called)
    assert seen is not None and bool(lost) == (place == "a callback of a weak reference")


_SORTED = """def sort(a):
    if len(a) < 2:
        return a
    m = len(a) // 2
    l, r = sort(a[:m]), sort(a[m:])
    out = []
    while l and r:
        out.append(l.pop(0) if l[0] <= r[0] else r.pop(0))
    return out + l + r
s = sort(v)
"""


@pytest.mark.parametrize(
    ("before", "cell", "line", "says"),
    [
        (
            "pts = [rng.random(2) for _ in range(8)]; d = []",
            "for i in range(7):\n    for j in range(i):\n        p = pts[j]\n        d.append((p - pts[i]).sum())\n",
            2,
            "Python asks for the value of an array",
        ),
        (
            "A = rng.random((3, 4)); s = 0.0",
            "for k in range(3):\n    for v in np.nditer(A.T):\n        s = 0.5 * s + k * v\n",
            2,
            "`np.nditer` is gone through by Python",
        ),
        ("v = list(rng.random(50))", _SORTED, 5, "`sort` calls itself"),
        (
            "x = rng.random(9); near = [[int(v) for v in rng.integers(0, 9, k % 3)] for k in range(9)]",
            "for k in range(3):\n    for i in range(9):\n        x[near[i]] = x[near[i]] + x[i]\n",
            3,
            "the compiled form is refused",
        ),
        (
            "def make():\n    kept = []\n    def f(x):\n        kept.append(x)\n        return 0.5 * x\n    return f\nf = make(); s = 1.0",
            "for k in range(9):\n    s = s + f(k)\n",
            2,
            "`f` does `kept.append(x)` to what lives on",
        ),
        (
            "A = rng.random((3, 4))",
            "with np.nditer(A, op_flags=['readwrite']) as it:\n    for x in it:\n        x[...] = 0.5 * x\n",
            3,
            "`x` is stored into, and is part of what the loop goes through",
        ),
    ],
    ids=[
        "a loop that asks for a count",
        "what goes through memory in its own order",
        "a stretch of a function that calls itself",
        "a list of places, some empty",
        "a list that a function keeps",
        "an iterator that is gone",
    ],
)
def test_reasons_name_the_statement_they_are_of(before: str, cell: str, line: int, says: str, monkeypatch) -> None:
    regions = found(before, cell, monkeypatch)
    assert [r.verdict for r in regions if r.verdict == "compile"] == []
    assert [c.line for r in regions for c in r.cuts if says in c.note] == [line]
