"""The curve of the memory in use over the schedule, as a still picture."""

from __future__ import annotations

import math
from collections.abc import Iterator

from . import memory_words as told
from .plain import escape
from .quantities import size
from .words import Document


WIDTH, HEIGHT, LEFT, BELOW, ABOVE = 760, 180, 64, 34, 40
_SHADES = {"argument": 0.25, "constant": 0.4, "result": 0.55, "temporary": 1.0}


def chart(document: Document) -> str:
    """An SVG picture: bytes in use, stacked by kind, the peak marked; steps to the right."""
    peak, length = document["peak"], max(document["length"], 1)
    top = nice(peak["bytes"] or 1)
    parts = [*_grid(top, length), *_areas(document, top, length), *_mark(peak, top, length), *_legend(document)]
    label = escape(f"{told.headline(document)}.")
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT + BELOW + ABOVE}" width="{WIDTH}" style="max-width:100%;font:12px var(--ui)" role="img" '
        f'aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'
    )


def nice(most: float) -> float:
    """The end of an axis: 1, 2, 2.5, 5 or 10 times a power of ten, not below `most`."""
    power = 10.0 ** math.floor(math.log10(most)) if most > 0 else 1.0
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= most * (1 - 1e-9))


def _x(step: float, length: int) -> float:
    return round(LEFT + (WIDTH - LEFT - 10) * step / length, 1)


def _y(bytes: float, top: float) -> float:
    return round(ABOVE + HEIGHT * (1 - bytes / top), 1)


def _grid(top: float, length: int) -> Iterator[str]:
    for n in range(5):
        y = _y(top * n / 4, top)
        yield f'<path d="M{LEFT},{y}H{WIDTH - 10}" stroke="var(--rule)"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end" fill="var(--dim)">{size(top * n / 4)}</text>'
    for step in sorted({0, length // 4, length // 2, 3 * length // 4, length - 1}):
        yield f'<text x="{_x(step + 0.5, length)}" y="{ABOVE + HEIGHT + 15}" text-anchor="middle" fill="var(--dim)">{step + 1:,}</text>'
    yield f'<text x="{(LEFT + WIDTH) / 2}" y="{ABOVE + HEIGHT + 30}" text-anchor="middle" fill="var(--dim)">step of the schedule</text>'


def _areas(document: Document, top: float, length: int) -> Iterator[str]:
    curve = document["curve"]
    below = [0] * len(curve["positions"])
    ends = [*curve["positions"][1:], length]
    for kind in told.KINDS:
        above = [low + more for low, more in zip(below, curve[kind])]
        if any(curve[kind]):
            up = [f"{_x(x, length)},{_y(v, top)}" for a, b, v in zip(curve["positions"], ends, above) for x in (a, b)]
            down = [f"{_x(x, length)},{_y(v, top)}" for a, b, v in zip(curve["positions"], ends, below) for x in (a, b)]
            yield f'<path d="M{" ".join([*up, *reversed(down)])}Z" fill="var(--bar)" fill-opacity="{_SHADES[kind]}"/>'
        below = above


def _mark(peak: Document, top: float, length: int) -> Iterator[str]:
    x, y = _x(peak["position"] + 0.5, length), _y(peak["bytes"], top)
    anchor = "end" if x > WIDTH * 0.6 else "start"
    yield f'<path d="M{x},{y - 6}V{ABOVE + HEIGHT}" stroke="var(--fg)" stroke-dasharray="3 3"/>'
    yield f'<text x="{x}" y="{y - 9}" text-anchor="{anchor}" fill="var(--fg)" font-weight="600">▼ peak {size(peak["bytes"])}, step {peak["position"] + 1:,}</text>'


def _legend(document: Document) -> Iterator[str]:
    x = LEFT
    for kind, word in told.KINDS.items():
        amount = document["peak"]["kinds"][kind]
        if amount:
            text = f"{word} {size(amount)}"
            yield f'<rect x="{x}" y="0" width="11" height="11" fill="var(--bar)" fill-opacity="{_SHADES[kind]}"/>'
            yield f'<text x="{x + 15}" y="10" fill="var(--dim)">{text}</text>'
            x += 30 + 7 * len(text)
