"""What a profile says, in words that all its views share."""

from __future__ import annotations

from typing import NamedTuple

from .plain import clean
from .quantities import amount, number, percent, seconds, show
from .sentences import say
from .words import Document, home, lines as lines_of, plural


LEGEND = say("legend of bounds")


class Line(NamedTuple):
    """A line with its bounds of the kernels' time, and whether what it calls is counted."""

    position: Document
    least: float
    most: float


def sentences(profile: Document) -> list[str]:
    """What a call takes, how that is made up, which line is the slowest, what bounds the kernels."""
    found = [slowest(profile), _call(profile), clean(profile.get("call", "")), _recorded(profile), bounds(profile)]
    return [sentence for sentence in found if sentence]


def _call(profile: Document) -> str:
    low, high = amount(profile["low"]), amount(profile["high"])
    spread = " (one call alone)" if low == high else f" (from {show(profile['low'])} to {show(profile['high'])})"
    what = "A run of the program" if profile.get("call") else "A call"
    return f"{what} takes {show(profile['wall'])}{spread}, on {clean(profile['on'])}."


def _recorded(profile: Document) -> str:
    together = amount(profile["together"]) or 0.0
    at_once = f", {show(profile['together'])} of that at the same time as others" if together > 1e-6 else ""
    text = (
        f"While it was recorded it took {show(profile['recorded'])}: {show(profile['busy'])} in {_timed(profile)}{at_once}, "
        f"{show(profile['between'])} between kernels and for dispatch."
    )
    cost, runs = recording_cost(profile), sum(k["runs"] for k in profile["kernels"] if k["share"] is not None)
    if cost is None or runs < _MANY:
        return text
    return f"{text} {say('recording costs', cost=seconds(cost), each=seconds(cost / runs))}"


def _timed(profile: Document) -> str:
    """What was timed: `12 kernels`, `12 kernels and 1 loop that XLA runs in one piece`."""
    kinds = [kernel["kind"] for kernel in profile["kernels"] if kernel["share"] is not None]
    loops = kinds.count("loop")
    shown = len(kinds) - loops
    kernels = plural(shown, "kernel")
    if shown < profile["count"]:
        kernels = say("some of the kernels", shown=f"{shown:,}", kernels=plural(profile["count"], "kernel"))
    return say("and loops in one piece", kernels=kernels, loops=plural(loops, "loop")) if loops else kernels


_MANY = 50  # runs of kernels in a call, of which recording costs each something


def recording_cost(profile: Document) -> float | None:
    """Seconds that recording added to a call; None where it made no difference that calls that are not recorded do not show as well."""
    wall, high, recorded = (amount(profile[name]) for name in ("wall", "high", "recorded"))
    if wall is None or recorded is None or recorded < 1.05 * wall or (high is not None and recorded <= high):
        return None
    return recorded - wall


def slowest(profile: Document) -> str:
    """`The slowest line takes 41 % of the kernels' time: In [3], line 3: y = x @ w`; where lines share kernels, those that may be it."""
    own = own_lines(profile)
    if not own:
        return ""
    least = max(line.least for line in own)
    first, *others = found = [line for line in own if line.most > least or line.least == least]
    if all(other.most <= first.least for other in others):
        text = clean(first.position["text"].strip())
        return f"The slowest line takes {share(first.least, first.most)} of the kernels' time: {place(first.position)}: {text}"
    shares = [share(line.least, line.most) for line in found[:_FEW]]
    shares[0] += " of the kernels' time"
    named = [f"{place(line.position)} ({text})" for line, text in zip(found, shares)]
    more = [f"and {len(found) - _FEW} more"] if len(found) > _FEW else []
    return say("slowest of", count=len(found), lines="; ".join([*named, *more]))


_FEW = 3  # lines that are named where any of them may be the slowest


def own_lines(profile: Document) -> list[Line]:
    """The lines in which equations were written, those that take most at first."""
    found = [Line(each["position"], **each["own"]) for each in profile["lines"] if each["own"]]
    return sorted(found, key=lambda line: (-(line.least + line.most), line.position["line"]))


def share(least: float, most: float) -> str:
    """`41 %`, `9 % to 12 %`, `at most 3 %`."""
    low, high = percent(least), percent(most)
    if low == high:
        return high
    return f"at most {high}" if least < 0.0005 else f"{low} to {high}"


def place(position: Document) -> str:
    """`In [3], line 2`."""
    return f"{home(position)}, line {position['line']}"


def bounds(profile: Document) -> str:
    """`By what bounds them: memory 60 %, overhead 40 % of the kernels' time.`"""
    found: dict[str, float] = {}
    for kernel in profile["kernels"]:
        if kernel["share"] is not None and kernel["bound"]:
            found[kernel["bound"]] = found.get(kernel["bound"], 0.0) + kernel["share"]
    parts = [f"{bound} {percent(part)}" for bound, part in sorted(found.items(), key=lambda item: -item[1])]
    return f"What bounds the kernels, by their time: {', '.join(parts)}." if parts else ""


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
    return kernel["why"] or (say("faster than measured") if part is not None and part > 1 else "")


def explained(kernel: Document) -> float | None:
    """The part of the time of a kernel's fast runs that its bytes or operations explain at the machine's rates."""
    return None if kernel["needs"] is None or not kernel["fast"] else kernel["needs"] / kernel["fast"]


def what(kernel: Document) -> str:
    """`fusion of 13`, `dot (library call)`, `copy`."""
    if kernel["kind"] == "fusion":
        return f"fusion of {kernel['operations']:,}"
    return f"{clean(kernel['opcode'])} (library call)" if kernel["kind"] == "library" else clean(kernel["opcode"])


def timed(kernel: Document) -> str:
    """`40 × 2.75 µs`, on average: together they are `total`."""
    runs = kernel["runs"]
    times = "" if runs == 1 else f"{number(runs, '')} × "
    return f"{times}{seconds(kernel['total'] / runs)}"


def spread(kernel: Document) -> str:
    """`2.1 µs to 3.4 µs (10th to 90th percentile), median 2.3 µs`."""
    return f"{seconds(kernel['low'])} to {seconds(kernel['high'])} (10th to 90th percentile), median {seconds(kernel['median'])}"


def modelled(value: float | None, unit: str) -> str:
    """`≈ 8.19 kB`, `?`."""
    return "?" if value is None else f"≈ {number(value, unit)}"


def lines(profile: Document, kernel: Document, here: str) -> str:
    """The lines that a kernel stems from."""
    known = profile["lines"]
    return lines_of([known[at]["position"] for at in kernel["lines"] if 0 <= at < len(known)], here)


def here_of(profile: Document) -> str:
    """The one cell or file of all lines, "" where there are several."""
    homes = {home(line["position"]) for line in profile["lines"]}
    return homes.pop() if len(homes) == 1 else ""


def machine(profile: Document) -> str:
    """What the machine can do, and when that was measured."""
    found = profile["machine"]
    rates = ", ".join(f"{show(one['rate'])} for {number(one['bytes'], 'B')}" for one in found["bandwidth"])
    peaks = ", ".join(f"{show(one['rate'])} in {clean(one['dtype'])}" for one in found["peaks"])
    computes = f"; it computes {peaks}" if peaks else ""
    fresh = f"; memory for large results is handed out at {show(found['fresh'])}" if found["fresh"]["value"] else ""
    starts = f"; a kernel of one element takes {show(found['dispatch'])}"
    return f"This machine moves {rates}{fresh}{computes}{starts} (measured {clean(found['measured'])}, in {show(found['seconds'])})."
