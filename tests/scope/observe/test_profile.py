"""Profiles: kernel times add up to the program's, lines get bounds, and the roofline's figures are those of an independent measurement."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter, defaultdict
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope.xla import client, hlo_module, profiler
from jitscope_scope import observe
from jitscope_scope.observe.cost import Costs, Work, work_of
from jitscope_scope.observe.fusion import Kernels
from jitscope_scope.observe.hlo_flow import flow_of
from jitscope_scope.observe.profiling import document as profile_document, measurement
from jitscope_scope.observe.profiling.bounds import bounds_of
from jitscope_scope.observe.profiling.ends import with_ends
from jitscope_scope.observe.profiling.estimate import fitted, shares_of, split
from jitscope_scope.observe.profiling.measurement import most_usual, take
from jitscope_scope.observe.profiling.peaks import SIZES, Bandwidth, Peaks, peaks_of
from jitscope_scope.observe.profiling.recorded_call import MOST, STRETCHES, busy, call_document
from jitscope_scope.observe.profiling.roofline import verdict_of
from jitscope_scope.observe.profiling.spans import Recording, Span
from jitscope_scope.observe.rerunning import rerun_of
from jitscope_widgets import validate
from jitscope_widgets.envelope import pack
from jitscope_widgets.views.profile import wording
from tests.programs import lstm, transformer
from tests.programs.rows import row_of


def profile(function, *args, **options):
    document = observe.look(row_of(function, *args), "profile", **options)
    validate(document)
    return document


LAYERS = 3
GIVEN = transformer.arguments(layers=LAYERS)


@pytest.fixture(scope="module")
def of_transformer():
    return profile(transformer.program, *GIVEN)


@pytest.fixture(scope="module")
def of_lstm():
    return profile(lstm.program, *lstm.arguments())


def value(document, name):
    return document[name]["value"]


def alone(document):
    return [kernel for kernel in document["kernels"] if kernel["share"] is not None]


def test_kernels_add_up_to_the_recorded_call(of_transformer):
    document = of_transformer
    busy, together, between, recorded = (value(document, name) for name in ("busy", "together", "between", "recorded"))
    assert sum(kernel["total"] for kernel in alone(document)) == pytest.approx(busy, rel=1e-3)
    assert busy - together + between + value(document, "held_up") == pytest.approx(recorded)
    assert 0 <= together <= busy and between > 0
    assert sum(kernel["share"] for kernel in alone(document)) == pytest.approx(1, abs=1e-2)
    assert value(document, "low") <= value(document, "wall") <= value(document, "high")


def test_each_recorded_kernel_is_one_of_the_fusion_document(of_transformer):
    row = row_of(transformer.program, *GIVEN)
    kernels = observe.compilation_document(row)["fusion"]["kernels"]
    by_name = {kernel["name"]: kernel for kernel in kernels}
    assert {kernel["name"] for kernel in of_transformer["kernels"]} <= set(by_name)
    for kernel in alone(of_transformer):
        assert by_name[kernel["name"]]["share"] == pytest.approx(kernel["share"], rel=1e-3)
        lines = {position["line"] for position in by_name[kernel["name"]]["positions"]}
        assert {of_transformer["lines"][at]["position"]["line"] for at in kernel["lines"]} <= lines


def outwards(document, kernel):
    """The labels of the blocks that a kernel is in, the outermost first."""
    at, labels = kernel["block"], []
    while at is not None:
        labels.insert(0, document["blocks"][at]["label"])
        at = document["blocks"][at]["outer"]
    return labels


def test_kernels_are_in_the_blocks_of_their_equations(of_transformer):
    """The oracle: the groups round the equations in the graph, of which a kernel's block is round all; those of all layers are one."""
    row = row_of(transformer.program, *GIVEN)
    document = observe.compilation_document(row)
    nodes = {node["id"]: node for node in document["graph"]["nodes"]}

    def around(path):
        found, at = [], next(node for node in nodes.values() if path in node["paths"])["scope"]
        while at is not None:
            if nodes[at].get("what") != "instance":
                found.insert(0, nodes[at]["label"])
            at = nodes[at]["scope"]
        return found

    paths = {kernel["name"]: kernel["paths"] for kernel in document["fusion"]["kernels"]}
    for kernel in of_transformer["kernels"]:
        chain = outwards(of_transformer, kernel)
        assert all(around(path)[: len(chain)] == chain for path in paths[kernel["name"]])
        if len(paths[kernel["name"]]) == 1:
            assert around(*paths[kernel["name"]]) == chain
    label = f"block × {LAYERS}"
    dots = [k for k in of_transformer["kernels"] if k["opcode"] == "dot" and label in outwards(of_transformer, k)]
    counts = Counter(kernel["block"] for kernel in dots)
    assert dots and not any(count % LAYERS for count in counts.values())


