"""The parts that a view is made of. Each says what is shown, none how: that is for the renderers.

What stands in a sentence or a cell is *inline*: a text, alone or with a tone and a hover text, a place in the user's code, a bar, a
stretch of an axis. What is selected together with a row, a line or a point is its `Ref`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from ..documents.parts import Position


Tone: TypeAlias = Literal["plain", "strong", "muted", "code", "good", "bad", "mark"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words with a tone; `title` is told on hovering, `order` is what a column is sorted by."""

    text: str
    tone: Tone = "plain"
    title: str = ""
    order: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the user's code: `text` says which, `code` is what stands there."""

    text: str
    position: Position
    code: str = ""
    hue: bool = False
    """The colour that its line has in code and in graphs stands before it."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the longest bar of its column, from 0 to 1: full up to `least`, faint from there to `most`."""

    least: float
    most: float | None = None
    title: str = ""
    tone: str = ""
    """A word for the colour: of a kind of memory, of a bound."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `start` up to `end` on an axis of `length`, on which `mark` is pointed out."""

    start: float
    end: float
    length: float
    mark: float | None = None
    title: str = ""
    tone: str = ""


Inline: TypeAlias = str | Text | Place | Bar | Stretch
Content: TypeAlias = Inline | Sequence[Inline]


@dataclass(frozen=True, slots=True)
class Ref:
    """What a row, a line or a point stands for: equations by path, kernels by name, an argument (`in0`); `position` is where it was written."""

    paths: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    node: str = ""
    position: Position | None = None
    same: str = ""
    """A name of what lines of one view stem from: those with the same one belong together, also where no equation is left of it."""
    step: tuple[str, float] | None = None
    """A chart, and the place on its axis that is looked at with it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A paragraph. The answer to what somebody came for is a `headline`, a remark a `note`, advice that something is wrong a `warning`."""

    content: Content
    kind: Literal["plain", "headline", "note", "warning"] = "plain"
    title: str = ""
    drawn: Literal["", "bars", "chart"] = ""
    """It says how such a picture is read: text has none, a narrow page no bars."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. Bars and stretches are pictures: a text view leaves them out."""

    title: str
    kind: Literal["text", "short", "code", "number", "bar", "stretch"] = "text"
    """What is "short" stands on one line, as numbers do."""
    help: str = ""
    named: bool = False
    """Its cells say too little without the title: a narrow view, which has no head, repeats it beside each, as it does with numbers."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row; `rows` are those that it stands for, `parts` a closer look at it: they are told when it is opened. The lines of `note` stand
    below it."""

    cells: tuple[Content, ...]
    ref: Ref = Ref()
    rows: tuple[Row, ...] = ()
    note: str = ""
    title: str = ""
    tone: Literal["plain", "muted", "bad"] = "plain"
    parts: tuple[Part, ...] = ()
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns. `name` says to screen readers what is listed.

    `first` is how many are shown before somebody asks for the others, `left_out` says what the document itself does not hold. A table that
    follows a chart (`axis`, its name) shows the rows whose stretch has the step that is looked at.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    first: int = 20
    left_out: str = ""
    axis: str = ""
    empty: str = ""
    matrix: bool = False
    """It is read down its columns, too: it keeps them where there is little room."""
    drawing: tuple[str, ...] = ()
    """What a text view says in its place."""
    told: int = 20
    """How many rows text has, where `first` is fewer."""
    quiet: bool = False
    """Its closer looks are for whoever opens a row: what is selected elsewhere opens none, and static HTML has none."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """One table under several orders: by line, by block, one by one. The first is shown until another is chosen."""

    name: str
    ways: tuple[tuple[str, Table], ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a chart, from `low` to `high`; its numbers are those of `unit`."""

    title: str
    low: float
    high: float
    unit: str = ""
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True)
class Series:
    """A line, an area (stacked on those before it), steps or bars through points; `tone` is a word for its colour."""

    name: str
    kind: Literal["line", "area", "bars"]
    across: tuple[float, ...]
    up: tuple[float, ...]
    tone: str = ""
    dashed: bool = False
    title: str = ""
    label: str = ""
    """What stands at the end of a line."""


