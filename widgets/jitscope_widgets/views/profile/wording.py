"""What a profile says in words: of calls, of kernels, of the machine."""

from __future__ import annotations

from collections.abc import Sequence

from ...escapes import clean
from ...quantities import amount, number, percent, seconds, show
from ...view import inline
from ...view.parts import Text
from ...words import Document, kernel_name, lines as lines_of, plural


_MANY = 50
"""Runs of kernels in a call, of which recording costs each something."""
MARKS = {"memory": "◆", "arithmetic": "▲", "overhead": "●", "neither": "○", "unknown": "?"}
MEANING = {
    "memory": "moving its bytes would take at least half of its time at this machine's rates, and longer than its arithmetic",
    "arithmetic": "its arithmetic would take at least half of its time at this machine's rates, and longer than moving its bytes",
    "overhead": "a kernel that computes one element takes at least half as long",
    "neither": "at this machine's rates, neither moving its bytes nor its arithmetic would take half of its time",
    "unknown": "what it moves or computes is not known",
}
_FASTER = (
    "faster than this machine was measured to be: what it reads lies nearer than memory, in a cache, or XLA's model counts more than it "
    "moves or computes"
)


def sentences(profile: Document) -> list[str]:
    """What a call takes and how that is made up."""
    found = [
        _call(profile),
        clean(profile.get("call", "")),
        _recorded(profile),
        _fresh(profile),
        clean(profile.get("recorded_how", "")),
    ]
    return [sentence for sentence in found if sentence]


def _call(profile: Document) -> str:
    low, high = amount(profile["low"]), amount(profile["high"])
    spread = " (one call alone)" if low == high else f" (from {show(profile['low'])} to {show(profile['high'])})"
    what = "A run of the program" if profile.get("call") else "A call"
    return f"{what} takes {show(profile['wall'])}{spread}, on {clean(profile['on'])}."


def _held_up(profile: Document) -> str:
    """What kernels took beyond their medians; nothing below a hundredth."""
    beyond = profile.get("held_up")
    if beyond is None or (amount(beyond) or 0.0) < 0.01 * (amount(profile["recorded"]) or 0.0):
        return ""
    return f", {show(beyond)} in kernels that were held up (each counts with its median)"


def _recorded(profile: Document) -> str:
    together = amount(profile["together"]) or 0.0
    several = f" (median of {plural(profile['runs'], 'call')})" if profile["runs"] > 1 else ""
    at_once = f", {show(profile['together'])} of that at the same time as others" if together > 1e-6 else ""
    text = (
        f"While it was recorded it took {show(profile['recorded'])}{several}: {show(profile['busy'])} in {_timed(profile)}{at_once}, "
        f"{show(profile['between'])} between kernels and for dispatch{_held_up(profile)}."
    )
    cost, runs = recording_cost(profile), sum(k["runs"] for k in profile["kernels"] if k["share"] is not None)
    if cost is None or runs < _MANY:
        return text
    return (
        f"{text} So recording costs {seconds(cost)} a call, some {seconds(cost / runs)} for each run of a kernel: "
        "short ones look longer than they are."
    )


def _fresh(profile: Document) -> str:
    """What memory costs that the operating system hands out anew in each call."""
    found = profile.get("fresh")
    if found is None:
        return ""
    text = (
        f"In each call the operating system hands out {show(found['size'])} of memory anew ({plural(found['faults'], 'page fault')}), which takes some {show(found['seconds'])} of processor time: "
        "the C library gives large blocks (XLA's scratch memory, results) back when the call ends. Kernels that write to them first look slower than they are."
    )
    tunables = clean(found["tunables"])
    larger = f" Python that is started with GLIBC_TUNABLES={tunables} in its environment gets them in pages of 2 MB."
    return text + larger * bool(tunables)


def _timed(profile: Document) -> str:
    """What was timed: `12 kernels`, `12 kernels and 1 loop that XLA runs in one piece`."""
    kinds = [kernel["kind"] for kernel in profile["kernels"] if kernel["share"] is not None]
    loops = kinds.count("loop")
    shown, kernels = len(kinds) - loops, plural(profile["count"], "kernel")
    if shown < profile["count"]:
        kernels = f"{shown:,} of {kernels} (the others did not run, or the profiler records nothing of them)"
    return f"{kernels} and {plural(loops, 'loop')} that XLA runs in one piece" if loops else kernels


def recording_cost(profile: Document) -> float | None:
    """Seconds that recording added to a call; None where it made no difference that calls that are not recorded do not show as well."""
    wall, high, recorded, busy, together = (
        amount(profile[name]) for name in ("wall", "high", "recorded", "busy", "together")
    )
    if wall is None or recorded is None or recorded < 1.05 * wall:
        return None
    within = (busy or 0.0) - (together or 0.0) <= wall  # kernels that take longer than a whole call do not
    if high is not None and recorded <= high and within:
        return None
    return recorded - wall


# --- shares -----------------------------------------------------------------------------------------------------------


def middle(bounds: Document) -> float:
    """The one number of bounds: the estimate, or half way where a document has none."""
    return bounds["estimate"] if "estimate" in bounds else (bounds["least"] + bounds["most"]) / 2


def share(least: float, most: float) -> str:
    """`41 %`, `9 % to 12 %`, `at most 3 %`."""
    low, high = percent(least), percent(most)
    if low == high:
        return high
    return f"at most {high}" if least < 0.0005 else f"{low} to {high}"


