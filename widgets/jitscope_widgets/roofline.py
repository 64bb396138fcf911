"""The roofline of a machine with a program's kernels in it, as an SVG for static pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from . import profile_words as told
from .plain import clean, escape
from .quantities import number, percent
from .words import Document


WIDTH, HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 16, 16, 44
_MOST = 80
_APART = 1.25
"""So many times a kernel's place is what an axis ends at, at least, so that no mark lies on its numbers."""


def points(profile: Document) -> list[tuple[float, float, Document]]:
    """Kernels by operations per byte and operations a second, those that take most time first."""
    found = []
    for kernel in profile["kernels"]:
        if kernel["share"] is not None and kernel["flops"] and kernel["bytes"] and kernel["fast"]:
            found.append((kernel["flops"] / kernel["bytes"], kernel["flops"] / kernel["fast"], kernel))
    return found[:_MOST]


def roofline(profile: Document) -> str:
    """The plot; "" where no kernel has a place in it."""
    shown, machine = points(profile), profile["machine"]
    if not shown or not machine["peaks"]:
        return ""
    peak = max(one["rate"]["value"] for one in machine["peaks"])
    rates = [(one["bytes"], one["rate"]["value"]) for one in machine["bandwidth"]]
    ridge = peak / min(rate for _, rate in rates)
    across = _Scale([*_beside(x for x, _, _ in shown), ridge * 3, 0.1], _LEFT, WIDTH - _RIGHT)
    up = _Scale([*_beside(y for _, y, _ in shown), peak * 2], HEIGHT - _BOTTOM, _TOP)
    title = f"Roofline: {len(shown)} kernels by operations per byte and operations a second"
    return "".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" style="max-width:{WIDTH}px" font-size="11" fill="currentColor" role="img" aria-label="{title}">',
            *_axes(across, up),
            *_roofs(across, up, peak, rates),
            *(_point(across(x), up(y), kernel) for x, y, kernel in reversed(shown)),
            _said(peak, up(peak), [(across(x), up(y), 1.3 * _radius(kernel)) for x, y, kernel in shown]),
            "</svg>",
        ]
    )


class _Scale:
    """Powers of ten on a line of pixels."""

    def __init__(self, values: Iterable[float], start: float, end: float):
        logs = [math.log10(value) for value in values if value > 0]
        self.low, self.high = math.floor(min(logs)), math.ceil(max(logs))
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, part)) * (self.end - self.start)

    def decades(self) -> list[float]:
        step = max(1, math.ceil((self.high - self.low) / 8))
        return [10.0**n for n in range(self.low, self.high + 1, step)]


def _axes(across: _Scale, up: _Scale) -> list[str]:
    found = []
    for value in across.decades():
        x = across(value)
        found.append(f'<path stroke="currentColor" stroke-opacity=".15" d="M{x:.1f} {_TOP}V{HEIGHT - _BOTTOM}"/>')
        found.append(f'<text x="{x:.1f}" y="{HEIGHT - _BOTTOM + 15}" text-anchor="middle">{value:g}</text>')
    for value in up.decades():
        y = up(value)
        found.append(f'<path stroke="currentColor" stroke-opacity=".15" d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"/>')
        found.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(value, "flop/s")}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    return [*found, f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">operations per byte</text>']


def _roofs(across: _Scale, up: _Scale, peak: float, rates: list[tuple[float, float]]) -> list[str]:
    found = []
    for at, (size, rate) in enumerate((rates[0], rates[-1])):
        low, ridge = 10.0**across.low, peak / rate
        start = max(low, 10.0**up.low / rate)
        dashed = ' stroke-dasharray="5 4"' if at == 0 else ""
        label = f"{number(rate, 'B/s')}, working set of {number(size, 'B')}"
        found.append(
            f'<path fill="none" stroke="currentColor" stroke-width="1.5"{dashed} d="M{across(start):.1f} {up(start * rate):.1f}L{across(ridge):.1f} {up(peak):.1f}'
            f'H{WIDTH - _RIGHT}"><title>{escape(label)}</title></path>'
        )
    return found


def _said(peak: float, level: float, marks: Sequence[tuple[float, float, float]]) -> str:
    """What the level line is, where no kernel lies if there is such a place."""
    text = f"peak {number(peak, 'flop/s')}"
    width = 7 * len(text)

    def is_free(x: float, y: float) -> bool:
        return all(px + r < x - width or px - r > x or py + r < y - 12 or py - r > y + 4 for px, py, r in marks)

    places = [(WIDTH - _RIGHT - 60.0 * at, level + dy) for at in range(4) for dy in (-5, 15)]
    x, y = next((place for place in places if is_free(*place)), places[0])
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="end">{text}</text>'


def _beside(values: Iterable[float]) -> Iterator[float]:
    for value in values:
        yield from (value / _APART, value * _APART)


def _radius(kernel: Document) -> float:
    return 3.5 + 16 * math.sqrt(kernel["share"])


def _point(x: float, y: float, kernel: Document) -> str:
    r = _radius(kernel)
    said = escape(f"{clean(kernel['called'])}, {told.what(kernel)}: {percent(kernel['share'])}; {told.bound(kernel)}")
    return f'<path fill-opacity=".3" stroke="currentColor" d="{shape(kernel["bound"], x, y, r)}"><title>{said}</title></path>'


def shape(bound: str, x: float, y: float, r: float) -> str:
    """The outline of a kernel's mark: a square (memory), a triangle (arithmetic), a circle (overhead, neither)."""
    if bound == "memory":
        return f"M{x - r:.1f} {y - r:.1f}h{2 * r:.1f}v{2 * r:.1f}h{-2 * r:.1f}z"
    if bound == "arithmetic":
        return f"M{x:.1f} {y - 1.2 * r:.1f}l{1.2 * r:.1f} {2.1 * r:.1f}h{-2.4 * r:.1f}z"
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0z"