def test_what_a_loop_repeats_is_in_the_block_of_the_loop(of_lstm):
    inside = [kernel for kernel in of_lstm["kernels"] if kernel["loop"]]
    assert inside and all(any("scan" in label for label in outwards(of_lstm, kernel)) for kernel in inside)
    loops = [kernel for kernel in of_lstm["kernels"] if kernel["kind"] == "loop"]
    assert loops and all("scan" in outwards(of_lstm, loop)[-1] for loop in loops)


def test_lines_have_the_bounds_of_their_kernels(of_transformer):
    """The oracle: for each line, the kernels that list it alone, and those that list it at all."""
    for at, line in enumerate(of_transformer["lines"]):
        if line["own"] is None:
            continue
        has = [kernel for kernel in alone(of_transformer) if at in kernel["lines"]]
        most = sum(kernel["share"] for kernel in has)
        assert line["own"]["most"] == pytest.approx(most, rel=2e-3, abs=1e-6)
        assert line["own"]["least"] <= sum(k["share"] for k in has if k["lines"] == [at]) + 1e-3
        assert line["own"]["least"] <= line["own"]["most"] <= line["whole"]["most"] + 1e-3


def two_products(x, y):
    z = x @ x
    return z, y @ y


SMALL_AND_LARGE = np.ones((100, 100), np.float32), np.ones((300, 300), np.float32)


def test_shares_of_single_calls_are_those_of_their_events(monkeypatch):
    """The oracle: the events of each recorded call, where each line is a kernel."""
    taken = []
    monkeypatch.setattr(profile_document, "take", lambda *a: taken.append(take(*a)) or taken[-1])
    document = profile(two_products, *SMALL_AND_LARGE, limit=0.3)
    calls = [{k["name"]: 0.0 for k in alone(document)} for _ in taken[0].recording.runs]
    for call, run in zip(calls, taken[0].recording.runs, strict=True):
        for event in run.events:
            if event.instruction in call:
                call[event.instruction] += event.seconds
    assert document["runs"] == len(calls) > 1
    lines = [line for line in document["lines"] if line["own"]]
    assert len(lines) == 2
    for at, line in enumerate(document["lines"]):
        (name,) = [kernel["name"] for kernel in alone(document) if kernel["lines"] == [at]]
        low, high = np.percentile([call[name] / sum(call.values()) for call in calls], (10, 90))
        assert line["own"]["low"] == pytest.approx(low, rel=1e-3)
        assert line["own"]["high"] == pytest.approx(high, rel=1e-3)


def test_one_recorded_call_says_nothing_of_others(monkeypatch):
    monkeypatch.setattr(measurement, "FEW", 0)
    document = profile(two_products, *SMALL_AND_LARGE, limit=0.0)
    assert document["runs"] == 1
    assert not any("low" in line["own"] for line in document["lines"] if line["own"])


def test_the_slowest_line_of_the_transformer_is_a_product(of_transformer):
    own = max((line for line in of_transformer["lines"] if line["own"]), key=lambda line: line["own"]["most"])
    assert "@" in own["position"]["text"]


@pytest.fixture(scope="module")
def of_two_lines():
    """A kernel of two lines of very different work, and the lines by themselves."""
    x = np.linspace(0.1, 2, 1 << 20, dtype=np.float32)

    def much(x):
        return jnp.tanh(jnp.exp(jnp.sin(x)))

    def both(x):
        y = x * 2 + 1
        return jnp.tanh(jnp.exp(jnp.sin(y)))

    return profile(both, x), profile(much, x), profile(lambda x: x * 2 + 1, x)


