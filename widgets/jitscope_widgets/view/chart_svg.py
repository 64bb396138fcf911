"""Charts as still pictures: SVG in the colours of the static HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..quantities import number
from .markup import Markup, element, join
from .parts import Axis, Chart, Heatmap, Point, Series, Span, Timeline


WIDTH, HEIGHT, LEFT, RIGHT, BELOW, ABOVE = 760, 200, 74, 12, 38, 40
_LANE, _MOST_SPANS, _POINTED, _LETTER = 22, 600, 5, 7.5
SHADES = {
    "argument": 0.25,
    "constant": 0.4,
    "result": 0.55,
    "temporary": 1.0,
    "gap": 0.12,
    "neither": 0.3,
    "unknown": 0.3,
    "overhead": 0.5,
    "memory": 0.75,
    "arithmetic": 1.0,
}
"""How full the colour of a tone is; a tone that is not here is as full as can be."""


def nice(most: float) -> float:
    """The end of an axis: a round number not below `most`."""
    power = 10.0 ** math.floor(math.log10(most)) if most > 0 else 1.0
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= most * (1 - 1e-9))


class Scale:
    """Where the values of an axis lie between two pixels."""

    def __init__(self, axis: Axis, start: float, end: float):
        self.axis, self.start, self.end = axis, start, end
        self.low, self.high = map(math.log10, (axis.low, axis.high)) if axis.scale == "log" else (axis.low, axis.high)

    def __call__(self, value: float) -> float:
        at = math.log10(value) if self.axis.scale == "log" else value
        part = (at - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + min(1.0, max(0.0, part)) * (self.end - self.start), 1)

    def ticks(self, count: int) -> list[float]:
        """Values to be written at the axis."""
        if self.axis.scale == "log":
            first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
            if last <= first:
                return [self.axis.low, self.axis.high]
            step = max(1, math.ceil((last - first) / (2 * count)))
            return [10.0**n for n in range(first, last + 1, step)]
        return [self.axis.low + (self.axis.high - self.axis.low) * n / count for n in range(count + 1)]

    def heights(self, count: int) -> list[float]:
        """The numbers at an axis that goes up from 0, and counts something: round ones, at most so many above 0."""
        if self.axis.scale == "log" or self.axis.low:
            return self.ticks(count)
        return _round(self.axis.high, count, 1.0)

    def steps(self, count: int) -> list[int]:
        """Some of the steps of the axis, from 0; each lies between its number and the next."""
        last = int(self.axis.high) - 1
        return sorted({last * n // count for n in range(count + 1)})


class Frame(NamedTuple):
    """How large a chart is, in pixels: its picture, its plot, what is above that and left of it."""

    width: int
    height: int
    above: int
    left: int = LEFT


_USUAL, _SMALL = Frame(WIDTH, HEIGHT, ABOVE), Frame(400, 90, 10)


def chart_svg(chart: Chart) -> Markup:
    """The picture of a chart."""
    frame = _SMALL if chart.small else _USUAL
    up = Scale(chart.up, frame.above + frame.height, frame.above)
    frame = frame._replace(left=_left(number(value, chart.up.unit) for value in up.heights(_steps(frame))))
    across = Scale(chart.across, frame.left, frame.width - RIGHT)
    return element(
        "svg",
        element("title", chart.summary),
        *_bands(chart, across, frame),
        *_grid(chart, across, up, frame),
        *_series(chart, across, up),
        *(_point(point, across, up, frame) for point in reversed(chart.points)),
        *_labels(chart, across, up),
        *(() if chart.small and not chart.steps else _legend(chart)),
        viewBox=f"0 0 {frame.width} {frame.above + frame.height + BELOW}",
        width=frame.width,
        style=_fitting(frame.width),
        role="img",
        aria_label=chart.summary,
    )


def _left(names: Iterable[str]) -> int:
    """Where a plot begins that these names stand left of."""
    return max(LEFT, round(_LETTER * max(map(len, names), default=0)) + 8)


def _steps(frame: Frame) -> int:
    """How many numbers an axis has at most, beside its first one."""
    return 2 if frame.height == _SMALL.height else 4


def _bands(chart: Chart, across: Scale, frame: Frame) -> Iterator[Markup]:
    for band in chart.bands:
        start, end = across(band.start), across(band.end)
        yield element(
            "rect",
            element("title", band.text),
            x=start,
            y=frame.above,
            width=max(1.0, end - start),
            height=frame.height,
            fill="var(--soft)",
        )


def _grid(chart: Chart, across: Scale, up: Scale, frame: Frame) -> Iterator[Markup]:
    count, foot = _steps(frame), frame.above + frame.height
    for value in up.heights(count):
        y = up(value)
        yield element("path", d=f"M{frame.left},{y}H{frame.width - RIGHT}", stroke="var(--rule)")
        yield element(
            "text", number(value, chart.up.unit), x=frame.left - 6, y=y + 4, text_anchor="end", fill="var(--dim)"
        )
    if chart.steps:
        columns = [(step + 0.5, f"{step + 1:,}") for step in across.steps(count)]
    else:
        columns = [(value, number(value, chart.across.unit)) for value in across.ticks(count)]
    for value, shown in columns:
        yield element("text", shown, x=across(value), y=foot + 15, text_anchor="middle", fill="var(--dim)")
    middle = (frame.left + frame.width) / 2
    title = f"{chart.steps} of the {chart.across.title}" if chart.steps else chart.across.title
    yield element("text", title, x=middle, y=foot + 31, text_anchor="middle", fill="var(--dim)")


def _series(chart: Chart, across: Scale, up: Scale) -> Iterator[Markup]:
    below: list[float] = []
    for one in chart.series:
        if one.kind == "line":
            path = "L".join(f"{across(x)},{up(y)}" for x, y in zip(one.across, one.up))
            dash = "5 4" if one.dashed else None
            yield element(
                "path",
                element("title", one.title or one.name),
                d=f"M{path}",
                fill="none",
                stroke="var(--fg)",
                stroke_dasharray=dash,
            )
            continue
        if one.kind == "bars":
            yield from _bars(one, chart, across, up)
            continue
        below = below or [0.0] * len(one.up)
        above = [low + more for low, more in zip(below, one.up)]
        if any(one.up):
            yield element(
                "path",
                element("title", one.name),
                d=_area(one, chart, below, above, across, up),
                fill="var(--bar)",
                fill_opacity=SHADES.get(one.tone, 1.0),
            )
        below = above


def _bars(one: Series, chart: Chart, across: Scale, up: Scale) -> Iterator[Markup]:
    ends = (*one.across[1:], chart.across.high)
    for start, end, value in zip(one.across, ends, one.up):
        if value > 0:
            x, y = across(start), up(value)
            yield element(
                "rect",
                element("title", bar_words(value, start, end, chart)),
                x=x + 0.5,
                y=y,
                width=round(max(0.5, across(end) - x - 1), 1),
                height=round(max(0.5, up.start - y), 1),
                fill="var(--bar)",
            )


def bar_words(value: float, start: float, end: float, chart: Chart) -> str:
    """`12 elements in a bin, from 0.5 to 0.75`."""
    ends = f"from {number(start, chart.across.unit) or 0} to {number(end, chart.across.unit) or 0}"
    return f"{number(value, chart.up.unit)} {chart.up.title}, {ends}"


def _labels(chart: Chart, across: Scale, up: Scale) -> Iterator[Markup]:
    """What stands at the ends of lines, where no mark lies if there is such a place."""
    marks = [(across(one.across), up(one.up), 1.3 * _radius(one)) for one in chart.points]
    for one in chart.series:
        if one.kind == "line" and one.label:
            x, y = free_place(marks, across(one.across[-1]), up(one.up[-1]), 7.0 * len(one.label))
            yield element("text", one.label, x=round(x, 1), y=round(y, 1), text_anchor="end", fill="var(--fg)")


def free_place(marks: Sequence[tuple[float, float, float]], x: float, y: float, width: float) -> tuple[float, float]:
    """Where a text of a width ends, above or below a level line that ends at (x, y): the first such place without a mark (x, y, radius)."""

    def is_free(place: tuple[float, float]) -> bool:
        end, base = place
        return all(
            px + r < end - width or px - r > end or py + r < base - 14 or py - r > base + 4 for px, py, r in marks
        )

    places = [(x - 60.0 * at, y + dy) for at in range(5) for dy in (-6, 16)]
    return next(filter(is_free, places), places[0])


def _area(one: Series, chart: Chart, below: list[float], above: list[float], across: Scale, up: Scale) -> str:
    ends = [*one.across[1:], chart.across.high]
    top = [f"{across(x)},{up(v)}" for a, b, v in zip(one.across, ends, above) for x in (a, b)]
    bottom = [f"{across(x)},{up(v)}" for a, b, v in zip(one.across, ends, below) for x in (a, b)]
    return f"M{' '.join([*top, *reversed(bottom)])}Z"


def _point(point: Point, across: Scale, up: Scale, frame: Frame) -> Markup:
    x, y = across(point.across), up(point.up)
    if point.shape == "flag":
        anchor = "end" if x > frame.width * 0.6 else "start"
        line = element(
            "path", d=f"M{x},{y - 6}V{frame.above + frame.height}", stroke="var(--fg)", stroke_dasharray="3 3"
        )
        return join(
            line,
            element("text", f"▼ {point.text}", x=x, y=y - 9, text_anchor=anchor, fill="var(--fg)", font_weight=600),
        )
    return element(
        "path",
        element("title", point.text),
        d=outline(point, x, y),
        fill="var(--bar)",
        fill_opacity=0.35,
        stroke="var(--fg)",
    )


def outline(point: Point, x: float, y: float) -> str:
    """The outline of a mark whose area goes with its size."""
    r = _radius(point)
    if point.shape == "diamond":
        return f"M{x:.1f} {y - 1.3 * r:.1f}l{1.3 * r:.1f} {1.3 * r:.1f}l{-1.3 * r:.1f} {1.3 * r:.1f}l{-1.3 * r:.1f} {-1.3 * r:.1f}z"
    if point.shape == "triangle":
        return f"M{x:.1f} {y - 1.2 * r:.1f}l{1.2 * r:.1f} {2.1 * r:.1f}h{-2.4 * r:.1f}z"
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0z"


def _radius(point: Point) -> float:
    return 3.5 + 16 * math.sqrt(max(point.size, 0.0))


def _legend(chart: Chart) -> Iterator[Markup]:
    x = LEFT
    for one in chart.series:
        if one.kind != "line" and any(one.up):
            text = one.title or one.name
            yield element(
                "rect", x=x, y=0, width=11, height=11, fill="var(--bar)", fill_opacity=SHADES.get(one.tone, 1.0)
            )
            yield element("text", text, x=x + 15, y=10, fill="var(--dim)")
            x += 30 + 7 * len(text)


def _round(end: float, count: int, least: float = 0.0) -> list[float]:
    """From 0 to an end at most so many steps of a round number, of `least` or more."""
    power = 10.0 ** math.floor(math.log10(end / count))
    step = max(least, next(size * power for size in (1, 2, 5, 10) if size * power >= end / count * (1 - 1e-9)))
    return [step * n for n in range(int(end / step + 1e-9) + 1)]


def _spans(spans: Sequence[Span], across: Scale) -> Iterator[Markup]:
    """Boxes with their words; those that are too narrow to be pointed at are one path for each tone."""
    narrow: dict[str, list[str]] = {}
    for span in spans:
        x, y = across(span.start), _LANE * span.lane + 3
        wide = round(max(0.6, across(span.end) - x), 1)
        if wide < _POINTED:
            narrow.setdefault(span.tone, []).append(f"M{x:g},{y}h{wide:g}v{_LANE - 6}h-{wide:g}z")
            continue
        yield element(
            "rect",
            element("title", span.title or f"{span.text}: {_lasted(span)}"),
            x=x,
            y=y,
            width=wide,
            height=_LANE - 6,
            fill="var(--bar)",
            fill_opacity=_behind(span.tone),
            stroke="var(--bg)",
            stroke_width=0.5,
        )
        if name := named(span, wide):
            yield element("text", name, x=x + 3, y=y + 12, fill="var(--fg)")
    for tone, paths in narrow.items():
        yield element("path", d="".join(paths), fill="var(--bar)", fill_opacity=_behind(tone))


def _behind(tone: str) -> float:
    """How full the colour of a box is on which words stand."""
    return SHADES.get(tone, 0.7) / 2


def named(span: Span, wide: float) -> str:
    """What stands in the box of a span: its words, else the first of them, where there is room for all of that."""
    shorter = (span.text, span.text.split(", ")[0])
    return next((text for text in shorter if _LETTER * len(text) + 6 <= wide), "")


def _lasted(span: Span) -> str:
    return f"{number(span.end - span.start, 's')}, from {number(span.start, 's')} on"


_LEVELS = "0123456789abcdef"


def heatmap_svg(part: Heatmap) -> Markup:
    """The picture of an array of shades; what is not finite is crossed out."""
    columns = max(part.columns, 1)
    rows = -(-len(part.cells) // columns)
    side = 14 if rows == 1 else max(4, min(8, 256 // max(rows, columns)))
    boxes = []
    for cell in sorted(set(part.cells)):
        places = [(n % columns * side, n // columns * side) for n, one in enumerate(part.cells) if one == cell]
        if cell in _LEVELS:
            d = "".join(f"M{x},{y}h{side}v{side}h{-side}z" for x, y in places)
            boxes.append(
                element("path", d=d, fill="var(--bar)", fill_opacity=f"{0.04 + 0.96 * _LEVELS.index(cell) / 15:.2f}")
            )
        else:
            d = "".join(f"M{x + 1},{y + 1}l{side - 2},{side - 2}m0,{2 - side}l{2 - side},{side - 2}" for x, y in places)
            title = element("title", "NaN" if cell == "n" else "Inf")
            boxes.append(element("path", title, d=d, stroke="var(--bad)", stroke_width=1.5, fill="none"))
    picture = element(
        "svg",
        element("title", part.summary),
        *boxes,
        viewBox=f"0 0 {columns * side} {rows * side}",
        width=columns * side,
        style="max-width:100%",
        role="img",
        aria_label=part.summary,
    )
    return join(picture, element("p", part.note, class_="dim") if part.note else None)


def _fitting(width: float) -> str:
    """The style of a picture that becomes narrower with its page, as long as its text of 12 px has 11."""
    return f"min-width:{round(width * 11 / 12) + 1}px;max-width:100%;font:12px var(--ui)"


def timeline_svg(part: Timeline) -> Markup:
    """The picture of a timeline: its lanes one below the other."""
    height = _LANE * len(part.lanes)
    left = _left(part.lanes)
    across = Scale(Axis("time", 0.0, part.end or 1.0, "s"), left, WIDTH - RIGHT)
    rows = [
        element("text", name, x=left - 6, y=_LANE * n + 15, text_anchor="end", fill="var(--dim)")
        for n, name in enumerate(part.lanes)
    ]
    rows += _spans(sorted(part.spans, key=lambda one: one.start - one.end)[:_MOST_SPANS], across)
    for value in _round(part.end or 1.0, 6):
        x = across(value)
        anchor = "end" if x > WIDTH - RIGHT - 30 else "middle"
        rows.append(element("text", number(value, "s"), x=x, y=height + 16, text_anchor=anchor, fill="var(--dim)"))
    return element(
        "svg",
        element("title", part.summary),
        *rows,
        viewBox=f"0 0 {WIDTH} {height + 24}",
        width=WIDTH,
        style=_fitting(WIDTH),
        role="img",
        aria_label=part.summary,
    )
