"""The time of a call by line, by function and by named scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ... import words
from ...escapes import clean
from ...quantities import amount, percent
from ...view import inline
from ...view.parts import Bar, Column, Grouped, Part, Place, Ref, Row, Sentence, Table, Text
from ...words import Document, plural
from . import wording
from .kernels import alike


_LEGEND = "Full bar: kernels of this line alone. Faint: its part of kernels that it shares with other lines"
_TOLD = 0.01  # of the time that no line is known of
_FEW = 3  # lines that are named where any of them may be the slowest


def slowest(profile: Document) -> Sentence | None:
    """Which line takes most of the kernels' time; None where no line is known."""
    own = own_lines(profile)
    if not own:
        return None
    first, bounds = own[0], own[0]["own"]
    if "estimate" not in bounds and any(other["own"]["most"] > bounds["least"] for other in own[1:]):
        return _one_of(own)
    if tied := [other for other in own[1:] if _is_tied(bounds, other["own"])]:
        return _tied([first, *tied], profile)
    unknown = _unknown(profile)
    head, more = "The slowest line is ", ""
    if unknown >= wording.middle(bounds):
        head, more = "Of the lines that are known, the slowest is ", f" {percent(unknown)} is of no known line."
    position = first["position"]
    place = Place(f"{words.home(position)}, line {position['line']}", position, clean(position["text"]).strip())
    if not wording.is_estimated(bounds):
        share = inline.strong(wording.share(bounds["least"], bounds["most"]))
        takes = (". It takes ", share, f" of the kernels' time{_told(wording.in_calls(profile, bounds))}.{more}")
        return Sentence((head, place, *takes), "headline")
    by_kernels = f"{wording.share(bounds['least'], bounds['most'])} by the kernels that compute it"
    takes = (
        ". It takes an estimated ",
        inline.strong(percent(bounds["estimate"])),
        f" of the kernels' time{_told(by_kernels, wording.in_calls(profile, bounds))}.{more}",
    )
    return Sentence((head, place, *takes), "headline", wording.how(profile))


def _unknown(profile: Document) -> float:
    """The share of the kernels that no line is known of."""
    return sum(kernel["share"] or 0.0 for kernel in profile["kernels"] if not kernel["lines"])


def _told(*remarks: str) -> str:
    said = "; ".join(filter(None, remarks))
    return f" ({said})" if said else ""


def _one_of(own: list[Document]) -> Sentence:
    """Of a document without estimates: the lines of which any may be the slowest."""
    least = max(line["own"]["least"] for line in own)
    found = [line for line in own if line["own"]["most"] > least or line["own"]["least"] == least]
    said = _any_of(found, [wording.share(line["own"]["least"], line["own"]["most"]) for line in found])
    return Sentence(f"{said} The time of a kernel that computes several lines was not split among them.", "headline")


_CLOSE = 0.9
"""An estimate that is at least this part of another one is not told from it."""


def _is_tied(bounds: Document, other: Document) -> bool:
    """Whether two estimated shares are too close to say which one is larger."""
    if not (wording.is_estimated(bounds) or wording.is_estimated(other)) or other["most"] <= bounds["least"]:
        return False
    return wording.middle(other) >= _CLOSE * wording.middle(bounds)


def _tied(found: list[Document], profile: Document) -> Sentence:
    """Of estimates that are too close: the lines of which any may be the slowest."""
    shares = [
        f"{'an estimated ' if wording.is_estimated(line['own']) else ''}{percent(wording.middle(line['own']))}"
        for line in found
    ]
    return Sentence(f"{_any_of(found, shares)} That is too close to tell.", "headline", wording.how(profile))


def _any_of(found: list[Document], shares: list[str]) -> str:
    shares = [f"{shares[0]} of the kernels' time", *shares[1:_FEW]]
    named = [
        f"{words.home(line['position'])}, line {line['position']['line']} ({text})" for line, text in zip(found, shares)
    ]
    more = [f"and {len(found) - _FEW} more"] if len(found) > _FEW else []
    return f"The slowest line is one of {len(found)}: {'; '.join([*named, *more])}."


def own_lines(profile: Document) -> list[Document]:
    """The lines in which equations were written, those that take most at first."""
    found = [line for line in profile["lines"] if line["own"]]
    return sorted(found, key=lambda line: (-wording.middle(line["own"]), line["position"]["line"]))


def line_tables(profile: Document) -> Iterator[Part]:
    """Lines, functions and named scopes with their shares; how those are estimated."""
    rows = Lines(profile)
    if not rows.own:
        return
    ways = [("by line", rows.by_line())]
    if len({rows.function(line) for line in rows.own}) > 1:
        ways.append(("by function", rows.by_function()))
    if profile["scopes"]:
        ways.append(("by named scope", rows.by_scope()))
    yield Grouped("Where the time of the kernels goes", tuple(ways))
    if any(wording.is_estimated(line["own"]) for line in rows.own):
        yield Sentence(f"{_LEGEND}.", "note", drawn="bars")
        yield Sentence(f"~ is an estimate: {wording.how(profile)}.", "note")
    if any(line["whole"] != line["own"] for line in rows.own):
        yield Sentence("A line counts by itself here; beside the code it counts with what it calls.", "note")
    if (unknown := _unknown(profile)) >= _TOLD:
        yield Sentence(f"{percent(unknown)} is of no known line.", "note")


