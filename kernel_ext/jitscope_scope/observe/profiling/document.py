"""The profile document: what each kernel of a program takes, what bounds it, and what that says of lines and named scopes."""

from __future__ import annotations

import functools
import math
import mmap
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from jitscope.backend.call_arguments import CallArguments
from jitscope.core.errors import Unavailable
from jitscope.core.words import counted
from jitscope.xla import client, hlo_module
from jitscope.xla.hlo_module import Computation

from ...annotations import (
    Bounds as BoundsDocument,
    CallSeconds,
    Fresh,
    FreshMemory,
    GraphDocument,
    Hardware,
    Kernel,
    KernelLines,
    KernelSeconds,
    ProfileDocument,
    ProfileLine,
    RecordedCall,
    RecordedHow,
    TimedKernel,
)
from ...page_faults import tunables_for_large_pages
from ..accelerators import accelerator_of, is_gpu
from ..calls import CallTree
from ..cost import Costs, Work
from ..fusion import Kernels
from ..graph import jaxpr_graph
from ..groups.kernels import Origins
from ..hlo import bytes_of
from ..hlo_flow import FREE, PLUMBING
from ..hlo_origins import flow_of_program
from ..kernel_blocks import Blocks
from ..ledger import Row
from ..positions import scopes_of, sendable
from ..rerunning import Rerun, rerun_of
from ..stacks import Stacks
from ..timing import quantity
from .bounds import Bounds, bounds_of, owners_of
from .estimate import Estimate, shares_of, split
from .measurement import Measurement, take
from .owners import Line, line_position, lines_above, lines_written, scopes_around
from .peaks import Peaks, peaks_of
from .recorded_call import call_document
from .roofline import Verdict, element_of, verdict_of
from .spans import Recording, Span


def instrument(row: Row, given: CallArguments | None = None, *, limit: float = 2.0) -> ProfileDocument:
    """The profile document of a row's program; it also files the share of each kernel, which other views show.

    The program runs for about `limit` seconds on the arguments `given`, by default those of the row's first call: see `rerun_of`,
    also for the Unavailable it raises. RuntimeError while the profiler records something else.
    """
    start = time.perf_counter()
    rerun = rerun_of(row, given)
    if row.jaxpr is not None and row.jaxpr.effects:
        raise Unavailable(f"{row.function} has effects: it is not run again to be measured")
    executable = row.entry.executable
    if executable.devices > 1 if row.library else type(getattr(executable, "device", None)) is client.Spread:
        raise Unavailable(
            f"{row.function} runs on several devices: which of them spent the time of a kernel is not known, so it has no profile. "
            "%communication --measure says what collectives take, %timejit how long a run takes"
        )
    accelerator = accelerator_of(row)
    if accelerator is not None and not is_gpu(accelerator):
        raise Unavailable(f"{row.function} runs on {accelerator.device_kind}, of which no recordings are read here")
    peaks = peaks_of(accelerator or (client.default_device() if row.library else executable.device))
    module = hlo_module.optimized(executable)
    after = hlo_module.computations(module)
    taken = take(rerun, after, limit, _step_by_step(row, rerun, after) if accelerator else None)
    row.shares = taken.recording.shares()
    made = _Profile(row, taken, after, peaks)
    return made.document(Costs(module, after), rerun.on, start)


def _step_by_step(row: Row, rerun: Rerun, computations: Sequence[Computation]) -> Rerun | None:
    """The program as a GPU is given its kernels one by one, to be recorded. None where XLA then makes others of it."""
    executable = row.entry.executable.step_by_step(row.entry.as_given)
    found = hlo_module.computations(hlo_module.optimized(executable))
    same = _instructions(found) == _instructions(computations)
    return rerun._replace(entry=SimpleNamespace(executable=executable)) if same else None


def _instructions(computations: Sequence[Computation]) -> set[tuple[str, str]]:
    """What runs; parts of results may have other names."""
    every = (i for computation in computations for i in computation.instructions)
    return {(i.name, i.opcode) for i in every if i.opcode not in (*FREE, *PLUMBING)}


_STEP_BY_STEP = "To be recorded, the kernels are started one by one; in other calls the GPU is given many of them at once (CUDA graphs)."