_APART = 0.05
"""What shares of single calls differ by before it is told of."""
_NEAR = 0.005


def in_calls(profile: Document, bounds: Document) -> str:
    """`26 % to 55 % in single calls`, `in one recorded call`; "" where several hardly differ."""
    return "in one recorded call" if profile["runs"] == 1 else in_single_calls(bounds)


def in_single_calls(bounds: Document) -> str:
    """`26 % to 55 % in single calls`, "" where they hardly differ or one alone was recorded. Medians may lie outside, where calls were held
    up in turn."""
    low, high = bounds.get("low", 0.0), bounds.get("high", 0.0)
    if high - low < _APART:
        return ""
    outside = not low - _NEAR <= middle(bounds) <= high + _NEAR
    return f"{share(low, high)} in single calls{', whose kernels were held up in turn' if outside else ''}"


def is_estimated(bounds: Document) -> bool:
    """Whether a share is an estimate between bounds that a reader could tell apart."""
    return "estimate" in bounds and percent(bounds["least"]) != percent(bounds["most"])


def share_text(bounds: Document, how: str = "") -> Text:
    """`41 %` where it was measured, `~ 34 %` where it is estimated: the bounds are told on hovering."""
    least, most, calls = bounds["least"], bounds["most"], in_single_calls(bounds)
    if not is_estimated(bounds):
        return Text(share(least, most), title=calls, order=middle(bounds))
    told = f"estimated; by its kernels {share(least, most)}{f': {how}' if how else ''}{f'; {calls}' if calls else ''}"
    return Text(f"~ {percent(bounds['estimate'])}", title=told, order=bounds["estimate"])


def how(profile: Document) -> str:
    """How kernels of several lines are split."""
    return clean(profile.get("estimated", ""))


# --- kernels ----------------------------------------------------------------------------------------------------------


def bound(kernel: Document) -> str:
    """`memory (61 %)`: what bounds a kernel, and how much of its time that explains; `neither (arithmetic 12 %)`: what comes nearest."""
    part = explained(kernel)
    if kernel["bound"] is None or part is None or kernel["bound"] == "overhead":
        return kernel["bound"] or ""
    shown = percent(part) if part <= 1 else f"over {percent(1)}"
    return f"neither ({kernel['nearest']} {shown})" if kernel["bound"] == "neither" else f"{kernel['bound']} ({shown})"


def why(kernel: Document) -> str:
    """What that means, in words."""
    part = explained(kernel)
    if kernel["why"] or not kernel["bound"]:
        return clean(kernel["why"])
    return _FASTER if part is not None and part > 1 else MEANING[kernel["bound"]]


def explained(kernel: Document) -> float | None:
    """The part of the time of a kernel's fast runs that its bytes or operations explain at the machine's rates."""
    return None if kernel["needs"] is None or not kernel["fast"] else kernel["needs"] / kernel["fast"]


def what(kernel: Document) -> str:
    """See `kernel_name`."""
    return kernel_name(kernel, kernel["operations"])


def timed(kernel: Document) -> str:
    """`40 × 2.75 µs`, on average: together they are `total`."""
    runs = kernel["runs"]
    times = "" if runs == 1 else f"{number(runs, '')} × "
    return f"{times}{seconds(kernel['total'] / runs)}"


def spread(kernel: Document) -> str:
    """`2.1 µs to 3.4 µs (10th to 90th percentile), median 2.3 µs`."""
    return f"{seconds(kernel['low'])} to {seconds(kernel['high'])} (10th to 90th percentile), median {seconds(kernel['median'])}"


def modelled(value: float | None, unit: str) -> Text:
    """`≈ 8.19 kB`, `?`."""
    return Text("?" if value is None else f"≈ {number(value, unit)}", order=-1.0 if value is None else value)


def lines(profile: Document, kernel: Document, here: str) -> str:
    """The lines that a kernel stems from."""
    known = profile["lines"]
    return lines_of([known[at]["position"] for at in kernel["lines"] if 0 <= at < len(known)], here)


def names(kernels: Sequence[Document]) -> tuple[str, ...]:
    """The names by which other views know kernels."""
    return tuple(kernel["name"] for kernel in kernels)


def time_text(value: float, is_estimate: bool = False) -> Text:
    """Seconds, `~` before those that are estimated."""
    shown = inline.seconds(value)
    return Text(f"~ {shown.text}", order=value) if is_estimate else shown


# --- the machine ------------------------------------------------------------------------------------------------------


def machine(profile: Document) -> str:
    """What the machine can do, and when that was measured."""
    found = profile["machine"]
    rates = ", ".join(f"{show(one['rate'])} for {number(one['bytes'], 'B')}" for one in found["bandwidth"])
    peaks = ", ".join(f"{show(one['rate'])} in {clean(one['dtype'])}" for one in found["peaks"])
    computes = f"; it computes {peaks}" if peaks else ""
    fresh = f"; memory for large results is handed out at {show(found['fresh'])}" if found["fresh"]["value"] else ""
    starts = f"; a kernel of one element takes {show(found['dispatch'])}"
    when = clean(found["measured"]).replace("T", " ").replace("+00:00", " UTC")
    device = clean(found.get("device", "This machine"))
    return f"{device} moves {rates}{fresh}{computes}{starts} (measured {when}, in {show(found['seconds'])})."