def test_a_kernel_is_split_as_its_lines_take_by_themselves(of_two_lines):
    """The oracle: each line compiled alone. What both read and write counts for one of them only when they are fused, so the cheap line
    has at most what it takes by itself."""
    together, much, little = of_two_lines
    (fused,) = [kernel for kernel in alone(together) if len(kernel["lines"]) == 2]
    by_line = {
        together["lines"][at]["position"]["text"].strip(): part for at, part in zip(fused["lines"], fused["split"])
    }
    (slow,) = [part for text, part in by_line.items() if "tanh" in text]
    seconds_much, seconds_little = value(much, "busy"), value(little, "busy")
    assert 0.5 < slow <= 1 and slow >= seconds_much / (seconds_much + seconds_little) - 0.25
    first = max((line for line in together["lines"] if line["own"]), key=lambda line: line["own"]["estimate"])
    assert "tanh" in first["position"]["text"]


def test_rates_are_fitted_to_what_was_measured():
    """Kernels made up by known rates, far from the usual ones: what is fitted explains them within some percent."""
    random = np.random.default_rng(0)
    rates = np.array([2e-9, 1e-9, 9e-9, 0.5e-9, 0.2e-9])
    works = random.integers(0, 2, (900, 5)) * random.uniform(1e3, 1e5, (900, 5)) + 1.0
    found = fitted(works, works @ rates)
    assert np.abs(works @ found / (works @ rates) - 1).max() < 0.1
    assert (fitted(works, works @ (rates * [0, 1, 1, 1, 1])) > 0).all(), "no line takes 0 s"


def test_what_stems_from_several_equations_belongs_to_them_in_equal_parts():
    parts = [(["e0", "e1/e0"], 0.6), (["e1/e0/e4"], 0.3), (["e9"], 0.1)]
    owners = {"e0": ["a"], "e1": ["b"], "e1/e0": ["c"]}
    assert split(parts, owners) == pytest.approx({"a": 0.3, "b": 0.6, "c": 0.6})
    assert split(parts, owners, innermost=True) == pytest.approx({"a": 0.3, "c": 0.6})
    assert shares_of([(0.5, parts), (0.5, [(["e0"], 1.0)])], owners) == pytest.approx({"a": 0.65, "b": 0.3, "c": 0.3})


@pytest.mark.parametrize(
    ("members", "parts", "told"),
    [
        ([["e0"], ["e1"]], {"e1": 1.0}, {"e1": 1.0}),  # all the time is one equation's: the other one has none of it
        ([["e0"], ["e1"]], {"e0": 0.25, "e1": 0.75}, {"e0": 0.25, "e1": 0.75}),
        ([["e1"], ["e1"]], {"e1": 1.0}, None),
        ([["e0"], ["e1"]], {}, None),
    ],
)
def test_a_kernel_of_several_equations_tells_how_it_is_split(members, parts, told):
    """Else the shares that a page sums up from it have bounds, and no number."""
    kernel = {"kind": "fusion", "paths": ["e1"], "members": [{"paths": paths} for paths in members]}
    estimate = SimpleNamespace(parts=lambda _: [], equations=lambda _: parts)
    found = profile_document._Profile._split(SimpleNamespace(_lines=lambda *_: []), kernel, {}, {}, estimate)
    assert found.get("equations") == told


def test_a_recorded_call_is_on_a_time_axis(of_transformer):
    """What is listed lies in the call, on each thread one after the other; the time in kernels is about that of the medians."""
    call = of_transformer["timeline"]
    columns = [call[name] for name in ("thread", "kernel", "start", "length")]
    assert len({*map(len, columns)}) == 1 and call["left_out"] == 0
    assert Counter(call["kernel"]) >= Counter({at: k["runs"] for at, k in enumerate(of_transformer["kernels"])})
    assert (
        min(call["start"]) > 0 and max(s + n for s, n in zip(call["start"], call["length"])) <= call["seconds"] * 1.001
    )
    names = {thread: [] for thread in range(len(call["threads"]))}
    for thread, kernel, start, length in zip(*columns):
        if of_transformer["kernels"][kernel]["share"] is not None:
            names[thread].append((start, start + length))
    for spans in names.values():
        assert all(one[1] <= other[0] + 1e-6 for one, other in itertools.pairwise(sorted(spans)))
    ran = sum(n for n, at in zip(call["length"], call["kernel"]) if of_transformer["kernels"][at]["share"] is not None)
    for one, name in ((ran, "busy"), (call["seconds"], "recorded")):  # what others use the machine for is in one call
        assert value(of_transformer, name) / FACTOR < one < value(of_transformer, name) * FACTOR


