"""Parts as static HTML: pieces of which long ones have shorter forms, for outputs that must stay small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, singledispatch
from typing import Any

from .. import code as programs
from ..breaks import escape_code, escape_prose, quantities_in
from ..budget import Part as Piece
from ..escapes import clean, escape
from ..fixes import fix_html
from ..guard import Pieces, part as guarded
from ..origins import placed
from ..painter import line_hues, with_counterparts
from ..palette import HUES
from ..program_html import picture, source_lines
from .as_text import more_lines
from .chart_svg import chart_svg, heatmap_svg, timeline_svg
from .code_lines import lines_of_code
from .diff_html import diff_forms
from .inline import each
from .markup import Markup, element, join
from .parts import (
    Action,
    Bar,
    Beside,
    Card,
    Cards,
    Chart,
    Choice,
    Code,
    CodeLine,
    Column,
    Content,
    Diff,
    Edit,
    Facts,
    Graph,
    Grouped,
    Heatmap,
    Ignore,
    Inline,
    Instrument,
    List,
    Part,
    Place,
    Row,
    Section,
    Sentence,
    Steps,
    Stretch,
    Table,
    Text,
    Tiles,
    Timeline,
)


_ROWS = (3000, 500, 200, 80, 30, 12)
"""How many rows a table keeps where there is less and less room."""


_PROGRAM: ContextVar[Mapping[str, Any] | None] = ContextVar("program", default=None)
"""The graph of the program that a view is about: lines have the colours that they have there."""


def as_html(parts: Sequence[Part], program: Mapping[str, Any] | None = None) -> Pieces:
    """The pieces of some parts, one after the other; of a view about a program, with its graph."""
    before = _PROGRAM.set(program) if program else None
    try:
        return [piece for part in parts for piece in pieces_of(part)]
    finally:
        if before:
            _PROGRAM.reset(before)


# --- inline -----------------------------------------------------------------------------------------------------------


def inline(content: Content) -> Markup:
    """A sentence, or what is in a cell."""
    return join(*map(_inline, each(content)))


def _inline(piece: Inline) -> Markup:
    match piece:
        case str():
            return _flowing(piece)
        case Text(text, tone, title):
            return _text(text, tone, title)
        case Place(text, _, line):
            return join(_breakable(text), *((": ", element("code", _breakable(line))) if line else ()))
        case Bar():
            return _bar(piece)
        case Stretch():
            return _stretch(piece)


def _text(text: str, tone: str, title: str) -> Markup:
    names = {"strong": "b", "code": "code", "good": "b", "bad": "b", "mark": "b"}
    classes = {"muted": "dim", "bad": "bad", "mark": "is"}.get(tone)
    inside = _breakable(text) if tone == "code" else _flowing(text, alone=tone != "strong")
    if tone == "plain" and not title:
        return inside
    return element(names.get(tone, "span"), inside, class_=classes, title=title or None)


def _breakable(text: str) -> Markup:
    return Markup(escape_code(clean(text)))


def _flowing(text: str, alone: bool = True) -> Markup:
    """Words, of which quantities stay in one line; what is nothing else needs no mark for that where it stands alone, in a cell."""
    shown = clean(text)
    whole = alone and [(0, len(shown))] == quantities_in(shown)
    return Markup(escape(shown) if whole else escape_prose(shown))


def _bar(bar: Bar) -> Markup:
    least = min(max(bar.least, 0.0), 1.0)
    rest = min(bar.most, 1.0) - least if bar.most is not None else 0.0
    full = element("span", class_="bar", style=f"width:{100 * least:.1f}%") if least > 5e-4 else None
    faint = element("span", class_="bar", style=f"opacity:.4;width:{100 * rest:.1f}%") if rest > 5e-4 else None
    return element("span", full, faint, class_="bars", title=bar.title or None)


def _stretch(stretch: Stretch) -> Markup:
    whole = stretch.length or 1.0
    start, wide = 100 * stretch.start / whole, max(1.0, 100 * (stretch.end - stretch.start) / whole)
    style = f"margin-left:{min(start, 99):.1f}%;width:{min(wide, 100 - min(start, 99)):.1f}%"
    return element("span", element("span", class_="bar", style=style), class_="bars", title=stretch.title or None)


# --- parts ------------------------------------------------------------------------------------------------------------


@singledispatch
def pieces_of(part: Part) -> Pieces:
    """The pieces of one part."""
    raise TypeError(f"no part of a view: {type(part).__name__}")


@pieces_of.register
def _(part: Sentence) -> Pieces:
    content = inline(part.content)
    if part.kind == "headline":
        content = element("b", content)
    sign = "▲ " if part.kind == "warning" else ""
    return [element("p", sign, content, class_="dim" if part.kind == "note" else None, title=part.title or None)]


@pieces_of.register
def _(part: Section) -> Pieces:
    inside = as_html(part.parts)
    note = join(" ", element("span", part.note, class_="dim")) if part.note else None
    if part.opened is None:
        head = element("p", element("b", part.title), note) if part.title else ""
        return [head, *inside]
    summary = element("summary", part.title, note)
    return [f"<details{' open' if part.opened else ''}>{summary}", *inside, "</details>"]


@pieces_of.register
def _(part: Beside) -> Pieces:
    found: Pieces = ['<div style="display:flex;flex-wrap:wrap;gap:4px 16px">']
    for section in part.sections:
        found += ['<div style="flex:1 1 280px;min-width:0">', *pieces_of(section), "</div>"]
    return [*found, "</div>"]


@pieces_of.register
def _(part: Steps) -> Pieces:
    found: Pieces = []
    for at, step in enumerate(part.steps[:_STEPS]):
        note = join(" ", element("span", step.note, class_="dim")) if step.note else None
        summary = element("summary", element("b", step.title), note)
        opened = part.beside and at == part.at
        worth = 3.0 if opened else 0.5
        inside = [replace(one, worth=worth) if isinstance(one, Piece) else one for one in as_html(step.parts)]
        found += [f'<details class="pass"{" open" * opened}>{summary}<div class="in">', *inside, "</div></details>"]
    more = len(part.steps) - _STEPS
    return [*found, element("p", f"and {more:,} more", class_="dim")] if more > 0 else found


_STEPS = 60
"""How many steps static HTML has."""


@pieces_of.register
def _(part: Facts) -> Pieces:
    rows = [
        element("tr", element("td", name, class_="dim nw"), element("td", inline(content)))
        for name, content in part.entries
    ]
    return [element("table", element("tbody", *rows))]


@pieces_of.register
def _(part: Action) -> Pieces:
    return [element("p", part.without, class_="dim")] if part.without else []


@pieces_of.register
def _(part: Heatmap) -> Pieces:
    return [guarded(part.name[:1].lower() + part.name[1:], lambda: heatmap_svg(part), worth=0.2)]


@pieces_of.register
def _(part: Edit) -> Pieces:
    return [fix_html(part.fix)]


@pieces_of.register
def _(part: List) -> Pieces:
    return [element("ol", *(element("li", inline(item)) for item in part.items), aria_label=part.name)]


@pieces_of.register
def _(part: Grouped) -> Pieces:
    (_, first), *others = part.ways
    found = _table(first, worth=max(2.0, _worth(first)))
    for name, table in others:
        found += [f"<details><summary>{escape(clean(name))}</summary>", *_table(table, _worth(table)), "</details>"]
    return found


@pieces_of.register
def _(part: Choice) -> Pieces:
    found: Pieces = []
    first = part.first or part.options[0][0]
    for name, parts in part.options:
        found += [
            f"<details{' open' if name == first else ''}><summary>{escape(clean(name))}</summary>",
            *as_html(parts),
            "</details>",
        ]
    return found


_TONES = {"error": "✕ ", "warning": "▲ ", "info": "○ "}


@pieces_of.register
def _(part: Card) -> Pieces:
    kind = "card bad" if part.tone == "error" else "card"
    sign = (
        element("b", _TONES[part.tone], class_="bad" if part.tone == "error" else "dim")
        if part.tone in _TONES
        else None
    )
    head = join(sign, inline(part.head))
    if part.opened is None:
        return [f'<div class="{kind}">', element("p", head), *as_html(part.parts), "</div>"]
    start = f'<details class="{kind}"{" open" if part.opened else ""}>'
    return [start, element("summary", head), '<div class="in">', *as_html(part.parts), "</div></details>"]


@pieces_of.register
def _(part: Cards) -> Pieces:
    return as_html(part.cards)


@pieces_of.register
def _(part: Ignore) -> Pieces:
    return []


@pieces_of.register
def _(part: Table) -> Pieces:
    return _table(part, _worth(part))


def _worth(table: Table) -> float:
    return 4.0 if table.quiet else 1.0  # all there is of its rows


def _table(part: Table, worth: float) -> Pieces:
    if not part.rows:
        return [element("p", part.empty, class_="dim")] if part.empty else []
    most = [count for count in _ROWS if count < len(part.rows)]
    whole = [_table_form(part, len(part.rows))]
    if most and any(row.note for row in part.rows):
        part = replace(part, rows=tuple(replace(row, note="") for row in part.rows))
        whole.append(_table_form(part, len(part.rows)))
    forms = [*whole, *(_table_form(part, count) for count in most)]
    table = guarded(part.name[:1].lower() + part.name[1:], *forms, worth=worth)
    return [table, *(piece for row in (() if part.quiet else _looked_at(part.rows)) for piece in _closer(row))]


_CLOSER = 40
"""Rows of a table of which a closer look is kept."""


def _looked_at(rows: Sequence[Row]) -> list[Row]:
    """The rows with a closer look that has a picture: figures stand in the table."""
    return [
        row for row in rows if any(isinstance(part, (Chart, Heatmap, Code, Graph, Table)) for part in flat(row.parts))
    ][:_CLOSER]


def _closer(row: Row) -> Pieces:
    """A closer look at a row, folded below its table: static pages have no rows that open."""
    shown = join(*(join(inline(cell), " ") for cell in row.cells[:2]))
    return ["<details>", element("summary", shown), '<div class="in">', *as_html(row.parts), "</div></details>"]


def _table_form(table: Table, most: int) -> Callable[[], str]:
    def form() -> str:
        head = element("tr", *(element("th", column.title, title=column.help or None) for column in table.columns))
        rows = [piece for row in table.rows[:most] for piece in _row(row, table.columns)]
        more = len(table.rows) - most
        below = [f"and {more:,} more"] if more > 0 else []
        below += [table.left_out] if table.left_out else []
        return join(
            element("p", element("b", table.name)),
            element(
                "div", element("table", element("tbody", head, *rows), aria_label=table.name), style="overflow-x:auto"
            ),
            *(element("p", line, class_="dim") for line in below),
        )

    return form


def _row(row: Row, columns: Sequence[Column]) -> Iterable[Markup]:
    cells = [
        element(
            "td",
            element("code", inline(cell)) if column.kind == "code" else inline(cell),
            class_={"bar": "wide", "stretch": "wide", "number": "nw", "short": "nw"}.get(column.kind),
        )
        for cell, column in zip(row.cells, columns)
    ]
    yield element("tr", *cells, class_={"bad": "bad", "muted": "dim"}.get(row.tone), title=row.title or None)
    if row.note:
        note = [piece for line in row.note.split("\n") for piece in (element("br"), line)][1:]
        yield element("tr", element("td", note, colspan=len(columns), class_="dim"))


def _aside(picture: Markup) -> Markup:
    """A picture that is moved within its place where the page is narrower."""
    return element("div", picture, style="overflow-x:auto")


@pieces_of.register
def _(part: Chart) -> Pieces:
    worth = 0.2 if part.small else 3.0
    return [guarded(part.name[:1].lower() + part.name[1:], lambda: _aside(chart_svg(part)), worth=worth)]


@pieces_of.register
def _(part: Timeline) -> Pieces:
    return [
        element("p", part.summary),
        guarded(part.name[:1].lower() + part.name[1:], lambda: _aside(timeline_svg(part)), worth=2.0),
    ]


@pieces_of.register
def _(part: Tiles) -> Pieces:
    return [guarded(part.name[:1].lower() + part.name[1:], lambda: _tiles(part))]


_TEXTURES = (("solid", ""), ("dashed", "45deg"), ("dotted", "135deg"), ("double", "0deg"))
"""The left edge of a tile, and the direction of its stripes: where the hues are used up, they begin again in the next texture."""
_PADDED = "padding:9px 14px;text-align:center;white-space:nowrap"


def _tiles(part: Tiles) -> Markup:
    found = {(row, column): (n, text, said) for n, (row, column, text, said) in enumerate(part.tiles)}
    height = 1 + max((row for row, _ in found), default=0)
    width = 1 + max((column for _, column in found), default=0)
    lines = []
    if part.columns:
        corner = element("th") if part.rows else None
        lines.append(element("tr", corner, *(element("th", name, style=_PADDED) for name in part.columns)))
    for row in range(height):
        name = element("th", part.rows[row], style=_PADDED) if part.rows else None
        cells = [_tile(*found[row, column]) for column in range(width) if (row, column) in found]
        lines.append(element("tr", name, *cells))
    table = element("table", element("tbody", *lines), style="border-collapse:separate;border-spacing:3px")
    return element("div", table, class_="view")


def _tile(number: int, text: str, said: str) -> Markup:
    hue = f"var(--h{number % len(HUES)})"
    edge, turn = _TEXTURES[number // len(HUES) % len(_TEXTURES)]
    stripes = (
        f"repeating-linear-gradient({turn},color-mix(in srgb,{hue} 24%,transparent) 0 4px,transparent 4px 11px),"
        if turn
        else ""
    )
    colours = f"border-left:6px {edge} {hue};background:{stripes}color-mix(in srgb,{hue} 20%,var(--bg))"
    return element("td", text, style=f"{_PADDED};{colours}", title=said)


@pieces_of.register
def _(part: Code) -> Pieces:
    whole = part.first if part.blocks else min(len(part.lines), part.first)
    rows = cache(lambda: [_code_line(line, part.language) for line in lines_of_code(part)])
    forms = [_code_form(part, rows, count) for count in (whole, *(most for most in _LINES if most < whole))]
    return [guarded(part.name[:1].lower() + part.name[1:], *forms)]


_LINES = (300, 60, 20)
"""How many lines a program keeps where there is less and less room."""
_SIGNS = {"added": "+", "removed": "−"}
_KINDS = {"added": "is", "removed": "was", "here": "h0", "off": "off"}


def _code_form(part: Code, rows: Callable[[], list[str]], most: int) -> Callable[[], str]:
    def form() -> str:
        more = more_lines(part, len(rows()) - most)
        return f"<pre>{''.join(rows()[:most])}</pre>" + (element("p", more, class_="dim") if more else "")

    return form


def _code_line(line: CodeLine, language: str) -> str:
    """A program has thousands of these: they are put together by hand."""
    before, told = line.sign or ("", "")
    named = escape(f"{line.number} {_SIGNS.get(line.mark, '')} {before}".strip())
    number = f"<i{f' title={chr(34)}{escape(told)}{chr(34)}' if told else ''}>{named}</i> " if named else ""
    kind = f' class="{_KINDS[line.mark]}"' if line.mark else ""
    note = f"<small>   {escape(line.note)}</small>" if line.note else ""
    return f"<span{kind}>{number}{_code_text(line, language)}{note}\n</span>"


def _code_text(line: CodeLine, language: str) -> Markup:
    if line.stretch is not None:
        start, end = line.stretch
        before, pointed, after = line.text[:start], line.text[start:end], line.text[end:]
        return join(_breakable(before), element("ins", _breakable(pointed)) if pointed else None, _breakable(after))
    return Markup(programs.highlight(line.text)) if language in ("jaxpr", "hlo") else _breakable(line.text)


@pieces_of.register
def _(part: Diff) -> Pieces:
    forms = diff_forms(part, _CHANGES) if len(part.pairs) <= _CHANGES[0] else []
    return [guarded("the comparison", *forms)]


_CHANGES = (4000, 300, 60)
"""How many groups of changes a difference keeps where there is less and less room; one with more rows than the first has none."""


@pieces_of.register
def _(part: Instrument) -> Pieces:
    return [piece for one in part.without for piece in pieces_of(one)]


@pieces_of.register
def _(part: Graph) -> Pieces:
    program = _PROGRAM.get() if part.selects else None
    document = placed(part.document, program) if program else part.document
    hues = line_hues(program or document)
    if len(part.codes) == 2:
        hues = with_counterparts(hues, *(source for _, source in part.codes))
    limits, worth = (400, 150, 50), 3.0
    if part.kernels:
        limits, worth = (150, 50), 0.5  # the list of kernels and the comparison say the same
    elif part.selects:
        limits = (80,)  # small ones are read without moving about in them
    drawn: Piece = picture(part.name, _without_past(document), hues, limits, worth)
    told = [said for _, said in part.legend] + [note for note in part.notes if "dashed" not in note]
    legend = element("p", "; ".join(told), ".", class_="dim") if told else ""
    if not part.codes:
        return [legend, drawn]
    codes = [
        piece
        for name, source in part.codes
        for piece in (element("p", element("b", name)), *source_lines(source, hues))
    ]
    return [legend, '<div class="two"><div>', *codes, "</div>", drawn, "</div>"]


def _without_past(graph: Mapping[str, Any]) -> Mapping[str, Any]:
    """A graph without the edges that are gone, but for those of nodes that are gone themselves: the still picture draws all alike."""
    gone = {node["id"] for node in graph["nodes"] if node.get("mark") == "removed"}
    edges = [edge for edge in graph["edges"] if not edge.get("gone") or not gone.isdisjoint((edge["from"], edge["to"]))]
    return {**graph, "edges": edges}


def flat(parts: Sequence[Part]) -> Iterable[Part]:
    """Some parts and those in sections."""
    for part in parts:
        yield part
        if isinstance(part, Section):
            yield from flat(part.parts)