_COST = "wall time of this profile: compiling nothing, running the program, reading the recording, measuring the machine if that was the first"


class _Profile:
    def __init__(self, row: Row, taken: Measurement, after: Sequence[Computation], peaks: Peaks):
        self.row, self.taken, self.peaks = row, taken, peaks
        self.instructions = {i.name: i for c in after for i in c.instructions}
        self.spans = {span.name: span for span in taken.recording.spans}
        self.shares = taken.recording.shares()
        stacks = Stacks()
        self.positions = row.positions(stacks)
        self.tree = CallTree(row.jaxpr, row.position, stacks)
        self.after = after
        self.graph = self._graph()
        self.origins = Origins(self.graph)
        self.flow = Kernels(flow_of_program(row.entry, after), self.positions, self.shares, self.origins)
        self.kernels = self.flow.all()
        self.runs = counted(len(taken.recording.calls), "recorded call")

    def document(self, costs: Costs, on: str, start: float) -> ProfileDocument:
        written = lines_written(self.positions)
        above = lines_above(self.tree, self._file)
        estimate = self._estimate(costs, written)
        timed = [(share, k["paths"]) for k in self.kernels if (share := k.get("share")) is not None]
        parts = [(share, estimate.parts(k)) for k in self.kernels if (share := k.get("share")) is not None]
        own_parts, whole_parts = shares_of(parts, written, innermost=True), shares_of(parts, above)
        by_call = [(self._by_call(k), estimate.parts(k)) for k in self.kernels if k.get("share") is not None]
        own_calls, whole_calls = shares_of(by_call, written, innermost=True), shares_of(by_call, above)
        own, whole = bounds_of(timed, written, innermost=True), bounds_of(timed, above)
        places = list(dict.fromkeys([*sorted(own, key=lambda line: -own[line].most), *whole]))
        index = {line: at for at, line in enumerate(places)}
        recorded = [(k, called) for k, called in zip(self.kernels, _called(self.kernels), strict=True) if self._span(k)]
        work, fast, verdicts = self._verdicts([k for k, _ in recorded], costs)
        blocks, by_name = self.graph and Blocks(self.graph, self.origins), {k["name"]: k for k in self.kernels}
        found: list[TimedKernel] = [
            {
                **self._kernel(k, called, work[name := k["name"]], fast[name], verdicts[name]),
                **self._split(k, written, index, estimate),
                "block": blocks.of(k, by_name.get(self.flow.loop_of(k["name"]) or "")) if blocks else None,
            }
            for k, called in recorded
        ]
        found.sort(key=lambda k: -k["total"])
        scopes = scopes_around(scopes_of(self.row.jaxpr)) if self.row.jaxpr else {}
        scope_parts = shares_of(parts, scopes)
        return {
            "kind": "profile",
            "version": 1,
            "title": self.row.title_with_line,
            "runs": len(self.taken.recording.calls),
            "count": sum(k["kind"] != "loop" for k in self.kernels),
            **self._sum(),
            **self._fresh(),
            "kernels": found,
            "lines": [
                self._line(
                    line,
                    _bounds(own[line], own_parts.get(line, 0.0), own_calls.get(line)) if line in own else None,
                    _bounds(whole[line], whole_parts.get(line, 0.0), whole_calls.get(line)) if line in whole else None,
                )
                for line in places
            ],
            "scopes": [
                {"name": sendable(name), **_bounds(bounds, scope_parts.get(name, 0.0))}
                for name, bounds in bounds_of(timed, scopes).items()
            ],
            "blocks": blocks.documents if blocks else [],
            "estimated": _estimated(estimate.known),
            "timeline": self._timeline(found),
            "machine": machine_document(self.peaks),
            "times": f"single runs of {self.runs}: median, 10th and 90th percentile; total: all runs of a call, the median of the calls",
            "work": "of one run, by XLA's model of the optimised program: what it reads and writes, each operation one",
            "on": on,
            **self._recorded_how(),
            "cost": quantity(time.perf_counter() - start, "s", note=_COST),
        }

    def _fresh(self) -> Fresh:
        """Memory that the operating system hands out in each call, where that takes a good part of it."""
        faults = float(np.median(self.taken.faults))
        size = faults * mmap.PAGESIZE
        seconds = size / self.peaks.fresh
        if seconds < _NOTABLE * self.taken.wall:
            return {}
        found: FreshMemory = {
            "faults": round(faults),
            "size": quantity(
                size,
                "B",
                note=f"page faults of a call, the median of {counted(len(self.taken.faults), 'call')}, times the size of a page",
            ),
            "seconds": quantity(seconds, "s", note="this many bytes at the measured rate of memory that is handed out"),
            "tunables": tunables_for_large_pages(),
        }
        return {"fresh": found}

    def _recorded_how(self) -> RecordedHow:
        told = [_STEP_BY_STEP] if self.taken.step_by_step else []
        if foreign := self.taken.recording.foreign:
            told.append(
                f"Of kernels that took {1e6 * foreign:.3g} µs of a call it is not known which operations they are of (libraries in CUDA graphs): "
                "shares are of the time of the others."
            )
        return {"recorded_how": " ".join(told)} if told else {}

    def _graph(self) -> GraphDocument | None:
        row = self.row
        if row.jaxpr is None:
            return None
        return jaxpr_graph(row.jaxpr, row.function, self.positions, row.cell_of, None, self.tree)

    def _sum(self) -> CallSeconds:
        """What a call takes, and how that is made up while it is recorded: recorded = busy - together + between + held_up, but for what
        medians differ by."""
        taken, parts = self.taken, made_up(self.taken.recording)
        plain = f"{len(taken.plain)} call{'s' * (len(taken.plain) != 1)} not recorded"
        return {
            "wall": quantity(taken.wall, "s", note=f"median of {plain}"),
            "low": quantity(float(np.percentile(taken.plain, 5)), "s", note=f"5th percentile of {plain}"),
            "high": quantity(float(np.percentile(taken.plain, 95)), "s", note=f"95th percentile of {plain}"),
            "recorded": quantity(parts.call, "s", note=f"median of {self.runs}"),
            "busy": quantity(parts.busy, "s", note=f"the sum of all kernels, each the median of {self.runs}"),
            "together": quantity(
                parts.together, "s", note="kernels that ran at the same time count twice in their sum"
            ),
            "between": quantity(parts.between, "s", note=f"between kernels and for dispatch: median of {self.runs}"),
            "held_up": quantity(parts.held_up, "s", note="what kernels took beyond their medians in such a call"),
        }

    def _verdicts(
        self, kernels: Sequence[Kernel], costs: Costs
    ) -> tuple[dict[str, Work], dict[str, float], dict[str, Verdict]]:
        """By kernel: its work, the seconds of a run that nothing disturbs, and what bounds it. Kernels that do the same to values of the same
        types have all in common."""
        work = {k["name"]: costs.instruction(self.instructions[k["name"]]) for k in kernels}
        alike: dict[object, list[Kernel]] = defaultdict(list)
        for k in kernels:
            alike[_deeds(k, work[k["name"]])].append(k)
        fast = {
            k["name"]: float(np.median([self._fast(other) for other in group]))
            for group in alike.values()
            for k in group
        }

        def verdict(k: Kernel) -> Verdict:
            return verdict_of(fast[k["name"]], work[k["name"]], bytes_of(k["type"]), element_of(k["type"]), self.peaks)

        found = {k["name"]: verdict(k) for k in kernels}
        if any(each.needs is not None and each.needs > _FASTER * fast[name] for name, each in found.items()):
            self.peaks.remeasure()
            found = {k["name"]: verdict(k) for k in kernels}
        return work, fast, found

    def _kernel(self, kernel: Kernel, called: str, work: Work, fast: float, verdict: Verdict) -> KernelSeconds:
        span = self._span(kernel)
        assert span is not None
        low, median, high = np.percentile(span.seconds, (10, 50, 90))
        found: KernelSeconds = {
            "name": kernel["name"],
            "called": called,
            "kind": kernel["kind"],
            "opcode": kernel["opcode"],
            "operations": len(kernel["members"]),
            "type": kernel["type"],
            "loop": self.flow.loop_of(kernel["name"]),
            "runs": _short(span.runs),
            "median": _short(median),
            "low": _short(low),
            "high": _short(high),
            "fast": _short(fast),
            "total": _short(span.total),
            "share": None if (share := kernel.get("share")) is None else _short(share),
            "flops": work.flops,
            "bytes": work.bytes,
            "needs": None if span.holds or verdict.needs is None else _short(verdict.needs),
            "nearest": None if span.holds else verdict.nearest,
            "bound": None if span.holds else verdict.bound,
            "why": "" if span.holds else verdict.why,
        }
        if "label" in kernel:
            found["label"] = kernel["label"]
        return found

    def _estimate(self, costs: Costs, written: dict[str, list[Line]]) -> Estimate:
        """What kernels of one line took, above what starting one takes, says how long those of several take for each of them."""
        found = Estimate(self.kernels, self.after, costs)
        alone = [k for k in self.kernels if self._span(k) and len(self._lines(k, written)) == 1]
        found.fit([(k, max(self._fast(k) - self.peaks.dispatch, 0.1 * self._fast(k))) for k in alone])
        return found

    def _split(
        self, kernel: Kernel, written: dict[str, list[Line]], index: dict[Line, int], estimate: Estimate
    ) -> KernelLines:
        lines = [line for line in self._lines(kernel, written) if line in index]  # a loop's branch may not have run
        parts = split(estimate.parts(kernel), written, innermost=True)
        found: KernelLines = {
            "lines": [index[line] for line in lines],
            "split": [_short(parts.get(line, 0.0)) for line in lines],
        }
        paths = {*kernel["paths"], *(path for member in kernel["members"] for path in member["paths"])}
        if len(paths) > 1 and (equations := estimate.equations(kernel)):
            found["equations"] = {path: float(f"{part:.3g}") for path, part in equations.items()}
        return found

    def _timeline(self, kernels: Sequence[TimedKernel]) -> RecordedCall:
        """A recorded call; a small loop stands in the recording as the call that holds it."""
        places = {self.flow.recorded_as(k["name"], self.spans): at for at, k in enumerate(kernels)}
        return call_document(self.taken.call, places)

    def _by_call(self, kernel: Kernel) -> np.ndarray:
        """The share of a kernel in each of the recorded calls."""
        span = self._span(kernel)
        return span.totals / self._whole if span is not None else np.zeros(len(self._whole))

    @functools.cached_property
    def _whole(self) -> np.ndarray:
        """Seconds of all kernels, by call."""
        recording = self.taken.recording
        return np.maximum(sum((span.totals for span in recording.alone), np.zeros(len(recording.calls))), 1e-12)

    def _fast(self, kernel: Kernel) -> float:
        """The 10th percentile of a kernel's runs."""
        span = self._span(kernel)
        assert span is not None
        return float(np.percentile(span.seconds, 10))

    def _span(self, kernel: Kernel) -> Span | None:
        return self.spans.get(self.flow.recorded_as(kernel["name"], self.spans))

    def _lines(self, kernel: Kernel, written: dict[str, list[Line]]) -> list[Line]:
        """The lines in which what a kernel computes was written, in their order."""
        return sorted(set().union(*(owners_of(path, written, innermost=True) for path in kernel["paths"])))

    def _file(self, file: str) -> str:
        return (self.row.cell_of(file) or (None, None))[1] or sendable(file)

    def _line(self, line: Line, own: BoundsDocument | None, whole: BoundsDocument | None) -> ProfileLine:
        known, number = line
        files = dict.fromkeys([function.file for function in self.tree.functions])
        file = next((each for each in files if self._file(each) == known), known)
        label = (self.row.cell_of(file) or (None, None))[0]
        position = line_position(self.tree, file, number, label, known)
        if len(scopes := self._scopes.get(line, set())) == 1 and (scope := next(iter(scopes))):
            position["named_scope"] = sendable(scope)
        both = whole or own
        assert both is not None
        return {"position": position, "own": own, "whole": both}

    @functools.cached_property
    def _scopes(self) -> dict[Line, set[str]]:
        """The named scopes that the equations of each line are in."""
        found: dict[Line, set[str]] = {}
        for position in self.positions.values():
            found.setdefault((position["file"], position["line"]), set()).add(position.get("named_scope", ""))
        return found