@dataclass(frozen=True, slots=True)
class Point:
    """A mark in a chart, or a pointer to one; `size` is the share that its area stands for."""

    across: float
    up: float
    text: str
    size: float = 0.0
    shape: Literal["circle", "diamond", "triangle", "flag"] = "circle"
    ref: Ref = Ref()
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of the axis across that something is said of: a loop, a branch."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of numbers. `summary` is what a screen reader says of it, and all that a text view has besides its sparkline.

    With `steps` (a name for them: `step`), one place of the axis across is looked at: keys and pointer move it, tables that follow it
    show what is there.
    """

    name: str
    summary: str
    across: Axis
    up: Axis
    series: tuple[Series, ...] = ()
    points: tuple[Point, ...] = ()
    bands: tuple[Band, ...] = ()
    steps: str = ""
    at: float | None = None
    small: bool = False
    """It stands beside others."""
    told: tuple[str, ...] = ()
    """What is said at each step; without it, the numbers of the areas there."""


@dataclass(frozen=True, slots=True)
class Heatmap:
    """An array of shades, row by row: `0` (faint) to `f` (strong), `n` where something is NaN, `i` where it is infinite. `summary` is what
    a screen reader says of it, `note` stands below it."""

    name: str
    summary: str
    columns: int
    cells: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasted, in a lane of a timeline; times in seconds. The beginning of `text` stands in its box; `title` is told of it, by
    default the text with its times."""

    lane: int
    start: float
    end: float
    text: str
    tone: str = ""
    title: str = ""
    ref: Ref = Ref()


@dataclass(frozen=True, slots=True)
class Timeline:
    """What went on when, in lanes."""

    name: str
    summary: str
    lanes: tuple[str, ...]
    spans: tuple[Span, ...]
    end: float
    tones: str = ""
    """What the tones of the spans say, before their names: "bound by"."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of a program."""

    text: str
    number: str = ""
    note: str = ""
    mark: Literal["", "added", "removed", "here", "off"] = ""
    """What is "off" stands there and did not run."""
    ref: Ref = Ref()
    stretch: tuple[int, int] | None = None
    """The columns that are meant, from the first up to the last."""
    sign: tuple[str, str] | None = None
    """A sign before the line, and what it says."""
    depth: int = 0
    """In how many loops it is."""