def test_of_many_runs_the_longest_are_listed():
    events = tuple(profiler.Event("m", f"k{n % 3}", 1e-3 * n, 1e-6 * (n + 1), f"t{n % 2}") for n in range(MOST + 50))
    call = call_document(profiler.Run(0.0, 3.0, events), {"k0": 0, "k1": 1})
    there = [event for event in events if event.instruction != "k2"]
    assert call["left_out"] == 0 and len(call["start"]) == len(there)
    call = call_document(profiler.Run(0.0, 3.0, events), {"k0": 0, "k1": 1, "k2": 2})
    assert call["left_out"] == 50 and min(call["length"]) == pytest.approx(51e-6)
    assert call["start"] == sorted(call["start"]) and call["threads"] == ["thread 1", "thread 2"]


def test_how_busy_a_call_was():
    """The oracle: a second of which each stretch is looked at in a thousand places."""
    spans = [(0.1, 0.2), (0.15, 0.05), (0.28, 0.12), (0.5, 0.0), (0.61, 0.004), (0.9, 0.2)]
    at = (np.arange(STRETCHES * 1000) + 0.5) / (STRETCHES * 1000)
    runs = np.any([(start <= at) & (at < start + length) for start, length in spans], axis=0)
    found = busy(spans[::-1], 1.0)
    np.testing.assert_allclose(found, runs.reshape(STRETCHES, 1000).mean(1), atol=2e-3)
    assert busy([], 1.0) == [0.0] * STRETCHES and busy(spans, 0.0) == []


def test_the_call_that_is_shown_is_one_in_which_nothing_held_a_kernel_up():
    """Three calls of the same length: in one a kernel was held up, in one it took no time."""
    totals = {"a": [1.0, 5.0, 1.1], "b": [4.0, 0.1, 3.9]}
    spans = tuple(Span(name, "add", np.asarray(each), np.asarray(each), False) for name, each in totals.items())
    calls = np.asarray([6.0, 6.0, 6.0])
    assert most_usual(Recording((), spans, calls, calls)) in (0, 2)
    assert most_usual(Recording((), spans[:1], np.asarray([9.0, 6.0, 6.0]), calls)) == 2


PROGRAM = """HloModule m, is_scheduled=true

ENTRY main (x: f32[8]) -> (f32[8], f32[8]) {
  x = f32[8] parameter(0)
  long = f32[8] negate(x)
  moved = f32[8] bitcast(long)
  reader = f32[8] exponential(moved)
  other = f32[8] sine(x)
  ROOT both = (f32[8], f32[8]) tuple(reader, other)
}
"""


def test_a_kernel_ends_before_its_result_is_read():
    """XLA may say late that a kernel of several threads has ended."""
    computations = hlo_module.parse(PROGRAM)
    said = {"long": (1.0, 5.0), "reader": (3.0, 1.0), "other": (3.5, 9.0)}
    events = tuple(profiler.Event("m", name, *when) for name, when in said.items())
    (run,) = with_ends([profiler.Run(0.0, 8.0, events)], computations)
    assert {e.instruction: (e.start, e.seconds) for e in run.events} == {
        "long": (1.0, 2.0),  # the reader starts at 3, past a bitcast
        "reader": (3.0, 1.0),
        "other": (3.5, 4.5),  # the call ends at 8
    }
    # on two devices it is not known whose reader has started
    (run,) = with_ends([profiler.Run(0.0, 8.0, events + events)], computations)
    assert [e.seconds for e in run.events if e.instruction == "long"] == [5.0, 5.0]


def test_kernels_of_several_threads_do_not_last_longer_than_their_call():
    def deep(x, kernels):
        for kernel in kernels:
            x = jnp.tanh(lax.conv(x, kernel, (1, 1), "SAME"))
        return jnp.sum(x)

    kernels = [np.ones((16, 16, 3, 3), np.float32)] * 6
    row = row_of(jx.grad(deep, argnums=1), np.ones((4, 16, 32, 32), np.float32), kernels)
    rerun = rerun_of(row)
    computations = hlo_module.computations(hlo_module.optimized(row.entry.executable))
    for run in take(rerun, computations, 0.5).recording.runs:
        assert all(e.start + e.seconds <= run.start + run.seconds + 1e-9 for e in run.events)
        starts = {e.instruction: e.start for e in run.events}
        for event in run.events:
            users = [i.name for c in computations for i in c.instructions if event.instruction in i.operands]
            assert all(event.start + event.seconds <= starts[user] + 1e-9 for user in users if user in starts)