_AT_ONCE = 1e-6
"""Seconds up to which kernels are said to run one after the other."""


class Parts(NamedTuple):
    """The seconds of a recorded call, and of what it is made: of its kernels, of these what ran at the same time, of no kernel, and what kernels
    took beyond their medians."""

    call: float
    busy: float
    together: float
    between: float
    held_up: float


def made_up(recording: Recording) -> Parts:
    """How a call is made up. Each kernel's seconds are a median, as are those of no kernel and the call's: these do not add up as a single call
    does. What is left over ran at the same time, where anything did; what the call took beyond them, kernels did that were held up."""
    call, busy = float(np.median(recording.calls)), sum(span.total for span in recording.alone)
    at_once = sum((span.totals for span in recording.alone), np.zeros(len(recording.calls))) - recording.busy
    idle = float(np.median(recording.calls - recording.busy))
    together = max(0.0, busy + idle - call) if np.median(at_once) > _AT_ONCE else 0.0
    rest = call - busy + together
    return Parts(call, busy, together, min(idle, rest) if rest >= 0 else idle, max(0.0, rest - idle))


def _bounds(bounds: Bounds, estimate: float, calls: np.ndarray | None = None) -> BoundsDocument:
    least, most = _short(bounds.least), _short(bounds.most)
    found: BoundsDocument = {"least": least, "most": most, "estimate": min(max(_short(estimate), least), most)}
    if calls is not None and len(calls) > 1:
        found["low"], found["high"] = (_short(float(one)) for one in np.percentile(calls, (10, 90)))
    return found


