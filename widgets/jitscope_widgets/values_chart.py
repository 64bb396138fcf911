"""Histograms and pictures of arrays as still SVG."""

from __future__ import annotations

from .plain import escape
from .values_words import figure
from .words import Document


_WIDTH, _HEIGHT = 260, 80
_LEVELS = "0123456789abcdef"


def bars(histogram: Document | None) -> str:
    """A histogram; "" where there is none."""
    if histogram is None or not histogram["counts"]:
        return ""
    counts = histogram["counts"]
    most, width = max(*counts, 1), _WIDTH / len(counts)
    boxes = "".join(
        f'<rect x="{n * width + 0.5:.1f}" y="{_HEIGHT * (1 - count / most):.1f}" width="{max(0.5, width - 1):.1f}" '
        f'height="{_HEIGHT * count / most:.1f}" fill="var(--bar)"><title>{count:,}</title></rect>'
        for n, count in enumerate(counts)
        if count > 0
    )
    scale = "magnitude, logarithmic" if histogram["log"] else "value"
    zeros = f", {histogram['zeros']:,} zeros beside" if histogram["log"] and histogram["zeros"] else ""
    label = f"Histogram ({scale}{zeros}) from {figure(histogram['low'])} to {figure(histogram['high'])}, at most {most:,} in a bin"
    return _picture(
        _WIDTH,
        _HEIGHT + 34,
        label,
        boxes,
        (_HEIGHT + 14, f"{figure(histogram['low'])} … {figure(histogram['high'])}"),
        (_HEIGHT + 29, f"{scale}{zeros}"),
    )


def grid(picture: Document | None) -> str:
    """A picture of an array; "" where there is none."""
    if picture is None or not picture["cells"] or picture["columns"] < 1:
        return ""
    columns = picture["columns"]
    rows = -(-len(picture["cells"]) // columns)
    side = max(4, min(8, 256 // max(rows, columns)))
    boxes = []
    for level in sorted(set(picture["cells"])):
        cells = [n for n, cell in enumerate(picture["cells"]) if cell == level]
        d = "".join(f"M{n % columns * side},{n // columns * side}h{side}v{side}h{-side}z" for n in cells)
        if level in _LEVELS:
            opacity = 0.04 + 0.96 * _LEVELS.index(level) / 15
            boxes.append(f'<path d="{d}" fill="var(--bar)" fill-opacity="{opacity:.2f}"/>')
        else:
            what = "NaN" if level == "n" else "Inf"
            boxes.append(f'<path d="{d}" fill="var(--bad)"><title>{what}</title></path>')
    low, high = figure(picture["low"]), figure(picture["high"])
    bad = "; red: NaN or Inf" if set(picture["cells"]) - set(_LEVELS) else ""
    label = f"Picture of the array: {picture['folded']}; faint {low}, strong {high}{bad}"
    words = (rows * side + 14, f"faint {low}, strong {high}{bad}")
    drawn = _picture(max(columns * side, 320), rows * side + 20, label, "".join(boxes), words)
    return f'{drawn}<p class="dim">{escape(picture["folded"])}</p>'


def _picture(width: float, height: float, label: str, inside: str, *texts: tuple[float, str]) -> str:
    said = "".join(f'<text x="0" y="{y}" fill="var(--dim)">{escape(text)}</text>' for y, text in texts)
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" style="max-width:100%;font:12px var(--ui);margin-right:24px" role="img" '
        f'aria-label="{escape(label)}"><title>{escape(label)}</title>{inside}{said}</svg>'
    )