class Lines:
    """The rows of the tables of lines."""

    def __init__(self, profile: Document):
        self.profile = profile
        self.how = wording.how(profile)
        self.own = own_lines(profile)
        self.here = words.only_home(line["position"] for line in profile["lines"])
        self.busy = amount(profile["busy"]) or 0.0
        self.kernels = self._kernels()
        self.rows: dict[int, Row] = {}
        self.groups: defaultdict[str, list[Document]] = defaultdict(list)
        for line in self.own:
            self.groups[self.function(line)].append(line)
        self.top = (
            max((wording.middle(_sum([line["own"] for line in own])) for own in self.groups.values()), default=0) or 1.0
        )
        """The share that the longest bar stands for: that of a function."""

    def _kernels(self) -> Mapping[int, list[tuple[Document, float]]]:
        """By line the kernels that have a part in it, each with that part of its time."""
        found: defaultdict[int, list[tuple[Document, float]]] = defaultdict(list)
        for kernel in self.profile["kernels"]:
            parts = kernel.get("split") or [1.0] * len(kernel["lines"])
            for line, part in zip(kernel["lines"], parts):
                if kernel["share"] is not None:
                    found[line].append((kernel, part))
        return found

    def by_line(self) -> Table:
        rows = [self._line(line, self.top) for line in self.own]
        return Table("Lines, by their share of the kernels' time", _columns("line"), tuple(rows))

    def _line(self, line: Document, top: float) -> Row:
        """The row of a line, one object in all orders."""
        at = self.profile["lines"].index(line)
        if at not in self.rows:
            self.rows[at] = self._made(at, line, top)
        return self.rows[at]

    def _made(self, at: int, line: Document, top: float) -> Row:
        own = self.kernels[at]
        parts = {kernel["name"]: part for kernel, part in own}
        inner = tuple(self._alike(group, parts, top) for group in alike([kernel for kernel, _ in own]))
        whole = f"; with what it calls {wording.share_text(line['whole']).text}" if line["whole"] != line["own"] else ""
        return Row(
            (*self._figures(line["own"], top), inline.count(len(own)), self.place(line)),
            Ref(position=line["position"]),
            tuple(sorted(inner, key=lambda row: -(inline.order(row.cells[0]) or 0))),
            title=f"{wording.share_text(line['own']).text} of the kernels' time{whole}",
        )

    def place(self, line: Document) -> Place:
        return inline.place(line["position"], self.here)

    def _figures(self, bounds: Document, top: float) -> tuple[Text, Bar, Text]:
        """Share, bar and seconds."""
        estimated = wording.is_estimated(bounds)
        shown = wording.middle(bounds)
        most = shown if "estimate" in bounds else bounds["most"]
        text = wording.share_text(bounds, self.how)
        bar = Bar(bounds["least"] / top, min(most / top, 1.0), text.title)
        return text, bar, wording.time_text(shown * self.busy, estimated or "estimate" not in bounds)

    def _alike(self, group: list[Document], parts: Mapping[str, float], top: float) -> Row:
        """Kernels that do the same for a line, in one row."""
        share = sum(kernel["share"] * parts[kernel["name"]] for kernel in group)
        several = len(group[0]["lines"]) > 1
        most = sum(kernel["share"] for kernel in group)
        bounds = {"least": 0.0 if several else share, "most": most, "estimate": share}
        called = group[0]["called"] if len(group) == 1 else ""
        times = f" × {len(group)}" if len(group) > 1 else ""
        return Row(
            (
                *self._figures(bounds, top),
                "" if len(group) == 1 else inline.count(len(group)),
                (inline.strong(clean(called)), " " if called else "", f"{wording.what(group[0])}{times}"),
            ),
            Ref(kernels=wording.names(group)),
            title=f"bound by {wording.bound(group[0])}: {wording.why(group[0])}" if group[0]["bound"] else "",
        )

    def function(self, line: Document) -> str:
        position = line["position"]
        return clean(position["function"]) or words.home(position)

    def by_function(self) -> Table:
        groups = self.groups
        sums = {name: _sum([line["own"] for line in own]) for name, own in groups.items()}
        rows = [
            Row(
                (*self._figures(sums[name], self.top), "", f"{name} ({plural(len(own), 'line')})"),
                rows=tuple(self._line(line, self.top) for line in own),
            )
            for name, own in sorted(groups.items(), key=lambda item: -wording.middle(sums[item[0]]))
        ]
        return Table("Functions, by the share of what is written in them", _columns("function"), tuple(rows))

    def by_scope(self) -> Table:
        scopes = sorted(self.profile["scopes"], key=lambda scope: -wording.middle(scope))
        top = max(map(wording.middle, scopes), default=0) or 1.0
        rows = [Row((*self._figures(scope, top), "", clean(scope["name"]))) for scope in scopes]
        return Table("Named scopes, with what is inside of them", _columns("scope"), tuple(rows))


def _columns(last: str) -> tuple[Column, ...]:
    return (
        Column("share", "number", "of the time of all kernels"),
        Column("", "bar"),
        Column("time", "number", "seconds of all its kernels in one call, recorded"),
        Column("kernels", "number", "that have a part in it"),
        Column(last),
    )


def _sum(each: list[Document]) -> Document:
    """The share of several lines together: at least the sum of the least, at most all."""
    found = {
        "least": sum(bounds["least"] for bounds in each),
        "most": min(1.0, sum(bounds["most"] for bounds in each)),
    }
    if all("estimate" in bounds for bounds in each):
        found["estimate"] = sum(bounds["estimate"] for bounds in each)
    return found