def _estimated(known: int) -> str:
    kernels = (
        f"calibrated on {counted(known, 'kernel')} of one line"
        if known
        else "by usual costs, as no kernel is of one line alone"
    )
    return f"the time of a kernel of several lines is split by the work of its operations, {kernels}"


def _short(value: float) -> float:
    """Four digits: more would be noise."""
    return float(f"{value:.4g}")


_NOTABLE = 0.05
"""The part of a call from which on handing out memory is told."""
_FASTER = 1.05
"""A kernel that is so many times as fast as the machine was measured to be shows that it was measured while it was busy."""


def _deeds(kernel: Kernel, work: Work) -> object:
    """What a kernel does, to values of which types: equal for kernels that must take equally long."""
    members = tuple((member["opcode"], member["type"]) for member in kernel["members"])
    return kernel["kind"], kernel["opcode"], kernel["type"], work, members


def _called(kernels: Sequence[Kernel]) -> list[str]:
    """`kernel 1`, `loop 1`, `kernel 2`: as lists of kernels number them."""
    counts = {"kernel": 0, "loop": 0}
    names = []
    for kernel in kernels:
        word = "loop" if kernel["kind"] == "loop" else "kernel"
        counts[word] += 1
        names.append(f"{word} {counts[word]}")
    return names


def machine_document(peaks: Peaks) -> Hardware:
    """The measured peaks of the device."""
    at = datetime.fromtimestamp(peaks.at, UTC).isoformat(timespec="seconds")
    note = "the fastest of several runs of a = b + s·c over arrays of this size"
    found: Hardware = {
        "measured": at,
        "seconds": quantity(peaks.seconds, "s", note="wall time of measuring, once in this process"),
        "bandwidth": [
            {"bytes": size, "rate": quantity(rate, "B/s", note=note)}
            for size, rate in zip(peaks.bandwidth.bytes, peaks.bandwidth.rates, strict=True)
        ],
        "dispatch": quantity(
            peaks.dispatch, "s", note="a kernel that computes one element, the 10th percentile of its runs"
        ),
        "fresh": quantity(
            peaks.fresh if math.isfinite(peaks.fresh) else None,
            "B/s",
            note="memory that the operating system hands out for a large result, by a copy into such",
        ),
        "peaks": [
            {"dtype": dtype, "rate": quantity(rate, "flop/s", note="the fastest of several products of matrices")}
            for dtype, rate in peaks.known.items()
        ],
    }
    if peaks.device.platform != "cpu":
        found["device"] = str(peaks.device.device_kind)
    return found