def test_bounds_of_paths():
    owners = {"e0": ["a"], "e1": ["b"], "e1/e0": ["c"]}
    kernels = [(0.5, ["e0"]), (0.3, ["e0", "e1/e0"]), (0.2, ["e1/e0/e4"]), (0.1, []), (0.4, ["e9"])]
    assert bounds_of(kernels, owners) == {"a": (0.5, 0.8), "b": (0.2, 0.5), "c": (0.2, 0.5)}
    assert bounds_of(kernels, owners, innermost=True) == {"a": (0.5, 0.8), "c": (0.2, 0.5)}


def test_single_runs_add_up_to_all_runs(of_transformer):
    """What stands beside each other: `40 × 2.75 µs` and `110 µs`, also where single runs differ much."""
    uneven = {"runs": 200.0, "total": 1.22, "median": 3.28e-3}
    assert wording.timed(uneven) == "200 × 6.1 ms"
    row = row_of(transformer.program, *GIVEN)
    assert of_transformer["count"] == observe.compilation_document(row)["fusion"]["summary"]["kernels"]


def test_loops_and_what_is_inside(of_lstm):
    loops = [kernel for kernel in of_lstm["kernels"] if kernel["kind"] == "loop"]
    assert loops and all(loop["share"] is None and loop["bound"] is None for loop in loops)
    for loop in loops:
        inside = [kernel for kernel in of_lstm["kernels"] if kernel["loop"] == loop["name"]]
        assert inside and {kernel["runs"] for kernel in inside} <= {40.0, 41.0}
        assert sum(kernel["total"] for kernel in inside) <= 1.2 * loop["total"]
    whole = observe.compilation_document(row_of(lstm.program, *lstm.arguments()))
    assert len(pack({**whole, "instruments": {"profile": of_lstm}}).text) < 120_000  # beside its still picture


def test_the_work_of_kernels_adds_up_to_that_of_the_program():
    module = hlo_module.optimized(jx.jit(lstm.program).lower(*lstm.arguments()).compile().runtime_executable())
    computations = hlo_module.computations(module)
    costs, kernels = Costs(module, computations), Kernels(flow_of(computations, True), {}, {})
    instructions = {i.name: i for c in computations for i in c.instructions}
    found = [
        (costs.instruction(instructions[kernel["name"]]), kernels.runs(kernel["name"]))
        for kernel in kernels.all()
        if kernel["kind"] != "loop"
    ]
    whole = work_of(module, computations)
    assert sum(work.flops * runs for work, runs in found) == pytest.approx(whole.flops, rel=1e-3)
    assert sum(work.bytes * runs for work, runs in found) == pytest.approx(whole.bytes, rel=0.01)


def test_scopes_have_bounds():
    def f(x):
        with jx.named_scope("outer"):
            y = x @ x
            with jx.named_scope("inner"):
                return y @ x

    document = profile(f, np.ones((300, 300), np.float32))
    scopes = {scope["name"]: scope for scope in document["scopes"]}
    assert scopes["outer"]["least"] == pytest.approx(1, abs=0.02)
    assert 0.1 < scopes["outer/inner"]["most"] < 0.9


# --- what is not run --------------------------------------------------------------------------------------------------


def test_what_calls_python_is_refused_with_a_sentence():
    def f(x):
        jx.debug.callback(lambda y: None, x)
        return x + 1

    with pytest.raises(Unavailable, match="not run again"):
        profile(f, np.ones(3, np.float32))


def test_arguments_are_held_weakly():
    f = jx.jit(lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c + 1, x))
    jx.block_until_ready(f(jnp.ones(3)))
    with pytest.raises(Unavailable, match="arguments of its call are gone"):
        observe.look(list(observe.ledger())[-1], "profile")