@dataclass(frozen=True, slots=True)
class Block:
    """A text of many lines within a program, as the document has it: the live page gets it once.

    Lines are numbered from `number` on; where that is 0, tabs are in them: before a line's number, name, operands and remark. `nesting` has
    pairs of a line, from 0, and the depth in loops from there on. `head` is a line of its own above it.
    """

    text: str
    number: int = 0
    nesting: tuple[tuple[int, int], ...] = ()
    head: str = ""
    mark: Literal["", "here"] = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A program, or part of one: `lines`, and those of `blocks`."""

    name: str
    lines: tuple[CodeLine, ...] = ()
    language: Literal["python", "jaxpr", "hlo", "llvm", "asm", "text"] = "text"
    _: KW_ONLY
    first: int = 4000
    """How many lines text and static HTML have at most."""
    told: int = 4000
    """How many of these text has at most."""
    left_out: int = 0
    """How many more the program has than the document."""
    blocks: tuple[Block, ...] = ()
    operations: Sequence[Mapping[str, Any]] = ()
    """Operations as a document has them (`Member` in documents/fusion.py): a line for each."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring pairs of a difference that belong together, and how many. Those that are "folded" are on both sides and are told by their
    number until somebody asks; those that are "fused" became one, as the caption says."""

    kind: Literal["same", "folded", "changed", "removed", "added", "fused"]
    count: int
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """Two programs side by side. `pairs` of lines are as a document has them (`DiffRow` in documents/fusion.py): one on the left, one on the
    right, and what became of them. `runs` are those pairs in groups, one after the other."""

    name: str
    sides: tuple[str, str]
    pairs: Sequence[Mapping[str, Any]]
    runs: tuple[Run, ...]
    marks: tuple[tuple[int, int, int, int], ...] = ()
    """Of each pair that changed, what differs: the columns of its left line, from the first up to the last, and those of its right line."""
    language: Literal["python", "jaxpr", "hlo", "text"] = "text"


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph document, drawn by the component for graphs. With `codes`, the names and source documents of programs, it is linked with
    them; `legend` has the marks that nodes bear, what they mean, and `notes` what else is to be known of the picture. Where it `selects`, its
    nodes stand for equations of the program."""

    name: str
    document: Mapping[str, Any]
    height: int = 360
    codes: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    selects: bool = False
    kernels: bool = False
    """It is told of its nodes which kernels compute them, and in what time."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """A grid of cells in colours: which device has which part. `columns` and `rows` are the names along the edges."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    tiles: tuple[tuple[int, int, str, str], ...]
    """Row, column, what stands in it, what is said of it."""
    drawing: tuple[str, ...] = ()
    """The same as lines of text."""


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number that somebody chooses from `low` to `high`, for the option of that name."""

    option: str
    label: str
    low: int
    high: int
    at: int


@dataclass(frozen=True, slots=True)
class Action:
    """A button that asks the kernel for a further form of this document; `doing` is said while it works.

    The answer takes the place of the whole view, or of the section with the name `renews`. `without` is said where no kernel can be asked.
    """

    label: str
    doing: str
    options: Mapping[str, str | int | bool | None] = field(default_factory=dict)
    renews: str = ""
    number: Number | None = None
    without: str = ""


@dataclass(frozen=True, slots=True)
class Instrument:
    """The place of another view of the same program, which is made when somebody asks for it; `without` stands there where none can be."""

    name: str
    without: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """A fix (see documents/parts.py): what to do in words, what its edits make of the lines, a button that makes them."""

    fix: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class List:
    """Steps in their order."""

    name: str
    items: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what they are."""

    entries: tuple[tuple[str, Content], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Several contents of which one is looked at. Where one is named as the `first`, text tells of no other."""

    name: str
    options: tuple[tuple[str, tuple[Part, ...]], ...]
    first: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a view with a heading; one that folds (`opened` is not None) starts open or closed. By its `name` it is found in other
    forms of the view."""

    title: str
    parts: tuple[Part, ...]
    opened: bool | None = None
    note: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Something that is told by itself: a line, and what is to be said of it. One that folds (`opened` is not None) is its line alone until
    it is opened; what folds within a card has no place in a text view. By its `name` it is found in a later form of the view."""

    head: Content
    parts: tuple[Part, ...]
    tone: Literal["plain", "info", "warning", "error"] = "plain"
    opened: bool | None = None
    name: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards one below the other. `filters` are names of what somebody may choose them by: the first is for the first of their tags."""

    name: str
    cards: tuple[Card, ...]
    filters: tuple[str, ...] = ()
    first: int = 200
    """How many are shown before somebody asks for the others."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """What keeps a sharp bit from being told: a comment in its line (`here`, a fix; None where none can stand), or a word for the whole
    session."""

    id: str
    file: str = ""
    here: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """Sections side by side where there is room: before and after, A and B."""

    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """An entry of steps; `depth` is how many others it is part of. With `ref`, it is marked, and looked at, when what it stands for is
    selected; `at` is its place on the axis of a chart that the steps follow."""

    title: str
    parts: tuple[Part, ...]
    note: str = ""
    depth: int = 0
    ref: Ref | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """A list through whose entries one goes, of which one (`at`, at first) is looked at: its parts stand below, or `beside` the list. Of
    those that are `listed` a table tells as well: text leaves them out. Of others it tells the parts of the first `told`. Those that follow a
    chart (`axis`, its name) are gone through there as well."""

    name: str
    steps: tuple[Step, ...]
    listed: bool = False
    beside: bool = False
    at: int = 0
    told: int = 1000
    axis: str = ""


Part: TypeAlias = (
    Sentence
    | Table
    | Grouped
    | Chart
    | Heatmap
    | Timeline
    | Code
    | Diff
    | Graph
    | Tiles
    | Action
    | Instrument
    | Edit
    | List
    | Facts
    | Choice
    | Section
    | Card
    | Cards
    | Ignore
    | Beside
    | Steps
)
View: TypeAlias = tuple[Part, ...]
"""What is shown of a document."""
KINDS: tuple[type, ...] = get_args(Part)
