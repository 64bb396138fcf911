"""The roofline of the machine with a program's kernels in it: operations per byte across, operations a second up, as powers of ten."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from ...escapes import clean
from ...quantities import number, percent, seconds
from ...view.parts import Axis, Chart, Part, Point, Ref, Sentence, Series
from ...words import Document, plural
from . import wording


_MOST = 80
_APART = 1.25
"""So many times a kernel's place is what an axis ends at, at least, so that no mark lies on its numbers."""
_SHAPES = {"memory": "diamond", "arithmetic": "triangle"}


def points(profile: Document) -> list[tuple[float, float, Document]]:
    """Kernels by operations per byte and operations a second, those that take most time first."""
    found = []
    for kernel in profile["kernels"]:
        if kernel["share"] is not None and kernel["flops"] and kernel["bytes"] and kernel["fast"]:
            found.append((kernel["flops"] / kernel["bytes"], kernel["flops"] / kernel["fast"], kernel))
    return found[:_MOST]


def roofline(profile: Document) -> Iterator[Part]:
    """The chart with what its marks and lines mean; a sentence where no kernel has a place in it."""
    shown, machine = points(profile), profile["machine"]
    rates = [(one["bytes"], one["rate"]["value"]) for one in machine["bandwidth"] if one["rate"]["value"]]
    peak = max((one["rate"]["value"] or 0.0 for one in machine["peaks"]), default=0.0)
    if not shown or not peak or not rates:
        yield Sentence(
            "No kernel can be placed in the roofline: for none of them are both the bytes and the operations known.",
            "note",
        )
        return
    (near, near_rate), (far, far_rate) = rates[0], rates[-1]
    across = _axis("operations per byte", "", [*_beside(x for x, _, _ in shown), peak / far_rate * 3, 0.1])
    up = _axis("operations a second", "flop/s", [*_beside(y for _, y, _ in shown), peak * 2])
    roofs = (
        _roof(near, near_rate, peak, across, up, dashed=True),
        _roof(far, far_rate, peak, across, up, dashed=False),
    )
    under = f"{plural(len(shown), 'kernel')} under the roofline of this machine, by operations per byte and operations a second"
    yield Chart("Roofline of this machine", f"{under}: {_first(shown)}.", across, up, roofs, tuple(map(_point, shown)))
    bounds = {kernel["bound"] for _, _, kernel in shown}
    marks = ", ".join(f"{mark}\u00a0{bound}" for bound, mark in wording.MARKS.items() if bound in bounds)
    yield Sentence(
        "A kernel under the sloping line can at best run at the speed of memory, under the level one at that of arithmetic. The dashed line "
        f"is for {number(near, 'B')} at a time, the full one for {number(far, 'B')}. Bound by: {marks}; area: share "
        "of the time.",
        "note",
        drawn="chart",
    )


def _first(shown: list[tuple[float, float, Document]]) -> str:
    x, y, kernel = shown[0]
    return f"{clean(kernel['called'])}, which takes longest of them, does {_rates(x, y)} in a fast run"


def _rates(x: float, y: float) -> str:
    operations = number(x, "")
    return f"{operations} {'operation' if operations == '1' else 'operations'} per byte, {number(y, 'flop/s')}"


def _roof(size: float, rate: float, peak: float, across: Axis, up: Axis, dashed: bool) -> Series:
    start = max(across.low, up.low / rate)
    places = (start, peak / rate, across.high)
    label = "" if dashed else f"peak {number(peak, 'flop/s')}"
    title = f"{number(rate, 'B/s')}, working set of {number(size, 'B')}"
    return Series(title, "line", places, (start * rate, peak, peak), dashed=dashed, title=title, label=label)


def _point(shown: tuple[float, float, Document]) -> Point:
    x, y, kernel = shown
    text = (
        f"{clean(kernel['called'])}, {wording.what(kernel)}: {percent(kernel['share'])} of the kernels' time, "
        f"{seconds(kernel['fast'])} in a fast run, {_rates(x, y)}; bound by {wording.bound(kernel)} ({wording.why(kernel)})"
    )
    shape = _SHAPES.get(kernel["bound"], "circle")
    return Point(x, y, text, kernel["share"], shape, Ref(kernels=(kernel["name"],)), kernel["bound"] or "")  # type: ignore[arg-type]


def _axis(title: str, unit: str, values: Iterable[float]) -> Axis:
    """An axis of whole powers of ten."""
    logs = [math.log10(value) for value in values if value > 0]
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    return Axis(title, 10.0**low, 10.0 ** max(high, low + 1), unit, "log")


def _beside(values: Iterable[float]) -> Iterator[float]:
    for value in values:
        yield from (value / _APART, value * _APART)