def test_donated_arguments_are_copied():
    f = jx.jit(lambda x: x * 2, donate_argnums=0)
    x, kept = jnp.ones(1000), jnp.ones(1000)
    jx.block_until_ready(f(x))
    inspected = jx.inspect(f)(kept)
    assert inspected.profile.document["kernels"]
    assert not kept.is_deleted() and float(kept.sum()) == 1000


def test_one_recording_at_a_time_is_said():
    jx.block_until_ready(jx.jit(jnp.sin)(jnp.ones(3)))
    row = list(observe.ledger())[-1]
    peaks_of(row.entry.executable.device)
    with pytest.raises(RuntimeError, match="one recording at a time"):
        profiler.record(lambda: observe.look(row, "profile"))


def test_the_limit_holds():
    x = np.ones((1000, 1000), np.float32)
    peaks_of(client.default_device()).flops("f32")
    profile(lambda x: x @ x, x, limit=0.0)
    assert profile(lambda x: x @ x, x, limit=0.0)["runs"] == 1


# --- the roofline -----------------------------------------------------------------------------------------------------

FACTOR = 6.0
"""Two measurements of one machine, which others use meanwhile, by different code and numbers of threads."""


def agrees(wanted, done, work, times=100):
    """Whether work runs at a rate within FACTOR of what is wanted, at the latest when it has run so often: others may use the machine
    for some time."""
    fastest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
        if wanted / FACTOR < done / fastest < wanted * FACTOR:
            return True
    return False


def test_bandwidth_is_that_of_a_copy_by_numpy():
    x = np.ones(1 << 21, np.float32)
    y = np.zeros_like(x)
    bandwidth = peaks_of(client.default_device()).bandwidth.at(2 * x.nbytes)
    assert agrees(bandwidth, 2 * x.nbytes, lambda: np.copyto(y, x))


def test_the_peak_is_that_of_a_product_by_numpy():
    peaks = peaks_of(client.default_device())

    def as_numpy() -> bool:
        # The small one is over before others have their turn, the large one has work for many cores.
        factors = (np.ones((size, size), np.float32) for size in (256, 1024))
        return any(agrees(peaks.flops("f32"), 2 * len(x) ** 3, partial(np.matmul, x, x)) for x in factors)

    if not as_numpy():
        peaks.remeasure()  # others used the machine when it was measured: the better counts
        assert as_numpy()


def test_rates_between_sizes():
    bandwidth = Bandwidth((100, 10_000), (4.0, 1.0))
    assert [bandwidth.at(size) for size in (1, 100, 1000, 10_000, 1e9)] == pytest.approx([4, 4, 2, 1, 1])


def machine(dispatch=1e-6):
    """1 GB/s, 10 Gflop/s."""
    return Peaks(None, Bandwidth((100, 10_000), (1e9, 1e9)), math.inf, dispatch, 0.0, 0.0, {"f32": 1e10})


@pytest.mark.parametrize(
    ("seconds", "flops", "size", "bound", "nearest"),
    [
        (1e-3, 1e5, 6e5, "memory", "memory"),
        (1e-3, 1e5, 4e5, "neither", "memory"),
        (1e-3, 6e6, 1e5, "arithmetic", "arithmetic"),
        (3e-3, 1.53e6, 1.09e6, "neither", "memory"),  # of 3 ms, no kernel is bound by what starting it takes
        (1.9e-6, 10, 40, "overhead", "memory"),
        (2.1e-6, 10, 40, "neither", "memory"),
        (1e-6, 10, 900, "overhead", "memory"),
        (1e-3, 1e5, 2e6, "memory", "memory"),  # faster than the machine was measured to be
    ],
)
def test_what_bounds_a_kernel_explains_half_of_its_time(seconds, flops, size, bound, nearest):
    found = verdict_of(seconds, Work(flops, size), size, "f32", machine())
    assert (found.bound, found.nearest) == (bound, nearest)
    assert found.needs == pytest.approx(max(flops / 1e10, size / 1e9))


def test_a_roof_for_large_data_holds_for_small_data():
    rates = peaks_of(client.default_device()).bandwidth.rates
    assert list(rates) == sorted(rates, reverse=True)


