"""Parts as lines of text, for terminals, logs and screen readers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch

from ..escapes import clean, columns
from ..fixes import fix_text
from ..quantities import number
from ..words import plural
from ..wrap import fits, table as aligned, wrap
from .code_lines import lines_of_code, runs_of
from .inline import words
from .parts import (
    Action,
    Beside,
    Card,
    Cards,
    Chart,
    Choice,
    Code,
    CodeLine,
    Column,
    Diff,
    Edit,
    Facts,
    Graph,
    Grouped,
    Heatmap,
    Ignore,
    Instrument,
    List,
    Part,
    Section,
    Sentence,
    Steps,
    Table,
    Tiles,
    Timeline,
)


_MOST_ROWS = 20
_MOST_INNER = 3
_MOST_LINES = 60
_COLUMNS = 60
_NUMBERS = 2  # columns of numbers from which on they have their names above them
_LEVELS = "▁▂▃▄▅▆▇█"
_PICTURES = ("bar", "stretch")


def as_text(parts: Sequence[Part], width: int) -> list[str]:
    """The lines of some parts, of at most `width` columns; the first line is not indented."""
    lines: list[str] = []
    for part in parts:
        found = lines_of(part, width)
        if not lines and found[:1] == [""]:
            found = found[1:]
        lines += found if lines or not found else [found[0].lstrip(" "), *found[1:]]
    return lines


@singledispatch
def lines_of(part: Part, width: int) -> list[str]:
    """The lines of one part."""
    raise TypeError(f"no part of a view: {type(part).__name__}")


@lines_of.register
def _(part: Sentence, width: int) -> list[str]:
    if part.drawn:
        return []
    sign = "▲ " if part.kind == "warning" else ""
    return [
        piece for line in words(part.content).split("\n") for piece in wrap(f"  {sign}{clean(line)}", width, "    ")
    ]


@lines_of.register
def _(part: Section, width: int) -> list[str]:
    head = f"{part.title}: {part.note}" if part.note else part.title
    inside = [line for one in part.parts for line in lines_of(one, width)]
    return ["", *(wrap(f"  {clean(head)}", width, "    ") if head else ()), *inside] if inside else []


@lines_of.register
def _(part: Beside, width: int) -> list[str]:
    return [line for section in part.sections for line in lines_of(section, width)]


@lines_of.register
def _(part: Steps, width: int) -> list[str]:
    if part.listed:
        return []
    lines: list[str] = []
    for at, step in enumerate(part.steps):
        if at < part.told:
            lines += lines_of(Section(step.title, step.parts, note=step.note), width)
        elif at < part.told + _MOST_ROWS:
            said = [words(one.content) for one in step.parts[:1] if isinstance(one, Sentence)]
            lines += wrap(
                f"  {clean(': '.join((step.title, '. '.join(filter(None, (step.note, *said))))))}", width, "      "
            )
    more = len(part.steps) - part.told - _MOST_ROWS
    return [*lines, f"  and {more:,} more"] if more > 0 else lines


@lines_of.register
def _(part: Card, width: int) -> list[str]:
    shown = [one for one in part.parts if not (isinstance(one, Section) and one.opened is False)]
    inside = [f"  {line}" for one in shown for line in lines_of(one, width - 2) if line]
    return ["", *wrap(f"  {clean(words(part.head))}", width, "    "), *inside]


@lines_of.register
def _(part: Cards, width: int) -> list[str]:
    return [line for card in part.cards for line in lines_of(card, width)]


@lines_of.register
def _(part: Ignore, width: int) -> list[str]:
    return []


@lines_of.register
def _(part: Facts, width: int) -> list[str]:
    rows = [(clean(name), clean(words(content))) for name, content in part.entries]
    return [line for row in aligned(rows, width) for line in row]


@lines_of.register
def _(part: Action, width: int) -> list[str]:
    return wrap(f"  {clean(part.without)}", width, "    ") if part.without else []


_SHADES = " ░▒▓█"


@lines_of.register
def _(part: Heatmap, width: int) -> list[str]:
    shown = [_shade(cell) for cell in part.cells]
    rows = ["".join(shown[at : at + part.columns]) for at in range(0, len(shown), max(part.columns, 1))]
    drawn = rows if part.columns + 2 <= width and len(rows) <= _MOST_LINES else []
    return [*(f"  {row}" for row in drawn), *wrap(f"  {clean(part.summary)}", width, "    ")]


def _shade(cell: str) -> str:
    return _SHADES[round(int(cell, 16) * 4 / 15)] if cell in "0123456789abcdef" else "✕"


@lines_of.register
def _(part: Edit, width: int) -> list[str]:
    return ["", *(f"  {line}" for line in fix_text(part.fix, width - 2))]


@lines_of.register
def _(part: List, width: int) -> list[str]:
    return [line for item in part.items for line in wrap(f"  {clean(words(item))}", width, "      ")]


@lines_of.register
def _(part: Grouped, width: int) -> list[str]:
    return lines_of(part.ways[0][1], width)


@lines_of.register
def _(part: Choice, width: int) -> list[str]:
    lines: list[str] = []
    if part.first:
        return [
            line for name, parts in part.options if name == part.first for one in parts for line in lines_of(one, width)
        ]
    for name, parts in part.options[:_MOST_INNER]:
        lines += [
            "",
            *wrap(f"  {clean(name)}", width, "    "),
            *(line for one in parts for line in lines_of(one, width)),
        ]
    more = len(part.options) - _MOST_INNER
    return [*lines, f"  and {more:,} more"] if more > 0 else lines


@lines_of.register
def _(part: Table, width: int) -> list[str]:
    if not part.rows:
        return wrap(f"  {part.empty}", width, "    ") if part.empty else []
    if part.drawing:
        return [piece for line in part.drawing for piece in wrap(f"  {clean(line)}", width, "      ")]
    head = wrap(f"  {clean(part.name)}:", width, "    ")
    shown = [at for at, column in enumerate(part.columns) if column.kind not in _PICTURES]
    most = max(part.first, part.told)
    rows = part.rows[:most]
    names = [clean(part.columns[at].title) for at in shown]
    titles = [names] if sum(part.columns[at].kind == "number" for at in shown) >= _NUMBERS else []
    cells = [[clean(words(row.cells[at])) for at in shown] for row in rows]
    if titles and not fits([*titles, *cells], width):
        titles, told = [], [_stacked([part.columns[at] for at in shown], own, width) for own in cells]
        titled: list[str] = []
    else:
        titled, *told = aligned([*(titles or [[]]), *cells], width)
    lines: list[str] = list(titled) if titles else []
    for row, found in zip(rows, told):
        lines += found
        lines += [
            piece for line in row.note.split("\n") if line for piece in wrap(f"      {clean(line)}", width, "      ")
        ]
    if (more := len(part.rows) - most) > 0:
        lines.append(f"  and {more:,} more")
    return [*head, *lines, *(wrap(f"  {part.left_out}", width, "    ") if part.left_out else [])]


def _stacked(columns: Sequence[Column], cells: Sequence[str], width: int) -> list[str]:
    """A row that is wider than a line: what it is of, and below that its figures, each with its name."""
    first, *rest = zip(columns, cells)
    named = (
        cell if _says(cell, title := clean(column.title)) else f"{title} {cell}".strip()
        for column, cell in rest
        if cell
    )
    return [*wrap(f"  {first[1]}", width, "    "), *wrap(f"      {'   '.join(named)}", width, "      ")]


def _says(cell: str, title: str) -> bool:
    """Whether a cell names its column itself: `line 5`, `In [2] lines 3-4`, `no known line` in the column "line"."""
    name = re.escape(title.removesuffix("s"))
    return bool(name) and re.search(rf"\b(no (known )?{name}s?\b|{name}s? \d)", cell) is not None


@lines_of.register
def _(part: Chart, width: int) -> list[str]:
    stacked = [one for one in part.series if one.kind != "line"]
    if not stacked:
        return wrap(f"  {part.summary}", width, "    ")
    heights = _heights(part, max(10, min(_COLUMNS, width - 4)))
    most = max(heights) or 1.0
    bars = "".join(_LEVELS[min(7, int(8 * one / (most * 1.0001)))] if one else " " for one in heights)
    lines = [f"  {bars}"]
    if flag := next((one for one in part.points if one.shape == "flag"), None):
        at = min(len(heights) - 1, int(len(heights) * _share(part, flag.across)))
        lines.append(f"  {' ' * at}^ {part.points[0].text}")
    across = part.across
    ends = f"{across.title} {number(across.low, across.unit)} to {number(across.high, across.unit)}"
    ends = f"{part.steps} 1 to {across.high:,.0f}" if part.steps else ends
    return [*lines, *wrap(f"  {ends}; {part.up.title} from 0 to {number(most, part.up.unit)}", width, "    ")]


def _share(chart: Chart, across: float) -> float:
    return (across - chart.across.low) / ((chart.across.high - chart.across.low) or 1.0)


def _heights(chart: Chart, columns: int) -> list[float]:
    """The most that stands in each of so many equal stretches, areas and bars one on the other."""
    found = [0.0] * max(1, min(columns, round(chart.across.high - chart.across.low) or columns))
    series = [one for one in chart.series if one.kind != "line"]
    starts = series[0].across
    ends = (*starts[1:], chart.across.high)
    for n, (start, end) in enumerate(zip(starts, ends)):
        total = sum(one.up[n] for one in series if n < len(one.up))
        first, last = (_share(chart, start) * len(found), _share(chart, end) * len(found))
        for column in range(int(first), max(int(first) + 1, -int(-last // 1))):
            if 0 <= column < len(found):
                found[column] = max(found[column], total)
    return found


@lines_of.register
def _(part: Timeline, width: int) -> list[str]:
    return wrap(f"  {part.summary}", width, "    ")


@lines_of.register
def _(part: Tiles, width: int) -> list[str]:
    drawing = [clean(line) for line in part.drawing]
    if drawing and len(drawing) <= _MOST_LINES and max(map(len, drawing)) + 2 <= width:
        return [f"  {line}" for line in drawing]
    found = [
        line
        for _, _, text, said in part.tiles[:64]
        for line in wrap(f"  {clean(said)}  {clean(text)}", width, "      ")
    ]
    return [*found, f"  and {len(part.tiles) - 64:,} more parts"] if len(part.tiles) > 64 else found


@lines_of.register
def _(part: Code, width: int) -> list[str]:
    marks = {"added": "+ ", "removed": "- ", "here": "> ", "off": "x "}
    all_lines = list(lines_of_code(part))
    marked = any(line.mark for line in all_lines)
    size = max((len(line.number) for line in all_lines), default=0)
    signs = max((len(line.sign[0]) for line in all_lines if line.sign), default=0)
    lines: list[str] = []
    most = min(part.first, part.told)
    for line in all_lines[:most]:
        head = f"  {line.number:>{size}}  " if size else "  "
        head += marks.get(line.mark, "  ") if marked else ""
        head += f"{line.sign[0] if line.sign else '':{signs}} " if signs else ""
        note = f"   {line.note}" if line.note else ""
        lines += wrap(f"{head}{clean(line.text)}{note}", width, " " * (len(head) + 4))
        lines += _pointed(line, head, width)
    more = more_lines(part, len(all_lines) - most)
    return [*lines, f"  {more}"] if more else lines


@lines_of.register
def _(part: Diff, width: int) -> list[str]:
    before, after = part.sides
    lines = [f"  {before} (-) and {after} (+):"]
    for run, rows in runs_of(part):
        if run.kind == "folded":
            lines.append(f"    ({plural(run.count, 'unchanged line')})")
            continue
        lines += wrap(f"  {clean(run.caption)}:", width, "    ") if run.caption else []
        pairs = [(row,) for row in rows] if run.kind == "changed" else [rows]
        for some in pairs:
            for sign, side in _SIDES["same" if run.kind == "same" else ""]:
                shown = [row[side] for row in some if row[side]]
                lines += [
                    piece for line in shown for piece in wrap(f"  {sign} {clean(line['text'].strip())}", width, " " * 8)
                ]
    return lines


_SIDES = {"same": ((" ", "left"),), "": (("-", "left"), ("+", "right"))}


@lines_of.register
def _(part: Instrument, width: int) -> list[str]:
    return [line for one in part.without for line in lines_of(one, width)]


def more_lines(part: Code, hidden: int) -> str:
    """How many lines a program has beside those that are shown; "" where it has no more."""
    more = max(hidden, 0) + part.left_out
    return f"and {more:,} more line{'s' * (more > 1)}" if more else ""


def _pointed(line: CodeLine, head: str, width: int) -> list[str]:
    """Below the columns that are meant; nothing where the line goes on below."""
    if line.stretch is None or columns(clean(line.text)) + len(head) > width:
        return []
    before, meant = clean(line.text[: line.stretch[0]]), clean(line.text[slice(*line.stretch)])
    return [f"{' ' * (len(head) + columns(before))}{'^' * max(columns(meant), 1)}"]


@lines_of.register
def _(part: Graph, width: int) -> list[str]:
    return []
