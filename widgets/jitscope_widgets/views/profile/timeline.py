"""One recorded call on a time axis: kernels by thread, loops, and the time in which no kernel ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...escapes import clean
from ...quantities import percent, seconds
from ...view.parts import Ref, Span, Timeline
from ...words import Document, only_home, plural
from . import wording


_LEAST_GAP = 1 / 400
"""Of the call: shorter gaps are not drawn by themselves."""


class _Gap(NamedTuple):
    name: str
    start: float
    end: float


def timeline(profile: Document) -> Timeline | None:
    """None where the document has none, or nothing ran."""
    call = profile.get("timeline")
    if not call or not call["start"]:
        return None
    kernels = profile["kernels"]
    loops = any(_is_around(kernels[at]) for at in call["kernel"])
    gaps = list(_gaps(call, kernels))
    lanes = (
        "none of these" if call["left_out"] else "no kernel",
        *(("loops",) if loops else ()),
        *map(clean, call["threads"]),
    )
    spans = [
        Span(0, _short(gap.start), _short(gap.end), gap.name, "gap")
        for gap in gaps
        if gap.end - gap.start >= _LEAST_GAP * call["seconds"]
    ]
    spans += _spans(profile, call, len(lanes) - len(call["threads"]))
    said = _summary(call, kernels, gaps)
    return Timeline("One recorded call", said, lanes, tuple(spans), call["seconds"], tones="bound by")


def _is_around(kernel: Document) -> bool:
    """Whether it is a loop whose kernels were recorded: its time is theirs."""
    return kernel["kind"] == "loop" and kernel["share"] is None


def _spans(profile: Document, call: Document, first: int) -> Iterator[Span]:
    here, kernels = only_home(line["position"] for line in profile["lines"]), profile["kernels"]
    known: dict[int, tuple[str, Ref]] = {}
    for thread, at, start, length in zip(call["thread"], call["kernel"], call["start"], call["length"]):
        kernel = kernels[at]
        if at not in known:
            lines = wording.lines(profile, kernel, here)
            about = f"{clean(kernel['called'])}, {wording.what(kernel)}{f', {lines}' if lines else ''}"
            known[at] = (about, Ref(kernels=(kernel["name"],)))
        about, ref = known[at]
        lane = 1 if _is_around(kernel) else first + thread
        yield Span(lane, start, _short(start + length), about, kernel["bound"] or "", ref=ref)


def _short(seconds: float) -> float:
    """In steps of a nanosecond: fewer digits for the page."""
    return round(seconds, 9)


def _gaps(call: Document, kernels: Sequence[Document]) -> Iterator[_Gap]:
    """The stretches of a call in which none of the listed kernels ran."""
    end, name = 0.0, "dispatch, before the first kernel"
    runs = zip(call["start"], call["length"], call["kernel"])
    for start, length in sorted((start, length) for start, length, at in runs if not _is_around(kernels[at])):
        if start > end:
            yield _Gap(name, end, start)
        end, name = max(end, start + length), "between kernels"
    if call["seconds"] > end:
        yield _Gap("after the last kernel", end, call["seconds"])


def _summary(call: Document, kernels: Sequence[Document], gaps: Sequence[_Gap]) -> str:
    alone = [at for at in call["kernel"] if not _is_around(kernels[at])]
    sums: dict[str, float] = {}
    for gap in gaps:
        sums[gap.name] = sums.get(gap.name, 0.0) + gap.end - gap.start
    whole, idle = call["seconds"], sum(sums.values())
    threads = len(call["threads"])
    noun = clean(call["threads"][0]).partition(" ")[0] if threads else "thread"
    left = call["left_out"]
    ran = f"{plural(len(alone), 'run')} of kernels on {plural(threads, noun)}"
    listed = (
        f" (the longest; {left:,} shorter ones are not listed, their time counts as between kernels)" if left else ""
    )
    parts = [f"{seconds(length)} {_WORDS[name]}" for name, length in sums.items() if length > 0]
    without = (
        f" {'None of these' if left else 'No kernel'} ran for {seconds(idle)}: {', '.join(parts)}." if parts else ""
    )
    return f"One call of {seconds(whole)}, recorded: {ran}{listed} in {percent(max(0.0, 1 - idle / whole))} of it.{without}"


_WORDS: Mapping[str, str] = {
    "dispatch, before the first kernel": "of dispatch before the first one",
    "between kernels": "between them",
    "after the last kernel": "after the last one",
}