def test_a_peak_is_measured_again_where_a_kernel_was_faster():
    """Peaks from when the machine was busy: no kernel stays above them that the machine's own products and copies do not reach."""
    peaks = peaks_of(client.default_device())
    peaks.flops("f32")
    before = dict(peaks.known), peaks.bandwidth
    try:
        peaks.known, peaks.bandwidth = {"f32": 1e6}, Bandwidth(SIZES, (1e6,) * len(SIZES))
        kernel = slowest(profile(lambda x: x @ x, np.ones((1024, 1024), np.float32)))
        assert peaks.known["f32"] > 1e8 and kernel["needs"] < 100 * kernel["fast"]
    finally:
        peaks.known, peaks.bandwidth = before


def test_kernels_that_do_the_same_have_one_verdict():
    """Blocks that are equal: products, what lies between, their sums."""

    def blocks(x, ws):
        for w in ws:
            x = jnp.sort(jnp.tanh(x @ w), -1)
        return x

    found = profile(blocks, np.ones((64, 64), np.float32), [np.ones((64, 64), np.float32)] * 8)["kernels"]
    alike = defaultdict(set)
    for kernel in found:
        alike[
            kernel["kind"], kernel["opcode"], kernel["operations"], kernel["type"], kernel["flops"], kernel["bytes"]
        ].add((kernel["bound"], kernel["nearest"], kernel["fast"], kernel["needs"]))
    assert len(alike) < len(found) and {len(verdicts) for verdicts in alike.values()} == {1}


def slowest(document):
    return max(alone(document), key=lambda kernel: kernel["total"])


def test_moving_is_what_a_copy_needs_most():
    """In place: how long fresh memory takes depends on what was freed before."""
    x = jnp.ones(1 << 22)
    found = jx.inspect(jx.jit(lambda x: x + 1, donate_argnums=0))(x).profile.document
    kernel = slowest(found)
    assert kernel["nearest"] == "memory" and kernel["bytes"] == pytest.approx(2 * x.nbytes, rel=0.01)


def test_arithmetic_is_what_a_large_product_needs_most():
    kernel = slowest(profile(lambda x: x @ x, np.ones((1500, 1500), np.float32)))
    assert kernel["nearest"] == "arithmetic" and kernel["flops"] == pytest.approx(2 * 1500**3, rel=0.01)


def test_ten_elements_are_bound_by_nothing_but_their_start():
    document = profile(lambda x: jnp.sin(x) + 1, np.ones(10, np.float32))
    for kernel in alone(document):
        short = kernel["fast"] <= 2 * document["machine"]["dispatch"]["value"]
        assert kernel["bound"] == ("overhead" if short else "neither") and kernel["needs"] < 0.1 * kernel["fast"]


def test_what_the_model_does_not_know_is_unknown():
    kernels = profile(jnp.linalg.svd, np.eye(40, dtype=np.float32))["kernels"]
    (call,) = [kernel for kernel in kernels if kernel["opcode"] == "custom-call"]
    assert call["bound"] == "unknown" and call["flops"] is None and "gesdd" in call["why"] and "gesdd" in call["label"]


def test_a_call_that_was_held_up_is_not_taken_for_all(monkeypatch):
    """The one call that was timed first took twelve times as long as the recorded one, which nothing makes quicker."""
    seconds = iter([0.36, *[0.03] * 100])
    rerun = SimpleNamespace(prepared=None, run=None, timed=lambda: 0.03)
    record = lambda *_: [profiler.Run(0.0, 0.03, ())]
    monkeypatch.setattr(measurement, "_one", lambda _: (next(seconds), 0))
    monkeypatch.setattr(measurement.profiler, "record_runs", record)
    monkeypatch.setattr(measurement, "recording_of", lambda runs, _: SimpleNamespace(runs=runs))
    monkeypatch.setattr(measurement, "most_usual", lambda _: 0)
    assert take(rerun, [], 0.5).wall == 0.03


def test_a_line_that_only_a_branch_has_which_did_not_run_has_no_time():
    def other(x):
        return jnp.cos(x @ x)

    def waves(which, x):
        def step(_, x):
            return lax.switch(which, [jnp.sin, other], x)

        return lax.fori_loop(0, 3, step, x)

    document = profile(waves, np.int32(0), np.ones((150, 150), np.float32), limit=0.0)
    (loop,) = [kernel for kernel in document["kernels"] if kernel["kind"] == "loop"]
    line = other.__code__.co_firstlineno + 1
    assert loop["lines"] and line not in {document["lines"][at]["position"]["line"] for at in loop["lines"]}
